/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream of the vector cores of flash_attention_grad: P = exp(scale S - max - ln(sum)) and dS =
 * P * (dP - delta) of each step, half of the rows each. The numbers of rows lie eight times each in
 * UB, for tasks of even and odd number, the first one as max + ln(sum).
 *
 * Flags: of two buffers, MTE3 to MTE2 free, MTE2 to V filled, V to MTE3 computed; 2 and 3, V to
 * MTE2 and back, the numbers of rows.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/attention/writer.h"

enum { FLAG_NUMBERS = 2 };
enum { ROW_MAXIMUM, ROW_SUM, ROW_DELTA };

/* Registers for the order of instructions. */
enum { R_SCORES = X0, R_PRODUCTS = X1, R_NUMBERS = X2 };

/* Numbers of rows of the present task from row `first` on. */
static struct expr numbers(const struct attention_writer *w, unsigned which, struct expr first) {
  uint64_t bytes = w->t.half * BLOCK_BYTES;
  struct expr at =
      x_add(w->t.statistics + which * bytes, x_mul(w->here.odd, ATTENTION_ROW_NUMBERS * bytes));
  return x_add(at, x_mul(first, BLOCK_BYTES));
}

static void load_numbers(const struct attention_writer *w) {
  static const char *const names[ATTENTION_ROW_NUMBERS] = {"row_max", "row_sum", "delta"};
  struct emit *e = w->e;
  const struct attention_place *p = &w->here;
  struct expr flag = x_add(FLAG_NUMBERS, p->odd), row = x_add(p->row, p->from), none = EXPR(0);
  struct expr maximum = numbers(w, ROW_MAXIMUM, none), sum = numbers(w, ROW_SUM, none);
  emit_wait(e, PIPE_V, PIPE_MTE2, flag);
  for (unsigned i = 0; i < ATTENTION_ROW_NUMBERS; i++)
    EMIT(e, "copy_gm_to_ubuf", F("dst", numbers(w, i, none)),
         F("src", attention_number(w, names[i], w->at->rows, p->z, row, BLOCK_BYTES)),
         F("len_burst", p->mine));
  emit_handshake(e, PIPE_MTE2, PIPE_V, flag);
  attention_mask(e, x_mul(p->mine, BLOCK_WORDS));
  EMIT(e, "vln", F("dst", sum), F("src", sum), F("repeat", 1), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vadd", F("dst", maximum), F("src0", maximum), F("src1", sum), F("repeat", 1),
       W("type", "fp32"));
  emit_barrier(e, PIPE_V);
}

/* Scores and products to probabilities and dS. */
static void compute(const struct attention_writer *w, struct expr other) {
  struct vmachine machine = {.emit = w->e, .type = DTYPE_FP32, .written = (1u << VREGS) - 1};
  machine.reg[R_SCORES] = "tile";
  machine.reg[R_PRODUCTS] = "other";
  attention_scale(w, &w->here, &machine, R_SCORES);
  attention_subtract(w, &machine, R_SCORES, w->tile, R_NUMBERS, numbers(w, ROW_MAXIMUM, w->r0));
  attention_subtract(w, &machine, R_PRODUCTS, other, R_NUMBERS, numbers(w, ROW_DELTA, w->r0));
  attention_count(w, &machine, w->wide);
  vmachine_step(&machine, &(struct vstep)U("vexp", R_SCORES, R_SCORES));
  vmachine_step(&machine, &(struct vstep)B("vmul", R_PRODUCTS, R_PRODUCTS, R_SCORES));
  attention_convert(w, &machine, R_SCORES);
  attention_convert(w, &machine, R_PRODUCTS);
  vmachine_rest(&machine);
}

/* A slice of a step; products lie in the other half of the buffer. */
static void put_slice(struct attention_writer *w) {
  struct emit *e = w->e;
  const struct attention_place *p = &w->here;
  attention_slices(w, p);
  struct expr other = attention_let(e, "other", "", x_add(w->tile, w->t.buffer_bytes / 2));
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, w->pair);
  attention_scores_in(w, p, "scores", w->tile);
  attention_scores_in(w, p, "products", other);
  emit_handshake(e, PIPE_MTE2, PIPE_V, w->pair);
  compute(w, other);
  emit_handshake(e, PIPE_V, PIPE_MTE3, w->pair);
  attention_scores_out(w, p, "probs", w->tile);
  attention_scores_out(w, p, "ds", other);
  emit_set(e, PIPE_MTE3, PIPE_MTE2, w->pair);
  emit_end(e);
}

static void put_flags(const struct attention_writer *w, bool set) {
  struct expr id = attention_flags(w->e, set, "vec_", ATTENTION_PAIR);
  emit_flag_of(w->e, set, PIPE_MTE3, PIPE_MTE2, id);
  emit_flag_of(w->e, set, PIPE_V, PIPE_MTE2, x_add(FLAG_NUMBERS, id));
  emit_end(w->e);
}

void attention_grad_vector_stream(struct attention_writer *w) {
  struct emit *e = w->e;
  struct attention_place *p = &w->here;
  /* The last lanes of rows are computed though no copy writes them. */
  attention_clear(e, w->t.buffers, ATTENTION_PAIR * w->t.buffer_bytes);
  put_flags(w, true);
  attention_task(w, p, emit_for(e, "i", w->tasks));
  attention_share(w, p);
  emit_if(e, "begin", x_gt(p->mine, 0));
  load_numbers(w);
  emit_end(e);
  attention_step(w, p, emit_for(e, "s", p->steps));
  attention_wide(w, p);
  attention_await(e, SIGNAL_SCORES);
  put_slice(w);
  attention_signal(e, PIPE_MTE3, SIGNAL_PROBABILITIES);
  emit_end(e);
  emit_if(e, "end", x_gt(p->mine, 0));
  emit_set(e, PIPE_V, PIPE_MTE2, x_add(FLAG_NUMBERS, p->odd));
  emit_end(e);
  emit_end(e);
  emit_comment(e, "Nothing stays set.");
  put_flags(w, false);
}
