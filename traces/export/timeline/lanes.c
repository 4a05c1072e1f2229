/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded instructions, lane by lane, laid out as bars that do not overlap. */
#include "traces/export/timeline/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/isa/isa.h"

bool lanes_orders(uint16_t op) {
  return op == OP_SET_FLAG || op == OP_WAIT_FLAG || op == OP_PIPE_BARRIER ||
         op == OP_FFTS_CROSS_CORE_SYNC || op == OP_WAIT_FLAG_DEV;
}

uint64_t lanes_leave_cycle(const struct result_event *event) {
  bool signals = event->op == OP_SET_FLAG || event->op == OP_FFTS_CROSS_CORE_SYNC;
  return lanes_orders(event->op) && !signals ? event->end_cycle : event->start_cycle;
}

uint64_t lanes_edge_ps(const struct vinci_result *result, uint32_t core, uint64_t cycle) {
  uint64_t hz = result->cores[core].hz;
  if (cycle <= UINT64_MAX / PS_PER_SECOND) /* the common case, without the set-up of a clock */
    return min_u64(cycle * PS_PER_SECOND / hz, TIME_END_PS);
  struct clock_domain clock;
  clock_init(&clock, hz);
  return clock_edge_ps(&clock, cycle);
}

/* Three places a cluster: the cube core (or the coupled core), then its vector cores. */
uint64_t lanes_core_order(const struct core_result *core) {
  return UINT64_C(3) * core->cluster + 1 + (core->kind == CORE_AIV ? 1 + core->member : 0);
}

unsigned lanes_pipe_order(enum pipe pipe) {
  static const unsigned order[PIPE_COUNT] = {
      [PIPE_S] = 1,    [PIPE_V] = 7,    [PIPE_M] = 4,  [PIPE_MTE1] = 3,
      [PIPE_MTE2] = 6, [PIPE_MTE3] = 8, [PIPE_FIX] = 5};
  return order[pipe];
}

/* ---- choice ---------------------------------------------------------------- */

static uint64_t on_core(const struct core_result *core, uint64_t top_hz, uint64_t cycle) {
  return core->hz == top_hz || cycle == UINT64_MAX ? cycle
                                                   : (uint64_t)((uint128)cycle * core->hz / top_hz);
}

bool lanes_show_core(const struct lanes *lanes, uint32_t core) {
  return timeline_has_core(lanes->choice, lanes->result->cores[core].cluster) &&
         (!lanes->choice->one_core || core == lanes->choice->core);
}

bool lanes_show(const struct lanes *lanes, uint32_t index) {
  const struct timeline_choice *choice = lanes->choice;
  const struct result_event *event = &lanes->result->events[index];
  const struct core_result *core = &lanes->result->cores[event->core];
  uint64_t top_hz = (uint64_t)lanes->result->soc->core_hz;
  return lanes_show_core(lanes, event->core) &&
         event->end_cycle >= on_core(core, top_hz, choice->first_cycle) &&
         event->start_cycle <= on_core(core, top_hz, choice->last_cycle) &&
         event->end_cycle - event->start_cycle >= choice->min_cycles;
}

static size_t lane_number(const struct result_event *event) {
  return (size_t)event->core * PIPE_COUNT + event->pipe;
}

/* Counts each lane, then puts the indices in their places: the order of completion stays. */
static bool sort_lanes(struct lanes *lanes) {
  const struct vinci_result *result = lanes->result;
  size_t lane_count = (size_t)result->core_count * PIPE_COUNT, largest = 0;
  size_t *place = calloc(lane_count + 1, sizeof *place);
  if (!place)
    return false;
  for (uint32_t i = 0; i < result->event_count; i++)
    if (lanes_show_core(lanes, result->events[i].core))
      place[lane_number(&result->events[i]) + 1]++;
  for (size_t lane = 0; lane < lane_count; lane++) {
    largest = max_u64(largest, place[lane + 1]);
    place[lane + 1] += place[lane];
  }
  lanes->count = place[lane_count];
  lanes->capacity = largest;
  lanes->order = calloc(lanes->count + 1, sizeof *lanes->order);
  lanes->bars = calloc(largest + 1, sizeof *lanes->bars);
  bool enough = lanes->order && lanes->bars;
  for (uint32_t i = 0; enough && i < result->event_count; i++)
    if (lanes_show_core(lanes, result->events[i].core))
      lanes->order[place[lane_number(&result->events[i])]++] = i;
  free(place);
  return enough;
}

bool lanes_open(struct lanes *lanes, const struct vinci_result *result,
                const struct timeline_choice *choice) {
  *lanes = (struct lanes){.result = result, .choice = choice};
  if (sort_lanes(lanes))
    return true;
  lanes_close(lanes);
  return false;
}

void lanes_rewind(struct lanes *lanes) { lanes->next = 0; }

void lanes_close(struct lanes *lanes) {
  free(lanes->order);
  free(lanes->bars);
  lanes->order = NULL;
  lanes->bars = NULL;
}

/* ---- layout ---------------------------------------------------------------- */

static int compare_u64(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* A wait that takes time began behind what started in the same cycle: a pipe starts in order. */
static bool began_later(const struct result_event *events, const struct bar *bar) {
  const struct result_event *event = &events[bar->index];
  return bar->end > bar->start && lanes_orders(event->op) && lanes_leave_cycle(event) > bar->start;
}

/* By start, end, and the order of completion. */
static int compare_bars(const void *left, const void *right, void *events) {
  const struct bar *a = left, *b = right;
  int order = compare_u64(a->start, b->start);
  order = order ? order : compare_u64(began_later(events, a), began_later(events, b));
  order = order ? order : compare_u64(a->end, b->end);
  return order ? order : compare_u64(a->index, b->index);
}

/* Instructions complete nearly in the order in which they start: most bars move by a few places or
 * not at all. */
static void sort_bars(struct bar *bars, size_t count, struct result_event *events) {
  size_t moves = 4 * count;
  for (size_t i = 1; i < count; i++) {
    struct bar bar = bars[i];
    size_t at = i;
    while (at > 0 && moves > 0 && compare_bars(&bars[at - 1], &bar, events) > 0) {
      bars[at] = bars[at - 1];
      at--;
      moves--;
    }
    bars[at] = bar;
  }
  if (moves == 0)
    qsort_r(bars, count, sizeof *bars, compare_bars, events);
}

/* Instructions last until all in flight are done; waits begin when the pipe has run dry. */
static void stretch(const struct vinci_result *result, struct bar *bars, size_t count) {
  uint64_t busy_until = 0;
  for (size_t i = 0; i < count; i++) {
    if (lanes_orders(result->events[bars[i].index].op)) {
      bars[i].start = min_u64(max_u64(bars[i].start, busy_until), bars[i].end);
    } else {
      busy_until = max_u64(busy_until, bars[i].end);
      bars[i].end = busy_until;
    }
  }
}

/* Cuts bars at the start of the next one; those without length neither cut nor are cut. */
static void cut(struct bar *bars, size_t count) {
  uint64_t next_start = UINT64_MAX;
  for (size_t i = count; i-- > 0;) {
    if (bars[i].start == bars[i].end)
      continue;
    bars[i].end = min_u64(bars[i].end, next_start);
    next_start = bars[i].start;
  }
}

/* Bars of the whole lane, laid out. */
static void lay_out_next(struct lanes *lanes, struct lane *lane) {
  const struct result_event *events = lanes->result->events;
  const struct result_event *first = &events[lanes->order[lanes->next]];
  size_t count = 0;
  for (; lanes->next < lanes->count; lanes->next++) {
    uint32_t index = lanes->order[lanes->next];
    if (lane_number(&events[index]) != lane_number(first))
      break;
    lanes->bars[count++] = (struct bar){events[index].start_cycle, events[index].end_cycle, index};
  }
  sort_bars(lanes->bars, count, lanes->result->events);
  stretch(lanes->result, lanes->bars, count);
  sort_bars(lanes->bars, count, lanes->result->events);
  cut(lanes->bars, count);
  *lane = (struct lane){first->core, (enum pipe)first->pipe, lanes->bars, count};
}

bool lanes_next(struct lanes *lanes, struct lane *lane) {
  while (lanes->next < lanes->count) {
    lay_out_next(lanes, lane);
    size_t kept = 0;
    for (size_t i = 0; i < lane->count; i++)
      if (lanes_show(lanes, lanes->bars[i].index))
        lanes->bars[kept++] = lanes->bars[i];
    lane->count = kept;
    if (kept > 0)
      return true;
  }
  return false;
}
