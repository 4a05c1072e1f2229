/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators along the last dimension as programs in single precision: steps on tiles, on columns
 * (a number per row) and on rows (weights). norm.c runs them on tiles of whole rows. Rows longer
 * than UB are cut into parts (norm_long.c): each reduction is a pass over the row, which computes
 * anew what it needs, and the last pass writes the result.
 */
#ifndef VINCI_LOWER_VECTOR_ROWS_NORM_H
#define VINCI_LOWER_VECTOR_ROWS_NORM_H

#include "lower/vector/kernel.h"
#include "lower/vector/rows/rowwise.h"

enum { NORM_INPUTS = 2 };
/* Parameters of the steps. */
enum { NUMBER_MEAN = 1, NUMBER_EPSILON, NUMBER_SCALE };

/* Tiles: X0, X1 inputs, Y0 and Y1 results, T0. Columns: T1. Rows: X2, X3, the weights. */
struct norm {
  unsigned inputs, weights;
  bool sum; /* Y1 is a result too */
  const struct vstep *steps;
  /* The same without divisions of tiles, as the vendor's kernels of dav-c100 do; NULL: steps. */
  const struct vstep *multiplied;
  /* What the vendor's kernel does with whole rows of up to NORM_SMALL elements: its steps, and the
   * UB that an element of a tile and a row take, with one buffer and the weights repeated in all
   * rows. NULL: the steps above, and tiles as large as UB allows. */
  const struct vstep *small;
  unsigned element_bytes, row_bytes;
};
enum { NORM_SMALL = 2000 };

struct vnorm {
  struct vkernel kernel; /* first */
  const struct norm *norm;
  enum dtype type;
  double epsilon, scale;
  bool function; /* tiles of whole rows are vector functions (rowfunc.h) */
  struct vtile_operand in[NORM_INPUTS], weight[NORM_INPUTS], out, sum;
  uint64_t pitch;
  uint64_t address[VREGS]; /* of registers behind the buffers; 0: none */
};

static inline bool norm_is_long(const struct vnorm *norm) {
  return norm->kernel.tile.cols < norm->kernel.tile.space.cols;
}

/* Whether the tile has whole rows, as many as in the vendor's kernel. */
static inline bool norm_as_vendor(const struct vnorm *norm) {
  return norm->norm->small && norm->pitch <= NORM_SMALL && !norm_is_long(norm) && !norm->function;
}

static inline bool norm_in_function(const struct vnorm *norm) {
  return norm->function && !norm_is_long(norm);
}

static inline const struct vstep *norm_steps(const struct vnorm *norm) {
  return norm_as_vendor(norm) ? norm->norm->small : norm->norm->steps;
}

/* Fills job->data with a struct vnorm by the keys shape, dtype, eps and scale. */
enum vinci_status norm_setup(struct lower_job *job);
/* Registers at their addresses; inputs (bit per register) and the result of fp32 in the buffer,
 * others after a conversion. */
void norm_set_registers(const struct vnorm *norm, struct rowwise *rows, uint32_t inputs,
                        bool results);
/* The results into their buffers, in their type. */
void norm_put_results(const struct vnorm *norm, struct rowwise *rows);
/* Passes over a long row. */
unsigned norm_passes(const struct norm *norm);
/* The longest part that fits, halved a number of times; a core for each row. */
void norm_long_split(const struct lower_job *job, struct vnorm *norm, unsigned halvings);
/* The rows of the kernel behind its prologue. */
void norm_long_emit(struct emit *emit, struct vnorm *norm);

#endif
