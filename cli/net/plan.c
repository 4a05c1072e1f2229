/* SPDX-License-Identifier: Apache-2.0 */
/* vinci net plan: what each memory plan needs. */
#include "cli/net/net.h"
#include "core/base/decimal.h"

#define MIB (UINT64_C(1) << 20)

struct plan_settings {
  struct net_model_settings model;
};

static const struct option_row plan_options[] = {NET_MODEL_ROWS(struct plan_settings, model)};

static enum vinci_status print_plans(struct graph *graph, struct vinci_diag *diag) {
  struct graph_plan plan;
  enum vinci_status status = VINCI_OK;
  for (unsigned i = 0; i < GRAPH_PLAN_COUNT && status == VINCI_OK; i++) {
    enum graph_plan_policy policy = (enum graph_plan_policy)i;
    status = graph_plan(graph, policy, &plan, diag);
    if (status != VINCI_OK)
      break;
    if (i == 0) {
      printf("Nodes %u, tensors %u\n", graph->node_count, graph->tensor_count);
      printf("Weights, inputs, outputs %s MiB; alive at once at most %s MiB\n",
             decimal_ratio(plan.fixed_bytes, MIB, 3).text,
             decimal_ratio(plan.live_bytes, MIB, 3).text);
      printf("%-6s %12s %12s  %s\n", "plan", "MiB", "over alive", "how");
    }
    printf("%-6s %12s %10s %%  %s\n", graph_plan_name(policy),
           decimal_ratio(plan.bytes, MIB, 3).text,
           decimal_ratio((plan.bytes - plan.live_bytes) * 100, plan.live_bytes, 1).text,
           graph_plan_text(policy));
  }
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
