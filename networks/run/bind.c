/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensors of a graph the tensors of a lowered kernel are (bind.h). */
#include "networks/run/bind.h"

#include <string.h>

static uint32_t find_tensor(const struct graph *graph, const uint32_t *list, uint32_t count,
                            bool *used, uint64_t bytes) {
  for (unsigned exact = 2; exact-- > 0;)
    for (uint32_t i = 0; i < count; i++) {
      if (list[i] == GRAPH_NONE || used[i])
        continue;
      uint64_t own = graph_bytes(&graph->tensors[list[i]]);
      if (exact ? own != bytes : own < bytes)
        continue;
      used[i] = true;
      return list[i];
    }
  return GRAPH_NONE;
}

void graph_bind(const struct graph *graph, const struct graph_node *node,
                const struct vinci_trace *trace, bool *used, uint32_t *bound) {
  memset(used, 0, ((size_t)node->input_count + node->output_count) * sizeof *used);
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    bool reads = tensor->io == TENSOR_IN || tensor->io == TENSOR_INOUT;
    bool writes = tensor->io == TENSOR_OUT || tensor->io == TENSOR_INOUT;
    uint32_t same = 0;
    while (trace->tensors[same].address != tensor->address)
      same++;
    bound[i] = same < i ? bound[same] : GRAPH_NONE;
    if (same < i)
      continue;
    if (writes)
      bound[i] = find_tensor(graph, node->outputs, node->output_count, used + node->input_count,
                             tensor->bytes);
    if (reads && bound[i] == GRAPH_NONE)
      bound[i] = find_tensor(graph, node->inputs, node->input_count, used, tensor->bytes);
  }
}
