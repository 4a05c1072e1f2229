/* SPDX-License-Identifier: Apache-2.0 */
/* Which units of L0C an instruction with a unit flag uses, and who may have them. */
#include "core/control/unit_flag.h"

#include <string.h>

#include "core/base/arith.h"

enum { WORD_BITS = 64 };

static size_t word_count(const struct unit_set *set) {
  return ((size_t)set->units + WORD_BITS - 1) / WORD_BITS;
}

bool unit_flags_create(struct unit_flags *flags, struct arena *arena, const struct vinci_soc *soc,
                       const struct vinci_trace *trace, enum core_kind kind) {
  struct unit_set *set = &flags->set;
  if (!trace->any_unit_flag || !core_has_space(kind, SPACE_L0C))
    return true;
  set->units = (uint32_t)ceil_div(soc_space_bytes(soc, SPACE_L0C), L0C_FRACTAL_BYTES);
  set->bits = ARENA_ARRAY(arena, uint64_t, word_count(set) + 1);
  flags->unit = ARENA_ARRAY(arena, struct unit, (size_t)set->units + 1);
  return set->bits && flags->unit;
}

void unit_flags_start_block(struct unit_flags *flags) {
  for (uint32_t i = 0; i < flags->set.units; i++)
    unit_turn(flags, i, UNIT_WRITABLE, 0);
}

uint32_t unit_flags_blocked(const struct unit_flags *flags, enum pipe pipe) {
  uint32_t unit = unit_set_next(&flags->set, 0);
  while (unit < flags->set.units && unit_is_free(flags, unit, pipe))
    unit = unit_set_next(&flags->set, unit + 1);
  return unit;
}

void unit_use_find(const struct vinci_soc *soc, const struct inst *inst, struct unit_use *use) {
  struct inst_access access[INST_ACCESS_MAX];
  unsigned count = registry_access((enum isa_op)inst->op)(soc, inst, access);
  use->count = 0;
  for (unsigned i = 0; i < count && use->count < UNIT_RANGES_MAX; i++)
    if (access[i].space == SPACE_L0C && access[i].bytes > 0)
      use->access[use->count++] = access[i];
}

/* Checks may let an instruction run that leaves L0C: what lies outside has no flag. */
static bool add_run(void *context, int64_t address, uint64_t bytes) {
  struct unit_set *set = context;
  if (address < 0)
    return true;
  uint64_t end = min_u64(ceil_div((uint64_t)address + bytes, L0C_FRACTAL_BYTES), set->units);
  for (uint64_t unit = (uint64_t)address / L0C_FRACTAL_BYTES; unit < end; unit++)
    set->bits[unit / WORD_BITS] |= UINT64_C(1) << unit % WORD_BITS;
  return true;
}

uint32_t unit_set_fill(const struct unit_set *set, const struct unit_use *use) {
  struct unit_set filled = *set;
  size_t words = word_count(set);
  memset(set->bits, 0, words * sizeof *set->bits);
  for (unsigned i = 0; i < use->count; i++)
    (void)inst_each_run(&use->access[i], add_run, &filled);
  uint32_t count = 0;
  for (size_t i = 0; i < words; i++)
    count += (uint32_t)count_bits(set->bits[i]);
  return count;
}

uint32_t unit_set_next(const struct unit_set *set, uint32_t from) {
  for (; from < set->units; from = (from / WORD_BITS + 1) * WORD_BITS) {
    uint64_t rest = set->bits[from / WORD_BITS] >> from % WORD_BITS;
    if (rest != 0)
      return from + (uint32_t)__builtin_ctzll(rest);
  }
  return set->units;
}
