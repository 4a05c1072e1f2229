/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes recompute and swap: with a limit of memory, tensors that wait long for their next reader
 * do not lie in device memory meanwhile. Where most memory is alive, one tensor after another is
 * computed again by its kernel, or copied to the host and back, until the limit is met: each time
 * what costs least time for its bytes.
 *
 * A copy costs what of its time no kernel covers: it runs beside the kernels between the last use
 * before and the first node that lacks memory, or between the last such node and the next use;
 * copies of one way take turns. Recompute costs the estimate of the kernel once more, whose inputs
 * have to be alive there.
 *
 * The first of the two passes decides with both ways, and applies its own; the second takes what is
 * left.
 */
#include <stdlib.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "networks/passes/memory.h"

/* ---- what the graph is like ---------------------------------------------------------------- */

static uint64_t node_ps(const struct relief *relief, const struct graph_node *node) {
  struct kernel_estimate kernel = {0};
  if (node->offline || node->kind == GRAPH_VIEW || node->stream != 0)
    return 0;
  if (node->kind == GRAPH_TASK)
    return node->duration_ps;
  if (node->kind != GRAPH_KERNEL)
    return 0;
  if (estimate_kernel(relief->pass->estimates, node->op, node->args, node->arg_count, &kernel,
                      relief->pass->diag) != VINCI_OK)
    relief->rewrite->no_memory = true;
  return kernel.ps + (uint64_t)relief->rewrite->soc->launch_gap_ps;
}

/* Counts the uses of each memory; with `fill`, notes them. */
static void walk_uses(const struct relief *relief, uint32_t *next, bool fill) {
  const struct graph *graph = relief->rewrite->graph;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct graph_node *node = &graph->nodes[i];
    for (uint32_t j = 0; j < node->input_count + node->output_count && !node->offline; j++) {
      uint32_t tensor =
          j < node->input_count ? node->inputs[j] : node->outputs[j - node->input_count];
      if (tensor == GRAPH_NONE)
        continue;
      uint32_t memory = graph_memory(graph, tensor), at = next[memory];
      if (fill && (at == relief->use_start[memory] || relief->uses[at - 1] != i))
        relief->uses[next[memory]++] = i;
      else if (!fill)
        next[memory]++;
    }
  }
}

/* What is not moved: what the network gives or wants, what other streams use. */
static void set_states(const struct relief *relief) {
  const struct graph *graph = relief->rewrite->graph;
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    const struct graph_tensor *tensor = &graph->tensors[i];
    if (tensor->io != GRAPH_LOCAL)
      relief->state[graph_memory(graph, i)] |= FIXED | STAYS;
    if (tensor->data || tensor->placed)
      relief->state[graph_memory(graph, i)] |= STAYS;
  }
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct graph_node *node = &graph->nodes[i];
    for (uint32_t j = 0; j < node->output_count; j++) {
      uint32_t memory = graph_memory(graph, node->outputs[j]);
      if (node->stream != 0)
        relief->state[memory] |= STAYS;
      if (node->kind != GRAPH_VIEW)
        relief->written[memory] = i;
    }
  }
}

/* Bytes that are alive at each node, as the memory plan counts them. */
static bool count_alive(const struct relief *relief) {
  const struct graph *graph = relief->rewrite->graph;
  struct graph_life *lives = calloc((size_t)graph->tensor_count + 1, sizeof *lives);
  if (!lives)
    return false;
  graph_lives(graph, lives);
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    if (graph->tensors[i].memory != GRAPH_NONE || !lives[i].used)
      continue;
    uint64_t bytes = round_up(graph_bytes(&graph->tensors[i]), GRAPH_ALIGNMENT_BYTES);
    bool fixed = relief->state[i] & FIXED;
    uint32_t first = fixed ? 0 : lives[i].first;
    uint32_t last = fixed ? graph->node_count - 1 : lives[i].last;
    for (uint32_t j = first; j <= last; j++)
      relief->alive[j] += bytes;
  }
  free(lives);
  return true;
}

static bool list_uses(struct relief *relief) {
  const struct graph *graph = relief->rewrite->graph;
  uint32_t *next = calloc((size_t)graph->tensor_count + 1, sizeof *next), sum = 0;
  if (!next)
    return false;
  walk_uses(relief, next, false);
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    relief->use_start[i] = sum;
    sum += next[i];
    next[i] = relief->use_start[i];
  }
  relief->use_start[graph->tensor_count] = sum;
  relief->uses = malloc(((size_t)sum + 1) * sizeof *relief->uses);
  for (uint32_t i = 0; relief->uses && i < sum; i++)
    relief->uses[i] = GRAPH_NONE; /* a node that uses a memory twice leaves places at the end */
  if (relief->uses)
    walk_uses(relief, next, true);
  free(next);
  return relief->uses != NULL;
}

static bool start(struct relief *relief) {
  const struct graph *graph = relief->rewrite->graph;
  size_t nodes = (size_t)graph->node_count + 1, tensors = (size_t)graph->tensor_count + 2;
  relief->alive = calloc(nodes, sizeof *relief->alive);
  relief->ps = calloc(nodes, sizeof *relief->ps);
  relief->copies[0] = calloc(nodes, sizeof *relief->copies[0]);
  relief->copies[1] = calloc(nodes, sizeof *relief->copies[1]);
  relief->use_start = calloc(tensors, sizeof *relief->use_start);
  relief->state = calloc(tensors, sizeof *relief->state);
  relief->written = calloc(tensors, sizeof *relief->written);
  relief->chosen = calloc(tensors, sizeof *relief->chosen);
  if (!relief->alive || !relief->ps || !relief->copies[0] || !relief->copies[1] ||
      !relief->use_start || !relief->state || !relief->written || !relief->chosen)
    return false;
  set_states(relief);
  for (uint32_t i = 0; i < graph->node_count; i++)
    relief->ps[i] = node_ps(relief, &graph->nodes[i]);
  return count_alive(relief) && list_uses(relief);
}

static void finish(struct relief *relief) {
  free(relief->alive);
  free(relief->ps);
  free(relief->copies[0]);
  free(relief->copies[1]);
  free(relief->uses);
  free(relief->use_start);
  free(relief->state);
  free(relief->written);
  free(relief->chosen);
}

/* ---- what it costs ------------------------------------------------------------------------- */

/* Of a copy beside the nodes from..to-1 the time that they do not cover. With `take` they cover no
 * other copy of this way. */
static uint64_t uncovered(const struct relief *relief, unsigned way, uint32_t from, uint32_t to,
                          uint64_t ps, bool take) {
  for (uint32_t i = from; i < to && ps > 0; i++) {
    uint64_t part = min_u64(ps, relief->ps[i] - relief->copies[way][i]);
    relief->copies[way][i] += take ? part : 0;
    ps -= part;
  }
  return ps;
}

static uint64_t copy_ps(const struct relief *relief, uint64_t bytes, int64_t rate) {
  return (uint64_t)relief->rewrite->soc->host_copy_ps +
         (uint64_t)((uint128)bytes * PS_PER_SECOND / (uint64_t)rate);
}

static uint64_t swap_ps(const struct relief *relief, const struct wait *wait, bool take) {
  const struct vinci_soc *soc = relief->rewrite->soc;
  uint64_t bytes = graph_bytes(rewrite_tensor(relief->rewrite, wait->memory));
  return uncovered(relief, 0, wait->before + 1, wait->from,
                   copy_ps(relief, bytes, soc->host_read_rate), take) +
         uncovered(relief, 1, wait->to + 1, wait->next,
                   copy_ps(relief, bytes, soc->host_write_rate), take);
}

/* Nodes at which too much is alive: the first and the last between two uses. */
static bool set_range(const struct relief *relief, struct wait *wait) {
  wait->from = wait->to = GRAPH_NONE;
  for (uint32_t i = wait->before + 1; i < wait->next; i++)
    if (relief->alive[i] > relief->limit) {
      wait->from = wait->from == GRAPH_NONE ? i : wait->from;
      wait->to = i;
    }
  return wait->from != GRAPH_NONE;
}

/* Whether what one node read is alive and unchanged when another begins. */
static bool is_there(const struct relief *relief, uint32_t tensor, uint32_t reader, uint32_t node) {
  uint32_t memory = graph_memory(relief->rewrite->graph, tensor);
  if ((relief->state[memory] & MOVED) || relief->written[memory] > reader)
    return false;
  if (relief->state[memory] & FIXED)
    return true;
  for (uint32_t k = relief->use_start[memory]; k < relief->use_start[memory + 1]; k++)
    if (relief->uses[k] != GRAPH_NONE && relief->uses[k] >= node)
      return true;
  return false;
}

bool relief_writes(const struct relief *relief, uint32_t index, uint32_t memory) {
  const struct graph *graph = relief->rewrite->graph;
  const struct graph_node *node = &graph->nodes[index];
  return node->kind != GRAPH_VIEW && node->output_count > 0 &&
         graph_memory(graph, node->outputs[0]) == memory;
}

/* What the kernels take that have written a memory, one after the other in place; UINT64_MAX when
 * they cannot run again. */
static uint64_t again_ps(const struct relief *relief, const struct wait *wait) {
  const struct graph *graph = relief->rewrite->graph;
  uint64_t sum = 0;
  for (uint32_t k = relief->use_start[wait->memory]; relief->uses[k] <= wait->before; k++) {
    uint32_t index = relief->uses[k];
    const struct graph_node *node = &graph->nodes[index];
    if (!relief_writes(relief, index, wait->memory))
      continue;
    if (node->kind != GRAPH_KERNEL || node->output_count != 1)
      return UINT64_MAX;
    for (uint32_t i = 0; i < node->input_count; i++)
      if (node->inputs[i] != GRAPH_NONE && graph_memory(graph, node->inputs[i]) != wait->memory &&
          !is_there(relief, node->inputs[i], index, wait->next))
        return UINT64_MAX;
    sum += relief->ps[index];
  }
  return sum;
}

/* The cheaper way of a tensor that waits; false: there is none. */
static bool price(const struct relief *relief, struct wait *wait) {
  bool possible = false;
  wait->bytes =
      round_up(graph_bytes(rewrite_tensor(relief->rewrite, wait->memory)), GRAPH_ALIGNMENT_BYTES);
  if (!set_range(relief, wait))
    return false;
  if (relief->may[SWAP]) {
    wait->way = SWAP;
    wait->cost_ps = swap_ps(relief, wait, false);
    possible = true;
  }
  uint64_t again = relief->may[RECOMPUTE] ? again_ps(relief, wait) : UINT64_MAX;
  if (again != UINT64_MAX) {
    if (!possible || again < wait->cost_ps) {
      wait->way = RECOMPUTE;
      wait->cost_ps = again;
    }
    possible = true;
  }
  return possible;
}

/* ---- which tensors ------------------------------------------------------------------------- */

static uint32_t peak_of(const struct relief *relief) {
  uint32_t peak = 0;
  for (uint32_t i = 1; i < relief->rewrite->graph->node_count; i++)
    if (relief->alive[i] > relief->alive[peak])
      peak = i;
  return peak;
}

/* The uses of a memory on both sides of a node. */
static bool find_wait(const struct relief *relief, uint32_t memory, uint32_t node,
                      struct wait *out) {
  *out = (struct wait){.memory = memory, .before = GRAPH_NONE, .next = GRAPH_NONE};
  for (uint32_t k = relief->use_start[memory]; k < relief->use_start[memory + 1]; k++) {
    uint32_t use = relief->uses[k];
    if (use == GRAPH_NONE || use == node)
      return use != node && out->next != GRAPH_NONE;
    if (use < node)
      out->before = use;
    else {
      out->next = use;
      break;
    }
  }
  return out->before != GRAPH_NONE && out->next != GRAPH_NONE &&
         relief->written[memory] <= out->before;
}

/* Less time for each byte that is above the limit. */
static bool is_better(const struct wait *one, const struct wait *other, uint64_t above) {
  uint64_t gain = min_u64(one->bytes, above), than = min_u64(other->bytes, above);
  if (other->bytes == 0 || (uint128)one->cost_ps * than != (uint128)other->cost_ps * gain)
    return other->bytes == 0 || (uint128)one->cost_ps * than < (uint128)other->cost_ps * gain;
  return one->bytes > other->bytes;
}

static bool choose(const struct relief *relief, uint32_t peak, struct wait *best) {
  const struct graph *graph = relief->rewrite->graph;
  struct wait wait;
  *best = (struct wait){0};
  for (uint32_t i = 0; i < graph->tensor_count; i++)
    if (graph->tensors[i].memory == GRAPH_NONE && !(relief->state[i] & STAYS) &&
        find_wait(relief, i, peak, &wait) && price(relief, &wait) &&
        is_better(&wait, best, relief->alive[peak] - relief->limit))
      *best = wait;
  return best->bytes > 0;
}

/* What kernels read that run again stays. */
static void keep_inputs(const struct relief *relief, const struct wait *wait) {
  const struct graph *graph = relief->rewrite->graph;
  for (uint32_t k = relief->use_start[wait->memory]; relief->uses[k] <= wait->before; k++) {
    const struct graph_node *node = &graph->nodes[relief->uses[k]];
    for (uint32_t i = 0;
         i < node->input_count && relief_writes(relief, relief->uses[k], wait->memory); i++)
      if (node->inputs[i] != GRAPH_NONE)
        relief->state[graph_memory(graph, node->inputs[i])] |= STAYS;
  }
}

static void take(struct relief *relief, const struct wait *wait) {
  bool again = wait->way == RECOMPUTE;
  uint32_t first = again ? wait->before + 1 : wait->from, last = again ? wait->next - 1 : wait->to;
  for (uint32_t i = first; i <= last; i++)
    relief->alive[i] -= wait->bytes;
  relief->state[wait->memory] |= STAYS | MOVED;
  if (again)
    keep_inputs(relief, wait);
  else
    (void)swap_ps(relief, wait, true);
  relief->chosen[relief->chosen_count++] = *wait;
}

/* ---- the passes -------------------------------------------------------------------------- */

/* Decides with the ways that are allowed, and does what one of them is chosen for. */
static void relieve(struct pass_context *pass, bool recompute, bool swaps, enum way way) {
  struct relief relief = {.pass = pass,
                          .rewrite = &pass->rewrite,
                          .limit = pass->memory_limit,
                          .may = {[RECOMPUTE] = recompute, [SWAP] = swaps}};
  const struct graph *graph = pass->rewrite.graph;
  struct wait best;
  if (relief.limit == 0 || graph->node_count == 0)
    return;
  if (!start(&relief))
    pass->rewrite.no_memory = true;
  while (!pass->rewrite.no_memory && relief.alive[peak_of(&relief)] > relief.limit &&
         choose(&relief, peak_of(&relief), &best))
    take(&relief, &best);
  relief_apply(&relief, way);
  finish(&relief);
}

void pass_recompute(struct pass_context *pass) {
  relieve(pass, true, !pass->options->off[PASS_SWAP], RECOMPUTE);
}

void pass_swap(struct pass_context *pass) { relieve(pass, false, true, SWAP); }
