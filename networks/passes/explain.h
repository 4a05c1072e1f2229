/* SPDX-License-Identifier: Apache-2.0 */
/* Which layer became which kernels, and what each kernel is estimated to take. */
#ifndef VINCI_NETWORKS_PASSES_EXPLAIN_H
#define VINCI_NETWORKS_PASSES_EXPLAIN_H

#include <stdio.h>
#include <string.h>

#include "core/vinci.h"
#include "networks/passes/passes.h"

/* A layer of the network as it was given. */
struct explained_layer {
  const struct graph_node *node;
  const char
      *holder; /* the layer that computes this one in the end; NULL: nobody reads the result */
};

/* A kernel, or a layer that has none. */
struct explained_kernel {
  const struct graph_node *node;
  const uint32_t *layers; /* of the network, that it computes a part of */
  uint32_t layer_count;
  uint32_t first; /* of these layers, that is there after the passes; GRAPH_NONE */
  bool possible;  /* the operator takes these arguments; else the rest is empty */
  struct vinci_tiling tiling;
  uint64_t ps;            /* estimate, without the gap before */
  const char *pipe;       /* that is busiest */
  uint64_t busy_permille; /* of that pipe, of the estimate */
  const char *bound;      /* compute, memory; latency: no pipe is busy 80 % of the time */
};

/* Where an event of the history leads. */
struct explained_event {
  const char *layer;  /* of an event of kernels: the layer that holds the kernel's; NULL: none */
  const char *kernel; /* and the kernel that the kernel became a part of */
};

struct explanation {
  struct arena arena;
  const struct graph *network, *graph;
  const struct history *history;
  struct explained_event *events; /* by event of the history */
  struct explained_layer *layers;
  struct explained_kernel *kernels;
  uint32_t layer_count, kernel_count;
};

/* compiled NULL: the network is a graph of kernels. The result refers to both, which have to stay.
 * The caller frees its arena, also after an error; VINCI_E_NOMEM alone is an error. */
VINCI_MUST_CHECK enum vinci_status explain(const struct graph *network,
                                           const struct compiled *compiled,
                                           const struct vinci_soc *soc, struct explanation *out,
                                           struct vinci_diag *diag);

/* Whether a kernel computes a part of a layer. */
bool explained_belongs(const struct explained_kernel *kernel, uint32_t layer);
/* Whether an event of the history, by its index, is of a layer or of its kernels. */
bool explained_concerns(const struct explanation *all, size_t event, uint32_t layer);
/* Whether a layer of the network is there after the passes; else another computes the layer. */
static inline bool explained_stays(const struct explained_layer *layer) {
  return layer->holder && strcmp(layer->holder, layer->node->name) == 0;
}

/* As JSON: keys never change their meaning. layer, kernel: GRAPH_NONE for all, else that layer with
 * its kernels, or that kernel. */
void explain_put_json(const struct explanation *all, const struct vinci_soc *soc, uint32_t layer,
                      uint32_t kernel, FILE *out);

#endif
