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
/* MACHINE_SHUFFLED, walk_order_seed: a core gets from 1 to TURN_STEPS_MAX steps in a row. */
enum { TURN_STEPS_MAX = 24 };
/* Rows of the trace between two looks at progress: a millisecond or so. */
enum { PROGRESS_ROWS = 1 << 12 };

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
      .kernel = machine->placement.kernel,
      .core = core->index,
      .kind = core->kind,
      .block = core->block,
      .sub = core->sub,
      .pipe = pipe,
      .waits = core->waits,
  };
}

static void observe(struct machine *machine, const struct machine_step *step) {
  MACHINE_TELL(machine, execute, step);
}

static struct machine_step observe_scalar(struct machine_core *core, enum pipe pipe) {
  struct machine_step step = machine_step_of(core, &core->inst, pipe);
  step.oldest_waits = oldest_waits(core);
  observe(core->machine, &step);
  return step;
}

/* The same with what a wait of the scalar unit ends with. */
static void observe_wait(struct machine_core *core, enum pipe pipe) {
  (void)observe_scalar(core, pipe);
  core->waits++;
}

/* A read row: what is issued from now on comes after the read. */
static void observe_read(void *context, const struct program_row *row, int64_t from) {
  struct machine_core *core = context;
  struct inst read = {
      .op = OP_READ_ROW, .row = (uint32_t)(row - core->machine->trace->rows), .line = row->line};
  read.arg[READ_FROM] = from;
  read.arg[READ_WIDTH] = core->machine->trace->operands[row->first_operand + READ_WIDTH];
  struct machine_step step = machine_step_of(core, &read, PIPE_S);
  step.oldest_waits = oldest_waits(core);
  MACHINE_TELL(core->machine, read, &step);
  core->waits++;
}

static void observe_access(void *context, const struct inst *inst) {
  struct machine_core *core = context;
  struct inst *access = &core->access;
  access->op = inst->op;
  access->row = inst->row;
  access->line = inst->line;
  memcpy(access->arg, inst->arg, isa_row((enum isa_op)inst->op)->arg_count * sizeof *inst->arg);
  struct machine_step step = machine_step_of(core, access, isa_row((enum isa_op)inst->op)->pipe);
  MACHINE_TELL(core->machine, access, &step);
  core->accessed |= step.pipe == PIPE_S;
}

/* Scalar code has what it has loaded before it issues anything, so its accesses end with a wait. */
static void end_accesses(struct machine_core *core) {
  struct machine_step step = machine_step_of(core, &core->inst, PIPE_S);
  step.oldest_waits = oldest_waits(core);
  MACHINE_TELL(core->machine, end_access, &step);
  core->waits++;
  core->accessed = false;
}

/* ---- what control instructions do -------------------------------------------- */

static void set_flag(struct machine_core *core, const struct machine_step *step) {
  struct misuse misuse;
  if (!flag_set(&core->flags, flags_index_of(core->machine->soc, step->inst), step->inst->line,
                &misuse))
    machine_misused(core->machine, core->index, step, &misuse);
}

static bool may_take_flag(const struct machine_core *core, const struct inst *inst) {
  return flag_is_set(&core->flags, flags_index_of(core->machine->soc, inst));
}

static struct signal_counts *signal_of(const struct machine_core *core, const struct inst *inst) {
  return signals_at(&core->machine->signals, core->index,
                    signals_wait_flag(core->machine->soc, inst));
}

static void take_flag(struct machine_core *core, const struct inst *inst) {
  flag_take(&core->flags, flags_index_of(core->machine->soc, inst));
}

/* Fills the core's set with the units of L0C that an instruction uses. */
static void fill_units(const struct machine_core *core, const struct inst *inst) {
  struct unit_use use;
  unit_use_find(core->machine->soc, inst, &use);
  (void)unit_set_fill(&core->units.set, &use);
}

uint32_t machine_blocked_unit(const struct machine_core *core, const struct inst *inst) {
  fill_units(core, inst);
  return unit_flags_blocked(&core->units, inst_pipe(inst));
}

/* Instructions have no duration here: all units of one change sides together. */
static void turn_units(struct machine_core *core, const struct inst *inst) {
  const struct unit_set *set = &core->units.set;
  enum unit_state next = unit_next_state(inst_pipe(inst), false);
  fill_units(core, inst);
  for (uint32_t i = unit_set_next(set, 0); i < set->units; i = unit_set_next(set, i + 1))
    unit_turn(&core->units, i, next, inst->line);
}

/* ---- pipes ---------------------------------------------------------------------- */

/* Whether a pipe need not wait to execute an instruction. */
static bool is_free(const struct machine_core *core, const struct inst *inst) {
  if (inst->op == OP_WAIT_FLAG)
    return may_take_flag(core, inst);
  if (inst->op == OP_WAIT_FLAG_DEV)
    return signal_of(core, inst)->arrived > 0;
  return !core->units.unit || inst_unit_flag(inst) == UNIT_FLAG_OFF ||
         machine_blocked_unit(core, inst) == core->units.set.units;
}

static bool can_run(const struct machine_core *core, const struct machine_pipe *pipe) {
  return pipe->count > 0 && is_free(core, &pipe->queue[pipe->head].inst);
}

/* Executes an instruction; whether it may have given another pipe something to do. */
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
    take_flag(core, inst);
    break;
  case OP_WAIT_FLAG_DEV:
    signal_of(core, inst)->arrived--;
    break;
  case OP_FFTS_CROSS_CORE_SYNC:
    machine_signal(core, &step);
    break;
  default:
    signals = core->units.unit && inst_unit_flag(inst) == UNIT_FLAG_TURN;
    if (signals)
      turn_units(core, inst);
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

static bool wait_for(struct machine_core *core, enum stall reason) {
  core->wait = (uint8_t)reason;
  return false;
}

/* Whether the chip has the path of an instruction; looked up once for each op. */
static bool has_path(struct machine_core *core) {
  const struct inst *inst = &core->inst;
  enum isa_op op = (enum isa_op)inst->op;
  struct machine *machine = core->machine;
  if (machine->path_checked[op])
    return true;
  struct inst_cost cost;
  struct misuse misuse;
  registry_cost(op)(machine->soc, inst, &cost);
  machine->path_checked[op] = path_exists(machine->soc, op, cost.path, &misuse);
  if (!machine->path_checked[op])
    machine_fail(machine, core->index, inst->line, &misuse);
  return machine->path_checked[op];
}

static bool issue_to(struct machine_core *core, enum pipe id) {
  struct machine_pipe *pipe = &core->pipe[id];
  if (pipe->count == pipe->depth)
    return wait_for(core, STALL_QUEUE_FULL);
  if (!has_path(core))
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
    return wait_for(core, STALL_BARRIER);
  observe_wait(core, PIPE_ALL);
  return true;
}

static bool wait_flag(struct machine_core *core) {
  const struct inst *inst = &core->inst;
  if (!may_take_flag(core, inst))
    return wait_for(core, STALL_WAIT_FLAG);
  observe_wait(core, PIPE_S);
  take_flag(core, inst);
  return true;
}

static bool take_signal(struct machine_core *core) {
  struct signal_counts *counts = signal_of(core, &core->inst);
  if (counts->arrived == 0)
    return wait_for(core, STALL_CROSS_CORE);
  observe_wait(core, PIPE_S);
  counts->arrived--;
  return true;
}

static bool execute_on_scalar(struct machine_core *core) {
  struct machine_step step;
  switch (core->inst.op) {
  case OP_WAIT_FLAG:
    return wait_flag(core);
  case OP_WAIT_FLAG_DEV:
    return take_signal(core);
  case OP_SET_FLAG:
    step = observe_scalar(core, PIPE_S);
    set_flag(core, &step);
    return true;
  case OP_FFTS_CROSS_CORE_SYNC:
    step = observe_scalar(core, PIPE_S);
    machine_signal(core, &step);
    return true;
  default:
    inst_write_registers(&core->inst);
    (void)observe_scalar(core, PIPE_S);
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
  enum stream_step loaded = stream_load(&core->stream, &core->inst, machine->diag);
  if (core->accessed)
    end_accesses(core);
  switch (loaded) {
  case STREAM_INST:
    count_rows(core);
    core->loaded = true;
    return machine_goes_on(machine);
  case STREAM_END:
    core->ended = true;
    return false;
  case STREAM_LATER:
    core->polls = true;
    return false;
  case STREAM_ERROR:
    break;
  }
  machine->status = VINCI_E_INPUT;
  return false;
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
  core->wait = NOT_STALLED;
  core->loaded = core->polls = false;
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
  return 1 + splitmix64_next(&machine->random) % TURN_STEPS_MAX;
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
         inst->op == OP_FFTS_CROSS_CORE_SYNC || inst->op == OP_WAIT_FLAG_DEV ||
         inst_unit_flag(inst) != UNIT_FLAG_OFF;
}

static struct machine_entry *entry_at(const struct machine_pipe *pipe, uint32_t index) {
  uint32_t slot = pipe->head + index;
  return &pipe->queue[slot < pipe->depth ? slot : slot - pipe->depth];
}

/* Brings to the head any instruction of those before the first flag, barrier or unit flag. */
static void shuffle_head(struct machine_core *core, enum pipe id) {
  const struct machine_pipe *pipe = &core->pipe[id];
  uint32_t free_count = 0;
  while (free_count < pipe->count && !synchronises(&entry_at(pipe, free_count)->inst))
    free_count++;
  if (id == PIPE_M || free_count < 2)
    return;
  uint32_t pick = (uint32_t)(splitmix64_next(&core->machine->random) % free_count);
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
  uint64_t pick = splitmix64_next(&core->machine->random) % (count + 1);
  if (pick < count) {
    run_at_random(core, ready[pick]);
    return true;
  }
  if (scalar_step(core))
    return true;
  if (count == 0 || !machine_goes_on(core->machine))
    return false;
  run_at_random(core, ready[splitmix64_next(&core->machine->random) % count]);
  return true;
}

static bool run_shuffled(struct machine_core *core) {
  uint64_t steps = random_steps(core->machine);
  bool progress = false;
  while (steps-- > 0 && machine_goes_on(core->machine) && step_at_random(core))
    progress = true;
  return progress;
}

/* Code may look at memory by instructions too, so a core of such a program has an end to its turn.
 */
static uint64_t turn_steps(struct machine *machine) {
  enum { CODE_STEPS = 1024 };
  return machine->options.walk_order_seed ? random_steps(machine)
         : machine->trace->source         ? CODE_STEPS
                                          : UINT64_MAX;
}

static bool run_turn(struct machine_core *core) {
  struct machine *machine = core->machine;
  switch (machine->options.order) {
  case MACHINE_PROGRAM_ORDER:
    return run_as_written(core, turn_steps(machine));
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
  MACHINE_TELL(machine, end_block, &step);
  (void)placement_core_done(&machine->placement, core->index);
  return true;
}

/* ---- start --------------------------------------------------------------------------- */

bool machine_core_create(struct machine_core *core, struct machine *machine, uint32_t var_count) {
  const struct vinci_soc *soc = machine->soc;
  struct arena *arena = &machine->arena;
  core->machine = machine;
  for (size_t i = 0; i < machine->observer_count; i++)
    if (machine->observers[i].read)
      core->stream.listener = (struct stream_listener){
          .heard = observe_read, .accessed = observe_access, .context = core};
  if (!flags_create(&core->flags, arena, soc, machine->trace->source != NULL) ||
      !stream_create(&core->stream, arena, core->index, var_count) ||
      !unit_flags_create(&core->units, arena, soc, machine->trace, core->kind))
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
  core->has_block = true;
  core->ended = core->loaded = false;
  core->wait = NOT_STALLED;
  core->block = block;
  core->sub = sub;
  core->waits = core->issued = 0;
  flags_start_block(&core->flags);
  signals_start_block(&machine->signals, core->index);
  unit_flags_start_block(&core->units);
  stream_start(&core->stream, machine->soc, machine->trace, machine->placement.kernel, core->kind,
               block, sub);
  core->stream.unchecked_ranges = machine->options.unchecked_ranges;
  inst_reset_registers(&core->inst);
  struct machine_step step = machine_step_of(core, NULL, PIPE_ALL);
  MACHINE_TELL(machine, begin_block, &step);
  if (machine->options.data)
    core->stream.data = machine->options.data(machine->options.data_context, core->index);
}
