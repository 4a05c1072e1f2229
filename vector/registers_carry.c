/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register instructions of vector functions on integers wider than a lane, and histograms (Ascend C
 * documentation, AddC, SubC, Mull and Histograms).
 */
#include "vector/registers.h"

#include "vector/vector.h"

enum { OPERANDS_REGCARRY(OPERAND_NUMBER, REGCARRY) };
enum { OPERANDS_REGCARRIED(OPERAND_NUMBER, REGCARRIED) };
enum { OPERANDS_REGWIDE(OPERAND_NUMBER, REGWIDE) };
enum { OPERANDS_REGCOUNTS(OPERAND_NUMBER, REGCOUNTS) };
enum { WORD_BITS = 32 };

void reg_carry_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  reg_compute_cost(soc, inst, cost);
}
unsigned reg_carry_access(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_access *access) {
  return reg_compute_access(soc, inst, access);
}
void reg_wide_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  reg_compute_cost(soc, inst, cost);
}
unsigned reg_wide_access(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_access *access) {
  return reg_move_access(soc, inst, access);
}

/* ---- carries ------------------------------------------------------------------------------- */

/* src0 + src1, or + ~src1, + carries; those that come out. Lanes that are not active are 0. */
static void add(const struct inst *inst, struct value_core *core, bool inverts,
                const uint64_t *carries) {
  const uint8_t *a = reg_at(inst, core, REGCARRY_SRC0), *b = reg_at(inst, core, REGCARRY_SRC1);
  uint8_t result[REPEAT_BYTES] = {0};
  uint64_t out[MASK_WORDS] = {0};
  for (unsigned at = 0; at < REPEAT_BYTES; at += sizeof(uint32_t)) {
    if (!reg_bit(inst, at))
      continue;
    uint32_t second = load_u32(b + at);
    uint64_t sum = (uint64_t)load_u32(a + at) + (inverts ? ~second : second) +
                   (carries[at / 64] >> (at % 64) & 1);
    store_low(result + at, sum, sizeof(uint32_t));
    out[at / 64] |= (sum >> WORD_BITS) << (at % 64);
  }
  memcpy(reg_at(inst, core, REGCARRY_DST), result, sizeof result);
  if (core->registers)
    memcpy(core->registers->mask, out, sizeof out);
}

void REG_VADDC_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  static const uint64_t none[MASK_WORDS] = {0};
  (void)soc;
  add(inst, core, false, none);
}

void REG_VSUBC_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  static const uint64_t all[MASK_WORDS] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
  (void)soc;
  add(inst, core, true, all);
}

static void add_carried(const struct inst *inst, struct value_core *core, bool inverts) {
  uint64_t carries[MASK_WORDS];
  for (unsigned i = 0; i < MASK_WORDS; i++)
    carries[i] = (uint64_t)inst->arg[REGCARRIED_C0 + i];
  add(inst, core, inverts, carries);
}

void REG_VADDCS_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  (void)soc;
  add_carried(inst, core, false);
}

void REG_VSUBCS_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  (void)soc;
  add_carried(inst, core, true);
}

/* ---- products ------------------------------------------------------------------------------ */

void REG_VMULL_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  const uint8_t *a = reg_at(inst, core, REGWIDE_SRC0), *b = reg_at(inst, core, REGWIDE_SRC1);
  bool sign = inst_dtype(inst) == DTYPE_INT32;
  uint8_t low[REPEAT_BYTES] = {0}, high[REPEAT_BYTES] = {0};
  for (unsigned at = 0; at < REPEAT_BYTES; at += sizeof(uint32_t)) {
    if (!reg_bit(inst, at))
      continue;
    uint32_t x = load_u32(a + at), y = load_u32(b + at);
    uint64_t product = sign ? (uint64_t)((int64_t)(int32_t)x * (int32_t)y) : (uint64_t)x * y;
    store_low(low + at, product, sizeof(uint32_t));
    store_low(high + at, product >> WORD_BITS, sizeof(uint32_t));
  }
  memcpy(reg_at(inst, core, REGWIDE_DST0), low, sizeof low);
  memcpy(reg_at(inst, core, REGWIDE_DST1), high, sizeof high);
}

/* ---- histograms ---------------------------------------------------------------------------- */

/* Adds how many active bytes are each number, or at most that. */
static void count_bytes(const struct inst *inst, struct value_core *core, bool adds_up) {
  enum { NUMBERS = UINT8_MAX + 1, HALF = NUMBERS / 2 };
  const uint8_t *src = reg_at(inst, core, REGCOUNTS_SRC);
  uint8_t *dst = reg_at(inst, core, REGCOUNTS_DST);
  uint16_t count[NUMBERS] = {0};
  for (unsigned i = 0; i < REPEAT_BYTES; i++)
    count[src[i]] = (uint16_t)(count[src[i]] + reg_bit(inst, i));
  for (unsigned n = 1; adds_up && n < NUMBERS; n++)
    count[n] = (uint16_t)(count[n] + count[n - 1]);
  for (unsigned n = 0; n < HALF; n++) {
    uint8_t *at = dst + n * sizeof(uint16_t);
    unsigned more = count[n + (inst->arg[REGCOUNTS_BIN] != 0 ? HALF : 0)];
    store_low(at, load_low(at, sizeof(uint16_t)) + more, sizeof(uint16_t));
  }
}

void REG_DHISTV2_values(const struct vinci_soc *soc, const struct inst *inst,
                        struct value_core *core) {
  (void)soc;
  count_bytes(inst, core, false);
}

void REG_CHISTV2_values(const struct vinci_soc *soc, const struct inst *inst,
                        struct value_core *core) {
  (void)soc;
  count_bytes(inst, core, true);
}

/* ---- marks --------------------------------------------------------------------------------- */

/* A half is unwritten where a source is. */
void reg_wide_marks(const struct vinci_soc *soc, const struct inst *inst, struct value_core *core) {
  (void)soc;
  const uint8_t *a = reg_at(inst, core, REGWIDE_SRC0), *b = reg_at(inst, core, REGWIDE_SRC1);
  uint8_t mark[REPEAT_BYTES] = {0};
  for (unsigned at = 0; at < REPEAT_BYTES; at += sizeof(uint32_t))
    for (unsigned i = 0; reg_bit(inst, at) && i < sizeof(uint32_t); i++)
      if (a[at + i] | b[at + i])
        memset(mark + at, UINT8_MAX, sizeof(uint32_t));
  memcpy(reg_at(inst, core, REGWIDE_DST0), mark, sizeof mark);
  memcpy(reg_at(inst, core, REGWIDE_DST1), mark, sizeof mark);
}

/* A count is unwritten where what it adds to is, or any active number. */
void reg_counts_marks(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  const uint8_t *src = reg_at(inst, core, REGCOUNTS_SRC);
  uint8_t *dst = reg_at(inst, core, REGCOUNTS_DST), mark = 0;
  for (unsigned i = 0; i < REPEAT_BYTES; i++)
    mark |= reg_bit(inst, i) ? src[i] : 0;
  for (unsigned i = 0; i < REPEAT_BYTES; i++)
    dst[i] = dst[i] | mark ? UINT8_MAX : 0;
}
