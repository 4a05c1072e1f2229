/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other tools say of a kernel, in one form: tables of `msprof op` (and those that vinci
 * writes), timelines of `msprof op simulator` and of profiles, dumps of the vendor's model
 * (CAModel), rows of op_summary and kernel_details. What a source does not know stays unknown,
 * never 0.
 *
 * Sources of names and columns: msopprof docs/en/user_guide, csrc (parse), test/ut;
 * msprof docs/en/user_guide/profile_data_file_references.md.
 */
#ifndef VINCI_TRACES_IMPORT_IMPORT_H
#define VINCI_TRACES_IMPORT_IMPORT_H

#include "core/base/unread.h"
#include "core/chip/arch.h"
#include "core/vinci.h"
#include "traces/format/json_read.h"

enum import_row {
#define ROW(id, ...) IMPORT_##id,
#include "traces/import/rows.def"
  IMPORT_ROWS
};
enum import_unit { IMPORT_PS, IMPORT_COUNT, IMPORT_BYTES };

struct import_cell {
  bool known;
  uint64_t value;
};

/* One source. */
struct imported {
  char name[96];    /* of the kernel, or empty */
  const char *kind; /* "op tables", "timeline", "CAModel dump", "op_summary" */
  uint64_t samples; /* rows of a profile that the cells are the means of; 1 else */
  struct import_cell cell[IMPORT_ROWS];
  struct unread unread; /* in the arena of the caller */
  struct arena *arena;
};

struct import_options {
  uint64_t core_hz; /* of the chip, for dumps, which have cycles alone; 0: not known */
  const char *op;   /* rows of a profile with this name or type; NULL: it has one row */
};

/* Reads a file or folder, told by what is there. What it says and nobody knows is kept in `arena`.
 */
VINCI_MUST_CHECK enum vinci_status import_read(const char *path,
                                               const struct import_options *options,
                                               struct arena *arena, struct imported *out,
                                               struct vinci_diag *diag);

/* The table of several sources; paths name the columns. CSV and JSON have picoseconds as us with
 * six decimals, and leave unknown cells empty or null. */
enum import_form { IMPORT_TEXT, IMPORT_CSV, IMPORT_JSON };
void import_write(const struct imported *sources, const char *const *paths, size_t count,
                  enum import_form form, FILE *out);

/* ---- the readers, each of one kind of source ---- */
enum vinci_status import_profile(const char *path, const struct import_options *options,
                                 struct imported *out, struct vinci_diag *diag);
enum vinci_status import_tables(const char *folder, struct imported *out, struct vinci_diag *diag);
enum vinci_status import_timeline(const char *path, const struct import_options *options,
                                  struct imported *out, struct vinci_diag *diag);
/* Whether a JSON text is the timeline of a whole profile. */
bool import_is_tasks(const char *text, size_t length);
/* The mean duration of the tasks that options->op names, or of the one task that there is. */
enum vinci_status import_tasks(struct json_reader *json, const struct import_options *options,
                               struct imported *out);
enum vinci_status import_dumps(const char *folder, const struct import_options *options,
                               struct imported *out, struct vinci_diag *diag);

/* ---- what they share ---- */

/* "1.25" or "1e-3" times 10^decimals, cut; false when the text is no such number of 64 bits. */
bool import_decimal(const char *text, size_t length, unsigned decimals, uint64_t *out);
/* Adds to a cell. */
void import_add(struct import_cell *cell, uint64_t value);
/* The cell of a pipe on a kind of core, IMPORT_ROWS when the table has none. */
enum import_row import_row_of(enum core_kind kind, enum pipe pipe);
/* The kind of core that a name such as "core0.veccore1" tells; false when it is none. */
bool import_core_kind(const char *name, enum core_kind *kind);

/* When instructions of pipes of cores run, in any unit of time. */
struct busy;
VINCI_MUST_CHECK struct busy *busy_new(void);
void busy_free(struct busy *busy);
/* PIPE_COUNT: the core, and no pipe of the table. False when memory is short. */
bool busy_add(struct busy *busy, const char *core, enum pipe pipe, uint64_t start, uint64_t end);
/* Means over the cores of each kind: time in which at least one instruction of a pipe ran, and
 * from the first start to the last end of a core. A time is `ps` picoseconds for `units`. */
void busy_report(struct busy *busy, uint64_t ps, uint64_t units, struct imported *out);
/* Sum over the cores of a kind, from first start to last end; false when there is none. */
bool busy_total(const struct busy *busy, enum core_kind kind, uint64_t *out);

#endif
