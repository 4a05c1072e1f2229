/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise operators that are longer programs: rounding, activations and their gradients,
 * quotients with remainders, products and quotients that are added, quantisation.
 */
#include "lower/vector/elementwise/elementwise.h"

#define FLOATS "fp16|bf16|fp32"

/* ---- one input ------------------------------------------------------------------------------- */

static const struct lower_key float_keys[] = {
    SHAPE_KEY("extents of x"), DTYPE_KEY("fp16", FLOATS, "type of x and y"), VTILE_KEYS_TABLE};
static const struct lower_key elu_keys[] = {
    SHAPE_KEY("extents of x"), DTYPE_KEY("fp16", FLOATS, "type of x and y"),
    NUMBER_KEY("alpha", "1", "the limit for small x, negated"), VTILE_KEYS_TABLE};

static const struct vstep floor_steps[] = {C("vconv_f322f32", "f", Y0, X0), END};
static const struct vstep ceil_steps[] = {C("vconv_f322f32", "c", Y0, X0), END};
static const struct vstep round_steps[] = {C("vconv_f322f32", "r", Y0, X0), END};
static const struct vstep trunc_steps[] = {C("vconv_f322f32", "z", Y0, X0), END};
/* 1, 0 or -1; 0 for what is not a number. */
static const struct vstep sign_steps[] = {FILL(T1, 1),
                                          FILL(T2, 0),
                                          Q("vcmpvs_gt", T0, X0, 0),
                                          SELECT(T3, T1, T2, T0),
                                          FILL(T1, -1),
                                          Q("vcmpvs_lt", T0, X0, 0),
                                          SELECT(Y0, T1, T3, T0),
                                          END};
/* max(x, 0) + ln(1 + exp(-|x|)), which does not overflow. */
static const struct vstep softplus_steps[] = {
    U("vabs", T0, X0), S("vmuls", T0, T0, -1), U("vexp", T0, T0),     S("vadds", T0, T0, 1),
    U("vln", T0, T0),  S("vmaxs", T1, X0, 0),  B("vadd", Y0, T0, T1), END};
static const struct vstep hard_sigmoid_steps[] = {S("vmuls", T0, X0, 1.0 / 6),
                                                  S("vadds", T0, T0, 0.5), S("vmaxs", T0, T0, 0),
                                                  S("vmins", Y0, T0, 1), END};
static const struct vstep hard_swish_steps[] = {S("vadds", T0, X0, 3), S("vmaxs", T0, T0, 0),
                                                S("vmins", T0, T0, 6), S("vmuls", T0, T0, 1.0 / 6),
                                                B("vmul", Y0, X0, T0), END};
static const struct vstep elu_steps[] = {S("vmins", T0, X0, 0),
                                         U("vexp", T0, T0),
                                         S("vadds", T0, T0, -1),
                                         P("vmuls", T0, T0, 1),
                                         S("vmaxs", T1, X0, 0),
                                         B("vadd", Y0, T0, T1),
                                         END};
static const char *const alpha_parameter[] = {"alpha", NULL};

#define FUNCTION(id, vendor, summary)                                                              \
  VEW_OPERATOR(id, vendor, summary, float_keys, vew_call_x, .inputs = 1, .outputs = 1,             \
               .steps = id##_steps)

FUNCTION(floor, "Floor|ForeachFloor", "y = x rounded down to a whole number")
FUNCTION(ceil, "Ceil|ForeachCeil", "y = x rounded up to a whole number")
FUNCTION(round, "Round|Rint|ForeachRound", "y = x rounded to a whole number, halves to even")
FUNCTION(trunc, "Trunc|ForeachTrunc", "y = x rounded towards 0 to a whole number")
FUNCTION(sign, "Sign|ForeachSign", "y = 1, 0 or -1, the sign of x")
FUNCTION(softplus, "Softplus|SoftplusV2", "y = ln(1 + exp(x))")
FUNCTION(hard_sigmoid, "HardSigmoid", "y = x / 6 + 0.5, at least 0 and at most 1")
FUNCTION(hard_swish, "HardSwish", "y = x * hard_sigmoid(x)")
VEW_OPERATOR(elu, "Elu|EluV2", "y = x > 0 ? x : alpha * (exp(x) - 1)", elu_keys, vew_call_x,
             .inputs = 1, .outputs = 1, .steps = elu_steps, .parameters = alpha_parameter)

/* ---- gradients ------------------------------------------------------------------------------- */

static const struct lower_key grad_keys[] = {
    SHAPE_KEY("extents of all"), DTYPE_KEY("fp16", FLOATS, "type of all"), VTILE_KEYS_TABLE};
static const char *const from_y_names[] = {"y", "dy", "dx"};
static const char *const from_x_names[] = {"dy", "x", "dx"};

static const struct vstep sigmoid_grad_steps[] = {S("vmuls", T0, X0, -1), S("vadds", T0, T0, 1),
                                                  B("vmul", T0, T0, X0), B("vmul", Y0, T0, X1),
                                                  END};
static const struct vstep tanh_grad_steps[] = {B("vmul", T0, X0, X0), S("vmuls", T0, T0, -1),
                                               S("vadds", T0, T0, 1), B("vmul", Y0, T0, X1), END};
/* T0 = 1 / (1 + exp(T0)), by T2. */
#define SIGMOID_OF_NEGATED                                                                         \
  U("vexp", T0, T0), S("vadds", T0, T0, 1), FILL(T2, 1), B("vdiv", T0, T2, T0)
/* s = 1 / (1 + exp(-x)): dy * s * (1 + x * (1 - s)). */
static const struct vstep silu_grad_steps[] = {
    S("vmuls", T0, X1, -1), SIGMOID_OF_NEGATED,    S("vmuls", T1, T0, -1),
    S("vadds", T1, T1, 1),  B("vmul", T1, T1, X1), S("vadds", T1, T1, 1),
    B("vmul", T1, T1, T0),  B("vmul", Y0, T1, X0), END};
/* Of the tanh form, x * s(u): dy * (s + x * s * (1 - s) * u'), u = 1.5957691 (x + 0.044715 x^3). */
static const struct vstep gelu_grad_steps[] = {
    B("vmul", T1, X1, X1),
    S("vmuls", T0, T1, 0.044715),
    S("vadds", T0, T0, 1),
    B("vmul", T0, T0, X1),
    S("vmuls", T0, T0, -1.5957691216057308),
    S("vmins", T0, T0, 80),
    SIGMOID_OF_NEGATED,
    S("vmuls", T1, T1, 3 * 0.044715 * 1.5957691216057308),
    S("vadds", T1, T1, 1.5957691216057308),
    S("vmuls", T2, T0, -1),
    S("vadds", T2, T2, 1),
    B("vmul", T2, T2, T0),
    B("vmul", T2, T2, X1),
    B("vmul", T2, T2, T1),
    B("vadd", T2, T2, T0),
    B("vmul", Y0, T2, X0),
    END};

static bool call_gradient(struct lower_call *call) {
  if (call->input_count < 2)
    return lower_cannot(call, "two inputs are needed");
  lower_arg_elements(call, &call->input[0]);
  return true;
}

#define GRADIENT(id, vendor, summary, names_)                                                      \
  VEW_OPERATOR(id, vendor, summary, grad_keys, call_gradient, .inputs = 2, .outputs = 1,           \
               .names = names_, .steps = id##_steps)

GRADIENT(sigmoid_grad, "SigmoidGrad", "gradient of sigmoid: dx = dy * y * (1 - y)", from_y_names)
GRADIENT(tanh_grad, "TanhGrad", "gradient of tanh: dx = dy * (1 - y * y)", from_y_names)
GRADIENT(silu_grad, "SwishGrad|SiluGrad", "gradient of silu: dx from dy and x", from_x_names)
GRADIENT(gelu_grad, "GeluGrad|FastGeluGrad|GeluGradV2",
         "gradient of gelu in its tanh form: dx from dy and x", from_x_names)

/* ---- two inputs ------------------------------------------------------------------------------ */

static const struct lower_key pair_keys[] = {
    SHAPE_KEY("extents of x"),
    SHAPE1_KEY,
    DTYPE_KEY("fp16", FLOATS, "type of x"),
    LOWER_KEY("dtype1", DTYPE, "", FLOATS, "type of x1; that of x"),
    LOWER_KEY("out", DTYPE, "", FLOATS, "type of y; fp32 when those of x and x1 differ"),
    VTILE_KEYS_TABLE};
static const struct lower_key quotient_keys[] = {
    SHAPE_KEY("extents of x"), SHAPE1_KEY,
    DTYPE_KEY("fp16", FLOATS "|int32|int16", "type of x; int32 by way of fp32"),
    LOWER_KEY("dtype1", DTYPE, "", FLOATS "|int32|int16", "type of x1; that of x"),
    VTILE_KEYS_TABLE};

static const struct vstep squared_difference_steps[] = {B("vsub", T0, X0, X1),
                                                        B("vmul", Y0, T0, T0), END};
static const struct vstep floor_div_steps[] = {B("vdiv", T0, X0, X1),
                                               C("vconv_f322f32", "f", Y0, T0), END};
#define REMAINDER(round_)                                                                          \
  {                                                                                                \
    B("vdiv", T0, X0, X1), C("vconv_f322f32", round_, T0, T0), B("vmul", T0, T0, X1),              \
        B("vsub", Y0, X0, T0), END                                                                 \
  }
static const struct vstep floor_mod_steps[] = REMAINDER("f");
static const struct vstep mod_steps[] = REMAINDER("z");
static const struct vstep pow_steps[] = {U("vln", T0, X0), B("vmul", T0, T0, X1), U("vexp", Y0, T0),
                                         END};

#define PAIR(id, vendor, summary, keys)                                                            \
  VEW_OPERATOR(id, vendor, summary, keys, vew_call_binary, .inputs = 2, .outputs = 1,              \
               .steps = id##_steps)

PAIR(squared_difference, "SquaredDifference", "y = (x - x1) * (x - x1)", pair_keys)
PAIR(pow, "Pow", "y = x ^ x1, for positive x", pair_keys)
PAIR(floor_div, "FloorDiv", "y = x / x1 rounded down to a whole number", quotient_keys)
PAIR(floor_mod, "FloorMod", "y = x - x1 * (x / x1 rounded down)", quotient_keys)
PAIR(mod, "Mod", "y = x - x1 * (x / x1 rounded towards 0)", quotient_keys)

/* ---- products and quotients that are added --------------------------------------------------- */

static const struct lower_key lerp_keys[] = {
    SHAPE_KEY("extents of x"), SHAPE1_KEY, DTYPE_KEY("fp32", FLOATS, "type of all"),
    NUMBER_KEY("alpha", "0.5", "the share of x1"), VTILE_KEYS_TABLE};
static const struct lower_key added_keys[] = {
    SHAPE_KEY("extents of x"),
    SHAPE1_KEY,
    LOWER_KEY("shape2", SHAPE, "", NULL, "extents of x2; those of x"),
    DTYPE_KEY("fp32", FLOATS, "type of all"),
    NUMBER_KEY("alpha", "1", "the factor of the product or quotient"),
    VTILE_KEYS_TABLE};

static const struct vstep lerp_steps[] = {B("vsub", T0, X1, X0), P("vmuls", T0, T0, 1),
                                          B("vadd", Y0, X0, T0), END};
static const struct vstep addcmul_steps[] = {B("vmul", T0, X1, X2), P("vmuls", T0, T0, 1),
                                             B("vadd", Y0, X0, T0), END};
static const struct vstep addcdiv_steps[] = {B("vdiv", T0, X1, X2), P("vmuls", T0, T0, 1),
                                             B("vadd", Y0, X0, T0), END};

static bool call_lerp(struct lower_call *call) {
  if (vew_is_list(call))
    return vew_call_lists(call, 2);
  if (call->input_count < 2)
    return lower_cannot(call, "two inputs are needed");
  lower_arg_shape(call, "shape", call->input[0].shape, call->input[0].rank);
  lower_arg_shape(call, "shape1", call->input[1].shape, call->input[1].rank);
  lower_arg_dtype(call, "dtype", &call->input[0]);
  return true;
}

static bool call_added(struct lower_call *call) {
  if (vew_is_list(call))
    return vew_call_lists(call, 3);
  if (call->input_count < 3)
    return lower_cannot(call, "three inputs are needed");
  lower_arg_shape(call, "shape2", call->input[2].shape, call->input[2].rank);
  return call_lerp(call);
}

VEW_OPERATOR(lerp, "Lerp|ForeachLerpScalar", "y = x + alpha * (x1 - x)", lerp_keys, call_lerp,
             .inputs = 2, .outputs = 1, .steps = lerp_steps, .parameters = alpha_parameter)
VEW_OPERATOR(addcmul, "Addcmul|ForeachAddcmulScalar|ForeachAddcmulScalarList|ForeachAddcmulList",
             "y = x + alpha * x1 * x2", added_keys, call_added, .inputs = 3, .outputs = 1,
             .steps = addcmul_steps, .parameters = alpha_parameter)
VEW_OPERATOR(addcdiv, "Addcdiv|ForeachAddcdivScalar|ForeachAddcdivScalarList|ForeachAddcdivList",
             "y = x + alpha * x1 / x2", added_keys, call_added, .inputs = 3, .outputs = 1,
             .steps = addcdiv_steps, .parameters = alpha_parameter)

/* ---- quantisation ---------------------------------------------------------------------------- */

static const struct lower_key quantize_keys[] = {
    SHAPE_KEY("extents of x"),
    SHAPE1_KEY,
    DTYPE_KEY("fp16", FLOATS, "type of x"),
    LOWER_KEY("dtype1", DTYPE, "", FLOATS, "type of x1; that of x"),
    NUMBER_KEY("offset", "0", "added before rounding"),
    VTILE_KEYS_TABLE};
static const struct lower_key dequantize_keys[] = {
    SHAPE_KEY("extents of x"),
    SHAPE1_KEY,
    DTYPE_KEY("int32", "int32|int16", "type of x"),
    LOWER_KEY("dtype1", DTYPE, "fp32", FLOATS, "type of x1"),
    LOWER_KEY("out", DTYPE, "fp16", FLOATS, "type of y"),
    VTILE_KEYS_TABLE};

static const struct vstep quantize_steps[] = {B("vmul", T0, X0, X1),
                                              P("vadds", T0, T0, 1),
                                              S("vmaxs", T0, T0, -128),
                                              S("vmins", T0, T0, 127),
                                              C("vconv_f322f32", "r", T0, T0),
                                              C("vconv_f322f16", NULL, Y0, T0),
                                              END};
static const struct vstep dequantize_steps[] = {B("vmul", Y0, X0, X1), END};
static const char *const offset_parameter[] = {"offset", NULL};

/* The scale may be a number that profiles do not tell. */
static bool call_quantize(struct lower_call *call) {
  if (call->input_count == 0)
    return lower_cannot(call, "no input");
  bool tensor = call->input_count > 1;
  lower_arg_shape(call, "shape", call->input[0].shape, call->input[0].rank);
  lower_arg_shape(call, "shape1", call->input[1].shape, tensor ? call->input[1].rank : 0);
  lower_arg_dtype(call, "dtype", &call->input[0]);
  if (tensor)
    lower_arg_dtype(call, "dtype1", &call->input[1]);
  return true;
}

static bool call_dequantize(struct lower_call *call) {
  if (!vew_call_binary(call))
    return false;
  if (call->output_count > 0 && call->output[0].typed)
    lower_arg_dtype(call, "out", &call->output[0]);
  return true;
}

VEW_OPERATOR(quantize, "AscendQuant|AscendQuantV2",
             "y = x * x1 + offset to the nearest of 8 bits, at least -128 and at most 127",
             quantize_keys, call_quantize, .inputs = 2, .outputs = 1, .bytes = true,
             .steps = quantize_steps, .parameters = offset_parameter)
VEW_OPERATOR(dequantize, "AscendDequant", "y = x * x1, sums of products of bytes by their scales",
             dequantize_keys, call_dequantize, .inputs = 2, .outputs = 1, .steps = dequantize_steps)
