/* SPDX-License-Identifier: Apache-2.0 */
/* A network whole and cut, and what its runs take (cuts.h). */
#include <stdlib.h>

#include "core/base/arith.h"
#include "networks/passes/pass.h"
#include "networks/run/cuts.h"

const char *cut_verdict_name(enum cut_verdict verdict) {
  static const char *const names[] = {
#define X(id, name) name,
      CUT_VERDICT_LIST(X)
#undef X
  };
  return names[verdict];
}

const char *cut_run_name(enum cut_run run) {
  static const char *const names[] = {"whole", "estimate", "tuned"};
  return names[run];
}

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory for the cuts of a network");
}

/* ---- kernels -------------------------------------------------------------------------------- */

enum vinci_status cuts_apply(struct graph *kernels, const struct vinci_soc *soc,
                             struct estimates *estimates, const struct split_choices *choices,
                             struct vinci_diag *diag) {
  struct compile_options options = {.splits = choices};
  struct pass_report report = {0};
  struct pass_context pass = {
      .options = &options, .estimates = estimates, .report = &report, .diag = diag};
  if (rewrite_start(&pass.rewrite, kernels, soc, NULL, PASS_SPLIT))
    pass_split(&pass);
  return rewrite_finish(&pass.rewrite) ? VINCI_OK : no_memory(diag);
}

struct estimates *cuts_estimates(const struct compile_options *options, struct estimates *own,
                                 const struct vinci_soc *soc) {
  estimates_start(own, soc);
  return options->estimates ? options->estimates : own;
}

static enum vinci_status compile(const struct graph *network, const struct vinci_soc *soc,
                                 const struct compile_options *options, struct compiled *out,
                                 struct vinci_diag *diag) {
  struct estimates spare;
  enum vinci_status status = VINCI_OK;
  if (graph_has_layers(network))
    return net_compile(network, soc, options, out, diag);
  struct estimates *estimates = cuts_estimates(options, &spare, soc);
  if (!graph_copy(network, &out->graph))
    status = no_memory(diag);
  if (status == VINCI_OK && !options->off[PASS_SPLIT])
    status = cuts_apply(&out->graph, soc, estimates, options->splits, diag);
  estimates_free(&spare);
  return status;
}

enum vinci_status cuts_compile(const struct graph *network, const struct vinci_soc *soc,
                               const struct compile_options *options, enum cut_run run,
                               const struct cuts *cuts, struct compiled *out,
                               struct vinci_diag *diag) {
  struct compile_options own = *options;
  size_t count = run == CUT_RUN_TUNED ? cuts->count : 0;
  struct split_choice *items = calloc(count + 1, sizeof *items);
  struct split_choices choices = {items, count};
  *out = (struct compiled){0};
  if (!items)
    return no_memory(diag);
  for (size_t i = 0; i < count; i++)
    items[i] =
        (struct split_choice){cuts->items[i].first, cuts->items[i].last, cuts->items[i].parts};
  own.off[PASS_SPLIT] = run == CUT_RUN_WHOLE;
  own.splits = run == CUT_RUN_TUNED ? &choices : NULL;
  enum vinci_status status = compile(network, soc, &own, out, diag);
  free(items);
  return status;
}

/* ---- runs ----------------------------------------------------------------------------------- */

void cut_sum_up(const struct graph *kernels, const struct net_result *result,
                struct cut_figures *out) {
  *out = (struct cut_figures){.ps = result->queue.end_ps, .launch_ps = result->queue.gap_ps};
  for (uint32_t i = 0; i < kernels->node_count; i++) {
    const struct net_node *row = &result->nodes[i];
    out->hbm_bytes += row->hbm_bytes;
    if (kernels->nodes[i].kind != GRAPH_KERNEL || kernels->nodes[i].offline)
      continue;
    out->launches++;
    out->launch_ps += row->task.duration_ps - min_u64(row->times.core_ps, row->task.duration_ps) +
                      row->times.start_ps;
  }
}

enum vinci_status cut_form_run(const struct graph *network, const struct vinci_soc *soc,
                               const struct compile_options *options, const struct net_options *run,
                               enum cut_run id, const struct cuts *cuts, struct cut_form *out,
                               struct vinci_diag *diag) {
  *out = (struct cut_form){0};
  enum vinci_status status = cuts_compile(network, soc, options, id, cuts, &out->compiled, diag);
  struct graph *graph = &out->compiled.graph;
  if (status == VINCI_OK)
    status = net_run(graph, soc, run, &out->result, diag);
  if (status == VINCI_OK && out->result.count[NET_REFUSED] > 0)
    status = diag_error(diag, VINCI_E_INPUT, "%zu of %u nodes could not be lowered",
                        out->result.count[NET_REFUSED], graph->node_count);
  if (status == VINCI_OK)
    cut_sum_up(graph, &out->result, &out->figures);
  return status;
}

void cut_form_free(struct cut_form *form) {
  arena_free(&form->result.arena);
  compiled_free(&form->compiled);
}
