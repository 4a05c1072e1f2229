/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items go through their queues again. What the scalar unit did between two items keeps its time; a
 * wait for room in a queue, for a flag or for a drained core is found again.
 */
#include "core/result/replay.h"

#include <stdlib.h>

#include "core/base/arith.h"
#include "core/result/replay_items.h"

enum { HUNDRED = 100 };

struct run {
  struct replay *replay;
  const struct replay_change *change;
};

/* What all cores share is met by the others too: with twice the rate a wait for that ends in half
 * of the whole time of the copy, or with the copy's own work. */
static bool is_shared(enum cause cause) {
  return cause >= CAUSE_NETWORK && cause <= CAUSE_DRAM_QUEUE;
}

/* Cycles of an instruction that fall away. Of a copy that waits for what cores share, its own work
 * comes to lie behind those waits. */
static uint64_t saved_of(const struct run *run, const struct result_event *event) {
  uint64_t saved = 0, own_saved = 0, turned = 0, waits = 0, all = 0;
  for (unsigned c = 0; run->change && c < EVENT_CAUSES; c++) {
    enum cause cause = (enum cause)event->cause[c];
    uint64_t cycles = event->cause_cycles[c];
    unsigned share = run->change->saved[cause][event->member % CAUSE_MEMBERS];
    bool own = cause == CAUSE_RATE || cause == CAUSE_REORDER, shared = is_shared(cause);
    all += own || shared ? cycles : 0;
    waits += shared ? cycles : 0;
    if (share > 0 && share < HUNDRED && shared)
      turned += cycles;
    else
      *(own ? &own_saved : &saved) += cycles * share / HUNDRED;
  }
  saved += own_saved > waits ? own_saved - waits : 0;
  return turned > 0 ? saved + min_u64(turned, all / 2) : saved;
}

static void finish(struct replay_side *side, struct replay_item *item, uint64_t start,
                   uint64_t end) {
  item->start_at = start;
  item->end_at = end;
  item->done = true;
  side->ended++;
  side->last_end = max_u64(side->last_end, end);
}

/* When what an item waits for lets it go on; false while that is not known. */
static bool gate_opens(const struct run *run, const struct replay_item *item, uint64_t *at) {
  *at = 0;
  if (item->gate == NONE)
    return true;
  const struct replay_item *gate = &run->replay->items[item->gate];
  *at = gate->end_at + item->lag;
  return gate->done;
}

/* An instruction of the scalar unit itself. */
static bool step_scalar(const struct run *run, struct replay_side *side, struct replay_item *item,
                        uint64_t at) {
  const struct result_event *event = item->event;
  uint64_t opens, lasted = event->end_cycle - event->start_cycle, end = at + lasted;
  bool drains = event->op == OP_PIPE_BARRIER;
  if (!gate_opens(run, item, &opens) || (drains && side->ended < side->next - side->first))
    return false;
  if (drains) {
    bool left_out = run->change && run->change->no_barriers;
    end = left_out
              ? at
              : max_u64(at, side->last_end) + (uint64_t)run->replay->result->soc->barrier_cycles;
  } else if (item->gate != NONE) {
    uint64_t seen = run->replay->items[item->gate].event->end_cycle + item->lag;
    uint64_t begun = max_u64(event->start_cycle, seen);
    end = max_u64(at, opens) + (event->end_cycle > begun ? event->end_cycle - begun : 0);
  }
  side->scalar = end;
  item->issued = true;
  finish(side, item, at, end);
  return true;
}

/* The scalar unit goes on by an item. */
static bool step_issue(const struct run *run, struct replay_side *side) {
  if (side->next == side->first + side->count)
    return false;
  struct replay_item *item = &run->replay->items[side->next];
  uint64_t at = side->scalar + item->gap;
  if (item->after_all) {
    if (side->ended < side->next - side->first)
      return false;
    at = max_u64(at, side->last_end + item->rest);
  }
  if (item->event->pipe == PIPE_S) {
    if (!step_scalar(run, side, item, at))
      return false;
    side->next++;
    return true;
  }
  if (item->room != NONE) {
    const struct replay_item *room = &run->replay->items[item->room];
    if (!room->done)
      return false;
    at = max_u64(at, room->leaves_at);
  }
  item->issue_at = side->scalar = at;
  item->issued = true;
  side->next++;
  return true;
}

static bool of_unit(enum pipe pipe) {
  return pipe == PIPE_M || pipe == PIPE_V || pipe == PIPE_MTE1;
}

static void work(const struct run *run, struct replay_side *side, struct replay_item *item,
                 uint64_t ready) {
  const struct result_event *event = item->event;
  enum pipe pipe = (enum pipe)event->pipe;
  bool follows = item->overlap > 0 && !of_unit(pipe);
  uint64_t saved = saved_of(run, event), lasted = event->end_cycle - event->start_cycle;
  uint64_t start = ready;
  if (!of_unit(pipe) && side->complete[pipe] > item->overlap)
    start = max_u64(start, side->complete[pipe] - item->overlap);
  /* A copy behind others takes the time that it brings, not that of those before. */
  if (follows)
    lasted = item->busy_cycles;
  uint64_t takes = lasted > saved ? lasted - saved : 0;
  uint64_t end = follows ? max_u64(start, side->complete[pipe]) + takes : start + takes;
  side->busy_saved[pipe] += saved;
  side->free[pipe] = start + (item->distance > saved ? item->distance - saved : 0);
  side->leaves[pipe] = item->leaves_at = start;
  side->complete[pipe] = max_u64(side->complete[pipe], end);
  finish(side, item, start, end);
}

/* A pipe goes on by an item. */
static bool step_pipe(const struct run *run, struct replay_side *side, enum pipe pipe) {
  if (side->lane[pipe] == NONE)
    return false;
  struct replay_item *item = &run->replay->items[side->lane[pipe]];
  uint64_t opens, drained = side->complete[pipe];
  if (!item->issued || !gate_opens(run, item, &opens))
    return false;
  uint64_t ready = max_u64(item->issue_at, max_u64(side->leaves[pipe], side->free[pipe])), end;
  side->lane[pipe] = item->lane_next;
  switch (item->event->op) {
  case OP_SET_FLAG:
  case OP_FFTS_CROSS_CORE_SYNC:
    item->leaves_at = ready;
    end = max_u64(ready, drained);
    break;
  case OP_WAIT_FLAG:
  case OP_WAIT_FLAG_DEV:
    item->leaves_at = end = max_u64(ready, opens);
    break;
  case OP_PIPE_BARRIER:
    end = ready;
    if (!run->change || !run->change->no_barriers)
      end = max_u64(ready, drained) + (uint64_t)run->replay->result->soc->barrier_cycles;
    item->leaves_at = end;
    break;
  default:
    work(run, side, item, max_u64(ready, opens));
    return true;
  }
  side->leaves[pipe] = item->leaves_at;
  finish(side, item, ready, end);
  return true;
}

static void begin(struct replay *replay) {
  for (unsigned i = 0; i < replay->sides; i++) {
    struct replay_side *side = &replay->side[i];
    for (int32_t k = side->first; k < side->first + side->count; k++)
      replay->items[k].issued = replay->items[k].done = false;
    side->next = side->first;
    side->ended = 0;
    side->scalar = side->last_end = 0;
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
      side->lane[pipe] = side->lane_first[pipe];
      side->leaves[pipe] = side->free[pipe] = side->complete[pipe] = side->busy_saved[pipe] = 0;
    }
  }
}

/* Returns when the last item has ended. */
static uint64_t go(const struct run *run) {
  struct replay *replay = run->replay;
  uint64_t end = 0;
  bool moved = true;
  begin(replay);
  while (moved) {
    moved = false;
    for (unsigned i = 0; i < replay->sides; i++) {
      struct replay_side *side = &replay->side[i];
      while (step_issue(run, side))
        moved = true;
      for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
        while (step_pipe(run, side, (enum pipe)pipe))
          moved = true;
    }
  }
  for (unsigned i = 0; i < replay->sides; i++)
    end = max_u64(end, replay->side[i].last_end);
  return end;
}

struct replay *replay_open(const struct vinci_result *result, uint32_t core) {
  struct replay *replay = calloc(1, sizeof *replay);
  if (!replay)
    return NULL;
  *replay = (struct replay){.result = result, .core = core};
  if (!replay_take_items(replay)) {
    replay_close(replay);
    return NULL;
  }
  replay->plain_end = go(&(struct run){replay, NULL});
  return replay;
}

void replay_run(struct replay *replay, const struct replay_change *change,
                struct replay_outcome *out) {
  const struct core_result *core = &replay->result->cores[replay->core];
  uint64_t top_hz = (uint64_t)replay->result->soc->core_hz;
  int64_t saved = (int64_t)replay->plain_end - (int64_t)go(&(struct run){replay, change});
  *out = (struct replay_outcome){.saved_cycles = saved * (int64_t)top_hz / (int64_t)core->hz};
  for (unsigned i = 0; i < replay->sides; i++) {
    const struct replay_side *side = &replay->side[i];
    if (side->core != replay->core)
      continue;
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
      uint64_t busy = core->pipe[pipe].busy_cycles;
      busy -= min_u64(busy, side->busy_saved[pipe]);
      if (busy > out->busiest_cycles) {
        out->busiest = (enum pipe)pipe;
        out->busiest_cycles = busy;
      }
    }
  }
}

void replay_close(struct replay *replay) {
  if (!replay)
    return;
  free(replay->items);
  free(replay->events);
  free(replay);
}
