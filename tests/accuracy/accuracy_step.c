/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make accuracy`, whole steps: the kernels of training steps in the order of their starts, as
 * `vinci run --ops` simulates them in sequence, and each alone. Prints the sum of their durations
 * and the sum of each type that takes more than 1 % of the time; the sums in sequence are judged.
 * Communication is no kernel of an AI Core and is left out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/accuracy_exceptions.h"
#include "tests/accuracy/accuracy_rows.h"

enum { TYPES_MAX = 256, PATH_BYTES = 4096 };

static const char program[] = "accuracy_step";
static const double type_limit = 0.10, least_share = 0.01;

/* Limits are the aims. Kernels of the second step are rows of silicon_calibration.csv too, where
 * each type is judged. */
static const struct step {
  const char *short_name, *list, *soc, *title, *whole;
  double sum_limit;
  bool judges_types;
} steps[] = {
    {"step", "tests/reference/qwen_step_910b4.csv", "Ascend910B4",
     "Kernels of a training step of a language model, rank 0", "all kernels", 0.03, true},
    {"alexnet", "tests/reference/alexnet_step_910b2.csv", "Ascend910B2",
     "Kernels of a training step of AlexNet", "AlexNet, all kernels", 0.08, false},
};

struct type {
  const char *name;
  unsigned rows, run;
  double measured;                  /* us, all rows */
  double compared, sequence, alone; /* us, rows that run */
};

static void add(struct type *type, const struct accuracy_row *sequence,
                const struct accuracy_row *alone) {
  type->rows++;
  type->measured += sequence->measured.duration;
  if (!sequence->simulated || !alone->simulated)
    return;
  type->run++;
  type->compared += sequence->measured.duration;
  type->sequence += sequence->model.duration;
  type->alone += alone->model.duration;
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

/* -1: nothing runs. */
static double error_of(double model, double measured) {
  return measured > 0 ? model / measured - 1 : -1;
}

static unsigned print_type(const struct type *type, double whole, double limit) {
  double error = error_of(type->sequence, type->compared);
  double alone = error_of(type->alone, type->compared);
  enum accuracy_verdict verdict = accuracy_judge(program, type->name, fabs(error), limit);
  printf(
      "%-28s %4u of %4u %6.1f %% %12.1f %12.1f %+6.1f %% within %2.0f %%: %-3s %12.1f %+6.1f %%\n",
      type->name, type->run, type->rows, 100 * type->measured / whole, type->compared,
      type->sequence, 100 * error, 100 * limit, fabs(error) <= limit ? "yes" : "NO", type->alone,
      100 * alone);
  return verdict == ACCURACY_MISSED;
}

/* The name of a folder begins so; kernels in their order, or each on a chip of its own. */
static void read_step(const struct step *step, bool sequence, struct accuracy_rows *rows) {
  char list[PATH_BYTES], folder[PATH_BYTES];
  const char *top = getenv("TESTS_SRCDIR");
  snprintf(list, sizeof list, "%s/%s", top ? top : ".", step->list);
  snprintf(folder, sizeof folder, "accuracy_%s_%s.out", step->short_name,
           sequence ? "sequence" : "alone");
  struct accuracy_run run = {.list = list,
                             .folder = folder,
                             .options = {.overrides = {.soc = step->soc, .memory = "flat"},
                                         .jobs = 1,
                                         .sequence = sequence}};
  accuracy_rows_read(&run, rows);
}

static unsigned judge_step(const struct step *step) {
  static struct type types[TYPES_MAX];
  struct type all = {.name = step->whole};
  struct accuracy_rows sequence, alone;
  size_t count = 0;
  memset(types, 0, sizeof types);
  read_step(step, true, &sequence);
  read_step(step, false, &alone);
  for (size_t i = 0; i < sequence.count; i++) {
    const struct accuracy_row *row = &sequence.row[i];
    if (!calls_on_cores(row->source))
      continue;
    add(&all, row, &alone.row[i]);
    add(type_of(types, &count, row->source->cell[CALL_TYPE]), row, &alone.row[i]);
  }
  qsort(types, count, sizeof *types, compare_types);
  printf("%s (%s; us; own blocks, flat memory; rows that do not run are left out of the sums)\n"
         "%-28s %12s %8s %12s %38s %21s\n",
         step->title, step->list, "type", "rows run", "time", "measured", "in sequence",
         "each alone");
  unsigned missed = print_type(&all, all.measured, step->sum_limit);
  for (size_t i = 0; step->judges_types && i < count; i++)
    if (types[i].measured > least_share * all.measured)
      missed += print_type(&types[i], all.measured, type_limit);
  accuracy_rows_free(&sequence);
  accuracy_rows_free(&alone);
  return missed;
}

int main(void) {
  unsigned missed = 0;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    missed += judge_step(&steps[i]);
  missed += !accuracy_exceptions_hold(program);
  return missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
