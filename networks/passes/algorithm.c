/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How convolutions are computed: for each, the ways that suit are lowered alone and estimated, and
 * the layer gets the fastest ("algorithm=", networks/layers/conv.h). Of equal ones the first
 * stays, which is conv2d.
 */
#include <string.h>

#include "networks/passes/pass.h"

/* A graph of this layer alone. */
static bool put_alone(const struct rewrite *rewrite, const struct graph_node *layer,
                      struct graph *out) {
  uint32_t tensors[GRAPH_ARGS_MAX], all = layer->input_count + layer->output_count;
  struct graph_node node = *layer;
  if (all > GRAPH_ARGS_MAX)
    return false;
  for (uint32_t i = 0; i < all; i++) {
    bool input = i < layer->input_count;
    uint32_t from = input ? layer->inputs[i] : layer->outputs[i - layer->input_count];
    tensors[i] = from == GRAPH_NONE ? from : graph_add_tensor(out, graph_new_name(out, "t"));
    if (from == GRAPH_NONE)
      continue;
    if (tensors[i] == GRAPH_NONE)
      return false;
    const struct graph_tensor *own = rewrite_tensor(rewrite, from);
    struct graph_tensor *tensor = &out->tensors[tensors[i]];
    tensor->dtype = own->dtype;
    graph_set_shape(tensor, own->shape, own->rank);
    tensor->io = !input ? GRAPH_OUT : rewrite_is_weight(rewrite, from) ? GRAPH_WEIGHT : GRAPH_IN;
  }
  node.inputs = tensors;
  node.outputs = tensors + layer->input_count;
  node.after_count = 0;
  return graph_add_node(out, &node) != GRAPH_NONE;
}

/* Picoseconds of a layer that is computed in a way; 0: the way does not suit. */
static uint64_t estimate_way(struct pass_context *pass, const struct graph_node *layer,
                             const char *way) {
  struct rewrite *rewrite = &pass->rewrite;
  struct graph alone = {0}, kernels = {0};
  struct graph_estimate estimate = {0};
  struct layers_counts counts = {0};
  enum layout blocks = LAYOUT_5HD;
  enum vinci_status status = VINCI_E_NOMEM;
  struct graph_node node = *layer;
  const char *args[GRAPH_ARGS_MAX];
  for (uint32_t i = 0; i < layer->arg_count; i++)
    args[i] = layer->args[i];
  node.args = args;
  if (way)
    args[node.arg_count++] = way;
  if (put_alone(rewrite, &node, &alone))
    status = layers_lower(&alone, rewrite->soc, &blocks, &kernels, &counts, pass->diag);
  if (status == VINCI_OK && counts.refused == 0)
    status = estimate_graph(pass->estimates, &kernels, &estimate, pass->diag);
  graph_free(&alone);
  graph_free(&kernels);
  rewrite->no_memory = rewrite->no_memory || status != VINCI_OK;
  return estimate.impossible == 0 ? estimate.ps : 0;
}

void pass_algorithm(struct pass_context *pass) {
  static const char *const ways[] = {"algorithm=pixels", "algorithm=winograd"};
  enum { WINOGRAD = 1, WAYS = sizeof ways / sizeof *ways };
  struct rewrite *rewrite = &pass->rewrite;
  for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++) {
    struct graph_node *node = &rewrite->graph->nodes[i];
    if (rewrite->gone[i] || node->kind != GRAPH_LAYER || strcmp(node->op, "Conv") != 0 ||
        graph_arg(node, "algorithm") || node->arg_count == GRAPH_ARGS_MAX)
      continue;
    const char *best = NULL;
    uint64_t direct = estimate_way(pass, node, NULL), least = direct;
    for (unsigned way = 0; way < (pass->options->winograd ? WAYS : WINOGRAD); way++) {
      uint64_t ps = estimate_way(pass, node, ways[way]);
      if (ps > 0 && least > 0)
        (void)pass_pays(pass, node, ways[way], least, ps, true);
      if (ps > 0 && (ps < least || least == 0)) {
        least = ps;
        best = ways[way];
      }
    }
    if (best) {
      rewrite_add_arg(rewrite, node, best);
      rewrite_weighed(rewrite, direct, least);
      rewrite_done(rewrite, node, best);
    }
  }
}
