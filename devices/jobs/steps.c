/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tables of steps, and writes them as jobs. */
#include "devices/jobs/steps.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/file.h"
#include "traces/format/text_fields.h"

#define STEP_HEAD "name,backward_us,gradient_bytes"
#define PS_PER_US 1e6
#define US_MAX 1e12 /* as of jobs */
enum { US_DIGITS = 6 };

enum column { COLUMN_NAME, COLUMN_US, COLUMN_BYTES, COLUMN_OP, COLUMN_MEMORY, COLUMNS };
static const char *const column_names[COLUMNS] = {"name", "backward_us", "gradient_bytes", "op",
                                                  "memory"};

struct step_reader {
  struct step_table *table;
  size_t room;
  bool head;             /* has been read */
  size_t field[COLUMNS]; /* from 1; 0: the table has no such column */
  size_t fields;
};

static struct step_reader *own_of(struct text_reader *reader) { return reader->object; }

/* ---- the head ------------------------------------------------------------------------------- */

static enum vinci_status take_head(struct text_reader *reader) {
  struct step_reader *own = own_of(reader);
  const struct text_words words = {column_names, COLUMNS};
  own->head = true;
  own->fields = reader->field_count;
  for (size_t i = 0; i < reader->field_count; i++) {
    size_t column = 0;
    while (column < COLUMNS && strcmp(reader->fields[i], column_names[column]) != 0)
      column++;
    if (column == COLUMNS) {
      const char *near = diag_nearest(reader->fields[i], COLUMNS, text_word_at, &words);
      text_fail(reader, i, "unknown column \"%.40s\"; a table begins with " STEP_HEAD,
                reader->fields[i]);
      if (near)
        diag_hint(reader->diag, "did you mean %s?", near);
      return VINCI_E_INPUT;
    }
    if (own->field[column] > 0)
      return text_fail(reader, i, "a second column %s", column_names[column]);
    own->field[column] = i + 1;
  }
  if (own->field[COLUMN_NAME] == 0 || own->field[COLUMN_BYTES] == 0 ||
      (own->field[COLUMN_US] == 0 && own->field[COLUMN_OP] == 0))
    return text_fail(reader, 0,
                     "a table needs the columns name, gradient_bytes, and backward_us "
                     "or op");
  return VINCI_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The text of a column, "" where there is none. */
static const char *cell(struct text_reader *reader, enum column column) {
  size_t field = own_of(reader)->field[column];
  return field ? reader->fields[field - 1] : "";
}

static size_t field_of(struct text_reader *reader, enum column column) {
  return own_of(reader)->field[column] - 1;
}

static enum vinci_status take_name(struct text_reader *reader, struct step_row *row) {
  const char *name = cell(reader, COLUMN_NAME);
  if (*name == '\0' || strpbrk(name, ",\"\n\r"))
    return text_fail(reader, field_of(reader, COLUMN_NAME),
                     "a name has at least one character, and no comma or quote");
  row->name = arena_strdup(reader->arena, name);
  return row->name ? VINCI_OK : text_no_memory(reader);
}

static enum vinci_status take_work(struct text_reader *reader, struct step_row *row) {
  const char *us = cell(reader, COLUMN_US), *op = cell(reader, COLUMN_OP);
  double value;
  if (*op && *us)
    return text_fail(reader, field_of(reader, COLUMN_OP), "a row has backward_us or op, not both");
  if (strpbrk(op, ",\"\n\r"))
    return text_fail(reader, field_of(reader, COLUMN_OP),
                     "an operator is written as matmul m=64 k=64 n=64");
  if (*op) {
    row->op = arena_strdup(reader->arena, op);
    own_of(reader)->table->has_operators = true;
    return row->op ? VINCI_OK : text_no_memory(reader);
  }
  if (own_of(reader)->field[COLUMN_US] == 0)
    return text_fail(reader, field_of(reader, COLUMN_OP), "the row has no operator");
  if (!decimal_parse(us, &value) || value < 0 || value > US_MAX)
    return text_fail(reader, field_of(reader, COLUMN_US),
                     "backward_us is a number up to 1e12, not \"%.40s\"", us);
  row->work_ps = (uint64_t)(value * PS_PER_US + 0.5);
  return VINCI_OK;
}

static enum vinci_status take_bytes(struct text_reader *reader, struct step_row *row) {
  const char *text = cell(reader, COLUMN_BYTES), *end;
  if (!text_parse_size(text, &end, &row->bytes) || *end || row->bytes > TEXT_BYTES_MAX)
    return text_fail(reader, field_of(reader, COLUMN_BYTES),
                     "gradient_bytes is a whole number up to 2^45, not \"%.40s\"", text);
  return VINCI_OK;
}

static enum vinci_status take_memory(struct text_reader *reader, struct step_row *row) {
  const char *text = cell(reader, COLUMN_MEMORY);
  double value = 0;
  if (*text && (!decimal_parse(text, &value) || value < 0 || value > 1))
    return text_fail(reader, field_of(reader, COLUMN_MEMORY),
                     "memory is a share from 0 to 1, not \"%.40s\"", text);
  row->memory_milli = (uint32_t)(value * MILLI + 0.5);
  return VINCI_OK;
}

static enum vinci_status keep(struct text_reader *reader, const struct step_row *row) {
  struct step_reader *own = own_of(reader);
  struct step_table *table = own->table;
  if (table->count == STEP_ROWS_MAX)
    return text_fail(reader, 0, "more than %d rows", STEP_ROWS_MAX);
  if (row->bytes > 0 && table->gradients == STEP_GRADIENTS_MAX)
    return text_fail(reader, 0, "more than %d gradients", STEP_GRADIENTS_MAX);
  if (table->count == own->room) {
    size_t room = own->room ? 2 * own->room : 64;
    struct step_row *rows = ARENA_ARRAY(reader->arena, struct step_row, room);
    if (!rows)
      return text_no_memory(reader);
    if (table->count > 0)
      memcpy(rows, table->rows, table->count * sizeof *rows);
    table->rows = rows;
    own->room = room;
  }
  table->rows[table->count++] = *row;
  table->gradients += row->bytes > 0;
  return VINCI_OK;
}

static enum vinci_status read_row(struct text_reader *reader) {
  struct step_row row = {.line = reader->line};
  if (!own_of(reader)->head)
    return take_head(reader);
  if (reader->field_count != own_of(reader)->fields)
    return text_fail(reader, 0, "%zu fields; the first row names %zu columns", reader->field_count,
                     own_of(reader)->fields);
  enum vinci_status status = take_name(reader, &row);
  if (status == VINCI_OK)
    status = take_work(reader, &row);
  if (status == VINCI_OK)
    status = take_bytes(reader, &row);
  if (status == VINCI_OK)
    status = take_memory(reader, &row);
  return status == VINCI_OK ? keep(reader, &row) : status;
}

enum vinci_status step_read(const char *path, const char *text, size_t length, struct arena *arena,
                            struct step_table *out, struct vinci_diag *diag) {
  struct step_reader own = {.table = out};
  struct text_reader reader = {
      .object = &own, .arena = arena, .diag = diag, .path = path, .begun = true};
  size_t mark = file_text_mark(text, length);
  *out = (struct step_table){.path = path};
  enum vinci_status status =
      text_read_rows(&reader, text + mark, length - mark, STEP_HEAD, read_row);
  if (status != VINCI_OK || out->gradients > 0)
    return status;
  diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                "no row has bytes of a gradient, so there is nothing to sum");
  diag_hint(diag, "the first row is " STEP_HEAD ", a row behind that such as fc,120.5,4194304");
  return VINCI_E_INPUT;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static void write_work(const struct step_row *row, bool times, FILE *out) {
  fprintf(out, "work,\"name=%s\",", row->name);
  if (row->op && !times)
    fprintf(out, "\"op=%s\"", row->op);
  else
    fprintf(out, "us=%s", decimal_exact(row->work_ps, US_DIGITS).text);
  if (row->memory_milli > 0)
    fprintf(out, ",memory=%s", decimal_exact(row->memory_milli, 3).text);
  fputc('\n', out);
}

void step_write_job(const struct step_table *table, unsigned ranks, const bool *ends, FILE *out) {
  size_t gradient = 0, bucket = 0;
  uint64_t bytes = 0;
  fprintf(out, "job,version=1,ranks=%u\ngroup,name=data,ranks=0-%u\nprogram,name=step,ranks=0-%u\n",
          ranks, ranks - 1, ranks - 1);
  for (size_t i = 0; i < table->count; i++) {
    const struct step_row *row = &table->rows[i];
    write_work(row, ends != NULL, out);
    bytes += row->bytes;
    if (!ends || row->bytes == 0 || !ends[gradient++])
      continue;
    fprintf(out,
            "record,event=bucket%zu\nwait,event=bucket%zu,stream=1\n"
            "collective,\"name=sum to %s\",op=all_reduce,group=data,bytes=%" PRIu64 ",stream=1\n",
            bucket, bucket, row->name, bytes);
    bucket++;
    bytes = 0;
  }
}
