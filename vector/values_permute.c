/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of vector instructions that move elements: bits are never changed. All that a repeat
 * reads is read before it writes.
 */
#include "vector/values.h"

enum {
  SIDE = 16,          /* rows of a transposition */
  BLOCKS = 8,         /* that vbrcb and vgatherb write per repeat */
  OFFSET_BYTES = 4,   /* gather offsets */
  SQUARE_BYTES = 512, /* 16 blocks */
};

static uint8_t *ub_at(const struct inst *inst, const struct value_core *core, unsigned arg) {
  return core->bytes[SPACE_UB] + (uint64_t)inst->arg[arg];
}

void vec_transpose_values(const struct vinci_soc *soc, const struct inst *inst,
                          struct value_core *core) {
  (void)soc;
  uint16_t rows[SIDE][SIDE], columns[SIDE][SIDE];
  memcpy(rows, ub_at(inst, core, TRANSPOSE_SRC), sizeof rows);
  for (unsigned row = 0; row < SIDE; row++)
    for (unsigned column = 0; column < SIDE; column++)
      columns[column][row] = rows[row][column];
  memcpy(ub_at(inst, core, TRANSPOSE_DST), columns, sizeof columns);
}

/*
 * Of 16 source blocks, each a row of `width` elements, the columns. A column of 16 elements is
 * half a block, one or two of the destination.
 */
static void nchwconv_columns(uint8_t rows[SIDE][BLOCK_BYTES], size_t element, size_t width,
                             uint8_t columns[SQUARE_BYTES]) {
  for (size_t column = 0; column < width; column++)
    for (size_t row = 0; row < SIDE; row++)
      memcpy(columns + (column * SIDE + row) * element, rows[row] + column * element, element);
}

static void nchwconv_repeat(const struct inst *inst, const uint8_t *src, uint8_t *dst,
                            size_t element) {
  uint8_t rows[SIDE][BLOCK_BYTES], columns[SQUARE_BYTES];
  bool halves = element == 1;
  size_t src_half = halves && inst->arg[NCHWCONV_SRC_HIGH] ? BLOCK_BYTES / 2 : 0;
  size_t dst_half = halves && inst->arg[NCHWCONV_DST_HIGH] ? BLOCK_BYTES / 2 : 0;
  size_t bytes = halves ? BLOCK_BYTES / 2 : BLOCK_BYTES;
  for (size_t row = 0; row < SIDE; row++)
    memcpy(rows[row], src + row * (size_t)inst->arg[NCHWCONV_SRC_STEP] * BLOCK_BYTES + src_half,
           bytes);
  nchwconv_columns(rows, element, bytes / element, columns);
  for (size_t block = 0; block < SIDE; block++)
    memcpy(dst + block * (size_t)inst->arg[NCHWCONV_DST_STEP] * BLOCK_BYTES + dst_half,
           columns + block * bytes, bytes);
}

void vec_nchwconv_values(const struct vinci_soc *soc, const struct inst *inst,
                         struct value_core *core) {
  (void)soc;
  size_t element = vec_nchwconv_bits(inst) / BITS_PER_BYTE;
  uint64_t repeats = (uint64_t)inst->arg[NCHWCONV_REPEAT];
  for (uint64_t repeat = 0; repeat < repeats; repeat++)
    nchwconv_repeat(
        inst,
        ub_at(inst, core, NCHWCONV_SRC) + vec_nchwconv_offset(inst, NCHWCONV_SRC_REPEAT, repeat),
        ub_at(inst, core, NCHWCONV_DST) + vec_nchwconv_offset(inst, NCHWCONV_DST_REPEAT, repeat),
        element);
}

/* Writes 8 blocks of a repeat. */
static void store_blocks(uint8_t *dst, uint64_t block_stride, const uint8_t *blocks) {
  for (uint64_t block = 0; block < BLOCKS; block++)
    memcpy(dst + block * block_stride * BLOCK_BYTES, blocks + block * BLOCK_BYTES, BLOCK_BYTES);
}

void vec_broadcast_values(const struct vinci_soc *soc, const struct inst *inst,
                          struct value_core *core) {
  (void)soc;
  size_t element = dtype_bits(inst_dtype(inst)) / BITS_PER_BYTE;
  const uint8_t *src = ub_at(inst, core, BROADCAST_SRC);
  uint8_t *dst = ub_at(inst, core, BROADCAST_DST);
  uint64_t repeats = (uint64_t)inst->arg[BROADCAST_REPEAT];
  for (uint64_t repeat = 0; repeat < repeats; repeat++) {
    uint8_t blocks[BLOCKS * BLOCK_BYTES];
    for (size_t at = 0; at < sizeof blocks; at += element)
      memcpy(blocks + at, src + at / BLOCK_BYTES * element, element);
    store_blocks(dst, (uint64_t)inst->arg[BROADCAST_DST_BLOCK], blocks);
    src += BLOCKS * element;
    dst += (uint64_t)inst->arg[BROADCAST_DST_REPEAT] * BLOCK_BYTES;
  }
}

/* Reads what an offset that came from UB points at; beyond the end of UB there are zeros. */
static void gather_one(const struct vinci_soc *soc, const struct inst *inst,
                       const struct value_core *core, unsigned src, uint32_t offset, uint8_t *to,
                       size_t bytes) {
  uint64_t from = (uint64_t)inst->arg[src] + offset;
  if (from + bytes <= (uint64_t)soc->ub_bytes)
    memcpy(to, core->bytes[SPACE_UB] + from, bytes);
  else
    memset(to, 0, bytes);
}

void vec_gather_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  struct values values;
  values_start(&values, inst, core, vec_gather_walks(soc, inst), VECTOR_MASKED);
  const uint8_t *offsets = ub_at(inst, core, GATHER_OFFSET);
  size_t element = values.widest / BITS_PER_BYTE;
  union slots slots;
  for (uint64_t repeat = 0; repeat < values.walks.lanes.repeats; repeat++) {
    if (!values_repeat(&values, repeat))
      continue;
    for (size_t i = 0; i < values.slots; i++) {
      uint64_t lane = values.first + i;
      if (!values_active(&values, lane, 1))
        continue;
      uint64_t index = repeat * values.walks.lanes.per_repeat + lane;
      gather_one(soc, inst, core, GATHER_SRC, load_u32(offsets + index * OFFSET_BYTES),
                 slots.bytes + i * element, element);
      number_order(slots.bytes + i * element, element, values.widest);
    }
    slots_store(&values, 0, slots.bytes);
  }
}

void vec_gather_block_values(const struct vinci_soc *soc, const struct inst *inst,
                             struct value_core *core) {
  const uint8_t *offsets = ub_at(inst, core, GATHERB_OFFSET);
  uint8_t *dst = ub_at(inst, core, GATHERB_DST);
  uint64_t repeats = (uint64_t)inst->arg[GATHERB_REPEAT];
  for (uint64_t repeat = 0; repeat < repeats; repeat++) {
    uint8_t blocks[BLOCKS * BLOCK_BYTES];
    for (size_t block = 0; block < BLOCKS; block++)
      gather_one(soc, inst, core, GATHERB_SRC, load_u32(offsets + block * OFFSET_BYTES),
                 blocks + block * BLOCK_BYTES, BLOCK_BYTES);
    store_blocks(dst, vec_gather_block_stride(inst), blocks);
    offsets += BLOCKS * OFFSET_BYTES;
    dst += (uint64_t)inst->arg[GATHERB_DST_REPEAT] * BLOCK_BYTES;
  }
}
