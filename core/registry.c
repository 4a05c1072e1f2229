/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place that knows all parts: the functions of every instruction, as its row
 * names them, and the implementations of the operation tables. A missing function
 * is a link error.
 */
#include "core/isa/unit_functions.h"
#include "core/sim/memsys.h"

static const inst_cost_fn cost_functions[OP_COUNT] = {
#define ISA(id, name, pipe, archs, signature, dtypes, stem, values, text, source, ...) stem##_cost,
#include "core/isa/isa.def"
#undef ISA
};

static const inst_access_fn access_functions[OP_COUNT] = {
#define ISA(id, name, pipe, archs, signature, dtypes, stem, values, text, source, ...)             \
  stem##_access,
#include "core/isa/isa.def"
#undef ISA
};

static const inst_values_fn values_functions[OP_COUNT] = {
#define ISA(id, name, pipe, archs, signature, dtypes, stem, values, text, source, ...)             \
  values##_values,
#include "core/isa/isa.def"
#undef ISA
};

extern const struct network_ops noc_fabric_ops;
extern const struct network_ops noc_packet_ops;
extern const struct network_ops noc_flit_ops;
extern const struct memsys_ops memhier_flat_ops;
extern const struct memsys_ops memhier_cycle_ops;
extern const struct memsys_ops memhier_hosted_ops;

inst_cost_fn registry_cost(enum isa_op op) { return cost_functions[op]; }

inst_access_fn registry_access(enum isa_op op) { return access_functions[op]; }

inst_values_fn registry_values(enum isa_op op) { return values_functions[op]; }

inst_values_fn registry_marks(enum isa_op op) {
  switch (op) {
  case OP_MAD:
  case OP_MAD_SP:
  case OP_MAD_MX:
    return cube_mad_marks;
  case OP_COPY_MATRIX_CC_TO_UBUF:
    return transfer_cc_to_ub_marks;
  case OP_LOAD_CBUF_TO_CA:
  case OP_LOAD_CBUF_TO_CB:
  case OP_LOAD_CBUF_TO_CA_TRANSPOSE:
  case OP_LOAD_CBUF_TO_CB_TRANSPOSE:
  case OP_LOAD_CBUF_TO_CA_2DV2:
  case OP_LOAD_CBUF_TO_CB_2DV2:
  case OP_LOAD_CBUF_TO_CB_SP:
  case OP_IMG2COLV2_CBUF_TO_CA:
  case OP_IMG2COLV2_CBUF_TO_CB:
  case OP_IMG2COL_CBUF_TO_CA:
  case OP_IMG2COL_CBUF_TO_CB:
  case OP_COPY_CBUF_TO_BT:
    return registry_values(op); /* moves; a converted mark is not 0 */
  default:
    return isa_is_register(op) && registry_values(op) != control_values
               ? reg_marks(op, registry_values(op), registry_access(op))
               : NULL;
  }
}

struct memory_model registry_memory(enum vinci_memory memory, enum vinci_network network) {
  if (memory == VINCI_MEMORY_FLAT)
    return (struct memory_model){&memhier_flat_ops, &noc_fabric_ops};
  return (struct memory_model){&memhier_cycle_ops,
                               network == VINCI_NETWORK_FLIT ? &noc_flit_ops : &noc_packet_ops};
}

struct memory_model registry_hosted_memory(void) {
  return (struct memory_model){&memhier_hosted_ops, &noc_fabric_ops};
}
