/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products side by side: several kernels multiply the same matrix with weights of the same shape
 * (queries, keys and values). They become one batch of products that share the left operand; the
 * weights are laid one after the other offline, and each result is a part of the batch's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "networks/passes/pass.h"

enum { TOGETHER_MAX = 6, ARGS_BYTES = 512 };

struct together {
  struct graph_node *node[TOGETHER_MAX];
  unsigned count;
};

static bool is_single_product(const struct graph_node *node) {
  return node->kind == GRAPH_KERNEL && !node->offline && strcmp(node->op, "matmul") == 0 &&
         graph_arg_int(node, "batch", 1) == 1 && graph_arg_int(node, "residual", 0) == 0 &&
         node->output_count == 1 && node->input_count == (graph_arg_int(node, "bias", 0) ? 3u : 2u);
}

static bool same_args(const struct graph_node *one, const struct graph_node *other) {
  if (one->arg_count != other->arg_count || one->stream != other->stream)
    return false;
  for (uint32_t i = 0; i < one->arg_count; i++)
    if (strcmp(one->args[i], other->args[i]) != 0)
      return false;
  return true;
}

static bool has_weights(const struct rewrite *rewrite, const struct graph_node *node) {
  for (uint32_t i = 1; i < node->input_count; i++)
    if (!rewrite_is_weight(rewrite, node->inputs[i]))
      return false;
  return true;
}

/* The kernels behind `first` that do the same on the same matrix. */
static void find_together(const struct rewrite *rewrite, uint32_t first, struct together *out) {
  struct graph_node *node = &rewrite->graph->nodes[first];
  *out = (struct together){.node = {node}, .count = 1};
  if (rewrite->reads[node->inputs[0]] < 2)
    return;
  for (uint32_t i = first + 1; i < rewrite->node_count && out->count < TOGETHER_MAX; i++) {
    struct graph_node *other = &rewrite->graph->nodes[i];
    if (!rewrite->gone[i] && is_single_product(other) && other->inputs[0] == node->inputs[0] &&
        same_args(node, other) && has_weights(rewrite, other))
      out->node[out->count++] = other;
  }
}

/* "m=.. k=.. ..." of one product, with the keys of a batch in place of its own. */
static void write_args(const struct graph_node *node, unsigned count, char text[ARGS_BYTES]) {
  size_t used = (size_t)snprintf(text, ARGS_BYTES, "batch=%u shared=a", count);
  for (uint32_t i = 0; i < node->arg_count && used < ARGS_BYTES; i++) {
    const char *arg = node->args[i];
    if (strncmp(arg, "batch=", 6) == 0 || strncmp(arg, "shared=", 7) == 0)
      continue;
    bool bias = strcmp(arg, "bias=1") == 0;
    used += (size_t)snprintf(text + used, ARGS_BYTES - used, " %s", bias ? "bias=each" : arg);
  }
}

static bool pays(struct pass_context *pass, const struct together *all, const char *args) {
  const struct graph_node *one = all->node[0];
  struct kernel_estimate alone = {0};
  bool possible;
  if (estimate_kernel(pass->estimates, one->op, one->args, one->arg_count, &alone, pass->diag) !=
      VINCI_OK)
    pass->rewrite.no_memory = true;
  uint64_t gap = (uint64_t)pass->rewrite.soc->launch_gap_ps;
  uint64_t apart = (alone.ps + gap) * all->count;
  uint64_t together = pass_kernel_ps(pass, "batch_matmul", args, &possible);
  return pass_pays(pass, one, "a batch of products", apart, together, alone.possible && possible);
}

/* Weights or biases one after the other, as a tensor that is computed offline. */
static uint32_t stacked(struct rewrite *rewrite, const struct together *all, uint32_t input) {
  uint32_t list[TOGETHER_MAX];
  uint64_t shape[GRAPH_RANK_MAX + 1];
  char args[ARGS_BYTES];
  size_t used = 0;
  struct graph_tensor own = *rewrite_tensor(rewrite, all->node[0]->inputs[input]);
  for (unsigned i = 0; i < all->count; i++) {
    char key[16] = "shape";
    if (i > 0)
      snprintf(key, sizeof key, "shape%u", i);
    list[i] = all->node[i]->inputs[input];
    rewrite_bring_forward(rewrite, list[i], rewrite_index(rewrite, all->node[0]));
    used += (size_t)snprintf(args + used, sizeof args - used, "%s=%llu ", key,
                             (unsigned long long)graph_elements(&own));
  }
  snprintf(args + used, sizeof args - used, "axis=0 dtype=%s", dtype_name(own.dtype));
  shape[0] = all->count;
  memcpy(shape + 1, own.shape, own.rank * sizeof *shape);
  return rewrite_insert(rewrite, all->node[0], "concat", list, all->count, args, own.dtype, shape,
                        own.rank + 1 <= GRAPH_RANK_MAX ? own.rank + 1 : own.rank);
}

/* Parts have to begin where tensors may lie. */
static bool parts_are_aligned(const struct rewrite *rewrite, const struct together *all) {
  return graph_bytes(rewrite_tensor(rewrite, all->node[0]->outputs[0])) % GRAPH_ALIGNMENT_BYTES ==
         0;
}

static void put_together(struct rewrite *rewrite, struct together *all, const char *args) {
  struct graph_node *first = all->node[0];
  struct graph_tensor own = *rewrite_tensor(rewrite, first->outputs[0]);
  uint32_t inputs[3] = {first->inputs[0], stacked(rewrite, all, 1), GRAPH_NONE};
  uint32_t results[TOGETHER_MAX], count = first->input_count;
  uint64_t shape[GRAPH_RANK_MAX] = {all->count};
  if (count == 3)
    inputs[2] = stacked(rewrite, all, 2);
  for (unsigned i = 0; i < all->count; i++)
    results[i] = all->node[i]->outputs[0];
  unsigned rank = own.rank + 1 <= GRAPH_RANK_MAX ? own.rank + 1 : 2;
  memcpy(shape + 1, own.shape, (rank - 1) * sizeof *shape);
  if (rank == 2)
    shape[1] = graph_elements(&own);
  uint32_t batch = rewrite_new_tensor(rewrite, first->name, own.dtype, shape, rank);
  if (rewrite->no_memory)
    return;
  for (unsigned i = 1; i < all->count; i++)
    rewrite_take_away(rewrite, all->node[i]);
  rewrite_become(rewrite, first, "batch_matmul", inputs, count, args);
  rewrite_set_output(rewrite, first, batch);
  for (unsigned i = 0; i < all->count; i++)
    rewrite_insert_view(rewrite, rewrite_index(rewrite, first) + 1, first, batch, results[i],
                        i * graph_bytes(&own));
  rewrite_done(rewrite, first, NULL);
}

void pass_horizontal(struct pass_context *pass) {
  struct rewrite *rewrite = &pass->rewrite;
  for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++) {
    struct graph_node *node = &rewrite->graph->nodes[i];
    struct together all;
    char args[ARGS_BYTES];
    if (rewrite->gone[i] || !is_single_product(node) || !has_weights(rewrite, node))
      continue;
    find_together(rewrite, i, &all);
    if (all.count < 2 || !parts_are_aligned(rewrite, &all))
      continue;
    write_args(node, all.count, args);
    if (pays(pass, &all, args))
      put_together(rewrite, &all, args);
  }
}
