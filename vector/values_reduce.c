/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of reductions. Sums are binary trees over neighbouring lanes, each sum rounded to the
 * type (Ascend C documentation, ReduceDataBlock and ReduceRepeat); a lane that is not active
 * is not there: its place holds -0, which changes no other number.
 */
#include <math.h>

#include "vector/math.h"
#include "vector/values.h"

/* What pairs of lanes become, and what stands in place of lanes that are not active. */
struct reduction {
  void (*pairs)(const float *restrict in, float *restrict out, size_t count);
  float absent;
  bool sums; /* rounded to the type */
};

/* A reduction at work: its repeats in fp32, slot 0 is lane 0. */
struct reduced {
  struct values in;
  enum dtype type;
  const struct reduction *how;
  uint64_t per_repeat; /* lanes of a repeat of the instruction; `in` may have joined several */
  size_t group;        /* lanes that become one result */
  size_t result_bytes; /* of a repeat: the unit of dst_repeat */
  float total;         /* of all results so far, where a repeat has one of them */
  float values[SLOTS_MAX];
};

/* Joins repeats when none of them reads a result. */
static void reduce_join(struct reduced *reduced) {
  struct values *in = &reduced->in;
  const struct vector_lanes *lanes = &in->walks.lanes;
  uint64_t from = (uint64_t)in->inst->arg[REDUCE_SRC];
  uint64_t to = (uint64_t)in->inst->arg[REDUCE_DST];
  uint64_t read = vector_size(lanes->repeats * lanes->per_repeat, in->widest);
  uint64_t stride = (uint64_t)in->inst->arg[REDUCE_DST_REPEAT] * reduced->result_bytes;
  uint64_t written = vector_span(lanes->repeats, stride, reduced->result_bytes);
  bool halves = (lanes->per_repeat & (lanes->per_repeat - 1)) == 0;
  if (halves && (to + written <= from || from + read <= to))
    values_join(in, in->walks.operand[0]);
}

static void reduce_start(const struct vinci_soc *soc, const struct inst *inst,
                         const struct value_core *core, const struct reduction *how,
                         struct reduced *reduced) {
  values_start(&reduced->in, inst, core, vec_reduce_walks(soc, inst), VECTOR_MASKED);
  reduced->type = inst_dtype(inst);
  reduced->how = how;
  reduced->per_repeat = reduced->in.walks.lanes.per_repeat;
}

/* Reads a repeat, with `slots` values in all; false when it has no active lane. */
static bool reduce_repeat(struct reduced *reduced, uint64_t repeat, size_t slots) {
  struct values *in = &reduced->in;
  if (!values_repeat(in, repeat))
    return false;
  size_t first = (size_t)in->first;
  slots_load_float(in, 0, reduced->type, reduced->values + first);
  for (size_t i = 0; i < first; i++)
    reduced->values[i] = reduced->how->absent;
  for (size_t i = (size_t)in->end; i < slots; i++)
    reduced->values[i] = reduced->how->absent;
  if (in->mask)
    for (size_t i = first; i < in->end; i++)
      if (!values_active(in, i, 1))
        reduced->values[i] = reduced->how->absent;
  return true;
}

/* Where the results of a lane's repeat lie. */
static uint8_t *result_at(const struct reduced *reduced, size_t lane) {
  const struct values *in = &reduced->in;
  uint64_t joined = in->walks.lanes.per_repeat / reduced->per_repeat;
  uint64_t repeat = in->repeat * joined + lane / reduced->per_repeat;
  return in->ub + (uint64_t)in->inst->arg[REDUCE_DST] +
         repeat * (uint64_t)in->inst->arg[REDUCE_DST_REPEAT] * reduced->result_bytes;
}

/* The first element as bits. */
static uint64_t code_of(const union slots *codes, unsigned bits) {
  return bits == 16 ? codes->u16[0] : codes->u32[0];
}

/* ---- trees ---- */

LOOP static void add_pairs(const float *restrict in, float *restrict out, size_t count) {
  for (size_t i = 0; i < count; i++)
    out[i] = in[2 * i] + in[2 * i + 1];
}

LOOP static void larger_pairs(const float *restrict in, float *restrict out, size_t count) {
  for (size_t i = 0; i < count; i++)
    out[i] = math_larger(in[2 * i], in[2 * i + 1]);
}

LOOP static void smaller_pairs(const float *restrict in, float *restrict out, size_t count) {
  for (size_t i = 0; i < count; i++)
    out[i] = math_smaller(in[2 * i], in[2 * i + 1]);
}

/* One level of the trees; sums are rounded to the type. */
static void reduce_level(struct reduced *reduced, size_t count) {
  union slots pairs, codes;
  reduced->how->pairs(reduced->values, pairs.fp32, count);
  if (!reduced->how->sums || reduced->type == DTYPE_FP32) { /* NaN gets its bits in the end */
    memcpy(reduced->values, pairs.fp32, count * sizeof(float));
    return;
  }
  floats_to(reduced->type, inst_saturates(reduced->in.inst), pairs.fp32, &codes, count);
  floats_from(reduced->type, &codes, reduced->values, count);
}

static bool group_active(const struct reduced *reduced, size_t lane) {
  const struct values *in = &reduced->in;
  if (!in->mask || reduced->group == reduced->per_repeat)
    return lane < in->end; /* a repeat without active lanes does not come here */
  return values_active(in, lane, (unsigned)reduced->group) != 0;
}

/*
 * Writes the results, one for each group of lanes. A group without active lanes leaves its
 * place in UB alone; on C310 it writes what stands for an empty one (Ascend C documentation).
 */
static void store_groups(struct reduced *reduced, size_t slots) {
  const struct inst *inst = reduced->in.inst;
  size_t element = reduced->in.widest / BITS_PER_BYTE;
  size_t per_repeat = (size_t)reduced->per_repeat;
  size_t end = (size_t)ceil_div(reduced->in.end, reduced->per_repeat) * per_repeat;
  union slots codes;
  floats_to(reduced->type, inst_saturates(inst), reduced->values, &codes, slots / reduced->group);
  number_order(codes.bytes, slots / reduced->group * element, reduced->in.widest);
  size_t groups = per_repeat / reduced->group;
  const uint8_t *from = codes.bytes;
  for (size_t first = 0; first < end; first += per_repeat, from += groups * element) {
    uint8_t *at = result_at(reduced, first);
    if (groups == 1)
      reduced->total += reduced->values[first / per_repeat];
    if (!reduced->in.mask && first + per_repeat <= reduced->in.end) {
      memcpy(at, from, groups * element);
      continue;
    }
    for (size_t i = 0; i < groups; i++) {
      if (group_active(reduced, first + i * reduced->group))
        memcpy(at + i * element, from + i * element, element);
      else if (inst->arch == ARCH_C310 && reduced->how->sums)
        memset(at + i * element, 0, element);
      else if (inst->arch == ARCH_C310)
        memcpy(at + i * element, from + i * element, element);
    }
  }
}

/* group: lanes of one result, a power of two, or all of a repeat. */
static void reduce_groups(struct reduced *reduced, size_t group, size_t result_bytes) {
  reduced->group = group;
  reduced->result_bytes = result_bytes;
  reduce_join(reduced);
  size_t slots = (size_t)reduced->in.walks.lanes.per_repeat, leaves = 1;
  while (leaves < group)
    leaves *= 2;
  slots = slots > leaves ? slots : leaves; /* an odd width is filled up */
  for (uint64_t repeat = 0; repeat < reduced->in.walks.lanes.repeats; repeat++) {
    if (!reduce_repeat(reduced, repeat, slots))
      continue;
    for (size_t n = slots / 2; n >= slots / leaves; n /= 2)
      reduce_level(reduced, n);
    store_groups(reduced, slots);
  }
}

static const struct reduction sum = {.pairs = add_pairs, .absent = -0.0f, .sums = true};
static const struct reduction larger = {.pairs = larger_pairs, .absent = -INFINITY};
static const struct reduction smaller = {.pairs = smaller_pairs, .absent = INFINITY};

/* All of a repeat, each of its blocks, or each of its pairs into one element. Of the first, a
 * register has the sum of the sums, rounded once (assumed: the type of the steps between is not
 * documented). */
static void reduce_to_sum(const struct vinci_soc *soc, const struct inst *inst,
                          const struct value_core *core, const struct reduction *how) {
  struct reduced reduced;
  union slots code = {.bytes = {0}};
  reduce_start(soc, inst, core, how, &reduced);
  reduced.total = 0;
  reduce_groups(&reduced, (size_t)reduced.per_repeat, reduced.in.widest / BITS_PER_BYTE);
  floats_to(reduced.type, inst_saturates(inst), &reduced.total, &code, 1);
  if (core->registers)
    core->registers->sum = code_of(&code, reduced.in.widest);
}

static void reduce_blocks(const struct vinci_soc *soc, const struct inst *inst,
                          const struct value_core *core, const struct reduction *how) {
  struct reduced reduced;
  reduce_start(soc, inst, core, how, &reduced);
  size_t group = (size_t)(BLOCK_BYTES * BITS_PER_BYTE) / reduced.in.widest;
  size_t results = (size_t)reduced.per_repeat / group;
  reduce_groups(&reduced, group, results * reduced.in.widest / BITS_PER_BYTE);
}

static void reduce_pairs(const struct vinci_soc *soc, const struct inst *inst,
                         const struct value_core *core, const struct reduction *how) {
  struct reduced reduced;
  reduce_start(soc, inst, core, how, &reduced);
  reduce_groups(&reduced, 2, (size_t)soc->vector_bytes / 2);
}

#define REDUCE(id, function, how)                                                                  \
  COVERS(id, D_FLOAT);                                                                             \
  void id##_values(const struct vinci_soc *soc, const struct inst *inst,                           \
                   struct value_core *core) {                                                      \
    function(soc, inst, core, how);                                                                \
  }
REDUCE(VCADD, reduce_to_sum, &sum)
REDUCE(VCGADD, reduce_blocks, &sum)
REDUCE(VCGMAX, reduce_blocks, &larger)
REDUCE(VCGMIN, reduce_blocks, &smaller)
REDUCE(VCPADD, reduce_pairs, &sum)

/* ---- largest and smallest lane ---- */

/*
 * Integers in the order of the numbers, +0 and -0 the same, those of NaN the largest; for the
 * smallest lane the order is turned around.
 */
LOOP static int32_t largest_key(const float *restrict values, int32_t *restrict keys, size_t count,
                                bool largest) {
  int32_t best = INT32_MIN;
  for (size_t i = 0; i < count; i++) {
    uint32_t bits = fp32_bits(values[i]);
    int32_t magnitude = (int32_t)(bits & INT32_MAX);
    int32_t key = (bits >> 31 != 0) == largest ? -magnitude : magnitude;
    key = magnitude > 0x7f800000 ? INT32_MAX : key;
    keys[i] = key;
    best = key > best ? key : best;
  }
  return best;
}

/* The lane of the extreme: the first of equal elements, or the first NaN if there is any. */
static size_t extreme_lane(const struct reduced *reduced, bool largest) {
  const struct values *in = &reduced->in;
  int32_t keys[SLOTS_MAX];
  size_t first = (size_t)in->first, count = (size_t)(in->end - in->first);
  int32_t best = largest_key(reduced->values + first, keys, count, largest);
  if (in->mask) {
    best = INT32_MIN;
    for (size_t i = 0; i < count; i++) {
      keys[i] = values_active(in, first + i, 1) ? keys[i] : INT32_MIN;
      best = keys[i] > best ? keys[i] : best;
    }
  }
  size_t lane = 0;
  while (keys[lane] != best)
    lane++;
  return first + lane;
}

/* The best of all repeats, for the register. */
struct extreme {
  float value;
  uint64_t lane, code;
  bool any;
};

static void keep_extreme(const struct reduced *reduced, uint64_t repeat, size_t lane, bool largest,
                         struct extreme *best) {
  float value = reduced->values[lane];
  bool better = largest ? value > best->value : value < best->value;
  if (best->any && !better && !(isnan(value) && !isnan(best->value)))
    return;
  union slots code = {.bytes = {0}};
  floats_to(reduced->type, inst_saturates(reduced->in.inst), &value, &code, 1);
  *best = (struct extreme){.value = value,
                           .lane = repeat * reduced->per_repeat + lane,
                           .code = code_of(&code, reduced->in.widest),
                           .any = true};
}

/* Value and index, each as wide as an element; an index alone has 32 bits. */
static void store_extreme(const struct reduced *reduced, size_t lane) {
  const struct inst *inst = reduced->in.inst;
  size_t element = reduced->in.widest / BITS_PER_BYTE;
  uint8_t *at = result_at(reduced, 0);
  uint32_t index = (uint32_t)lane;
  union slots code;
  floats_to(reduced->type, inst_saturates(inst), &reduced->values[lane], &code, 1);
  number_order(code.bytes, element, reduced->in.widest);
  switch (inst->arg[REDUCE_ORDER]) {
  case REDUCE_VALUE_INDEX:
    memcpy(at, code.bytes, element);
    store_low(at + element, index, element);
    break;
  case REDUCE_INDEX_VALUE:
    store_low(at, index, element);
    memcpy(at + element, code.bytes, element);
    break;
  case REDUCE_VALUE:
    memcpy(at, code.bytes, element);
    break;
  default:
    store_u32(at, index);
    break;
  }
}

static void reduce_index(const struct vinci_soc *soc, const struct inst *inst,
                         const struct value_core *core, bool largest) {
  static const struct reduction none = {.absent = -0.0f}; /* each lane is compared by itself */
  struct reduced reduced;
  reduce_start(soc, inst, core, &none, &reduced);
  struct extreme best = {.any = false};
  reduced.result_bytes = (size_t)vec_index_result_bytes(inst);
  size_t slots = (size_t)reduced.per_repeat;
  for (uint64_t repeat = 0; repeat < reduced.in.walks.lanes.repeats; repeat++)
    if (reduce_repeat(&reduced, repeat, slots)) {
      size_t lane = extreme_lane(&reduced, largest);
      keep_extreme(&reduced, repeat, lane, largest, &best);
      store_extreme(&reduced, lane);
    }
  if (core->registers && best.any)
    core->registers->extreme = best.lane << 32 | best.code;
}

REDUCE(VCMAX, reduce_index, true)
REDUCE(VCMIN, reduce_index, false)

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
  uint64_t all_taken = 0;
  for (uint64_t repeat = 0; repeat < walks.lanes.repeats; repeat++) {
    uint64_t all = repeat + 1 == walks.lanes.repeats ? walks.lanes.tail_end : walks.lanes.end;
    for (uint64_t first = 0; first < all; first += width) {
      uint64_t end = min_u64(first + width, all);
      size_t count = compact_lanes(inst, &walks, core, repeat, first, end, &taken);
      memcpy(dst, taken.bytes, count * element);
      dst += count * element;
      all_taken += count;
    }
  }
  if (core->registers)
    core->registers->taken = all_taken;
}
