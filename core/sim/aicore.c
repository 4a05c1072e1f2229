/* SPDX-License-Identifier: Apache-2.0 */
/* One core: its parts, flags between its pipes, start and end of a block. */
#include "core/sim/aicore.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/sim/device.h"
#include "core/sim/pipe_units.h"

/* Sequence numbers of a core's events within one instant. */
enum { SEQUENCE_FINISH = 2 * PIPE_COUNT };

uint64_t aicore_now(const struct aicore *core) {
  return clock_edge_at(&core->clock, engine_now_ps(core->device->engine));
}

void aicore_fail(struct aicore *core, uint32_t line, const char *format, ...) {
  char text[512], name[64];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  result_core_name(core->result, name, sizeof name);
  diag_error_at(core->device->diag, VINCI_E_INPUT, program_position(core->device->trace, line),
                "%s, on %s", text, name);
  device_stop(core->device, VINCI_E_INPUT);
}

void aicore_record(struct aicore *core, enum pipe pipe, const struct pipe_entry *entry,
                   uint64_t start_cycle, uint64_t end_cycle) {
  if (core->event_count == core->event_capacity) {
    core->events_dropped += core->device->options.max_events > 0;
    return;
  }
  core->events[core->event_count++] = (struct result_event){
      .start_cycle = start_cycle,
      .end_cycle = end_cycle,
      .core = core->index,
      .line = entry->line,
      .op = entry->op,
      .pipe = (uint8_t)pipe,
      .id = entry->id,
      .other = entry->other,
      .bytes = entry->cost.bytes,
  };
}

struct flag *aicore_flag(struct aicore *core, enum pipe src, enum pipe dst, uint32_t id) {
  size_t ids = (size_t)core->device->soc->flag_ids;
  return &core->flags[((size_t)src * PIPE_COUNT + dst) * ids + id];
}

void aicore_set_flag(struct aicore *core, enum pipe src, enum pipe dst, uint32_t id, uint32_t line,
                     uint64_t cycle) {
  struct flag *flag = aicore_flag(core, src, dst, id);
  if (flag->set) {
    aicore_fail(core, line,
                "set_flag %s->%s id %u is set a second time before anyone waited for it; it was "
                "set in line %u",
                pipe_name(src), pipe_name(dst), id, flag->line);
    return;
  }
  *flag = (struct flag){.set_cycle = cycle, .line = line, .set = true};
  uint64_t seen = cycle + (uint64_t)core->device->soc->flag_cycles;
  if (dst == PIPE_S) {
    if (core->scalar.wait == SCALAR_FLAG)
      scalar_wake(core, seen);
  } else if (core->pipe[dst].stall == STALL_WAIT_FLAG) {
    pipe_wake(&core->pipe[dst], seen);
  }
}

bool aicore_drained(const struct aicore *core, uint64_t *cycle) {
  *cycle = aicore_now(core);
  for (unsigned i = 0; i < PIPE_COUNT; i++) {
    const struct pipe_unit *pipe = &core->pipe[i];
    if (pipe->count > 0 || pipe->ring_count > 0)
      return false;
    if (pipe->complete_cycle > *cycle)
      *cycle = pipe->complete_cycle;
  }
  return true;
}

void aicore_finish_if_done(struct aicore *core) {
  uint64_t cycle;
  if (core->scalar.wait != SCALAR_ENDED || core->finish.pending || !aicore_drained(core, &cycle))
    return;
  if (cycle < core->scalar.cycle)
    cycle = core->scalar.cycle;
  engine_schedule(core->device->engine, &core->finish, clock_edge_ps(&core->clock, cycle));
}

void aicore_pipe_drained(struct aicore *core) {
  if (core->scalar.wait == SCALAR_DRAIN)
    scalar_wake(core, aicore_now(core));
  else if (core->scalar.wait == SCALAR_ENDED)
    aicore_finish_if_done(core);
}

static struct aicore *core_of_finish(struct engine_event *event) {
  return (struct aicore *)((char *)event - offsetof(struct aicore, finish));
}

static void fire_finish(struct engine_event *event, uint64_t now_ps) {
  (void)now_ps;
  struct aicore *core = core_of_finish(event);
  core->has_block = false;
  core->result->active_cycles += aicore_now(core) - core->start_cycle;
  device_core_finished(core->device, core);
}

static bool create_flags(struct aicore *core, struct arena *arena) {
  const struct vinci_soc *soc = core->device->soc;
  core->flags =
      ARENA_ARRAY(arena, struct flag, (size_t)PIPE_COUNT * PIPE_COUNT * (size_t)soc->flag_ids);
  core->cross = ARENA_ARRAY(arena, struct cross_flag, (size_t)soc->cross_core_ids);
  if (!core->flags || !core->cross)
    return false;
  for (int64_t i = 0; i < soc->cross_core_ids; i++) {
    core->cross[i].arrival_ps = ARENA_ARRAY(arena, uint64_t, (size_t)soc->cross_core_sets_max);
    if (!core->cross[i].arrival_ps)
      return false;
  }
  return true;
}

bool aicore_create(struct aicore *core, struct device *device, struct arena *arena, uint32_t index,
                   enum core_kind kind, uint32_t part, uint32_t var_count) {
  core->device = device;
  core->index = index;
  core->kind = kind;
  core->result = &device->result->cores[index];
  clock_init(&core->clock, soc_core_hz(device->soc, kind));
  core->finish.key = event_key(PHASE_DELIVER, part, SEQUENCE_FINISH);
  core->finish.fire = fire_finish;
  if (!stream_create(&core->stream, arena, var_count) || !create_flags(core, arena))
    return false;
  if (device->trace->any_unit_flag && !pipe_units_create(core, arena))
    return false;
  scalar_create(core, part);
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    if (!pipe_create(core, arena, (enum pipe)i, part))
      return false;
  return true;
}

/* A block starts with all flags clear: what an earlier one left set is its own mistake. */
void aicore_start(struct aicore *core, const struct program_kernel *kernel, uint32_t blk,
                  uint32_t sub) {
  const struct vinci_soc *soc = core->device->soc;
  uint64_t cycle = aicore_now(core);
  core->has_block = true;
  core->start_cycle = cycle;
  if (core->result->blocks_run++ == 0)
    core->result->first_block = blk;
  memset(core->flags, 0, sizeof *core->flags * PIPE_COUNT * PIPE_COUNT * (size_t)soc->flag_ids);
  for (int64_t i = 0; i < soc->cross_core_ids; i++)
    core->cross[i] = (struct cross_flag){.arrival_ps = core->cross[i].arrival_ps};
  stream_start(&core->stream, soc, core->device->trace, kernel, core->kind, blk, sub);
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    if (core_has_pipe(core->kind, (enum pipe)i))
      pipe_start(&core->pipe[i], cycle);
  if (core->units)
    pipe_units_start_block(core);
  scalar_start(core, cycle);
}

static uint64_t take(uint64_t *from, uint64_t wanted) {
  uint64_t taken = wanted < *from ? wanted : *from;
  *from -= taken;
  return wanted - taken;
}

/* A run that is cut short may find the scalar unit waiting, or ahead of the run's end: the
 * wait is counted, what lies ahead is not. */
static void account_scalar(struct scalar_unit *scalar, uint64_t end_cycle) {
  struct pipe_counters *counters = scalar->counters;
  unsigned reason = scalar_wait_reason(scalar);
  if (reason != PIPE_NOT_STALLED && scalar->cycle < end_cycle) {
    counters->stall_cycles[reason] += end_cycle - scalar->cycle;
    scalar->cycle = end_cycle;
  }
  uint64_t ahead = scalar->cycle > end_cycle ? scalar->cycle - end_cycle : 0;
  ahead = take(&counters->busy_cycles, ahead);
  uint64_t used = counters->busy_cycles;
  for (unsigned i = 0; i < STALL_COUNT; i++) {
    ahead = take(&counters->stall_cycles[i], ahead);
    used += counters->stall_cycles[i];
  }
  counters->idle_cycles = end_cycle - used;
}

void aicore_account(struct aicore *core, uint64_t end_ps) {
  uint64_t end_cycle = clock_edge_at(&core->clock, end_ps);
  core->result->total_cycles = end_cycle;
  if (core->has_block)
    core->result->active_cycles += end_cycle - core->start_cycle;
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    if (i != PIPE_S && core_has_pipe(core->kind, (enum pipe)i))
      pipe_account(&core->pipe[i], end_cycle);
  account_scalar(&core->scalar, end_cycle);
}
