/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipe: takes instructions from its queue in order, keeps their issue distance
 * and completion, executes flags and barriers, and retires what must take effect in
 * order of completion.
 *
 * Plain transfers to and from GM do not overlap: the next starts when the last byte has
 * arrived, for writes before the answer is back (path.*.acknowledge_cycles). The aligned-copy forms
 * (DataCopyPad) start up behind each other, at path.*.overlap_issue_cycles. Both are what
 * measurements of the 910B show.
 */
#include "core/base/arith.h"
#include "core/sim/aicore.h"
#include "core/sim/device.h"

#include <string.h>

/* The retire ring holds a queue's worth of transfers and of flags behind them. */
enum { RING_PER_QUEUE_ENTRY = 2 };

static struct pipe_unit *pipe_of_issue(struct engine_event *event) {
  return (struct pipe_unit *)((char *)event - offsetof(struct pipe_unit, issue));
}

static struct pipe_unit *pipe_of_retire(struct engine_event *event) {
  return (struct pipe_unit *)((char *)event - offsetof(struct pipe_unit, retire));
}

void pipe_account(struct pipe_unit *pipe, uint64_t cycle) {
  uint64_t from = pipe->accounted_cycle;
  if (cycle <= from)
    return;
  uint64_t busy_end = cycle;
  if (pipe->transfers == 0 && pipe->complete_cycle < cycle)
    busy_end = max_u64(pipe->complete_cycle, from);
  pipe->counters->busy_cycles += busy_end - from;
  if (pipe->stall == NOT_STALLED)
    pipe->counters->idle_cycles += cycle - busy_end;
  else
    pipe->counters->stall_cycles[pipe->stall] += cycle - busy_end;
  pipe->accounted_cycle = cycle;
}

void pipe_wake(struct pipe_unit *pipe, uint64_t cycle) {
  struct aicore *core = pipe->core;
  engine_schedule_earliest(core->device->engine, &pipe->issue, clock_edge_ps(&core->clock, cycle));
}

static void schedule_retire(struct pipe_unit *pipe, uint64_t cycle) {
  struct aicore *core = pipe->core;
  engine_schedule_earliest(core->device->engine, &pipe->retire, clock_edge_ps(&core->clock, cycle));
}

struct pipe_entry *pipe_push(struct pipe_unit *pipe) {
  if (pipe->count == pipe->depth)
    return NULL;
  unsigned slot = pipe->head + pipe->count;
  return &pipe->queue[slot < pipe->depth ? slot : slot - pipe->depth];
}

void pipe_pushed(struct pipe_unit *pipe) {
  const struct pipe_entry *entry = pipe_push(pipe);
  if (pipe->count++ == 0)
    pipe_wake(pipe, max_u64(entry->issue_cycle, pipe->next_start_cycle));
}

/* The head of a ring once one has left and `count` are there. An empty ring starts anew, so that
 * few of its places are in use and these stay in the caches of the host. */
static unsigned next_head(unsigned head, unsigned depth, unsigned count) {
  return count == 0 || head + 1 == depth ? 0 : head + 1;
}

static void pop_head(struct pipe_unit *pipe, uint64_t cycle) {
  pipe->stall = NOT_STALLED;
  pipe->head_tried = false;
  pipe->count--;
  pipe->head = next_head(pipe->head, pipe->depth, pipe->count);
  struct scalar_unit *scalar = &pipe->core->scalar;
  if (scalar->stall == STALL_QUEUE_FULL && scalar->full_pipe == pipe->id)
    scalar_wake(pipe->core, cycle);
}

/* Holds the head of the queue back; someone else will wake the pipe. */
static bool hold(struct pipe_unit *pipe, enum stall reason) {
  pipe->stall = reason;
  return false;
}

static struct retire_entry *ring_push(struct pipe_unit *pipe) {
  if (pipe->ring_count == pipe->ring_depth)
    return NULL;
  struct retire_entry *slot =
      &pipe->ring[(pipe->ring_head + pipe->ring_count++) % pipe->ring_depth];
  slot->done = false;
  return slot;
}

/* A flag is set when everything before it has completed; the pipe itself goes on. */
static bool start_signal(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t now,
                         enum retire_kind kind) {
  struct retire_entry *slot = ring_push(pipe);
  if (!slot)
    return false; /* behind transfers: the pipe is busy, and wakes when they retire */
  slot->kind = (uint8_t)kind;
  slot->cycle = max_u64(now, pipe->complete_cycle);
  slot->start_cycle = now;
  slot->entry = *entry;
  if (pipe->ring_count == 1)
    schedule_retire(pipe, slot->cycle);
  return true;
}

static bool start_wait_flag(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t now) {
  struct aicore *core = pipe->core;
  size_t flag = flags_index(core->device->soc, (enum pipe)entry->other, pipe->id, entry->id);
  if (!flag_is_set(&core->flags, flag))
    return hold(pipe, STALL_WAIT_FLAG);
  uint64_t seen = aicore_flag_seen(core, flag);
  if (seen > now) {
    pipe_wake(pipe, seen);
    return hold(pipe, STALL_WAIT_FLAG);
  }
  flag_take(&core->flags, flag);
  (void)aicore_record(core, pipe->id, entry, pipe->wait_cycle, now);
  return true;
}

static bool start_wait_signal(struct pipe_unit *pipe, const struct pipe_entry *entry,
                              uint64_t now) {
  struct aicore *core = pipe->core;
  uint32_t flag = signals_flag(core->device->soc, entry->other, entry->id);
  uint64_t seen = aicore_signal_seen(core, flag);
  if (seen > now) {
    if (seen != UINT64_MAX)
      pipe_wake(pipe, seen);
    return hold(pipe, STALL_CROSS_CORE);
  }
  uint32_t delivery = aicore_take_signal(core, flag);
  struct result_event *event = aicore_record(core, pipe->id, entry, pipe->wait_cycle, now);
  if (event)
    event->delivery = delivery;
  return true;
}

static bool start_barrier(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t now) {
  if (pipe->ring_count > 0)
    return hold(pipe, STALL_BARRIER);
  uint64_t drained = max_u64(pipe->complete_cycle, pipe->wait_cycle) +
                     (uint64_t)pipe->core->device->soc->barrier_cycles;
  if (drained > now) {
    pipe_wake(pipe, drained);
    return hold(pipe, STALL_BARRIER);
  }
  (void)aicore_record(pipe->core, pipe->id, entry, pipe->wait_cycle, now);
  return true;
}

static struct retire_entry *slot_of(struct gm_transfer *transfer) {
  return (struct retire_entry *)((char *)transfer - offsetof(struct retire_entry, transfer));
}

static void transfer_done(struct gm_transfer *transfer, uint64_t now_ps) {
  struct retire_entry *slot = slot_of(transfer);
  struct pipe_unit *pipe = transfer->owner;
  slot->done = true;
  uint64_t moved_cycle = max_u64(clock_edge_at(&pipe->core->clock, now_ps),
                                 slot->start_cycle + slot->entry.cost.minimum_cycles);
  slot->arrived_cycle = clock_edge_at(&pipe->core->clock, now_ps);
  slot->cycle = moved_cycle + slot->entry.cost.acknowledge_cycles;
  pipe->moving--;
  pipe->moved_cycle = max_u64(pipe->moved_cycle, moved_cycle);
  if (slot == &pipe->ring[pipe->ring_head])
    schedule_retire(pipe, slot->cycle);
  if (pipe->moving == 0 && pipe->count > 0 && slot->cycle > moved_cycle)
    pipe_wake(pipe, max_u64(pipe->moved_cycle, pipe->next_start_cycle));
}

/*
 * What the first read from GM of a core whose kernel is new takes longer, as the pipe's own time;
 * of a kernel of which a part is there, as large a part less. Profiles show this wait beside the
 * one for code; which part of the chip serialises the cores is not published.
 */
static uint64_t first_read_cycles(struct aicore *core, const struct inst_cost *cost) {
  const struct vinci_soc *soc = core->device->soc;
  if (core->has_read || cost->gm_write)
    return 0;
  core->has_read = true;
  uint64_t wait_cycles =
      (uint64_t)soc->first_read_cycles * (device_running_cores(core->device, core->kind) - 1);
  if (core->code_lines == 0) /* the kernel does not say how much code it has */
    return core->code_there ? 0 : wait_cycles;
  return wait_cycles * core->code_missing / core->code_lines;
}

/* Held back transfers need no stall reason: the pipe is busy with the one before. */
static bool start_transfer(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t now) {
  const struct inst_cost *cost = &entry->cost;
  struct aicore *core = pipe->core;
  if (pipe->transfers == 0 && pipe->complete_cycle > now) {
    pipe_wake(pipe, pipe->complete_cycle);
    return false;
  }
  bool moved = pipe->moving == 0 && pipe->moved_cycle <= now;
  bool may_follow = moved || (cost->overlaps && pipe->streaming_overlaps);
  struct retire_entry *slot = may_follow ? ring_push(pipe) : NULL;
  if (!slot)
    return false;
  uint64_t wait = first_read_cycles(core, cost);
  slot->kind = RETIRE_TRANSFER;
  slot->start_cycle = now;
  slot->entry = *entry;
  slot->entry.cost.minimum_cycles += wait;
  slot->first_read_cycles = wait;
  slot->transfer = (struct gm_transfer){
      .port = core->index * PIPE_COUNT + pipe->id,
      .path = cost->path,
      .write = cost->gm_write,
      .passes_l2 = cost->passes_l2,
      .address = cost->gm_address,
      .bursts = cost->gm_bursts,
      .burst_bytes = cost->gm_burst_bytes,
      .stride_bytes = cost->gm_stride_bytes,
      .line_mcycles = cost->line_mcycles,
      .line_bytes = cost->line_bytes,
      .core_hz = core->clock.hz,
      .reached_memory = cost->gm_write ? NULL : &core->reached_memory,
      .done = transfer_done,
      .owner = pipe,
  };
  pipe_l1_copy_started(core, slot, now);
  pipe->transfers++;
  pipe->moving++;
  pipe->streaming_overlaps = cost->overlaps;
  pipe->next_start_cycle = now + cost->issue_cycles + wait;
  device_start_transfer(core->device, &slot->transfer,
                        clock_edge_ps(&core->clock, now + cost->latency_cycles + wait));
  return true;
}

/* Cycles up to the next instruction. Parts of cycles add up while the pipe is kept busy. */
static uint64_t issue_distance(struct pipe_unit *pipe, const struct inst_cost *cost, uint64_t now) {
  if (now > pipe->next_start_cycle)
    pipe->owed_mcycles = 0;
  pipe->owed_mcycles += cost->issue_rest_mcycles;
  uint64_t whole = pipe->owed_mcycles / MILLI;
  pipe->owed_mcycles -= whole * MILLI;
  return cost->issue_cycles + whole;
}

static void start_unit(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t now) {
  const struct inst_cost *cost = &entry->cost;
  uint64_t distance = issue_distance(pipe, cost, now);
  uint64_t wait = pipe_l1_wait(pipe->core, cost, distance);
  uint64_t end = now + cost->latency_cycles + wait;
  pipe->next_start_cycle = now + distance + wait;
  pipe->complete_cycle = max_u64(pipe->complete_cycle, end);
  pipe_causes_unit(pipe, entry, now, wait, end);
}

static void count_started(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t now) {
  struct core_result *result = pipe->core->result;
  const struct inst_cost *cost = &entry->cost;
  pipe->counters->operations += cost->operations;
  result->vector_bankgroup_cycles += cost->conflict_bankgroup_cycles;
  result->vector_bank_cycles += cost->conflict_bank_cycles;
  if (cost->path != PATH_NONE) {
    result->path_bytes[cost->path] += cost->bytes;
    result->path_instructions[cost->path]++;
  }
  if (entry->dtype < DTYPE_COUNT && (pipe->id == PIPE_M || pipe->id == PIPE_V)) {
    struct work_counters *work = pipe->id == PIPE_M ? &result->cube : &result->vector;
    work->busy_cycles[entry->dtype] += pipe->next_start_cycle - now;
    work->instructions[entry->dtype]++;
    work->operations[entry->dtype] += cost->operations;
    work->unit_work[entry->dtype] += cost->unit_work;
  }
}

/* The ends of what waits in the ring are not known yet. */
static void tell_started(const struct pipe_unit *pipe, const struct pipe_entry *entry,
                         uint64_t start_cycle) {
  const struct aicore_observer *observer = pipe->core->observer;
  uint64_t end_cycle = pipe->complete_cycle;
  if (entry->op == OP_SET_FLAG || entry->op == OP_FFTS_CROSS_CORE_SYNC || entry->cost.uses_gm)
    end_cycle = OBSERVER_LATER;
  else if (entry->op == OP_WAIT_FLAG || entry->op == OP_PIPE_BARRIER ||
           entry->op == OP_WAIT_FLAG_DEV)
    end_cycle = start_cycle;
  observer->started(observer->context, pipe->core, pipe->id, start_cycle, end_cycle);
}

/* Starts the head of the queue at `now`; false when it is held back. */
static bool start_head(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t now) {
  switch (entry->op) {
  case OP_SET_FLAG:
    return start_signal(pipe, entry, now, RETIRE_SET_FLAG);
  case OP_FFTS_CROSS_CORE_SYNC:
    return start_signal(pipe, entry, now, RETIRE_CROSS_CORE);
  case OP_WAIT_FLAG:
    return start_wait_flag(pipe, entry, now);
  case OP_WAIT_FLAG_DEV:
    return start_wait_signal(pipe, entry, now);
  case OP_PIPE_BARRIER:
    return start_barrier(pipe, entry, now);
  default:
    if (!entry->cost.uses_gm && pipe->transfers > 0)
      return false; /* one engine: what it moves on the chip follows what it moves from GM */
    if (entry->unit_flag != UNIT_FLAG_OFF && !pipe_units_allow(pipe, entry, now))
      return false;
    if (!entry->cost.uses_gm)
      start_unit(pipe, entry, now);
    else if (!start_transfer(pipe, entry, now))
      return false;
    if (entry->unit_flag == UNIT_FLAG_TURN)
      pipe_units_started(pipe, entry, now);
    count_started(pipe, entry, now);
    return true;
  }
}

/* Since the head was first tried the pipe has had no event but at ends of what was before it, so
 * that no stall after the cycle is counted yet. */
void pipe_start_late(struct pipe_unit *pipe, uint64_t cycle) {
  const struct pipe_entry *entry = &pipe->queue[pipe->head];
  uint64_t now = aicore_now(pipe->core);
  pipe_account(pipe, cycle);
  start_unit(pipe, entry, cycle);
  if (entry->unit_flag == UNIT_FLAG_TURN)
    pipe_units_started(pipe, entry, cycle);
  count_started(pipe, entry, cycle);
  if (pipe->core->observer)
    tell_started(pipe, entry, cycle);
  pipe->counters->instructions++;
  pop_head(pipe, now);
  pipe_wake(pipe, now);
}

static void fire_issue(struct engine_event *event, uint64_t now_ps) {
  struct pipe_unit *pipe = pipe_of_issue(event);
  uint64_t now = clock_edge_at(&pipe->core->clock, now_ps);
  pipe_account(pipe, now);
  while (pipe->count > 0) {
    const struct pipe_entry *entry = &pipe->queue[pipe->head];
    uint64_t ready = max_u64(entry->issue_cycle, pipe->next_start_cycle);
    if (ready > now) {
      pipe_wake(pipe, ready);
      return;
    }
    if (!pipe->head_tried) {
      pipe->head_tried = true;
      pipe->wait_cycle = now;
      pipe->queue[pipe->head].ready_cycle = now;
    }
    if (!start_head(pipe, entry, now))
      return;
    if (pipe->core->observer)
      tell_started(pipe, entry, now);
    pipe->counters->instructions++;
    pop_head(pipe, now);
  }
  if (pipe->ring_count == 0)
    aicore_pipe_drained(pipe->core);
}

static void retire_transfer(struct pipe_unit *pipe, const struct retire_entry *slot) {
  pipe->transfers--;
  pipe->retired_cycle = max_u64(pipe->retired_cycle, slot->cycle);
  pipe->complete_cycle = max_u64(pipe->complete_cycle, slot->cycle);
  pipe_l1_copy_ended(pipe->core, slot);
  pipe_causes_transfer(pipe, slot);
  if (slot->entry.unit_flag == UNIT_FLAG_TURN)
    pipe_units_moved(pipe->core, slot->start_cycle + slot->entry.cost.latency_cycles,
                     slot->cycle - slot->entry.cost.acknowledge_cycles);
}

static void retire_signal(struct pipe_unit *pipe, const struct retire_entry *slot, uint64_t now) {
  const struct pipe_entry *entry = &slot->entry;
  struct result_event *event = aicore_record(pipe->core, pipe->id, entry, slot->start_cycle, now);
  if (slot->kind == RETIRE_SET_FLAG)
    aicore_set_flag(pipe->core, pipe->id, (enum pipe)entry->other, entry->id, entry->line, now);
  else
    device_signal(pipe->core->device, pipe->core, entry->other, entry->id, entry->line, event);
}

static void fire_retire(struct engine_event *event, uint64_t now_ps) {
  struct pipe_unit *pipe = pipe_of_retire(event);
  uint64_t now = clock_edge_at(&pipe->core->clock, now_ps);
  pipe_account(pipe, now);
  while (pipe->ring_count > 0) {
    const struct retire_entry *slot = &pipe->ring[pipe->ring_head];
    if (slot->kind == RETIRE_TRANSFER && !slot->done)
      break;
    uint64_t due = max_u64(slot->cycle, pipe->retired_cycle);
    if (due > now) {
      schedule_retire(pipe, due);
      break;
    }
    if (slot->kind == RETIRE_TRANSFER)
      retire_transfer(pipe, slot);
    else
      retire_signal(pipe, slot, now);
    if (pipe->core->observer)
      pipe->core->observer->retired(pipe->core->observer->context, pipe->core, pipe->id, now);
    pipe->ring_count--;
    pipe->ring_head = next_head(pipe->ring_head, pipe->ring_depth, pipe->ring_count);
  }
  if (pipe->count > 0)
    pipe_wake(pipe, max_u64(now, pipe->next_start_cycle));
  else if (pipe->ring_count == 0)
    aicore_pipe_drained(pipe->core);
}

bool pipe_create(struct aicore *core, struct arena *arena, enum pipe id, uint32_t part) {
  struct pipe_unit *pipe = &core->pipe[id];
  pipe->core = core;
  pipe->id = id;
  pipe->counters = &core->result->pipe[id];
  pipe->stall = NOT_STALLED;
  pipe->issue.key = event_key(PHASE_COMPUTE, part, id);
  pipe->issue.fire = fire_issue;
  pipe->retire.key = event_key(PHASE_DELIVER, part, PIPE_COUNT + (uint32_t)id);
  pipe->retire.fire = fire_retire;
  if (id == PIPE_S || !core_has_pipe(core->kind, id))
    return true;
  pipe->depth = soc_queue_depth(core->device->soc, id);
  pipe->ring_depth = RING_PER_QUEUE_ENTRY * pipe->depth;
  pipe->queue = ARENA_ROOM(arena, struct pipe_entry, pipe->depth);
  pipe->ring = ARENA_ROOM(arena, struct retire_entry, pipe->ring_depth);
  if (core->units.unit && (id == PIPE_M || id == PIPE_FIX)) {
    pipe->unit_uses = ARENA_ARRAY(arena, struct unit_use, pipe->depth);
    if (!pipe->unit_uses)
      return false;
  }
  return pipe->queue && pipe->ring;
}

void pipe_start(struct pipe_unit *pipe, uint64_t cycle) {
  pipe_account(pipe, cycle);
  pipe->head = pipe->count = 0;
  pipe->ring_head = pipe->ring_count = 0;
  pipe->next_start_cycle = cycle;
  pipe->owed_mcycles = 0;
  pipe->complete_cycle = cycle;
  pipe->caused_cycle = cycle;
  pipe->retired_cycle = cycle;
  pipe->moving = 0;
  pipe->moved_cycle = cycle;
  pipe->head_tried = false;
  pipe->stall = NOT_STALLED;
}
