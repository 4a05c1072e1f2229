/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of texts of graphs and jobs (text_fields.h). */
#include "traces/format/text_fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/decimal.h"
#include "traces/format/known_files.h"

#define PS_PER_US 1000000.0
#define US_MAX 1e12

const char text_not_in_names[] = " \t\r\",";

/* ---- errors -------------------------------------------------------------------------------- */

/* Commas between quotes do not count. */
unsigned long text_column_of(const struct text_reader *reader, size_t field) {
  bool quoted = false;
  size_t at = 0;
  for (size_t i = 0; i < reader->length && field > 0; i++) {
    quoted ^= reader->text[i] == '"';
    if (reader->text[i] == ',' && !quoted) {
      field--;
      at = i + 1;
    }
  }
  return (unsigned long)at + 1;
}

enum vinci_status text_fail(struct text_reader *reader, size_t field, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  struct diag_position position = {reader->path, reader->line, text_column_of(reader, field)};
  diag_error_at(reader->diag, VINCI_E_INPUT, position, "%s", text);
  diag_excerpt(reader->diag, reader->text, reader->length);
  return VINCI_E_INPUT;
}

/* Of the word of the row. */
static const char *article(const struct text_reader *reader) {
  return strchr("aeiou", *reader->fields[0]) ? "an" : "a";
}

enum vinci_status text_no_memory(struct text_reader *reader) {
  return diag_error(reader->diag, VINCI_E_NOMEM, "out of memory reading %s", reader->path);
}

/* ---- fields -------------------------------------------------------------------------------- */

static void take_field(void *text, size_t length, void *context) {
  struct text_reader *reader = context;
  char *copy = reader->scratch + reader->used;
  if (length > 0)
    memcpy(copy, text, length);
  copy[length] = '\0';
  reader->used += length + 1;
  if (reader->field_count < TEXT_FIELDS_MAX)
    reader->fields[reader->field_count] = copy;
  reader->field_count++;
}

enum vinci_status text_split(struct text_reader *reader) {
  reader->used = reader->field_count = 0;
  reader->taken = 1; /* the word of the row */
  if (csv_parse(&reader->csv, reader->text, reader->length, take_field, NULL, reader) !=
          reader->length ||
      csv_fini(&reader->csv, take_field, NULL, reader) != 0)
    return csv_error(&reader->csv) == CSV_ENOMEM
               ? text_no_memory(reader)
               : text_fail(reader, 0, "not CSV: %s", csv_strerror(csv_error(&reader->csv)));
  if (reader->field_count > TEXT_FIELDS_MAX)
    return text_fail(reader, TEXT_FIELDS_MAX, "more than %d fields in a row", TEXT_FIELDS_MAX);
  if (memchr(reader->text, '\0', reader->length))
    return text_fail(reader, 0, "a zero byte; is this a text?");
  return VINCI_OK;
}

/* The field of a key; 0: there is none. */
size_t text_find_key(struct text_reader *reader, const char *key) {
  size_t length = strlen(key);
  for (size_t i = 1; i < reader->field_count; i++)
    if (strncmp(reader->fields[i], key, length) == 0 && reader->fields[i][length] == '=') {
      reader->taken |= UINT32_C(1) << i;
      return i;
    }
  return 0;
}

const char *text_value_of(const struct text_reader *reader, size_t field) {
  return strchr(reader->fields[field], '=') + 1;
}

/* The value of a key, or the fallback; NULL as fallback: the key has to be there. */
enum vinci_status text_take(struct text_reader *reader, const char *key, const char *fallback,
                            const char **out) {
  size_t field = text_find_key(reader, key);
  if (field == 0 && !fallback)
    return text_fail(reader, 0, "%s %s row needs %s=...", article(reader), reader->fields[0], key);
  *out = field ? text_value_of(reader, field) : fallback;
  if (field && !fallback && **out == '\0')
    return text_fail(reader, field, "%s= is empty", key);
  return VINCI_OK;
}

const char *text_word_at(const void *context, size_t index) {
  const struct text_words *words = context;
  return words->names[index];
}

enum vinci_status text_take_word(struct text_reader *reader, const char *key, const char *fallback,
                                 struct text_words words, size_t *out) {
  const char *text;
  enum vinci_status status = text_take(reader, key, fallback, &text);
  if (status != VINCI_OK)
    return status;
  for (*out = 0; *out < words.count; ++*out)
    if (strcmp(words.names[*out], text) == 0)
      return VINCI_OK;
  const char *nearest = diag_nearest(text, words.count, text_word_at, &words);
  text_fail(reader, text_find_key(reader, key), "unknown %s \"%s\"", key, text);
  if (nearest)
    diag_hint(reader->diag, "did you mean %s=%s?", key, nearest);
  else
    diag_hint(reader->diag, "%s is one of %s, %s, ...", key, words.names[0], words.names[1]);
  return VINCI_E_INPUT;
}

bool text_parse_size(const char *text, const char **end, uint64_t *out) {
  uint64_t value = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9'; at++) {
    if (value > TEXT_BYTES_MAX)
      return false;
    value = value * 10 + (uint64_t)(*at - '0');
  }
  *end = at;
  *out = value;
  return at > text;
}

enum vinci_status text_take_number(struct text_reader *reader, const char *key, uint64_t most,
                                   bool *given, uint64_t *out) {
  size_t field = text_find_key(reader, key);
  const char *end = "";
  *given = field != 0;
  if (field && (!text_parse_size(text_value_of(reader, field), &end, out) || *end || *out > most))
    return text_fail(reader, field, "%s is a whole number up to %llu, not \"%s\"", key,
                     (unsigned long long)most, text_value_of(reader, field));
  return VINCI_OK;
}

/* Every field that no row of this kind has. */
enum vinci_status text_end_row(struct text_reader *reader, struct text_words keys) {
  for (size_t i = 1; i < reader->field_count; i++) {
    if (reader->taken & UINT32_C(1) << i)
      continue;
    char key[32];
    const char *equals = strchr(reader->fields[i], '=');
    snprintf(key, sizeof key, "%.*s", equals ? (int)(equals - reader->fields[i]) : 31,
             reader->fields[i]);
    if (!equals)
      return text_fail(reader, i, "\"%s\" is not a key=value field", key);
    bool known = false;
    for (size_t j = 0; j < keys.count; j++)
      known = known || strcmp(keys.names[j], key) == 0;
    if (known)
      return text_fail(reader, i, "second %s=", key);
    text_fail(reader, i, "%s %s row has no key %s", article(reader), reader->fields[0], key);
    const char *nearest = diag_nearest(key, keys.count, text_word_at, &keys);
    if (nearest)
      diag_hint(reader->diag, "did you mean %s=?", nearest);
    return VINCI_E_INPUT;
  }
  return VINCI_OK;
}

/* Cuts the next word of a value into the arena; NULL at its end. */
const char *text_next_word(struct text_reader *reader, const char **at) {
  while (**at == ' ')
    ++*at;
  size_t length = strcspn(*at, " ");
  const char *word = length ? arena_strndup(reader->arena, *at, length) : NULL;
  *at += length;
  return word;
}

enum vinci_status text_take_us(struct text_reader *reader, const char *key, const char *fallback,
                               uint64_t *out_ps) {
  const char *text;
  double us;
  enum vinci_status status = text_take(reader, key, fallback, &text);
  if (status != VINCI_OK)
    return status;
  if (!decimal_parse(text, &us) || us < 0 || us > US_MAX)
    return text_fail(reader, text_find_key(reader, key), "%s is a number up to 1e12, not \"%s\"",
                     key, text);
  *out_ps = (uint64_t)(us * PS_PER_US + 0.5);
  return VINCI_OK;
}

enum vinci_status text_unknown_row(struct text_reader *reader, struct text_words words) {
  const char *nearest = diag_nearest(reader->fields[0], words.count, text_word_at, &words);
  text_fail(reader, 0, "unknown row \"%.60s\"", reader->fields[0]);
  if (nearest)
    diag_hint(reader->diag, "did you mean %s?", nearest);
  return VINCI_E_INPUT;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static enum vinci_status read_line(struct text_reader *reader, text_row_fn row) {
  size_t blank = 0;
  while (blank < reader->length && strchr(" \t\r", reader->text[blank]))
    blank++;
  if (blank == reader->length || reader->text[blank] == '#')
    return VINCI_OK;
  if (reader->length > TEXT_LINE_BYTES_MAX)
    return text_fail(reader, 0, "line of more than %d bytes", TEXT_LINE_BYTES_MAX);
  enum vinci_status status = text_split(reader);
  return status == VINCI_OK ? row(reader) : status;
}

/* Whether the first row, behind blanks and comments, is of the kind that a head names. */
static bool begins_with(const char *text, size_t length, const char *head) {
  size_t at = 0, word = strcspn(head, ",");
  while (at < length && strchr("#\n\r \t", text[at])) {
    const char *newline = text[at] == '#' ? memchr(text + at, '\n', length - at) : text + at;
    at = newline ? (size_t)(newline - text) + 1 : length;
  }
  return length - at >= word && memcmp(text + at, head, word) == 0;
}

static enum vinci_status read_all(struct text_reader *reader, const char *text, size_t length,
                                  const char *head, text_row_fn row) {
  enum vinci_status status = VINCI_OK;
  if (!begins_with(text, length, head)) {
    char wanted[80];
    snprintf(wanted, sizeof wanted, "a file that begins with \"%s\"", head);
    if (known_file_refuse(reader->path, wanted, reader->diag))
      return VINCI_E_INPUT;
  }
  for (size_t at = 0; at < length && status == VINCI_OK;) {
    const char *newline = memchr(text + at, '\n', length - at);
    reader->line++;
    reader->text = text + at;
    reader->length = newline ? (size_t)(newline - text) - at : length - at;
    at += reader->length + 1;
    status = read_line(reader, row);
  }
  if (status == VINCI_OK && !reader->begun)
    status = diag_error_at(
        reader->diag, VINCI_E_INPUT, (struct diag_position){.path = reader->path},
        "the %.*s is empty; the first row is \"%s\"", (int)strcspn(head, ","), head, head);
  return status;
}

enum vinci_status text_read_rows(struct text_reader *reader, const char *text, size_t length,
                                 const char *head, text_row_fn row) {
  if (csv_init(&reader->csv, CSV_STRICT | CSV_STRICT_FINI) != 0)
    return text_no_memory(reader);
  /* A field and its zero take no more than the line and a byte each. */
  reader->scratch = malloc(2 * (TEXT_LINE_BYTES_MAX + 2));
  enum vinci_status status =
      reader->scratch ? read_all(reader, text, length, head, row) : text_no_memory(reader);
  free(reader->scratch);
  csv_free(&reader->csv);
  return status;
}
