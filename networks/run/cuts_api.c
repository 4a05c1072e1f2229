/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface of cuts. */
#include "core/vinci_cuts.h"

#include "networks/run/api.h"
#include "networks/run/cuts.h"

struct cutting {
  const vinci_soc *soc;
  struct graph network;
  struct estimates estimates;
  struct compile_options passes;
  struct net_options run;
  struct cuts cuts;
  struct cut_form forms[CUT_RUNS];
};

static struct vinci_net_figures describe_figures(const struct cut_figures *figures) {
  return (struct vinci_net_figures){.launches = figures->launches,
                                    .ps = figures->ps,
                                    .hbm_bytes = figures->hbm_bytes,
                                    .launch_ps = figures->launch_ps};
}

static bool show(const struct cut *cut, bool (*visit)(void *, const struct vinci_net_cut *),
                 void *context) {
  struct vinci_net_trial trials[CUT_TRIALS_MAX];
  for (unsigned i = 0; i < cut->trial_count; i++)
    trials[i] = (struct vinci_net_trial){.parts = cut->trials[i].parts,
                                         .rows = cut->trials[i].rows,
                                         .figures = describe_figures(&cut->trials[i].figures)};
  struct vinci_net_cut out = {.first = cut->first,
                              .last = cut->last,
                              .axis = cut->axis,
                              .verdict = cut_verdict_name(cut->verdict),
                              .reason = cut->reason,
                              .kernels = cut->kernels,
                              .rows = cut->rows,
                              .parts = cut->parts,
                              .between_bytes = cut->between_bytes,
                              .held_bytes = cut->held_bytes,
                              .whole_bytes = cut->whole_bytes,
                              .closed_bytes = cut->closed_bytes,
                              .trials = trials,
                              .trial_count = cut->trial_count};
  return visit(context, &out);
}

static enum vinci_status search(struct cutting *cutting, struct vinci_diag *diag) {
  enum vinci_status status = cuts_search(&cutting->network, cutting->soc, &cutting->passes,
                                         &cutting->run, &cutting->cuts, diag);
  cutting->run.progress = NULL; /* which counts chains */
  for (unsigned i = 0; status == VINCI_OK && i < CUT_RUNS; i++)
    status = cut_form_run(&cutting->network, cutting->soc, &cutting->passes, &cutting->run,
                          (enum cut_run)i, &cutting->cuts, &cutting->forms[i], diag);
  return status;
}

static void free_all(struct cutting *cutting) {
  for (unsigned i = 0; i < CUT_RUNS; i++)
    cut_form_free(&cutting->forms[i]);
  cuts_free(&cutting->cuts);
  estimates_free(&cutting->estimates);
  graph_free(&cutting->network);
}

enum vinci_status vinci_net_cuts(const vinci_soc *soc, const char *name, const char *text,
                                 size_t length, const struct vinci_net_options *options,
                                 bool (*visit)(void *context, const struct vinci_net_cut *cut),
                                 void *context, struct vinci_net_cuts *result, char **graph,
                                 size_t *graph_length, struct vinci_diag *diag) {
  struct cutting cutting = {.soc = soc};
  *result = (struct vinci_net_cuts){0};
  if (graph)
    *graph = NULL;
  estimates_start(&cutting.estimates, soc);
  enum vinci_status status = net_api_choose(options, &cutting.run, diag);
  cutting.run.estimates = &cutting.estimates;
  if (status == VINCI_OK)
    status = net_api_read(name, text, length, options, &cutting.network, diag);
  if (status == VINCI_OK)
    status = net_api_check(options, &cutting.network, diag);
  if (status == VINCI_OK)
    status = net_api_passes(options, &cutting.estimates, &cutting.passes, diag);
  if (status == VINCI_OK)
    status = search(&cutting, diag);
  for (size_t i = 0; status == VINCI_OK && visit && i < cutting.cuts.count; i++)
    if (!show(&cutting.cuts.items[i], visit, context))
      break;
  if (status == VINCI_OK && graph)
    status = net_api_text(&cutting.forms[CUT_RUN_TUNED].compiled.graph, graph, graph_length, diag);
  if (status == VINCI_OK)
    *result = (struct vinci_net_cuts){
        .whole = describe_figures(&cutting.forms[CUT_RUN_WHOLE].figures),
        .estimate = describe_figures(&cutting.forms[CUT_RUN_ESTIMATE].figures),
        .tuned = describe_figures(&cutting.forms[CUT_RUN_TUNED].figures)};
  free_all(&cutting);
  return status;
}
