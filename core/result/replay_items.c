/* SPDX-License-Identifier: Apache-2.0 */
/* From recorded instructions to what each of them waits for. */
#include "core/result/replay_items.h"

#include <stdlib.h>

#include "core/base/arith.h"
#include "core/result/events.h"

enum { FLAG_IDS = 256, FLAG_KEYS = PIPE_COUNT * PIPE_COUNT * FLAG_IDS };

/* ---- items ---------------------------------------------------------------------------------- */

/* When the head of the queue let the next one come up. */
static uint64_t left_at(const struct result_event *event) {
  return event->op == OP_WAIT_FLAG || event->op == OP_PIPE_BARRIER ? event->end_cycle
                                                                   : event->start_cycle;
}

static uint64_t ready_at(const struct result_event *event) {
  return event->start_cycle - event->held_cycles;
}

/* By the scalar unit; its own instructions: their start. */
static uint64_t issue_of(const struct result_event *event) {
  return event->start_cycle - event->queued_cycles;
}

static int compare_issues(const void *left, const void *right, void *context) {
  const struct result_event *events = context;
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  uint64_t issue_a = issue_of(&events[a]), issue_b = issue_of(&events[b]);
  if (issue_a != issue_b)
    return issue_a < issue_b ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* Cores of the block: an AIC with its AIV. */
static bool belongs(const struct replay *replay, uint32_t core) {
  const struct core_result *one = &replay->result->cores[replay->core];
  const struct core_result *other = &replay->result->cores[core];
  return core == replay->core || (other->cluster == one->cluster && other->blocks_run > 0);
}

static uint64_t count_events(const struct replay *replay) {
  uint64_t count = 0;
  for (uint32_t core = 0; core < replay->result->core_count; core++)
    count += belongs(replay, core) ? event_count_of(replay->result, core) : 0;
  return count;
}

/* Takes the events of a core; their numbers in the order of issue go to `order`. */
static void take_side(struct replay *replay, uint32_t core, uint32_t *order, int32_t *filled) {
  struct replay_side *side = &replay->side[replay->sides++];
  side->core = core;
  side->first = *filled;
  struct event_walk walk = {.result = replay->result, .core = core};
  for (const struct result_event *next; (next = event_walk_next(&walk)) != NULL; ++*filled) {
    replay->events[*filled] = *next;
    order[*filled] = (uint32_t)*filled;
  }
  side->count = *filled - side->first;
  qsort_r(order + side->first, (size_t)side->count, sizeof *order, compare_issues, replay->events);
}

static struct replay_item item_of(const struct result_event *event) {
  struct replay_item item = {.event = event,
                             .issue = issue_of(event),
                             .lane_next = NONE,
                             .work_before = NONE,
                             .room = NONE,
                             .gate = NONE};
  for (unsigned c = 0; c < EVENT_CAUSES; c++)
    item.busy_cycles += event->cause_cycles[c];
  return item;
}

/* What is sorted are numbers, before there is memory for items: these are large. */
static bool make_items(struct replay *replay, uint64_t count) {
  const struct vinci_result *result = replay->result;
  uint32_t *order = malloc(count * sizeof *order);
  int32_t filled = 0;
  replay->events = malloc(count * sizeof *replay->events);
  bool good = order && replay->events;
  for (uint32_t i = 0; good && i < result->core_count && replay->sides < CORES_MAX; i++)
    if (belongs(replay, i))
      take_side(replay, i, order, &filled);
  if (good)
    replay->items = malloc(count * sizeof *replay->items);
  for (int32_t i = 0; replay->items && i < filled; i++)
    replay->items[i] = item_of(&replay->events[order[i]]);
  free(order);
  return replay->items != NULL;
}

/* ---- what items wait for -------------------------------------------------------------------- */

/* The order of each pipe, how far its instructions lie apart, and which made room in its queue. */
static void link_lanes(struct replay *replay, struct replay_side *side) {
  int32_t behind[PIPE_COUNT], depth[PIPE_COUNT], queued[PIPE_COUNT] = {0}, worked[PIPE_COUNT];
  uint64_t complete[PIPE_COUNT] = {0};
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    side->lane_first[pipe] = side->lane_last[pipe] = behind[pipe] = worked[pipe] = NONE;
    depth[pipe] =
        pipe == PIPE_S ? 0 : (int32_t)soc_queue_depth(replay->result->soc, (enum pipe)pipe);
  }
  for (int32_t i = side->first; i < side->first + side->count; i++) {
    struct replay_item *item = &replay->items[i];
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
    if (event_only_waits(event))
      continue;
    if (last != NONE) {
      struct replay_item *one = &replay->items[last];
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
static bool link_flags(struct replay *replay, struct replay_side *side) {
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
    struct replay_item *item = &replay->items[side->first + i];
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
static void link_units(struct replay *replay, struct replay_side *side) {
  int32_t last[PIPE_COUNT];
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    last[pipe] = NONE;
  for (int32_t i = side->first; i < side->first + side->count; i++) {
    struct replay_item *item = &replay->items[i];
    const struct result_event *event = item->event;
    bool either = event->pipe == PIPE_M || event->pipe == PIPE_FIX;
    int32_t other = either ? last[event->pipe == PIPE_M ? PIPE_FIX : PIPE_M] : NONE;
    if (event_only_waits(event))
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
    struct replay_item *wait = &replay->items[i];
    if (wait->event->op != OP_WAIT_FLAG_DEV || wait->event->delivery == 0)
      continue;
    wait->gate = sender[wait->event->delivery];
    wait->lag = (uint64_t)replay->result->soc->cross_core_cycles;
  }
  free(sender);
  return true;
}

/* The scalar unit had to wait for room in the queue. */
static bool found_no_room(const struct replay *replay, const struct replay_item *item) {
  return item->room != NONE && left_at(replay->items[item->room].event) == item->issue;
}

/* The shortest times from the item before to instructions of a line, without waits for room; [0]:
 * of all lines. */
static uint64_t *least_gaps(const struct replay *replay, const struct replay_side *side) {
  uint32_t lines = 0;
  for (int32_t i = side->first; i < side->first + side->count; i++)
    lines = replay->items[i].event->line > lines ? replay->items[i].event->line : lines;
  uint64_t *least = malloc(((size_t)lines + 1) * sizeof *least);
  for (uint32_t i = 0; least && i <= lines; i++)
    least[i] = UINT64_MAX;
  for (int32_t i = side->first; least && i < side->first + side->count; i++) {
    const struct replay_item *item = &replay->items[i];
    if (item->event->pipe != PIPE_S)
      least[0] = min_u64(least[0], item->gap);
    if (item->event->line > 0 && !found_no_room(replay, item))
      least[item->event->line] = min_u64(least[item->event->line], item->gap);
  }
  return least;
}

/* The work of the scalar unit between items, without its waits. */
static bool find_gaps(struct replay *replay, struct replay_side *side) {
  uint64_t scalar = 0, last_end = 0;
  for (int32_t i = side->first; i < side->first + side->count; i++) {
    struct replay_item *item = &replay->items[i];
    item->gap = item->issue > scalar ? item->issue - scalar : 0;
    scalar = item->event->pipe == PIPE_S ? max_u64(scalar, item->event->end_cycle) : item->issue;
  }
  uint64_t *least = least_gaps(replay, side);
  for (int32_t i = side->first; least && i < side->first + side->count; i++) {
    struct replay_item *item = &replay->items[i];
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

bool replay_take_items(struct replay *replay) {
  uint64_t count = count_events(replay);
  bool good = count > 0 && count < INT32_MAX && make_items(replay, count);
  int32_t filled = 0;
  for (unsigned i = 0; good && i < replay->sides; i++) {
    struct replay_side *side = &replay->side[i];
    link_lanes(replay, side);
    good = link_flags(replay, side);
    link_units(replay, side);
    good = good && find_gaps(replay, side);
    filled += side->count;
  }
  return good && link_signals(replay, filled);
}
