/* SPDX-License-Identifier: Apache-2.0 */
/* From the record of the passes to layers and their kernels (explain.h). */
#include "networks/passes/explain.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"

enum { TILING_BYTES = 512 };
/* As for results of runs (core/result/result.c): below that share of the busiest pipe, waits. */
enum { BOUND_PERMILLE = 800 };

static const struct history no_history;

/* ---- kernels ------------------------------------------------------------------------------- */

static void find_bound(struct explained_kernel *kernel) {
  const struct vinci_tiling *tiling = &kernel->tiling;
  const struct {
    const char *pipe, *bound;
    uint64_t cycles;
  } pipes[] = {{"M", "compute", tiling->cube_cycles},   {"V", "compute", tiling->vector_cycles},
               {"MTE2", "memory", tiling->mte2_cycles}, {"MTE3", "memory", tiling->mte3_cycles},
               {"FIX", "memory", tiling->fix_cycles},   {"MTE1", "memory", tiling->mte1_cycles}};
  size_t best = 0;
  for (size_t i = 1; i < sizeof pipes / sizeof *pipes; i++)
    if (pipes[i].cycles > pipes[best].cycles)
      best = i;
  kernel->pipe = pipes[best].pipe;
  kernel->busy_permille =
      tiling->total_cycles ? 1000 * pipes[best].cycles / tiling->total_cycles : 0;
  kernel->bound = kernel->busy_permille < BOUND_PERMILLE ? "latency" : pipes[best].bound;
}

static enum vinci_status estimate(const struct vinci_soc *soc, struct explanation *out,
                                  struct explained_kernel *kernel, struct vinci_diag *diag) {
  const struct graph_node *node = kernel->node;
  struct vinci_diag reason = {0};
  kernel->pipe = kernel->bound = "";
  if (node->kind != GRAPH_KERNEL)
    return VINCI_OK;
  char *text = arena_alloc(&out->arena, TILING_BYTES, 1);
  if (!text)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the explanation");
  enum vinci_status status = vinci_op_tiling(soc, node->op, node->args, node->arg_count, text,
                                             TILING_BYTES, &kernel->tiling, &reason);
  if (status == VINCI_E_NOMEM) {
    if (diag)
      *diag = reason;
    return status;
  }
  kernel->possible = status == VINCI_OK;
  if (!kernel->possible)
    kernel->tiling = (struct vinci_tiling){0};
  kernel->ps =
      (uint64_t)((uint128)kernel->tiling.total_cycles * PS_PER_SECOND / (uint64_t)soc->core_hz);
  find_bound(kernel);
  return VINCI_OK;
}

/* ---- which layers a kernel computes --------------------------------------------------------- */

static bool is_same(const char *one, const char *other) {
  return one && other && strcmp(one, other) == 0;
}

/* By the kernel itself, or by kernels that became parts of the kernel. */
static bool computes(const struct explanation *all, const struct graph_node *kernel, const char *of,
                     uint32_t layer) {
  const char *own = all->layers[layer].holder;
  if (is_same(of, own))
    return true;
  for (size_t i = 0; i < all->history->count; i++)
    if (is_same(all->events[i].kernel, kernel->name) && is_same(all->events[i].layer, own))
      return true;
  return false;
}

static bool find_layers(struct explanation *out, struct explained_kernel *kernel, uint32_t *room) {
  uint32_t count = 0;
  const struct graph_node *node = kernel->node;
  bool refused = node->kind == GRAPH_LAYER && !node->offline; /* still the layer itself */
  const char *of = history_holder(out->history, refused ? node->name : node->origin, false);
  for (uint32_t i = 0; i < out->layer_count; i++)
    if (computes(out, kernel->node, of, i))
      room[count++] = i;
  uint32_t *own = ARENA_ARRAY(&out->arena, uint32_t, count + 1);
  if (!own)
    return false;
  memcpy(own, room, count * sizeof *own);
  kernel->layers = own;
  kernel->first = GRAPH_NONE;
  for (uint32_t i = count; i-- > 0;)
    if (explained_stays(&out->layers[own[i]]))
      kernel->first = own[i];
  kernel->layer_count = count;
  return true;
}

bool explained_belongs(const struct explained_kernel *kernel, uint32_t layer) {
  for (uint32_t i = 0; i < kernel->layer_count; i++)
    if (kernel->layers[i] == layer)
      return true;
  return false;
}

bool explained_concerns(const struct explanation *all, size_t event, uint32_t layer) {
  const struct history_event *own = &all->history->events[event];
  const char *name = all->layers[layer].node->name;
  if (own->kernels) /* told by the layer that holds them */
    return explained_stays(&all->layers[layer]) && is_same(all->events[event].layer, name);
  return strcmp(own->node.name, name) == 0 || is_same(own->into, name);
}

/* ---- all ----------------------------------------------------------------------------------- */

static enum vinci_status add_events(struct explanation *out, struct vinci_diag *diag) {
  const struct history *history = out->history;
  out->events = ARENA_ARRAY(&out->arena, struct explained_event, history->count + 1);
  if (!out->events)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the explanation");
  for (size_t i = 0; i < history->count; i++) {
    const struct history_event *event = &history->events[i];
    out->events[i] = (struct explained_event){0};
    if (!event->kernels)
      continue;
    out->events[i].layer = history_holder(history, event->node.origin, false);
    if (event->kind == HISTORY_JOINED)
      out->events[i].kernel = history_holder(history, event->node.name, true);
  }
  return VINCI_OK;
}

static enum vinci_status add_layers(struct explanation *out, struct vinci_diag *diag) {
  const struct graph *network = out->network;
  out->layers = ARENA_ARRAY(&out->arena, struct explained_layer, network->node_count + 1);
  if (!out->layers)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the explanation");
  for (uint32_t i = 0; i < network->node_count; i++)
    if (network->nodes[i].kind == GRAPH_LAYER)
      out->layers[out->layer_count++] = (struct explained_layer){
          &network->nodes[i], history_holder(out->history, network->nodes[i].name, false)};
  return VINCI_OK;
}

static enum vinci_status add_kernels(struct explanation *out, const struct vinci_soc *soc,
                                     struct vinci_diag *diag) {
  uint32_t *room = calloc((size_t)out->layer_count + 1, sizeof *room);
  enum vinci_status status = VINCI_OK;
  out->kernels = ARENA_ARRAY(&out->arena, struct explained_kernel, out->graph->node_count + 1);
  if (!out->kernels || !room)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the explanation");
  for (uint32_t i = 0; i < out->graph->node_count && status == VINCI_OK; i++) {
    const struct graph_node *node = &out->graph->nodes[i];
    struct explained_kernel *kernel = &out->kernels[out->kernel_count];
    if (node->kind != GRAPH_KERNEL && node->kind != GRAPH_LAYER)
      continue;
    *kernel = (struct explained_kernel){.node = node};
    out->kernel_count++;
    status = estimate(soc, out, kernel, diag);
    if (status == VINCI_OK && !find_layers(out, kernel, room))
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the explanation");
  }
  free(room);
  return status;
}

enum vinci_status explain(const struct graph *network, const struct compiled *compiled,
                          const struct vinci_soc *soc, struct explanation *out,
                          struct vinci_diag *diag) {
  *out = (struct explanation){.network = network,
                              .graph = compiled ? &compiled->graph : network,
                              .history = compiled ? &compiled->history : &no_history};
  enum vinci_status status = add_events(out, diag);
  if (status == VINCI_OK)
    status = add_layers(out, diag);
  return status == VINCI_OK ? add_kernels(out, soc, diag) : status;
}
