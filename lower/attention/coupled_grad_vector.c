/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the vector unit of a coupled core does for the gradient of flash_attention: P = exp(scale S
 * - max - ln(sum)) and dS = P * (dP - delta) of a step, then what leaves. All lies in columns of
 * 16; device memory has a number of a row eight times, and two copies make that a row of a column.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/coupled.h"
#include "lower/attention/writer.h"

enum { COLUMN = FRACTAL_ROWS };
enum { ROW_MAXIMUM, ROW_SUM, ROW_DELTA };

/* Registers: numbers of rows, of which the first becomes max + ln(sum). */
enum { R_SCORES = X0, R_PRODUCTS = X1, R_PROBABILITIES = X2, R_GRADIENTS = X3, R_RESULT = X4 };
enum { R_MAXIMUM = Y0, R_SUM = Y1, R_DELTA = Y2 };

static struct expr number_at(struct writer *w, struct place *p, unsigned which) {
  uint64_t bytes = w->t.rows * COLUMN * WORD_BYTES;
  struct expr slot = x_mul(p->slot, ATTENTION_ROW_NUMBERS * bytes);
  return x_add(x_add(w->t.coupled.numbers, which * bytes), slot);
}

/* What came before is under way. */
static struct vunit unit_of(struct writer *w, struct place *p) {
  const struct attention_coupled *at = &w->t.coupled;
  return (struct vunit){.emit = w->e,
                        .type = DTYPE_FP32,
                        .written = V_ALL,
                        .read = V_ALL,
                        .reg = {[R_SCORES] = EXPR(at->scores),
                                [R_PRODUCTS] = EXPR(at->product),
                                [R_PROBABILITIES] = EXPR(at->probabilities),
                                [R_GRADIENTS] = EXPR(at->gradients),
                                [R_RESULT] = EXPR(at->result),
                                [R_MAXIMUM] = number_at(w, p, ROW_MAXIMUM),
                                [R_SUM] = number_at(w, p, ROW_SUM),
                                [R_DELTA] = number_at(w, p, ROW_DELTA)}};
}

void fa_grad_load_numbers(struct writer *w, struct place *p) {
  static const char *const names[] = {"row_max", "row_sum", "delta"};
  struct emit *e = w->e;
  emit_wait(e, PIPE_V, PIPE_MTE2, p->slot);
  for (unsigned i = 0; i < ATTENTION_ROW_NUMBERS; i++)
    for (unsigned half = 0; half < COLUMN / BLOCK_WORDS; half++)
      EMIT(e, "copy_gm_to_ubuf", F("dst", x_add(number_at(w, p, i), half * BLOCK_BYTES)),
           F("src", fa_number(w, names[i], w->at->rows, p->z, p->row, BLOCK_BYTES)),
           F("n_burst", p->rows), F("len_burst", 1), F("dst_gap", COLUMN / BLOCK_WORDS - 1));
  emit_handshake(e, PIPE_MTE2, PIPE_V, p->slot);
}

/* A product of the cube comes to UB: fractals of 16 x 16. */
static void take_product(struct vunit *unit, unsigned number, unsigned reg, const char *product,
                         struct expr fractals) {
  struct emit *e = unit->emit;
  emit_wait(e, PIPE_M, PIPE_V, number);
  VROW(unit, 0, V(reg), "copy_matrix_cc_to_ubuf", F("dst", unit->reg[reg]),
       F("src", x_name(e, product)), F("len_burst", fractals), W("type", "fp32"));
  emit_set(e, PIPE_V, PIPE_M, number);
}

/* Each column of 16 keys less the numbers of rows. */
static void subtract(struct writer *w, struct place *p, struct vunit *unit, unsigned reg,
                     unsigned numbers) {
  vunit_order(unit, V(reg) | V(numbers), V(reg));
  fa_with_column(w, unit, p, "vsub", reg, p->wide, w->t.cols / COLUMN, unit->reg[numbers]);
}

void fa_grad_answer(struct writer *w, struct place *p) {
  struct vunit unit = unit_of(w, p);
  struct expr all = x_mul(p->each, p->wide), fractals = x_mul(p->tall, p->wide);
  vunit_count(&unit, p->each);
  vunit_step(&unit, &(struct vstep)U("vln", R_SUM, R_SUM));
  vunit_step(&unit, &(struct vstep)B("vadd", R_MAXIMUM, R_MAXIMUM, R_SUM));
  take_product(&unit, FA_GRAD_SCORES, R_SCORES, "s0", fractals);
  vunit_count(&unit, all);
  if (w->at->scale != 1)
    vunit_step(&unit, &(struct vstep)S("vmuls", R_SCORES, R_SCORES, w->at->scale));
  if (w->at->causal)
    fa_hide_later_columns(w, p, &unit);
  subtract(w, p, &unit, R_SCORES, R_MAXIMUM);
  vunit_count(&unit, all);
  vunit_step(&unit, &(struct vstep)U("vexp", R_SCORES, R_SCORES));
  take_product(&unit, FA_GRAD_PRODUCTS, R_PRODUCTS, "dp0", fractals);
  subtract(w, p, &unit, R_PRODUCTS, R_DELTA);
  emit_set(w->e, PIPE_V, PIPE_MTE2, p->slot);
  vunit_count(&unit, all);
  vunit_step(&unit, &(struct vstep)B("vmul", R_PRODUCTS, R_PRODUCTS, R_SCORES));
  emit_wait(w->e, PIPE_MTE3, PIPE_V, FA_GRAD_ANSWER);
  fa_convert(w, &unit, R_PROBABILITIES, R_SCORES);
  fa_convert(w, &unit, R_GRADIENTS, R_PRODUCTS);
  vunit_rest(&unit);
}

/* ---- what leaves ---- */

void fa_grad_add_rows(struct writer *w, struct place *p) {
  struct emit *e = w->e;
  struct vunit unit = unit_of(w, p);
  const uint64_t row_blocks = w->t.depth / BLOCK_WORDS, blocks = COLUMN / BLOCK_WORDS;
  emit_wait(e, PIPE_MTE3, PIPE_V, FA_GRAD_OUT);
  take_product(&unit, FA_GRAD_ROWS, R_RESULT, "dq0", x_mul(p->tall, w->t.depth / COLUMN));
  emit_handshake(e, PIPE_V, PIPE_MTE3, FA_GRAD_OUT);
  struct expr sum = fa_number(w, "dq_sum", w->at->rows, p->z, p->row, w->t.depth * WORD_BYTES);
  emit_plain(e, "set_atomic_add");
  struct expr column = emit_for(e, "column", w->t.depth / COLUMN);
  EMIT(e, "copy_ubuf_to_gm", F("dst", x_add(sum, x_mul(column, COLUMN * WORD_BYTES))),
       F("src", x_add(unit.reg[R_RESULT], x_mul(column, x_mul(p->each, WORD_BYTES)))),
       F("n_burst", p->rows), F("len_burst", blocks), F("dst_gap", row_blocks - blocks));
  emit_end(e);
  emit_plain(e, "set_atomic_none");
  emit_set(e, PIPE_MTE3, PIPE_V, FA_GRAD_OUT);
}

/* dK, which has the scale, or dV. */
static void put_keys(struct writer *w, struct place *p, const char *product, const char *tensor,
                     bool scaled) {
  struct emit *e = w->e;
  struct vunit unit = unit_of(w, p);
  const struct attention *at = w->at;
  uint64_t columns = w->t.depth / COLUMN;
  struct expr each = x_mul(p->wide, COLUMN * COLUMN);
  emit_wait(e, PIPE_MTE3, PIPE_V, FA_GRAD_OUT);
  VROW(&unit, 0, V(R_RESULT), "copy_matrix_cc_to_ubuf", F("dst", unit.reg[R_RESULT]),
       F("src", x_name(e, product)), F("len_burst", x_mul(p->wide, columns)), W("type", "fp32"));
  vunit_count(&unit, x_mul(each, columns));
  if (scaled && at->scale != 1)
    vunit_step(&unit, &(struct vstep)S("vmuls", R_RESULT, R_RESULT, at->scale));
  fa_convert(w, &unit, R_RESULT, R_RESULT);
  vunit_rest(&unit);
  emit_handshake(e, PIPE_V, PIPE_MTE3, FA_GRAD_OUT);
  struct expr gm = fa_row(w, tensor, &at->kv, at->heads, at->group, p->z, p->key);
  struct expr column = emit_for(e, "column", columns);
  EMIT(e, "copy_ubuf_to_gm", F("dst", x_add(gm, x_mul(column, BLOCK_BYTES))),
       F("src", x_add(unit.reg[R_RESULT], x_mul(column, x_mul(each, HALF_BYTES)))),
       F("n_burst", p->keys), F("len_burst", 1),
       F("dst_gap", at->kv.row * HALF_BYTES / BLOCK_BYTES - 1));
  emit_end(e);
  emit_set(e, PIPE_MTE3, PIPE_V, FA_GRAD_OUT);
}

void fa_grad_put_keys(struct writer *w, struct place *p) {
  emit_wait(w->e, PIPE_M, PIPE_V, FA_GRAD_KEYS);
  put_keys(w, p, "dk0", "dk", true);
  put_keys(w, p, "dv0", "dv", false);
  emit_set(w->e, PIPE_V, PIPE_M, FA_GRAD_KEYS);
}

/* Numbers of rows behind the last are read. */
void fa_grad_clear(struct writer *w) {
  uint64_t bytes = ATTENTION_PAIR * ATTENTION_ROW_NUMBERS * w->t.rows * COLUMN * WORD_BYTES;
  fa_coupled_clear(w);
  fa_zero(w->e, w->t.coupled.numbers, bytes);
  emit_barrier(w->e, PIPE_ALL);
}
