/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluations: answers are those of single runs, whatever the number of processes; failures are
 * answers, the death of a process included.
 */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* Children of a process by /proc, but for the one named. */
static unsigned children_of(pid_t parent, pid_t but, pid_t *children, unsigned most) {
  unsigned count = 0;
  DIR *folder = opendir("/proc");
  for (const struct dirent *entry; folder && (entry = readdir(folder)) && count < most;) {
    char path[300];
    int pid = atoi(entry->d_name), its_parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = pid > 0 ? fopen(path, "r") : NULL;
    if (file && fscanf(file, "%*d %*s %*c %d", &its_parent) == 1 && its_parent == parent &&
        pid != but)
      children[count++] = pid;
    if (file)
      fclose(file);
  }
  if (folder)
    closedir(folder);
  return count;
}

/* Kills one of two processes that simulate. */
static _Noreturn void kill_one(pid_t parent) {
  pid_t children[2];
  const struct timespec pause = {.tv_nsec = 20000000};
  while (children_of(parent, getpid(), children, 2) < 2)
    nanosleep(&pause, NULL);
  nanosleep(&pause, NULL);
  kill(children[0], SIGKILL);
  _exit(0);
}

static void a_process_that_dies_costs_its_question(void **state) {
  (void)state;
  static const char *const args[] = {"m=4096", "k=4096", "n=4096"};
  struct vinci_evaluation list[2] = {{.op = "matmul", .args = args, .arg_count = 3},
                                     {.op = "matmul", .args = args, .arg_count = 3}};
  const struct vinci_evaluate_options options = {.struct_size = sizeof options, .jobs = 2};
  struct vinci_diag diag = {0};
  vinci_soc *soc = load();
  pid_t parent = getpid(), killer = fork();
  if (killer == 0)
    kill_one(parent);
  assert_int_equal(vinci_evaluate(soc, list, 2, &options, &diag), VINCI_OK);
  assert_int_equal(waitpid(killer, NULL, 0), killer);
  bool first = list[0].status == VINCI_OK;
  assert_int_equal(list[first ? 0 : 1].status, VINCI_OK);
  assert_int_equal(list[first ? 1 : 0].status, VINCI_E_INTERNAL);
  assert_string_equal(list[first ? 1 : 0].text, "its process died");
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
      cmocka_unit_test(a_process_that_dies_costs_its_question),
      cmocka_unit_test(nothing_asked_is_no_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
