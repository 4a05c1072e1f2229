/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.vcd: pipes and their queues as signals, for GTKWave and other viewers of waveforms
 * (IEEE 1364-2005, chapter 18). A scope for each core, below one for each pipe:
 *
 *   state      0 idle, 1 busy, 2 waits for a flag, 3 at a barrier, 4 waits for a signal of a core
 *   line       of the trace, that the pipe works on or waits at; 0 when idle
 *   in_flight  instructions that have started and not ended
 *   queue      instructions that the scalar unit has issued and that have not started
 *
 * and one for the counters of the chip (traces/export/timeline/tracks.h): bytes in each step, whose
 * length the scope's name has.
 *
 * Times are picoseconds after the launch. All changes are collected and sorted: 24 bytes each, six
 * at most for an instruction.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/isa/isa.h"
#include "traces/export/export.h"
#include "traces/export/timeline/lanes.h"
#include "traces/export/timeline/tracks.h"

enum { SIGNAL_STATE, SIGNAL_LINE, SIGNAL_IN_FLIGHT, SIGNAL_QUEUE, SIGNALS };
/* Signals of the chip: by kind of traffic, then by kind of core and pipe. */
enum { CHIP_SIGNALS = TRAFFIC_COUNT + CORE_KIND_COUNT * PIPE_COUNT, AMOUNT_BITS = 64 };
enum { STATE_IDLE, STATE_BUSY, STATE_FLAG, STATE_BARRIER, STATE_CROSS_CORE };

static const struct {
  const char *name;
  unsigned bits;
  bool counts; /* changes are differences */
} signals[SIGNALS] = {
    {"state", 3, false}, {"line", 32, false}, {"in_flight", 16, true}, {"queue", 16, true}};

struct change {
  uint64_t ps;
  uint32_t signal; /* lane * SIGNALS + SIGNAL_... */
  uint32_t number; /* of those at the same time the last one holds */
  int64_t value;
};

struct vcd {
  const struct vinci_result *result;
  FILE *out;
  struct change *changes;
  size_t count, capacity;
  uint32_t pipe_signals; /* those of the chip are behind */
  struct rates rates;
  bool failed;
};

static void add_change(struct vcd *vcd, uint32_t signal, uint64_t ps, int64_t value) {
  if (vcd->count == vcd->capacity) {
    size_t capacity = vcd->capacity ? 2 * vcd->capacity : 1024;
    struct change *grown = realloc(vcd->changes, capacity * sizeof *grown);
    vcd->failed = vcd->failed || !grown;
    if (!grown)
      return;
    vcd->changes = grown;
    vcd->capacity = capacity;
  }
  vcd->changes[vcd->count] =
      (struct change){.ps = ps, .signal = signal, .number = (uint32_t)vcd->count, .value = value};
  vcd->count++;
}

static uint32_t signal_of(const struct lane *lane, unsigned signal) {
  return (lane->core * PIPE_COUNT + lane->pipe) * SIGNALS + signal;
}

static void add(struct vcd *vcd, const struct lane *lane, unsigned signal, uint64_t cycle,
                int64_t value) {
  add_change(vcd, signal_of(lane, signal), lanes_edge_ps(vcd->result, lane->core, cycle), value);
}

static int64_t state_of(uint16_t op) {
  switch (op) {
  case OP_WAIT_FLAG:
    return STATE_FLAG;
  case OP_PIPE_BARRIER:
    return STATE_BARRIER;
  case OP_WAIT_FLAG_DEV:
    return STATE_CROSS_CORE;
  default:
    return lanes_orders(op) ? STATE_IDLE : STATE_BUSY;
  }
}

static void add_lane(struct vcd *vcd, const struct lane *lane) {
  for (size_t i = 0; i < lane->count; i++) {
    const struct bar *bar = &lane->bars[i];
    const struct result_event *event = &vcd->result->events[bar->index];
    int64_t state = state_of(event->op);
    rates_add(&vcd->rates, vcd->result, event);
    if (bar->start < bar->end && state != STATE_IDLE) {
      add(vcd, lane, SIGNAL_STATE, bar->start, state);
      add(vcd, lane, SIGNAL_LINE, bar->start, event->line);
      add(vcd, lane, SIGNAL_STATE, bar->end, STATE_IDLE);
      add(vcd, lane, SIGNAL_LINE, bar->end, 0);
    }
    if (!lanes_orders(event->op)) {
      add(vcd, lane, SIGNAL_IN_FLIGHT, event->start_cycle, 1);
      add(vcd, lane, SIGNAL_IN_FLIGHT, event->end_cycle, -1);
    }
    if (lane->pipe != PIPE_S) {
      add(vcd, lane, SIGNAL_QUEUE, event->start_cycle - event->queued_cycles, 1);
      add(vcd, lane, SIGNAL_QUEUE, lanes_leave_cycle(event), -1);
    }
  }
}

static int compare_changes(const void *left, const void *right) {
  const struct change *a = left, *b = right;
  if (a->ps != b->ps)
    return a->ps < b->ps ? -1 : 1;
  if (a->signal != b->signal)
    return a->signal < b->signal ? -1 : 1;
  return a->number < b->number ? -1 : 1;
}

/* Short names of signals: printing characters, lowest digit first. */
static void write_code(FILE *out, uint32_t signal) {
  enum { FIRST = '!', DIGITS = '~' - '!' + 1 };
  do {
    fputc(FIRST + (int)(signal % DIGITS), out);
    signal /= DIGITS;
  } while (signal > 0);
}

static void write_value(const struct vcd *vcd, uint32_t signal, uint64_t value) {
  FILE *out = vcd->out;
  unsigned bit = signal < vcd->pipe_signals ? signals[signal % SIGNALS].bits : AMOUNT_BITS;
  fputc('b', out);
  while (bit > 1 && !(value >> (bit - 1) & 1))
    bit--;
  while (bit-- > 0)
    fputc(value >> bit & 1 ? '1' : '0', out);
  fputc(' ', out);
  write_code(out, signal);
  fputc('\n', out);
}

static void declare_lane(FILE *out, const struct lane *lane) {
  fprintf(out, "$scope module %s $end\n", pipe_name(lane->pipe));
  unsigned count = lane->pipe == PIPE_S ? SIGNAL_QUEUE : SIGNALS; /* S has no queue */
  for (unsigned i = 0; i < count; i++) {
    fprintf(out, "$var wire %u ", signals[i].bits);
    write_code(out, signal_of(lane, i));
    fprintf(out, " %s $end\n", signals[i].name);
  }
  fputs("$upscope $end\n", out);
}

/* A signal of the chip with its changes; back to 0 at the end of the run. */
static void declare_track(struct vcd *vcd, uint32_t signal, const char *name,
                          const struct track *track) {
  uint64_t before = 0;
  fprintf(vcd->out, "$var wire %d ", AMOUNT_BITS);
  write_code(vcd->out, signal);
  fprintf(vcd->out, " %s $end\n", name);
  for (size_t step = 0; step < track->steps; step++) {
    uint64_t amount = track_amount(track, step);
    if (amount != before)
      add_change(vcd, signal, step * track->step_ps, (int64_t)amount);
    before = amount;
  }
  add_change(vcd, signal, vcd->result->total_ps, 0);
}

static void declare_chip(struct vcd *vcd) {
  struct track track;
  uint32_t signal = vcd->pipe_signals;
  fprintf(vcd->out, "$scope module memory_bytes_per_%" PRIu64 "_ps $end\n",
          traffic_step_ps(&vcd->result->traffic));
  for (unsigned kind = 0; kind < TRAFFIC_COUNT; kind++, signal++)
    if (track_traffic(&track, vcd->result, (enum traffic_kind)kind))
      declare_track(vcd, signal, traffic_key((enum traffic_kind)kind), &track);
  fprintf(vcd->out, "$upscope $end\n$scope module transfer_bytes_per_%" PRIu64 "_ps $end\n",
          vcd->rates.series[0][0].step_ps);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++, signal++) {
      char name[32];
      snprintf(name, sizeof name, "%s_%s", core_kind_name((enum core_kind)kind),
               pipe_name((enum pipe)pipe));
      if (rates_track(&track, &vcd->rates, (enum core_kind)kind, (enum pipe)pipe))
        declare_track(vcd, signal, name, &track);
    }
  }
  fputs("$upscope $end\n", vcd->out);
}

/* The names of cores have a dot in them: two scopes. */
static void declare(struct vcd *vcd, struct lanes *lanes) {
  struct lane lane;
  uint32_t core = UINT32_MAX;
  fputs("$comment state: 0 idle, 1 busy, 2 waits for a flag, 3 at a barrier, 4 waits for another "
        "core $end\n$timescale 1 ps $end\n",
        vcd->out);
  while (lanes_next(lanes, &lane)) {
    if (lane.core != core) {
      char name[48];
      result_core_name(&vcd->result->cores[lane.core], name, sizeof name);
      for (char *at = name; *at; at++)
        if (*at == '.')
          *at = '_';
      fprintf(vcd->out, "%s$scope module %s $end\n", core == UINT32_MAX ? "" : "$upscope $end\n",
              name);
    }
    core = lane.core;
    declare_lane(vcd->out, &lane);
    add_lane(vcd, &lane);
  }
  if (core != UINT32_MAX)
    fputs("$upscope $end\n", vcd->out);
  declare_chip(vcd);
  fputs("$enddefinitions $end\n", vcd->out);
}

/* Values at the start, 0, are written for the signals that change at all. */
static void write_start(struct vcd *vcd, int64_t *values, size_t signal_count) {
  for (size_t i = 0; i < vcd->count; i++)
    values[vcd->changes[i].signal] = 1;
  fputs("#0\n$dumpvars\n", vcd->out);
  for (size_t i = 0; i < signal_count; i++)
    if (values[i])
      write_value(vcd, (uint32_t)i, 0);
  fputs("$end\n", vcd->out);
}

static bool counts(const struct vcd *vcd, uint32_t signal) {
  return signal < vcd->pipe_signals && signals[signal % SIGNALS].counts;
}

/* One line for each signal and time at which its value is another. */
static bool write_changes(struct vcd *vcd) {
  size_t signal_count = (size_t)vcd->pipe_signals + CHIP_SIGNALS;
  int64_t *values = calloc(signal_count + 1, sizeof *values);
  if (!values)
    return false;
  qsort(vcd->changes, vcd->count, sizeof *vcd->changes, compare_changes);
  write_start(vcd, values, signal_count);
  for (size_t i = 0; i < signal_count; i++)
    values[i] = 0;
  uint64_t now_ps = 0;
  for (size_t i = 0, next; i < vcd->count; i = next) {
    const struct change *first = &vcd->changes[i];
    int64_t value = values[first->signal], before = value;
    for (next = i; next < vcd->count && vcd->changes[next].ps == first->ps &&
                   vcd->changes[next].signal == first->signal;
         next++)
      value = (counts(vcd, first->signal) ? value : 0) + vcd->changes[next].value;
    values[first->signal] = value;
    if (value == before)
      continue;
    if (first->ps != now_ps)
      fprintf(vcd->out, "#%" PRIu64 "\n", first->ps);
    now_ps = first->ps;
    write_value(vcd, first->signal, (uint64_t)value);
  }
  if (now_ps != vcd->result->total_ps)
    fprintf(vcd->out, "#%" PRIu64 "\n", vcd->result->total_ps);
  free(values);
  return true;
}

enum vinci_status export_vcd(const struct vinci_result *result,
                             const struct timeline_choice *choice, FILE *out,
                             struct vinci_diag *diag) {
  struct lanes lanes;
  struct vcd vcd = {
      .result = result, .out = out, .pipe_signals = result->core_count * PIPE_COUNT * SIGNALS};
  rates_start(&vcd.rates, result);
  bool done = lanes_open(&lanes, result, choice);
  if (done) {
    declare(&vcd, &lanes);
    lanes_close(&lanes);
    done = !vcd.failed && write_changes(&vcd);
  }
  free(vcd.changes);
  return done ? VINCI_OK : diag_error(diag, VINCI_E_NOMEM, "out of memory");
}
