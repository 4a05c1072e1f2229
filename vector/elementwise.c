/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector instructions whose lanes are independent: two sources, one source,
 * scalar operand, fill, comparison, selection.
 */
#include "vector/vector.h"

enum { COMPARE_MASK_BYTES = MASK_LANES / BITS_PER_BYTE };

static struct vector_operand operand(const struct inst *inst, unsigned arg, unsigned bits,
                                     unsigned block, unsigned repeat) {
  return (struct vector_operand){.arg = arg,
                                 .bits = bits,
                                 .block_stride = (uint64_t)inst->arg[block],
                                 .repeat_stride = (uint64_t)inst->arg[repeat]};
}

struct vector_walks vec_binary_walks(const struct vinci_soc *soc, const struct inst *inst) {
  struct isa_types types = inst_types(inst);
  unsigned src = dtype_bits(types.src), dst = dtype_bits(types.dst);
  return (struct vector_walks){
      .lanes = vector_lanes(soc, inst, inst->arg[BINARY_REPEAT], dst, VECTOR_MASKED),
      .operand = {operand(inst, BINARY_SRC0, src, BINARY_SRC0_BLOCK, BINARY_SRC0_REPEAT),
                  operand(inst, BINARY_SRC1, src, BINARY_SRC1_BLOCK, BINARY_SRC1_REPEAT),
                  operand(inst, BINARY_DST, dst, BINARY_DST_BLOCK, BINARY_DST_REPEAT)},
      .count = 3,
      .bits = dst,
  };
}

VECTOR_WALKS_COST(vec_binary)
VECTOR_WALKS_ACCESS(vec_binary)

/* Results are narrower than sources. */
struct vector_walks vec_binary_convert_walks(const struct vinci_soc *soc, const struct inst *inst) {
  struct isa_types types = inst_types(inst);
  unsigned src = dtype_bits(types.src), dst = dtype_bits(types.dst);
  return (struct vector_walks){
      .lanes = vector_lanes(soc, inst, inst->arg[BINARY_REPEAT], src, VECTOR_MASKED),
      .operand = {operand(inst, BINARY_SRC0, src, BINARY_SRC0_BLOCK, BINARY_SRC0_REPEAT),
                  operand(inst, BINARY_SRC1, src, BINARY_SRC1_BLOCK, BINARY_SRC1_REPEAT),
                  operand(inst, BINARY_DST, dst, BINARY_DST_BLOCK, BINARY_DST_REPEAT)},
      .count = 3,
      .bits = src,
  };
}

VECTOR_WALKS_COST(vec_binary_convert)
VECTOR_WALKS_ACCESS(vec_binary_convert)

/* src1 comes second, unless there is a single element in its place. */
struct vector_walks vec_select_walks(const struct vinci_soc *soc, const struct inst *inst) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_walks walks = {
      .lanes = vector_lanes(soc, inst, inst->arg[SELECT_REPEAT], bits, VECTOR_MASKED),
      .bits = bits,
  };
  walks.operand[walks.count++] =
      operand(inst, SELECT_SRC0, bits, SELECT_SRC0_BLOCK, SELECT_SRC0_REPEAT);
  if (inst->arg[SELECT_MODE] != SELECT_MODE_SCALAR && inst->arg[SELECT_MODE] != SELECT_MODE_HELD)
    walks.operand[walks.count++] =
        operand(inst, SELECT_SRC1, bits, SELECT_SRC1_BLOCK, SELECT_SRC1_REPEAT);
  walks.operand[walks.count++] =
      operand(inst, SELECT_DST, bits, SELECT_DST_BLOCK, SELECT_DST_REPEAT);
  return walks;
}

VECTOR_WALKS_COST(vec_select)

/* Bytes of the bits that choose between the sources. */
static uint64_t select_mask_bytes(const struct inst *inst, const struct vector_lanes *lanes) {
  if (lanes->repeats == 0 || inst->arg[SELECT_MODE] == SELECT_MODE_REGISTER)
    return 0;
  return vector_size((lanes->repeats - 1) * lanes->per_repeat + lanes->tail_end, 1);
}

unsigned vec_select_access(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_access *access) {
  struct vector_walks walks = vec_select_walks(soc, inst);
  unsigned count = vector_walks_access(inst, &walks, access);
  if (inst->arg[SELECT_MODE] == SELECT_MODE_SCALAR)
    count = inst_touch(inst, access, count, SELECT_SRC1, 0,
                       walks.lanes.repeats ? vector_size(1, walks.bits) : 0);
  return inst_touch(inst, access, count, SELECT_MASK, 0, select_mask_bytes(inst, &walks.lanes));
}

/* The bits of a comparison that do not fill whole blocks cost more (msKPP, repeats 1 to 31). */
static void compare_cost(const struct vinci_soc *soc, const struct inst *inst,
                         const struct vector_walks *walks, struct inst_cost *cost) {
  struct bank_traffic traffic = {0};
  for (unsigned i = 0; i < walks->count; i++)
    vector_traffic(&traffic, inst, &walks->lanes, walks->operand[i]);
  vector_cost(
      soc, inst,
      (struct vector_work){.bits = walks->bits,
                           .repeats = walks->lanes.repeats,
                           .operations = walks->lanes.active,
                           .whole_result = walks->lanes.active % (BLOCK_BYTES * BITS_PER_BYTE) == 0,
                           .traffic = &traffic},
      cost);
}

struct vector_walks vec_compare_walks(const struct vinci_soc *soc, const struct inst *inst) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  return (struct vector_walks){
      .lanes = vector_lanes(soc, inst, inst->arg[COMPARE_REPEAT], bits, VECTOR_WHOLE),
      .operand = {operand(inst, COMPARE_SRC0, bits, COMPARE_SRC0_BLOCK, COMPARE_SRC0_REPEAT),
                  operand(inst, COMPARE_SRC1, bits, COMPARE_SRC1_BLOCK, COMPARE_SRC1_REPEAT)},
      .count = 2,
      .bits = bits,
  };
}

void vec_compare_cost(const struct vinci_soc *soc, const struct inst *inst,
                      struct inst_cost *cost) {
  struct vector_walks walks = vec_compare_walks(soc, inst);
  compare_cost(soc, inst, &walks, cost);
}

unsigned vec_compare_access(const struct vinci_soc *soc, const struct inst *inst,
                            struct inst_access *access) {
  struct vector_walks walks = vec_compare_walks(soc, inst);
  unsigned count = vector_walks_access(inst, &walks, access);
  return inst_touch(inst, access, count, COMPARE_DST, 0, vector_size(walks.lanes.active, 1));
}

struct vector_walks vec_compare_scalar_walks(const struct vinci_soc *soc, const struct inst *inst) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  return (struct vector_walks){
      .lanes = vector_lanes(soc, inst, inst->arg[COMPARES_REPEAT], bits, VECTOR_WHOLE),
      .operand = {operand(inst, COMPARES_SRC, bits, COMPARES_SRC_BLOCK, COMPARES_SRC_REPEAT)},
      .count = 1,
      .bits = bits,
  };
}

void vec_compare_scalar_cost(const struct vinci_soc *soc, const struct inst *inst,
                             struct inst_cost *cost) {
  struct vector_walks walks = vec_compare_scalar_walks(soc, inst);
  compare_cost(soc, inst, &walks, cost);
}

unsigned vec_compare_scalar_access(const struct vinci_soc *soc, const struct inst *inst,
                                   struct inst_access *access) {
  struct vector_walks walks = vec_compare_scalar_walks(soc, inst);
  unsigned count = vector_walks_access(inst, &walks, access);
  return inst_touch(inst, access, count, COMPARES_DST, 0, vector_size(walks.lanes.active, 1));
}

/* One repeat, whatever the count in counter mode says. */
struct vector_walks vec_compare_register_walks(const struct vinci_soc *soc,
                                               const struct inst *inst) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  struct vector_walks walks = {
      .lanes = vector_lanes(soc, inst, 1, bits, VECTOR_MASKED),
      .operand = {{.arg = COMPARER_SRC0,
                   .bits = bits,
                   .block_stride = (uint64_t)inst->arg[COMPARER_SRC0_BLOCK]},
                  {.arg = COMPARER_SRC1,
                   .bits = bits,
                   .block_stride = (uint64_t)inst->arg[COMPARER_SRC1_BLOCK]}},
      .count = 2,
      .bits = bits,
  };
  if (walks.lanes.repeats > 1) {
    walks.lanes.repeats = 1;
    walks.lanes.tail_end = walks.lanes.active = walks.lanes.per_repeat;
  }
  return walks;
}

VECTOR_WALKS_COST(vec_compare_register)
VECTOR_WALKS_ACCESS(vec_compare_register)

static unsigned compare_mask_access(const struct inst *inst, struct inst_access *access) {
  unsigned count = inst_touch(inst, access, 0, COMPARE_MASK_ADDRESS, 0, COMPARE_MASK_BYTES);
  access[0].alignment = COMPARE_MASK_BYTES; /* Ascend C documentation, SetCmpMask */
  return count;
}

void vec_set_compare_mask_cost(const struct vinci_soc *soc, const struct inst *inst,
                               struct inst_cost *cost) {
  vector_cost(soc, inst, (struct vector_work){.bits = MASK_LANES, .repeats = 1}, cost);
}

unsigned vec_set_compare_mask_access(const struct vinci_soc *soc, const struct inst *inst,
                                     struct inst_access *access) {
  (void)soc;
  return compare_mask_access(inst, access);
}

void vec_get_compare_mask_cost(const struct vinci_soc *soc, const struct inst *inst,
                               struct inst_cost *cost) {
  vec_set_compare_mask_cost(soc, inst, cost);
}

unsigned vec_get_compare_mask_access(const struct vinci_soc *soc, const struct inst *inst,
                                     struct inst_access *access) {
  (void)soc;
  return compare_mask_access(inst, access);
}

struct vector_walks vec_unary_walks(const struct vinci_soc *soc, const struct inst *inst) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  return (struct vector_walks){
      .lanes = vector_lanes(soc, inst, inst->arg[UNARY_REPEAT], bits, VECTOR_MASKED),
      .operand = {operand(inst, UNARY_SRC, bits, UNARY_SRC_BLOCK, UNARY_SRC_REPEAT),
                  operand(inst, UNARY_DST, bits, UNARY_DST_BLOCK, UNARY_DST_REPEAT)},
      .count = 2,
      .bits = bits,
  };
}

VECTOR_WALKS_COST(vec_unary)
VECTOR_WALKS_ACCESS(vec_unary)

/*
 * In counter mode the mask holds the elements of every repeat, and the repeats count: other than
 * with all other instructions that walk (Ascend C documentation, Copy, restrictions).
 */
static struct vector_walks copy_walks(const struct vinci_soc *soc, const struct inst *inst) {
  struct vector_walks walks = vec_unary_walks(soc, inst);
  if (inst->mask.counter)
    walks.lanes = vector_lanes_counted(inst, inst->arg[UNARY_REPEAT]);
  return walks;
}

struct inst vec_copy_repeat(const struct vinci_soc *soc, const struct inst *inst, uint64_t repeat) {
  int64_t width_blocks = (int64_t)soc->vector_bytes / BLOCK_BYTES;
  struct inst one = *inst;
  one.arg[UNARY_SRC] += (int64_t)repeat * inst->arg[UNARY_SRC_REPEAT] * BLOCK_BYTES;
  one.arg[UNARY_DST] += (int64_t)repeat * inst->arg[UNARY_DST_REPEAT] * BLOCK_BYTES;
  one.arg[UNARY_SRC_REPEAT] = width_blocks * inst->arg[UNARY_SRC_BLOCK];
  one.arg[UNARY_DST_REPEAT] = width_blocks * inst->arg[UNARY_DST_BLOCK];
  return one;
}

/* A repeat that is longer than the unit is wide is taken for as many as it fills. */
void vec_copy_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  struct vector_walks walks = copy_walks(soc, inst);
  uint64_t width = (uint64_t)soc->vector_bytes * BITS_PER_BYTE / walks.bits;
  if (walks.lanes.per_repeat > width) {
    struct inst one = vec_copy_repeat(soc, inst, 0);
    struct vector_lanes all = walks.lanes;
    walks = vec_unary_walks(soc, &one);
    walks.lanes.repeats *= all.repeats;
    walks.lanes.active = all.active;
  }
  vector_walks_cost(soc, inst, &walks, cost);
}

unsigned vec_copy_access(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_access *access) {
  struct vector_walks walks = copy_walks(soc, inst);
  return vector_walks_access(inst, &walks, access);
}

struct vector_walks vec_scalar_walks(const struct vinci_soc *soc, const struct inst *inst) {
  struct isa_types types = inst_types(inst);
  unsigned src = dtype_bits(types.src), dst = dtype_bits(types.dst);
  return (struct vector_walks){
      .lanes = vector_lanes(soc, inst, inst->arg[SCALAR_REPEAT], dst, VECTOR_MASKED),
      .operand = {operand(inst, SCALAR_SRC, src, SCALAR_SRC_BLOCK, SCALAR_SRC_REPEAT),
                  operand(inst, SCALAR_DST, dst, SCALAR_DST_BLOCK, SCALAR_DST_REPEAT)},
      .count = 2,
      .bits = dst,
  };
}

VECTOR_WALKS_COST(vec_scalar)
VECTOR_WALKS_ACCESS(vec_scalar)

struct vector_walks vec_dup_walks(const struct vinci_soc *soc, const struct inst *inst) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  return (struct vector_walks){
      .lanes = vector_lanes(soc, inst, inst->arg[DUP_REPEAT], bits, VECTOR_MASKED),
      .operand = {operand(inst, DUP_DST, bits, DUP_DST_BLOCK, DUP_DST_REPEAT)},
      .count = 1,
      .bits = bits,
  };
}

VECTOR_WALKS_COST(vec_dup)
VECTOR_WALKS_ACCESS(vec_dup)
