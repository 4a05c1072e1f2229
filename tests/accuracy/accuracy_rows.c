/* SPDX-License-Identifier: Apache-2.0 */
/* Measured and simulated rows side by side, and the errors between them. */
#include "tests/accuracy/accuracy_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/chip/soc.h"

/* A pipe that was busy for less of the duration says nothing about the kernel. */
static const double least_share = 0.10;

static void give_up(const struct vinci_diag *diag) {
  vinci_diag_print(diag, stderr);
  exit(EXIT_FAILURE);
}

static bool ends(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* By the operator that stands for the row's type: "matmul m=4 ...". */
static enum expected_class class_of(const struct call_row *result) {
  char op[WORD_BYTES_MAX];
  const char *lowered = result->cell[CALL_LOWERED];
  snprintf(op, sizeof op, "%.*s", (int)strcspn(lowered, " "), lowered);
  return expected_class_of(op);
}

/* ---- times ---- */

static double time_of(const struct call_row *row, enum call_column column) {
  uint64_t ps;
  const char *cell = row->cell[column];
  if (*cell == '\0' || strcmp(cell, "N/A") == 0 || !calls_time(cell, &ps))
    return NAN;
  return (double)ps * 1e-6;
}

static void read_times(const struct call_row *row, struct accuracy_times *times) {
  static const enum call_column pipes[PIPE_COUNT] = {
      [PIPE_M] = CALL_MAC_TIME,      [PIPE_V] = CALL_VEC_TIME,     [PIPE_S] = CALL_SCALAR_TIME,
      [PIPE_MTE1] = CALL_MTE1_TIME,  [PIPE_MTE2] = CALL_MTE2_TIME, [PIPE_MTE3] = CALL_MTE3_TIME,
      [PIPE_FIX] = CALL_FIXPIPE_TIME};
  times->duration = time_of(row, CALL_DURATION);
  times->core = time_of(row, CALL_CORE_TIME);
  times->start = time_of(row, CALL_START_TIME);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    times->pipe[pipe] = time_of(row, pipes[pipe]);
}

/* Where a profile has the cycles of all blocks together. */
static double core_time(const struct call_row *row, uint64_t hz) {
  double blocks = strtod(row->cell[CALL_BLOCKS], NULL);
  double cycles = strtod(row->cell[CALL_CORE_CYCLES], NULL);
  return blocks > 0 && cycles > 0 ? cycles / blocks * 1e6 / (double)hz : NAN;
}

static uint64_t clock_of(const char *name) {
  static char last[64];
  static uint64_t hz;
  struct vinci_diag diag = {0};
  vinci_soc *soc;
  if (strcmp(last, name) == 0)
    return hz;
  if (vinci_soc_load(name, NULL, &soc, &diag) != VINCI_OK)
    give_up(&diag);
  snprintf(last, sizeof last, "%s", name);
  hz = (uint64_t)soc->core_hz;
  vinci_soc_free(soc);
  return hz;
}

/* ---- rows ---- */

static void pair(struct accuracy_row *row, const struct call_row *source,
                 const struct call_row *result) {
  const char *soc = result->cell[CALL_SOC], *type = source->cell[CALL_TYPE];
  *row = (struct accuracy_row){.source = source,
                               .result = result,
                               .class = class_of(result),
                               .simulated = strcmp(result->cell[CALL_STATUS], "ok") == 0,
                               .second = ends(type, "@AIV") &&
                                         strcmp(source->cell[CALL_CORE], "MIX_AIC") == 0};
  read_times(source, &row->measured);
  read_times(result, &row->model);
  if (isnan(row->measured.core) && *soc)
    row->measured.core = core_time(source, clock_of(soc));
}

static void run_list(const struct accuracy_run *run) {
  struct vinci_diag diag = {0};
  struct vinci_ops_result result;
  struct vinci_ops_options options = run->options;
  options.struct_size = sizeof options;
  if (vinci_ops_run(run->list, run->folder, &options, &result, &diag) != VINCI_OK)
    give_up(&diag);
}

void accuracy_rows_read(const struct accuracy_run *run, struct accuracy_rows *out) {
  struct vinci_diag diag = {0};
  char table[4096];
  run_list(run);
  snprintf(table, sizeof table, "%s/op_summary.csv", run->folder);
  if (calls_read(run->list, &out->list, &diag) != VINCI_OK ||
      calls_read(table, &out->table, &diag) != VINCI_OK)
    give_up(&diag);
  out->count = out->list.count;
  out->row = calloc(out->count, sizeof *out->row);
  if (!out->row || out->table.count != out->count) {
    fprintf(stderr, "error: the table has %zu rows, the list has %zu\n", out->table.count,
            out->count);
    exit(EXIT_FAILURE);
  }
  for (size_t i = 0; i < out->count; i++)
    pair(&out->row[i], &out->list.rows[i], &out->table.rows[i]);
}

void accuracy_rows_free(struct accuracy_rows *rows) {
  arena_free(&rows->list.arena);
  arena_free(&rows->table.arena);
  free(rows->row);
}

/* ---- errors ---- */

static const struct {
  const char *name;
  int pipe; /* -1: none */
} measures[MEASURE_COUNT] = {[MEASURE_DURATION] = {"duration", -1},
                             [MEASURE_CORE] = {"core", -1},
                             [MEASURE_GAP] = {"gap", -1},
                             [MEASURE_WORK] = {"work", -1},
                             [MEASURE_MAC] = {"mac", PIPE_M},
                             [MEASURE_VEC] = {"vec", PIPE_V},
                             [MEASURE_MTE1] = {"mte1", PIPE_MTE1},
                             [MEASURE_MTE2] = {"mte2", PIPE_MTE2},
                             [MEASURE_MTE3] = {"mte3", PIPE_MTE3},
                             [MEASURE_SCALAR] = {"scalar", PIPE_S},
                             [MEASURE_FIXPIPE] = {"fixpipe", PIPE_FIX}};

const char *accuracy_measure_name(enum accuracy_measure measure) { return measures[measure].name; }

static double value_of(const struct accuracy_row *row, const struct accuracy_times *times,
                       enum accuracy_measure measure) {
  switch (measure) {
  case MEASURE_DURATION:
    return row->second ? NAN : times->duration;
  case MEASURE_CORE:
    return times->core;
  case MEASURE_GAP:
    return row->second ? NAN : times->duration - times->core;
  case MEASURE_WORK:
    return times->core - row->model.start;
  default:
    return times->pipe[measures[measure].pipe];
  }
}

double accuracy_row_error(const struct accuracy_row *row, enum accuracy_measure measure) {
  double measured = value_of(row, &row->measured, measure);
  double model = value_of(row, &row->model, measure);
  bool is_pipe = measures[measure].pipe >= 0;
  if (!row->simulated || !(measured > 0) || isnan(model) ||
      (is_pipe && measured < least_share * row->measured.duration))
    return NAN;
  return model / measured - 1;
}

void accuracy_errors_add(struct accuracy_errors *errors, double value) {
  if (!isnan(value) && errors->count < ACCURACY_ERRORS_MAX)
    errors->value[errors->count++] = value;
}

double accuracy_mean(const struct accuracy_errors *errors) {
  double sum = 0;
  for (size_t i = 0; i < errors->count; i++)
    sum += fabs(errors->value[i]);
  return errors->count ? sum / (double)errors->count : 0;
}

double accuracy_bias(const struct accuracy_errors *errors) {
  double sum = 0;
  for (size_t i = 0; i < errors->count; i++)
    sum += errors->value[i];
  return errors->count ? sum / (double)errors->count : 0;
}

double accuracy_share_beyond(const struct accuracy_errors *errors, double limit) {
  size_t beyond = 0;
  for (size_t i = 0; i < errors->count; i++)
    beyond += fabs(errors->value[i]) > limit;
  return errors->count ? (double)beyond / (double)errors->count : 0;
}

static int compare_sizes(const void *left, const void *right) {
  double a = fabs(*(const double *)left), b = fabs(*(const double *)right);
  return (a > b) - (a < b);
}

double accuracy_quantile(const struct accuracy_errors *errors, double share) {
  static double sorted[ACCURACY_ERRORS_MAX];
  if (errors->count == 0)
    return 0;
  memcpy(sorted, errors->value, errors->count * sizeof *sorted);
  qsort(sorted, errors->count, sizeof *sorted, compare_sizes);
  double at = share * (double)(errors->count - 1);
  size_t below = (size_t)at, above = below + 1 < errors->count ? below + 1 : below;
  double part = at - (double)below;
  return (1 - part) * fabs(sorted[below]) + part * fabs(sorted[above]);
}
