/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From layers to kernels: each layer of a network, in the words of ONNX, becomes operators of
 * `vinci compile` on tensors of the chip.
 *
 * A tensor of the network may be wanted in several layouts (as the network orders it, or with
 * blocks of channels). The first use in a layout adds the kernel that converts; later uses share
 * the result. Which layout a layer computes in is an input (layout.h chooses).
 *
 * Nodes that depend on weights alone are marked `offline`: they are computed once, when the network
 * is loaded, and take no time in a run.
 */
#ifndef VINCI_NETWORKS_LAYERS_LAYERS_H
#define VINCI_NETWORKS_LAYERS_LAYERS_H

#include "core/chip/soc.h"
#include "networks/graph/graph.h"
#include "networks/layers/layout.h"

/* The layouts that a layer can compute in, a bit each; those that become no kernel have ND. */
unsigned layer_layouts(const struct graph *graph, const struct graph_node *node);
/* The layout that the layer has without a choice. */
enum layout layer_default_layout(const struct graph *graph, const struct graph_node *node);

struct layers_counts {
  size_t layers;    /* nodes that were layers */
  size_t inserted;  /* of them, put in by passes */
  size_t of_model;  /* layers of the network before the passes; 0: unknown */
  size_t lowered;   /* of them, into kernels */
  size_t views;     /* into nothing but another shape */
  size_t refused;   /* stay layers, with a reason */
  size_t kernels;   /* of the result, without those computed offline */
  size_t transdata; /* of these, conversions between layouts */
  size_t offline;   /* kernels that are computed once */
};

/* Counts the kernels of a lowered graph anew, after passes over kernels. */
void layers_count_kernels(const struct graph *graph, struct layers_counts *counts);

/*
 * Lowers all layers of a graph; other nodes stay as they are. layouts: for each node of `from`,
 * NULL: the default of each. A layer that cannot be lowered stays a layer with its reason
 * (graph_node.reason) and is counted. The caller frees the result, also after an error;
 * VINCI_E_NOMEM alone is an error. The result refers to values of tensors of `from`.
 */
VINCI_MUST_CHECK enum vinci_status
layers_lower(const struct graph *from, const struct vinci_soc *soc, const enum layout *layouts,
             struct graph *out, struct layers_counts *counts, struct vinci_diag *diag);

#endif
