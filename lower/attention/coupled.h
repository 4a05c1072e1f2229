/* SPDX-License-Identifier: Apache-2.0 */
/* flash_attention and its gradient on cores that are cube and vector core in one: what its files
 * share. */
#ifndef VINCI_LOWER_ATTENTION_COUPLED_H
#define VINCI_LOWER_ATTENTION_COUPLED_H

#include "core/chip/layout.h"
#include "lower/attention/attention.h"

/* Rows of a step: a column of 16 words for each is at most 255 blocks from the next. */
enum { ATTENTION_COUPLED_ROWS = 112 };

/* Rows that a stage holds. */
static inline uint64_t attention_stage_rows(uint64_t depth) {
  const uint64_t rows = ATTENTION_STAGE_BYTES / HALF_BYTES / depth;
  return rows > FRACTAL_ROWS ? rows : FRACTAL_ROWS;
}
/* The keys that forward and gradient choose alike: slice, cores, diagonal. */
void attention_coupled_give_rest(struct lower_job *job);
/* How many keys take the vector unit as long as what a task takes beside its keys. */
uint64_t attention_coupled_task_keys(const struct vinci_soc *soc, const struct attention *at,
                                     const struct attention_tiling *tiling);
/* Cycles of a pass over words, which the next pass waits for. */
uint64_t attention_pass_cycles(const struct vinci_soc *soc, enum vector_class kind, uint64_t words);
/* Whether L1 holds all keys of a head. */
static inline bool attention_is_resident(const struct attention *at,
                                         const struct attention_tiling *tiling) {
  return tiling->panel >= at->keys;
}
/* Whether the edge of a causal mask goes through corners of fractals. */
static inline bool attention_has_triangle(const struct attention *at) {
  return (at->keys - at->rows) % FRACTAL_ROWS == 0;
}
/* Whether every task is one step. */
static inline bool attention_is_single(const struct attention *at,
                                       const struct attention_tiling *tiling) {
  return tiling->cols >= at->keys;
}
/* Columns of maxima of rows: with statistics those of two tasks, as the vector unit has
 * probabilities of the next task before it has the result of the present one; none where nobody
 * asks for them. */
static inline uint64_t attention_maxima(const struct attention *at,
                                        const struct attention_tiling *tiling) {
  if (at->statistics)
    return ATTENTION_PAIR;
  return !attention_is_single(at, tiling) || at->masked;
}

#endif
