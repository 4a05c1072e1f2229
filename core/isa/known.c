/* SPDX-License-Identifier: Apache-2.0 */
/* Vector instructions that were met before: a table by hash, one place each. */
#include "core/isa/known.h"

#include <string.h>

static size_t place_of(const struct inst *inst, unsigned args) {
  static const uint64_t factor = 0x9e3779b97f4a7c15; /* 2^64 / golden ratio: spreads neighbours */
  uint64_t hash = inst->row;
  for (unsigned i = 0; i < args; i++)
    hash = (hash ^ (uint64_t)inst->arg[i]) * factor;
  return (size_t)(hash >> 32) % KNOWN_ENTRIES;
}

static bool same_mask(const struct vector_mask *one, const struct vector_mask *other) {
  return one->low == other->low && one->high == other->high && one->counter == other->counter;
}

/* Bytes between the fields of the registers may differ: then the instruction counts as another. */
static bool same(const struct inst *one, const struct inst *other, unsigned args) {
  return one->op == other->op && one->arch == other->arch && same_mask(&one->mask, &other->mask) &&
         memcmp(one->arg, other->arg, args * sizeof *one->arg) == 0 &&
         memcmp(&one->registers, &other->registers, sizeof one->registers) == 0;
}

struct known_inst *known_find(struct known *known, const struct inst *inst) {
  const struct isa_row *row = isa_row((enum isa_op)inst->op);
  if (row->pipe != PIPE_V)
    return NULL;
  struct known_inst *entry = &known->entry[place_of(inst, row->arg_count)];
  if (!same(&entry->inst, inst, row->arg_count)) {
    entry->inst = *inst;
    entry->in_range = entry->costed = false;
  }
  return entry;
}

void known_cost(struct known *known, const struct vinci_soc *soc, const struct inst *inst,
                struct inst_cost *cost) {
  inst_cost_fn find = registry_cost((enum isa_op)inst->op);
  struct known_inst *entry = known_find(known, inst);
  if (!entry) {
    find(soc, inst, cost);
    return;
  }
  if (!entry->costed)
    find(soc, inst, &entry->cost);
  entry->costed = true;
  *cost = entry->cost;
}
