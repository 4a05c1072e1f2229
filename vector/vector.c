/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all vector instructions share: active lanes from mask and repeat count,
 * cost from the class numbers and the banks of UB, ranges from strides.
 */
#include "vector/vector.h"

/* The mask bits of the first `count` lanes, as two words. */
static void mask_words(const struct vector_mask *mask, uint64_t count, uint64_t words[2]) {
  uint64_t lanes_of_word = MASK_LANES / 2;
  uint64_t in_low = min_u64(count, lanes_of_word);
  uint64_t in_high = min_u64(count - in_low, lanes_of_word);
  words[0] = in_low == lanes_of_word ? mask->low : mask->low & ((UINT64_C(1) << in_low) - 1);
  words[1] = in_high == lanes_of_word ? mask->high : mask->high & ((UINT64_C(1) << in_high) - 1);
}

static void lanes_of_mask(const struct vector_mask *mask, struct vector_lanes *lanes) {
  uint64_t words[2];
  mask_words(mask, lanes->per_repeat, words);
  uint64_t half = MASK_LANES / 2;
  unsigned set = (unsigned)(__builtin_popcountll(words[0]) + __builtin_popcountll(words[1]));
  if (set == 0) {
    lanes->first = lanes->end = lanes->tail_end = 0;
    lanes->active = 0;
    return;
  }
  lanes->first =
      words[0] ? (uint64_t)__builtin_ctzll(words[0]) : half + (uint64_t)__builtin_ctzll(words[1]);
  lanes->end = words[1] ? MASK_LANES - (uint64_t)__builtin_clzll(words[1])
                        : half - (uint64_t)__builtin_clzll(words[0]);
  lanes->tail_end = lanes->end;
  lanes->active = set * lanes->repeats;
}

struct vector_lanes vector_lanes(const struct vinci_soc *soc, const struct inst *inst,
                                 int64_t repeat, unsigned bits, enum vector_masking masking) {
  uint64_t per_repeat = (uint64_t)soc->vector_bytes * BITS_PER_BYTE / bits;
  struct vector_lanes lanes = {
      .repeats = (uint64_t)repeat, .per_repeat = per_repeat, .end = per_repeat};
  if (inst->mask.counter) {
    uint64_t count = inst->mask.low;
    lanes.repeats = count / per_repeat + (count % per_repeat != 0);
    lanes.tail_end = lanes.repeats ? count - (lanes.repeats - 1) * per_repeat : 0;
    lanes.active = count;
  } else if (masking == VECTOR_MASKED) {
    lanes_of_mask(&inst->mask, &lanes);
  } else {
    lanes.tail_end = per_repeat;
    lanes.active = per_repeat * lanes.repeats;
  }
  return lanes;
}

struct vector_lanes vector_lanes_counted(const struct inst *inst, int64_t repeat) {
  uint64_t elements = min_u64(inst->mask.low, UINT32_MAX);
  uint64_t repeats = elements ? (uint64_t)repeat : 0;
  return (struct vector_lanes){.repeats = repeats,
                               .per_repeat = elements,
                               .end = elements,
                               .tail_end = elements,
                               .active = elements * repeats};
}

/* Whether each repeat reads what the one before has written. */
static bool accumulates(const struct bank_traffic *traffic) {
  const struct bank_operand *write = &traffic->write;
  for (unsigned i = 0; i < traffic->reads; i++)
    if (write->blocks > 0 && write->repeat_stride == 0 && traffic->read[i].repeat_stride == 0 &&
        traffic->read[i].row == write->row)
      return true;
  return false;
}

/* Operands that an instruction reads and writes lane by lane; of one that does not walk, a source
 * and a result. */
static uint64_t walks_of(const struct bank_traffic *traffic) {
  return traffic ? traffic->reads + (traffic->write.blocks > 0) : 2;
}

void vector_cost(const struct vinci_soc *soc, const struct inst *inst, struct vector_work work,
                 struct inst_cost *cost) {
  const struct isa_row *row = isa_row((enum isa_op)inst->op);
  uint8_t index = work.bits <= dtype_bits(DTYPE_FP16) ? row->class16 : row->class32;
  const struct vector_class_cost *numbers = &soc->vector_class[index];
  uint64_t slope = (uint64_t)numbers->per_repeat_mcycles;
  struct bank_loss loss = {0};
  if (work.traffic)
    loss = banks_loss(soc, work.traffic, slope);
  uint64_t steady = slope * work.repeats + work.extra_mcycles + loss.group_mcycles;
  steady += loss.bank_mcycles;
  if (work.traffic && accumulates(work.traffic))
    steady = max_u64(steady, (uint64_t)soc->accumulate_mcycles * work.repeats);
  uint64_t issue =
      max_u64(steady + (uint64_t)numbers->offset_mcycles, (uint64_t)numbers->minimum_mcycles);
  if (work.whole_result)
    issue = max_u64(steady, (uint64_t)soc->vector_class[VECTOR_CLASS_TWO].minimum_mcycles);
  uint64_t latency = max_u64(steady + (uint64_t)numbers->startup_mcycles, issue);
  *cost = (struct inst_cost){
      .issue_cycles = issue / MILLI,
      .issue_rest_mcycles = issue % MILLI,
      .latency_cycles = ceil_div(latency, MILLI),
      .startup_cycles = (latency - steady) / MILLI,
      .path = PATH_NONE,
      .unit_work = work.operations * work.bits / BITS_PER_BYTE * walks_of(work.traffic),
      .operations = work.operations,
      .vector_class = index,
      .conflict_bankgroup_cycles = loss.group_mcycles / MILLI,
      .conflict_bank_cycles = loss.bank_mcycles / MILLI,
  };
}

void vector_traffic(struct bank_traffic *traffic, const struct inst *inst,
                    const struct vector_lanes *lanes, struct vector_operand operand) {
  const struct isa_arg *arg = &isa_row((enum isa_op)inst->op)->arg[operand.arg];
  uint64_t per_block = (uint64_t)BLOCK_BYTES * BITS_PER_BYTE / operand.bits;
  uint64_t first = lanes->first / per_block;
  struct bank_operand walk = {
      .row = (uint64_t)inst->arg[operand.arg] / BLOCK_BYTES + first * operand.block_stride,
      .block_stride = operand.block_stride,
      .repeat_stride = operand.repeat_stride,
      .blocks = lanes->end ? (lanes->end - 1) / per_block + 1 - first : 0,
  };
  traffic->repeats = lanes->repeats;
  if (arg->reads)
    traffic->read[traffic->reads++] = walk;
  if (arg->writes)
    traffic->write = walk;
}

/* One past the last byte of a repeat whose active lanes end before `end`. */
static uint64_t repeat_end(uint64_t end, uint64_t per_block, const struct vector_operand *operand) {
  if (end == 0)
    return 0;
  uint64_t last_block = (end - 1) / per_block;
  uint64_t last_bytes = vector_size(end - last_block * per_block, operand->bits);
  uint64_t stride = operand->block_stride * BLOCK_BYTES;
  uint64_t whole = last_block ? (last_block - 1) * stride + BLOCK_BYTES : 0;
  return max_u64(whole, last_block * stride + last_bytes);
}

/* Repeats that are alike, without holes between their lanes. */
static bool is_regular(const struct inst *inst, const struct vector_lanes *lanes) {
  bool has_tail = inst->mask.counter && lanes->tail_end != lanes->end;
  return !has_tail && lanes->active == (lanes->end - lanes->first) * lanes->repeats;
}

/* What of the hull, which starts `start` bytes behind the operand's address, is touched. */
static struct inst_runs strided_runs(const struct inst *inst, const struct vector_lanes *lanes,
                                     const struct vector_operand *operand, uint64_t start) {
  uint64_t per_block = (uint64_t)BLOCK_BYTES * BITS_PER_BYTE / operand->bits;
  struct inst_level repeats = {lanes->repeats, operand->repeat_stride * BLOCK_BYTES};
  struct inst_level blocks = {ceil_div(lanes->end, per_block), operand->block_stride * BLOCK_BYTES};
  if (is_regular(inst, lanes) && operand->block_stride == 1) {
    uint64_t first = lanes->first * operand->bits / BITS_PER_BYTE;
    return (struct inst_runs){.offset = first - start,
                              .bytes = vector_size(lanes->end, operand->bits) - first,
                              .level = {repeats}};
  }
  if (is_regular(inst, lanes) && lanes->first == 0 && lanes->end % per_block == 0)
    return (struct inst_runs){.bytes = BLOCK_BYTES, .level = {repeats, blocks}};
  bool masked = !inst->mask.counter && lanes->active != lanes->per_repeat * lanes->repeats;
  return (struct inst_runs){
      .offset = start,
      .bytes = BLOCK_BYTES,
      .level = {{0}, repeats, blocks},
      .lane_bits = (uint8_t)operand->bits,
      .end = (uint32_t)lanes->end,
      .tail = (uint32_t)(inst->mask.counter ? lanes->tail_end : 0),
      .lanes = {masked ? inst->mask.low : UINT64_MAX, masked ? inst->mask.high : UINT64_MAX},
  };
}

unsigned vector_touch_strided(const struct inst *inst, struct inst_access *access, unsigned count,
                              const struct vector_lanes *lanes, struct vector_operand operand) {
  if (lanes->repeats == 0 || lanes->tail_end == 0)
    return inst_touch(inst, access, count, operand.arg, 0, 0);
  uint64_t per_block = (uint64_t)BLOCK_BYTES * BITS_PER_BYTE / operand.bits;
  uint64_t start = lanes->first / per_block * operand.block_stride * BLOCK_BYTES;
  uint64_t last = lanes->repeats - 1;
  uint64_t stride = operand.repeat_stride * BLOCK_BYTES;
  uint64_t end = last * stride + repeat_end(lanes->tail_end, per_block, &operand);
  if (last > 0)
    end = max_u64(end, (last - 1) * stride + repeat_end(lanes->end, per_block, &operand));
  unsigned from = count;
  count = inst_touch(inst, access, count, operand.arg, start, end - start);
  inst_set_runs(access, from, count, strided_runs(inst, lanes, &operand, start));
  return count;
}

unsigned vector_touch_runs(const struct inst *inst, struct inst_access *access, unsigned count,
                           unsigned arg, struct inst_runs runs) {
  uint64_t bytes = runs.bytes;
  for (unsigned i = INST_LEVELS; i-- > 0;)
    if (runs.level[i].stride_bytes || runs.level[i].count)
      bytes = vector_span(runs.level[i].count, runs.level[i].stride_bytes, bytes);
  unsigned from = count;
  count = inst_touch(inst, access, count, arg, 0, bytes ? runs.offset + bytes : 0);
  inst_set_runs(access, from, count, runs);
  return count;
}

uint64_t vector_size(uint64_t elements, unsigned bits) {
  return ceil_div(elements * bits, BITS_PER_BYTE);
}

uint64_t vector_span(uint64_t runs, uint64_t stride_bytes, uint64_t bytes) {
  return runs && bytes ? (runs - 1) * stride_bytes + bytes : 0;
}

void vector_walks_cost(const struct vinci_soc *soc, const struct inst *inst,
                       const struct vector_walks *walks, struct inst_cost *cost) {
  struct bank_traffic traffic = {0};
  for (unsigned i = 0; i < walks->count; i++)
    vector_traffic(&traffic, inst, &walks->lanes, walks->operand[i]);
  vector_cost(soc, inst,
              (struct vector_work){.bits = walks->bits,
                                   .repeats = walks->lanes.repeats,
                                   .operations = walks->lanes.active,
                                   .traffic = &traffic},
              cost);
}

unsigned vector_walks_access(const struct inst *inst, const struct vector_walks *walks,
                             struct inst_access *access) {
  unsigned count = 0;
  for (unsigned i = 0; i < walks->count; i++)
    count = vector_touch_strided(inst, access, count, &walks->lanes, walks->operand[i]);
  return count;
}
