/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Into the weights of a convolution: what follows and is one factor and one summand for each
 * channel. The arithmetic on weights is layers too, which are computed once, when the network is
 * loaded.
 */
#include <stdio.h>
#include <string.h>

#include "networks/passes/pass.h"

/* A factor and a summand, K numbers each; GRAPH_NONE: 1 and 0. */
struct affine {
  uint32_t factor, summand;
};

static uint32_t insert2(struct rewrite *rewrite, const struct graph_node *before, const char *op,
                        uint32_t a, uint32_t b, uint32_t like) {
  struct graph_tensor shape = *rewrite_tensor(rewrite, like);
  if (a == GRAPH_NONE || b == GRAPH_NONE)
    return GRAPH_NONE;
  return rewrite_insert(rewrite, before, op, (uint32_t[]){a, b}, 2, "", shape.dtype, shape.shape,
                        shape.rank);
}

/* One known number as a tensor. */
static uint32_t constant(struct rewrite *rewrite, const char *base, enum dtype dtype,
                         double number) {
  unsigned char *data = arena_alloc(&rewrite->graph->arena, 1, sizeof(uint64_t));
  uint32_t out = rewrite_new_tensor(rewrite, base, dtype, &(uint64_t){1}, 1);
  if (!data || out == GRAPH_NONE || !graph_put_number(dtype, data, 0, number)) {
    rewrite->no_memory = true;
    return GRAPH_NONE;
  }
  rewrite->graph->tensors[out].io = GRAPH_WEIGHT;
  rewrite->graph->tensors[out].data = data;
  rewrite->constant[out] = true;
  return out;
}

/* A row of numbers with another shape. */
static uint32_t reshaped(struct rewrite *rewrite, const struct graph_node *before, uint32_t row,
                         const uint64_t *shape, unsigned rank) {
  enum dtype dtype = rewrite_tensor(rewrite, row)->dtype;
  return rewrite_insert(rewrite, before, "Reshape", &row, 1, "", dtype, shape, rank);
}

/* y = (x - mean) / sqrt(var + epsilon) * scale + shift. */
static bool batch_norm(struct rewrite *rewrite, const struct graph_node *node, struct affine *out) {
  uint32_t row[4]; /* scale, shift, mean, variance */
  for (uint32_t i = 0; i < 4; i++) {
    row[i] = rewrite_input(node, i + 1);
    if (!rewrite_is_weight(rewrite, row[i]))
      return false;
  }
  enum dtype dtype = rewrite_tensor(rewrite, row[3])->dtype;
  uint32_t epsilon = constant(rewrite, "epsilon", dtype, graph_arg_number(node, "epsilon", 1e-5));
  uint32_t sum = insert2(rewrite, node, "Add", row[3], epsilon, row[3]);
  if (sum == GRAPH_NONE)
    return false;
  struct graph_tensor shape = *rewrite_tensor(rewrite, row[3]);
  uint32_t root =
      rewrite_insert(rewrite, node, "Sqrt", &sum, 1, "", dtype, shape.shape, shape.rank);
  out->factor = insert2(rewrite, node, "Div", row[0], root, row[0]);
  uint32_t moved = insert2(rewrite, node, "Mul", row[2], out->factor, row[0]);
  out->summand = insert2(rewrite, node, "Sub", row[1], moved, row[1]);
  return true;
}

/* A weight with as many numbers as channels, each for a channel of results of that rank. */
static bool is_channel_row(const struct rewrite *rewrite, uint32_t tensor, uint64_t channels,
                           unsigned rank) {
  if (!rewrite_is_weight(rewrite, tensor))
    return false;
  const struct graph_tensor *row = rewrite_tensor(rewrite, tensor);
  unsigned behind = rank - 2; /* extents of 1 behind the channels */
  if (row->rank < behind + 1 || graph_elements(row) != channels)
    return false;
  return row->shape[row->rank - behind - 1] == channels;
}

static bool scale_or_shift(struct rewrite *rewrite, const struct graph_node *node, uint32_t result,
                           uint64_t channels, unsigned rank, struct affine *out) {
  uint32_t row = node->inputs[0] == result ? node->inputs[1] : node->inputs[0];
  bool mul = strcmp(node->op, "Mul") == 0, add = strcmp(node->op, "Add") == 0;
  if ((!mul && !add) || !is_channel_row(rewrite, row, channels, rank))
    return false;
  row = reshaped(rewrite, node, row, &channels, 1);
  *(mul ? &out->factor : &out->summand) = row;
  return row != GRAPH_NONE;
}

/* Weights K x C x ..., of transposed convolutions C x K x ...: those are left alone. */
static void put_into_weights(struct rewrite *rewrite, struct graph_node *conv,
                             struct graph_node *node, const struct affine *affine,
                             uint64_t channels) {
  uint32_t inputs[3] = {conv->inputs[0], conv->inputs[1], rewrite_input(conv, 2)};
  struct graph_tensor weights = *rewrite_tensor(rewrite, inputs[1]);
  if (affine->factor != GRAPH_NONE) {
    uint64_t shape[GRAPH_RANK_MAX] = {channels, 1, 1, 1, 1, 1, 1, 1};
    uint32_t factor = reshaped(rewrite, node, affine->factor, shape, weights.rank);
    inputs[1] = insert2(rewrite, node, "Mul", inputs[1], factor, inputs[1]);
    if (inputs[2] != GRAPH_NONE)
      inputs[2] = insert2(rewrite, node, "Mul", inputs[2], affine->factor, inputs[2]);
  }
  if (affine->summand != GRAPH_NONE)
    inputs[2] = inputs[2] == GRAPH_NONE
                    ? affine->summand
                    : insert2(rewrite, node, "Add", inputs[2], affine->summand, inputs[2]);
  if (rewrite->no_memory)
    return;
  char args[512] = "";
  size_t at = 0;
  for (uint32_t i = 0; i < conv->arg_count && at < sizeof args; i++)
    at += (size_t)snprintf(args + at, sizeof args - at, "%s%s", i ? " " : "", conv->args[i]);
  node->name = conv->name;
  node->origin = conv->origin;
  rewrite_become(rewrite, node, "Conv", inputs, inputs[2] == GRAPH_NONE ? 2 : 3, args);
  rewrite_take_away(rewrite, conv);
  rewrite_done(rewrite, node, NULL);
}

static void fold_node(struct rewrite *rewrite, struct graph_node *node) {
  struct affine affine = {GRAPH_NONE, GRAPH_NONE};
  for (uint32_t i = 0; i < node->input_count && i < 2; i++) {
    struct graph_node *conv = rewrite_writer(rewrite, node->inputs[i], "Conv");
    if (!conv || rewrite_reader(rewrite, node->inputs[i], NULL) != node ||
        !rewrite_is_weight(rewrite, rewrite_input(conv, 1)))
      continue;
    const struct graph_tensor *result = rewrite_tensor(rewrite, node->inputs[i]);
    uint64_t channels = result->rank > 1 ? result->shape[1] : 0;
    bool folds = strcmp(node->op, "BatchNormalization") == 0
                     ? i == 0 && batch_norm(rewrite, node, &affine)
                     : node->input_count == 2 && scale_or_shift(rewrite, node, node->inputs[i],
                                                                channels, result->rank, &affine);
    if (folds && !rewrite->no_memory)
      put_into_weights(rewrite, conv, node, &affine, channels);
    return;
  }
}

void pass_fold(struct pass_context *pass) {
  struct rewrite *rewrite = &pass->rewrite;
  for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++)
    if (!rewrite->gone[i] && rewrite->graph->nodes[i].kind == GRAPH_LAYER)
      fold_node(rewrite, &rewrite->graph->nodes[i]);
}
