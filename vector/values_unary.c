/* SPDX-License-Identifier: Apache-2.0 */
/* Values of vector instructions with one source: functions of floating-point numbers and bits. */
#include "core/base/diag.h"
#include "vector/math.h"
#include "vector/values.h"

enum { WALK_SRC, WALK_DST };

typedef void (*float_function)(float *values, size_t count);

#define FLOAT_FUNCTION(name, expression)                                                           \
  LOOP static void name(float *values, size_t count) {                                             \
    for (size_t i = 0; i < count; i++) {                                                           \
      float x = values[i];                                                                         \
      values[i] = expression;                                                                      \
    }                                                                                              \
  }
FLOAT_FUNCTION(float_abs, fp32_from_bits(fp32_bits(x) & INT32_MAX))
FLOAT_FUNCTION(float_exp, math_exp(x))
FLOAT_FUNCTION(float_ln, math_ln(x))
FLOAT_FUNCTION(float_rec, 1.0f / x)
FLOAT_FUNCTION(float_sqrt, math_sqrt(x))
FLOAT_FUNCTION(float_rsqrt, math_rsqrt(x))
FLOAT_FUNCTION(float_relu, math_larger(x, 0.0f))

static float_function float_function_of(uint16_t op) {
  switch (op) {
  case OP_VABS:
    return float_abs;
  case OP_VEXP:
    return float_exp;
  case OP_VLN:
    return float_ln;
  case OP_VREC:
    return float_rec;
  case OP_VSQRT:
    return float_sqrt;
  case OP_VRSQRT:
    return float_rsqrt;
  case OP_VRELU:
    return float_relu;
  default:
    vinci_bug("%s has no floating-point values", isa_row((enum isa_op)op)->name);
  }
}

/* On the slots as they are in UB. */
static void bits_function(uint16_t op, union slots *slots, size_t count) {
  switch (op) {
  case OP_VCOPY:
    break;
  case OP_VNOT:
    for (size_t i = 0; i < count; i++)
      slots->u16[i] = (uint16_t)~slots->u16[i];
    break;
  case OP_VRELU:
    for (size_t i = 0; i < count; i++)
      slots->i32[i] = slots->i32[i] > 0 ? slots->i32[i] : 0;
    break;
  default:
    vinci_bug("%s has no integer values", isa_row((enum isa_op)op)->name);
  }
}

void vec_unary_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  struct values values;
  values_start(&values, inst, core, vec_unary_walks(soc, inst), VECTOR_MASKED);
  values_join(&values, values.walks.operand[WALK_DST]);
  enum dtype type = inst_dtype(inst);
  bool floats = type == DTYPE_FP16 || type == DTYPE_FP32;
  float_function compute = floats ? float_function_of(inst->op) : NULL;
  union slots slots;
  for (uint64_t repeat = 0; repeat < values.walks.lanes.repeats; repeat++) {
    if (!values_repeat(&values, repeat))
      continue;
    if (compute) {
      slots_load_float(&values, WALK_SRC, type, slots.fp32);
      compute(slots.fp32, values.slots);
      slots_store_float(&values, WALK_DST, type, slots.fp32);
    } else {
      slots_load(&values, WALK_SRC, slots.bytes);
      bits_function(inst->op, &slots, values.slots);
      slots_store(&values, WALK_DST, slots.bytes);
    }
  }
}
