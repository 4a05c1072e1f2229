/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers that an exporter has taken apart: found by their last node, and put together there. What
 * is found has to be read by nobody else.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "networks/passes/pass.h"

#define NEAR 1e-3

static bool near(double a, double b) { return fabs(a - b) <= NEAR * fabs(b); }

/* Of a node of two inputs: the one that a layer of that operator writes, and the other. */
static struct graph_node *either(const struct rewrite *rewrite, const struct graph_node *node,
                                 const char *op, uint32_t *other) {
  for (uint32_t i = 0; node->input_count == 2 && i < 2; i++) {
    struct graph_node *found = rewrite_inner(rewrite, node, node->inputs[i], op);
    if (found) {
      *other = node->inputs[1 - i];
      return found;
    }
  }
  return NULL;
}

/* node = inner <op> number; the inner writer, or NULL. */
static struct graph_node *by_number(const struct rewrite *rewrite, const struct graph_node *node,
                                    const char *inner_op, double number) {
  uint32_t input;
  double known;
  if (!rewrite_with_number(rewrite, node, &input, &known) || !near(known, number))
    return NULL;
  return rewrite_inner(rewrite, node, input, inner_op);
}

static bool last_axis(const struct rewrite *rewrite, const struct graph_node *node) {
  int64_t axes[2];
  const struct graph_tensor *x = rewrite_tensor(rewrite, node->inputs[0]);
  return graph_arg_ints(node, "axes", axes, 2) == 1 &&
         (axes[0] == (int64_t)x->rank - 1 || axes[0] == -1) &&
         graph_arg_int(node, "keepdims", 1) != 0;
}

static void become(struct rewrite *rewrite, struct graph_node *node, const char *op,
                   const uint32_t *inputs, uint32_t count, const char *args) {
  rewrite_become(rewrite, node, op, inputs, count, args);
  rewrite_done(rewrite, node, NULL);
}

/* ---- activations --------------------------------------------------------------------------- */

/* x * sigmoid(x), x * hard_sigmoid(x). */
static bool gated(struct rewrite *rewrite, struct graph_node *node, const char *gate,
                  const char *op) {
  uint32_t x;
  struct graph_node *inside = strcmp(node->op, "Mul") == 0 ? either(rewrite, node, gate, &x) : NULL;
  if (!inside || inside->inputs[0] != x)
    return false;
  if (strcmp(gate, "HardSigmoid") == 0 && (!near(graph_arg_number(inside, "alpha", 0.2), 1.0 / 6) ||
                                           !near(graph_arg_number(inside, "beta", 0.5), 0.5)))
    return false;
  rewrite_take_away(rewrite, inside);
  become(rewrite, node, op, &x, 1, "");
  return true;
}

/* Clip(x + 3, 0, 6): its x. */
static struct graph_node *clipped(const struct rewrite *rewrite, struct graph_node *clip,
                                  uint32_t *x) {
  double three;
  struct graph_node *sum = rewrite_inner(rewrite, clip, clip->inputs[0], "Add");
  if (!sum || graph_arg_number(clip, "min", -1) != 0 || graph_arg_number(clip, "max", -1) != 6)
    return NULL;
  return rewrite_with_number(rewrite, sum, x, &three) && three == 3 ? sum : NULL;
}

/* x * clip(x + 3, 0, 6) / 6, and clip(x + 3, 0, 6) / 6 alone. */
static bool hard(struct rewrite *rewrite, struct graph_node *node) {
  uint32_t x, other, inside;
  double six;
  bool div = strcmp(node->op, "Div") == 0, mul = strcmp(node->op, "Mul") == 0;
  if ((!div && !mul) || !rewrite_with_number(rewrite, node, &inside, &six) ||
      !near(div ? six : 1 / six, 6) || (div && node->inputs[0] != inside))
    return false;
  struct graph_node *product = rewrite_inner(rewrite, node, inside, "Mul");
  struct graph_node *clip = product ? either(rewrite, product, "Clip", &other)
                                    : rewrite_inner(rewrite, node, inside, "Clip");
  struct graph_node *sum = clip ? clipped(rewrite, clip, &x) : NULL;
  if (!sum || (product && other != x))
    return false;
  rewrite_take_away(rewrite, sum);
  rewrite_take_away(rewrite, clip);
  if (product)
    rewrite_take_away(rewrite, product);
  become(rewrite, node, product ? "HardSwish" : "HardSigmoid", &x, 1,
         product ? "" : "alpha=0.16666666666666666 beta=0.5");
  return true;
}

/* erf(x / sqrt(2)) + 1: its x. */
static struct graph_node *erf_sum(const struct rewrite *rewrite, const struct graph_node *node,
                                  uint32_t tensor, uint32_t *x, struct graph_node *parts[2]) {
  double number;
  struct graph_node *sum = rewrite_inner(rewrite, node, tensor, "Add");
  parts[0] = sum ? by_number(rewrite, sum, "Erf", 1) : NULL;
  parts[1] = parts[0] ? rewrite_inner(rewrite, parts[0], parts[0]->inputs[0], NULL) : NULL;
  if (!parts[1] || !rewrite_with_number(rewrite, parts[1], x, &number))
    return NULL;
  bool div = strcmp(parts[1]->op, "Div") == 0, mul = strcmp(parts[1]->op, "Mul") == 0;
  return (div && near(number, sqrt(2))) || (mul && near(number, sqrt(0.5))) ? sum : NULL;
}

/* 0.5 * x * (1 + erf(x / sqrt(2))), in the orders that exporters write. */
static bool gelu(struct rewrite *rewrite, struct graph_node *node) {
  struct graph_node *parts[2], *sum = NULL, *product = NULL;
  uint32_t x = GRAPH_NONE, other = GRAPH_NONE, rest;
  double half;
  if (strcmp(node->op, "Mul") != 0 || node->input_count != 2)
    return false;
  if (rewrite_with_number(rewrite, node, &rest, &half) && half == 0.5) { /* (x * sum) * 0.5 */
    product = rewrite_inner(rewrite, node, rest, "Mul");
    for (uint32_t i = 0; product && !sum && i < 2; i++) {
      sum = erf_sum(rewrite, product, product->inputs[i], &x, parts);
      other = product->inputs[1 - i];
    }
    if (!sum || other != x)
      return false;
  } else { /* (x * 0.5) * sum */
    for (uint32_t i = 0; !sum && i < 2; i++) {
      sum = erf_sum(rewrite, node, node->inputs[i], &x, parts);
      other = node->inputs[1 - i];
    }
    product = sum ? rewrite_inner(rewrite, node, other, "Mul") : NULL;
    if (!product || !rewrite_with_number(rewrite, product, &rest, &half) || half != 0.5 ||
        rest != x)
      return false;
  }
  rewrite_take_away(rewrite, product);
  rewrite_take_away(rewrite, sum);
  rewrite_take_away(rewrite, parts[0]);
  rewrite_take_away(rewrite, parts[1]);
  become(rewrite, node, "Gelu", &x, 1, "approximate=none");
  return true;
}

/* ---- norms --------------------------------------------------------------------------------- */

/* sqrt(mean(x * x) + epsilon) over the last dimension, x being a tensor that is known. */
static bool root_mean_square(const struct rewrite *rewrite, const struct graph_node *node,
                             uint32_t root, uint32_t x, double *epsilon,
                             struct graph_node *parts[4]) {
  uint32_t input;
  parts[0] = rewrite_inner(rewrite, node, root, "Sqrt");
  parts[1] = parts[0] ? rewrite_inner(rewrite, parts[0], parts[0]->inputs[0], "Add") : NULL;
  if (!parts[1] || !rewrite_with_number(rewrite, parts[1], &input, epsilon))
    return false;
  parts[2] = rewrite_inner(rewrite, parts[1], input, "ReduceMean");
  parts[3] = parts[2] && last_axis(rewrite, parts[2])
                 ? rewrite_inner(rewrite, parts[2], parts[2]->inputs[0], NULL)
                 : NULL;
  if (!parts[3] || parts[3]->input_count != 2 || parts[3]->inputs[0] != x)
    return false;
  double two;
  return strcmp(parts[3]->op, "Mul") == 0
             ? parts[3]->inputs[1] == x
             : strcmp(parts[3]->op, "Pow") == 0 &&
                   rewrite_number(rewrite, parts[3]->inputs[1], &two) && two == 2;
}

static bool is_last_row(const struct rewrite *rewrite, uint32_t row, uint32_t x) {
  if (!rewrite_is_weight(rewrite, row))
    return false;
  const struct graph_tensor *own = rewrite_tensor(rewrite, row), *of = rewrite_tensor(rewrite, x);
  return own->rank > 0 && graph_elements(own) == own->shape[own->rank - 1] &&
         own->shape[own->rank - 1] == of->shape[of->rank - 1];
}

/* x - mean(x), which the variance and the quotient read, or each a difference of its own. */
static struct graph_node *difference(const struct rewrite *rewrite, uint32_t tensor,
                                     struct graph_node **mean) {
  struct graph_node *sub = rewrite_writer(rewrite, tensor, "Sub");
  *mean = sub ? rewrite_writer(rewrite, sub->inputs[1], "ReduceMean") : NULL;
  if (!*mean || (*mean)->inputs[0] != sub->inputs[0] || !last_axis(rewrite, *mean))
    return NULL;
  return sub;
}

/* ((x - mean) / root) * gamma + beta; the node is the sum. */
static bool layer_norm(struct rewrite *rewrite, struct graph_node *node) {
  struct graph_node *parts[4], *mean;
  uint32_t beta, gamma;
  double epsilon;
  struct graph_node *scaled =
      strcmp(node->op, "Add") == 0 ? either(rewrite, node, "Mul", &beta) : NULL;
  struct graph_node *quotient = scaled ? either(rewrite, scaled, "Div", &gamma) : NULL;
  if (!quotient)
    return false;
  struct graph_node *sub = difference(rewrite, quotient->inputs[0], &mean);
  if (!sub || rewrite->reads[sub->outputs[0]] > 3 || !is_last_row(rewrite, gamma, sub->inputs[0]) ||
      !is_last_row(rewrite, beta, sub->inputs[0]) ||
      !root_mean_square(rewrite, quotient, quotient->inputs[1], sub->outputs[0], &epsilon, parts))
    return false;
  char args[64];
  unsigned rank = rewrite_tensor(rewrite, sub->inputs[0])->rank;
  snprintf(args, sizeof args, "axis=%u epsilon=%.9g", rank - 1, epsilon);
  struct graph_node *all[] = {scaled, quotient, sub, mean, parts[0], parts[1], parts[2], parts[3]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    rewrite_take_away(rewrite, all[i]);
  become(rewrite, node, "LayerNormalization", (uint32_t[]){sub->inputs[0], gamma, beta}, 3, args);
  return true;
}

/* x / root * gamma, or x * (1 / root) * gamma. Where x is a difference from the mean, and a summand
 * follows, the layer norm of the sum is found later. */
static bool rms_norm(struct rewrite *rewrite, struct graph_node *node) {
  struct graph_node *parts[4], *inverse = NULL, *mean;
  uint32_t gamma, x = GRAPH_NONE, root = GRAPH_NONE;
  double epsilon;
  if (strcmp(node->op, "Mul") != 0)
    return false;
  struct graph_node *quotient = either(rewrite, node, "Div", &gamma);
  if (quotient) {
    x = quotient->inputs[0];
    root = quotient->inputs[1];
  } else {
    quotient = either(rewrite, node, "Mul", &gamma);
    inverse = quotient ? either(rewrite, quotient, "Reciprocal", &x) : NULL;
    root = inverse ? inverse->inputs[0] : GRAPH_NONE;
  }
  const struct graph_node *reader = inverse ? inverse : quotient;
  if (!reader || root == GRAPH_NONE || !is_last_row(rewrite, gamma, x) ||
      (difference(rewrite, x, &mean) && rewrite_reader(rewrite, node->outputs[0], "Add")) ||
      !root_mean_square(rewrite, reader, root, x, &epsilon, parts))
    return false;
  char args[64];
  snprintf(args, sizeof args, "axis=%u epsilon=%.9g", rewrite_tensor(rewrite, x)->rank - 1,
           epsilon);
  rewrite_take_away(rewrite, quotient);
  if (inverse)
    rewrite_take_away(rewrite, inverse);
  for (size_t i = 0; i < 4; i++)
    rewrite_take_away(rewrite, parts[i]);
  become(rewrite, node, "RMSNormalization", (uint32_t[]){x, gamma}, 2, args);
  return true;
}

/* ---- the pass ------------------------------------------------------------------------------ */

void pass_patterns(struct pass_context *pass) {
  struct rewrite *rewrite = &pass->rewrite;
  for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++) {
    struct graph_node *node = &rewrite->graph->nodes[i];
    if (rewrite->gone[i] || node->kind != GRAPH_LAYER || node->input_count == 0)
      continue;
    (void)(gelu(rewrite, node) || hard(rewrite, node) || gated(rewrite, node, "Sigmoid", "Silu") ||
           gated(rewrite, node, "HardSigmoid", "HardSwish") || layer_norm(rewrite, node) ||
           rms_norm(rewrite, node));
  }
}
