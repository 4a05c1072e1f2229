/* SPDX-License-Identifier: Apache-2.0 */
/* The energy of a network's run: what its kernels and copies do, and what the chip takes meanwhile.
 */
#ifndef VINCI_NETWORKS_RUN_NET_ENERGY_H
#define VINCI_NETWORKS_RUN_NET_ENERGY_H

#include "core/result/result_energy.h"
#include "networks/run/net.h"

struct net_energy {
  struct energy_counts counts;
  size_t untold; /* tasks of given times: whatever they do is left out */
};

/* Adds what a node does; false for a task of a given time, which has no events. */
bool net_energy_node(const struct graph_node *node, const struct net_node *row,
                     struct energy_counts *counts);
/* Of the last run; false when the chip keeps no account. */
bool net_energy_sum(const struct graph *graph, const struct vinci_soc *soc,
                    const struct net_result *result, struct net_energy *out);
/* The table of the report; nothing without an account. */
void net_energy_print(const struct graph *graph, const struct vinci_soc *soc,
                      const struct net_result *result, FILE *out);
/* The last key of summary.json, with the comma before; nothing without an account. */
void net_energy_put(const struct graph *graph, const struct vinci_soc *soc,
                    const struct net_result *result, FILE *out);

#endif
