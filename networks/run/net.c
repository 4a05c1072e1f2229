/* SPDX-License-Identifier: Apache-2.0 */
/* Node by node: context, simulation, memory of results. */
#include "networks/run/net.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/lookup.h"
#include "core/result/result_energy.h"
#include "core/sim/kept.h"
#include "networks/run/bind.h"
#include "networks/run/net_results.h"

enum { RANGES_MAX = 2 * GRAPH_LIST_MAX };

struct net {
  struct graph *graph;
  const struct vinci_soc *soc;
  const struct net_options *options;
  struct net_result *result;
  struct vinci_diag *diag;
  struct estimates *estimates; /* of the kernels, with their programs */
  struct kept_memory *memory;
  /* Where kernels are simulated, on a copy of what memory holds, so that L2 between kernels does
   * not depend on which of them are simulated; NULL: on memory itself. */
  struct kept_memory *copy;
  uint64_t seed;     /* digest of chip and models */
  uint64_t *digests; /* of operator and arguments, by node */
  uint32_t *seen;    /* by memory: number within the window, of window `serial` */
  uint32_t *serial_of;
  uint64_t *counted;    /* by memory: bytes of its tensors in that window */
  uint32_t *counted_of; /* by tensor: the window that counts its bytes */
  uint32_t serial;
  uint64_t *workspaces; /* by node: bytes, once its program is known */
  bool *products;       /* by node: a kernel of the cubes alone, once its result is known */
  uint32_t *history;    /* nodes that have run, in all runs */
  size_t history_count;
  size_t passed;       /* of these, how many are in the tags */
  struct lookup known; /* results that may be taken again: pointers to nodes */
  struct kept_range *ranges;
  size_t done, all;
};

const char *net_from_name(enum net_from from) {
  static const char *const names[] = {
#define X(id, name) name,
      NET_FROM_LIST(X)
#undef X
  };
  return names[from];
}

/* ---- bytes that a node moves --------------------------------------------------------------- */

static uint64_t address_of(const struct net *net, uint32_t tensor) {
  return PROGRAM_GM_BASE + net->result->plan.offsets[tensor];
}

/* Workspaces of kernels lie behind all tensors. */
static uint64_t workspace_of(const struct net *net) {
  return PROGRAM_GM_BASE + net->result->plan.bytes;
}

static size_t add_ranges(struct net *net, const uint32_t *list, uint32_t count, bool write,
                         size_t used) {
  for (uint32_t i = 0; i < count && used < RANGES_MAX; i++)
    if (list[i] != GRAPH_NONE && net->graph->tensors[list[i]].io != GRAPH_HOST)
      net->ranges[used++] = (struct kept_range){address_of(net, list[i]),
                                                graph_bytes(&net->graph->tensors[list[i]]), write};
  return used;
}

static bool is_moved(const struct graph_node *node) {
  return node->kind != GRAPH_VIEW && !node->offline;
}

/*
 * Kernels read and write side by side, but for products: their sums are complete at the end. A
 * workspace is used again by block after block, so that all of it comes into L2 at the start.
 */
static void pass_node(struct net *net, uint32_t index) {
  const struct graph_node *node = &net->graph->nodes[index];
  size_t reads = add_ranges(net, node->inputs, node->input_count, false, 0);
  size_t count = add_ranges(net, node->outputs, node->output_count, true, reads);
  size_t first = net->products[index] ? reads : count;
  if (net->workspaces[index] > 0)
    kept_pass(net->memory, workspace_of(net), net->workspaces[index], true);
  kept_pass_ranges(net->memory, net->ranges, first);
  kept_pass_ranges(net->memory, net->ranges + first, count - first);
}

/* ---- contexts ------------------------------------------------------------------------------ */

static uint64_t digest_number(uint64_t digest, uint64_t number) {
  return digest_bytes(digest, &number, sizeof number);
}

/* Bytes of a tensor that the window has not met yet: of the memory of many parts those that are
 * used. */
static uint64_t new_bytes(struct net *net, uint32_t tensor, uint32_t memory) {
  uint64_t before = net->counted[memory];
  if (net->counted_of[tensor] == net->serial)
    return 0;
  net->counted_of[tensor] = net->serial;
  net->counted[memory] = min_u64(before + graph_bytes(&net->graph->tensors[tensor]),
                                 graph_bytes(&net->graph->tensors[memory]));
  return net->counted[memory] - min_u64(before, net->counted[memory]);
}

/* Tensors by the order in which the window meets their memory; *bytes grows by those that are
 * new. */
static uint64_t digest_tensors(struct net *net, uint64_t digest, const uint32_t *list,
                               uint32_t count, uint32_t *numbered, uint64_t *bytes) {
  for (uint32_t i = 0; i < count; i++) {
    if (list[i] == GRAPH_NONE)
      continue;
    uint32_t memory = graph_memory(net->graph, list[i]);
    if (net->serial_of[memory] != net->serial) {
      net->serial_of[memory] = net->serial;
      net->seen[memory] = ++*numbered;
      net->counted[memory] = 0;
    }
    *bytes += new_bytes(net, list[i], memory);
    digest = digest_number(digest, net->seen[memory]);
    digest = digest_number(digest, graph_skip(net->graph, list[i]));
    digest = digest_number(digest, graph_bytes(&net->graph->tensors[list[i]]));
  }
  return digest;
}

static uint64_t context_of(struct net *net, uint32_t index) {
  uint64_t window = (uint64_t)net->soc->l2_bytes * 3 / 2, bytes = 0, digest = net->seed;
  uint32_t numbered = 0, node = index;
  net->serial++;
  for (size_t i = net->history_count + 1; i-- > 0;) {
    const struct graph_node *at = &net->graph->nodes[node];
    digest = digest_number(digest, net->digests[node]);
    digest = digest_tensors(net, digest, at->inputs, at->input_count, &numbered, &bytes);
    digest = digest_number(digest, UINT64_MAX);
    digest = digest_tensors(net, digest, at->outputs, at->output_count, &numbered, &bytes);
    if (bytes >= window || i == 0)
      break;
    node = net->history[i - 1];
  }
  return digest_number(digest, bytes >= window); /* else the start of all is in the window */
}

/* Brings the tags up to date: nodes that were not simulated, as far back as L2 can know. */
static void replay(struct net *net) {
  uint64_t window = (uint64_t)net->soc->l2_bytes * 3 / 2, bytes = 0;
  size_t from = net->history_count;
  uint32_t numbered = 0;
  net->serial++;
  while (from > net->passed && bytes < window) {
    const struct graph_node *node = &net->graph->nodes[net->history[--from]];
    (void)digest_tensors(net, 0, node->inputs, node->input_count, &numbered, &bytes);
    (void)digest_tensors(net, 0, node->outputs, node->output_count, &numbered, &bytes);
  }
  for (; from < net->history_count; from++)
    pass_node(net, net->history[from]);
  net->passed = net->history_count;
}

/* ---- one kernel ---------------------------------------------------------------------------- */

/* Workspaces lie behind all tensors; returns their bytes. */
static uint64_t place(const struct net *net, const struct graph_node *node,
                      const struct vinci_trace *trace, bool *used, uint32_t *bound,
                      uint64_t *addresses) {
  uint64_t scratch = workspace_of(net);
  graph_bind(net->graph, node, trace, used, bound);
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    uint32_t same = 0;
    while (trace->tensors[same].address != trace->tensors[i].address)
      same++;
    addresses[i] = same < i                 ? addresses[same]
                   : bound[i] == GRAPH_NONE ? scratch
                                            : address_of(net, bound[i]);
    if (same == i && bound[i] == GRAPH_NONE)
      scratch += round_up(trace->tensors[i].bytes, PROGRAM_TENSOR_ALIGNMENT);
  }
  return scratch - workspace_of(net);
}

static uint64_t found_in_l2(const struct net *net, const struct net_launch *launch) {
  uint64_t found = 0;
  for (size_t i = 0; i < launch->input_count; i++) {
    const struct kept_range *input = &launch->inputs[i];
    found += min_u64(input->bytes, kept_find(net->memory, input->address, input->bytes).valid);
  }
  return found;
}

static void keep_result(const struct vinci_result *result, const struct vinci_trace *trace,
                        struct net_node *out) {
  struct call_row row = calls_empty_row();
  calls_times(result, &row, &out->times);
  out->from = NET_SIMULATED;
  out->hbm_bytes = result->hbm.read_bytes + result->hbm.write_bytes;
  out->task.duration_ps = out->times.duration_ps;
  for (uint32_t i = 0; i < trace->kernel_count; i++)
    out->task.mixed = out->task.mixed || trace->kernels[i].mixed;
}

static enum vinci_status keep_energy(struct net *net, const struct vinci_result *result,
                                     struct net_node *out) {
  if (!net->soc->energy)
    return VINCI_OK;
  struct energy_counts *counts = ARENA_NEW(&net->result->arena, struct energy_counts);
  if (!counts)
    return diag_error(net->diag, VINCI_E_NOMEM, "out of memory");
  energy_count_work(result, counts);
  out->energy = counts;
  return VINCI_OK;
}

static enum vinci_status run_on_memory(struct net *net, const struct net_launch *launch,
                                       struct net_node *out) {
  struct vinci_run_options options = {.struct_size = sizeof options,
                                      .memory = net->options->memory,
                                      .network = net->options->network};
  vinci_result *result = NULL;
  out->found_bytes = found_in_l2(net, launch);
  if (net->copy)
    kept_copy(net->copy, net->memory);
  /* A node that met the same in L2 has the same result, whatever ran before: each starts cold. */
  kept_drop_code(net->copy ? net->copy : net->memory);
  enum vinci_status status = kept_run(net->copy ? net->copy : net->memory, launch->trace,
                                      launch->addresses, &options, &result, net->diag);
  if (status == VINCI_OK)
    status = keep_energy(net, result, out);
  if (status == VINCI_OK) {
    keep_result(result, launch->trace, out);
    net->passed += !net->copy; /* the simulation has moved its bytes itself */
    net->result->simulated_all++;
  }
  vinci_result_free(result);
  return status;
}

/* The same with results of other runs: what is there is taken, what is not is kept. */
static enum vinci_status run_or_take(struct net *net, const struct net_launch *launch,
                                     struct net_node *out) {
  const char *folder = net->options->results;
  if (!folder)
    return run_on_memory(net, launch, out);
  struct net_node kept = *out;
  uint64_t digest = net_result_digest(net->seed, launch, net->memory);
  struct energy_counts *counts = NULL;
  if (net->soc->energy && !(counts = ARENA_NEW(&net->result->arena, struct energy_counts)))
    return diag_error(net->diag, VINCI_E_NOMEM, "out of memory");
  bool found = net_result_find(folder, digest, counts, &kept);
  if (found && !net->options->exact) {
    *out = kept;
    net->result->stored_all++;
    return VINCI_OK;
  }
  enum vinci_status status = run_on_memory(net, launch, out);
  if (status != VINCI_OK)
    return status;
  if (!found)
    return net_result_keep(folder, digest, out, net->diag);
  if (!net_result_equals(&kept, out))
    return diag_error(net->diag, VINCI_E_MISMATCH,
                      "%s has another result, %016llx.kernel, with a duration of %llu ps", folder,
                      (unsigned long long)digest, (unsigned long long)kept.times.duration_ps);
  return VINCI_OK;
}

static enum vinci_status run_trace(struct net *net, const struct graph_node *node,
                                   const struct vinci_trace *trace, struct net_node *out) {
  uint64_t *addresses = calloc((size_t)trace->tensor_count + 1, sizeof *addresses);
  bool *used = calloc((size_t)node->input_count + node->output_count + 1, sizeof *used);
  uint32_t *bound = calloc((size_t)trace->tensor_count + 1, sizeof *bound);
  enum vinci_status status = VINCI_OK;
  if (!addresses || !used || !bound)
    status = diag_error(net->diag, VINCI_E_NOMEM, "out of memory for a kernel of the graph");
  if (status == VINCI_OK) {
    out->workspace_bytes = place(net, node, trace, used, bound, addresses);
    replay(net);
    struct net_launch launch = {trace, addresses, net->ranges,
                                add_ranges(net, node->inputs, node->input_count, false, 0)};
    for (size_t i = 0; i < launch.input_count; i++)
      out->read_bytes += launch.inputs[i].bytes;
    status = run_or_take(net, &launch, out);
  }
  free(addresses);
  free(used);
  free(bound);
  return status;
}

static enum vinci_status simulate(struct net *net, const struct graph_node *node,
                                  struct net_node *out) {
  struct vinci_diag diag = {0};
  const vinci_trace *trace = NULL;
  enum vinci_status status =
      estimate_compile(net->estimates, node->op, node->args, node->arg_count, &trace, &diag);
  if (status == VINCI_E_USAGE) {
    out->from = NET_REFUSED;
    snprintf(out->reason, sizeof out->reason, "%.*s", NET_REASON_BYTES - 1, diag.text);
    return VINCI_OK;
  }
  if (status != VINCI_OK) {
    if (net->diag)
      *net->diag = diag;
    return status;
  }
  return run_trace(net, node, trace, out);
}

static enum vinci_status run_kernel(struct net *net, uint32_t index, struct net_node *out) {
  uint64_t key = context_of(net, index);
  uintptr_t known = lookup_find(&net->known, key);
  enum vinci_status status = VINCI_OK;
  if (known != LOOKUP_NONE && !net->options->exact) {
    *out = *(const struct net_node *)known;
    out->from = out->from == NET_SIMULATED ? NET_REMEMBERED : out->from;
  } else {
    status = simulate(net, &net->graph->nodes[index], out);
    if (status == VINCI_OK && known == LOOKUP_NONE &&
        !lookup_add(&net->known, &net->result->arena, key, (uintptr_t)out))
      status = diag_error(net->diag, VINCI_E_NOMEM, "out of memory");
  }
  bool from_memory = out->found_bytes <= out->read_bytes / 2;
  out->task = (struct queue_task){.duration_ps = out->times.duration_ps,
                                  .mixed = out->task.mixed,
                                  .memory_bound = out->times.bound == BOUND_MEMORY && from_memory};
  net->workspaces[index] = out->workspace_bytes;
  net->products[index] =
      out->from != NET_REFUSED && out->times.kind == CORE_AIC && !out->task.mixed;
  return status;
}

/* ---- the other kinds ------------------------------------------------------------------------ */

/* A copy within device memory reads and writes there. */
static void run_copy(const struct net *net, const struct graph_node *node, struct net_node *out) {
  const struct vinci_soc *soc = net->soc;
  bool within = strcmp(node->op, "d2d") == 0;
  uint64_t rate = (uint64_t)(within                         ? soc->copy_rate
                             : strcmp(node->op, "h2d") == 0 ? soc->host_write_rate
                                                            : soc->host_read_rate);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < node->output_count; i++)
    bytes += graph_bytes(&net->graph->tensors[node->outputs[i]]);
  out->from = NET_COMPUTED;
  out->read_bytes = bytes;
  out->hbm_bytes = out->task.hbm_bytes = within ? 2 * bytes : bytes;
  out->task.duration_ps =
      (uint64_t)soc->host_copy_ps + (uint64_t)((uint128)bytes * PS_PER_SECOND / rate);
}

static enum vinci_status run_node(struct net *net, uint32_t index, struct net_node *out) {
  const struct graph_node *node = &net->graph->nodes[index];
  enum vinci_status status = VINCI_OK;
  *out = (struct net_node){.from = node->offline ? NET_OFFLINE : NET_NONE};
  switch (node->offline ? GRAPH_VIEW : node->kind) {
  case GRAPH_KERNEL:
    status = run_kernel(net, index, out);
    break;
  case GRAPH_COPY:
    run_copy(net, node, out);
    break;
  case GRAPH_TASK:
    out->from = NET_GIVEN;
    out->task.duration_ps = node->duration_ps;
    break;
  case GRAPH_LAYER:
    out->from = net->options->unknown_ps > 0 ? NET_GIVEN : NET_REFUSED;
    out->task.duration_ps = net->options->unknown_ps;
    snprintf(out->reason, sizeof out->reason, "%s",
             *node->reason ? node->reason : "a layer, not yet kernels");
    break;
  default:
    break;
  }
  if (is_moved(node))
    net->history[net->history_count++] = index;
  net->done++;
  if (status == VINCI_OK && net->options->progress &&
      !net->options->progress(net->options->progress_context, net->done, net->all))
    return diag_error(net->diag, VINCI_E_LIMIT, "the run was ended at node \"%s\"", node->name);
  return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static uint64_t digest_node(const struct graph_node *node) {
  uint64_t digest = digest_string(DIGEST_SEED, graph_kind_name(node->kind));
  digest = digest_string(digest, node->op);
  for (uint32_t i = 0; i < node->arg_count; i++)
    digest = digest_string(digest, node->args[i]);
  return digest;
}

static bool prepare(struct net *net) {
  struct graph *graph = net->graph;
  struct arena *arena = &net->result->arena;
  size_t nodes = graph->node_count, tensors = graph->tensor_count, runs = net->options->repeat;
  net->result->nodes = ARENA_ARRAY(arena, struct net_node, nodes * runs + 1);
  net->digests = ARENA_ARRAY(arena, uint64_t, nodes + 1);
  net->seen = ARENA_ARRAY(arena, uint32_t, tensors + 1);
  net->serial_of = ARENA_ARRAY(arena, uint32_t, tensors + 1);
  net->counted = ARENA_ARRAY(arena, uint64_t, tensors + 1);
  net->counted_of = ARENA_ARRAY(arena, uint32_t, tensors + 1);
  net->workspaces = ARENA_ARRAY(arena, uint64_t, nodes + 1);
  net->products = ARENA_ARRAY(arena, bool, nodes + 1);
  net->history = ARENA_ARRAY(arena, uint32_t, nodes * runs + 1);
  net->ranges = ARENA_ARRAY(arena, struct kept_range, RANGES_MAX);
  if (!net->result->nodes || !net->digests || !net->seen || !net->serial_of || !net->counted ||
      !net->counted_of || !net->workspaces || !net->products || !net->history || !net->ranges)
    return false;
  uint64_t numbers[] = {soc_digest(net->soc), net->options->memory, net->options->network};
  net->seed =
      digest_bytes(digest_string(DIGEST_SEED, vinci_model_revision()), numbers, sizeof numbers);
  for (size_t i = 0; i < nodes; i++)
    net->digests[i] = digest_node(&graph->nodes[i]);
  net->all = nodes * runs;
  return true;
}

/* All nodes once, and when each ran. */
static enum vinci_status run_once(struct net *net, struct net_node *nodes,
                                  struct queue_result *queue) {
  uint32_t count = net->graph->node_count;
  enum vinci_status status = VINCI_OK;
  struct queue_task *tasks = calloc((size_t)count + 1, sizeof *tasks);
  if (!tasks)
    return diag_error(net->diag, VINCI_E_NOMEM, "out of memory for the queue");
  for (uint32_t i = 0; i < count && status == VINCI_OK; i++) {
    status = run_node(net, i, &nodes[i]);
    tasks[i] = nodes[i].task;
  }
  if (status == VINCI_OK)
    status = queue_run(net->graph, net->soc, &net->options->queue, tasks, queue, net->diag);
  for (uint32_t i = 0; i < count; i++) {
    nodes[i].task = tasks[i];
    nodes[i].task.duration_ps += tasks[i].slowed_ps;
  }
  free(tasks);
  return status;
}

static enum vinci_status check_size(const struct net *net) {
  uint64_t bytes = net->result->plan.bytes, most = (uint64_t)net->soc->hbm_bytes;
  if (bytes <= most)
    return VINCI_OK;
  diag_error(net->diag, VINCI_E_INPUT, "the graph needs %llu bytes of device memory, %s has %llu",
             (unsigned long long)bytes, net->soc->name, (unsigned long long)most);
  diag_hint(net->diag, "a smaller batch, another memory plan, or a chip with more memory");
  return VINCI_E_INPUT;
}

static enum vinci_status run_all(struct net *net) {
  struct net_result *result = net->result;
  struct net_node *nodes = result->nodes;
  enum vinci_status status = VINCI_OK;
  for (unsigned i = 0; i < net->options->repeat && status == VINCI_OK; i++) {
    result->nodes = nodes + (size_t)i * net->graph->node_count;
    status = run_once(net, result->nodes, i == 0 ? &result->first : &result->queue);
  }
  if (net->options->repeat == 1)
    result->queue = result->first;
  for (uint32_t i = 0; i < net->graph->node_count && status == VINCI_OK; i++)
    result->count[result->nodes[i].from]++;
  return status;
}

enum vinci_status net_run(struct graph *graph, const struct vinci_soc *soc,
                          const struct net_options *options, struct net_result *out,
                          struct vinci_diag *diag) {
  struct estimates own;
  struct net net = {.graph = graph,
                    .soc = soc,
                    .options = options,
                    .result = out,
                    .diag = diag,
                    .estimates = options->estimates ? options->estimates : &own};
  *out = (struct net_result){0};
  estimates_start(&own, soc);
  enum vinci_status status = graph_plan(graph, options->plan, &out->plan, diag);
  if (status == VINCI_OK)
    status = check_size(&net);
  if (status == VINCI_OK && options->results)
    status = folder_make(options->results, diag);
  if (status == VINCI_OK && !prepare(&net))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the network");
  if (status == VINCI_OK)
    status = kept_create(soc, options->memory, &net.memory, diag);
  if (status == VINCI_OK && (!options->exact || options->results))
    status = kept_create(soc, options->memory, &net.copy, diag);
  if (status == VINCI_OK)
    status = run_all(&net);
  kept_free(net.copy);
  kept_free(net.memory);
  estimates_free(&own);
  return status;
}
