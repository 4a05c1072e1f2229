/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector reductions: a repeat, a block or a pair into one element, and the
 * compaction of selected lanes.
 */
#include "vector/vector.h"

enum {
  BLOCKS_PER_REPEAT = 8, /* results of a block reduction per repeat */
  INDEX_BYTES = 4,       /* an index alone is 32 bits wide */
};

static unsigned bits_of(const struct inst *inst) { return dtype_bits(inst_dtype(inst)); }

static struct vector_lanes reduce_lanes(const struct vinci_soc *soc, const struct inst *inst) {
  return vector_lanes(soc, inst, inst->arg[REDUCE_REPEAT], bits_of(inst), VECTOR_MASKED);
}

static struct vector_operand reduce_src(const struct inst *inst) {
  return (struct vector_operand){
      .arg = REDUCE_SRC,
      .bits = bits_of(inst),
      .block_stride = (uint64_t)inst->arg[REDUCE_SRC_BLOCK],
      .repeat_stride = (uint64_t)inst->arg[REDUCE_SRC_REPEAT],
  };
}

struct vector_walks vec_reduce_walks(const struct vinci_soc *soc, const struct inst *inst) {
  return (struct vector_walks){.lanes = reduce_lanes(soc, inst),
                               .operand = {reduce_src(inst)},
                               .count = 1,
                               .bits = bits_of(inst)};
}

static void reduce_cost(const struct vinci_soc *soc, const struct inst *inst,
                        struct inst_cost *cost) {
  struct vector_lanes lanes = reduce_lanes(soc, inst);
  struct bank_traffic traffic = {0};
  vector_traffic(&traffic, inst, &lanes, reduce_src(inst));
  vector_cost(soc, inst,
              (struct vector_work){.bits = bits_of(inst),
                                   .repeats = lanes.repeats,
                                   .operations = lanes.active,
                                   .traffic = &traffic},
              cost);
}

/* Source and destination; a repeat leaves result_bytes, at distances of stride_bytes. */
static unsigned reduce_access(const struct vinci_soc *soc, const struct inst *inst,
                              struct inst_access *access, uint64_t result_bytes,
                              uint64_t stride_bytes, uint64_t alignment) {
  struct vector_lanes lanes = reduce_lanes(soc, inst);
  unsigned count = vector_touch_strided(inst, access, 0, &lanes, reduce_src(inst));
  uint64_t distance = (uint64_t)inst->arg[REDUCE_DST_REPEAT] * stride_bytes;
  struct inst_runs results = {.bytes = result_bytes, .level = {{lanes.repeats, distance}}};
  count = vector_touch_runs(inst, access, count, REDUCE_DST, results);
  access[count - 1].alignment = (uint16_t)alignment;
  return count;
}

void vec_reduce_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  reduce_cost(soc, inst, cost);
}

unsigned vec_reduce_access(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_access *access) {
  uint64_t element = vector_size(1, bits_of(inst));
  return reduce_access(soc, inst, access, element, element, element);
}

void vec_reduce_index_cost(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_cost *cost) {
  reduce_cost(soc, inst, cost);
}

uint64_t vec_index_result_bytes(const struct inst *inst) {
  uint64_t element = vector_size(1, bits_of(inst));
  switch (inst->arg[REDUCE_ORDER]) {
  case REDUCE_VALUE_INDEX:
  case REDUCE_INDEX_VALUE:
    return 2 * element;
  case REDUCE_INDEX:
    return INDEX_BYTES;
  default:
    return element;
  }
}

unsigned vec_reduce_index_access(const struct vinci_soc *soc, const struct inst *inst,
                                 struct inst_access *access) {
  uint64_t element = vector_size(1, bits_of(inst));
  uint64_t result = vec_index_result_bytes(inst);
  return reduce_access(soc, inst, access, result, result, element);
}

void vec_group_reduce_cost(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_cost *cost) {
  reduce_cost(soc, inst, cost);
}

unsigned vec_group_reduce_access(const struct vinci_soc *soc, const struct inst *inst,
                                 struct inst_access *access) {
  uint64_t results = vector_size(BLOCKS_PER_REPEAT, bits_of(inst));
  return reduce_access(soc, inst, access, results, results, results);
}

void vec_pair_reduce_cost(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_cost *cost) {
  reduce_cost(soc, inst, cost);
}

unsigned vec_pair_reduce_access(const struct vinci_soc *soc, const struct inst *inst,
                                struct inst_access *access) {
  uint64_t half = (uint64_t)soc->vector_bytes / 2;
  return reduce_access(soc, inst, access, half, half, 0);
}

/*
 * In counter mode the mask register of vreducev2 holds the elements of every repeat, which may
 * be more than fit the unit's width; that of vreduce holds the elements of all repeats (the two
 * ways of counting in the Ascend C documentation, GatherMask).
 */
struct vector_walks vec_compact_walks(const struct vinci_soc *soc, const struct inst *inst) {
  struct vector_walks walks = {
      .lanes = vector_lanes(soc, inst, inst->arg[COMPACT_REPEAT], bits_of(inst), VECTOR_WHOLE),
      .operand = {{.arg = COMPACT_SRC0,
                   .bits = bits_of(inst),
                   .block_stride = (uint64_t)inst->arg[COMPACT_SRC0_BLOCK],
                   .repeat_stride = (uint64_t)inst->arg[COMPACT_SRC0_REPEAT]}},
      .count = 1,
      .bits = bits_of(inst),
  };
  if (inst->mask.counter && inst->op == OP_VREDUCEV2)
    walks.lanes = vector_lanes_counted(inst, inst->arg[COMPACT_REPEAT]);
  return walks;
}

void vec_compact_cost(const struct vinci_soc *soc, const struct inst *inst,
                      struct inst_cost *cost) {
  struct vector_lanes lanes = vec_compact_walks(soc, inst).lanes;
  uint64_t width = (uint64_t)soc->vector_bytes * BITS_PER_BYTE / bits_of(inst);
  vector_cost(soc, inst,
              (struct vector_work){.bits = bits_of(inst),
                                   .repeats = lanes.repeats * ceil_div(lanes.per_repeat, width),
                                   .operations = lanes.active},
              cost);
}

/* Lanes that a pattern lets through at most: one of every 1, 2 or 4 lanes. */
static uint64_t compact_selected(int64_t pattern, uint64_t lanes) {
  switch (pattern) {
  case 1:
  case 2:
    return (lanes + 1) / 2;
  case 3:
  case 4:
  case 5:
  case 6:
    return (lanes + 3) / 4;
  default: /* 7 takes all; 0 is up to the bits of src1 */
    return lanes;
  }
}

unsigned vec_compact_access(const struct vinci_soc *soc, const struct inst *inst,
                            struct inst_access *access) {
  unsigned bits = bits_of(inst);
  struct vector_walks walks = vec_compact_walks(soc, inst);
  struct vector_lanes lanes = walks.lanes;
  unsigned count = vector_touch_strided(inst, access, 0, &lanes, walks.operand[0]);
  if (inst->arg[COMPACT_PATTERN] == 0) {
    uint64_t stride = (uint64_t)inst->arg[COMPACT_SRC1_REPEAT] * BLOCK_BYTES;
    struct inst_runs masks = {.bytes = vector_size(lanes.per_repeat, 1),
                              .level = {{lanes.repeats, stride}}};
    count = vector_touch_runs(inst, access, count, COMPACT_SRC1, masks);
  }
  uint64_t selected = compact_selected(inst->arg[COMPACT_PATTERN], lanes.active);
  return inst_touch(inst, access, count, COMPACT_DST, 0, vector_size(selected, bits));
}
