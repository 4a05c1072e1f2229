/* SPDX-License-Identifier: Apache-2.0 */
/* What is due in a run of devices: a heap, and a queue of what is due at once. */
#include <stdlib.h>

#include "devices/flow/run_state.h"

enum { FIRST_ROOM = 256 };
#define ORDER_MASK UINT64_C(0xffffffffffffff) /* enough for a thousand years */

static bool due_before(const struct due *a, const struct due *b) {
  return a->time_ps != b->time_ps     ? a->time_ps < b->time_ps
         : a->noted_ps != b->noted_ps ? a->noted_ps < b->noted_ps
         : a->whose != b->whose       ? a->whose < b->whose
                                      : a->order < b->order;
}

/* Room for one more; false when memory is short. */
static bool make_room(struct group_sim *sim, struct due **dues, size_t count, size_t *capacity) {
  if (count < *capacity)
    return true;
  size_t room = *capacity ? 2 * *capacity : FIRST_ROOM;
  struct due *more = realloc(*dues, room * sizeof *more);
  if (!more) {
    sim_fail(sim, VINCI_E_NOMEM, "out of memory");
    return false;
  }
  *dues = more;
  *capacity = room;
  return true;
}

/* What is due now is behind all that was noted before for now. */
static void note_now(struct group_sim *sim, const struct due *due) {
  if (sim->now_first == sim->now_count)
    sim->now_first = sim->now_count = 0;
  if (!make_room(sim, &sim->now_dues, sim->now_count, &sim->now_capacity))
    return;
  sim->now_dues[sim->now_count++] = *due;
}

void sim_note(struct group_sim *sim, struct due due) {
  if (due.time_ps == sim->now_ps) {
    note_now(sim, &due);
    return;
  }
  if (!make_room(sim, &sim->dues, sim->due_count, &sim->due_capacity))
    return;
  due.noted_ps = sim->now_ps;
  due.order = sim->order++ & ORDER_MASK;
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
