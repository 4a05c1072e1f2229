/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates of kernels, remembered by operator and arguments (estimate.h). */
#include "networks/passes/estimate.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/vinci.h"
#include "lower/plan/choice.h"

struct estimate_slot {
  struct kernel_estimate value;
  struct lower_choice choice; /* where possible */
  struct vinci_trace *trace;  /* once compiled */
  struct estimate_slot *before;
};

void estimates_start(struct estimates *estimates, const struct vinci_soc *soc) {
  *estimates = (struct estimates){.soc = soc};
}

void estimates_free(struct estimates *estimates) {
  for (struct estimate_slot *slot = estimates->last; slot; slot = slot->before)
    vinci_trace_free(slot->trace);
  arena_free(&estimates->arena);
  *estimates = (struct estimates){0};
}

static uint64_t key_of(const char *op, const char *const *args, size_t arg_count) {
  uint64_t key = digest_string(DIGEST_SEED, op);
  for (size_t i = 0; i < arg_count; i++)
    key = digest_string(key, args[i]);
  return key;
}

static uint64_t time_of(const struct vinci_soc *soc, uint64_t cycles) {
  return (uint64_t)((uint128)cycles * PS_PER_SECOND / (uint64_t)soc->core_hz);
}

static struct kernel_estimate estimate_of(const struct vinci_soc *soc,
                                          const struct lower_cost *cost) {
  uint64_t busy = max_u64(cost->cube_cycles, cost->vector_cycles);
  busy = max_u64(busy, max_u64(cost->mte1_cycles, cost->mte2_cycles));
  busy = max_u64(busy, max_u64(cost->mte3_cycles, cost->fix_cycles));
  return (struct kernel_estimate){.possible = true,
                                  .ps = time_of(soc, cost->total_cycles),
                                  .busy_ps = time_of(soc, busy),
                                  .gm_bytes = cost->gm_bytes};
}

static struct estimate_slot *no_memory(struct vinci_diag *diag) {
  diag_error(diag, VINCI_E_NOMEM, "out of memory for estimates");
  return NULL;
}

/* The slot of a kernel, whose tiling is searched when first asked for; NULL: without memory. */
static struct estimate_slot *find(struct estimates *estimates, const char *op,
                                  const char *const *args, size_t arg_count,
                                  struct vinci_diag *diag) {
  uint64_t key = key_of(op, args, arg_count);
  struct vinci_diag reason = {0};
  uintptr_t known = lookup_find(&estimates->slots, key);
  if (known != LOOKUP_NONE)
    return (struct estimate_slot *)known;
  struct estimate_slot *slot = ARENA_NEW(&estimates->arena, struct estimate_slot);
  if (!slot)
    return no_memory(diag);
  enum vinci_status status = lower_choose_tiling(estimates->soc, op, args, arg_count,
                                                 &estimates->arena, &slot->choice, &reason);
  if (status != VINCI_OK && status != VINCI_E_USAGE) {
    if (diag)
      *diag = reason;
    return NULL;
  }
  if (!lookup_add(&estimates->slots, &estimates->arena, key, (uintptr_t)slot))
    return no_memory(diag);
  slot->before = estimates->last;
  estimates->last = slot;
  if (status == VINCI_OK)
    slot->value = estimate_of(estimates->soc, &slot->choice.cost);
  return slot;
}

enum vinci_status estimate_kernel(struct estimates *estimates, const char *op,
                                  const char *const *args, size_t arg_count,
                                  struct kernel_estimate *out, struct vinci_diag *diag) {
  const struct estimate_slot *slot = find(estimates, op, args, arg_count, diag);
  *out = slot ? slot->value : (struct kernel_estimate){0};
  return slot ? VINCI_OK : VINCI_E_NOMEM;
}

enum vinci_status estimate_compile(struct estimates *estimates, const char *op,
                                   const char *const *args, size_t arg_count,
                                   const struct vinci_trace **out, struct vinci_diag *diag) {
  struct estimate_slot *slot = find(estimates, op, args, arg_count, diag);
  enum vinci_status status = VINCI_OK;
  if (!slot)
    return VINCI_E_NOMEM;
  if (!slot->trace) /* what is not possible is refused once more, with the reason */
    status = lower_compile(estimates->soc, op, args, arg_count,
                           slot->value.possible ? &slot->choice : NULL, &slot->trace, diag);
  *out = slot->trace;
  return status;
}

enum vinci_status estimate_graph(struct estimates *estimates, struct graph *graph,
                                 struct graph_estimate *out, struct vinci_diag *diag) {
  struct kernel_estimate kernel;
  struct graph_plan plan;
  enum vinci_status status = graph_plan(graph, GRAPH_PLAN_FIRST, &plan, diag);
  *out = (struct graph_estimate){.peak_bytes = plan.live_bytes};
  for (uint32_t i = 0; i < graph->node_count && status == VINCI_OK; i++) {
    const struct graph_node *node = &graph->nodes[i];
    if (node->kind == GRAPH_COPY && strcmp(node->op, "d2d") == 0)
      out->copied_bytes += graph_bytes(&graph->tensors[node->outputs[0]]);
    if (node->kind != GRAPH_KERNEL || node->offline)
      continue;
    status = estimate_kernel(estimates, node->op, node->args, node->arg_count, &kernel, diag);
    out->kernels++;
    out->ps += kernel.ps + (uint64_t)estimates->soc->launch_gap_ps;
    out->gm_bytes += kernel.gm_bytes;
    out->impossible += !kernel.possible;
  }
  return status;
}
