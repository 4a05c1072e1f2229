/* SPDX-License-Identifier: Apache-2.0 */
/* vinci replay: a profile as a graph, simulated and compared with what was measured. */
#include <stdlib.h>
#include <string.h>

#include "cli/net/net.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/base/sheet.h"
#include "networks/graph/text.h"
#include "networks/run/profile.h"

enum { HOST_WAIT_US = 1000, HOST_WAIT_US_MAX = 1000000000, TYPES_MAX = 1024 };
enum { WITHIN = 12, WITHIN_MAX = 1000 }; /* per cent */
#define PS_PER_US UINT64_C(1000000)

struct replay_settings {
  struct net_run_settings run;
  const char *host_costs, *graph, *device;
  uint64_t host_wait_us, within; /* within: per cent */
};

/* Rows of NET_OPTION_ROWS are of what run points to: the first member. */
static const struct option_row replay_options[] = {
    NET_OPTION_ROWS(struct net_run_settings),
    OPTION_TEXT_ROW("host-costs", 0, struct replay_settings, host_costs, "FILE",
                    "CSV with columns type and mean_us: host time before a launch, by type; else "
                    "as --host says"),
    OPTION_NUMBER_ROW(
        "host-wait", 0, struct replay_settings, host_wait_us, "US", 0, HOST_WAIT_US_MAX,
        "a gap of the profile of at least as much is a wait of the host, and is taken "
        "as measured (default 1000; 0: none is)"),
    OPTION_TEXT_ROW("device", 0, struct replay_settings, device, "ID",
                    "take the launches of this device alone, of a profile of several"),
    OPTION_NUMBER_ROW("within", 0, struct replay_settings, within, "PERCENT", 1, WITHIN_MAX,
                      "count the types and rows whose error is at most this (default 12)"),
    OPTION_TEXT_ROW("graph", 0, struct replay_settings, graph, "FILE",
                    "write the profile as a graph too, for 'vinci net run'"),
};

/* ---- comparison ------------------------------------------------------------------------------ */

struct type_sum {
  const char *type;
  size_t rows;
  uint64_t measured_ps, simulated_ps;
  uint64_t within_ps; /* of measured_ps, of rows whose own error is within the limit */
};

static int by_measured(const void *a, const void *b) {
  const struct type_sum *one = a, *other = b;
  if (one->measured_ps != other->measured_ps)
    return one->measured_ps > other->measured_ps ? -1 : 1;
  return strcmp(one->type, other->type);
}

static bool is_simulated(const struct net_node *row) {
  return row->from == NET_SIMULATED || row->from == NET_REMEMBERED;
}

static bool is_within(uint64_t simulated, uint64_t measured, uint64_t percent) {
  uint64_t apart = simulated < measured ? measured - simulated : simulated - measured;
  return (uint128)apart * 100 <= (uint128)measured * percent;
}

static size_t sum_types(const struct graph *graph, const struct net_result *result,
                        uint64_t percent, struct type_sum *sums) {
  size_t count = 0;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct graph_node *node = &graph->nodes[i];
    size_t at = 0;
    if (!is_simulated(&result->nodes[i]) || node->duration_ps == 0)
      continue;
    while (at < count && strcmp(sums[at].type, node->origin) != 0)
      at++;
    if (at == TYPES_MAX)
      continue;
    if (at == count)
      sums[count++] = (struct type_sum){.type = node->origin};
    sums[at].rows++;
    sums[at].measured_ps += node->duration_ps;
    sums[at].simulated_ps += result->nodes[i].task.duration_ps;
    if (is_within(result->nodes[i].task.duration_ps, node->duration_ps, percent))
      sums[at].within_ps += node->duration_ps;
  }
  qsort(sums, count, sizeof *sums, by_measured);
  return count;
}

static struct decimal ms(uint64_t ps) { return decimal_ratio(ps, 1000 * PS_PER_US, 3); }

/* "-3.1 %" */
static void print_error(uint64_t simulated, uint64_t measured) {
  bool less = simulated < measured;
  uint64_t apart = less ? measured - simulated : simulated - measured;
  printf(" %s%s %%", less ? "-" : "+", decimal_ratio((uint128)apart * 100, measured, 1).text);
}

static void print_pair(const char *what, uint64_t simulated, uint64_t measured) {
  printf("%-10s %11s ms simulated, %11s ms measured", what, ms(simulated).text, ms(measured).text);
  if (measured > 0)
    print_error(simulated, measured);
  fputc('\n', stdout);
}

/* How many types of those that are printed, and rows of them, are near enough. */
static void print_within(const struct type_sum *sums, size_t count, uint64_t percent) {
  size_t types = 0;
  uint64_t all_ps = 0, types_ps = 0, rows_ps = 0;
  for (size_t i = 0; i < count; i++) {
    bool within = is_within(sums[i].simulated_ps, sums[i].measured_ps, percent);
    types += within;
    types_ps += within ? sums[i].measured_ps : 0;
    rows_ps += sums[i].within_ps;
    all_ps += sums[i].measured_ps;
  }
  if (count == 0)
    return;
  struct sheet_lines lines;
  FILE *out = sheet_lines_begin(&lines, stdout);
  fprintf(out, "within %llu %%: %zu of %zu types of at least 1 %% of the time,",
          (unsigned long long)percent, types, count);
  fprintf(out, " which are %s %% of that time;",
          decimal_ratio((uint128)types_ps * 100, all_ps, 1).text);
  fprintf(out, " single rows: %s %% of that time\n",
          decimal_ratio((uint128)rows_ps * 100, all_ps, 1).text);
  sheet_lines_end(&lines);
}

/* Types of at least 1 % of the measured time. */
static void print_types(const struct graph *graph, const struct net_result *result,
                        const struct profile_counts *counts, uint64_t percent) {
  struct type_sum *sums = calloc(TYPES_MAX, sizeof *sums);
  size_t count = sums ? sum_types(graph, result, percent, sums) : 0, printed = 0;
  printf("\n%-28s %7s %13s %13s  %s\n", "simulated kernels", "rows", "measured ms", "simulated ms",
         "error");
  for (size_t i = 0; i < count; i++) {
    if (sums[i].measured_ps * 100 < counts->measured_core_ps)
      break;
    printf("%-28.28s %7zu %13s %13s ", sums[i].type, sums[i].rows, ms(sums[i].measured_ps).text,
           ms(sums[i].simulated_ps).text);
    print_error(sums[i].simulated_ps, sums[i].measured_ps);
    fputc('\n', stdout);
    printed = i + 1;
  }
  print_within(sums, printed, percent);
  free(sums);
}

/* From the start of the first row on cores to the end of the last. */
static uint64_t span_of(const struct graph *graph, const struct net_result *result) {
  uint64_t first = UINT64_MAX, end = 0;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct queue_task *task = &result->nodes[i].task;
    if (graph->nodes[i].stream != 0 || strcmp(graph->nodes[i].op, "HOST") == 0)
      continue;
    first = task->start_ps < first ? task->start_ps : first;
    end = task->start_ps + task->duration_ps > end ? task->start_ps + task->duration_ps : end;
  }
  return end > first ? end - first : 0;
}

static void compare(const struct graph *graph, const struct net_result *result,
                    const struct profile_counts *counts, uint64_t percent) {
  uint64_t span = span_of(graph, result), core = result->queue.core_ps;
  sheet_line(
      stdout,
      "\n%zu rows are simulated, %zu have the measured duration, %zu waits of the host are as "
      "measured\n",
      counts->kernels, counts->tasks, counts->host_waits);
  if (counts->unknown_cost > 0)
    printf("%llu rows are of a type without a host cost and take that of --host\n",
           (unsigned long long)counts->unknown_cost);
  print_pair("computing", core, counts->measured_core_ps);
  if (counts->measured_span_ps > counts->measured_core_ps) {
    print_pair("idle", span - core, counts->measured_span_ps - counts->measured_core_ps);
    print_pair("span", span, counts->measured_span_ps);
  }
  print_types(graph, result, counts, percent);
}

/* ---- the run --------------------------------------------------------------------------------- */

static void write_graph(void *context, FILE *out) { graph_text_write(context, out); }

static enum vinci_status replay(const struct replay_settings *settings, const char *path,
                                struct vinci_diag *diag) {
  struct profile_options options = {.host_costs = settings->host_costs,
                                    .host_wait_ps = settings->host_wait_us * PS_PER_US,
                                    .device = settings->device};
  struct profile_counts counts;
  struct graph graph = {0};
  struct net_result result = {0};
  vinci_soc *soc = NULL;
  enum vinci_status status =
      cli_load_soc(settings->run.soc, settings->run.data, &settings->run.sets, &soc, diag);
  if (status == VINCI_OK)
    status = profile_graph(path, soc, &options, &graph, &counts, diag);
  if (status == VINCI_OK && settings->graph)
    status = file_replace(settings->graph, write_graph, &graph, diag);
  if (status == VINCI_OK)
    status = net_simulate(&settings->run, path, &graph, soc, &result, diag);
  if (status == VINCI_OK && !settings->run.quiet)
    compare(&graph, &result, &counts, settings->within);
  arena_free(&result.arena);
  graph_free(&graph);
  vinci_soc_free(soc);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct replay_settings settings = {
      .run = {.command = {verb, argc, argv}, .repeat = 1, .host = "eager"},
      .host_wait_us = HOST_WAIT_US,
      .within = WITHIN};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    diag.warn = cli_warn(settings.run.quiet);
    enum vinci_status status =
        words.count == 1
            ? replay(&settings, words.items[0], &diag)
            : diag_error(&diag, VINCI_E_USAGE, "give one profile, not %zu", words.count);
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
  }
  text_list_free(&settings.run.sets);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_verb_replay = {
    .name = "replay",
    .arguments = "PROFILE",
    .summary = "Simulate a profile with its queue and host, and compare with what was measured",
    .details =
        "PROFILE is the profiler's kernel_details.csv. Rows that can be lowered are simulated, "
        "each\n"
        "with what those before have left in L2; the others take their measured time on their\n"
        "unit. The host launches one by one; waits of the host are taken from the profile.\n"
        "Example:\n"
        "  vinci replay kernel_details.csv -s Ascend910B4 --memory=flat --output=out\n",
    .options = {replay_options, sizeof replay_options / sizeof *replay_options},
    .run = run,
};
