/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a graph can run in the order in which its nodes stand. */
#include <stdlib.h>
#include <string.h>

#include "networks/graph/graph.h"

struct checking {
  const struct graph *graph;
  uint32_t *writer;      /* of each tensor: the node, counted from 1; 0: none */
  uint32_t *reader;      /* of each tensor: the last node that has read that, so counted */
  uint32_t *overwritten; /* the node that has put other values over a tensor, so counted */
  uint32_t *next;        /* of each tensor: another with the same memory, in a circle */
  struct vinci_diag *diag;
};

static enum vinci_status fail(struct checking *checking, const struct graph_node *node,
                              const char *what, uint32_t tensor, const char *hint) {
  diag_error(checking->diag, VINCI_E_INPUT, "node \"%s\" (%s) %s tensor \"%s\"", node->name,
             node->op, what, checking->graph->tensors[tensor].name);
  diag_hint(checking->diag, "%s", hint);
  return VINCI_E_INPUT;
}

static bool given(const struct graph_tensor *tensor) {
  return tensor->io == GRAPH_IN || tensor->io == GRAPH_WEIGHT || tensor->data != NULL;
}

/* Copies to the host write what lies there, copies from the host read that. */
static enum vinci_status check_place(struct checking *checking, const struct graph_node *node,
                                     uint32_t tensor, bool reads) {
  bool host = checking->graph->tensors[tensor].io == GRAPH_HOST;
  bool to = node->kind == GRAPH_COPY && strcmp(node->op, "d2h") == 0;
  bool from = node->kind == GRAPH_COPY && strcmp(node->op, "h2d") == 0;
  if (!host || (reads ? from : to))
    return VINCI_OK;
  return fail(checking, node,
              reads ? "reads, in the host's memory," : "writes, in the host's memory,", tensor,
              "copy with way=h2d or way=d2h what has io=host");
}

static enum vinci_status check_input(struct checking *checking, const struct graph_node *node,
                                     uint32_t tensor) {
  const struct graph_tensor *what = &checking->graph->tensors[tensor];
  if (!given(what) && checking->writer[tensor] == 0)
    return fail(checking, node, "reads, before any node has written,", tensor,
                "put the node that writes the tensor first, or declare io=in or io=weight");
  if (checking->overwritten[tensor] != 0) {
    diag_error(checking->diag, VINCI_E_INPUT,
               "node \"%s\" (%s) reads tensor \"%s\", over which node \"%s\" has written",
               node->name, node->op, what->name,
               checking->graph->nodes[checking->overwritten[tensor] - 1].name);
    diag_hint(checking->diag, "give the result of that node memory of its own, or read the result");
    return VINCI_E_INPUT;
  }
  if (!what->shaped && node->kind != GRAPH_LAYER)
    return fail(checking, node, "reads, without a shape,", tensor, "give the tensor a shape");
  checking->reader[tensor] = (uint32_t)(node - checking->graph->nodes) + 1;
  return check_place(checking, node, tensor, true);
}

/* What a node writes replaces the values of tensors that have the same bytes. */
static void overwrite(struct checking *checking, uint32_t index, uint32_t tensor) {
  const struct graph *graph = checking->graph;
  uint64_t from = graph_skip(graph, tensor), to = from + graph_bytes(&graph->tensors[tensor]);
  for (uint32_t i = checking->next[tensor]; i != tensor; i = checking->next[i]) {
    uint64_t skip = graph_skip(graph, i);
    bool there = given(&graph->tensors[i]) || checking->writer[i] != 0;
    if (there && skip < to && from < skip + graph_bytes(&graph->tensors[i]))
      checking->overwritten[i] = index + 1;
  }
}

static enum vinci_status check_output(struct checking *checking, const struct graph_node *node,
                                      uint32_t index, uint32_t tensor) {
  const struct graph_tensor *what = &checking->graph->tensors[tensor];
  bool computed = node->offline && what->io == GRAPH_WEIGHT;
  if (checking->writer[tensor] != 0 || (given(what) && what->memory == GRAPH_NONE && !computed))
    return fail(checking, node, "writes again", tensor,
                "a tensor has one writer; for an update in place declare another tensor with "
                "memory=NAME");
  if (computed && checking->reader[tensor] != 0)
    return fail(checking, node, "writes, after another node has read,", tensor,
                "put the node that writes the tensor first");
  if (!what->shaped && node->kind != GRAPH_LAYER)
    return fail(checking, node, "writes, without a shape,", tensor, "give the tensor a shape");
  if (node->kind != GRAPH_VIEW)
    overwrite(checking, index, tensor);
  checking->writer[tensor] = index + 1;
  return check_place(checking, node, tensor, false);
}

static enum vinci_status check_node(struct checking *checking, uint32_t index) {
  const struct graph_node *node = &checking->graph->nodes[index];
  enum vinci_status status = VINCI_OK;
  for (uint32_t i = 0; i < node->input_count && status == VINCI_OK; i++)
    if (node->inputs[i] != GRAPH_NONE)
      status = check_input(checking, node, node->inputs[i]);
  for (uint32_t i = 0; i < node->output_count && status == VINCI_OK; i++)
    status = check_output(checking, node, index, node->outputs[i]);
  for (uint32_t i = 0; i < node->after_count && status == VINCI_OK; i++)
    if (node->after[i] >= index)
      status = diag_error(checking->diag, VINCI_E_INPUT,
                          "node \"%s\" has to follow node \"%s\", which stands behind", node->name,
                          checking->graph->nodes[node->after[i]].name);
  return status;
}

/* Tensors with the same memory stand in a circle. */
static void make_circles(struct checking *checking) {
  const struct graph *graph = checking->graph;
  for (uint32_t i = 0; i < graph->tensor_count; i++)
    checking->next[i] = i;
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    uint32_t memory = graph_memory(graph, i);
    if (memory == i)
      continue;
    checking->next[i] = checking->next[memory];
    checking->next[memory] = i;
  }
}

static enum vinci_status check_all(struct checking *checking) {
  const struct graph *graph = checking->graph;
  enum vinci_status status = VINCI_OK;
  make_circles(checking);
  for (uint32_t i = 0; i < graph->node_count && status == VINCI_OK; i++)
    status = check_node(checking, i);
  for (uint32_t i = 0; i < graph->tensor_count && status == VINCI_OK; i++)
    if (graph->tensors[i].io == GRAPH_OUT && checking->writer[i] == 0)
      status = diag_error(checking->diag, VINCI_E_INPUT,
                          "no node writes tensor \"%s\", which has io=out", graph->tensors[i].name);
  return status;
}

enum vinci_status graph_check(const struct graph *graph, struct vinci_diag *diag) {
  size_t count = (size_t)graph->tensor_count + 1;
  struct checking checking = {.graph = graph,
                              .writer = calloc(count, sizeof *checking.writer),
                              .reader = calloc(count, sizeof *checking.reader),
                              .overwritten = calloc(count, sizeof *checking.overwritten),
                              .next = calloc(count, sizeof *checking.next),
                              .diag = diag};
  enum vinci_status status =
      checking.writer && checking.reader && checking.overwritten && checking.next
          ? check_all(&checking)
          : diag_error(diag, VINCI_E_NOMEM, "out of memory for the check of the graph");
  free(checking.writer);
  free(checking.reader);
  free(checking.overwritten);
  free(checking.next);
  return status;
}
