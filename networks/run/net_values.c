/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a network (net_values.h). */
#include "networks/run/net_values.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "networks/layers/offline.h"
#include "networks/run/bind.h"

/* ---- memory -------------------------------------------------------------------------------- */

/* As the plan says; what runs offline alone lies behind. */
static bool place_all(struct net_values *values, const struct graph_plan *plan) {
  const struct graph *graph = values->graph;
  struct graph_life *lives = calloc((size_t)graph->tensor_count + 1, sizeof *lives);
  uint64_t end = PROGRAM_GM_BASE + plan->bytes;
  values->addresses = calloc((size_t)graph->tensor_count + 1, sizeof *values->addresses);
  if (lives && values->addresses) {
    graph_lives(graph, lives);
    for (uint32_t i = 0; i < graph->tensor_count; i++) {
      if (graph->tensors[i].memory != GRAPH_NONE)
        continue;
      values->addresses[i] = lives[i].used ? PROGRAM_GM_BASE + plan->offsets[i] : end;
      if (!lives[i].used)
        end += round_up(graph_bytes(&graph->tensors[i]), PROGRAM_TENSOR_ALIGNMENT);
    }
    for (uint32_t i = 0; i < graph->tensor_count; i++)
      if (graph->tensors[i].memory != GRAPH_NONE)
        values->addresses[i] = values->addresses[graph_memory(graph, i)] + graph_skip(graph, i);
  }
  values->trace.gm_bytes = end;
  free(lives);
  return lives && values->addresses;
}

static int by_address(const void *a, const void *b) {
  const struct program_tensor *one = a, *other = b;
  if (one->address != other->address)
    return one->address < other->address ? -1 : 1;
  return one->line < other->line ? -1 : 1;
}

/* Whether a node computes the tensor: a weight that is not given. */
static void mark_written(const struct graph *graph, bool *written) {
  for (uint32_t i = 0; i < graph->node_count; i++)
    for (uint32_t j = 0; j < graph->nodes[i].output_count; j++)
      written[graph->nodes[i].outputs[j]] = true;
}

static bool list_ends(struct net_values *values) {
  const struct graph *graph = values->graph;
  struct vinci_trace *trace = &values->trace;
  bool *written = calloc((size_t)graph->tensor_count + 1, sizeof *written);
  trace->tensors = ARENA_ARRAY(&trace->arena, struct program_tensor, graph->tensor_count + 1);
  trace->path = "the network";
  trace->soc_digest = soc_digest(values->soc);
  if (!written || !trace->tensors) {
    free(written);
    return false;
  }
  mark_written(graph, written);
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    const struct graph_tensor *own = &graph->tensors[i];
    bool given = (own->io == GRAPH_IN || own->io == GRAPH_WEIGHT) && !written[i];
    if (!given && own->io != GRAPH_OUT)
      continue;
    struct program_tensor *tensor = &trace->tensors[trace->tensor_count++];
    *tensor = (struct program_tensor){.name = own->name,
                                      .format = own->format,
                                      .dtype = own->dtype,
                                      .io = given ? TENSOR_IN : TENSOR_OUT,
                                      .rank = own->rank,
                                      .address = values->addresses[i],
                                      .bytes = graph_bytes(own),
                                      .line = i};
    memcpy(tensor->shape, own->shape, sizeof own->shape);
  }
  qsort(trace->tensors, trace->tensor_count, sizeof *trace->tensors, by_address);
  free(written);
  return true;
}

static uint8_t *bytes_of(const struct net_values *values, uint32_t tensor) {
  return values->values->gm + values->addresses[tensor];
}

static void take_known(struct net_values *values) {
  for (uint32_t i = 0; i < values->trace.tensor_count; i++) {
    const struct graph_tensor *own = &values->graph->tensors[values->trace.tensors[i].line];
    if (!own->data)
      continue;
    memcpy(bytes_of(values, values->trace.tensors[i].line), own->data, graph_bytes(own));
    values->values->is_loaded[i] = true;
  }
}

enum vinci_status net_values_create(const struct graph *graph, const struct vinci_soc *soc,
                                    const struct graph_plan *plan, struct net_values *out,
                                    struct vinci_diag *diag) {
  *out = (struct net_values){.graph = graph, .soc = soc};
  if (!place_all(out, plan) || !list_ends(out))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the values of the network");
  enum vinci_status status = vinci_values_create(soc, &out->trace, &out->values, diag);
  if (status == VINCI_OK)
    take_known(out);
  return status;
}

void net_values_free(struct net_values *values) {
  vinci_values_free(values->values);
  free(values->addresses);
  arena_free(&values->trace.arena);
  *values = (struct net_values){0};
}

/* ---- nodes --------------------------------------------------------------------------------- */

/* Bytes between the network's tensors and the kernel's. */
static void exchange(struct net_values *values, const struct vinci_trace *trace,
                     struct vinci_values *kernel, const uint32_t *bound, bool back) {
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    if (bound[i] == GRAPH_NONE || !values_is_first(kernel, i) ||
        (back && !values_is_output(kernel, i)))
      continue;
    uint8_t *own = bytes_of(values, bound[i]), *other = values_bytes(kernel, i);
    if (back)
      memcpy(own, other, trace->tensors[i].bytes);
    else
      memcpy(other, own, trace->tensors[i].bytes);
  }
}

static enum vinci_status run_trace(struct net_values *values, const struct graph_node *node,
                                   const struct vinci_trace *trace, struct vinci_diag *diag) {
  bool *used = calloc((size_t)node->input_count + node->output_count + 1, sizeof *used);
  uint32_t *bound = calloc((size_t)trace->tensor_count + 1, sizeof *bound);
  struct vinci_values *kernel = NULL;
  enum vinci_status status = VINCI_OK;
  if (!used || !bound)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for a kernel of the network");
  if (status == VINCI_OK)
    status = vinci_values_create(values->soc, trace, &kernel, diag);
  if (status == VINCI_OK) {
    graph_bind(values->graph, node, trace, used, bound);
    exchange(values, trace, kernel, bound, false);
    vinci_values_zero(kernel);
    status = vinci_values_run(kernel, NULL, NULL, diag);
  }
  if (status == VINCI_OK)
    exchange(values, trace, kernel, bound, true);
  vinci_values_free(kernel);
  free(used);
  free(bound);
  return status;
}

static enum vinci_status run_kernel(struct net_values *values, const struct graph_node *node,
                                    struct vinci_diag *diag) {
  vinci_trace *trace = NULL;
  struct vinci_diag own = {0};
  enum vinci_status status =
      vinci_compile(values->soc, node->op, node->args, node->arg_count, &trace, &own);
  if (status == VINCI_E_USAGE)
    return diag_error(diag, VINCI_E_INPUT, "node \"%s\": %s", node->name, own.text);
  if (status == VINCI_OK)
    status = run_trace(values, node, trace, diag);
  else if (diag)
    *diag = own;
  vinci_trace_free(trace);
  return status;
}

/* The node as the user's file names it, and the index where that is the user's: what kernels make
 * of indices (GatherND: one of several) is not. */
static enum vinci_status outside(const struct net_values *values, const struct graph_node *node,
                                 int64_t index, int64_t rows, struct vinci_diag *diag) {
  const struct graph *graph = values->graph;
  const struct graph_tensor *table = &graph->tensors[graph_memory(graph, node->inputs[0])];
  enum graph_io of_index = graph->tensors[graph_memory(graph, node->inputs[1])].io;
  const char *name = node->source && *node->source ? node->source
                     : node->origin[0]             ? node->origin
                                                   : node->name;
  if (of_index != GRAPH_IN && of_index != GRAPH_WEIGHT)
    return diag_error(diag, VINCI_E_INPUT,
                      "node \"%s\": by the data, an index outside of its table", name);
  if (table->io == GRAPH_LOCAL)
    return diag_error(diag, VINCI_E_INPUT,
                      "node \"%s\": index %lld by the data, and its table has %lld rows", name,
                      (long long)index, (long long)rows);
  return diag_error(diag, VINCI_E_INPUT,
                    "node \"%s\": index %lld by the data, and its table \"%s\" has %lld rows", name,
                    (long long)index, table->name, (long long)rows);
}

/* Rows by their indices, with *done. Those below 0 count from the end, which the kernel does not
 * know (lower/vector/index/gather.c). */
static enum vinci_status gather_rows(struct net_values *values, const struct graph_node *node,
                                     bool *done, struct vinci_diag *diag) {
  int64_t shape[2];
  *done = false;
  if (node->kind != GRAPH_KERNEL || strcmp(node->op, "gather") != 0 || node->input_count != 2 ||
      graph_arg_ints(node, "shape", shape, 2) != 2)
    return VINCI_OK;
  const struct graph_tensor *table = &values->graph->tensors[node->inputs[0]];
  struct graph_tensor indices = values->graph->tensors[node->inputs[1]];
  uint64_t row_bytes = graph_bytes(table) / (uint64_t)shape[0];
  indices.data = bytes_of(values, node->inputs[1]);
  for (uint64_t i = 0; i < graph_elements(&indices); i++) {
    double number;
    if (!graph_number(&indices, i, &number))
      return VINCI_OK;
    int64_t row = (int64_t)number + (number < 0 ? shape[0] : 0);
    if (row < 0 || row >= shape[0])
      return outside(values, node, (int64_t)number, shape[0], diag);
    memcpy(bytes_of(values, node->outputs[0]) + i * row_bytes,
           bytes_of(values, node->inputs[0]) + (uint64_t)row * row_bytes, row_bytes);
  }
  *done = true;
  return VINCI_OK;
}

static enum vinci_status run_node(struct net_values *values, const struct graph_node *node,
                                  struct vinci_diag *diag) {
  bool done;
  enum vinci_status status = gather_rows(values, node, &done, diag);
  if (status != VINCI_OK || done || node->kind == GRAPH_VIEW)
    return status;
  if (node->kind == GRAPH_KERNEL)
    return run_kernel(values, node, diag);
  if (node->kind == GRAPH_LAYER && node->offline && node->input_count == 1 &&
      offline_layer(node, &values->graph->tensors[node->inputs[0]],
                    bytes_of(values, node->inputs[0]), &values->graph->tensors[node->outputs[0]],
                    bytes_of(values, node->outputs[0])))
    return VINCI_OK;
  if (node->kind == GRAPH_COPY && node->input_count == 1 && node->output_count == 1) {
    memcpy(bytes_of(values, node->outputs[0]), bytes_of(values, node->inputs[0]),
           graph_bytes(&values->graph->tensors[node->outputs[0]]));
    return VINCI_OK;
  }
  diag_error(diag, VINCI_E_INPUT, "node \"%s\" (%s) has no values", node->name, node->op);
  diag_hint(diag, "%s",
            node->reason && *node->reason
                ? node->reason
                : "tasks and layers without kernels compute nothing here");
  return VINCI_E_INPUT;
}

enum vinci_status net_values_run(struct net_values *values,
                                 bool (*progress)(void *context, uint64_t instructions,
                                                  unsigned done_permille),
                                 void *context, struct vinci_diag *diag) {
  const struct graph *graph = values->graph;
  enum vinci_status status = VINCI_OK;
  uint64_t done = 0;
  for (unsigned offline = 2; offline-- > 0;)
    for (uint32_t i = 0; i < graph->node_count && status == VINCI_OK; i++) {
      if (graph->nodes[i].offline != (offline == 1))
        continue;
      status = run_node(values, &graph->nodes[i], diag);
      done++;
      if (status == VINCI_OK && progress &&
          !progress(context, done, (unsigned)(1000 * done / graph->node_count)))
        status = diag_error(diag, VINCI_E_LIMIT, "ended at node \"%s\"", graph->nodes[i].name);
    }
  return status;
}
