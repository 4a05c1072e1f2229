/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector functions of the 950: loops of register instructions over contiguous elements, one
 * function an instruction. Cost: the fit of a whole function, start-up and drain and a cost per
 * register of elements; the next function starts when this one has ended. Values: those of the
 * memory-to-memory instruction of the same meaning on as many elements.
 *
 * Left out: functions of several operations, which keep what they share in registers; the
 * pipeline inside a function; overlap of one function with the next. Bank conflicts are part of
 * the fits.
 */
#include "vector/values.h"

/* An instruction that computes what a function computes. */
struct meaning {
  enum isa_op op;
  inst_values_fn values;
};

/* The other instruction in counter mode, with contiguous operands. */
static struct inst same_as(const struct inst *inst, struct meaning meaning, int64_t count) {
  const struct isa_row *row = isa_row(meaning.op);
  struct inst same = *inst;
  same.op = (uint16_t)meaning.op;
  same.mask = (struct vector_mask){.low = (uint64_t)count, .counter = true};
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

void vf_dup_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  function_cost(soc, inst, (uint64_t)inst->arg[VF_DUP_COUNT], cost);
}

unsigned vf_dup_access(const struct vinci_soc *soc, const struct inst *inst,
                       struct inst_access *access) {
  (void)soc;
  return touch(inst, access, 0, VF_DUP_DST, (uint64_t)inst->arg[VF_DUP_COUNT]);
}

/* ---- values ---- */

static void compute(const struct vinci_soc *soc, const struct inst *same, struct meaning meaning,
                    struct value_core *core) {
  if (same->mask.low > 0)
    meaning.values(soc, same, core);
}

static void binary_values(const struct vinci_soc *soc, const struct inst *inst,
                          struct value_core *core, struct meaning meaning) {
  struct inst same = same_as(inst, meaning, inst->arg[VF_BINARY_COUNT]);
  same.arg[BINARY_DST] = inst->arg[VF_BINARY_DST];
  same.arg[BINARY_SRC0] = inst->arg[VF_BINARY_SRC0];
  same.arg[BINARY_SRC1] = inst->arg[VF_BINARY_SRC1];
  compute(soc, &same, meaning, core);
}

static void scalar_values(const struct vinci_soc *soc, const struct inst *inst,
                          struct value_core *core, struct meaning meaning) {
  struct inst same = same_as(inst, meaning, inst->arg[VF_SCALAR_COUNT]);
  same.arg[SCALAR_DST] = inst->arg[VF_SCALAR_DST];
  same.arg[SCALAR_SRC] = inst->arg[VF_SCALAR_SRC];
  same.arg[SCALAR_VALUE] = inst->arg[VF_SCALAR_VALUE];
  compute(soc, &same, meaning, core);
}

static void unary_values(const struct vinci_soc *soc, const struct inst *inst,
                         struct value_core *core, struct meaning meaning) {
  struct inst same = same_as(inst, meaning, inst->arg[VF_UNARY_COUNT]);
  same.arg[UNARY_DST] = inst->arg[VF_UNARY_DST];
  same.arg[UNARY_SRC] = inst->arg[VF_UNARY_SRC];
  compute(soc, &same, meaning, core);
}

static void dup_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core, struct meaning meaning) {
  struct inst same = same_as(inst, meaning, inst->arg[VF_DUP_COUNT]);
  same.arg[DUP_DST] = inst->arg[VF_DUP_DST];
  same.arg[DUP_VALUE] = inst->arg[VF_DUP_VALUE];
  compute(soc, &same, meaning, core);
}

/* The instruction of the same meaning has to take the types of the function. */
#define FUNCTION(id, function, same)                                                               \
  COVERS(id, TYPES_##same);                                                                        \
  void id##_values(const struct vinci_soc *soc, const struct inst *inst,                           \
                   struct value_core *core) {                                                      \
    function(soc, inst, core, (struct meaning){OP_##same, same##_values});                         \
  }
FUNCTION(VF_ADD, binary_values, VADD)
FUNCTION(VF_SUB, binary_values, VSUB)
FUNCTION(VF_MUL, binary_values, VMUL)
FUNCTION(VF_DIV, binary_values, VDIV)
FUNCTION(VF_MAX, binary_values, VMAX)
FUNCTION(VF_MIN, binary_values, VMIN)
FUNCTION(VF_AND, binary_values, VAND)
FUNCTION(VF_OR, binary_values, VOR)
FUNCTION(VF_ADDS, scalar_values, VADDS)
FUNCTION(VF_MULS, scalar_values, VMULS)
FUNCTION(VF_MAXS, scalar_values, VMAXS)
FUNCTION(VF_MINS, scalar_values, VMINS)
FUNCTION(VF_EXP, unary_values, VEXP)
FUNCTION(VF_LN, unary_values, VLN)
FUNCTION(VF_SQRT, unary_values, VSQRT)
FUNCTION(VF_ABS, unary_values, VABS)
FUNCTION(VF_RELU, unary_values, VRELU)
FUNCTION(VF_DUP, dup_values, VECTOR_DUP)
