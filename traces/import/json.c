/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of JSON (RFC 8259) for files of any size: no tree is built. */
#include "traces/import/json.h"

#include <string.h>

#include "core/base/diag.h"

enum { JSON_SKIP_DEPTH_MAX = 64 };

void json_wrong(struct json_reader *json, const char *expected) {
  struct diag_position at = {.path = json->path, .line = 1};
  const char *line = json->text;
  if (json->status != VINCI_OK)
    return;
  for (const char *c = json->text; c < json->at; c++)
    if (*c == '\n') {
      at.line++;
      line = c + 1;
    }
  at.column = (unsigned long)(json->at - line) + 1;
  json->status = diag_error_at(json->diag, VINCI_E_INPUT, at, "expected %s%s", expected,
                               json->at == json->end ? ", and the file ends" : "");
  diag_hint(json->diag, "a file that was cut short has to be made again");
}

static void skip_blanks(struct json_reader *json) {
  while (json->at < json->end && strchr(" \t\r\n", *json->at) && *json->at)
    json->at++;
}

bool json_is(struct json_reader *json, char first) {
  skip_blanks(json);
  return json->status == VINCI_OK && json->at < json->end && *json->at == first;
}

static bool take(struct json_reader *json, char wanted) {
  if (!json_is(json, wanted))
    return false;
  json->at++;
  return true;
}

bool json_open(struct json_reader *json, char kind) {
  if (!take(json, kind)) {
    json_wrong(json, kind == '{' ? "an object" : "an array");
    return false;
  }
  return !take(json, kind == '{' ? '}' : ']') && json->status == VINCI_OK;
}

bool json_more(struct json_reader *json, char end) {
  if (take(json, ','))
    return true;
  if (!take(json, end))
    json_wrong(json, end == '}' ? "',' or '}'" : "',' or ']'");
  return false;
}

/* Escapes stand for themselves but for the backslash: names of pipes and instructions have none. */
void json_take_text(struct json_reader *json, char *text, size_t size) {
  size_t length = 0;
  if (!take(json, '"')) {
    json_wrong(json, "a text in quotes");
    if (size > 0)
      *text = '\0';
    return;
  }
  while (json->at < json->end && *json->at != '"') {
    if (*json->at == '\\' && json->at + 1 < json->end)
      json->at++;
    if (length + 1 < size)
      text[length++] = *json->at;
    json->at++;
  }
  if (size > 0)
    text[length] = '\0';
  if (!take(json, '"'))
    json_wrong(json, "the quote that closes a text");
}

void json_key(struct json_reader *json, char *key, size_t size) {
  json_take_text(json, key, size);
  if (!take(json, ':'))
    json_wrong(json, "':' behind a key");
}

bool json_take_number(struct json_reader *json, const char **text, size_t *length) {
  skip_blanks(json);
  *text = json->at;
  *length = 0;
  while (json->at + *length < json->end && json->at[*length] &&
         strchr("+-.0123456789eE", json->at[*length]))
    ++*length;
  if (*length == 0 || json->status != VINCI_OK) {
    json_skip(json);
    return false;
  }
  json->at += *length;
  return true;
}

void json_skip(struct json_reader *json) {
  static const char *const words[] = {"true", "false", "null"};
  const char *number;
  size_t length;
  if (json->status != VINCI_OK)
    return;
  if (json->depth == JSON_SKIP_DEPTH_MAX) {
    json_wrong(json, "values that are not nested so deep");
    return;
  }
  json->depth++;
  if (json_is(json, '"')) {
    json_take_text(json, NULL, 0);
  } else if (json_is(json, '{')) {
    for (bool more = json_open(json, '{'); more; more = json_more(json, '}')) {
      json_key(json, NULL, 0);
      json_skip(json);
    }
  } else if (json_is(json, '[')) {
    for (bool more = json_open(json, '['); more; more = json_more(json, ']'))
      json_skip(json);
  } else {
    size_t i = 0;
    skip_blanks(json);
    while (i < 3 && ((size_t)(json->end - json->at) < strlen(words[i]) ||
                     memcmp(json->at, words[i], strlen(words[i])) != 0))
      i++;
    if (i < 3)
      json->at += strlen(words[i]);
    else if (json->at < json->end && strchr("-0123456789", *json->at) && *json->at)
      (void)json_take_number(json, &number, &length);
    else
      json_wrong(json, "a value");
  }
  json->depth--;
}
