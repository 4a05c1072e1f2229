/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of lower/select: copies between device memory and UB that take whole blocks alone. */
#ifndef VINCI_LOWER_SELECT_RUNS_H
#define VINCI_LOWER_SELECT_RUNS_H

#include "lower/kernel/emit.h"

/* Runs of `bytes`, `stride` bytes apart in device memory, `pitch` bytes in UB. */
struct select_runs {
  struct expr gm, ub, count, bytes, stride, pitch;
};

/* A copy of a number of blocks. */
void select_put_blocks(struct emit *emit, bool to_gm, struct expr gm, struct expr ub,
                       struct expr blocks);
/* A number of blocks of each run: as few copies as there are distances from a run to whole blocks.
 */
void select_put_runs(struct emit *emit, bool to_gm, const struct select_runs *runs,
                     struct expr blocks);

#endif
