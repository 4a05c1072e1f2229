/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and normalisations of rows that UB cannot hold: a pass over the row per reduction. */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/rows/norm.h"

enum { LANES_BYTES = ROWWISE_LANES * 4 };

/* ---- which steps a pass needs ---------------------------------------------------------------- */

static bool on_tiles(const struct vstep *step) {
  return step->form != VFORM_REDUCE && step->form != VFORM_SPREAD && !step->column;
}

unsigned norm_passes(const struct norm *norm) {
  unsigned passes = 1;
  for (const struct vstep *step = norm->steps; step->form != VFORM_END; step++)
    passes += step->form == VFORM_REDUCE;
  return passes;
}

struct pass {
  unsigned number;
  unsigned end;    /* of its steps: a reduction, or the end of the program */
  uint32_t steps;  /* bit per step that it executes */
  uint32_t inputs; /* bit per register that it loads */
  bool last;
};

static struct pass plan(const struct norm *norm, unsigned number) {
  struct pass pass = {.number = number};
  unsigned reductions = 0;
  for (; norm->steps[pass.end].form != VFORM_END; pass.end++)
    if (norm->steps[pass.end].form == VFORM_REDUCE && reductions++ == number)
      break;
  pass.last = norm->steps[pass.end].form == VFORM_END;
  pass.inputs = !pass.last ? V(norm->steps[pass.end].a) : norm->sum ? V(Y0) | V(Y1) : V(Y0);
  for (unsigned i = pass.end; i-- > 0;) {
    const struct vstep *step = &norm->steps[i];
    if (!on_tiles(step) || !(pass.inputs & V(step->dst)))
      continue;
    pass.steps |= 1u << i;
    pass.inputs = (pass.inputs & ~V(step->dst)) | vstep_reads(step);
  }
  return pass;
}

void norm_long_split(const struct lower_job *job, struct vnorm *norm, unsigned halvings) {
  struct vtile *tile = &norm->kernel.tile;
  uint64_t most =
      vtile_most_cols(job, tile, ROWWISE_LANES, 1, ceil_div(tile->space.cols, ROWWISE_LANES) - 1);
  uint64_t parts = ceil_div(tile->space.cols, max_u64(most >> halvings, 1) * ROWWISE_LANES);
  tile->cols = round_up(ceil_div(tile->space.cols, parts), ROWWISE_LANES);
  tile->blocks = min_u64(tile->space.rows, job->cores);
  vtile_fit(job, tile);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Where the number of a reduction stays, as a block. */
static struct expr blocks_of(const struct vnorm *norm, unsigned reduction) {
  return EXPR(norm->address[V_BLOCKS] + reduction * LANES_BYTES);
}

/* Steps of the pass on one part of the row. */
static void put_steps(const struct vnorm *norm, struct rowwise *rows, const struct pass *pass) {
  const struct vstep *steps = norm->norm->steps;
  unsigned reductions = 0;
  for (unsigned i = 0; i < pass->end; i++) {
    reductions += steps[i].form == VFORM_REDUCE;
    if (!(pass->steps & 1u << i))
      continue;
    rows->unit.reg[V_BLOCKS] = blocks_of(norm, reductions - 1);
    rowwise_step(rows, &steps[i]);
  }
}

/* One part of the row: comes in, is computed, and in the last pass goes out. */
static void put_part(struct emit *e, struct vnorm *norm, const struct pass *pass) {
  struct vtile *tile = &norm->kernel.tile;
  struct rowwise rows = rowwise_of(e, tile, norm->pitch);
  const struct vstep *end = &norm->norm->steps[pass->end];
  rows.single = tile->n_cols;
  emit_wait(e, PIPE_V, PIPE_MTE2, tile->flag_id);
  for (unsigned r = X0; r <= X3; r++)
    if (pass->inputs & V(r))
      vtile_load(e, tile, r < X2 ? &norm->in[r - X0] : &norm->weight[r - X2]);
  emit_handshake(e, PIPE_MTE2, PIPE_V, tile->flag_id);
  if (pass->last)
    emit_wait(e, PIPE_MTE3, PIPE_V, tile->flag_id);
  rowwise_all(&rows);
  norm_set_registers(norm, &rows, pass->inputs, pass->last);
  put_steps(norm, &rows, pass);
  if (pass->last)
    norm_put_results(norm, &rows);
  else
    rowwise_accumulate(&rows, end->reduction, end->a);
  emit_set(e, PIPE_V, PIPE_MTE2, tile->flag_id);
  if (!pass->last)
    return;
  emit_handshake(e, PIPE_V, PIPE_MTE3, tile->flag_id);
  vtile_store(e, tile, &norm->out);
  if (norm->norm->sum)
    vtile_store(e, tile, &norm->sum);
  emit_set(e, PIPE_MTE3, PIPE_V, tile->flag_id);
}

static void put_identity(struct emit *e, const struct vnorm *norm, enum vreduction reduction) {
  emit_barrier(e, PIPE_V);
  vmask_count(e, ROWWISE_LANES);
  vfill(e, norm->address[V_ACCUMULATOR], vscalar(DTYPE_FP32, vreduction_identity(reduction)),
        "fp32");
}

/* The number of the row that a pass is for: steps on columns, then its block. */
static void put_number(struct emit *e, const struct vnorm *norm, const struct pass *pass) {
  struct rowwise rows = rowwise_of(e, &norm->kernel.tile, norm->pitch);
  struct vunit *unit = &rows.unit;
  const struct vstep *step = &norm->norm->steps[pass->end];
  norm_set_registers(norm, &rows, 0, false);
  unit->reg[V_BLOCKS] = blocks_of(norm, pass->number);
  vunit_lanes(unit, ROWWISE_LANES);
  vunit_fold(unit, V(V_ACCUMULATOR), V(T1), step->reduction, unit->reg[T1],
             unit->reg[V_ACCUMULATOR], EXPR(1), ROWWISE_LANES * 4 / BLOCK_BYTES);
  rowwise_column(&rows);
  for (step++; step->column || step->form == VFORM_SPREAD; step++)
    rowwise_step(&rows, step);
  emit_barrier(e, PIPE_V);
}

static void put_pass(struct emit *e, struct vnorm *norm, unsigned number) {
  struct vtile *tile = &norm->kernel.tile;
  const struct pass pass = plan(norm->norm, number);
  if (!pass.last)
    put_identity(e, norm, norm->norm->steps[pass.end].reduction);
  struct expr part = emit_for(e, "part", tile->col_tiles);
  tile->col = emit_named(e, "col", x_mul(part, tile->cols));
  tile->n_cols = emit_named(e, "cols", x_min(tile->cols, x_sub(tile->space.cols, tile->col)));
  tile->flag_id = emit_assigned(e, "half", x_mod(part, tile->buffers));
  tile->slot = emit_assigned(e, "slot", x_mul(tile->flag_id, tile->slot_bytes));
  put_part(e, norm, &pass);
  emit_end(e);
  if (!pass.last)
    put_number(e, norm, &pass);
}

void norm_long_emit(struct emit *e, struct vnorm *norm) {
  struct vtile *tile = &norm->kernel.tile;
  vtile_ends(e, tile, true);
  emit_comment(e, "One number of a row, of the eight that are spread at once.");
  vmask_count(e, 8);
  vfill(e, norm->address[T1], 0, "fp32");
  tile->row = emit_units(e, tile->space.rows, "row");
  tile->n_rows = EXPR(1);
  for (unsigned number = 0; number < norm_passes(norm->norm); number++)
    put_pass(e, norm, number);
  emit_end(e);
  vtile_ends(e, tile, false);
}
