/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products between bytes. Exporters write a quantised product as a product of real numbers between
 * layers that make numbers of bytes (QuantizeLinear, DequantizeLinear), or as a product of integers
 * that is cast and scaled. Both become one layer, which the cube computes on bytes:
 * "DequantizedMatMul" or "DequantizedConv" with inputs x, scale and zero point of x, w, scale and
 * zero point of w, bias; inputs that are left out are 1, 0 and nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "networks/passes/pass.h"

#define NEAR 1e-4 /* fp32, rounded twice */

enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, BIAS, INPUTS };

static bool is_byte(const struct rewrite *rewrite, uint32_t tensor) {
  enum dtype dtype = tensor == GRAPH_NONE ? DTYPE_FP32 : rewrite_tensor(rewrite, tensor)->dtype;
  return dtype == DTYPE_INT8 || dtype == DTYPE_UINT8;
}

static const char *product_of(const struct graph_node *node) {
  return rewrite_is_op(node, "Conv") || rewrite_is_op(node, "ConvInteger") ? "DequantizedConv"
                                                                           : "DequantizedMatMul";
}

/* ---- between layers that make numbers of bytes --------------------------------------------- */

/* The layer that makes an operand of bytes, with one scale for all, or for each along an axis. */
static const struct graph_node *made_of(const struct rewrite *rewrite, uint32_t tensor,
                                        int64_t axis) {
  const struct graph_node *node =
      tensor == GRAPH_NONE ? NULL : rewrite_writer(rewrite, tensor, "DequantizeLinear");
  if (!node || rewrite_input(node, 1) == GRAPH_NONE)
    return NULL;
  const struct graph_tensor *scale = rewrite_tensor(rewrite, node->inputs[1]);
  int64_t own = graph_arg_int(node, "axis", 1), rank = rewrite_tensor(rewrite, tensor)->rank;
  bool one = graph_elements(scale) == 1 || (axis >= 0 && (own < 0 ? own + rank : own) == axis);
  return one ? node : NULL;
}

/* The dimension of the second operand that belongs to channels of the result; -1: no such product.
 */
static int64_t channel_axis(const struct rewrite *rewrite, const struct graph_node *node) {
  uint32_t w = rewrite_input(node, 1);
  if (rewrite_is_op(node, "Conv"))
    return 0;
  if (w == GRAPH_NONE || rewrite_tensor(rewrite, w)->rank != 2 ||
      graph_arg_int(node, "trans_a", 0) != 0 || graph_arg_number(node, "alpha", 1) != 1 ||
      graph_arg_number(node, "beta", 1) != 1)
    return -1;
  return graph_arg_int(node, "trans_b", 0) != 0 ? 0 : 1;
}

static uint64_t channels_of(const struct rewrite *rewrite, const struct graph_node *node) {
  const struct graph_tensor *y = rewrite_tensor(rewrite, node->outputs[0]);
  return y->rank < 2 ? 0 : y->shape[rewrite_is_op(node, "Conv") ? 1 : y->rank - 1];
}

static void take_away_unread(struct rewrite *rewrite, const struct graph_node *node) {
  if (node && rewrite->reads[node->outputs[0]] == 1)
    rewrite_take_away(rewrite, node);
}

/* The scale of a bias is the product of those of x and w, as quantisation has that; where the
 * numbers are known, they are compared. */
static bool is_bias(const struct rewrite *rewrite, const struct graph_node *sums,
                    const struct graph_node *x, const struct graph_node *w, uint64_t channels) {
  const struct graph_tensor *bias = rewrite_tensor(rewrite, sums->inputs[0]);
  const struct graph_tensor *scale = rewrite_tensor(rewrite, sums->inputs[1]);
  const struct graph_tensor *of_x = rewrite_tensor(rewrite, x->inputs[1]);
  const struct graph_tensor *of_w = rewrite_tensor(rewrite, w->inputs[1]);
  double zero = 0, own, first, second;
  if (rewrite_input(sums, 2) != GRAPH_NONE && !rewrite_number(rewrite, sums->inputs[2], &zero))
    return false;
  if (bias->dtype != DTYPE_INT32 || graph_elements(bias) != channels || zero != 0)
    return false;
  for (uint64_t i = 0; i < graph_elements(scale); i++)
    if (graph_number(scale, i, &own) && graph_number(of_x, 0, &first) &&
        graph_number(of_w, graph_elements(of_w) == 1 ? 0 : i, &second) &&
        fabs(own - first * second) > NEAR * fabs(own))
      return false;
  return true;
}

static bool between_bytes(struct rewrite *rewrite, struct graph_node *node) {
  if (!rewrite_is_op(node, "Conv") && !rewrite_is_op(node, "MatMul") &&
      !rewrite_is_op(node, "Gemm"))
    return false;
  /* Coupled cores copy whole blocks alone, and lay maps of bytes out for few shapes. */
  if (rewrite_is_op(node, "Conv") && arch_is_coupled(rewrite->soc->arch))
    return false;
  int64_t axis = channel_axis(rewrite, node);
  const struct graph_node *x = made_of(rewrite, rewrite_input(node, 0), -1);
  const struct graph_node *w = made_of(rewrite, rewrite_input(node, 1), axis);
  uint32_t bias = rewrite_input(node, 2);
  const struct graph_node *sums = bias == GRAPH_NONE ? NULL : made_of(rewrite, bias, 0);
  if (axis < 0 || !x || !w || !is_byte(rewrite, x->inputs[0]) || !is_byte(rewrite, w->inputs[0]) ||
      (bias != GRAPH_NONE && (!sums || !is_bias(rewrite, sums, x, w, channels_of(rewrite, node)))))
    return false;
  uint32_t inputs[INPUTS] = {x->inputs[0],
                             x->inputs[1],
                             rewrite_input(x, 2),
                             w->inputs[0],
                             w->inputs[1],
                             rewrite_input(w, 2),
                             sums ? sums->inputs[0] : GRAPH_NONE};
  const char *op = product_of(node);
  take_away_unread(rewrite, x);
  take_away_unread(rewrite, w);
  take_away_unread(rewrite, sums);
  rewrite_become_like(rewrite, node, op, inputs, INPUTS, node, "");
  rewrite_done(rewrite, node, NULL);
  return true;
}

/* ---- products of integers that are scaled -------------------------------------------------- */

/* One number, or one for each column of a product. */
static bool is_scale(const struct rewrite *rewrite, uint32_t tensor,
                     const struct graph_tensor *sums) {
  const struct graph_tensor *scale = rewrite_tensor(rewrite, tensor);
  uint64_t count = graph_elements(scale);
  return count == 1 || (scale->rank > 0 && scale->shape[scale->rank - 1] == count &&
                        sums->shape[sums->rank - 1] == count);
}

/* product -> Cast -> this Mul with a scale. */
static bool scaled_integers(struct rewrite *rewrite, struct graph_node *node) {
  if (!rewrite_is_op(node, "Mul") || node->input_count != 2)
    return false;
  for (uint32_t i = 0; i < 2; i++) {
    const struct graph_node *cast = rewrite_inner(rewrite, node, node->inputs[i], "Cast");
    const struct graph_node *product =
        cast ? rewrite_inner(rewrite, cast, cast->inputs[0], NULL) : NULL;
    if (!product ||
        (!rewrite_is_op(product, "MatMulInteger") && !rewrite_is_op(product, "ConvInteger")))
      continue;
    uint32_t inputs[INPUTS] = {product->inputs[0], node->inputs[1 - i], rewrite_input(product, 2),
                               product->inputs[1], GRAPH_NONE,          rewrite_input(product, 3),
                               GRAPH_NONE};
    const struct graph_tensor *y = rewrite_tensor(rewrite, node->outputs[0]);
    const struct graph_tensor *sums = rewrite_tensor(rewrite, product->outputs[0]);
    const char *op = product_of(product);
    if (graph_elements(y) != graph_elements(sums) || !is_scale(rewrite, inputs[X_SCALE], sums) ||
        (graph_elements(rewrite_tensor(rewrite, inputs[X_SCALE])) != 1 &&
         rewrite_is_op(product, "ConvInteger")))
      continue;
    rewrite_take_away(rewrite, product);
    rewrite_take_away(rewrite, cast);
    rewrite_become_like(rewrite, node, op, inputs, INPUTS, product, "");
    rewrite_done(rewrite, node, NULL);
    return true;
  }
  return false;
}

/* ---- bytes whose scale a run computes ------------------------------------------------------- */

enum { POSITIVE_LAYERS = 256 };

/* Whether no number of a tensor is below 0, as the layers say that make the tensor; those that are
 * looked at are taken from `left`. */
static bool is_positive(const struct rewrite *rewrite, uint32_t tensor, unsigned *left) {
  static const char *const ends[] = {"Relu", "Sigmoid", "HardSigmoid", "Softmax"};
  static const char *const keeps[] = {"MaxPool", "AveragePool",       "Concat",  "Add",
                                      "Mul",     "GlobalAveragePool", "Reshape", "Transpose"};
  const struct graph_node *node = rewrite_writer(rewrite, tensor, NULL);
  if (!node || *left == 0)
    return false;
  --*left;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (rewrite_is_op(node, ends[i]))
      return true;
  const char *mode = graph_arg(node, "mode");
  bool kept = rewrite_is_op(node, "Resize") && (!mode || strcmp(mode, "cubic") != 0);
  for (size_t i = 0; i < sizeof keeps / sizeof *keeps && !kept; i++)
    kept = rewrite_is_op(node, keeps[i]);
  bool all =
      rewrite_is_op(node, "Concat") || rewrite_is_op(node, "Add") || rewrite_is_op(node, "Mul");
  for (uint32_t i = 0; kept && i < (all ? node->input_count : 1); i++)
    kept = is_positive(rewrite, node->inputs[i], left);
  return kept;
}

/* The constant factor of a Mul of two, of which the other is a tensor; GRAPH_NONE. */
static uint32_t other_factor(const struct rewrite *rewrite, uint32_t product, uint32_t factor) {
  const struct graph_node *node =
      product == GRAPH_NONE ? NULL : rewrite_writer(rewrite, product, "Mul");
  for (uint32_t i = 0; node && node->input_count == 2 && i < 2; i++)
    if (node->inputs[i] == factor && rewrite_is_weight(rewrite, node->inputs[1 - i]))
      return node->inputs[1 - i];
  return GRAPH_NONE;
}

/* The numbers that the bytes of a layer stand for; `rounded` has them by input, made once. */
static uint32_t rounded_numbers(struct rewrite *rewrite, const struct graph_node *node,
                                const struct graph_node *bytes, uint32_t *rounded) {
  uint32_t input = bytes->inputs[0];
  unsigned left = POSITIVE_LAYERS;
  struct graph_tensor map = *rewrite_tensor(rewrite, input);
  if (rounded[input] == GRAPH_NONE)
    rounded[input] = rewrite_insert(rewrite, node, "RoundedToBytes", &input, 1,
                                    is_positive(rewrite, input, &left) ? "low=0" : "", map.dtype,
                                    map.shape, map.rank);
  return rounded[input];
}

/* The layer whose bytes a product of integers takes with their own zero point; NULL: none. */
static const struct graph_node *dynamic_bytes(const struct rewrite *rewrite,
                                              const struct graph_node *product) {
  const struct graph_node *bytes =
      product ? rewrite_writer(rewrite, product->inputs[0], "DynamicQuantizeLinear") : NULL;
  bool own = bytes && bytes->output_count > 2 && rewrite_input(product, 2) == bytes->outputs[2];
  return own && rewrite_is_weight(rewrite, product->inputs[1]) ? bytes : NULL;
}

/*
 * A convolution of what DynamicQuantizeLinear gives, cast and times both scales: of the numbers
 * that the bytes stand for, and of the weights as numbers. Zero points of weights have no place
 * among signed bytes, and the scale of the map is not known before the run, so that bytes save
 * nothing.
 */
static bool dynamic_conv(struct rewrite *rewrite, struct graph_node *node, uint32_t *rounded) {
  for (uint32_t i = 0; rewrite_is_op(node, "Mul") && node->input_count == 2 && i < 2; i++) {
    const struct graph_node *cast = rewrite_inner(rewrite, node, node->inputs[i], "Cast");
    const struct graph_node *product =
        cast ? rewrite_inner(rewrite, cast, cast->inputs[0], "ConvInteger") : NULL;
    const struct graph_node *bytes = dynamic_bytes(rewrite, product);
    uint32_t scale =
        bytes ? other_factor(rewrite, node->inputs[1 - i], bytes->outputs[1]) : GRAPH_NONE;
    uint32_t zero = product ? rewrite_input(product, 3) : GRAPH_NONE;
    if (scale == GRAPH_NONE || graph_elements(rewrite_tensor(rewrite, scale)) != 1 ||
        (zero != GRAPH_NONE && graph_elements(rewrite_tensor(rewrite, zero)) != 1))
      continue;
    enum dtype dtype = rewrite_tensor(rewrite, bytes->inputs[0])->dtype;
    struct graph_tensor weights = *rewrite_tensor(rewrite, product->inputs[1]);
    uint32_t own[] = {product->inputs[1], scale, zero}, inputs[2];
    inputs[0] = rounded_numbers(rewrite, node, bytes, rounded);
    inputs[1] = rewrite_insert(rewrite, node, "DequantizeLinear", own, 3, "", dtype, weights.shape,
                               weights.rank);
    rewrite_take_away(rewrite, product);
    rewrite_take_away(rewrite, cast);
    rewrite_become_like(rewrite, node, "Conv", inputs, 2, product, "");
    rewrite_done(rewrite, node, NULL);
    return true;
  }
  return false;
}

void pass_quantised(struct pass_context *pass) {
  struct rewrite *rewrite = &pass->rewrite;
  size_t tensors = rewrite->graph->tensor_count;
  uint32_t *rounded = malloc((tensors + 1) * sizeof *rounded);
  rewrite->no_memory |= !rounded;
  if (rounded)
    memset(rounded, 0xff, (tensors + 1) * sizeof *rounded);
  for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++) {
    struct graph_node *node = &rewrite->graph->nodes[i];
    if (!rewrite->gone[i] && node->kind == GRAPH_LAYER && !between_bytes(rewrite, node) &&
        !dynamic_conv(rewrite, node, rounded))
      (void)scaled_integers(rewrite, node);
  }
  free(rounded);
}
