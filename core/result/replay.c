/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded instructions go through their queues again. Each becomes an item: when it was issued,
 * what it waited for, and how long it lasted. What the scalar unit did between two items keeps its
 * time; a wait for room in a queue, for a flag or for a drained core is found again.
 */
#include "core/result/replay.h"

#include <stdlib.h>

#include "core/base/arith.h"
#include "core/result/events.h"

enum {
  NONE = -1,
  HUNDRED = 100,
  FLAG_IDS = 256,
  FLAG_KEYS = PIPE_COUNT * PIPE_COUNT * FLAG_IDS,
  CORES_MAX = 8 /* that share a block */
};

struct item {
  const struct result_event *event;
  uint64_t issue; /* by the scalar unit; its own instructions: their start */
  uint64_t gap;   /* scalar time since the item before */
  uint64_t lag;   /* from the end of what it waits for */
  uint64_t rest;  /* after_all: from the end of everything before */
  int32_t lane_next;
  int32_t work_before;  /* of its pipe, flags and barriers left out */
  int32_t room;         /* the item that made room in the queue */
  int32_t gate;         /* the item that it waits for: a flag's set, a signal, a unit flag */
  uint32_t busy_cycles; /* that it brought to its pipe */
  uint32_t distance;    /* from its start to that of the next of a unit */
  uint32_t overlap;     /* with copies before */
  bool after_all;       /* was issued when the core had drained */
  bool issued, done;    /* in the present replay */
  uint64_t issue_at, start_at, end_at, leaves_at;
};

/* Of one core. */
struct side {
  uint32_t core;
  int32_t first, count; /* of the items, in the order of issue */
  int32_t lane_first[PIPE_COUNT];
  int32_t lane_last[PIPE_COUNT];
  /* the present replay: */
  int32_t next;             /* that the scalar unit issues */
  int32_t lane[PIPE_COUNT]; /* that the pipe starts */
  int32_t ended;            /* items that are done */
  uint64_t scalar, last_end;
  uint64_t leaves[PIPE_COUNT], free[PIPE_COUNT], complete[PIPE_COUNT];
  uint64_t busy_saved[PIPE_COUNT];
};

struct replay {
  const struct vinci_result *result;
  uint32_t core;
  struct side side[CORES_MAX];
  unsigned sides;
  struct item *items;
  struct result_event *events; /* of the items */
  uint64_t plain_end; /* of a replay without a change */
};

/* ---- items ---------------------------------------------------------------------------------- */

static bool of_unit(enum pipe pipe) {
  return pipe == PIPE_M || pipe == PIPE_V || pipe == PIPE_MTE1;
}

static bool works(const struct result_event *event) {
  return event->op != OP_SET_FLAG && event->op != OP_WAIT_FLAG && event->op != OP_PIPE_BARRIER &&
         event->op != OP_FFTS_CROSS_CORE_SYNC && event->op != OP_WAIT_FLAG_DEV;
}

/* When the head of the queue let the next one come up. */
static uint64_t left_at(const struct result_event *event) {
  return event->op == OP_WAIT_FLAG || event->op == OP_PIPE_BARRIER ? event->end_cycle
                                                                   : event->start_cycle;
}

static uint64_t ready_at(const struct result_event *event) {
  return event->start_cycle - event->held_cycles;
}

static int compare_items(const void *left, const void *right) {
  const struct item *a = left, *b = right;
  if (a->issue != b->issue)
    return a->issue < b->issue ? -1 : 1;
  return a->event < b->event ? -1 : a->event > b->event;
}

/* Cores of the block: an AIC with its AIV. */
static bool belongs(const struct replay *replay, uint32_t core) {
  const struct core_result *one = &replay->result->cores[replay->core];
  const struct core_result *other = &replay->result->cores[core];
  return core == replay->core || (other->cluster == one->cluster && other->blocks_run > 0);
}

static uint64_t count_events(const struct replay *replay) {
  const struct vinci_result *result = replay->result;
  uint64_t count = 0;
  for (uint32_t core = 0; core < result->core_count; core++)
    for (struct event_walk walk = {.result = result, .core = core};
         belongs(replay, core) && event_walk_next(&walk);)
      count++;
  return count;
}

static void take_side(struct replay *replay, uint32_t core, int32_t *filled) {
  const struct vinci_result *result = replay->result;
  struct side *side = &replay->side[replay->sides++];
  side->core = core;
  side->first = *filled;
  struct event_walk walk = {.result = result, .core = core};
  for (const struct result_event *next; (next = event_walk_next(&walk)) != NULL;) {
    struct result_event *event = &replay->events[*filled];
    *event = *next;
    struct item *item = &replay->items[(*filled)++];
    *item = (struct item){.event = event,
                          .issue = event->start_cycle - event->queued_cycles,
                          .lane_next = NONE,
                          .work_before = NONE,
                          .room = NONE,
                          .gate = NONE};
    for (unsigned c = 0; c < EVENT_CAUSES; c++)
      item->busy_cycles += event->cause_cycles[c];
  }
  side->count = *filled - side->first;
  qsort(replay->items + side->first, (size_t)side->count, sizeof *replay->items, compare_items);
}

/* ---- what items wait for ----------------------------------------------------------------------
 */

/* The order of each pipe, how far its instructions lie apart, and which made room in its queue. */
static void link_lanes(struct replay *replay, struct side *side) {
  int32_t behind[PIPE_COUNT], depth[PIPE_COUNT], queued[PIPE_COUNT] = {0}, worked[PIPE_COUNT];
  uint64_t complete[PIPE_COUNT] = {0};
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    side->lane_first[pipe] = side->lane_last[pipe] = behind[pipe] = worked[pipe] = NONE;
    depth[pipe] =
        pipe == PIPE_S ? 0 : (int32_t)soc_queue_depth(replay->result->soc, (enum pipe)pipe);
  }
  for (int32_t i = side->first; i < side->first + side->count; i++) {
    struct item *item = &replay->items[i];
    const struct result_event *event = item->event;
    unsigned pipe = event->pipe;
    if (pipe == PIPE_S)
      continue;
    int32_t before = side->lane_last[pipe], last = worked[pipe];
    if (before == NONE)
      side->lane_first[pipe] = i;
    else
      replay->items[before].lane_next = i;
    side->lane_last[pipe] = i;
    behind[pipe] = behind[pipe] == NONE ? i : behind[pipe];
    if (queued[pipe] == depth[pipe]) {
      item->room = behind[pipe];
      behind[pipe] = replay->items[behind[pipe]].lane_next;
    } else {
      queued[pipe]++;
    }
    if (!works(event))
      continue;
    if (last != NONE) {
      struct item *one = &replay->items[last];
      uint64_t apart = ready_at(event) - min_u64(one->event->start_cycle, ready_at(event));
      bool waited = ready_at(event) > item->issue && before == last;
      one->distance =
          (uint32_t)min_u64(waited ? apart : min_u64(apart, one->busy_cycles), UINT32_MAX);
      if (complete[pipe] > event->start_cycle)
        item->overlap = (uint32_t)min_u64(complete[pipe] - event->start_cycle, UINT32_MAX);
    }
    item->work_before = last;
    worked[pipe] = i;
    complete[pipe] = max_u64(complete[pipe], event->end_cycle);
  }
}

static size_t flag_key(enum pipe from, enum pipe to, unsigned id) {
  return ((size_t)from * PIPE_COUNT + to) * FLAG_IDS + id;
}

/* The n-th wait for a flag takes its n-th set. */
static bool link_flags(struct replay *replay, struct side *side) {
  int32_t *first = malloc(FLAG_KEYS * sizeof *first), *last = malloc(FLAG_KEYS * sizeof *last);
  int32_t *next = malloc(((size_t)side->count + 1) * sizeof *next);
  bool good = first && last && next;
  for (size_t i = 0; good && i < FLAG_KEYS; i++)
    first[i] = NONE;
  for (int32_t i = 0; good && i < side->count; i++) {
    const struct result_event *event = replay->items[side->first + i].event;
    size_t key = flag_key((enum pipe)event->pipe, (enum pipe)event->other, event->id);
    if (event->op != OP_SET_FLAG)
      continue;
    if (first[key] == NONE)
      first[key] = i;
    else
      next[last[key]] = i;
    last[key] = i;
    next[i] = NONE;
  }
  for (int32_t i = 0; good && i < side->count; i++) {
    struct item *item = &replay->items[side->first + i];
    size_t key =
        flag_key((enum pipe)item->event->other, (enum pipe)item->event->pipe, item->event->id);
    if (item->event->op != OP_WAIT_FLAG || first[key] == NONE)
      continue;
    item->gate = side->first + first[key];
    item->lag = (uint64_t)replay->result->soc->flag_cycles;
    first[key] = next[first[key]];
  }
  free(first);
  free(last);
  free(next);
  return good;
}

/* What was held at the head of its queue by a unit flag waits for the end of the other pipe's. */
static void link_units(struct replay *replay, struct side *side) {
  int32_t last[PIPE_COUNT];
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    last[pipe] = NONE;
  for (int32_t i = side->first; i < side->first + side->count; i++) {
    struct item *item = &replay->items[i];
    const struct result_event *event = item->event;
    bool either = event->pipe == PIPE_M || event->pipe == PIPE_FIX;
    int32_t other = either ? last[event->pipe == PIPE_M ? PIPE_FIX : PIPE_M] : NONE;
    if (!works(event))
      continue;
    last[event->pipe] = i;
    if (event->held_cycles == 0)
      continue;
    while (other != NONE && replay->items[other].event->end_cycle > event->start_cycle)
      other = replay->items[other].work_before;
    if (other == NONE)
      continue;
    item->gate = other;
    item->lag = event->start_cycle - replay->items[other].event->end_cycle;
  }
}

/* A wait for another core and the signal of the last sender have the same number. */
static bool link_signals(struct replay *replay, int32_t count) {
  uint32_t most = 0;
  for (int32_t i = 0; i < count; i++)
    most = replay->items[i].event->delivery > most ? replay->items[i].event->delivery : most;
  int32_t *sender = malloc(((size_t)most + 1) * sizeof *sender);
  if (!sender)
    return false;
  for (uint32_t i = 0; i <= most; i++)
    sender[i] = NONE;
  for (int32_t i = 0; i < count; i++)
    if (replay->items[i].event->op == OP_FFTS_CROSS_CORE_SYNC)
      sender[replay->items[i].event->delivery] = i;
  for (int32_t i = 0; i < count; i++) {
    struct item *wait = &replay->items[i];
    if (wait->event->op != OP_WAIT_FLAG_DEV || wait->event->delivery == 0)
      continue;
    wait->gate = sender[wait->event->delivery];
    wait->lag = (uint64_t)replay->result->soc->cross_core_cycles;
  }
  free(sender);
  return true;
}

/* The scalar unit had to wait for room in the queue. */
static bool found_no_room(const struct replay *replay, const struct item *item) {
  return item->room != NONE && left_at(replay->items[item->room].event) == item->issue;
}

/* The shortest times from the item before to instructions of a line, without waits for room; [0]:
 * of all lines. */
static uint64_t *least_gaps(const struct replay *replay, const struct side *side) {
  uint32_t lines = 0;
  for (int32_t i = side->first; i < side->first + side->count; i++)
    lines = replay->items[i].event->line > lines ? replay->items[i].event->line : lines;
  uint64_t *least = malloc(((size_t)lines + 1) * sizeof *least);
  for (uint32_t i = 0; least && i <= lines; i++)
    least[i] = UINT64_MAX;
  for (int32_t i = side->first; least && i < side->first + side->count; i++) {
    const struct item *item = &replay->items[i];
    if (item->event->pipe != PIPE_S)
      least[0] = min_u64(least[0], item->gap);
    if (item->event->line > 0 && !found_no_room(replay, item))
      least[item->event->line] = min_u64(least[item->event->line], item->gap);
  }
  return least;
}

/* The work of the scalar unit between items, without its waits. */
static bool find_gaps(struct replay *replay, struct side *side) {
  uint64_t scalar = 0, last_end = 0;
  for (int32_t i = side->first; i < side->first + side->count; i++) {
    struct item *item = &replay->items[i];
    item->gap = item->issue > scalar ? item->issue - scalar : 0;
    scalar = item->event->pipe == PIPE_S ? max_u64(scalar, item->event->end_cycle) : item->issue;
  }
  uint64_t *least = least_gaps(replay, side);
  for (int32_t i = side->first; least && i < side->first + side->count; i++) {
    struct item *item = &replay->items[i];
    uint64_t usual = min_u64(item->gap, least[item->event->line]);
    if (usual == UINT64_MAX ||
        (found_no_room(replay, item) && least[item->event->line] == UINT64_MAX))
      usual = min_u64(item->gap, least[0]);
    if (i > side->first && last_end <= item->issue && item->gap > usual) {
      item->after_all = true;
      item->rest = item->issue - last_end;
      item->gap = usual;
    } else if (found_no_room(replay, item)) {
      item->gap = usual;
    }
    last_end = max_u64(last_end, item->event->end_cycle);
  }
  free(least);
  return least != NULL;
}

/* ---- a replay -------------------------------------------------------------------------------- */

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

static void finish(struct side *side, struct item *item, uint64_t start, uint64_t end) {
  item->start_at = start;
  item->end_at = end;
  item->done = true;
  side->ended++;
  side->last_end = max_u64(side->last_end, end);
}

/* When what an item waits for lets it go on; false while that is not known. */
static bool gate_opens(const struct run *run, const struct item *item, uint64_t *at) {
  *at = 0;
  if (item->gate == NONE)
    return true;
  const struct item *gate = &run->replay->items[item->gate];
  *at = gate->end_at + item->lag;
  return gate->done;
}

/* An instruction of the scalar unit itself. */
static bool step_scalar(const struct run *run, struct side *side, struct item *item, uint64_t at) {
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
static bool step_issue(const struct run *run, struct side *side) {
  if (side->next == side->first + side->count)
    return false;
  struct item *item = &run->replay->items[side->next];
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
    const struct item *room = &run->replay->items[item->room];
    if (!room->done)
      return false;
    at = max_u64(at, room->leaves_at);
  }
  item->issue_at = side->scalar = at;
  item->issued = true;
  side->next++;
  return true;
}

static void work(const struct run *run, struct side *side, struct item *item, uint64_t ready) {
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
static bool step_pipe(const struct run *run, struct side *side, enum pipe pipe) {
  if (side->lane[pipe] == NONE)
    return false;
  struct item *item = &run->replay->items[side->lane[pipe]];
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
    struct side *side = &replay->side[i];
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
      struct side *side = &replay->side[i];
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
  uint64_t count = count_events(replay);
  bool good = count > 0 && count < INT32_MAX;
  if (good)
    replay->items = malloc(count * sizeof *replay->items);
  if (good)
    replay->events = malloc(count * sizeof *replay->events);
  good = good && replay->items && replay->events;
  int32_t filled = 0;
  for (uint32_t i = 0; good && i < result->core_count && replay->sides < CORES_MAX; i++)
    if (belongs(replay, i))
      take_side(replay, i, &filled);
  for (unsigned i = 0; good && i < replay->sides; i++) {
    struct side *side = &replay->side[i];
    link_lanes(replay, side);
    good = link_flags(replay, side);
    link_units(replay, side);
    good = good && find_gaps(replay, side);
  }
  good = good && link_signals(replay, filled);
  if (!good) {
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
    const struct side *side = &replay->side[i];
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
