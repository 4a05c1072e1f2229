/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the form key=value, as header rows have them. */
#ifndef VINCI_TRACES_FORMAT_KEYS_H
#define VINCI_TRACES_FORMAT_KEYS_H

#include "traces/format/reader.h"

/* A key of a header row. */
struct trace_key {
  const char *name;
  bool required;
};
enum { TRACE_KEYS_MAX = 8 };

/* Where the values of a row are: field by key, 0 when absent, and how many keys there are. */
struct trace_values {
  const struct trace_key *keys;
  size_t count;
  size_t field[TRACE_KEYS_MAX];
};

/* Names to choose from; NULL for an index that is no choice. The context is not used. */
typedef const char *(*trace_names_fn)(const void *context, size_t index);

/* Sorts the fields of the row by key; at most TRACE_KEYS_MAX keys. */
enum vinci_status trace_keys(struct trace_reader *reader, const struct trace_key *keys,
                             size_t count, struct trace_values *values);

/* Offset of a value in its field, behind "key=", and its text. */
size_t trace_value_offset(const struct trace_values *values, size_t key);
const char *trace_value_text(const struct trace_reader *reader, const struct trace_values *values,
                             size_t key);

/* Reports an error at a value. */
#define FAIL_VALUE(reader, values, key, ...)                                                       \
  trace_fail((reader), (values)->field[key], trace_value_offset((values), (key)), __VA_ARGS__)

/* The value as one of count names, as a constant in a range, as a copy in the arena. */
enum vinci_status trace_value_word(struct trace_reader *reader, const struct trace_values *values,
                                   size_t key, const char *what, trace_names_fn name_at,
                                   size_t count, size_t *out);
enum vinci_status trace_value_number(struct trace_reader *reader, const struct trace_values *values,
                                     size_t key, int64_t low, int64_t high, int64_t *out);
enum vinci_status trace_value_copy(struct trace_reader *reader, const struct trace_values *values,
                                   size_t key, const char **out);

#endif
