/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make accuracy`, cores that are cube and vector core in one: kernels of training steps of
 * ResNet-50, BERT and DeepFM on the Ascend910B of 2019 (tests/reference/training_910b_2019.csv), as
 * `vinci run --ops` does them with blocks of its own. One row in six is run, which is every sixth
 * of the table; all are with the argument all, in four minutes of CPU time.
 *
 * How products and convolutions were tiled is not in the profiles, and products of similar sizes
 * reach .05 to .99 of the peak there: they are printed apart from the others, and judged with all.
 * A row beyond a factor of 3 needs a reason that is known for its type.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/accuracy_exceptions.h"
#include "tests/accuracy/accuracy_rows.h"

enum { EVERY = 6, PATH_BYTES = 4096, LONG_US = 20 };

static const char program[] = "accuracy_coupled";
static const double factor_limit = 3;

/* Why rows of a type are beyond the factor. */
static const struct {
  const char *type, *why;
} reasons[] = {
    {"MatMul",
     "tiles of the vendor's products are not in the profiles; some reach a tenth of others"},
    {"Conv2D", "tiles of the vendor's convolutions are not in the profiles"},
    {"UnsortedSegmentSum", "two segments alone: cores add to the same rows in turn on silicon"},
    {"Gather", "a small table that the vendor's kernel keeps in UB"},
    {"ReduceSum",
     "the vendor's kernel reads rows of 320 bytes or columns of 84 KB at a quarter of the "
     "rate of others"},
    {"BNTraining",
     "kernels that meet in device memory here are one there; maps of 16 images, whose "
     "vendor's kernel takes as long as that of 64"},
    {"MaxPool", "the vendor's kernels of pooling wait for their scalar unit"},
    {"Softmax", "the vendor's kernel computes in fp16"},
    {"DropoutDoMask", "the compare register holds the bits of one repeat on dav-c100, for which "
                      "the vendor's kernel takes several instructions"},
    {"ReluGradV2", "as for DropoutDoMask"},
    {"BiasAddGrad", "two columns, whose rows take the vendor's kernel 140 cycles each"},
    {"TransData", "a few columns or rows, most of whose fractals are padding"},
};

/* Elementwise operators, and those that move elements. */
static const char *const plain[] = {
    "Add",           "AddN",     "Adam",         "Assign",    "Cast",     "ConfusionTransposeD",
    "DropoutDoMask", "FusedMul", "GeLUGrad",     "LambApply", "Maximum",  "Minimum",
    "Mul",           "Neg",      "RealDiv",      "ReluGrad",  "Select",   "SigmoidCross",
    "Slice",         "Square",   "StridedSlice", "Sub",       "TanhGrad", "TensorMove",
    "Tile",          "TransData"};

static bool begins(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

static bool is_cube(const char *type) {
  return strstr(type, "MatMul") || strstr(type, "Conv2D") || begins(type, "FusedDbnDw");
}

static bool is_plain(const char *type) {
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (begins(type, plain[i]))
      return true;
  return false;
}

static const char *reason_of(const char *type) {
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
    if (strstr(type, reasons[i].type))
      return reasons[i].why;
  return NULL;
}

/* ---- the list -------------------------------------------------------------------------------- */

static FILE *open_file(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  if (!file) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  return file;
}

/* The head and one row in `every`. */
static void take_rows(const char *from, const char *to, unsigned every) {
  char line[PATH_BYTES];
  FILE *in = open_file(from, "r"), *out = open_file(to, "w");
  for (unsigned i = 0; fgets(line, sizeof line, in); i++)
    if (i == 0 || i % every == 0)
      fputs(line, out);
  fclose(in);
  if (fclose(out) != 0)
    exit(EXIT_FAILURE);
}

static void read_rows(unsigned every, struct accuracy_rows *rows) {
  static const char list[] = "accuracy_coupled.csv";
  const char *top = getenv("TESTS_SRCDIR");
  char table[PATH_BYTES];
  snprintf(table, sizeof table, "%s/tests/reference/training_910b_2019.csv", top ? top : ".");
  take_rows(table, list, every);
  struct accuracy_run run = {
      .list = list,
      .folder = "accuracy_coupled.out",
      .options = {.overrides = {.soc = "Ascend910B", .memory = "flat"}, .jobs = 1}};
  accuracy_rows_read(&run, rows);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static unsigned judge(const char *what, double value, double limit, size_t rows) {
  enum accuracy_verdict verdict = accuracy_judge(program, what, value, limit);
  printf("  %-44s %4zu rows  %5.1f %%, within %4.1f %%: %s\n", what, rows, 100 * value, 100 * limit,
         value <= limit                 ? "yes"
         : verdict == ACCURACY_EXCEPTED ? "excepted"
                                        : "NO");
  return verdict == ACCURACY_MISSED || verdict == ACCURACY_MENDED;
}

static void print_errors(const char *what, const struct accuracy_errors *errors) {
  printf("  %-44s %4zu rows  median %.1f %%, mean %.1f %%\n", what, errors->count,
         100 * accuracy_quantile(errors, 0.5), 100 * accuracy_mean(errors));
}

/* Rows beyond the factor: their number without a reason. */
static unsigned judge_far(const struct accuracy_rows *rows) {
  unsigned missed = 0;
  printf("Beyond a factor of %.0f\n", factor_limit);
  for (size_t i = 0; i < rows->count; i++) {
    const struct accuracy_row *row = &rows->row[i];
    double ratio = row->model.duration / row->measured.duration;
    if (!row->simulated || (ratio <= factor_limit && ratio >= 1 / factor_limit))
      continue;
    const char *type = row->source->cell[CALL_TYPE], *why = reason_of(type);
    printf("  %-36s %-40.40s %10.2f %10.2f  %s\n", type, row->source->cell[CALL_IN_SHAPES],
           row->measured.duration, row->model.duration, why ? why : "NO reason is known");
    missed += !why;
  }
  return missed;
}

int main(int argc, char **argv) {
  static struct accuracy_errors all, cube, others, plain_long;
  bool whole = argc > 1 && strcmp(argv[1], "all") == 0;
  struct accuracy_rows rows;
  size_t lost = 0;
  read_rows(whole ? 1 : EVERY, &rows);
  for (size_t i = 0; i < rows.count; i++) {
    const struct accuracy_row *row = &rows.row[i];
    const char *type = row->source->cell[CALL_TYPE];
    double error = accuracy_row_error(row, MEASURE_DURATION);
    lost += !row->simulated;
    accuracy_errors_add(&all, error);
    accuracy_errors_add(is_cube(type) ? &cube : &others, error);
    if (is_plain(type) && row->measured.duration > LONG_US)
      accuracy_errors_add(&plain_long, error);
  }
  printf(
      "Training steps on the Ascend910B of 2019 (tests/reference/training_910b_2019.csv; one row "
      "in %d; own blocks, flat memory)\n",
      whole ? 1 : EVERY);
  unsigned missed = judge_far(&rows);
  printf("Errors of durations\n");
  missed += judge("rows that do not run", (double)lost / (double)rows.count, 0.10, rows.count);
  missed += judge("all, median", accuracy_quantile(&all, 0.5), 0.20, all.count);
  missed += judge("all, mean", accuracy_mean(&all), 0.35, all.count);
  print_errors("products and convolutions", &cube);
  print_errors("others", &others);
  missed += judge("elementwise and movement above 20 us, median",
                  accuracy_quantile(&plain_long, 0.5), 0.15, plain_long.count);
  missed += !whole && !accuracy_exceptions_hold(program);
  accuracy_rows_free(&rows);
  return missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
