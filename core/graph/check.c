/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a graph can run in the order in which its nodes stand. */
#include <stdlib.h>

#include "core/graph/graph.h"

struct checking {
  const struct graph *graph;
  uint32_t *writer; /* of each tensor: the node, counted from 1; 0: none */
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

static enum vinci_status check_input(struct checking *checking, const struct graph_node *node,
                                     uint32_t tensor) {
  const struct graph_tensor *what = &checking->graph->tensors[tensor];
  if (!given(what) && checking->writer[tensor] == 0)
    return fail(checking, node, "reads, before any node has written,", tensor,
                "put the node that writes the tensor first, or declare io=in or io=weight");
  if (!what->shaped && node->kind != GRAPH_LAYER)
    return fail(checking, node, "reads, without a shape,", tensor, "give the tensor a shape");
  return VINCI_OK;
}

static enum vinci_status check_output(struct checking *checking, const struct graph_node *node,
                                      uint32_t index, uint32_t tensor) {
  const struct graph_tensor *what = &checking->graph->tensors[tensor];
  if (checking->writer[tensor] != 0 || (given(what) && what->memory == GRAPH_NONE))
    return fail(checking, node, "writes again", tensor,
                "a tensor has one writer; for an update in place declare another tensor with "
                "memory=NAME");
  if (!what->shaped && node->kind != GRAPH_LAYER)
    return fail(checking, node, "writes, without a shape,", tensor, "give the tensor a shape");
  checking->writer[tensor] = index + 1;
  return VINCI_OK;
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

enum vinci_status graph_check(const struct graph *graph, struct vinci_diag *diag) {
  struct checking checking = {.graph = graph,
                              .writer =
                                  calloc((size_t)graph->tensor_count + 1, sizeof *checking.writer),
                              .diag = diag};
  enum vinci_status status = VINCI_OK;
  if (!checking.writer)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the check of the graph");
  for (uint32_t i = 0; i < graph->node_count && status == VINCI_OK; i++)
    status = check_node(&checking, i);
  for (uint32_t i = 0; i < graph->tensor_count && status == VINCI_OK; i++)
    if (graph->tensors[i].io == GRAPH_OUT && checking.writer[i] == 0)
      status = diag_error(diag, VINCI_E_INPUT, "no node writes tensor \"%s\", which has io=out",
                          graph->tensors[i].name);
  free(checking.writer);
  return status;
}
