/* SPDX-License-Identifier: Apache-2.0 */
/* JSON texts, value by value. */
#include "traces/format/json_read.h"

#include <stdio.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/json.h"
#include "core/base/utf8.h"

enum { SHOWN_BYTES = 20 };

/* ---- places ---------------------------------------------------------------------------------- */

/* Counts on from where the last place was: places mostly follow each other. */
struct diag_position json_read_place(struct json_reader *json, const char *at) {
  if (!json->counted || at < json->counted) {
    json->counted = json->text;
    json->line = json->column = 1;
  }
  for (; json->counted < at && json->counted < json->end; json->counted++) {
    json->column = *json->counted == '\n' ? 1 : json->column + 1;
    json->line += *json->counted == '\n';
  }
  return (struct diag_position){json->path, json->line, json->column};
}

enum vinci_status json_read_fail(struct json_reader *json, const char *at, const char *format,
                                 ...) {
  struct diag_position position = json_read_place(json, at);
  const char *line = at - (position.column - 1);
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  enum vinci_status status = diag_error_at(json->diag, VINCI_E_INPUT, position, "%s", text);
  const char *end = memchr(line, '\n', (size_t)(json->end - line));
  diag_excerpt(json->diag, line, (size_t)((end ? end : json->end) - line));
  return status;
}

static void skip_blanks(struct json_reader *json) {
  while (json->at < json->end && memchr(" \t\r\n", *json->at, 4))
    json->at++;
}

/* The next character that is no blank; 0 at the end. */
static char next(struct json_reader *json) {
  skip_blanks(json);
  return json->at < json->end ? *json->at : '\0';
}

static enum vinci_status fail_here(struct json_reader *json, const char *expected) {
  size_t left = (size_t)(json->end - json->at);
  if (left == 0)
    return json_read_fail(json, json->at, "the text ends, where %s is expected", expected);
  size_t shown = 0;
  while (shown < left && shown < SHOWN_BYTES && json->at[shown] != '\n')
    shown++;
  return json_read_fail(json, json->at, "\"%.*s\" stands where %s is expected", (int)shown,
                        json->at, expected);
}

static enum vinci_status take(struct json_reader *json, char wanted, const char *name) {
  if (next(json) != wanted)
    return fail_here(json, name);
  json->at++;
  return VINCI_OK;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The bytes of an escape; a half of a character and 0 become U+FFFD. 0: it has no meaning. */
static size_t escape(struct json_reader *json, const char **at, char out[UTF8_BYTES_MAX]) {
  unsigned code;
  if (!json_escape(at, json->end, &code))
    return 0;
  return utf8_write(code == 0 || json_is_half(code) ? 0xFFFD : code, out);
}

enum vinci_status json_read_text(struct json_reader *json, const char **out) {
  enum vinci_status status = take(json, '"', "a text");
  const char *begin = json->at, *at = begin;
  if (status != VINCI_OK)
    return status;
  while (at < json->end && *at != '"' && *at != '\n')
    at += *at == '\\' && json->end - at > 1 ? 2 : 1;
  if (at >= json->end || *at != '"')
    return json_read_fail(json, begin - 1, "a text without its end");
  char *text = arena_alloc(json->arena, (size_t)(at - begin) + 1, 1);
  if (!text)
    return diag_error(json->diag, VINCI_E_NOMEM, "out of memory");
  size_t used = 0;
  for (const char *end = at, *c = begin; c < end;) {
    char bytes[UTF8_BYTES_MAX];
    size_t count = 1;
    bytes[0] = *c++;
    if (bytes[0] == '\\' && (count = escape(json, &c, bytes)) == 0)
      return json_read_fail(json, c - 1, "a backslash before what has no meaning");
    if (bytes[0] == '\0')
      return json_read_fail(json, c - 1, "a zero byte in a text");
    memcpy(text + used, bytes, count);
    used += count;
  }
  text[used] = '\0';
  json->at = at + 1;
  *out = text;
  return VINCI_OK;
}

/* ---- objects and lists ----------------------------------------------------------------------- */

static enum vinci_status enter(struct json_reader *json, char open, const char *name) {
  enum vinci_status status = take(json, open, name);
  if (status == VINCI_OK && ++json->depth > JSON_READ_DEPTH_MAX)
    status = json_read_fail(json, json->at - 1, "objects and lists lie more than %d deep",
                            JSON_READ_DEPTH_MAX);
  return status;
}

/* Behind a value: whether another one follows. */
static enum vinci_status go_on(struct json_reader *json, char close, const char *name, bool *more) {
  *more = next(json) == ',';
  if (!*more && next(json) != close)
    return fail_here(json, name);
  json->at++;
  json->depth -= !*more;
  return VINCI_OK;
}

enum vinci_status json_read_object(struct json_reader *json, json_value_fn *member, void *context) {
  enum vinci_status status = enter(json, '{', "an object, which begins with {,");
  bool more = status == VINCI_OK && next(json) != '}';
  if (status == VINCI_OK && !more) {
    json->at++;
    json->depth--;
  }
  while (status == VINCI_OK && more) {
    const char *key = NULL;
    status = json_read_text(json, &key);
    if (status == VINCI_OK)
      status = take(json, ':', "a colon");
    (void)next(json);
    if (status == VINCI_OK)
      status = member(json, key, context);
    if (status == VINCI_OK)
      status = go_on(json, '}', "a comma or }", &more);
  }
  return status;
}

enum vinci_status json_read_list(struct json_reader *json, json_value_fn *item, void *context) {
  enum vinci_status status = enter(json, '[', "a list, which begins with [,");
  bool more = status == VINCI_OK && next(json) != ']';
  if (status == VINCI_OK && !more) {
    json->at++;
    json->depth--;
  }
  while (status == VINCI_OK && more) {
    (void)next(json);
    status = item(json, NULL, context);
    if (status == VINCI_OK)
      status = go_on(json, ']', "a comma or ]", &more);
  }
  return status;
}

/* ---- numbers, and what is skipped ------------------------------------------------------------ */

enum vinci_status json_read_whole(struct json_reader *json, uint64_t most, uint64_t *out) {
  const char *digits, *begin;
  uint64_t value = 0;
  bool quoted = next(json) == '"';
  begin = json->at;
  digits = begin + quoted;
  const char *at = digits;
  for (; at < json->end && *at >= '0' && *at <= '9'; at++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
      return json_read_fail(json, begin, "a number beyond 64 bits");
  bool ends = at < json->end && (quoted ? *at == '"' : !memchr(".eE\"", *at, 4));
  if (at == digits || !ends)
    return fail_here(json, "a whole number");
  if (value > most)
    return json_read_fail(json, begin, "%llu is beyond %llu", (unsigned long long)value,
                          (unsigned long long)most);
  json->at = at + quoted;
  *out = value;
  return VINCI_OK;
}

bool json_read_number(struct json_reader *json, const char **text, size_t *length) {
  char first = next(json);
  if (first != '-' && (first < '0' || first > '9'))
    return false;
  *text = json->at;
  *length = json_literal(json->at, json->end);
  json->at += *length;
  return *length > 0;
}

static enum vinci_status skip_member(struct json_reader *json, const char *key, void *context) {
  (void)key;
  (void)context;
  return json_skip_value(json);
}

static enum vinci_status skip_word(struct json_reader *json) {
  size_t length = json_literal(json->at, json->end);
  const char *behind = json->at + length;
  if (length == 0 || (behind < json->end && !memchr(",]} \t\r\n", *behind, 7)))
    return fail_here(json, "a value");
  json->at = behind;
  return VINCI_OK;
}

enum vinci_status json_skip_value(struct json_reader *json) {
  const char *text;
  switch (next(json)) {
  case '{':
    return json_read_object(json, skip_member, NULL);
  case '[':
    return json_read_list(json, skip_member, NULL);
  case '"':
    return json_read_text(json, &text);
  default:
    return skip_word(json);
  }
}

enum vinci_status json_skip_unknown(struct json_reader *json, const char *key) {
  char name[64];
  snprintf(name, sizeof name, ", %.40s (line ", key);
  size_t left = sizeof json->skipped - json->skipped_used;
  if (!strstr(json->skipped, name) && left > sizeof name + DECIMAL_TEXT_BYTES)
    json->skipped_used += (size_t)snprintf(json->skipped + json->skipped_used, left, "%s%lu)", name,
                                           json_read_place(json, json->at).line);
  return json_skip_value(json);
}

const char *json_skipped(const struct json_reader *json) {
  return json->skipped_used ? json->skipped + 2 : "";
}

enum vinci_status json_read_end(struct json_reader *json) {
  return next(json) == '\0' && json->at == json->end ? VINCI_OK
                                                     : fail_here(json, "the end of the text");
}
