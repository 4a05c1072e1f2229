/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.json: the timeline in the form of the vendor's simulator, for MindStudio
 * Insight, chrome://tracing and ui.perfetto.dev. One process per core, one lane per
 * pipe, one bar (ph X) per instruction (traces/export/timeline/lanes.h), an arrow (ph s, t) from
 * each set_flag to the wait_flag that took the flag, and from signals between cores to their waits.
 * Counters (ph C) are the vendor's, and those of traces/export/timeline/tracks.h.
 *
 * A set_flag is one cycle long where the lane is free and has no length inside another bar. The
 * exact cycles stand in args.
 *
 * The earliest bar lies at one cycle, since a ts of 0 upsets Insight; otherData tells
 * how far that is from the launch. Times are exact to the picosecond.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/isa/isa.h"
#include "core/result/state.h"
#include "traces/export/export.h"
#include "traces/export/timeline/lanes.h"
#include "traces/export/timeline/tracks.h"

/* Where the timeline is written, and from which time on. */
struct timeline {
  const struct vinci_result *result;
  FILE *out;
  struct lanes *lanes;
  uint64_t cycle_ps;
  uint64_t origin_ps; /* drawn at time 0; may wrap below zero: only differences to it are used */
  bool empty;
  const char *trace; /* file name of the trace, as a JSON string */
  const char *separator;
  bool vendor; /* no other counters than the vendor's */
};

enum { VALUE_DECIMALS = 6 };

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

/* What the state that the instruction has found costs. */
static void write_state(FILE *out, const struct result_event *event, uint64_t drawn) {
  for (unsigned part = 0; part < STATE_PARTS; part++) {
    uint64_t cycles = state_of_event(event, drawn, (enum state_part)part);
    if (cycles > 0)
      fprintf(out, ",\"%s\":\"%" PRIu64 "\"", state_key((enum state_part)part), cycles);
  }
}

static void write_bar(struct timeline *timeline, const struct bar *bar, uint64_t end) {
  const struct result_event *event = &timeline->result->events[bar->index];
  FILE *out = timeline->out;
  uint64_t start_ps = lanes_edge_ps(timeline->result, event->core, bar->start);
  uint64_t end_ps = lanes_edge_ps(timeline->result, event->core, end);
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
  if (event->bytes > 0 && !lanes_orders(event->op))
    fprintf(out, ",\"process_bytes\":\"%" PRIu64 "\"", event->bytes);
  if (event->queued_cycles > 0 && !timeline->vendor)
    fprintf(out, ",\"queued_cycles\":\"%" PRIu32 "\"", event->queued_cycles);
  if (!timeline->vendor)
    write_state(out, event, end - bar->start);
  fprintf(out, ",\"start_cycle\":\"%" PRIu64 "\",\"cycles\":\"%" PRIu64 "\"}}", event->start_cycle,
          event->end_cycle - event->start_cycle);
}

/* Shows a set_flag as one cycle where nothing else is drawn. */
static void write_lane(struct timeline *timeline, const struct lane *lane) {
  uint64_t drawn_until = 0;
  for (size_t i = 0; i < lane->count; i++) {
    const struct bar *bar = &lane->bars[i];
    bool free_after = i + 1 == lane->count || bar[1].start > bar->start;
    bool widened = bar->start == bar->end && drawn_until <= bar->start && free_after &&
                   timeline->result->events[bar->index].op == OP_SET_FLAG;
    write_bar(timeline, bar, bar->end + widened);
    drawn_until = max_u64(drawn_until, bar->end + widened);
  }
}

static void write_order(struct timeline *timeline, uint32_t core) {
  const struct core_result *info = &timeline->result->cores[core];
  open_event(timeline, "process_sort_index", "M", core, "NA");
  fprintf(timeline->out, ",\"args\":{\"sort_index\":%" PRIu64 "}}", lanes_core_order(info));
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    if (!core_has_pipe(info->kind, (enum pipe)pipe))
      continue;
    open_event(timeline, "thread_sort_index", "M", core, pipe_lane((enum pipe)pipe));
    fprintf(timeline->out, ",\"args\":{\"sort_index\":%u}}", lanes_pipe_order((enum pipe)pipe));
  }
}

/* ---- arrows --------------------------------------------------------------------- */

static void write_arrow_end(struct timeline *timeline, const struct arrow *arrow, bool source,
                            size_t number) {
  const struct result_event *events = timeline->result->events;
  const struct result_event *event = &events[source ? arrow->from : arrow->to];
  const char *from = pipe_lane((enum pipe)events[arrow->from].pipe);
  const char *to = pipe_lane((enum pipe)events[arrow->to].pipe);
  open_event(timeline, "flow", source ? "s" : "t", event->core, source ? from : to);
  fprintf(timeline->out, ",\"id\":\"%zu\",\"cat\":\"%sTo%s\"", number, from, to);
  write_us(timeline->out, "ts",
           lanes_edge_ps(timeline->result, event->core, event->end_cycle) - timeline->origin_ps);
  fputc('}', timeline->out);
}

static bool write_arrows(struct timeline *timeline) {
  struct arrows arrows;
  if (!arrows_find(&arrows, timeline->lanes))
    return false;
  for (size_t i = 0; i < arrows.count; i++) {
    write_arrow_end(timeline, &arrows.items[i], true, i + 1);
    write_arrow_end(timeline, &arrows.items[i], false, i + 1);
  }
  arrows_free(&arrows);
  return true;
}

/* ---- counters ------------------------------------------------------------------- */

/* The vendor's counters of GM, in its unit: 2^20 bytes a second. */
static void write_counter(struct timeline *timeline, const char *name,
                          const struct series *series) {
  uint64_t first_ps = timeline->origin_ps + timeline->cycle_ps;
  for (size_t step = 0; step < series->steps; step++) {
    if ((step + 1) * series->step_ps <= first_ps)
      continue;
    fprintf(timeline->out,
            "%s{\"name\":\"%s\",\"ph\":\"C\",\"pid\":\"MTE Throughput\",\"tid\":\"0\"",
            timeline->separator, name);
    timeline->separator = ",\n";
    write_us(timeline->out, "ts", max_u64(step * series->step_ps, first_ps) - timeline->origin_ps);
    fprintf(timeline->out, ",\"args\":{\"throughput(MB/s)\":%" PRIu64 "}}",
            (uint64_t)((uint128)series->amount[step] * PS_PER_SECOND /
                       ((uint128)series->step_ps << 20)));
  }
}

/* The vendor has no counter of L0C to GM: its bytes are in the total. */
static void write_throughput(struct timeline *timeline) {
  static const struct {
    const char *name;
    enum path paths[4];
  } counters[] = {{"GM_TO_L1", {PATH_GM_L1, PATH_NONE}},
                  {"GM_TO_UB", {PATH_GM_UB, PATH_NONE}},
                  {"GM_TO_TOTAL", {PATH_GM_L1, PATH_GM_UB, PATH_NONE}},
                  {"L1_TO_GM", {PATH_L1_GM, PATH_NONE}},
                  {"UB_TO_GM", {PATH_UB_GM, PATH_NONE}},
                  {"TOTAL_TO_GM", {PATH_L1_GM, PATH_UB_GM, PATH_L0C_GM, PATH_NONE}}};
  const struct vinci_result *result = timeline->result;
  for (size_t c = 0; c < sizeof counters / sizeof *counters; c++) {
    struct series series;
    uint64_t total = 0;
    series_start(&series, result);
    for (uint32_t i = 0; i < result->event_count; i++) {
      const struct result_event *event = &result->events[i];
      bool counts = false;
      for (const enum path *path = counters[c].paths; *path != PATH_NONE; path++)
        counts = counts || event->path == *path;
      if (!counts || event->bytes == 0 || !lanes_show(timeline->lanes, i))
        continue;
      total += event->bytes;
      series_spread(&series, lanes_edge_ps(result, event->core, event->start_cycle),
                    lanes_edge_ps(result, event->core, event->end_cycle), event->bytes);
    }
    if (total > 0)
      write_counter(timeline, counters[c].name, &series);
  }
}

/* Where the value changes. The exact amount of a step stands beside the arguments, of which viewers
 * would draw each. */
static void write_track(struct timeline *timeline, const struct track *track, const char *process,
                        const char *amount_name) {
  uint64_t first_ps = timeline->origin_ps + timeline->cycle_ps, before = UINT64_MAX;
  for (size_t step = 0; step < track->steps; step++) {
    uint64_t amount = track_amount(track, step);
    if ((step + 1) * track->step_ps <= first_ps || amount == before)
      continue;
    before = amount;
    fprintf(timeline->out, "%s{\"name\":\"%s\",\"ph\":\"C\",\"pid\":\"%s\",\"tid\":\"0\"",
            timeline->separator, track->name, process);
    timeline->separator = ",\n";
    write_us(timeline->out, "ts", max_u64(step * track->step_ps, first_ps) - timeline->origin_ps);
    struct decimal value =
        decimal_ratio(amount * track->numerator, track->denominator, VALUE_DECIMALS);
    fprintf(timeline->out, ",\"%s\":%" PRIu64 ",\"args\":{\"%s\":%s}}", amount_name, amount,
            track->unit, value.text);
  }
}

/* Tracks of the whole chip, in a process of their own. */
static void write_chip(struct timeline *timeline) {
  const struct vinci_result *result = timeline->result;
  struct track track;
  for (unsigned kind = 0; kind < TRAFFIC_COUNT; kind++)
    if (track_traffic(&track, result, (enum traffic_kind)kind))
      write_track(timeline, &track, "Memory", "bytes");
  struct rates rates;
  rates_start(&rates, result);
  for (uint32_t i = 0; i < result->event_count; i++)
    if (lanes_show(timeline->lanes, i))
      rates_add(&rates, result, &result->events[i]);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
      if (rates_track(&track, &rates, (enum core_kind)kind, (enum pipe)pipe))
        write_track(timeline, &track, "Memory", "bytes");
}

static void write_depth(struct timeline *timeline, const struct lane *lane) {
  const struct vinci_result *result = timeline->result;
  struct series series;
  char name[32], process[48];
  series_start(&series, result);
  for (size_t i = 0; i < lane->count; i++)
    track_add_queued(&series, result, &result->events[lane->bars[i].index]);
  snprintf(name, sizeof name, "%s queue depth", pipe_name(lane->pipe));
  struct track track = track_depth(name, &series);
  result_core_name(&result->cores[lane->core], process, sizeof process);
  write_track(timeline, &track, process, "waiting_ps");
}

/* ---- file ------------------------------------------------------------------------ */

/* File name of the trace as a JSON string: the folder it lay in is not part of a result. */
char *export_trace_name(const struct vinci_result *result) {
  const char *path = result->trace_path ? result->trace_path : "";
  const char *slash = strrchr(path, '/');
  char *text = NULL;
  size_t size;
  FILE *memory = open_memstream(&text, &size);
  if (!memory)
    return NULL;
  json_string(memory, slash ? slash + 1 : path);
  return file_close_text(memory, &text) ? text : NULL;
}

static void set_origin(struct timeline *timeline) {
  const struct vinci_result *result = timeline->result;
  uint64_t earliest_ps = UINT64_MAX;
  for (uint32_t i = 0; i < result->event_count; i++)
    if (lanes_show(timeline->lanes, i))
      earliest_ps = min_u64(earliest_ps, lanes_edge_ps(result, result->events[i].core,
                                                       result->events[i].start_cycle));
  timeline->cycle_ps = PS_PER_SECOND / (uint64_t)result->soc->core_hz;
  timeline->empty = earliest_ps == UINT64_MAX;
  timeline->origin_ps = timeline->empty ? 0 : earliest_ps - timeline->cycle_ps;
}

static void write_note(struct timeline *timeline) {
  const struct vinci_result *result = timeline->result;
  FILE *out = timeline->out;
  uint64_t first_ps = timeline->empty ? 0 : timeline->origin_ps + timeline->cycle_ps;
  fputs(",\"otherData\":{\"soc\":", out);
  json_string(out, result->soc->name);
  write_us(out, "first_event_us_after_launch", first_ps);
  fprintf(out, ",\"partial\":%s,\"events\":%" PRIu64 ",\"events_dropped\":%" PRIu64,
          result->partial ? "true" : "false", result->event_count, result->events_dropped);
  if (result->events_dropped > 0)
    fputs(",\"note\":\"only the first instructions of each core were recorded\"", out);
  fputs("}}\n", out);
}

static bool write_all(struct timeline *timeline) {
  const struct vinci_result *result = timeline->result;
  struct lane lane;
  set_origin(timeline);
  fputs("{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",\"schemaVersion\":2,"
        "\"traceEvents\":[\n",
        timeline->out);
  for (uint32_t core = 0; core < result->core_count; core++)
    if (result->cores[core].blocks_run > 0 && lanes_show_core(timeline->lanes, core))
      write_order(timeline, core);
  while (lanes_next(timeline->lanes, &lane)) {
    write_lane(timeline, &lane);
    if (lane.pipe != PIPE_S && !timeline->vendor)
      write_depth(timeline, &lane);
  }
  bool done = write_arrows(timeline);
  write_throughput(timeline);
  if (!timeline->vendor)
    write_chip(timeline);
  fputs("\n]", timeline->out);
  write_note(timeline);
  return done;
}

enum vinci_status export_chrome(const struct vinci_result *result,
                                const struct timeline_choice *choice, FILE *out,
                                struct vinci_diag *diag) {
  struct lanes lanes;
  char *trace = export_trace_name(result);
  struct timeline timeline = {.result = result,
                              .out = out,
                              .lanes = &lanes,
                              .trace = trace,
                              .separator = "",
                              .vendor = choice->vendor};
  bool done = trace && lanes_open(&lanes, result, choice);
  if (done) {
    done = write_all(&timeline);
    lanes_close(&lanes);
  }
  free(trace);
  return done ? VINCI_OK : diag_error(diag, VINCI_E_NOMEM, "out of memory");
}
