/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of energy over the nodes of a network's run. */
#include "networks/run/net_energy.h"

#include <string.h>

#include "traces/export/report/energy.h"

/* The bytes of a copy, where they lie on the chip. The link to the host is none of the chip's. */
static void add_copy(const struct graph_node *node, const struct net_node *row,
                     struct energy_counts *counts) {
  bool reads = strcmp(node->op, "h2d") != 0, writes = strcmp(node->op, "d2h") != 0;
  counts->of[ENERGY_DRAM_READ] += reads ? row->read_bytes : 0;
  counts->of[ENERGY_DRAM_WRITE] += writes ? row->read_bytes : 0;
}

bool net_energy_node(const struct graph_node *node, const struct net_node *row,
                     struct energy_counts *counts) {
  if (row->energy)
    energy_add(counts, row->energy);
  else if (node->kind == GRAPH_COPY && row->from == NET_COMPUTED)
    add_copy(node, row, counts);
  else
    return row->from != NET_GIVEN || row->task.duration_ps == 0;
  return true;
}

bool net_energy_sum(const struct graph *graph, const struct vinci_soc *soc,
                    const struct net_result *result, struct net_energy *out) {
  *out = (struct net_energy){0};
  if (!soc->energy)
    return false;
  for (uint32_t i = 0; i < graph->node_count; i++)
    out->untold += !net_energy_node(&graph->nodes[i], &result->nodes[i], &out->counts);
  energy_count_time(soc, result->queue.end_ps, &out->counts);
  return true;
}

void net_energy_print(const struct graph *graph, const struct vinci_soc *soc,
                      const struct net_result *result, FILE *out) {
  struct net_energy energy;
  if (!net_energy_sum(graph, soc, result, &energy))
    return;
  energy_print(soc->energy, &energy.counts, result->queue.end_ps, out);
  if (energy.untold > 0)
    fprintf(out, "          %zu tasks have given times: what they do has no energy here\n",
            energy.untold);
}

void net_energy_put(const struct graph *graph, const struct vinci_soc *soc,
                    const struct net_result *result, FILE *out) {
  struct net_energy energy;
  struct json_writer json;
  if (!net_energy_sum(graph, soc, result, &energy))
    return;
  json_continue(&json, out);
  json_number(&json, "tasks_without_energy", energy.untold);
  energy_json(&json, soc->energy, &energy.counts, result->queue.end_ps);
}
