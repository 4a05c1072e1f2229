/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the units that rows of core/isa/isa.def name, declared for the units that
 * define them and for core/registry.c that finds them by instruction. A missing one is a link
 * error.
 */
#ifndef VINCI_CORE_ISA_UNIT_FUNCTIONS_H
#define VINCI_CORE_ISA_UNIT_FUNCTIONS_H

#include "core/isa/inst.h"

#define ISA(id, name, pipe, archs, signature, dtypes, stem, values, text, source, ...)             \
  void stem##_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost);  \
  unsigned stem##_access(const struct vinci_soc *soc, const struct inst *inst,                     \
                         struct inst_access *access);                                              \
  void values##_values(const struct vinci_soc *soc, const struct inst *inst,                       \
                       struct value_core *core);
#include "core/isa/isa.def"
#undef ISA

/* Marks of unwritten bytes (core/isa/inst.h), where values are not only moved. */
void cube_mad_marks(const struct vinci_soc *soc, const struct inst *inst, struct value_core *core);
void transfer_cc_to_ub_marks(const struct vinci_soc *soc, const struct inst *inst,
                             struct value_core *core);
/* Those of register instructions, which pass all on. */
inst_values_fn reg_marks(enum isa_op op, inst_values_fn values, inst_access_fn access);

#endif
