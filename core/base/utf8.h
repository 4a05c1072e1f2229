/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, the encoding of all text that comes in and goes out. */
#ifndef VINCI_CORE_BASE_UTF8_H
#define VINCI_CORE_BASE_UTF8_H

#include <stddef.h>

/* No character is longer. */
enum { UTF8_BYTES_MAX = 4 };

/*
 * Length of the character at `at` with N bytes left, 0 when these are no character (RFC 3629).
 * Stops at the first byte that does not fit, so text that ends in 0 may give
 * UTF8_BYTES_MAX for what is left.
 */
size_t utf8_length(const char *at, size_t left);
/* Writes the bytes of a code point below 0x110000; their number. */
size_t utf8_write(unsigned code, char out[UTF8_BYTES_MAX]);

#endif
