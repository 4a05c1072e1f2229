/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of lists of operators: which are read, in which kind of list, and which need not be. */
#include "traces/format/call_columns.h"

#include <string.h>

#include "core/base/diag.h"
#include "core/base/words.h"

enum { COLUMN_WORDS_MAX = 192, COMPARED_LENGTH = 4 };

static const char *const column_names[] = {
#define X(id, text) text,
    CALL_COLUMN_LIST(X)
#undef X
};

void calls_plain_name(const char *text, size_t length, char name[CALL_NAME_MAX]) {
  size_t used = 0;
  for (size_t i = 0; i < length && used + 1 < CALL_NAME_MAX; i++) {
    char c = text[i];
    if (c == ' ' || c == '_' || c == '\t' || (unsigned char)c > 0x7e)
      continue;
    name[used++] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  name[used] = '\0';
}

int calls_find_column(const char *name) {
  for (int i = 0; i < CALL_COLUMN_COUNT; i++)
    if (words_have(column_names[i], name))
      return i;
  return CALL_COLUMN_COUNT;
}

/* "0x49": an event of the counters that a user has chosen. */
static bool is_event(const char *name) {
  if (strncmp(name, "aic", 3) == 0 || strncmp(name, "aiv", 3) == 0)
    name += 3;
  return strncmp(name, "0x", 2) == 0 && name[2] && !name[2 + strspn(name + 2, "0123456789abcdef")];
}

/* All names that stand for columns. */
struct column_words {
  size_t count;
  char word[COLUMN_WORDS_MAX][WORD_BYTES_MAX];
};

static const char *word_at(const void *context, size_t index) {
  const struct column_words *words = context;
  return strlen(words->word[index]) < COMPARED_LENGTH ? NULL : words->word[index];
}

/* Short names are near to every other. */
const char *calls_nearest_column(struct arena *arena, const char *name) {
  struct column_words words = {0};
  for (int i = 0; i < CALL_COLUMN_COUNT; i++)
    for (unsigned j = 0;
         words.count < COLUMN_WORDS_MAX && words_nth(column_names[i], j, words.word[words.count]);
         j++)
      words.count++;
  const char *near =
      strlen(name) < COMPARED_LENGTH ? NULL : diag_nearest(name, words.count, word_at, &words);
  return near ? arena_strdup(arena, near) : NULL;
}

/* Names of call_columns.def may have their core in front: "aic_mac_ratio". */
static bool is_in(const char *const *names, size_t count, const char *name) {
  bool core = strncmp(name, "aic", 3) == 0 || strncmp(name, "aiv", 3) == 0;
  for (size_t i = 0; i < count; i++)
    if (words_have(names[i], name) || (core && words_have(names[i], name + 3)))
      return true;
  return false;
}

bool calls_is_needless(const char *name) {
  static const char *const names[] = {
#define NEEDLESS(text) text,
#define UNMODELLED(text)
#include "traces/format/call_columns.def"
  };
  return *name == '\0' || is_event(name) || is_in(names, sizeof names / sizeof *names, name);
}

bool calls_is_unmodelled(const char *name) {
  static const char *const names[] = {
#define NEEDLESS(text)
#define UNMODELLED(text) text,
#include "traces/format/call_columns.def"
  };
  return is_in(names, sizeof names / sizeof *names, name);
}

enum call_kind calls_kind(const bool has[CALL_COLUMN_COUNT]) {
  if (has[CALL_TYPE] && has[CALL_IN_SHAPES])
    return CALL_KIND_PROFILE;
  if (has[CALL_TYPE] && has[CALL_ARGS])
    return CALL_KIND_ARGS;
  return has[CALL_IFMAP_H] && has[CALL_FILTER_H] ? CALL_KIND_CONVOLUTION : CALL_KIND_GEMM;
}

bool calls_reads(enum call_kind kind, enum call_column column) {
  switch (column) {
  case CALL_IN_SHAPES:
  case CALL_IN_TYPES:
  case CALL_IN_FORMATS:
  case CALL_OUT_SHAPES:
  case CALL_OUT_TYPES:
  case CALL_OUT_FORMATS:
  case CALL_HF32:
  case CALL_BLOCKS:
    return kind == CALL_KIND_PROFILE;
  case CALL_ARGS:
    return kind == CALL_KIND_PROFILE || kind == CALL_KIND_ARGS;
  case CALL_GEMM_M:
  case CALL_A_T:
  case CALL_B_T:
    return kind == CALL_KIND_GEMM;
  case CALL_GEMM_N:
  case CALL_GEMM_K:
  case CALL_DTYPE:
  case CALL_BATCH:
    return kind == CALL_KIND_GEMM || kind == CALL_KIND_CONVOLUTION;
  case CALL_IFMAP_H:
  case CALL_IFMAP_W:
  case CALL_FILTER_H:
  case CALL_FILTER_W:
  case CALL_CHANNELS:
  case CALL_FILTERS:
  case CALL_STRIDES:
  case CALL_STRIDE_H:
  case CALL_STRIDE_W:
  case CALL_PADS:
  case CALL_PAD_H:
  case CALL_PAD_W:
  case CALL_DILATIONS:
  case CALL_DILATION_H:
  case CALL_DILATION_W:
  case CALL_GROUPS:
    return kind == CALL_KIND_CONVOLUTION;
  default:
    return true;
  }
}
