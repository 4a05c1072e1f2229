/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface of networks. */
#include "core/vinci_net.h"

#include <string.h>

#include "traces/graph/net.h"
#include "traces/graph/text.h"

/* The index of a word, or count with an error. */
static unsigned find_word(const char *what, const char *word, const char *(*name_at)(unsigned),
                          unsigned count, struct vinci_diag *diag) {
  for (unsigned i = 0; i < count; i++)
    if (strcmp(name_at(i), word) == 0)
      return i;
  (void)diag_error(diag, VINCI_E_USAGE, "unknown %s '%s'", what, word);
  diag_hint(diag, "such as %s or %s", name_at(0), name_at(1));
  return count;
}

static const char *plan_at(unsigned index) {
  return graph_plan_name((enum graph_plan_policy)index);
}

static const char *host_at(unsigned index) { return queue_host_name((enum queue_host)index); }

static enum vinci_status choose(const struct vinci_net_options *options, struct net_options *out,
                                struct vinci_diag *diag) {
  struct vinci_net_options none = {.struct_size = sizeof none};
  if (!options)
    options = &none;
  if (options->struct_size != sizeof *options)
    return diag_error(diag, VINCI_E_USAGE, "the options of vinci_net_run() have another size");
  unsigned plan = GRAPH_PLAN_PACK, host = QUEUE_SINK;
  if (options->plan)
    plan = find_word("plan", options->plan, plan_at, GRAPH_PLAN_COUNT, diag);
  if (options->host)
    host = find_word("host", options->host, host_at, QUEUE_HOST_COUNT, diag);
  if (plan == GRAPH_PLAN_COUNT || host == QUEUE_HOST_COUNT)
    return VINCI_E_USAGE;
  *out = (struct net_options){.memory = options->memory,
                              .network = options->network,
                              .plan = (enum graph_plan_policy)plan,
                              .queue = {.host = (enum queue_host)host, .depth = options->depth},
                              .repeat = options->repeat ? options->repeat : 2,
                              .exact = options->exact};
  return VINCI_OK;
}

static bool is_kernel(const struct net_node *row) {
  return row->from == NET_SIMULATED || row->from == NET_REMEMBERED;
}

static struct vinci_net_node describe(const struct graph_node *node, const struct net_node *row) {
  return (struct vinci_net_node){.name = node->name,
                                 .op = node->op,
                                 .origin = node->origin,
                                 .from = net_from_name(row->from),
                                 .bound = is_kernel(row) ? bound_name(row->bound) : "",
                                 .reason = row->reason,
                                 .stream = node->stream,
                                 .blocks = row->times.blocks,
                                 .start_ps = row->task.start_ps,
                                 .duration_ps = row->task.duration_ps,
                                 .gap_ps = row->task.gap_ps,
                                 .host_wait_ps = row->task.host_wait_ps,
                                 .other_wait_ps = row->task.other_wait_ps,
                                 .input_bytes = row->read_bytes,
                                 .l2_found_bytes = row->found_bytes};
}

static struct vinci_net_result sum_up(const struct graph *graph, const struct net_result *run) {
  return (struct vinci_net_result){.end_ps = run->queue.end_ps,
                                   .first_end_ps = run->first.end_ps,
                                   .core_ps = run->queue.core_ps,
                                   .host_bound_ps = run->queue.host_bound_ps,
                                   .gap_ps = run->queue.gap_ps,
                                   .wait_ps = run->queue.wait_ps,
                                   .memory_bytes = run->plan.bytes,
                                   .live_bytes = run->plan.live_bytes,
                                   .fixed_bytes = run->plan.fixed_bytes,
                                   .nodes = graph->node_count,
                                   .refused = run->count[NET_REFUSED],
                                   .simulated = run->simulated_all};
}

enum vinci_status vinci_net_run(const vinci_soc *soc, const char *name, const char *text,
                                size_t length, const struct vinci_net_options *options,
                                bool (*visit)(void *context, const struct vinci_net_node *node),
                                void *context, struct vinci_net_result *result,
                                struct vinci_diag *diag) {
  struct net_options own;
  struct net_result run = {0};
  struct graph graph = {0};
  *result = (struct vinci_net_result){0};
  enum vinci_status status = choose(options, &own, diag);
  if (status == VINCI_OK)
    status = graph_text_read(name, text, length, &graph, diag);
  if (status == VINCI_OK)
    status = net_run(&graph, soc, &own, &run, diag);
  if (status == VINCI_OK)
    *result = sum_up(&graph, &run);
  for (uint32_t i = 0; status == VINCI_OK && visit && i < graph.node_count; i++) {
    struct vinci_net_node node = describe(&graph.nodes[i], &run.nodes[i]);
    if (!visit(context, &node))
      break;
  }
  arena_free(&run.arena);
  graph_free(&graph);
  return status;
}
