/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many instructions a trace executes, told before it runs, for progress alone.
 *
 * A loop whose body has no loops with computed counts is multiplied; of others a few turns are
 * counted: the first, the last (which often differ) and two in the middle, which stand for all
 * between. So the number is exact for constant loops and near for others.
 */
#include "core/base/arith.h"
#include "core/isa/program.h"

enum {
  ROWS_MAX = 1 << 20, /* looked at; then one turn stands for all, and the rest is quick */
  FEW_TURNS = 4,      /* are all counted */
};

struct counting {
  const struct vinci_trace *trace;
  int64_t *variables;
  uint64_t rows; /* looked at so far */
};

static uint64_t add(uint64_t a, uint64_t b) { return add_up_to(a, b, UINT64_MAX); }

static uint64_t times(uint64_t a, uint64_t b) {
  uint128 product = (uint128)a * b;
  return product < UINT64_MAX ? (uint64_t)product : UINT64_MAX;
}

/* Something that is done `turns` times, with a variable that tells which turn it is. */
struct repeat {
  uint64_t turns;
  uint32_t variable;
  uint64_t first, end; /* rows */
  bool alike;          /* all turns have as many instructions */
};

static uint64_t count_rows(struct counting *counting, uint64_t first, uint64_t end);

static uint64_t count_turn(struct counting *counting, const struct repeat *repeat, uint64_t turn) {
  counting->variables[repeat->variable] = (int64_t)turn;
  return count_rows(counting, repeat->first, repeat->end);
}

static uint64_t count_turns(struct counting *counting, const struct repeat *repeat) {
  uint64_t turns = repeat->turns, sum = 0;
  if (turns == 0)
    return 0;
  if (repeat->alike || counting->rows > ROWS_MAX)
    return times(count_turn(counting, repeat, turns / 2), turns);
  if (turns <= FEW_TURNS) {
    for (uint64_t turn = 0; turn < turns; turn++)
      sum = add(sum, count_turn(counting, repeat, turn));
    return sum;
  }
  uint64_t between = turns - 2;
  sum = add(count_turn(counting, repeat, 0), count_turn(counting, repeat, turns - 1));
  sum = add(sum, times(count_turn(counting, repeat, turns / 2), between - between / 2));
  return add(sum, times(count_turn(counting, repeat, turns / 2 + 1), between / 2));
}

static int64_t value_of(const struct counting *counting, const struct program_row *row) {
  int64_t value = counting->trace->operands[row->first_operand];
  if ((row->expr_mask & 1) != 0 &&
      !program_eval(counting->trace, (uint64_t)value, counting->variables, &value))
    return 0; /* the run will say what is wrong */
  return value;
}

static bool any_computed_loop(const struct vinci_trace *trace, uint64_t first, uint64_t end) {
  for (uint64_t i = first; i < end; i++)
    if (trace->rows[i].kind == ROW_LOOP && trace->rows[i].expr_mask != 0)
      return true;
  return false;
}

static uint64_t count_rows(struct counting *counting, uint64_t first, uint64_t end) {
  const struct vinci_trace *trace = counting->trace;
  uint64_t sum = 0;
  for (uint64_t i = first; i < end; i++) {
    const struct program_row *row = &trace->rows[i];
    counting->rows++;
    if (row->kind == ROW_INST) {
      sum = add(sum, 1);
    } else if (row->kind == ROW_LET || row->kind == ROW_READ || row->kind == ROW_SET) {
      counting->variables[row->op] = value_of(counting, row);
    } else if (row->kind == ROW_LOOP) {
      int64_t turns = value_of(counting, row);
      struct repeat repeat = {
          .turns = turns > 0 ? (uint64_t)turns : 0,
          .variable = row->op,
          .first = i + 1,
          .end = row->partner,
          .alike = !any_computed_loop(trace, i + 1, row->partner),
      };
      sum = add(sum, count_turns(counting, &repeat));
      i = row->partner;
    }
  }
  return sum;
}

/* One stream of a kernel, in all its blocks. */
static uint64_t count_stream(struct counting *counting, const struct program_kernel *kernel,
                             enum core_kind kind, uint32_t sub) {
  const struct program_stream *stream = &kernel->stream[kind];
  uint64_t end = stream->first_row + stream->row_count;
  struct repeat repeat = {
      .turns = kernel->blocks,
      .variable = VAR_BLK,
      .first = stream->first_row,
      .end = end,
      .alike = !any_computed_loop(counting->trace, stream->first_row, end),
  };
  counting->variables[VAR_SUB] = sub;
  counting->variables[VAR_BLOCKS] = kernel->blocks;
  return count_turns(counting, &repeat);
}

uint64_t program_row_count(const struct vinci_trace *trace) {
  uint64_t count = trace->row_count;
  for (uint64_t i = 0; trace->source && i < trace->row_count; i++)
    count -= trace->rows[i].kind == ROW_ACCESS || trace->rows[i].op == OP_CODE_FETCH;
  return count;
}

uint64_t program_instructions(const struct vinci_trace *trace, int64_t *variables) {
  struct counting counting = {.trace = trace, .variables = variables};
  uint64_t sum = 0;
  for (uint32_t k = 0; k < trace->kernel_count; k++) {
    const struct program_kernel *kernel = &trace->kernels[k];
    for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
      uint32_t subs = kernel->mixed && kind == CORE_AIV ? kernel->vectors_per_cube : 1;
      for (uint32_t sub = 0; kernel->stream[kind].present && sub < subs; sub++)
        sum = add(sum, count_stream(&counting, kernel, (enum core_kind)kind, sub));
    }
  }
  return sum;
}

unsigned program_share_permille(uint64_t done, uint64_t total) {
  static const unsigned whole = 1000;
  return done < total ? (unsigned)((uint128)done * whole / total) : whole;
}
