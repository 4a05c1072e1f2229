/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of vector cores alone, which walk slices of rows of one head.
 *
 * Behind flash_attention, when the keys are split: parts of a row are brought to their common
 * maximum and added. The parts of a row lie behind each other, their maxima and sums eight times
 * each. Before the kernel of the gradient: sums are cleared and delta computed. Behind that kernel:
 * sums are scaled and converted.
 *
 * Flags: MTE3 to MTE2 free, MTE2 to V filled, V to MTE3 computed; of two buffers, of one for parts.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/writer.h"

enum { LANES = ROWWISE_LANES, LANES_BYTES = LANES * WORD_BYTES };

/* ---- slices ---- */

/* Buffer and stream, with zeros where rows are read that nothing has written. */
static void open_kernel(struct writer *w, uint64_t cleared) {
  emit_buffer(w->e, "ub", SPACE_UB, vtile_ub_bytes(w->e->soc));
  emit_stream(w->e, emit_vector_core(w->e->soc));
  emit_kernel_start(w->e, KERNEL_FUSED);
  emit_plain(w->e, "set_mask_count");
  fa_zero(w->e, 0, cleared);
  emit_barrier(w->e, PIPE_ALL);
}

/* Opens a loop over pieces of work, which the cores take in turn. */
static struct expr open_pieces(struct writer *w, const char *loop, uint64_t pieces, uint64_t cores,
                               struct expr *piece) {
  struct expr i = emit_for(w->e, loop, x_div(x_sub(pieces + cores - 1, w->blk), cores));
  *piece = x_add(x_mul(i, cores), w->blk);
  return i;
}

/* The same for slices of `rows` of each head. */
static struct expr open_slices(struct writer *w, const char *loop, uint64_t heads, uint64_t rows,
                               uint64_t slice, uint64_t cores) {
  uint64_t slices = ceil_div(rows, slice);
  struct expr u, i = open_pieces(w, loop, heads * slices, cores, &u);
  u = emit_assigned(w->e, "u", u);
  w->here.z = emit_assigned(w->e, "z", x_div(u, slices));
  w->r0 = emit_assigned(w->e, "r0", x_mul(x_mod(u, slices), slice));
  w->rr = emit_assigned(w->e, "rr", x_min(slice, x_sub(rows, w->r0)));
  return i;
}

/* The same with two buffers, from byte `base` of UB on. */
static void open_pairs(struct writer *w, const char *loop, uint64_t heads, uint64_t rows,
                       const struct attention_end *end, uint64_t base, uint64_t buffer_bytes) {
  struct expr i = open_slices(w, loop, heads, rows, end->slice, end->cores);
  w->half = emit_assigned(w->e, "half", x_mod(i, ATTENTION_PAIR));
  emit_wait(w->e, PIPE_MTE3, PIPE_MTE2, w->half);
  w->tile = emit_assigned(w->e, "tile", x_add(base, x_mul(w->half, buffer_bytes)));
}

static void close_pairs(struct writer *w) {
  emit_set(w->e, PIPE_MTE3, PIPE_MTE2, w->half);
  emit_end(w->e);
}

static void put_flags(struct emit *e, bool set) {
  emit_flag_of(e, set, PIPE_MTE3, PIPE_MTE2, emit_slots(e, set, "", ATTENTION_PAIR));
  emit_end(e);
}

/* ---- parts of the keys ---- */

enum { R_VALUES = X0, R_MAXIMA = X1, R_SUMS = X2, R_RESULT = Y0, R_LARGEST = T0, R_TOTAL = T1 };

void fa_parts_workspace(struct writer *w) {
  uint64_t rows = w->at->batch * w->at->heads * w->at->rows, splits = w->t.splits;
  fa_workspace(w, "part_values", DTYPE_FP32, rows, splits, w->at->depth);
  fa_workspace(w, "part_max", DTYPE_FP32, rows, splits, BLOCK_WORDS);
  fa_workspace(w, "part_sum", DTYPE_FP32, rows, splits, BLOCK_WORDS);
}

/* As many of `rows` as fit UB, in halves; their registers. */
static uint64_t lay_out(struct writer *w, struct vunit *unit, uint64_t rows) {
  static const uint8_t regs[] = {R_VALUES, R_MAXIMA, R_SUMS, R_RESULT, R_LARGEST, R_TOTAL};
  uint64_t used = 0, values = w->t.depth * WORD_BYTES, splits = w->t.splits;
  const uint64_t bytes[] = {splits * values, splits * BLOCK_BYTES, splits * BLOCK_BYTES,
                            values,          BLOCK_BYTES,          BLOCK_BYTES};
  for (unsigned i = 0; i < sizeof regs; i++)
    unit->reg[regs[i]] = EXPR(vtile_reserve(&used, rows * bytes[i]));
  return used > vtile_ub_bytes(w->e->soc) && rows > 1 ? lay_out(w, unit, rows / 2) : rows;
}

static void load_parts(struct writer *w, const struct vunit *unit) {
  struct expr rows = x_add(x_mul(w->here.z, w->at->rows), w->r0);
  struct expr first = emit_assigned(w->e, "first", x_mul(rows, w->t.splits));
  struct expr values = x_mul(first, w->at->depth * WORD_BYTES), count = x_mul(w->rr, w->t.splits);
  emit_wait(w->e, PIPE_MTE3, PIPE_MTE2, 0);
  fa_load_values(w, unit->reg[R_VALUES], x_add(x_name(w->e, "part_values"), values), count);
  for (unsigned i = 0; i < 2; i++)
    EMIT(w->e, "copy_gm_to_ubuf", F("dst", unit->reg[i ? R_SUMS : R_MAXIMA]),
         F("src", x_slot(w->e, i ? "part_sum" : "part_max", first, BLOCK_BYTES)),
         F("len_burst", count));
  emit_handshake(w->e, PIPE_MTE2, PIPE_V, 0);
}

/* For each part in turn: one number of a row `op`= that of the part. */
static void fold(struct writer *w, struct vunit *unit, const char *name, const char *inst,
                 unsigned dst, unsigned src) {
  vunit_lanes(unit, BLOCK_WORDS);
  struct expr part = x_mul(emit_for(w->e, name, w->t.splits), BLOCK_BYTES);
  vunit_order(unit, V(dst) | V(src), V(dst));
  fa_rows_op(w, inst, unit->reg[dst], EXPR(1), x_add(unit->reg[src], part), w->t.splits, false);
  emit_end(w->e);
}

/* Factors of the parts in place of their maxima; their sums together. */
static void put_factors(struct writer *w, struct vunit *unit) {
  uint64_t splits = w->t.splits;
  vunit_count(unit, x_mul(w->rr, BLOCK_WORDS));
  vunit_step(unit, &(struct vstep)FILL(R_LARGEST, vreduction_identity(V_MAX)));
  vunit_step(unit, &(struct vstep)FILL(R_TOTAL, 0));
  fold(w, unit, "largest", "vmax", R_LARGEST, R_MAXIMA);
  vunit_order(unit, V(R_LARGEST), V(R_MAXIMA));
  struct expr part = x_mul(emit_for(w->e, "less", splits), BLOCK_BYTES);
  fa_rows_op(w, "vsub", x_add(unit->reg[R_MAXIMA], part), EXPR(splits), unit->reg[R_LARGEST], 1,
             false);
  emit_end(w->e);
  vunit_count(unit, x_mul(w->rr, splits * BLOCK_WORDS));
  vunit_step(unit, &(struct vstep)U("vexp", R_MAXIMA, R_MAXIMA));
  vunit_step(unit, &(struct vstep)B("vmul", R_SUMS, R_SUMS, R_MAXIMA));
  fold(w, unit, "sums", "vadd", R_TOTAL, R_SUMS);
}

/* By columns of lanes from byte `at` on: the rows of each part times its factor, added; at last
 * divided. */
static void put_columns(struct writer *w, struct vunit *unit, struct expr at, uint64_t lanes) {
  uint64_t splits = w->t.splits, stride = w->t.depth / BLOCK_WORDS, parts = splits * stride;
  struct expr result = x_add(unit->reg[R_RESULT], at);
  vunit_lanes(unit, (unsigned)lanes);
  struct expr j = emit_for(w->e, "j", splits);
  struct expr factor = x_add(unit->reg[R_MAXIMA], x_mul(j, BLOCK_BYTES));
  struct expr part = x_add(unit->reg[R_VALUES], x_mul(j, w->t.depth * WORD_BYTES));
  fa_rows_op(w, "vmul", x_add(part, at), EXPR(parts), factor, splits, true);
  emit_barrier(w->e, PIPE_V);
  fa_rows_op(w, "vadd", result, EXPR(stride), x_add(part, at), parts, false);
  emit_end(w->e);
  emit_barrier(w->e, PIPE_V);
  fa_rows_op(w, "vdiv", result, EXPR(stride), unit->reg[R_TOTAL], 1, true);
}

static void put_joined(struct writer *w, struct vunit *unit) {
  uint64_t whole = w->t.depth / LANES, rest = w->t.depth % LANES;
  struct expr count = x_mul(w->rr, w->t.depth);
  vunit_count(unit, count);
  emit_barrier(w->e, PIPE_V);
  unit->written = 0;
  vunit_step(unit, &(struct vstep)FILL(R_RESULT, 0));
  emit_barrier(w->e, PIPE_V);
  if (whole > 0) {
    vunit_lanes(unit, LANES);
    put_columns(w, unit, x_mul(emit_for(w->e, "lanes", whole), LANES_BYTES), LANES);
    emit_end(w->e);
  }
  if (rest > 0)
    put_columns(w, unit, EXPR(whole * LANES_BYTES), rest);
  vunit_count(unit, count);
  fa_convert(w, unit, R_RESULT, R_RESULT);
  vunit_rest(unit);
}

void fa_join(struct writer *w) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  const uint64_t rows_max = 64;
  struct vunit unit = {.emit = e, .type = DTYPE_FP32, .written = V_ALL};
  uint64_t rows = lay_out(w, &unit, min_u64(rows_max, round_up(at->rows, BLOCK_WORDS)));
  uint64_t cores = attention_join_end(e->soc, at, &w->t, rows).cores;
  emit_kernel(e, "flash_attention_join", (uint32_t)cores);
  fa_parts_workspace(w);
  fa_tensor(w, "o", false, TENSOR_OUT);
  open_kernel(w, vtile_ub_bytes(e->soc));
  emit_set(e, PIPE_MTE3, PIPE_MTE2, 0);
  open_slices(w, "i", at->batch * at->heads, at->rows, rows, cores);
  load_parts(w, &unit);
  put_factors(w, &unit);
  put_joined(w, &unit);
  emit_handshake(e, PIPE_V, PIPE_MTE3, 0);
  fa_copy_rows(w, true, "o", &at->o, at->heads, w->r0, unit.reg[R_RESULT]);
  emit_set(e, PIPE_MTE3, PIPE_MTE2, 0);
  emit_end(e);
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, 0);
}

/* ---- before the gradient ---- */

void fa_grad_workspace(struct writer *w) {
  const struct attention *at = w->at;
  uint64_t heads = at->batch * at->heads, kv_heads = heads / at->group;
  fa_workspace(w, "dq_sum", DTYPE_FP32, heads, at->rows, at->depth);
  if (!at->coupled) {
    fa_workspace(w, "dk_sum", DTYPE_FP32, kv_heads, at->keys, at->depth);
    fa_workspace(w, "dv_sum", DTYPE_FP32, kv_heads, at->keys, at->depth);
  }
  fa_workspace(w, "delta", DTYPE_FP32, heads, at->rows, BLOCK_WORDS);
}

/* Zeros lie at the start of UB. */
static void clear_sum(struct writer *w, const char *loop, const char *sum, uint64_t rows,
                      uint64_t cores) {
  const uint64_t piece_bytes = ATTENTION_CLEAR_BYTES;
  uint64_t bytes = rows * w->at->depth * WORD_BYTES;
  struct expr piece;
  open_pieces(w, loop, ceil_div(bytes, piece_bytes), cores, &piece);
  struct expr at = emit_assigned(w->e, "at", x_mul(piece, piece_bytes));
  EMIT(w->e, "copy_ubuf_to_gm_align_b32", F("dst", x_add(x_name(w->e, sum), at)), F("src", 0),
       F("len_burst", x_min(piece_bytes, x_sub(bytes, at))));
  emit_end(w->e);
}

/* Sums of rows of the products of both operands, eight times each, at the start of the buffer. */
static void compute_delta(struct writer *w, uint64_t floats, uint64_t column,
                          uint64_t accumulator) {
  struct rowwise rows = {.n_rows = w->rr,
                         .cols = w->at->depth,
                         .pitch = w->t.depth,
                         .unit = {.emit = w->e,
                                  .type = DTYPE_FP32,
                                  .written = V_ALL,
                                  .reg = {x_add(w->tile, floats), x_add(w->tile, 2 * floats),
                                          w->tile, x_add(w->tile, floats / 2), [T1] = EXPR(column),
                                          [V_ACCUMULATOR] = EXPR(accumulator)}}};
  struct vunit *unit = &rows.unit;
  rowwise_all(&rows);
  for (unsigned i = X0; i <= X1; i++)
    vunit_convert(unit, V(X2 + i), V(i), w->at->type, DTYPE_FP32, unit->reg[i], unit->reg[X2 + i]);
  vunit_step(unit, &(struct vstep)B("vmul", X0, X0, X1));
  rowwise_step(&rows, &(struct vstep)REDUCE(T1, X0, V_SUM));
  rowwise_column(&rows);
  VROW(unit, V(T1), V(X2), "vbrcb", F("dst", w->tile), F("src", column),
       F("repeat", x_ceil_div(w->rr, BLOCK_WORDS)), W("type", "uint32"));
  vunit_rest(unit);
}

/* Sums of rows of dY * O. The buffer of a slice has both as loaded, and both in single precision.
 */
static void put_delta(struct writer *w, const struct attention_end *end) {
  static const char *const names[] = {"dy", "o"};
  const struct attention *at = w->at;
  uint64_t floats = end->slice * w->t.depth * WORD_BYTES, buffer = 3 * floats;
  uint64_t column = ATTENTION_CLEAR_BYTES + ATTENTION_PAIR * buffer;
  open_pairs(w, "i_delta", at->batch * at->heads, at->rows, end, ATTENTION_CLEAR_BYTES, buffer);
  for (unsigned i = 0; i < 2; i++)
    fa_copy_rows(w, false, names[i], &at->q, at->heads, w->r0, x_add(w->tile, i * floats / 2));
  emit_handshake(w->e, PIPE_MTE2, PIPE_V, w->half);
  compute_delta(w, floats, column, column + end->slice * WORD_BYTES);
  emit_handshake(w->e, PIPE_V, PIPE_MTE3, w->half);
  EMIT(w->e, "copy_ubuf_to_gm",
       F("dst", fa_number(w, "delta", at->rows, w->here.z, w->r0, BLOCK_BYTES)), F("src", w->tile),
       F("len_burst", w->rr));
  close_pairs(w);
}

void fa_grad_first(struct writer *w) {
  const struct attention *at = w->at;
  uint64_t heads = at->batch * at->heads, keys = heads / at->group * at->keys;
  struct attention_end end = attention_grad_end(w->e->soc, at, w->t.depth, true);
  emit_kernel(w->e, "flash_attention_grad_start", (uint32_t)end.cores);
  fa_tensor(w, "dy", false, TENSOR_IN);
  fa_tensor(w, "o", false, TENSOR_IN);
  fa_grad_workspace(w);
  open_kernel(w, ATTENTION_CLEAR_BYTES + end.slice * attention_delta_bytes(w->t.depth));
  clear_sum(w, "i_dq_sum", "dq_sum", heads * at->rows, end.cores);
  if (!at->coupled) {
    clear_sum(w, "i_dk_sum", "dk_sum", keys, end.cores);
    clear_sum(w, "i_dv_sum", "dv_sum", keys, end.cores);
  }
  put_flags(w->e, true);
  put_delta(w, &end);
  put_flags(w->e, false);
}

/* ---- behind the gradient ---- */

static const struct result {
  const char *loop, *sum, *name;
  bool as_keys, scaled;
} results[] = {{"i_dq", "dq_sum", "dq", false, true},
               {"i_dk", "dk_sum", "dk", true, true},
               {"i_dv", "dv_sum", "dv", true, false}};
enum { RESULTS = sizeof results / sizeof *results };

/* Coupled cores have written dK and dV. */
static unsigned results_left(const struct attention *at) { return at->coupled ? 1 : RESULTS; }

/* A sum times the scale, as the type. */
static void put_result(struct writer *w, const struct result *result,
                       const struct attention_end *end) {
  const struct attention *at = w->at;
  const struct attention_strides *strides = result->as_keys ? &at->kv : &at->q;
  uint64_t heads = result->as_keys ? at->heads / at->group : at->heads;
  uint64_t rows = result->as_keys ? at->keys : at->rows, row = at->depth * WORD_BYTES;
  open_pairs(w, result->loop, at->batch * heads, rows, end, 0,
             end->slice * w->t.depth * WORD_BYTES);
  struct vunit unit = {.emit = w->e, .type = DTYPE_FP32, .reg = {w->tile}};
  fa_load_values(w, w->tile, fa_number(w, result->sum, rows, w->here.z, w->r0, row), w->rr);
  emit_handshake(w->e, PIPE_MTE2, PIPE_V, w->half);
  vunit_count(&unit, x_mul(w->rr, w->t.depth));
  if (result->scaled && at->scale != 1)
    vunit_step(&unit, &(struct vstep)S("vmuls", X0, X0, at->scale));
  fa_convert(w, &unit, X0, X0);
  emit_handshake(w->e, PIPE_V, PIPE_MTE3, w->half);
  fa_copy_rows(w, true, result->name, strides, heads, w->r0, w->tile);
  close_pairs(w);
}

void fa_grad_last(struct writer *w) {
  struct attention_end end = attention_grad_end(w->e->soc, w->at, w->t.depth, false);
  emit_kernel(w->e, "flash_attention_grad_end", (uint32_t)end.cores);
  fa_grad_workspace(w);
  for (unsigned i = 0; i < results_left(w->at); i++)
    fa_tensor(w, results[i].name, results[i].as_keys, TENSOR_OUT);
  open_kernel(w, ATTENTION_PAIR * end.slice * w->t.depth * WORD_BYTES);
  put_flags(w->e, true);
  for (unsigned i = 0; i < results_left(w->at); i++)
    put_result(w, &results[i], &end);
  put_flags(w->e, false);
}
