/* SPDX-License-Identifier: Apache-2.0 */
/* What all units say of instructions in the same way. */
#include "core/inst.h"

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
