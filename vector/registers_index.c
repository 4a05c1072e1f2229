/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register instructions of vector functions that take numbers of UB by their indices (Ascend C
 * documentation, Gather, GatherB and Scatter of RegTensor). What they touch of UB is the hull from
 * the lowest to the highest index, which the operands have: indices are values, and time and checks
 * do without these. An index outside of the operands touches nothing.
 */
#include "vector/registers.h"

#include "vector/vector.h"

enum { OPERANDS_REGGATHER(OPERAND_NUMBER, REGGATHER) };
enum { OPERANDS_REGSCATTER(OPERAND_NUMBER, REGSCATTER) };

void reg_gather_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  reg_load_cost(soc, inst, cost);
}
void reg_scatter_cost(const struct vinci_soc *soc, const struct inst *inst,
                      struct inst_cost *cost) {
  reg_store_cost(soc, inst, cost);
}

/* Lanes of indices; blocks have 8 of 32 bits. */
struct indexed {
  unsigned lanes, index_bytes; /* an index is as wide as its lane of dst, but of blocks */
  unsigned bytes;              /* of a number in UB */
  unsigned unit_bytes;         /* of what an index counts */
};

static struct indexed indexed_of(const struct inst *inst) {
  if (inst->op == OP_REG_VGATHERB)
    return (struct indexed){REG_BLOCKS, sizeof(uint32_t), BLOCK_BYTES, 1};
  unsigned bytes = reg_bytes(inst), lane = bytes < sizeof(uint16_t) ? sizeof(uint16_t) : bytes;
  return (struct indexed){REPEAT_BYTES / lane, lane, bytes, bytes};
}

static bool is_active(const struct inst *inst, const struct indexed *indexed) {
  for (unsigned i = 0; i < indexed->lanes; i++)
    if (reg_bit(inst, i * indexed->index_bytes))
      return true;
  return false;
}

/* ---- accesses ------------------------------------------------------------------------------ */

/*
 * The hull; from where indices count on, when that is not the address of a block, as it has to be
 * (documentation, as above).
 */
static unsigned touch_hull(const struct inst *inst, struct inst_access *access, unsigned count,
                           unsigned arg, unsigned first_arg) {
  struct indexed indexed = indexed_of(inst);
  int64_t first = inst->arg[first_arg], last = inst->arg[first_arg + 1];
  bool fits = inst->arg[arg] % BLOCK_BYTES == 0;
  if (!is_active(inst, &indexed) || last < first)
    return count;
  first = fits ? first : 0;
  count = inst_touch(inst, access, count, arg, (uint64_t)first * indexed.unit_bytes,
                     (uint64_t)(last - first) * indexed.unit_bytes + indexed.bytes);
  access[count - 1].alignment = (uint16_t)(fits ? indexed.bytes : (unsigned)BLOCK_BYTES);
  return count;
}

unsigned reg_gather_access(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_access *access) {
  (void)soc;
  unsigned count = inst_touch(inst, access, 0, REGGATHER_INDEX, 0, REPEAT_BYTES);
  count = touch_hull(inst, access, count, REGGATHER_SRC, REGGATHER_FIRST);
  return inst_touch(inst, access, count, REGGATHER_DST, 0, REPEAT_BYTES);
}

unsigned reg_scatter_access(const struct vinci_soc *soc, const struct inst *inst,
                            struct inst_access *access) {
  (void)soc;
  unsigned count = inst_touch(inst, access, 0, REGSCATTER_INDEX, 0, REPEAT_BYTES);
  count = inst_touch(inst, access, count, REGSCATTER_SRC, 0, REPEAT_BYTES);
  unsigned before = count;
  count = touch_hull(inst, access, count, REGSCATTER_DST, REGSCATTER_FIRST);
  if (count > before)
    access[before].partial = true;
  return count;
}

/* ---- values -------------------------------------------------------------------------------- */

/* Where index number i leads, as an offset; false: nowhere. */
static bool leads_to(const struct inst *inst, const struct indexed *indexed, const uint8_t *index,
                     unsigned i, unsigned first_arg, uint64_t *offset) {
  if (!reg_bit(inst, i * indexed->index_bytes))
    return false;
  uint64_t at = load_low(index + i * indexed->index_bytes, indexed->index_bytes);
  *offset = at * indexed->unit_bytes;
  return at >= (uint64_t)inst->arg[first_arg] && at <= (uint64_t)inst->arg[first_arg + 1];
}

static void gather(const struct inst *inst, struct value_core *core) {
  struct indexed indexed = indexed_of(inst);
  const uint8_t *from = core->bytes[SPACE_UB] + inst->arg[REGGATHER_SRC];
  unsigned lane_bytes = REPEAT_BYTES / indexed.lanes;
  uint8_t result[REPEAT_BYTES] = {0};
  uint64_t offset;
  for (unsigned i = 0; i < indexed.lanes; i++)
    if (leads_to(inst, &indexed, reg_at(inst, core, REGGATHER_INDEX), i, REGGATHER_FIRST, &offset))
      memcpy(result + i * lane_bytes, from + offset, indexed.bytes);
  memcpy(reg_at(inst, core, REGGATHER_DST), result, sizeof result);
}

void REG_VGATHER2_values(const struct vinci_soc *soc, const struct inst *inst,
                         struct value_core *core) {
  (void)soc;
  gather(inst, core);
}

void REG_VGATHERB_values(const struct vinci_soc *soc, const struct inst *inst,
                         struct value_core *core) {
  (void)soc;
  gather(inst, core);
}

void REG_VSCATTER_values(const struct vinci_soc *soc, const struct inst *inst,
                         struct value_core *core) {
  (void)soc;
  struct indexed indexed = indexed_of(inst);
  uint8_t *to = core->bytes[SPACE_UB] + inst->arg[REGSCATTER_DST];
  const uint8_t *from = reg_at(inst, core, REGSCATTER_SRC);
  uint64_t offset;
  for (unsigned i = 0; i < indexed.lanes; i++)
    if (leads_to(inst, &indexed, reg_at(inst, core, REGSCATTER_INDEX), i, REGSCATTER_FIRST,
                 &offset))
      memcpy(to + offset, from + i * indexed.index_bytes, indexed.bytes);
}

/* ---- marks --------------------------------------------------------------------------------- */

/* Which numbers are taken is a matter of values: lanes are unwritten when none of the hull is. */
void reg_gather_marks(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  struct inst_access access[INST_ACCESS_MAX];
  unsigned count = reg_gather_access(soc, inst, access);
  uint8_t mark = UINT8_MAX;
  for (unsigned i = 0; i < count; i++)
    for (uint64_t at = 0; access[i].space == SPACE_UB && at < access[i].bytes; at++)
      mark &= core->bytes[SPACE_UB][(uint64_t)access[i].address + at];
  memset(reg_at(inst, core, REGGATHER_DST), count == 3 ? mark : 0, REPEAT_BYTES);
}

/* All of the hull counts as written. */
void reg_scatter_marks(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  struct inst_access access[INST_ACCESS_MAX];
  unsigned count = reg_scatter_access(soc, inst, access);
  for (unsigned i = 0; i < count; i++)
    if (access[i].space == SPACE_UB)
      memset(core->bytes[SPACE_UB] + access[i].address, 0, access[i].bytes);
}
