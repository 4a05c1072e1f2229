/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluations: answers are those of single runs, whatever the number of threads; failures are
 * answers.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "core/vinci_evaluate.h"

static vinci_soc *load(void) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  assert_int_equal(vinci_soc_load("Ascend910B4", NULL, &soc, &diag), VINCI_OK);
  return soc;
}

static uint64_t cycles_alone(const vinci_soc *soc, const struct vinci_evaluation *question) {
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  assert_int_equal(
      vinci_compile(soc, question->op, question->args, question->arg_count, &trace, &diag),
      VINCI_OK);
  assert_int_equal(vinci_run(soc, trace, NULL, &result, &diag), VINCI_OK);
  uint64_t cycles = vinci_result_total_cycles(result);
  vinci_result_free(result);
  vinci_trace_free(trace);
  return cycles;
}

static void answers_do_not_depend_on_jobs(void **state) {
  (void)state;
  static const char *const product[] = {"m=48", "k=80", "n=112"};
  static const char *const sum[] = {"shape=3000"};
  static const char *const rows[] = {"shape=17x260"};
  static const char *const unfit[] = {"m=512", "k=512", "n=512", "tile=4096x4096x64"};
  const struct vinci_evaluation questions[] = {
      {.op = "matmul", .args = product, .arg_count = 3},
      {.op = "add", .args = sum, .arg_count = 1},
      {.op = "softmax", .args = rows, .arg_count = 1},
      {.op = "nothing"},
      {.op = "matmul", .args = unfit, .arg_count = 4},
      {.op = "relu", .args = sum, .arg_count = 1},
  };
  enum { COUNT = sizeof questions / sizeof *questions };
  vinci_soc *soc = load();
  for (unsigned jobs = 1; jobs <= 3; jobs++) {
    struct vinci_evaluation list[COUNT];
    struct vinci_diag diag = {0};
    const struct vinci_evaluate_options options = {.struct_size = sizeof options, .jobs = jobs};
    memcpy(list, questions, sizeof list);
    assert_int_equal(vinci_evaluate(soc, list, COUNT, &options, &diag), VINCI_OK);
    for (unsigned i = 0; i < COUNT; i++) {
      if (i == 3 || i == 4) {
        assert_int_equal(list[i].status, VINCI_E_USAGE);
        assert_true(list[i].text[0] != '\0' && list[i].total_cycles == 0);
        continue;
      }
      assert_int_equal(list[i].status, VINCI_OK);
      assert_string_equal(list[i].text, "");
      assert_int_equal(list[i].total_cycles, cycles_alone(soc, &questions[i]));
      assert_true(list[i].duration_ps > 0);
    }
  }
  vinci_soc_free(soc);
}

static void a_limit_and_wrong_options_are_told(void **state) {
  (void)state;
  static const char *const args[] = {"shape=100000"};
  struct vinci_evaluation one = {.op = "add", .args = args, .arg_count = 1};
  struct vinci_evaluate_options options = {
      .struct_size = sizeof options, .jobs = 1, .max_cycles = 900};
  struct vinci_diag diag = {0};
  vinci_soc *soc = load();
  assert_int_equal(vinci_evaluate(soc, &one, 1, &options, &diag), VINCI_OK);
  assert_int_equal(one.status, VINCI_E_LIMIT);
  assert_int_equal(vinci_evaluate(soc, NULL, 0, &options, &diag), VINCI_OK);
  options.jobs = 257;
  assert_int_equal(vinci_evaluate(soc, &one, 1, &options, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "jobs is at most 256, not 257");
  vinci_soc_free(soc);
}

enum { WORDS_MAX = 2 };

/* Asks alone, or in a sequence behind an operator that runs. */
static struct vinci_evaluation ask(const vinci_soc *soc, const char *op, const char *const *words,
                                   bool sequence) {
  static const char *const first[] = {"shape=64"};
  const struct vinci_evaluate_options options = {
      .struct_size = sizeof options, .jobs = 1, .max_cycles = 5000, .sequence = sequence};
  struct vinci_evaluation list[] = {{.op = "gelu", .args = first, .arg_count = 1},
                                    {.op = op, .args = words}};
  struct vinci_diag diag = {0};
  while (list[1].arg_count < WORDS_MAX && words[list[1].arg_count])
    list[1].arg_count++;
  assert_int_equal(vinci_evaluate(soc, list, 2, &options, &diag), VINCI_OK);
  assert_int_equal(list[0].status, VINCI_OK);
  assert_int_equal(list[0].total_cycles, cycles_alone(soc, &list[0]));
  return list[1];
}

static void a_sequence_refuses_as_operators_alone(void **state) {
  (void)state;
  static char wide[300] = "dtype=";
  const struct {
    const char *op, *words[WORDS_MAX];
    enum vinci_status status;
  } cases[] = {
      {"op", {"args"}, VINCI_E_USAGE},
      {"op", {"Duration(us)"}, VINCI_E_USAGE},
      {"a\"b", {"x=1"}, VINCI_E_USAGE},
      {"gelu", {"shape=64", "dtype=\"fp16\""}, VINCI_E_USAGE},
      {"gelu", {"shape=64,dtype=fp32"}, VINCI_E_USAGE},
      {"gelu", {"shape=64\ngelu,shape=64"}, VINCI_E_USAGE},
      {"gelu", {"shape=x"}, VINCI_E_USAGE},
      {"gelu", {"shape=64", wide}, VINCI_E_USAGE},
      {"row_norm", {NULL}, VINCI_E_USAGE},
      {"gelu", {"shape=4096x4096"}, VINCI_E_LIMIT},
  };
  vinci_soc *soc = load();
  memset(wide + strlen(wide), 'x', sizeof wide - strlen(wide) - 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct vinci_evaluation alone = ask(soc, cases[i].op, cases[i].words, false);
    struct vinci_evaluation other = ask(soc, cases[i].op, cases[i].words, true);
    assert_int_equal(alone.status, cases[i].status);
    assert_int_equal(other.status, cases[i].status);
    assert_string_equal(other.text, alone.text);
    assert_int_equal(other.total_cycles, 0);
    assert_int_equal(other.duration_ps, 0);
    assert_int_equal(other.program_digest, 0);
    assert_string_equal(other.program, "");
  }
  vinci_soc_free(soc);
}

/* What a program that has threads already may do. */
static void no_process_is_made(void **state) {
  (void)state;
  static const char *const args[] = {"m=64", "k=64", "n=64"};
  struct vinci_evaluation list[4];
  const struct vinci_evaluate_options options = {.struct_size = sizeof options, .jobs = 3};
  struct vinci_diag diag = {0};
  struct rlimit before, none = {0};
  vinci_soc *soc = load();
  for (unsigned i = 0; i < 4; i++)
    list[i] = (struct vinci_evaluation){.op = "matmul", .args = args, .arg_count = 3};
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  none.rlim_max = before.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0); /* a process would need a pipe */
  enum vinci_status status = vinci_evaluate(soc, list, 4, &options, &diag);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_int_equal(status, VINCI_OK);
  assert_int_equal(waitpid(-1, NULL, 0), -1);
  assert_int_equal(errno, ECHILD);
  for (unsigned i = 0; i < 4; i++) {
    assert_int_equal(list[i].status, VINCI_OK);
    assert_int_equal(list[i].total_cycles, cycles_alone(soc, &list[i]));
  }
  vinci_soc_free(soc);
}

static void nothing_asked_is_no_error(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  assert_int_equal(vinci_soc_load("Ascend910B4", NULL, &soc, &diag), VINCI_OK);
  for (unsigned jobs = 0; jobs <= 2; jobs++) {
    const struct vinci_evaluate_options options = {.struct_size = sizeof options, .jobs = jobs};
    assert_int_equal(vinci_evaluate(soc, NULL, 0, &options, &diag), VINCI_OK);
  }
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_do_not_depend_on_jobs),
      cmocka_unit_test(a_limit_and_wrong_options_are_told),
      cmocka_unit_test(a_sequence_refuses_as_operators_alone),
      cmocka_unit_test(no_process_is_made),
      cmocka_unit_test(nothing_asked_is_no_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
