/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that run again, copies to the host and back, readers that read there (memory.h). */
#include <stdio.h>
#include <string.h>

#include "networks/passes/memory.h"

static uint32_t like(const struct relief *relief, uint32_t tensor, const char *more) {
  struct graph_tensor own = *rewrite_tensor(relief->rewrite, tensor);
  char base[160];
  snprintf(base, sizeof base, "%.140s.%s", own.name, more);
  uint32_t index = rewrite_new_tensor(relief->rewrite, base, own.dtype, own.shape, own.rank);
  if (index != GRAPH_NONE)
    memcpy(relief->rewrite->graph->tensors[index].format, own.format, sizeof own.format);
  return index;
}

/* What stands for an input before the next use: the tensor in the new memory, or a view of that. */
static uint32_t new_input(const struct relief *relief, const struct wait *wait, uint32_t input,
                          uint32_t there) {
  struct rewrite *rewrite = relief->rewrite;
  const struct graph *graph = rewrite->graph;
  struct graph_node of = graph->nodes[wait->next];
  struct graph_tensor own = graph->tensors[input], same = graph->tensors[there];
  uint64_t skip = graph_skip(graph, input);
  if (skip == 0 && own.rank == same.rank && own.dtype == same.dtype &&
      memcmp(own.shape, same.shape, own.rank * sizeof *own.shape) == 0)
    return there;
  uint32_t view = like(relief, input, "view");
  if (view != GRAPH_NONE)
    rewrite_insert_view(rewrite, wait->next, &of, there, view, skip);
  return view;
}

/* From the next use on the values are in another memory. */
static void read_there(const struct relief *relief, const struct wait *wait, uint32_t there) {
  struct rewrite *rewrite = relief->rewrite;
  struct graph *graph = rewrite->graph;
  for (uint32_t i = wait->next; i < rewrite->node_count && !rewrite->no_memory; i++) {
    struct graph_node *node = &graph->nodes[i];
    uint32_t *inputs = (uint32_t *)(uintptr_t)node->inputs; /* the arena's, not constant */
    for (uint32_t k = 0; k < node->input_count; k++) {
      if (inputs[k] == GRAPH_NONE || graph_memory(graph, inputs[k]) != wait->memory)
        continue;
      rewrite->reads[inputs[k]]--;
      inputs[k] = new_input(relief, wait, inputs[k], there);
      if (rewrite->no_memory)
        return;
      rewrite->reads[inputs[k]]++;
    }
    if (node->kind != GRAPH_VIEW || graph_memory(graph, node->outputs[0]) != wait->memory)
      continue;
    graph->tensors[node->outputs[0]].skip = graph_skip(graph, node->outputs[0]);
    graph->tensors[node->outputs[0]].memory = there;
  }
}

/* A kernel that wrote a memory, once more; `last` is what the one before has written there, or
 * GRAPH_NONE. */
static uint32_t run_again(const struct relief *relief, const struct wait *wait, uint32_t index,
                          uint32_t last) {
  struct rewrite *rewrite = relief->rewrite;
  struct graph_node maker = rewrite->graph->nodes[index];
  uint32_t count = maker.input_count;
  uint32_t *inputs = ARENA_ARRAY(&rewrite->graph->arena, uint32_t, count + 1);
  const char *text = rewrite_args_text(rewrite, &maker, "");
  rewrite->no_memory |= !inputs;
  for (uint32_t i = 0; i < count && !rewrite->no_memory; i++) {
    inputs[i] = maker.inputs[i];
    if (inputs[i] != GRAPH_NONE && graph_memory(rewrite->graph, inputs[i]) == wait->memory)
      inputs[i] = new_input(relief, wait, inputs[i], last);
  }
  uint32_t again = like(relief, maker.outputs[0], "again");
  if (rewrite->no_memory)
    return GRAPH_NONE;
  rewrite_insert_into(rewrite, wait->next, &maker, maker.op, inputs, count, text, again);
  if (last != GRAPH_NONE)
    rewrite->graph->tensors[again].memory = graph_memory(rewrite->graph, last);
  return again;
}

static void compute_again(const struct relief *relief, const struct wait *wait) {
  uint32_t last = GRAPH_NONE;
  for (uint32_t k = relief->use_start[wait->memory];
       relief->uses[k] <= wait->before && !relief->rewrite->no_memory; k++)
    if (relief_writes(relief, relief->uses[k], wait->memory))
      last = run_again(relief, wait, relief->uses[k], last);
  if (last != GRAPH_NONE)
    read_there(relief, wait, last);
  relief->rewrite->changed++;
}

/* A node that takes time: at or behind an index, or, backward, at or before. */
static uint32_t timed_node(const struct relief *relief, uint32_t index, bool backward) {
  const struct graph *graph = relief->rewrite->graph;
  uint32_t at = index;
  while (at < relief->rewrite->node_count &&
         (graph->nodes[at].kind == GRAPH_VIEW || graph->nodes[at].offline))
    at += backward ? UINT32_MAX : 1;
  return at < relief->rewrite->node_count ? at : index;
}

/* The tensor that has the values of a memory: of those that are all of it the last. */
static uint32_t values_of(const struct relief *relief, const struct wait *wait) {
  const struct graph *graph = relief->rewrite->graph;
  uint32_t found = wait->memory;
  for (uint32_t k = relief->use_start[wait->memory]; relief->uses[k] <= wait->before; k++) {
    const struct graph_node *node = &graph->nodes[relief->uses[k]];
    for (uint32_t i = 0; i < node->output_count; i++)
      if (graph_memory(graph, node->outputs[i]) == wait->memory &&
          graph_skip(graph, node->outputs[i]) == 0 &&
          graph_bytes(&graph->tensors[node->outputs[i]]) ==
              graph_bytes(&graph->tensors[wait->memory]))
        found = node->outputs[i];
  }
  return found;
}

/* Copies have streams of their own, one for each way. */
static void swap(const struct relief *relief, const struct wait *wait, uint32_t stream) {
  struct rewrite *rewrite = relief->rewrite;
  uint32_t values = values_of(relief, wait);
  uint32_t host = like(relief, values, "host"), back = like(relief, values, "back");
  if (rewrite->no_memory)
    return;
  rewrite->graph->tensors[host].io = GRAPH_HOST;
  struct graph_node of = rewrite->graph->nodes[rewrite->writer[values]];
  uint32_t out =
      rewrite_insert_copy(rewrite, wait->from, &of, "d2h", values, host, stream, GRAPH_NONE);
  rewrite_add_after(rewrite, timed_node(relief, wait->from, false), out);
  (void)rewrite_insert_copy(rewrite, wait->to + 1, &of, "h2d", host, back, stream + 1,
                            timed_node(relief, wait->to, true));
  read_there(relief, wait, back);
  rewrite->changed++;
}

static uint32_t free_stream(const struct graph *graph) {
  uint32_t stream = 0;
  for (uint32_t i = 0; i < graph->node_count; i++)
    stream = graph->nodes[i].stream > stream ? graph->nodes[i].stream : stream;
  return stream + 1;
}

void relief_apply(const struct relief *relief, enum way way) {
  uint32_t stream = free_stream(relief->rewrite->graph);
  for (uint32_t i = 0; i < relief->chosen_count && !relief->rewrite->no_memory; i++) {
    const struct wait *wait = &relief->chosen[i];
    if (wait->way == way && way == RECOMPUTE)
      compute_again(relief, wait);
    else if (wait->way == way)
      swap(relief, wait, stream);
  }
}
