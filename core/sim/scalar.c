/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scalar unit: executes the stream in order and issues.
 *
 * It runs ahead of the engine's time as far as queues have room: everything it
 * hands to a pipe carries its issue cycle, and a full queue makes it wait for the
 * very cycle a slot becomes free, so running ahead changes no result; it saves an
 * event per instruction. Where its acts are seen by others at once (flags it sets
 * or waits for) it first lets the engine catch up.
 */
#include "core/sim/aicore.h"
#include "core/sim/device.h"

#include <string.h>

enum {
  /* Instructions handled before other parts get their turn: bounds the work of one event. */
  BATCH_INSTRUCTIONS = 256,
};

static struct aicore *core_of_step(struct engine_event *event) {
  return (struct aicore *)((char *)event - offsetof(struct aicore, scalar.step));
}

void scalar_wake(struct aicore *core, uint64_t cycle) {
  engine_schedule_earliest(core->device->engine, &core->scalar.step,
                           clock_edge_ps(&core->clock, cycle));
}

/* Spends scalar time on an instruction, from the unit's present time on. The unit runs ahead, so
 * its cycle may leave the range of simulated time; what lies beyond is not counted. */
static void spend_on(struct scalar_unit *scalar, enum cause cause, uint64_t cycles) {
  uint64_t end_cycle = add_up_to(scalar->cycle, cycles, UINT64_MAX);
  scalar->counters->cause_cycles[cause] += end_cycle - scalar->cycle;
  scalar->counters->busy_cycles += end_cycle - scalar->cycle;
  scalar->cycle = end_cycle;
  scalar->counters->instructions++;
}

static void spend(struct scalar_unit *scalar, uint64_t cycles) {
  spend_on(scalar, CAUSE_SCALAR_ISSUE, cycles);
}

/* The wait that began at scalar->cycle ends at `cycle`. */
static void end_wait(struct scalar_unit *scalar, enum stall reason, uint64_t cycle) {
  scalar->stall = NOT_STALLED;
  if (cycle > scalar->cycle) {
    scalar->counters->stall_cycles[reason] += cycle - scalar->cycle;
    scalar->cycle = cycle;
  }
}

/* Of a control instruction: the flag or signal, and the other pipe of a flag or the mode. */
static void fill_control(const struct inst *inst, struct pipe_entry *entry) {
  entry->id = entry->other = 0;
  switch (inst->op) {
  case OP_SET_FLAG:
    entry->other = (uint8_t)inst->arg[SET_FLAG_DST];
    entry->id = (uint8_t)inst->arg[SET_FLAG_ID];
    break;
  case OP_WAIT_FLAG:
    entry->other = (uint8_t)inst->arg[SET_FLAG_SRC];
    entry->id = (uint8_t)inst->arg[SET_FLAG_ID];
    break;
  case OP_FFTS_CROSS_CORE_SYNC:
    entry->other = (uint8_t)inst->arg[CROSS_SET_MODE];
    entry->id = (uint8_t)inst->arg[CROSS_SET_ID];
    break;
  case OP_WAIT_FLAG_DEV:
    entry->other = (uint8_t)inst->arg[CROSS_WAIT_MODE];
    entry->id = (uint8_t)inst->arg[CROSS_WAIT_ID];
    break;
  default:
    break;
  }
}

static struct result_event *record_scalar(struct aicore *core, uint64_t start_cycle) {
  const struct inst *inst = &core->scalar.inst;
  struct pipe_entry entry = {.line = inst->line, .op = inst->op};
  fill_control(inst, &entry);
  struct result_event *event = aicore_record(core, PIPE_S, &entry, start_cycle, core->scalar.cycle);
  if (event && inst->op == OP_WAIT_FLAG_DEV)
    event->delivery = core->scalar.delivery;
  return event;
}

/* What an instruction did on the scalar unit: went on, or waits. */
enum progress { DONE, WAITS };

static enum progress wait_for(struct scalar_unit *scalar, enum stall reason) {
  scalar->stall = reason;
  return WAITS;
}

/* An instruction that waits may go on at `cycle`. */
static enum progress finish_wait(struct aicore *core, enum stall reason, uint64_t cycle,
                                 uint64_t spent_cycles) {
  uint64_t start = core->scalar.cycle;
  end_wait(&core->scalar, reason, cycle);
  spend(&core->scalar, spent_cycles);
  record_scalar(core, start);
  return DONE;
}

static enum progress take_flag(struct aicore *core, uint64_t now) {
  struct scalar_unit *scalar = &core->scalar;
  size_t flag = flags_index_of(core->device->soc, &scalar->inst);
  bool set = flag_is_set(&core->flags, flag);
  uint64_t seen = aicore_flag_seen(core, flag);
  if (set && seen > now)
    scalar_wake(core, seen);
  if (!set || seen > now)
    return wait_for(scalar, STALL_WAIT_FLAG);
  flag_take(&core->flags, flag);
  return finish_wait(core, STALL_WAIT_FLAG, now, scalar->issue_cycles);
}

static enum progress take_cross_flag(struct aicore *core, uint64_t now) {
  struct scalar_unit *scalar = &core->scalar;
  uint32_t flag = signals_wait_flag(core->device->soc, &scalar->inst);
  uint64_t seen = aicore_signal_seen(core, flag);
  if (seen > now) {
    if (seen != UINT64_MAX)
      scalar_wake(core, seen);
    return wait_for(scalar, STALL_CROSS_CORE);
  }
  scalar->delivery = aicore_take_signal(core, flag);
  return finish_wait(core, STALL_CROSS_CORE, now, scalar->issue_cycles);
}

static enum progress barrier_all(struct aicore *core) {
  uint64_t drained;
  if (!aicore_drained(core, &drained))
    return wait_for(&core->scalar, STALL_BARRIER);
  return finish_wait(core, STALL_BARRIER, drained, (uint64_t)core->device->soc->barrier_cycles);
}

static void take_function(struct scalar_unit *scalar, struct pipe_entry *entry) {
  entry->cost = scalar->function_cost;
  scalar->has_function = false;
}

static void fill_entry(struct aicore *core, struct pipe_entry *entry) {
  const struct inst *inst = &core->scalar.inst;
  entry->issue_cycle = core->scalar.cycle;
  entry->line = inst->line;
  entry->op = inst->op;
  entry->dtype = (uint8_t)inst_dtype(inst);
  entry->unit_flag = UNIT_FLAG_OFF;
  fill_control(inst, entry);
  if (inst->op == OP_VF_CALL)
    take_function(&core->scalar, entry);
  else
    known_cost(core->device->known, core->device->soc, inst, &entry->cost);
  if (entry->cost.uses_gm)
    entry->cost.passes_l2 = stream_passes_l2(&core->stream, inst, entry->cost.gm_address);
}

static enum progress push_to(struct aicore *core, enum pipe id, uint64_t now) {
  struct scalar_unit *scalar = &core->scalar;
  struct pipe_unit *pipe = &core->pipe[id];
  struct pipe_entry *entry = pipe_push(pipe);
  if (!entry) {
    scalar->full_pipe = id;
    return wait_for(scalar, STALL_QUEUE_FULL);
  }
  if (scalar->stall == STALL_QUEUE_FULL)
    end_wait(scalar, STALL_QUEUE_FULL, now);
  fill_entry(core, entry);
  struct misuse misuse;
  if (!path_exists(core->device->soc, (enum isa_op)entry->op, entry->cost.path, &misuse)) {
    aicore_misused(core, entry->line, &misuse);
    return WAITS;
  }
  if (core->units.unit)
    pipe_units_queue(pipe, entry, &scalar->inst);
  pipe_pushed(pipe);
  spend(scalar, scalar->issue_cycles);
  return DONE;
}

static bool needs_engine_time(const struct inst *inst, enum pipe target) {
  return target == PIPE_S && (inst->op == OP_SET_FLAG || inst->op == OP_WAIT_FLAG ||
                              inst->op == OP_FFTS_CROSS_CORE_SYNC || inst->op == OP_WAIT_FLAG_DEV);
}

static void signal_from_scalar(struct aicore *core, uint64_t now) {
  struct scalar_unit *scalar = &core->scalar;
  const struct inst *inst = &scalar->inst;
  uint64_t start = scalar->cycle;
  spend(scalar, scalar->issue_cycles);
  struct result_event *event = record_scalar(core, start);
  if (inst->op == OP_SET_FLAG)
    aicore_set_flag(core, PIPE_S, (enum pipe)inst->arg[SET_FLAG_DST],
                    (uint32_t)inst->arg[SET_FLAG_ID], inst->line, now);
  else
    device_signal(core->device, core, (unsigned)inst->arg[CROSS_SET_MODE],
                  (uint32_t)inst->arg[CROSS_SET_ID], inst->line, event);
}

/* Waits for the lines of code that the cache of the core does not hold. */
static void fetch_code(struct aicore *core) {
  struct device *device = core->device;
  struct scalar_unit *scalar = &core->scalar;
  const int64_t *arg = scalar->inst.arg;
  uint64_t start = scalar->cycle;
  uint32_t lines = soc_code_lines(device->soc, (uint64_t)arg[CODE_BYTES]);
  uint32_t missing = code_fetch(device->code, core->kind, aicore_number(core), lines);
  core->code_lines += lines;
  core->code_missing += missing;
  core->result->code_lines += lines;
  core->result->code_missing_lines += missing;
  uint64_t cores = device_running_cores(device, core->kind);
  uint64_t line_cycles = (uint64_t)arg[CODE_LINE_CYCLES];
  if (code_is_far(device->code, core->kind, aicore_number(core)))
    line_cycles += code_device_cycles(device->soc);
  end_wait(scalar, STALL_CODE,
           scalar->cycle + soc_code_cycles(device->soc, line_cycles, lines, missing, cores));
  /* Cores that need not wait for code ask for their arguments at the same time. */
  uint64_t arguments_cycles = (uint64_t)device->soc->code_arguments_cycles * (cores - 1);
  spend_on(scalar, CAUSE_SCALAR_WORK,
           core->first_block ? arguments_cycles * (lines - missing) / lines : 0);
  record_scalar(core, start);
}

static enum progress execute_on_scalar(struct aicore *core, uint64_t now) {
  struct scalar_unit *scalar = &core->scalar;
  const struct inst *inst = &scalar->inst;
  uint64_t start = scalar->cycle;
  switch (inst->op) {
  case OP_WAIT_FLAG:
    return take_flag(core, now);
  case OP_WAIT_FLAG_DEV:
    return take_cross_flag(core, now);
  case OP_SET_FLAG:
  case OP_FFTS_CROSS_CORE_SYNC:
    signal_from_scalar(core, now);
    return DONE;
  case OP_SCALAR:
    spend_on(scalar, CAUSE_SCALAR_WORK, (uint64_t)inst->arg[SCALAR_WORK_CYCLES]);
    core->result->scalar_work_cycles += (uint64_t)inst->arg[SCALAR_WORK_CYCLES];
    record_scalar(core, start);
    return DONE;
  case OP_ISSUE_COST:
    scalar->issue_cycles = (uint64_t)inst->arg[SCALAR_WORK_CYCLES];
    scalar->counters->instructions++;
    return DONE;
  case OP_CODE_FETCH:
    fetch_code(core);
    return DONE;
  default:
    inst_write_registers(&scalar->inst);
    break;
  }
  spend(scalar, scalar->issue_cycles);
  return DONE;
}

static enum progress execute(struct aicore *core, uint64_t now) {
  struct scalar_unit *scalar = &core->scalar;
  enum pipe target = inst_pipe(&scalar->inst);
  if (isa_is_register((enum isa_op)scalar->inst.op)) {
    functions_add(core->device->functions, &scalar->inst); /* the vector unit begins with vf_call */
    return DONE;
  }
  if (scalar->inst.op == OP_VF_CALL && !scalar->has_function) {
    functions_end(core->device->functions, &scalar->function_cost);
    scalar->has_function = true; /* the queue may be full */
  }
  if (target == PIPE_ALL)
    return barrier_all(core);
  if (needs_engine_time(&scalar->inst, target) && scalar->cycle > now) {
    scalar_wake(core, scalar->cycle);
    return WAITS;
  }
  return target == PIPE_S ? execute_on_scalar(core, now) : push_to(core, target, now);
}

/* Brings the next instruction in; false at the end of the stream or on an error. */
static bool load_next(struct aicore *core) {
  struct scalar_unit *scalar = &core->scalar;
  switch (stream_load(&core->stream, &scalar->inst, core->device->diag)) {
  case STREAM_INST:
    scalar->loaded = true;
    return true;
  case STREAM_END:
    scalar->ended = true;
    aicore_finish_if_done(core);
    return false;
  case STREAM_LATER: /* recorded instructions do not wait */
  case STREAM_ERROR:
    break;
  }
  device_stop(core->device, VINCI_E_INPUT);
  return false;
}

static void fire_step(struct engine_event *event, uint64_t now_ps) {
  struct aicore *core = core_of_step(event);
  struct scalar_unit *scalar = &core->scalar;
  uint64_t now = clock_edge_at(&core->clock, now_ps);
  for (unsigned i = 0; i < BATCH_INSTRUCTIONS;) {
    if (!scalar->loaded && !load_next(core))
      return;
    if (execute(core, now) == WAITS)
      return;
    scalar->loaded = false;
    /* A function is added to its end: cores add them one after the other. */
    i += !isa_is_register((enum isa_op)scalar->inst.op);
    if (core->observer)
      core->observer->issued(core->observer->context, core, inst_pipe(&scalar->inst),
                             &scalar->inst);
  }
  scalar_wake(core, scalar->cycle > now ? scalar->cycle : now);
}

void scalar_create(struct aicore *core, uint32_t part) {
  core->scalar.counters = &core->result->pipe[PIPE_S];
  core->scalar.stall = NOT_STALLED;
  core->scalar.step.key = event_key(PHASE_COMPUTE, part, PIPE_S);
  core->scalar.step.fire = fire_step;
}

void scalar_start(struct aicore *core, uint64_t cycle) {
  struct scalar_unit *scalar = &core->scalar;
  scalar->cycle = cycle;
  scalar->issue_cycles = (uint64_t)core->device->soc->scalar_issue_cycles;
  scalar->stall = NOT_STALLED;
  scalar->ended = scalar->loaded = scalar->has_function = false;
  inst_reset_registers(&scalar->inst);
  scalar_wake(core, cycle);
}
