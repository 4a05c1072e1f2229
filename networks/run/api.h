/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions of vinci_net.h share: options and networks of callers. */
#ifndef VINCI_NETWORKS_RUN_API_H
#define VINCI_NETWORKS_RUN_API_H

#include "core/vinci_net.h"
#include "networks/passes/passes.h"
#include "networks/run/net.h"

/* How to run; options NULL: as usual. VINCI_E_USAGE for unknown words. */
VINCI_MUST_CHECK enum vinci_status net_api_choose(const struct vinci_net_options *options,
                                                  struct net_options *out, struct vinci_diag *diag);
/* Reads a graph, one of a family, or a model. */
VINCI_MUST_CHECK enum vinci_status net_api_read(const char *name, const char *text, size_t length,
                                                const struct vinci_net_options *options,
                                                struct graph *graph, struct vinci_diag *diag);
/* How layers become kernels. */
VINCI_MUST_CHECK enum vinci_status net_api_passes(const struct vinci_net_options *options,
                                                  struct estimates *estimates,
                                                  struct compile_options *out,
                                                  struct vinci_diag *diag);
/* VINCI_E_USAGE for options of layers when the graph has kernels alone. */
VINCI_MUST_CHECK enum vinci_status net_api_check(const struct vinci_net_options *options,
                                                 const struct graph *graph,
                                                 struct vinci_diag *diag);
/* The text of a graph, for free(). */
VINCI_MUST_CHECK enum vinci_status net_api_text(const struct graph *graph, char **out,
                                                size_t *out_length, struct vinci_diag *diag);

#endif
