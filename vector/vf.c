/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector functions of the 950: loops of register instructions over contiguous elements, one
 * function an instruction. Cost: the fit of a whole function, start-up and drain and so much per
 * register of elements; the next function starts when this one has ended. Values: those of the
 * memory-to-memory instruction of the same meaning on as many elements.
 *
 * Left out: functions of several operations, which keep what they share in registers; the
 * pipeline inside a function; overlap of one function with the next. Bank conflicts are part of
 * the fits.
 */
#include "core/base/diag.h"
#include "core/machine/values.h"
#include "vector/vector.h"

/* The instruction that computes the same. */
static enum isa_op meaning_of(const struct inst *inst) {
  static const struct {
    uint16_t function, meaning;
  } pairs[] = {
      {OP_VF_ADD, OP_VADD},   {OP_VF_SUB, OP_VSUB},   {OP_VF_MUL, OP_VMUL},
      {OP_VF_DIV, OP_VDIV},   {OP_VF_MAX, OP_VMAX},   {OP_VF_MIN, OP_VMIN},
      {OP_VF_AND, OP_VAND},   {OP_VF_OR, OP_VOR},     {OP_VF_ADDS, OP_VADDS},
      {OP_VF_MULS, OP_VMULS}, {OP_VF_MAXS, OP_VMAXS}, {OP_VF_MINS, OP_VMINS},
      {OP_VF_EXP, OP_VEXP},   {OP_VF_LN, OP_VLN},     {OP_VF_SQRT, OP_VSQRT},
      {OP_VF_ABS, OP_VABS},   {OP_VF_RELU, OP_VRELU}, {OP_VF_DUP, OP_VECTOR_DUP},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (pairs[i].function == inst->op)
      return (enum isa_op)pairs[i].meaning;
  vinci_bug("%s computes nothing", isa_row((enum isa_op)inst->op)->name);
}

/* The other instruction in counter mode, with contiguous operands. */
static struct inst same_as(const struct inst *inst, uint64_t count) {
  enum isa_op op = meaning_of(inst);
  const struct isa_row *row = isa_row(op);
  struct inst same = *inst;
  same.op = (uint16_t)op;
  same.mask = (struct vector_mask){.low = count, .counter = true};
  for (unsigned i = 0; i < row->arg_count; i++)
    same.arg[i] = row->arg[i].has_default ? row->arg[i].default_value : 0;
  same.arg[row->type_arg] = (int64_t)inst_dtype(inst);
  return same;
}

static void function_cost(const struct vinci_soc *soc, const struct inst *inst, uint64_t count,
                          struct inst_cost *cost) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  vector_cost(soc, inst,
              (struct vector_work){
                  .bits = bits,
                  .repeats = ceil_div(vector_size(count, bits), (uint64_t)soc->vector_bytes),
                  .operations = count},
              cost);
  cost->issue_cycles = cost->latency_cycles;
  cost->issue_rest_mcycles = 0;
}

static unsigned touch(const struct inst *inst, struct inst_access *access, unsigned count,
                      unsigned arg, uint64_t elements) {
  return inst_touch(inst, access, count, arg, 0,
                    vector_size(elements, dtype_bits(inst_dtype(inst))));
}

static void compute(const struct vinci_soc *soc, const struct inst *same, struct value_core *core) {
  if (same->mask.low > 0)
    registry_values((enum isa_op)same->op)(soc, same, core);
}

void vf_binary_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  function_cost(soc, inst, (uint64_t)inst->arg[VF_BINARY_COUNT], cost);
}

unsigned vf_binary_access(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_access *access) {
  (void)soc;
  uint64_t elements = (uint64_t)inst->arg[VF_BINARY_COUNT];
  unsigned count = touch(inst, access, 0, VF_BINARY_SRC0, elements);
  count = touch(inst, access, count, VF_BINARY_SRC1, elements);
  return touch(inst, access, count, VF_BINARY_DST, elements);
}

void vf_binary_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  struct inst same = same_as(inst, (uint64_t)inst->arg[VF_BINARY_COUNT]);
  same.arg[BINARY_DST] = inst->arg[VF_BINARY_DST];
  same.arg[BINARY_SRC0] = inst->arg[VF_BINARY_SRC0];
  same.arg[BINARY_SRC1] = inst->arg[VF_BINARY_SRC1];
  compute(soc, &same, core);
}

void vf_scalar_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  function_cost(soc, inst, (uint64_t)inst->arg[VF_SCALAR_COUNT], cost);
}

unsigned vf_scalar_access(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_access *access) {
  (void)soc;
  uint64_t elements = (uint64_t)inst->arg[VF_SCALAR_COUNT];
  unsigned count = touch(inst, access, 0, VF_SCALAR_SRC, elements);
  return touch(inst, access, count, VF_SCALAR_DST, elements);
}

void vf_scalar_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  struct inst same = same_as(inst, (uint64_t)inst->arg[VF_SCALAR_COUNT]);
  same.arg[SCALAR_DST] = inst->arg[VF_SCALAR_DST];
  same.arg[SCALAR_SRC] = inst->arg[VF_SCALAR_SRC];
  same.arg[SCALAR_VALUE] = inst->arg[VF_SCALAR_VALUE];
  compute(soc, &same, core);
}

void vf_unary_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  function_cost(soc, inst, (uint64_t)inst->arg[VF_UNARY_COUNT], cost);
}

unsigned vf_unary_access(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_access *access) {
  (void)soc;
  uint64_t elements = (uint64_t)inst->arg[VF_UNARY_COUNT];
  unsigned count = touch(inst, access, 0, VF_UNARY_SRC, elements);
  return touch(inst, access, count, VF_UNARY_DST, elements);
}

void vf_unary_values(const struct vinci_soc *soc, const struct inst *inst,
                     struct value_core *core) {
  struct inst same = same_as(inst, (uint64_t)inst->arg[VF_UNARY_COUNT]);
  same.arg[UNARY_DST] = inst->arg[VF_UNARY_DST];
  same.arg[UNARY_SRC] = inst->arg[VF_UNARY_SRC];
  compute(soc, &same, core);
}

void vf_dup_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  function_cost(soc, inst, (uint64_t)inst->arg[VF_DUP_COUNT], cost);
}

unsigned vf_dup_access(const struct vinci_soc *soc, const struct inst *inst,
                       struct inst_access *access) {
  (void)soc;
  return touch(inst, access, 0, VF_DUP_DST, (uint64_t)inst->arg[VF_DUP_COUNT]);
}

void vf_dup_values(const struct vinci_soc *soc, const struct inst *inst, struct value_core *core) {
  struct inst same = same_as(inst, (uint64_t)inst->arg[VF_DUP_COUNT]);
  same.arg[DUP_DST] = inst->arg[VF_DUP_DST];
  same.arg[DUP_VALUE] = inst->arg[VF_DUP_VALUE];
  compute(soc, &same, core);
}
