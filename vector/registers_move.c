/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of register instructions that only move lanes: permutations, and transfers between
 * registers and UB. They work on marks of unwritten bytes as they do on values.
 */
#include "vector/registers.h"

/* ---- two registers ------------------------------------------------------------------------- */

void REG_VINTLV_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  (void)soc;
  unsigned bytes = reg_bytes(inst);
  uint8_t result[2 * REPEAT_BYTES];
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes) {
    memcpy(result + 2 * at, reg_at(inst, core, REGPAIR_SRC0) + at, bytes);
    memcpy(result + 2 * at + bytes, reg_at(inst, core, REGPAIR_SRC1) + at, bytes);
  }
  memcpy(reg_at(inst, core, REGPAIR_DST0), result, REPEAT_BYTES);
  memcpy(reg_at(inst, core, REGPAIR_DST1), result + REPEAT_BYTES, REPEAT_BYTES);
}

/* Even lanes of a text of two registers to the first, odd ones to the second. */
static void split(const uint8_t *both, unsigned bytes, uint8_t *even, uint8_t *odd) {
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes) {
    memcpy(even + at, both + 2 * at, bytes);
    memcpy(odd + at, both + 2 * at + bytes, bytes);
  }
}

void REG_VDINTLV_values(const struct vinci_soc *soc, const struct inst *inst,
                        struct value_core *core) {
  (void)soc;
  uint8_t both[2 * REPEAT_BYTES];
  memcpy(both, reg_at(inst, core, REGPAIR_SRC0), REPEAT_BYTES);
  memcpy(both + REPEAT_BYTES, reg_at(inst, core, REGPAIR_SRC1), REPEAT_BYTES);
  split(both, reg_bytes(inst), reg_at(inst, core, REGPAIR_DST0), reg_at(inst, core, REGPAIR_DST1));
}

/* ---- one register -------------------------------------------------------------------------- */

void REG_VPACK_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  unsigned bytes = reg_bytes(inst), half = bytes / 2;
  unsigned to = inst->arg[REGPART_PART] == 0 ? 0 : REPEAT_BYTES / 2;
  uint8_t result[REPEAT_BYTES] = {0};
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes)
    memcpy(result + to + at / 2, reg_at(inst, core, REGPART_SRC) + at, half);
  memcpy(reg_at(inst, core, REGPART_DST), result, sizeof result);
}

void REG_VUNPACK_values(const struct vinci_soc *soc, const struct inst *inst,
                        struct value_core *core) {
  (void)soc;
  enum dtype type = inst_dtype(inst);
  unsigned bytes = reg_bytes(inst);
  bool sign = type == DTYPE_INT8 || type == DTYPE_INT16;
  const uint8_t *from =
      reg_at(inst, core, REGPART_SRC) + (inst->arg[REGPART_PART] == 0 ? 0 : REPEAT_BYTES / 2);
  uint8_t result[REPEAT_BYTES];
  for (unsigned at = 0; at < REPEAT_BYTES / 2; at += bytes) {
    bool negative = sign && from[at + bytes - 1] >> 7;
    memcpy(result + 2 * at, from + at, bytes);
    memset(result + 2 * at + bytes, negative ? UINT8_MAX : 0, bytes);
  }
  memcpy(reg_at(inst, core, REGPART_DST), result, sizeof result);
}

/* An index beyond the lanes counts from lane 0 again. */
void REG_VSELR_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  unsigned bytes = reg_bytes(inst), lanes = REPEAT_BYTES / bytes;
  uint8_t result[REPEAT_BYTES];
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes) {
    uint64_t index = load_low(reg_at(inst, core, REGINDEX_INDEX) + at, bytes);
    memcpy(result + at, reg_at(inst, core, REGINDEX_SRC) + index % lanes * bytes, bytes);
  }
  memcpy(reg_at(inst, core, REGINDEX_DST), result, sizeof result);
}

void REG_VSQZ_values(const struct vinci_soc *soc, const struct inst *inst,
                     struct value_core *core) {
  (void)soc;
  unsigned bytes = reg_bytes(inst), to = 0;
  uint8_t result[REPEAT_BYTES] = {0};
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes)
    if (reg_bit(inst, at)) {
      memcpy(result + to, reg_at(inst, core, REG1_SRC) + at, bytes);
      to += bytes;
    }
  memcpy(reg_at(inst, core, REG1_DST), result, sizeof result);
}

void REG_VUSQZ_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  unsigned bytes = reg_bytes(inst);
  uint32_t before = 0;
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes) {
    store_low(reg_at(inst, core, REGD_DST) + at, before, bytes);
    before += reg_bit(inst, at);
  }
}

/* ---- loads --------------------------------------------------------------------------------- */

/* The number of UB, as an index of elements, that lane i gets. */
static unsigned source_of(enum load_distribution dist, unsigned lane, unsigned bytes) {
  switch (dist) {
  case LOAD_NORM:
  case LOAD_UNPK:
  case LOAD_UNPK4:
    break;
  case LOAD_BRC:
    return 0;
  case LOAD_US:
    return lane / 2;
  case LOAD_DS:
    return 2 * lane;
  case LOAD_BLK:
    return lane % (BLOCK_BYTES / bytes);
  case LOAD_E2B:
    return lane / (BLOCK_BYTES / bytes);
  }
  return lane;
}

void REG_VLDS_values(const struct vinci_soc *soc, const struct inst *inst,
                     struct value_core *core) {
  (void)soc;
  enum load_distribution dist = (enum load_distribution)inst->arg[REGLOAD_DIST];
  const uint8_t *from = core->bytes[SPACE_UB] + inst->arg[REGLOAD_SRC];
  unsigned bytes = reg_bytes(inst), wide = dist == LOAD_UNPK ? 2 : dist == LOAD_UNPK4 ? 4 : 1;
  uint8_t result[REPEAT_BYTES] = {0};
  for (unsigned lane = 0; lane < REPEAT_BYTES / bytes / wide; lane++)
    memcpy(result + lane * bytes * wide, from + source_of(dist, lane, bytes) * bytes, bytes);
  memcpy(reg_at(inst, core, REGLOAD_DST), result, sizeof result);
}

void REG_VLDS2_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  split(core->bytes[SPACE_UB] + inst->arg[REGLOAD2_SRC], reg_bytes(inst),
        reg_at(inst, core, REGLOAD2_DST0), reg_at(inst, core, REGLOAD2_DST1));
}

void REG_VLDUS_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  memcpy(reg_at(inst, core, REGLDUS_DST), core->bytes[SPACE_UB] + inst->arg[REGLDUS_SRC],
         REPEAT_BYTES);
}

void REG_VSLDB_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  const uint8_t *from = core->bytes[SPACE_UB] + inst->arg[REGSLDB_SRC];
  uint8_t *dst = reg_at(inst, core, REGSLDB_DST);
  for (unsigned block = 0; block < REG_BLOCKS; block++) {
    uint8_t *to = dst + block * BLOCK_BYTES;
    if (reg_bit(inst, block * BLOCK_BYTES))
      memcpy(to, from + (uint64_t)block * (uint64_t)inst->arg[REGSLDB_STRIDE] * BLOCK_BYTES,
             BLOCK_BYTES);
    else
      memset(to, 0, BLOCK_BYTES);
  }
}

/* ---- stores -------------------------------------------------------------------------------- */

void REG_VSTS_values(const struct vinci_soc *soc, const struct inst *inst,
                     struct value_core *core) {
  (void)soc;
  enum store_distribution dist = (enum store_distribution)inst->arg[REGSTORE_DIST];
  uint8_t *to = core->bytes[SPACE_UB] + inst->arg[REGSTORE_DST];
  const uint8_t *from = reg_at(inst, core, REGSTORE_SRC);
  unsigned bytes = reg_bytes(inst), width = bytes;
  width /= dist == STORE_PK ? 2 : dist == STORE_PK4 ? 4 : 1;
  if (dist == STORE_FIRST) {
    memcpy(to, from, bytes);
    return;
  }
  for (unsigned lane = 0; lane < REPEAT_BYTES / bytes; lane++)
    if (reg_bit(inst, lane * bytes))
      memcpy(to + lane * width, from + lane * bytes, width);
}

void REG_VSTS2_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  unsigned bytes = reg_bytes(inst);
  uint8_t *to = core->bytes[SPACE_UB] + inst->arg[REGSTORE2_DST];
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes) {
    memcpy(to + 2 * at, reg_at(inst, core, REGSTORE2_SRC0) + at, bytes);
    memcpy(to + 2 * at + bytes, reg_at(inst, core, REGSTORE2_SRC1) + at, bytes);
  }
}

void REG_VSSTB_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  unsigned bytes = reg_bytes(inst);
  uint64_t stride = (uint64_t)inst->arg[REGSSTB_STRIDE] * BLOCK_BYTES;
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes)
    if (reg_bit(inst, at))
      memcpy(core->bytes[SPACE_UB] + inst->arg[REGSSTB_DST] + at / BLOCK_BYTES * stride +
                 at % BLOCK_BYTES,
             reg_at(inst, core, REGSSTB_SRC) + at, bytes);
}

/* Bytes that an alignment register holds lie at its beginning. */
void REG_VSTUS_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  uint64_t held = (uint64_t)inst->arg[REGSTUS_HELD], count = (uint64_t)inst->arg[REGSTUS_COUNT];
  uint64_t start = (uint64_t)inst->arg[REGSTUS_DST] - held, end = start + held + count;
  uint64_t whole = end / BLOCK_BYTES * BLOCK_BYTES;
  uint64_t written = whole > start ? whole - start : 0;
  uint8_t bytes[REPEAT_BYTES + BLOCK_BYTES];
  memcpy(bytes, reg_at(inst, core, REGSTUS_ALIGN), held);
  memcpy(bytes + held, reg_at(inst, core, REGSTUS_SRC), count);
  memcpy(core->bytes[SPACE_UB] + start, bytes, written);
  memcpy(reg_at(inst, core, REGSTUS_ALIGN), bytes + written, held + count - written);
}

void REG_VSTAS_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  uint64_t held = (uint64_t)inst->arg[REGSTAS_HELD];
  memcpy(core->bytes[SPACE_UB] + inst->arg[REGSTAS_DST] - held, reg_at(inst, core, REGSTAS_ALIGN),
         held);
}
