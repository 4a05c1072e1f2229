/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of key=value fields, with errors that point at the key or the value. */
#include "traces/format/keys.h"

#include <string.h>

static const char *key_name(const void *context, size_t index) {
  const struct trace_key *keys = context;
  return keys[index].name;
}

/* Offset of the value in its field, behind "key=". */
size_t trace_value_offset(const struct trace_values *values, size_t key) {
  return strlen(values->keys[key].name) + 1;
}

const char *trace_value_text(const struct trace_reader *reader, const struct trace_values *values,
                             size_t key) {
  return reader->fields[values->field[key]].text + trace_value_offset(values, key);
}

enum vinci_status trace_fail_equals(struct trace_reader *reader, size_t field) {
  const struct trace_field *text = &reader->fields[field];
  if (text->length == 0)
    return trace_fail(reader, field, 0, "empty field");
  trace_fail(reader, field, 0, "missing \"=\" in \"%s\"",
             trace_clip(text->text, text->length).text);
  trace_hint_list(reader, field);
  diag_hint(reader->diag, "fields after the first are written name=value");
  return VINCI_E_INPUT;
}

static enum vinci_status find_key(struct trace_reader *reader, const struct trace_values *values,
                                  size_t field, size_t *out) {
  const struct trace_field *text = &reader->fields[field];
  const char *equals = memchr(text->text, '=', text->length);
  if (!equals)
    return trace_fail_equals(reader, field);
  size_t length = (size_t)(equals - text->text);
  for (size_t key = 0; key < values->count; key++) {
    if (strlen(values->keys[key].name) == length &&
        memcmp(values->keys[key].name, text->text, length) == 0) {
      *out = key;
      return VINCI_OK;
    }
  }
  struct trace_clip clip = trace_clip(text->text, length);
  trace_fail(reader, field, 0, "unknown key \"%s\" in a %s row", clip.text, reader->fields[0].text);
  const char *nearest = diag_nearest(clip.text, values->count, key_name, values->keys);
  if (nearest)
    diag_hint(reader->diag, "did you mean \"%s\"?", nearest);
  return VINCI_E_INPUT;
}

/* Sorts the fields of the row by key. */
enum vinci_status trace_keys(struct trace_reader *reader, const struct trace_key *keys,
                             size_t count, struct trace_values *values) {
  *values = (struct trace_values){.keys = keys, .count = count};
  for (size_t field = 1; field < reader->field_count; field++) {
    size_t key = 0;
    enum vinci_status status = find_key(reader, values, field, &key);
    if (status != VINCI_OK)
      return status;
    if (values->field[key] != 0)
      return trace_fail(reader, field, 0, "key \"%s\" is given twice", keys[key].name);
    values->field[key] = field;
    if (*trace_value_text(reader, values, key) == '\0')
      return FAIL_VALUE(reader, values, key, "key \"%s\" has no value", keys[key].name);
  }
  for (size_t key = 0; key < count; key++)
    if (keys[key].required && values->field[key] == 0)
      return trace_fail(reader, 0, 0, "a %s row needs the key \"%s\"", reader->fields[0].text,
                        keys[key].name);
  return VINCI_OK;
}

/* One of a list of names; *out is its index. */
enum vinci_status trace_value_word(struct trace_reader *reader, const struct trace_values *values,
                                   size_t key, const char *what, trace_names_fn name_at,
                                   size_t count, size_t *out) {
  const char *text = trace_value_text(reader, values, key);
  for (*out = 0; *out < count; ++*out) {
    const char *name = name_at(NULL, *out);
    if (name && strcmp(name, text) == 0)
      return VINCI_OK;
  }
  FAIL_VALUE(reader, values, key, "unknown %s \"%s\"", what, trace_clip(text, strlen(text)).text);
  const char *nearest = diag_nearest(text, count, name_at, NULL);
  if (nearest) {
    diag_hint(reader->diag, "did you mean \"%s\"?", nearest);
    return VINCI_E_INPUT;
  }
  char list[sizeof reader->diag->hint] = "";
  size_t used = 0;
  for (size_t i = 0; i < count && used < sizeof list; i++)
    if (name_at(NULL, i))
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                               name_at(NULL, i));
  diag_hint(reader->diag, "known are %s", list);
  return VINCI_E_INPUT;
}

/* A constant in a range. */
enum vinci_status trace_value_number(struct trace_reader *reader, const struct trace_values *values,
                                     size_t key, int64_t low, int64_t high, int64_t *out) {
  bool constant;
  enum vinci_status status =
      trace_expr(reader, values->field[key], trace_value_offset(values, key), out, &constant);
  if (status != VINCI_OK)
    return status; /* there are no variables outside streams: it is constant */
  if (*out < low || *out > high)
    return FAIL_VALUE(reader, values, key, "key \"%s\" is %lld, allowed is %lld..%lld",
                      values->keys[key].name, (long long)*out, (long long)low, (long long)high);
  return VINCI_OK;
}

enum vinci_status trace_value_copy(struct trace_reader *reader, const struct trace_values *values,
                                   size_t key, const char **out) {
  *out = arena_strdup(&reader->arena, trace_value_text(reader, values, key));
  return *out ? VINCI_OK : trace_no_memory(reader);
}
