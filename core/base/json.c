/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of JSON that calls back for each value. */
#include "core/base/json.h"

#include <string.h>

#include "core/base/diag.h"
#include "core/base/utf8.h"

struct reading {
  const char *file;
  char *start, *at, *end;
  char way[JSON_PATH_MAX];
  unsigned depth;
  void (*visit)(void *context, const char *path, const char *text);
  void *context;
  struct vinci_diag *diag;
};

static enum vinci_status read_value(struct reading *reading);

static enum vinci_status wrong(const struct reading *reading, const char *expected) {
  struct diag_position position = {reading->file, 1, 1};
  for (const char *c = reading->start; c < reading->at; c++) {
    position.column++;
    if (*c == '\n') {
      position.line++;
      position.column = 1;
    }
  }
  return diag_error_at(reading->diag, VINCI_E_INPUT, position, "not JSON: expected %s", expected);
}

static char next(struct reading *reading) {
  while (reading->at < reading->end && strchr(" \t\r\n", *reading->at) && *reading->at)
    reading->at++;
  return reading->at < reading->end ? *reading->at : '\0';
}

static bool take(struct reading *reading, char c) {
  if (next(reading) != c)
    return false;
  reading->at++;
  return true;
}

/* ---- words that readers share ---------------------------------------------------------------- */

enum { ESCAPE_DIGITS = 4 };

static bool take_hex(const char **at, const char *end, unsigned *code) {
  static const char digits[] = "0123456789abcdef";
  *code = 0;
  if (end - *at < ESCAPE_DIGITS)
    return false;
  for (int i = 0; i < ESCAPE_DIGITS; i++) {
    char c = (*at)[i];
    const char *digit = memchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c, sizeof digits - 1);
    if (!digit)
      return false;
    *code = *code << 4 | (unsigned)(digit - digits);
  }
  *at += ESCAPE_DIGITS;
  return true;
}

bool json_is_half(unsigned code) { return code >= 0xd800 && code < 0xe000; }

bool json_escape(const char **at, const char *end, unsigned *code) {
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  unsigned low;
  if (*at >= end)
    return false;
  const char *after = *at + 1, *letter = memchr(letters, **at, sizeof letters - 1);
  if (letter) {
    *code = (unsigned char)meanings[letter - letters];
  } else if (**at != 'u' || !take_hex(&after, end, code)) {
    return false;
  } else if (*code >= 0xd800 && *code < 0xdc00 && end - after > 2 && memcmp(after, "\\u", 2) == 0) {
    const char *second = after + 2;
    if (take_hex(&second, end, &low) && low >= 0xdc00 && low < 0xe000) {
      *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
      after = second;
    }
  }
  *at = after;
  return true;
}

static size_t count_digits(const char *at, const char *end) {
  size_t count = 0;
  while (at + count < end && at[count] >= '0' && at[count] <= '9')
    count++;
  return count;
}

static size_t literal_of_number(const char *begin, const char *end) {
  const char *at = begin + (begin < end && *begin == '-');
  size_t digits = count_digits(at, end);
  if (digits == 0 || (digits > 1 && *at == '0'))
    return 0;
  at += digits;
  if (at < end && *at == '.') {
    digits = count_digits(++at, end);
    if (digits == 0)
      return 0;
    at += digits;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    at += at < end && (*at == '+' || *at == '-');
    digits = count_digits(at, end);
    if (digits == 0)
      return 0;
    at += digits;
  }
  return (size_t)(at - begin);
}

size_t json_literal(const char *at, const char *end) {
  static const char *const words[] = {"true", "false", "null"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t length = strlen(words[i]);
    if ((size_t)(end - at) >= length && memcmp(at, words[i], length) == 0)
      return length;
  }
  return literal_of_number(at, end);
}

/* ---- the reader ------------------------------------------------------------------------------ */

/* A string, decoded in its place, where it is never longer. */
static enum vinci_status read_string(struct reading *reading, const char **text) {
  if (!take(reading, '"'))
    return wrong(reading, "a string");
  char *out = reading->at;
  *text = out;
  while (reading->at < reading->end && *reading->at != '"') {
    char c = *reading->at++;
    if ((unsigned char)c < ' ')
      return wrong(reading, "no control character in a string");
    if (c != '\\') {
      *out++ = c;
      continue;
    }
    const char *at = reading->at;
    unsigned code;
    bool known = json_escape(&at, reading->end, &code);
    reading->at += known ? at - reading->at : reading->at < reading->end;
    if (!known || code == 0 || json_is_half(code))
      return wrong(reading, "an escape such as \\n or \\u0041");
    out += utf8_write(code, out);
  }
  if (reading->at == reading->end)
    return wrong(reading, "the end of a string");
  reading->at++;
  *out = '\0';
  return VINCI_OK;
}

/* A number or word. */
static enum vinci_status read_literal(struct reading *reading) {
  enum { LITERAL_MAX = 64 };
  char text[LITERAL_MAX];
  size_t length = 0;
  const char *at = reading->at;
  while (at + length < reading->end && at[length] && !strchr(" \t\r\n,:]}", at[length]))
    length++;
  if (length == 0 || length >= sizeof text || json_literal(at, at + length) != length)
    return wrong(reading, "a value");
  memcpy(text, at, length);
  text[length] = '\0';
  reading->at += length;
  reading->visit(reading->context, reading->way, text);
  return VINCI_OK;
}

/* Reads a value below a key or an index. */
static enum vinci_status read_below(struct reading *reading, const char *key) {
  size_t length = strlen(reading->way);
  int written = snprintf(reading->way + length, sizeof reading->way - length, "%s%s",
                         length > 0 ? "." : "", key);
  if (written < 0 || (size_t)written >= sizeof reading->way - length)
    return wrong(reading, "shorter keys");
  enum vinci_status status = read_value(reading);
  reading->way[length] = '\0';
  return status;
}

static enum vinci_status read_members(struct reading *reading, bool object) {
  char close = object ? '}' : ']';
  size_t index = 0;
  enum vinci_status status = VINCI_OK;
  if (take(reading, close))
    return VINCI_OK;
  do {
    char number[24];
    const char *key = number;
    snprintf(number, sizeof number, "%zu", index++);
    if (object)
      status = read_string(reading, &key);
    if (status == VINCI_OK && object && !take(reading, ':'))
      status = wrong(reading, "':'");
    if (status == VINCI_OK)
      status = read_below(reading, key);
  } while (status == VINCI_OK && take(reading, ','));
  if (status == VINCI_OK && !take(reading, close))
    status = wrong(reading, object ? "',' or '}'" : "',' or ']'");
  return status;
}

static enum vinci_status read_value(struct reading *reading) {
  const char *text;
  char first = next(reading);
  if (first == '"') {
    enum vinci_status status = read_string(reading, &text);
    if (status == VINCI_OK)
      reading->visit(reading->context, reading->way, text);
    return status;
  }
  if (first != '{' && first != '[')
    return read_literal(reading);
  if (reading->depth == JSON_NESTED_MAX)
    return wrong(reading, "fewer levels");
  reading->at++;
  reading->depth++;
  enum vinci_status status = read_members(reading, first == '{');
  reading->depth--;
  return status;
}

enum vinci_status json_read(const char *path, char *text, size_t length,
                            void (*visit)(void *context, const char *path, const char *text),
                            void *context, struct vinci_diag *diag) {
  struct reading reading = {.file = path,
                            .start = text,
                            .at = text,
                            .end = text + length,
                            .visit = visit,
                            .context = context,
                            .diag = diag};
  enum vinci_status status = read_value(&reading);
  if (status == VINCI_OK && (next(&reading), reading.at < reading.end))
    status = wrong(&reading, "nothing behind the value");
  return status;
}

void json_write_plain(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      fputc('\\', out);
    fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
  }
  fputc('"', out);
}
