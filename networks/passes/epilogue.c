/* SPDX-License-Identifier: Apache-2.0 */
/* What the cube's way out computes: a bias behind a product, ReLU behind products and convolutions.
 */
#include <stdio.h>
#include <string.h>

#include "networks/passes/pass.h"

static bool on_cube(const struct graph_node *node) {
  return strcmp(node->op, "Conv") == 0 || strcmp(node->op, "Gemm") == 0 ||
         strcmp(node->op, "MatMul") == 0;
}

static void take_over(struct rewrite *rewrite, struct graph_node *node, struct graph_node *cube,
                      uint32_t bias, const char *more) {
  uint32_t inputs[3] = {cube->inputs[0], cube->inputs[1],
                        bias != GRAPH_NONE ? bias : rewrite_input(cube, 2)};
  char args[512] = "";
  size_t at = 0;
  for (uint32_t i = 0; i < cube->arg_count && at < sizeof args; i++)
    at += (size_t)snprintf(args + at, sizeof args - at, "%s ", cube->args[i]);
  if (at < sizeof args)
    snprintf(args + at, sizeof args - at, "%s", more);
  node->name = cube->name;
  node->origin = cube->origin;
  const char *op = cube->op;
  rewrite_take_away(rewrite, cube);
  rewrite_become(rewrite, node, op, inputs, inputs[2] == GRAPH_NONE ? 2 : 3, args);
  rewrite_done(rewrite, node, NULL);
}

/* A row of weights, a number for each column. */
static bool is_row(const struct rewrite *rewrite, uint32_t tensor, uint64_t columns) {
  if (!rewrite_is_weight(rewrite, tensor))
    return false;
  const struct graph_tensor *row = rewrite_tensor(rewrite, tensor);
  return row->rank > 0 && row->shape[row->rank - 1] == columns && graph_elements(row) == columns;
}

static void add_bias(struct rewrite *rewrite, struct graph_node *node) {
  for (uint32_t i = 0; node->input_count == 2 && i < 2; i++) {
    struct graph_node *product = rewrite_writer(rewrite, node->inputs[i], "MatMul");
    if (!product || product->input_count != 2 || graph_arg(product, "relu") ||
        rewrite_reader(rewrite, node->inputs[i], NULL) != node)
      continue;
    const struct graph_tensor *c = rewrite_tensor(rewrite, node->inputs[i]);
    if (c->rank == 0 || !is_row(rewrite, node->inputs[1 - i], c->shape[c->rank - 1]))
      continue;
    take_over(rewrite, node, product, node->inputs[1 - i], "");
    return;
  }
}

static bool is_relu(const struct graph_node *node) {
  return strcmp(node->op, "Relu") == 0 ||
         (strcmp(node->op, "Clip") == 0 && graph_arg(node, "min") && !graph_arg(node, "max") &&
          graph_arg_number(node, "min", 1) == 0);
}

void pass_epilogue(struct pass_context *pass) {
  struct rewrite *rewrite = &pass->rewrite;
  for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++) {
    struct graph_node *node = &rewrite->graph->nodes[i];
    if (rewrite->gone[i] || node->kind != GRAPH_LAYER || node->input_count == 0)
      continue;
    if (strcmp(node->op, "Add") == 0)
      add_bias(rewrite, node);
    struct graph_node *cube = is_relu(node) ? rewrite_writer(rewrite, node->inputs[0], NULL) : NULL;
    if (cube && on_cube(cube) && rewrite_reader(rewrite, node->inputs[0], NULL) == node &&
        !graph_arg(cube, "relu"))
      take_over(rewrite, node, cube, GRAPH_NONE, "relu=1");
  }
}
