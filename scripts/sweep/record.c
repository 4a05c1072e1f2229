/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a finished point: the cells of its row, from status to hbm. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/result/metrics.h"
#include "scripts/study/cells.h"
#include "scripts/sweep/sweep.h"

enum { PPM_DIGITS = 6, ERROR_MAX = 1200 };

/* Counters of the metrics list that are columns as they are. */
static const char *const counters[] = {"l2.read_hits",    "l2.read_misses", "l2.write_hits",
                                       "l2.write_misses", "l2.writebacks",  "hbm.read_bytes",
                                       "hbm.write_bytes", "hbm.row_hits",   "hbm.row_misses"};
enum { COUNTER_COUNT = sizeof counters / sizeof *counters };

void sweep_record_header(FILE *out) {
  fputs("status,exit_code,error,total_cycles,duration_us,bound,instructions", out);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    fprintf(out, ",utilization.%s", pipe_name((enum pipe)pipe));
  fputs(",bytes.gm_read,bytes.gm_write", out);
  for (unsigned path = 0; path < PATH_COUNT; path++)
    fprintf(out, ",bytes.%s_%s", space_name(path_from((enum path)path)),
            space_name(path_to((enum path)path)));
  for (size_t i = 0; i < COUNTER_COUNT; i++)
    fprintf(out, ",%s", counters[i]);
  fputs(",l2.hit_rate,hbm.peak_fraction,noc.max_link_utilization", out);
}

enum { FIGURES = 4 + PIPE_COUNT + 2 + PATH_COUNT + COUNTER_COUNT + 3 };

static uint64_t metric_value(const struct metric_list *list, const char *name) {
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->item[i].name, name) == 0)
      return list->item[i].value;
  return 0;
}

static void write_ppm(FILE *out, uint64_t ppm) {
  fprintf(out, ",%s", decimal_exact(ppm, PPM_DIGITS).text);
}

static void write_figures(FILE *out, const struct vinci_result *result) {
  struct metric_list list;
  metrics_collect(result, &list);
  fprintf(out, ",%" PRIu64 ",%s,%s,%" PRIu64, result->total_cycles,
          decimal_exact(result->total_ps, PPM_DIGITS).text, bound_name(result_bound(result)),
          result->executed_instructions);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    struct pipe_counters sum;
    uint64_t total;
    result_sum_pipe(result, (enum pipe)pipe, true, &sum, &total);
    write_ppm(out, result_share_ppm(sum.busy_cycles, total));
  }
  fprintf(out, ",%" PRIu64 ",%" PRIu64, result->gm_read_bytes, result->gm_write_bytes);
  for (unsigned path = 0; path < PATH_COUNT; path++)
    fprintf(out, ",%" PRIu64, result_path_bytes(result, (enum path)path));
  for (size_t i = 0; i < COUNTER_COUNT; i++)
    fprintf(out, ",%" PRIu64, metric_value(&list, counters[i]));
  const struct l2_counters *l2 = &result->l2;
  uint64_t hits = l2->read_hits + l2->write_hits;
  write_ppm(out, result_share_ppm(hits, hits + l2->read_misses + l2->write_misses));
  write_ppm(out, result_bandwidth_ppm(result, result->hbm.read_bytes + result->hbm.write_bytes,
                                      result->hbm_peak_bytes_per_second));
  write_ppm(out, result->noc_max_link_ppm);
}

/* "failed" with its exit code and reason; the figures stay empty: they could not be compared. */
static void write_failure(FILE *out, const char *status, int exit_code, const char *text) {
  fprintf(out, "%s,%d,", status, exit_code);
  cell_write(out, text);
  for (unsigned i = 0; i < FIGURES; i++)
    fputc(',', out);
}

static void write_diag(FILE *out, const struct vinci_diag *diag) {
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
  write_failure(out, diag->status == VINCI_E_IO ? "io" : names[code], code, text);
}

void sweep_crash_cells(int signal_number, char *cells, size_t size) {
  char text[96];
  FILE *out = fmemopen(cells, size, "w");
  if (!out)
    return;
  snprintf(text, sizeof text, "the worker was ended by signal %d (%s)", signal_number,
           strsignal(signal_number));
  write_failure(out, "crashed", vinci_status_exit_code(VINCI_E_INTERNAL), text);
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

static enum vinci_status simulate(const struct sweep_study *study, struct chip_cache *chips,
                                  size_t point, struct asking *asking, vinci_result **result,
                                  struct vinci_diag *diag) {
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
  if (status == VINCI_OK)
    status = workload_open(&workload, soc, &trace, diag);
  if (status == VINCI_OK)
    status = vinci_run(soc, trace, &options, result, diag);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
  arena_free(&scratch);
  return status;
}

bool sweep_run_point(const struct sweep_study *study, struct chip_cache *chips, size_t point,
                     bool (*stop)(void *context), void *context, char *cells, size_t size) {
  struct vinci_diag diag = {0};
  struct asking asking = {stop, context};
  vinci_result *result = NULL;
  enum vinci_status status = simulate(study, chips, point, &asking, &result, &diag);
  bool stopped = status == VINCI_E_LIMIT && stop(context);
  FILE *out = stopped ? NULL : fmemopen(cells, size, "w");
  if (out && status == VINCI_OK) {
    fputs("ok,0,", out);
    write_figures(out, result);
  } else if (out) {
    diag.status = status;
    write_diag(out, &diag);
  }
  if (out)
    fclose(out);
  vinci_result_free(result);
  return out != NULL;
}
