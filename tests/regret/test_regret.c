/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chosen tilings stay near the best: every operator has its cases, and a few operators of each
 * family keep within the limits that `make regret` checks for all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/regret/measure.h"

static vinci_soc *load(void) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  assert_int_equal(vinci_soc_load("Ascend910B4", NULL, &soc, &diag), VINCI_OK);
  return soc;
}

static const struct regret_case *find(const char *op) {
  for (size_t i = 0; i < regret_case_count(); i++)
    if (strcmp(regret_case(i)->op, op) == 0)
      return regret_case(i);
  return NULL;
}

static bool has_tiling(size_t op) {
  struct vinci_op_key key;
  for (size_t i = 0; vinci_op_key(op, i, &key); i++)
    if (key.tiling)
      return true;
  return false;
}

static void every_operator_with_a_tiling_has_cases(void **state) {
  (void)state;
  struct vinci_op op;
  size_t with_tiling = 0;
  for (size_t i = 0; i < vinci_op_count(); i++) {
    assert_true(vinci_op_info(i, &op));
    with_tiling += has_tiling(i);
    if (has_tiling(i) != (find(op.name) != NULL))
      fail_msg("%s %s", op.name, has_tiling(i) ? "has no row in cases.def" : "has no tiling");
  }
  assert_int_equal(with_tiling, regret_case_count());
}

/* A space of three tilings, whose times are those of single runs. */
static void regret_is_that_of_single_runs(void **state) {
  (void)state;
  static const struct regret_case row = {"sort", 0, "dtype=fp32", {"shape=64x1024"}};
  const struct regret_options options = {
      .evaluate = {.struct_size = sizeof options.evaluate, .jobs = 1, .memory = VINCI_MEMORY_FLAT},
      .most = 2};
  struct vinci_diag diag = {0};
  struct regret found;
  vinci_soc *soc = load();
  regret_measure(soc, &row, 0, &options, &found);
  assert_int_equal(found.status, VINCI_OK);
  char best[sizeof found.best];
  snprintf(best, sizeof best, "%s", found.best);
  const char *args[8] = {"shape=64x1024", "dtype=fp32"};
  size_t count = 2;
  for (char *word = strtok(best, " "); word && count < 8; word = strtok(NULL, " "))
    args[count++] = word;
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  struct vinci_run_options run = {.struct_size = sizeof run, .memory = VINCI_MEMORY_FLAT};
  assert_int_equal(vinci_compile(soc, "sort", args, count, &trace, &diag), VINCI_OK);
  assert_int_equal(vinci_run(soc, trace, &run, &result, &diag), VINCI_OK);
  assert_int_equal(found.best_cycles, vinci_result_total_cycles(result));
  assert_true(found.chosen_cycles >= found.best_cycles);
  assert_true(found.simulated <= found.space && found.simulated <= 2);
  vinci_result_free(result);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

static void few_of_each_family_keep_their_limits(void **state) {
  (void)state;
  static const char *const ops[] = {"matmul",     "conv2d",     "copy",           "add",
                                    "softmax",    "sort",       "winograd_input", "transpose",
                                    "layer_norm", "reduce_sum", "max_pool"};
  const struct regret_options options = {
      .evaluate = {.struct_size = sizeof options.evaluate, .jobs = 1, .memory = VINCI_MEMORY_FLAT},
      .most = 12};
  vinci_soc *soc = load();
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    const struct regret_case *row = find(ops[i]);
    assert_non_null(row);
    for (unsigned shape = 0; shape < REGRET_SHAPES; shape++) {
      struct regret found;
      regret_measure(soc, row, shape, &options, &found);
      if (found.status != VINCI_OK)
        fail_msg("%s %s: %s", row->op, row->shape[shape], found.text);
      if (regret_percent(&found) > row->percent)
        fail_msg("%s %s: '%s' takes %.1f %% longer than '%s', at most %.1f %% are allowed", row->op,
                 row->shape[shape], found.chosen, regret_percent(&found), found.best, row->percent);
    }
  }
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operator_with_a_tiling_has_cases),
      cmocka_unit_test(regret_is_that_of_single_runs),
      cmocka_unit_test(few_of_each_family_keep_their_limits),
  };
  return cmocka_run_group_tests_name("regret", tests, NULL, NULL);
}
