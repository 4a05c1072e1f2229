/* SPDX-License-Identifier: Apache-2.0 */
/* Values of vector instructions with one source: functions of floating-point numbers and bits. */
#include "vector/math.h"
#include "vector/values.h"

enum { WALK_SRC, WALK_DST };

typedef void (*float_function)(float *values, size_t count);

#define FLOAT_FUNCTION(name, expression)                                                           \
  enum { name##_types = D_FLOAT };                                                                 \
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

/* On the slots as they are in UB. */
typedef void (*bits_function)(union slots *slots, size_t count);

#define BITS_FUNCTION(name, dtypes, member, expression)                                            \
  enum { name##_types = dtypes };                                                                  \
  static void name(union slots *slots, size_t count) {                                             \
    for (size_t i = 0; i < count; i++)                                                             \
      slots->member[i] = expression;                                                               \
  }
BITS_FUNCTION(bits_not, D_BITS16, u16, (uint16_t)~slots->u16[i])
BITS_FUNCTION(bits_relu, D(INT32), i32, slots->i32[i] > 0 ? slots->i32[i] : 0)

enum { bits_same_types = D_INTEGER };
static void bits_same(union slots *slots, size_t count) {
  (void)slots;
  (void)count;
}

static void unary_values(const struct vinci_soc *soc, const struct inst *inst,
                         struct value_core *core, float_function floats, bits_function bits) {
  struct values values;
  values_start(&values, inst, core, vec_unary_walks(soc, inst), VECTOR_MASKED);
  values_join(&values, values.walks.operand[WALK_DST]);
  enum dtype type = inst_dtype(inst);
  bool is_float = type == DTYPE_FP16 || type == DTYPE_FP32;
  union slots slots;
  for (uint64_t repeat = 0; repeat < values.walks.lanes.repeats; repeat++) {
    if (!values_repeat(&values, repeat))
      continue;
    if (is_float) {
      slots_load_float(&values, WALK_SRC, type, slots.fp32);
      floats(slots.fp32, values.slots);
      slots_store_float(&values, WALK_DST, type, slots.fp32);
    } else {
      slots_load(&values, WALK_SRC, slots.bytes);
      bits(&slots, values.slots);
      slots_store(&values, WALK_DST, slots.bytes);
    }
  }
}

#define UNARY(id, floats, bits)                                                                    \
  COVERS(id, floats##_types | bits##_types);                                                       \
  void id##_values(const struct vinci_soc *soc, const struct inst *inst,                           \
                   struct value_core *core) {                                                      \
    unary_values(soc, inst, core, floats, bits);                                                   \
  }
UNARY(VABS, float_abs, NO_OP)
UNARY(VEXP, float_exp, NO_OP)
UNARY(VLN, float_ln, NO_OP)
UNARY(VREC, float_rec, NO_OP)
UNARY(VSQRT, float_sqrt, NO_OP)
UNARY(VRSQRT, float_rsqrt, NO_OP)
UNARY(VRELU, float_relu, bits_relu)
UNARY(VNOT, NO_OP, bits_not)

COVERS(VCOPY, bits_same_types);
void VCOPY_values(const struct vinci_soc *soc, const struct inst *inst, struct value_core *core) {
  uint64_t repeats = inst->mask.counter ? (uint64_t)inst->arg[UNARY_REPEAT] : 1;
  for (uint64_t repeat = 0; repeat < repeats; repeat++) {
    struct inst one = inst->mask.counter ? vec_copy_repeat(soc, inst, repeat) : *inst;
    unary_values(soc, &one, core, NO_OP, bits_same);
  }
}
