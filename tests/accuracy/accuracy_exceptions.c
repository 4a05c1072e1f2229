/* SPDX-License-Identifier: Apache-2.0 */
/* The table of accuracy_exceptions.def. */
#include "tests/accuracy/accuracy_exceptions.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct exception {
  const char *program, *what;
  double ceiling;
  const char *reason;
} exceptions[] = {
#define EXCEPTION(program, what, ceiling, reason) {program, what, ceiling, reason},
#include "tests/accuracy/accuracy_exceptions.def"
#undef EXCEPTION
};

enum { EXCEPTIONS = sizeof exceptions / sizeof *exceptions };

/* The worst verdict on each, and whether there was any. */
static struct {
  bool judged;
  enum accuracy_verdict verdict;
  double error, limit;
} judged[EXCEPTIONS];

static size_t find(const char *program, const char *what) {
  size_t i = 0;
  while (i < EXCEPTIONS &&
         (strcmp(exceptions[i].program, program) != 0 || strcmp(exceptions[i].what, what) != 0))
    i++;
  return i;
}

const char *accuracy_reason(const char *program, const char *what) {
  size_t i = find(program, what);
  return i < EXCEPTIONS ? exceptions[i].reason : NULL;
}

enum accuracy_verdict accuracy_judge(const char *program, const char *what, double error,
                                     double limit) {
  size_t i = find(program, what);
  if (i == EXCEPTIONS)
    return error <= limit ? ACCURACY_MET : ACCURACY_MISSED;
  enum accuracy_verdict verdict = error <= limit                   ? ACCURACY_MENDED
                                  : error <= exceptions[i].ceiling ? ACCURACY_EXCEPTED
                                                                   : ACCURACY_MISSED;
  judged[i].judged = true;
  judged[i].verdict = verdict;
  judged[i].error = error;
  judged[i].limit = limit;
  return verdict;
}

static const char *text_of(size_t i) {
  if (!judged[i].judged)
    return "NOT THERE ANY MORE: remove the exception";
  switch (judged[i].verdict) {
  case ACCURACY_EXCEPTED:
    return "as known";
  case ACCURACY_MENDED:
    return "WITHIN ITS LIMIT AGAIN: remove the exception";
  default:
    return "BEYOND ITS CEILING";
  }
}

bool accuracy_exceptions_hold(const char *program) {
  bool hold = true, first = true;
  for (size_t i = 0; i < EXCEPTIONS; i++) {
    if (strcmp(exceptions[i].program, program) != 0)
      continue;
    if (first)
      printf("\nexceptions (tests/accuracy/accuracy_exceptions.def):\n");
    first = false;
    hold &= judged[i].judged && judged[i].verdict == ACCURACY_EXCEPTED;
    printf("%s: %.1f %%, limit %.1f %%, ceiling %.1f %%: %s\n    %s\n", exceptions[i].what,
           100 * judged[i].error, 100 * judged[i].limit, 100 * exceptions[i].ceiling, text_of(i),
           exceptions[i].reason);
  }
  return hold;
}
