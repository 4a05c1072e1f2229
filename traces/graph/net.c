/* SPDX-License-Identifier: Apache-2.0 */
/* Node by node: context, simulation, memory of results. */
#include "traces/graph/net.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/sim/kept.h"

enum { RANGES_MAX = 2 * GRAPH_LIST_MAX };

/* A result that may be taken again. */
struct known {
  uint64_t key;
  const struct net_node *node; /* NULL: free */
};

struct net {
  struct graph *graph;
  const struct vinci_soc *soc;
  const struct net_options *options;
  struct net_result *result;
  struct vinci_diag *diag;
  struct kept_memory *memory;
  uint64_t seed;     /* digest of chip and models */
  uint64_t *digests; /* of operator and arguments, by node */
  uint32_t *seen;    /* by tensor: number within the window, of window `serial` */
  uint32_t *serial_of;
  uint32_t serial;
  uint32_t *history; /* nodes that have run, in all runs */
  size_t history_count;
  size_t passed; /* of these, how many are in the tags */
  struct known *table;
  size_t table_size; /* a power of two */
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

static size_t add_ranges(struct net *net, const uint32_t *list, uint32_t count, bool write,
                         size_t used) {
  for (uint32_t i = 0; i < count && used < RANGES_MAX; i++)
    if (list[i] != GRAPH_NONE)
      net->ranges[used++] = (struct kept_range){address_of(net, list[i]),
                                                graph_bytes(&net->graph->tensors[list[i]]), write};
  return used;
}

static bool is_moved(const struct graph_node *node) { return node->kind != GRAPH_VIEW; }

static void pass_node(struct net *net, const struct graph_node *node) {
  size_t count = add_ranges(net, node->inputs, node->input_count, false, 0);
  count = add_ranges(net, node->outputs, node->output_count, true, count);
  kept_pass_ranges(net->memory, net->ranges, count);
}

/* ---- contexts ------------------------------------------------------------------------------ */

static uint64_t digest_number(uint64_t digest, uint64_t number) {
  return digest_bytes(digest, &number, sizeof number);
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
      *bytes += graph_bytes(&net->graph->tensors[memory]);
    }
    digest = digest_number(digest, net->seen[memory]);
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

static struct known *slot_of(const struct net *net, uint64_t key) {
  size_t at = key & (net->table_size - 1);
  while (net->table[at].node && net->table[at].key != key)
    at = (at + 1) & (net->table_size - 1);
  return &net->table[at];
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
    pass_node(net, &net->graph->nodes[net->history[from]]);
  net->passed = net->history_count;
}

/* ---- one kernel ---------------------------------------------------------------------------- */

/* Where a tensor of a program lies: at one of the node's, of as many bytes or else of more, that no
 * other tensor of the program is. */
static bool find_place(const struct net *net, const uint32_t *list, uint32_t count, bool *used,
                       uint64_t bytes, uint64_t *address) {
  for (unsigned exact = 2; exact-- > 0;)
    for (uint32_t i = 0; i < count; i++) {
      if (list[i] == GRAPH_NONE || used[i])
        continue;
      uint64_t own = graph_bytes(&net->graph->tensors[list[i]]);
      if (exact ? own != bytes : own < bytes)
        continue;
      used[i] = true;
      *address = address_of(net, list[i]);
      return true;
    }
  return false;
}

/* Workspaces lie behind all tensors. */
static void place(const struct net *net, const struct graph_node *node,
                  const struct vinci_trace *trace, bool *used, uint64_t *addresses) {
  uint64_t scratch = PROGRAM_GM_BASE + net->result->plan.bytes;
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    bool reads = tensor->io == TENSOR_IN || tensor->io == TENSOR_INOUT;
    bool writes = tensor->io == TENSOR_OUT || tensor->io == TENSOR_INOUT;
    uint32_t same = 0;
    while (trace->tensors[same].address != tensor->address)
      same++;
    if (same < i) {
      addresses[i] = addresses[same];
      continue;
    }
    if ((writes && find_place(net, node->outputs, node->output_count, used + node->input_count,
                              tensor->bytes, &addresses[i])) ||
        (reads &&
         find_place(net, node->inputs, node->input_count, used, tensor->bytes, &addresses[i])))
      continue;
    addresses[i] = scratch;
    scratch += round_up(tensor->bytes, PROGRAM_TENSOR_ALIGNMENT);
  }
}

static uint64_t found_in_l2(const struct net *net, const struct graph_node *node,
                            struct net_node *out) {
  uint64_t found = 0;
  out->read_bytes = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i] == GRAPH_NONE)
      continue;
    uint64_t bytes = graph_bytes(&net->graph->tensors[node->inputs[i]]);
    out->read_bytes += bytes;
    found += min_u64(bytes, kept_find(net->memory, address_of(net, node->inputs[i]), bytes).valid);
  }
  return found;
}

static void keep_result(const struct vinci_result *result, const struct vinci_trace *trace,
                        struct net_node *out) {
  struct call_row row = {0};
  for (unsigned i = 0; i < CALL_COLUMN_COUNT; i++)
    row.cell[i] = "";
  calls_times(result, &row, &out->times);
  out->from = NET_SIMULATED;
  out->bound = result_bound(result);
  out->hbm_bytes = result->hbm.read_bytes + result->hbm.write_bytes;
  out->task.duration_ps = out->times.duration_ps;
  for (uint32_t i = 0; i < trace->kernel_count; i++)
    out->task.mixed = out->task.mixed || trace->kernels[i].mixed;
}

static enum vinci_status run_trace(struct net *net, const struct graph_node *node,
                                   const struct vinci_trace *trace, struct net_node *out) {
  struct vinci_run_options options = {.struct_size = sizeof options,
                                      .memory = net->options->memory,
                                      .network = net->options->network};
  uint64_t *addresses = calloc((size_t)trace->tensor_count + 1, sizeof *addresses);
  bool *used = calloc((size_t)node->input_count + node->output_count + 1, sizeof *used);
  vinci_result *result = NULL;
  enum vinci_status status = VINCI_OK;
  if (!addresses || !used)
    status = diag_error(net->diag, VINCI_E_NOMEM, "out of memory for a kernel of the graph");
  if (status == VINCI_OK) {
    place(net, node, trace, used, addresses);
    replay(net);
    out->found_bytes = found_in_l2(net, node, out);
    status = kept_run(net->memory, trace, addresses, &options, &result, net->diag);
  }
  if (status == VINCI_OK) {
    keep_result(result, trace, out);
    net->passed++; /* the simulation has moved its bytes itself */
    net->result->simulated_all++;
  }
  vinci_result_free(result);
  free(addresses);
  free(used);
  return status;
}

static enum vinci_status simulate(struct net *net, const struct graph_node *node,
                                  struct net_node *out) {
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  enum vinci_status status =
      vinci_compile(net->soc, node->op, node->args, node->arg_count, &trace, &diag);
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
  status = run_trace(net, node, trace, out);
  vinci_trace_free(trace);
  return status;
}

static enum vinci_status run_kernel(struct net *net, uint32_t index, struct net_node *out) {
  uint64_t key = context_of(net, index);
  struct known *known = slot_of(net, key);
  if (known->node && !net->options->exact) {
    *out = *known->node;
    out->from = out->from == NET_SIMULATED ? NET_REMEMBERED : out->from;
    return VINCI_OK;
  }
  enum vinci_status status = simulate(net, &net->graph->nodes[index], out);
  if (status == VINCI_OK && !known->node)
    *known = (struct known){key, out};
  return status;
}

/* ---- the other kinds ------------------------------------------------------------------------ */

static void run_copy(const struct net *net, const struct graph_node *node, struct net_node *out) {
  bool down = strcmp(node->op, "h2d") == 0;
  uint64_t rate = (uint64_t)(down ? net->soc->host_write_rate : net->soc->host_read_rate);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < node->output_count; i++)
    bytes += graph_bytes(&net->graph->tensors[node->outputs[i]]);
  out->from = NET_COMPUTED;
  out->read_bytes = bytes;
  out->task.duration_ps =
      (uint64_t)net->soc->host_copy_ps + (uint64_t)((uint128)bytes * PS_PER_SECOND / rate);
}

static enum vinci_status run_node(struct net *net, uint32_t index, struct net_node *out) {
  const struct graph_node *node = &net->graph->nodes[index];
  enum vinci_status status = VINCI_OK;
  *out = (struct net_node){.from = NET_NONE};
  switch (node->kind) {
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
    return diag_error(net->diag, VINCI_E_INPUT, "node \"%s\" is a layer (%s), not yet a kernel",
                      node->name, node->op);
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
  for (net->table_size = 1; net->table_size < 2 * nodes * runs + 2;)
    net->table_size *= 2;
  net->result->nodes = ARENA_ARRAY(arena, struct net_node, nodes * runs + 1);
  net->digests = ARENA_ARRAY(arena, uint64_t, nodes + 1);
  net->seen = ARENA_ARRAY(arena, uint32_t, tensors + 1);
  net->serial_of = ARENA_ARRAY(arena, uint32_t, tensors + 1);
  net->history = ARENA_ARRAY(arena, uint32_t, nodes * runs + 1);
  net->table = ARENA_ARRAY(arena, struct known, net->table_size);
  net->ranges = ARENA_ARRAY(arena, struct kept_range, RANGES_MAX);
  if (!net->result->nodes || !net->digests || !net->seen || !net->serial_of || !net->history ||
      !net->table || !net->ranges)
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
  for (uint32_t i = 0; i < count; i++)
    nodes[i].task = tasks[i];
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
  struct net net = {.graph = graph, .soc = soc, .options = options, .result = out, .diag = diag};
  *out = (struct net_result){0};
  enum vinci_status status = graph_plan(graph, options->plan, &out->plan, diag);
  if (status == VINCI_OK)
    status = check_size(&net);
  if (status == VINCI_OK && !prepare(&net))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the network");
  if (status == VINCI_OK)
    status = kept_create(soc, options->memory, &net.memory, diag);
  if (status == VINCI_OK)
    status = run_all(&net);
  kept_free(net.memory);
  return status;
}
