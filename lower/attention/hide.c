/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores that queries do not see, on the vector cores: what lies behind the last key, what a causal
 * mask, a window or a tensor hides. They become a number far below all others.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/writer.h"

enum { LANES = ROWWISE_LANES, LANES_BYTES = LANES * WORD_BYTES };

/* Scores; the mask as numbers of 16 and of 32 bits. */
enum { R_BUFFER = X0, R_HALF = X1, R_WORDS = X2 };

/* Far below every score, and still far from the end of the range when it is scaled. */
static const double masked = -1e30;

static struct expr mask_at(struct writer *w) {
  return x_add(w->t.mask, x_mul(w->half, w->t.slice * w->t.cols));
}

/* Rows of the mask; one for all rows, where those are the heads of one query. */
void fa_load_mask(struct writer *w, struct place *p) {
  const struct attention *at = w->at;
  bool alike = at->rows != at->queries || at->queries == 1;
  struct expr row = x_add(x_add(p->row, p->from), w->r0), dst = mask_at(w);
  struct expr gap = x_sub(x_div(w->wide, BLOCK_BYTES), x_ceil_div(p->keys, BLOCK_BYTES));
  if (alike)
    dst = x_add(dst, x_mul(emit_for(w->e, "r", w->rr), w->wide));
  struct expr src = x_add(x_mul(alike ? EXPR(0) : row, at->keys), p->key);
  EMIT(w->e, "copy_gm_to_ubuf_align_b8", F("dst", dst), F("src", x_slot(w->e, "mask", src, 1)),
       F("n_burst", alike ? EXPR(1) : w->rr), F("len_burst", p->keys),
       F("src_gap", alike ? EXPR(0) : x_sub(at->keys, p->keys)), F("dst_gap", gap));
  if (alike)
    emit_end(w->e);
}

/* Hides the lanes of the mask: `repeat` times 64 from `dst` on, `stride` blocks apart. */
static void put_masked(struct emit *e, struct expr dst, struct expr repeat, struct expr stride) {
  EMIT(e, "vector_dup", F("dst", dst), F("scalar", vscalar(DTYPE_FP32, masked)),
       F("repeat", repeat), F("dst_repeat", stride), W("type", "fp32"));
}

/* The lanes from number `lane` on, 0 to 63, as a mask: minus 2 to the power of the number; or those
 * below. */
static void put_mask(struct emit *e, struct expr lane, bool below) {
  struct expr bits = EXPR(-1);
  for (unsigned bit = 0; bit < 5; bit++)
    bits = x_mul(bits, x_add(1, x_mul((1 << (1 << bit)) - 1, x_mod(x_div(lane, 1 << bit), 2))));
  bits = x_mul(bits, x_add(1, x_mul(UINT32_MAX, x_div(lane, 32))));
  EMIT(e, "set_vector_mask", F("high", 0), F("low", below ? x_sub(-1, bits) : bits));
}

/* The last lanes of each row, which no copy has written; all of a part that is not there, which
 * then weighs nothing beside the others. */
void fa_pad(struct writer *w, struct place *p) {
  struct emit *e = w->e;
  emit_if(e, "pad", x_lt(p->keys, w->wide));
  struct expr keys = x_mul(p->keys, p->live);
  struct expr lane = emit_assigned(e, "lane", x_mod(keys, LANES));
  emit_plain(e, "set_mask_norm");
  put_mask(e, lane, false);
  put_masked(e, x_add(w->tile, x_mul(x_div(keys, LANES), LANES_BYTES)), w->rr,
             x_div(w->wide, BLOCK_WORDS));
  emit_plain(e, "set_mask_count");
  emit_end(e);
}

/* Row by row where keys are hidden from it: `seen` of them are not. */
void fa_hide_later(struct writer *w, struct place *p, struct vunit *unit) {
  struct emit *e = w->e;
  struct expr row = x_add(x_add(p->row, p->from), w->r0), next = EXPR(LANES / BLOCK_WORDS);
  vunit_order(unit, 0, V(R_BUFFER));
  struct expr first =
      emit_assigned(e, "first", x_sub(x_add(row, w->at->keys - w->at->rows + 1), p->key));
  emit_if(e, "hides", x_lt(first, p->keys));
  emit_plain(e, "set_mask_norm");
  struct expr r = emit_for(e, "r", x_min(w->rr, x_sub(p->keys, first)));
  struct expr seen = emit_assigned(e, "seen", x_max(0, x_add(first, r)));
  put_mask(e, emit_assigned(e, "lane", x_mod(seen, LANES)), false);
  struct expr at = x_add(w->tile, x_mul(x_mul(r, w->wide), WORD_BYTES)), part = x_div(seen, LANES);
  put_masked(e, x_add(at, x_mul(part, LANES_BYTES)), EXPR(1), next);
  EMIT(e, "set_vector_mask", F("high", 0), F("low", -1));
  put_masked(e, x_add(at, x_mul(x_add(part, 1), LANES_BYTES)),
             x_sub(x_sub(x_div(w->wide, LANES), part), 1), next);
  emit_end(e);
  emit_plain(e, "set_mask_count");
  emit_end(e);
  vunit_forget(unit);
}

/* Row by row what lies before its window: `below` keys. */
void fa_hide_below(struct writer *w, struct place *p, struct vunit *unit) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  struct expr row = x_add(x_add(p->row, p->from), w->r0), next = EXPR(LANES / BLOCK_WORDS);
  struct expr end = at->causal ? x_add(row, at->keys - at->rows + 1) : p->length;
  struct expr first = emit_assigned(e, "low", x_sub(x_sub(end, at->window), p->key));
  int each = at->causal; /* a row more, a key more */
  vunit_order(unit, 0, V(R_BUFFER));
  emit_if(e, "cuts", x_lt(0, x_add(first, x_mul(x_sub(w->rr, 1), each))));
  emit_plain(e, "set_mask_norm");
  struct expr r = emit_for(e, "r", w->rr);
  struct expr below =
      emit_assigned(e, "below", x_min(w->wide, x_max(0, x_add(first, x_mul(r, each)))));
  struct expr at_row = x_add(w->tile, x_mul(x_mul(r, w->wide), WORD_BYTES));
  struct expr part = x_div(below, LANES), lane = emit_assigned(e, "lane", x_mod(below, LANES));
  EMIT(e, "set_vector_mask", F("high", 0), F("low", -1));
  put_masked(e, at_row, part, next);
  emit_if(e, "rest", x_lt(0, lane));
  put_mask(e, lane, true);
  put_masked(e, x_add(at_row, x_mul(part, LANES_BYTES)), EXPR(1), next);
  emit_end(e);
  emit_end(e);
  emit_plain(e, "set_mask_count");
  emit_end(e);
  vunit_forget(unit);
}

/* Scores far below all others where a byte of the mask is 1. */
void fa_hide_masked(struct writer *w, struct vunit *unit) {
  const struct attention_tiling *t = &w->t;
  struct expr bytes = mask_at(w), half = EXPR(t->mask_half), words = EXPR(t->mask_words);
  vunit_count(unit, x_mul(w->rr, w->wide));
  vunit_convert(unit, 0, V(R_HALF), DTYPE_UINT8, DTYPE_FP16, half, bytes);
  vunit_convert(unit, V(R_HALF), V(R_WORDS), DTYPE_FP16, DTYPE_FP32, words, half);
  unit->reg[R_WORDS] = words;
  vunit_step(unit, &(struct vstep)S("vmuls", R_WORDS, R_WORDS, masked));
  vunit_step(unit, &(struct vstep)B("vadd", R_BUFFER, R_BUFFER, R_WORDS));
}
