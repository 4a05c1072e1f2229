/* SPDX-License-Identifier: Apache-2.0 */
/* Measured times of lists: microseconds as profilers and spreadsheets write them. */
#include <string.h>
#include <strings.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "lower/calls/calls.h"

enum { GROUP_DIGITS = 3, EXPONENT_MAX = 99, PS_DIGITS = 6 };
static const uint64_t mantissa_max = UINT64_C(10000000000000000);
static const uint64_t microseconds_max = UINT64_C(1000000000000);

/* A number so far: mantissa * 10^scale. */
struct decimal {
  uint64_t mantissa;
  int scale;
  bool digits;
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Digits that no longer count leave only their place. */
static void take_digit(struct decimal *number, char digit, bool fraction) {
  number->digits = true;
  if (number->mantissa < mantissa_max) {
    number->mantissa = number->mantissa * 10 + (uint64_t)(digit - '0');
    number->scale -= fraction;
  } else {
    number->scale += !fraction;
  }
}

/* "1234" or "1,234"; commas stand after one to three digits, and then between groups of three. */
static const char *take_whole(const char *text, struct decimal *number) {
  unsigned group = 0;
  bool groups = false;
  for (; is_digit(*text) || *text == ','; text++) {
    if (*text == ',') {
      if (group == 0 || group > GROUP_DIGITS || (groups && group != GROUP_DIGITS))
        return NULL;
      groups = true;
      group = 0;
    } else {
      take_digit(number, *text, false);
      group++;
    }
  }
  return groups && group != GROUP_DIGITS ? NULL : text;
}

static const char *take_exponent(const char *text, struct decimal *number) {
  bool negative = *++text == '-';
  int exponent = 0;
  text += *text == '-' || *text == '+';
  if (!is_digit(*text))
    return NULL;
  for (; is_digit(*text); text++)
    if ((exponent = exponent * 10 + (*text - '0')) > EXPONENT_MAX)
      return NULL;
  number->scale += negative ? -exponent : exponent;
  return text;
}

static bool to_ps(const struct decimal *number, uint64_t *ps) {
  uint128 value = number->mantissa;
  int scale = number->scale + PS_DIGITS;
  uint128 most = (uint128)microseconds_max * (PS_PER_SECOND / 1000000);
  for (; scale > 0 && value > 0; scale--)
    if ((value *= 10) > most)
      return false;
  for (; scale < 0 && value > 0; scale++)
    value /= 10;
  *ps = (uint64_t)value;
  return value <= most;
}

bool calls_time(const char *text, uint64_t *ps) {
  struct decimal number = {0};
  char cell[64];
  text += strspn(text, " \t");
  size_t length = strlen(text);
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
    length--;
  *ps = 0;
  if (length == 0)
    return true;
  if (length >= sizeof cell)
    return false;
  memcpy(cell, text, length);
  cell[length] = '\0';
  if (strcasecmp(cell, "N/A") == 0)
    return true;
  const char *next = take_whole(cell, &number);
  if (next && *next == '.')
    for (next++; is_digit(*next); next++)
      take_digit(&number, *next, true);
  if (next && (*next == 'e' || *next == 'E'))
    next = take_exponent(next, &number);
  return next && *next == '\0' && number.digits && to_ps(&number, ps);
}

enum { NS_DIGITS = 3 };
static const uint64_t start_max = UINT64_C(1000000000000000000); /* so that one digit more fits */

bool calls_start(const char *text, uint64_t *ns) {
  uint64_t value = 0;
  int digits = -1; /* of the fraction */
  *ns = 0;
  text += strspn(text, " \t");
  if (*text == '\0' || strncasecmp(text, "N/A", 3) == 0)
    return true;
  if (!is_digit(*text))
    return false;
  for (; is_digit(*text) || (*text == '.' && digits < 0); text++) {
    if (*text == '.' || digits >= 0)
      digits++;
    if (value >= start_max)
      return false;
    if (*text != '.' && digits <= NS_DIGITS)
      value = value * 10 + (uint64_t)(*text - '0');
  }
  for (int i = digits < 0 ? 0 : digits; i < NS_DIGITS && value < start_max; i++)
    value *= 10;
  *ns = value;
  return text[strspn(text, " \t")] == '\0';
}
