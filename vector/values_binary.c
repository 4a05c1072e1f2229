/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of vector instructions with two sources, and with a source and a scalar, which is a
 * second source whose lanes are all the same.
 */
#include "core/base/diag.h"
#include "vector/math.h"
#include "vector/values.h"

/* ---- lanes ---- */

typedef void (*float_op)(float *restrict out, const float *restrict a, const float *restrict b,
                         size_t count);

/* On out, a and b; `out` holds the old destination. */
#define FLOAT_OP(name, expression)                                                                 \
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

static float_op float_op_of(uint16_t op) {
  switch (op) {
  case OP_VADD:
  case OP_VADDS:
    return float_add;
  case OP_VSUB:
    return float_sub;
  case OP_VMUL:
  case OP_VMULS:
    return float_mul;
  case OP_VDIV:
    return float_div;
  case OP_VMAX:
  case OP_VMAXS:
    return float_max;
  case OP_VMIN:
  case OP_VMINS:
    return float_min;
  case OP_VADDRELU:
    return float_add_relu;
  case OP_VSUBRELU:
    return float_sub_relu;
  case OP_VMLA:
  case OP_VMLA_F162F32:
  case OP_VAXPY:
  case OP_VAXPY_F162F32:
    return float_mla;
  case OP_VMADD:
    return float_madd;
  case OP_VMADDRELU:
    return float_madd_relu;
  case OP_VLRELU:
    return float_leaky_relu;
  default:
    vinci_bug("%s has no floating-point values", isa_row((enum isa_op)op)->name);
  }
}

typedef void (*int_op)(void *out, const void *a, const void *b, size_t count);

/* Sums and products wrap around: computed without sign. */
#define INT_OP(name, type, expression)                                                             \
  LOOP static void name(void *out, const void *a, const void *b, size_t count) {                   \
    type *restrict to = out;                                                                       \
    const type *restrict x = a, *restrict y = b;                                                   \
    for (size_t i = 0; i < count; i++)                                                             \
      to[i] = (type)(expression);                                                                  \
  }
#define RELU(value) ((value) > 0 ? (value) : 0)
INT_OP(int16_add, int16_t, x[i] + y[i])
INT_OP(int16_sub, int16_t, x[i] - y[i])
INT_OP(int16_mul, int16_t, x[i] * y[i])
INT_OP(int16_max, int16_t, x[i] > y[i] ? x[i] : y[i])
INT_OP(int16_min, int16_t, x[i] < y[i] ? x[i] : y[i])
INT_OP(int16_add_relu, int16_t, RELU((int16_t)(x[i] + y[i])))
INT_OP(int16_sub_relu, int16_t, RELU((int16_t)(x[i] - y[i])))
INT_OP(int16_and, uint16_t, x[i] & y[i])
INT_OP(int16_or, uint16_t, x[i] | y[i])
INT_OP(int32_add, int32_t, (uint32_t)x[i] + (uint32_t)y[i])
INT_OP(int32_sub, int32_t, (uint32_t)x[i] - (uint32_t)y[i])
INT_OP(int32_mul, int32_t, (uint32_t)x[i] * (uint32_t)y[i])
INT_OP(int32_max, int32_t, x[i] > y[i] ? x[i] : y[i])
INT_OP(int32_min, int32_t, x[i] < y[i] ? x[i] : y[i])

static int_op int_op_of(uint16_t op, bool wide) {
  switch (op) {
  case OP_VADD:
  case OP_VADDS:
    return wide ? int32_add : int16_add;
  case OP_VSUB:
    return wide ? int32_sub : int16_sub;
  case OP_VMUL:
  case OP_VMULS:
    return wide ? int32_mul : int16_mul;
  case OP_VMAX:
  case OP_VMAXS:
    return wide ? int32_max : int16_max;
  case OP_VMIN:
  case OP_VMINS:
    return wide ? int32_min : int16_min;
  case OP_VADDRELU:
    return int16_add_relu;
  case OP_VSUBRELU:
    return int16_sub_relu;
  case OP_VAND:
    return int16_and;
  case OP_VOR:
    return int16_or;
  default:
    vinci_bug("%s has no integer values", isa_row((enum isa_op)op)->name);
  }
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

static void shift_slots(const struct inst *inst, union slots *slots, size_t count) {
  enum dtype type = inst_dtype(inst);
  bool is_signed = type == DTYPE_INT16 || type == DTYPE_INT32;
  unsigned width = dtype_bits(type);
  struct shift shift = {.width = width,
                        .sign = is_signed ? UINT32_C(1) << (width - 1) : 0,
                        .count = (uint64_t)inst->arg[SCALAR_VALUE]};
  uint32_t (*one)(uint32_t, struct shift) = inst->op == OP_VSHL ? shift_left : shift_right;
  for (size_t i = 0; i < count; i++) {
    if (width == dtype_bits(DTYPE_INT16))
      slots->u16[i] = (uint16_t)one(slots->u16[i], shift);
    else
      slots->u32[i] = one(slots->u32[i], shift);
  }
}

/* ---- instructions ---- */

enum { WALK_SRC0, WALK_SRC1, WALK_DST };

static bool is_float(enum dtype type) {
  return type == DTYPE_FP16 || type == DTYPE_BF16 || type == DTYPE_FP32;
}

struct types {
  enum dtype src;
  enum dtype dst;
};

static struct types types_of(const struct inst *inst) {
  if (inst->op == OP_VMLA_F162F32 || inst->op == OP_VAXPY_F162F32)
    return (struct types){DTYPE_FP16, DTYPE_FP32};
  return (struct types){inst_dtype(inst), inst_dtype(inst)};
}

void vec_binary_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  struct values values;
  values_start(&values, inst, core, vec_binary_walks(soc, inst), VECTOR_MASKED);
  values_join(&values, values.walks.operand[WALK_DST]);
  struct types types = types_of(inst);
  bool accumulates = isa_row((enum isa_op)inst->op)->arg[BINARY_DST].reads;
  float_op compute = is_float(types.dst) ? float_op_of(inst->op) : NULL;
  int_op compute_int = compute ? NULL : int_op_of(inst->op, types.dst == DTYPE_INT32);
  union slots a, b, out;
  for (uint64_t repeat = 0; repeat < values.walks.lanes.repeats; repeat++) {
    if (!values_repeat(&values, repeat))
      continue;
    if (compute) {
      slots_load_float(&values, WALK_SRC0, types.src, a.fp32);
      slots_load_float(&values, WALK_SRC1, types.src, b.fp32);
      if (accumulates)
        slots_load_float(&values, WALK_DST, types.dst, out.fp32);
      compute(out.fp32, a.fp32, b.fp32, values.slots);
      slots_store_float(&values, WALK_DST, types.dst, out.fp32);
    } else {
      slots_load(&values, WALK_SRC0, a.bytes);
      slots_load(&values, WALK_SRC1, b.bytes);
      compute_int(out.bytes, a.bytes, b.bytes, values.slots);
      slots_store(&values, WALK_DST, out.bytes);
    }
  }
}

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

void vec_scalar_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  enum { SRC, DST };
  struct values values;
  values_start(&values, inst, core, vec_scalar_walks(soc, inst), VECTOR_MASKED);
  values_join(&values, values.walks.operand[DST]);
  struct types types = types_of(inst);
  bool accumulates = isa_row((enum isa_op)inst->op)->arg[SCALAR_DST].reads;
  bool shifts = inst->op == OP_VSHL || inst->op == OP_VSHR;
  float_op compute = is_float(types.dst) ? float_op_of(inst->op) : NULL;
  int_op compute_int = compute || shifts ? NULL : int_op_of(inst->op, types.dst == DTYPE_INT32);
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
      if (shifts)
        shift_slots(inst, &a, values.slots);
      else
        compute_int(out.bytes, a.bytes, b.bytes, values.slots);
      slots_store(&values, DST, shifts ? a.bytes : out.bytes);
    }
  }
}

void vec_dup_values(const struct vinci_soc *soc, const struct inst *inst, struct value_core *core) {
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
