/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One core of the abstract machine: the scalar unit issues into the queues as far as it
 * can, and pipes execute what their queues hold.
 */
#include "core/machine/machine_core.h"

#include <string.h>

/* Pipes by how far down the data's way they are. */
static const uint8_t down_the_way[] = {PIPE_MTE3, PIPE_FIX, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2};
enum { QUEUED_PIPES = sizeof down_the_way };
/* MACHINE_SHUFFLED, walk_order_seed: a core gets from 1 to so many steps in a row. */
enum { TURN_STEPS_MAX = 24 };
/* Rows of the trace between two looks at progress: a millisecond or so. */
enum { PROGRESS_ROWS = 1 << 12 };

struct machine_flag *machine_core_flag(const struct machine_core *core, enum pipe src,
                                       enum pipe dst, uint32_t id) {
  size_t ids = (size_t)core->machine->soc->flag_ids;
  return &core->flags[((size_t)src * PIPE_COUNT + dst) * ids + id];
}

static uint64_t oldest_waits(const struct machine_core *core) {
  uint64_t oldest = core->waits;
  for (uint32_t rest = core->filled; rest != 0; rest &= rest - 1) {
    const struct machine_pipe *pipe = &core->pipe[__builtin_ctz(rest)];
    if (pipe->queue[pipe->head].waits < oldest)
      oldest = pipe->queue[pipe->head].waits;
  }
  return oldest;
}

struct machine_step machine_step_of(const struct machine_core *core, const struct inst *inst,
                                    enum pipe pipe) {
  const struct machine *machine = core->machine;
  return (struct machine_step){
      .inst = inst,
      .kernel = &machine->trace->kernels[machine->kernel],
      .core = core->index,
      .kind = core->kind,
      .block = core->block,
      .sub = core->sub,
      .pipe = pipe,
      .waits = core->waits,
  };
}

static void observe(struct machine *machine, const struct machine_step *step) {
  for (size_t i = 0; i < machine->observer_count; i++) {
    const struct machine_observer *observer = &machine->observers[i];
    if (observer->execute && !observer->execute(observer->context, step))
      machine->stopped = true;
  }
}

static void observe_scalar(struct machine_core *core, const struct inst *inst, enum pipe pipe) {
  struct machine_step step = machine_step_of(core, inst, pipe);
  step.oldest_waits = oldest_waits(core);
  observe(core->machine, &step);
}

/* ---- what control instructions do -------------------------------------------- */

static void set_flag(struct machine_core *core, const struct machine_step *step) {
  const struct inst *inst = step->inst;
  enum pipe dst = (enum pipe)inst->arg[SET_FLAG_DST];
  uint32_t id = (uint32_t)inst->arg[SET_FLAG_ID];
  struct machine_flag *flag = machine_core_flag(core, step->pipe, dst, id);
  if (flag->line != 0)
    machine_misused(core, step, MISUSE_FLAG_SET_TWICE, flag->line,
                    "set_flag %s->%s id %u is set a second time before anyone waited for it; it "
                    "was set in line %u",
                    pipe_name(step->pipe), pipe_name(dst), id, flag->line);
  flag->line = inst->line;
}

static struct machine_flag *awaited_flag(const struct machine_core *core, const struct inst *inst) {
  return machine_core_flag(core, (enum pipe)inst->arg[SET_FLAG_SRC],
                           (enum pipe)inst->arg[SET_FLAG_DST], (uint32_t)inst->arg[SET_FLAG_ID]);
}

/* ---- pipes ---------------------------------------------------------------------- */

/* Whether a pipe need not wait to execute an instruction. */
static bool is_free(const struct machine_core *core, const struct inst *inst) {
  if (inst->op == OP_WAIT_FLAG)
    return awaited_flag(core, inst)->line != 0;
  return !core->handed_over || inst_unit_flag(inst) == UNIT_FLAG_OFF ||
         machine_units_blocked(core, inst) == core->unit_set.units;
}

static bool can_run(const struct machine_core *core, const struct machine_pipe *pipe) {
  return pipe->count > 0 && is_free(core, &pipe->queue[pipe->head].inst);
}

/* Executes an instruction; whether another pipe may have got something to do by it. */
static bool run_inst(struct machine_core *core, enum pipe id, const struct inst *inst,
                     uint64_t waits) {
  struct machine_step step = machine_step_of(core, inst, id);
  step.waits = waits;
  bool signals = false;
  observe(core->machine, &step);
  switch (inst->op) {
  case OP_SET_FLAG:
    set_flag(core, &step);
    signals = true;
    break;
  case OP_WAIT_FLAG:
    awaited_flag(core, inst)->line = 0;
    break;
  case OP_FFTS_CROSS_CORE_SYNC:
    machine_signal(core, &step);
    break;
  default:
    signals = core->handed_over && inst_unit_flag(inst) == UNIT_FLAG_TURN;
    if (signals)
      machine_units_turn(core, inst);
    break;
  }
  return signals;
}

/* The same with the head of a queue. */
static bool run_head(struct machine_core *core, enum pipe id) {
  struct machine_pipe *pipe = &core->pipe[id];
  const struct machine_entry *entry = &pipe->queue[pipe->head];
  bool signals = run_inst(core, id, &entry->inst, entry->waits);
  if (++pipe->head == pipe->depth)
    pipe->head = 0;
  if (--pipe->count == 0)
    core->filled &= ~(UINT32_C(1) << id);
  return signals;
}

/* ---- the scalar unit ------------------------------------------------------------- */

static bool wait_for(struct machine_core *core, enum stall reason, enum pipe pipe, uint32_t id) {
  core->wait = (uint8_t)reason;
  core->wait_pipe = (uint8_t)pipe;
  core->wait_id = id;
  return false;
}

/* Which paths exist is data of the SoC, not of the instruction table. */
static bool path_exists(struct machine_core *core) {
  const struct inst *inst = &core->inst;
  struct machine *machine = core->machine;
  if (machine->path_checked[inst->op])
    return true;
  struct inst_cost cost;
  registry_cost((enum isa_op)inst->op)(machine->soc, inst, &cost);
  if (cost.path != PATH_NONE && machine->soc->path[cost.path].mbytes_per_cycle == 0) {
    machine_fail(core, inst->line, "%s: %s has no path %s", isa_row((enum isa_op)inst->op)->name,
                 machine->soc->name, path_name(cost.path));
    return false;
  }
  machine->path_checked[inst->op] = true;
  return true;
}

static bool issue_to(struct machine_core *core, enum pipe id) {
  struct machine_pipe *pipe = &core->pipe[id];
  if (pipe->count == pipe->depth)
    return wait_for(core, STALL_QUEUE_FULL, id, 0);
  if (!path_exists(core))
    return false;
  if (pipe->count == 0 && core->machine->options.order == MACHINE_PROGRAM_ORDER &&
      is_free(core, &core->inst)) { /* it would be taken from the queue at once */
    core->issued++;
    (void)run_inst(core, id, &core->inst, core->waits);
    return true;
  }
  core->filled |= UINT32_C(1) << id;
  uint32_t slot = pipe->head + pipe->count++;
  struct machine_entry *entry = &pipe->queue[slot < pipe->depth ? slot : slot - pipe->depth];
  unsigned args = isa_row((enum isa_op)core->inst.op)->arg_count;
  entry->waits = core->waits;
  entry->issue = core->issued++;
  memcpy(&entry->inst, &core->inst, offsetof(struct inst, arg) + args * sizeof(int64_t));
  return true;
}

static bool barrier_all(struct machine_core *core) {
  if (core->filled != 0)
    return wait_for(core, STALL_BARRIER, PIPE_ALL, 0);
  observe_scalar(core, &core->inst, PIPE_ALL);
  core->waits++;
  return true;
}

static bool take_flag(struct machine_core *core) {
  struct machine_flag *flag = awaited_flag(core, &core->inst);
  if (flag->line == 0)
    return wait_for(core, STALL_WAIT_FLAG, (enum pipe)core->inst.arg[SET_FLAG_SRC],
                    (uint32_t)core->inst.arg[SET_FLAG_ID]);
  observe_scalar(core, &core->inst, PIPE_S);
  core->waits++;
  flag->line = 0;
  return true;
}

static bool take_cross(struct machine_core *core) {
  uint32_t id = (uint32_t)core->inst.arg[CROSS_WAIT_ID];
  if (core->cross[id].arrived == 0)
    return wait_for(core, STALL_CROSS_CORE, PIPE_S, id);
  observe_scalar(core, &core->inst, PIPE_S);
  core->waits++;
  core->cross[id].arrived--;
  return true;
}

static bool execute_on_scalar(struct machine_core *core) {
  struct machine_step step;
  switch (core->inst.op) {
  case OP_WAIT_FLAG:
    return take_flag(core);
  case OP_WAIT_FLAG_DEV:
    return take_cross(core);
  case OP_SET_FLAG:
    observe_scalar(core, &core->inst, PIPE_S);
    step = machine_step_of(core, &core->inst, PIPE_S);
    set_flag(core, &step);
    return true;
  case OP_FFTS_CROSS_CORE_SYNC:
    observe_scalar(core, &core->inst, PIPE_S);
    step = machine_step_of(core, &core->inst, PIPE_S);
    machine_signal(core, &step);
    return true;
  default:
    inst_write_registers(&core->inst);
    observe_scalar(core, &core->inst, PIPE_S);
    return true;
  }
}

static void count_rows(struct machine_core *core) {
  struct machine *machine = core->machine;
  machine->instructions++;
  machine->progress_rows += 1 + core->stream.turns;
  core->stream.turns = 0;
  if (machine->progress_rows >= PROGRESS_ROWS)
    machine_show_progress(machine);
}

static bool load_next(struct machine_core *core) {
  struct machine *machine = core->machine;
  switch (stream_next(&core->stream, &core->inst, machine->diag)) {
  case STREAM_INST:
    break;
  case STREAM_END:
    core->ended = true;
    return false;
  case STREAM_ERROR:
    machine->status = VINCI_E_INPUT;
    return false;
  }
  enum vinci_status status = machine->options.unchecked_ranges
                                 ? stream_check_count(&core->stream, &core->inst, machine->diag)
                                 : stream_check_access(&core->stream, &core->inst, machine->diag);
  if (status != VINCI_OK) {
    machine->status = status;
    return false;
  }
  count_rows(core);
  core->loaded = true;
  return machine_goes_on(machine);
}

/* One instruction of the stream; false when it waits, has ended or failed. */
static bool scalar_step(struct machine_core *core) {
  if (core->ended || (!core->loaded && !load_next(core)))
    return false;
  enum pipe target = inst_pipe(&core->inst);
  bool done = target == PIPE_ALL ? barrier_all(core)
              : target == PIPE_S ? execute_on_scalar(core)
                                 : issue_to(core, target);
  if (!done)
    return false;
  core->wait = PIPE_NOT_STALLED;
  core->loaded = false;
  return true;
}

/* ---- turns ------------------------------------------------------------------------- */

/* The pipe that goes next; PIPE_COUNT: none can. */
static enum pipe choose_pipe(const struct machine_core *core, bool consumers) {
  for (unsigned i = 0; i < QUEUED_PIPES && core->filled != 0; i++) {
    enum pipe id = (enum pipe)down_the_way[consumers ? i : QUEUED_PIPES - 1 - i];
    if (can_run(core, &core->pipe[id]))
      return id;
  }
  return PIPE_COUNT;
}

/* The pipe with the oldest instruction of those that can go; PIPE_COUNT: none can. */
static enum pipe oldest_pipe(const struct machine_core *core) {
  enum pipe oldest = PIPE_COUNT;
  uint64_t issue = UINT64_MAX;
  for (uint32_t rest = core->filled; rest != 0; rest &= rest - 1) {
    enum pipe id = (enum pipe)__builtin_ctz(rest);
    const struct machine_pipe *pipe = &core->pipe[id];
    if (!can_run(core, pipe) || pipe->queue[pipe->head].issue > issue)
      continue;
    oldest = id;
    issue = pipe->queue[pipe->head].issue;
  }
  return oldest;
}

static uint64_t random_steps(struct machine *machine) {
  return 1 + machine_random(machine) % TURN_STEPS_MAX;
}

/* Nothing is issued before all that can has been executed. */
static bool run_as_written(struct machine_core *core, uint64_t steps) {
  bool progress = false;
  while (steps-- > 0 && machine_goes_on(core->machine)) {
    enum pipe id = oldest_pipe(core);
    if (id != PIPE_COUNT)
      run_head(core, id);
    else if (!scalar_step(core))
      return progress;
    progress = true;
  }
  return progress;
}

static bool run_by_priority(struct machine_core *core) {
  struct machine *machine = core->machine;
  bool consumers = machine->options.order == MACHINE_CONSUMERS_FIRST;
  bool progress = false;
  while (machine_goes_on(machine)) {
    while (scalar_step(core) && machine_goes_on(machine))
      progress = true;
    enum pipe id = choose_pipe(core, consumers);
    if (id == PIPE_COUNT)
      return progress;
    progress = true;
    while (machine_goes_on(machine) && can_run(core, &core->pipe[id]))
      if (run_head(core, id))
        break;
  }
  return progress;
}

static bool synchronises(const struct inst *inst) {
  return inst->op == OP_SET_FLAG || inst->op == OP_WAIT_FLAG || inst->op == OP_PIPE_BARRIER ||
         inst->op == OP_FFTS_CROSS_CORE_SYNC || inst_unit_flag(inst) != UNIT_FLAG_OFF;
}

static struct machine_entry *entry_at(const struct machine_pipe *pipe, uint32_t index) {
  uint32_t slot = pipe->head + index;
  return &pipe->queue[slot < pipe->depth ? slot : slot - pipe->depth];
}

/* Brings any of the instructions to the head that nothing separates from it. */
static void shuffle_head(struct machine_core *core, enum pipe id) {
  const struct machine_pipe *pipe = &core->pipe[id];
  uint32_t free_count = 0;
  while (free_count < pipe->count && !synchronises(&entry_at(pipe, free_count)->inst))
    free_count++;
  if (id == PIPE_M || free_count < 2)
    return;
  uint32_t pick = (uint32_t)(machine_random(core->machine) % free_count);
  struct machine_entry chosen = *entry_at(pipe, pick);
  *entry_at(pipe, pick) = *entry_at(pipe, 0);
  *entry_at(pipe, 0) = chosen;
}

static void run_at_random(struct machine_core *core, enum pipe id) {
  if (core->machine->options.relaxed)
    shuffle_head(core, id);
  run_head(core, id);
}

/* Chooses among the pipes that can go and the scalar unit. */
static bool step_at_random(struct machine_core *core) {
  enum pipe ready[QUEUED_PIPES];
  unsigned count = 0;
  for (unsigned i = 0; i < QUEUED_PIPES; i++)
    if (can_run(core, &core->pipe[down_the_way[i]]))
      ready[count++] = (enum pipe)down_the_way[i];
  uint64_t pick = machine_random(core->machine) % (count + 1);
  if (pick < count) {
    run_at_random(core, ready[pick]);
    return true;
  }
  if (scalar_step(core))
    return true;
  if (count == 0 || !machine_goes_on(core->machine))
    return false;
  run_at_random(core, ready[machine_random(core->machine) % count]);
  return true;
}

static bool run_shuffled(struct machine_core *core) {
  uint64_t steps = random_steps(core->machine);
  bool progress = false;
  while (steps-- > 0 && machine_goes_on(core->machine) && step_at_random(core))
    progress = true;
  return progress;
}

static bool run_turn(struct machine_core *core) {
  struct machine *machine = core->machine;
  switch (machine->options.order) {
  case MACHINE_PROGRAM_ORDER:
    return run_as_written(core,
                          machine->options.walk_order_seed ? random_steps(machine) : UINT64_MAX);
  case MACHINE_SHUFFLED:
    return run_shuffled(core);
  default:
    return run_by_priority(core);
  }
}

static bool has_finished(const struct machine_core *core) {
  return core->ended && core->filled == 0;
}

bool machine_core_run(struct machine_core *core) {
  struct machine *machine = core->machine;
  bool progress = run_turn(core);
  if (!machine_goes_on(machine) || !has_finished(core))
    return progress;
  core->has_block = false;
  struct machine_step step = machine_step_of(core, NULL, PIPE_ALL);
  for (size_t i = 0; i < machine->observer_count; i++) {
    const struct machine_observer *observer = &machine->observers[i];
    if (observer->end_block && !observer->end_block(observer->context, &step))
      machine->stopped = true;
  }
  if (--machine->units[core->unit].running == 0)
    machine->blocks_done++;
  return true;
}

/* ---- start --------------------------------------------------------------------------- */

bool machine_core_create(struct machine_core *core, struct machine *machine, uint32_t var_count) {
  const struct vinci_soc *soc = machine->soc;
  struct arena *arena = &machine->arena;
  core->machine = machine;
  core->flags = ARENA_ARRAY(arena, struct machine_flag,
                            (size_t)PIPE_COUNT * PIPE_COUNT * (size_t)soc->flag_ids);
  core->cross = ARENA_ARRAY(arena, struct machine_cross, (size_t)soc->cross_core_ids);
  if (!core->flags || !core->cross || !stream_create(&core->stream, arena, var_count))
    return false;
  if (!machine_units_create(core))
    return false;
  for (unsigned i = 0; i < QUEUED_PIPES; i++) {
    enum pipe id = (enum pipe)down_the_way[i];
    if (!core_has_pipe(core->kind, id))
      continue;
    core->pipe[id].depth = soc_queue_depth(soc, id);
    core->pipe[id].queue = ARENA_ARRAY(arena, struct machine_entry, core->pipe[id].depth);
    if (!core->pipe[id].queue)
      return false;
  }
  return true;
}

void machine_core_start(struct machine_core *core, uint32_t block, uint32_t sub) {
  struct machine *machine = core->machine;
  const struct vinci_soc *soc = machine->soc;
  core->has_block = true;
  core->ended = core->loaded = false;
  core->wait = PIPE_NOT_STALLED;
  core->block = block;
  core->sub = sub;
  core->waits = core->issued = 0;
  memset(core->flags, 0, sizeof *core->flags * PIPE_COUNT * PIPE_COUNT * (size_t)soc->flag_ids);
  if (soc->cross_core_ids > 0)
    memset(core->cross, 0, sizeof *core->cross * (size_t)soc->cross_core_ids);
  machine_units_start_block(core);
  stream_start(&core->stream, soc, machine->trace, &machine->trace->kernels[machine->kernel],
               core->kind, block, sub);
  core->stream.unchecked_addresses = machine->options.unchecked_ranges;
  inst_reset_registers(&core->inst);
  struct machine_step step = machine_step_of(core, NULL, PIPE_ALL);
  for (size_t i = 0; i < machine->observer_count; i++) {
    const struct machine_observer *observer = &machine->observers[i];
    if (observer->begin_block && !observer->begin_block(observer->context, &step))
      machine->stopped = true;
  }
}
