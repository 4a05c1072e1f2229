/* SPDX-License-Identifier: Apache-2.0 */
/* Activations of one input beyond those of unary.c and functions.c, and prelu; the error function.
 */
#include "lower/vector/elementwise/elementwise.h"

#define FLOATS "fp16|bf16|fp32"

static const struct lower_key float_keys[] = {
    SHAPE_KEY("extents of x"), DTYPE_KEY("fp16", FLOATS, "type of x and y"), VTILE_KEYS_TABLE};

#define FUNCTION(id, vendor, summary)                                                              \
  VEW_OPERATOR(id, vendor, summary, float_keys, vew_call_x, .inputs = 1, .outputs = 1,             \
               .steps = id##_steps)

/* ---- by the error function ------------------------------------------------------------------- */

/* T0 op= a number, then times the square in T1: a turn of a polynomial of x * x. */
#define TURN(reg_, number_) S("vadds", reg_, reg_, number_), B("vmul", reg_, reg_, T1)
/*
 * Of T2: x P(x^2) / Q(x^2) of degrees 5 with x up to 3.92, beyond which erf is 1 in single
 * precision; the approximation that Ascend C documents for Erf. Its largest error is 4e-7.
 */
#define ERF(result_)                                                                               \
  S("vmaxs", T2, T2, -3.92), B("vmul", T1, T2, T2), S("vmuls", T0, T1, 0.053443748819),            \
      TURN(T0, 7.5517016694), TURN(T0, 101.62808918), TURN(T0, 1393.8061484),                      \
      TURN(T0, 5063.7915060), S("vadds", T0, T0, 29639.384698), B("vmul", T2, T2, T0),             \
      S("vadds", T0, T1, 31.212858877), B("vmul", T0, T0, T1), TURN(T0, 398.56963806),             \
      TURN(T0, 3023.1248150), TURN(T0, 13243.365831), S("vadds", T0, T0, 26267.224157),            \
      B("vdiv", result_, T2, T0)
static const struct vstep erf_steps[] = {S("vmins", T2, X0, 3.92), ERF(Y0), END};

/* x * sigmoid(1.5957691 * (x + 0.044715 x^3)), the tanh form. */
static const struct vstep gelu_steps[] = {B("vmul", T0, X0, X0),
                                          B("vmul", T0, T0, X0),
                                          S("vmuls", T0, T0, 0.044715),
                                          B("vadd", T0, T0, X0),
                                          S("vmuls", T0, T0, -1.5957691216057308),
                                          S("vmins", T0, T0, 80),
                                          U("vexp", T0, T0),
                                          S("vadds", T0, T0, 1),
                                          B("vdiv", Y0, X0, T0),
                                          END};
static const struct vstep gelu_by_erf[] = {S("vmuls", T2, X0, 0.70710678118654752),
                                           S("vmins", T2, T2, 3.92),
                                           ERF(T0),
                                           S("vadds", T0, T0, 1),
                                           B("vmul", T0, T0, X0),
                                           S("vmuls", Y0, T0, 0.5),
                                           END};

static const struct lower_key gelu_keys[] = {
    SHAPE_KEY("extents of x"), DTYPE_KEY("fp16", FLOATS, "type of x and y"),
    WORD_KEY("form", "tanh", "tanh|erf", "how Phi is computed: approximately by tanh, or by erf"),
    VTILE_KEYS_TABLE};

static enum vinci_status choose_gelu(struct lower_job *job, struct vfunc *func) {
  if (lower_get(job, "form")->word)
    func->steps = gelu_by_erf;
  return VINCI_OK;
}

FUNCTION(erf, "Erf|ForeachErf", "y = the error function of x")
VEW_OPERATOR(gelu, "Gelu|FastGelu|GeluV2", "y = x * Phi(x), in its tanh form unless form=erf",
             gelu_keys, vew_call_x, .inputs = 1, .outputs = 1, .steps = gelu_steps,
             .choose = choose_gelu)

/* ---- others ---------------------------------------------------------------------------------- */

/* scale max(x, 0) + scale alpha (exp(min(x, 0)) - 1). */
#define SELU_SCALE 1.0507009873554805
#define SELU_ALPHA 1.6732632423543773
static const struct vstep selu_steps[] = {
    S("vmins", T0, X0, 0),  U("vexp", T0, T0),
    S("vadds", T0, T0, -1), S("vmuls", T0, T0, SELU_SCALE *SELU_ALPHA),
    S("vmaxs", T1, X0, 0),  S("vmuls", T1, T1, SELU_SCALE),
    B("vadd", Y0, T0, T1),  END};
/* tanh(ln(1 + e)) = n / (n + 2) with e = exp(x) and n = e (e + 2); from 20 on it is 1. */
static const struct vstep mish_steps[] = {
    S("vmins", T0, X0, 20), U("vexp", T0, T0),     S("vadds", T1, T0, 2), B("vmul", T0, T0, T1),
    S("vadds", T1, T0, 2),  B("vdiv", T0, T0, T1), B("vmul", Y0, X0, T0), END};
static const struct vstep softsign_steps[] = {U("vabs", T0, X0), S("vadds", T0, T0, 1),
                                              B("vdiv", Y0, X0, T0), END};
/* max(x, 0) + alpha (exp(min(x, 0) / alpha) - 1). */
enum { CELU_ALPHA = 1, CELU_INVERSE };
static const struct vstep celu_steps[] = {S("vmins", T0, X0, 0),
                                          P("vmuls", T0, T0, CELU_INVERSE),
                                          U("vexp", T0, T0),
                                          S("vadds", T0, T0, -1),
                                          P("vmuls", T0, T0, CELU_ALPHA),
                                          S("vmaxs", T1, X0, 0),
                                          B("vadd", Y0, T0, T1),
                                          END};
static const struct vstep prelu_steps[] = {S("vmins", T0, X0, 0), B("vmul", T0, T0, X1),
                                           S("vmaxs", T1, X0, 0), B("vadd", Y0, T0, T1), END};

static const struct lower_key celu_keys[] = {
    SHAPE_KEY("extents of x"), DTYPE_KEY("fp16", FLOATS, "type of x and y"),
    NUMBER_KEY("alpha", "1", "the limit for small x, negated"), VTILE_KEYS_TABLE};
static const struct lower_key prelu_keys[] = {SHAPE_KEY("extents of x"), SHAPE1_KEY,
                                              DTYPE_KEY("fp16", FLOATS, "type of all"),
                                              VTILE_KEYS_TABLE};

static void celu_numbers(const struct lower_job *job, double parameter[VPARAM_MAX]) {
  parameter[CELU_ALPHA - 1] = lower_get(job, "alpha")->number;
  parameter[CELU_INVERSE - 1] = 1 / lower_get(job, "alpha")->number;
}

static enum vinci_status check_celu(struct lower_job *job, struct vfunc *func) {
  double alpha = lower_get(job, "alpha")->number;
  (void)func;
  return alpha > 0 ? VINCI_OK : lower_error(job, "alpha is above 0, not %.9g", alpha);
}

/* Weights are one number, or one for each channel, which profiles give as one dimension. */
static bool call_prelu(struct lower_call *call) {
  if (call->input_count < 2)
    return lower_cannot(call, "two inputs are needed");
  const struct lower_tensor *x = &call->input[0], *weights = &call->input[1];
  uint64_t extents[TENSOR_RANK_MAX] = {lower_elements(weights->shape, weights->rank)};
  unsigned rank = 1;
  if (extents[0] > 1 && (x->rank < 2 || x->shape[1] != extents[0]))
    return lower_cannot(call, "%llu weights are not one for each channel",
                        (unsigned long long)extents[0]);
  for (; extents[0] > 1 && rank + 1 < x->rank; rank++)
    extents[rank] = 1;
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg_shape(call, "shape1", extents, rank);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

FUNCTION(selu, "Selu", "y = 1.0507 * (x > 0 ? x : 1.6733 * (exp(x) - 1))")
FUNCTION(mish, "Mish", "y = x * tanh(ln(1 + exp(x)))")
FUNCTION(softsign, "Softsign", "y = x / (1 + |x|)")
VEW_OPERATOR(celu, "Celu|CeluV2", "y = max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)", celu_keys,
             vew_call_x, .inputs = 1, .outputs = 1, .steps = celu_steps, .numbers = celu_numbers,
             .choose = check_celu)
VEW_OPERATOR(prelu, "PRelu", "y = x > 0 ? x : x * x1", prelu_keys, call_prelu, .inputs = 2,
             .outputs = 1, .steps = prelu_steps)
