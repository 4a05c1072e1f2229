/* SPDX-License-Identifier: Apache-2.0 */
/* vinci net run --ablate: the same network with more and more passes, and without each. */
#include "cli/net/net.h"
#include "core/base/decimal.h"

#define MIB (UINT64_C(1) << 20)
#define PS_PER_US UINT64_C(1000000)

struct ablation {
  const struct vinci_soc *soc;
  const struct graph *network;
  struct compile_options options;
  struct net_options run;
};

struct figures {
  uint64_t end_ps, kernels, hbm_bytes, peak_bytes;
  size_t refused;
};

static enum vinci_status measure(const struct ablation *ablation,
                                 const struct compile_options *options, struct figures *out,
                                 struct vinci_diag *diag) {
  struct compiled compiled = {0};
  struct net_result result = {0};
  *out = (struct figures){0};
  enum vinci_status status =
      net_compile(ablation->network, ablation->soc, options, &compiled, diag);
  if (status == VINCI_OK)
    status = net_run(&compiled.graph, ablation->soc, &ablation->run, &result, diag);
  if (status == VINCI_OK) {
    *out = (struct figures){.end_ps = result.queue.end_ps,
                            .kernels = compiled.counts.kernels,
                            .peak_bytes = result.plan.bytes,
                            .refused = result.count[NET_REFUSED]};
    for (uint32_t i = 0; i < compiled.graph.node_count; i++)
      out->hbm_bytes += result.nodes[i].hbm_bytes;
  }
  arena_free(&result.arena);
  compiled_free(&compiled);
  return status;
}

static void print_row(const char *name, const struct figures *now, const struct figures *first,
                      int64_t change_ps) {
  uint64_t change = (uint64_t)(change_ps < 0 ? -change_ps : change_ps);
  printf("%-18s %8llu %10s %10s %10s %7s %c%9s", name, (unsigned long long)now->kernels,
         decimal_ratio(now->hbm_bytes, MIB, 1).text, decimal_ratio(now->peak_bytes, MIB, 1).text,
         decimal_ratio(now->end_ps, PS_PER_US, 1).text,
         decimal_ratio(first->end_ps, now->end_ps ? now->end_ps : 1, 2).text,
         change_ps < 0 ? '-' : '+', decimal_ratio(change, PS_PER_US, 1).text);
  if (now->refused > 0)
    printf("  %zu refused", now->refused);
  fputc('\n', stdout);
}

static void set_all(struct compile_options *options, bool off) {
  for (unsigned i = 0; i < PASS_COUNT; i++)
    options->off[i] = off;
}

/* Passes one after another, in their order: what each adds to those before. */
static enum vinci_status add_passes(struct ablation *ablation, struct figures *first,
                                    struct figures *last, struct vinci_diag *diag) {
  struct compile_options options = ablation->options;
  set_all(&options, true);
  enum vinci_status status = measure(ablation, &options, first, diag);
  *last = *first;
  if (status == VINCI_OK)
    print_row("none", first, first, 0);
  for (unsigned i = 0; i < PASS_COUNT && status == VINCI_OK; i++) {
    struct figures now;
    char name[32];
    if (ablation->options.off[i])
      continue;
    options.off[i] = false;
    status = measure(ablation, &options, &now, diag);
    snprintf(name, sizeof name, "+ %s", pass_name((enum pass_id)i));
    if (status == VINCI_OK)
      print_row(name, &now, first, (int64_t)now.end_ps - (int64_t)last->end_ps);
    *last = now;
  }
  return status;
}

/* All passes but one: what the others do not make up for. */
static enum vinci_status leave_out(struct ablation *ablation, const struct figures *first,
                                   const struct figures *all, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  for (unsigned i = 0; i < PASS_COUNT && status == VINCI_OK; i++) {
    struct compile_options options = ablation->options;
    struct figures now;
    char name[32];
    if (options.off[i])
      continue;
    options.off[i] = true;
    status = measure(ablation, &options, &now, diag);
    snprintf(name, sizeof name, "all - %s", pass_name((enum pass_id)i));
    if (status == VINCI_OK)
      print_row(name, &now, first, (int64_t)now.end_ps - (int64_t)all->end_ps);
  }
  return status;
}

enum vinci_status net_ablate(const struct net_run_settings *settings, const struct vinci_soc *soc,
                             const struct graph *graph, struct vinci_diag *diag) {
  struct ablation ablation = {.soc = soc, .network = graph};
  struct figures first, last;
  if (!graph_has_layers(graph))
    return diag_error(diag, VINCI_E_USAGE, "--ablate is for networks of layers");
  enum vinci_status status = net_compile_choose(settings, &ablation.options, diag);
  if (status == VINCI_OK)
    status = net_run_choose(settings, &ablation.run, diag);
  if (status != VINCI_OK)
    return status;
  ablation.options.over_limit = true; /* as it is without the passes that free memory */
  printf("%-18s %8s %10s %10s %10s %7s %10s\n", "passes", "launches", "HBM MiB", "memory MiB", "us",
         "faster", "change us");
  status = add_passes(&ablation, &first, &last, diag);
  return status == VINCI_OK ? leave_out(&ablation, &first, &last, diag) : status;
}
