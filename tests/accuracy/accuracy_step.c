/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make accuracy`, a whole step: the kernels of one training step of a language model on rank 0 of
 * a group of 910B4 (tests/reference/qwen_step_910b4.csv, in the order of their starts), each
 * simulated as `vinci run --ops` does. Prints the sum of their durations and the sum of each type
 * that takes more than 1 % of the time. Communication is no kernel of an AI Core and is left out.
 *
 * One argument: an op_summary.csv of that list that was made otherwise, such as in sequence.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/accuracy_exceptions.h"
#include "tests/accuracy/accuracy_rows.h"

enum { TYPES_MAX = 256, NAME_BYTES = 128 };

static const char program[] = "accuracy_step";
static const double sum_limit = 0.03, type_limit = 0.10, least_share = 0.01;

struct type {
  const char *name;
  unsigned rows, run;
  double measured;           /* us, all rows */
  double compared, modelled; /* us, rows that run */
};

static void add(struct type *type, const struct accuracy_row *row) {
  type->rows++;
  type->measured += row->measured.duration;
  if (!row->simulated)
    return;
  type->run++;
  type->compared += row->measured.duration;
  type->modelled += row->model.duration;
}

static struct type *type_of(struct type *types, size_t *count, const char *name) {
  for (size_t i = 0; i < *count; i++)
    if (strcmp(types[i].name, name) == 0)
      return &types[i];
  if (*count == TYPES_MAX)
    exit(EXIT_FAILURE);
  types[*count].name = name;
  return &types[(*count)++];
}

static int compare_types(const void *left, const void *right) {
  double a = ((const struct type *)left)->measured, b = ((const struct type *)right)->measured;
  return (a < b) - (a > b);
}

static unsigned print_type(const struct type *type, double whole, double limit) {
  double error = type->compared > 0 ? type->modelled / type->compared - 1 : -1;
  enum accuracy_verdict verdict = accuracy_judge(program, type->name, fabs(error), limit);
  printf("%-30s %5u of %5u rows, %5.1f %% of the time: measured %10.1f us, simulated %10.1f us, "
         "%+6.1f %%  within %.0f %%: %s\n",
         type->name, type->run, type->rows, 100 * type->measured / whole, type->compared,
         type->modelled, 100 * error, 100 * limit, fabs(error) <= limit ? "yes" : "NO");
  return verdict == ACCURACY_MISSED;
}

int main(int argc, char **argv) {
  static struct type types[TYPES_MAX];
  struct type all = {.name = "all kernels"};
  struct accuracy_rows rows;
  size_t count = 0;
  char list[4096];
  const char *top = getenv("TESTS_SRCDIR");
  snprintf(list, sizeof list, "%s/tests/reference/qwen_step_910b4.csv", top ? top : ".");
  struct accuracy_run run = {
      .list = list,
      .table = argc > 1 ? argv[1] : NULL,
      .folder = "accuracy_step.out",
      .options = {.overrides = {.soc = "Ascend910B4", .memory = "flat"}, .jobs = 1}};
  accuracy_rows_read(&run, &rows);
  for (size_t i = 0; i < rows.count; i++) {
    const struct accuracy_row *row = &rows.row[i];
    if (!calls_on_cores(row->source))
      continue;
    add(&all, row);
    add(type_of(types, &count, row->source->cell[CALL_TYPE]), row);
  }
  qsort(types, count, sizeof *types, compare_types);
  printf("Kernels of a training step, rank 0 (tests/reference/qwen_step_910b4.csv), %s; rows that "
         "do not run are left out of both sums\n",
         argc > 1 ? argv[1] : "each on its own, own blocks, flat memory");
  unsigned missed = print_type(&all, all.measured, sum_limit);
  for (size_t i = 0; i < count; i++)
    if (types[i].measured > least_share * all.measured)
      missed += print_type(&types[i], all.measured, type_limit);
  missed += !accuracy_exceptions_hold(program);
  accuracy_rows_free(&rows);
  return missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
