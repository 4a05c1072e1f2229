/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place that knows all parts: the functions of every instruction, by the
 * stem its row names, and the implementations of the operation tables. A stem
 * without its functions is a link error.
 */
#include "core/inst.h"
#include "core/memsys.h"

#define ISA(id, name, pipe, archs, signature, dtypes, class16, class32, stem, text, source)        \
  void stem##_cost(const struct vinci_soc *, const struct inst *, struct inst_cost *);             \
  unsigned stem##_access(const struct vinci_soc *, const struct inst *, struct inst_access *);
#include "core/isa.def"
#undef ISA

static const inst_cost_fn cost_functions[OP_COUNT] = {
#define ISA(id, name, pipe, archs, signature, dtypes, class16, class32, stem, text, source)        \
  stem##_cost,
#include "core/isa.def"
#undef ISA
};

static const inst_access_fn access_functions[OP_COUNT] = {
#define ISA(id, name, pipe, archs, signature, dtypes, class16, class32, stem, text, source)        \
  stem##_access,
#include "core/isa.def"
#undef ISA
};

extern const struct network_ops noc_fabric_ops;
extern const struct memsys_ops memhier_flat_ops;

inst_cost_fn registry_cost(enum isa_op op) { return cost_functions[op]; }

inst_access_fn registry_access(enum isa_op op) { return access_functions[op]; }

const struct network_ops *registry_network(void) { return &noc_fabric_ops; }

const struct memsys_ops *registry_memsys(void) { return &memhier_flat_ops; }
