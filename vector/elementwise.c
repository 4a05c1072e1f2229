/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector instructions whose lanes are independent: two sources, one source,
 * scalar operand, fill, comparison, selection.
 */
#include "vector/vector.h"

/* Bits of the destination, which in the widening forms are twice the sources'. */
static unsigned dst_bits(const struct inst *inst) {
  return inst->op == OP_VMLA_F162F32 ? dtype_bits(DTYPE_FP32) : dtype_bits(inst_dtype(inst));
}

static unsigned src_bits(const struct inst *inst) {
  return inst->op == OP_VMLA_F162F32 ? dtype_bits(DTYPE_FP16) : dtype_bits(inst_dtype(inst));
}

static struct vector_operand operand(const struct inst *inst, unsigned arg, unsigned bits,
                                     unsigned block, unsigned repeat) {
  return (struct vector_operand){.arg = arg,
                                 .bits = bits,
                                 .block_stride = (uint64_t)inst->arg[block],
                                 .repeat_stride = (uint64_t)inst->arg[repeat]};
}

void vec_binary_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  unsigned bits = dst_bits(inst);
  struct vector_lanes lanes =
      vector_lanes(soc, inst, inst->arg[BINARY_REPEAT], bits, VECTOR_MASKED);
  vector_cost(soc, inst, bits, lanes.repeats, lanes.active, cost);
}

unsigned vec_binary_access(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_access *access) {
  struct vector_lanes lanes =
      vector_lanes(soc, inst, inst->arg[BINARY_REPEAT], dst_bits(inst), VECTOR_MASKED);
  unsigned count = vector_touch_strided(
      inst, access, 0, &lanes,
      operand(inst, BINARY_SRC0, src_bits(inst), BINARY_SRC0_BLOCK, BINARY_SRC0_REPEAT));
  count = vector_touch_strided(
      inst, access, count, &lanes,
      operand(inst, BINARY_SRC1, src_bits(inst), BINARY_SRC1_BLOCK, BINARY_SRC1_REPEAT));
  return vector_touch_strided(
      inst, access, count, &lanes,
      operand(inst, BINARY_DST, dst_bits(inst), BINARY_DST_BLOCK, BINARY_DST_REPEAT));
}

void vec_select_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_lanes lanes =
      vector_lanes(soc, inst, inst->arg[SELECT_REPEAT], bits, VECTOR_MASKED);
  vector_cost(soc, inst, bits, lanes.repeats, lanes.active, cost);
}

/* Bytes of the bits that choose between the sources. */
static uint64_t select_mask_bytes(const struct inst *inst, const struct vector_lanes *lanes) {
  if (lanes->repeats == 0)
    return 0;
  if (inst->arg[SELECT_MODE] == SELECT_MODE_REGISTER)
    return vector_size(MASK_LANES, 1);
  return vector_size((lanes->repeats - 1) * lanes->per_repeat + lanes->tail_end, 1);
}

unsigned vec_select_access(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_access *access) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_lanes lanes =
      vector_lanes(soc, inst, inst->arg[SELECT_REPEAT], bits, VECTOR_MASKED);
  unsigned count =
      vector_touch_strided(inst, access, 0, &lanes,
                           operand(inst, SELECT_SRC0, bits, SELECT_SRC0_BLOCK, SELECT_SRC0_REPEAT));
  if (inst->arg[SELECT_MODE] == SELECT_MODE_SCALAR)
    count =
        inst_touch(inst, access, count, SELECT_SRC1, 0, lanes.repeats ? vector_size(1, bits) : 0);
  else
    count = vector_touch_strided(
        inst, access, count, &lanes,
        operand(inst, SELECT_SRC1, bits, SELECT_SRC1_BLOCK, SELECT_SRC1_REPEAT));
  count = inst_touch(inst, access, count, SELECT_MASK, 0, select_mask_bytes(inst, &lanes));
  return vector_touch_strided(inst, access, count, &lanes,
                              operand(inst, SELECT_DST, bits, SELECT_DST_BLOCK, SELECT_DST_REPEAT));
}

void vec_compare_cost(const struct vinci_soc *soc, const struct inst *inst,
                      struct inst_cost *cost) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_lanes lanes =
      vector_lanes(soc, inst, inst->arg[COMPARE_REPEAT], bits, VECTOR_WHOLE);
  vector_cost(soc, inst, bits, lanes.repeats, lanes.active, cost);
}

unsigned vec_compare_access(const struct vinci_soc *soc, const struct inst *inst,
                            struct inst_access *access) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_lanes lanes =
      vector_lanes(soc, inst, inst->arg[COMPARE_REPEAT], bits, VECTOR_WHOLE);
  unsigned count = vector_touch_strided(
      inst, access, 0, &lanes,
      operand(inst, COMPARE_SRC0, bits, COMPARE_SRC0_BLOCK, COMPARE_SRC0_REPEAT));
  count = vector_touch_strided(
      inst, access, count, &lanes,
      operand(inst, COMPARE_SRC1, bits, COMPARE_SRC1_BLOCK, COMPARE_SRC1_REPEAT));
  return inst_touch(inst, access, count, COMPARE_DST, 0, vector_size(lanes.active, 1));
}

void vec_compare_scalar_cost(const struct vinci_soc *soc, const struct inst *inst,
                             struct inst_cost *cost) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_lanes lanes =
      vector_lanes(soc, inst, inst->arg[COMPARES_REPEAT], bits, VECTOR_WHOLE);
  vector_cost(soc, inst, bits, lanes.repeats, lanes.active, cost);
}

unsigned vec_compare_scalar_access(const struct vinci_soc *soc, const struct inst *inst,
                                   struct inst_access *access) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_lanes lanes =
      vector_lanes(soc, inst, inst->arg[COMPARES_REPEAT], bits, VECTOR_WHOLE);
  unsigned count = vector_touch_strided(
      inst, access, 0, &lanes,
      operand(inst, COMPARES_SRC, bits, COMPARES_SRC_BLOCK, COMPARES_SRC_REPEAT));
  return inst_touch(inst, access, count, COMPARES_DST, 0, vector_size(lanes.active, 1));
}

void vec_unary_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_lanes lanes = vector_lanes(soc, inst, inst->arg[UNARY_REPEAT], bits, VECTOR_MASKED);
  vector_cost(soc, inst, bits, lanes.repeats, lanes.active, cost);
}

unsigned vec_unary_access(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_access *access) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_lanes lanes = vector_lanes(soc, inst, inst->arg[UNARY_REPEAT], bits, VECTOR_MASKED);
  unsigned count = vector_touch_strided(
      inst, access, 0, &lanes, operand(inst, UNARY_SRC, bits, UNARY_SRC_BLOCK, UNARY_SRC_REPEAT));
  return vector_touch_strided(inst, access, count, &lanes,
                              operand(inst, UNARY_DST, bits, UNARY_DST_BLOCK, UNARY_DST_REPEAT));
}

void vec_scalar_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_lanes lanes =
      vector_lanes(soc, inst, inst->arg[SCALAR_REPEAT], bits, VECTOR_MASKED);
  vector_cost(soc, inst, bits, lanes.repeats, lanes.active, cost);
}

unsigned vec_scalar_access(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_access *access) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_lanes lanes =
      vector_lanes(soc, inst, inst->arg[SCALAR_REPEAT], bits, VECTOR_MASKED);
  unsigned count =
      vector_touch_strided(inst, access, 0, &lanes,
                           operand(inst, SCALAR_SRC, bits, SCALAR_SRC_BLOCK, SCALAR_SRC_REPEAT));
  return vector_touch_strided(inst, access, count, &lanes,
                              operand(inst, SCALAR_DST, bits, SCALAR_DST_BLOCK, SCALAR_DST_REPEAT));
}

void vec_dup_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_lanes lanes = vector_lanes(soc, inst, inst->arg[DUP_REPEAT], bits, VECTOR_MASKED);
  vector_cost(soc, inst, bits, lanes.repeats, lanes.active, cost);
}

unsigned vec_dup_access(const struct vinci_soc *soc, const struct inst *inst,
                        struct inst_access *access) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_lanes lanes = vector_lanes(soc, inst, inst->arg[DUP_REPEAT], bits, VECTOR_MASKED);
  return vector_touch_strided(inst, access, 0, &lanes,
                              operand(inst, DUP_DST, bits, DUP_DST_BLOCK, DUP_DST_REPEAT));
}
