/* SPDX-License-Identifier: Apache-2.0 */
/* The explanation of a network as JSON. */
#include <stdlib.h>
#include <string.h>

#include "networks/passes/explain.h"
#include "traces/export/export.h"

enum { PS_DIGITS = 6 };

static void put_us(struct json_writer *json, const char *key, uint64_t ps) {
  json_decimal(json, key, decimal_exact(ps, PS_DIGITS));
}

static void put_args(struct json_writer *json, const struct graph_node *node) {
  json_text_begin(json, "args");
  for (uint32_t i = 0; i < node->arg_count; i++) {
    json_text_add(json, i ? " " : "");
    json_text_add(json, node->args[i]);
  }
  json_text_end(json);
}

static void put_event(struct json_writer *json, const struct history_event *event) {
  json_object(json, NULL, true);
  json_text(json, "pass", pass_name((enum pass_id)event->pass));
  json_text(json, "what", history_kind_name(event->kind));
  json_text(json, "node", event->node.name);
  json_text(json, "op", event->node.op);
  if (event->into)
    json_text(json, "into", event->into);
  json_text(json, "now", event->now);
  if (event->before_ps > 0 || event->after_ps > 0) {
    put_us(json, "before_us", event->before_ps);
    put_us(json, "after_us", event->after_ps);
  }
  json_end(json);
}

static void put_layer(struct json_writer *json, const struct explanation *all, uint32_t index) {
  const struct explained_layer *layer = &all->layers[index];
  json_object(json, NULL, false);
  json_text(json, "name", layer->node->name);
  json_text(json, "op", layer->node->op);
  json_text(json, "origin", layer->node->origin);
  json_text(json, "part_of", layer->holder ? layer->holder : "");
  json_array(json, "events", false);
  for (size_t i = 0; i < all->history->count; i++)
    if (explained_concerns(all, i, index))
      put_event(json, &all->history->events[i]);
  json_end(json);
  json_array(json, "kernels", true);
  for (uint32_t i = 0; i < all->kernel_count; i++)
    if (explained_belongs(&all->kernels[i], index))
      json_text(json, NULL, all->kernels[i].node->name);
  json_end(json);
  json_end(json);
}

static void put_tensors(struct json_writer *json, const char *key, const struct graph *graph,
                        const uint32_t *list, uint32_t count) {
  json_array(json, key, false);
  for (uint32_t i = 0; i < count; i++) {
    if (list[i] == GRAPH_NONE)
      continue;
    const struct graph_tensor *tensor = &graph->tensors[list[i]];
    json_object(json, NULL, true);
    json_text(json, "name", tensor->name);
    json_text(json, "dtype", dtype_name(tensor->dtype));
    json_text(json, "format", tensor->format);
    json_array(json, "shape", true);
    for (unsigned d = 0; d < tensor->rank; d++)
      json_number(json, NULL, tensor->shape[d]);
    json_end(json);
    json_end(json);
  }
  json_end(json);
}

static void put_pipes(struct json_writer *json, const struct vinci_tiling *tiling) {
  json_object(json, "pipe_cycles", true);
  json_number(json, "M", tiling->cube_cycles);
  json_number(json, "V", tiling->vector_cycles);
  json_number(json, "MTE1", tiling->mte1_cycles);
  json_number(json, "MTE2", tiling->mte2_cycles);
  json_number(json, "MTE3", tiling->mte3_cycles);
  json_number(json, "FIX", tiling->fix_cycles);
  json_end(json);
}

static void put_kernel(struct json_writer *json, const struct explanation *all, uint32_t index) {
  const struct explained_kernel *kernel = &all->kernels[index];
  const struct graph_node *node = kernel->node;
  json_object(json, NULL, false);
  json_text(json, "name", node->name);
  json_text(json, "op", node->op);
  put_args(json, node);
  json_array(json, "layers", true);
  for (uint32_t i = 0; i < kernel->layer_count; i++)
    json_text(json, NULL, all->layers[kernel->layers[i]].node->name);
  json_end(json);
  json_bool(json, "offline", node->offline);
  json_bool(json, "possible", kernel->possible);
  json_text(json, "reason", node->reason);
  put_tensors(json, "inputs", all->graph, node->inputs, node->input_count);
  put_tensors(json, "outputs", all->graph, node->outputs, node->output_count);
  json_text(json, "tiling", kernel->tiling.args ? kernel->tiling.args : "");
  json_number(json, "blocks", kernel->tiling.blocks);
  json_number(json, "gm_bytes", kernel->tiling.gm_bytes);
  put_us(json, "estimate_us", kernel->ps);
  json_number(json, "total_cycles", kernel->tiling.total_cycles);
  put_pipes(json, &kernel->tiling);
  json_text(json, "bound", kernel->bound);
  json_text(json, "busiest_pipe", kernel->pipe);
  json_decimal(json, "busy_share", decimal_ratio(kernel->busy_permille, 1000, 3));
  json_end(json);
}

void explain_put_json(const struct explanation *all, const struct vinci_soc *soc, uint32_t layer,
                      uint32_t kernel, FILE *out) {
  struct json_writer json;
  bool whole = layer == GRAPH_NONE && kernel == GRAPH_NONE;
  json_start(&json, out);
  json_object(&json, NULL, false);
  json_number(&json, "schema", 1);
  json_text(&json, "network", all->network->name);
  json_text(&json, "soc", vinci_soc_name(soc));
  json_array(&json, "layers", false);
  for (uint32_t i = 0; i < all->layer_count; i++)
    if (whole || i == layer ||
        (kernel != GRAPH_NONE && explained_belongs(&all->kernels[kernel], i)))
      put_layer(&json, all, i);
  json_end(&json);
  json_array(&json, "kernels", false);
  for (uint32_t i = 0; i < all->kernel_count; i++)
    if (whole || i == kernel || (layer != GRAPH_NONE && explained_belongs(&all->kernels[i], layer)))
      put_kernel(&json, all, i);
  json_end(&json);
  json_end(&json);
}
