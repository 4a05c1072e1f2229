/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion between data types. A repeat is as many lanes as fit 256 bytes of the
 * wider type; the types follow from the instruction.
 */
#include "vector/vector.h"

static struct vector_lanes convert_lanes(const struct vinci_soc *soc, const struct inst *inst,
                                         struct isa_types types) {
  unsigned src = dtype_bits(types.src);
  unsigned dst = dtype_bits(types.dst);
  return vector_lanes(soc, inst, inst->arg[UNARY_REPEAT], src > dst ? src : dst, VECTOR_MASKED);
}

static struct vector_operand convert_src(const struct inst *inst, struct isa_types types) {
  return (struct vector_operand){
      .arg = UNARY_SRC,
      .bits = dtype_bits(types.src),
      .block_stride = (uint64_t)inst->arg[UNARY_SRC_BLOCK],
      .repeat_stride = (uint64_t)inst->arg[UNARY_SRC_REPEAT],
  };
}

static struct vector_operand convert_dst(const struct inst *inst, struct isa_types types) {
  return (struct vector_operand){
      .arg = UNARY_DST,
      .bits = dtype_bits(types.dst),
      .block_stride = (uint64_t)inst->arg[UNARY_DST_BLOCK],
      .repeat_stride = (uint64_t)inst->arg[UNARY_DST_REPEAT],
  };
}

struct vector_walks vec_convert_walks(const struct vinci_soc *soc, const struct inst *inst) {
  struct isa_types types = inst_types(inst);
  return (struct vector_walks){
      .lanes = convert_lanes(soc, inst, types),
      .operand = {convert_src(inst, types), convert_dst(inst, types)},
      .count = 2,
      .bits = dtype_bits(types.src),
  };
}

VECTOR_WALKS_COST(vec_convert)
VECTOR_WALKS_ACCESS(vec_convert)

/* A block of 16 results of 8 bits fills half of a block: the destination walks as the source. */
struct vector_walks vec_convert_half_walks(const struct vinci_soc *soc, const struct inst *inst) {
  struct isa_types types = inst_types(inst);
  return (struct vector_walks){
      .lanes = convert_lanes(soc, inst, types),
      .operand = {convert_src(inst, types), convert_dst(inst, types)},
      .count = 2,
      .bits = dtype_bits(types.src),
  };
}

uint64_t vec_convert_half_offset(const struct inst *inst) {
  bool upper = inst->op == OP_VCONV_DEQS162B8H || inst->op == OP_VCONV_VDEQS162B8H;
  return upper ? BLOCK_BYTES / 2 : 0;
}

uint64_t vec_convert_half_scales(const struct inst *inst, uint64_t *address) {
  static const uint64_t address_mask = 0x3fff;
  if (inst->op != OP_VCONV_VDEQS162B8H && inst->op != OP_VCONV_VDEQS162B8L)
    return 0;
  *address = (inst->registers.deq_scale & address_mask) * BLOCK_BYTES;
  return BLOCK_BYTES / sizeof(int16_t);
}

VECTOR_WALKS_COST(vec_convert_half)

/* The halves that `repeats` repeats write, from repeat `first` on, up to a lane. */
static unsigned touch_halves(const struct inst *inst, struct inst_access *access, unsigned count,
                             uint64_t first, uint64_t repeats, uint64_t end) {
  uint64_t stride = (uint64_t)inst->arg[UNARY_DST_REPEAT] * BLOCK_BYTES;
  if (repeats == 0 || end == 0)
    return inst_touch(inst, access, count, UNARY_DST, 0, 0);
  struct inst_runs runs = {
      .offset = first * stride + vec_convert_half_offset(inst),
      .bytes = BLOCK_BYTES / 2,
      .level = {{repeats, stride},
                {ceil_div(end, BLOCK_BYTES / 2),
                 (uint64_t)inst->arg[UNARY_DST_BLOCK] * BLOCK_BYTES}},
  };
  return vector_touch_runs(inst, access, count, UNARY_DST, runs);
}

unsigned vec_convert_half_access(const struct vinci_soc *soc, const struct inst *inst,
                                 struct inst_access *access) {
  struct vector_walks walks = vec_convert_half_walks(soc, inst);
  const struct vector_lanes *lanes = &walks.lanes;
  unsigned count = vector_touch_strided(inst, access, 0, lanes, walks.operand[0]);
  uint64_t address, scales = vec_convert_half_scales(inst, &address);
  if (scales > 0 && lanes->active > 0)
    access[count++] = (struct inst_access){.space = SPACE_UB,
                                           .address = (int64_t)address,
                                           .bytes = scales * sizeof(uint64_t),
                                           .arg = CONVERT_HALF_SCALES};
  uint64_t whole = lanes->repeats ? lanes->repeats - 1 : 0;
  count = touch_halves(inst, access, count, 0, whole, lanes->end);
  return touch_halves(inst, access, count, whole, lanes->repeats - whole, lanes->tail_end);
}
