/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of words in one text, "a|b|c". */
#ifndef VINCI_CORE_BASE_WORDS_H
#define VINCI_CORE_BASE_WORDS_H

#include <stdbool.h>

/* No word is longer, with its end. */
enum { WORD_BYTES_MAX = 64 };

/* The index-th of "a|b|c"; false behind the last. */
bool words_nth(const char *words, unsigned index, char word[WORD_BYTES_MAX]);
/* Whether the list has the word. */
bool words_have(const char *words, const char *word);

#endif
