/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators along the last dimension as programs in single precision: of steps on tiles, on columns
 * (a number per row) and on rows (weights). norm.c runs them on tiles of whole rows. Rows
 * longer than UB are cut into parts (norm_long.c): each reduction is a pass over the row,
 * which computes anew what it needs, and the last pass writes the result.
 */
#ifndef VINCI_TRACES_LOWER_VECTOR_NORM_H
#define VINCI_TRACES_LOWER_VECTOR_NORM_H

#include "traces/lower/vector/rows.h"

enum { NORM_INPUTS = 2, NORM_REDUCTIONS = 2, NORM_STEPS = 16 };

/* Tiles: X0, X1 inputs, Y0 result, T0. Columns: T1, X4. Rows: X2, X3. */
enum step_kind {
  STEP_END,
  STEP_REDUCE,      /* column dst of tile a */
  STEP_SPREAD,      /* column a, for the STEP_WITH_COLUMN that follow */
  STEP_WITH_COLUMN, /* dst = a op the column */
  STEP_WITH_ROW,    /* dst = a op row b */
  STEP_TILE,        /* a vstep on tiles */
  STEP_COLUMN,      /* a vstep on columns */
};
enum { NUMBER_MEAN = 1, NUMBER_EPSILON };

struct step {
  enum step_kind kind;
  const char *inst;
  uint8_t dst, a, b;
  uint8_t reduction;
  struct vstep vector;
};

struct norm {
  unsigned inputs, weights;

  const struct step *steps;
};

struct vnorm {
  const struct norm *norm;
  enum dtype type;
  double epsilon;
  struct vtile tile;
  struct vtile_operand in[NORM_INPUTS], out;
  uint64_t pitch, weight_raw;
  uint64_t address[VREGS]; /* of registers behind the buffers */
  uint64_t accumulator, blocks, ub_bytes;
};

static inline bool norm_is_long(const struct vnorm *norm) {
  return norm->tile.cols < norm->tile.space.cols;
}

/* Passes over a long row. */
unsigned norm_passes(const struct vnorm *norm);
void norm_long_lay_out(struct vnorm *norm);
/* The longest part that fits, halved so often; a core for each row. */
void norm_long_split(const struct lower_job *job, struct vnorm *norm, size_t halvings);
/* The rows of the kernel behind its prologue. */
void norm_long_emit(struct emit *emit, struct vnorm *norm);

#endif
