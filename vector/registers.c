/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register instructions of vector functions: cost, and what they touch. The cost of one alone is
 * that of its class; what a function of them takes is core/sim/function.c.
 */
#include "vector/registers.h"

#include "vector/vector.h"

/* ---- cost ---------------------------------------------------------------------------------- */

static void register_cost(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_cost *cost) {
  enum dtype type = inst_dtype(inst);
  const struct register_class_cost *class = &soc->register_class[inst_register_class(inst)];
  *cost = (struct inst_cost){.path = PATH_NONE, .issue_cycles = 1};
  cost->latency_cycles = max_u64((uint64_t) class->latency_cycles, 1);
  if (type < DTYPE_COUNT)
    cost->operations = REPEAT_BYTES * BITS_PER_BYTE / dtype_bits(type);
}

#define SAME_COST(stem)                                                                            \
  void stem##_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) { \
    register_cost(soc, inst, cost);                                                                \
  }
SAME_COST(reg_call)
SAME_COST(reg_compute)
SAME_COST(reg_move)
SAME_COST(reg_load)
SAME_COST(reg_load2)
SAME_COST(reg_load_blocks)
SAME_COST(reg_load_unaligned)
SAME_COST(reg_align)
SAME_COST(reg_store)
SAME_COST(reg_store2)
SAME_COST(reg_store_blocks)
SAME_COST(reg_store_unaligned)
SAME_COST(reg_flush)
SAME_COST(reg_mask)
SAME_COST(reg_bar)

/* ---- accesses ------------------------------------------------------------------------------ */

/* All operands that are registers, each whole. */
static unsigned touch_registers(const struct inst *inst, struct inst_access *access) {
  const struct isa_row *row = isa_row((enum isa_op)inst->op);
  unsigned count = 0;
  for (unsigned i = 0; i < row->arg_count; i++)
    if (row->arg[i].kind == ARG_ADDRESS && row->arg[i].space == SPACE_VR)
      count = inst_touch(inst, access, count, i, 0, REPEAT_BYTES);
  return count;
}

unsigned reg_compute_access(const struct vinci_soc *soc, const struct inst *inst,
                            struct inst_access *access) {
  (void)soc;
  unsigned count = touch_registers(inst, access);
  if (inst->arg[MASKED_MERGE] != 0 && count > 0 && access[0].write && count < INST_ACCESS_MAX) {
    access[count] = access[0];
    access[count++].write = false;
  }
  return count;
}

unsigned reg_move_access(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_access *access) {
  (void)soc;
  return touch_registers(inst, access);
}

static unsigned touches_nothing(const struct vinci_soc *soc, const struct inst *inst,
                                struct inst_access *access) {
  (void)soc, (void)inst, (void)access;
  return 0;
}
unsigned reg_call_access(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_access *access) {
  return touches_nothing(soc, inst, access);
}
unsigned reg_mask_access(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_access *access) {
  return touches_nothing(soc, inst, access);
}
unsigned reg_bar_access(const struct vinci_soc *soc, const struct inst *inst,
                        struct inst_access *access) {
  return touches_nothing(soc, inst, access);
}

/* Ascend C documentation, LoadAlign and StoreAlign: what addresses are multiples of. */
static unsigned touch_ub(const struct inst *inst, struct inst_access *access, unsigned count,
                         unsigned arg, uint64_t bytes, unsigned alignment) {
  count = inst_touch(inst, access, count, arg, 0, bytes);
  access[count - 1].alignment = (uint16_t)alignment;
  return count;
}

uint64_t reg_load_bytes(const struct inst *inst) {
  switch ((enum load_distribution)inst->arg[REGLOAD_DIST]) {
  case LOAD_NORM:
    break;
  case LOAD_BRC:
    return reg_bytes(inst);
  case LOAD_US:
  case LOAD_UNPK:
    return REPEAT_BYTES / 2;
  case LOAD_UNPK4:
    return REPEAT_BYTES / 4;
  case LOAD_DS:
    return UINT64_C(2) * REPEAT_BYTES;
  case LOAD_BLK:
    return BLOCK_BYTES;
  case LOAD_E2B:
    return (uint64_t)REG_BLOCKS * reg_bytes(inst);
  }
  return REPEAT_BYTES;
}

unsigned reg_load_access(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_access *access) {
  (void)soc;
  uint64_t bytes = reg_load_bytes(inst);
  unsigned alignment = bytes < BLOCK_BYTES ? (unsigned)bytes : BLOCK_BYTES;
  unsigned count = touch_ub(inst, access, 0, REGLOAD_SRC, bytes, alignment);
  return inst_touch(inst, access, count, REGLOAD_DST, 0, REPEAT_BYTES);
}

unsigned reg_load2_access(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_access *access) {
  (void)soc;
  unsigned count = touch_registers(inst, access);
  return touch_ub(inst, access, count, REGLOAD2_SRC, UINT64_C(2) * REPEAT_BYTES, BLOCK_BYTES);
}

unsigned reg_load_unaligned_access(const struct vinci_soc *soc, const struct inst *inst,
                                   struct inst_access *access) {
  (void)soc;
  unsigned count = touch_ub(inst, access, 0, REGLDUS_SRC, REPEAT_BYTES, 1);
  return inst_touch(inst, access, count, REGLDUS_DST, 0, REPEAT_BYTES);
}

/* What comes from there is read again by the loads behind, so nothing is missed. */
unsigned reg_align_access(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_access *access) {
  return touches_nothing(soc, inst, access);
}

/* Lanes that a store writes, as bytes of UB: a run from the start on where the mask is such, else
 * lanes of a repeat with as many bits as struct inst_runs has room for; of bytes, the hull. */
struct stored {
  unsigned lanes; /* up to the last that is active */
  bool gaps;
  uint64_t bits[INST_LANE_WORDS];
};

static struct stored stored_lanes(const struct inst *inst, unsigned bytes) {
  struct stored stored = {.lanes = 0};
  for (unsigned lane = 0; lane < REPEAT_BYTES / bytes; lane++) {
    if (!reg_bit(inst, lane * bytes))
      continue;
    stored.gaps |= stored.lanes != lane;
    stored.lanes = lane + 1;
    if (lane < INST_LANE_WORDS * 64)
      stored.bits[lane / 64] |= UINT64_C(1) << (lane % 64);
  }
  return stored;
}

unsigned reg_store_access(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_access *access) {
  (void)soc;
  unsigned bytes = reg_bytes(inst), width = bytes;
  enum store_distribution dist = (enum store_distribution)inst->arg[REGSTORE_DIST];
  unsigned count = inst_touch(inst, access, 0, REGSTORE_SRC, 0, REPEAT_BYTES);
  if (dist == STORE_FIRST)
    return touch_ub(inst, access, count, REGSTORE_DST, bytes, bytes);
  width /= dist == STORE_PK ? 2 : dist == STORE_PK4 ? 4 : 1;
  struct stored stored = stored_lanes(inst, bytes);
  if (stored.lanes == 0)
    return count;
  count = touch_ub(inst, access, count, REGSTORE_DST, (uint64_t)stored.lanes * width, BLOCK_BYTES);
  if (!stored.gaps)
    return count;
  access[count - 1].partial = true;
  if (stored.lanes > INST_LANE_WORDS * 64 || width == 0)
    return count;
  struct inst_runs runs = {.bytes = BLOCK_BYTES,
                           .level = {{0, 0}, {1, REPEAT_BYTES}, {REG_BLOCKS, BLOCK_BYTES}},
                           .lane_bits = (uint8_t)(width * BITS_PER_BYTE),
                           .end = stored.lanes};
  memcpy(runs.lanes, stored.bits, sizeof runs.lanes);
  inst_set_runs(access, count - 1, count, runs);
  return count;
}

unsigned reg_store2_access(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_access *access) {
  (void)soc;
  unsigned count = touch_registers(inst, access);
  return touch_ub(inst, access, count, REGSTORE2_DST, UINT64_C(2) * REPEAT_BYTES, BLOCK_BYTES);
}

/* Blocks of UB, a stride apart, as far as the mask has lanes of them. */
static unsigned touch_blocks(const struct inst *inst, struct inst_access *access, unsigned count,
                             unsigned arg, uint64_t stride) {
  unsigned blocks = 0;
  for (unsigned byte = 0; byte < REPEAT_BYTES; byte++)
    blocks = reg_bit(inst, byte) ? byte / BLOCK_BYTES + 1 : blocks;
  if (blocks == 0)
    return count;
  uint64_t bytes = (blocks - 1) * stride * BLOCK_BYTES + BLOCK_BYTES;
  count = touch_ub(inst, access, count, arg, bytes, BLOCK_BYTES);
  inst_set_runs(
      access, count - 1, count,
      (struct inst_runs){.bytes = BLOCK_BYTES, .level = {{blocks, stride * BLOCK_BYTES}}});
  return count;
}

unsigned reg_load_blocks_access(const struct vinci_soc *soc, const struct inst *inst,
                                struct inst_access *access) {
  (void)soc;
  unsigned count = touch_registers(inst, access);
  return touch_blocks(inst, access, count, REGSLDB_SRC, (uint64_t)inst->arg[REGSLDB_STRIDE]);
}

unsigned reg_store_blocks_access(const struct vinci_soc *soc, const struct inst *inst,
                                 struct inst_access *access) {
  (void)soc;
  unsigned count = touch_registers(inst, access), before = count;
  count = touch_blocks(inst, access, count, REGSSTB_DST, (uint64_t)inst->arg[REGSSTB_STRIDE]);
  if (count > before)
    access[count - 1].partial = true; /* blocks with some lanes active */
  return count;
}

unsigned reg_store_unaligned_access(const struct vinci_soc *soc, const struct inst *inst,
                                    struct inst_access *access) {
  (void)soc;
  /* Below the start of UB where more bytes are held than lie before: an address that is refused. */
  int64_t held = inst->arg[REGSTUS_HELD], start = inst->arg[REGSTUS_DST] - held;
  int64_t end = inst->arg[REGSTUS_DST] + inst->arg[REGSTUS_COUNT];
  int64_t whole = end / BLOCK_BYTES * BLOCK_BYTES;
  unsigned count = inst_touch(inst, access, 0, REGSTUS_SRC, 0, REPEAT_BYTES);
  count = inst_touch(inst, access, count, REGSTUS_ALIGN, 0, REPEAT_BYTES);
  if (held == 0)
    access[1] = access[--count]; /* nothing of the alignment register is read */
  if (whole <= start)
    return count;
  count = touch_ub(inst, access, count, REGSTUS_DST, (uint64_t)(whole - start), 1);
  access[count - 1].address -= held;
  return count;
}

unsigned reg_flush_access(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_access *access) {
  (void)soc;
  uint64_t held = (uint64_t)inst->arg[REGSTAS_HELD];
  if (held == 0)
    return 0;
  unsigned count = inst_touch(inst, access, 0, REGSTAS_ALIGN, 0, REPEAT_BYTES);
  count = touch_ub(inst, access, count, REGSTAS_DST, held, 1);
  access[count - 1].address -= (int64_t)held;
  return count;
}
