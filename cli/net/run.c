/* SPDX-License-Identifier: Apache-2.0 */
/* vinci net run: options, progress and report of a network's run. */
#include <stdlib.h>
#include <string.h>

#include "cli/net/net.h"
#include "cli/support/advice.h"
#include "cli/support/monitor.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/sheet.h"
#include "networks/run/levers.h"
#include "networks/run/net.h"
#include "networks/run/net_energy.h"
#include "networks/run/net_summary.h"
#include "networks/run/net_values.h"
#include "networks/workload/workload.h"

enum { US_DIGITS = 6, TOP_NODES = 10, UNKNOWN_US_MAX = 1000000000 };
#define MIB (UINT64_C(1) << 20)
#define PS_PER_US UINT64_C(1000000)

static const struct option_row run_options[] = {
    NET_OPTION_ROWS(struct net_run_settings),
    NET_COMPILE_OPTION_ROWS(struct net_run_settings),
    OPTION_ENERGY_ROW(struct net_run_settings, sets),
    OPTION_NUMBER_ROW("unknown-us", 0, struct net_run_settings, unknown_us, "US", 0, UNKNOWN_US_MAX,
                      "what a layer without kernels takes, on the AI CPU (default 0: such layers "
                      "are refused, exit code 3)"),
    ADVICE_OPTION_ROW(struct net_run_settings, repository),
    OPTION_FLAG_ROW("cuts", 0, struct net_run_settings, cuts,
                    "chains of kernels whose tensors between exceed L2 run in the parts that "
                    "simulation finds best, as of 'vinci tune --cuts'; takes many runs"),
    OPTION_TEXT_ROW("savings", 0, struct net_run_settings, savings, "WHICH",
                    "all: passes, cuts and the host, each turned and measured by a run, in the "
                    "order of what they save, with the option that shows it again; none (default)"),
    OPTION_FLAG_ROW("ablate", 0, struct net_run_settings, ablate,
                    "run the network with more and more passes, then without each, and say what "
                    "each pass saves"),
    NET_MODEL_ROWS(struct net_run_settings, model),
    VALUES_OPTION_ROWS(struct net_run_settings, values),
    OPTION_FLAG_ROW("json", 0, struct net_run_settings, json, "print summary.json instead"),
};

/* ---- report -------------------------------------------------------------------------------- */

struct ranked {
  const struct graph_node *node;
  const struct net_node *row;
};

static int by_duration(const void *a, const void *b) {
  const struct ranked *one = a, *other = b;
  uint64_t x = one->row->task.duration_ps, y = other->row->task.duration_ps;
  if (x != y)
    return x > y ? -1 : 1;
  return one->row < other->row ? -1 : 1;
}

static struct decimal us(uint64_t ps) { return decimal_ratio(ps, PS_PER_US, 3); }

static struct decimal percent(uint64_t part, uint64_t whole) {
  return decimal_ratio((uint128)part * 100, whole, 1);
}

static const struct sheet_column node_columns[] = {
    {.title = "longest nodes", .left = true, .fit = SHEET_SHORTEN},
    {.title = "operator", .left = true, .fit = SHEET_SHORTEN},
    {.title = "us"},
    {.title = "share"},
    {.title = "blocks", .rank = 1},
    {.title = "bound", .left = true},
};

static void print_top(const struct graph *graph, const struct net_result *result) {
  struct sheet sheet;
  struct ranked *ranked = calloc((size_t)graph->node_count + 1, sizeof *ranked);
  for (uint32_t i = 0; ranked && i < graph->node_count; i++)
    ranked[i] = (struct ranked){&graph->nodes[i], &result->nodes[i]};
  if (ranked)
    qsort(ranked, graph->node_count, sizeof *ranked, by_duration);
  putchar('\n');
  SHEET_BEGIN(&sheet, stdout, node_columns, 0, "nodes.csv of --output");
  while (sheet_pass(&sheet))
    for (uint32_t i = 0; ranked && i < graph->node_count && i < TOP_NODES; i++) {
      const struct net_node *row = ranked[i].row;
      if (row->task.duration_ps == 0)
        break;
      sheet_text(&sheet, ranked[i].node->name);
      sheet_text(&sheet, ranked[i].node->op);
      sheet_text(&sheet, us(row->task.duration_ps).text);
      sheet_cell(&sheet, "%s %%", percent(row->task.duration_ps, result->queue.end_ps).text);
      sheet_cell(&sheet, "%u", row->times.blocks);
      sheet_text(&sheet, ranked[i].node->kind == GRAPH_KERNEL ? bound_name(row->times.bound) : "");
    }
  free(ranked);
}

static void print_counts(const struct net_run_settings *settings, const struct net_result *result,
                         FILE *out) {
  const char *separator = "";
  fprintf(out, "Nodes     ");
  for (unsigned i = 0; i < NET_FROM_COUNT; i++)
    if (result->count[i] > 0) {
      fprintf(out, "%s%zu %s", separator, result->count[i], net_from_name((enum net_from)i));
      separator = ", ";
    }
  fputc('\n', out);
  if (settings->results)
    fprintf(out, "Results   %zu kernels from %s, %zu simulated\n", result->stored_all,
            settings->results, result->simulated_all);
}

static void print_refused(const struct graph *graph, const struct net_result *result, FILE *out) {
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (result->nodes[i].from == NET_REFUSED)
      fprintf(out, "refused: node %s (%s): %s\n", graph->nodes[i].name, graph->nodes[i].op,
              result->nodes[i].reason);
}

static void print_moved(const struct net_summary *summary, FILE *out) {
  fprintf(out, "Bytes     %s MiB of device memory for",
          decimal_ratio(summary->hbm_bytes, MIB, 3).text);
  fprintf(out, " %s MiB that kernels read and write",
          decimal_ratio(summary->input_bytes + summary->output_bytes, MIB, 3).text);
  if (summary->h2d_bytes + summary->d2h_bytes + summary->d2d_bytes > 0) {
    fprintf(out, "; copies %s MiB to the device,", decimal_ratio(summary->h2d_bytes, MIB, 3).text);
    fprintf(out, " %s to the host,", decimal_ratio(summary->d2h_bytes, MIB, 3).text);
    fprintf(out, " %s within", decimal_ratio(summary->d2d_bytes, MIB, 3).text);
  }
  fputc('\n', out);
}

static int by_share(const void *a, const void *b, void *context) {
  const uint64_t *ps = context;
  enum net_part one = *(const enum net_part *)a, other = *(const enum net_part *)b;
  if (ps[one] != ps[other])
    return ps[one] > ps[other] ? -1 : 1;
  return one < other ? -1 : 1;
}

/* What the time is made of, the largest part first. */
static const struct sheet_column part_columns[] = {
    {.title = "bound by", .left = true},
    {.title = "us"},
    {.title = "share"},
    {.title = "", .left = true, .fit = SHEET_BREAK},
};

static void print_parts(const struct net_summary *summary, uint64_t end_ps) {
  struct sheet sheet;
  enum net_part parts[NET_PART_COUNT];
  uint64_t ps[NET_PART_COUNT];
  for (unsigned i = 0; i < NET_PART_COUNT; i++) {
    parts[i] = (enum net_part)i;
    ps[i] = summary->part_ps[i];
  }
  qsort_r(parts, NET_PART_COUNT, sizeof *parts, by_share, ps);
  putchar('\n');
  SHEET_BEGIN(&sheet, stdout, part_columns, 0, NULL);
  while (sheet_pass(&sheet))
    for (unsigned i = 0; i < NET_PART_COUNT && ps[parts[i]] > 0; i++) {
      sheet_text(&sheet, net_part_name(parts[i]));
      sheet_text(&sheet, us(ps[parts[i]]).text);
      sheet_cell(&sheet, "%s %%", percent(ps[parts[i]], end_ps).text);
      sheet_text(&sheet, net_part_text(parts[i]));
    }
}

static void report(const struct graph *graph, const struct vinci_soc *soc,
                   const struct net_run_settings *settings, const struct net_result *result) {
  const struct queue_result *queue = &result->queue;
  struct net_summary summary;
  struct sheet_lines lines;
  net_sum_up(graph, result, &summary);
  FILE *out = sheet_lines_begin(&lines, stdout);
  fprintf(out, "%s on %s, run %u of %u\n", *graph->name ? graph->name : "network",
          vinci_soc_name(soc), (unsigned)settings->repeat, (unsigned)settings->repeat);
  fprintf(out, "Time      %s us", us(queue->end_ps).text);
  if (settings->repeat > 1)
    fprintf(out, "; first run, with L2 empty, %s us", us(result->first.end_ps).text);
  fprintf(out, "\nAI Cores  %s us busy (%s %%)", us(queue->core_ps).text,
          percent(queue->core_ps, queue->end_ps).text);
  fprintf(out, ", %s us for the host", us(queue->host_bound_ps).text);
  fprintf(out, ", %s us between kernels", us(queue->gap_ps).text);
  fprintf(out, ", %s us for copies, tasks and other streams\n", us(queue->wait_ps).text);
  if (queue->slowed_ps > 0)
    fprintf(out, "Copies    take bandwidth from kernels, which are %s us longer (assumed)\n",
            us(queue->slowed_ps).text);
  print_counts(settings, result, out);
  fprintf(out, "L2        of %s MiB that kernels read, %s %% were there when they began\n",
          decimal_ratio(summary.input_bytes, MIB, 3).text,
          percent(summary.found_bytes, summary.input_bytes).text);
  print_moved(&summary, out);
  fprintf(out, "Memory    %s MiB", decimal_ratio(result->plan.bytes, MIB, 3).text);
  fprintf(out, ", of these %s MiB weights, inputs, outputs",
          decimal_ratio(result->plan.fixed_bytes, MIB, 3).text);
  fprintf(out, "; alive at once at most %s MiB\n",
          decimal_ratio(result->plan.live_bytes, MIB, 3).text);
  fprintf(out, "Launches  %zu, %zu of them kernels\n", summary.launches, summary.kernels);
  sheet_lines_end(&lines);
  print_parts(&summary, queue->end_ps);
  net_energy_print(graph, soc, result, stdout);
  if (result->levers)
    proven_print(result->levers, queue->end_ps, stdout);
  print_top(graph, result);
  print_refused(graph, result, sheet_lines_begin(&lines, stdout));
  sheet_lines_end(&lines);
  cli_summary("net run us=%s kernels=%zu refused=%zu", decimal_exact(queue->end_ps, US_DIGITS).text,
              summary.kernels, result->count[NET_REFUSED]);
}

/* ---- result folder -------------------------------------------------------------------------- */

struct writing {
  const struct graph *graph;
  const struct vinci_soc *soc;
  const struct net_result *result;
};

static void write_nodes(void *context, FILE *out) {
  const struct writing *writing = context;
  net_put_nodes(writing->graph, writing->result, out);
}

static void write_kernels(void *context, FILE *out) {
  const struct writing *writing = context;
  net_put_kernel_details(writing->graph, writing->result, out);
}

static void write_step(void *context, FILE *out) {
  const struct writing *writing = context;
  net_put_step_trace(writing->result, out);
}

static void write_memory(void *context, FILE *out) {
  const struct writing *writing = context;
  net_put_memory_record(writing->graph, writing->result, out);
}

static void write_summary(void *context, FILE *out) {
  const struct writing *writing = context;
  net_put_summary(writing->graph, writing->soc, writing->result, out);
}

static void write_timeline(void *context, FILE *out) {
  const struct writing *writing = context;
  net_put_timeline(writing->graph, writing->result, out);
}

static enum vinci_status write_folder(const char *folder, struct writing *writing,
                                      struct vinci_diag *diag) {
  static const struct {
    const char *name;
    void (*write)(void *context, FILE *out);
  } files[] = {{"nodes.csv", write_nodes},          {"kernel_details.csv", write_kernels},
               {"step_trace_time.csv", write_step}, {"memory_record.csv", write_memory},
               {"summary.json", write_summary},     {"trace.json", write_timeline}};
  char path[4096];
  enum vinci_status status = folder_remove_command(folder, diag);
  for (size_t i = 0; i < sizeof files / sizeof *files && status == VINCI_OK; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
    status = file_replace(path, files[i].write, writing, diag);
  }
  return status;
}

/* ---- the run -------------------------------------------------------------------------------- */

/* Levers of a network, each a run of the whole. */
static bool watch_levers(void *context, size_t done, size_t all) {
  return monitor_phase(context, "levers measured", done, all, "");
}

static const char *host_at(const void *context, size_t index) {
  (void)context;
  return queue_host_name((enum queue_host)index);
}

static bool watch(void *context, size_t done, size_t all) {
  return monitor_items(context, &(struct monitor_count){.done_permille = 1000 * done, .all = all});
}

enum vinci_status net_run_choose(const struct net_run_settings *settings, struct net_options *out,
                                 struct vinci_diag *diag) {
  struct vinci_run_options models = {.struct_size = sizeof models};
  struct workload_models names = {.memory = settings->memory, .network = settings->network};
  unsigned plan = GRAPH_PLAN_PACK, host = QUEUE_SINK;
  enum vinci_status status = workload_choose(&names, &models, diag);
  if (status == VINCI_OK && settings->plan)
    status = net_choose("plan", settings->plan, net_plan_at, GRAPH_PLAN_COUNT, &plan, diag);
  if (status == VINCI_OK && settings->host)
    status = net_choose("host", settings->host, host_at, QUEUE_HOST_COUNT, &host, diag);
  *out = (struct net_options){
      .memory = models.memory,
      .network = models.network,
      .plan = (enum graph_plan_policy)plan,
      .queue = {.host = (enum queue_host)host, .depth = (uint32_t)settings->depth},
      .repeat = (unsigned)settings->repeat,
      .unknown_ps = settings->unknown_us * PS_PER_US,
      .exact = settings->exact,
      .results = settings->results,
      .estimates = settings->estimates};
  return status;
}

/* The values of a network, beside its time: its results into tensors/ of the folder, compared. */
static enum vinci_status run_values(const struct net_run_settings *settings,
                                    const struct graph *graph, const struct vinci_soc *soc,
                                    const struct graph_plan *plan, const char *path,
                                    struct vinci_diag *diag) {
  struct net_values values;
  struct monitor monitor;
  enum vinci_status status = net_values_create(graph, soc, plan, &values, diag);
  if (status == VINCI_OK)
    status = values_give(&settings->values, values.values, diag);
  monitor_start(&monitor, path, settings->timeout_minutes, settings->quiet);
  if (status == VINCI_OK)
    status = net_values_run(&values, monitor_values_progress, &monitor, diag);
  monitor_clear(&monitor);
  if (status == VINCI_OK)
    status = values_finish(&settings->values, values.values, settings->output,
                           settings->quiet ? NULL : stdout, &monitor, "", diag);
  net_values_free(&values);
  return status;
}

/* Whether levers are wanted; VINCI_E_USAGE for what is neither all nor none. */
static enum vinci_status choose_savings(struct net_run_settings *settings,
                                        const struct graph *graph, struct vinci_diag *diag) {
  const char *which = settings->savings;
  if (!which || strcmp(which, "none") == 0)
    return VINCI_OK;
  if (strcmp(which, "all") != 0)
    return diag_error(diag, VINCI_E_USAGE, "--savings is all or none, not '%s'", which);
  if (settings->ablate || settings->repository)
    return diag_error(diag, VINCI_E_USAGE, "--savings does not go with --%s",
                      settings->ablate ? "ablate" : "repository");
  settings->network_read = graph;
  return VINCI_OK;
}

static enum vinci_status find_levers(const struct net_run_settings *settings,
                                     const struct vinci_soc *soc, const struct net_options *as_run,
                                     struct net_result *result, struct vinci_diag *diag) {
  struct compile_options compile;
  struct net_options options = *as_run;
  const struct net_levers_of of = {.network = settings->network_read,
                                   .soc = soc,
                                   .compile = &compile,
                                   .run = &options,
                                   .cuts = settings->cuts,
                                   .end_ps = result->queue.end_ps};
  struct proven_list *levers = ARENA_ARRAY(&result->arena, struct proven_list, 1);
  options.progress = watch_levers;
  enum vinci_status status = net_compile_choose(settings, &compile, diag);
  if (status == VINCI_OK && !levers)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    status = net_levers_find(&of, levers, diag);
  if (status == VINCI_OK)
    result->levers = levers;
  return status;
}

/* Layers as kernels; with --cuts those of kernels too. */
static enum vinci_status compile_network(const struct net_run_settings *settings,
                                         const struct vinci_soc *soc, const struct graph *graph,
                                         struct compiled *out, struct vinci_diag *diag) {
  struct compile_options compile;
  struct net_options options;
  if (!settings->cuts)
    return net_compile_layers(settings, soc, graph, out, diag);
  if (settings->ablate || settings->repository)
    return diag_error(diag, VINCI_E_USAGE, "--cuts does not go with --%s",
                      settings->ablate ? "ablate" : "repository");
  enum vinci_status status = net_compile_choose(settings, &compile, diag);
  if (status == VINCI_OK)
    status = net_run_choose(settings, &options, diag);
  if (status == VINCI_OK)
    status = net_find_cuts(graph, soc, &compile, &options, out, diag);
  if (status == VINCI_OK && graph_has_layers(graph) && !settings->quiet && !settings->json)
    net_print_counts(&out->counts);
  return status;
}

enum vinci_status net_simulate(const struct net_run_settings *settings, const char *path,
                               struct graph *graph, const struct vinci_soc *soc,
                               struct net_result *result, struct vinci_diag *diag) {
  struct net_options options;
  struct monitor monitor;
  *result = (struct net_result){0};
  enum vinci_status status = net_run_choose(settings, &options, diag);
  if (status == VINCI_OK && settings->output)
    status = folder_make(settings->output, diag);
  if (status != VINCI_OK)
    return status;
  monitor_catch_interrupt();
  monitor_start(&monitor, path, settings->timeout_minutes, settings->quiet);
  options.progress = watch;
  options.progress_context = &monitor;
  status = net_run(graph, soc, &options, result, diag);
  if (status == VINCI_OK && settings->network_read)
    status = find_levers(settings, soc, &options, result, diag);
  monitor_clear(&monitor);
  if (status == VINCI_OK && settings->output)
    status = write_folder(settings->output, &(struct writing){graph, soc, result}, diag);
  if (status == VINCI_OK && settings->output)
    cli_keep_command(&settings->command, settings->output);
  if (status == VINCI_OK && settings->json)
    net_put_summary(graph, soc, result, stdout);
  else if (status == VINCI_OK && !settings->quiet)
    report(graph, soc, settings, result);
  if (status == VINCI_OK && settings->values.keep)
    status = run_values(settings, graph, soc, &result->plan, path, diag);
  if (status == VINCI_OK && result->count[NET_REFUSED] > 0)
    status = diag_error(diag, VINCI_E_INPUT, "%zu of %u nodes could not be lowered",
                        result->count[NET_REFUSED], graph->node_count);
  if (status == VINCI_OK && result->levers && result->levers->ended)
    status = diag_error(diag, VINCI_E_LIMIT,
                        "%s before all levers were measured; the rest is whole", monitor_reason());
  return status;
}

/* Kernels that were tuned get their schedules, by the models of the run. */
static enum vinci_status take_schedules(const struct net_run_settings *settings,
                                        const struct vinci_soc *soc, struct graph *graph,
                                        struct vinci_diag *diag) {
  struct net_options options;
  enum vinci_status status = net_run_choose(settings, &options, diag);
  const struct vinci_evaluate_options models = {.struct_size = sizeof models,
                                                .memory = options.memory,
                                                .network = options.network,
                                                .l2_start = VINCI_L2_WARM};
  if (status == VINCI_OK && settings->ablate)
    status = diag_error(diag, VINCI_E_USAGE, "--repository does not go with --ablate");
  return status != VINCI_OK ? status
                            : advise_graph(settings->repository, soc, graph, &models,
                                           settings->quiet || settings->json, diag);
}

static enum vinci_status run_words(struct net_run_settings *settings, const struct text_list *words,
                                   struct vinci_diag *diag) {
  struct graph graph = {0};
  struct compiled compiled = {0};
  struct net_result result = {0};
  struct estimates estimates = {0};
  vinci_soc *soc = NULL;
  if (words->count != 1)
    return diag_error(diag, VINCI_E_USAGE, "give one graph, not %zu", words->count);
  enum vinci_status status = values_check(&settings->values, words->count, diag);
  if (status == VINCI_OK)
    status = cli_load_soc(settings->soc, settings->data, &settings->sets, &soc, diag);
  if (status == VINCI_OK)
    status = net_load(words->items[0], &settings->model, &graph, diag);
  estimates_start(&estimates, soc);
  settings->estimates = &estimates;
  bool layers =
      status == VINCI_OK && (graph_has_layers(&graph) || settings->cuts) && !settings->ablate;
  if (status == VINCI_OK)
    status = net_check_layer_options(settings, &graph, diag);
  if (status == VINCI_OK)
    status = choose_savings(settings, &graph, diag);
  if (status == VINCI_OK && layers)
    status = compile_network(settings, soc, &graph, &compiled, diag);
  if (status == VINCI_OK && settings->repository)
    status = take_schedules(settings, soc, layers ? &compiled.graph : &graph, diag);
  if (status == VINCI_OK && settings->ablate)
    status = net_ablate(settings, soc, &graph, diag);
  else if (status == VINCI_OK)
    status = net_simulate(settings, words->items[0], layers ? &compiled.graph : &graph, soc,
                          &result, diag);
  settings->estimates = NULL;
  estimates_free(&estimates);
  compiled_free(&compiled);
  arena_free(&result.arena);
  graph_free(&graph);
  vinci_soc_free(soc);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct net_run_settings settings = {.command = {verb, argc, argv}, .repeat = 2};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    enum vinci_status status = run_words(&settings, &words, &diag);
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
  }
  net_model_free(&settings.model);
  text_list_free(&settings.sets);
  values_settings_free(&settings.values);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_net_run = {
    .name = "net run",
    .arguments = "GRAPH",
    .summary = "Simulate a network and say where its time goes",
    .details =
        "GRAPH is a file as GRAPH.md describes, or an ONNX model; '-' is standard input.\n"
        "The kernels run in their order on one chip: each finds in L2 what those before have left. "
        "A kernel that\n"
        "met the same context before is not simulated again, unless --exact asks for all.\n"
        "Example:\n"
        "  vinci net run traces/examples/two_layers.graph.csv -s Ascend910B4 --host=eager\n",
    .options = {run_options, sizeof run_options / sizeof *run_options},
    .run = run,
};
