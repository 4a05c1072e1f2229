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

enum { HALF_BYTES = 2, WORD_BYTES = 4, ROUND_UNIT = 8, ROWS_MAX = 64, BLOCK_LANES = 8 };

/* Registers for the order of instructions. */
enum { R_VALUES = X0, R_MAXIMA = X1, R_SUMS = X2, R_RESULT = Y0, R_LARGEST = T0, R_TOTAL = T1 };

struct join {
  struct emit *e;
  const struct attention *at;
  ull splits, depth, rows; /* rows of a slice */
  ull values, maxima, sums, result, largest, total;
};

void attention_parts_workspace(const struct attention_writer *w) {
  uint64_t rows = w->at->batch * w->at->heads * w->at->rows;
  const uint64_t values[3] = {rows, w->t.splits, w->at->depth};
  const uint64_t numbers[3] = {rows, w->t.splits, BLOCK_BYTES / WORD_BYTES};
  emit_tensor(w->e, "part_values", DTYPE_FP32, TENSOR_WORKSPACE, values, 3, NULL);
  emit_tensor(w->e, "part_max", DTYPE_FP32, TENSOR_WORKSPACE, numbers, 3, NULL);
  emit_tensor(w->e, "part_sum", DTYPE_FP32, TENSOR_WORKSPACE, numbers, 3, NULL);
}

static void lay_out(struct join *join, ull rows) {
  uint64_t used = 0, numbers = rows * BLOCK_BYTES;
  join->rows = rows;
  join->values = vtile_reserve(&used, rows * join->splits * join->depth * WORD_BYTES);
  join->maxima = vtile_reserve(&used, numbers * join->splits);
  join->sums = vtile_reserve(&used, numbers * join->splits);
  join->result = vtile_reserve(&used, rows * join->depth * WORD_BYTES);
  join->largest = vtile_reserve(&used, numbers);
  join->total = vtile_reserve(&used, numbers);
  if (used > vtile_ub_bytes(join->e->soc) && rows > 1)
    lay_out(join, rows / 2);
}

/* dst op= number, or values, of a part for each row; so many blocks of a row. */
static void fold(const struct join *join, const char *inst, ull dst, ull src, const char *part) {
  emit_row(join->e,
           "%s,dst=%llu,src0=%llu,src1=%llu+%s*%d,repeat=rr,dst_repeat=1,src0_repeat=1,"
           "src1_repeat=%llu,type=fp32",
           inst, dst, dst, src, part, BLOCK_BYTES, join->splits);
}

static void load(const struct join *join, ull slices) {
  struct emit *e = join->e;
  const struct attention *at = join->at;
  ull row = at->depth * WORD_BYTES;
  emit_let(e, "z", "u/%llu", slices);
  emit_let(e, "r0", "u%%%llu*%llu", slices, join->rows);
  emit_let(e, "rr", "min(%llu,%llu-r0)", join->rows, (ull)at->rows);
  emit_let(e, "first", "(z*%llu+r0)*%llu", (ull)at->rows, join->splits);
  emit_wait_flag(e, PIPE_MTE3, PIPE_MTE2, "0");
  emit_row(e,
           "copy_gm_to_ubuf_align_b32,dst=%llu,src=part_values+first*%llu,n_burst=rr*%llu,"
           "len_burst=%llu,right_pad=%llu,dst_gap=%llu",
           join->values, row, join->splits, row,
           (ull)((ROUND_UNIT - at->depth % ROUND_UNIT) % ROUND_UNIT),
           (ull)(join->depth / ROUND_UNIT - ceil_div(at->depth, ROUND_UNIT)));
  emit_row(e, "copy_gm_to_ubuf,dst=%llu,src=part_max+first*%d,len_burst=rr*%llu", join->maxima,
           BLOCK_BYTES, join->splits);
  emit_row(e, "copy_gm_to_ubuf,dst=%llu,src=part_sum+first*%d,len_burst=rr*%llu", join->sums,
           BLOCK_BYTES, join->splits);
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "0");
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "0");
}

/* Factors of the parts in place of their maxima; their sums together. */
static void put_factors(const struct join *join, struct vmachine *machine) {
  struct emit *e = join->e;
  const char *all = emit_text(e, "rr*%llu", join->splits * BLOCK_LANES);
  vmachine_count(machine, emit_text(e, "rr*%d", BLOCK_LANES));
  vmachine_order(machine, 0, 1u << R_LARGEST | 1u << R_TOTAL);
  emit_row(e, "vector_dup,dst=%llu,scalar=%lld,repeat=1,type=fp32", join->largest,
           vscalar_bits(DTYPE_FP32, vrow_identity(VROW_MAX)));
  emit_row(e, "vector_dup,dst=%llu,scalar=0,repeat=1,type=fp32", join->total);
  vmachine_lanes(machine, BLOCK_LANES);
  emit_loop(e, "largest", "%llu", join->splits);
  emit_barrier(e, PIPE_V);
  fold(join, "vmax", join->largest, join->maxima, "largest");
  emit_endloop(e);
  emit_barrier(e, PIPE_V);
  emit_loop(e, "less", "%llu", join->splits);
  emit_row(e,
           "vsub,dst=%llu+less*%d,src0=%llu+less*%d,src1=%llu,repeat=rr,dst_repeat=%llu,"
           "src0_repeat=%llu,src1_repeat=1,type=fp32",
           join->maxima, BLOCK_BYTES, join->maxima, BLOCK_BYTES, join->largest, join->splits,
           join->splits);
  emit_endloop(e);
  vmachine_count(machine, all);
  emit_barrier(e, PIPE_V);
  emit_row(e, "vexp,dst=%llu,src=%llu,repeat=1,type=fp32", join->maxima, join->maxima);
  emit_barrier(e, PIPE_V);
  emit_row(e, "vmul,dst=%llu,src0=%llu,src1=%llu,repeat=1,type=fp32", join->sums, join->sums,
           join->maxima);
  vmachine_lanes(machine, BLOCK_LANES);
  emit_loop(e, "sums", "%llu", join->splits);
  emit_barrier(e, PIPE_V);
  fold(join, "vadd", join->total, join->sums, "sums");
  emit_endloop(e);
}

/* By columns of lanes: the rows of each part times its factor, added; at last divided. */
static void put_columns(const struct join *join, struct vmachine *machine, const char *at,
                        unsigned lanes) {
  struct emit *e = join->e;
  ull part = join->depth * WORD_BYTES, stride = join->splits * join->depth / ROUND_UNIT;
  ull row = join->depth / ROUND_UNIT;
  vmachine_lanes(machine, lanes);
  emit_loop(e, "j", "%llu", join->splits);
  emit_row(e,
           "vmul,dst=%llu+j*%llu+%s,src0=%llu+j*%llu+%s,src1=%llu+j*%d,repeat=rr,"
           "dst_repeat=%llu,src0_repeat=%llu,src1_block=0,src1_repeat=%llu,type=fp32",
           join->values, part, at, join->values, part, at, join->maxima, BLOCK_BYTES, stride,
           stride, join->splits);
  emit_barrier(e, PIPE_V);
  emit_row(e,
           "vadd,dst=%llu+%s,src0=%llu+%s,src1=%llu+j*%llu+%s,repeat=rr,dst_repeat=%llu,"
           "src0_repeat=%llu,src1_repeat=%llu,type=fp32",
           join->result, at, join->result, at, join->values, part, at, row, row, stride);
  emit_endloop(e);
  emit_barrier(e, PIPE_V);
  emit_row(e,
           "vdiv,dst=%llu+%s,src0=%llu+%s,src1=%llu,repeat=rr,dst_repeat=%llu,src0_repeat=%llu,"
           "src1_block=0,src1_repeat=1,type=fp32",
           join->result, at, join->result, at, join->total, row, row);
}

static void put_result(const struct join *join, struct vmachine *machine) {
  struct emit *e = join->e;
  const char *count = emit_text(e, "rr*%llu", join->depth);
  ull whole = join->depth / VROW_LANES, bytes = VROW_LANES * WORD_BYTES;
  vmachine_count(machine, count);
  emit_barrier(e, PIPE_V);
  emit_row(e, "vector_dup,dst=%llu,scalar=0,repeat=1,type=fp32", join->result);
  emit_barrier(e, PIPE_V);
  if (whole > 0) {
    vmachine_lanes(machine, VROW_LANES);
    emit_loop(e, "lanes", "%llu", whole);
    put_columns(join, machine, emit_text(e, "lanes*%llu", bytes), VROW_LANES);
    emit_endloop(e);
  }
  if (join->depth % VROW_LANES)
    put_columns(join, machine, emit_text(e, "%llu", whole * bytes),
                (unsigned)(join->depth % VROW_LANES));
  vmachine_count(machine, count);
  emit_barrier(e, PIPE_V);
  emit_row(e, "%s,dst=%llu,src=%llu,repeat=1", vconvert_inst(e->soc, DTYPE_FP32, join->at->type),
           join->result, join->result);
}

static void store(const struct join *join) {
  struct emit *e = join->e;
  const struct attention *at = join->at;
  ull row = at->depth * HALF_BYTES;
  emit_set_flag(e, PIPE_V, PIPE_MTE3, "0");
  emit_wait_flag(e, PIPE_V, PIPE_MTE3, "0");
  emit_row(e,
           "copy_ubuf_to_gm_align_b16,dst=o+(z/%llu*%llu+z%%%llu*%llu+r0*%llu)*%d,src=%llu,"
           "n_burst=rr,len_burst=%llu,src_gap=%llu,dst_gap=%llu",
           (ull)at->heads, (ull)at->q.batch, (ull)at->heads, (ull)at->q.head, (ull)at->q.row,
           HALF_BYTES, join->result, row,
           join->depth * HALF_BYTES / BLOCK_BYTES - ceil_div(row, BLOCK_BYTES),
           (ull)(at->q.row - at->depth) * HALF_BYTES);
  emit_set_flag(e, PIPE_MTE3, PIPE_MTE2, "0");
}

void attention_join(const struct attention_writer *w, const struct lower_job *job) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  struct join join = {.e = e, .at = at, .splits = w->t.splits, .depth = w->t.depth};
  lay_out(&join, min_u64(ROWS_MAX, (at->rows + ROUND_UNIT - 1) / ROUND_UNIT * ROUND_UNIT));
  ull slices = ceil_div(at->rows, join.rows), total = at->batch * at->heads * slices;
  ull cores = attention_join_cores(e->soc, at, &w->t, join.rows);
  emit_kernel(e, "flash_attention_join", (uint32_t)cores);
  attention_parts_workspace(w);
  attention_tensor(job, e, "o", job->value[ATTENTION_HEADS].size, job->value[ATTENTION_SEQ_Q].size,
                   TENSOR_OUT);
  emit_buffer(e, "ub", SPACE_UB, vtile_ub_bytes(e->soc));
  emit_stream(e, CORE_AIV);
  emit_row(e, "set_mask_count");
  emit_row(e, "set_vector_mask,high=0,low=%llu", (ull)vtile_ub_bytes(e->soc) / WORD_BYTES);
  emit_row(e, "vector_dup,dst=0,scalar=0,repeat=1,type=fp32");
  emit_barrier(e, PIPE_ALL);
  emit_set_flag(e, PIPE_MTE3, PIPE_MTE2, "0");
  emit_loop(e, "i", "(%llu-blk)/%llu", total + cores - 1, cores);
  emit_let(e, "u", "i*%llu+blk", cores);
  load(&join, slices);
  struct vmachine machine = {.emit = e, .type = DTYPE_FP32, .written = (1u << VREGS) - 1};
  put_factors(&join, &machine);
  put_result(&join, &machine);
  vmachine_rest(&machine);
  store(&join);
  emit_endloop(e);
  emit_wait_flag(e, PIPE_MTE3, PIPE_MTE2, "0");
}
