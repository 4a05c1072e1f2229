/* SPDX-License-Identifier: Apache-2.0 */
/* Where two runs part: a walk over their instructions, pipe by pipe. */
#include "core/result/divergence.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/isa/isa.h"
#include "core/result/events.h"

/* The events of a result by core, pipe, then order of their start. */
struct ordered {
  const struct vinci_result *result;
  const struct result_event **events;
};

static int compare_events(const void *left, const void *right) {
  const struct result_event *a = *(const struct result_event *const *)left;
  const struct result_event *b = *(const struct result_event *const *)right;
  if (a->core != b->core)
    return a->core < b->core ? -1 : 1;
  if (a->pipe != b->pipe)
    return a->pipe < b->pipe ? -1 : 1;
  if (a->start_cycle != b->start_cycle)
    return a->start_cycle < b->start_cycle ? -1 : 1;
  if (a->end_cycle != b->end_cycle)
    return a->end_cycle < b->end_cycle ? -1 : 1;
  return (a > b) - (a < b);
}

static bool put_in_order(const struct vinci_result *result, struct ordered *out) {
  *out = (struct ordered){result,
                          calloc(result->event_count + 1, sizeof(const struct result_event *))};
  if (!out->events)
    return false;
  for (uint64_t i = 0; i < result->event_count; i++)
    out->events[i] = &result->events[i];
  qsort(out->events, result->event_count, sizeof *out->events, compare_events);
  return true;
}

/* The first event of a core and pipe, or of what comes behind. */
static uint64_t first_of(const struct ordered *ordered, uint32_t core, unsigned pipe) {
  uint64_t low = 0, high = ordered->result->event_count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    const struct result_event *event = ordered->events[middle];
    if (event->core < core || (event->core == core && event->pipe < pipe))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The event at an index, NULL when that is none of the core and pipe. */
static const struct result_event *event_at(const struct ordered *ordered, uint64_t index,
                                           uint32_t core, unsigned pipe) {
  const struct result_event *event =
      index < ordered->result->event_count ? ordered->events[index] : NULL;
  return event && event->core == core && event->pipe == pipe ? event : NULL;
}

/* The core of the same name; the count when there is none. */
static uint32_t same_core(const struct vinci_result *result, const struct core_result *core) {
  for (uint32_t i = 0; i < result->core_count; i++) {
    const struct core_result *other = &result->cores[i];
    if (other->kind == core->kind && other->cluster == core->cluster &&
        other->member == core->member)
      return i;
  }
  return result->core_count;
}

/* A wait that ends at another time is an effect of what was waited for. */
static bool same_event(const struct result_event *a, const struct result_event *b) {
  return a && b && a->op == b->op && a->start_cycle == b->start_cycle &&
         (a->end_cycle == b->end_cycle || event_only_waits(a));
}

static uint64_t start_of(const struct result_event *a, const struct result_event *b) {
  uint64_t start = a ? a->start_cycle : UINT64_MAX;
  return b && b->start_cycle < start ? b->start_cycle : start;
}

struct finding {
  struct ordered a, b;
  uint64_t start;
  struct divergence *out;
};

static void compare_pipe(struct finding *finding, const struct core_result *core, uint32_t a_core,
                         uint32_t b_core, unsigned pipe) {
  uint64_t a_at = first_of(&finding->a, a_core, pipe), b_at = first_of(&finding->b, b_core, pipe);
  const struct result_event *a, *b;
  do {
    a = event_at(&finding->a, a_at++, a_core, pipe);
    b = event_at(&finding->b, b_at++, b_core, pipe);
  } while (a && same_event(a, b));
  if ((!a && !b) || start_of(a, b) >= finding->start)
    return;
  finding->start = start_of(a, b);
  *finding->out = (struct divergence){core, a, b};
}

static void compare_cores(struct finding *finding) {
  const struct vinci_result *a = finding->a.result, *b = finding->b.result;
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    for (uint32_t i = 0; i < a->core_count; i++)
      compare_pipe(finding, &a->cores[i], i, same_core(b, &a->cores[i]), pipe);
    for (uint32_t i = 0; i < b->core_count; i++)
      if (same_core(a, &b->cores[i]) == a->core_count)
        compare_pipe(finding, &b->cores[i], a->core_count, i, pipe);
  }
}

enum vinci_status divergence_find(const struct vinci_result *a, const struct vinci_result *b,
                                  struct divergence *out, struct vinci_diag *diag) {
  struct finding finding = {.start = UINT64_MAX, .out = out};
  *out = (struct divergence){0};
  bool ready = put_in_order(a, &finding.a) && put_in_order(b, &finding.b);
  if (ready)
    compare_cores(&finding);
  free(finding.a.events);
  free(finding.b.events);
  return ready ? VINCI_OK : diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

void divergence_event_text(const struct result_event *event, char *text, size_t size) {
  if (event)
    snprintf(text, size, "%s on %s, line %" PRIu32 ", cycles %" PRIu64 " to %" PRIu64,
             isa_row((enum isa_op)event->op)->name, pipe_name((enum pipe)event->pipe), event->line,
             event->start_cycle, event->end_cycle);
  else
    snprintf(text, size, "nothing");
}
