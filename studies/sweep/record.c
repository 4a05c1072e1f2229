/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a finished point: the cells of its row, from status to hbm. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/result/metrics.h"
#include "core/result/result_energy.h"
#include "networks/workload/network.h"
#include "studies/files/failure.h"
#include "studies/sweep/sweep.h"

/* The first columns, then those at the end of the row. */
static const unsigned places[] = {IN_SWEEP, IN_SWEEP_END};
enum { PLACES = sizeof places / sizeof *places };

static void write_network_header(FILE *out) {
  struct network_metric list[NETWORK_METRICS_MAX];
  size_t count = network_metrics(NULL, list);
  for (size_t i = 0; i < count; i++)
    fprintf(out, ",%s", list[i].name);
}

static void write_kernel_header(FILE *out) {
  struct metric_list list;
  metrics_collect(NULL, &list);
  for (unsigned p = 0; p < PLACES; p++)
    for (size_t i = 0; i < list.count; i++)
      if (list.item[i].counter->places & places[p])
        fprintf(out, ",%s", list.item[i].printed);
}

/* The product with the time is that of the value, in uJ times us. */
static const char energy_header[] =
    ",energy.uj,energy.low_uj,energy.high_uj,energy.average_w,energy.edp_uj_us";
enum { ENERGY_CELLS = 5 };

void sweep_record_header(struct sweep_columns columns, FILE *out) {
  fputs("status,exit_code,error", out);
  if (columns.networks)
    write_network_header(out);
  else if (columns.jobs)
    sweep_job_header(out);
  else
    write_kernel_header(out);
  if (columns.energy)
    fputs(energy_header, out);
}

/* Whether a parameter asks for the account of energy. */
static bool asks_for_energy(const char *key, size_t length) {
  static const char word[] = "energy";
  return length >= sizeof word - 1 && strncmp(key, word, sizeof word - 1) == 0 &&
         (length == sizeof word - 1 || key[sizeof word - 1] == '.');
}

static struct sweep_columns columns_of(const struct sweep_study *study) {
  struct sweep_columns columns = {.networks = study->spec.workload.net,
                                  .jobs = sweep_is_of_jobs(study)};
  for (size_t p = 0; p < study->param_count; p++)
    columns.energy |= asks_for_energy(study->keys[p], strlen(study->keys[p]));
  return columns;
}

struct sweep_columns sweep_columns_of(const char *manifest) {
  static const char network[] = SWEEP_NETWORK_COLUMN, job[] = SWEEP_JOB_COLUMN;
  struct sweep_columns columns = {0};
  for (const char *cell = manifest; cell;) {
    size_t length = strcspn(cell, ",");
    bool last = cell[length] == '\0';
    columns.networks = last && strcmp(cell, network) == 0;
    columns.jobs = last && strcmp(cell, job) == 0;
    columns.energy |= asks_for_energy(cell, length);
    cell = last ? NULL : cell + length + 1;
  }
  return columns;
}

/* What a point gave: a run, or that of a network or a job. */
struct outcome {
  struct sweep_columns columns;
  vinci_result *result;
  struct vinci_net_result network;
  struct sweep_job_result job;
};

static void write_energy(FILE *out, struct vinci_energy energy, uint64_t time_ps) {
  enum { UJ_DIGITS = 6, W_DIGITS = 3, EDP_DIGITS = 6 };
  const uint64_t ps_pj = UINT64_C(1000000000000); /* in a us and a uJ */
  fprintf(out, ",%s", decimal_exact(energy.pj, UJ_DIGITS).text);
  fprintf(out, ",%s", decimal_exact(energy.low_pj, UJ_DIGITS).text);
  fprintf(out, ",%s", decimal_exact(energy.high_pj, UJ_DIGITS).text);
  fprintf(out, ",%s", decimal_ratio(energy.pj, time_ps, W_DIGITS).text);
  fprintf(out, ",%s", decimal_ratio((uint128)energy.pj * time_ps, ps_pj, EDP_DIGITS).text);
}

static void write_outcome_energy(FILE *out, const struct outcome *outcome) {
  const struct vinci_net_result *network = &outcome->network;
  struct vinci_energy energy = {network->energy_pj, network->energy_low_pj,
                                network->energy_high_pj};
  uint64_t time_ps = network->end_ps;
  if (outcome->columns.jobs) {
    energy = outcome->job.energy;
    time_ps = outcome->job.time_ps;
  } else if (!outcome->columns.networks) {
    (void)vinci_result_energy(outcome->result, &energy);
    time_ps = outcome->result->total_ps;
  }
  write_energy(out, energy, time_ps);
}

static void write_network(FILE *out, const struct vinci_net_result *result) {
  struct network_metric list[NETWORK_METRICS_MAX];
  size_t count = network_metrics(result, list);
  for (size_t i = 0; i < count; i++)
    if (result)
      fprintf(out, ",%" PRIu64, list[i].value);
    else
      fputc(',', out);
}

static void write_kernel(FILE *out, const struct vinci_result *result) {
  struct metric_list list;
  metrics_collect(result, &list);
  for (unsigned p = 0; p < PLACES; p++)
    for (size_t i = 0; i < list.count; i++)
      if (list.item[i].counter->places & places[p])
        fprintf(out, ",%s",
                result ? counter_decimal(list.item[i].counter, list.item[i].value).text : "");
}

/* The figures of a finished point; without a result their empty cells. */
static void write_figures(FILE *out, const struct outcome *outcome, bool good) {
  if (outcome->columns.networks)
    write_network(out, good ? &outcome->network : NULL);
  else if (outcome->columns.jobs)
    sweep_job_cells(good ? &outcome->job : NULL, out);
  else
    write_kernel(out, good ? outcome->result : NULL);
  if (outcome->columns.energy && good)
    write_outcome_energy(out, outcome);
  else if (outcome->columns.energy)
    fprintf(out, "%.*s", ENERGY_CELLS, ",,,,,");
}

/* "failed" with its exit code and reason; the figures stay empty: they could not be compared. */
static void write_failure(FILE *out, struct sweep_columns columns, const char *status,
                          int exit_code, const char *text) {
  fprintf(out, "%s,%d,", status, exit_code);
  cell_write(out, text);
  write_figures(out, &(struct outcome){.columns = columns}, false);
}

static void write_diag(FILE *out, struct sweep_columns columns, const struct vinci_diag *diag) {
  char text[FAILURE_BYTES];
  failure_text(diag, text, sizeof text);
  static const char *const names[] = {"ok",    "regression", "usage", "rejected", "mismatch",
                                      "check", "hang",       "limit", "internal"};
  int code = vinci_status_exit_code(diag->status);
  write_failure(out, columns, diag->status == VINCI_E_IO ? "io" : names[code], code, text);
}

void sweep_crash_cells(const struct sweep_study *study, int signal_number, char *cells,
                       size_t size) {
  char text[96];
  FILE *out = fmemopen(cells, size, "w");
  if (!out)
    return;
  snprintf(text, sizeof text, "the worker was ended by signal %d (%s)", signal_number,
           strsignal(signal_number));
  write_failure(out, columns_of(study), "crashed", vinci_status_exit_code(VINCI_E_INTERNAL), text);
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
  if (out->columns.jobs)
    return status == VINCI_OK
               ? sweep_run_job(study, chips, point, node_go_on, asking, &out->job, diag)
               : status;
  if (status == VINCI_OK)
    status = sweep_resolve(study, chips, point, &soc, diag);
  if (status == VINCI_OK && !sweep_workload(study, point, &scratch, &workload))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK && out->columns.networks)
    status = network_run(&workload, soc, &options, &watch, &out->network, NULL, diag);
  else if (status == VINCI_OK)
    status = workload_open(&workload, soc, &trace, diag);
  if (status == VINCI_OK && !out->columns.networks)
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
  struct outcome outcome = {.columns = columns_of(study)};
  enum vinci_status status = simulate(study, chips, point, &asking, &outcome, &diag);
  bool stopped = status == VINCI_E_LIMIT && stop(context);
  FILE *out = stopped ? NULL : fmemopen(cells, size, "w");
  if (out && status == VINCI_OK) {
    fputs("ok,0,", out);
    write_figures(out, &outcome, true);
  } else if (out) {
    diag.status = status;
    write_diag(out, outcome.columns, &diag);
  }
  if (out)
    fclose(out);
  vinci_result_free(outcome.result);
  return out != NULL;
}
