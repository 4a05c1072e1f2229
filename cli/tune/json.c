/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON (RFC 8259): one pass over the text, a node for each value. */
#include "cli/tune/json.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/utf8.h"

enum { DEPTH_MAX = 32 };

struct reader {
  const char *at, *end;
  struct arena *arena;
  const char *reason;
  unsigned depth;
};

static struct json_value *fail(struct reader *reader, const char *reason) {
  if (!reader->reason)
    reader->reason = reason;
  return NULL;
}

/* The next byte; 0 at the end, which no reader goes beyond. */
static char next_of(const struct reader *reader) {
  return reader->at < reader->end ? *reader->at : '\0';
}

/* Goes on behind a character if that is next. */
static bool accept(struct reader *reader, char c) {
  bool there = reader->at < reader->end && *reader->at == c;
  reader->at += there;
  return there;
}

static void skip_blanks(struct reader *reader) {
  while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) && *reader->at)
    reader->at++;
}

static struct json_value *new_value(struct reader *reader, enum json_kind kind) {
  struct json_value *value = ARENA_NEW(reader->arena, struct json_value);
  if (!value)
    return fail(reader, "out of memory");
  value->kind = kind;
  return value;
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* Behind a backslash; where the next character of the text goes, NULL for what is no escape. */
static char *read_escape(struct reader *reader, char *out) {
  unsigned code;
  bool coded = next_of(reader) == 'u';
  if (!json_escape(&reader->at, reader->end, &code) || code == 0)
    (void)fail(reader, coded ? "a text has \\u without four digits of a character"
                             : "a text has an unknown escape");
  else if (json_is_half(code))
    (void)fail(reader, "a text has half of a pair of \\u");
  else
    return out + utf8_write(code, out);
  return NULL;
}

/* The bytes up to the quote that closes a text, or to the end. */
static size_t text_bytes(const struct reader *reader) {
  const char *at = reader->at + 1;
  while (at < reader->end && *at != '"')
    at += *at == '\\' && reader->end - at > 1 ? 2 : 1;
  return (size_t)(at - reader->at);
}

static const char *read_text(struct reader *reader) {
  /* No escape is shorter than what it stands for. */
  char *text = ARENA_ARRAY(reader->arena, char, text_bytes(reader) + 1), *out = text;
  if (!text) {
    (void)fail(reader, "out of memory");
    return NULL;
  }
  reader->at++;
  while (out && !accept(reader, '"')) {
    unsigned char c = (unsigned char)next_of(reader);
    if (c < 0x20) {
      (void)fail(reader, "a text does not end, or has a control character");
      return NULL;
    }
    reader->at++;
    if (c == '\\')
      out = read_escape(reader, out);
    else
      *out++ = (char)c;
  }
  return out ? text : NULL;
}

/* ---- values --------------------------------------------------------------------------------- */

static struct json_value *read_value(struct reader *reader);

static struct json_value *read_word(struct reader *reader) {
  static const struct {
    const char *word;
    enum json_kind kind;
  } words[] = {{"null", JSON_NULL}, {"true", JSON_BOOL}, {"false", JSON_BOOL}};
  static const char letters[] = "+-.0123456789abcdefghijklmnopqrstuvwxyzE";
  size_t left = (size_t)(reader->end - reader->at), length = 0;
  while (length < left && memchr(letters, reader->at[length], sizeof letters - 1))
    length++;
  char *text = arena_strndup(reader->arena, reader->at, length), *end;
  if (!text)
    return fail(reader, "out of memory");
  enum json_kind kind = JSON_NUMBER;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i].word, text) == 0)
      kind = words[i].kind;
  if (kind == JSON_NUMBER) {
    (void)strtod(text, &end);
    bool starts = *text == '-' ? text[1] >= '0' && text[1] <= '9' : *text >= '0' && *text <= '9';
    if (!starts || *end || strpbrk(text, "xXnN"))
      return fail(reader, "a value is expected");
  }
  struct json_value *value = new_value(reader, kind);
  if (value)
    value->text = text;
  reader->at += length;
  return value;
}

/* The members up to the closing bracket. */
static struct json_value *read_members(struct reader *reader, bool object) {
  struct json_value *value = new_value(reader, object ? JSON_OBJECT : JSON_ARRAY);
  const struct json_value **link = value ? &value->first : NULL;
  char close = object ? '}' : ']';
  reader->at++;
  skip_blanks(reader);
  if (value && accept(reader, close))
    return value;
  while (value) {
    const char *key = NULL;
    skip_blanks(reader);
    if (object) {
      if (next_of(reader) != '"' || !(key = read_text(reader)))
        return fail(reader, "a key is expected");
      skip_blanks(reader);
      if (!accept(reader, ':'))
        return fail(reader, "a colon is expected behind a key");
    }
    struct json_value *member = read_value(reader);
    if (!member)
      return NULL;
    member->key = key;
    *link = member;
    link = &member->next;
    skip_blanks(reader);
    if (accept(reader, close))
      return value;
    if (!accept(reader, ','))
      return fail(reader, "a comma or the closing bracket is expected");
  }
  return NULL;
}

static struct json_value *read_value(struct reader *reader) {
  struct json_value *value;
  if (reader->depth == DEPTH_MAX)
    return fail(reader, "values are nested too deep");
  reader->depth++;
  skip_blanks(reader);
  if (next_of(reader) == '{' || next_of(reader) == '[') {
    value = read_members(reader, next_of(reader) == '{');
  } else if (next_of(reader) == '"') {
    const char *text = read_text(reader);
    value = text ? new_value(reader, JSON_TEXT) : NULL;
    if (value)
      value->text = text;
  } else {
    value = read_word(reader);
  }
  reader->depth--;
  return value;
}

const struct json_value *json_parse(const char *text, size_t length, struct arena *arena,
                                    const char **reason) {
  struct reader reader = {.at = text, .end = text + length, .arena = arena};
  const struct json_value *value = read_value(&reader);
  skip_blanks(&reader);
  if (value && reader.at < reader.end)
    value = fail(&reader, "something follows the value");
  *reason = reader.reason;
  return value;
}

const struct json_value *json_member(const struct json_value *value, const char *key) {
  const struct json_value *member = value && value->kind == JSON_OBJECT ? value->first : NULL;
  while (member && strcmp(member->key, key) != 0)
    member = member->next;
  return member;
}

const char *json_scalar(const struct json_value *value) {
  return value && value->kind >= JSON_BOOL && value->kind <= JSON_TEXT ? value->text : NULL;
}
