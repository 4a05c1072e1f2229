/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixpipe: accumulators leave L0C, converted and reordered on the way. The overlap
 * with mad that the unit flag allows is that of core/sim/pipe_units.c.
 */
#include "memhier/transfer/transfer.h"

uint64_t transfer_fix_element_bytes(const struct inst *inst) {
  switch (inst->arg[FIX_QUANT]) {
  case QUANT_NONE:
    return ACCUMULATOR_BYTES;
  case QUANT_F322F16:
  case QUANT_F322BF16:
  case QUANT_DEQF16:
  case QUANT_VDEQF16:
    return dtype_bits(DTYPE_FP16) / BITS_PER_BYTE;
  default:
    return dtype_bits(DTYPE_INT8) / BITS_PER_BYTE;
  }
}

uint64_t transfer_fix_column_width(const struct inst *inst) {
  uint64_t element = transfer_fix_element_bytes(inst);
  bool blocks = inst->arg[FIX_CHANNEL_SPLIT] || element * L0C_FRACTAL_SIDE < BLOCK_BYTES;
  return blocks ? BLOCK_BYTES / element : L0C_FRACTAL_SIDE;
}

bool transfer_fix_by_column(const struct inst *inst) {
  int64_t quant = inst->arg[FIX_QUANT];
  return quant == QUANT_VDEQF16 || quant == QUANT_VQF322B8 || quant == QUANT_VREQ8;
}

/* What one matrix is written as: rows in ND order, columns in DN order, columns of blocks in NZ
 * order. */
static struct transfer_runs fix_matrix_runs(const struct inst *inst) {
  uint64_t element = transfer_fix_element_bytes(inst);
  uint64_t m = (uint64_t)inst->arg[FIX_M];
  uint64_t n = (uint64_t)inst->arg[FIX_N];
  uint64_t stride = (uint64_t)inst->arg[FIX_DST_STRIDE];
  if (inst->arg[FIX_NZ2ND])
    return (struct transfer_runs){
        .count = m, .bytes = n * element, .stride_bytes = stride * element};
  if (inst->arg[FIX_NZ2DN])
    return (struct transfer_runs){
        .count = n, .bytes = m * element, .stride_bytes = stride * element};
  uint64_t width = transfer_fix_column_width(inst);
  return (struct transfer_runs){
      .count = ceil_div(n, width),
      .bytes = m * (n < width ? n : width) * element,
      .stride_bytes = stride * BLOCK_BYTES,
  };
}

/* Several matrices exist in ND and DN order only. */
static struct transfer_runs fix_matrices(const struct inst *inst) {
  bool several = inst->arg[FIX_NZ2ND] || inst->arg[FIX_NZ2DN];
  return (struct transfer_runs){
      .count = several ? (uint64_t)inst->arg[FIX_ND_NUMBER] : 1,
      .bytes = transfer_span(fix_matrix_runs(inst)),
      .stride_bytes = (uint64_t)inst->arg[FIX_DST_ND_STRIDE] * transfer_fix_element_bytes(inst),
  };
}

/* Columns of 8 words leave as blocks of 32 bytes, at a rate of their own. */
static void cost_split(const struct vinci_soc *soc, const struct inst *inst,
                       struct inst_cost *cost) {
  uint64_t rate = (uint64_t)soc->split_mbytes_per_cycle;
  if (!inst->arg[FIX_CHANNEL_SPLIT] || rate == 0)
    return;
  uint64_t cycles = ceil_div(cost->bytes * MILLI, rate);
  cost->minimum_cycles = max_u64(cost->minimum_cycles, cycles);
  if (!cost->uses_gm) {
    cost->issue_cycles = max_u64(cost->issue_cycles, cycles);
    cost->latency_cycles = max_u64(cost->latency_cycles, cycles);
  }
}

void transfer_fix_cost(const struct vinci_soc *soc, const struct inst *inst,
                       struct inst_cost *cost) {
  enum path path = transfer_path(inst);
  struct transfer_runs runs = fix_matrix_runs(inst);
  /* Rows of further matrices are taken to follow at the row distance: bytes stay exact. */
  runs.count *= fix_matrices(inst).count;
  if (path_to(path) == SPACE_GM)
    transfer_cost_gm(soc, path, transfer_address(inst, TRANSFER_DST), runs, cost);
  else
    transfer_cost_local(soc, path, runs.count * runs.bytes, cost);
  cost_split(soc, inst, cost);
}

static struct transfer_runs fix_columns(const struct inst *inst) {
  return (struct transfer_runs){
      .count = ceil_div((uint64_t)inst->arg[FIX_N], L0C_FRACTAL_SIDE),
      .bytes = (uint64_t)inst->arg[FIX_M] * FIX_ROW_BYTES,
      .stride_bytes = (uint64_t)inst->arg[FIX_SRC_STRIDE] * FIX_ROW_BYTES,
  };
}

void transfer_fix_matrices(const struct inst *inst, struct transfer_runs *src,
                           struct transfer_runs *dst) {
  *dst = fix_matrices(inst);
  *src = (struct transfer_runs){
      .count = dst->count,
      .bytes = transfer_span(fix_columns(inst)),
      .stride_bytes = (uint64_t)inst->arg[FIX_SRC_ND_STRIDE] * L0C_FRACTAL_SIDE * FIX_ROW_BYTES,
  };
}

static bool fix_into_ub(const struct inst *inst) { return inst->op == OP_COPY_MATRIX_CC_TO_UB; }

unsigned transfer_fix_parts(const struct inst *inst, struct fix_part parts[FIX_PARTS_MAX]) {
  parts[0] = (struct fix_part){.inst = *inst};
  if (!fix_into_ub(inst))
    return 1;
  parts[0].sub = (unsigned)inst->arg[FIX_SUB];
  if (inst->arg[FIX_SPLIT] == FIX_SPLIT_NONE)
    return 1;
  parts[0].sub = 0;
  parts[1] = (struct fix_part){.inst = *inst, .sub = 1};
  bool rows = inst->arg[FIX_SPLIT] == FIX_SPLIT_M;
  unsigned size = rows ? FIX_M : FIX_N;
  uint64_t all = (uint64_t)inst->arg[size];
  uint64_t half = rows ? ceil_div(all, 2) : ceil_div(all, 2 * L0C_FRACTAL_SIDE) * L0C_FRACTAL_SIDE;
  half = min_u64(half, all);
  uint64_t skipped =
      rows ? half * FIX_ROW_BYTES
           : half / L0C_FRACTAL_SIDE * (uint64_t)inst->arg[FIX_SRC_STRIDE] * FIX_ROW_BYTES;
  parts[0].inst.arg[size] = (int64_t)half;
  parts[1].inst.arg[size] = (int64_t)(all - half);
  parts[1].inst.arg[TRANSFER_SRC] += (int64_t)skipped;
  parts[1].column = rows ? 0 : half;
  return 2;
}

/* Of the last block of columns only those of the matrix. */
static unsigned touch_accumulators(const struct inst *inst, struct inst_access *access,
                                   struct transfer_runs matrices) {
  struct transfer_runs columns = fix_columns(inst);
  uint64_t n = (uint64_t)inst->arg[FIX_N], rest = n % L0C_FRACTAL_SIDE;
  struct transfer_runs whole[] = {matrices, columns};
  struct transfer_runs last[] = {matrices,
                                 {.count = (uint64_t)inst->arg[FIX_M],
                                  .bytes = rest * ACCUMULATOR_BYTES,
                                  .stride_bytes = FIX_ROW_BYTES}};
  unsigned count = 0;
  whole[1].count = n / L0C_FRACTAL_SIDE;
  if (whole[1].count > 0)
    count = transfer_touch(inst, access, count, TRANSFER_SRC, 0, whole, 2);
  if (rest > 0)
    count = transfer_touch(inst, access, count, TRANSFER_SRC, whole[1].count * columns.stride_bytes,
                           last, 2);
  return count;
}

static unsigned part_access(const struct inst *inst, struct inst_access *access) {
  struct transfer_runs src, dst[2];
  transfer_fix_matrices(inst, &src, &dst[0]);
  dst[1] = fix_matrix_runs(inst);
  if (transfer_span(dst[0]) == 0)
    return 0;
  unsigned count = touch_accumulators(inst, access, src);
  return transfer_touch(inst, access, count, TRANSFER_DST, 0, dst, 2);
}

unsigned transfer_fix_access(const struct vinci_soc *soc, const struct inst *inst,
                             struct inst_access *access) {
  (void)soc;
  struct fix_part parts[FIX_PARTS_MAX];
  unsigned part_count = transfer_fix_parts(inst, parts), count = 0;
  for (unsigned i = 0; i < part_count; i++) {
    unsigned first = count;
    count += part_access(&parts[i].inst, access + count);
    if (fix_into_ub(inst) && count > first)
      access[count - 1].remote = (uint8_t)(parts[i].sub + 1);
  }
  if (count > 0 && transfer_fix_by_column(inst))
    access[count++] = (struct inst_access){
        .space = SPACE_FB,
        .address = (int64_t)transfer_quant_address(inst),
        .bytes = (uint64_t)inst->arg[FIX_N] * sizeof(uint64_t),
        .arg = FIX_QUANT,
    };
  return count;
}
