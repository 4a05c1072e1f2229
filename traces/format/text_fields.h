/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of texts of graphs and jobs: a line in its fields, values by their keys, errors at their
 * columns. */
#ifndef VINCI_TRACES_FORMAT_TEXT_FIELDS_H
#define VINCI_TRACES_FORMAT_TEXT_FIELDS_H

#include <csv.h>

#include "core/base/arena.h"
#include "core/base/diag.h"

/* Fields of a row; bytes of a line, and of a tensor, as of those of profiles. */
enum { TEXT_FIELDS_MAX = 20, TEXT_LINE_BYTES_MAX = 1 << 20 };
#define TEXT_BYTES_MAX (UINT64_C(1) << 45)

struct graph;
struct text_reader;
/* Reads a row whose fields are there. */
typedef enum vinci_status (*text_row_fn)(struct text_reader *reader);

struct text_reader {
  struct graph *graph; /* of graphs */
  void *object;        /* of other files */
  struct arena *arena; /* of words */
  struct vinci_diag *diag;
  const char *path;
  struct csv_parser csv;
  unsigned long line;
  const char *text; /* the line */
  size_t length;
  char *scratch; /* its fields, zero-terminated */
  size_t used;
  const char *fields[TEXT_FIELDS_MAX];
  size_t field_count;
  uint32_t taken; /* a bit for each field whose key is known */
  bool begun;
};

struct text_words {
  const char *const *names;
  size_t count;
};

/* Blanks, commas and quotes: lists of names have blanks between. */
extern const char text_not_in_names[];

/* VINCI_E_INPUT at a field of the line, which the message shows; field 0: the row's word. */
enum vinci_status text_fail(struct text_reader *reader, size_t field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The byte of the line at which a field begins, from 1. */
unsigned long text_column_of(const struct text_reader *reader, size_t field);
enum vinci_status text_no_memory(struct text_reader *reader);
/* The line into fields. */
VINCI_MUST_CHECK enum vinci_status text_split(struct text_reader *reader);
/* The field of a key; 0: there is none. Keys that are asked for are known. */
size_t text_find_key(struct text_reader *reader, const char *key);
const char *text_value_of(const struct text_reader *reader, size_t field);
/* The value of a key, or the fallback; NULL as fallback: the key has to be there. */
VINCI_MUST_CHECK enum vinci_status text_take(struct text_reader *reader, const char *key,
                                             const char *fallback, const char **out);
const char *text_word_at(const void *context, size_t index);
/* The same, of one of the words; *out is its index. */
VINCI_MUST_CHECK enum vinci_status text_take_word(struct text_reader *reader, const char *key,
                                                  const char *fallback, struct text_words words,
                                                  size_t *out);
bool text_parse_size(const char *text, const char **end, uint64_t *out);
/* A whole number up to `most`; *given: the key is there. */
VINCI_MUST_CHECK enum vinci_status text_take_number(struct text_reader *reader, const char *key,
                                                    uint64_t most, bool *given, uint64_t *out);
/* An error for the first field that no key asked for. */
VINCI_MUST_CHECK enum vinci_status text_end_row(struct text_reader *reader, struct text_words keys);
/* Cuts the next word of a value into the arena; NULL at its end. */
const char *text_next_word(struct text_reader *reader, const char **at);

/* A time in microseconds; fallback as of text_take(). */
VINCI_MUST_CHECK enum vinci_status text_take_us(struct text_reader *reader, const char *key,
                                                const char *fallback, uint64_t *out_ps);
/* "unknown row", with the nearest of the words as a hint. */
enum vinci_status text_unknown_row(struct text_reader *reader, struct text_words words);
/*
 * Reads all rows: blank lines and those that begin with # are left out. reader holds where the
 * text comes from, where to, and the diagnostic. head: the first row, as "graph,version=1".
 */
VINCI_MUST_CHECK enum vinci_status text_read_rows(struct text_reader *reader, const char *text,
                                                  size_t length, const char *head, text_row_fn row);

/* A row of a tensor (text_tensor.c). */
VINCI_MUST_CHECK enum vinci_status text_tensor_row(struct text_reader *reader);

#endif
