/* SPDX-License-Identifier: Apache-2.0 */
/* Reading lists of operator calls. */
#include "lower/calls/calls.h"

#include <csv.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cells.h"
#include "core/base/clock.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "traces/format/growing.h"
#include "traces/format/known_database.h"
#include "traces/format/known_files.h"

enum { CALL_FIELDS_MAX = 512 };

struct list_reader {
  const char *path;
  struct vinci_diag *diag;
  struct arena *arena;
  struct growing rows;
  int column[CALL_FIELDS_MAX];          /* of each field, or CALL_COLUMN_COUNT */
  const char *unknown[CALL_FIELDS_MAX]; /* what the header calls such a field */
  bool named[CALL_FIELDS_MAX];          /* the header has a name there */
  struct call_list *list;
  bool *has;
  char name[CALL_COLUMN_COUNT][CALL_NAME_MAX]; /* in the header, */
  unsigned long place[CALL_COLUMN_COUNT];      /* and where there */
  unsigned header_cells, again; /* known columns: there; in this row, by their names */
  bool header_done;
  unsigned long line;
  struct call_row row;
  size_t field;
  size_t consumed, row_start, field_start; /* bytes of the file */
  bool filled;                             /* the row has a cell that is not empty */
  enum vinci_status status;
};

static void no_memory(struct list_reader *reader) {
  reader->status = diag_error(reader->diag, VINCI_E_NOMEM, "out of memory reading the list");
}

static void keep_unread(struct list_reader *reader, enum unread_kind kind, unsigned long line,
                        unsigned long column, const char *name, size_t length) {
  struct unread_found found = {.kind = kind,
                               .at = {.path = reader->path, .line = line, .column = column},
                               .name = name,
                               .length = length};
  if (!unread_add(&reader->list->unread, reader->arena, &found))
    no_memory(reader);
}

/* A name that is not that of a column which is read. */
static void keep_unknown(struct list_reader *reader, const char *plain, unsigned long place,
                         const char *data, size_t length) {
  struct unread_found found = {
      .kind = UNREAD_COLUMN,
      .at = {.path = reader->path, .line = reader->line + 1, .column = place},
      .name = data,
      .length = length};
  if (calls_is_needless(plain))
    return;
  if (calls_is_unmodelled(plain))
    found.kind = UNREAD_UNMODELLED;
  else
    found.meant = calls_nearest_column(reader->arena, plain);
  if (!unread_add(&reader->list->unread, reader->arena, &found))
    no_memory(reader);
}

/* Two names may stand for the same: the first counts. The same name twice says two things. */
static void name_column(struct list_reader *reader, size_t index, const char *data, size_t length,
                        unsigned long place) {
  char name[CALL_NAME_MAX];
  calls_plain_name(data, length, name);
  int column = calls_find_column(name);
  reader->column[index] = CALL_COLUMN_COUNT;
  reader->filled |= length > 0;
  if (column == CALL_COLUMN_COUNT) {
    reader->unknown[index] = arena_strndup(reader->arena, data, length);
    keep_unknown(reader, name, place, data, length);
    return;
  }
  if (!reader->has[column]) {
    reader->has[column] = true;
    reader->header_cells++;
    reader->column[index] = column;
    reader->place[column] = place;
    memcpy(reader->name[column], name, sizeof name);
  } else if (strcmp(reader->name[column], name) == 0) {
    reader->status =
        diag_error_at(reader->diag, VINCI_E_INPUT,
                      (struct diag_position){.path = reader->path, .line = reader->line + 1},
                      "the header has two columns \"%.*s\"", (int)length, data);
  } else {
    keep_unread(reader, UNREAD_AGAIN, reader->line + 1, place, data, length);
  }
}

/* Of a cell that begins `start` bytes into the file. */
static struct diag_position position_of(const struct list_reader *reader, size_t start) {
  return (struct diag_position){
      .path = reader->path, .line = reader->line + 1, .column = start - reader->row_start + 1};
}

/* A time that is lost would look like a call that was not measured. */
static void read_time(struct list_reader *reader, const char *text, size_t start, uint64_t *ps) {
  if (calls_time(text, ps))
    return;
  struct diag_position at = position_of(reader, start);
  reader->status = diag_error_at(reader->diag, VINCI_E_INPUT, at,
                                 "'%.40s' is not a time in microseconds from 0 to 10^12", text);
  diag_hint(reader->diag, "write 1234.5, 1.2345e3 or \"1,234.5\"; N/A or nothing where nothing was "
                          "measured");
}

/* A share of 0 to 1; nothing, or N/A, where nothing was measured. */
static void read_misses(struct list_reader *reader, const char *text, size_t start,
                        enum core_kind kind) {
  enum { PPM = 1000000 };
  struct call_row *row = &reader->row;
  double rate;
  if (*text == '\0' || strcmp(text, "N/A") == 0)
    return;
  row->code_measured[kind] = true;
  if (decimal_parse(text, &rate) && rate >= 0 && rate <= 1) {
    row->code_miss_ppm[kind] = (uint64_t)(rate * PPM + 0.5);
    return;
  }
  struct diag_position at = position_of(reader, start);
  reader->status = diag_error_at(reader->diag, VINCI_E_INPUT, at,
                                 "a miss rate is a number from 0 to 1, not '%.40s'", text);
}

/* A start that is lost would move all rows behind. */
static void read_start(struct list_reader *reader, const char *text, size_t start) {
  struct call_row *row = &reader->row;
  row->started = text[strspn(text, " \t")] >= '0' && text[strspn(text, " \t")] <= '9';
  if (calls_start(text, &row->start_ns))
    return;
  struct diag_position at = position_of(reader, start);
  reader->status = diag_error_at(reader->diag, VINCI_E_INPUT, at,
                                 "'%.40s' is not a start time in microseconds", text);
  diag_hint(reader->diag, "write 1764246877073569.640, or N/A where the start is not known");
}

/* A row that counts as another number of rows would move all sums. */
static void read_weight(struct list_reader *reader, const char *text, size_t start) {
  uint64_t *weight = &reader->row.weight;
  if (*text == '\0' || (decimal_whole(text, weight) && *weight <= UINT32_MAX))
    return;
  struct diag_position at = position_of(reader, start);
  reader->status = diag_error_at(reader->diag, VINCI_E_INPUT, at,
                                 "weight is not a whole number below 2^32: '%.40s'", text);
}

/* A table behind another, as two profiles in one file are, begins with a header of its own. */
static bool is_header_cell(struct list_reader *reader, const char *data, size_t length) {
  char name[CALL_NAME_MAX];
  calls_plain_name(data, length, name);
  bool same = strcmp(name, reader->name[reader->column[reader->field - 1]]) == 0;
  reader->again += same;
  return same;
}

/* A row of names: the same header again is passed over; another one would need another reading. */
static bool is_header_again(struct list_reader *reader) {
  if (reader->again < 2)
    return false;
  if (reader->again < reader->header_cells) {
    reader->status =
        diag_error_at(reader->diag, VINCI_E_INPUT,
                      (struct diag_position){.path = reader->path, .line = reader->line},
                      "the header of another table: %u of %u columns are those of the first header",
                      reader->again, reader->header_cells);
    diag_hint(reader->diag, "give each table in a file of its own");
  }
  return true;
}

/* A cell without a column; tables may end each line with a comma. */
static void note_nameless(struct list_reader *reader, size_t index, size_t length, size_t start) {
  char text[DECIMAL_TEXT_BYTES + 8];
  reader->filled |= length > 0;
  snprintf(text, sizeof text, "%zu", index + 1);
  if (length > 0)
    keep_unread(reader, UNREAD_CELLS, reader->line + 1, start - reader->row_start + 1, text,
                strlen(text));
}

static void on_field(void *data, size_t length, void *context) {
  struct list_reader *reader = context;
  size_t index = reader->field++, start = reader->field_start;
  reader->field_start = reader->consumed;
  if (reader->status != VINCI_OK)
    return;
  if (index >= CALL_FIELDS_MAX || (reader->header_done && !reader->named[index])) {
    note_nameless(reader, index, length, start);
    return;
  }
  if (memchr(data, '\0', length)) {
    reader->status = VINCI_E_INPUT;
    if (known_file_refuse(reader->path, "a list of operators", reader->diag))
      return;
    reader->status = diag_error_at(
        reader->diag, VINCI_E_INPUT,
        (struct diag_position){.path = reader->path, .line = reader->line + 1},
        "a field has a byte of value 0: the list is not a text, or has two bytes a character");
    return;
  }
  if (!reader->header_done) {
    reader->named[index] = length > 0;
    name_column(reader, index, data, length, start - reader->row_start + 1);
    return;
  }
  reader->filled |= length > 0;
  int column = reader->column[index];
  if (column == CALL_COLUMN_COUNT)
    return;
  if (is_header_cell(reader, data, length))
    return;
  const char *text = arena_strndup(reader->arena, data, length);
  if (!text) {
    no_memory(reader);
    return;
  }
  text = cell_plain(text);
  reader->row.cell[column] = text;
  if (column == CALL_DURATION)
    read_time(reader, text, start, &reader->row.measured_ps);
  else if (column == CALL_MAC_TIME)
    read_time(reader, text, start, &reader->row.measured_mac_ps);
  else if (column == CALL_AIC_MISSES)
    read_misses(reader, text, start, CORE_AIC);
  else if (column == CALL_AIV_MISSES)
    read_misses(reader, text, start, CORE_AIV);
  else if (column == CALL_START)
    read_start(reader, text, start);
  else if (column == CALL_WEIGHT)
    read_weight(reader, text, start);
}

/* The kinds of lists by the columns that each must have. */
enum { KIND_COLUMNS_MAX = 6 };

static const struct list_kind {
  const char *text;
  unsigned count;
  struct {
    enum call_column column;
    const char *name;
  } needs[KIND_COLUMNS_MAX];
} kinds[] = {
    {"operators with arguments", 2, {{CALL_TYPE, "op"}, {CALL_ARGS, "args"}}},
    {"a profile",
     3,
     {{CALL_TYPE, "OP Type"},
      {CALL_IN_SHAPES, "Input Shapes"},
      {CALL_IN_TYPES, "Input Data Types"}}},
    {"GEMMs", 3, {{CALL_GEMM_M, "m"}, {CALL_GEMM_N, "n"}, {CALL_GEMM_K, "k"}}},
    {"convolutions",
     5,
     {{CALL_IFMAP_H, "IFMAP Height"},
      {CALL_IFMAP_W, "IFMAP Width"},
      {CALL_FILTER_H, "Filter Height"},
      {CALL_FILTER_W, "Filter Width"},
      {CALL_CHANNELS, "Channels"}}},
};

static unsigned count_columns(const struct list_kind *kind, const bool *has) {
  unsigned count = 0;
  for (unsigned i = 0; i < kind->count; i++)
    count += has[kind->needs[i].column];
  return count;
}

static const char *unknown_at(const void *context, size_t index) {
  const struct list_reader *reader = context;
  return reader->unknown[index];
}

/* What the header lacks of the kind it comes nearest to. */
static void refuse_header(struct list_reader *reader) {
  if (known_file_refuse(reader->path, "a list of operators", reader->diag)) {
    reader->status = VINCI_E_INPUT;
    return;
  }
  const struct list_kind *nearest = NULL;
  unsigned most = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (count_columns(&kinds[i], reader->has) > most) {
      nearest = &kinds[i];
      most = count_columns(nearest, reader->has);
    }
  const char *lacks = "";
  for (unsigned i = nearest ? nearest->count : 0; i-- > 0;)
    if (!reader->has[nearest->needs[i].column])
      lacks = nearest->needs[i].name;
  struct diag_position at = {.path = reader->path, .line = reader->line};
  reader->status = nearest
                       ? diag_error_at(reader->diag, VINCI_E_INPUT, at,
                                       "the header has no column \"%s\", which a list of %s needs",
                                       lacks, nearest->text)
                       : diag_error_at(reader->diag, VINCI_E_INPUT, at,
                                       "the header is not that of a list of operators");
  const char *meant = diag_nearest(lacks, CALL_FIELDS_MAX, unknown_at, reader);
  if (nearest && meant && *meant)
    diag_hint(reader->diag, "did you mean \"%s\" by \"%s\"?", lacks, meant);
  diag_hint(reader->diag, "known are the profiler's tables, op,args and lists of GEMMs (m,n,k) and "
                          "convolutions");
}

/* Columns that another kind of list would be simulated with. */
static void note_other_kinds(struct list_reader *reader) {
  enum call_kind kind = calls_kind(reader->has);
  for (unsigned i = 0; i < CALL_COLUMN_COUNT; i++) {
    if (reader->has[i] && !calls_reads(kind, (enum call_column)i))
      keep_unread(reader, UNREAD_OTHER, reader->line, reader->place[i], reader->name[i],
                  strlen(reader->name[i]));
  }
}

static void end_header(struct list_reader *reader) {
  reader->header_done = reader->filled;
  if (!reader->filled)
    return;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (count_columns(&kinds[i], reader->has) == kinds[i].count) {
      note_other_kinds(reader);
      return;
    }
  refuse_header(reader);
}

struct call_row calls_empty_row(void) {
  struct call_row row = {.weight = 1};
  for (int i = 0; i < CALL_COLUMN_COUNT; i++)
    row.cell[i] = "";
  return row;
}

static void on_row(int end, void *context) {
  struct list_reader *reader = context;
  (void)end;
  reader->line++;
  reader->row_start = reader->consumed;
  if (reader->status != VINCI_OK)
    return;
  if (!reader->header_done) {
    end_header(reader);
  } else if (reader->filled && !is_header_again(reader)) {
    struct call_row *row = GROWING_PUSH(&reader->rows, struct call_row);
    if (!row) {
      no_memory(reader);
      return;
    }
    *row = reader->row;
    row->line = reader->line;
    row->profiled = reader->has[CALL_IN_SHAPES];
  }
  reader->field = 0;
  reader->again = 0;
  reader->filled = false;
  reader->row = calls_empty_row();
}

static void malformed(struct list_reader *reader, struct csv_parser *parser) {
  struct diag_position at = {.path = reader->path, .line = reader->line + 1};
  bool quotes = csv_error(parser) == CSV_EPARSE;
  if (reader->status == VINCI_OK && csv_error(parser) == CSV_ENOMEM)
    no_memory(reader);
  if (reader->status == VINCI_OK && !reader->header_done &&
      known_file_refuse(reader->path, "a list of operators", reader->diag))
    reader->status = VINCI_E_INPUT;
  if (reader->status == VINCI_OK)
    reader->status =
        diag_error_at(reader->diag, VINCI_E_INPUT, at, "%s",
                      quotes ? "a quote is not closed, or stands inside a field that is not quoted"
                             : csv_strerror(csv_error(parser)));
}

/* A byte order mark may stand before the first field. */
static size_t skip_mark(char *buffer, size_t got) {
  size_t mark = file_text_mark(buffer, got);
  memmove(buffer, buffer + mark, got - mark);
  return got - mark;
}

/* Piece by piece, so that each field is told when all of the file that has been taken is its end.
 */
static void take(struct list_reader *reader, struct csv_parser *parser, const char *buffer,
                 size_t got) {
  for (size_t at = 0, length; at < got && reader->status == VINCI_OK; at += length) {
    length = 1;
    while (at + length < got && !memchr(",\r\n", buffer[at + length - 1], 3))
      length++;
    reader->consumed += length;
    if (csv_parse(parser, buffer + at, length, on_field, on_row, reader) != length)
      malformed(reader, parser);
    if (reader->field == 0 && length == 1 && buffer[at] != ',') /* between rows */
      reader->row_start = reader->field_start = reader->consumed;
  }
}

static enum vinci_status read_file(struct list_reader *reader, FILE *file) {
  struct csv_parser parser;
  char buffer[16384];
  size_t got;
  bool first = true;
  struct diag_position whole = {.path = reader->path};
  if (csv_init(&parser, CSV_APPEND_NULL | CSV_STRICT | CSV_STRICT_FINI) != 0)
    return diag_error(reader->diag, VINCI_E_NOMEM, "out of memory reading the list");
  while (reader->status == VINCI_OK && (got = fread(buffer, 1, sizeof buffer, file)) > 0) {
    if (first)
      got = skip_mark(buffer, got);
    first = false;
    take(reader, &parser, buffer, got);
  }
  if (reader->status == VINCI_OK && ferror(file))
    reader->status = diag_error_at(reader->diag, diag_status_of(errno), whole,
                                   "cannot read the list: %s", strerror(errno));
  if (reader->status == VINCI_OK && csv_fini(&parser, on_field, on_row, reader) != 0)
    malformed(reader, &parser);
  csv_free(&parser);
  if (reader->status == VINCI_OK && reader->rows.count == 0)
    reader->status = diag_error_at(reader->diag, VINCI_E_INPUT, whole, "the list %s",
                                   reader->header_done ? "has a header and no rows" : "is empty");
  return reader->status;
}

enum vinci_status calls_read_stream(FILE *file, const char *path, struct call_list *out,
                                    struct vinci_diag *diag) {
  *out = (struct call_list){0};
  struct list_reader reader = {.path = path,
                               .diag = diag,
                               .arena = &out->arena,
                               .list = out,
                               .has = out->has,
                               .row = calls_empty_row()};
  for (int i = 0; i < CALL_FIELDS_MAX; i++)
    reader.column[i] = CALL_COLUMN_COUNT;
  enum vinci_status status = read_file(&reader, file);
  if (status == VINCI_OK) {
    out->count = reader.rows.count;
    out->rows = ARENA_ARRAY(&out->arena, struct call_row, reader.rows.count + 1);
    if (!out->rows)
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory reading the list");
    else if (out->count > 0)
      memcpy(out->rows, reader.rows.data, out->count * sizeof *out->rows);
  }
  growing_free(&reader.rows);
  if (status == VINCI_OK && !calls_find_cleared(out))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory reading the list");
  if (status != VINCI_OK)
    arena_free(&out->arena);
  return status;
}

enum vinci_status calls_read(const char *path, struct call_list *out, struct vinci_diag *diag) {
  char found[KNOWN_PATH_MAX];
  *out = (struct call_list){0};
  if (known_is_folder(path)) {
    enum vinci_status status = known_profile_in(path, found, diag);
    if (status != VINCI_OK)
      return status;
    path = found;
  }
  enum vinci_status status;
  char *text = NULL; /* of a database */
  size_t length = 0;
  if (known_is_database(path)) {
    status = known_database_text(path, &text, &length, diag);
    if (status != VINCI_OK)
      return status;
  }
  FILE *file = text                     ? fmemopen(text, length, "r")
               : strcmp(path, "-") == 0 ? stdin
                                        : fopen(path, "r");
  if (file)
    status = calls_read_stream(file, path, out, diag);
  else
    status = diag_error_at(diag, diag_status_of(errno), (struct diag_position){.path = path},
                           "cannot read the list: %s", strerror(errno));
  if (file && file != stdin)
    fclose(file);
  free(text);
  if (status == VINCI_OK)
    unread_warn(&out->unread, diag);
  return status;
}

void calls_withhold_blocks(struct call_list *list) {
  for (size_t i = 0; i < list->count; i++)
    list->rows[i].cell[CALL_BLOCKS] = "";
}
