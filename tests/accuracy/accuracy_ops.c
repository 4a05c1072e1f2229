/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make accuracy`, operators: every row of tests/reference/silicon_calibration.csv (profiles of
 * real kernels, medians of identical launches, each row naming its public source) is simulated as
 * `vinci run --ops` does, once with our own choice of blocks and once with those of the profiles.
 * Prints the rows, the account of time by class, type and pipe, the errors by source, and the
 * targets.
 *
 * One argument: the memory model, flat (default) or cycle, which takes a quarter of an hour; or
 * expected, which prints the table of expected errors for `make expected-errors`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/accuracy_account.h"
#include "tests/accuracy/accuracy_exceptions.h"

static const char program[] = "accuracy_ops";

/* What is known of rows whose duration is far off. */
static const struct {
  const char *type, *in, *why;
} explained[] = {
    {"TensorMove", "1000,4096",
     "MTE2 was busy for 25 us, as for 0.65 TB/s: a copy of weights from device memory; with "
     "--l2=dirty it takes 37 us here, but the rule takes what is copied to be in L2"},
    {"TensorMove", "4096,4096", "as above: with --l2=dirty 149 us"},
    {"TensorMove", "4096,9216", "as above: with --l2=dirty 297 us"},
    {"MaxPoolGradWithArgmaxV1", "32,16,13,13,16;32,16,6,6,16;32,256,9,9,4,16",
     "the scalar unit was busy for 84 of the 110 us, MTE2 for 18 and V for 12"},
    {"MaxPoolGradWithArgmaxV1", "32,12,27,27,16;32,12,13,13,16;32,192,9,9,12,16",
     "the scalar unit was busy for 74 of the 101 us, MTE2 for 15 and V for 25"},
    {"MaxPoolGradWithArgmaxV1", "32,4,55,55,16;32,4,27,27,16;32,64,9,9,47,16",
     "the scalar unit was busy for 87 of the 101 us, MTE2 for 45 and V for 30"},
    {"MatMulV2", "32,4096;1000,4096;1000",
     "MTE2 was busy for 17 of the 57 us, the scalar unit for 50: a single launch, probably the "
     "first of its code"},
    {"MatMulV2", "32,4096;4096,9216",
     "151 MB of weights come at 0.54 TB/s where products of warm weights get 1.7: from device "
     "memory, with an L2 full of what has to go there"},
    {"Conv2D", "32,1,224,224,8;121,4,16,8;64",
     "MTE1 was busy for 276 us, as for 47 bytes of windows a cycle: what load3d takes for windows "
     "4 points apart is not published"},
    {"Conv2DBackpropFilter", "32,1,224,224,8;4;32,8,55,55,8",
     "MTE1 was busy for 196 us, as for 44 bytes of windows a cycle: as for the convolution"},
};

static bool starts(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

/* ---- rows ---- */

static const char *explanation(const struct call_row *row) {
  for (size_t i = 0; i < sizeof explained / sizeof *explained; i++)
    if (strcmp(row->cell[CALL_TYPE], explained[i].type) == 0 &&
        strcmp(row->cell[CALL_IN_SHAPES], explained[i].in) == 0)
      return explained[i].why;
  return NULL;
}

static void print_row(const struct accuracy_row *row) {
  const struct call_row *source = row->source;
  double core = accuracy_row_error(row, MEASURE_CORE), cube = accuracy_row_error(row, MEASURE_MAC);
  printf("  %-12s %-27s %-44.44s %10.2f %10.2f %+7.1f %%", row->result->cell[CALL_SOC],
         source->cell[CALL_TYPE], source->cell[CALL_IN_SHAPES], row->measured.duration,
         row->model.duration, 100 * (row->model.duration / row->measured.duration - 1));
  if (!isnan(core))
    printf("  core %+7.1f %%", 100 * core);
  if (!isnan(cube))
    printf("  cube %+6.1f %%", 100 * cube);
  printf("\n");
  if (explanation(source))
    printf("%44s^ %s\n", "", explanation(source));
}

static void print_rows(const struct accuracy_rows *rows) {
  printf("Operators against profiles, own blocks (us, duration from launch to end)\n  %-12s %-27s "
         "%-44s %10s %10s %9s\n",
         "SoC", "operator", "inputs", "measured", "simulated", "error");
  for (unsigned class = 0; class < EXPECTED_CLASS_COUNT; class ++) {
    printf("%s\n", expected_class_name((enum expected_class) class));
    for (size_t i = 0; i < rows->count; i++)
      if (rows->row[i].class == class && rows->row[i].simulated)
        print_row(&rows->row[i]);
  }
  printf("Not compared\n");
  for (size_t i = 0; i < rows->count; i++)
    if (!rows->row[i].simulated)
      printf("  %-12s %-27s %-44.44s %s\n", rows->row[i].result->cell[CALL_SOC],
             rows->row[i].source->cell[CALL_TYPE], rows->row[i].source->cell[CALL_IN_SHAPES],
             rows->row[i].result->cell[CALL_STATUS]);
}

/* ---- verdicts on the cube, and on all together ---- */

/* The share of products in a convolution's window tells 3x3 and 5x5 from others. */
static bool cube_is_judged(const struct accuracy_row *row) {
  const char *lowered = row->result->cell[CALL_LOWERED];
  if (starts(row->source->cell[CALL_TYPE], "MatMulV3"))
    return true;
  return row->class == EXPECTED_CONV &&
         (strstr(lowered, "kernel=3x3") || strstr(lowered, "kernel=5x5"));
}

static bool judge_cube(const struct accuracy_rows *rows) {
  static struct accuracy_errors errors;
  const double mean_limit = 0.02, row_limit = 0.03;
  errors.count = 0;
  for (size_t i = 0; i < rows->count; i++)
    if (cube_is_judged(&rows->row[i]))
      accuracy_errors_add(&errors, accuracy_row_error(&rows->row[i], MEASURE_MAC));
  double mean = accuracy_mean(&errors), worst = accuracy_quantile(&errors, 1);
  enum accuracy_verdict of_worst = accuracy_judge(program, "cube time, worst", worst, row_limit);
  bool met = mean <= mean_limit && of_worst != ACCURACY_MISSED;
  printf("cube time, MatMulV3 and Conv2D 3x3, 5x5, blocks of the profiles: %zu rows, mean %.1f %% "
         "(within %.0f %%), worst "
         "%.1f %% (within %.0f %%): %s\n",
         errors.count, 100 * mean, 100 * mean_limit, 100 * worst, 100 * row_limit,
         !met                            ? "NO"
         : of_worst == ACCURACY_EXCEPTED ? "excepted"
                                         : "yes");
  return met;
}

/* Correlation of the logarithms of measured and simulated durations. */
static bool judge_correlation(const struct accuracy_rows *rows) {
  const double least = 0.98;
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < rows->count; i++) {
    if (isnan(accuracy_row_error(&rows->row[i], MEASURE_DURATION)))
      continue;
    double a = log(rows->row[i].measured.duration), b = log(rows->row[i].model.duration);
    n++, x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  }
  double found = (n * xy - x * y) / sqrt((n * xx - x * x) * (n * yy - y * y));
  printf("correlation of log durations, all rows: %.4f, at least %.2f: %s\n", found, least,
         found >= least ? "yes" : "NO");
  return found >= least;
}

static void read_rows(const char *memory, bool profile_blocks, struct accuracy_rows *rows) {
  const char *top = getenv("TESTS_SRCDIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/tests/reference/silicon_calibration.csv", top ? top : ".");
  struct accuracy_run run = {
      .list = path,
      .folder = profile_blocks ? "accuracy_ops_profile.out" : "accuracy_ops_own.out",
      .options = {.overrides = {.memory = memory}, .jobs = 1, .profile_blocks = profile_blocks}};
  accuracy_rows_read(&run, rows);
}

int main(int argc, char **argv) {
  struct accuracy_rows own, profile;
  bool expected = argc > 1 && strcmp(argv[1], "expected") == 0;
  const char *memory = argc > 1 && !expected ? argv[1] : "flat";
  read_rows(memory, false, &own);
  if (expected) {
    accuracy_expected_print(&own);
    accuracy_rows_free(&own);
    return EXIT_SUCCESS;
  }
  read_rows(memory, true, &profile);
  print_rows(&own);
  accuracy_account_print(&own);
  accuracy_sources_print(&own);
  bool met = accuracy_account_judge(program, &own, &profile);
  met &= judge_cube(&profile);
  met &= judge_correlation(&own);
  met &= argc > 1 || accuracy_expected_holds(&own);
  met &= accuracy_exceptions_hold(program);
  accuracy_rows_free(&own);
  accuracy_rows_free(&profile);
  return met ? EXIT_SUCCESS : EXIT_FAILURE;
}
