/* SPDX-License-Identifier: Apache-2.0 */
/* Exact decimals: no floating point, no locale. */
#include "core/base/decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"

static uint128 power_of_ten(unsigned exponent) {
  uint128 power = 1;
  while (exponent-- > 0)
    power *= 10;
  return power;
}

/* Digits of value with the point before the last `decimals`. */
static struct decimal digits(uint128 value, unsigned decimals) {
  char reversed[48];
  unsigned count = 0;
  do {
    reversed[count++] = (char)('0' + (int)(value % 10));
    value /= 10;
  } while (value > 0 || count <= decimals);
  struct decimal decimal;
  unsigned length = 0;
  while (count > 0) {
    if (count == decimals)
      decimal.text[length++] = '.';
    decimal.text[length++] = reversed[--count];
  }
  decimal.text[length] = '\0';
  return decimal;
}

struct decimal decimal_ratio(uint128 numerator, uint128 denominator, unsigned decimals) {
  if (denominator == 0)
    return digits(0, decimals);
  uint128 whole = numerator / denominator;
  uint128 rest = numerator % denominator;
  uint128 scale = power_of_ten(decimals);
  while (denominator > ~(uint128)0 / (4 * scale)) { /* keeps rest * scale in 128 bits */
    denominator >>= 1;
    rest >>= 1;
  }
  return digits(whole * scale + (2 * rest * scale + denominator) / (2 * denominator), decimals);
}

struct decimal decimal_percent(int64_t change, uint64_t whole) {
  struct decimal text = {""};
  if (whole == 0 && change != 0)
    return text;
  uint64_t size = change < 0 ? -(uint64_t)change : (uint64_t)change;
  struct decimal amount = decimal_ratio((uint128)size * 100, whole, 1);
  snprintf(text.text, sizeof text.text, "%s%.40s", change < 0 ? "-" : "+", amount.text);
  return text;
}

struct decimal decimal_exact(uint64_t value, unsigned decimals) {
  struct decimal decimal = digits(value, decimals);
  if (decimals == 0)
    return decimal;
  size_t length = strlen(decimal.text);
  while (decimal.text[length - 1] == '0' && decimal.text[length - 2] != '.')
    decimal.text[--length] = '\0';
  return decimal;
}

struct decimal decimal_rate(uint64_t bytes, uint64_t time_ps, uint64_t unit, unsigned decimals) {
  return decimal_ratio((uint128)bytes * PS_PER_SECOND, (uint128)time_ps * unit, decimals);
}

size_t decimal_put(char text[static DECIMAL_TEXT_BYTES], int64_t value) {
  char reversed[DECIMAL_TEXT_BYTES];
  uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
  size_t digits = 0, length = 0;
  do
    reversed[digits++] = (char)('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (value < 0)
    text[length++] = '-';
  while (digits != 0)
    text[length++] = reversed[--digits];
  text[length] = '\0';
  return length;
}

/* ---- reading: by hand, as strtod() listens to the locale ---- */

enum { EXPONENT_MAX = 300, BASE = 10 };
#define DIGITS_MAX UINT64_C(1000000000000000) /* further digits change no double */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Digits with a point; *places: how many stand behind that point, less those left out. */
static const char *read_digits(const char *next, uint64_t *digits, int *places, bool *any) {
  for (bool point = false; is_digit(*next) || (*next == '.' && !point); next++) {
    if (*next == '.') {
      point = true;
      continue;
    }
    if (*digits < DIGITS_MAX) {
      *digits = *digits * BASE + (uint64_t)(*next - '0');
      *places += point;
    } else {
      *places -= !point;
    }
    *any = true;
  }
  return next;
}

static const char *read_exponent(const char *next, int *exponent, bool *any) {
  bool small = *next == '-';
  next += small || *next == '+';
  *any = is_digit(*next);
  for (; is_digit(*next); next++)
    *exponent = *exponent > EXPONENT_MAX ? *exponent : *exponent * BASE + (*next - '0');
  *any = *any && *exponent <= EXPONENT_MAX;
  if (small)
    *exponent = -*exponent;
  return next;
}

bool decimal_parse(const char *text, double *out) {
  uint64_t digits = 0;
  int places = 0, exponent = 0;
  bool any = false, negative = *text == '-';
  text = read_digits(text + negative, &digits, &places, &any);
  if (any && (*text == 'e' || *text == 'E'))
    text = read_exponent(text + 1, &exponent, &any);
  if (!any || *text != '\0')
    return false;
  int scale = exponent - places;
  double power = 1.0;
  for (int i = 0; i < (scale < 0 ? -scale : scale); i++)
    power *= BASE;
  *out = scale < 0 ? (double)digits / power : (double)digits * power;
  if (negative)
    *out = -*out;
  return true;
}

const char *decimal_digits(const char *text, uint64_t *out) {
  const char *at = text;
  *out = 0;
  for (; is_digit(*at); at++)
    if (__builtin_mul_overflow(*out, (uint64_t)BASE, out) ||
        __builtin_add_overflow(*out, (uint64_t)(*at - '0'), out))
      return NULL;
  return at == text ? NULL : at;
}

bool decimal_whole(const char *text, uint64_t *out) {
  const char *end = decimal_digits(text, out);
  return end && *end == '\0';
}

uint64_t decimal_read(const char *text, unsigned decimals) {
  char *end;
  uint64_t value = strtoull(text, &end, 10);
  const char *digit = *end == '.' ? end + 1 : end;
  for (unsigned i = 0; i < decimals; i++)
    value = value * 10 + (uint64_t)(*digit >= '0' && *digit <= '9' ? *digit++ - '0' : 0);
  return value;
}
