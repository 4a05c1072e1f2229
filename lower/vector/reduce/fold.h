/* SPDX-License-Identifier: Apache-2.0 */
/* The largest or smallest lane of each row, on chips whose reductions do not take fp32. */
#ifndef VINCI_LOWER_VECTOR_REDUCE_FOLD_H
#define VINCI_LOWER_VECTOR_REDUCE_FOLD_H

#include "lower/vector/unit.h"

/* As operands of vcmax: a word for each of `rows` repeats, which are `stride` blocks apart. */
struct vfold {
  struct expr dst, src, rows;
  uint64_t stride;
};

/*
 * Folds the lanes of the mask, which are lanes of fp32 in normal mode; the results of 8 rows are
 * written together. The mask is not known afterwards.
 */
void vfold_by_turns(struct vunit *unit, enum vreduction reduction, const struct vfold *fold);

#endif
