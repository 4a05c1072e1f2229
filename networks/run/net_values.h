/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a network: its kernels run one after another with real bytes, on one memory in which
 * tensors lie as the memory plan says. A plan that puts two tensors over one another therefore
 * gives wrong results here too.
 */
#ifndef VINCI_NETWORKS_RUN_NET_VALUES_H
#define VINCI_NETWORKS_RUN_NET_VALUES_H

#include "core/machine/values.h"
#include "networks/graph/graph.h"

struct net_values {
  const struct graph *graph;
  const struct vinci_soc *soc;
  uint64_t *addresses;      /* of each tensor, in the memory of `values` */
  struct vinci_trace trace; /* without kernels: inputs, weights and results of the network */
  struct vinci_values *values;
};

/*
 * Memory for all tensors, with the values of those that have some; the inputs and weights that have
 * none are inputs of out->values, to be loaded or filled. The caller frees the values, also after
 * an error. The graph and the plan, of the same graph, outlive them.
 */
VINCI_MUST_CHECK enum vinci_status
net_values_create(const struct graph *graph, const struct vinci_soc *soc,
                  const struct graph_plan *plan, struct net_values *out, struct vinci_diag *diag);
/*
 * Runs what is computed offline, then all other nodes. progress as that of vinci_values_run(), over
 * all nodes. VINCI_E_INPUT names a node that has no values: a layer without kernels, or a task.
 */
VINCI_MUST_CHECK enum vinci_status
net_values_run(struct net_values *values,
               bool (*progress)(void *context, uint64_t instructions, unsigned done_permille),
               void *context, struct vinci_diag *diag);
void net_values_free(struct net_values *values);

#endif
