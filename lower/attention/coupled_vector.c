/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the vector unit of a coupled core does. Scores, probabilities, products and values lie in
 * columns of 16: all rows of the first 16 keys, then those of the next. A number of a row is there
 * 16 times, as a column; so it is for each column what a second source is.
 *
 * The maximum of a row leaves the 16 lanes of a column in half precision, whose instruction for
 * blocks of 32 bytes every chip has, and a transposition with itself spreads the numbers. Rounding
 * does no harm: probabilities and their sums have the same factor.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/coupled.h"
#include "lower/attention/writer.h"

enum { LANES = ROWWISE_LANES, FLAG_PRODUCT = 2, FLAG_PROBABILITIES = 0, FLAG_RESULT = 1 };
enum { FLAG_MASK = 0 };
enum { COLUMN = FRACTAL_ROWS, COLUMN_BYTES = COLUMN * HALF_BYTES };

/* Registers. */
enum {
  R_SCORES = X0,
  R_PROBABILITIES = X1,
  R_HALF = X2,
  R_NUMBERS = X3,
  R_PRODUCT = X4,
  R_MASK = X5
};
enum { R_MAXIMUM = Y0, R_VALUES = Y1, R_FACTOR = Y2, R_FRESH = T0, R_RESULT = T1, R_SUMS = T2 };
enum { R_ROW_MAX = T3, R_ROW_SUM = T3 + 1 };

/* Below what is hidden, and still a number in half precision. */
static const double lowest = -65504;

static struct vunit unit_of(struct writer *w, struct place *p) {
  const struct attention_coupled *at = &w->t.coupled;
  struct expr slot = x_mod(x_add(p->odd, p->step), ATTENTION_PAIR);
  uint64_t factor_bytes = w->t.rows * COLUMN * WORD_BYTES;
  struct expr pair = w->at->statistics ? x_mul(p->odd, factor_bytes) : EXPR(0);
  return (struct vunit){.emit = w->e,
                        .type = DTYPE_FP32,
                        .written = V_ALL,
                        .reg = {[R_SCORES] = EXPR(at->scores),
                                [R_PROBABILITIES] = EXPR(at->probabilities),
                                [R_HALF] = EXPR(at->half),
                                [R_NUMBERS] = EXPR(at->numbers),
                                [R_PRODUCT] = EXPR(at->product),
                                [R_MASK] = EXPR(at->mask),
                                [R_MAXIMUM] = x_add(at->maximum, pair),
                                [R_ROW_MAX] = EXPR(at->statistics),
                                [R_ROW_SUM] = EXPR(at->statistics + factor_bytes),
                                [R_VALUES] = EXPR(at->values),
                                [R_FACTOR] = x_add(at->factor, x_mul(slot, factor_bytes)),
                                [R_FRESH] = EXPR(at->fresh),
                                [R_RESULT] = EXPR(at->result)}};
}

/* Byte of column `j`. */
static struct expr column_at(struct place *p, struct expr base, struct expr j) {
  return x_add(base, x_mul(j, x_mul(p->each, WORD_BYTES)));
}

void fa_with_column(struct writer *w, struct vunit *unit, struct place *p, const char *inst,
                    unsigned reg, struct expr columns, uint64_t most, struct expr column) {
  bool by_rows = w->t.rows * COLUMN / LANES < most;
  struct expr all = unit->reg[reg], one = EXPR(1), stride = x_div(p->each, BLOCK_WORDS);
  if (by_rows)
    vunit_lanes(unit, LANES);
  else
    vunit_count(unit, p->each);
  struct expr j = emit_for(unit->emit, "j", by_rows ? x_div(p->each, LANES) : columns);
  struct expr four = x_mul(j, LANES * WORD_BYTES);
  struct expr at = by_rows ? x_add(all, four) : column_at(p, all, j);
  EMIT(unit->emit, inst, F("dst", at), F("src0", at),
       F("src1", by_rows ? x_add(column, four) : column), F("repeat", by_rows ? columns : one),
       F_IF(by_rows, "dst_repeat", stride), F_IF(by_rows, "src0_repeat", stride),
       F_IF(by_rows, "src1_repeat", 0), W("type", "fp32"));
  emit_end(unit->emit);
}

/* ---- scores that are not seen ---- */

static void put_lowest(struct emit *e, struct expr dst, struct expr repeat, struct expr stride) {
  EMIT(e, "vector_dup", F("dst", dst), F("scalar", vscalar(DTYPE_FP32, lowest)),
       F("repeat", repeat), F_IF(!x_is(stride, BLOCK_WORDS), "dst_repeat", stride),
       W("type", "fp32"));
}

/* Lanes of a row of a column from `lane` on, as bits. */
static struct expr lanes_from(struct expr lane) {
  struct expr below = EXPR(1);
  for (unsigned bit = 0; bit < 4; bit++)
    below = x_mul(below, x_add(1, x_mul((1 << (1 << bit)) - 1, x_mod(x_div(lane, 1 << bit), 2))));
  return x_sub(1 << COLUMN, below);
}

/* The same of four rows: the last lane of each is one of them, so that the bits are a negative
 * number. */
static struct expr of_four_rows(struct expr lanes) {
  const int64_t three = INT64_C(0x000100010001), fourth = INT64_C(1) << (3 * COLUMN);
  return x_add(x_mul(x_sub(lanes, 1 << COLUMN), fourth), x_mul(lanes, three));
}

/* Behind the last key: the lanes of its column, and the columns up to those of a whole step. */
static void hide_behind(struct writer *w, struct place *p, struct vunit *unit) {
  struct emit *e = w->e;
  struct expr columns = EXPR(w->t.cols / COLUMN), lane = x_mod(p->keys, COLUMN);
  vunit_order(unit, 0, V(R_SCORES));
  emit_if(e, "part", x_lt(p->wide, columns));
  vmask_count(e, x_mul(p->each, x_sub(columns, p->wide)));
  put_lowest(e, column_at(p, unit->reg[R_SCORES], p->wide), EXPR(1), EXPR(BLOCK_WORDS));
  emit_end(e);
  emit_if(e, "lanes", x_gt(lane, 0));
  emit_plain(e, "set_mask_norm");
  struct expr lanes = emit_assigned(e, "last", lanes_from(emit_assigned(e, "lane", lane)));
  EMIT(e, "set_vector_mask", F("high", 0), F("low", of_four_rows(lanes)));
  put_lowest(e, column_at(p, unit->reg[R_SCORES], x_sub(p->wide, 1)),
             x_mul(p->tall, COLUMN * COLUMN / LANES), EXPR(BLOCK_WORDS));
  emit_plain(e, "set_mask_count");
  emit_end(e);
  vunit_forget(unit);
}

/* Row by row what a causal mask hides. */
static void hide_rows(struct writer *w, struct place *p, struct expr scores, struct expr first) {
  struct emit *e = w->e;
  emit_plain(e, "set_mask_norm");
  struct expr r = emit_for(e, "r", x_min(p->rows, x_sub(p->keys, first)));
  struct expr seen = emit_assigned(e, "seen", x_max(0, x_add(first, r)));
  struct expr column = emit_assigned(e, "column", x_div(seen, COLUMN));
  struct expr row = x_add(scores, x_mul(r, COLUMN * WORD_BYTES));
  EMIT(e, "set_vector_mask", F("high", 0),
       F("low", lanes_from(emit_assigned(e, "lane", x_mod(seen, COLUMN)))));
  put_lowest(e, column_at(p, row, column), EXPR(1), EXPR(BLOCK_WORDS));
  EMIT(e, "set_vector_mask", F("high", 0), F("low", (1 << COLUMN) - 1));
  put_lowest(e, column_at(p, row, x_add(column, 1)), x_sub(x_sub(p->wide, column), 1),
             x_div(p->each, BLOCK_WORDS));
  emit_end(e);
  emit_plain(e, "set_mask_count");
}

/* The same where the edge goes through the corners of fractals: of each column, fractals above the
 * edge are hidden whole, and half of the one on the edge. */
static void hide_fractals(struct writer *w, struct place *p, struct expr scores,
                          struct expr first) {
  const int square = COLUMN * COLUMN;
  struct emit *e = w->e;
  struct expr edge = emit_assigned(e, "edge", x_div(x_add(first, w->t.rows - 1), COLUMN));
  uint64_t high = w->t.rows / COLUMN; /* so that no quotient is negative */
  struct expr begin = emit_assigned(e, "begin", x_max(0, x_sub(edge, high)));
  struct expr j = emit_for(e, "column", x_sub(p->wide, begin)), column = x_add(begin, j);
  struct expr above = emit_assigned(e, "above", x_add(x_sub(column, edge), high));
  struct expr at = column_at(p, scores, column);
  emit_if(e, "whole", x_gt(above, 0));
  vmask_count(e, x_mul(x_min(above, p->tall), square));
  put_lowest(e, at, EXPR(1), EXPR(BLOCK_WORDS));
  emit_end(e);
  emit_if(e, "half", x_lt(above, p->tall));
  at = x_add(at, x_mul(above, square * WORD_BYTES));
  vmask_count(e, square);
  EMIT(e, "vmin", F("dst", at), F("src0", at), F("src1", w->t.coupled.triangle), F("repeat", 1),
       W("type", "fp32"));
  emit_end(e);
  emit_end(e);
}

void fa_hide_later_columns(struct writer *w, struct place *p, struct vunit *unit) {
  const struct attention *at = w->at;
  vunit_order(unit, 0, V(R_SCORES));
  struct expr first =
      emit_assigned(w->e, "first", x_sub(x_add(p->row, at->keys - at->rows + 1), p->key));
  emit_if(w->e, "hides", x_lt(first, p->keys));
  (attention_has_triangle(at) ? hide_fractals : hide_rows)(w, p, unit->reg[R_SCORES], first);
  emit_end(w->e);
  vunit_forget(unit);
}

/* 16 rows of a column: what the edge does not hide is larger than all scores, so that the smaller
 * number of both is what stays. */
static void put_triangle(struct writer *w) {
  const double largest = 3e38;
  struct emit *e = w->e;
  struct expr all = EXPR(w->t.coupled.triangle);
  vmask_count(e, COLUMN * COLUMN);
  vfill(e, all, vscalar(DTYPE_FP32, largest), "fp32");
  emit_barrier(e, PIPE_V);
  emit_plain(e, "set_mask_norm");
  struct expr row = emit_for(e, "row", COLUMN - 1);
  EMIT(e, "set_vector_mask", F("high", 0), F("low", lanes_from(x_add(row, 1))));
  put_lowest(e, x_add(all, x_mul(row, COLUMN * WORD_BYTES)), EXPR(1), EXPR(BLOCK_WORDS));
  emit_end(e);
  emit_plain(e, "set_mask_count");
  emit_barrier(e, PIPE_V);
}

/* What a tensor hides: its bytes become numbers in half precision, where probabilities will be, and
 * a number below all scores is added as often as they say. Rows of bytes become columns on the way:
 * of each 4 rows a block. */
static void hide_masked(struct writer *w, struct place *p, struct vunit *unit) {
  struct emit *e = w->e;
  uint64_t blocks = w->t.cols / COLUMN;
  emit_handshake(e, PIPE_MTE2, PIPE_V, FLAG_MASK);
  vunit_count(unit, x_mul(p->tall, COLUMN * w->t.cols));
  vunit_convert(unit, V(R_MASK), V(R_PROBABILITIES), DTYPE_UINT8, DTYPE_FP16,
                unit->reg[R_PROBABILITIES], unit->reg[R_MASK]);
  vunit_count(unit, COLUMN);
  VROW(unit, 0, V(R_HALF), "vector_dup", F("dst", unit->reg[R_HALF]),
       F("scalar", vscalar(DTYPE_FP16, lowest)), F("repeat", 1), W("type", "fp16"));
  vunit_count(unit, p->each);
  vunit_order(unit, V(R_PROBABILITIES) | V(R_HALF) | V(R_SCORES), V(R_SCORES));
  struct expr j = emit_for(e, "j", p->wide);
  EMIT(e, "vmla_f162f32", F("dst", column_at(p, unit->reg[R_SCORES], j)),
       F("src0", x_add(unit->reg[R_PROBABILITIES], x_mul(j, BLOCK_BYTES))),
       F("src1", unit->reg[R_HALF]), F("repeat", 1), F("src0_block", blocks),
       F("src0_repeat", blocks * LANES / COLUMN), F("src1_block", 0), F("src1_repeat", 0));
  emit_end(e);
  emit_set(e, PIPE_V, PIPE_MTE2, FLAG_MASK);
}

/* ---- probabilities ---- */

/* Halves of all columns against each other, until a single column is left: the middle column of an
 * odd number is in both. */
static void largest_column(struct writer *w, struct place *p, struct vunit *unit) {
  struct expr src = unit->reg[R_SCORES];
  unsigned from = R_SCORES;
  for (uint64_t count = w->t.cols / COLUMN, half; count > 1 || from == R_SCORES; count = half) {
    half = ceil_div(count, 2);
    unsigned to = half == 1 ? R_FRESH : R_PROBABILITIES;
    vunit_count(unit, x_mul(p->each, half));
    VROW(unit, V(from), V(to), "vmax", F("dst", unit->reg[to]), F("src0", src),
         F("src1", column_at(p, src, EXPR(count - half))), F("repeat", 1), W("type", "fp32"));
    src = unit->reg[to];
    from = to;
  }
}

/* The maximum of each row, as a column. */
static void put_maximum(struct writer *w, struct place *p, struct vunit *unit) {
  largest_column(w, p, unit);
  vunit_count(unit, p->each);
  vunit_convert(unit, V(R_FRESH), V(R_HALF), DTYPE_FP32, DTYPE_FP16, unit->reg[R_HALF],
                unit->reg[R_FRESH]);
  VROW(unit, V(R_HALF), V(R_NUMBERS), "vcgmax", F("dst", unit->reg[R_NUMBERS]),
       F("src", unit->reg[R_HALF]), F("repeat", 1), W("type", "fp16"));
  struct expr many = x_gt(p->tall, 1); /* a single repeat starts a stride behind */
  VROW(unit, V(R_NUMBERS), V(R_HALF), "scatter_vnchwconv_b16", F("dst", unit->reg[R_HALF]),
       F("src", unit->reg[R_NUMBERS]), F("repeat", p->tall), F("src_step", 0),
       F("dst_repeat", x_mul(many, COLUMN)), F("src_repeat", many));
  vunit_convert(unit, V(R_HALF), V(R_FRESH), DTYPE_FP16, DTYPE_FP32, unit->reg[R_FRESH],
                unit->reg[R_HALF]);
}

/* The maximum of all steps up to this one, and the factor that the old one asks for. */
static void put_factor(struct writer *w, struct place *p, struct vunit *unit) {
  static const struct vstep larger[] = {B("vmax", R_FRESH, R_FRESH, R_MAXIMUM), END};
  static const struct vstep factor[] = {B("vsub", R_FACTOR, R_MAXIMUM, R_FRESH),
                                        U("vexp", R_FACTOR, R_FACTOR), END};
  static const struct vstep kept[] = {S("vadds", R_MAXIMUM, R_FRESH, 0), END};
  bool single = attention_is_single(w->at, &w->t);
  if (single && !w->at->masked && !w->at->statistics)
    return;
  emit_if(w->e, "begin", x_eq(p->step, 0));
  emit_barrier(w->e, PIPE_V);
  vmask_count(w->e, p->each);
  vfill(w->e, unit->reg[R_MAXIMUM], vscalar(DTYPE_FP32, lowest), "fp32");
  emit_end(w->e);
  unit->written |= V(R_MAXIMUM);
  vunit_forget(unit);
  vunit_count(unit, p->each);
  vunit_steps(unit, larger);
  if (single && w->at->statistics)
    vunit_steps(unit, kept);
  if (single)
    return;
  /* The first step has none: the slot may still hold that of the last step of the task before. */
  emit_if(w->e, "later", x_gt(p->step, 0));
  vunit_steps(unit, factor);
  emit_end(w->e);
  unit->written = unit->read = V_ALL; /* its barriers may not have been there */
  vunit_steps(unit, kept);
}

void fa_coupled_softmax(struct writer *w, struct place *p) {
  struct vunit unit = unit_of(w, p);
  struct expr all = x_mul(p->each, p->wide);
  vunit_count(&unit, all);
  if (w->at->scale != 1)
    vunit_step(&unit, &(struct vstep)S("vmuls", R_SCORES, R_SCORES, w->at->scale));
  emit_wait(w->e, PIPE_MTE3, PIPE_V, FLAG_PROBABILITIES);
  if (w->at->masked)
    hide_masked(w, p, &unit);
  if (w->at->causal)
    fa_hide_later_columns(w, p, &unit);
  hide_behind(w, p, &unit);
  put_maximum(w, p, &unit);
  put_factor(w, p, &unit);
  vunit_order(&unit, V(R_SCORES) | V(R_FRESH), V(R_SCORES));
  fa_with_column(w, &unit, p, "vsub", R_SCORES, p->wide, w->t.cols / COLUMN, unit.reg[R_FRESH]);
  vunit_count(&unit, all);
  vunit_step(&unit, &(struct vstep)U("vexp", R_SCORES, R_SCORES));
  fa_convert(w, &unit, R_PROBABILITIES, R_SCORES);
  vunit_rest(&unit);
}

/* ---- values ---- */

/* The product with V comes to UB, behind its last column the sums of rows. */
static void take_product(struct writer *w, struct place *p, uint64_t dst) {
  EMIT(w->e, "copy_matrix_cc_to_ubuf", F("dst", dst), F("src", x_name(w->e, "o0")),
       F("len_burst", x_mul(p->tall, w->t.depth / COLUMN + 1)), W("type", "fp32"));
}

static void add_product(struct writer *w, struct place *p, struct vunit *unit) {
  struct emit *e = w->e;
  uint64_t columns = w->t.depth / COLUMN + 1;
  emit_if(e, "begin", x_eq(p->step, 0));
  take_product(w, p, w->t.coupled.values);
  emit_end(e);
  emit_if(e, "later", x_gt(p->step, 0));
  take_product(w, p, w->t.coupled.product);
  fa_with_column(w, unit, p, "vmul", R_VALUES, EXPR(columns), columns, unit->reg[R_FACTOR]);
  emit_barrier(e, PIPE_V);
  vunit_count(unit, x_mul(p->each, columns));
  unit->written = unit->read = 0;
  vunit_step(unit, &(struct vstep)B("vadd", R_VALUES, R_VALUES, R_PRODUCT));
  emit_end(e);
  vunit_forget(unit);
}

static void store_result(struct writer *w, struct place *p) {
  const struct attention *at = w->at;
  struct expr column = emit_for(w->e, "column", at->depth / COLUMN);
  struct expr gm = fa_row(w, "o", &at->o, at->heads, 1, p->z, p->row);
  EMIT(w->e, "copy_ubuf_to_gm", F("dst", x_add(gm, x_mul(column, COLUMN_BYTES))),
       F("src", x_add(w->t.coupled.result, x_mul(column, x_mul(p->each, HALF_BYTES)))),
       F("n_burst", p->rows), F("len_burst", 1),
       F("dst_gap", at->o.row * HALF_BYTES / BLOCK_BYTES - 1));
  emit_end(w->e);
}

/* Maxima and sums of rows, eight times each. */
static void store_statistics(struct writer *w, struct place *p) {
  static const char *const names[] = {"row_max", "row_sum"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    EMIT(w->e, "copy_ubuf_to_gm",
         F("dst", fa_number(w, names[i], w->at->rows, p->z, p->row, BLOCK_BYTES)),
         F("src", w->t.coupled.statistics + i * w->t.rows * COLUMN * WORD_BYTES),
         F("n_burst", p->rows), F("len_burst", 1), F("src_gap", 1));
}

void fa_coupled_update(struct writer *w, struct place *p) {
  static const struct vstep kept[] = {S("vadds", R_ROW_MAX, R_MAXIMUM, 0),
                                      S("vadds", R_ROW_SUM, R_SUMS, 0), END};
  struct emit *e = w->e;
  struct vunit unit = unit_of(w, p);
  uint64_t columns = w->t.depth / COLUMN;
  struct expr sums = column_at(p, unit.reg[R_VALUES], EXPR(columns));
  emit_barrier(e, PIPE_V);
  unit.written = 0;
  if (attention_is_single(w->at, &w->t))
    take_product(w, p, w->t.coupled.values);
  else
    add_product(w, p, &unit);
  emit_set(e, PIPE_V, PIPE_M, FLAG_PRODUCT);
  emit_if(e, "last", x_eq(x_add(p->step, 1), p->steps));
  emit_barrier(e, PIPE_V);
  fa_with_column(w, &unit, p, "vdiv", R_VALUES, EXPR(columns), columns, sums);
  unit.written = V_ALL;
  emit_wait(e, PIPE_MTE3, PIPE_V, FLAG_RESULT);
  vunit_count(&unit, x_mul(p->each, columns));
  fa_convert(w, &unit, R_RESULT, R_VALUES);
  if (w->at->statistics) {
    unit.reg[R_SUMS] = sums;
    vunit_count(&unit, p->each);
    vunit_steps(&unit, kept);
  }
  emit_handshake(e, PIPE_V, PIPE_MTE3, FLAG_RESULT);
  store_result(w, p);
  if (w->at->statistics)
    store_statistics(w, p);
  emit_set(e, PIPE_MTE3, PIPE_V, FLAG_RESULT);
  vunit_rest(&unit);
  emit_end(e);
}

/* Rows of the mask behind the last of a task are read. */
void fa_coupled_clear(struct writer *w) {
  struct emit *e = w->e;
  emit_plain(e, "set_mask_count");
  if (w->at->causal && attention_has_triangle(w->at))
    put_triangle(w);
  if (!w->at->masked)
    return;
  fa_zero(e, w->t.coupled.mask, w->t.rows * w->t.cols);
  emit_barrier(e, PIPE_ALL);
}
