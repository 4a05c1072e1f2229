/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of a family of graphs. */
#include "networks/run/gears.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32, NUMBER_BYTES = 24 };

struct expression {
  const char *at;
  int64_t batch;
  unsigned depth;
  bool wrong;
};

static int64_t sum(struct expression *expression);

static bool next_is(struct expression *expression, char sign) {
  while (*expression->at == ' ')
    expression->at++;
  if (*expression->at != sign)
    return false;
  expression->at++;
  return true;
}

static int64_t value(struct expression *expression) {
  static const char name[] = "batch";
  int64_t number = 0;
  if (next_is(expression, '(')) {
    expression->wrong |= ++expression->depth > DEPTH_MAX;
    number = expression->wrong ? 0 : sum(expression);
    expression->wrong |= !next_is(expression, ')');
    expression->depth--;
    return number;
  }
  if (strncmp(expression->at, name, sizeof name - 1) == 0) {
    expression->at += sizeof name - 1;
    return expression->batch;
  }
  const char *first = expression->at;
  for (; *expression->at >= '0' && *expression->at <= '9'; expression->at++)
    expression->wrong |= __builtin_mul_overflow(number, 10, &number) ||
                         __builtin_add_overflow(number, *expression->at - '0', &number);
  expression->wrong |= expression->at == first;
  return number;
}

static int64_t product(struct expression *expression) {
  int64_t result = value(expression);
  for (;;) {
    bool times = next_is(expression, '*');
    if (!times && !next_is(expression, '/'))
      return result;
    int64_t other = value(expression);
    if (times)
      expression->wrong |= __builtin_mul_overflow(result, other, &result);
    else if (other > 0 && result >= 0)
      result /= other;
    else
      expression->wrong = true;
  }
}

static int64_t sum(struct expression *expression) {
  int64_t result = product(expression);
  for (;;) {
    bool plus = next_is(expression, '+');
    if (!plus && !next_is(expression, '-'))
      return result;
    int64_t other = product(expression);
    expression->wrong |= plus ? __builtin_add_overflow(result, other, &result)
                              : __builtin_sub_overflow(result, other, &result);
  }
}

static void fail_at(const char *name, const char *text, const char *at, struct vinci_diag *diag,
                    const char *what) {
  struct diag_position position = {.path = name, .line = 1, .column = 1};
  for (; text < at; text++) {
    position.line += *text == '\n';
    position.column = *text == '\n' ? 1 : position.column + 1;
  }
  diag_error_at(diag, VINCI_E_INPUT, position, "%s", what);
  diag_hint(diag, "such as shape={batch}x1024 or args=m={batch*32}");
}

char *gear_text(const char *name, const char *text, uint64_t batch, struct vinci_diag *diag) {
  /* An expression has at least three bytes, and its number at most NUMBER_BYTES. */
  char *out = malloc(strlen(text) * (NUMBER_BYTES / 3) + 1), *to = out;
  bool any = false;
  if (!out) {
    (void)diag_error(diag, VINCI_E_NOMEM, "out of memory for a gear");
    return NULL;
  }
  for (const char *at = text; *at;) {
    if (*at != '{') {
      *to++ = *at++;
      continue;
    }
    struct expression expression = {.at = at + 1, .batch = (int64_t)batch};
    int64_t number = sum(&expression);
    if (expression.wrong || number < 0 || !next_is(&expression, '}')) {
      fail_at(name, text, at, diag, "not an expression in batch");
      free(out);
      return NULL;
    }
    to += snprintf(to, NUMBER_BYTES, "%" PRId64, number);
    at = expression.at;
    any = true;
  }
  *to = '\0';
  if (any)
    return out;
  fail_at(name, text, text, diag, "nothing in the graph depends on {batch}");
  free(out);
  return NULL;
}
