/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results that take the memory of an input which nobody reads later: of elementwise kernels, which
 * read each tile before they write the same tile. And copies within the device of what nobody
 * overwrites: the copy becomes a view.
 */
#include <stdlib.h>
#include <string.h>

#include "networks/passes/pass.h"
#include "networks/passes/rows.h"

struct placing {
  struct rewrite *rewrite;
  struct graph_life *lives; /* by memory */
  bool *kept;               /* by memory: of an input, weight or result, or given by a planner */
  bool *beside;             /* by memory: in use by other streams than 0 */
  bool *overwritten; /* by memory: a node other than a view writes into the memory of another */
};

static bool prepare(struct placing *placing) {
  const struct graph *graph = placing->rewrite->graph;
  size_t count = (size_t)graph->tensor_count + 1;
  placing->lives = calloc(count, sizeof *placing->lives);
  placing->kept = calloc(count, sizeof *placing->kept);
  placing->beside = calloc(count, sizeof *placing->beside);
  placing->overwritten = calloc(count, sizeof *placing->overwritten);
  return placing->lives && placing->kept && placing->beside && placing->overwritten;
}

static void look(struct placing *placing) {
  const struct graph *graph = placing->rewrite->graph;
  graph_lives(graph, placing->lives);
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    const struct graph_tensor *tensor = &graph->tensors[i];
    placing->kept[graph_memory(graph, i)] |=
        tensor->io != GRAPH_LOCAL || tensor->data || tensor->placed;
  }
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct graph_node *node = &graph->nodes[i];
    for (uint32_t j = 0; j < node->input_count; j++)
      if (node->inputs[j] != GRAPH_NONE && node->stream != 0)
        placing->beside[graph_memory(graph, node->inputs[j])] = true;
    for (uint32_t j = 0; j < node->output_count; j++) {
      uint32_t memory = graph_memory(graph, node->outputs[j]);
      placing->beside[memory] |= node->stream != 0;
      placing->overwritten[memory] |= node->kind != GRAPH_VIEW && memory != node->outputs[j];
    }
  }
}

/* The result of a node with one, which has memory of its own; GRAPH_NONE. */
static uint32_t own_result(const struct placing *placing, const struct graph_node *node) {
  const struct graph *graph = placing->rewrite->graph;
  uint32_t y = node->output_count == 1 ? node->outputs[0] : GRAPH_NONE;
  if (y == GRAPH_NONE || node->offline || node->stream != 0 ||
      graph->tensors[y].memory != GRAPH_NONE || graph->tensors[y].placed || placing->beside[y])
    return GRAPH_NONE;
  return y;
}

/* From here on y lies where x lies. */
static void put(struct placing *placing, uint32_t y, uint32_t x) {
  struct graph *graph = placing->rewrite->graph;
  uint32_t memory = graph_memory(graph, x);
  graph->tensors[y].memory = graph_skip(graph, x) == 0 ? memory : x;
  if (placing->lives[y].last > placing->lives[memory].last)
    placing->lives[memory].last = placing->lives[y].last;
  placing->kept[memory] |= placing->kept[y];
  placing->overwritten[memory] |= placing->overwritten[y];
  placing->rewrite->changed++;
}

/* ---- elementwise kernels ------------------------------------------------------------------- */

/* Whether all of a memory is read by this node alone from here on, element for element. */
static bool dies_in(const struct placing *placing, uint32_t index, uint32_t memory, uint32_t y) {
  const struct graph *graph = placing->rewrite->graph;
  const struct graph_node *node = &graph->nodes[index];
  const struct graph_tensor *result = &graph->tensors[y];
  if (placing->kept[memory] || placing->beside[memory] || placing->lives[memory].last != index ||
      graph_bytes(&graph->tensors[memory]) != graph_bytes(result))
    return false;
  for (uint32_t i = 0; i < node->input_count; i++) {
    uint32_t x = node->inputs[i];
    if (graph_memory(graph, x) == memory &&
        (graph_elements(&graph->tensors[x]) != graph_elements(result) ||
         graph_bytes(&graph->tensors[x]) != graph_bytes(result)))
      return false;
  }
  return true;
}

static void place_result(struct placing *placing, uint32_t index) {
  const struct graph *graph = placing->rewrite->graph;
  const struct graph_node *node = &graph->nodes[index];
  uint32_t y = own_result(placing, node);
  if (y == GRAPH_NONE || !rows_elementwise(node))
    return;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] != GRAPH_NONE &&
        dies_in(placing, index, graph_memory(graph, node->inputs[i]), y)) {
      placing->overwritten[graph_memory(graph, node->inputs[i])] = true;
      put(placing, y, node->inputs[i]);
      return;
    }
}

/* ---- copies -------------------------------------------------------------------------------- */

static bool is_copy(const struct graph_node *node) {
  return node->input_count == 1 && node->inputs[0] != GRAPH_NONE &&
         ((node->kind == GRAPH_COPY && strcmp(node->op, "d2d") == 0) ||
          (node->kind == GRAPH_KERNEL && strcmp(node->op, "copy") == 0));
}

/* Two inputs, weights or results have memory of their own each. */
static void drop_copy(struct placing *placing, uint32_t index) {
  struct graph *graph = placing->rewrite->graph;
  struct graph_node *node = &graph->nodes[index];
  uint32_t y = own_result(placing, node), x = node->inputs[0], memory = graph_memory(graph, x);
  if (y == GRAPH_NONE || placing->beside[memory] || (placing->kept[memory] && placing->kept[y]) ||
      placing->overwritten[memory] || placing->overwritten[y] ||
      graph_bytes(&graph->tensors[x]) != graph_bytes(&graph->tensors[y]))
    return;
  node->kind = GRAPH_VIEW;
  node->op = "view";
  node->arg_count = 0;
  put(placing, y, x);
}

/* Copies first, as then nothing is overwritten but where the network asks for that. */
void pass_in_place(struct pass_context *pass) {
  struct placing placing = {.rewrite = &pass->rewrite};
  const struct graph *graph = pass->rewrite.graph;
  if (prepare(&placing))
    look(&placing);
  else
    pass->rewrite.no_memory = true;
  for (uint32_t i = 0; i < graph->node_count && !pass->rewrite.no_memory; i++)
    if (is_copy(&graph->nodes[i]))
      drop_copy(&placing, i);
  for (uint32_t i = 0; i < graph->node_count && !pass->rewrite.no_memory; i++)
    if (graph->nodes[i].kind == GRAPH_KERNEL)
      place_result(&placing, i);
  free(placing.lives);
  free(placing.kept);
  free(placing.beside);
  free(placing.overwritten);
}
