/* SPDX-License-Identifier: Apache-2.0 */
/* Words of commands that a user may paste into a shell. */
#include "core/base/shell.h"

#include <string.h>

/* What stands around the word, and for each of its letters (a quote ends the quotes and begins them
 * again). */
static const char *around(const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,+@%";
  return word[strspn(word, plain)] != '\0' || !*word ? "'" : "";
}

static const char *letter(const char *at, char one[2]) {
  one[0] = *at;
  one[1] = '\0';
  return *at == '\'' ? "'\\''" : one;
}

void shell_put_word(FILE *out, const char *word) {
  const char *quote = around(word);
  char one[2];
  fputs(quote, out);
  for (; *word; word++)
    fputs(letter(word, one), out);
  fputs(quote, out);
}

bool shell_write_word(char *text, size_t size, const char *word) {
  const char *quote = around(word);
  char one[2];
  size_t length = 2 * strlen(quote);
  for (const char *at = word; *at; at++)
    length += strlen(letter(at, one));
  if (length >= size)
    return false;
  text = stpcpy(text, quote);
  for (; *word; word++)
    text = stpcpy(text, letter(word, one));
  stpcpy(text, quote);
  return true;
}
