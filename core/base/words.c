/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of words in one text. */
#include "core/base/words.h"

#include <string.h>

bool words_nth(const char *words, unsigned index, char word[WORD_BYTES_MAX]) {
  while (index > 0 && *words) {
    words += strcspn(words, "|");
    words += *words == '|';
    index--;
  }
  size_t length = strcspn(words, "|");
  if (length == 0 || length >= WORD_BYTES_MAX)
    return false;
  memcpy(word, words, length);
  word[length] = '\0';
  return true;
}

bool words_have(const char *words, const char *word) {
  char next[WORD_BYTES_MAX];
  for (unsigned i = 0; words_nth(words, i, next); i++)
    if (strcmp(next, word) == 0)
      return true;
  return false;
}
