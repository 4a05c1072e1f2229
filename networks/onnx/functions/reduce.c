/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that take elements together, and those that follow from their arguments alone. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "networks/onnx/functions/contrib.h"

/* ---- reductions ------------------------------------------------------------------------------ */

/* The product of all along dimension d, as v with the number of the
 * dimension: halves of `from` are multiplied until one element
 * is left. */
static void multiply_along(struct onnx_text *b, const char *from, unsigned d, uint64_t extent) {
  unsigned turn = 0;
  onnx_say(b, "Identity m%u.0 = %s;", d, from);
  for (uint64_t left = extent; left > 1; left = (left + 1) / 2, turn++) {
    bool odd = left % 2 != 0;
    onnx_say(b, "Constant h%u.%u = value_ints=%" PRIu64 ",%" PRIu64 "%s;", d, turn, left / 2,
             left / 2, odd ? ",1" : "");
    onnx_say(b, "Split a%u.%u b%u.%u", d, turn, d, turn);
    if (odd)
      onnx_say(b, " r%u.%u", d, turn);
    onnx_say(b, " = m%u.%u h%u.%u axis=%u;", d, turn, d, turn, d);
    onnx_say(b, "Mul %s%u.%u = a%u.%u b%u.%u;", odd ? "p" : "m", d, odd ? turn : turn + 1, d, turn,
             d, turn);
    if (odd)
      onnx_say(b, "Concat m%u.%u = p%u.%u r%u.%u axis=%u;", d, turn + 1, d, turn, d, turn, d);
  }
  onnx_say(b, "Identity v%u = m%u.%u;", d, d, turn);
}

/* ReduceL1, ReduceLogSum, ReduceLogSumExp, ReduceProd. */
enum vinci_status onnx_made_reduced(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0];
  int64_t axes[GRAPH_RANK_MAX];
  unsigned count = onnx_put_ints(call, "axes", axes, GRAPH_RANK_MAX);
  int keep = (int)onnx_put_int(call, "keepdims", 1);
  struct onnx_text body = {.used = 0};
  *known = x->rank > 0 && count > 0 && onnx_elements(x) > 0;
  if (!*known)
    return VINCI_OK;
  onnx_say_ints(&body, "axes", axes, count);
  if (strcmp(call->op, "ReduceL1") == 0)
    onnx_say(&body, "Abs a = x; ReduceSum y = a axes keepdims=%d", keep);
  else if (strcmp(call->op, "ReduceLogSum") == 0)
    onnx_say(&body, "ReduceSum s = x axes keepdims=%d; Log y = s", keep);
  else if (strcmp(call->op, "ReduceLogSumExp") == 0)
    onnx_say(
        &body,
        "ReduceMax m = x axes keepdims=1; Sub d = x m; Exp e = d; ReduceSum s = e axes keepdims=%d;"
        "Log l = s; ReduceMax k = x axes keepdims=%d; Add y = l k",
        keep, keep);
  if (strcmp(call->op, "ReduceProd") != 0)
    return onnx_call_text(call, "x", "y", &body);
  char last[16] = "x";
  for (unsigned i = 0; i < count; i++) {
    multiply_along(&body, last, (unsigned)axes[i], x->shape[axes[i]]);
    snprintf(last, sizeof last, "v%u", (unsigned)axes[i]);
  }
  onnx_say_shape(&body, "shape", call->outputs[0]->shape, call->outputs[0]->rank);
  onnx_say(&body, "Reshape y = %s shape", last);
  return onnx_call_text(call, "x", "y", &body);
}

/* ---- norms ----------------------------------------------------------------------------------- */

enum vinci_status onnx_made_lp_normalization(struct onnx_call *call, bool *known) {
  int64_t axis = onnx_put_int(call, "axis", -1), p = onnx_put_int(call, "p", 2);
  struct onnx_text body = {.used = 0};
  *known = p == 1 || p == 2;
  onnx_say_ints(&body, "axes", &axis, 1);
  onnx_say(&body, "ReduceL%d n = x axes keepdims=1; Div y = x n", (int)p);
  return *known ? onnx_call_text(call, "x", "y", &body) : VINCI_OK;
}

enum vinci_status onnx_made_global_lp_pool(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0];
  int64_t p = onnx_put_int(call, "p", 2), axes[GRAPH_RANK_MAX];
  struct onnx_text body = {.used = 0};
  *known = (p == 1 || p == 2) && x->rank > 2;
  for (unsigned d = 2; d < x->rank; d++)
    axes[d - 2] = d;
  if (!*known)
    return VINCI_OK;
  onnx_say_ints(&body, "axes", axes, x->rank - 2);
  onnx_say(&body, "ReduceL%d y = x axes keepdims=1", (int)p);
  return onnx_call_text(call, "x", "y", &body);
}

/* ---- of arguments ---------------------------------------------------------------------------- */

/* A one at the largest element, the first of equal ones. */
enum vinci_status onnx_made_hardmax(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0];
  int64_t axis = onnx_put_int(call, "axis", -1);
  struct onnx_text body = {.used = 0};
  *known = axis >= 0 && axis < (int64_t)x->rank;
  if (!*known)
    return VINCI_OK;
  float *values = onnx_say_reals(call, &body, 2);
  if (!values)
    return onnx_no_memory(call->import);
  values[0] = 0;
  values[1] = 1;
  onnx_say(&body,
           "ArgMax i = x axis=%d keepdims=0; Constant n = value_int=%" PRIu64
           "; Constant c = value_floats=$0; CastLike v = c x; OneHot y = i n v axis=%d",
           (int)axis, x->shape[axis], (int)axis);
  return onnx_call_text(call, "x", "y", &body);
}

enum vinci_status onnx_made_is_inf(struct onnx_call *call, bool *known) {
  bool above = onnx_int(call, "detect_positive", 1) != 0;
  bool below = onnx_int(call, "detect_negative", 1) != 0;
  struct onnx_text body = {.used = 0};
  *known = above || below;
  onnx_say(&body, "Constant c = value_float=1.0e39; CastLike i = c x; %s v = x; Equal y = v i",
           above && below ? "Abs"
           : above        ? "Identity"
                          : "Neg");
  return *known ? onnx_call_text(call, "x", "y", &body) : VINCI_OK;
}

/* To bool: what is not 0. */
enum vinci_status onnx_made_cast(struct onnx_call *call, bool *known) {
  struct onnx_text body = {.used = 0};
  *known = call->outputs[0]->type == ONNX_BOOL && call->inputs[0]->type != ONNX_BOOL;
  onnx_say(&body, "Constant c = value_float=0.0; CastLike zero = c x; Equal e = x zero; Not y = e");
  return *known ? onnx_call_text(call, "x", "y", &body) : VINCI_OK;
}

/* Of Gemm: a product, scaled, and a third operand, scaled, as the layer has none of both. */
enum vinci_status onnx_made_gemm(struct onnx_call *call, bool *known) {
  const struct onnx_value *c = onnx_given(call, 2) ? call->inputs[2] : NULL;
  double alpha = onnx_put_real(call, "alpha", 1), beta = onnx_put_real(call, "beta", 1);
  uint64_t n = call->outputs[0]->rank == 2 ? call->outputs[0]->shape[1] : 0;
  bool row = c && c->rank > 0 && onnx_elements(c) == n && c->shape[c->rank - 1] == n;
  struct onnx_text body = {.used = 0};
  *known = onnx_type_is_float(call->inputs[0]->type) && (alpha != 1 || (c && (beta != 1 || !row)));
  if (!*known)
    return VINCI_OK;
  onnx_say(&body, "Gemm p = a b transA=%d transB=%d;", (int)onnx_put_int(call, "trans_a", 0),
           (int)onnx_put_int(call, "trans_b", 0));
  if (alpha != 1)
    onnx_say(&body, "Constant ca = value_float=@alpha:1.0; CastLike f = ca a; Mul s = p f;");
  else
    onnx_say(&body, "Identity s = p;");
  if (c && beta != 1)
    onnx_say(&body,
             "Constant cb = value_float=@beta:1.0; CastLike g = cb a; Mul t = c g; Add y = s t");
  else if (c)
    onnx_say(&body, "Add y = s c");
  else
    onnx_say(&body, "Identity y = s");
  return onnx_call_text(call, "a b c", "y", &body);
}
