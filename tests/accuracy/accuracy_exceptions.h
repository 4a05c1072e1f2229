/* SPDX-License-Identifier: Apache-2.0 */
/* What `make accuracy` knows to be beyond its limit, and whether a row still is as it is known. */
#ifndef VINCI_TESTS_ACCURACY_ACCURACY_EXCEPTIONS_H
#define VINCI_TESTS_ACCURACY_ACCURACY_EXCEPTIONS_H

#include <stdbool.h>

enum accuracy_verdict {
  ACCURACY_MET,      /* within the limit */
  ACCURACY_EXCEPTED, /* beyond the limit, as known */
  ACCURACY_MISSED,   /* beyond the limit, or beyond the ceiling of the exception */
  ACCURACY_MENDED,   /* within the limit, and excepted: the exception has to go */
};

/* Judges the relative error of a row or a target against its limit, all as absolute values. */
enum accuracy_verdict accuracy_judge(const char *program, const char *what, double error,
                                     double limit);
/* What is known of a row or a target; NULL when there is no exception for this name. */
const char *accuracy_reason(const char *program, const char *what);
/* Prints the exceptions of a program that a judgement used, and which of them have to go since
 * nothing is beyond its limit there. Returns whether all are as known. */
bool accuracy_exceptions_hold(const char *program);

#endif
