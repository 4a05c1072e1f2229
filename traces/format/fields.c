/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line as fields. Lines with quotes are fed to libcsv; those without, which is nearly all of a
 * long trace, need no more than a look for commas. Columns are found again, when an error needs
 * one, by a second look at that one line.
 */
#include <string.h>

#include "traces/format/known_files.h"
#include "traces/format/reader.h"

/*
 * Byte column (1-based) of a byte of a field. The walk mirrors libcsv: blanks around
 * a field do not count; inside quotes a doubled quote stands for a single quote.
 */
unsigned long trace_column(const struct trace_reader *reader, size_t field, size_t offset) {
  const char *line = reader->line_text;
  size_t at = 0, length = reader->line_length;
  for (;; field--) {
    while (at < length && (line[at] == ' ' || line[at] == '\t'))
      at++;
    bool quoted = at < length && line[at] == '"';
    at += quoted;
    for (size_t n = 0; at < length; n++, at++) {
      if (field == 0 && n == offset)
        break;
      if (!quoted && line[at] == ',')
        break;
      if (quoted && line[at] == '"') {
        if (at + 1 == length || line[at + 1] != '"')
          break;
        at++;
      }
    }
    if (field == 0)
      return (unsigned long)at + 1;
    while (at < length && line[at] != ',')
      at++;
    at++;
  }
}

enum vinci_status trace_fail_column(struct trace_reader *reader, unsigned long column,
                                    const char *text) {
  struct diag_position position = {.path = reader->path, .line = reader->line, .column = column};
  diag_error_at(reader->diag, VINCI_E_INPUT, position, "%s", text);
  diag_excerpt(reader->diag, reader->line_text, reader->line_length);
  return VINCI_E_INPUT;
}

/* libcsv hands over one field; its text is only lent. */
static void take_field(void *bytes, size_t length, void *context) {
  struct trace_reader *reader = context;
  size_t index = reader->field_count++;
  if (index >= TRACE_FIELDS_MAX)
    return;
  char *copy = reader->scratch + reader->scratch_used;
  memcpy(copy, bytes, length);
  copy[length] = '\0';
  reader->fields[index] = (struct trace_field){.text = copy, .length = length};
  reader->scratch_used += length + 1;
}

static void take_row_end(int terminator, void *context) {
  struct trace_reader *reader = context;
  (void)terminator;
  reader->row_ended = true;
}

static enum vinci_status split_quoted(struct trace_reader *reader) {
  reader->scratch_used = 0;
  reader->row_ended = false;
  size_t fed = reader->line_length + reader->end_length;
  size_t done = csv_parse(&reader->csv, reader->line_text, fed, take_field, take_row_end, reader);
  if (done == fed && reader->end_length == 0)
    csv_parse(&reader->csv, "\n", 1, take_field, take_row_end, reader);
  if (csv_error(&reader->csv) == CSV_ENOMEM)
    return trace_no_memory(reader);
  if (csv_error(&reader->csv) != CSV_SUCCESS) {
    if (!reader->version_seen && strncmp(reader->line_text, "trace,", 6) != 0 &&
        known_file_refuse(reader->path, "a trace", reader->diag))
      return VINCI_E_INPUT; /* a text with quotes of its own, such as MLIR */
    trace_fail_column(reader, (unsigned long)done + 1, "misplaced quote");
    diag_hint(reader->diag, "quotes enclose a whole field; inside, a quote is doubled");
    return VINCI_E_INPUT;
  }
  if (!reader->row_ended)
    return trace_fail(reader, reader->field_count, 0, "the quoted field does not end on its line");
  return VINCI_OK;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* The same without quotes, as in libcsv: the text between commas, without blanks around. */
static void split_plain(struct trace_reader *reader) {
  char *at = memcpy(reader->scratch, reader->line_text, reader->line_length);
  char *line_end = at + reader->line_length;
  for (;;) {
    char *comma = memchr(at, ',', (size_t)(line_end - at));
    char *end = comma ? comma : line_end;
    char *last = end;
    while (at < last && is_blank(*at))
      at++;
    while (at < last && is_blank(last[-1]))
      last--;
    *last = '\0';
    if (reader->field_count < TRACE_FIELDS_MAX)
      reader->fields[reader->field_count] =
          (struct trace_field){.text = at, .length = (size_t)(last - at)};
    reader->field_count++;
    if (!comma)
      return;
    at = comma + 1;
  }
}

enum vinci_status trace_split(struct trace_reader *reader) {
  size_t need = reader->line_length + TRACE_FIELDS_MAX;
  if (need > reader->scratch_size) {
    char *scratch = realloc(reader->scratch, need * 2);
    if (!scratch)
      return trace_no_memory(reader);
    reader->scratch = scratch;
    reader->scratch_size = need * 2;
  }
  reader->field_count = 0;
  enum vinci_status status = VINCI_OK;
  if (memchr(reader->line_text, '"', reader->line_length))
    status = split_quoted(reader);
  else
    split_plain(reader);
  if (status != VINCI_OK)
    return status;
  if (reader->field_count > TRACE_FIELDS_MAX)
    return trace_fail(reader, TRACE_FIELDS_MAX, 0, "row of %zu fields, no row has more than %d",
                      reader->field_count, TRACE_FIELDS_MAX);
  return VINCI_OK;
}
