/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between L0C and UB on coupled cores, by the vector unit: matrices of fractals of 16 x 16
 * elements out of L0C and into it, and a row of 16 elements into all rows of a fractal. The way
 * into L0C is taken to be as fast as the way out, for want of a number; its bytes are on no path.
 * Left out: dequantisation to 8 and 16 bits by 64-bit words and by vectors of them.
 */
#include "core/base/number.h"
#include "memhier/transfer/transfer.h"

enum { FRACTAL_ELEMENTS = L0C_FRACTAL_SIDE * L0C_FRACTAL_SIDE };

static uint64_t type_bytes(const struct inst *inst) {
  return dtype_bits(inst_dtype(inst)) / BITS_PER_BYTE;
}

/* Bytes of an element in UB. */
static uint64_t ub_bytes(const struct inst *inst) {
  bool converted = inst->op != OP_BROADCAST_UB_TO_CC && inst->arg[L0C_CONVERT] != L0C_CONVERT_NONE;
  return converted ? dtype_bits(DTYPE_FP16) / BITS_PER_BYTE : type_bytes(inst);
}

/* Runs on one side: each unit of len_burst is `elements` elements of `bytes` bytes. */
static struct transfer_runs runs_of(const struct inst *inst, uint64_t elements, uint64_t bytes,
                                    uint64_t gap_bytes) {
  uint64_t run = (uint64_t)inst->arg[BURST_LENGTH] * elements * bytes;
  return (struct transfer_runs){
      .count = (uint64_t)inst->arg[BURST_COUNT], .bytes = run, .stride_bytes = run + gap_bytes};
}

static struct transfer_runs l0c_runs(const struct inst *inst, unsigned gap) {
  uint64_t fractal = FRACTAL_ELEMENTS * type_bytes(inst);
  return runs_of(inst, FRACTAL_ELEMENTS, type_bytes(inst), (uint64_t)inst->arg[gap] * fractal);
}

static struct transfer_runs ub_runs(const struct inst *inst, unsigned gap) {
  bool row = inst->op == OP_BROADCAST_UB_TO_CC;
  return runs_of(inst, row ? L0C_FRACTAL_SIDE : FRACTAL_ELEMENTS, ub_bytes(inst),
                 (uint64_t)inst->arg[gap] * BLOCK_BYTES);
}

static void l0c_cost(const struct vinci_soc *soc, struct transfer_runs l0c, bool out,
                     struct inst_cost *cost) {
  transfer_cost_local(soc, PATH_L0C_UB, l0c.count * l0c.bytes, cost);
  if (cost->issue_cycles == 0)
    cost->issue_cycles = cost->latency_cycles = 1;
  if (out)
    return;
  cost->path = PATH_NONE;
  cost->bytes = 0;
}

static unsigned l0c_access(const struct inst *inst, struct inst_access *access,
                           struct transfer_runs src, struct transfer_runs dst) {
  unsigned count = transfer_touch(inst, access, 0, TRANSFER_SRC, 0, &src, 1);
  count = transfer_touch(inst, access, count, TRANSFER_DST, 0, &dst, 1);
  for (unsigned i = 0; i < count; i++)
    if (access[i].space == SPACE_L0C)
      access[i].alignment = (uint16_t)(FRACTAL_ELEMENTS * type_bytes(inst));
  return count;
}

/* ---- out of L0C ---- */

void transfer_cc_to_ub_cost(const struct vinci_soc *soc, const struct inst *inst,
                            struct inst_cost *cost) {
  l0c_cost(soc, l0c_runs(inst, BURST_SRC_GAP), true, cost);
}

unsigned transfer_cc_to_ub_access(const struct vinci_soc *soc, const struct inst *inst,
                                  struct inst_access *access) {
  (void)soc;
  return l0c_access(inst, access, l0c_runs(inst, BURST_SRC_GAP), ub_runs(inst, BURST_DST_GAP));
}

static void store_half(const struct inst *inst, uint8_t *to, double value) {
  bool saturate = arch_saturates((enum arch)inst->arch);
  store_u16(to, (uint16_t)number_encode(&number_fp16, value, ROUND_EVEN, saturate));
}

static void convert_out(const struct inst *inst, uint8_t *to, const uint8_t *from) {
  bool relu = inst->arg[L0C_RELU] != 0;
  float factor;
  switch (inst->arg[L0C_CONVERT]) {
  case L0C_CONVERT_F322F16:
    store_half(inst, to, relu && load_fp32(from) < 0 ? 0 : load_fp32(from));
    return;
  case L0C_CONVERT_DEQF16:
    factor = fp16_to_fp32((uint16_t)inst->registers.deq_scale);
    store_half(inst, to, relu && load_i32(from) < 0 ? 0 : (double)load_i32(from) * factor);
    return;
  default:
    break;
  }
  uint64_t bytes = type_bytes(inst);
  bool negative = from[bytes - 1] >> (BITS_PER_BYTE - 1);
  if (relu && negative)
    memset(to, 0, bytes);
  else
    memmove(to, from, bytes);
}

/* A mark of any byte marks the whole result. */
static void mark_out(const struct inst *inst, uint8_t *to, const uint8_t *from) {
  uint8_t marks = 0;
  for (uint64_t i = 0; i < type_bytes(inst); i++)
    marks |= from[i];
  memset(to, marks, ub_bytes(inst));
}

static void each_out(const struct inst *inst, struct value_core *core,
                     void (*element)(const struct inst *, uint8_t *, const uint8_t *)) {
  struct transfer_runs src = l0c_runs(inst, BURST_SRC_GAP), dst = ub_runs(inst, BURST_DST_GAP);
  for (uint64_t i = 0; i < src.count; i++) {
    const uint8_t *from = transfer_bytes(inst, core, TRANSFER_SRC) + i * src.stride_bytes;
    uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST) + i * dst.stride_bytes;
    for (uint64_t e = 0; e < src.bytes / type_bytes(inst); e++)
      element(inst, to + e * ub_bytes(inst), from + e * type_bytes(inst));
  }
}

void transfer_cc_to_ub_values(const struct vinci_soc *soc, const struct inst *inst,
                              struct value_core *core) {
  (void)soc;
  each_out(inst, core, convert_out);
}

void transfer_cc_to_ub_marks(const struct vinci_soc *soc, const struct inst *inst,
                             struct value_core *core) {
  (void)soc;
  each_out(inst, core, mark_out);
}

/* ---- into L0C ---- */

void transfer_ub_to_cc_cost(const struct vinci_soc *soc, const struct inst *inst,
                            struct inst_cost *cost) {
  l0c_cost(soc, l0c_runs(inst, BURST_DST_GAP), false, cost);
}

unsigned transfer_ub_to_cc_access(const struct vinci_soc *soc, const struct inst *inst,
                                  struct inst_access *access) {
  (void)soc;
  return l0c_access(inst, access, ub_runs(inst, BURST_SRC_GAP), l0c_runs(inst, BURST_DST_GAP));
}

void transfer_ub_to_cc_values(const struct vinci_soc *soc, const struct inst *inst,
                              struct value_core *core) {
  (void)soc;
  struct transfer_runs src = ub_runs(inst, BURST_SRC_GAP), dst = l0c_runs(inst, BURST_DST_GAP);
  for (uint64_t i = 0; i < src.count; i++) {
    const uint8_t *from = transfer_bytes(inst, core, TRANSFER_SRC) + i * src.stride_bytes;
    uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST) + i * dst.stride_bytes;
    if (inst->arg[L0C_CONVERT] == L0C_CONVERT_NONE) {
      memmove(to, from, src.bytes);
      continue;
    }
    for (uint64_t e = 0; e < src.bytes / sizeof(uint16_t); e++)
      store_fp32(to + e * sizeof(float), fp16_to_fp32(load_u16(from + e * sizeof(uint16_t))));
  }
}

void transfer_ub_row_to_cc_cost(const struct vinci_soc *soc, const struct inst *inst,
                                struct inst_cost *cost) {
  l0c_cost(soc, l0c_runs(inst, BURST_DST_GAP), false, cost);
}

unsigned transfer_ub_row_to_cc_access(const struct vinci_soc *soc, const struct inst *inst,
                                      struct inst_access *access) {
  (void)soc;
  return l0c_access(inst, access, ub_runs(inst, BURST_SRC_GAP), l0c_runs(inst, BURST_DST_GAP));
}

void transfer_ub_row_to_cc_values(const struct vinci_soc *soc, const struct inst *inst,
                                  struct value_core *core) {
  (void)soc;
  struct transfer_runs src = ub_runs(inst, BURST_SRC_GAP), dst = l0c_runs(inst, BURST_DST_GAP);
  uint64_t row = L0C_FRACTAL_SIDE * type_bytes(inst);
  for (uint64_t i = 0; i < src.count; i++)
    for (uint64_t k = 0; k < dst.bytes / row; k++) {
      const uint8_t *from = transfer_bytes(inst, core, TRANSFER_SRC) + i * src.stride_bytes;
      memcpy(transfer_bytes(inst, core, TRANSFER_DST) + i * dst.stride_bytes + k * row,
             from + k / L0C_FRACTAL_SIDE * row, row);
    }
}
