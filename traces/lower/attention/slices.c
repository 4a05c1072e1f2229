/* SPDX-License-Identifier: Apache-2.0 */
/* What the vector cores do in flash_attention and its gradient: slices of rows, scores, copies. */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/attention/writer.h"

enum { LANES_BYTES = VROW_LANES * WORD_BYTES, LANES_BLOCKS = VROW_LANES / BLOCK_WORDS };

/* Far below every score, and still far from the end of the range when it is scaled. */
static const double masked = -1e30;

void attention_mask(struct emit *e, struct expr low) {
  EMIT(e, "set_vector_mask", F("high", 0), F("low", low));
}

void attention_dup(struct emit *e, struct expr dst, double value, struct expr repeat) {
  EMIT(e, "vector_dup", F("dst", dst), F("scalar", vscalar_bits(DTYPE_FP32, value)),
       F("repeat", repeat), W("type", "fp32"));
}

void attention_fill(struct emit *e, uint64_t address, uint64_t bytes, double value) {
  attention_mask(e, EXPR(bytes / WORD_BYTES));
  attention_dup(e, EXPR(address), value, EXPR(1));
}

void attention_clear(struct emit *e, uint64_t address, uint64_t bytes) {
  emit_plain(e, "set_mask_count");
  attention_fill(e, address, bytes, 0);
  emit_barrier(e, PIPE_ALL);
}

/* ---- kernels of vector cores alone ---- */

void attention_vector_kernel(const struct attention_writer *w, uint64_t bytes) {
  emit_buffer(w->e, "ub", SPACE_UB, vtile_ub_bytes(w->e->soc));
  emit_stream(w->e, CORE_AIV);
  attention_clear(w->e, 0, bytes);
}

struct expr attention_open_rows(struct attention_writer *w, const char *loop, uint64_t heads,
                                uint64_t rows, uint64_t slice, uint64_t cores) {
  struct emit *e = w->e;
  uint64_t slices = ceil_div(rows, slice), turns = heads * slices + cores - 1;
  struct expr i = emit_for(e, loop, x_div(x_sub(turns, w->blk), cores));
  struct expr u = attention_let(e, "u", "", x_add(x_mul(i, cores), w->blk));
  w->here.z = attention_let(e, "z", "", x_div(u, slices));
  w->r0 = attention_let(e, "r0", "", x_mul(x_mod(u, slices), slice));
  w->rr = attention_let(e, "rr", "", x_min(slice, x_sub(rows, w->r0)));
  return i;
}

/* ---- rows ---- */

void attention_values_in(const struct attention_writer *w, struct expr dst, struct expr src,
                         struct expr rows) {
  uint64_t depth = w->at->depth;
  EMIT(w->e, "copy_gm_to_ubuf_align_b32", F("dst", dst), F("src", src), F("n_burst", rows),
       F("len_burst", depth * WORD_BYTES), F("right_pad", x_pad(depth, BLOCK_WORDS)),
       F("dst_gap", w->t.depth / BLOCK_WORDS - ceil_div(depth, BLOCK_WORDS)));
}

uint64_t attention_row_gap(const struct attention_writer *w) {
  return w->t.depth * HALF_BYTES / BLOCK_BYTES - ceil_div(w->at->depth * HALF_BYTES, BLOCK_BYTES);
}

void attention_rows_out(const struct attention_writer *w, const struct attention_strides *strides,
                        struct expr dst, struct expr src, struct expr rows) {
  EMIT(w->e, "copy_ubuf_to_gm_align_b16", F("dst", dst), F("src", src), F("n_burst", rows),
       F("len_burst", w->at->depth * HALF_BYTES), F("src_gap", attention_row_gap(w)),
       F("dst_gap", (strides->row - w->at->depth) * HALF_BYTES));
}

/* ---- slices of a task's rows ---- */

void attention_share(struct attention_writer *w, struct attention_place *p) {
  struct emit *e = w->e;
  const char *x = p->suffix;
  const int unit = 2 * BLOCK_WORDS; /* so that both cores have whole blocks of numbers of rows */
  struct expr half = x_mul(x_div(x_add(p->rows, unit - 1), unit), BLOCK_WORDS);
  struct expr split = attention_let(e, "split", x, x_min(w->t.half, half));
  p->from = attention_let(e, "from", x, x_mul(x_name(e, "sub"), split));
  p->mine = attention_let(e, "mine", x, x_max(0, x_min(split, x_sub(p->rows, p->from))));
}

void attention_slices(struct attention_writer *w, const struct attention_place *p) {
  struct emit *e = w->e;
  const struct attention_tiling *t = &w->t;
  struct expr slice = emit_for(e, "slice", x_ceil_div(p->mine, t->slice));
  w->r0 = attention_let(e, "r0", "", x_mul(slice, t->slice));
  w->rr = attention_let(e, "rr", "", x_min(t->slice, x_sub(p->mine, w->r0)));
  w->pair = attention_let(e, "pair", "", x_mod(slice, ATTENTION_PAIR));
  w->tile = attention_let(e, "tile", "", x_add(t->buffers, x_mul(w->pair, t->buffer_bytes)));
}

void attention_wide(struct attention_writer *w, const struct attention_place *p) {
  w->wide = attention_let(w->e, "wide", "", x_round_up(p->keys, VROW_LANES));
}

/* Of the slice, in a tensor of the workspace: where its rows begin; bytes of them. */
static struct expr slot_rows(const struct attention_writer *w, const struct attention_place *p,
                             const char *tensor, uint64_t row_bytes) {
  struct expr slot = x_mul(p->slot, w->t.rows * row_bytes);
  struct expr row = x_mul(x_add(p->from, w->r0), row_bytes);
  return x_add(x_add(x_name(w->e, tensor), slot), row);
}

void attention_scores_in(const struct attention_writer *w, const struct attention_place *p,
                         const char *tensor, struct expr dst) {
  uint64_t row = w->t.cols * WORD_BYTES;
  struct expr bytes = x_mul(p->keys, WORD_BYTES);
  EMIT(w->e, "copy_gm_to_ubuf_align_b32", F("dst", dst), F("src", slot_rows(w, p, tensor, row)),
       F("n_burst", w->rr), F("len_burst", bytes), F("src_gap", x_sub(row, bytes)),
       F("dst_gap", x_sub(x_div(w->wide, BLOCK_WORDS), x_ceil_div(p->keys, BLOCK_WORDS))));
}

void attention_scores_out(const struct attention_writer *w, const struct attention_place *p,
                          const char *tensor, struct expr src) {
  const int unit = BLOCK_BYTES / HALF_BYTES;
  uint64_t row = w->t.cols * HALF_BYTES;
  struct expr bytes = x_mul(p->keys, HALF_BYTES);
  EMIT(w->e, "copy_ubuf_to_gm_align_b16", F("dst", slot_rows(w, p, tensor, row)), F("src", src),
       F("n_burst", w->rr), F("len_burst", bytes),
       F("src_gap", x_sub(x_div(w->wide, unit), x_ceil_div(p->keys, unit))),
       F("dst_gap", x_sub(row, bytes)));
}

/* ---- scores ---- */

/* The lanes from number `lane` on, 0 to 63, as a mask: minus 2 to the power of the number. */
static struct expr lanes_from(struct expr lane) {
  struct expr bits = EXPR(-1);
  for (unsigned bit = 0; bit < 5; bit++)
    bits = x_mul(bits, x_add(1, x_mul((1 << (1 << bit)) - 1, x_mod(x_div(lane, 1 << bit), 2))));
  return x_mul(bits, x_add(1, x_mul(UINT32_MAX, x_div(lane, 32))));
}

void attention_pad(const struct attention_writer *w, const struct attention_place *p) {
  struct emit *e = w->e;
  struct expr whole = x_div(p->keys, VROW_LANES);
  emit_if(e, "pad", x_lt(p->keys, w->wide));
  struct expr lane = attention_let(e, "lane", "", x_mod(p->keys, VROW_LANES));
  emit_plain(e, "set_mask_norm");
  attention_mask(e, lanes_from(lane));
  EMIT(e, "vector_dup", F("dst", x_add(w->tile, x_mul(whole, LANES_BYTES))),
       F("scalar", vscalar_bits(DTYPE_FP32, masked)), F("repeat", w->rr),
       F("dst_repeat", x_div(w->wide, BLOCK_WORDS)), W("type", "fp32"));
  emit_plain(e, "set_mask_count");
  emit_end(e);
}

/* Row by row where keys are hidden from it: `seen` of them are not. */
static void hide(const struct attention_writer *w, const struct attention_place *p,
                 struct vmachine *machine, uint8_t reg) {
  struct emit *e = w->e;
  uint64_t more = w->at->keys - w->at->rows + 1;
  struct expr row = x_add(x_add(p->row, p->from), w->r0);
  vmachine_order(machine, 0, 1u << reg);
  struct expr first = attention_let(e, "first", "", x_sub(x_add(row, more), p->key));
  emit_if(e, "hides", x_lt(first, p->keys));
  emit_plain(e, "set_mask_norm");
  struct expr r = emit_for(e, "r", x_min(w->rr, x_sub(p->keys, first)));
  struct expr seen = attention_let(e, "seen", "", x_max(0, x_add(first, r)));
  struct expr lane = attention_let(e, "lane", "", x_mod(seen, VROW_LANES));
  attention_mask(e, lanes_from(lane));
  struct expr at = x_add(w->tile, x_mul(x_mul(r, w->wide), WORD_BYTES));
  struct expr whole = x_div(seen, VROW_LANES);
  attention_dup(e, x_add(at, x_mul(whole, LANES_BYTES)), masked, EXPR(1));
  attention_mask(e, EXPR(-1));
  attention_dup(e, x_add(at, x_mul(x_add(whole, 1), LANES_BYTES)), masked,
                x_sub(x_sub(x_div(w->wide, VROW_LANES), whole), 1));
  emit_end(e);
  emit_plain(e, "set_mask_count");
  emit_end(e);
  machine->mask = NULL;
}

void attention_count(const struct attention_writer *w, struct vmachine *machine,
                     struct expr of_row) {
  vmachine_count(machine, x_text(w->e, x_mul(w->rr, of_row)));
}

void attention_scale(const struct attention_writer *w, const struct attention_place *p,
                     struct vmachine *machine, uint8_t reg) {
  attention_count(w, machine, w->wide);
  vmachine_step(machine, &(struct vstep)S("vmuls", reg, reg, w->at->scale));
  if (w->at->causal)
    hide(w, p, machine, reg);
}

void attention_subtract(const struct attention_writer *w, struct vmachine *machine, uint8_t reg,
                        struct expr tile, unsigned numbers_reg, struct expr numbers) {
  struct emit *e = w->e;
  vmachine_lanes(machine, VROW_LANES);
  vmachine_order(machine, 1u << reg | 1u << numbers_reg, 1u << reg);
  struct expr part = emit_for(e, "part", x_div(w->wide, VROW_LANES));
  struct expr at = x_add(tile, x_mul(part, LANES_BYTES)), row = x_div(w->wide, BLOCK_WORDS);
  EMIT(e, "vsub", F("dst", at), F("src0", at), F("src1", numbers), F("repeat", w->rr),
       F("dst_repeat", row), F("src0_repeat", row), F("src1_block", 0), F("src1_repeat", 1),
       W("type", "fp32"));
  emit_end(e);
}

void attention_convert(const struct attention_writer *w, struct vmachine *machine, uint8_t reg) {
  const char *inst = vconvert_inst(w->e->soc, DTYPE_FP32, w->at->type);
  vmachine_step(machine, &(struct vstep)C(inst, reg, reg));
}
