/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors by source of the rows, and what the other sources say of each source.
 *
 * The parameters of the model were chosen with all sources in view and are not fitted anew here:
 * the first table only shows whether one source is worse than the rest. What is fitted anew are two
 * straight lines in the number of blocks, by least squares with weights of 1 / time: the gap
 * between the measured duration and the measured core time (launch and end), and the start of a
 * kernel: the core time in which no pipe but the scalar unit was busy, of kernels where that is
 * most of the core time, as their pipes work one after the other.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/accuracy_account.h"

enum { SOURCES_MAX = 32, NAME_BYTES = 160 };

/* A kernel is mostly start when only its scalar unit works in this share of the core time. */
static const double start_share = 0.5;

/* Repository and folder, without the names of files: those say nothing. */
static void source_of(const struct accuracy_row *row, char name[static NAME_BYTES]) {
  const char *cell = row->source->cell[CALL_SOURCE];
  size_t length = strcspn(cell, ";");
  for (size_t left = 2; left > 0 && length > 0; left--)
    while (length > 0 && cell[--length] != '/')
      ;
  snprintf(name, NAME_BYTES, "%s %.*s", row->result->cell[CALL_SOC], (int)length, cell);
}

static size_t sources_of(const struct accuracy_rows *rows, char names[][NAME_BYTES]) {
  size_t count = 0;
  for (size_t i = 0; i < rows->count; i++) {
    char name[NAME_BYTES];
    size_t known = 0;
    source_of(&rows->row[i], name);
    while (known < count && strcmp(names[known], name) != 0)
      known++;
    if (known == count && count < SOURCES_MAX)
      memcpy(names[count++], name, sizeof name);
  }
  return count;
}

static bool is_of(const struct accuracy_row *row, const char *source) {
  char name[NAME_BYTES];
  source_of(row, name);
  return strcmp(name, source) == 0;
}

/* ---- lines in the number of blocks ---- */

static double gap_of(const struct accuracy_row *row) {
  return row->second ? NAN : row->measured.duration - row->measured.core;
}

static double unworked(const struct accuracy_times *times) {
  double work = 0;
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    if (pipe != PIPE_S && !isnan(times->pipe[pipe]))
      work += times->pipe[pipe];
  return times->core - work;
}

static double start_of(const struct accuracy_row *row) {
  double start = unworked(&row->measured);
  return start >= start_share * row->measured.core ? start : NAN;
}

struct line {
  double constant, slope;
};

/* Sums with the weight 1 / y, so that neither short nor long times decide alone. */
struct moments {
  double w, x, y, xx, xy;
};

static struct line fit(const struct moments *m) {
  double determinant = m->w * m->xx - m->x * m->x;
  if (fabs(determinant) < 1e-12)
    return (struct line){.constant = m->w > 0 ? m->y / m->w : NAN};
  double slope = (m->w * m->xy - m->x * m->y) / determinant;
  return (struct line){.constant = (m->y - slope * m->x) / m->w, .slope = slope};
}

static struct line fit_without(const struct accuracy_rows *rows, const char *held_out,
                               double (*value)(const struct accuracy_row *)) {
  struct moments m = {0};
  for (size_t i = 0; i < rows->count; i++) {
    const struct accuracy_row *row = &rows->row[i];
    double x = strtod(row->source->cell[CALL_BLOCKS], NULL), y = value(row);
    if (!row->simulated || is_of(row, held_out) || !(y > 0) || !(x > 0))
      continue;
    double w = 1 / y;
    m.w += w, m.x += w * x, m.y += w * y, m.xx += w * x * x, m.xy += w * x * y;
  }
  return fit(&m);
}

static void print_fit(const struct accuracy_rows *rows, const char *source, const char *what,
                      double (*value)(const struct accuracy_row *),
                      double (*model)(const struct accuracy_row *)) {
  static struct accuracy_errors fitted, modelled;
  struct line line = fit_without(rows, source, value);
  fitted.count = modelled.count = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const struct accuracy_row *row = &rows->row[i];
    double x = strtod(row->source->cell[CALL_BLOCKS], NULL), y = value(row);
    if (!row->simulated || !is_of(row, source) || !(y > 0) || !(x > 0))
      continue;
    accuracy_errors_add(&fitted, (line.constant + line.slope * x) / y - 1);
    accuracy_errors_add(&modelled, model(row) / y - 1);
  }
  printf("    %-6s %3zu rows; line of the other sources %.2f us + %.3f us a block: mean %5.1f %%, "
         "bias %+6.1f %%; the model: mean %5.1f %%, bias %+6.1f %%\n",
         what, fitted.count, line.constant, line.slope, 100 * accuracy_mean(&fitted),
         100 * accuracy_bias(&fitted), 100 * accuracy_mean(&modelled),
         100 * accuracy_bias(&modelled));
}

static double model_gap(const struct accuracy_row *row) {
  return row->model.duration - row->model.core;
}
static double model_start(const struct accuracy_row *row) { return unworked(&row->model); }

/* ---- the table ---- */

static void print_errors(const struct accuracy_rows *rows, const char *source,
                         enum accuracy_measure measure) {
  static struct accuracy_errors errors;
  errors.count = 0;
  for (size_t i = 0; i < rows->count; i++)
    if (is_of(&rows->row[i], source))
      accuracy_errors_add(&errors, accuracy_row_error(&rows->row[i], measure));
  printf("    %-8s %3zu rows, mean %5.1f %%, median %5.1f %%, bias %+6.1f %%\n",
         accuracy_measure_name(measure), errors.count, 100 * accuracy_mean(&errors),
         100 * accuracy_quantile(&errors, 0.5), 100 * accuracy_bias(&errors));
}

void accuracy_sources_print(const struct accuracy_rows *rows) {
  static char names[SOURCES_MAX][NAME_BYTES];
  size_t count = sources_of(rows, names);
  printf("\nBy source. The parameters of the model are shared and were chosen with all sources in "
         "view; they are not fitted anew without a source.\nFitted anew on all sources but the "
         "named one, and tried on it: launch and end (gap), and the start of kernels, as lines in "
         "the number of blocks\n");
  for (size_t i = 0; i < count; i++) {
    printf("  %s\n", names[i]);
    print_errors(rows, names[i], MEASURE_DURATION);
    print_errors(rows, names[i], MEASURE_CORE);
    print_fit(rows, names[i], "gap", gap_of, model_gap);
    print_fit(rows, names[i], "start", start_of, model_start);
  }
}
