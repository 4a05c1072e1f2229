/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of comparisons and of the selection by their results: one bit per lane, the first lane
 * in the lowest bit of the first byte, without gaps between repeats.
 */
#include "vector/values.h"

enum relation { RELATION_EQ, RELATION_NE, RELATION_LT, RELATION_LE, RELATION_GT, RELATION_GE };

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

static void load_compared(const struct values *values, unsigned walk, enum dtype type,
                          union slots *slots) {
  if (type == DTYPE_INT32)
    slots_load(values, walk, slots->bytes);
  else
    slots_load_float(values, walk, type, slots->fp32);
}

/* The second source is a walk through UB or, with a walk less, the same scalar in all slots. */
static void compare(struct values *values, enum relation relation, unsigned dst,
                    union slots *second) {
  const struct inst *inst = values->inst;
  enum dtype type = inst_dtype(inst);
  union slots first;
  uint8_t results[SLOTS_MAX];
  values_join(values, (struct vector_operand){.arg = dst, .bits = 1});
  const struct vector_lanes *lanes = &values->walks.lanes;
  for (uint64_t repeat = 0; repeat < lanes->repeats; repeat++) {
    if (!values_repeat(values, repeat))
      continue;
    load_compared(values, 0, type, &first);
    if (values->walks.count > 1)
      load_compared(values, 1, type, second);
    compare_slots(relation, type != DTYPE_INT32, &first, second, results, values->slots);
    store_bits(values->ub + (uint64_t)inst->arg[dst], repeat * lanes->per_repeat, results,
               (size_t)values->end);
  }
}

static void compare_tensors(const struct vinci_soc *soc, const struct inst *inst,
                            struct value_core *core, enum relation relation) {
  struct values values;
  values_start(&values, inst, core, vec_compare_walks(soc, inst), VECTOR_WHOLE);
  union slots second;
  compare(&values, relation, COMPARE_DST, &second);
}

static void compare_scalar(const struct vinci_soc *soc, const struct inst *inst,
                           struct value_core *core, enum relation relation) {
  struct values values;
  values_start(&values, inst, core, vec_compare_scalar_walks(soc, inst), VECTOR_WHOLE);
  enum dtype type = inst_dtype(inst);
  int64_t scalar = inst->arg[COMPARES_SCALAR];
  union slots second;
  for (size_t i = 0; i < SLOTS_MAX; i++) {
    if (type == DTYPE_INT32)
      second.i32[i] = (int32_t)scalar;
    else
      second.fp32[i] = scalar_float(type, scalar);
  }
  compare(&values, relation, COMPARES_DST, &second);
}

/* Lanes that are not active keep their bits in the register. */
static void compare_register(const struct vinci_soc *soc, const struct inst *inst,
                             struct value_core *core, enum relation relation) {
  struct values values;
  values_start(&values, inst, core, vec_compare_register_walks(soc, inst), VECTOR_MASKED);
  enum dtype type = inst_dtype(inst);
  union slots first, second;
  uint8_t results[SLOTS_MAX];
  if (values.walks.lanes.repeats == 0 || !values_repeat(&values, 0))
    return;
  load_compared(&values, 0, type, &first);
  load_compared(&values, 1, type, &second);
  compare_slots(relation, true, &first, &second, results, values.slots);
  for (uint64_t lane = values.first; lane < values.end && lane < MASK_LANES; lane++) {
    uint64_t *word = &core->compare_mask[lane / 64];
    uint64_t bit = UINT64_C(1) << lane % 64;
    if (values_active(&values, lane, 1))
      *word = results[lane - values.first] ? *word | bit : *word & ~bit;
  }
}

#define COMPARE(id, function, types, relation)                                                     \
  COVERS(id, types);                                                                               \
  void id##_values(const struct vinci_soc *soc, const struct inst *inst,                           \
                   struct value_core *core) {                                                      \
    function(soc, inst, core, relation);                                                           \
  }
#define COMPARES(name)                                                                             \
  COMPARE(VCMP_##name, compare_register, D_FLOAT, RELATION_##name)                                 \
  COMPARE(VCMPV_##name, compare_tensors, D_FLOAT | D(INT32), RELATION_##name)                      \
  COMPARE(VCMPVS_##name, compare_scalar, D_FLOAT | D(INT32), RELATION_##name)
COMPARES(EQ)
COMPARES(NE)
COMPARES(LT)
COMPARES(LE)
COMPARES(GT)
COMPARES(GE)

void vec_set_compare_mask_values(const struct vinci_soc *soc, const struct inst *inst,
                                 struct value_core *core) {
  (void)soc;
  const uint8_t *from = core->bytes[SPACE_UB] + (uint64_t)inst->arg[COMPARE_MASK_ADDRESS];
  core->compare_mask[0] = load_u64(from);
  core->compare_mask[1] = load_u64(from + sizeof(uint64_t));
}

void vec_get_compare_mask_values(const struct vinci_soc *soc, const struct inst *inst,
                                 struct value_core *core) {
  (void)soc;
  uint8_t *to = core->bytes[SPACE_UB] + (uint64_t)inst->arg[COMPARE_MASK_ADDRESS];
  store_u64(to, core->compare_mask[0]);
  store_u64(to + sizeof(uint64_t), core->compare_mask[1]);
}

/* The bits that choose: of the register the same in every repeat, else the next of UB. */
static void load_choice(const struct values *values, const struct value_core *core,
                        uint8_t *choice) {
  bool same = values->inst->arg[SELECT_MODE] == SELECT_MODE_REGISTER;
  const uint8_t *bits = values->ub + (uint64_t)values->inst->arg[SELECT_MASK];
  uint8_t mask[MASK_LANES / BITS_PER_BYTE];
  uint64_t end = values->end, start = values->repeat * values->walks.lanes.per_repeat;
  if (same) {
    store_u64(mask, core->compare_mask[0]);
    store_u64(mask + sizeof(uint64_t), core->compare_mask[1]);
    bits = mask;
    start = 0;
    end = min_u64(end, MASK_LANES);
  }
  /* Slot 0 starts a block, so its bit starts a byte. */
  const uint8_t *byte = bits + (start + values->first) / BITS_PER_BYTE;
  size_t wanted = end > values->first ? (size_t)(end - values->first) : 0;
  memset(choice, 0, values->slots);
  for (size_t i = 0; i < wanted; i += BITS_PER_BYTE, byte++) {
    /* A copy of the byte in each byte, of which the first keeps bit 0, the second bit 1 ... */
    uint64_t spread = *byte * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
    store_u64(choice + i, spread);
  }
}

LOOP static void choose(const union slots *a, const union slots *b, const uint8_t *choice,
                        unsigned bits, size_t count, union slots *out) {
  if (bits == dtype_bits(DTYPE_FP16)) {
    for (size_t i = 0; i < count; i++)
      out->u16[i] = choice[i] ? a->u16[i] : b->u16[i];
  } else {
    for (size_t i = 0; i < count; i++)
      out->u32[i] = choice[i] ? a->u32[i] : b->u32[i];
  }
}

/* Bits and a scalar are read again in every repeat: it may have written them. */
static void select_join(struct values *values, struct vector_operand dst) {
  struct vector_operand bits = {.arg = SELECT_MASK, .bits = 1};
  struct vector_operand scalar = {.arg = SELECT_SRC1, .bits = dst.bits};
  int64_t mode = values->inst->arg[SELECT_MODE];
  bool scalar_apart = mode != SELECT_MODE_SCALAR ||
                      (values->inst->arg[SELECT_SRC1] != values->inst->arg[SELECT_DST] &&
                       values_apart(values, dst, scalar));
  if (mode != SELECT_MODE_REGISTER && scalar_apart && values_apart(values, dst, bits))
    values_join(values, dst);
}

void vec_select_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  struct values values;
  values_start(&values, inst, core, vec_select_walks(soc, inst), VECTOR_MASKED);
  unsigned dst = values.walks.count - 1;
  select_join(&values, values.walks.operand[dst]);
  size_t size = values.widest / BITS_PER_BYTE;
  int64_t mode = inst->arg[SELECT_MODE];
  uint8_t held[sizeof(uint64_t)];
  store_u64(held, core->compare_mask[0]);
  const uint8_t *scalar = mode == SELECT_MODE_SCALAR ? values.ub + (uint64_t)inst->arg[SELECT_SRC1]
                          : mode == SELECT_MODE_HELD ? held
                                                     : NULL;
  union slots a, b, out;
  uint8_t choice[SLOTS_MAX];
  for (uint64_t repeat = 0; repeat < values.walks.lanes.repeats; repeat++) {
    if (!values_repeat(&values, repeat))
      continue;
    slots_load(&values, 0, a.bytes);
    if (scalar) {
      for (size_t i = 0; i < values.slots; i++)
        memcpy(b.bytes + i * size, scalar, size);
      number_order(b.bytes, values.slots * size, values.widest);
    } else
      slots_load(&values, 1, b.bytes);
    load_choice(&values, core, choice);
    choose(&a, &b, choice, values.widest, values.slots, &out);
    slots_store(&values, dst, out.bytes);
  }
}
