/* SPDX-License-Identifier: Apache-2.0 */
/* One core: its parts, flags between its pipes, start and end of a block. */
#include "core/sim/aicore.h"

#include "core/result/events.h"
#include "core/sim/device.h"

#include <string.h>

/* Sequence numbers of a core's events within one instant. */
enum { SEQUENCE_FINISH = 2 * PIPE_COUNT };

uint64_t aicore_now(const struct aicore *core) {
  return clock_edge_at(&core->clock, engine_now_ps(core->device->engine));
}

void aicore_misused(struct aicore *core, uint32_t line, const struct misuse *misuse) {
  struct device *device = core->device;
  device_stop(device,
              placement_report(&device->placement, core->index, line, misuse, device->diag));
}

static uint32_t cycles_since(uint64_t cycle, uint64_t now) {
  return cycle < now ? (uint32_t)min_u64(now - cycle, UINT32_MAX) : 0;
}

struct result_event *aicore_keep_event(struct aicore *core, enum pipe pipe,
                                       const struct pipe_entry *entry, uint64_t start_cycle,
                                       uint64_t end_cycle) {
  if (core->event_count == core->event_capacity) {
    core->events_dropped++;
    return NULL;
  }
  struct result_event *event =
      core->log ? event_log_add(core->log) : &core->events[core->event_count];
  core->event_count++;
  uint64_t bank_cycles = entry->cost.conflict_bankgroup_cycles + entry->cost.conflict_bank_cycles;
  *event = (struct result_event){
      .start_cycle = start_cycle,
      .end_cycle = end_cycle,
      .core = core->index,
      .line = entry->line,
      .op = entry->op,
      .pipe = (uint8_t)pipe,
      .id = entry->id,
      .other = entry->other,
      .path = (uint8_t)(pipe == PIPE_S ? PATH_NONE : entry->cost.path),
      .member = CAUSE_NO_MEMBER,
      .bytes = entry->cost.bytes,
      .queued_cycles = pipe == PIPE_S ? 0 : cycles_since(entry->issue_cycle, start_cycle),
      .held_cycles = pipe == PIPE_S ? 0 : cycles_since(entry->ready_cycle, start_cycle),
      .bank_cycles = (uint32_t)min_u64(bank_cycles, UINT32_MAX),
  };
  return event;
}

uint64_t aicore_flag_seen(const struct aicore *core, size_t flag) {
  return core->flag_cycle[flag] + (uint64_t)core->device->soc->flag_cycles;
}

void aicore_set_flag(struct aicore *core, enum pipe src, enum pipe dst, uint32_t id, uint32_t line,
                     uint64_t cycle) {
  size_t flag = flags_index(core->device->soc, src, dst, id);
  struct misuse misuse;
  if (!flag_set(&core->flags, flag, line, &misuse)) {
    aicore_misused(core, line, &misuse);
    return;
  }
  core->flag_cycle[flag] = cycle;
  if (dst == PIPE_S) {
    if (core->scalar.stall == STALL_WAIT_FLAG)
      scalar_wake(core, aicore_flag_seen(core, flag));
  } else if (core->pipe[dst].stall == STALL_WAIT_FLAG) {
    pipe_wake(&core->pipe[dst], aicore_flag_seen(core, flag));
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
  if (!core->scalar.ended || core->finish.pending || !aicore_drained(core, &cycle))
    return;
  if (cycle < core->scalar.cycle)
    cycle = core->scalar.cycle;
  engine_schedule(core->device->engine, &core->finish, clock_edge_ps(&core->clock, cycle));
}

void aicore_pipe_drained(struct aicore *core) {
  if (core->scalar.stall == STALL_BARRIER)
    scalar_wake(core, aicore_now(core));
  else if (core->scalar.ended)
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

uint64_t aicore_signal_seen(const struct aicore *core, uint32_t flag) {
  const struct arrivals *arrivals = &core->arrivals[flag];
  if (signals_at(&core->device->signals, core->index, flag)->arrived == 0)
    return UINT64_MAX;
  return clock_edge_at(&core->clock, arrivals->ps[arrivals->head]) +
         (uint64_t)core->device->soc->cross_core_cycles;
}

uint32_t aicore_take_signal(struct aicore *core, uint32_t flag) {
  struct arrivals *arrivals = &core->arrivals[flag];
  uint32_t delivery = arrivals->delivery[arrivals->head];
  signals_at(&core->device->signals, core->index, flag)->arrived--;
  arrivals->head = (arrivals->head + 1) % (unsigned)core->device->soc->cross_core_sets_max;
  return delivery;
}

static bool create_flags(struct aicore *core, struct arena *arena) {
  const struct vinci_soc *soc = core->device->soc;
  core->flag_cycle = ARENA_ARRAY(arena, uint64_t, flags_count(soc));
  core->arrivals = ARENA_ARRAY(arena, struct arrivals, (size_t)signals_flags(soc));
  if (!core->flag_cycle || !core->arrivals ||
      !flags_create(&core->flags, arena, soc,
                    core->device->trace->source != NULL || core->device->options.second_buffers) ||
      (core->device->options.second_buffers && !flags_add_spares(&core->flags, arena, soc)))
    return false;
  for (uint32_t i = 0; i < signals_flags(soc); i++) {
    core->arrivals[i].ps = ARENA_ARRAY(arena, uint64_t, (size_t)soc->cross_core_sets_max);
    core->arrivals[i].delivery = ARENA_ARRAY(arena, uint32_t, (size_t)soc->cross_core_sets_max);
    if (!core->arrivals[i].ps || !core->arrivals[i].delivery)
      return false;
  }
  return true;
}

bool aicore_create(struct aicore *core, struct device *device, struct arena *arena, uint32_t index,
                   uint32_t part, uint32_t var_count) {
  core->device = device;
  core->records = device->options.max_events > 0;
  core->observer = device->observer;
  core->index = index;
  core->result = &device->result->cores[index];
  core->kind = core->result->kind;
  clock_init(&core->clock, core->result->hz);
  core->finish.key = event_key(PHASE_DELIVER, part, SEQUENCE_FINISH);
  core->finish.fire = fire_finish;
  if (!stream_create(&core->stream, arena, index, var_count) || !create_flags(core, arena) ||
      !pipe_units_create(core, arena))
    return false;
  core->stream.known = device->known;
  scalar_create(core, part);
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    if (!pipe_create(core, arena, (enum pipe)i, part))
      return false;
  return true;
}

uint32_t aicore_number(const struct aicore *core) {
  return core->index - core->device->placement.first_core[core->kind];
}

void aicore_start(struct aicore *core, const struct program_kernel *kernel, uint32_t blk,
                  uint32_t sub) {
  struct device *device = core->device;
  uint64_t cycle = aicore_now(core);
  core->has_block = true;
  core->start_cycle = cycle;
  core->code_there = code_begin(device->code, core->kind, aicore_number(core), device->code_kernel);
  core->code_lines = core->code_missing = 0;
  core->first_block = core->launch != device->kernel + 1;
  core->launch = device->kernel + 1;
  core->has_read = false;
  core->reached_memory = core->reached_memory && !core->first_block;
  if (core->result->blocks_run++ == 0)
    core->result->first_block = blk;
  flags_start_block(&core->flags);
  signals_start_block(&device->signals, core->index);
  stream_start(&core->stream, device->soc, device->trace, kernel, core->kind, blk, sub);
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    if (core_has_pipe(core->kind, (enum pipe)i))
      pipe_start(&core->pipe[i], cycle);
  unit_flags_start_block(&core->units);
  core->l1_wait_mcycles = 0;
  scalar_start(core, cycle);
  if (core->observer)
    core->observer->begin_block(core->observer->context, core, kernel, blk, sub);
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
  if (scalar->stall != NOT_STALLED && scalar->cycle < end_cycle) {
    counters->stall_cycles[scalar->stall] += end_cycle - scalar->cycle;
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
  for (unsigned i = 0; i < PIPE_COUNT && !core->device->finished; i++)
    pipe_causes_cut(&core->result->pipe[i]);
}
