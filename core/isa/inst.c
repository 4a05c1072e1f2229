/* SPDX-License-Identifier: Apache-2.0 */
/* What all units say of instructions in the same way, and the special registers. */
#include "core/isa/inst.h"

/* Ascend C documentation, SetCtrlSpr. */
#define CTRL_NO_SATURATION (UINT64_C(1) << 48)

void inst_reset_registers(struct inst *inst) {
  /* Reset state of a core: all lanes active, normal mode. */
  inst->mask = (struct vector_mask){.low = UINT64_MAX, .high = UINT64_MAX};
  inst->registers = (struct inst_registers){.atomic = ATOMIC_NONE, .atomic_type = DTYPE_FP16};
}

/* Atomic stores: what they do and the type of their elements. */
static void write_atomic(struct inst_registers *registers, unsigned op) {
  switch (op) {
  case OP_SET_ATOMIC_NONE:
    registers->atomic = ATOMIC_NONE;
    break;
  case OP_SET_ATOMIC_ADD:
    registers->atomic = ATOMIC_ADD;
    break;
  case OP_SET_ATOMIC_MAX:
    registers->atomic = ATOMIC_MAX;
    break;
  case OP_SET_ATOMIC_MIN:
    registers->atomic = ATOMIC_MIN;
    break;
  case OP_SET_ATOMIC_F32:
    registers->atomic_type = DTYPE_FP32;
    break;
  case OP_SET_ATOMIC_F16:
    registers->atomic_type = DTYPE_FP16;
    break;
  case OP_SET_ATOMIC_BF16:
    registers->atomic_type = DTYPE_BF16;
    break;
  case OP_SET_ATOMIC_S32:
    registers->atomic_type = DTYPE_INT32;
    break;
  case OP_SET_ATOMIC_S16:
    registers->atomic_type = DTYPE_INT16;
    break;
  case OP_SET_ATOMIC_S8:
    registers->atomic_type = DTYPE_INT8;
    break;
  default:
    break;
  }
}

void inst_write_registers(struct inst *inst) {
  switch (inst->op) {
  case OP_SET_VECTOR_MASK:
    inst->mask.high = (uint64_t)inst->arg[SET_MASK_HIGH];
    inst->mask.low = (uint64_t)inst->arg[SET_MASK_LOW];
    break;
  case OP_SET_MASK_COUNT:
    inst->mask.counter = true;
    break;
  case OP_SET_MASK_NORM:
    inst->mask.counter = false;
    break;
  case OP_SET_QUANT_PRE:
    inst->registers.quant_pre = (uint64_t)inst->arg[REGISTER_VALUE];
    break;
  case OP_SET_FPC:
    inst->registers.fpc = (uint64_t)inst->arg[REGISTER_VALUE];
    break;
  case OP_SET_DEQSCALE:
    inst->registers.deq_scale = (uint64_t)inst->arg[REGISTER_VALUE];
    break;
  case OP_SET_MOV_PAD_VAL:
    inst->registers.pad_value = (uint64_t)inst->arg[REGISTER_VALUE];
    break;
  case OP_SET_CTRL:
    inst->registers.saturates = ((uint64_t)inst->arg[REGISTER_VALUE] & CTRL_NO_SATURATION) == 0;
    break;
  case OP_SET_PADDING:
    inst->registers.load3d_padding = (uint64_t)inst->arg[REGISTER_VALUE];
    break;
  case OP_SET_L1_3D_SIZE:
    inst->registers.load3d_boundary = (uint64_t)inst->arg[REGISTER_VALUE];
    break;
  default:
    write_atomic(&inst->registers, inst->op);
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

uint32_t inst_access_core(const struct vinci_soc *soc, const struct inst_access *access,
                          uint32_t core) {
  if (access->remote == 0)
    return core;
  return access->remote == ACCESS_CUBE ? soc_cube_beside(soc, core)
                                       : soc_vector_beside(soc, core, access->remote - 1u);
}
