/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder as the vendor's simulator leaves, for MindStudio Insight and scripts that read such
 * folders: OPPROF_TIME_NAME/simulator/ with trace.json, visualize_data.bin, and for each core that
 * ran a block a folder with trace.json, CORE_code_exe.csv and CORE_instr_exe.csv. No clock is read:
 * TIME is zeros, and NAME stands for the digests of chip and input.
 *
 * Source of names, columns and blocks: msopprof, docs/en/user_guide and csrc (common/visualize.h,
 * core_timeline_visualizer.cpp, api_data.cpp); how they are read: msinsight,
 * server/src/modules/source (SourceFileParser.cpp, SourceInstructionParser.cpp).
 */
#ifndef VINCI_TRACES_EXPORT_OPPROF_H
#define VINCI_TRACES_EXPORT_OPPROF_H

#include "traces/export/timeline/lanes.h"

/* What one core spent on the lines of a trace, as the vendor's tables have these numbers. */
struct exe_row {
  uint32_t line;
  uint16_t op;
  uint8_t pipe;
  uint64_t count;
  uint64_t cycles;       /* from start to end, summed */
  uint64_t union_cycles; /* in which at least one of them ran */
  uint64_t bytes;
};

struct exe_rows {
  struct exe_row *items;
  size_t count;
};

struct exe_table {
  struct exe_rows instructions; /* by line, then instruction */
  struct exe_rows lines;        /* a row for each line, whatever its instructions are */
};

/* Of the events of one core. False when memory is short; else for exe_free(). */
bool exe_find(struct exe_table *table, const struct vinci_result *result, uint32_t core);
void exe_free(struct exe_table *table);

/* The two tables of a core, and the tables of all cores in the vendor's binary form. */
void exe_write_code(const struct exe_table *table, const struct vinci_result *result, uint32_t core,
                    FILE *out);
void exe_write_instructions(const struct exe_table *table, const struct vinci_result *result,
                            uint32_t core, FILE *out);
enum vinci_status export_visualize(const struct vinci_result *result,
                                   const struct timeline_choice *choice, FILE *out,
                                   struct vinci_diag *diag);

/* Writes the folder below another. */
enum vinci_status opprof_write(const struct vinci_result *result,
                               const struct timeline_choice *choice, const char *folder,
                               struct vinci_diag *diag);

#endif
