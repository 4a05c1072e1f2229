/* SPDX-License-Identifier: Apache-2.0 */
/* vinci net plan: what each memory plan needs. */
#include <inttypes.h>

#include "cli/net/net.h"
#include "core/base/decimal.h"
#include "core/base/sheet.h"

#define MIB (UINT64_C(1) << 20)

struct plan_settings {
  struct net_model_settings model;
};

static const struct option_row plan_options[] = {NET_MODEL_ROWS(struct plan_settings, model)};

static const struct sheet_column columns[] = {
    {.title = "plan", .left = true},
    {.title = "MiB"},
    {.title = "over alive"},
    {.title = "how", .left = true, .fit = SHEET_BREAK},
};

static enum vinci_status print_plans(struct graph *graph, struct vinci_diag *diag) {
  struct graph_plan plans[GRAPH_PLAN_COUNT];
  struct sheet sheet;
  enum vinci_status status = VINCI_OK;
  for (unsigned i = 0; i < GRAPH_PLAN_COUNT && status == VINCI_OK; i++)
    status = graph_plan(graph, (enum graph_plan_policy)i, &plans[i], diag);
  if (status != VINCI_OK)
    return status;
  printf("Nodes %u, tensors %u\n", graph->node_count, graph->tensor_count);
  printf("Weights, inputs, outputs %s MiB; alive at once at most %s MiB\n",
         decimal_ratio(plans[0].fixed_bytes, MIB, 3).text,
         decimal_ratio(plans[0].live_bytes, MIB, 3).text);
  SHEET_BEGIN(&sheet, stdout, columns, 0, NULL);
  while (sheet_pass(&sheet))
    for (unsigned i = 0; i < GRAPH_PLAN_COUNT; i++) {
      uint64_t live = plans[i].live_bytes;
      sheet_text(&sheet, graph_plan_name((enum graph_plan_policy)i));
      sheet_text(&sheet, decimal_ratio(plans[i].bytes, MIB, 3).text);
      sheet_cell(&sheet, "%s %%", decimal_ratio((plans[i].bytes - live) * 100, live, 1).text);
      sheet_text(&sheet, graph_plan_text((enum graph_plan_policy)i));
    }
  cli_summary("net plan nodes=%u tensors=%u live_bytes=%" PRIu64 " pack_bytes=%" PRIu64,
              graph->node_count, graph->tensor_count, plans[GRAPH_PLAN_PACK].live_bytes,
              plans[GRAPH_PLAN_PACK].bytes);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  struct graph graph = {0};
  struct plan_settings settings = {0};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    enum vinci_status status =
        words.count == 1 ? net_load(words.items[0], &settings.model, &graph, &diag)
                         : diag_error(&diag, VINCI_E_USAGE, "give one graph, not %zu", words.count);
    if (status == VINCI_OK)
      status = print_plans(&graph, &diag);
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
  }
  graph_free(&graph);
  net_model_free(&settings.model);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_net_plan = {
    .name = "net plan",
    .arguments = "GRAPH",
    .summary = "Compare the memory that each plan needs",
    .details =
        "GRAPH is a file as GRAPH.md describes, or an ONNX model; '-' is standard input.\n"
        "Offsets that the graph gives are kept and checked: tensors that are alive together may "
        "not\n"
        "overlap (exit code 3).\n"
        "Example:\n"
        "  vinci net plan traces/examples/two_layers.graph.csv\n",
    .options = {plan_options, sizeof plan_options / sizeof *plan_options},
    .run = run,
};
