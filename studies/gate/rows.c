/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of points, and the baseline file: "point,metric,value,unit,kind", sorted, after some
 * lines that begin with '#'. One metric a line, so that version control shows what moved.
 */
#include "studies/gate/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"

enum { CELLS = 5, BASELINE_SCHEMA = 1 };

static const char column_row[] = "point,metric,value,unit,kind";
static const char schema_row[] = "# schema: ";
static const char title_row[] = "# vinci gate baseline";

/* ---- the table -------------------------------------------------------------------------- */

bool gate_rows_add(struct gate_rows *rows, const char *point, const char *metric, const char *value,
                   const char *unit, const char *kind) {
  if (rows->count == rows->capacity) {
    size_t capacity = rows->capacity ? 2 * rows->capacity : 256;
    struct gate_row *items = realloc(rows->items, capacity * sizeof *items);
    if (!items)
      return false;
    rows->items = items;
    rows->capacity = capacity;
  }
  struct gate_row *row = &rows->items[rows->count];
  *row = (struct gate_row){
      arena_strdup(&rows->arena, point), arena_strdup(&rows->arena, metric),
      arena_strdup(&rows->arena, value), arena_strdup(&rows->arena, unit),
      arena_strdup(&rows->arena, kind),
  };
  rows->count++;
  return row->point && row->metric && row->value && row->unit && row->kind;
}

static int compare_names(const struct gate_row *row, const char *point, const char *metric) {
  int order = strcmp(row->point, point);
  return order ? order : strcmp(row->metric, metric);
}

static int compare_rows(const void *left, const void *right) {
  const struct gate_row *other = right;
  return compare_names(left, other->point, other->metric);
}

void gate_rows_sort(struct gate_rows *rows) {
  if (rows->count > 0)
    qsort(rows->items, rows->count, sizeof *rows->items, compare_rows);
}

void gate_rows_free(struct gate_rows *rows) {
  free(rows->items);
  arena_free(&rows->arena);
  *rows = (struct gate_rows){0};
}

/* Index of the first row that is not before (point, metric). */
static size_t lower_bound(const struct gate_rows *rows, const char *point, const char *metric) {
  size_t low = 0, high = rows->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_names(&rows->items[middle], point, metric) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const char *gate_rows_text(const struct gate_rows *rows, const char *point, const char *metric) {
  size_t at = lower_bound(rows, point, metric);
  bool found = at < rows->count && compare_names(&rows->items[at], point, metric) == 0;
  return found ? rows->items[at].value : NULL;
}

uint64_t gate_rows_value(const struct gate_rows *rows, const char *point, const char *metric) {
  const char *text = gate_rows_text(rows, point, metric);
  return text ? strtoull(text, NULL, 10) : 0;
}

size_t gate_rows_of(const struct gate_rows *rows, const char *point, size_t *count) {
  size_t first = lower_bound(rows, point, "");
  *count = 0;
  while (first + *count < rows->count && strcmp(rows->items[first + *count].point, point) == 0)
    (*count)++;
  return first;
}

bool gate_is_number(const struct gate_row *row) {
  return strcmp(row->kind, "metric") == 0 || strcmp(row->kind, "detail") == 0;
}

uint64_t gate_number(const struct gate_row *row) { return strtoull(row->value, NULL, 10); }

/* ---- reading ------------------------------------------------------------------------------ */

struct reading {
  struct gate_rows *rows;
  const char *path;
  unsigned long line;
  struct vinci_diag *diag;
};

static enum vinci_status refuse(struct reading *reading, const char *text) {
  struct diag_position position = {.path = reading->path, .line = reading->line};
  (void)diag_error_at(reading->diag, VINCI_E_INPUT, position, "%s", text);
  diag_hint(reading->diag,
            "restore the file, or remove it and make it anew with 'vinci gate bless'");
  return VINCI_E_INPUT;
}

/* Differences of any two are then numbers too. */
static bool is_whole_number(const char *text) {
  errno = 0;
  if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
    return false;
  return strtoull(text, NULL, 10) <= INT64_MAX && errno == 0;
}

static enum vinci_status read_row(struct reading *reading, char *line) {
  char *cells[CELLS];
  struct gate_rows *rows = reading->rows;
  if (cells_split(line, cells, CELLS) != CELLS)
    return refuse(reading, "is not a row of a baseline: point,metric,value,unit,kind");
  bool number = strcmp(cells[4], "metric") == 0 || strcmp(cells[4], "detail") == 0;
  bool text = strcmp(cells[4], "digest") == 0 || strcmp(cells[4], "failure") == 0;
  if ((!number && !text) || (number && !is_whole_number(cells[2])) || !*cells[0] || !*cells[1])
    return refuse(reading, "is not a row of a baseline: its value or its kind is wrong");
  if (!gate_rows_add(rows, cells[0], cells[1], cells[2], cells[3], cells[4]))
    return diag_error(reading->diag, VINCI_E_NOMEM, "out of memory");
  if (rows->count > 1) {
    int order = compare_rows(&rows->items[rows->count - 2], &rows->items[rows->count - 1]);
    if (order == 0)
      return refuse(reading, "the metric is there twice");
    if (order > 0)
      return refuse(reading, "rows are not sorted by point and metric");
  }
  return VINCI_OK;
}

static enum vinci_status read_comment(struct reading *reading, const char *line) {
  if (strncmp(line, schema_row, strlen(schema_row)) != 0)
    return VINCI_OK;
  uint64_t schema;
  if (decimal_whole(line + strlen(schema_row), &schema) && schema == BASELINE_SCHEMA)
    return VINCI_OK;
  return refuse(reading, "a schema that this version of vinci does not know");
}

enum vinci_status gate_rows_parse(struct gate_rows *rows, FILE *in, const char *path, bool header,
                                  struct vinci_diag *diag) {
  struct reading reading = {.rows = rows, .path = path, .diag = diag};
  bool columns = !header;
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  enum vinci_status status = VINCI_OK;
  while (status == VINCI_OK && (length = getline(&line, &capacity, in)) > 0) {
    reading.line++;
    bool whole = line[length - 1] == '\n';
    line[length - whole] = '\0';
    if (whole && header && length > 1 && line[length - 2] == '\r')
      line[length - 2] = '\0'; /* version control may have put it there */
    if (!whole)
      status = refuse(&reading, "the file ends in the middle of a line");
    else if (header && reading.line == 1 && strcmp(line, title_row) != 0)
      status = refuse(&reading, "is not a baseline of vinci gate");
    else if (*line == '#')
      status = read_comment(&reading, line);
    else if (columns)
      status = read_row(&reading, line);
    else if (strcmp(line, column_row) == 0)
      columns = true;
    else
      status = refuse(&reading, "the row of column names is missing");
  }
  if (status == VINCI_OK && !file_ended(in))
    status = file_error(diag, path, "read");
  if (status == VINCI_OK && !columns)
    status = refuse(&reading, "is not a baseline of vinci gate");
  free(line);
  return status;
}

/* Every point has the rows without which nothing can be said. */
static enum vinci_status check_points(const struct gate_rows *rows, const char *path,
                                      struct vinci_diag *diag) {
  static const char *const needed[] = {"digest.config", "digest.input", "digest.program",
                                       "model.revision", "total_cycles"};
  size_t count;
  for (size_t i = 0; i < rows->count; i += count) {
    const char *point = rows->items[i].point;
    (void)gate_rows_of(rows, point, &count);
    for (size_t n = 0; n < sizeof needed / sizeof *needed; n++)
      if (!gate_rows_text(rows, point, needed[n])) {
        (void)diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                            "point '%s' has no row %s", point, needed[n]);
        diag_hint(diag, "restore the file, or remove it and make it anew with 'vinci gate bless'");
        return VINCI_E_INPUT;
      }
  }
  return VINCI_OK;
}

enum vinci_status gate_rows_read(struct gate_rows *rows, const char *path,
                                 struct vinci_diag *diag) {
  *rows = (struct gate_rows){0};
  FILE *in = fopen(path, "r");
  if (!in) {
    if (errno == ENOMEM)
      return file_error(diag, path, "read the baseline");
    (void)diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                        "cannot read the baseline: %s", strerror(errno));
    diag_hint(diag, "bless makes a baseline of a suite");
    return VINCI_E_INPUT;
  }
  enum vinci_status status = gate_rows_parse(rows, in, path, true, diag);
  fclose(in);
  return status == VINCI_OK ? check_points(rows, path, diag) : status;
}

/* ---- writing ------------------------------------------------------------------------------ */

void gate_rows_write(const struct gate_rows *rows, bool header, FILE *out) {
  if (header)
    fprintf(out,
            "%s\n%s%d\n# vinci: %s\n# model-revision: %s\n# digests: fnv1a-64\n"
            "# made by 'vinci gate bless'; the log beside this file says why it changed\n%s\n",
            title_row, schema_row, BASELINE_SCHEMA, vinci_version(), vinci_model_revision(),
            column_row);
  for (size_t i = 0; i < rows->count; i++) {
    const struct gate_row *row = &rows->items[i];
    const char *const cells[CELLS] = {row->point, row->metric, row->value, row->unit, row->kind};
    for (size_t c = 0; c < CELLS; c++) {
      cell_write(out, cells[c]);
      fputc(c + 1 < CELLS ? ',' : '\n', out);
    }
  }
}
