/* SPDX-License-Identifier: Apache-2.0 */
/* The library under several threads: each gets what it gets alone. Linked to libvinci alone. */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/vinci.h"
#include "core/vinci_tune.h"

enum { ROUNDS = 4, THREADS = 3 };

/* What a thread does, and what it has seen: the same words with one thread and with several. */
struct job {
  const char *chip;
  const vinci_soc *soc;     /* shared; NULL: its own */
  const vinci_trace *trace; /* shared; NULL: its own */
  char seen[4096];
  size_t used;
};

static void see(struct job *job, const char *what, enum vinci_status status, uint64_t number,
                const struct vinci_diag *diag) {
  int length = snprintf(job->seen + job->used, sizeof job->seen - job->used,
                        "%s %d %" PRIu64 " %s\n", what, status, number, diag->text);
  job->used += (size_t)length < sizeof job->seen - job->used ? (size_t)length : 0;
}

static void run(struct job *job, const vinci_soc *soc, const vinci_trace *trace) {
  struct vinci_diag diag = {0};
  vinci_result *result = NULL;
  enum vinci_status status = vinci_run(soc, trace, NULL, &result, &diag);
  see(job, "run", status, result ? vinci_result_total_cycles(result) : 0, &diag);
  vinci_result_free(result);
}

static void check(struct job *job, const vinci_soc *soc, const vinci_trace *trace) {
  struct vinci_diag diag = {0};
  vinci_findings *findings = NULL;
  enum vinci_status status = vinci_check(soc, trace, NULL, &findings, &diag);
  see(job, "check", status, findings ? vinci_findings_count(findings) : 99, &diag);
  vinci_findings_free(findings);
}

static void compute(struct job *job, const vinci_soc *soc, const vinci_trace *trace) {
  struct vinci_diag diag = {0};
  vinci_values *values = NULL;
  struct vinci_tensor tensor = {0};
  uint64_t sum = 0;
  enum vinci_status status = vinci_values_create(soc, trace, &values, &diag);
  if (status == VINCI_OK) {
    vinci_values_fill(values, 7);
    status = vinci_values_run(values, NULL, NULL, &diag);
  }
  for (size_t i = 0; status == VINCI_OK && i < vinci_values_count(values); i++)
    if (vinci_values_tensor(values, i, &tensor))
      for (uint64_t byte = 0; byte < tensor.bytes; byte++)
        sum = sum * 31 + ((const unsigned char *)tensor.data)[byte];
  see(job, "values", status, sum, &diag);
  vinci_values_free(values);
}

static void list_schedules(struct job *job, const vinci_soc *soc) {
  const char *const args[] = {"shape=64x512"};
  struct vinci_diag diag = {0};
  vinci_space *space = NULL;
  enum vinci_status status = vinci_space_open(soc, "softmax", args, 1, 0, &space, &diag);
  see(job, "space", status, status == VINCI_OK ? vinci_space_count(space) : 0, &diag);
  vinci_space_free(space);
}

static void *work(void *context) {
  static const char *const args[] = {"m=96", "k=128", "n=80"};
  struct job *job = context;
  job->used = 0;
  for (unsigned round = 0; round < ROUNDS; round++) {
    struct vinci_diag diag = {0};
    vinci_soc *soc = NULL, *none = NULL;
    vinci_trace *trace = NULL;
    enum vinci_status status = vinci_soc_load(job->chip, NULL, &soc, &diag);
    if (status == VINCI_OK)
      status = vinci_compile(soc, "matmul", args, 3, &trace, &diag);
    see(job, "compile", status, round, &diag);
    if (status == VINCI_OK) {
      run(job, soc, trace);
      check(job, soc, trace);
      compute(job, soc, trace);
      list_schedules(job, soc);
    }
    if (job->trace)
      run(job, job->soc, job->trace);
    see(job, "none", vinci_soc_load("nope", NULL, &none, &diag), 0, &diag);
    vinci_trace_free(trace);
    vinci_soc_free(soc);
  }
  return NULL;
}

static void several_threads_see_what_one_sees(void **state) {
  static const char *const chips[THREADS] = {"Ascend910B4", "Ascend910B1", "Ascend310P3"};
  static const char *const args[] = {"shape=32x512"};
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  vinci_trace *trace = NULL;
  (void)state;
  assert_int_equal(vinci_soc_load("Ascend910B4", NULL, &soc, &diag), VINCI_OK);
  assert_int_equal(vinci_compile(soc, "softmax", args, 1, &trace, &diag), VINCI_OK);
  static struct job alone[THREADS], beside[THREADS];
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++) {
    beside[i] = alone[i] = (struct job){.chip = chips[i], .soc = soc, .trace = trace};
    assert_int_equal(pthread_create(&thread[i], NULL, work, &beside[i]), 0);
  }
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(thread[i], NULL), 0);
  for (int i = 0; i < THREADS; i++) {
    work(&alone[i]); /* the first thread: in the kernel of SystemC */
    assert_string_equal(beside[i].seen, alone[i].seen);
    assert_non_null(strstr(alone[i].seen, "run 0 "));
    assert_non_null(strstr(alone[i].seen, "values 0 "));
  }
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

/* A run whose progress function runs another. */
struct nest {
  const vinci_soc *soc;
  const vinci_trace *inner;
  uint64_t inner_cycles;
  unsigned calls;
};

static bool run_inside(void *context, uint64_t cycles, unsigned done_permille) {
  struct nest *nest = context;
  struct vinci_diag diag = {0};
  vinci_result *result = NULL;
  (void)cycles;
  (void)done_permille;
  if (nest->calls++ > 0)
    return true;
  assert_int_equal(vinci_run(nest->soc, nest->inner, NULL, &result, &diag), VINCI_OK);
  nest->inner_cycles = vinci_result_total_cycles(result);
  vinci_result_free(result);
  return true;
}

static uint64_t cycles_of(const vinci_soc *soc, const vinci_trace *trace,
                          const struct vinci_run_options *options) {
  struct vinci_diag diag = {0};
  vinci_result *result = NULL;
  if (vinci_run(soc, trace, options, &result, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  uint64_t cycles = vinci_result_total_cycles(result);
  vinci_result_free(result);
  return cycles;
}

static void a_progress_function_may_run(void **state) {
  static const char *const large[] = {"m=512", "k=512", "n=512"}, *const small[] = {"shape=32x512"};
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  vinci_trace *outer = NULL, *inner = NULL;
  (void)state;
  assert_int_equal(vinci_soc_load("Ascend910B4", NULL, &soc, &diag), VINCI_OK);
  assert_int_equal(vinci_compile(soc, "matmul", large, 3, &outer, &diag), VINCI_OK);
  assert_int_equal(vinci_compile(soc, "softmax", small, 1, &inner, &diag), VINCI_OK);
  struct nest nest = {.soc = soc, .inner = inner};
  const struct vinci_run_options options = {
      .struct_size = sizeof options, .progress = run_inside, .progress_context = &nest};
  assert_int_equal(cycles_of(soc, outer, &options), cycles_of(soc, outer, NULL));
  assert_true(nest.calls > 0);
  assert_int_equal(nest.inner_cycles, cycles_of(soc, inner, NULL));
  vinci_trace_free(outer);
  vinci_trace_free(inner);
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(several_threads_see_what_one_sees),
      cmocka_unit_test(a_progress_function_may_run),
  };
  return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
