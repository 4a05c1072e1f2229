/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of a pipe that have not ended, for the debugger: a ring that grows. */
#ifndef VINCI_CORE_DEBUG_SLOTS_H
#define VINCI_CORE_DEBUG_SLOTS_H

#include "core/isa/inst.h"

/* An instruction between its issue and its end. */
struct debug_slot {
  struct inst inst;
  bool started, ended;
  bool applied; /* its values are there */
  uint64_t issue_cycle;
  uint64_t start_cycle;
  uint64_t end_cycle; /* OBSERVER_LATER: not known yet */
};

/* Zeros are an empty ring; the owner frees `items`. */
struct slots {
  struct debug_slot *items;
  size_t capacity, head, count;
  uint64_t first; /* number of the one at the head, of all of the pipe */
};

static inline struct debug_slot *slots_at(const struct slots *slots, size_t index) {
  return &slots->items[(slots->head + index) % slots->capacity];
}

/* A place behind all others, to be filled; NULL when memory is short. */
struct debug_slot *slots_add(struct slots *slots);
/* Drops those at the head that have ended. */
void slots_drop_ended(struct slots *slots);

#endif
