/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a program computes what another computes. */
#ifndef VINCI_CLI_TUNE_VALUES_H
#define VINCI_CLI_TUNE_VALUES_H

#include "core/vinci.h"
#include "networks/graph/graph.h"

/* Runs both with the same small pseudo-random inputs. VINCI_E_MISMATCH names the first elements
 * that differ by more than a hundredth; other failures of either run as they are. */
VINCI_MUST_CHECK enum vinci_status tune_compare_values(const vinci_soc *soc,
                                                       const vinci_trace *expected_trace,
                                                       const vinci_trace *trace,
                                                       struct vinci_diag *diag);

/* A network of kernels and where its tensors lie. */
struct tune_network {
  const struct graph *graph;
  const struct graph_plan *plan;
};
/* The same of two networks with inputs of the same names; *results: how many were compared. */
VINCI_MUST_CHECK enum vinci_status tune_compare_networks(const vinci_soc *soc,
                                                         const struct tune_network *expected,
                                                         const struct tune_network *network,
                                                         size_t *results, struct vinci_diag *diag);

#endif
