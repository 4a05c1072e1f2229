/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of reductions. Sums are binary trees over neighbouring lanes, each sum rounded to the
 * type (Ascend C documentation, ReduceDataBlock and ReduceRepeat); a lane that is not active
 * is not there: its place holds -0, which changes no other number.
 */
#include "core/diag.h"
#include "vector/math.h"
#include "vector/values.h"

/* A repeat of fp32 copies, inactive lanes replaced; slot 0 is lane 0. */
struct reduced {
  struct vector_walks walks;
  enum dtype type;
  struct repeat_lanes lanes;
  size_t per_block;
  float values[SLOTS_MAX];
  uint8_t *dst; /* of this repeat */
};

static bool lane_active(const struct repeat_lanes *lanes, size_t lane) {
  return repeat_active(lanes, lane, 1) != 0;
}

static void reduce_init(const struct vinci_soc *soc, const struct inst *inst,
                        struct reduced *reduced) {
  reduced->walks = vec_reduce_walks(soc, inst);
  reduced->type = inst_dtype(inst);
  reduced->per_block = (size_t)(BLOCK_BYTES * BITS_PER_BYTE) / reduced->walks.bits;
}

/* Reads a repeat; false when it has no active lane. */
static bool reduce_repeat(const struct inst *inst, const struct value_core *core, uint64_t repeat,
                          size_t result_bytes, float absent, struct reduced *reduced) {
  struct repeat_lanes *lanes = &reduced->lanes;
  if (!repeat_lanes(&reduced->walks, inst, repeat, reduced->walks.bits, VECTOR_MASKED, lanes))
    return false;
  size_t all = (size_t)reduced->walks.lanes.per_repeat, first = (size_t)lanes->first;
  slots_load_float(inst, core, &reduced->walks.operand[0], lanes, reduced->type,
                   reduced->values + first);
  for (size_t i = 0; i < first; i++)
    reduced->values[i] = absent;
  for (size_t i = first + lanes->slots; i < all; i++)
    reduced->values[i] = absent;
  if (lanes->mask || lanes->end < first + lanes->slots)
    for (size_t i = first; i < first + lanes->slots; i++)
      if (!lane_active(lanes, i))
        reduced->values[i] = absent;
  reduced->dst = core->bytes[SPACE_UB] + (uint64_t)inst->arg[REDUCE_DST] +
                 repeat * (uint64_t)inst->arg[REDUCE_DST_REPEAT] * result_bytes;
  return true;
}

/* One level of the tree: sums of neighbours, rounded. */
static void add_pairs(enum dtype type, enum arch arch, float *values, size_t count) {
  union slots codes;
  for (size_t i = 0; i < count; i++)
    values[i] = values[2 * i] + values[2 * i + 1];
  if (type == DTYPE_FP32)
    return; /* NaN gets its bits in the end */
  floats_to(type, arch, values, codes.bytes, count);
  floats_from(type, codes.bytes, values, count);
}

static void store_element(const struct inst *inst, enum dtype type, uint8_t *at, float value) {
  union slots code;
  floats_to(type, (enum arch)inst->arch, &value, code.bytes, 1);
  memcpy(at, code.bytes, dtype_bits(type) / BITS_PER_BYTE);
}

void vec_reduce_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  struct reduced reduced;
  reduce_init(soc, inst, &reduced);
  size_t element = reduced.walks.bits / BITS_PER_BYTE;
  for (uint64_t repeat = 0; repeat < reduced.walks.lanes.repeats; repeat++) {
    if (!reduce_repeat(inst, core, repeat, element, -0.0f, &reduced))
      continue;
    for (size_t n = (size_t)reduced.walks.lanes.per_repeat / 2; n > 0; n /= 2)
      add_pairs(reduced.type, (enum arch)inst->arch, reduced.values, n);
    store_element(inst, reduced.type, reduced.dst, reduced.values[0]);
  }
}

/* The lane of the extreme: the first of equal ones, the first NaN if there is one. */
static size_t extreme_lane(const struct reduced *reduced, bool largest) {
  const struct repeat_lanes *lanes = &reduced->lanes;
  size_t best = SIZE_MAX;
  for (size_t i = (size_t)lanes->first; i < lanes->end; i++) {
    if (!lane_active(lanes, i))
      continue;
    float value = reduced->values[i];
    if (value != value)
      return i;
    if (best == SIZE_MAX ||
        (largest ? value > reduced->values[best] : value < reduced->values[best]))
      best = i;
  }
  return best;
}

/* Value and index, each as wide as an element; an index alone has 32 bits. */
static void store_extreme(const struct inst *inst, const struct reduced *reduced, size_t lane) {
  size_t element = reduced->walks.bits / BITS_PER_BYTE;
  uint32_t index = (uint32_t)lane;
  size_t value_at = inst->arg[REDUCE_ORDER] == REDUCE_INDEX_VALUE ? element : 0;
  size_t index_at = inst->arg[REDUCE_ORDER] == REDUCE_VALUE_INDEX ? element : 0;
  if (inst->arg[REDUCE_ORDER] != REDUCE_INDEX)
    store_element(inst, reduced->type, reduced->dst + value_at, reduced->values[lane]);
  if (inst->arg[REDUCE_ORDER] == REDUCE_INDEX)
    memcpy(reduced->dst, &index, sizeof index);
  else if (inst->arg[REDUCE_ORDER] != REDUCE_VALUE)
    memcpy(reduced->dst + index_at, &index, element);
}

void vec_reduce_index_values(const struct vinci_soc *soc, const struct inst *inst,
                             struct value_core *core) {
  struct reduced reduced;
  reduce_init(soc, inst, &reduced);
  size_t result = vec_index_result_bytes(inst);
  for (uint64_t repeat = 0; repeat < reduced.walks.lanes.repeats; repeat++)
    if (reduce_repeat(inst, core, repeat, result, 0.0f, &reduced))
      store_extreme(inst, &reduced, extreme_lane(&reduced, inst->op == OP_VCMAX));
}

/*
 * Results of a repeat, one for each `group` lanes. A group without active lanes leaves its
 * place in UB alone; on C310 it writes what stands for an empty one (Ascend C documentation).
 */
static void store_groups(const struct inst *inst, const struct reduced *reduced, size_t group) {
  size_t element = reduced->walks.bits / BITS_PER_BYTE;
  size_t results = (size_t)reduced->walks.lanes.per_repeat / group;
  bool writes_empty = inst->arch == ARCH_C310;
  bool sums = inst->op == OP_VCGADD || inst->op == OP_VCPADD;
  union slots codes;
  floats_to(reduced->type, (enum arch)inst->arch, reduced->values, codes.bytes, results);
  for (size_t i = 0; i < results; i++) {
    if (repeat_active(&reduced->lanes, i * group, (unsigned)group))
      memcpy(reduced->dst + i * element, codes.bytes + i * element, element);
    else if (writes_empty && sums)
      memset(reduced->dst + i * element, 0, element);
    else if (writes_empty)
      memcpy(reduced->dst + i * element, codes.bytes + i * element, element);
  }
}

/* A level of the tree of a maximum or minimum. */
static void choose_pairs(float *values, size_t count, bool largest) {
  for (size_t i = 0; i < count; i++)
    values[i] = largest ? math_larger(values[2 * i], values[2 * i + 1])
                        : math_smaller(values[2 * i], values[2 * i + 1]);
}

static float absent_of(const struct inst *inst) {
  switch (inst->op) {
  case OP_VCGMAX:
    return -FP32_INFINITY;
  case OP_VCGMIN:
    return FP32_INFINITY;
  default:
    return -0.0f;
  }
}

void vec_group_reduce_values(const struct vinci_soc *soc, const struct inst *inst,
                             struct value_core *core) {
  struct reduced reduced;
  reduce_init(soc, inst, &reduced);
  size_t group = reduced.per_block;
  size_t results = (size_t)reduced.walks.lanes.per_repeat / group;
  size_t bytes = results * reduced.walks.bits / BITS_PER_BYTE;
  for (uint64_t repeat = 0; repeat < reduced.walks.lanes.repeats; repeat++) {
    if (!reduce_repeat(inst, core, repeat, bytes, absent_of(inst), &reduced))
      continue;
    for (size_t n = group / 2; n > 0; n /= 2) {
      if (inst->op == OP_VCGADD)
        add_pairs(reduced.type, (enum arch)inst->arch, reduced.values, n * results);
      else
        choose_pairs(reduced.values, n * results, inst->op == OP_VCGMAX);
    }
    store_groups(inst, &reduced, group);
  }
}

void vec_pair_reduce_values(const struct vinci_soc *soc, const struct inst *inst,
                            struct value_core *core) {
  struct reduced reduced;
  reduce_init(soc, inst, &reduced);
  size_t results = (size_t)reduced.walks.lanes.per_repeat / 2;
  size_t half = (size_t)soc->vector_bytes / 2;
  for (uint64_t repeat = 0; repeat < reduced.walks.lanes.repeats; repeat++) {
    if (!reduce_repeat(inst, core, repeat, half, absent_of(inst), &reduced))
      continue;
    add_pairs(reduced.type, (enum arch)inst->arch, reduced.values, results);
    store_groups(inst, &reduced, 2);
  }
}

/* Whether a fixed pattern of vreducev2 takes a lane. */
static bool pattern_takes(int64_t pattern, uint64_t lane) {
  if (pattern <= 2)
    return lane % 2 == (uint64_t)(pattern - 1);
  return pattern == 7 || lane % 4 == (uint64_t)(pattern - 3);
}

/* The taken ones of up to a repeat's width of lanes, in order; returns how many. */
static size_t compact_lanes(const struct inst *inst, const struct vector_walks *walks,
                            const struct value_core *core, uint64_t repeat, uint64_t first,
                            uint64_t end, union slots *out) {
  const struct vector_operand *src = &walks->operand[0];
  const uint8_t *ub = core->bytes[SPACE_UB];
  const uint8_t *bits = ub + (uint64_t)inst->arg[COMPACT_SRC1] +
                        repeat * (uint64_t)inst->arg[COMPACT_SRC1_REPEAT] * BLOCK_BYTES;
  const uint8_t *from =
      ub + (uint64_t)inst->arg[COMPACT_SRC0] + repeat * src->repeat_stride * BLOCK_BYTES;
  size_t element = walks->bits / BITS_PER_BYTE, count = 0;
  uint64_t per_block = (uint64_t)BLOCK_BYTES / element;
  int64_t pattern = inst->arg[COMPACT_PATTERN];
  for (uint64_t lane = first; lane < end; lane++) {
    bool taken = pattern ? pattern_takes(pattern, lane)
                         : bits[lane / BITS_PER_BYTE] >> lane % BITS_PER_BYTE & 1;
    if (!taken)
      continue;
    uint64_t block = lane / per_block * src->block_stride * BLOCK_BYTES;
    memcpy(out->bytes + count++ * element, from + block + lane % per_block * element, element);
  }
  return count;
}

/* A repeat of counter mode longer than the unit is wide is done one width after the other. */
void vec_compact_values(const struct vinci_soc *soc, const struct inst *inst,
                        struct value_core *core) {
  struct vector_walks walks = vec_compact_walks(soc, inst);
  size_t element = walks.bits / BITS_PER_BYTE;
  uint64_t width = (uint64_t)soc->vector_bytes / element;
  uint8_t *dst = core->bytes[SPACE_UB] + (uint64_t)inst->arg[COMPACT_DST];
  union slots taken;
  for (uint64_t repeat = 0; repeat < walks.lanes.repeats; repeat++)
    for (uint64_t first = 0; first < walks.lanes.end; first += width) {
      uint64_t end = min_u64(first + width, walks.lanes.end);
      size_t count = compact_lanes(inst, &walks, core, repeat, first, end, &taken);
      memcpy(dst, taken.bytes, count * element);
      dst += count * element;
    }
}
