/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators of one input: functions, scalar operands, conversion. */
#include <string.h>

#include "lower/vector/elementwise/elementwise.h"

#define TYPES "fp16|bf16|fp32|int32|int16|int8|uint8"
#define FLOATS "fp16|bf16|fp32"

#define NUMBERS "fp16|bf16|fp32|int32|int16"

static const struct lower_key float_keys[] = {
    SHAPE_KEY("extents of x"), DTYPE_KEY("fp16", FLOATS, "type of x and y"), VTILE_KEYS_TABLE};
static const struct lower_key number_keys[] = {
    SHAPE_KEY("extents of x"), DTYPE_KEY("fp16", NUMBERS, "type of x and y"), VTILE_KEYS_TABLE};
static const struct lower_key alpha_keys[] = {
    SHAPE_KEY("extents of x"), DTYPE_KEY("fp16", NUMBERS, "type of x and y"),
    NUMBER_KEY("alpha", "2", "the number"), VTILE_KEYS_TABLE};
static const struct lower_key cast_keys[] = {
    SHAPE_KEY("extents of x"), DTYPE_KEY("fp32", TYPES "|int64", "type of x"),
    LOWER_KEY("to", DTYPE, NULL, TYPES "|int64", "type of y"), VTILE_KEYS_TABLE};

bool vew_is_list(const struct lower_call *call) {
  return strncmp(call->type, "Foreach", strlen("Foreach")) == 0;
}

bool vew_call_lists(struct lower_call *call, unsigned lists) {
  unsigned long long elements = 0;
  unsigned count = call->input_count;
  bool number = count > 1 && call->input[count - 1].rank == 0;
  unsigned tensors = (lists == 1 && number ? count - 1 : count) / lists;
  if (tensors == 0 || count == LOWER_TENSORS_MAX)
    return lower_cannot(call, "%u lists of at most %d tensors together are needed", lists,
                        LOWER_TENSORS_MAX - 1);
  for (unsigned i = 0; i < tensors; i++)
    elements += lower_elements(call->input[i].shape, call->input[i].rank);
  lower_arg(call, "shape=%llu", elements);
  lower_arg_dtype(call, "dtype", &call->input[0]);
  return true;
}

/* Shape and type of the first input; a scalar has one element. */
bool vew_call_x(struct lower_call *call) {
  if (vew_is_list(call))
    return vew_call_lists(call, 1);
  if (call->input_count == 0)
    return lower_cannot(call, "no input");
  lower_arg_elements(call, &call->input[0]);
  return true;
}

/* The type of a result that a list does not tell: half precision for fp32 and back, as in mixed
 * training; chips without bf16 train in fp16. */
static enum dtype usual_cast(const struct lower_call *call) {
  if (call->input[0].dtype != DTYPE_FP32)
    return DTYPE_FP32;
  return call->soc && !arch_has_dtype(call->soc->arch, DTYPE_BF16) ? DTYPE_FP16 : DTYPE_BF16;
}

static bool call_cast(struct lower_call *call) {
  if (!vew_call_x(call))
    return false;
  bool told = call->output_count > 0 && call->output[0].typed;
  lower_arg(call, "to=%s", dtype_name(told ? call->output[0].dtype : usual_cast(call)));
  return true;
}

/* ---- programs -------------------------------------------------------------------------- */

static const struct vstep relu_steps[] = {U("vrelu", Y0, X0), END};
static const struct vstep abs_steps[] = {U("vabs", Y0, X0), END};
static const struct vstep exp_steps[] = {U("vexp", Y0, X0), END};
static const struct vstep ln_steps[] = {U("vln", Y0, X0), END};
static const struct vstep sqrt_steps[] = {U("vsqrt", Y0, X0), END};
static const struct vstep neg_steps[] = {S("vmuls", Y0, X0, -1), END};
static const struct vstep square_steps[] = {B("vmul", Y0, X0, X0), END};
/* vrec and vrsqrt are approximations of some 10 bits; division is exact. */
static const struct vstep reciprocal_steps[] = {FILL(T0, 1), B("vdiv", Y0, T0, X0), END};
static const struct vstep rsqrt_steps[] = {U("vsqrt", T1, X0), FILL(T0, 1), B("vdiv", Y0, T0, T1),
                                           END};
static const struct vstep sigmoid_steps[] = {S("vmuls", T0, X0, -1), U("vexp", T0, T0),
                                             S("vadds", T0, T0, 1),  FILL(T1, 1),
                                             B("vdiv", Y0, T1, T0),  END};
static const struct vstep silu_steps[] = {S("vmuls", T0, X0, -1), U("vexp", T0, T0),
                                          S("vadds", T0, T0, 1), B("vdiv", Y0, X0, T0), END};
/* Beyond 9 tanh is 1 in single precision; exp must not overflow. */
static const struct vstep tanh_steps[] = {
    S("vmins", T0, X0, 9),  S("vmaxs", T0, T0, -9), S("vmuls", T0, T0, 2), U("vexp", T0, T0),
    S("vadds", T1, T0, -1), S("vadds", T0, T0, 1),  B("vdiv", Y0, T1, T0), END};
/*
 * x = k pi + r with k = K + k', K a multiple of 2048, and pi in four parts of 12 bits, so that
 * products with either are exact for a long way: the structure of the vendor's kernels of 8.1.RC1
 * (impl/dynamic/sin.py, cos.py, the one of high precision). (-1)^k, which is that of k', times the
 * odd Taylor polynomial of r to the 11th power.
 */
#define PART_OF_PI(part, k) S("vmuls", T1, k, -(part)), B("vadd", T2, T2, T1)
#define TURNS                                                                                      \
  C("vconv_f322f32", "r", T0, T0), C("vconv_f322f32", "r", T3, T3), S("vmuls", T3, T3, 2048),      \
      B("vsub", T0, T0, T3), S("vmuls", T1, T3, -3.1416015625), B("vadd", T2, X0, T1),             \
      PART_OF_PI(3.1416015625, T0), PART_OF_PI(-8.907169103622437e-06, T3)
#define REST                                                                                       \
  PART_OF_PI(-8.907169103622437e-06, T0), PART_OF_PI(-1.7412276065442711e-09, T3),                 \
      PART_OF_PI(-1.7412276065442711e-09, T0), PART_OF_PI(1.2446743939339977e-13, T3),             \
      PART_OF_PI(1.2446743939339977e-13, T0)
#define SINE_OF_REST                                                                               \
  S("vmuls", T1, T0, 0.5), C("vconv_f322f32", "f", T1, T1), S("vmuls", T1, T1, -2),                \
      B("vadd", T0, T0, T1), S("vmuls", T0, T0, -2), S("vadds", T0, T0, 1), B("vmul", T3, T2, T2), \
      S("vmuls", T1, T3, -2.505210838544172e-08), S("vadds", T1, T1, 2.7557319223985893e-06),      \
      B("vmul", T1, T1, T3), S("vadds", T1, T1, -1.984126984126984e-04), B("vmul", T1, T1, T3),    \
      S("vadds", T1, T1, 8.333333333333333e-03), B("vmul", T1, T1, T3),                            \
      S("vadds", T1, T1, -1.6666666666666666e-01), B("vmul", T1, T1, T3), S("vadds", T1, T1, 1),   \
      B("vmul", T1, T1, T2), B("vmul", Y0, T1, T0)
static const struct vstep sin_steps[] = {S("vmuls", T0, X0, 0.31830988618379067),
                                         S("vmuls", T3, T0, 1.0 / 2048),
                                         TURNS,
                                         REST,
                                         SINE_OF_REST,
                                         END};
/* cos(x) = sin(x + pi / 2), where the half turn is added to what is left, in two parts. */
static const struct vstep cos_steps[] = {S("vmuls", T0, X0, 0.31830988618379067),
                                         S("vmuls", T3, T0, 1.0 / 2048),
                                         S("vadds", T0, T0, 0.5),
                                         TURNS,
                                         S("vadds", T2, T2, 1.57079637050628662),
                                         REST,
                                         S("vadds", T2, T2, -4.371139000186241e-08),
                                         SINE_OF_REST,
                                         END};
static const struct vstep muls_steps[] = {P("vmuls", Y0, X0, 1), END};
static const struct vstep adds_steps[] = {P("vadds", Y0, X0, 1), END};
static const struct vstep maxs_steps[] = {P("vmaxs", Y0, X0, 1), END};
static const struct vstep mins_steps[] = {P("vmins", Y0, X0, 1), END};
static const struct vstep leaky_relu_steps[] = {P("vlrelu", Y0, X0, 1), END};
static const char *const alpha_parameter[] = {"alpha", NULL};

/* ---- operators ---------------------------------------------------------------------------- */

#define UNARY(id, vendor, summary, keys, types_, parameter)                                        \
  VEW_OPERATOR(id, vendor, summary, keys, vew_call_x, .inputs = 1, .outputs = 1, .types = types_,  \
               .steps = id##_steps, .parameters = parameter)
#define FUNCTION(id, vendor, summary, types) UNARY(id, vendor, summary, float_keys, types, NULL)
#define WITH_ALPHA(id, vendor, summary, types)                                                     \
  UNARY(id, vendor, summary, alpha_keys, types, alpha_parameter)

UNARY(relu, "Relu", "y = max(x, 0)", number_keys, VTYPES_FP16 | VTYPES_INT32, NULL)
FUNCTION(abs, "Abs|ForeachAbs", "y = |x|", VTYPES_FP16)
FUNCTION(exp, "Exp|ForeachExp", "y = exp(x)", VTYPES_FP32)
FUNCTION(ln, "Log|ForeachLog", "y = ln(x)", VTYPES_FP32)
FUNCTION(sqrt, "Sqrt|ForeachSqrt|LpNormUpdateV2|LpNormUpdate", "y = sqrt(x)", VTYPES_FP32)
FUNCTION(rsqrt, "Rsqrt", "y = 1 / sqrt(x)", VTYPES_FP32)
FUNCTION(reciprocal, "Reciprocal|ForeachReciprocal", "y = 1 / x", VTYPES_FP32)
UNARY(neg, "Neg|ForeachNeg", "y = -x", number_keys, VTYPES_FP16 | VTYPES_INT32 | VTYPES_INT16, NULL)
FUNCTION(square, "Square", "y = x * x", VTYPES_FP32)
FUNCTION(sigmoid, "Sigmoid|ForeachSigmoid", "y = 1 / (1 + exp(-x))", VTYPES_FP32)
FUNCTION(tanh, "Tanh|ForeachTanh", "y = tanh(x)", VTYPES_FP32)
FUNCTION(silu, "Swish|Silu", "y = x / (1 + exp(-x))", VTYPES_FP32)
FUNCTION(sin, "Sin|ForeachSin", "y = sin(x)", VTYPES_FP32)
FUNCTION(cos, "Cos|ForeachCos", "y = cos(x)", VTYPES_FP32)
WITH_ALPHA(muls, "Muls|ForeachMulScalar|ForeachMulScalarList", "y = x * alpha",
           VTYPES_FP16 | VTYPES_INT32 | VTYPES_INT16)
WITH_ALPHA(adds, "Adds|ForeachAddScalar|ForeachAddScalarList|ForeachSubScalar|ForeachSubScalarList",
           "y = x + alpha", VTYPES_FP16 | VTYPES_INT32 | VTYPES_INT16)
WITH_ALPHA(maxs, "ForeachMaximumScalar|ForeachMaximumScalarList", "y = max(x, alpha)",
           VTYPES_FP16 | VTYPES_INT32 | VTYPES_INT16)
WITH_ALPHA(mins, "ForeachMinimumScalar|ForeachMinimumScalarList", "y = min(x, alpha)",
           VTYPES_FP16 | VTYPES_INT32 | VTYPES_INT16)
WITH_ALPHA(leaky_relu, "LeakyRelu", "y = x > 0 ? x : x * alpha", VTYPES_FP16)

/* ---- powers ------------------------------------------------------------------------------- */

enum { POWER_MAX = 64, POWER_STEPS = 16 };

/*
 * Whole powers are products, from the highest bit of alpha down: exact where the type is. Others
 * are exp(alpha ln(x)).
 */
static const struct vstep *power_steps(struct lower_job *job, uint64_t power) {
  struct vstep *steps = ARENA_ARRAY(job->arena, struct vstep, POWER_STEPS);
  unsigned count = 0, bit = power ? 63u - (unsigned)__builtin_clzll(power) : 0;
  if (!steps)
    return NULL;
  if (power == 0)
    steps[count++] = (struct vstep)FILL(Y0, 1);
  else if (power == 1)
    steps[count++] = (struct vstep)S("vmuls", Y0, X0, 1);
  for (bool first = true; bit-- > 0; first = false) {
    uint8_t so_far = first ? X0 : Y0;
    steps[count++] = (struct vstep)B("vmul", Y0, so_far, so_far);
    if (power >> bit & 1)
      steps[count++] = (struct vstep)B("vmul", Y0, Y0, X0);
  }
  steps[count] = (struct vstep)END;
  return steps;
}

static enum vinci_status choose_power(struct lower_job *job, struct vfunc *func) {
  double alpha = lower_get(job, "alpha")->number;
  enum dtype type = lower_get(job, "dtype")->dtype;
  bool whole = alpha >= 0 && alpha <= POWER_MAX && alpha == (double)(int)alpha;
  if (!whole && (type == DTYPE_INT32 || type == DTYPE_INT16))
    return lower_error(job, "alpha of %s is a whole number from 0 to %d", dtype_name(type),
                       POWER_MAX);
  if (whole) {
    func->types = VTYPES_INT32 | VTYPES_INT16;
    func->steps = power_steps(job, (uint64_t)alpha);
  }
  return func->steps ? VINCI_OK : diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
}

static const struct vstep pows_steps[] = {U("vln", T0, X0), P("vmuls", T0, T0, 1),
                                          U("vexp", Y0, T0), END};

VEW_OPERATOR(pows, "Pows|ForeachPowScalar",
             "y = x ^ alpha; for positive x unless alpha is whole and from 0 to 64", alpha_keys,
             vew_call_x, .inputs = 1, .outputs = 1, .steps = pows_steps,
             .parameters = alpha_parameter, .choose = choose_power, .code = KERNEL_POWER)

VEW_OPERATOR(
    cast, "Cast",
    "y = x in another data type; towards zero into integers, to nearest even else; on cores with "
    "cube and vector unit int64 is its lower word, and right within int32",
    cast_keys, call_cast, .inputs = 1, .outputs = 1, .casts = true)
