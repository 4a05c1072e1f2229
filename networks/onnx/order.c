/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes in an order in which each tensor is written before it is read. The specification demands
 * that of files; tools that put casts into finished models write them at the end, and runtimes that
 * sort by themselves never complain.
 */
#include <string.h>

#include "core/base/digest.h"
#include "networks/onnx/import.h"

#define NO_NODE SIZE_MAX
enum node_state { NODE_WAITS, NODE_BEGUN, NODE_PLACED };

struct order {
  const Onnx__GraphProto *graph;
  struct lookup writers; /* by name of an output: the index of the node */
  unsigned char *state;  /* by node */
};

static uint64_t key_of(const char *name) { return digest_string(DIGEST_SEED, name); }

static bool writes(const Onnx__NodeProto *node, const char *name) {
  for (size_t i = 0; i < node->n_output; i++)
    if (node->output[i] && strcmp(node->output[i], name) == 0)
      return true;
  return false;
}

/* The node that writes a name and is not placed or begun; NO_NODE: none has to come first. */
static size_t waiting_writer(const struct order *order, const char *name) {
  size_t looked = 0;
  for (uintptr_t at; name && *name;) {
    at = lookup_next(&order->writers, key_of(name), &looked);
    if (at == LOOKUP_NONE)
      break;
    if (order->state[at] == NODE_WAITS && writes(order->graph->node[at], name))
      return at;
  }
  return NO_NODE;
}

static size_t waiting_input(const struct order *order, const Onnx__NodeProto *node);

/* Of a branch, whose nodes and outputs see the names around. */
static size_t waiting_in_branch(const struct order *order, const Onnx__GraphProto *branch) {
  size_t found = NO_NODE;
  for (size_t i = 0; i < branch->n_node && found == NO_NODE; i++)
    found = waiting_input(order, branch->node[i]);
  for (size_t i = 0; i < branch->n_output && found == NO_NODE; i++)
    found = waiting_writer(order, branch->output[i]->name);
  return found;
}

static size_t waiting_input(const struct order *order, const Onnx__NodeProto *node) {
  size_t found = NO_NODE;
  for (size_t i = 0; i < node->n_input && found == NO_NODE; i++)
    found = waiting_writer(order, node->input[i]);
  for (size_t i = 0; i < node->n_attribute && found == NO_NODE; i++)
    if (node->attribute[i]->g)
      found = waiting_in_branch(order, node->attribute[i]->g);
  return found;
}

/* Places a node behind those that it reads from. Of nodes in a circle the first stays first, and
 * the reader tells what is missing. `stack` has room for all nodes. */
static size_t place(struct order *order, size_t first, size_t *stack, const Onnx__NodeProto **out) {
  size_t depth = 0, placed = 0;
  stack[depth++] = first;
  order->state[first] = NODE_BEGUN;
  while (depth > 0) {
    size_t node = stack[depth - 1], before = waiting_input(order, order->graph->node[node]);
    if (before != NO_NODE) {
      order->state[before] = NODE_BEGUN;
      stack[depth++] = before;
      continue;
    }
    order->state[node] = NODE_PLACED;
    out[placed++] = order->graph->node[node];
    depth--;
  }
  return placed;
}

/* Leaves to be placed what an output of the graph needs; of a graph without outputs (the body of a
 * function) all. */
static void leave_needed(struct order *order, size_t *stack, const Onnx__NodeProto **scratch) {
  const Onnx__GraphProto *graph = order->graph;
  for (size_t i = 0; i < graph->n_output; i++)
    for (size_t at; (at = waiting_writer(order, graph->output[i]->name)) != NO_NODE;)
      (void)place(order, at, stack, scratch);
  for (size_t i = 0; i < graph->n_node && graph->n_output > 0; i++)
    order->state[i] = order->state[i] == NODE_PLACED ? NODE_WAITS : NODE_PLACED;
}

const Onnx__NodeProto **onnx_ordered(struct onnx_import *import, const Onnx__GraphProto *graph) {
  struct order order = {.graph = graph};
  size_t count = graph->n_node, placed = 0;
  const Onnx__NodeProto **out = ARENA_ARRAY(&import->arena, const Onnx__NodeProto *, count + 1);
  size_t *stack = ARENA_ARRAY(&import->arena, size_t, count + 1);
  order.state = ARENA_ARRAY(&import->arena, unsigned char, count + 1);
  if (!out || !stack || !order.state)
    return NULL;
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < graph->node[i]->n_output; k++)
      if (graph->node[i]->output[k] &&
          !lookup_add(&order.writers, &import->arena, key_of(graph->node[i]->output[k]), i))
        return NULL;
  leave_needed(&order, stack, out);
  memset(out, 0, (count + 1) * sizeof *out);
  for (size_t i = 0; i < count; i++)
    if (order.state[i] == NODE_WAITS)
      placed += place(&order, i, stack, out + placed);
  return out;
}
