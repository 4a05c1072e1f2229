/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON (RFC 8259): every value with the way to it, without a tree; the words that readers
 * share. */
#ifndef VINCI_CORE_BASE_JSON_H
#define VINCI_CORE_BASE_JSON_H

#include "core/vinci.h"

enum { JSON_PATH_MAX = 512, JSON_NESTED_MAX = 64 };

/*
 * Calls visit for each string, number and word, in order: path joins keys and indices of arrays by
 * dots, "cores.0.pipes.MTE2.busy_cycles"; text is the value, of a string without its quotes.
 * VINCI_E_INPUT for what is no JSON, with the position. text, of length bytes, is written to.
 */
VINCI_MUST_CHECK enum vinci_status json_read(const char *path, char *text, size_t length,
                                             void (*visit)(void *context, const char *path,
                                                           const char *text),
                                             void *context, struct vinci_diag *diag);

/*
 * What an escape stands for: at points behind the backslash and moves behind the escape. Of "u" and
 * four digits code is their number; of two that are the halves of one character, that character.
 * Half a character alone is that half, for the caller to judge. False when it has no meaning.
 */
bool json_escape(const char **at, const char *end, unsigned *code);
/* Whether a code point is half a character. */
bool json_is_half(unsigned code);
/* Writes a text in quotes, as a string of JSON or Lua; control characters become blanks. */
void json_write_plain(FILE *out, const char *text);
/* Length of the number, true, false or null that stands at `at`; 0: none does. */
size_t json_literal(const char *at, const char *end);

#endif
