/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make accuracy`, kernels that find their code: rows of tests/reference/warm_kernels.csv, which
 * name their chip. On the 910B4 one kernel was launched again and again, so that L2 holds its
 * operands as far as they have room: each row is the last of some launches. On the 910B4-1 other
 * kernels ran between and the source came from outside the cores: code is warm and L2 empty.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/accuracy_exceptions.h"
#include "tests/accuracy/accuracy_rows.h"

/* The aims for kernels that are launched again and again. */
static const char program[] = "accuracy_warm";
static const double mean_limit = 0.12, median_limit = 0.08;
/* More than a launch on all cores needs until nothing changes; their kernels have 40 blocks. */
enum { LAUNCHES = 3, LIST_BYTES = 4096 };

static void read_rows(bool repeat, struct accuracy_rows *rows) {
  char list[LIST_BYTES];
  const char *top = getenv("TESTS_SRCDIR");
  snprintf(list, sizeof list, "%s/tests/reference/warm_kernels.csv", top ? top : ".");
  struct accuracy_run run = {
      .list = list,
      .folder = repeat ? "accuracy_warm_repeat.out" : "accuracy_warm_empty.out",
      .options = {.overrides = {.soc = "Ascend910B4", .memory = "flat"}, .jobs = 1}};
  if (repeat) {
    run.options.repeat = LAUNCHES;
  } else {
    run.options.overrides.l2 = "empty";
    run.options.overrides.code = "warm";
  }
  accuracy_rows_read(&run, rows);
}

static void print_row(const struct accuracy_row *row, const char *chip,
                      struct accuracy_errors *errors) {
  double error = accuracy_row_error(row, MEASURE_DURATION);
  const char *shape = row->source->cell[CALL_IN_SHAPES];
  printf("%-14s %-6s %-26.26s %10.2f %10.2f %+6.1f %% %+7.1f %%\n", chip,
         row->source->cell[CALL_TYPE], shape, row->measured.duration, row->model.duration,
         100 * error, 100 * accuracy_row_error(row, MEASURE_CORE));
  accuracy_errors_add(errors, error);
}

static unsigned judge(const char *name, double error, double limit) {
  enum accuracy_verdict verdict = accuracy_judge(program, name, error, limit);
  printf("%s %.1f %%, within %.0f %%: %s\n", name, 100 * error, 100 * limit,
         error <= limit ? "yes" : "NO");
  return verdict == ACCURACY_MISSED;
}

int main(void) {
  static struct accuracy_errors errors;
  struct accuracy_rows repeat, empty;
  read_rows(true, &repeat);
  read_rows(false, &empty);
  printf("Kernels that find their code (tests/reference/warm_kernels.csv; us; own blocks, flat "
         "memory)\n%-14s %-6s %-26s %10s %10s %8s %9s\n",
         "chip", "kernel", "inputs", "measured", "simulated", "duration", "core");
  for (size_t i = 0; i < repeat.count; i++) {
    const char *chip = repeat.row[i].source->cell[CALL_SOC];
    bool again = strcmp(chip, "Ascend910B4") == 0;
    print_row(again ? &repeat.row[i] : &empty.row[i], chip, &errors);
  }
  unsigned missed = judge("mean", accuracy_mean(&errors), mean_limit);
  missed += judge("median", accuracy_quantile(&errors, 0.5), median_limit);
  missed += !accuracy_exceptions_hold(program);
  accuracy_rows_free(&repeat);
  accuracy_rows_free(&empty);
  return missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
