/* SPDX-License-Identifier: Apache-2.0 */
/* vinci net import: an ONNX model as a graph of layers. */
#include "cli/net/net.h"
#include "core/base/file.h"
#include "networks/graph/text.h"

struct import_settings {
  struct net_model_settings model;
  const char *output;
};

static const struct option_row import_options[] = {
    NET_MODEL_ROWS(struct import_settings, model),
    OPTION_TEXT_ROW("output", 'o', struct import_settings, output, "FILE",
                    "write the graph here (default: standard output)"),
};

static void write_graph(void *context, FILE *out) { graph_text_write(context, out); }

static enum vinci_status import(const struct import_settings *settings, const char *path,
                                struct vinci_diag *diag) {
  struct graph graph = {0};
  enum vinci_status status = net_load(path, &settings->model, &graph, diag);
  if (status == VINCI_OK && settings->output)
    status = file_replace(settings->output, write_graph, &graph, diag);
  else if (status == VINCI_OK)
    graph_text_write(&graph, stdout);
  graph_free(&graph);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct import_settings settings = {0};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    enum vinci_status status =
        words.count == 1 ? import(&settings, words.items[0], &diag)
                         : diag_error(&diag, VINCI_E_USAGE, "give one model, not %zu", words.count);
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
  }
  net_model_free(&settings.model);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_net_import = {
    .name = "net import",
    .arguments = "MODEL",
    .summary = "Write an ONNX model as a graph of layers",
    .details =
        "MODEL is an ONNX file of operator set 7 to 23, '-' is standard input. All shapes are\n"
        "computed, and all that is known before a run is folded away. Dimensions that the\n"
        "model leaves open are given with --shape or --dim; conditions of If operators that\n"
        "depend on an input with --fix. The graph is as GRAPH.md describes; values\n"
        "of weights are not written. Example:\n"
        "  vinci net import model.onnx --dim batch=4 -o model.graph.csv\n",
    .options = {import_options, sizeof import_options / sizeof *import_options},
    .run = run,
};
