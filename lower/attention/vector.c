/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams of the vector cores. Each of the two takes half of a task's rows, a slice of them at
 * a time.
 *
 * Forward: probabilities of the step to come, then the cube core's product of the present step.
 * The maximum and sum of rows lie twice, for tasks of odd and even number; the factors of a step
 * wait in its slot until its values are added. A buffer holds scores and then the probabilities, or
 * partial values and then, at the end of a task, the result.
 *
 * Gradient: P = exp(scale S - max - ln(sum)) and dS = P * (dP - delta) of each step. The numbers of
 * rows lie eight times each, for tasks of odd and even number, the first one as max + ln(sum).
 *
 * Flags, of two buffers each: MTE3 to MTE2 free, MTE2 to V filled, V to MTE3 computed. Gradient: 2
 * and 3, V to MTE2 and back, the numbers of rows.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/writer.h"

enum { LANES = ROWWISE_LANES, LANES_BYTES = LANES * WORD_BYTES, FLAG_NUMBERS = 2 };
enum { ROW_MAXIMUM, ROW_SUM, ROW_DELTA };

/* Registers: scores, partial values, results; values of the task; products of the gradient and
 * numbers of rows. */
enum { R_BUFFER = X0, R_VALUES = X1, R_FOLDED = X2, R_PRODUCTS = X3, R_NUMBERS = X4 };
enum { R_MAXIMUM = Y0, R_SUM = Y1, R_FACTOR = Y2, R_FRESH = T0, R_COLUMN = T1 };

/* Below what is hidden. */
static const double lowest = -1e38;

/* ---- slices ---- */

/* The rows of the vector core that runs. */
static void put_share(struct writer *w, struct place *p) {
  const int unit = 2 * BLOCK_WORDS; /* both cores have whole blocks of numbers of rows */
  struct expr half = x_mul(x_div(x_add(p->rows, unit - 1), unit), BLOCK_WORDS);
  struct expr split = fa_let(w, p, "split", x_min(w->t.half, half));
  p->from = fa_let(w, p, "from", x_mul(x_name(w->e, "sub"), split));
  p->mine = fa_let(w, p, "mine", x_max(0, x_min(split, x_sub(p->rows, p->from))));
}

static void open_slices(struct writer *w, struct place *p) {
  struct emit *e = w->e;
  const struct attention_tiling *t = &w->t;
  struct expr slice = emit_for(e, "slice", x_ceil_div(p->mine, t->slice));
  w->r0 = emit_assigned(e, "r0", x_mul(slice, t->slice));
  w->rr = emit_assigned(e, "rr", x_min(t->slice, x_sub(p->mine, w->r0)));
  w->half = emit_assigned(e, "pair", x_mod(slice, ATTENTION_PAIR));
  w->tile = emit_assigned(e, "tile", x_add(t->buffers, x_mul(w->half, t->buffer_bytes)));
}

/* `slot` of numbers of a core's rows, from row `first` on. */
static struct expr numbers(struct writer *w, uint64_t address, struct expr slot,
                           struct expr first) {
  return x_add(x_add(address, x_mul(slot, w->t.half * WORD_BYTES)), x_mul(first, WORD_BYTES));
}

/* Rows of the slice from `first` on, with what came before still under way. */
static struct rowwise rows_of(struct writer *w, struct place *p, struct expr first) {
  const struct attention_tiling *t = &w->t;
  struct expr slot = x_add(x_mul(p->odd, 2), x_mod(p->step, 2));
  struct rowwise rows = {.n_rows = w->rr,
                         .cols = w->at->depth,
                         .pitch = t->depth,
                         .unit = {.emit = w->e,
                                  .type = DTYPE_FP32,
                                  .written = V_ALL,
                                  .reg = {[R_BUFFER] = w->tile,
                                          [R_FOLDED] = EXPR(t->folded),
                                          [R_FRESH] = EXPR(t->fresh),
                                          [R_COLUMN] = EXPR(t->column),
                                          [R_MAXIMUM] = numbers(w, t->maximum, p->odd, first),
                                          [R_SUM] = numbers(w, t->sum, p->odd, first),
                                          [R_FACTOR] = numbers(w, t->factor, slot, first),
                                          [V_ACCUMULATOR] = EXPR(t->accumulator),
                                          [V_BLOCKS] = EXPR(t->blocks)}}};
  return rows;
}

/* ---- scores ---- */

/* A slice of a tensor of the workspace: scores in single precision come in, in the type they go
 * out. */
static void copy_scores(struct writer *w, struct place *p, bool out, const char *tensor,
                        struct expr ub) {
  unsigned bytes = out ? HALF_BYTES : WORD_BYTES, unit = BLOCK_BYTES / bytes;
  uint64_t row = w->t.cols * bytes;
  struct expr slot = x_slot(w->e, tensor, p->slot, w->t.rows * row);
  struct expr gm = x_add(slot, x_mul(x_add(p->from, w->r0), row)), burst = x_mul(p->keys, bytes);
  struct expr gm_gap = x_sub(row, burst);
  struct expr ub_gap = x_sub(x_div(w->wide, unit), x_ceil_div(p->keys, unit));
  EMIT(w->e, out ? "copy_ubuf_to_gm_align_b16" : "copy_gm_to_ubuf_align_b32",
       F("dst", out ? gm : ub), F("src", out ? ub : gm), F("n_burst", w->rr), F("len_burst", burst),
       F("src_gap", out ? ub_gap : gm_gap), F("dst_gap", out ? gm_gap : ub_gap));
}

/* Scores times the scale; the mask hides some. */
static void put_scale(struct writer *w, struct place *p, struct vunit *unit) {
  vunit_count(unit, x_mul(w->rr, w->wide));
  vunit_step(unit, &(struct vstep)S("vmuls", R_BUFFER, R_BUFFER, w->at->scale));
  if (w->at->masked)
    fa_hide_masked(w, unit);
  if (w->at->window)
    fa_hide_below(w, p, unit);
  if (w->at->causal)
    fa_hide_later(w, p, unit);
}

/* Rows of scores less a number each, which is there eight times. */
static void subtract(struct writer *w, struct vunit *unit, unsigned reg, unsigned numbers_reg,
                     struct expr numbers) {
  vunit_lanes(unit, LANES);
  vunit_order(unit, V(reg) | V(numbers_reg), V(reg));
  struct expr part = emit_for(w->e, "part", x_div(w->wide, LANES));
  fa_rows_op(w, "vsub", x_add(unit->reg[reg], x_mul(part, LANES_BYTES)),
             x_div(w->wide, BLOCK_WORDS), numbers, 1, true);
  emit_end(w->e);
}

/* ---- forward: probabilities of the step to come ---- */

/*
 * One number per row, in the column. Blocks of 8 lanes are folded into one each time: a row of up
 * to 512 is 64 numbers, then 8, then 1. Shorter rows leave places that have to hold the neutral
 * number.
 */
static void reduce(struct writer *w, struct vunit *unit, enum vreduction kind) {
  struct emit *e = w->e;
  const char *inst = kind == V_SUM ? "vcgadd" : "vcgmax";
  struct expr lanes = unit->reg[V_ACCUMULATOR], folded = unit->reg[R_FOLDED];
  vunit_lanes(unit, LANES);
  vunit_order(unit, 0, V(V_ACCUMULATOR));
  emit_if(e, "narrow", x_lt(w->wide, LANES * BLOCK_WORDS));
  EMIT(e, "vector_dup", F("dst", lanes),
       F("scalar", vscalar(DTYPE_FP32, vreduction_identity(kind))), F("repeat", w->rr),
       W("type", "fp32"));
  emit_end(e);
  vunit_order(unit, V(R_BUFFER), V(V_ACCUMULATOR));
  struct expr part = emit_for(e, "part", x_div(w->wide, LANES));
  EMIT(e, inst, F("dst", x_add(lanes, x_mul(part, BLOCK_BYTES))),
       F("src", x_add(w->tile, x_mul(part, LANES_BYTES))), F("repeat", w->rr),
       F("dst_repeat", BLOCK_WORDS), F("src_repeat", x_div(w->wide, BLOCK_WORDS)),
       W("type", "fp32"));
  emit_end(e);
  VROW(unit, V(V_ACCUMULATOR), V(R_FOLDED), inst, F("dst", folded), F("src", lanes),
       F("repeat", w->rr), W("type", "fp32"));
  vunit_count(unit, x_mul(w->rr, BLOCK_WORDS));
  VROW(unit, V(R_FOLDED), V(R_COLUMN), inst, F("dst", unit->reg[R_COLUMN]), F("src", folded),
       F("repeat", 1), W("type", "fp32"));
}

/* The new maximum, the factor that the old one asks for; exp of what is left above the maximum; the
 * running sum; probabilities. */
static void put_softmax(struct writer *w, struct place *p, struct rowwise *rows) {
  static const struct vstep maximum[] = {COLUMN(B_("vmax", R_FRESH, R_MAXIMUM, R_COLUMN)),
                                         COLUMN(B_("vsub", R_FACTOR, R_MAXIMUM, R_FRESH)),
                                         COLUMN(U_("vexp", R_FACTOR, R_FACTOR)),
                                         COLUMN(S_("vadds", R_MAXIMUM, R_FRESH, 0)),
                                         SPREAD(R_FRESH),
                                         END};
  static const struct vstep sum[] = {COLUMN(B_("vmul", R_SUM, R_SUM, R_FACTOR)),
                                     COLUMN(B_("vadd", R_SUM, R_SUM, R_COLUMN)), END};
  struct vunit *unit = &rows->unit;
  fa_pad(w, p);
  put_scale(w, p, unit);
  reduce(w, unit, V_MAX);
  rowwise_steps(rows, maximum);
  subtract(w, unit, R_BUFFER, V_BLOCKS, unit->reg[V_BLOCKS]);
  vunit_count(unit, x_mul(w->rr, w->wide));
  vunit_step(unit, &(struct vstep)U("vexp", R_BUFFER, R_BUFFER));
  reduce(w, unit, V_SUM);
  rowwise_steps(rows, sum);
  vunit_count(unit, x_mul(w->rr, w->wide));
  fa_convert(w, unit, R_BUFFER, R_BUFFER);
}

/* Maxima and sums of a task's rows before its first step. */
static void begin_numbers(struct writer *w, struct place *p) {
  struct vunit unit = rows_of(w, p, EXPR(0)).unit;
  emit_if(w->e, "begin", x_eq(p->step, 0));
  emit_barrier(w->e, PIPE_V);
  unit.written = 0;
  vunit_count(&unit, w->t.half);
  vunit_step(&unit, &(struct vstep)FILL(R_MAXIMUM, lowest));
  vunit_step(&unit, &(struct vstep)FILL(R_SUM, 0));
  emit_end(w->e);
}

/* ---- gradient: probabilities and dS ---- */

/* Eight numbers of each row of the present task, from row `first` on. */
static struct expr block_numbers(struct writer *w, unsigned which, struct expr first) {
  uint64_t bytes = w->t.half * BLOCK_BYTES, all = ATTENTION_ROW_NUMBERS * bytes;
  struct expr at = x_add(w->t.statistics + which * bytes, x_mul(w->here.odd, all));
  return x_add(at, x_mul(first, BLOCK_BYTES));
}

static void load_numbers(struct writer *w) {
  static const char *const names[] = {"row_max", "row_sum", "delta"};
  struct place *p = &w->here;
  struct emit *e = w->e;
  struct expr flag = x_add(FLAG_NUMBERS, p->odd), row = x_add(p->row, p->from);
  struct vunit unit = {.emit = e, .type = DTYPE_FP32};
  emit_if(e, "begin", x_gt(p->mine, 0));
  emit_wait(e, PIPE_V, PIPE_MTE2, flag);
  for (unsigned i = 0; i < ATTENTION_ROW_NUMBERS; i++) {
    unit.reg[i] = block_numbers(w, i, EXPR(0));
    EMIT(e, "copy_gm_to_ubuf", F("dst", unit.reg[i]),
         F("src", fa_number(w, names[i], w->at->rows, p->z, row, BLOCK_BYTES)),
         F("len_burst", p->mine));
  }
  emit_handshake(e, PIPE_MTE2, PIPE_V, flag);
  vunit_count(&unit, x_mul(p->mine, BLOCK_WORDS));
  vunit_step(&unit, &(struct vstep)U("vln", ROW_SUM, ROW_SUM));
  vunit_step(&unit, &(struct vstep)B("vadd", ROW_MAXIMUM, ROW_MAXIMUM, ROW_SUM));
  emit_barrier(e, PIPE_V);
  emit_end(e);
}

/* Scores and products to probabilities and dS. */
static void put_gradients(struct writer *w, struct place *p, struct vunit *unit) {
  put_scale(w, p, unit);
  subtract(w, unit, R_BUFFER, R_NUMBERS, block_numbers(w, ROW_MAXIMUM, w->r0));
  subtract(w, unit, R_PRODUCTS, R_NUMBERS, block_numbers(w, ROW_DELTA, w->r0));
  vunit_count(unit, x_mul(w->rr, w->wide));
  vunit_step(unit, &(struct vstep)U("vexp", R_BUFFER, R_BUFFER));
  vunit_step(unit, &(struct vstep)B("vmul", R_PRODUCTS, R_PRODUCTS, R_BUFFER));
  fa_convert(w, unit, R_BUFFER, R_BUFFER);
  fa_convert(w, unit, R_PRODUCTS, R_PRODUCTS);
}

/* ---- both: the answer to scores ---- */

/* Of a step: products of the gradient lie in the other half of the buffer. */
static void put_answer(struct writer *w, struct place *p) {
  struct emit *e = w->e;
  bool gradient = w->at->gradient;
  w->wide = emit_assigned(e, "wide", x_round_up(p->keys, LANES));
  if (!gradient)
    begin_numbers(w, p);
  fa_await(e, SIGNAL_SCORES);
  open_slices(w, p);
  struct rowwise rows = rows_of(w, p, w->r0);
  struct expr *other = &rows.unit.reg[R_PRODUCTS];
  if (gradient)
    *other = emit_assigned(e, "other", x_add(w->tile, w->t.buffer_bytes / 2));
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, w->half);
  copy_scores(w, p, false, "scores", w->tile);
  if (gradient)
    copy_scores(w, p, false, "products", *other);
  if (w->at->masked)
    fa_load_mask(w, p);
  emit_handshake(e, PIPE_MTE2, PIPE_V, w->half);
  if (gradient)
    put_gradients(w, p, &rows.unit);
  else
    put_softmax(w, p, &rows);
  emit_handshake(e, PIPE_V, PIPE_MTE3, w->half);
  copy_scores(w, p, true, "probs", w->tile);
  if (gradient)
    copy_scores(w, p, true, "ds", *other);
  emit_set(e, PIPE_MTE3, PIPE_MTE2, w->half);
  emit_end(e);
  fa_signal(e, PIPE_MTE3, SIGNAL_PROBABILITIES);
}

static void put_probabilities(struct writer *w) {
  put_share(w, &w->next);
  put_answer(w, &w->next);
}

/* Each task of the gradient, with the numbers of its rows. */
static void put_gradient_tasks(struct writer *w) {
  struct emit *e = w->e;
  struct place *p = &w->here;
  fa_task(w, p, emit_for(e, "i", w->tasks));
  put_share(w, p);
  load_numbers(w);
  fa_step(w, p, emit_for(e, "s", p->steps));
  put_answer(w, p);
  emit_end(e);
  emit_if(e, "end", x_gt(p->mine, 0));
  emit_set(e, PIPE_V, PIPE_MTE2, x_add(FLAG_NUMBERS, p->odd));
  emit_end(e);
  emit_end(e);
}

/* ---- forward: values of the present step ---- */

static struct expr is_last(struct place *p) { return x_eq(x_add(p->step, 1), p->steps); }

/* Row of the slice in its head. */
static struct expr head_row(struct writer *w) {
  return x_add(x_add(w->here.row, w->here.from), w->r0);
}

/* Where in the buffer the numbers of rows lie, eight times each, behind the result: parts are
 * joined in single precision. */
static struct expr spread_at(struct writer *w, unsigned number) {
  uint64_t result_bytes = w->t.depth * (w->t.splits > 1 ? WORD_BYTES : HALF_BYTES);
  return x_add(w->tile, w->t.slice * (result_bytes + number * BLOCK_BYTES));
}

static void spread_numbers(struct writer *w, struct vunit *unit) {
  vunit_count(unit, w->rr);
  vunit_order(unit, V(R_MAXIMUM) | V(R_SUM), V(R_BUFFER));
  for (unsigned i = 0; i < 2; i++)
    EMIT(w->e, "vbrcb", F("dst", spread_at(w, i)), F("src", unit->reg[i ? R_SUM : R_MAXIMUM]),
         F("repeat", x_ceil_div(w->rr, BLOCK_WORDS)), W("type", "uint32"));
}

/* After the last step: divided by the sum, unless there are parts to join. */
static void finish(struct writer *w, struct rowwise rows) {
  static const struct vstep divided[] = {SPREAD(R_SUM), WITH_COLUMN("vdiv", R_VALUES, R_VALUES),
                                         END};
  bool whole = w->t.splits == 1;
  emit_if(w->e, "last", is_last(&w->here));
  if (whole)
    rowwise_steps(&rows, divided);
  rowwise_all(&rows);
  if (whole)
    fa_convert(w, &rows.unit, R_BUFFER, R_VALUES);
  else
    vunit_step(&rows.unit, &(struct vstep)S("vadds", R_BUFFER, R_VALUES, 0));
  if (w->at->statistics || !whole)
    spread_numbers(w, &rows.unit);
  vunit_rest(&rows.unit);
  emit_end(w->e);
}

/* Row of the slice in a tensor that has some bytes for each part of a row. */
static struct expr part_at(struct writer *w, const char *tensor, uint64_t bytes) {
  struct expr row = x_add(x_mul(w->here.z, w->at->rows), head_row(w));
  struct expr part = x_add(x_mul(row, w->t.splits), w->here.piece);
  return x_slot(w->e, tensor, part, bytes);
}

/* Maxima and sums; those of the other parts of a row lie between them. */
static void store_numbers(struct writer *w) {
  static const char *const names[2][2] = {{"row_max", "row_sum"}, {"part_max", "part_sum"}};
  bool parts = w->t.splits > 1;
  for (unsigned i = 0; i < 2; i++)
    EMIT(w->e, "copy_ubuf_to_gm_align_b32", F("dst", part_at(w, names[parts][i], BLOCK_BYTES)),
         F("src", spread_at(w, i)), F_IF(parts, "n_burst", w->rr),
         F("len_burst", x_mul(parts ? EXPR(1) : w->rr, BLOCK_BYTES)),
         F_IF(parts, "dst_gap", (w->t.splits - 1) * BLOCK_BYTES));
}

static void store_result(struct writer *w) {
  const struct attention *at = w->at;
  uint64_t row = at->depth * WORD_BYTES;
  emit_if(w->e, "out", is_last(&w->here));
  if (w->t.splits == 1)
    fa_copy_rows(w, true, "o", &at->o, at->heads, head_row(w), w->tile);
  else
    EMIT(w->e, "copy_ubuf_to_gm_align_b32", F("dst", part_at(w, "part_values", row)),
         F("src", w->tile), F("n_burst", w->rr), F("len_burst", row),
         F("src_gap", w->t.depth / BLOCK_WORDS - ceil_div(at->depth, BLOCK_WORDS)),
         F("dst_gap", (w->t.splits - 1) * row));
  if (w->t.splits > 1 || at->statistics)
    store_numbers(w);
  emit_end(w->e);
}

/* Values of the slice's rows, to device memory behind a step that is not the last, and back before
 * one that is not the first (ProcessVec2 of ops-transformer, flash_attention_score_s1s2_bn2gs1.h).
 */
static void carry_values(struct writer *w, bool out, struct expr values) {
  struct place *p = &w->here;
  uint64_t row = w->t.depth * WORD_BYTES;
  if (!w->at->carried)
    return;
  emit_if(w->e, out ? "keeps" : "kept", out ? x_lt(x_add(p->step, 1), p->steps) : x_gt(p->step, 0));
  struct expr core = x_add(x_mul(w->blk, ATTENTION_VECTORS), x_name(w->e, "sub"));
  struct expr gm = x_slot(w->e, "carried", x_add(x_mul(core, w->t.half), w->r0), row);
  EMIT(w->e, out ? "copy_ubuf_to_gm" : "copy_gm_to_ubuf", F("dst", out ? gm : values),
       F("src", out ? values : gm), F("len_burst", x_mul(w->rr, row / BLOCK_BYTES)));
  emit_end(w->e);
}

static void put_result(struct writer *w) {
  static const struct vstep steps[] = {SPREAD(R_FACTOR), WITH_COLUMN("vmul", R_VALUES, R_VALUES),
                                       B("vadd", R_VALUES, R_VALUES, R_BUFFER), END};
  struct emit *e = w->e;
  struct place *p = &w->here;
  uint64_t row = w->at->depth * WORD_BYTES, pitch = w->t.depth * WORD_BYTES;
  put_share(w, p);
  emit_if(e, "begin", x_eq(p->step, 0));
  emit_barrier(e, PIPE_V);
  fa_zero(e, w->t.result, w->t.half * pitch);
  emit_end(e);
  fa_await(e, SIGNAL_PARTIAL);
  open_slices(w, p);
  struct expr values = emit_assigned(e, "values", x_add(w->t.result, x_mul(w->r0, pitch)));
  struct rowwise rows = rows_of(w, p, w->r0);
  rows.unit.reg[R_VALUES] = values;
  emit_wait(w->e, PIPE_MTE3, PIPE_MTE2, w->half);
  struct expr slot = x_slot(w->e, "partial", p->slot, w->t.rows * row);
  fa_load_values(w, w->tile, x_add(slot, x_mul(x_add(p->from, w->r0), row)), w->rr);
  carry_values(w, false, values);
  emit_handshake(w->e, PIPE_MTE2, PIPE_V, w->half);
  rowwise_steps(&rows, steps);
  vunit_rest(&rows.unit);
  finish(w, rows);
  emit_handshake(w->e, PIPE_V, PIPE_MTE3, w->half);
  carry_values(w, true, values);
  store_result(w);
  emit_set(w->e, PIPE_MTE3, PIPE_MTE2, w->half);
  emit_end(e);
}

/* ---- the streams ---- */

static void put_flags(struct writer *w, bool set) {
  struct expr id = emit_slots(w->e, set, "vec_", ATTENTION_PAIR);
  emit_flag_of(w->e, set, PIPE_MTE3, PIPE_MTE2, id);
  if (w->at->gradient)
    emit_flag_of(w->e, set, PIPE_V, PIPE_MTE2, x_add(FLAG_NUMBERS, id));
  emit_end(w->e);
}

/* Clears what is read and not copied before. Gradient: the last lanes of rows. Forward: numbers of
 * rows are spread 8 at a time, and there may be fewer; rows of values are whole fractals, and
 * copies leave out up to a block. */
static void clear(struct writer *w) {
  const struct attention_tiling *t = &w->t;
  emit_plain(w->e, "set_mask_count");
  if (w->at->gradient || t->depth - w->at->depth >= BLOCK_WORDS) {
    fa_zero(w->e, t->buffers, ATTENTION_PAIR * t->buffer_bytes);
    emit_barrier(w->e, PIPE_ALL);
  }
  if (!w->at->gradient)
    fa_zero(w->e, t->maximum, t->ub_bytes - t->maximum);
  if (w->at->masked)
    emit_barrier(w->e, PIPE_ALL);
}

static void put_step(struct writer *w, struct expr more) {
  emit_if(w->e, "ahead", more);
  put_probabilities(w);
  emit_end(w->e);
  put_result(w);
}

void fa_vector_stream(struct writer *w) {
  emit_stream(w->e, CORE_AIV);
  emit_kernel_start(w->e, KERNEL_ATTENTION);
  fa_count_tasks(w);
  clear(w);
  if (!w->at->gradient) {
    fa_stream(w, "The first probabilities.", put_flags, put_probabilities, put_step);
    return;
  }
  put_flags(w, true);
  put_gradient_tasks(w);
  emit_comment(w->e, "Nothing stays set.");
  put_flags(w, false);
}
