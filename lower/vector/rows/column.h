/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A number of each row as a result of tiles. Chips that copy whole blocks alone would write, with
 * the numbers of fewer than 8 rows, those of rows behind: there the numbers of a core gather in a
 * workspace, a block over the end of the one before, and leave as one run behind the last tile.
 */
#ifndef VINCI_LOWER_VECTOR_ROWS_COLUMN_H
#define VINCI_LOWER_VECTOR_ROWS_COLUMN_H

#include "lower/vector/kernel.h"

/* As vkernel_split_rows(), for cores whose numbers are a block at least. */
void vcolumn_split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings);
/* Whether the chip can store the numbers, or the reason; ub_bytes: for vcolumn_end(). */
bool vcolumn_stores(struct lower_job *job, const struct vtile *tile, uint64_t ub_bytes);
/* The workspace, on chips that need such. */
void vcolumn_tensor(struct emit *emit, const struct vtile *tile);
/* The numbers of a tile, at an address of its buffer, into fp32 numbers of a tensor. */
void vcolumn_store(struct emit *emit, const struct vtile *tile, const char *name, uint64_t address);
/* Behind the tiles; what is at an address of UB has no use any more. */
void vcolumn_end(struct emit *emit, const struct vtile *tile, const char *name, uint64_t address);

#endif
