/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads JSON piece by piece: the caller walks through objects and arrays and takes or skips each
 * value. The first error stays in the diagnostic, and from then on nothing is there any more.
 *
 *     for (bool more = json_open(&json, '{'); more; more = json_more(&json, '}')) {
 *       json_key(&json, key, sizeof key);
 *       ...take or skip the value...
 *     }
 */
#ifndef VINCI_TRACES_IMPORT_JSON_H
#define VINCI_TRACES_IMPORT_JSON_H

#include "core/vinci.h"

struct json_reader {
  const char *path, *text, *at, *end;
  struct vinci_diag *diag;
  enum vinci_status status;
  unsigned depth; /* of values that are skipped */
};

/* An object '{' or an array '[' begins; whether it has a first member. */
bool json_open(struct json_reader *json, char kind);
/* Behind a member: whether there is another one; else the end '}' or ']' is behind us. */
bool json_more(struct json_reader *json, char end);
/* A key of an object with its colon. What does not fit is cut, as texts are. */
void json_key(struct json_reader *json, char *key, size_t size);
void json_take_text(struct json_reader *json, char *text, size_t size);
/* A number as it stands. False when the value is none, which is skipped then. */
bool json_take_number(struct json_reader *json, const char **text, size_t *length);
void json_skip(struct json_reader *json);
/* Whether the next value begins with a character, such as '"' or '{'. */
bool json_is(struct json_reader *json, char first);
/* Reports that something else was expected, with line and column. */
void json_wrong(struct json_reader *json, const char *expected);

#endif
