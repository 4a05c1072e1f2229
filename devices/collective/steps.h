/* SPDX-License-Identifier: Apache-2.0 */
/* What step lists are written with. */
#ifndef VINCI_DEVICES_COLLECTIVE_STEPS_H
#define VINCI_DEVICES_COLLECTIVE_STEPS_H

#include "devices/collective/collective.h"

/* Rows of algorithms.def by their ids. */
enum collective_by {
#define ALGORITHM(id, name, outer, planes, steps, needs, text) COLLECTIVE_BY_##id,
#include "devices/collective/algorithms.def"
#undef ALGORITHM
  COLLECTIVE_ALGORITHMS
};
extern const struct collective_algorithm collective_table[COLLECTIVE_ALGORITHMS];

/* The functions of the rows: planes of a rank, and its steps. */
typedef uint32_t collective_planes(const struct collective_call *call);
typedef struct group_step collective_step(const struct collective_call *call, uint32_t rank,
                                          uint32_t plane, uint32_t index);
#define ALGORITHM(id, name, outer, planes, steps, needs, text)                                     \
  collective_planes collective_##planes;                                                           \
  collective_step collective_##steps;
#include "devices/collective/algorithms.def"
#undef ALGORITHM

static inline struct group_step step_of(enum step_kind kind) {
  return (struct group_step){.kind = kind, .to = STEP_NOBODY, .from = STEP_NOBODY};
}

static inline struct group_step step_local(enum step_kind kind, uint64_t bytes) {
  struct group_step step = step_of(kind);
  step.bytes = bytes;
  return step;
}

static inline struct group_step step_exchange(uint32_t to, uint32_t from, uint64_t bytes,
                                              bool adds) {
  return (struct group_step){
      .kind = STEP_EXCHANGE, .to = to, .from = from, .bytes = bytes, .adds = adds};
}

/* (a - b) and (a + b) modulo the ranks, for a below these. */
static inline uint32_t rank_before(const struct collective_call *call, uint32_t a, uint64_t b) {
  return (uint32_t)((a + call->ranks - b % call->ranks) % call->ranks);
}
static inline uint32_t rank_after(const struct collective_call *call, uint32_t a, uint64_t b) {
  return (uint32_t)((a + b) % call->ranks);
}

/* The smallest k with 2^k >= ranks. */
static inline uint32_t log2_up(uint32_t ranks) {
  uint32_t k = 0;
  while ((UINT32_C(1) << k) < ranks)
    k++;
  return k;
}

#endif
