/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps on tiles of rows in single precision: reductions along rows, and operations of a tile with
 * one number per row or with one row. A tile of several rows is walked by columns of 64 lanes, and
 * each instruction goes down all rows; so a pitch has at most 255 blocks and a tile at most 255
 * rows. A tile of one row may have any length.
 */
#ifndef VINCI_LOWER_VECTOR_ROWS_ROWWISE_H
#define VINCI_LOWER_VECTOR_ROWS_ROWWISE_H

#include "lower/vector/tiles.h"
#include "lower/vector/unit.h"

enum { ROWWISE_ROWS_MAX = 248, ROWWISE_LANES = 64, ROWWISE_PITCH_MAX = 255 * 8 };

struct rowwise {
  struct vunit unit; /* V_ACCUMULATOR: 256 bytes per row; V_BLOCKS: 32 bytes per row */
  struct expr n_rows;
  struct expr single; /* elements, of tiles of one row; 0: several rows */
  uint64_t cols, pitch;
  unsigned loops; /* for names of loop counters */
};

/* The most rows of a tile; false, with a reason, when there are more, or rows are too long. */
uint64_t rowwise_rows_max(const struct vtile *tile, uint64_t pitch);
bool rowwise_walks(struct lower_job *job, const struct vtile *tile, uint64_t pitch);

/* The registers of a tile, of one row or of several. */
struct rowwise rowwise_of(struct emit *emit, const struct vtile *tile, uint64_t pitch);

void rowwise_step(struct rowwise *rows, const struct vstep *step);
/* Steps up to VFORM_END. */
void rowwise_steps(struct rowwise *rows, const struct vstep *steps);
/* Counter mode over the whole tile; over one number per row. */
void rowwise_all(struct rowwise *rows);
void rowwise_column(struct rowwise *rows);

/* Parts of a reduction: the accumulator of one row at its start; op= a row; folded into a number at
 * dst. Lanes of each of `repeats` repeats, `stride` blocks apart, are folded into a number each. */
void rowwise_clear(struct rowwise *rows, enum vreduction reduction);
void rowwise_accumulate(struct rowwise *rows, enum vreduction reduction, unsigned src);
void vunit_fold(struct vunit *unit, uint32_t reads, uint32_t writes, enum vreduction reduction,
                struct expr dst, struct expr src, struct expr repeats, uint64_t stride);

#endif
