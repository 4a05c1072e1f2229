/* SPDX-License-Identifier: Apache-2.0 */
/* How a coupled core moves matrices: device memory to L1 by way of UB, L1 to L0. */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/coupled.h"
#include "lower/attention/writer.h"

static struct expr fractals(struct expr extent) { return x_ceil_div(extent, FRACTAL_ROWS); }

void fa_measure(struct writer *w, struct place *p) {
  p->tall = fa_let(w, p, "tall", fractals(p->rows));
  p->each = fa_let(w, p, "each", x_mul(p->tall, FRACTAL_ROWS * FRACTAL_ROWS));
  p->wide = fa_let(w, p, "wide", fractals(p->keys));
}

void fa_zero_l1(struct emit *e, const char *name, uint64_t bytes) {
  const uint64_t blocks_max = INT16_MAX;
  for (uint64_t at = 0, all = bytes / BLOCK_BYTES; at < all; at += blocks_max)
    EMIT(e, "create_cbuf_matrix", F("dst", x_add(x_name(e, name), at * BLOCK_BYTES)),
         F("blocks", min_u64(blocks_max, all - at)));
}

void fa_load_through_ub(struct writer *w, const struct fa_matrix *matrix, struct expr dst,
                        struct expr src, struct expr rows, struct expr turn) {
  struct emit *e = w->e;
  uint64_t blocks = matrix->depth / FRACTAL_ROWS, row = matrix->row;
  uint64_t most = attention_stage_rows(matrix->depth);
  struct expr chunk = emit_for(e, "chunk", x_ceil_div(rows, most)), first = x_mul(chunk, most);
  struct expr half = emit_assigned(e, "half", x_mod(x_add(turn, chunk), ATTENTION_PAIR));
  struct expr count = emit_assigned(e, "count", x_min(most, x_sub(rows, first)));
  struct expr stage = x_add(w->t.coupled.stage, x_mul(half, w->t.coupled.stage_bytes));
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, half);
  EMIT(e, "copy_gm_to_ubuf", F("dst", stage), F("src", x_add(src, x_mul(first, row * HALF_BYTES))),
       F("n_burst", count), F("len_burst", blocks), F("src_gap", row / FRACTAL_ROWS - blocks));
  emit_handshake(e, PIPE_MTE2, PIPE_MTE3, half);
  struct expr column = emit_for(e, "column", blocks);
  struct expr at_row = x_add(x_mul(column, matrix->pitch * BLOCK_BYTES), x_mul(first, BLOCK_BYTES));
  EMIT(e, "copy_ubuf_to_cbuf", F("dst", x_add(dst, at_row)),
       F("src", x_add(stage, x_mul(column, BLOCK_BYTES))), F("n_burst", count), F("len_burst", 1),
       F("src_gap", blocks - 1));
  emit_end(e);
  emit_set(e, PIPE_MTE3, PIPE_MTE2, half);
  emit_end(e);
}

void fa_load_a(struct writer *w, struct expr src, struct expr column, struct expr tall,
               struct expr from, struct expr kk) {
  struct expr deep = fractals(kk), dst = x_slot(w->e, "a0", w->l0, FA_TILE_BYTES);
  struct expr high = emit_for(w->e, "high", tall);
  EMIT(w->e, "load_cbuf_to_ca", F("dst", x_add(dst, x_mul(x_mul(high, deep), FRACTAL_BYTES))),
       F("src", src), F("base", x_add(x_mul(from, column), high)), F("repeat", deep),
       F("src_stride", column));
  emit_end(w->e);
}

void fa_load_a_turned(struct writer *w, struct expr src, struct expr tall, struct expr wide) {
  struct expr dst = x_slot(w->e, "a0", w->l0, FA_TILE_BYTES);
  struct expr high = emit_for(w->e, "high", wide);
  EMIT(w->e, "load_cbuf_to_ca", F("dst", x_add(dst, x_mul(x_mul(high, tall), FRACTAL_BYTES))),
       F("src", src), F("base", x_mul(high, tall)), F("repeat", tall), F("src_stride", 1),
       F("transpose", 1));
  emit_end(w->e);
}

void fa_load_b(struct writer *w, struct expr src, uint64_t pitch, struct expr base,
               struct expr rows, struct expr columns, bool values) {
  struct expr wide = fractals(columns), dst = x_slot(w->e, "b0", w->l0, FA_TILE_BYTES);
  uint64_t column = pitch / FRACTAL_ROWS;
  struct expr deep = emit_for(w->e, "deep", fractals(rows));
  EMIT(w->e, "load_cbuf_to_cb", F("dst", x_add(dst, x_mul(x_mul(deep, wide), FRACTAL_BYTES))),
       F("src", src), F("base", x_add(base, x_mul(deep, values ? 1 : column))), F("repeat", wide),
       F_IF(values, "src_stride", column), F_IF(values, "transpose", 1));
  emit_end(w->e);
}
