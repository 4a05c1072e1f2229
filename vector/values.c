/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a repeat, and their way between UB and arrays without strides. */
#include "vector/values.h"

static uint64_t round_down(uint64_t value, uint64_t step) { return value - value % step; }

static unsigned lanes_per_block(unsigned bits) {
  return (unsigned)(BLOCK_BYTES * BITS_PER_BYTE) / bits;
}

/* Whether a mask has the first `lanes` lanes. */
static bool has_lanes(const struct vector_mask *mask, uint64_t lanes) {
  uint64_t half = MASK_LANES / 2;
  uint64_t low = lanes >= half ? UINT64_MAX : (UINT64_C(1) << lanes) - 1;
  uint64_t high = lanes == MASK_LANES ? UINT64_MAX
                  : lanes > half      ? (UINT64_C(1) << (lanes - half)) - 1
                                      : 0;
  return lanes <= MASK_LANES && (mask->low & low) == low && (mask->high & high) == high;
}

void values_start(struct values *values, const struct inst *inst, const struct value_core *core,
                  struct vector_walks walks, enum vector_masking masking) {
  bool masked = masking == VECTOR_MASKED && !inst->mask.counter &&
                !has_lanes(&inst->mask, walks.lanes.per_repeat);
  unsigned widest = 0;
  for (unsigned i = 0; i < walks.count; i++)
    widest = walks.operand[i].bits > widest ? walks.operand[i].bits : widest;
  *values = (struct values){
      .inst = inst,
      .ub = core->bytes[SPACE_UB],
      .walks = walks,
      .mask = masked ? &inst->mask : NULL,
      .widest = widest,
  };
}

bool values_apart(const struct values *values, struct vector_operand written,
                  struct vector_operand read) {
  uint64_t to = (uint64_t)values->inst->arg[written.arg];
  uint64_t from = (uint64_t)values->inst->arg[read.arg];
  uint64_t lanes = values->walks.lanes.repeats * values->walks.lanes.per_repeat;
  if (to == from && written.bits == read.bits)
    return true;
  return to + vector_size(lanes, written.bits) <= from ||
         from + vector_size(lanes, read.bits) <= to;
}

static bool can_join(const struct values *values, struct vector_operand written) {
  const struct vector_lanes *lanes = &values->walks.lanes;
  if (values->mask || lanes->repeats < 2 || lanes->per_repeat > SLOTS_JOINED / 2)
    return false;
  for (unsigned i = 0; i < values->walks.count; i++) {
    const struct vector_operand *operand = &values->walks.operand[i];
    uint64_t blocks = lanes->per_repeat / lanes_per_block(operand->bits);
    if (operand->block_stride != 1 || operand->repeat_stride != blocks)
      return false;
    if (!values_apart(values, written, *operand))
      return false;
  }
  return true;
}

void values_join(struct values *values, struct vector_operand written) {
  if (!can_join(values, written))
    return;
  struct vector_lanes *lanes = &values->walks.lanes;
  uint64_t all = (lanes->repeats - 1) * lanes->per_repeat + lanes->tail_end;
  uint64_t factor = SLOTS_JOINED / lanes->per_repeat;
  for (unsigned i = 0; i < values->walks.count; i++)
    values->walks.operand[i].repeat_stride *= factor;
  lanes->per_repeat *= factor;
  lanes->end = lanes->per_repeat;
  lanes->repeats = ceil_div(all, lanes->per_repeat);
  lanes->tail_end = all - (lanes->repeats - 1) * lanes->per_repeat;
}

bool values_repeat(struct values *values, uint64_t repeat) {
  const struct vector_lanes *lanes = &values->walks.lanes;
  uint64_t step = lanes_per_block(values->widest);
  values->repeat = repeat;
  values->end = repeat + 1 == lanes->repeats ? lanes->tail_end : lanes->end;
  values->first = round_down(lanes->first, step);
  if (values->end <= lanes->first)
    return false;
  values->slots = (size_t)round_down(values->end - values->first + step - 1, step);
  return true;
}

uint64_t values_active(const struct values *values, uint64_t lane, unsigned count) {
  uint64_t wanted = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
  if (lane >= values->end)
    return 0;
  uint64_t left = values->end - lane;
  wanted &= left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
  if (!values->mask)
    return wanted;
  uint64_t word = lane / 64 == 0 ? values->mask->low : lane / 64 == 1 ? values->mask->high : 0;
  return word >> lane % 64 & wanted;
}

/* Where slot 0 of a walk lies, and the blocks that hold its slots. */
struct place {
  uint8_t *start;  /* of the first block */
  uint64_t stride; /* bytes from block to block */
  size_t blocks;
  size_t skipped_bytes; /* before slot 0 in the first block */
  uint64_t first_lane;  /* of the first block */
  unsigned per_block;
};

static struct place place_of(const struct values *values, unsigned walk) {
  const struct vector_operand *operand = &values->walks.operand[walk];
  unsigned per_block = lanes_per_block(operand->bits);
  uint64_t first = values->first / per_block;
  uint64_t skipped = values->first - first * per_block;
  uint64_t at = values->repeat * operand->repeat_stride + first * operand->block_stride;
  return (struct place){
      .start = values->ub + (uint64_t)values->inst->arg[operand->arg] + at * BLOCK_BYTES,
      .stride = operand->block_stride * BLOCK_BYTES,
      .blocks = (size_t)((values->end - 1) / per_block + 1 - first),
      .skipped_bytes = (size_t)skipped * operand->bits / BITS_PER_BYTE,
      .first_lane = first * per_block,
      .per_block = per_block,
  };
}

static void copy_in(const struct place *at, void *slots) {
  struct place place = *at;
  uint8_t *to = slots;
  size_t skip = place.skipped_bytes;
  if (place.stride == BLOCK_BYTES) {
    memcpy(to, place.start + skip, place.blocks * BLOCK_BYTES - skip);
    return;
  }
  memcpy(to, place.start + skip, BLOCK_BYTES - skip);
  to += BLOCK_BYTES - skip;
  for (size_t block = 1; block < place.blocks; block++, to += BLOCK_BYTES)
    memcpy(to, place.start + block * place.stride, BLOCK_BYTES);
}

void slots_load(const struct values *values, unsigned walk, void *slots) {
  struct place place = place_of(values, walk);
  copy_in(&place, slots);
  number_order(slots, place.blocks * BLOCK_BYTES - place.skipped_bytes,
               values->walks.operand[walk].bits);
}

/* Copies chosen elements of a block; int4 elements are two to a byte. */
static void store_some(uint8_t *block, const uint8_t *slots, uint64_t active, unsigned bits) {
  size_t bytes = bits / BITS_PER_BYTE;
  for (; active; active &= active - 1) {
    size_t lane = (size_t)__builtin_ctzll(active);
    if (bytes == 0)
      int4_store(block, lane, int4_load(slots, lane));
    else
      memcpy(block + lane * bytes, slots + lane * bytes, bytes);
  }
}

void slots_store(const struct values *values, unsigned walk, const void *slots) {
  struct place place = place_of(values, walk);
  unsigned bits = values->walks.operand[walk].bits;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  union slots ordered;
  size_t bytes = place.blocks * BLOCK_BYTES - place.skipped_bytes;
  memcpy(ordered.bytes, slots, bytes);
  number_order(ordered.bytes, bytes, bits);
  slots = ordered.bytes;
#endif
  const uint8_t *from = slots;
  size_t skip = place.skipped_bytes;
  bool whole = !values->mask && values->end % place.per_block == 0 && skip == 0;
  if (whole && place.stride == BLOCK_BYTES) {
    memcpy(place.start, from, place.blocks * BLOCK_BYTES);
    return;
  }
  for (size_t block = 0; block < place.blocks; block++) {
    uint8_t *to = place.start + block * place.stride + skip;
    unsigned skipped = (unsigned)(skip * BITS_PER_BYTE / bits);
    unsigned count = place.per_block - skipped;
    uint64_t lane = place.first_lane + block * place.per_block + skipped;
    uint64_t all = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    uint64_t active = values_active(values, lane, count);
    if (active == all)
      memcpy(to, from, BLOCK_BYTES - skip);
    else
      store_some(to, from, active, bits);
    from += BLOCK_BYTES - skip;
    skip = 0;
  }
}

void slots_load_float(const struct values *values, unsigned walk, enum dtype type, float *slots) {
  if (type == DTYPE_FP32) {
    slots_load(values, walk, slots);
    return;
  }
  union slots codes;
  slots_load(values, walk, codes.bytes);
  floats_from(type, &codes, slots, values->slots);
}

void slots_store_float(const struct values *values, unsigned walk, enum dtype type,
                       const float *slots) {
  union slots codes;
  floats_to(type, inst_saturates(values->inst), slots, &codes, values->slots);
  slots_store(values, walk, codes.bytes);
}
