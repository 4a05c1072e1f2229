/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as decimals, computed in integers, so that the text depends on neither host, build nor
 * locale.
 */
#ifndef VINCI_CORE_BASE_DECIMAL_H
#define VINCI_CORE_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/arith.h"

struct decimal {
  char text[64];
};

/* numerator / denominator with a fixed number of decimals, halves rounded up; 0 when
 * the denominator is 0. */
struct decimal decimal_ratio(uint128 numerator, uint128 denominator, unsigned decimals);
/* value / 10^decimals exactly; of trailing zeros, the first stays. */
struct decimal decimal_exact(uint64_t value, unsigned decimals);
/* Back: "1.5" of 3 decimals is 1500. Further decimals are left out. */
uint64_t decimal_read(const char *text, unsigned decimals);
/* Bytes in a time as a rate in units of `unit` bytes per second. */
struct decimal decimal_rate(uint64_t bytes, uint64_t time_ps, uint64_t unit, unsigned decimals);

/* change / whole in per cent with a sign and one decimal, "+12.3"; "" when the whole is 0 and the
 * change is not. */
struct decimal decimal_percent(int64_t change, uint64_t whole);

/* A whole text "[-]digits[.digits][e[+-]digits]" (or E) as a number; false for any other text. */
bool decimal_parse(const char *text, double *out);

/* Reads the digits that a text begins with; the end of these, or NULL where none are or the number
 * has more than 64 bits. Signs, blanks, "0x" and exponents are not digits. */
const char *decimal_digits(const char *text, uint64_t *out);
/* A text of digits alone. */
bool decimal_whole(const char *text, uint64_t *out);

/* Bytes of any 64-bit integer in text, its zero included. */
enum { DECIMAL_TEXT_BYTES = 21 };
/* Writes an integer as printf's %d would, many times as fast; returns its length. */
size_t decimal_put(char text[static DECIMAL_TEXT_BYTES], int64_t value);

#endif
