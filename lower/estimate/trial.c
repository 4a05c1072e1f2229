/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules are those of core/sim, in one pass over the instructions in their order: a flag is set
 * before its wait is issued, and a pipe's instruction starts when all that comes before is known.
 */
#include "lower/estimate/trial.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/sim/function.h"

enum {
  FLAGS_MAX = 64, /* that a kernel uses */
  QUEUE_MAX = 64,
  TENSORS = sizeof((struct record *)0)->tensor / sizeof(struct record_tensor),
  PERIOD = 2,  /* turns after which buffers come again */
  HISTORY = 4, /* turns that a steady turn is compared with */
  TURNS_MAX = 40 /* that are run before a loop counts as steady */,
  LAST_TURNS = 2,
  SHORT_LOOP = 16,     /* turns of an inner loop that are all run */
  SIGNALS_AT = 1 << 15 /* numbers of flags that are signals */
};
static const uint64_t DIGEST_PRIME = UINT64_C(0x9E3779B97F4A7C15);

/* Moments of a pipe. */
enum {
  AT,       /* start of the instruction that started last */
  NEXT,     /* the next one may start */
  COMPLETE, /* what has started is complete */
  MOVED,    /* the last copy has moved its last byte */
  PORT,     /* the engine is free for bytes of another copy */
  PIPE_MOMENTS
};

/* All that is a moment, and behind them all that is a sum, so that turns of a loop are added to
 * both alike. */
struct state {
  uint64_t scalar;
  uint64_t pipe[PIPE_COUNT][PIPE_MOMENTS];
  uint64_t read_end, write_end;
  uint64_t flag[FLAGS_MAX];  /* those in use come first; signals of other cores are flags too */
  uint64_t busy[PIPE_COUNT]; /* the first sum */
  uint64_t read_bytes, write_bytes, write_copies, reading_cycles, writing_cycles;
  uint64_t tensor_bytes[TENSORS];
  uint64_t carried[RECORD_CARRIED]; /* values of variables that last from turn to turn */
};
enum {
  STATE_WORDS = sizeof(struct state) / sizeof(uint64_t),
  FLAGS_AT = offsetof(struct state, flag) / sizeof(uint64_t),
  SUMS_AT = offsetof(struct state, busy) / sizeof(uint64_t)
};

/* What a row of the vector unit has cost the last time. */
struct row_cost {
  struct inst_cost cost;
  uint64_t digest; /* of all operands that change and are not addresses, and of the mask */
  bool known;
};

struct trial {
  const struct vinci_soc *soc;
  const struct record *record;
  const struct record_stream *stream;
  struct arena *arena;
  struct known known;
  struct inst inst;
  struct state state;
  uint64_t issue_cycles, owed_mcycles[PIPE_COUNT], issued[PIPE_COUNT];
  uint64_t started[PIPE_COUNT][QUEUE_MAX]; /* when entries of a queue have left */
  uint16_t flag_number[FLAGS_MAX];
  unsigned flag_count, depth, tensor_hint;
  bool overlaps[PIPE_COUNT];            /* the last copy lets others start behind */
  bool has_read, has_met, failed, over; /* over: the block takes longer than `limit` */
  uint64_t limit;
  int64_t *variables;
  struct row_cost *row_cost; /* by row of the record; of a vector function, of its first row */
  const struct inst_cost *function_cost;
  struct vector_functions *functions; /* NULL: no kernel has called a function */
  uint32_t variable_room, row_room;
  struct trial_times *out;
};

struct trial *trial_new(const struct vinci_soc *soc, struct arena *arena) {
  struct trial *trial = ARENA_NEW(arena, struct trial);
  if (trial)
    *trial = (struct trial){.soc = soc, .arena = arena};
  return trial;
}

/* ---- flags ----------------------------------------------------------------------------------- */

static uint64_t *flag_at(struct trial *trial, int64_t number) {
  unsigned i = 0;
  while (i < trial->flag_count && trial->flag_number[i] != number)
    i++;
  if (i == FLAGS_MAX) {
    trial->failed = true;
    return &trial->state.flag[0];
  }
  if (i == trial->flag_count)
    trial->flag_number[trial->flag_count++] = (uint16_t)number;
  return &trial->state.flag[i];
}

/* Of a set_flag or a wait_flag. */
static uint64_t *flag_of(struct trial *trial) {
  const int64_t *arg = trial->inst.arg;
  int64_t pipes = arg[SET_FLAG_SRC] * PIPE_COUNT + arg[SET_FLAG_DST];
  return flag_at(trial, pipes * trial->soc->flag_ids + arg[SET_FLAG_ID]);
}

/* A signal of a core to others, which are taken to be as far. */
static uint64_t *signal_of(struct trial *trial, unsigned id_arg) {
  return flag_at(trial, SIGNALS_AT + trial->inst.arg[id_arg]);
}

/* ---- copies from and to device memory -------------------------------------------------------- */

static void count_tensor(struct trial *trial, const struct inst_cost *cost) {
  const struct record *record = trial->record;
  for (uint32_t tried = 0; tried < record->tensor_count; tried++) {
    const struct record_tensor *tensor = &record->tensor[trial->tensor_hint];
    if (cost->gm_address - tensor->address < tensor->bytes) {
      trial->state.tensor_bytes[trial->tensor_hint] += cost->bytes;
      return;
    }
    trial->tensor_hint = (trial->tensor_hint + 1) % record->tensor_count;
  }
}

/* Bytes of units of L2 that runs touch. A run begins at a multiple of the largest power of two in
 * its address and distance, which tells where in a unit on the mean. */
static uint64_t touched_bytes(const struct inst_cost *cost, uint64_t unit_bytes) {
  uint64_t starts = cost->gm_address | (cost->gm_bursts > 1 ? cost->gm_stride_bytes : 0);
  uint64_t step_bytes = min_u64(starts & (~starts + 1), unit_bytes);
  return cost->gm_bursts * (round_up(cost->gm_burst_bytes, step_bytes) + unit_bytes - step_bytes);
}

/* What the engine itself takes for bytes, or for lines that it reorders. */
static uint64_t moving_cycles(const struct trial *trial, const struct inst_cost *cost) {
  const struct path_cost *path = &trial->soc->path[cost->path];
  uint64_t rate = (uint64_t)path->mbytes_per_cycle;
  if (!cost->gm_write && path->hbm_mbytes_per_cycle > 0)
    rate = min_u64(rate, (uint64_t)path->hbm_mbytes_per_cycle);
  uint64_t bytes = cost->gm_bursts > 1 ? touched_bytes(cost, L2_GRANULE_BYTES) : cost->bytes;
  uint64_t mcycles = rate ? bytes * MILLI * MILLI / rate : 0, lines = 0;
  if (cost->line_mcycles > 0)
    lines = touched_bytes(cost, cost->line_bytes) * cost->line_mcycles / cost->line_bytes;
  return ceil_div(max_u64(mcycles, lines), MILLI);
}

static void count_copy(struct trial *trial, const struct inst_cost *cost, uint64_t start,
                       uint64_t moved) {
  struct state *state = &trial->state;
  struct trial_times *out = trial->out;
  if (cost->gm_write) {
    state->write_bytes += cost->bytes;
    state->write_copies++;
    state->write_end = max_u64(state->write_end, moved);
    return;
  }
  count_tensor(trial, cost);
  if (state->read_bytes == 0)
    out->begin = start;
  if (out->first_bytes > 0 && out->second_bytes == 0 && !out->ahead)
    out->ahead = start < max_u64(state->pipe[PIPE_V][COMPLETE], state->pipe[PIPE_MTE3][COMPLETE]);
  state->read_bytes += cost->bytes;
  if (!trial->has_met)
    state->read_end = max_u64(state->read_end, moved);
}

static uint64_t start_copy(struct trial *trial, enum pipe id, const struct inst_cost *cost,
                           uint64_t ready) {
  uint64_t *pipe = trial->state.pipe[id], start = ready, wait = 0;
  if (pipe[COMPLETE] > ready && !(cost->overlaps && trial->overlaps[id]))
    start = max_u64(ready, pipe[MOVED]);
  if (!cost->gm_write && !trial->has_read) {
    wait = (uint64_t)trial->soc->first_read_cycles * (trial->stream->blocks - 1);
    trial->has_read = true;
    trial->out->others_cycles += wait;
  }
  uint64_t moving = moving_cycles(trial, cost);
  uint64_t begin = max_u64(start + cost->latency_cycles + wait, pipe[PORT]);
  pipe[PORT] = begin + moving;
  pipe[MOVED] = max_u64(pipe[MOVED], max_u64(pipe[PORT], start + wait + cost->minimum_cycles));
  pipe[NEXT] = start + cost->issue_cycles + wait;
  trial->state.busy[id] += pipe[MOVED] + cost->acknowledge_cycles - max_u64(start, pipe[COMPLETE]);
  pipe[COMPLETE] = max_u64(pipe[COMPLETE], pipe[MOVED] + cost->acknowledge_cycles);
  trial->overlaps[id] = cost->overlaps;
  *(cost->gm_write ? &trial->state.writing_cycles : &trial->state.reading_cycles) += moving;
  count_copy(trial, cost, start + wait, pipe[MOVED]);
  return start;
}

/* ---- pipes ----------------------------------------------------------------------------------- */

static uint64_t start_unit(struct trial *trial, enum pipe id, const struct inst_cost *cost,
                           uint64_t start) {
  uint64_t *pipe = trial->state.pipe[id];
  if (start > pipe[NEXT])
    trial->owed_mcycles[id] = 0;
  trial->owed_mcycles[id] += cost->issue_rest_mcycles;
  uint64_t whole = trial->owed_mcycles[id] / MILLI;
  trial->owed_mcycles[id] -= whole * MILLI;
  pipe[NEXT] = start + cost->issue_cycles + whole;
  uint64_t end = max_u64(start + cost->latency_cycles, pipe[COMPLETE]);
  trial->state.busy[id] += end - max_u64(start, min_u64(pipe[COMPLETE], end));
  pipe[COMPLETE] = end;
  return start;
}

static const struct inst_cost *cost_of(struct trial *trial) {
  if (trial->inst.op == OP_VF_CALL)
    return trial->function_cost;
  struct row_cost *row = &trial->row_cost[trial->inst.row];
  if (!row->known)
    known_cost(&trial->known, trial->soc, &trial->inst, &row->cost);
  return &row->cost;
}

static uint64_t start_on_pipe(struct trial *trial, enum pipe id, uint64_t ready) {
  uint64_t *pipe = trial->state.pipe[id];
  const struct inst_cost *cost;
  switch (trial->inst.op) {
  case OP_SET_FLAG:
    *flag_of(trial) = max_u64(ready, pipe[COMPLETE]);
    return ready;
  case OP_WAIT_FLAG:
    return max_u64(ready, *flag_of(trial) + (uint64_t)trial->soc->flag_cycles);
  case OP_PIPE_BARRIER:
    return max_u64(ready, pipe[COMPLETE]) + (uint64_t)trial->soc->barrier_cycles;
  case OP_FFTS_CROSS_CORE_SYNC:
    *signal_of(trial, CROSS_SET_ID) = max_u64(ready, pipe[COMPLETE]);
    return ready;
  case OP_WAIT_FLAG_DEV:
    return max_u64(ready,
                   *signal_of(trial, CROSS_WAIT_ID) + (uint64_t)trial->soc->cross_core_cycles);
  default:
    cost = cost_of(trial);
    if (cost->uses_gm)
      return start_copy(trial, id, cost, ready);
    /* One engine: what it moves on the chip follows what it moves from and to device memory. */
    if (pipe[PORT] > 0 && id != PIPE_M && id != PIPE_V && pipe[MOVED] > 0)
      ready = max_u64(ready, pipe[MOVED]);
    return start_unit(trial, id, cost, ready);
  }
}

/* An instruction goes to its queue, behind the one that has to leave before. */
static void issue(struct trial *trial, enum pipe id) {
  struct state *state = &trial->state;
  uint64_t *pipe = state->pipe[id], depth = soc_queue_depth(trial->soc, id);
  uint64_t *place = &trial->started[id][trial->issued[id]++ % min_u64(depth, QUEUE_MAX)];
  state->scalar = max_u64(state->scalar, *place);
  uint64_t ready = max_u64(state->scalar, max_u64(pipe[AT], pipe[NEXT]));
  *place = pipe[AT] = start_on_pipe(trial, id, ready);
  trial->over |= pipe[AT] > trial->limit;
  state->scalar += trial->issue_cycles;
}

/* The cores hold nothing of the code. */
static void fetch_code(struct trial *trial) {
  const int64_t *arg = trial->inst.arg;
  uint64_t line_cycles = (uint64_t)arg[CODE_LINE_CYCLES];
  uint64_t lines = soc_code_lines(trial->soc, (uint64_t)arg[CODE_BYTES]);
  uint64_t all = soc_code_cycles(trial->soc, line_cycles, lines, lines, trial->stream->blocks);
  trial->state.scalar += all;
  trial->out->others_cycles += all - soc_code_cycles(trial->soc, line_cycles, lines, lines, 1);
}

static void on_scalar(struct trial *trial) {
  struct state *state = &trial->state;
  const struct vinci_soc *soc = trial->soc;
  struct inst *inst = &trial->inst;
  switch (inst->op) {
  case OP_SCALAR:
    state->scalar += (uint64_t)inst->arg[SCALAR_WORK_CYCLES];
    return;
  case OP_ISSUE_COST:
    trial->issue_cycles = (uint64_t)inst->arg[SCALAR_WORK_CYCLES];
    return;
  case OP_CODE_FETCH:
    fetch_code(trial);
    return;
  case OP_SET_FLAG:
    *flag_of(trial) = state->scalar;
    break;
  case OP_WAIT_FLAG:
    state->scalar = max_u64(state->scalar, *flag_of(trial) + (uint64_t)soc->flag_cycles);
    break;
  case OP_WAIT_FLAG_DEV:
    trial->has_met = state->read_bytes > 0;
    state->scalar =
        max_u64(state->scalar, *signal_of(trial, CROSS_WAIT_ID) + (uint64_t)soc->cross_core_cycles);
    break;
  case OP_FFTS_CROSS_CORE_SYNC:
    *signal_of(trial, CROSS_SET_ID) = state->scalar;
    break;
  default:
    inst_write_registers(inst);
    break;
  }
  state->scalar += trial->issue_cycles;
}

static void wait_for_all(struct trial *trial) {
  struct state *state = &trial->state;
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    state->scalar = max_u64(state->scalar, max_u64(state->pipe[i][AT], state->pipe[i][COMPLETE]));
  state->scalar += (uint64_t)trial->soc->barrier_cycles;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Puts those operands of a row into the instruction that are terms of a set. */
static void find_terms(struct trial *trial, const struct record_row *row, uint32_t terms) {
  for (uint32_t rest = terms; rest != 0; rest &= rest - 1) {
    unsigned i = (unsigned)__builtin_ctz(rest);
    if (!x_value(trial->record->term[row->first + i], trial->variables, &trial->inst.arg[i]))
      trial->failed = true;
  }
}

/* Whether what a row of the vector unit has cost before is what it costs now. Banks of UB are
 * looked at once: buffers of a tile, and steps within a tile, are alike. */
static bool costs_the_same(struct trial *trial, const struct record_row *row,
                           struct row_cost *cost) {
  const struct inst *inst = &trial->inst;
  uint64_t digest = (inst->mask.low * DIGEST_PRIME ^ inst->mask.high) * 2 + inst->mask.counter;
  find_terms(trial, row, row->sizes);
  for (uint32_t rest = row->sizes; rest != 0; rest &= rest - 1)
    digest = (digest ^ (uint64_t)inst->arg[__builtin_ctz(rest)]) * DIGEST_PRIME;
  bool same = cost->known && cost->digest == digest;
  cost->digest = digest;
  return same;
}

static void run_inst(struct trial *trial, const struct record_row *row) {
  struct inst *inst = &trial->inst;
  const struct record *record = trial->record;
  struct row_cost *cost = &trial->row_cost[row - record->row];
  bool is_vector = isa_row((enum isa_op)row->op)->pipe == PIPE_V;
  inst->op = row->op;
  inst->row = (uint32_t)(row - record->row);
  if (is_vector && costs_the_same(trial, row, cost)) {
    issue(trial, PIPE_V);
    return;
  }
  cost->known = false;
  memcpy(inst->arg, &record->number[row->first], row->arg_count * sizeof *inst->arg);
  find_terms(trial, row, row->terms);
  enum pipe target = inst_pipe(inst);
  if (target == PIPE_S)
    on_scalar(trial);
  else if (target == PIPE_ALL)
    wait_for_all(trial);
  else
    issue(trial, target);
  cost->known = is_vector;
}

/* ---- vector functions ------------------------------------------------------------------------ */

/* The operand of a row that is no instruction. */
static int64_t value_of(struct trial *trial, const struct record_row *row) {
  const struct record *record = trial->record;
  int64_t value = record->number[row->first];
  if (row->terms != 0 && !x_value(record->term[row->first], trial->variables, &value))
    trial->failed = true;
  return value;
}

static bool is_call(const struct record_row *row) {
  return row->kind == ROW_INST && row->op == OP_VF_CALL;
}

static void add_register_inst(struct trial *trial, const struct record_row *row) {
  struct inst *inst = &trial->inst;
  inst->op = row->op;
  memcpy(inst->arg, &trial->record->number[row->first], row->arg_count * sizeof *inst->arg);
  functions_add(trial->functions, inst);
}

/* The rows of a function up to `end`. Addresses in UB have no part in its time. */
static void add_to_function(struct trial *trial, uint32_t first, uint32_t end) {
  const struct record_row *row = trial->record->row;
  for (uint32_t i = first; i < end && !trial->failed; i++) {
    if (row[i].kind == ROW_INST) {
      add_register_inst(trial, &row[i]);
    } else if (row[i].kind == ROW_LOOP) {
      int64_t turns = value_of(trial, &row[i]);
      for (int64_t turn = 0; turn < turns && !trial->failed; turn++)
        add_to_function(trial, i + 1, row[i].partner);
      i = row[i].partner;
    }
  }
}

/* Runs the function that begins at a row, and returns the row of its call. What it takes is known
 * from the last time, unless its loops have other numbers of turns. */
static uint32_t run_function(struct trial *trial, uint32_t begin) {
  const struct record_row *row = trial->record->row;
  struct row_cost *cost = &trial->row_cost[begin];
  uint64_t digest = 1;
  uint32_t call = begin;
  for (; call < trial->stream->end && !is_call(&row[call]); call++)
    if (row[call].kind == ROW_LOOP)
      digest = (digest ^ (uint64_t)value_of(trial, &row[call])) * DIGEST_PRIME;
  if (!trial->functions)
    trial->functions = functions_create(trial->arena, trial->soc);
  if (!trial->functions || call == trial->stream->end) {
    trial->failed = true;
    return call;
  }
  if (!cost->known || cost->digest != digest) {
    add_to_function(trial, begin + 1, call);
    functions_end(trial->functions, &cost->cost);
    cost->known = true;
    cost->digest = digest;
  }
  trial->function_cost = &cost->cost;
  trial->inst.op = OP_VF_CALL;
  trial->inst.row = call;
  issue(trial, PIPE_V);
  return call;
}

static void run_rows(struct trial *trial, uint32_t first, uint32_t end);

/* What N periods of turns add, each as the one from `before` to now: to moments that move, what the
 * slowest of them moves by. */
static void skip_turns(struct trial *trial, const struct state *before, uint64_t periods,
                       uint64_t each) {
  uint64_t *now = (uint64_t *)&trial->state;
  const uint64_t *then = (const uint64_t *)before;
  for (unsigned i = 0; i < SUMS_AT; i++)
    if (now[i] > then[i])
      now[i] += periods * each;
  for (unsigned i = SUMS_AT; i < STATE_WORDS; i++)
    now[i] += periods * (now[i] - then[i]);
  for (unsigned i = 0; i < trial->record->carried_count; i++)
    if (trial->state.carried[i] != before->carried[i])
      trial->variables[trial->record->carried[i]] = (int64_t)trial->state.carried[i];
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    for (unsigned k = 0; k < QUEUE_MAX; k++)
      if (trial->started[i][k] > before->pipe[i][AT])
        trial->started[i][k] += periods * each;
}

/* Whether all moments that move have moved by the same; *each: by how much the slowest. */
static bool is_steady(const struct trial *trial, const struct state *before, uint64_t *each) {
  const uint64_t *a = (const uint64_t *)&trial->state, *b = (const uint64_t *)before;
  uint64_t most = 0, least = UINT64_MAX;
  for (unsigned i = 0; i < FLAGS_AT + trial->flag_count; i++)
    if (a[i] > b[i]) {
      most = max_u64(most, a[i] - b[i]);
      least = min_u64(least, a[i] - b[i]);
    }
  *each = most;
  return most - min_u64(least, most) <= 1 + most / 64;
}

/* Whether the scalar unit may still run into a full queue: a pipe is behind, and since the loop
 * began fewer instructions have been issued than its queue holds. */
static bool may_fill_queue(const struct trial *trial, const uint64_t *issued) {
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    if (trial->issued[i] > issued[i] && trial->state.pipe[i][AT] > trial->state.scalar &&
        trial->issued[i] - issued[i] < soc_queue_depth(trial->soc, (enum pipe)i))
      return true;
  return false;
}

/* The tile loop, the first one whose turns read: what its first turns have read. */
static void note_turn(struct trial *trial, uint64_t turn, uint64_t turns, uint64_t bytes_before) {
  struct trial_times *out = trial->out;
  const struct state *state = &trial->state;
  if (state->read_bytes == bytes_before || out->turns > 0)
    return;
  if (out->first_bytes == 0) {
    out->first_bytes = state->read_bytes;
    out->first_end = state->read_end;
  } else if (turn == 1) {
    out->second_bytes = state->read_bytes - out->first_bytes;
  }
  out->turns = turn + 1 == turns ? turns : 0;
}

static void run_loop(struct trial *trial, uint32_t begin) {
  const struct record_row *row = &trial->record->row[begin];
  struct state history[HISTORY];
  uint64_t issued[PIPE_COUNT], bytes_before = trial->state.read_bytes;
  int64_t *counter = &trial->variables[row->op], count = value_of(trial, row);
  bool jumped = count <= (trial->depth > 0 ? SHORT_LOOP : PERIOD + LAST_TURNS + 1);
  trial->depth++;
  memcpy(issued, trial->issued, sizeof issued);
  for (int64_t i = 0, run = 0; i < count && !trial->failed && !trial->over; i++, run++) {
    uint64_t each;
    *counter = i;
    run_rows(trial, begin + 1, row->partner);
    if (trial->depth == 1)
      note_turn(trial, (uint64_t)i, (uint64_t)count, bytes_before);
    int64_t periods = (count - 1 - i - LAST_TURNS) / PERIOD;
    if (jumped || periods < 1)
      continue;
    struct state *before = &history[run % HISTORY];
    if (run >= PERIOD + 1) {
      const struct state *then = &history[(run - PERIOD) % HISTORY];
      bool steady = is_steady(trial, then, &each) && !may_fill_queue(trial, issued);
      if (steady || run >= TURNS_MAX) {
        skip_turns(trial, then, (uint64_t)periods, each);
        i += periods * PERIOD;
        jumped = true;
      }
    }
    *before = trial->state;
  }
  trial->depth--;
}

static void run_rows(struct trial *trial, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end && !trial->failed && !trial->over; i++) {
    const struct record_row *row = &trial->record->row[i];
    if (row->kind == ROW_INST && row->op == OP_VF_BEGIN) {
      i = run_function(trial, i);
    } else if (row->kind == ROW_INST) {
      run_inst(trial, row);
    } else if (row->kind == ROW_LOOP) {
      run_loop(trial, i);
      i = row->partner;
    } else {
      trial->variables[row->op] = value_of(trial, row);
      if (row->kind == ROW_SET)
        trial->state.carried[row->partner] = (uint64_t)trial->variables[row->op];
    }
  }
}

static bool start(struct trial *trial, uint64_t block) {
  const struct record_stream *stream = trial->stream;
  const struct record *record = trial->record;
  if (trial->variable_room < record->variable_count) {
    trial->variable_room = 2 * record->variable_count;
    trial->variables = ARENA_ROOM(trial->arena, int64_t, trial->variable_room);
  }
  if (trial->row_room < record->row_count) {
    trial->row_room = 2 * record->row_count;
    trial->row_cost = ARENA_ROOM(trial->arena, struct row_cost, trial->row_room);
  }
  if (!trial->variables || !trial->row_cost || record->full)
    return false;
  for (uint32_t i = stream->first; i < stream->end; i++)
    trial->row_cost[i].known = false;
  memcpy(trial->variables, record->variable, record->variable_count * sizeof(int64_t));
  trial->variables[VAR_BLK] = (int64_t)block;
  trial->variables[VAR_SUB] = 0;
  trial->variables[VAR_BLOCKS] = trial->stream->blocks;
  memset(&trial->state, 0, sizeof trial->state);
  memset(trial->started, 0, sizeof trial->started);
  memset(trial->owed_mcycles, 0, sizeof trial->owed_mcycles);
  memset(trial->issued, 0, sizeof trial->issued);
  memset(trial->overlaps, 0, sizeof trial->overlaps);
  trial->flag_count = trial->depth = trial->tensor_hint = 0;
  trial->has_read = trial->has_met = trial->failed = trial->over = false;
  trial->issue_cycles = (uint64_t)trial->soc->scalar_issue_cycles;
  trial->inst.arch = (uint8_t)trial->soc->arch;
  inst_reset_registers(&trial->inst);
  return true;
}

bool trial_run(struct trial *trial, const struct record *record, const struct record_stream *stream,
               uint64_t block, uint64_t limit, struct trial_times *out) {
  trial->record = record;
  trial->stream = stream;
  trial->out = out;
  trial->limit = limit;
  *out = (struct trial_times){0};
  if (!start(trial, block))
    return false;
  run_rows(trial, stream->first, stream->end);
  const struct state *state = &trial->state;
  out->end = state->scalar;
  out->over = trial->over;
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    out->end = max_u64(out->end, max_u64(state->pipe[i][AT], state->pipe[i][COMPLETE]));
  out->read_end = state->read_end;
  out->write_end = state->write_end;
  out->read_bytes = state->read_bytes;
  out->write_bytes = state->write_bytes;
  out->write_copies = state->write_copies;
  out->reading_cycles = state->reading_cycles;
  out->writing_cycles = state->writing_cycles;
  memcpy(out->busy, state->busy, sizeof out->busy);
  memcpy(out->tensor_bytes, state->tensor_bytes, sizeof out->tensor_bytes);
  return !trial->failed;
}
