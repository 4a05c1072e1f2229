/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of comparisons and of the selection by their results: one bit per lane, the first lane
 * in the lowest bit of the first byte, without gaps between repeats.
 */
#include "core/diag.h"
#include "vector/values.h"

enum relation { RELATION_EQ, RELATION_NE, RELATION_LT, RELATION_LE, RELATION_GT, RELATION_GE };

static enum relation relation_of(uint16_t op) {
#define RELATION_CASE(relation)                                                                    \
  case OP_VCMPV_##relation:                                                                        \
  case OP_VCMPVS_##relation:                                                                       \
    return RELATION_##relation;
  switch (op) {
    RELATION_CASE(EQ)
    RELATION_CASE(NE)
    RELATION_CASE(LT)
    RELATION_CASE(LE)
    RELATION_CASE(GT)
    RELATION_CASE(GE)
  default:
    vinci_bug("%s compares nothing", isa_row((enum isa_op)op)->name);
  }
#undef RELATION_CASE
}

/* A NaN is unequal to everything and in no other relation. */
#define COMPARE_LOOP(a, b)                                                                         \
  switch (relation) {                                                                              \
  case RELATION_EQ:                                                                                \
    for (size_t i = 0; i < count; i++)                                                             \
      out[i] = (a)[i] == (b)[i];                                                                   \
    break;                                                                                         \
  case RELATION_NE:                                                                                \
    for (size_t i = 0; i < count; i++)                                                             \
      out[i] = (a)[i] != (b)[i];                                                                   \
    break;                                                                                         \
  case RELATION_LT:                                                                                \
    for (size_t i = 0; i < count; i++)                                                             \
      out[i] = (a)[i] < (b)[i];                                                                    \
    break;                                                                                         \
  case RELATION_LE:                                                                                \
    for (size_t i = 0; i < count; i++)                                                             \
      out[i] = (a)[i] <= (b)[i];                                                                   \
    break;                                                                                         \
  case RELATION_GT:                                                                                \
    for (size_t i = 0; i < count; i++)                                                             \
      out[i] = (a)[i] > (b)[i];                                                                    \
    break;                                                                                         \
  case RELATION_GE:                                                                                \
    for (size_t i = 0; i < count; i++)                                                             \
      out[i] = (a)[i] >= (b)[i];                                                                   \
    break;                                                                                         \
  }

static void compare_slots(enum relation relation, bool floats, const union slots *a,
                          const union slots *b, uint8_t *out, size_t count) {
  if (floats)
    COMPARE_LOOP(a->fp32, b->fp32)
  else
    COMPARE_LOOP(a->i32, b->i32)
}

/* Writes the results of a repeat as bits from lane number `lane` on. */
static void store_bits(uint8_t *bits, uint64_t lane, const uint8_t *results, size_t count) {
  size_t i = 0;
  for (; lane % BITS_PER_BYTE == 0 && count - i >= BITS_PER_BYTE; lane += BITS_PER_BYTE) {
    unsigned byte = 0;
    for (unsigned bit = 0; bit < BITS_PER_BYTE; bit++)
      byte |= (unsigned)results[i++] << bit;
    bits[lane / BITS_PER_BYTE] = (uint8_t)byte;
  }
  for (; i < count; i++, lane++) {
    uint8_t *byte = &bits[lane / BITS_PER_BYTE];
    unsigned bit = lane % BITS_PER_BYTE;
    *byte = (uint8_t)((*byte & ~(1u << bit)) | (unsigned)results[i] << bit);
  }
}

static void load_compared(const struct inst *inst, const struct value_core *core,
                          const struct vector_operand *operand, const struct repeat_lanes *lanes,
                          enum dtype type, union slots *slots) {
  if (type == DTYPE_INT32)
    slots_load(inst, core, operand, lanes, slots->bytes);
  else
    slots_load_float(inst, core, operand, lanes, type, slots->fp32);
}

/* The second source is a walk through UB or, with a walk less, the same scalar in all slots. */
static void compare(const struct inst *inst, struct value_core *core,
                    const struct vector_walks *walks, unsigned dst, union slots *second) {
  enum dtype type = inst_dtype(inst);
  enum relation relation = relation_of(inst->op);
  uint8_t *bits = core->bytes[SPACE_UB] + (uint64_t)inst->arg[dst];
  union slots first;
  uint8_t results[SLOTS_MAX];
  struct repeat_lanes lanes;
  for (uint64_t repeat = 0; repeat < walks->lanes.repeats; repeat++) {
    if (!repeat_lanes(walks, inst, repeat, walks->bits, VECTOR_WHOLE, &lanes))
      continue;
    load_compared(inst, core, &walks->operand[0], &lanes, type, &first);
    if (walks->count > 1)
      load_compared(inst, core, &walks->operand[1], &lanes, type, second);
    compare_slots(relation, type != DTYPE_INT32, &first, second, results, lanes.slots);
    store_bits(bits, repeat * walks->lanes.per_repeat, results, (size_t)lanes.end);
  }
}

void vec_compare_values(const struct vinci_soc *soc, const struct inst *inst,
                        struct value_core *core) {
  struct vector_walks walks = vec_compare_walks(soc, inst);
  union slots second;
  compare(inst, core, &walks, COMPARE_DST, &second);
}

void vec_compare_scalar_values(const struct vinci_soc *soc, const struct inst *inst,
                               struct value_core *core) {
  struct vector_walks walks = vec_compare_scalar_walks(soc, inst);
  enum dtype type = inst_dtype(inst);
  union slots second;
  for (size_t i = 0; i < walks.lanes.per_repeat; i++) {
    if (type == DTYPE_INT32)
      second.i32[i] = (int32_t)inst->arg[COMPARES_SCALAR];
    else
      second.fp32[i] = scalar_float(type, inst->arg[COMPARES_SCALAR]);
  }
  compare(inst, core, &walks, COMPARES_DST, &second);
}

/* The bits that choose, from UB: of one repeat at a time, or the same for all. */
static void load_choice(const struct inst *inst, const struct value_core *core,
                        const struct vector_walks *walks, const struct repeat_lanes *lanes,
                        uint8_t *choice) {
  const uint8_t *bits = core->bytes[SPACE_UB] + (uint64_t)inst->arg[SELECT_MASK];
  bool same = inst->arg[SELECT_MODE] == SELECT_MODE_REGISTER;
  uint64_t start = same ? 0 : lanes->repeat * walks->lanes.per_repeat;
  for (size_t i = 0; i < lanes->slots; i++) {
    uint64_t lane = start + lanes->first + i;
    bool wanted = lanes->first + i < lanes->end;
    choice[i] = wanted && bits[lane / BITS_PER_BYTE] >> lane % BITS_PER_BYTE & 1;
  }
}

static void choose(const union slots *a, const union slots *b, const uint8_t *choice, unsigned bits,
                   size_t count, union slots *out) {
  if (bits == dtype_bits(DTYPE_FP16)) {
    for (size_t i = 0; i < count; i++)
      out->u16[i] = choice[i] ? a->u16[i] : b->u16[i];
  } else {
    for (size_t i = 0; i < count; i++)
      out->u32[i] = choice[i] ? a->u32[i] : b->u32[i];
  }
}

void vec_select_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  struct vector_walks walks = vec_select_walks(soc, inst);
  const struct vector_operand *dst = &walks.operand[walks.count - 1];
  size_t size = walks.bits / BITS_PER_BYTE;
  bool scalar = inst->arg[SELECT_MODE] == SELECT_MODE_SCALAR;
  union slots a, b, out;
  uint8_t choice[SLOTS_MAX];
  struct repeat_lanes lanes;
  for (uint64_t repeat = 0; repeat < walks.lanes.repeats; repeat++) {
    if (!repeat_lanes(&walks, inst, repeat, walks.bits, VECTOR_MASKED, &lanes))
      continue;
    slots_load(inst, core, &walks.operand[0], &lanes, a.bytes);
    if (scalar)
      for (size_t i = 0; i < lanes.slots; i++)
        memcpy(b.bytes + i * size, core->bytes[SPACE_UB] + (uint64_t)inst->arg[SELECT_SRC1], size);
    else
      slots_load(inst, core, &walks.operand[1], &lanes, b.bytes);
    load_choice(inst, core, &walks, &lanes, choice);
    choose(&a, &b, choice, walks.bits, lanes.slots, &out);
    slots_store(inst, core, dst, &lanes, out.bytes);
  }
}
