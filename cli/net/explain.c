/* SPDX-License-Identifier: Apache-2.0 */
/* vinci net explain: which layer became which kernels, and why. */
#include <stdlib.h>
#include <string.h>

#include "cli/net/net.h"
#include "core/base/decimal.h"
#include "core/base/sheet.h"
#include "networks/passes/explain.h"

#define KIB UINT64_C(1024)
#define PS_PER_US UINT64_C(1000000)

struct explain_settings {
  struct net_run_settings run; /* the first member: rows of options are of what it points to */
  const char *node;
  bool json;
};

static const struct option_row explain_options[] = {
    NET_CHIP_OPTION_ROWS(struct net_run_settings),
    NET_COMPILE_OPTION_ROWS(struct net_run_settings),
    NET_MODEL_ROWS(struct net_run_settings, model),
    OPTION_TEXT_ROW("node", 0, struct explain_settings, node, "NAME",
                    "one layer with its kernels, or one kernel with its layers"),
    OPTION_FLAG_ROW("json", 0, struct explain_settings, json, "print JSON instead"),
};

/* ---- which node ---------------------------------------------------------------------------- */

static const char *name_at(const void *context, size_t index) {
  const struct explanation *all = context;
  return index < all->layer_count ? all->layers[index].node->name
                                  : all->kernels[index - all->layer_count].node->name;
}

static bool is_named(const struct graph_node *node, const char *name, bool layer) {
  return strcmp(node->name, name) == 0 || (layer && strcmp(node->origin, name) == 0);
}

/* A layer by its name or that of the model's node, else a kernel. */
static enum vinci_status find_node(const struct explanation *all, const char *name, uint32_t *layer,
                                   uint32_t *kernel, struct vinci_diag *diag) {
  *layer = *kernel = GRAPH_NONE;
  if (!name)
    return VINCI_OK;
  for (uint32_t i = 0; i < all->layer_count && *layer == GRAPH_NONE; i++)
    if (is_named(all->layers[i].node, name, true))
      *layer = i;
  for (uint32_t i = 0; i < all->kernel_count && *layer == GRAPH_NONE && *kernel == GRAPH_NONE; i++)
    if (is_named(all->kernels[i].node, name, false))
      *kernel = i;
  if (*layer != GRAPH_NONE || *kernel != GRAPH_NONE)
    return VINCI_OK;
  const char *near = diag_nearest(name, all->layer_count + all->kernel_count, name_at, all);
  (void)diag_error(diag, VINCI_E_USAGE, "the network has no layer and no kernel '%s'", name);
  if (near)
    diag_hint(diag, "did you mean '%s'?", near);
  else
    diag_hint(diag, "without --node all of them are printed");
  return VINCI_E_USAGE;
}

/* ---- text ---------------------------------------------------------------------------------- */

static struct decimal us(uint64_t ps) { return decimal_ratio(ps, PS_PER_US, 2); }

static void print_weighed(const struct history_event *event, FILE *out) {
  if (event->before_ps == 0 && event->after_ps == 0)
    return;
  fprintf(out, ": %s us before,", us(event->before_ps).text);
  fprintf(out, " %s us after", us(event->after_ps).text);
}

/* That a node keeps its operator is told by what it takes over. */
static bool says_nothing(const struct history_event *event) {
  return event->kind == HISTORY_CHANGED && strcmp(event->node.op, event->now) == 0;
}

static void print_event(const struct history_event *event, const char *layer, FILE *out) {
  bool joined_here =
      event->kind == HISTORY_JOINED && event->into && strcmp(event->into, layer) == 0;
  fprintf(out, "  %-11s ", pass_name((enum pass_id)event->pass));
  switch (event->kind) {
  case HISTORY_CHANGED:
    fprintf(out, "%s%s becomes %s", event->kernels ? "kernel " : "", event->node.op, event->now);
    break;
  case HISTORY_JOINED:
    if (joined_here)
      fprintf(out, "takes over %s (%s)", event->node.name, event->node.op);
    else
      fprintf(out, "%s%s becomes a part of %s", event->kernels ? "kernel " : "", event->node.op,
              event->into);
    break;
  case HISTORY_ADDED:
    fprintf(out, "adds %s (%s)", event->node.name, event->node.op);
    break;
  case HISTORY_DROPPED:
    fprintf(out, "%s is gone: nobody reads the result", event->node.op);
    break;
  default:
    fprintf(out, "refused: %s would have become %s", event->node.op, event->now);
    if (event->after_ps == 0)
      fprintf(out, ", for which the chip has no kernel");
    break;
  }
  if (event->kind != HISTORY_REFUSED || event->after_ps > 0)
    print_weighed(event, out);
  fputc('\n', out);
}

static void print_tensors(const char *what, const struct graph *graph, const uint32_t *list,
                          uint32_t count, FILE *out) {
  for (uint32_t i = 0; i < count; i++) {
    if (list[i] == GRAPH_NONE)
      continue;
    const struct graph_tensor *tensor = &graph->tensors[list[i]];
    fprintf(out, "         %-7s %s %s ", i ? "" : what, tensor->format, dtype_name(tensor->dtype));
    for (unsigned d = 0; d < tensor->rank; d++)
      fprintf(out, "%s%llu", d ? "x" : "", (unsigned long long)tensor->shape[d]);
    fprintf(out, "%s  %s\n", tensor->rank ? "" : "1", tensor->name);
  }
}

/* The layers of a kernel, when passes have joined kernels of several. */
static void print_others(const struct explanation *all, const struct explained_kernel *kernel,
                         FILE *out) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < kernel->layer_count; i++)
    count += explained_stays(&all->layers[kernel->layers[i]]);
  const char *before = "         of      ";
  for (uint32_t i = 0; count > 1 && i < kernel->layer_count; i++)
    if (explained_stays(&all->layers[kernel->layers[i]])) {
      fprintf(out, "%s%s", before, all->layers[kernel->layers[i]].node->name);
      before = ", ";
    }
  if (count > 1)
    fputc('\n', out);
}

static void print_kernel(const struct explanation *all, const struct explained_kernel *kernel,
                         FILE *out) {
  const struct graph_node *node = kernel->node;
  fprintf(out, "  kernel %s: %s", node->name, node->op);
  for (uint32_t i = 0; i < node->arg_count; i++)
    fprintf(out, " %s", node->args[i]);
  fputc('\n', out);
  if (node->kind == GRAPH_LAYER && !node->offline)
    fprintf(out, "         refused: %s\n", node->reason);
  else if (node->offline)
    fprintf(out, "         computed once, when the network is loaded\n");
  else if (!kernel->possible)
    fprintf(out, "         the operator refuses these arguments\n");
  else {
    fprintf(out, "         estimate %s us, bound by %s: %s is busy", us(kernel->ps).text,
            kernel->bound, kernel->pipe);
    fprintf(out, " %s %% of the time\n", decimal_ratio(kernel->busy_permille, 10, 1).text);
    fprintf(out, "         tiling  %s; %u blocks, %s KiB to and from GM\n",
            *kernel->tiling.args ? kernel->tiling.args : "none", kernel->tiling.blocks,
            decimal_ratio(kernel->tiling.gm_bytes, KIB, 1).text);
  }
  print_tensors("reads", all->graph, node->inputs, node->input_count, out);
  print_tensors("writes", all->graph, node->outputs, node->output_count, out);
  print_others(all, kernel, out);
}

/* What is computed once, in one line. */
static void print_offline(const struct explanation *all, uint32_t layer, FILE *out) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < all->kernel_count; i++)
    count += all->kernels[i].node->offline && explained_belongs(&all->kernels[i], layer);
  if (count > 0)
    fprintf(out, "  %u kernels are computed once, when the network is loaded\n", count);
}

/* A kernel stands below the first of its layers; the others name the kernel. */
static void print_kernels(const struct explanation *all, uint32_t layer, bool alone, FILE *out) {
  bool any = false;
  for (uint32_t i = 0; i < all->kernel_count; i++) {
    const struct explained_kernel *kernel = &all->kernels[i];
    if (!explained_belongs(kernel, layer))
      continue;
    any = true;
    if (alone || (!kernel->node->offline && kernel->first == layer))
      print_kernel(all, kernel, out);
    else if (!kernel->node->offline)
      fprintf(out, "  kernel %s, see above\n", kernel->node->name);
  }
  if (!alone)
    print_offline(all, layer, out);
  if (!any)
    fprintf(out, "  no kernel: %s\n",
            all->layers[layer].holder ? "the same bytes with another shape"
                                      : "nobody reads the result");
}

static void print_layer(const struct explanation *all, uint32_t index, bool alone, FILE *out) {
  const struct explained_layer *layer = &all->layers[index];
  const char *name = layer->node->name;
  bool stays = explained_stays(layer);
  fprintf(out, "layer %s (%s)", name, layer->node->op);
  if (*layer->node->origin && strcmp(layer->node->origin, name) != 0)
    fprintf(out, ", node %s", layer->node->origin);
  if (layer->holder && !stays)
    fprintf(out, ": a part of %s", layer->holder);
  fputc('\n', out);
  for (size_t i = 0; i < all->history->count; i++)
    if (explained_concerns(all, i, index) && !says_nothing(&all->history->events[i]))
      print_event(&all->history->events[i], name, out);
  if (alone || stays || !layer->holder)
    print_kernels(all, index, alone, out);
}

static void print_all(const struct explanation *all, FILE *out) {
  uint64_t ps = 0;
  uint32_t kernels = 0;
  for (uint32_t i = 0; i < all->kernel_count; i++) {
    kernels += all->kernels[i].node->kind == GRAPH_KERNEL && !all->kernels[i].node->offline;
    ps += all->kernels[i].node->offline ? 0 : all->kernels[i].ps;
  }
  fprintf(out, "%s: %u layers, %u kernels, %s us by estimates, without the gaps between kernels\n",
          *all->network->name ? all->network->name : "network", all->layer_count, kernels,
          us(ps).text);
  for (uint32_t i = 0; i < all->layer_count; i++)
    print_layer(all, i, false, out);
  for (uint32_t i = 0; i < all->kernel_count; i++)
    if (all->kernels[i].layer_count == 0)
      print_kernel(all, &all->kernels[i], out);
}

/* ---- the command --------------------------------------------------------------------------- */

static void print_one_kernel(const struct explanation *all, const struct explained_kernel *kernel,
                             FILE *out) {
  print_kernel(all, kernel, out);
  for (uint32_t i = 0; i < kernel->layer_count; i++)
    fprintf(out, "  layer %s (%s)\n", all->layers[kernel->layers[i]].node->name,
            all->layers[kernel->layers[i]].node->op);
}

static enum vinci_status print(const struct explain_settings *settings, const struct vinci_soc *soc,
                               const struct explanation *all, struct vinci_diag *diag) {
  struct sheet_lines lines;
  uint32_t layer, kernel;
  enum vinci_status status = find_node(all, settings->node, &layer, &kernel, diag);
  if (status != VINCI_OK || settings->run.quiet)
    return status;
  if (settings->json) {
    explain_put_json(all, soc, layer, kernel, stdout);
    return VINCI_OK;
  }
  FILE *out = sheet_lines_begin(&lines, stdout);
  if (layer != GRAPH_NONE)
    print_layer(all, layer, true, out);
  else if (kernel != GRAPH_NONE)
    print_one_kernel(all, &all->kernels[kernel], out);
  else
    print_all(all, out);
  sheet_lines_end(&lines);
  return VINCI_OK;
}

static enum vinci_status explain_words(const struct explain_settings *settings,
                                       const struct text_list *words, struct vinci_diag *diag) {
  struct net_opened net = {0};
  struct explanation all = {0};
  enum vinci_status status = net_open(&settings->run, words, &net, diag);
  net.options.record = true;
  bool layers = status == VINCI_OK && graph_has_layers(&net.graph);
  if (layers)
    status = net_compile(&net.graph, net.soc, &net.options, &net.compiled, diag);
  if (status == VINCI_OK)
    status = explain(&net.graph, layers ? &net.compiled : NULL, net.soc, &all, diag);
  if (status == VINCI_OK)
    status = print(settings, net.soc, &all, diag);
  arena_free(&all.arena);
  net_opened_free(&net);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct explain_settings settings = {0};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    enum vinci_status status = explain_words(&settings, &words, &diag);
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
  }
  net_model_free(&settings.run.model);
  text_list_free(&settings.run.sets);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_net_explain = {
    .name = "net explain",
    .arguments = "NETWORK",
    .summary = "Say which layer became which kernels, and why",
    .details =
        "NETWORK is a graph as GRAPH.md describes, or an ONNX model; nothing is simulated.\n"
        "Below each layer stand the passes that changed it or refused to, with their estimates,\n"
        "and its kernels: arguments, estimate and bound, tiling, blocks, bytes, the layouts and\n"
        "types of tensors. Kernels of no layer stand at the end. --node=NAME tells of one layer "
        "or\n"
        "kernel. Example:\n"
        "  vinci net explain traces/examples/small_cnn.graph.csv -s Ascend910B4\n",
    .options = {explain_options, sizeof explain_options / sizeof *explain_options},
    .run = run,
};
