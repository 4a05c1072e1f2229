/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensors of a graph the tensors of a lowered kernel are. */
#ifndef VINCI_NETWORKS_RUN_BIND_H
#define VINCI_NETWORKS_RUN_BIND_H

#include "core/isa/program.h"
#include "networks/graph/graph.h"

/*
 * Fills, for each tensor of the trace, the tensor of the graph that it is: in the order of the
 * node's outputs and inputs, the next of as many bytes, or else the next that has more. GRAPH_NONE:
 * a workspace of the kernel. used: room for a mark of each input and output of the node.
 */
void graph_bind(const struct graph *graph, const struct graph_node *node,
                const struct vinci_trace *trace, bool *used, uint32_t *bound);

#endif
