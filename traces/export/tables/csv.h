/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the vendor's profiler (`msprof op`): column names, which core type
 * a column is of, and how its cell is computed.
 *
 * Counters are kept per core. A line is therefore a core, and equals the vendor's line of
 * a block as long as no core runs more than one; the blocks (of all kernels) that ran on
 * the same core are summed in its line, and block_id is the first of them.
 */
#ifndef VINCI_TRACES_EXPORT_CSV_H
#define VINCI_TRACES_EXPORT_CSV_H

#include "traces/export/export.h"

/* One line of a table: a core with its blocks, or all cores of a coupled chip together. */
struct csv_row {
  const struct vinci_result *result;
  const struct core_result *core;
  bool vector;           /* an AIV core: columns aiv_*; otherwise aic_* */
  bool mixed;            /* of a kernel with AIC and AIV streams */
  uint64_t cores;        /* summed into the row */
  uint64_t total_cycles; /* with a block, over those cores */
  uint64_t time_ps;      /* what ratios and bandwidths are taken over, one core */
};

enum csv_side { SIDE_ANY, SIDE_AIC, SIDE_AIV };

struct csv_column;
typedef struct decimal (*csv_cell_fn)(const struct csv_row *row, const struct csv_column *column);

struct csv_column {
  const char *name;
  csv_cell_fn cell; /* NULL: the model does not know this number, the cell is empty */
  uint8_t side;     /* enum csv_side; cells of the other side are "NA" */
  uint8_t pipe;     /* enum pipe */
  uint32_t set;     /* of paths (1 << enum path), data types (1 << enum dtype), or a set below */
};

/* Conflicts of UB that a cell counts. */
enum { UB_BANKGROUP = 1, UB_BANK = 2, UB_ALL = UB_BANKGROUP | UB_BANK };

struct csv_table {
  const struct csv_column *columns;
  size_t count;
};

enum csv_kind {
  CSV_PIPE,
  CSV_MEMORY,
  CSV_ARITHMETIC,
  CSV_L2,
  CSV_L0,
  CSV_UB,
  CSV_CONFLICT,
  CSV_KIND_COUNT
};

/* The table of an architecture (csv_columns.c). */
struct csv_table csv_table(enum csv_kind kind, enum arch arch);

/* Cells (csv_cells.c). An empty text leaves the cell empty. */
struct decimal cell_block(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_sub_block(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_time(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_cycles(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_pipe_time(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_pipe_ratio(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_pipe_instructions(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_scalar_wait(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_active_bandwidth(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_bandwidth(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_kilobytes(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_usage(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_cube_ratio(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_cube_instructions(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_cube_operations(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_vector_ratio(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_vector_operations(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_l2_hits(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_l2_misses(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_l2_hit_rate(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_wait_ratio(const struct csv_row *row, const struct csv_column *column);
struct decimal cell_conflict_ratio(const struct csv_row *row, const struct csv_column *column);

#endif
