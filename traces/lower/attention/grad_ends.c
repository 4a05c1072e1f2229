/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first and the last kernel of flash_attention_grad, on vector cores: sums are cleared and
 * delta computed; sums are scaled and converted. Both walk slices of rows of one head.
 *
 * Flags: MTE3 to MTE2 free, MTE2 to V filled, V to MTE3 computed, of two buffers.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/attention/writer.h"

void attention_grad_workspace(const struct attention_writer *w) {
  const struct attention *at = w->at;
  uint64_t heads = at->batch * at->heads, kv_heads = heads / at->group;
  attention_workspace(w, "dq_sum", DTYPE_FP32, heads, at->rows, at->depth);
  attention_workspace(w, "dk_sum", DTYPE_FP32, kv_heads, at->keys, at->depth);
  attention_workspace(w, "dv_sum", DTYPE_FP32, kv_heads, at->keys, at->depth);
  attention_workspace(w, "delta", DTYPE_FP32, heads, at->rows, BLOCK_WORDS);
}

/* Opens the loop over slices of `heads` x `rows`, each in its half of UB from `base` on. */
static void open_slices(struct attention_writer *w, const char *name, uint64_t heads, uint64_t rows,
                        const struct attention_end *end, uint64_t base, uint64_t bytes) {
  struct emit *e = w->e;
  struct expr i = attention_open_rows(w, name, heads, rows, end->slice, end->cores);
  w->half = attention_let(e, "half", "", x_mod(i, ATTENTION_PAIR));
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, w->half);
  w->tile = attention_let(e, "tile", "", x_add(base, x_mul(w->half, bytes)));
}

static void close_slices(const struct attention_writer *w) {
  emit_set(w->e, PIPE_MTE3, PIPE_MTE2, w->half);
  emit_end(w->e);
}

static void put_flags(struct emit *e, bool set) {
  emit_flag_of(e, set, PIPE_MTE3, PIPE_MTE2, attention_flags(e, set, "", ATTENTION_PAIR));
  emit_end(e);
}

/* ---- first ---- */

/* Zeros lie at the start of UB. */
static void clear_sum(const struct attention_writer *w, const char *loop, const char *sum,
                      uint64_t rows, uint64_t cores) {
  struct emit *e = w->e;
  uint64_t bytes = rows * w->at->depth * WORD_BYTES,
           pieces = ceil_div(bytes, ATTENTION_CLEAR_BYTES);
  struct expr i = emit_for(e, loop, x_div(x_sub(pieces + cores - 1, w->blk), cores));
  struct expr piece = x_add(x_mul(i, cores), w->blk);
  struct expr at = attention_let(e, "at", "", x_mul(piece, ATTENTION_CLEAR_BYTES));
  EMIT(e, "copy_ubuf_to_gm_align_b32", F("dst", x_add(x_name(e, sum), at)), F("src", 0),
       F("len_burst", x_min(ATTENTION_CLEAR_BYTES, x_sub(bytes, at))));
  emit_end(e);
}

/* Rows of dY or O. */
static void load_rows(const struct attention_writer *w, const char *tensor, struct expr dst) {
  const struct attention *at = w->at;
  uint64_t row = at->depth * HALF_BYTES;
  EMIT(w->e, "copy_gm_to_ubuf_align_b16", F("dst", dst),
       F("src", attention_row(w, tensor, &at->q, at->heads, 1, w->here.z, w->r0)),
       F("n_burst", w->rr), F("len_burst", row),
       F("right_pad", x_pad(at->depth, BLOCK_BYTES / HALF_BYTES)),
       F("src_gap", (at->q.row - at->depth) * HALF_BYTES), F("dst_gap", attention_row_gap(w)));
}

/* Sums of rows of the products of both operands, eight times each, at the start of the buffer. */
static void compute_delta(const struct attention_writer *w, uint64_t floats, uint64_t column,
                          uint64_t accumulator) {
  struct emit *e = w->e;
  const char *widen = vconvert_inst(e->soc, w->at->type, DTYPE_FP32);
  const char *one = x_text(e, x_add(w->tile, floats));
  struct vrows rows = {.machine = {.emit = e, .type = DTYPE_FP32, .written = (1u << VREGS) - 1},
                       .rows = "rr",
                       .cols = w->at->depth,
                       .pitch = w->t.depth,
                       .accumulator = accumulator};
  struct vmachine *machine = &rows.machine;
  machine->reg[X0] = one;
  machine->reg[X1] = x_text(e, x_add(w->tile, 2 * floats));
  machine->reg[X2] = "tile";
  machine->reg[X3] = x_text(e, x_add(w->tile, floats / 2));
  vrow_all(&rows);
  vmachine_step(machine, &(struct vstep)C(widen, X0, X2));
  vmachine_step(machine, &(struct vstep)C(widen, X1, X3));
  vmachine_step(machine, &(struct vstep)B("vmul", X0, X0, X1));
  vrow_reduce(&rows, VROW_SUM, T1, x_text(e, EXPR(column)), X0, one);
  vrow_column(&rows);
  vmachine_order(machine, 1u << T1, 1u << X1);
  EMIT(e, "vbrcb", F("dst", w->tile), F("src", column), F("repeat", x_ceil_div(w->rr, BLOCK_WORDS)),
       W("type", "uint32"));
  vmachine_rest(machine);
}

/* Sums of rows of dY * O. The buffer of a slice has both as loaded, and both in single precision.
 */
static void put_delta(struct attention_writer *w, const struct attention_end *end) {
  const struct attention *at = w->at;
  struct emit *e = w->e;
  uint64_t floats = end->slice * w->t.depth * WORD_BYTES, buffer = 3 * floats;
  uint64_t column = ATTENTION_CLEAR_BYTES + ATTENTION_PAIR * buffer;
  open_slices(w, "i_delta", at->batch * at->heads, at->rows, end, ATTENTION_CLEAR_BYTES, buffer);
  load_rows(w, "dy", w->tile);
  load_rows(w, "o", x_add(w->tile, floats / 2));
  emit_handshake(e, PIPE_MTE2, PIPE_V, w->half);
  compute_delta(w, floats, column, column + end->slice * WORD_BYTES);
  emit_handshake(e, PIPE_V, PIPE_MTE3, w->half);
  EMIT(e, "copy_ubuf_to_gm",
       F("dst", attention_number(w, "delta", at->rows, w->here.z, w->r0, BLOCK_BYTES)),
       F("src", w->tile), F("len_burst", w->rr));
  close_slices(w);
}

void attention_grad_first(struct attention_writer *w) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  uint64_t heads = at->batch * at->heads, keys = heads / at->group * at->keys;
  struct attention_end end = attention_grad_end(e->soc, at, w->t.depth, true);
  emit_kernel(e, "flash_attention_grad_start", (uint32_t)end.cores);
  attention_tensor(w, "dy", false, TENSOR_IN);
  attention_tensor(w, "o", false, TENSOR_IN);
  attention_grad_workspace(w);
  attention_vector_kernel(w, ATTENTION_CLEAR_BYTES + end.slice * attention_delta_bytes(w->t.depth));
  clear_sum(w, "i_dq_sum", "dq_sum", heads * at->rows, end.cores);
  clear_sum(w, "i_dk_sum", "dk_sum", keys, end.cores);
  clear_sum(w, "i_dv_sum", "dv_sum", keys, end.cores);
  put_flags(e, true);
  put_delta(w, &end);
  put_flags(e, false);
}

/* ---- last ---- */

/* A sum times the scale, as the type. */
static void put_result(struct attention_writer *w, const char *loop, const char *sum,
                       const char *name, bool of_keys, double scale,
                       const struct attention_end *end) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  const struct attention_strides *strides = of_keys ? &at->kv : &at->q;
  uint64_t heads = of_keys ? at->heads / at->group : at->heads;
  uint64_t rows = of_keys ? at->keys : at->rows;
  struct vmachine machine = {.emit = e, .type = DTYPE_FP32, .reg = {[X0] = "tile"}};
  open_slices(w, loop, at->batch * heads, rows, end, 0, end->slice * w->t.depth * WORD_BYTES);
  attention_values_in(
      w, w->tile, attention_number(w, sum, rows, w->here.z, w->r0, at->depth * WORD_BYTES), w->rr);
  emit_handshake(e, PIPE_MTE2, PIPE_V, w->half);
  attention_count(w, &machine, EXPR(w->t.depth));
  if (scale != 1)
    vmachine_step(&machine, &(struct vstep)S("vmuls", X0, X0, scale));
  attention_convert(w, &machine, X0);
  emit_handshake(e, PIPE_V, PIPE_MTE3, w->half);
  attention_rows_out(w, strides, attention_row(w, name, strides, heads, 1, w->here.z, w->r0),
                     w->tile, w->rr);
  close_slices(w);
}

void attention_grad_last(struct attention_writer *w) {
  struct emit *e = w->e;
  double scale = w->at->scale;
  struct attention_end end = attention_grad_end(e->soc, w->at, w->t.depth, false);
  emit_kernel(e, "flash_attention_grad_end", (uint32_t)end.cores);
  attention_grad_workspace(w);
  attention_tensor(w, "dq", false, TENSOR_OUT);
  attention_tensor(w, "dk", true, TENSOR_OUT);
  attention_tensor(w, "dv", true, TENSOR_OUT);
  attention_vector_kernel(w, ATTENTION_PAIR * end.slice * w->t.depth * WORD_BYTES);
  put_flags(e, true);
  put_result(w, "i_dq", "dq_sum", "dq", false, scale, &end);
  put_result(w, "i_dk", "dk_sum", "dk", true, scale, &end);
  put_result(w, "i_dv", "dv_sum", "dv", true, 1, &end);
  put_flags(e, false);
}
