/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions over any dimensions. What is kept and what is folded alternate; after merging
 * neighbours there are at most three groups, and one of three templates fits:
 *
 *   rows     [K, R] with short R: tiles of whole rows (reduce.c)
 *   fold     [R], [K, R], [R, K, R]: a unit is one kept index; its region is folded into 64 lanes
 *   columns  [R, C], [K, R, C]: a unit is a run of columns; its rows are folded into one
 *
 * The latter two are in reduce_region.c. With fewer units than cores a region is cut into
 * segments, whose results meet in device memory and are folded by the first core.
 *
 * With more groups, kernels follow each other: each folds the last group that is to be folded, and
 * leaves its results in single precision to the next.
 */
#ifndef VINCI_LOWER_VECTOR_REDUCE_REDUCE_H
#define VINCI_LOWER_VECTOR_REDUCE_REDUCE_H

#include "lower/vector/kernel.h"
#include "lower/vector/rows/rowwise.h"

struct vreduce_func {
  enum vreduction reduction;
  bool mean;     /* divided by the count */
  bool norm;     /* root of the sum of squares */
  bool rootless; /* the sum of squares alone */
  bool squared;  /* the square of the sum */
};

enum vreduce_form { VREDUCE_ROWS, VREDUCE_FOLD, VREDUCE_COLUMNS };

struct vreduce {
  struct vtile tile; /* first: lay_out() is given its address */
  const struct vreduce_func *func;
  struct vreduce *next;                  /* the kernel that goes on with the results; NULL: none */
  const char *source, *target, *partial; /* tensors */
  enum vreduce_form form;
  enum dtype type, result;               /* of source and target */
  bool squares, averages, roots, powers; /* of what comes in; of what goes out */
  bool multiplies;                       /* what comes in is the product of x and x1 */
  uint64_t count;                        /* elements in each result, of all kernels together */
  uint64_t results;
  uint64_t outer;                   /* kept indices before the region */
  uint64_t unit_stride, row_stride; /* elements */
  uint64_t rows, cols;              /* of the region */
  uint64_t cores;                   /* of the chip */
  uint64_t cycles;                  /* of a kernel after the first, its launch included */
  uint64_t segments, segment;       /* of each region: how many, rows or columns of each */
  uint64_t packed; /* rows of few columns that lie side by side in the lanes of a repeat */
  uint64_t pitch, converted, accumulator, column, out;
  uint64_t second, factor; /* x1 in the buffer of a tile; in single precision */
};

/* The results become means and norms, in their type. */
static inline bool vreduce_narrows(const struct vreduce *reduce) {
  return reduce->result != DTYPE_FP32;
}

static inline enum kernel_code vreduce_code(const struct vreduce *reduce) {
  if (reduce->count == 1)
    return KERNEL_ELEMENTWISE;
  return reduce->func->norm ? KERNEL_NORM : KERNEL_REDUCE;
}

void vreduce_lay_out(struct vtile *tile);
/* x in single precision, times x1, squared for a norm: where the tile is then. */
struct expr vreduce_prepare(struct vunit *unit, const struct vreduce *reduce, struct expr count);
/* The column T1 becomes means and norms, at `out` in the type of the result. */
void vreduce_finish(struct vunit *unit, const struct vreduce *reduce, struct expr out);

void vreduce_region_split(uint64_t cores, struct vreduce *reduce);
void vreduce_region_lay_out(struct vreduce *reduce);
uint64_t vreduce_units(const struct vreduce *reduce);
/* The rows of the kernel behind its prologue. */
void vreduce_region_emit(struct emit *emit, struct vreduce *reduce);

#endif
