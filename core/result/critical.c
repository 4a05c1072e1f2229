/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time of a run went: the walk back along the chain of instructions. */
#include "core/result/critical.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/diag.h"

const char *critical_rest_name(enum critical_rest rest) {
  static const char *const names[] = {"launch", "idle", "end"};
  return names[rest];
}

/* The events of one pipe of the core, by start; `next` is the last one not yet passed. */
struct lane {
  const struct result_event **events;
  size_t count;
};

struct walk {
  const struct vinci_result *result;
  const struct core_result *core;
  struct lane lanes[PIPE_COUNT];
  const struct result_event **storage;
};

/* A cycle of the core's clock in cycles of the top level's clock. */
static uint64_t top_cycles(const struct walk *walk, uint64_t cycle) {
  uint64_t top_hz = (uint64_t)walk->result->soc->core_hz;
  return walk->core->hz == top_hz ? cycle : (uint64_t)((uint128)cycle * top_hz / walk->core->hz);
}

/* The core whose last event ends last; the first of several. */
static uint32_t last_core(const struct vinci_result *result) {
  uint32_t found = result->core_count;
  uint128 latest = 0;
  for (uint64_t i = 0; i < result->event_count; i++) {
    const struct result_event *event = &result->events[i];
    uint128 end = (uint128)event->end_cycle * PS_PER_SECOND / result->cores[event->core].hz;
    if (found == result->core_count || end > latest || (end == latest && event->core < found)) {
      found = event->core;
      latest = end;
    }
  }
  return found;
}

static int compare_events(const void *left, const void *right) {
  const struct result_event *a = *(const struct result_event *const *)left;
  const struct result_event *b = *(const struct result_event *const *)right;
  if (a->start_cycle != b->start_cycle)
    return a->start_cycle < b->start_cycle ? -1 : 1;
  if (a->end_cycle != b->end_cycle)
    return a->end_cycle < b->end_cycle ? -1 : 1;
  return a->line < b->line ? -1 : a->line > b->line;
}

/* Flags and barriers last as long as what they wait for: the chain goes on to that. */
static bool only_waits(const struct result_event *event) {
  return event->op == OP_SET_FLAG || event->op == OP_WAIT_FLAG || event->op == OP_PIPE_BARRIER ||
         event->op == OP_WAIT_FLAG_DEV || event->op == OP_FFTS_CROSS_CORE_SYNC;
}

/* Sorts the core's events into lanes. */
static bool fill_lanes(struct walk *walk, uint32_t core) {
  const struct vinci_result *result = walk->result;
  size_t total = 0;
  for (uint64_t i = 0; i < result->event_count; i++)
    total += result->events[i].core == core;
  walk->storage = calloc(total + 1, sizeof(const struct result_event *));
  if (!walk->storage)
    return false;
  size_t filled = 0;
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    struct lane *lane = &walk->lanes[pipe];
    lane->events = walk->storage + filled;
    for (uint64_t i = 0; i < result->event_count; i++) {
      const struct result_event *event = &result->events[i];
      if (event->core == core && event->pipe == pipe && !only_waits(event) &&
          event->end_cycle > event->start_cycle)
        lane->events[lane->count++] = event;
    }
    filled += lane->count;
    if (lane->count > 0)
      qsort(lane->events, lane->count, sizeof(const struct result_event *), compare_events);
  }
  return true;
}

/* Cycle at which an event lets go of what comes after `now`: its end, or now if it still runs. */
static uint64_t reach(const struct result_event *event, uint64_t now) {
  return event->end_cycle < now ? event->end_cycle : now;
}

/*
 * The event that comes before `now`: the one that reaches farthest; of several the one that
 * ends just there, since that is what was waited for; then the order of arithmetic before
 * transfers before the scalar unit.
 */
static const struct result_event *previous(struct walk *walk, uint64_t now) {
  static const enum pipe order[] = {PIPE_M,    PIPE_V,   PIPE_MTE2, PIPE_MTE3,
                                    PIPE_MTE1, PIPE_FIX, PIPE_S};
  const struct result_event *best = NULL;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    struct lane *lane = &walk->lanes[order[i]];
    while (lane->count > 0 && lane->events[lane->count - 1]->start_cycle >= now)
      lane->count--;
    if (lane->count == 0)
      continue;
    const struct result_event *event = lane->events[lane->count - 1];
    uint64_t far = reach(event, now), best_far = best ? reach(best, now) : 0;
    bool ends_there = event->end_cycle == now && best && best->end_cycle != now;
    if (!best || far > best_far || (far == best_far && ends_there))
      best = event;
  }
  return best;
}

static void walk_back(struct walk *walk, struct critical_path *out) {
  uint64_t now = walk->core->total_cycles;
  uint64_t now_top = walk->result->total_cycles;
  enum critical_rest rest = CRITICAL_END;
  const struct result_event *event;
  while ((event = previous(walk, now)) != NULL) {
    uint64_t end_top = top_cycles(walk, reach(event, now));
    uint64_t start_top = top_cycles(walk, event->start_cycle);
    end_top = end_top < now_top ? end_top : now_top;
    start_top = start_top < end_top ? start_top : end_top;
    struct critical_part *part = &out->part[event->pipe][event->op];
    out->rest[rest] += now_top - end_top;
    part->cycles += end_top - start_top;
    part->count++;
    now = event->start_cycle;
    now_top = start_top;
    rest = CRITICAL_IDLE;
  }
  out->rest[CRITICAL_LAUNCH] += now_top;
}

enum vinci_status critical_find(const struct vinci_result *result, struct critical_path *out,
                                struct vinci_diag *diag) {
  memset(out, 0, sizeof *out);
  out->core = last_core(result);
  if (out->core == result->core_count) {
    out->rest[CRITICAL_LAUNCH] = result->total_cycles;
    return VINCI_OK;
  }
  struct walk walk = {.result = result, .core = &result->cores[out->core]};
  if (!fill_lanes(&walk, out->core))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  walk_back(&walk, out);
  free(walk.storage);
  return VINCI_OK;
}
