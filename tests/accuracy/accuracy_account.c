/* SPDX-License-Identifier: Apache-2.0 */
/* Where simulated time differs from measured time: by class and type of operator, and by pipe. */
#include "tests/accuracy/accuracy_account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/accuracy_exceptions.h"

enum { LABEL_WIDTH = 28, TYPES_MAX = 256, NAME_BYTES = 128 };

/* A duration is right within this error; a core beyond the same error makes it wrong. */
static const double right_limit = 0.20;

/* ---- tables ---- */

struct sums {
  struct accuracy_errors errors[MEASURE_COUNT];
};

static void add_row(struct sums *sums, const struct accuracy_row *row) {
  for (unsigned measure = 0; measure < MEASURE_COUNT; measure++)
    accuracy_errors_add(&sums->errors[measure],
                        accuracy_row_error(row, (enum accuracy_measure)measure));
}

static void print_sums(const char *label, const struct sums *sums) {
  printf("%-*.*s", LABEL_WIDTH, LABEL_WIDTH, label);
  for (unsigned measure = 0; measure < MEASURE_COUNT; measure++) {
    const struct accuracy_errors *errors = &sums->errors[measure];
    if (errors->count > 0)
      printf(" |%4zu %5.1f %+6.1f", errors->count, 100 * accuracy_mean(errors),
             100 * accuracy_bias(errors));
    else
      printf(" | %16s", "");
  }
  printf("\n");
}

static void print_head(const char *label) {
  printf("%-*s", LABEL_WIDTH, label);
  for (unsigned measure = 0; measure < MEASURE_COUNT; measure++)
    printf(" | %-16s", accuracy_measure_name((enum accuracy_measure)measure));
  printf("\n%-*s", LABEL_WIDTH, "");
  for (unsigned measure = 0; measure < MEASURE_COUNT; measure++)
    printf(" |   n  mean   bias");
  printf("\n");
}

static int compare_types(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static size_t types_of(const struct accuracy_rows *rows, const char **types) {
  size_t count = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const char *type = rows->row[i].source->cell[CALL_TYPE];
    size_t known = 0;
    while (known < count && strcmp(types[known], type) != 0)
      known++;
    if (rows->row[i].simulated && known == count && count < TYPES_MAX)
      types[count++] = type;
  }
  qsort(types, count, sizeof *types, compare_types);
  return count;
}

void accuracy_account_print(const struct accuracy_rows *rows) {
  const char *types[TYPES_MAX];
  size_t count = types_of(rows, types);
  struct sums *sums = malloc(sizeof *sums);
  if (!sums)
    exit(EXIT_FAILURE);
  printf(
      "\nAccount of time: error in %% (rows, mean of sizes, bias). core: mean time of a core with "
      "a block; gap: duration less core;\nwork: core less the model's start of the kernel, on "
      "both sides; pipes: where they were busy for 10 %% of the duration or more\n");
  print_head("class");
  for (unsigned class = 0; class <= EXPECTED_CLASS_COUNT; class ++) {
    *sums = (struct sums){0};
    for (size_t i = 0; i < rows->count; i++)
      if (class == EXPECTED_CLASS_COUNT || rows->row[i].class == class)
        add_row(sums, &rows->row[i]);
    print_sums(class == EXPECTED_CLASS_COUNT ? "all"
                                             : expected_class_name((enum expected_class) class),
               sums);
  }
  print_head("type");
  for (size_t t = 0; t < count; t++) {
    *sums = (struct sums){0};
    for (size_t i = 0; i < rows->count; i++)
      if (strcmp(rows->row[i].source->cell[CALL_TYPE], types[t]) == 0)
        add_row(sums, &rows->row[i]);
    print_sums(types[t], sums);
  }
  free(sums);
}

/* ---- targets ---- */

/* A figure of some rows that is to be small, and what it is to stay below. */
enum figure { FIGURE_NOT_RUN, FIGURE_MEAN, FIGURE_MEDIAN, FIGURE_BEYOND };

static const struct target {
  const char *name;
  enum figure figure;
  enum accuracy_measure measure;
  int class; /* -1: all */
  double limit;
} targets[] = {
    {"rows that do not run", FIGURE_NOT_RUN, MEASURE_DURATION, -1, 0.03},
    {"duration, mean", FIGURE_MEAN, MEASURE_DURATION, -1, 0.10},
    {"duration, median", FIGURE_MEDIAN, MEASURE_DURATION, -1, 0.06},
    {"duration, rows beyond 50 %", FIGURE_BEYOND, MEASURE_DURATION, -1, 0},
    {"duration, matmul, mean", FIGURE_MEAN, MEASURE_DURATION, EXPECTED_MATMUL, 0.06},
    {"duration, convolution, mean", FIGURE_MEAN, MEASURE_DURATION, EXPECTED_CONV, 0.06},
    {"core time, mean", FIGURE_MEAN, MEASURE_CORE, -1, 0.12},
    {"vec time, mean", FIGURE_MEAN, MEASURE_VEC, -1, 0.15},
    {"mte2 time, mean", FIGURE_MEAN, MEASURE_MTE2, -1, 0.15},
    {"mte3 time, mean", FIGURE_MEAN, MEASURE_MTE3, -1, 0.15},
    {"scalar time, mean", FIGURE_MEAN, MEASURE_SCALAR, -1, 0.35},
};

static double figure_of(const struct accuracy_rows *rows, const struct target *target) {
  static struct accuracy_errors errors;
  size_t run = 0;
  errors.count = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const struct accuracy_row *row = &rows->row[i];
    run += row->simulated;
    if (target->class < 0 || (int)row->class == target->class)
      accuracy_errors_add(&errors, accuracy_row_error(row, target->measure));
  }
  switch (target->figure) {
  case FIGURE_NOT_RUN:
    return 1 - (double)run / (double)rows->count;
  case FIGURE_MEAN:
    return accuracy_mean(&errors);
  case FIGURE_MEDIAN:
    return accuracy_quantile(&errors, 0.5);
  case FIGURE_BEYOND:
    break;
  }
  return accuracy_share_beyond(&errors, 0.50);
}

/* Durations that are right, and how many of them although the cores are not. */
static void print_reasons(const char *label, const struct accuracy_rows *rows) {
  size_t right = 0, wrong = 0, count = 0;
  for (size_t i = 0; i < rows->count; i++) {
    double duration = accuracy_row_error(&rows->row[i], MEASURE_DURATION);
    double core = accuracy_row_error(&rows->row[i], MEASURE_CORE);
    if (isnan(duration) || isnan(core))
      continue;
    bool near = fabs(duration) <= right_limit;
    count++;
    right += near;
    wrong += near && fabs(core) >= right_limit;
  }
  printf(
      "%-18s right for the wrong reason: %zu of %zu rows (duration within %.0f %%, core time off "
      "by %.0f %% or more); right: %zu of %zu\n",
      label, wrong, right, 100 * right_limit, 100 * right_limit, right - wrong, count);
}

bool accuracy_account_judge(const char *program, const struct accuracy_rows *own,
                            const struct accuracy_rows *profile) {
  bool met = true;
  printf("\nTargets (own blocks: the profile's Block Dim withheld)\n%-30s %9s %12s %26s\n",
         "figure", "target", "own blocks", "blocks of the profiles");
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    const struct target *target = &targets[i];
    double figure = figure_of(own, target), given = figure_of(profile, target);
    enum accuracy_verdict verdict = accuracy_judge(program, target->name, figure, target->limit);
    met &= verdict != ACCURACY_MISSED;
    printf("%-30s %7.1f %% %6.1f %% %-3s %15.1f %% %s\n", target->name, 100 * target->limit,
           100 * figure, figure <= target->limit ? "yes" : "NO", 100 * given,
           given <= target->limit ? "yes" : "NO");
  }
  print_reasons("own blocks", own);
  print_reasons("blocks of profiles", profile);
  return met;
}
