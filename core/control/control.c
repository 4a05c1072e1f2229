/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of control instructions (core/isa/inst.h). They take the scalar unit's time, touch
 * no memory, and change registers and flags only: who executes them does that. */
#include "core/isa/inst.h"

void control_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost);
unsigned control_access(const struct vinci_soc *soc, const struct inst *inst,
                        struct inst_access *access);
void control_values(const struct vinci_soc *soc, const struct inst *inst, struct value_core *core);

void control_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  (void)soc;
  (void)inst;
  *cost = (struct inst_cost){.path = PATH_NONE};
}

unsigned control_access(const struct vinci_soc *soc, const struct inst *inst,
                        struct inst_access *access) {
  (void)soc;
  (void)inst;
  (void)access;
  return 0;
}

void control_values(const struct vinci_soc *soc, const struct inst *inst, struct value_core *core) {
  (void)soc;
  (void)inst;
  (void)core;
}
