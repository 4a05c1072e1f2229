/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON text of one line as a tree. */
#ifndef VINCI_CLI_TUNE_JSON_H
#define VINCI_CLI_TUNE_JSON_H

#include <stdbool.h>

#include "core/base/arena.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

struct json_value {
  enum json_kind kind;
  const char *key;  /* in an object, else NULL */
  const char *text; /* of texts; of numbers, true and false as they were written */
  const struct json_value *first, *next; /* of arrays and objects; the next beside it in theirs */
};

/* The value of a whole text, in the arena; NULL, with a reason, for what is no JSON. Nothing behind
 * `length` is read. Numbers stay texts. */
const struct json_value *json_parse(const char *text, size_t length, struct arena *arena,
                                    const char **reason);
/* The member of an object; NULL when there is none, or value is NULL or no object. */
const struct json_value *json_member(const struct json_value *value, const char *key);
/* Its text, of texts, numbers, true and false; NULL for anything else. */
const char *json_scalar(const struct json_value *value);

#endif
