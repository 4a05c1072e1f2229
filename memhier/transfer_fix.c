/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixpipe: accumulators leave L0C, converted and reordered on the way. Left out:
 * the overlap with mad that the unit flag allows.
 */
#include "memhier/transfer.h"

enum { FIX_ROW_BYTES = L0C_FRACTAL_SIDE * ACCUMULATOR_BYTES };

/* Bytes of one element after the conversion. */
static uint64_t fix_element_bytes(const struct inst *inst) {
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

/* Columns that lie together in NZ order: 16, or as many as fill 32 bytes when
 * int8 channels are merged or 32-bit channels split. */
static uint64_t fix_column_width(const struct inst *inst) {
  uint64_t element = fix_element_bytes(inst);
  bool blocks = inst->arg[FIX_CHANNEL_SPLIT] || element * L0C_FRACTAL_SIDE < BLOCK_BYTES;
  return blocks ? BLOCK_BYTES / element : L0C_FRACTAL_SIDE;
}

/* What one matrix is written as: rows in ND order, columns of blocks in NZ order. */
static struct transfer_runs fix_matrix_runs(const struct inst *inst) {
  uint64_t element = fix_element_bytes(inst);
  uint64_t m = (uint64_t)inst->arg[FIX_M];
  uint64_t n = (uint64_t)inst->arg[FIX_N];
  uint64_t stride = (uint64_t)inst->arg[FIX_DST_STRIDE];
  if (inst->arg[FIX_NZ2ND])
    return (struct transfer_runs){
        .count = m, .bytes = n * element, .stride_bytes = stride * element};
  uint64_t width = fix_column_width(inst);
  return (struct transfer_runs){
      .count = ceil_div(n, width),
      .bytes = m * (n < width ? n : width) * element,
      .stride_bytes = stride * BLOCK_BYTES,
  };
}

/* Several matrices exist in ND order only. */
static struct transfer_runs fix_matrices(const struct inst *inst) {
  bool several = inst->arg[FIX_NZ2ND] != 0;
  return (struct transfer_runs){
      .count = several ? (uint64_t)inst->arg[FIX_ND_NUMBER] : 1,
      .bytes = transfer_span(fix_matrix_runs(inst)),
      .stride_bytes = (uint64_t)inst->arg[FIX_DST_ND_STRIDE] * fix_element_bytes(inst),
  };
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
}

unsigned transfer_fix_access(const struct vinci_soc *soc, const struct inst *inst,
                             struct inst_access *access) {
  (void)soc;
  struct transfer_runs matrices = fix_matrices(inst);
  if (transfer_span(matrices) == 0)
    return 0;
  struct transfer_runs src[] = {
      {.count = matrices.count,
       .stride_bytes = (uint64_t)inst->arg[FIX_SRC_ND_STRIDE] * L0C_FRACTAL_SIDE * FIX_ROW_BYTES},
      {.count = ceil_div((uint64_t)inst->arg[FIX_N], L0C_FRACTAL_SIDE),
       .bytes = (uint64_t)inst->arg[FIX_M] * FIX_ROW_BYTES,
       .stride_bytes = (uint64_t)inst->arg[FIX_SRC_STRIDE] * FIX_ROW_BYTES},
  };
  struct transfer_runs dst[] = {matrices, fix_matrix_runs(inst)};
  unsigned count = transfer_touch(inst, access, 0, TRANSFER_SRC, 0, src, 2);
  return transfer_touch(inst, access, count, TRANSFER_DST, 0, dst, 2);
}
