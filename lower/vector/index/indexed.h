/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table that a list of indices names, tile by tile: what gather and scatter share. */
#ifndef VINCI_LOWER_VECTOR_INDEX_INDEXED_H
#define VINCI_LOWER_VECTOR_INDEX_INDEXED_H

#include "lower/vector/kernel.h"

/* The flag by which the scalar unit waits for the indices of a tile. */
enum { INDEXED_FLAG = 2 };

struct indexed_rows {
  struct vkernel kernel; /* first */
  struct vtile_operand index, rows;
  uint64_t table_rows;
  uint64_t per; /* indices that name one row: row index / per */
};

/* As of struct vkernel_kind: rows of a tile, and behind them their indices. */
void indexed_lay_out(struct vtile *tile);
void indexed_split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings);
/* The address in the tensor `table` of row r of a tile, from the column of the tile on. For times
 * the indices are (first + i * step) modulo the rows of the table. Negative indices of the data
 * count from the end, as in ONNX (Gather, ScatterND); one that is outside ends the run. */
struct expr indexed_place(struct emit *e, const struct indexed_rows *indexed, const char *table,
                          struct expr r);
/* Operands, tiles and cost class by the keys of the job, for rows of `cols` elements of the tensor
 * `name`. */
void indexed_fill(struct lower_job *job, struct indexed_rows *indexed, const char *name,
                  uint64_t cols);

#endif
