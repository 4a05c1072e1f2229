/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface of networks. */
#include "core/vinci_net.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/file.h"
#include "networks/graph/text.h"
#include "networks/run/api.h"
#include "networks/run/gears.h"
#include "networks/run/load.h"
#include "networks/run/net_energy.h"
#include "networks/run/net_summary.h"
#include "networks/run/profile.h"

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

enum vinci_status net_api_choose(const struct vinci_net_options *options, struct net_options *out,
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
                              .exact = options->exact,
                              .results = options->results,
                              .progress = options->progress,
                              .progress_context = options->progress_context};
  return VINCI_OK;
}

static bool is_kernel(const struct net_node *row) {
  return row->from == NET_SIMULATED || row->from == NET_REMEMBERED;
}

static struct vinci_net_node describe(const vinci_soc *soc, const struct graph_node *node,
                                      const struct net_node *row) {
  struct energy_counts counts = {0};
  struct vinci_energy energy = {0};
  if (soc->energy) {
    (void)net_energy_node(node, row, &counts);
    energy = energy_total(soc->energy, &counts);
  }
  return (struct vinci_net_node){.name = node->name,
                                 .op = node->op,
                                 .origin = node->origin,
                                 .from = net_from_name(row->from),
                                 .bound = is_kernel(row) ? bound_name(row->times.bound) : "",
                                 .reason = row->reason,
                                 .stream = node->stream,
                                 .blocks = row->times.blocks,
                                 .start_ps = row->task.start_ps,
                                 .duration_ps = row->task.duration_ps,
                                 .gap_ps = row->task.gap_ps,
                                 .host_wait_ps = row->task.host_wait_ps,
                                 .other_wait_ps = row->task.other_wait_ps,
                                 .input_bytes = row->read_bytes,
                                 .l2_found_bytes = row->found_bytes,
                                 .hbm_bytes = row->hbm_bytes,
                                 .energy_pj = energy.pj,
                                 .energy_low_pj = energy.low_pj,
                                 .energy_high_pj = energy.high_pj};
}

/* What a graph computes on. */
static uint64_t problem_digest(const struct graph *graph) {
  uint64_t digest = DIGEST_SEED;
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    const struct graph_tensor *tensor = &graph->tensors[i];
    if (tensor->io != GRAPH_IN && tensor->io != GRAPH_OUT)
      continue;
    digest = digest_string(digest, graph_io_name(tensor->io));
    digest = digest_string(digest, dtype_name(tensor->dtype));
    digest = digest_string(digest, tensor->format);
    digest = digest_bytes(digest, tensor->shape, tensor->rank * sizeof *tensor->shape);
  }
  return digest;
}

static struct vinci_net_result sum_up(const struct graph *graph, const vinci_soc *soc,
                                      const struct net_result *run) {
  struct net_summary summary;
  struct net_energy counted;
  struct vinci_energy energy = {0};
  if (net_energy_sum(graph, soc, run, &counted))
    energy = energy_total(soc->energy, &counted.counts);
  net_sum_up(graph, run, &summary);
  const uint64_t *part = summary.part_ps;
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
                                   .cube_ps = part[NET_PART_CUBE],
                                   .vector_ps = part[NET_PART_VECTOR],
                                   .memory_ps = part[NET_PART_MEMORY],
                                   .latency_ps = part[NET_PART_LATENCY],
                                   .scalar_ps = part[NET_PART_SCALAR],
                                   .task_ps = part[NET_PART_TASK],
                                   .tail_ps = part[NET_PART_TAIL],
                                   .bound = net_part_name(summary.bound),
                                   .slowed_ps = run->queue.slowed_ps,
                                   .kernels = summary.kernels,
                                   .launches = summary.launches,
                                   .input_bytes = summary.input_bytes,
                                   .output_bytes = summary.output_bytes,
                                   .l2_found_bytes = summary.found_bytes,
                                   .hbm_bytes = summary.hbm_bytes,
                                   .h2d_bytes = summary.h2d_bytes,
                                   .d2h_bytes = summary.d2h_bytes,
                                   .d2d_bytes = summary.d2d_bytes,
                                   .energy_pj = energy.pj,
                                   .energy_low_pj = energy.low_pj,
                                   .energy_high_pj = energy.high_pj,
                                   .refused = run->count[NET_REFUSED],
                                   .problem_digest = problem_digest(graph),
                                   .simulated = run->simulated_all,
                                   .stored = run->stored_all};
}

/* A graph or a model, out of bytes or of the file that name names. */
static enum vinci_status load(const char *name, const void *bytes, size_t length,
                              const struct vinci_net_model *model, struct graph *out,
                              struct vinci_diag *diag) {
  struct vinci_net_model none = {.struct_size = sizeof none};
  if (!model)
    model = &none;
  if (model->struct_size != sizeof *model)
    return diag_error(diag, VINCI_E_USAGE, "the description of the model has another size");
  struct onnx_options options = {.shapes = {model->shapes, model->shape_count},
                                 .dims = {model->dims, model->dim_count},
                                 .inputs = {model->inputs, model->input_count}};
  return bytes ? graph_load_bytes(name, bytes, length, &options, out, diag)
               : graph_load_file(name, &options, out, diag);
}

/* The graph of a family for one batch: {batch} in the text stands for that. */
static enum vinci_status read_gear(const char *name, const char *text, size_t length,
                                   unsigned batch, struct graph *graph, struct vinci_diag *diag) {
  char *family = strndup(text, length);
  if (!family)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for a gear");
  enum vinci_status status = VINCI_OK;
  char *gear = gear_text(name, family, batch, diag);
  if (gear)
    status = graph_text_read(name, gear, strlen(gear), graph, diag);
  else
    status = diag ? diag->status : VINCI_E_INPUT;
  free(family);
  free(gear);
  return status;
}

enum vinci_status net_api_read(const char *name, const char *text, size_t length,
                               const struct vinci_net_options *options, struct graph *graph,
                               struct vinci_diag *diag) {
  struct vinci_diag own = {0};
  struct vinci_diag *use = diag ? diag : &own;
  unsigned batch = options ? options->batch : 0;
  return batch > 0 && text ? read_gear(name, text, length, batch, graph, use)
                           : load(name, text, length, options ? options->model : NULL, graph, use);
}

enum vinci_status net_api_passes(const struct vinci_net_options *options,
                                 struct estimates *estimates, struct compile_options *out,
                                 struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  *out = (struct compile_options){.dtype = DTYPE_FP16, .estimates = estimates};
  if (options && options->passes)
    status = passes_choose(options->passes, out, diag);
  if (status == VINCI_OK && options && options->memory_limit)
    status = passes_limit(options->memory_limit, out, diag);
  return status;
}

/* The kernels of a network of layers. */
static enum vinci_status compile(const vinci_soc *soc, const struct vinci_net_options *options,
                                 const struct graph *graph, struct estimates *estimates,
                                 struct compiled *out, struct vinci_diag *diag) {
  struct compile_options passes;
  enum vinci_status status = net_api_passes(options, estimates, &passes, diag);
  return status == VINCI_OK ? net_compile(graph, soc, &passes, out, diag) : status;
}

enum vinci_status net_api_check(const struct vinci_net_options *options, const struct graph *graph,
                                struct vinci_diag *diag) {
  if (graph_has_layers(graph) || !options || (!options->memory_limit && !options->passes))
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE,
                    "%s is for networks of layers; this graph has kernels alone",
                    options->memory_limit ? "memory_limit" : "passes");
}

enum vinci_status net_api_text(const struct graph *graph, char **out, size_t *out_length,
                               struct vinci_diag *diag) {
  FILE *file = open_memstream(out, out_length);
  if (file)
    graph_text_write(graph, file);
  if (file && file_close_text(file, out))
    return VINCI_OK;
  *out = NULL;
  return diag_error(diag, VINCI_E_NOMEM, "out of memory for the text of the graph");
}

enum vinci_status vinci_net_import(const char *name, const void *bytes, size_t length,
                                   const struct vinci_net_model *model, char **out,
                                   size_t *out_length, struct vinci_diag *diag) {
  struct graph graph = {0};
  *out = NULL;
  *out_length = 0;
  enum vinci_status status = load(name, bytes, length, model, &graph, diag);
  if (status == VINCI_OK)
    status = net_api_text(&graph, out, out_length, diag);
  graph_free(&graph);
  return status;
}

enum vinci_status vinci_net_profile(const vinci_soc *soc, const char *path, const char *host_costs,
                                    uint64_t host_wait_us, const char *device, char **out,
                                    size_t *out_length, struct vinci_diag *diag) {
  struct profile_options options = {
      .host_costs = host_costs, .host_wait_ps = host_wait_us * UINT64_C(1000000), .device = device};
  struct profile_counts counts;
  struct graph graph = {0};
  *out = NULL;
  *out_length = 0;
  enum vinci_status status = profile_graph(path, soc, &options, &graph, &counts, diag);
  if (status == VINCI_OK)
    status = net_api_text(&graph, out, out_length, diag);
  graph_free(&graph);
  return status;
}

enum vinci_status vinci_net_run(const vinci_soc *soc, const char *name, const char *text,
                                size_t length, const struct vinci_net_options *options,
                                bool (*visit)(void *context, const struct vinci_net_node *node),
                                void *context, struct vinci_net_result *result,
                                struct vinci_diag *diag) {
  struct net_options own;
  struct net_result run = {0};
  struct compiled compiled = {0};
  struct estimates estimates;
  struct graph graph = {0};
  *result = (struct vinci_net_result){0};
  estimates_start(&estimates, soc);
  enum vinci_status status = net_api_choose(options, &own, diag);
  own.estimates = &estimates;
  if (status == VINCI_OK)
    status = net_api_read(name, text, length, options, &graph, diag);
  bool layers = status == VINCI_OK && graph_has_layers(&graph);
  if (status == VINCI_OK)
    status = net_api_check(options, &graph, diag);
  if (layers)
    status = compile(soc, options, &graph, &estimates, &compiled, diag);
  struct graph *kernels = layers ? &compiled.graph : &graph;
  if (status == VINCI_OK)
    status = net_run(kernels, soc, &own, &run, diag);
  if (status == VINCI_OK)
    *result = sum_up(kernels, soc, &run);
  for (uint32_t i = 0; status == VINCI_OK && visit && i < kernels->node_count; i++) {
    struct vinci_net_node node = describe(soc, &kernels->nodes[i], &run.nodes[i]);
    if (!visit(context, &node))
      break;
  }
  arena_free(&run.arena);
  estimates_free(&estimates);
  compiled_free(&compiled);
  graph_free(&graph);
  return status;
}
