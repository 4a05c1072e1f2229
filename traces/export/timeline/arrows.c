/* SPDX-License-Identifier: Apache-2.0 */
/* Which wait took which flag or signal. */
#include <stdlib.h>

#include "core/isa/isa.h"
#include "traces/export/timeline/lanes.h"

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

/* A flag goes to one wait, a signal from its last sender to all that took the signal. */
static size_t join(struct arrow *items, const struct lanes *lanes, const struct arrow_end *ends,
                   size_t count) {
  size_t joined = 0;
  for (size_t set = 0, end; set < count; set = end) {
    size_t wait = set;
    while (wait < count && ends[wait].key == ends[set].key && !ends[wait].wait)
      wait++;
    for (end = wait; end < count && ends[end].key == ends[set].key;)
      end++;
    bool shared = ends[set].key & SIGNALS;
    for (size_t i = set, j = wait; i < wait && j < end; j++, i += !shared)
      if (lanes_show(lanes, ends[i].index) && lanes_show(lanes, ends[j].index))
        items[joined++] = (struct arrow){ends[i].index, ends[j].index};
  }
  return joined;
}

/* Puts arrows in the order of their sources, by counting; the few of a source in that of their
 * ends. first[] has a place for each event, for the end, and one more while arrows are placed. */
static void sort(struct arrows *arrows, const struct arrow *from, size_t count, size_t events) {
  for (size_t i = 0; i < count; i++)
    arrows->first[from[i].from + 2]++;
  for (size_t event = 0; event < events; event++)
    arrows->first[event + 2] += arrows->first[event + 1];
  for (size_t i = 0; i < count; i++) {
    size_t at = arrows->first[from[i].from + 1]++;
    for (; at > arrows->first[from[i].from] && arrows->items[at - 1].from == from[i].from &&
           arrows->items[at - 1].to > from[i].to;
         at--)
      arrows->items[at] = arrows->items[at - 1];
    arrows->items[at] = from[i];
  }
  for (size_t i = 0; i < count; i++)
    arrows->taken[arrows->items[i].to] = (uint32_t)i + 1;
  arrows->count = count;
}

/* The ends of all flags and signals, by what belongs together. */
static struct arrow_end *find_ends(const struct lanes *lanes, size_t *count) {
  const struct result_event *events = lanes->result->events;
  struct arrow_end end, *ends;
  *count = 0;
  for (size_t i = 0; i < lanes->count; i++)
    *count += flag_end(&events[lanes->order[i]], &end);
  ends = calloc(*count + 1, sizeof *ends);
  *count = 0;
  for (size_t i = 0; ends && i < lanes->count; i++) {
    end = (struct arrow_end){.index = lanes->order[i], .cycle = events[lanes->order[i]].end_cycle};
    if (flag_end(&events[end.index], &end))
      ends[(*count)++] = end;
  }
  if (ends)
    qsort(ends, *count, sizeof *ends, compare_ends);
  return ends;
}

bool arrows_find(struct arrows *arrows, const struct lanes *lanes) {
  size_t events = (size_t)lanes->result->event_count, count;
  struct arrow_end *ends = find_ends(lanes, &count);
  struct arrow *joined = calloc(count + 1, sizeof *joined);
  *arrows = (struct arrows){.items = calloc(count + 1, sizeof *arrows->items),
                            .first = calloc(events + 2, sizeof *arrows->first),
                            .taken = calloc(events + 1, sizeof *arrows->taken)};
  bool enough = ends && joined && arrows->items && arrows->first && arrows->taken;
  if (enough)
    sort(arrows, joined, join(joined, lanes, ends, count), events);
  else
    arrows_free(arrows);
  free(ends);
  free(joined);
  return enough;
}

size_t arrows_from(const struct arrows *arrows, uint32_t event, size_t *first) {
  *first = arrows->first[event] + 1;
  return arrows->first[event + 1] - arrows->first[event];
}

size_t arrows_to(const struct arrows *arrows, uint32_t event) { return arrows->taken[event]; }

void arrows_free(struct arrows *arrows) {
  free(arrows->items);
  free(arrows->first);
  free(arrows->taken);
  *arrows = (struct arrows){0};
}
