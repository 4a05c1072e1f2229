/* SPDX-License-Identifier: Apache-2.0 */
/* Which wait took which flag or signal. */
#include <stdlib.h>

#include "core/isa/isa.h"
#include "traces/export/lanes.h"

/* One end of an arrow; ends with the same key belong together. */
struct arrow_end {
  uint64_t key; /* flags: core, source, destination, id; signals: the delivery, above all flags */
  uint64_t cycle;
  uint32_t index;
  bool wait;
};

static const uint64_t SIGNALS = UINT64_C(1) << 63;

static int compare_u64(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int compare_ends(const void *left, const void *right) {
  const struct arrow_end *a = left, *b = right;
  int order = compare_u64(a->key, b->key);
  order = order ? order : compare_u64(a->wait, b->wait);
  order = order ? order : compare_u64(a->cycle, b->cycle);
  return order ? order : compare_u64(a->index, b->index);
}

static bool flag_end(const struct result_event *event, struct arrow_end *end) {
  if (event->op == OP_SET_FLAG || event->op == OP_WAIT_FLAG) {
    bool wait = event->op == OP_WAIT_FLAG;
    uint64_t source = wait ? event->other : event->pipe;
    uint64_t destination = wait ? event->pipe : event->other;
    end->key = (uint64_t)event->core << 24 | source << 16 | destination << 8 | event->id;
    end->wait = wait;
    return true;
  }
  end->key = SIGNALS | event->delivery;
  end->wait = event->op == OP_WAIT_FLAG_DEV;
  return event->delivery != 0;
}

static int compare_arrows(const void *left, const void *right) {
  const struct arrow *a = left, *b = right;
  int order = compare_u64(a->from, b->from);
  return order ? order : compare_u64(a->to, b->to);
}

/* A flag goes to one wait, a signal from its last sender to all that took the signal. */
static void join(struct arrows *arrows, const struct lanes *lanes, const struct arrow_end *ends,
                 size_t count) {
  for (size_t set = 0, end; set < count; set = end) {
    size_t wait = set;
    while (wait < count && ends[wait].key == ends[set].key && !ends[wait].wait)
      wait++;
    for (end = wait; end < count && ends[end].key == ends[set].key;)
      end++;
    bool shared = ends[set].key & SIGNALS;
    for (size_t i = set, j = wait; i < wait && j < end; j++, i += !shared)
      if (lanes_show(lanes, ends[i].index) && lanes_show(lanes, ends[j].index))
        arrows->items[arrows->count++] = (struct arrow){ends[i].index, ends[j].index};
  }
}

static int compare_by_to(const void *left, const void *right, void *context) {
  const struct arrow *items = context;
  const uint32_t *a = left, *b = right;
  return compare_u64(items[*a - 1].to, items[*b - 1].to);
}

bool arrows_find(struct arrows *arrows, const struct lanes *lanes) {
  const struct result_event *events = lanes->result->events;
  *arrows = (struct arrows){0};
  struct arrow_end end;
  size_t count = 0;
  for (size_t i = 0; i < lanes->count; i++)
    count += flag_end(&events[lanes->order[i]], &end);
  struct arrow_end *ends = calloc(count + 1, sizeof *ends);
  arrows->items = calloc(count + 1, sizeof *arrows->items);
  arrows->by_to = calloc(count + 1, sizeof *arrows->by_to);
  if (!ends || !arrows->items || !arrows->by_to) {
    free(ends);
    arrows_free(arrows);
    return false;
  }
  count = 0;
  for (size_t i = 0; i < lanes->count; i++) {
    end = (struct arrow_end){.index = lanes->order[i], .cycle = events[lanes->order[i]].end_cycle};
    if (flag_end(&events[end.index], &end))
      ends[count++] = end;
  }
  qsort(ends, count, sizeof *ends, compare_ends);
  join(arrows, lanes, ends, count);
  free(ends);
  qsort(arrows->items, arrows->count, sizeof *arrows->items, compare_arrows);
  for (size_t i = 0; i < arrows->count; i++)
    arrows->by_to[i] = (uint32_t)i + 1;
  qsort_r(arrows->by_to, arrows->count, sizeof *arrows->by_to, compare_by_to, arrows->items);
  return true;
}

size_t arrows_from(const struct arrows *arrows, uint32_t event, size_t *first) {
  size_t low = 0, high = arrows->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (arrows->items[middle].from < event)
      low = middle + 1;
    else
      high = middle;
  }
  *first = low + 1;
  while (high < arrows->count && arrows->items[high].from == event)
    high++;
  return high - low;
}

size_t arrows_to(const struct arrows *arrows, uint32_t event) {
  size_t low = 0, high = arrows->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (arrows->items[arrows->by_to[middle] - 1].to < event)
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < arrows->count && arrows->items[arrows->by_to[low] - 1].to == event;
  return found ? arrows->by_to[low] : 0;
}

void arrows_free(struct arrows *arrows) {
  free(arrows->items);
  free(arrows->by_to);
  *arrows = (struct arrows){0};
}
