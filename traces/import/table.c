/* SPDX-License-Identifier: Apache-2.0 */
/* CSV tables of other tools, cell by cell with its place. */
#include "traces/import/table.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cells.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "traces/format/growing.h"
#include "traces/format/known_database.h"

struct reader {
  struct table *table;
  struct vinci_diag *diag;
  enum vinci_status status;
  struct growing cells;
  size_t fields; /* of the present row */
  uint32_t line;
  size_t offset, line_start, field_start;
};

static void no_memory(struct reader *reader) {
  if (reader->status == VINCI_OK)
    reader->status =
        diag_error(reader->diag, VINCI_E_NOMEM, "out of memory for %s", reader->table->path);
}

static const char *trimmed(struct arena *arena, const char *text, size_t length) {
  while (length > 0 && strchr(" \t", text[0]))
    text++, length--;
  while (length > 0 && strchr(" \t", text[length - 1]))
    length--;
  char *copy = ARENA_ARRAY(arena, char, length + 1);
  if (!copy)
    return NULL;
  memcpy(copy, text, length);
  return cell_plain(copy);
}

static void on_field(void *text, size_t length, void *context) {
  struct reader *reader = context;
  struct table_cell *cell = GROWING_PUSH(&reader->cells, struct table_cell);
  const char *copy = cell ? trimmed(&reader->table->arena, text, length) : NULL;
  if (!copy) {
    no_memory(reader);
    return;
  }
  *cell = (struct table_cell){
      .text = copy,
      .line = reader->line,
      .column = (uint32_t)(reader->field_start - reader->line_start + 1),
  };
  reader->fields++;
  reader->field_start = reader->offset + 1;
}

/* A table behind another of the same kind has its header again. */
static bool is_header_again(const struct reader *reader) {
  size_t columns = reader->table->columns;
  const struct table_cell *cells = reader->cells.data;
  const struct table_cell *row = cells + reader->cells.count - columns;
  if (reader->fields != columns || reader->cells.count <= columns)
    return false;
  for (size_t i = 0; i < columns; i++)
    if (strcmp(cells[i].text, row[i].text) != 0)
      return false;
  return true;
}

static void on_row(int end, void *context) {
  struct reader *reader = context;
  struct table *table = reader->table;
  (void)end;
  if (reader->status == VINCI_OK && table->columns > 0 && is_header_again(reader)) {
    reader->cells.count -= table->columns;
    reader->fields = 0;
    return;
  }
  if (table->columns == 0)
    table->columns = reader->fields;
  if (reader->fields != table->columns && reader->status == VINCI_OK) {
    reader->status = diag_error_at(
        reader->diag, VINCI_E_INPUT,
        (struct diag_position){.path = table->path, .line = reader->line, .column = 1},
        "the row has %zu fields and the header %zu", reader->fields, table->columns);
    diag_hint(reader->diag, "a field with a comma stands in quotes; a file that is cut short has "
                            "to be exported again");
  }
  reader->fields = 0;
}

static void feed(struct reader *reader, struct csv_parser *parser, const char *text,
                 size_t length) {
  reader->line = 1;
  for (; reader->offset < length && reader->status == VINCI_OK; reader->offset++) {
    bool taken = csv_parse(parser, text + reader->offset, 1, on_field, on_row, reader) == 1;
    if (!taken && csv_error(parser) == CSV_ENOMEM) {
      no_memory(reader);
    } else if (!taken) {
      reader->status =
          diag_error_at(reader->diag, VINCI_E_INPUT,
                        (struct diag_position){.path = reader->table->path,
                                               .line = reader->line,
                                               .column = reader->offset - reader->line_start + 1},
                        "a quote inside a field that is not quoted");
      diag_hint(reader->diag, "put the field in quotes, and write each quote inside twice");
    }
    if (text[reader->offset] == '\n') {
      reader->line++;
      reader->line_start = reader->field_start = reader->offset + 1;
    }
  }
}

static enum vinci_status take_cells(struct reader *reader) {
  struct table *table = reader->table;
  struct diag_position at = {.path = table->path, .line = 1};
  if (table->columns == 0)
    return diag_error_at(reader->diag, VINCI_E_INPUT, at, "the table is empty");
  table->rows = reader->cells.count / table->columns - 1;
  table->header = ARENA_ARRAY(&table->arena, struct table_cell, reader->cells.count + 1);
  if (!table->header)
    return diag_error(reader->diag, VINCI_E_NOMEM, "out of memory for %s", table->path);
  memcpy(table->header, reader->cells.data, reader->cells.count * sizeof *table->header);
  table->cells = table->header + table->columns;
  if (table->rows == 0)
    return diag_error_at(reader->diag, VINCI_E_INPUT, at, "the table has a header and no rows");
  return VINCI_OK;
}

/* The text of a table, for free(): of a file, or of the launches in the database of a profiler. */
static enum vinci_status read_text(const char *path, char **text, size_t *length,
                                   struct vinci_diag *diag) {
  enum { TABLE_BYTES_MAX = INT32_MAX };
  if (known_is_database(path))
    return known_database_text(path, text, length, diag);
  *text = file_read_text(path, TABLE_BYTES_MAX, length, diag);
  return *text ? VINCI_OK : diag->status;
}

enum vinci_status table_read(const char *path, struct table *out, struct vinci_diag *diag) {
  size_t length;
  char *text;
  struct csv_parser parser;
  *out = (struct table){.path = path};
  struct reader reader = {.table = out, .diag = diag};
  enum vinci_status status = read_text(path, &text, &length, diag);
  if (status != VINCI_OK)
    return status;
  if (csv_init(&parser, CSV_APPEND_NULL | CSV_STRICT | CSV_STRICT_FINI) != 0) {
    free(text);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for %s", path);
  }
  feed(&reader, &parser, text, length);
  bool ended = reader.status != VINCI_OK || csv_fini(&parser, on_field, on_row, &reader) == 0;
  if (!ended && csv_error(&parser) == CSV_ENOMEM) {
    no_memory(&reader);
  } else if (!ended) {
    reader.status = diag_error_at(diag, VINCI_E_INPUT,
                                  (struct diag_position){.path = path, .line = reader.line},
                                  "a quote is not closed");
    diag_hint(diag, "a file that is cut short has to be exported again");
  }
  csv_free(&parser);
  if (reader.status == VINCI_OK)
    reader.status = take_cells(&reader);
  growing_free(&reader.cells);
  free(text);
  return reader.status;
}

void table_free(struct table *table) { arena_free(&table->arena); }

int table_column(const struct table *table, const char *names) {
  for (const char *name = names; *name;) {
    size_t length = strcspn(name, "|");
    for (size_t i = 0; i < table->columns; i++)
      if (strlen(table->header[i].text) == length &&
          memcmp(table->header[i].text, name, length) == 0)
        return (int)i;
    name += length + (name[length] == '|');
  }
  return -1;
}

enum vinci_status table_number(const struct table *table, size_t row, size_t column,
                               unsigned decimals, struct import_cell *out,
                               struct vinci_diag *diag) {
  const struct table_cell *cell = table_at(table, row, column);
  *out = (struct import_cell){0};
  if (!*cell->text || strcmp(cell->text, "NA") == 0 || strcmp(cell->text, "N/A") == 0)
    return VINCI_OK;
  out->known = import_decimal(cell->text, strlen(cell->text), decimals, &out->value);
  if (out->known)
    return VINCI_OK;
  enum vinci_status status = diag_error_at(
      diag, VINCI_E_INPUT,
      (struct diag_position){.path = table->path, .line = cell->line, .column = cell->column},
      "column \"%s\" holds '%.60s', not a number", table->header[column].text, cell->text);
  diag_hint(diag, "leave the cell empty when the number is not known");
  return status;
}
