/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a finished point: the cells of its row, from status to hbm. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/result/metrics.h"
#include "networks/workload/network.h"
#include "studies/sweep/sweep.h"

enum { ERROR_MAX = 1200 };

/* The first columns, then those at the end of the row. */
static const unsigned places[] = {IN_SWEEP, IN_SWEEP_END};
enum { PLACES = sizeof places / sizeof *places };

static void write_network_header(FILE *out) {
  struct network_metric list[NETWORK_METRICS_MAX];
  size_t count = network_metrics(NULL, list);
  for (size_t i = 0; i < count; i++)
    fprintf(out, ",%s", list[i].name);
}

void sweep_record_header(bool networks, FILE *out) {
  struct metric_list list;
  metrics_collect(NULL, &list);
  fputs("status,exit_code,error", out);
  if (networks) {
    write_network_header(out);
    return;
  }
  for (unsigned p = 0; p < PLACES; p++)
    for (size_t i = 0; i < list.count; i++)
      if (list.item[i].counter->places & places[p])
        fprintf(out, ",%s", list.item[i].printed);
}

/* What a point gave: a run, or that of a network. */
struct outcome {
  bool networks;
  vinci_result *result;
  struct vinci_net_result network;
};

static void write_network(FILE *out, const struct vinci_net_result *result) {
  struct network_metric list[NETWORK_METRICS_MAX];
  size_t count = network_metrics(result, list);
  for (size_t i = 0; i < count; i++)
    if (result)
      fprintf(out, ",%" PRIu64, list[i].value);
    else
      fputc(',', out);
}

/* The figures of a finished point; without a result their empty cells. */
static void write_figures(FILE *out, const struct outcome *outcome, bool good) {
  const struct vinci_result *result = good ? outcome->result : NULL;
  struct metric_list list;
  if (outcome->networks) {
    write_network(out, good ? &outcome->network : NULL);
    return;
  }
  metrics_collect(result, &list);
  for (unsigned p = 0; p < PLACES; p++)
    for (size_t i = 0; i < list.count; i++)
      if (list.item[i].counter->places & places[p])
        fprintf(out, ",%s",
                result ? counter_decimal(list.item[i].counter, list.item[i].value).text : "");
}

/* "failed" with its exit code and reason; the figures stay empty: they could not be compared. */
static void write_failure(FILE *out, bool networks, const char *status, int exit_code,
                          const char *text) {
  fprintf(out, "%s,%d,", status, exit_code);
  cell_write(out, text);
  write_figures(out, &(struct outcome){.networks = networks}, false);
}

static void write_diag(FILE *out, bool networks, const struct vinci_diag *diag) {
  char text[ERROR_MAX];
  if (diag->path[0] && diag->line > 0)
    snprintf(text, sizeof text, "%.200s:%lu: %.800s", diag->path, diag->line, diag->text);
  else if (diag->path[0])
    snprintf(text, sizeof text, "%.200s: %.800s", diag->path, diag->text);
  else
    snprintf(text, sizeof text, "%.800s", diag->text);
  static const char *const names[] = {"ok",    "regression", "usage", "rejected", "mismatch",
                                      "check", "hang",       "limit", "internal"};
  int code = vinci_status_exit_code(diag->status);
  write_failure(out, networks, diag->status == VINCI_E_IO ? "io" : names[code], code, text);
}

void sweep_crash_cells(const struct sweep_study *study, int signal_number, char *cells,
                       size_t size) {
  char text[96];
  FILE *out = fmemopen(cells, size, "w");
  if (!out)
    return;
  snprintf(text, sizeof text, "the worker was ended by signal %d (%s)", signal_number,
           strsignal(signal_number));
  write_failure(out, study->spec.workload.net, "crashed", vinci_status_exit_code(VINCI_E_INTERNAL),
                text);
  fclose(out);
}

struct asking {
  bool (*stop)(void *context);
  void *context;
};

static bool go_on(void *context, uint64_t cycles, unsigned done_permille) {
  const struct asking *asking = context;
  (void)cycles;
  (void)done_permille;
  return !asking->stop(asking->context);
}

static bool node_go_on(void *context, size_t done, size_t all) {
  const struct asking *asking = context;
  (void)done;
  (void)all;
  return !asking->stop(asking->context);
}

static enum vinci_status simulate(const struct sweep_study *study, struct chip_cache *chips,
                                  size_t point, struct asking *asking, struct outcome *out,
                                  struct vinci_diag *diag) {
  struct network_watch watch = {.progress = node_go_on, .context = asking};
  struct vinci_run_options options;
  struct arena scratch = {0};
  struct workload workload;
  vinci_soc *soc = NULL;
  vinci_trace *trace = NULL;
  enum vinci_status status = sweep_options(study, point, &options, diag);
  options.progress = go_on;
  options.progress_context = asking;
  if (status == VINCI_OK)
    status = sweep_resolve(study, chips, point, &soc, diag);
  if (status == VINCI_OK && !sweep_workload(study, point, &scratch, &workload))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK && out->networks)
    status = network_run(&workload, soc, &options, &watch, &out->network, NULL, diag);
  else if (status == VINCI_OK)
    status = workload_open(&workload, soc, &trace, diag);
  if (status == VINCI_OK && !out->networks)
    status = vinci_run(soc, trace, &options, &out->result, diag);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
  arena_free(&scratch);
  return status;
}

bool sweep_run_point(const struct sweep_study *study, struct chip_cache *chips, size_t point,
                     bool (*stop)(void *context), void *context, char *cells, size_t size) {
  struct vinci_diag diag = {0};
  struct asking asking = {stop, context};
  struct outcome outcome = {.networks = study->spec.workload.net};
  enum vinci_status status = simulate(study, chips, point, &asking, &outcome, &diag);
  bool stopped = status == VINCI_E_LIMIT && stop(context);
  FILE *out = stopped ? NULL : fmemopen(cells, size, "w");
  if (out && status == VINCI_OK) {
    fputs("ok,0,", out);
    write_figures(out, &outcome, true);
  } else if (out) {
    diag.status = status;
    write_diag(out, outcome.networks, &diag);
  }
  if (out)
    fclose(out);
  vinci_result_free(outcome.result);
  return out != NULL;
}
