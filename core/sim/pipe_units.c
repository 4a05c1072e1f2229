/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit flags in time: when a mad and the fixpipe may start on units of L0C that the other has had.
 *
 * Both take the units of an instruction in the order of addresses, at an even pace: a mad in its
 * issue cycles, the fixpipe in the cycles that the bytes take at the rate of its path. An
 * instruction starts as soon as it can go through without a pause, that is when no unit comes
 * later than its turn. The end is that of an engine that starts with the first unit and waits for
 * each one; what differs is when the units in between move.
 *
 * When a transfer to GM ends is known only then. A mad that waits for such a transfer starts when
 * the end is known, at the earlier cycle at which the rule above says.
 */
#include "core/base/arith.h"
#include "core/sim/aicore.h"
#include "core/sim/device.h"

bool pipe_units_create(struct aicore *core, struct arena *arena) {
  const struct device *device = core->device;
  if (!unit_flags_create(&core->units, arena, device->soc, device->trace, core->kind))
    return false;
  core->unit_cycle = ARENA_ARRAY(arena, uint64_t, (size_t)core->units.set.units + 1);
  return core->unit_cycle != NULL;
}

void pipe_units_queue(struct pipe_unit *pipe, struct pipe_entry *entry, const struct inst *inst) {
  entry->unit_flag = (uint8_t)inst_unit_flag(inst);
  if (entry->unit_flag != UNIT_FLAG_OFF)
    unit_use_find(pipe->core->device->soc, inst, &pipe->unit_uses[entry - pipe->queue]);
}

/* The units of the head of a pipe, and how many they are. */
static uint32_t units_of_head(const struct pipe_unit *pipe) {
  return unit_set_fill(&pipe->core->units.set, &pipe->unit_uses[pipe->head]);
}

/* Cycles in which an instruction takes its units, one after the other. */
static uint64_t pace_cycles(const struct pipe_unit *pipe, const struct pipe_entry *entry) {
  const struct inst_cost *cost = &entry->cost;
  if (pipe->id == PIPE_M)
    return cost->issue_cycles;
  uint64_t rate = (uint64_t)pipe->core->device->soc->path[cost->path].mbytes_per_cycle;
  return min_u64(cost->bytes * MILLI / rate, cost->uses_gm ? UINT64_MAX : cost->latency_cycles);
}

/* When the head may start as far as its units go; false when that is not known yet. */
static bool find_start(const struct pipe_unit *pipe, const struct pipe_entry *entry,
                       uint64_t *start) {
  const struct aicore *core = pipe->core;
  const struct unit_set *set = &core->units.set;
  uint64_t pace = pace_cycles(pipe, entry), count = units_of_head(pipe), turn = 0;
  *start = 0;
  for (uint32_t i = unit_set_next(set, 0); i < set->units; i = unit_set_next(set, i + 1)) {
    if (!unit_is_free(&core->units, i, pipe->id))
      return false;
    uint64_t before = pace * turn++ / count;
    if (core->unit_cycle[i] > before)
      *start = max_u64(*start, core->unit_cycle[i] - before);
  }
  return true;
}

bool pipe_units_allow(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t now) {
  uint64_t start;
  bool known = find_start(pipe, entry, &start);
  pipe->stall = known && start <= now ? NOT_STALLED : STALL_UNIT_FLAG;
  if (known && start > now)
    pipe_wake(pipe, start);
  return pipe->stall == NOT_STALLED;
}

/* Units have been given back to M, whose head may have been at work on the first of them. */
static void units_writable(struct aicore *core) {
  struct pipe_unit *pipe = &core->pipe[PIPE_M];
  uint64_t start, now = aicore_now(core);
  if (pipe->stall != STALL_UNIT_FLAG || !find_start(pipe, &pipe->queue[pipe->head], &start))
    return;
  start = max_u64(start, pipe->wait_cycle);
  if (start < now)
    pipe_start_late(pipe, start);
  else
    pipe_wake(pipe, start);
}

/* From a cycle on, a unit has another state. */
static void turn_unit(struct aicore *core, uint32_t unit, enum unit_state state, uint32_t line,
                      uint64_t cycle) {
  unit_turn(&core->units, unit, state, line);
  core->unit_cycle[unit] = cycle;
}

/* Units of the head of a pipe change sides one after the other, the last one at last_cycle. */
static void turn_units(struct pipe_unit *pipe, const struct pipe_entry *entry,
                       enum unit_state state, uint64_t last_cycle) {
  struct aicore *core = pipe->core;
  const struct unit_set *set = &core->units.set;
  uint64_t pace = pace_cycles(pipe, entry), count = units_of_head(pipe), turn = 0;
  for (uint32_t i = unit_set_next(set, 0); i < set->units; i = unit_set_next(set, i + 1))
    turn_unit(core, i, state, entry->line, last_cycle - pace * (count - ++turn) / count);
}

void pipe_units_started(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t start) {
  struct aicore *core = pipe->core;
  enum unit_state next = unit_next_state(pipe->id, entry->cost.uses_gm);
  turn_units(pipe, entry, next, start + entry->cost.latency_cycles);
  if (next == UNIT_WRITABLE)
    units_writable(core);
  else if (next == UNIT_READABLE && core->pipe[PIPE_FIX].stall == STALL_UNIT_FLAG)
    pipe_wake(&core->pipe[PIPE_FIX], aicore_now(core));
}

void pipe_units_moved(struct aicore *core, uint64_t first_cycle, uint64_t end_cycle) {
  uint64_t count = 0, turn = 0, pace = end_cycle > first_cycle ? end_cycle - first_cycle : 0;
  const struct unit_flags *units = &core->units;
  for (uint32_t i = 0; i < units->set.units; i++)
    count += units->unit[i].state == UNIT_IN_TRANSFER;
  for (uint32_t i = 0; i < units->set.units; i++)
    if (units->unit[i].state == UNIT_IN_TRANSFER)
      turn_unit(core, i, UNIT_WRITABLE, 0, end_cycle - pace * (count - ++turn) / count);
  units_writable(core);
}

uint32_t pipe_units_blocked(const struct pipe_unit *pipe) {
  (void)units_of_head(pipe);
  return unit_flags_blocked(&pipe->core->units, pipe->id);
}
