/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes that are one of some words. */
#include <string.h>

#include "networks/onnx/import.h"

static const struct words {
  const char *op, *attribute, *words;
} all[] = {
#define WORDS(op, attribute, words) {#op, #attribute, words},
#include "networks/onnx/words.def"
#undef WORDS
};

/* Whether a list with blanks between has the word. */
static bool has_word(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *at = words; length > 0 && (at = strstr(at, word)); at += length)
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
      return true;
  return false;
}

enum vinci_status onnx_check_words(const struct onnx_call *call) {
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const char *given =
        strcmp(all[i].op, call->op) == 0 ? onnx_text(call, all[i].attribute, NULL) : NULL;
    if (given && !has_word(all[i].words, given))
      return onnx_fail(call, "%s is \"%.40s\"; possible are %s", all[i].attribute, given,
                       all[i].words);
  }
  return VINCI_OK;
}
