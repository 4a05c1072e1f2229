/* SPDX-License-Identifier: Apache-2.0 */
/* Writes graphs as text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "networks/graph/text.h"

enum { US_DECIMALS = 6 };

static void put_us(const char *key, uint64_t ps, FILE *out) {
  fprintf(out, ",%s=%s", key, decimal_exact(ps, US_DECIMALS).text);
}

static void put_task(const struct graph_node *node, FILE *out) {
  cell_write_field(out, "unit", node->op);
  put_us("duration_us", node->duration_ps, out);
}

static void put_args(const struct graph_node *node, FILE *out) {
  bool quoted = false;
  for (uint32_t i = 0; i < node->arg_count; i++)
    quoted = quoted || cell_wants_quotes(node->args[i]);
  for (uint32_t i = 0; i < node->arg_count; i++) {
    fputs(i ? " " : quoted ? ",\"args=" : ",args=", out);
    cell_put(out, node->args[i]);
  }
  if (quoted)
    fputc('"', out);
}

static void put_tensors(const struct graph *graph, const char *key, const uint32_t *list,
                        uint32_t count, FILE *out) {
  if (count == 0)
    return;
  fprintf(out, ",%s=", key);
  for (uint32_t i = 0; i < count; i++)
    fprintf(out, "%s%s", i ? " " : "", list[i] == GRAPH_NONE ? "-" : graph->tensors[list[i]].name);
}

/* Of small tensors alone: what the lowering looks at. */
static void put_values(const struct graph_tensor *tensor, FILE *out) {
  uint64_t count = tensor->data && tensor->shaped ? graph_elements(tensor) : 0;
  double number;
  if (count > GRAPH_TEXT_VALUES_MAX)
    return;
  for (uint64_t i = 0; i < count && graph_number(tensor, i, &number); i++)
    if (isnan(number)) /* without a sign, which printf would show */
      fprintf(out, "%snan", i ? " " : ",values=");
    else
      fprintf(out, "%s%.17g", i ? " " : ",values=", number);
}

static void put_tensor(const struct graph *graph, const struct graph_tensor *tensor, FILE *out) {
  fprintf(out, "tensor,name=%s,dtype=%s", tensor->name, dtype_name(tensor->dtype));
  if (tensor->shaped)
    fputs(",shape=", out);
  for (unsigned i = 0; i < tensor->rank && tensor->shaped; i++)
    fprintf(out, "%s%llu", i ? "x" : "", (unsigned long long)tensor->shape[i]);
  if (tensor->io != GRAPH_LOCAL)
    fprintf(out, ",io=%s", graph_io_name(tensor->io));
  if (strcmp(tensor->format, "ND") != 0)
    cell_write_field(out, "format", tensor->format);
  if (tensor->memory != GRAPH_NONE)
    fprintf(out, ",memory=%s", graph->tensors[tensor->memory].name);
  if (tensor->skip > 0)
    fprintf(out, ",skip=%llu", (unsigned long long)tensor->skip);
  put_values(tensor, out);
  if (tensor->placed)
    fprintf(out, ",offset=%llu", (unsigned long long)tensor->offset);
  fputc('\n', out);
}

/* A tensor stands behind that whose memory it uses. */
static void put_in_order(const struct graph *graph, uint32_t index, bool *put, FILE *out) {
  uint32_t memory = graph->tensors[index].memory;
  if (put[index])
    return;
  put[index] = true;
  if (memory != GRAPH_NONE)
    put_in_order(graph, memory, put, out);
  put_tensor(graph, &graph->tensors[index], out);
}

/* In their order, where memory for that is short. */
static void put_all_tensors(const struct graph *graph, FILE *out) {
  bool *put = calloc((size_t)graph->tensor_count + 1, sizeof *put);
  for (uint32_t i = 0; i < graph->tensor_count; i++)
    if (put)
      put_in_order(graph, i, put, out);
    else
      put_tensor(graph, &graph->tensors[i], out);
  free(put);
}

static void put_node(const struct graph *graph, const struct graph_node *node, FILE *out) {
  fprintf(out, "%s,name=%s", graph_kind_name(node->kind), node->name);
  if (node->kind == GRAPH_COPY)
    fprintf(out, ",way=%s", node->op);
  else if (node->kind == GRAPH_TASK)
    put_task(node, out);
  else if (node->kind != GRAPH_VIEW)
    cell_write_field(out, "op", node->op);
  put_tensors(graph, "in", node->inputs, node->input_count, out);
  put_tensors(graph, "out", node->outputs, node->output_count, out);
  put_args(node, out);
  if (node->stream > 0)
    fprintf(out, ",stream=%u", node->stream);
  for (uint32_t i = 0; i < node->after_count; i++)
    fprintf(out, "%s%s", i ? " " : ",after=", graph->nodes[node->after[i]].name);
  if (node->kind == GRAPH_KERNEL && node->duration_ps > 0)
    put_us("measured_us", node->duration_ps, out);
  if (node->host_ps > 0)
    put_us("host_us", node->host_ps, out);
  if (node->offline)
    fputs(",offline=1", out);
  if (node->tiling_ps > 0)
    put_us("tiling_us", node->tiling_ps, out);
  if (*node->origin)
    cell_write_field(out, "origin", node->origin);
  fputc('\n', out);
}

void graph_text_write(const struct graph *graph, FILE *out) {
  fprintf(out, "graph,version=%d", GRAPH_TEXT_VERSION);
  if (graph->name && *graph->name)
    cell_write_field(out, "name", graph->name);
  fputc('\n', out);
  put_all_tensors(graph, out);
  for (uint32_t i = 0; i < graph->node_count; i++)
    put_node(graph, &graph->nodes[i], out);
}
