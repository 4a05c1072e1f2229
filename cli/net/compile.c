/* SPDX-License-Identifier: Apache-2.0 */
/* vinci net compile: a network of layers as a graph of kernels, and what each pass changed. */
#include <string.h>

#include "cli/net/net.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/base/sheet.h"
#include "networks/graph/text.h"

#define MIB (UINT64_C(1) << 20)
#define PS_PER_US UINT64_C(1000000)

struct compile_settings {
  struct net_run_settings run; /* the first member: rows of options are of what it points to */
  const char *output;
};

static const struct option_row compile_options[] = {
    NET_CHIP_OPTION_ROWS(struct net_run_settings),
    NET_COMPILE_OPTION_ROWS(struct net_run_settings),
    NET_MODEL_ROWS(struct net_run_settings, model),
    OPTION_TEXT_ROW("output", 'o', struct compile_settings, output, "FILE",
                    "write the graph of kernels, for 'vinci net run'"),
};

/* ---- what run and compile share ------------------------------------------------------------- */

static const char *half_at(const void *context, size_t index) {
  static const enum dtype halves[] = {DTYPE_FP16, DTYPE_BF16};
  (void)context;
  return dtype_name(halves[index]);
}

enum vinci_status net_compile_choose(const struct net_run_settings *settings,
                                     struct compile_options *out, struct vinci_diag *diag) {
  unsigned half = 0;
  enum vinci_status status = VINCI_OK;
  *out = (struct compile_options){.keep_ends = settings->keep_ends,
                                  .winograd = settings->winograd,
                                  .estimates = settings->estimates};
  if (settings->dtype)
    status = net_choose("dtype", settings->dtype, half_at, 2, &half, diag);
  out->dtype = half == 0 ? DTYPE_FP16 : DTYPE_BF16;
  if (status == VINCI_OK && settings->passes)
    status = passes_choose(settings->passes, out, diag);
  if (status == VINCI_OK && settings->memory_limit)
    status = passes_limit(settings->memory_limit, out, diag);
  return status;
}

enum vinci_status net_check_layer_options(const struct net_run_settings *settings,
                                          const struct graph *graph, struct vinci_diag *diag) {
  const struct {
    const char *name;
    bool given;
  } options[] = {{"passes", settings->passes != NULL},
                 {"dtype", settings->dtype != NULL},
                 {"half-ends", settings->keep_ends},
                 {"winograd", settings->winograd},
                 {"memory-limit", settings->memory_limit != NULL},
                 {"unknown-us", settings->unknown_us != 0}};
  if (graph_has_layers(graph))
    return VINCI_OK;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    if (!options[i].given)
      continue;
    (void)diag_error(diag, VINCI_E_USAGE,
                     "--%s is for networks of layers; this graph has kernels alone",
                     options[i].name);
    diag_hint(diag, "leave the option out, or run what 'vinci net compile' with the option writes");
    return VINCI_E_USAGE;
  }
  return VINCI_OK;
}

enum vinci_status net_compile_layers(const struct net_run_settings *settings,
                                     const struct vinci_soc *soc, const struct graph *graph,
                                     struct compiled *out, struct vinci_diag *diag) {
  struct compile_options options;
  *out = (struct compiled){0};
  enum vinci_status status = net_compile_choose(settings, &options, diag);
  if (status == VINCI_OK)
    status = net_compile(graph, soc, &options, out, diag);
  if (status == VINCI_OK && !settings->quiet && !settings->json)
    net_print_counts(&out->counts);
  return status;
}

void net_print_counts(const struct layers_counts *counts) {
  sheet_line(
      stdout,
      "Layers    %zu: %zu lowered, %zu shapes only, %zu refused; %zu kernels, of these %zu "
      "convert layouts; %zu computed offline; %zu layers of the model, %zu put in by passes\n",
      counts->layers, counts->lowered, counts->views, counts->refused, counts->kernels,
      counts->transdata, counts->offline, counts->of_model, counts->inserted);
}

/* ---- report -------------------------------------------------------------------------------- */

static void print_estimate(const struct graph_estimate *estimate) {
  printf(" %8llu %9s %10s %9s %11s\n", (unsigned long long)estimate->kernels,
         decimal_ratio(estimate->gm_bytes, MIB, 1).text,
         decimal_ratio(estimate->copied_bytes, MIB, 1).text,
         decimal_ratio(estimate->peak_bytes, MIB, 1).text,
         decimal_ratio(estimate->ps, PS_PER_US, 1).text);
}

static void print_passes(const struct compiled *compiled) {
  const struct graph_estimate *first = NULL;
  printf("%-12s %7s %7s %8s %9s %10s %9s %11s\n", "pass", "changed", "refused", "launches",
         "moved MiB", "copied MiB", "peak MiB", "estimate us");
  for (unsigned i = 0; i < PASS_COUNT; i++) {
    const struct pass_report *pass = &compiled->passes[i];
    if (!pass->on) {
      printf("%-12s %7s\n", pass_name((enum pass_id)i), "off");
      continue;
    }
    if (!first) {
      first = &pass->before;
      printf("%-12s %7s %7s", "before", "", "");
      print_estimate(first);
    }
    printf("%-12s %7zu %7zu", pass_name((enum pass_id)i), pass->changed, pass->refused);
    print_estimate(&pass->after);
  }
}

static void print_refused(const struct graph *graph) {
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (graph->nodes[i].kind == GRAPH_LAYER && *graph->nodes[i].reason)
      sheet_line(stdout, "refused: layer %s (%s): %s\n", graph->nodes[i].name, graph->nodes[i].op,
                 graph->nodes[i].reason);
}

/* ---- the command --------------------------------------------------------------------------- */

static void write_graph(void *context, FILE *out) { graph_text_write(context, out); }

static enum vinci_status compile_words(const struct compile_settings *settings,
                                       const struct text_list *words, struct vinci_diag *diag) {
  struct net_opened net = {0};
  enum vinci_status status = net_open(&settings->run, words, &net, diag);
  net.options.report = !settings->run.quiet;
  if (status == VINCI_OK)
    status = net_compile(&net.graph, net.soc, &net.options, &net.compiled, diag);
  if (status == VINCI_OK && settings->output)
    status = file_replace(settings->output, write_graph, &net.compiled.graph, diag);
  const struct layers_counts *counts = &net.compiled.counts;
  if (status == VINCI_OK && !settings->run.quiet) {
    net_print_counts(counts);
    print_passes(&net.compiled);
    print_refused(&net.compiled.graph);
    cli_summary("net compile layers=%zu refused=%zu kernels=%zu model_layers=%zu inserted=%zu",
                counts->layers, counts->refused, counts->kernels, counts->of_model,
                counts->inserted);
  }
  if (status == VINCI_OK && counts->refused > 0)
    status = diag_error(diag, VINCI_E_INPUT, "%zu of %zu layers have no kernels", counts->refused,
                        counts->layers);
  net_opened_free(&net);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct compile_settings settings = {0};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    enum vinci_status status = compile_words(&settings, &words, &diag);
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
  }
  net_model_free(&settings.run.model);
  text_list_free(&settings.run.sets);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_net_compile = {
    .name = "net compile",
    .arguments = "NETWORK",
    .summary = "Turn layers into kernels and say what each pass changed",
    .details =
        "NETWORK is a file as GRAPH.md describes; its layers become kernels. The table has\n"
        "launches, bytes moved and copied, peak memory and time by the estimates of the chosen "
        "tilings,\n"
        "after each pass. The passes, in their order:\n"
#define PASS(id, name, stage, function, text) "  " name "\n      " text "\n"
#define PASS_LAYOUTS(id, name, text) "  " name "\n      " text "\n"
#include "networks/passes/passes.def"
#undef PASS_LAYOUTS
#undef PASS
        "Example:\n"
        "  vinci net compile traces/examples/small_cnn.graph.csv -s Ascend910B4 -o kernels.csv\n",
    .options = {compile_options, sizeof compile_options / sizeof *compile_options},
    .run = run,
};
