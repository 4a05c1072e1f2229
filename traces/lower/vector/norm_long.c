/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and normalisations of rows that UB cannot hold: a pass over the row per reduction. */
#include "traces/lower/vector/norm.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"

typedef unsigned long long ull;

enum { FLOAT_BYTES = 4, WEIGHTS = 2, LANES_BYTES = VROW_LANES * FLOAT_BYTES };
enum { NUMBERS_OF_ROW = 2 * BLOCK_BYTES };

/* ---- which steps a pass needs ---------------------------------------------------------------- */

static bool on_tiles(const struct step *step) {
  return step->kind == STEP_TILE || step->kind == STEP_WITH_COLUMN || step->kind == STEP_WITH_ROW;
}

static unsigned dst_of(const struct step *step) {
  return step->kind == STEP_TILE ? step->vector.dst : step->dst;
}

static uint32_t reads_of(const struct step *step) {
  switch (step->kind) {
  case STEP_TILE:
    return 1u << step->vector.a | (step->vector.form == VFORM_BINARY ? 1u << step->vector.b : 0);
  case STEP_WITH_ROW:
    return 1u << step->a | 1u << step->b;
  default:
    return 1u << step->a;
  }
}

unsigned norm_passes(const struct vnorm *norm) {
  unsigned passes = 1;
  for (const struct step *step = norm->norm->steps; step->kind != STEP_END; step++)
    passes += step->kind == STEP_REDUCE;
  return passes;
}

struct pass {
  unsigned end;    /* of its steps: a reduction, or the end of the program */
  uint32_t steps;  /* bit per step that it executes */
  uint32_t inputs; /* bit per register that it loads */
};

static struct pass plan(const struct norm *norm, unsigned number) {
  struct pass pass = {0};
  unsigned reductions = 0;
  for (; norm->steps[pass.end].kind != STEP_END; pass.end++)
    if (norm->steps[pass.end].kind == STEP_REDUCE && reductions++ == number)
      break;
  const struct step *last = &norm->steps[pass.end];
  uint32_t live = 1u << (last->kind == STEP_REDUCE ? last->a : Y0);
  for (unsigned i = pass.end; i-- > 0;) {
    const struct step *step = &norm->steps[i];
    if (!on_tiles(step) || !(live & 1u << dst_of(step)))
      continue;
    pass.steps |= 1u << i;
    live = (live & ~(1u << dst_of(step))) | reads_of(step);
  }
  pass.inputs = live;
  return pass;
}

/* ---- layout ---------------------------------------------------------------------------------- */

void norm_long_lay_out(struct vnorm *norm) {
  struct vtile *tile = &norm->tile;
  uint64_t bytes = vtile_bytes(norm->type), part = tile->cols, slot = 0;
  bool converts = norm->type != DTYPE_FP32;
  for (unsigned k = 0; k < norm->norm->inputs; k++)
    norm->in[k].address = vtile_reserve(&slot, part * bytes);
  norm->weight_raw = slot;
  for (unsigned k = 0; k < norm->norm->weights; k++)
    (void)vtile_reserve(&slot, part * bytes);
  norm->out.address = vtile_reserve(&slot, part * bytes);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  for (unsigned k = 0; k < norm->norm->inputs && converts; k++)
    norm->address[X0 + k] = vtile_reserve(&used, part * FLOAT_BYTES);
  for (unsigned k = 0; k < norm->norm->weights && converts; k++)
    norm->address[X2 + k] = vtile_reserve(&used, part * FLOAT_BYTES);
  norm->address[Y0] = vtile_reserve(&used, part * FLOAT_BYTES);
  norm->address[T0] = vtile_reserve(&used, part * FLOAT_BYTES);
  norm->address[T1] = vtile_reserve(&used, NUMBERS_OF_ROW);
  norm->accumulator = vtile_reserve(&used, LANES_BYTES);
  norm->blocks = vtile_reserve(&used, NORM_REDUCTIONS * LANES_BYTES);
  norm->ub_bytes = used;
}

void norm_long_split(const struct lower_job *job, struct vnorm *norm, size_t halvings) {
  struct vtile *tile = &norm->tile;
  uint64_t low = 1, high = ceil_div(tile->space.cols, VROW_LANES) - 1;
  tile->rows = 1;
  while (low < high) {
    uint64_t middle = low + (high - low + 1) / 2;
    tile->cols = middle * VROW_LANES;
    norm_long_lay_out(norm);
    if (norm->ub_bytes <= vtile_ub_bytes(job->soc))
      low = middle;
    else
      high = middle - 1;
  }
  uint64_t parts = ceil_div(tile->space.cols, max_u64(low >> halvings, 1) * VROW_LANES);
  uint64_t cols = ceil_div(tile->space.cols, parts);
  tile->cols = ceil_div(cols, VROW_LANES) * VROW_LANES;
  tile->blocks = min_u64(tile->space.rows, job->cores);
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct walk {
  struct vnorm *norm;
  struct vmachine machine;
  struct pass pass;
};

static bool is_last(const struct walk *walk) {
  return walk->norm->norm->steps[walk->pass.end].kind == STEP_END;
}

static const char *raw_address(struct walk *walk, unsigned reg) {
  const struct vnorm *norm = walk->norm;
  uint64_t weight =
      norm->weight_raw + (reg - X2) * vtile_align(norm->tile.cols * vtile_bytes(norm->type));
  return emit_text(walk->machine.emit, "slot+%llu",
                   (ull)(reg < X2 ? norm->in[reg - X0].address : weight));
}

/* The part of an operand; weights are the same for all rows. */
static void put_load(struct walk *walk, unsigned reg) {
  static const char *const weights[] = {"gamma", "beta"};
  struct emit *e = walk->machine.emit;
  const struct vnorm *norm = walk->norm;
  ull bytes = vtile_bytes(norm->type);
  const char *from = reg < X2 ? emit_text(e, "%s+(row*%llu+col)*%llu", norm->in[reg - X0].name,
                                          (ull)norm->tile.space.cols, bytes)
                              : emit_text(e, "%s+col*%llu", weights[reg - X2], bytes);
  emit_row(e, "%s,dst=%s,src=%s,len_burst=cols*%llu,right_pad=(%d-cols*%llu%%%d)%%%d/%llu",
           vtile_copy_name(false, norm->type), raw_address(walk, reg), from, bytes, BLOCK_BYTES,
           bytes, BLOCK_BYTES, BLOCK_BYTES, bytes);
}

/* Where registers are in this part: inputs and the result of fp32 in the buffer. */
static void set_registers(struct walk *walk) {
  struct emit *e = walk->machine.emit;
  const struct vnorm *norm = walk->norm;
  bool converts = norm->type != DTYPE_FP32;
  for (unsigned r = 0; r < VREGS; r++)
    if (norm->address[r])
      walk->machine.reg[r] = emit_text(e, "%llu", (ull)norm->address[r]);
  for (unsigned r = X0; r <= X3; r++)
    if (!converts && (walk->pass.inputs & 1u << r))
      walk->machine.reg[r] = raw_address(walk, r);
  if (!converts && is_last(walk))
    walk->machine.reg[Y0] = emit_text(e, "slot+%llu", (ull)norm->out.address);
}

static void put_conversions(struct walk *walk) {
  struct emit *e = walk->machine.emit;
  const struct vnorm *norm = walk->norm;
  for (unsigned r = X0; r <= X3 && norm->type != DTYPE_FP32; r++) {
    if (!(walk->pass.inputs & 1u << r))
      continue;
    vmachine_order(&walk->machine, 0, 1u << r);
    emit_row(e, "%s,dst=%s,src=%s,repeat=1", vconvert_inst(e->soc, norm->type, DTYPE_FP32),
             walk->machine.reg[r], raw_address(walk, r));
  }
}

/* Steps of the pass on one part of the row; the numbers of earlier reductions are in blocks. */
static void put_steps(struct walk *walk) {
  struct vmachine *machine = &walk->machine;
  const struct step *steps = walk->norm->norm->steps;
  unsigned reductions = 0;
  for (unsigned i = 0; i < walk->pass.end; i++) {
    const struct step *step = &steps[i];
    reductions += step->kind == STEP_REDUCE;
    if (!(walk->pass.steps & 1u << i))
      continue;
    if (step->kind == STEP_TILE) {
      vmachine_step(machine, &step->vector);
      continue;
    }
    bool column = step->kind == STEP_WITH_COLUMN;
    const char *second = column
                             ? emit_text(machine->emit, "%llu,src1_block=0,src1_repeat=0",
                                         (ull)(walk->norm->blocks + (reductions - 1) * LANES_BYTES))
                             : machine->reg[step->b];
    vmachine_order(machine, reads_of(step) | (column ? 1u << VROW_BLOCKS : 0), 1u << step->dst);
    emit_row(machine->emit, "%s,dst=%s,src0=%s,src1=%s,repeat=1,type=fp32", step->inst,
             machine->reg[step->dst], machine->reg[step->a], second);
  }
}

static void put_accumulate(struct walk *walk) {
  const struct step *step = &walk->norm->norm->steps[walk->pass.end];
  ull at = (ull)walk->norm->accumulator;
  vmachine_order(&walk->machine, 1u << step->a | 1u << VROW_ACCUMULATOR, 1u << VROW_ACCUMULATOR);
  emit_row(walk->machine.emit,
           "%s,dst=%llu,src0=%llu,src1=%s,repeat=1,dst_repeat=0,src0_repeat=0,type=fp32",
           vrow_instruction((enum vrow_reduction)step->reduction), at, at,
           walk->machine.reg[step->a]);
}

static void put_store(struct walk *walk) {
  struct emit *e = walk->machine.emit;
  const struct vnorm *norm = walk->norm;
  ull bytes = vtile_bytes(norm->type);
  emit_set_flag(e, PIPE_V, PIPE_MTE3, "half");
  emit_wait_flag(e, PIPE_V, PIPE_MTE3, "half");
  emit_row(e, "%s,dst=y+(row*%llu+col)*%llu,src=slot+%llu,len_burst=cols*%llu",
           vtile_copy_name(true, norm->type), (ull)norm->tile.space.cols, bytes,
           (ull)norm->out.address, bytes);
  emit_set_flag(e, PIPE_MTE3, PIPE_V, "half");
}

/* One part of the row: comes in, is computed, and in the last pass goes out. */
static void put_part(struct walk *walk) {
  struct emit *e = walk->machine.emit;
  const struct vnorm *norm = walk->norm;
  struct vmachine *machine = &walk->machine;
  emit_wait_flag(e, PIPE_V, PIPE_MTE2, "half");
  for (unsigned r = X0; r <= X3; r++)
    if (walk->pass.inputs & 1u << r)
      put_load(walk, r);
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "half");
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "half");
  if (is_last(walk))
    emit_wait_flag(e, PIPE_MTE3, PIPE_V, "half");
  machine->written = (1u << VREGS) - 1;
  machine->mask = NULL;
  set_registers(walk);
  vmachine_count(machine, "cols");
  put_conversions(walk);
  put_steps(walk);
  if (!is_last(walk)) {
    put_accumulate(walk);
  } else if (norm->type != DTYPE_FP32) {
    vmachine_order(machine, 1u << Y0, 0);
    emit_row(e, "%s,dst=slot+%llu,src=%s,repeat=1", vconvert_inst(e->soc, DTYPE_FP32, norm->type),
             (ull)norm->out.address, machine->reg[Y0]);
  }
  emit_set_flag(e, PIPE_V, PIPE_MTE2, "half");
  if (is_last(walk))
    put_store(walk);
}

/* The number of the row that a pass is for: steps on it up to the next one on tiles, then its
 * block. */
static void put_number(struct walk *walk, unsigned number) {
  static const char *const folds[] = {"vcadd", "vcmax", "vcmin"};
  struct vmachine *machine = &walk->machine;
  struct emit *e = machine->emit;
  const struct step *step = &walk->norm->norm->steps[walk->pass.end];
  machine->mask = NULL;
  machine->written = (1u << VREGS) - 1;
  vmachine_lanes(machine, VROW_LANES);
  vmachine_order(machine, 1u << VROW_ACCUMULATOR, 1u << T1);
  emit_row(e, "%s,dst=%s,src=%llu,repeat=1%s,type=fp32", folds[step->reduction], machine->reg[T1],
           (ull)walk->norm->accumulator, step->reduction == VROW_SUM ? "" : ",order=value");
  vmachine_count(machine, "1");
  for (step++; step->kind == STEP_COLUMN || step->kind == STEP_SPREAD; step++) {
    if (step->kind == STEP_COLUMN) {
      vmachine_step(machine, &step->vector);
      continue;
    }
    vmachine_order(machine, 1u << T1, 1u << VROW_BLOCKS);
    emit_row(e, "vbrcb,dst=%llu,src=%s,repeat=1,type=uint32",
             (ull)(walk->norm->blocks + number * LANES_BYTES), machine->reg[T1]);
  }
  emit_barrier(e, PIPE_V);
}

static void put_pass(struct walk *walk, unsigned number) {
  struct emit *e = walk->machine.emit;
  const struct vtile *tile = &walk->norm->tile;
  walk->pass = plan(walk->norm->norm, number);
  if (!is_last(walk)) {
    const struct step *step = &walk->norm->norm->steps[walk->pass.end];
    emit_barrier(e, PIPE_V);
    emit_row(e, "set_vector_mask,high=0,low=%d", VROW_LANES);
    emit_row(e, "vector_dup,dst=%llu,scalar=%lld,repeat=1,type=fp32", (ull)walk->norm->accumulator,
             vscalar_bits(DTYPE_FP32, vrow_identity((enum vrow_reduction)step->reduction)));
  }
  emit_loop(e, "part", "%llu", (ull)tile->col_tiles);
  emit_let(e, "col", "part*%llu", (ull)tile->cols);
  emit_let(e, "cols", "min(%llu,%llu-col)", (ull)tile->cols, (ull)tile->space.cols);
  emit_let(e, "half", "part%%%llu", (ull)tile->buffers);
  emit_let(e, "slot", "half*%llu", (ull)tile->slot_bytes);
  put_part(walk);
  emit_endloop(e);
  if (!is_last(walk))
    put_number(walk, number);
  vmachine_rest(&walk->machine);
}

static void put_ends(struct emit *e, const struct vtile *tile, bool start) {
  emit_loop(e, start ? "first" : "last", "%llu", (ull)tile->buffers);
  for (unsigned i = 0; i < 2; i++) {
    enum pipe from = i ? PIPE_MTE3 : PIPE_V, to = i ? PIPE_V : PIPE_MTE2;
    if (start)
      emit_set_flag(e, from, to, "first");
    else
      emit_wait_flag(e, from, to, "last");
  }
  emit_endloop(e);
}

void norm_long_emit(struct emit *e, struct vnorm *norm) {
  struct walk walk = {.norm = norm, .machine = {.emit = e, .type = DTYPE_FP32}};
  walk.machine.parameter[NUMBER_MEAN - 1] = 1.0 / (double)norm->tile.space.cols;
  walk.machine.parameter[NUMBER_EPSILON - 1] = norm->epsilon;
  put_ends(e, &norm->tile, true);
  emit_comment(e, "One number of a row, of the eight that are spread at once.");
  emit_row(e, "set_vector_mask,high=0,low=8");
  emit_row(e, "vector_dup,dst=%llu,scalar=0,repeat=1,type=fp32", (ull)norm->address[T1]);
  emit_loop(e, "u", "(%llu-blk+blocks-1)/blocks", (ull)norm->tile.space.rows);
  emit_let(e, "row", "blk+u*blocks");
  for (unsigned number = 0; number < norm_passes(norm); number++)
    put_pass(&walk, number);
  emit_endloop(e);
  put_ends(e, &norm->tile, false);
}
