/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of a network's kernels in a folder, for runs to come. A kernel's result is a function of
 * the chip, the models, its program, where its tensors lie, and what has come into L2 before; all
 * of these and the model revision are in the digest.
 */
#ifndef VINCI_NETWORKS_RUN_NET_RESULTS_H
#define VINCI_NETWORKS_RUN_NET_RESULTS_H

#include "core/sim/kept.h"
#include "networks/run/net.h"

/* A kernel as it is launched. */
struct net_launch {
  const struct vinci_trace *trace;
  const uint64_t *addresses;       /* of the tensors of the trace */
  const struct kept_range *inputs; /* of the node */
  size_t input_count;
};

/* seed: of the chip and the models. */
uint64_t net_result_digest(uint64_t seed, const struct net_launch *launch,
                           const struct kept_memory *memory);
/* Fills what a simulation does, as of NET_SIMULATED; false when there is no result. counts: where
 * its energy goes, without which there is no result; NULL: none is wanted. */
bool net_result_find(const char *folder, uint64_t digest, struct energy_counts *counts,
                     struct net_node *out);
VINCI_MUST_CHECK enum vinci_status net_result_keep(const char *folder, uint64_t digest,
                                                   const struct net_node *node,
                                                   struct vinci_diag *diag);
bool net_result_equals(const struct net_node *one, const struct net_node *other);

#endif
