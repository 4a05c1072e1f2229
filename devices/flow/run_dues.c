/* SPDX-License-Identifier: Apache-2.0 */
/* What is due in a run of devices: a heap, and a queue of what is due at once. */
#include <stdlib.h>

#include "devices/flow/run_state.h"

static bool due_before(const struct due *a, const struct due *b) {
  return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->order < b->order;
}

/* What is due now is behind all that was noted before for now. */
static void note_now(struct group_sim *sim, const struct due *due) {
  if (sim->now_first == sim->now_count)
    sim->now_first = sim->now_count = 0;
  if (sim->now_count == sim->now_capacity) {
    size_t capacity = sim->now_capacity ? 2 * sim->now_capacity : 64;
    struct due *dues = realloc(sim->now_dues, capacity * sizeof *dues);
    if (!dues) {
      sim_fail(sim, VINCI_E_NOMEM, "out of memory");
      return;
    }
    sim->now_dues = dues;
    sim->now_capacity = capacity;
  }
  sim->now_dues[sim->now_count++] = *due;
}

void sim_note(struct group_sim *sim, struct due due) {
  if (due.time_ps == sim->now_ps) {
    note_now(sim, &due);
    return;
  }
  if (sim->due_count == sim->due_capacity) {
    size_t capacity = sim->due_capacity ? 2 * sim->due_capacity : 256;
    struct due *dues = realloc(sim->dues, capacity * sizeof *dues);
    if (!dues) {
      sim_fail(sim, VINCI_E_NOMEM, "out of memory");
      return;
    }
    sim->dues = dues;
    sim->due_capacity = capacity;
  }
  due.order = sim->order++;
  size_t at = sim->due_count++;
  for (; at > 0 && due_before(&due, &sim->dues[(at - 1) / 2]); at = (at - 1) / 2)
    sim->dues[at] = sim->dues[(at - 1) / 2];
  sim->dues[at] = due;
}

struct due sim_take_due(struct group_sim *sim) {
  struct due first = sim->dues[0], last = sim->dues[--sim->due_count];
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < sim->due_count; at = child) {
    if (child + 1 < sim->due_count && due_before(&sim->dues[child + 1], &sim->dues[child]))
      child++;
    if (!due_before(&sim->dues[child], &last))
      break;
    sim->dues[at] = sim->dues[child];
  }
  sim->dues[at] = last;
  return first;
}
