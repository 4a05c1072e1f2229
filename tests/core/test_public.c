/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library as users see the library: linked to libvinci alone, with vinci.h alone. The
 * first test is the example at the head of vinci.h.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/vinci.h"

static void trace_path(char *path, size_t size) {
  const char *top = getenv("TESTS_SRCDIR");
  snprintf(path, size, "%s/traces/examples/add1_tile20480.csv", top ? top : ".");
}

static void the_example_of_the_header(void **state) {
  (void)state;
  char path[4096];
  trace_path(path, sizeof path);
  struct vinci_diag diag = {0};
  vinci_soc *soc;
  vinci_trace *trace;
  vinci_result *result;
  if (vinci_soc_load("Ascend910B4", NULL, &soc, &diag) == VINCI_OK &&
      vinci_trace_load(path, soc, &trace, &diag) == VINCI_OK &&
      vinci_run(soc, trace, NULL, &result, &diag) == VINCI_OK)
    assert_true(vinci_result_total_cycles(result) > 0);
  else
    fail_msg("%s", diag.text);
  vinci_result_free(result);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

static void a_what_if_changes_the_result(void **state) {
  (void)state;
  char path[4096];
  trace_path(path, sizeof path);
  uint64_t cycles[2];
  for (int slow = 0; slow < 2; slow++) {
    struct vinci_diag diag = {0};
    vinci_soc *soc;
    vinci_trace *trace;
    vinci_result *result;
    assert_int_equal(vinci_soc_load("Ascend910B4", NULL, &soc, &diag), VINCI_OK);
    if (slow)
      assert_int_equal(vinci_soc_set(soc, "hbm.bandwidth_scale=0.5", &diag), VINCI_OK);
    assert_int_equal(vinci_trace_load(path, soc, &trace, &diag), VINCI_OK);
    assert_int_equal(vinci_run(soc, trace, NULL, &result, &diag), VINCI_OK);
    cycles[slow] = vinci_result_total_cycles(result);
    vinci_result_free(result);
    vinci_trace_free(trace);
    vinci_soc_free(soc);
  }
  assert_true(cycles[1] > cycles[0]);
}

static void errors_come_back_as_status_and_text(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  enum vinci_status status = vinci_soc_load("Ascend910X1", NULL, &soc, &diag);
  assert_int_equal(status, VINCI_E_USAGE);
  assert_int_equal(diag.status, status);
  assert_non_null(strstr(diag.text, "Ascend910X1"));
  assert_null(soc);
  assert_int_equal(vinci_status_exit_code(status), 2);
}

static void every_free_accepts_null(void **state) {
  (void)state;
  vinci_result_free(NULL);
  vinci_trace_free(NULL);
  vinci_soc_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_example_of_the_header),
      cmocka_unit_test(a_what_if_changes_the_result),
      cmocka_unit_test(errors_come_back_as_status_and_text),
      cmocka_unit_test(every_free_accepts_null),
  };
  return cmocka_run_group_tests_name("public", tests, NULL, NULL);
}
