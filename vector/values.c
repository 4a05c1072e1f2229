/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a repeat, and their way between UB and arrays without strides. */
#include "vector/values.h"

static uint64_t round_down(uint64_t value, uint64_t step) { return value - value % step; }

static unsigned lanes_per_block(unsigned bits) {
  return (unsigned)(BLOCK_BYTES * BITS_PER_BYTE) / bits;
}

bool repeat_lanes(const struct vector_walks *walks, const struct inst *inst, uint64_t repeat,
                  unsigned bits, enum vector_masking masking, struct repeat_lanes *lanes) {
  const struct vector_lanes *all = &walks->lanes;
  bool last = repeat + 1 == all->repeats;
  uint64_t end = last ? all->tail_end : all->end;
  unsigned step = lanes_per_block(bits);
  uint64_t first = round_down(all->first, step);
  bool masked = masking == VECTOR_MASKED && !inst->mask.counter;
  *lanes = (struct repeat_lanes){
      .mask = masked ? &inst->mask : NULL,
      .repeat = repeat,
      .end = end,
      .first = first,
      .slots = (size_t)(end > first ? round_down(end - first + step - 1, step) : 0),
  };
  return end > all->first;
}

uint64_t repeat_active(const struct repeat_lanes *lanes, uint64_t lane, unsigned count) {
  uint64_t wanted = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
  if (lane >= lanes->end)
    return 0;
  uint64_t left = lanes->end - lane;
  uint64_t before_end = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
  if (!lanes->mask)
    return wanted & before_end;
  uint64_t word = lane / 64 == 0 ? lanes->mask->low : lane / 64 == 1 ? lanes->mask->high : 0;
  return word >> lane % 64 & wanted & before_end;
}

/* Where the block of a lane starts in UB. */
static uint8_t *block_at(const struct inst *inst, const struct value_core *core,
                         const struct vector_operand *operand, uint64_t repeat, uint64_t block) {
  return core->bytes[SPACE_UB] + (uint64_t)inst->arg[operand->arg] +
         (repeat * operand->repeat_stride + block * operand->block_stride) * BLOCK_BYTES;
}

/* The blocks of an operand that hold its slots: the first one of them may start before slot 0. */
struct blocks {
  uint64_t first;
  uint64_t end;
  size_t skipped_bytes; /* of the first block */
};

static struct blocks blocks_of(const struct vector_operand *operand,
                               const struct repeat_lanes *lanes) {
  unsigned per_block = lanes_per_block(operand->bits);
  uint64_t first = lanes->first / per_block;
  uint64_t end = lanes->end > lanes->first ? (lanes->end - 1) / per_block + 1 : first;
  size_t skipped = (size_t)(lanes->first - first * per_block);
  return (struct blocks){first, end, skipped * operand->bits / BITS_PER_BYTE};
}

void slots_load(const struct inst *inst, const struct value_core *core,
                const struct vector_operand *operand, const struct repeat_lanes *lanes,
                void *slots) {
  struct blocks blocks = blocks_of(operand, lanes);
  const uint8_t *at = block_at(inst, core, operand, lanes->repeat, blocks.first);
  uint8_t *to = slots;
  size_t skip = blocks.skipped_bytes;
  if (operand->block_stride == 1) {
    memcpy(to, at + skip, (size_t)(blocks.end - blocks.first) * BLOCK_BYTES - skip);
    return;
  }
  if (blocks.end > blocks.first) {
    memcpy(to, at + skip, BLOCK_BYTES - skip);
    to += BLOCK_BYTES - skip;
  }
  for (uint64_t block = blocks.first + 1; block < blocks.end; block++, to += BLOCK_BYTES)
    memcpy(to, block_at(inst, core, operand, lanes->repeat, block), BLOCK_BYTES);
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

void slots_store(const struct inst *inst, const struct value_core *core,
                 const struct vector_operand *operand, const struct repeat_lanes *lanes,
                 const void *slots) {
  unsigned per_block = lanes_per_block(operand->bits);
  struct blocks blocks = blocks_of(operand, lanes);
  const uint8_t *from = slots;
  size_t skip = blocks.skipped_bytes;
  for (uint64_t block = blocks.first; block < blocks.end; block++) {
    uint8_t *to = block_at(inst, core, operand, lanes->repeat, block) + skip;
    unsigned count = per_block - (unsigned)(skip * BITS_PER_BYTE / operand->bits);
    uint64_t lane = block * per_block + (per_block - count);
    uint64_t active = repeat_active(lanes, lane, count);
    if (active == (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1))
      memcpy(to, from, BLOCK_BYTES - skip);
    else
      store_some(to, from, active, operand->bits);
    from += BLOCK_BYTES - skip;
    skip = 0;
  }
}

void floats_from(enum dtype type, const void *codes, float *values, size_t count) {
  const uint16_t *narrow = codes;
  if (type == DTYPE_FP16) {
    for (size_t i = 0; i < count; i++)
      values[i] = fp16_to_fp32(narrow[i]);
  } else if (type == DTYPE_BF16) {
    for (size_t i = 0; i < count; i++)
      values[i] = bf16_to_fp32(narrow[i]);
  } else {
    memcpy(values, codes, count * sizeof *values);
  }
}

void floats_to(enum dtype type, enum arch arch, const float *values, void *codes, size_t count) {
  uint16_t *narrow = codes;
  if (type == DTYPE_FP16) {
    for (size_t i = 0; i < count; i++)
      narrow[i] = fp16_from_fp32(values[i]);
    if (number_saturates(arch))
      for (size_t i = 0; i < count; i++)
        narrow[i] = fp16_saturate(narrow[i]);
  } else if (type == DTYPE_BF16) {
    for (size_t i = 0; i < count; i++)
      narrow[i] = bf16_from_fp32(values[i]);
  } else {
    float *wide = codes;
    for (size_t i = 0; i < count; i++)
      wide[i] = fp32_result(values[i]);
  }
}

void slots_load_float(const struct inst *inst, const struct value_core *core,
                      const struct vector_operand *operand, const struct repeat_lanes *lanes,
                      enum dtype type, float *slots) {
  if (type == DTYPE_FP32) {
    slots_load(inst, core, operand, lanes, slots);
    return;
  }
  union slots codes;
  slots_load(inst, core, operand, lanes, codes.bytes);
  floats_from(type, codes.bytes, slots, lanes->slots);
}

void slots_store_float(const struct inst *inst, const struct value_core *core,
                       const struct vector_operand *operand, const struct repeat_lanes *lanes,
                       enum dtype type, const float *slots) {
  union slots codes;
  floats_to(type, (enum arch)inst->arch, slots, codes.bytes, lanes->slots);
  slots_store(inst, core, operand, lanes, codes.bytes);
}

float scalar_float(enum dtype type, int64_t bits) {
  if (type == DTYPE_FP16)
    return fp16_to_fp32((uint16_t)bits);
  if (type == DTYPE_BF16)
    return bf16_to_fp32((uint16_t)bits);
  return fp32_from_bits((uint32_t)bits);
}
