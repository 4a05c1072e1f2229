/* SPDX-License-Identifier: Apache-2.0 */
/* Causes as a table, and the number of a chip behind each. */
#include "core/result/cause.h"

#include <stdio.h>
#include <string.h>

static const struct cause_row rows[] = {
#define CAUSE(id, key, unit, number, turn, text) {key, CAUSE_OF_##unit, number, CAUSE_##turn, text},
#include "core/result/causes.def"
};

const struct cause_row *cause_row(enum cause cause) { return &rows[cause]; }

bool cause_is_of(enum cause cause, enum pipe pipe) {
  switch (rows[cause].unit) {
  case CAUSE_OF_SCALAR:
    return pipe == PIPE_S;
  case CAUSE_OF_CUBE:
    return pipe == PIPE_M;
  case CAUSE_OF_VECTOR:
    return pipe == PIPE_V;
  case CAUSE_OF_COPY:
    return pipe != PIPE_S && pipe != PIPE_M && pipe != PIPE_V;
  case CAUSE_OF_ALL:
    break;
  }
  return true;
}

static const char *const path_words[] = {
#define X(id, from, to, pipe) #id,
    PATH_LIST(X)
#undef X
};

static const char *const class_words[] = {
#define X(id, text) #id,
    VECTOR_CLASS_LIST(X)
#undef X
};

/* What stands for '*'; NULL: nothing does. */
static const char *member_word(enum cause_unit unit, unsigned member) {
  if (unit == CAUSE_OF_COPY)
    return member < PATH_COUNT ? path_words[member] : NULL;
  if (unit == CAUSE_OF_VECTOR)
    return member < VECTOR_CLASS_COUNT ? class_words[member] : NULL;
  return member < DTYPE_COUNT ? dtype_name((enum dtype)member) : NULL;
}

size_t cause_param(const struct vinci_soc *soc, enum cause cause, unsigned member, bool flat) {
  const char *pattern = rows[cause].number;
  if (flat && cause == CAUSE_DRAM_ACCESS)
    pattern = "path.*.hbm_bytes_per_cycle";
  int before = (int)strcspn(pattern, "*");
  char key[64];
  if (!pattern[before])
    return soc_param_find(pattern);
  const char *word = member_word(rows[cause].unit, member);
  if (!word)
    return soc_param_count();
  if (cause == CAUSE_VECTOR_ISSUE && soc->vector_class[member].offset_mcycles == 0)
    snprintf(key, sizeof key, "vector.%s.minimum_cycles", word);
  else
    snprintf(key, sizeof key, "%.*s%s%s", before, pattern, word, pattern + before + 1);
  return soc_param_find(key);
}
