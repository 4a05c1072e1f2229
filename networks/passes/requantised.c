/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows a product of bytes is computed as the result leaves the cube, whose fixpipe scales,
 * rectifies and rounds: scales ("ScaledConv", "ScaledMatMul", results of fp16), or all up to the
 * bytes of a QuantizeLinear ("RequantizedConv", "RequantizedMatMul"). Sums of bytes between layers
 * that make numbers of bytes and bytes of numbers are one layer too ("RequantizedAdd"). So a
 * quantised network keeps its bytes in blocks of channels from layer to layer.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "networks/passes/pass.h"

/* What pass quantised has made has the first seven. */
enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, BIAS, Y_SCALE, Y_ZERO, INPUTS };
enum { SIGN_SHIFT = 128 };

/* A zero point that is left out is 0. */
static bool zero_of(const struct rewrite *rewrite, uint32_t tensor, double *out) {
  *out = 0;
  return tensor == GRAPH_NONE || rewrite_number(rewrite, tensor, out);
}

/* Weights whose zero points are all known, and 0. */
static bool is_nought(const struct rewrite *rewrite, uint32_t tensor) {
  const struct graph_tensor *own = tensor == GRAPH_NONE ? NULL : rewrite_tensor(rewrite, tensor);
  double number;
  for (uint64_t i = 0; own && i < graph_elements(own); i++)
    if (!graph_number(own, i, &number) || number != 0)
      return false;
  return true;
}

static bool is_signed(const struct rewrite *rewrite, uint32_t tensor) {
  return tensor != GRAPH_NONE && rewrite_tensor(rewrite, tensor)->dtype == DTYPE_INT8;
}

static bool is_one(const struct rewrite *rewrite, uint32_t tensor) {
  return tensor != GRAPH_NONE && graph_elements(rewrite_tensor(rewrite, tensor)) == 1;
}

/* ---- unsigned bytes ------------------------------------------------------------------------ */

/* Where a node reads a tensor as bytes with a zero point, which then is *zero, an index. */
static bool reads_bytes(const struct graph_node *node, uint32_t index, uint32_t *zero) {
  *zero = X_ZERO;
  if (node->input_count > INPUTS)
    return false;
  if (rewrite_is_op(node, "DequantizeLinear"))
    return index == X;
  return (rewrite_is_op(node, "DequantizedConv") || rewrite_is_op(node, "DequantizedMatMul")) &&
         index == X;
}

static bool zero_is_known(const struct rewrite *rewrite, const struct graph_node *node,
                          uint32_t zero) {
  double number;
  return zero_of(rewrite, rewrite_input(node, zero), &number);
}

/* All that read a tensor read bytes. */
static bool all_read_bytes(const struct rewrite *rewrite, uint32_t tensor) {
  uint32_t zero, count = 0;
  for (uint32_t i = 0; i < rewrite->node_count; i++) {
    const struct graph_node *node = &rewrite->graph->nodes[i];
    for (uint32_t j = 0; !rewrite->gone[i] && j < node->input_count; j++) {
      if (node->inputs[j] != tensor)
        continue;
      if (node->kind != GRAPH_LAYER || !reads_bytes(node, j, &zero) ||
          !zero_is_known(rewrite, node, zero))
        return false;
      count++;
    }
  }
  return count > 0 && count == rewrite->reads[tensor];
}

/* A zero point of int8 that is 128 less than one of uint8. */
static uint32_t signed_zero(struct rewrite *rewrite, double number) {
  unsigned char *data = arena_alloc(&rewrite->graph->arena, 1, 1);
  uint32_t out = rewrite_new_tensor(rewrite, "zero", DTYPE_INT8, &(uint64_t){1}, 1);
  if (!data || out == GRAPH_NONE || !graph_put_number(DTYPE_INT8, data, 0, number - SIGN_SHIFT)) {
    rewrite->no_memory = true;
    return GRAPH_NONE;
  }
  rewrite->graph->tensors[out].io = GRAPH_WEIGHT;
  rewrite->graph->tensors[out].data = data;
  rewrite->constant[out] = true;
  return out;
}

static void shift_zero(struct rewrite *rewrite, struct graph_node *node, uint32_t index) {
  uint32_t inputs[INPUTS], count = node->input_count > index ? node->input_count : index + 1;
  double number;
  if (!zero_of(rewrite, rewrite_input(node, index), &number))
    return;
  for (uint32_t i = 0; i < count; i++)
    inputs[i] = rewrite_input(node, i);
  inputs[index] = signed_zero(rewrite, number);
  rewrite_become_like(rewrite, node, node->op, inputs, count, node, "");
}

/* Unsigned bytes that a QuantizeLinear makes for such readers become signed ones. */
static void make_signed(struct rewrite *rewrite, struct graph_node *node) {
  uint32_t tensor = node->outputs[0], zero;
  const struct graph_tensor *own = rewrite_tensor(rewrite, tensor);
  if (!rewrite_is_op(node, "QuantizeLinear") || node->input_count > INPUTS ||
      own->dtype != DTYPE_UINT8 || own->io == GRAPH_OUT || !zero_is_known(rewrite, node, X_ZERO) ||
      !all_read_bytes(rewrite, tensor))
    return;
  for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++) {
    struct graph_node *reader = &rewrite->graph->nodes[i];
    for (uint32_t j = 0; !rewrite->gone[i] && j < reader->input_count; j++)
      if (reader->inputs[j] == tensor && reads_bytes(reader, j, &zero)) {
        shift_zero(rewrite, reader, zero);
        break;
      }
  }
  shift_zero(rewrite, node, X_ZERO);
  rewrite->graph->tensors[tensor].dtype = DTYPE_INT8;
  rewrite_done(rewrite, node, "int8");
}

/* ---- products ------------------------------------------------------------------------------ */

/* Whether the fixpipe can scale what a product on bytes gives. */
static bool can_scale(struct rewrite *rewrite, const struct graph_node *node) {
  double zero;
  bool conv = rewrite_is_op(node, "DequantizedConv");
  if (!conv && !rewrite_is_op(node, "DequantizedMatMul"))
    return false;
  if (!is_nought(rewrite, rewrite_input(node, W_ZERO)) ||
      !zero_of(rewrite, rewrite_input(node, X_ZERO), &zero) ||
      !is_signed(rewrite, node->inputs[W]) || !is_one(rewrite, node->inputs[X_SCALE]))
    return false;
  if (!rewrite_is_weight(rewrite, node->inputs[X_SCALE]) ||
      (node->inputs[W_SCALE] != GRAPH_NONE && !rewrite_is_weight(rewrite, node->inputs[W_SCALE])))
    return false;
  return !conv ||
         (is_signed(rewrite, node->inputs[X]) && rewrite_is_weight(rewrite, node->inputs[W]) &&
          graph_arg_int(node, "group", 1) == 1);
}

/* The number of a bound; false: none, or not known. */
static bool bound_of(const struct graph_node *node, const char *name, double *out) {
  *out = graph_arg_number(node, name, NAN);
  return !isnan(*out);
}

/* ReLU, or a clip whose upper bound is beyond what bytes of that scale reach. */
static bool is_relu(const struct rewrite *rewrite, const struct graph_node *node, uint32_t scale,
                    double zero) {
  double low, high, step;
  if (rewrite_is_op(node, "Relu"))
    return true;
  if (!rewrite_is_op(node, "Clip") || !bound_of(node, "min", &low) || low != 0)
    return false;
  return !bound_of(node, "max", &high) ||
         (rewrite_number(rewrite, scale, &step) && high >= (INT8_MAX - zero) * step);
}

/* A QuantizeLinear to int8 with one known zero point and a scale from weights. */
static bool is_last(const struct rewrite *rewrite, const struct graph_node *node, double *zero) {
  return rewrite_is_op(node, "QuantizeLinear") && is_signed(rewrite, node->outputs[0]) &&
         is_one(rewrite, rewrite_input(node, X_SCALE)) &&
         rewrite_is_weight(rewrite, node->inputs[X_SCALE]) &&
         zero_of(rewrite, rewrite_input(node, X_ZERO), zero);
}

/* The layer before a QuantizeLinear, and the ReLU between, if there is one; each read once. */
static struct graph_node *before_last(const struct rewrite *rewrite, const struct graph_node *last,
                                      double zero, struct graph_node **relu) {
  struct graph_node *node = rewrite_inner(rewrite, last, last->inputs[0], NULL);
  *relu = NULL;
  if (!node || node->input_count == 0 || !is_relu(rewrite, node, last->inputs[X_SCALE], zero))
    return node;
  *relu = node;
  return rewrite_inner(rewrite, node, node->inputs[0], NULL);
}

static void requantise(struct rewrite *rewrite, struct graph_node *last) {
  double zero;
  struct graph_node *relu;
  if (!is_last(rewrite, last, &zero))
    return;
  struct graph_node *product = before_last(rewrite, last, zero, &relu);
  if (!product || !can_scale(rewrite, product))
    return;
  uint32_t inputs[INPUTS];
  for (uint32_t i = X; i <= BIAS; i++)
    inputs[i] = rewrite_input(product, i);
  inputs[Y_SCALE] = last->inputs[X_SCALE];
  inputs[Y_ZERO] = rewrite_input(last, X_ZERO);
  const char *op =
      rewrite_is_op(product, "DequantizedConv") ? "RequantizedConv" : "RequantizedMatMul";
  rewrite_take_away(rewrite, product);
  if (relu)
    rewrite_take_away(rewrite, relu);
  rewrite_become_like(rewrite, last, op, inputs, INPUTS, product, relu ? "relu=1" : "");
  rewrite_done(rewrite, last, NULL);
}

/* Results of fp16 that stay real numbers. */
static void scale(struct rewrite *rewrite, struct graph_node *node) {
  if (!can_scale(rewrite, node) || rewrite_tensor(rewrite, node->outputs[0])->dtype != DTYPE_FP16)
    return;
  uint32_t inputs[BIAS + 1];
  for (uint32_t i = X; i <= BIAS; i++)
    inputs[i] = rewrite_input(node, i);
  const char *op = rewrite_is_op(node, "DequantizedConv") ? "ScaledConv" : "ScaledMatMul";
  rewrite_become_like(rewrite, node, op, inputs, BIAS + 1, node, "");
  rewrite_done(rewrite, node, NULL);
}

/* ---- sums ---------------------------------------------------------------------------------- */

/* The layer that makes a summand of signed bytes with one scale; NULL: none. */
static const struct graph_node *summand(const struct rewrite *rewrite, uint32_t tensor) {
  double zero;
  const struct graph_node *node = rewrite_writer(rewrite, tensor, "DequantizeLinear");
  bool fits = node && is_signed(rewrite, node->inputs[0]) &&
              is_one(rewrite, rewrite_input(node, X_SCALE)) &&
              zero_of(rewrite, rewrite_input(node, X_ZERO), &zero);
  return fits ? node : NULL;
}

static void add_bytes(struct rewrite *rewrite, struct graph_node *last) {
  enum { PARTS = 2, EACH = 3 };
  double zero;
  struct graph_node *relu;
  uint32_t inputs[(PARTS + 1) * EACH - 1];
  if (!is_last(rewrite, last, &zero))
    return;
  const struct graph_node *sum = before_last(rewrite, last, zero, &relu);
  if (!sum || !rewrite_is_op(sum, "Add") || sum->input_count != PARTS)
    return;
  for (uint32_t i = 0; i < PARTS; i++) {
    const struct graph_node *part = summand(rewrite, sum->inputs[i]);
    const struct graph_tensor *own = part ? rewrite_tensor(rewrite, part->outputs[0]) : NULL;
    if (!own || graph_elements(own) != graph_elements(rewrite_tensor(rewrite, sum->outputs[0])))
      return;
    for (uint32_t j = 0; j < EACH; j++)
      inputs[i * EACH + j] = rewrite_input(part, j);
  }
  inputs[PARTS * EACH] = last->inputs[X_SCALE];
  inputs[PARTS * EACH + 1] = rewrite_input(last, X_ZERO);
  rewrite_take_away(rewrite, sum);
  if (relu)
    rewrite_take_away(rewrite, relu);
  rewrite_become(rewrite, last, "RequantizedAdd", inputs, sizeof inputs / sizeof *inputs,
                 relu ? "relu=1" : "");
  rewrite_done(rewrite, last, NULL);
}

void pass_requantised(struct pass_context *pass) {
  struct rewrite *rewrite = &pass->rewrite;
  static void (*const steps[])(struct rewrite *, struct graph_node *) = {make_signed, requantise,
                                                                         add_bytes, scale};
  if (arch_is_coupled(rewrite->soc->arch))
    return;
  for (size_t step = 0; step < sizeof steps / sizeof *steps; step++)
    for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++)
      if (!rewrite->gone[i] && rewrite->graph->nodes[i].kind == GRAPH_LAYER)
        steps[step](rewrite, &rewrite->graph->nodes[i]);
}
