/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second kernel of flash_attention when the keys are split: parts of a row are brought to their
 * common maximum and added. Rows of one head are walked in slices by all vector cores; the parts of
 * a row lie behind each other, their maxima and sums eight times each.
 *
 * Flags, one buffer: MTE3 to MTE2 free, MTE2 to V filled, V to MTE3 computed, 0.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/attention/writer.h"

enum { ROWS_MAX = 64 };

/* Slices and their addresses in UB. */
struct join {
  struct attention_writer *w;
  struct vmachine machine;
  uint64_t splits, depth, rows;
  uint64_t values, maxima, sums, result, largest, total;
};

void attention_parts_workspace(const struct attention_writer *w) {
  uint64_t rows = w->at->batch * w->at->heads * w->at->rows, splits = w->t.splits;
  attention_workspace(w, "part_values", DTYPE_FP32, rows, splits, w->at->depth);
  attention_workspace(w, "part_max", DTYPE_FP32, rows, splits, BLOCK_WORDS);
  attention_workspace(w, "part_sum", DTYPE_FP32, rows, splits, BLOCK_WORDS);
}

/* The most rows of a slice that fit UB, in halves of `rows`. */
static void lay_out(struct join *join, uint64_t rows) {
  uint64_t used = 0, numbers = rows * BLOCK_BYTES;
  join->rows = rows;
  join->values = vtile_reserve(&used, rows * join->splits * join->depth * WORD_BYTES);
  join->maxima = vtile_reserve(&used, numbers * join->splits);
  join->sums = vtile_reserve(&used, numbers * join->splits);
  join->result = vtile_reserve(&used, rows * join->depth * WORD_BYTES);
  join->largest = vtile_reserve(&used, numbers);
  join->total = vtile_reserve(&used, numbers);
  if (used > vtile_ub_bytes(join->w->e->soc) && rows > 1)
    lay_out(join, rows / 2);
}

static void load(const struct join *join) {
  const struct attention_writer *w = join->w;
  struct emit *e = w->e;
  uint64_t row = w->at->depth * WORD_BYTES;
  struct expr rows = x_add(x_mul(w->here.z, w->at->rows), w->r0);
  struct expr first = attention_let(e, "first", "", x_mul(rows, join->splits));
  struct expr count = x_mul(w->rr, join->splits);
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, 0);
  attention_values_in(w, EXPR(join->values), x_add(x_name(e, "part_values"), x_mul(first, row)),
                      count);
  for (unsigned i = 0; i < 2; i++)
    EMIT(e, "copy_gm_to_ubuf", F("dst", i ? join->sums : join->maxima),
         F("src", x_add(x_name(e, i ? "part_sum" : "part_max"), x_mul(first, BLOCK_BYTES))),
         F("len_burst", count));
  emit_handshake(e, PIPE_MTE2, PIPE_V, 0);
}

/* For each part in turn: one number of a row `op`= that of the part. */
static void fold(const struct join *join, const char *name, const char *inst, uint64_t dst,
                 uint64_t src) {
  struct emit *e = join->w->e;
  struct expr part = emit_for(e, name, join->splits);
  emit_barrier(e, PIPE_V);
  EMIT(e, inst, F("dst", dst), F("src0", dst), F("src1", x_add(src, x_mul(part, BLOCK_BYTES))),
       F("repeat", join->w->rr), F("dst_repeat", 1), F("src0_repeat", 1),
       F("src1_repeat", join->splits), W("type", "fp32"));
  emit_end(e);
}

/* Factors of the parts in place of their maxima; their sums together. */
static void put_factors(struct join *join) {
  const struct attention_writer *w = join->w;
  struct vmachine *machine = &join->machine;
  struct emit *e = w->e;
  uint64_t maxima = join->maxima, sums = join->sums, splits = join->splits;
  attention_count(w, machine, EXPR(BLOCK_WORDS));
  emit_barrier(e, PIPE_V);
  attention_dup(e, EXPR(join->largest), vrow_identity(VROW_MAX), EXPR(1));
  attention_dup(e, EXPR(join->total), 0, EXPR(1));
  vmachine_lanes(machine, BLOCK_WORDS);
  fold(join, "largest", "vmax", join->largest, maxima);
  emit_barrier(e, PIPE_V);
  struct expr less = x_add(maxima, x_mul(emit_for(e, "less", splits), BLOCK_BYTES));
  EMIT(e, "vsub", F("dst", less), F("src0", less), F("src1", join->largest), F("repeat", w->rr),
       F("dst_repeat", splits), F("src0_repeat", splits), F("src1_repeat", 1), W("type", "fp32"));
  emit_end(e);
  attention_count(w, machine, EXPR(splits * BLOCK_WORDS));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vexp", F("dst", maxima), F("src", maxima), F("repeat", 1), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vmul", F("dst", sums), F("src0", sums), F("src1", maxima), F("repeat", 1),
       W("type", "fp32"));
  vmachine_lanes(machine, BLOCK_WORDS);
  fold(join, "sums", "vadd", join->total, sums);
}

/* By columns of lanes from byte `at` on: the rows of each part times its factor, added; at last
 * divided. */
static void put_columns(struct join *join, struct expr at, uint64_t lanes) {
  struct emit *e = join->w->e;
  uint64_t row = join->depth / BLOCK_WORDS, stride = join->splits * row;
  struct expr result = x_add(join->result, at), rr = join->w->rr;
  vmachine_lanes(&join->machine, (unsigned)lanes);
  struct expr j = emit_for(e, "j", join->splits);
  struct expr values = x_add(x_add(join->values, x_mul(j, join->depth * WORD_BYTES)), at);
  EMIT(e, "vmul", F("dst", values), F("src0", values),
       F("src1", x_add(join->maxima, x_mul(j, BLOCK_BYTES))), F("repeat", rr),
       F("dst_repeat", stride), F("src0_repeat", stride), F("src1_block", 0),
       F("src1_repeat", join->splits), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vadd", F("dst", result), F("src0", result), F("src1", values), F("repeat", rr),
       F("dst_repeat", row), F("src0_repeat", row), F("src1_repeat", stride), W("type", "fp32"));
  emit_end(e);
  emit_barrier(e, PIPE_V);
  EMIT(e, "vdiv", F("dst", result), F("src0", result), F("src1", join->total), F("repeat", rr),
       F("dst_repeat", row), F("src0_repeat", row), F("src1_block", 0), F("src1_repeat", 1),
       W("type", "fp32"));
}

static void put_result(struct join *join) {
  struct emit *e = join->w->e;
  uint64_t whole = join->depth / VROW_LANES, bytes = VROW_LANES * WORD_BYTES;
  attention_count(join->w, &join->machine, EXPR(join->depth));
  emit_barrier(e, PIPE_V);
  attention_dup(e, EXPR(join->result), 0, EXPR(1));
  emit_barrier(e, PIPE_V);
  if (whole > 0) {
    vmachine_lanes(&join->machine, VROW_LANES);
    put_columns(join, x_mul(emit_for(e, "lanes", whole), bytes), VROW_LANES);
    emit_end(e);
  }
  if (join->depth % VROW_LANES)
    put_columns(join, EXPR(whole * bytes), join->depth % VROW_LANES);
  attention_count(join->w, &join->machine, EXPR(join->depth));
  emit_barrier(e, PIPE_V);
  EMIT(e, vconvert_inst(e->soc, DTYPE_FP32, join->w->at->type), F("dst", join->result),
       F("src", join->result), F("repeat", 1));
}

static void store(const struct join *join) {
  const struct attention_writer *w = join->w;
  const struct attention *at = w->at;
  emit_handshake(w->e, PIPE_V, PIPE_MTE3, 0);
  attention_rows_out(w, &at->q, attention_row(w, "o", &at->q, at->heads, 1, w->here.z, w->r0),
                     EXPR(join->result), w->rr);
  emit_set(w->e, PIPE_MTE3, PIPE_MTE2, 0);
}

void attention_join(struct attention_writer *w) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  struct join join = {.w = w,
                      .machine = {.emit = e, .type = DTYPE_FP32},
                      .splits = w->t.splits,
                      .depth = w->t.depth};
  lay_out(&join, min_u64(ROWS_MAX, round_up(at->rows, BLOCK_WORDS)));
  uint64_t cores = attention_join_cores(e->soc, at, &w->t, join.rows);
  emit_kernel(e, "flash_attention_join", (uint32_t)cores);
  attention_parts_workspace(w);
  attention_tensor(w, "o", false, TENSOR_OUT);
  attention_vector_kernel(w, vtile_ub_bytes(e->soc));
  emit_set(e, PIPE_MTE3, PIPE_MTE2, 0);
  attention_open_rows(w, "i", at->batch * at->heads, at->rows, join.rows, cores);
  load(&join);
  put_factors(&join);
  put_result(&join);
  vmachine_rest(&join.machine);
  store(&join);
  emit_end(e);
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, 0);
}
