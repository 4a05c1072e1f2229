/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.pftrace: the timeline for ui.perfetto.dev, as TrackEvent packets. Tracks: the chip with
 * its kernels, below the cores, below their pipes with an instruction for each slice, below
 * "in flight" where transfers of GM overlap. Flows join the slices that flags and signals join: a
 * flag that is set, or that a wait finds set, takes no time and has no slice of its own; its arrow
 * leaves the slice before, or leads to the slice after. Counters
 * (traces/export/timeline/tracks.h): GB/s (10^9 bytes) of each transfer pipe and of GM as all cores
 * see it, average depth of each queue; of device memory, hits and misses of L2; bytes per cycle of
 * the network.
 *
 * Times are nanoseconds after the launch, rounded down; exact cycles stand in the arguments:
 * `cycles` is how long the instruction took, `drawn` how long its slice is where another cuts or
 * stretches that; what the state that it has found costs, code_cycles and others, are names of
 * core/result/state.h. Each track is a sequence of its own with a clock of differences and with
 * names that are written once, which makes a slice some 35 bytes. Only one lane is in memory at a
 * time.
 *
 * Source of messages and numbers of fields: github.com/google/perfetto, protos/perfetto/trace.
 */
#include <stdlib.h>
#include <string.h>

#include "core/isa/isa.h"
#include "traces/export/export.h"
#include "traces/export/timeline/perfetto.h"
#include "traces/export/timeline/series.h"

/* ---- instructions ------------------------------------------------------------ */

/* What a slice is called: the instruction, of a flag also the other pipe and the id. */
static void name_event(const struct result_event *event, char *name, size_t size) {
  const char *op = isa_row((enum isa_op)event->op)->name;
  if (event->op == OP_SET_FLAG || event->op == OP_WAIT_FLAG)
    snprintf(name, size, "%s %s %s id %u", op, event->op == OP_SET_FLAG ? "to" : "from",
             pipe_name((enum pipe)event->other), event->id);
  else
    snprintf(name, size, "%s", op);
}

/* Where the interned number of a name is kept: instructions first, then flags. */
static uint32_t *name_place(struct perfetto *trace, const struct result_event *event) {
  size_t place = event->op;
  if (event->op == OP_SET_FLAG || event->op == OP_WAIT_FLAG)
    place = OP_COUNT + ((size_t)event->other * 2 + (event->op == OP_WAIT_FLAG)) * (UINT8_MAX + 1) +
            event->id;
  return &trace->name_of[place];
}

/* A number of an earlier sequence counts as none: those have smaller ones. */
static bool is_new(uint32_t *seen_in, uint32_t sequence) {
  bool fresh = *seen_in != sequence;
  *seen_in = sequence;
  return fresh;
}

static void write_name(struct perfetto *trace, uint32_t iid, const char *text) {
  size_t name = wire_begin(&trace->wire, INTERNED_EVENT_NAMES);
  wire_number(&trace->wire, INTERNED_IID, iid);
  wire_text(&trace->wire, INTERNED_NAME, text);
  wire_end(&trace->wire, name);
}

static void write_location(struct perfetto *trace, uint32_t line) {
  size_t location = wire_begin(&trace->wire, INTERNED_SOURCE_LOCATIONS);
  wire_number(&trace->wire, LOCATION_IID, line);
  wire_text(&trace->wire, LOCATION_FILE_NAME, trace->trace_name);
  wire_number(&trace->wire, LOCATION_LINE_NUMBER, line);
  wire_end(&trace->wire, location);
}

/* Numbers of a name and a line, written beside the event when the sequence has not met them. */
static uint32_t intern(struct perfetto *trace, const struct result_event *event) {
  uint32_t *place = name_place(trace, event);
  bool new_name = is_new(&trace->name_seen[place - trace->name_of], trace->sequence);
  bool new_line = event->line > 0 && is_new(&trace->line_seen[event->line], trace->sequence);
  if (!new_name && !new_line)
    return *place;
  size_t interned = wire_begin(&trace->wire, PACKET_INTERNED_DATA);
  if (new_name) {
    char name[64];
    name_event(event, name, sizeof name);
    *place = ++trace->names;
    write_name(trace, *place, name);
  }
  if (new_line)
    write_location(trace, event->line);
  wire_end(&trace->wire, interned);
  return *place;
}

static void add_leaving(struct perfetto *trace, uint32_t index) {
  size_t first, count = arrows_from(trace->arrows, index, &first);
  for (size_t i = 0; i < count; i++)
    wire_fixed64(&trace->wire, EVENT_FLOW_IDS, first + i);
}

static void add_arriving(struct perfetto *trace, uint32_t index) {
  size_t taken = arrows_to(trace->arrows, index);
  if (taken)
    wire_fixed64(&trace->wire, EVENT_TERMINATING_FLOW_IDS, taken);
}

/* Of a wait only what is drawn: while the pipe still works, nobody waits. */
static void add_arguments(struct perfetto *trace, const struct result_event *event,
                          uint64_t drawn_cycles) {
  bool orders = lanes_orders(event->op);
  uint64_t cycles = orders ? drawn_cycles : event->end_cycle - event->start_cycle;
  perfetto_add_argument(trace, ARGUMENT_CYCLES, cycles);
  if (drawn_cycles != cycles)
    perfetto_add_argument(trace, ARGUMENT_DRAWN, drawn_cycles);
  if (event->bytes > 0 && !orders)
    perfetto_add_argument(trace, ARGUMENT_BYTES, event->bytes);
  for (unsigned part = 0; part < STATE_PARTS; part++) {
    uint64_t found = state_of_event(event, drawn_cycles, (enum state_part)part);
    if (found > 0)
      perfetto_add_argument(trace, ARGUMENT_STATE + part, found);
  }
}

/* What an event of a track is made from, and whose arrows it has. */
struct shown {
  const struct bar *bar;
  unsigned type;     /* EVENT_... */
  size_t before;     /* arrows that lead to N bars in front lead here */
  bool takes, gives; /* its own arrows: those that lead here, those that leave */
  size_t place;      /* in its lane */
  size_t flag;       /* the first flag whose arrow leaves here, by place + 1; 0: none */
};

/* The head of a slice, or an instant. */
static void write_instruction(struct perfetto *trace, const struct shown *shown) {
  const struct bar *bar = shown->bar;
  const struct result_event *event = &trace->lanes->result->events[bar->index];
  struct wire *wire = &trace->wire;
  uint64_t start_ns = perfetto_ns(lanes_edge_ps(trace->lanes->result, event->core, bar->start));
  size_t packet = perfetto_open_packet(trace);
  wire_number(wire, PACKET_TIMESTAMP, start_ns - trace->now_ns);
  trace->now_ns = start_ns;
  wire_number(wire, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
  uint32_t iid = intern(trace, event);
  size_t track_event = wire_begin(wire, PACKET_TRACK_EVENT);
  wire_number(wire, EVENT_TYPE, shown->type);
  wire_number(wire, EVENT_NAME_IID, iid);
  if (event->line > 0)
    wire_number(wire, EVENT_SOURCE_LOCATION_IID, event->line);
  if (shown->type == EVENT_SLICE_BEGIN)
    add_arguments(trace, event, bar->end - bar->start);
  for (const struct bar *at = bar - shown->before; at < bar + shown->takes; at++)
    add_arriving(trace, at->index);
  if (shown->gives)
    add_leaving(trace, bar->index);
  for (size_t flag = shown->flag; flag; flag = trace->joins[flag - 1].next)
    add_leaving(trace, (bar - shown->place + flag - 1)->index);
  wire_end(wire, track_event);
  perfetto_close_packet(trace, packet);
}

static uint64_t end_ns(const struct perfetto *trace, const struct lane *lane, uint64_t cycle) {
  return perfetto_ns(lanes_edge_ps(trace->lanes->result, lane->core, cycle));
}

static bool orders(const struct perfetto *trace, const struct bar *bar) {
  return lanes_orders(trace->lanes->result->events[bar->index].op);
}

/* A flag that takes no time. */
static bool is_point(const struct perfetto *trace, const struct bar *bar) {
  uint16_t op = trace->lanes->result->events[bar->index].op;
  return bar->start == bar->end && (op == OP_SET_FLAG || op == OP_WAIT_FLAG);
}

/* A flag belongs to what was issued before it, which may not be what runs when the flag is set:
 * finds that slice for each flag that takes no time. */
static void join_flags(struct perfetto *trace, const struct lane *lane) {
  const struct result_event *events = trace->lanes->result->events;
  memset(trace->joins, 0, lane->count * sizeof *trace->joins);
  for (size_t i = 0; i < lane->count; i++) {
    const struct result_event *flag = &events[lane->bars[i].index];
    if (flag->op != OP_SET_FLAG || !is_point(trace, &lane->bars[i]))
      continue;
    size_t owner = i;
    while (owner > 0 && (is_point(trace, &lane->bars[owner - 1]) ||
                         events[lane->bars[owner - 1].index].start_cycle >= flag->start_cycle))
      owner--;
    trace->joins[i].joined = owner > 0;
    if (owner > 0) {
      trace->joins[i].next = trace->joins[owner - 1].first;
      trace->joins[owner - 1].first = i + 1;
    }
  }
}

/* An arrow has to lead to something that starts after its source: to what the wait lets go. */
static struct shown shown_as(const struct perfetto *trace, const struct lane *lane, size_t i,
                             size_t work_end) {
  const struct bar *bar = &lane->bars[i];
  bool instant = bar->start == bar->end;
  struct shown shown = {.bar = bar,
                        .type = instant ? EVENT_INSTANT : EVENT_SLICE_BEGIN,
                        .takes = instant && i >= work_end,
                        .gives = true,
                        .place = i,
                        .flag = trace->joins[i].first};
  while (!orders(trace, bar) && shown.before < i && orders(trace, bar - shown.before - 1))
    shown.before++;
  return shown;
}

/* Whether the arrows of a flag that takes no time are those of a slice. */
static bool is_joined(const struct perfetto *trace, const struct lane *lane, size_t i,
                      size_t work_end) {
  if (!is_point(trace, &lane->bars[i]))
    return false;
  bool wait = trace->lanes->result->events[lane->bars[i].index].op == OP_WAIT_FLAG;
  return wait ? i < work_end : trace->joins[i].joined;
}

/* Behind the last bar that is no flag and no barrier. */
static size_t find_work_end(const struct perfetto *trace, const struct lane *lane) {
  size_t end = lane->count;
  while (end > 0 && orders(trace, &lane->bars[end - 1]))
    end--;
  return end;
}

/* Bars without length are instants, unless slices have their arrows. A wait that nothing follows
 * has its arrow at its end. */
static void write_lane(struct perfetto *trace, const struct lane *lane) {
  size_t work_end = find_work_end(trace, lane);
  join_flags(trace, lane);
  const struct bar *open = NULL;
  for (size_t i = 0; i <= lane->count; i++) {
    const struct bar *bar = i < lane->count ? &lane->bars[i] : NULL;
    bool instant = bar && bar->start == bar->end;
    if (open && (!bar || open->end <= bar->start || !instant)) {
      perfetto_end_slice(trace, end_ns(trace, lane, open->end));
      struct bar end = {open->end, open->end, open->index};
      if ((size_t)(open - lane->bars) >= work_end && arrows_to(trace->arrows, open->index))
        write_instruction(trace,
                          &(struct shown){.bar = &end, .type = EVENT_INSTANT, .takes = true});
      open = NULL;
    }
    if (!bar || is_joined(trace, lane, i, work_end))
      continue;
    struct shown shown = shown_as(trace, lane, i, work_end);
    write_instruction(trace, &shown);
    open = instant ? open : bar;
  }
}

/* ---- transfers in flight ------------------------------------------------------ */

static bool uses_gm(const struct result_event *event) {
  enum path path = (enum path)event->path;
  return event->bytes > 0 && !lanes_orders(event->op) && path < PATH_COUNT &&
         (path_from(path) == SPACE_GM || path_to(path) == SPACE_GM);
}

/* Transfers of a lane whose own time is not what their bar shows, as bars of that time. */
static size_t hidden_transfers(const struct lanes *lanes, const struct lane *lane,
                               struct bar *hidden) {
  size_t count = 0;
  for (size_t i = 0; i < lane->count; i++) {
    const struct bar *bar = &lane->bars[i];
    const struct result_event *event = &lanes->result->events[bar->index];
    if (uses_gm(event) && (bar->start != event->start_cycle || bar->end != event->end_cycle))
      hidden[count++] = (struct bar){event->start_cycle, event->end_cycle, bar->index};
  }
  return count;
}

/* A slice each for those that fit behind one another; returns how many are left, moved down. */
static size_t write_slot(struct perfetto *trace, const struct lane *lane, struct bar *hidden,
                         size_t count) {
  size_t left = 0;
  uint64_t free_from = 0;
  for (size_t i = 0; i < count; i++) {
    if (hidden[i].start < free_from) {
      hidden[left++] = hidden[i];
      continue;
    }
    write_instruction(trace, &(struct shown){.bar = &hidden[i], .type = EVENT_SLICE_BEGIN});
    perfetto_end_slice(trace, end_ns(trace, lane, hidden[i].end));
    free_from = hidden[i].end;
  }
  return left;
}

/* Bars of a lane are by start, and so are these. */
static bool write_in_flight(struct perfetto *trace, const struct lane *lane, uint64_t parent) {
  struct bar *hidden = malloc((lane->count + 1) * sizeof *hidden);
  if (!hidden)
    return false;
  size_t count = hidden_transfers(trace->lanes, lane, hidden);
  char name[32];
  for (unsigned slot = 1; count > 0; slot++) {
    snprintf(name, sizeof name, "%s in flight %u", pipe_name(lane->pipe), slot);
    perfetto_start_sequence(
        trace, perfetto_describe_track(trace, &(struct perfetto_track){name, parent, slot, NULL}));
    count = write_slot(trace, lane, hidden, count);
  }
  free(hidden);
  return true;
}

/* ---- counters ------------------------------------------------------------------ */

/* Where the value changes. */
static void write_track(struct perfetto *trace, const struct track *track, uint64_t parent) {
  char name[64];
  bool has_unit = strcmp(track->unit, "instructions") != 0;
  snprintf(name, sizeof name, "%s%s%s", track->name, has_unit ? " " : "",
           has_unit ? track->unit : "");
  perfetto_start_sequence(trace, perfetto_describe_track(trace, &(struct perfetto_track){
                                                                    name, parent, 0, track->unit}));
  for (size_t step = 0; step < track->steps; step++) {
    uint64_t amount = track_amount(track, step);
    if (step > 0 && amount == track_amount(track, step - 1))
      continue;
    struct perfetto_event event;
    perfetto_open_event(trace, &event, EVENT_COUNTER, perfetto_ns(step * track->step_ps));
    wire_double(&trace->wire, EVENT_DOUBLE_COUNTER_VALUE,
                (double)amount * (double)track->numerator / (double)track->denominator);
    perfetto_close_event(trace, &event);
  }
}

/* Bytes of transfers, from their start to their end. */
static void write_rate(struct perfetto *trace, const struct lane *lane, uint64_t parent) {
  const struct vinci_result *result = trace->lanes->result;
  struct series series;
  uint64_t total = 0;
  series_start(&series, result);
  for (size_t i = 0; i < lane->count; i++) {
    const struct result_event *event = &result->events[lane->bars[i].index];
    if (lanes_orders(event->op) || event->bytes == 0)
      continue;
    uint64_t start_ps = lanes_edge_ps(result, event->core, event->start_cycle);
    uint64_t end_ps = lanes_edge_ps(result, event->core, event->end_cycle);
    total += event->bytes;
    series_spread(&series, start_ps, end_ps, event->bytes);
    if (uses_gm(event))
      series_spread(path_from((enum path)event->path) == SPACE_GM ? &trace->read : &trace->written,
                    start_ps, end_ps, event->bytes);
  }
  series_add(&trace->rates.series[result->cores[lane->core].kind][lane->pipe], &series);
  struct track track = track_bytes(pipe_name(lane->pipe), &series);
  if (total > 0)
    write_track(trace, &track, parent);
}

static void write_depth(struct perfetto *trace, const struct lane *lane, uint64_t parent) {
  const struct vinci_result *result = trace->lanes->result;
  struct series series;
  char name[32];
  series_start(&series, result);
  for (size_t i = 0; i < lane->count; i++)
    track_add_queued(&series, result, &result->events[lane->bars[i].index]);
  snprintf(name, sizeof name, "%s queue depth", pipe_name(lane->pipe));
  struct track track = track_depth(name, &series);
  write_track(trace, &track, parent);
}

/* What all shown cores together move between GM and their buffers, through the network and L2; by
 * kind of core and pipe; and what memories and network moved for all cores, shown or not. */
static void write_chip(struct perfetto *trace) {
  struct track track = track_bytes("GM read", &trace->read);
  write_track(trace, &track, trace->chip);
  track = track_bytes("GM written", &trace->written);
  write_track(trace, &track, trace->chip);
  for (unsigned kind = 0; kind < TRAFFIC_COUNT; kind++)
    if (track_traffic(&track, trace->lanes->result, (enum traffic_kind)kind))
      write_track(trace, &track, trace->chip);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
      if (rates_track(&track, &trace->rates, (enum core_kind)kind, (enum pipe)pipe))
        write_track(trace, &track, trace->chip);
}

/* ---- the file -------------------------------------------------------------------- */

static void write_kernels(struct perfetto *trace) {
  const struct vinci_result *result = trace->lanes->result;
  char name[128];
  snprintf(name, sizeof name, "%s%s", result->soc->name,
           result->events_dropped > 0 ? " (only the first instructions of each core were recorded)"
           : result->partial          ? " (partial)"
                                      : "");
  trace->chip = perfetto_describe_track(trace, &(struct perfetto_track){name, 0, 0, NULL});
  perfetto_start_sequence(trace, trace->chip);
  for (uint32_t i = 0; i < result->kernel_count; i++) {
    struct perfetto_event event;
    perfetto_open_event(trace, &event, EVENT_SLICE_BEGIN, perfetto_ns(result->kernels[i].start_ps));
    wire_text(&trace->wire, EVENT_NAME, result->kernels[i].name);
    perfetto_close_event(trace, &event);
    perfetto_end_slice(trace, perfetto_ns(result->kernels[i].end_ps));
  }
}

static uint64_t core_track(struct perfetto *trace, uint32_t core) {
  char name[48];
  const struct core_result *info = &trace->lanes->result->cores[core];
  result_core_name(info, name, sizeof name);
  return perfetto_describe_track(
      trace, &(struct perfetto_track){name, trace->chip, (unsigned)lanes_core_order(info), NULL});
}

static bool write_all(struct perfetto *trace) {
  struct lane lane;
  uint64_t core_uuid = 0;
  uint32_t core = UINT32_MAX;
  trace->sequence = (uint32_t)++trace->sequences;
  series_start(&trace->read, trace->lanes->result);
  series_start(&trace->written, trace->lanes->result);
  rates_start(&trace->rates, trace->lanes->result);
  write_kernels(trace);
  while (lanes_next(trace->lanes, &lane)) {
    if (lane.core != core)
      core_uuid = core_track(trace, lane.core);
    core = lane.core;
    uint64_t track =
        perfetto_describe_track(trace, &(struct perfetto_track){pipe_name(lane.pipe), core_uuid,
                                                                lanes_pipe_order(lane.pipe), NULL});
    perfetto_start_sequence(trace, track);
    write_lane(trace, &lane);
    if (!write_in_flight(trace, &lane, track))
      return false;
    write_rate(trace, &lane, track);
    if (lane.pipe != PIPE_S)
      write_depth(trace, &lane, track);
  }
  write_chip(trace);
  wire_flush(&trace->wire, trace->out);
  return !trace->wire.failed;
}

static bool prepare(struct perfetto *trace, struct arrows *arrows) {
  const struct vinci_result *result = trace->lanes->result;
  uint32_t lines = 0;
  for (uint64_t i = 0; i < result->event_count; i++)
    lines = result->events[i].line > lines ? result->events[i].line : lines;
  size_t names = OP_COUNT + (size_t)(PIPE_COUNT + 1) * 2 * (UINT8_MAX + 1);
  trace->name_of = calloc(names, sizeof *trace->name_of);
  trace->name_seen = calloc(names, sizeof *trace->name_seen);
  trace->line_seen = calloc((size_t)lines + 1, sizeof *trace->line_seen);
  trace->joins = calloc(trace->lanes->capacity + 1, sizeof *trace->joins);
  return trace->joins && trace->name_of && trace->name_seen && trace->line_seen &&
         arrows_find(arrows, trace->lanes);
}

enum vinci_status export_perfetto(const struct vinci_result *result,
                                  const struct timeline_choice *choice, FILE *out,
                                  struct vinci_diag *diag) {
  struct lanes lanes;
  struct arrows arrows = {0};
  const char *path = result->trace_path ? result->trace_path : "", *slash = strrchr(path, '/');
  struct perfetto trace = {
      .out = out, .lanes = &lanes, .arrows = &arrows, .trace_name = slash ? slash + 1 : path};
  bool done = lanes_open(&lanes, result, choice);
  if (done) {
    done = prepare(&trace, &arrows) && write_all(&trace);
    lanes_close(&lanes);
  }
  arrows_free(&arrows);
  wire_free(&trace.wire);
  free(trace.joins);
  free(trace.name_of);
  free(trace.name_seen);
  free(trace.line_seen);
  return done ? VINCI_OK : diag_error(diag, VINCI_E_NOMEM, "out of memory");
}
