/* SPDX-License-Identifier: Apache-2.0 */
/* "matmul m=4 k=5" in its words, as functions that lower operators take. */
#ifndef VINCI_TESTS_SUPPORT_WORDS_H
#define VINCI_TESTS_SUPPORT_WORDS_H

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 20, WORDS_BYTES = 512 };

struct words {
  char text[WORDS_BYTES];
  const char *item[WORDS_MAX]; /* in `text`: a copy of the struct has none of its own */
  size_t count;
};

static inline void words_split(struct words *words, const char *text) {
  words->count = 0;
  assert(strlen(text) < sizeof words->text);
  snprintf(words->text, sizeof words->text, "%s", text);
  for (char *next = words->text; (next = strtok(next, " ")) != NULL; next = NULL) {
    assert(words->count < WORDS_MAX);
    words->item[words->count++] = next;
  }
}

#endif
