/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the nodes of a network's run. */
#include "networks/run/net_summary.h"

#include <string.h>

#include "core/base/decimal.h"
#include "core/base/json.h"
#include "core/result/proven.h"
#include "networks/run/net_energy.h"

enum { PS_DIGITS = 6 };

const char *net_part_name(enum net_part part) {
  static const char *const names[] = {
#define X(id, key, text) key,
      NET_PART_LIST(X)
#undef X
  };
  return names[part];
}

const char *net_part_text(enum net_part part) {
  static const char *const texts[] = {
#define X(id, key, text) text,
      NET_PART_LIST(X)
#undef X
  };
  return texts[part];
}

static enum net_part part_of(const struct net_node *row) {
  switch (row->times.bound) {
  case BOUND_COMPUTE:
    return row->times.kind == CORE_AIV ? NET_PART_VECTOR : NET_PART_CUBE;
  case BOUND_MEMORY:
    return NET_PART_MEMORY;
  case BOUND_LATENCY:
    return NET_PART_LATENCY;
  case BOUND_SCALAR:
    return NET_PART_SCALAR;
  default:
    return NET_PART_TASK;
  }
}

static uint64_t bytes_of(const struct graph *graph, const uint32_t *list, uint32_t count) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; i++)
    bytes += list[i] == GRAPH_NONE ? 0 : graph_bytes(&graph->tensors[list[i]]);
  return bytes;
}

static void add_copy(const struct graph_node *node, const struct net_node *row,
                     struct net_summary *out) {
  if (strcmp(node->op, "h2d") == 0)
    out->h2d_bytes += row->read_bytes;
  else if (strcmp(node->op, "d2h") == 0)
    out->d2h_bytes += row->read_bytes;
  else
    out->d2d_bytes += row->read_bytes;
}

static void add_node(const struct graph *graph, const struct graph_node *node,
                     const struct net_node *row, struct net_summary *out) {
  /* What depends on weights alone was computed when the network was loaded. */
  out->launches += node->kind != GRAPH_VIEW && !queue_is_host(node) && row->from != NET_OFFLINE;
  if (row->from == NET_SIMULATED || row->from == NET_REMEMBERED) {
    out->kernels++;
    out->part_ps[part_of(row)] += row->task.duration_ps;
    out->input_bytes += row->read_bytes;
    out->output_bytes += bytes_of(graph, node->outputs, node->output_count);
    out->found_bytes += row->found_bytes;
    out->hbm_bytes += row->hbm_bytes;
  } else if (node->kind == GRAPH_COPY) {
    add_copy(node, row, out);
  }
}

/* What of the cores' time no kernel has is that of tasks. */
void net_sum_up(const struct graph *graph, const struct net_result *result,
                struct net_summary *out) {
  const struct queue_result *queue = &result->queue;
  uint64_t kernels = 0;
  *out = (struct net_summary){0};
  for (uint32_t i = 0; i < graph->node_count; i++)
    add_node(graph, &graph->nodes[i], &result->nodes[i], out);
  for (unsigned i = 0; i < NET_PART_COUNT; i++)
    kernels += out->part_ps[i];
  out->part_ps[NET_PART_TASK] += queue->core_ps - kernels;
  out->part_ps[NET_PART_HOST] = queue->host_bound_ps;
  out->part_ps[NET_PART_GAP] = queue->gap_ps;
  out->part_ps[NET_PART_WAIT] = queue->wait_ps;
  out->part_ps[NET_PART_TAIL] =
      queue->end_ps - queue->core_ps - queue->host_bound_ps - queue->gap_ps - queue->wait_ps;
  for (unsigned i = 0; i < NET_PART_COUNT; i++)
    if (out->part_ps[i] > out->part_ps[out->bound])
      out->bound = (enum net_part)i;
}

static void put_text(const char *key, const char *text, FILE *out) {
  fprintf(out, ",\n  \"%s\": ", key);
  json_write_plain(out, text);
}

static void put_us(const char *key, uint64_t ps, FILE *out) {
  fprintf(out, ",\n  \"%s\": %s", key, decimal_exact(ps, PS_DIGITS).text);
}

static void put_count(const char *key, uint64_t value, FILE *out) {
  fprintf(out, ",\n  \"%s\": %llu", key, (unsigned long long)value);
}

void net_put_summary(const struct graph *graph, const struct vinci_soc *soc,
                     const struct net_result *result, FILE *out) {
  struct net_summary summary;
  net_sum_up(graph, result, &summary);
  fputs("{\n  \"schema\": 1", out);
  put_text("network", graph->name ? graph->name : "", out);
  put_text("chip", vinci_soc_name(soc), out);
  put_text("model_revision", vinci_model_revision(), out);
  put_us("time_us", result->queue.end_ps, out);
  put_us("first_time_us", result->first.end_ps, out);
  put_text("bound", net_part_name(summary.bound), out);
  for (unsigned i = 0; i < NET_PART_COUNT; i++) {
    char key[32];
    snprintf(key, sizeof key, "%s_us", net_part_name((enum net_part)i));
    put_us(key, summary.part_ps[i], out);
  }
  put_us("slowed_us", result->queue.slowed_ps, out);
  put_count("nodes", graph->node_count, out);
  if (graph->model_layers > 0) {
    put_count("model_layers", graph->model_layers, out);
    put_count("inserted_layers", graph->inserted_layers, out);
  }
  put_count("kernels", summary.kernels, out);
  put_count("launches", summary.launches, out);
  put_count("refused", result->count[NET_REFUSED], out);
  put_count("input_bytes", summary.input_bytes, out);
  put_count("output_bytes", summary.output_bytes, out);
  put_count("l2_found_bytes", summary.found_bytes, out);
  put_count("hbm_bytes", summary.hbm_bytes, out);
  put_count("h2d_bytes", summary.h2d_bytes, out);
  put_count("d2h_bytes", summary.d2h_bytes, out);
  put_count("d2d_bytes", summary.d2d_bytes, out);
  put_count("memory_bytes", result->plan.bytes, out);
  put_count("live_bytes", result->plan.live_bytes, out);
  put_count("fixed_bytes", result->plan.fixed_bytes, out);
  net_energy_put(graph, soc, result, out);
  if (result->levers)
    proven_put(result->levers, out);
  fputs("\n}\n", out);
}
