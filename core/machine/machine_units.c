/* SPDX-License-Identifier: Apache-2.0 */
/* Unit flags of L0C in the abstract machine (core/isa/unit_flag.h): instructions have no duration
 * here, so that all units of one change sides together. */
#include <string.h>

#include "core/machine/machine_core.h"

bool machine_units_create(struct machine_core *core) {
  struct machine *machine = core->machine;
  if (!machine->trace->any_unit_flag || !core_has_space(core->kind, SPACE_L0C))
    return true;
  if (!unit_set_create(&core->unit_set, &machine->arena, machine->soc))
    return false;
  core->handed_over = ARENA_ARRAY(&machine->arena, uint32_t, (size_t)core->unit_set.units + 1);
  return core->handed_over != NULL;
}

void machine_units_start_block(struct machine_core *core) {
  if (core->handed_over)
    memset(core->handed_over, 0, sizeof *core->handed_over * core->unit_set.units);
}

/* Fills the core's set with the units of L0C that an instruction uses. */
static void fill_units(const struct machine_core *core, const struct inst *inst) {
  struct unit_use use;
  unit_use_find(core->machine->soc, inst, &use);
  (void)unit_set_fill(&core->unit_set, &use);
}

uint32_t machine_units_blocked(const struct machine_core *core, const struct inst *inst) {
  const struct unit_set *set = &core->unit_set;
  bool reads = inst_pipe(inst) == PIPE_FIX;
  fill_units(core, inst);
  uint32_t unit = unit_set_next(set, 0);
  while (unit < set->units && (core->handed_over[unit] != 0) == reads)
    unit = unit_set_next(set, unit + 1);
  return unit;
}

void machine_units_turn(struct machine_core *core, const struct inst *inst) {
  const struct unit_set *set = &core->unit_set;
  uint32_t line = inst_pipe(inst) == PIPE_FIX ? 0 : inst->line;
  fill_units(core, inst);
  for (uint32_t i = unit_set_next(set, 0); i < set->units; i = unit_set_next(set, i + 1))
    core->handed_over[i] = line;
}
