/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise operators on conditions and bits: comparisons, whose results are bytes of 0 and 1 as
 * the vendor's BOOL is; logic on such bytes; bitwise logic on integers.
 */
#include "lower/vector/elementwise/elementwise.h"

#define NUMBERS "fp16|bf16|fp32|int32|int16|int8|uint8"

/* ---- comparisons ----------------------------------------------------------------------------- */

static const struct lower_key order_keys[] = {
    SHAPE_KEY("extents of x"), SHAPE1_KEY, DTYPE_KEY("fp16", NUMBERS, "type of x"),
    LOWER_KEY("dtype1", DTYPE, "", NUMBERS, "type of x1; that of x"), VTILE_KEYS_TABLE};
static const struct lower_key equality_keys[] = {
    SHAPE_KEY("extents of x"), SHAPE1_KEY, DTYPE_KEY("fp16", NUMBERS "|int64", "type of x"),
    LOWER_KEY("dtype1", DTYPE, "", NUMBERS "|int64", "type of x1; that of x"), VTILE_KEYS_TABLE};

/* 1 or 0 in half precision, by the bits of T0; it becomes a byte. */
#define TRUTH(if_set_, if_clear_)                                                                  \
  AS(DTYPE_FP16, 1, FILL_(T1, if_set_)), AS(DTYPE_FP16, 1, FILL_(Y0, if_clear_)),                  \
      AS(DTYPE_FP16, 1, SELECT_(Y0, T1, Y0, T0)), END

#define COMPARE_STEPS(id)                                                                          \
  { B("vcmpv_" id, T0, X0, X1), TRUTH(1, 0) }
static const struct vstep greater_steps[] = COMPARE_STEPS("gt");
static const struct vstep greater_equal_steps[] = COMPARE_STEPS("ge");
static const struct vstep less_steps[] = COMPARE_STEPS("lt");
static const struct vstep less_equal_steps[] = COMPARE_STEPS("le");
static const struct vstep equal_steps[] = COMPARE_STEPS("eq");
static const struct vstep not_equal_steps[] = COMPARE_STEPS("ne");

/* Integers of 32 bits are compared for equality alone: x <= x1 where the larger one is x1. */
#define LARGER B("vmax", T2, X0, X1), B("vcmpv_eq", T0, T2, X1)
#define SMALLER B("vmin", T2, X0, X1), B("vcmpv_eq", T0, T2, X1)
#define SAME B("vcmpv_eq", T0, X0, X1)
static const struct vstep greater_words[] = {LARGER, TRUTH(0, 1)};
static const struct vstep greater_equal_words[] = {SMALLER, TRUTH(1, 0)};
static const struct vstep less_words[] = {SMALLER, TRUTH(0, 1)};
static const struct vstep less_equal_words[] = {LARGER, TRUTH(1, 0)};
static const struct vstep equal_words[] = {SAME, TRUTH(1, 0)};
static const struct vstep not_equal_words[] = {SAME, TRUTH(0, 1)};

/* Integers of 64 bits are equal where both halves of their difference are 0. T2 and T3 say where
 * the lower and the upper half of each element are; they are the same for all tiles. */
#define PAIRS_DIFFER                                                                               \
  HELD(T2), HELD(T3), AS(DTYPE_INT32, 2, B_("vsub", T0, X0, X1)),                                  \
      AS(DTYPE_INT32, 1, GATHER_(T1, T0, T2)), AS(DTYPE_INT32, 1, GATHER_(Y0, T0, T3)),            \
      AS(DTYPE_UINT16, 2, B_("vor", T1, T1, Y0)), AS(DTYPE_INT32, 1, Q_("vcmpvs_eq", T0, T1, 0))
static const struct vstep equal_pairs[] = {PAIRS_DIFFER, TRUTH(1, 0)};
static const struct vstep not_equal_pairs[] = {PAIRS_DIFFER, TRUTH(0, 1)};

static void put_halves(struct emit *e, const struct vew *ew) {
  enum { WORD_BYTES = 4 };
  struct vtable tables[] = {vtable_series(ew->temp[T2], 2 * WORD_BYTES),
                            vtable_series(ew->temp[T3], 2 * WORD_BYTES)};
  for (unsigned lane = 0; lane < VTABLE_FIRST; lane++)
    tables[1].first[lane] += WORD_BYTES;
  emit_comment(e, "Where the lower and the upper half of each element are.");
  vtables_fill(e, tables, 2, ew->kernel.tile.cols);
  emit_barrier(e, PIPE_V);
}

static enum vinci_status choose_words(struct lower_job *job, struct vfunc *func,
                                      const struct vstep *words, const struct vstep *pairs) {
  unsigned longs = vew_longs(job);
  enum dtype type = lower_get(job, "dtype")->dtype;
  const struct lower_value *type1 = lower_get(job, "dtype1");
  if (longs > 0) {
    func->types = VTYPES_PAIRS;
    func->steps = pairs;
    func->start = put_halves;
    return vew_same_longs(job);
  }
  if (type == DTYPE_INT32 && (!type1 || type1->dtype == type)) {
    func->types = VTYPES_INT32;
    func->steps = words;
  }
  return VINCI_OK;
}

#define COMPARISON(id, vendor, summary, keys, pairs)                                               \
  static enum vinci_status choose_##id(struct lower_job *job, struct vfunc *func) {                \
    return choose_words(job, func, id##_words, pairs);                                             \
  }                                                                                                \
  VEW_OPERATOR(id, vendor, summary, keys, vew_call_binary, .inputs = 2, .outputs = 1,              \
               .types = VTYPES_FP16 | VTYPES_BYTES, .truth = true, .steps = id##_steps,            \
               .choose = choose_##id)

COMPARISON(greater, "Greater", "y = x > x1 as a byte, 0 or 1", order_keys, NULL)
COMPARISON(greater_equal, "GreaterEqual", "y = x >= x1 as a byte, 0 or 1", order_keys, NULL)
COMPARISON(less, "Less", "y = x < x1 as a byte, 0 or 1", order_keys, NULL)
COMPARISON(less_equal, "LessEqual", "y = x <= x1 as a byte, 0 or 1", order_keys, NULL)
COMPARISON(equal, "Equal", "y = x == x1 as a byte, 0 or 1", equality_keys, equal_pairs)
COMPARISON(not_equal, "NotEqual", "y = x != x1 as a byte, 0 or 1", equality_keys, not_equal_pairs)

/* ---- logic on bytes of 0 and 1 --------------------------------------------------------------- */

static const struct lower_key truth_keys[] = {SHAPE_KEY("extents of x"), SHAPE1_KEY,
                                              DTYPE_KEY("uint8", "uint8|int8", "type of all"),
                                              VTILE_KEYS_TABLE};
static const struct lower_key not_keys[] = {SHAPE_KEY("extents of x"),
                                            DTYPE_KEY("uint8", "uint8|int8", "type of x and y"),
                                            VTILE_KEYS_TABLE};

static const struct vstep logical_and_steps[] = {B("vmul", Y0, X0, X1), END};
static const struct vstep logical_or_steps[] = {B("vmax", Y0, X0, X1), END};
static const struct vstep logical_not_steps[] = {S("vmuls", Y0, X0, -1), S("vadds", Y0, Y0, 1),
                                                 END};

static bool call_truth(struct lower_call *call) {
  if (call->input_count < 2)
    return lower_cannot(call, "two inputs are needed");
  if (call->input[0].dtype != call->input[1].dtype)
    return lower_cannot(call, "the inputs have two types");
  lower_arg_shape(call, "shape", call->input[0].shape, call->input[0].rank);
  lower_arg_shape(call, "shape1", call->input[1].shape, call->input[1].rank);
  lower_arg_dtype(call, "dtype", &call->input[0]);
  return true;
}

static bool call_not(struct lower_call *call) {
  if (call->input_count == 0)
    return lower_cannot(call, "no input");
  lower_arg_elements(call, &call->input[0]);
  return true;
}

#define TRUTHS(id, vendor, summary, keys, call, inputs_)                                           \
  VEW_OPERATOR(id, vendor, summary, keys, call, .inputs = inputs_, .outputs = 1,                   \
               .types = VTYPES_BYTES, .steps = id##_steps)

TRUTHS(logical_and, "LogicalAnd", "y = x and x1; all are 0 or 1", truth_keys, call_truth, 2)
TRUTHS(logical_or, "LogicalOr", "y = x or x1; all are 0 or 1", truth_keys, call_truth, 2)
TRUTHS(logical_not, "LogicalNot", "y = not x; both are 0 or 1", not_keys, call_not, 1)

/* ---- bitwise logic --------------------------------------------------------------------------- */

#define INTEGERS "int16|uint16|int32|uint32"

static const struct lower_key bits_keys[] = {SHAPE_KEY("extents of x"), SHAPE1_KEY,
                                             DTYPE_KEY("int32", INTEGERS, "type of all"),
                                             VTILE_KEYS_TABLE};
static const struct lower_key bits_not_keys[] = {
    SHAPE_KEY("extents of x"), DTYPE_KEY("int32", INTEGERS, "type of x and y"), VTILE_KEYS_TABLE};

/* The unit has logic on 16 bits: one or two such parts are an element. */
#define PART(n_, ...) AS(DTYPE_UINT16, n_, __VA_ARGS__)
#define AND_STEPS(n_)                                                                              \
  { PART(n_, B_("vand", Y0, X0, X1)), END }
#define OR_STEPS(n_)                                                                               \
  { PART(n_, B_("vor", Y0, X0, X1)), END }
#define NOT_STEPS(n_)                                                                              \
  { PART(n_, U_("vnot", Y0, X0)), END }
#define XOR_STEPS(n_)                                                                              \
  {                                                                                                \
    PART(n_, B_("vand", T0, X0, X1)), PART(n_, U_("vnot", T0, T0)),                                \
        PART(n_, B_("vor", T1, X0, X1)), PART(n_, B_("vand", Y0, T0, T1)), END                     \
  }
static const struct vstep bitwise_and_steps[] = AND_STEPS(1), bitwise_and_words[] = AND_STEPS(2),
                          bitwise_or_steps[] = OR_STEPS(1), bitwise_or_words[] = OR_STEPS(2),
                          bitwise_not_steps[] = NOT_STEPS(1), bitwise_not_words[] = NOT_STEPS(2),
                          bitwise_xor_steps[] = XOR_STEPS(1), bitwise_xor_words[] = XOR_STEPS(2);

static enum vinci_status choose_parts(struct lower_job *job, struct vfunc *func,
                                      const struct vstep *words) {
  if (dtype_bits(lower_get(job, "dtype")->dtype) == 32)
    func->steps = words;
  return VINCI_OK;
}

#define BITWISE(id, vendor, summary, keys, call, inputs_)                                          \
  static enum vinci_status choose_##id(struct lower_job *job, struct vfunc *func) {                \
    return choose_parts(job, func, id##_words);                                                    \
  }                                                                                                \
  VEW_OPERATOR(id, vendor, summary, keys, call, .inputs = inputs_, .outputs = 1,                   \
               .types = VTYPES_ANY, .steps = id##_steps, .choose = choose_##id)

BITWISE(bitwise_and, "BitwiseAnd", "y = x & x1, bit by bit", bits_keys, call_truth, 2)
BITWISE(bitwise_or, "BitwiseOr", "y = x | x1, bit by bit", bits_keys, call_truth, 2)
BITWISE(bitwise_xor, "BitwiseXor", "y = x ^ x1, bit by bit", bits_keys, call_truth, 2)
BITWISE(bitwise_not, "Invert|BitwiseNot", "y = ~x, bit by bit", bits_not_keys, call_not, 1)
