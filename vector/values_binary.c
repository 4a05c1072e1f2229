/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of vector instructions with two sources, and with a source and a scalar, which is a
 * second source whose lanes are all the same.
 */
#include "vector/math.h"
#include "vector/values.h"

/* ---- lanes ---- */

typedef void (*float_op)(float *restrict out, const float *restrict a, const float *restrict b,
                         size_t count);

/* On out, a and b; `out` holds the old destination. */
#define FLOAT_OP(name, expression)                                                                 \
  enum { name##_types = D_FLOAT };                                                                 \
  LOOP static void name(float *restrict out, const float *restrict a, const float *restrict b,     \
                        size_t count) {                                                            \
    for (size_t i = 0; i < count; i++)                                                             \
      out[i] = expression;                                                                         \
  }
FLOAT_OP(float_add, a[i] + b[i])
FLOAT_OP(float_sub, a[i] - b[i])
FLOAT_OP(float_mul, a[i] * b[i])
FLOAT_OP(float_div, a[i] / b[i])
FLOAT_OP(float_max, math_larger(a[i], b[i]))
FLOAT_OP(float_min, math_smaller(a[i], b[i]))
FLOAT_OP(float_add_relu, math_larger(a[i] + b[i], 0.0f))
FLOAT_OP(float_sub_relu, math_larger(a[i] - b[i], 0.0f))
FLOAT_OP(float_mla, math_fma(a[i], b[i], out[i]))
FLOAT_OP(float_madd, math_fma(a[i], out[i], b[i]))
FLOAT_OP(float_madd_relu, math_larger(math_fma(a[i], out[i], b[i]), 0.0f))
FLOAT_OP(float_leaky_relu, a[i] >= 0.0f ? a[i] : a[i] * b[i])

typedef void (*int_op)(void *out, const void *a, const void *b, size_t count);

/* Sums and products wrap around: computed without sign. */
#define INT_OP(name, dtypes, type, expression)                                                     \
  enum { name##_types = dtypes };                                                                  \
  LOOP static void name(void *out, const void *a, const void *b, size_t count) {                   \
    type *restrict to = out;                                                                       \
    const type *restrict x = a, *restrict y = b;                                                   \
    for (size_t i = 0; i < count; i++)                                                             \
      to[i] = (type)(expression);                                                                  \
  }
#define RELU(value) ((value) > 0 ? (value) : 0)
INT_OP(int16_add, D(INT16), int16_t, x[i] + y[i])
INT_OP(int16_sub, D(INT16), int16_t, x[i] - y[i])
INT_OP(int16_mul, D(INT16), int16_t, x[i] * y[i])
INT_OP(int16_max, D(INT16), int16_t, x[i] > y[i] ? x[i] : y[i])
INT_OP(int16_min, D(INT16), int16_t, x[i] < y[i] ? x[i] : y[i])
INT_OP(int16_add_relu, D(INT16), int16_t, RELU((int16_t)(x[i] + y[i])))
INT_OP(int16_sub_relu, D(INT16), int16_t, RELU((int16_t)(x[i] - y[i])))
INT_OP(int16_and, D_BITS16, uint16_t, x[i] & y[i])
INT_OP(int16_or, D_BITS16, uint16_t, x[i] | y[i])
INT_OP(int32_add, D(INT32), int32_t, (uint32_t)x[i] + (uint32_t)y[i])
INT_OP(int32_sub, D(INT32), int32_t, (uint32_t)x[i] - (uint32_t)y[i])
INT_OP(int32_mul, D(INT32), int32_t, (uint32_t)x[i] * (uint32_t)y[i])
INT_OP(int32_max, D(INT32), int32_t, x[i] > y[i] ? x[i] : y[i])
INT_OP(int32_min, D(INT32), int32_t, x[i] < y[i] ? x[i] : y[i])

/* What an instruction does to fp16 and fp32, to 16-bit and to 32-bit integers. */
struct lane_ops {
  float_op floats;
  int_op int16;
  int_op int32;
};

static int_op int_op_of(const struct lane_ops *ops, enum dtype type) {
  return type == DTYPE_INT32 ? ops->int32 : ops->int16;
}

/*
 * Shifts. To the right the sign bit comes in, of unsigned types 0. To the left a signed number
 * keeps its sign bit, the bits below it move (Ascend C documentation, ShiftLeft).
 */
struct shift {
  uint32_t width;
  uint32_t sign; /* of signed types, else 0 */
  uint64_t count;
};

static uint32_t shift_left(uint32_t value, struct shift shift) {
  uint32_t low = shift.sign ? shift.sign - 1 : (uint32_t)((UINT64_C(1) << shift.width) - 1);
  uint32_t moved = shift.count < shift.width ? value << shift.count & low : 0;
  return (value & shift.sign) | moved;
}

static uint32_t shift_right(uint32_t value, struct shift shift) {
  int64_t number = (int64_t)value - (value & shift.sign ? INT64_C(1) << shift.width : 0);
  return (uint32_t)(number >> (shift.count < shift.width ? shift.count : shift.width));
}

typedef uint32_t (*shift_op)(uint32_t value, struct shift shift);

static void shift_slots(const struct inst *inst, shift_op one, union slots *slots, size_t count) {
  enum dtype type = inst_dtype(inst);
  bool is_signed = type == DTYPE_INT16 || type == DTYPE_INT32;
  unsigned width = dtype_bits(type);
  struct shift shift = {.width = width,
                        .sign = is_signed ? UINT32_C(1) << (width - 1) : 0,
                        .count = (uint64_t)inst->arg[SCALAR_VALUE]};
  for (size_t i = 0; i < count; i++) {
    if (width == dtype_bits(DTYPE_INT16))
      slots->u16[i] = (uint16_t)one(slots->u16[i], shift);
    else
      slots->u32[i] = one(slots->u32[i], shift);
  }
}

/* ---- two sources ---- */

static bool is_float(enum dtype type) {
  return type == DTYPE_FP16 || type == DTYPE_BF16 || type == DTYPE_FP32;
}

static void binary_values(const struct vinci_soc *soc, const struct inst *inst,
                          struct value_core *core, const struct lane_ops *ops) {
  enum { SRC0, SRC1, DST };
  struct values values;
  values_start(&values, inst, core, vec_binary_walks(soc, inst), VECTOR_MASKED);
  values_join(&values, values.walks.operand[DST]);
  struct isa_types types = inst_types(inst);
  bool accumulates = isa_row((enum isa_op)inst->op)->arg[BINARY_DST].reads;
  float_op compute = is_float(types.dst) ? ops->floats : NULL;
  int_op compute_int = int_op_of(ops, types.dst);
  union slots a, b, out;
  for (uint64_t repeat = 0; repeat < values.walks.lanes.repeats; repeat++) {
    if (!values_repeat(&values, repeat))
      continue;
    if (compute) {
      slots_load_float(&values, SRC0, types.src, a.fp32);
      slots_load_float(&values, SRC1, types.src, b.fp32);
      if (accumulates)
        slots_load_float(&values, DST, types.dst, out.fp32);
      compute(out.fp32, a.fp32, b.fp32, values.slots);
      slots_store_float(&values, DST, types.dst, out.fp32);
    } else {
      slots_load(&values, SRC0, a.bytes);
      slots_load(&values, SRC1, b.bytes);
      compute_int(out.bytes, a.bytes, b.bytes, values.slots);
      slots_store(&values, DST, out.bytes);
    }
  }
}

#define LANES(id, function, of_floats, of_int16, of_int32)                                         \
  COVERS(id, of_floats##_types | of_int16##_types | of_int32##_types);                             \
  void id##_values(const struct vinci_soc *soc, const struct inst *inst,                           \
                   struct value_core *core) {                                                      \
    static const struct lane_ops ops = {of_floats, of_int16, of_int32};                            \
    function(soc, inst, core, &ops);                                                               \
  }
LANES(VADD, binary_values, float_add, int16_add, int32_add)
LANES(VSUB, binary_values, float_sub, int16_sub, int32_sub)
LANES(VMUL, binary_values, float_mul, int16_mul, int32_mul)
LANES(VMAX, binary_values, float_max, int16_max, int32_max)
LANES(VMIN, binary_values, float_min, int16_min, int32_min)
LANES(VDIV, binary_values, float_div, NO_OP, NO_OP)
LANES(VAND, binary_values, NO_OP, int16_and, NO_OP)
LANES(VOR, binary_values, NO_OP, int16_or, NO_OP)
LANES(VMLA, binary_values, float_mla, NO_OP, NO_OP)
LANES(VMLA_F162F32, binary_values, float_mla, NO_OP, NO_OP)
LANES(VMADD, binary_values, float_madd, NO_OP, NO_OP)
LANES(VMADDRELU, binary_values, float_madd_relu, NO_OP, NO_OP)
LANES(VADDRELU, binary_values, float_add_relu, int16_add_relu, NO_OP)
LANES(VSUBRELU, binary_values, float_sub_relu, int16_sub_relu, NO_OP)

/* ---- a source and a scalar ---- */

LOOP static void fill_u16(uint16_t *out, uint16_t value, size_t count) {
  for (size_t i = 0; i < count; i++)
    out[i] = value;
}

LOOP static void fill_u32(uint32_t *out, uint32_t value, size_t count) {
  for (size_t i = 0; i < count; i++)
    out[i] = value;
}

/* The slots of a scalar operand, as many as repeats may need. */
static void fill_slots(const struct values *values, enum dtype type, int64_t scalar,
                       union slots *out) {
  const struct vector_lanes *lanes = &values->walks.lanes;
  size_t count = (size_t)(lanes->repeats > 1 ? lanes->per_repeat : lanes->tail_end);
  count = (count + BLOCK_BYTES) / BLOCK_BYTES * BLOCK_BYTES; /* whole blocks of any type */
  count = count < SLOTS_MAX ? count : SLOTS_MAX;
  if (is_float(type))
    fill_u32(out->u32, fp32_bits(scalar_float(type, scalar)), count);
  else if (dtype_bits(type) == dtype_bits(DTYPE_INT16))
    fill_u16(out->u16, (uint16_t)scalar, count);
  else
    fill_u32(out->u32, (uint32_t)scalar, count);
}

static void scalar_values(const struct vinci_soc *soc, const struct inst *inst,
                          struct value_core *core, const struct lane_ops *ops) {
  enum { SRC, DST };
  struct values values;
  values_start(&values, inst, core, vec_scalar_walks(soc, inst), VECTOR_MASKED);
  values_join(&values, values.walks.operand[DST]);
  struct isa_types types = inst_types(inst);
  bool accumulates = isa_row((enum isa_op)inst->op)->arg[SCALAR_DST].reads;
  float_op compute = is_float(types.dst) ? ops->floats : NULL;
  int_op compute_int = int_op_of(ops, types.dst);
  union slots a, b, out;
  fill_slots(&values, types.src, inst->arg[SCALAR_VALUE], &b);
  for (uint64_t repeat = 0; repeat < values.walks.lanes.repeats; repeat++) {
    if (!values_repeat(&values, repeat))
      continue;
    if (compute) {
      slots_load_float(&values, SRC, types.src, a.fp32);
      if (accumulates)
        slots_load_float(&values, DST, types.dst, out.fp32);
      compute(out.fp32, a.fp32, b.fp32, values.slots);
      slots_store_float(&values, DST, types.dst, out.fp32);
    } else {
      slots_load(&values, SRC, a.bytes);
      compute_int(out.bytes, a.bytes, b.bytes, values.slots);
      slots_store(&values, DST, out.bytes);
    }
  }
}

LANES(VADDS, scalar_values, float_add, int16_add, int32_add)
LANES(VMULS, scalar_values, float_mul, int16_mul, int32_mul)
LANES(VMAXS, scalar_values, float_max, int16_max, int32_max)
LANES(VMINS, scalar_values, float_min, int16_min, int32_min)
LANES(VLRELU, scalar_values, float_leaky_relu, NO_OP, NO_OP)
LANES(VAXPY, scalar_values, float_mla, NO_OP, NO_OP)
LANES(VAXPY_F162F32, scalar_values, float_mla, NO_OP, NO_OP)

static void shift_values(const struct vinci_soc *soc, const struct inst *inst,
                         struct value_core *core, shift_op one) {
  enum { SRC, DST };
  struct values values;
  values_start(&values, inst, core, vec_scalar_walks(soc, inst), VECTOR_MASKED);
  values_join(&values, values.walks.operand[DST]);
  union slots slots;
  for (uint64_t repeat = 0; repeat < values.walks.lanes.repeats; repeat++) {
    if (!values_repeat(&values, repeat))
      continue;
    slots_load(&values, SRC, slots.bytes);
    shift_slots(inst, one, &slots, values.slots);
    slots_store(&values, DST, slots.bytes);
  }
}

#define SHIFT(id, one)                                                                             \
  COVERS(id, D_INTEGER);                                                                           \
  void id##_values(const struct vinci_soc *soc, const struct inst *inst,                           \
                   struct value_core *core) {                                                      \
    shift_values(soc, inst, core, one);                                                            \
  }
SHIFT(VSHL, shift_left)
SHIFT(VSHR, shift_right)

void VECTOR_DUP_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  struct values values;
  values_start(&values, inst, core, vec_dup_walks(soc, inst), VECTOR_MASKED);
  values_join(&values, values.walks.operand[0]);
  /* Bits, whatever the type. */
  enum dtype bits = values.widest == dtype_bits(DTYPE_UINT16) ? DTYPE_UINT16 : DTYPE_UINT32;
  union slots slots;
  fill_slots(&values, bits, inst->arg[DUP_VALUE], &slots);
  for (uint64_t repeat = 0; repeat < values.walks.lanes.repeats; repeat++)
    if (values_repeat(&values, repeat))
      slots_store(&values, 0, slots.bytes);
}
