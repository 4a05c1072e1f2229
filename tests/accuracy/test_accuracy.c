/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the exceptions of `make accuracy`: known, worse, good again, gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/accuracy/accuracy_exceptions.h"

/* Excepted up to 19 %, from a limit of 3 %. */
static const char program[] = "accuracy_silicon", row[] = "ZerosLike 1089 MB";

static void rows_without_an_exception_have_their_limit(void **state) {
  (void)state;
  assert_int_equal(accuracy_judge(program, "Mul", 0.03, 0.03), ACCURACY_MET);
  assert_int_equal(accuracy_judge(program, "Mul", 0.031, 0.03), ACCURACY_MISSED);
  assert_int_equal(accuracy_judge("accuracy", row, 0.05, 0.03), ACCURACY_MISSED);
  assert_null(accuracy_reason(program, "Mul"));
  assert_non_null(accuracy_reason(program, row));
}

/* Only a row that is as bad as it is known to be passes. */
static void exceptions_hold_while_all_is_as_known(void **state) {
  (void)state;
  assert_int_equal(accuracy_judge(program, "ZerosLike 1503 MB", 0.04, 0.03), ACCURACY_EXCEPTED);
  assert_false(accuracy_exceptions_hold(program)); /* one row is not judged: it is gone */
  assert_int_equal(accuracy_judge(program, row, 0.031, 0.03), ACCURACY_EXCEPTED);
  assert_true(accuracy_exceptions_hold(program));
  assert_int_equal(accuracy_judge(program, row, 0.191, 0.03), ACCURACY_MISSED);
  assert_false(accuracy_exceptions_hold(program));
  assert_int_equal(accuracy_judge(program, row, 0.03, 0.03), ACCURACY_MENDED);
  assert_false(accuracy_exceptions_hold(program));
  assert_true(accuracy_exceptions_hold("a program without exceptions"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_without_an_exception_have_their_limit),
      cmocka_unit_test(exceptions_hold_while_all_is_as_known),
  };
  return cmocka_run_group_tests_name("accuracy", tests, NULL, NULL);
}
