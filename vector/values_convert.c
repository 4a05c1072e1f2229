/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of conversions. All numbers but those of int64 go through double, which holds them
 * exactly, and are rounded once; the conversions that loops are full of have loops of their own.
 */
#include "vector/values.h"

enum { WALK_SRC, WALK_DST };

/* Integers by type: the lowest and the highest. */
static void integer_range(enum dtype type, int64_t *low, int64_t *high) {
  bool is_signed = type != DTYPE_UINT8 && type != DTYPE_UINT16 && type != DTYPE_UINT32;
  unsigned bits = dtype_bits(type);
  *high = (int64_t)((UINT64_C(1) << (is_signed ? bits - 1 : bits)) - 1);
  *low = is_signed ? -*high - 1 : 0;
}

static bool is_float(enum dtype type) {
  return type == DTYPE_FP16 || type == DTYPE_BF16 || type == DTYPE_FP32;
}

static int64_t integer_at(enum dtype type, const union slots *slots, size_t i) {
  switch (type) {
  case DTYPE_INT4:
    return int4_load(slots->bytes, i);
  case DTYPE_INT8:
    return (int8_t)slots->bytes[i];
  case DTYPE_UINT8:
    return slots->bytes[i];
  case DTYPE_INT16:
    return slots->i16[i];
  case DTYPE_INT32:
    return slots->i32[i];
  default:
    return slots->i64[i];
  }
}

static void put_integer(enum dtype type, union slots *slots, size_t i, int64_t value) {
  switch (dtype_bits(type)) {
  case 4:
    int4_store(slots->bytes, i, (int)value);
    break;
  case 8:
    slots->bytes[i] = (uint8_t)value;
    break;
  case 16:
    slots->i16[i] = (int16_t)value;
    break;
  case 32:
    slots->i32[i] = (int32_t)value;
    break;
  default:
    slots->i64[i] = value;
    break;
  }
}

struct conversion {
  struct isa_types types;
  enum number_round round;
  bool saturates; /* fp16 and bf16 results */
  double scale;   /* of vconv_deq, else 1 */
};

/* One number after the other: wide integers and modes that loops are not made for. */
static void from_integers(const struct conversion *how, const union slots *src, union slots *dst,
                          size_t count) {
  int64_t low, high;
  integer_range(how->types.dst, &low, &high);
  for (size_t i = 0; i < count; i++) {
    int64_t value = integer_at(how->types.src, src, i);
    if (how->types.dst == DTYPE_FP32)
      dst->fp32[i] = number_from_integer(value, how->round);
    else if (how->types.dst == DTYPE_FP16)
      dst->u16[i] = (uint16_t)number_encode(&number_fp16, (double)value * how->scale, how->round,
                                            how->saturates);
    else
      put_integer(how->types.dst, dst, i, value < low ? low : value > high ? high : value);
  }
}

static void from_floats(const struct conversion *how, const float *src, union slots *dst,
                        size_t count) {
  enum dtype type = how->types.dst;
  int64_t low, high;
  integer_range(type, &low, &high);
  if (!is_float(type) && type != DTYPE_INT64) {
    union slots integers;
    floats_to_integers(src, how->round, low, high, integers.i32, count);
    integers_narrow(integers.i32, dtype_bits(type), dst, count);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (type == DTYPE_FP32)
      dst->fp32[i] = fp32_result((float)number_integral(src[i], how->round));
    else if (type == DTYPE_FP16)
      dst->u16[i] = (uint16_t)number_encode(&number_fp16, src[i], how->round, how->saturates);
    else if (type == DTYPE_BF16)
      dst->u16[i] = (uint16_t)number_encode(&number_bf16, src[i], how->round, how->saturates);
    else
      put_integer(type, dst, i, number_to_integer(src[i], how->round, low, high));
  }
}

static void convert_slots(const struct conversion *how, const union slots *src, union slots *dst,
                          size_t count) {
  enum dtype from = how->types.src, to = how->types.dst;
  union slots floats;
  if (!is_float(from)) {
    bool exact = dtype_bits(from) <= dtype_bits(DTYPE_INT16);
    bool rounds = how->round == ROUND_EVEN && (exact || (from == DTYPE_INT32 && to == DTYPE_FP32));
    if (!is_float(to) || !rounds) {
      from_integers(how, src, dst, count);
      return;
    }
    integers_to_floats(from, src, floats.fp32, count);
    floats_to(to, how->saturates, floats.fp32, dst, count);
    return;
  }
  floats_from(from, src, floats.fp32, count);
  bool widens = to == DTYPE_FP32 && from != DTYPE_FP32;
  if (is_float(to) && to != from && (widens || how->round == ROUND_EVEN))
    floats_to(to, how->saturates, floats.fp32, dst, count);
  else
    from_floats(how, floats.fp32, dst, count);
}

static void convert_values(const struct vinci_soc *soc, const struct inst *inst,
                           struct value_core *core, double scale) {
  struct values values;
  values_start(&values, inst, core, vec_convert_walks(soc, inst), VECTOR_MASKED);
  values_join(&values, values.walks.operand[WALK_DST]);
  const struct isa_row *row = isa_row((enum isa_op)inst->op);
  bool has_round = row->arg_count > CONVERT_ROUND;
  struct conversion how = {
      .types = inst_types(inst),
      .round = has_round ? (enum number_round)inst->arg[CONVERT_ROUND] : ROUND_EVEN,
      .saturates = inst_saturates(inst),
      .scale = scale,
  };
  union slots from, to;
  for (uint64_t repeat = 0; repeat < values.walks.lanes.repeats; repeat++) {
    if (!values_repeat(&values, repeat))
      continue;
    slots_load(&values, WALK_SRC, from.bytes);
    convert_slots(&how, &from, &to, values.slots);
    slots_store(&values, WALK_DST, to.bytes);
  }
}

void vec_convert_values(const struct vinci_soc *soc, const struct inst *inst,
                        struct value_core *core) {
  convert_values(soc, inst, core, 1.0);
}

/* The scale register as an fp16. */
static double deq_scale(const struct inst *inst) {
  return fp16_to_fp32((uint16_t)inst->registers.deq_scale);
}

void vec_convert_deq_values(const struct vinci_soc *soc, const struct inst *inst,
                            struct value_core *core) {
  convert_values(soc, inst, core, deq_scale(inst));
}

enum combination { COMBINE_ADD, COMBINE_SUB, COMBINE_MUL };

static double combined(enum combination combination, double left, double right) {
  switch (combination) {
  case COMBINE_SUB:
    return left - right;
  case COMBINE_MUL:
    return left * right;
  default:
    return left + right;
  }
}

/*
 * Sums, differences and products that are converted at once. Of fp16 and int16 nothing is lost
 * before the conversion rounds; sums of fp32 are fp32 numbers first.
 */
static void combine(enum combination combination, enum dtype type, const union slots *a,
                    const union slots *b, size_t count, double *out) {
  union slots x, y;
  bool floats = is_float(type);
  if (floats) {
    floats_from(type, a, x.fp32, count);
    floats_from(type, b, y.fp32, count);
  }
  for (size_t i = 0; i < count; i++) {
    double left = floats ? x.fp32[i] : (double)integer_at(type, a, i);
    double right = floats ? y.fp32[i] : (double)integer_at(type, b, i);
    out[i] = combined(combination, left, right);
    if (type == DTYPE_FP32)
      out[i] = (float)out[i]; /* as one addition of fp32: double has digits to spare */
  }
}

static void convert_results(bool relu, const struct conversion *how, const double *results,
                            size_t count, union slots *dst) {
  int64_t low, high;
  integer_range(how->types.dst, &low, &high);
  for (size_t i = 0; i < count; i++) {
    double result = results[i] * how->scale;
    if (relu && !(result > 0.0) && result == result)
      result = 0.0;
    if (how->types.dst == DTYPE_FP16)
      dst->u16[i] = (uint16_t)number_encode(&number_fp16, result, ROUND_EVEN, how->saturates);
    else
      put_integer(how->types.dst, dst, i, number_to_integer(result, ROUND_EVEN, low, high));
  }
}

/* Sums and differences become at least 0, products do not. */
static void binary_convert_values(const struct vinci_soc *soc, const struct inst *inst,
                                  struct value_core *core, enum combination combination,
                                  double scale) {
  enum { SRC0, SRC1, DST };
  struct values values;
  values_start(&values, inst, core, vec_binary_convert_walks(soc, inst), VECTOR_MASKED);
  values_join(&values, values.walks.operand[DST]);
  struct conversion how = {
      .types = inst_types(inst),
      .saturates = inst_saturates(inst),
      .scale = scale,
  };
  union slots a, b, out;
  double results[SLOTS_MAX];
  for (uint64_t repeat = 0; repeat < values.walks.lanes.repeats; repeat++) {
    if (!values_repeat(&values, repeat))
      continue;
    slots_load(&values, SRC0, a.bytes);
    slots_load(&values, SRC1, b.bytes);
    combine(combination, how.types.src, &a, &b, values.slots, results);
    convert_results(combination != COMBINE_MUL, &how, results, values.slots, &out);
    slots_store(&values, DST, out.bytes);
  }
}

#define BINARY_CONVERT_VALUES(name, combination, scale)                                            \
  void name##_values(const struct vinci_soc *soc, const struct inst *inst,                         \
                     struct value_core *core) {                                                    \
    binary_convert_values(soc, inst, core, combination, scale);                                    \
  }
BINARY_CONVERT_VALUES(vec_add_relu_convert, COMBINE_ADD, 1.0)
BINARY_CONVERT_VALUES(vec_sub_relu_convert, COMBINE_SUB, 1.0)
BINARY_CONVERT_VALUES(vec_mul_convert, COMBINE_MUL, 1.0)
BINARY_CONVERT_VALUES(vec_add_relu_deq, COMBINE_ADD, deq_scale(inst))

/* The scale register of requantisation to 8 bits. */
struct requantisation {
  double scale; /* fp32 with 10 bits of fraction */
  double offset;
  int64_t low;
  int64_t high;
};

static struct requantisation requantisation_of(uint64_t word) {
  int64_t offset = (int64_t)(word >> 37 & 0x1ff);
  bool is_signed = word >> 46 & 1;
  return (struct requantisation){
      .scale = fp32_from_bits((uint32_t)word & ~UINT32_C(0x1fff)),
      .offset = (double)(offset - (offset & 0x100) * 2),
      .low = is_signed ? INT8_MIN : 0,
      .high = is_signed ? INT8_MAX : UINT8_MAX,
  };
}

/* By element of a block; returns how many there are. */
static uint64_t read_scales(const struct inst *inst, const uint8_t *ub,
                            struct requantisation scales[BLOCK_BYTES / 2]) {
  uint64_t address, count = vec_convert_half_scales(inst, &address);
  if (count == 0) {
    scales[0] = requantisation_of(inst->registers.deq_scale);
    return 1;
  }
  for (uint64_t i = 0; i < count; i++) {
    scales[i] = requantisation_of(load_u64(ub + address + i * sizeof(uint64_t)));
  }
  return count;
}

void vec_convert_half_values(const struct vinci_soc *soc, const struct inst *inst,
                             struct value_core *core) {
  struct values values;
  values_start(&values, inst, core, vec_convert_half_walks(soc, inst), VECTOR_MASKED);
  struct requantisation scales[BLOCK_BYTES / 2];
  uint64_t scale_count = 0; /* read where a lane is active: else nothing is touched */
  uint8_t *dst = values.ub + (uint64_t)inst->arg[UNARY_DST] + vec_convert_half_offset(inst);
  const struct vector_operand *walk = &values.walks.operand[WALK_DST];
  union slots src;
  for (uint64_t repeat = 0; repeat < values.walks.lanes.repeats; repeat++) {
    if (!values_repeat(&values, repeat))
      continue;
    slots_load(&values, WALK_SRC, src.bytes);
    for (uint64_t lane = values.first; lane < values.end; lane++) {
      if (!values_active(&values, lane, 1))
        continue;
      if (scale_count == 0)
        scale_count = read_scales(inst, values.ub, scales);
      const struct requantisation *how = &scales[lane % scale_count];
      double result = src.i16[lane - values.first] * how->scale + how->offset;
      uint64_t block = lane / (BLOCK_BYTES / 2);
      uint64_t at = repeat * walk->repeat_stride + block * walk->block_stride;
      dst[at * BLOCK_BYTES + lane % (BLOCK_BYTES / 2)] =
          (uint8_t)number_to_integer(result, ROUND_EVEN, how->low, how->high);
    }
  }
}
