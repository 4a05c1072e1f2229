/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.json: the timeline in the form of the vendor's simulator, for MindStudio
 * Insight, chrome://tracing and ui.perfetto.dev. One process per core, one lane per
 * pipe, one bar (ph X) per instruction, an arrow (ph s, t) from each set_flag to the
 * wait_flag that took the flag.
 *
 * Bars of a lane never overlap although instructions of a pipe do: a bar runs from the
 * start of its instruction to the end of all that the pipe had in flight by then, cut
 * at the start of the next bar. So the bars of a lane add up to its busy cycles. A wait
 * or barrier is drawn from where the pipe has run dry; a set_flag is one cycle long
 * where the lane is free and has no length inside another bar. The exact cycles stand
 * in args.
 *
 * The earliest bar lies at one cycle, since a ts of 0 upsets Insight; otherData tells
 * how far that is from the launch. Times are exact to the picosecond.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/isa/isa.h"
#include "traces/export/export.h"

struct bar {
  uint64_t start; /* as drawn, cycles of the core */
  uint64_t end;
  uint32_t index; /* in result->events */
};

/* Where the timeline is written, and from which time on. */
struct timeline {
  const struct vinci_result *result;
  FILE *out;
  struct bar *bars;
  size_t count;
  uint64_t origin_ps; /* drawn at time 0 */
  const char *trace;  /* file name of the trace */
  const char *separator;
};

/* Flags and barriers: they order instructions and occupy no unit. */
static bool orders(uint16_t op) {
  return op == OP_SET_FLAG || op == OP_WAIT_FLAG || op == OP_PIPE_BARRIER ||
         op == OP_FFTS_CROSS_CORE_SYNC || op == OP_WAIT_FLAG_DEV;
}

static int compare_u64(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* By core, pipe, start, end, and the order of completion. */
static int compare_bars(const void *left, const void *right, void *context) {
  const struct result_event *events = context;
  const struct bar *a = left, *b = right;
  const struct result_event *x = &events[a->index], *y = &events[b->index];
  int order = compare_u64(x->core, y->core);
  order = order ? order : compare_u64(x->pipe, y->pipe);
  order = order ? order : compare_u64(a->start, b->start);
  order = order ? order : compare_u64(a->end, b->end);
  return order ? order : compare_u64(a->index, b->index);
}

static size_t lane_end(const struct timeline *timeline, size_t first) {
  const struct result_event *events = timeline->result->events;
  const struct result_event *lane = &events[timeline->bars[first].index];
  size_t next = first + 1;
  while (next < timeline->count && events[timeline->bars[next].index].core == lane->core &&
         events[timeline->bars[next].index].pipe == lane->pipe)
    next++;
  return next;
}

/* Instructions last until all in flight are done; waits begin when the pipe has run dry. */
static void stretch_lane(struct timeline *timeline, size_t first, size_t end) {
  uint64_t busy_until = 0;
  for (size_t i = first; i < end; i++) {
    struct bar *bar = &timeline->bars[i];
    if (orders(timeline->result->events[bar->index].op)) {
      bar->start = min_u64(max_u64(bar->start, busy_until), bar->end);
    } else {
      busy_until = max_u64(busy_until, bar->end);
      bar->end = busy_until;
    }
  }
}

/* Cuts bars at the start of the next one; those without length neither cut nor are cut. */
static void cut_lane(struct timeline *timeline, size_t first, size_t end) {
  uint64_t next_start = UINT64_MAX;
  for (size_t i = end; i-- > first;) {
    struct bar *bar = &timeline->bars[i];
    if (bar->start == bar->end)
      continue;
    bar->end = min_u64(bar->end, next_start);
    next_start = bar->start;
  }
}

/* Shows a set_flag as one cycle where nothing else is drawn. */
static void show_flags(struct timeline *timeline, size_t first, size_t end) {
  uint64_t drawn_until = 0;
  for (size_t i = first; i < end; i++) {
    struct bar *bar = &timeline->bars[i];
    bool free_after = i + 1 == end || timeline->bars[i + 1].start > bar->start;
    if (bar->start == bar->end && drawn_until <= bar->start && free_after &&
        timeline->result->events[bar->index].op == OP_SET_FLAG)
      bar->end++;
    drawn_until = max_u64(drawn_until, bar->end);
  }
}

static void lay_out(struct timeline *timeline) {
  struct result_event *events = timeline->result->events;
  qsort_r(timeline->bars, timeline->count, sizeof *timeline->bars, compare_bars, events);
  for (size_t first = 0, end; first < timeline->count; first = end) {
    end = lane_end(timeline, first);
    stretch_lane(timeline, first, end);
    qsort_r(timeline->bars + first, end - first, sizeof *timeline->bars, compare_bars, events);
    cut_lane(timeline, first, end);
    show_flags(timeline, first, end);
  }
}

/* ---- writing ------------------------------------------------------------------ */

/* The vendor's colours and order of lanes. */
static const char *lane_colour(const struct result_event *event) {
  static const char *const colours[PIPE_COUNT] = {
      [PIPE_S] = "startup",
      [PIPE_V] = "cq_build_failed",
      [PIPE_M] = "background_memory_dump",
      [PIPE_MTE1] = "thread_state_running",
      [PIPE_MTE2] = "thread_state_iowait",
      [PIPE_MTE3] = "rail_response",
      [PIPE_FIX] = "thread_state_unknown",
  };
  if (event->op == OP_SET_FLAG || event->op == OP_FFTS_CROSS_CORE_SYNC)
    return "black";
  if (event->op == OP_WAIT_FLAG || event->op == OP_WAIT_FLAG_DEV)
    return "yellow";
  return event->op == OP_PIPE_BARRIER ? "good" : colours[event->pipe];
}

static unsigned lane_order(enum pipe pipe) {
  static const unsigned order[PIPE_COUNT] = {
      [PIPE_S] = 1,    [PIPE_V] = 7,    [PIPE_M] = 4,  [PIPE_MTE1] = 3,
      [PIPE_MTE2] = 6, [PIPE_MTE3] = 8, [PIPE_FIX] = 5};
  return order[pipe];
}

/* Three places a cluster: the cube core (or the coupled core), then its vector cores. */
static uint64_t core_order(const struct core_result *core) {
  return UINT64_C(3) * core->cluster + 1 + (core->kind == CORE_AIV ? 1 + core->member : 0);
}

static uint64_t cycle_ps(const struct timeline *timeline, uint32_t core, uint64_t cycle) {
  struct clock_domain clock;
  clock_init(&clock, timeline->result->cores[core].hz);
  return clock_edge_ps(&clock, cycle);
}

static void write_us(FILE *out, const char *key, uint64_t time_ps) {
  fprintf(out, ",\"%s\":%" PRIu64 ".%06" PRIu64, key, time_ps / 1000000, time_ps % 1000000);
}

/* Start of an event object with the fields all events have. */
static void open_event(struct timeline *timeline, const char *name, const char *phase,
                       uint32_t core, const char *lane) {
  char pid[48];
  result_core_name(&timeline->result->cores[core], pid, sizeof pid);
  fprintf(timeline->out, "%s{\"name\":\"%s\",\"ph\":\"%s\",\"pid\":\"%s\",\"tid\":\"%s\"",
          timeline->separator, name, phase, pid, lane);
  timeline->separator = ",\n";
}

static void write_bar(struct timeline *timeline, const struct bar *bar) {
  const struct result_event *event = &timeline->result->events[bar->index];
  FILE *out = timeline->out;
  uint64_t start_ps = cycle_ps(timeline, event->core, bar->start);
  uint64_t end_ps = cycle_ps(timeline, event->core, bar->end);
  open_event(timeline, isa_row((enum isa_op)event->op)->name, "X", event->core,
             pipe_lane((enum pipe)event->pipe));
  fprintf(out, ",\"cname\":\"%s\"", lane_colour(event));
  write_us(out, "ts", start_ps - timeline->origin_ps);
  write_us(out, "dur", end_ps - start_ps);
  fputs(",\"args\":{\"code\":", out);
  fprintf(out, "%.*s:%" PRIu32 "\"", (int)strlen(timeline->trace) - 1, timeline->trace,
          event->line);
  if (event->op == OP_SET_FLAG || event->op == OP_WAIT_FLAG) {
    bool set = event->op == OP_SET_FLAG;
    fprintf(out, ",\"detail\":\"%s to %s, id %u\"",
            pipe_name((enum pipe)(set ? event->pipe : event->other)),
            pipe_name((enum pipe)(set ? event->other : event->pipe)), event->id);
  }
  if (event->bytes > 0)
    fprintf(out, ",\"process_bytes\":\"%" PRIu64 "\"", event->bytes);
  fprintf(out, ",\"start_cycle\":\"%" PRIu64 "\",\"cycles\":\"%" PRIu64 "\"}}", event->start_cycle,
          event->end_cycle - event->start_cycle);
}

static void write_order(struct timeline *timeline, uint32_t core) {
  const struct core_result *info = &timeline->result->cores[core];
  open_event(timeline, "process_sort_index", "M", core, "NA");
  fprintf(timeline->out, ",\"args\":{\"sort_index\":%" PRIu64 "}}", core_order(info));
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    if (!core_has_pipe(info->kind, (enum pipe)pipe))
      continue;
    open_event(timeline, "thread_sort_index", "M", core, pipe_lane((enum pipe)pipe));
    fprintf(timeline->out, ",\"args\":{\"sort_index\":%u}}", lane_order((enum pipe)pipe));
  }
}

/* ---- arrows --------------------------------------------------------------------- */

struct flag_event {
  uint64_t key; /* core, source, destination, id */
  uint64_t cycle;
  uint32_t index;
  bool wait;
};

static int compare_flags(const void *left, const void *right) {
  const struct flag_event *a = left, *b = right;
  int order = compare_u64(a->key, b->key);
  order = order ? order : compare_u64(a->wait, b->wait);
  order = order ? order : compare_u64(a->cycle, b->cycle);
  return order ? order : compare_u64(a->index, b->index);
}

static struct flag_event flag_event(const struct result_event *events, uint32_t index) {
  const struct result_event *event = &events[index];
  bool wait = event->op == OP_WAIT_FLAG;
  uint64_t source = wait ? event->other : event->pipe;
  uint64_t destination = wait ? event->pipe : event->other;
  return (struct flag_event){(uint64_t)event->core << 32 | source << 24 | destination << 16 |
                                 event->id,
                             event->end_cycle, index, wait};
}

static void write_arrow_end(struct timeline *timeline, const struct flag_event *flag,
                            const char *phase, uint64_t id) {
  const struct result_event *event = &timeline->result->events[flag->index];
  const char *source = pipe_lane((enum pipe)(flag->key >> 24 & 0xff));
  const char *destination = pipe_lane((enum pipe)(flag->key >> 16 & 0xff));
  open_event(timeline, "flow", phase, event->core, flag->wait ? destination : source);
  fprintf(timeline->out, ",\"id\":\"%" PRIu64 "\",\"cat\":\"%sTo%s\"", id, source, destination);
  write_us(timeline->out, "ts", cycle_ps(timeline, event->core, flag->cycle) - timeline->origin_ps);
  fputc('}', timeline->out);
}

/* The n-th wait of a flag takes what its n-th set gave. */
static enum vinci_status write_arrows(struct timeline *timeline, struct vinci_diag *diag) {
  const struct vinci_result *result = timeline->result;
  struct flag_event *flags = malloc((size_t)(result->event_count + 1) * sizeof *flags);
  if (!flags)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  size_t count = 0;
  for (uint32_t i = 0; i < result->event_count; i++)
    if (result->events[i].op == OP_SET_FLAG || result->events[i].op == OP_WAIT_FLAG)
      flags[count++] = flag_event(result->events, i);
  qsort(flags, count, sizeof *flags, compare_flags);
  uint64_t id = 0;
  for (size_t set = 0; set < count;) {
    size_t wait = set, end;
    while (wait < count && flags[wait].key == flags[set].key && !flags[wait].wait)
      wait++;
    for (end = wait; end < count && flags[end].key == flags[set].key;)
      end++;
    for (size_t i = set, j = wait; i < wait && j < end; i++, j++) {
      write_arrow_end(timeline, &flags[i], "s", ++id);
      write_arrow_end(timeline, &flags[j], "t", id);
    }
    set = end;
  }
  free(flags);
  return VINCI_OK;
}

/* ---- file ------------------------------------------------------------------------ */

/* File name of the trace as a JSON string: the folder it lay in is not part of a result. */
static char *trace_name(const struct vinci_result *result) {
  const char *path = result->trace_path ? result->trace_path : "";
  const char *slash = strrchr(path, '/');
  char *text = NULL;
  size_t size;
  FILE *memory = open_memstream(&text, &size);
  if (!memory)
    return NULL;
  json_string(memory, slash ? slash + 1 : path);
  if (fclose(memory) != 0) {
    free(text);
    return NULL;
  }
  return text;
}

static void set_origin(struct timeline *timeline) {
  uint64_t earliest_ps = UINT64_MAX;
  for (size_t i = 0; i < timeline->count; i++) {
    const struct bar *bar = &timeline->bars[i];
    uint32_t core = timeline->result->events[bar->index].core;
    earliest_ps = min_u64(earliest_ps, cycle_ps(timeline, core, bar->start));
  }
  /* may wrap below zero: only differences to it are used */
  uint64_t cycle = PS_PER_SECOND / (uint64_t)timeline->result->soc->core_hz;
  timeline->origin_ps = timeline->count ? earliest_ps - cycle : 0;
}

static void write_note(struct timeline *timeline) {
  const struct vinci_result *result = timeline->result;
  FILE *out = timeline->out;
  uint64_t cycle = PS_PER_SECOND / (uint64_t)result->soc->core_hz;
  uint64_t first_ps = timeline->count ? timeline->origin_ps + cycle : 0;
  fputs(",\"otherData\":{\"soc\":", out);
  json_string(out, result->soc->name);
  write_us(out, "first_event_us_after_launch", first_ps);
  fprintf(out, ",\"partial\":%s,\"events\":%" PRIu64 ",\"events_dropped\":%" PRIu64,
          result->partial ? "true" : "false", result->event_count, result->events_dropped);
  if (result->events_dropped > 0)
    fputs(",\"note\":\"only the first instructions of each core were recorded\"", out);
  fputs("}}\n", out);
}

static enum vinci_status write_all(struct timeline *timeline, struct vinci_diag *diag) {
  const struct vinci_result *result = timeline->result;
  for (uint32_t i = 0; i < result->event_count; i++)
    timeline->bars[i] = (struct bar){result->events[i].start_cycle, result->events[i].end_cycle, i};
  timeline->count = (size_t)result->event_count;
  lay_out(timeline);
  set_origin(timeline);
  fputs("{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",\"schemaVersion\":2,"
        "\"traceEvents\":[\n",
        timeline->out);
  for (uint32_t core = 0; core < result->core_count; core++)
    if (result->cores[core].blocks_run > 0)
      write_order(timeline, core);
  for (size_t i = 0; i < timeline->count; i++)
    write_bar(timeline, &timeline->bars[i]);
  enum vinci_status status = write_arrows(timeline, diag);
  fputs("\n]", timeline->out);
  write_note(timeline);
  return status;
}

enum vinci_status export_timeline(const struct vinci_result *result, FILE *out,
                                  struct vinci_diag *diag) {
  char *trace = trace_name(result);
  struct timeline timeline = {.result = result, .out = out, .trace = trace, .separator = ""};
  timeline.bars = malloc((size_t)(result->event_count + 1) * sizeof *timeline.bars);
  enum vinci_status status = trace && timeline.bars
                                 ? write_all(&timeline, diag)
                                 : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  free(timeline.bars);
  free(trace);
  return status;
}
