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

static void skip_blanks(struct reader *reader) { reader->at += strspn(reader->at, " \t\r\n"); }

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
  bool coded = *reader->at == 'u';
  if (!json_escape(&reader->at, reader->end, &code) || code == 0)
    (void)fail(reader, coded ? "a text has \\u without four digits of a character"
                             : "a text has an unknown escape");
  else if (json_is_half(code))
    (void)fail(reader, "a text has half of a pair of \\u");
  else
    return out + utf8_write(code, out);
  return NULL;
}

static const char *read_text(struct reader *reader) {
  /* No escape is shorter than what it stands for. */
  char *text = ARENA_ARRAY(reader->arena, char, strlen(reader->at) + 1), *out = text;
  if (!text) {
    (void)fail(reader, "out of memory");
    return NULL;
  }
  reader->at++;
  while (out && *reader->at != '"') {
    unsigned char c = (unsigned char)*reader->at++;
    if (c < 0x20) {
      (void)fail(reader, "a text does not end, or has a control character");
      return NULL;
    }
    if (c == '\\')
      out = read_escape(reader, out);
    else
      *out++ = (char)c;
  }
  reader->at += out != NULL;
  return out ? text : NULL;
}

/* ---- values --------------------------------------------------------------------------------- */

static struct json_value *read_value(struct reader *reader);

static struct json_value *read_word(struct reader *reader) {
  static const struct {
    const char *word;
    enum json_kind kind;
  } words[] = {{"null", JSON_NULL}, {"true", JSON_BOOL}, {"false", JSON_BOOL}};
  size_t length = strspn(reader->at, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
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
  if (value && *reader->at == close) {
    reader->at++;
    return value;
  }
  while (value) {
    const char *key = NULL;
    skip_blanks(reader);
    if (object) {
      if (*reader->at != '"' || !(key = read_text(reader)))
        return fail(reader, "a key is expected");
      skip_blanks(reader);
      if (*reader->at++ != ':')
        return fail(reader, "a colon is expected behind a key");
    }
    struct json_value *member = read_value(reader);
    if (!member)
      return NULL;
    member->key = key;
    *link = member;
    link = &member->next;
    skip_blanks(reader);
    char next = *reader->at;
    if (next != ',' && next != close)
      return fail(reader, "a comma or the closing bracket is expected");
    reader->at++;
    if (next == close)
      return value;
  }
  return NULL;
}

static struct json_value *read_value(struct reader *reader) {
  struct json_value *value;
  if (reader->depth == DEPTH_MAX)
    return fail(reader, "values are nested too deep");
  reader->depth++;
  skip_blanks(reader);
  if (*reader->at == '{' || *reader->at == '[') {
    value = read_members(reader, *reader->at == '{');
  } else if (*reader->at == '"') {
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

const struct json_value *json_parse(const char *text, struct arena *arena, const char **reason) {
  struct reader reader = {.at = text, .end = text + strlen(text), .arena = arena};
  const struct json_value *value = read_value(&reader);
  skip_blanks(&reader);
  if (value && *reader.at)
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
