/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks of vector functions in UB (Ascend C documentation, LoadAlign, StoreAlign and StoreUnAlign
 * of MaskReg): a bit for each byte of a register, or for each lane of 2 or 4 bytes. Cost: that of
 * other loads and stores (assumed).
 */
#include <string.h>

#include "vector/registers.h"
#include "vector/vector.h"

enum { MASK_BYTES = REPEAT_BYTES / BITS_PER_BYTE };
enum mask_load { MASK_LOAD_NORM, MASK_LOAD_US, MASK_LOAD_DS };
enum mask_store { MASK_STORE_NORM, MASK_STORE_PK };

void reg_load_mask_cost(const struct vinci_soc *soc, const struct inst *inst,
                        struct inst_cost *cost) {
  reg_load_cost(soc, inst, cost);
}
void reg_store_mask_cost(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_cost *cost) {
  reg_store_cost(soc, inst, cost);
}
void reg_store_mask_unaligned_cost(const struct vinci_soc *soc, const struct inst *inst,
                                   struct inst_cost *cost) {
  reg_store_unaligned_cost(soc, inst, cost);
}

/* ---- what they touch ---- */

static unsigned touch_aligned(const struct inst *inst, struct inst_access *access, unsigned arg,
                              unsigned bytes) {
  unsigned count = inst_touch(inst, access, 0, arg, 0, bytes);
  access[0].alignment = (uint16_t)(bytes < MASK_BYTES ? bytes : MASK_BYTES);
  return count;
}

unsigned reg_load_mask_access(const struct vinci_soc *soc, const struct inst *inst,
                              struct inst_access *access) {
  static const uint8_t bytes[] = {MASK_BYTES, MASK_BYTES / 2, 2 * MASK_BYTES};
  (void)soc;
  return touch_aligned(inst, access, REGPLDS_SRC, bytes[inst->arg[REGPLDS_DIST]]);
}

unsigned reg_store_mask_access(const struct vinci_soc *soc, const struct inst *inst,
                               struct inst_access *access) {
  (void)soc;
  bool packs = inst->arg[REGPSTS_DIST] == MASK_STORE_PK;
  return touch_aligned(inst, access, REGPSTS_DST, packs ? MASK_BYTES / 2 : MASK_BYTES);
}

/* Of an unaligned store: where what was held begins, and how many bytes fill blocks of 32. */
static uint64_t written_bytes(const struct inst *inst, int64_t *start) {
  int64_t end = inst->arg[REGPSTU_DST] + inst->arg[REGPSTU_COUNT];
  int64_t whole = end / BLOCK_BYTES * BLOCK_BYTES;
  *start = inst->arg[REGPSTU_DST] - inst->arg[REGPSTU_HELD];
  return whole > *start ? (uint64_t)(whole - *start) : 0;
}

unsigned reg_store_mask_unaligned_access(const struct vinci_soc *soc, const struct inst *inst,
                                         struct inst_access *access) {
  (void)soc;
  int64_t start;
  uint64_t written = written_bytes(inst, &start);
  unsigned count = inst_touch(inst, access, 0, REGPSTU_ALIGN, 0, REPEAT_BYTES);
  if (inst->arg[REGPSTU_HELD] == 0)
    access[0] = access[--count]; /* nothing of the alignment register is read */
  if (written == 0)
    return count;
  count = inst_touch(inst, access, count, REGPSTU_DST, 0, written);
  access[count - 1].alignment = 1;
  access[count - 1].address = start;
  return count;
}

/* ---- values ---- */

static bool bit_of(const uint8_t *bytes, unsigned i) {
  return bytes[i / BITS_PER_BYTE] >> i % BITS_PER_BYTE & 1;
}

static void set_bit(uint8_t *bytes, unsigned i, bool bit) {
  bytes[i / BITS_PER_BYTE] |= (uint8_t)(bit << i % BITS_PER_BYTE);
}

/* The bits go to where scalar code fetches them, as those of a comparison. */
void REG_PLDS_values(const struct vinci_soc *soc, const struct inst *inst,
                     struct value_core *core) {
  (void)soc;
  const uint8_t *from = core->bytes[SPACE_UB] + inst->arg[REGPLDS_SRC];
  int64_t dist = inst->arg[REGPLDS_DIST];
  uint64_t mask[MASK_BYTES / sizeof(uint64_t)] = {0};
  for (unsigned i = 0; i < REPEAT_BYTES; i++) {
    unsigned at = dist == MASK_LOAD_US ? i / 2 : dist == MASK_LOAD_DS ? 2 * i : i;
    mask[i / 64] |= (uint64_t)bit_of(from, at) << i % 64;
  }
  if (core->registers)
    memcpy(core->registers->mask, mask, sizeof mask);
}

void REG_PSTS_values(const struct vinci_soc *soc, const struct inst *inst,
                     struct value_core *core) {
  (void)soc;
  unsigned each = inst->arg[REGPSTS_DIST] == MASK_STORE_PK ? 2 : 1;
  uint8_t bytes[MASK_BYTES] = {0};
  for (unsigned i = 0; i < REPEAT_BYTES / each; i++)
    set_bit(bytes, i, reg_bit(inst, each * i));
  memcpy(core->bytes[SPACE_UB] + inst->arg[REGPSTS_DST], bytes, MASK_BYTES / each);
}

void REG_PSTU_values(const struct vinci_soc *soc, const struct inst *inst,
                     struct value_core *core) {
  (void)soc;
  int64_t start;
  uint64_t held = (uint64_t)inst->arg[REGPSTU_HELD], count = (uint64_t)inst->arg[REGPSTU_COUNT];
  uint64_t written = written_bytes(inst, &start);
  unsigned lane = REPEAT_BYTES / ((unsigned)count * BITS_PER_BYTE);
  uint8_t bytes[BLOCK_BYTES + MASK_BYTES] = {0};
  memcpy(bytes, reg_at(inst, core, REGPSTU_ALIGN), held);
  for (unsigned i = 0; i < count * BITS_PER_BYTE; i++)
    set_bit(bytes + held, i, reg_bit(inst, lane * i));
  if (written > 0)
    memcpy(core->bytes[SPACE_UB] + start, bytes, written);
  memcpy(reg_at(inst, core, REGPSTU_ALIGN), bytes + written, held + count - written);
}
