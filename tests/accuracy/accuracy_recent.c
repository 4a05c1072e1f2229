/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make accuracy`, kernels of other programs: rows of tests/reference/recent_*.csv, whose names say
 * how they were launched. again: the same launch again and again, until every core has the code.
 * between: other kernels ran between, and what is read comes from outside the chip. alone: the
 * first or the only launch of a program, which finds neither code nor inputs in L2; or behind
 * another kernel that moves more than L2 holds. once: the only launch of a program that the
 * vendor's page measures, whose code L2 has. _memory: the same of kernels of the 950 without
 * vector functions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/accuracy_exceptions.h"
#include "tests/accuracy/accuracy_rows.h"

/* The aims: how many rows run, and the median of each kind. The median of all rows says nothing by
 * itself, as kinds that are known to miss have half of the rows: it is printed, and judged is that
 * of the kinds without an exception. */
static const char program[] = "accuracy_recent";
static const double refused_limit = 0.10, median_limit = 0.12;
/* More than the 40 cores of the chips, as one block goes to the next core each time. */
enum { LAUNCHES = 42, KINDS_MAX = 24, CHIPS_MAX = 8 };

static const struct launched {
  const char *list;
  uint32_t repeat;
  const char *l2, *code;
  bool memory; /* kernels of the 950 whose instructions are on UB: no vector functions */
} launched[] = {
    {"again", LAUNCHES, NULL, NULL, false},    {"again_memory", LAUNCHES, NULL, NULL, true},
    {"between", 0, "empty", "warm", false},    {"once", 0, "empty", "cold", false},
    {"once_memory", 0, "empty", "cold", true}, {"alone", 0, "empty", "device", false}};
static const char *const without_functions[] = {"vf.physical=0"};

struct kind {
  char name[40]; /* "": none yet */
  size_t rows;
  struct accuracy_errors errors;
};
static struct kind kinds[KINDS_MAX];

/* The rows of one chip, and its kinds. */
static struct chip { struct kind all, kind[KINDS_MAX]; } chips[CHIPS_MAX];

static struct kind *kind_of(struct kind *list, const char *name) {
  for (size_t i = 0; i < KINDS_MAX; i++) {
    if (!*list[i].name)
      snprintf(list[i].name, sizeof list[i].name, "%s", name);
    if (strcmp(list[i].name, name) == 0)
      return &list[i];
  }
  fprintf(stderr, "error: more than %d kinds of rows\n", KINDS_MAX);
  exit(EXIT_FAILURE);
}

static struct chip *chip_of(const char *name) {
  for (size_t i = 0; i < CHIPS_MAX; i++) {
    if (!*chips[i].all.name)
      snprintf(chips[i].all.name, sizeof chips[i].all.name, "%s", name);
    if (strcmp(chips[i].all.name, name) == 0)
      return &chips[i];
  }
  fprintf(stderr, "error: more than %d chips\n", CHIPS_MAX);
  exit(EXIT_FAILURE);
}

static void add_row(struct kind *kind, const struct accuracy_row *row, double error) {
  kind->rows++;
  if (row->simulated)
    accuracy_errors_add(&kind->errors, error);
}

static void read_rows(const struct launched *how, struct accuracy_rows *rows) {
  char list[4096], folder[64];
  const char *top = getenv("TESTS_SRCDIR");
  snprintf(list, sizeof list, "%s/tests/reference/recent_%s.csv", top ? top : ".", how->list);
  snprintf(folder, sizeof folder, "accuracy_recent_%s.out", how->list);
  struct accuracy_run run = {.list = list,
                             .folder = folder,
                             .options = {.overrides = {.soc = "Ascend910B4",
                                                       .memory = "flat",
                                                       .l2 = how->l2,
                                                       .code = how->code,
                                                       .sets = without_functions,
                                                       .set_count = how->memory},
                                         .repeat = how->repeat,
                                         .profile_blocks = true,
                                         .jobs = 1}};
  accuracy_rows_read(&run, rows);
}

static void take_row(const struct accuracy_row *row, const char *how,
                     struct accuracy_errors *errors) {
  const char *const *cell = row->source->cell;
  struct kind *kind = kind_of(kinds, cell[CALL_NAME]);
  struct chip *chip = chip_of(cell[CALL_SOC]);
  double error = accuracy_row_error(row, MEASURE_DURATION);
  add_row(kind, row, error);
  add_row(&chip->all, row, error);
  add_row(kind_of(chip->kind, cell[CALL_NAME]), row, error);
  if (!row->simulated) {
    printf("%-8s %-28s %-10.10s %-24.24s %10.2f          - %s\n", how, kind->name, cell[CALL_TYPE],
           cell[CALL_IN_SHAPES], row->measured.duration, row->result->cell[CALL_STATUS]);
    return;
  }
  printf("%-8s %-28s %-10.10s %-24.24s %10.2f %10.2f %+6.1f %%\n", how, kind->name, cell[CALL_TYPE],
         cell[CALL_IN_SHAPES], row->measured.duration, row->model.duration, 100 * error);
  accuracy_errors_add(errors, error);
}

static void print_kind(const char *chip, const char *name, const struct kind *kind) {
  const struct accuracy_errors *errors = &kind->errors;
  printf("%-18s %-28s %6zu %6zu", chip, name, kind->rows, errors->count);
  if (errors->count > 0)
    printf(" %6.1f %% %6.1f %% %+6.1f %%", 100 * accuracy_quantile(errors, 0.5),
           100 * accuracy_mean(errors), 100 * accuracy_bias(errors));
  putchar('\n');
}

static void print_kinds(const char *chip, const struct kind *list) {
  for (size_t i = 0; i < KINDS_MAX && *list[i].name; i++)
    print_kind(chip, list[i].name, &list[i]);
}

/* Kinds of all chips, then chips: the same rows once more, by where they ran. */
static void print_tables(void) {
  printf("\n%-18s %-28s %6s %6s %8s %8s %8s\n", "chip", "kind", "rows", "run", "median", "mean",
         "bias");
  print_kinds("all", kinds);
  for (size_t i = 0; i < CHIPS_MAX && *chips[i].all.name; i++) {
    print_kind(chips[i].all.name, "all", &chips[i].all);
    print_kinds(chips[i].all.name, chips[i].kind);
  }
}

static unsigned judge(const char *name, double error, double limit) {
  enum accuracy_verdict verdict = accuracy_judge(program, name, error, limit);
  printf("%s %.1f %%, within %.0f %%: %s\n", name, 100 * error, 100 * limit,
         error <= limit               ? "yes"
         : verdict == ACCURACY_MISSED ? "NO"
                                      : "excepted");
  return verdict == ACCURACY_MISSED;
}

/* A kind without a row that runs is among the rows refused. */
static unsigned judge_kinds(void) {
  static struct accuracy_errors others;
  unsigned missed = 0;
  for (size_t i = 0; i < KINDS_MAX && *kinds[i].name; i++) {
    const struct accuracy_errors *errors = &kinds[i].errors;
    if (errors->count > 0)
      missed += judge(kinds[i].name, accuracy_quantile(errors, 0.5), median_limit);
    for (size_t k = 0; k < errors->count && !accuracy_reason(program, kinds[i].name); k++)
      accuracy_errors_add(&others, errors->value[k]);
  }
  return missed +
         judge("kinds without an exception", accuracy_quantile(&others, 0.5), median_limit);
}

int main(void) {
  static struct accuracy_errors errors;
  size_t count = 0, ran = 0;
  printf("Kernels of other programs (tests/reference/recent_*.csv; us; blocks of the table, flat "
         "memory)\n%-8s %-28s %-10s %-24s %10s %10s\n",
         "launched", "kind", "kernel", "inputs", "measured", "simulated");
  for (size_t i = 0; i < sizeof launched / sizeof *launched; i++) {
    struct accuracy_rows rows;
    read_rows(&launched[i], &rows);
    count += rows.count;
    for (size_t k = 0; k < rows.count; k++) {
      take_row(&rows.row[k], launched[i].list, &errors);
      ran += rows.row[k].simulated;
    }
    accuracy_rows_free(&rows);
  }
  print_tables();
  printf("\nrun: %zu of %zu rows\n", ran, count);
  unsigned missed = judge("rows refused", 1 - (double)ran / (double)count, refused_limit);
  double median = accuracy_quantile(&errors, 0.5);
  printf("median of all %.1f %%, the aim is %.0f %%: %s\n", 100 * median, 100 * median_limit,
         median <= median_limit ? "yes" : "NO");
  missed += judge_kinds();
  missed += !accuracy_exceptions_hold(program);
  return missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
