/* SPDX-License-Identifier: Apache-2.0 */
/* What all units say of instructions in the same way, and the special registers. */
#include "core/inst.h"

enum { ARG_MASK_HIGH, ARG_MASK_LOW };

void inst_reset_registers(struct inst *inst) {
  /* Reset state of a core: all lanes active, normal mode. */
  inst->mask = (struct vector_mask){.low = UINT64_MAX, .high = UINT64_MAX};
  inst->registers = (struct inst_registers){0};
}

void inst_write_registers(struct inst *inst) {
  switch (inst->op) {
  case OP_SET_VECTOR_MASK:
    inst->mask.high = (uint64_t)inst->arg[ARG_MASK_HIGH];
    inst->mask.low = (uint64_t)inst->arg[ARG_MASK_LOW];
    break;
  case OP_SET_MASK_COUNT:
    inst->mask.counter = true;
    break;
  case OP_SET_MASK_NORM:
    inst->mask.counter = false;
    break;
  default:
    break;
  }
}

unsigned inst_touch(const struct inst *inst, struct inst_access *access, unsigned count,
                    unsigned arg, uint64_t offset, uint64_t bytes) {
  const struct isa_arg *operand = &isa_row((enum isa_op)inst->op)->arg[arg];
  struct inst_access range = {
      .space = (enum space)operand->space,
      .address = inst->arg[arg] + (int64_t)offset,
      .bytes = bytes,
      .arg = (uint8_t)arg,
  };
  if (operand->reads)
    access[count++] = range;
  range.write = true;
  if (operand->writes)
    access[count++] = range;
  return count;
}
