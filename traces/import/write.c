/* SPDX-License-Identifier: Apache-2.0 */
/* The table of several sources side by side, as text, CSV and JSON. */
#include <inttypes.h>
#include <string.h>

#include "core/base/cells.h"
#include "core/base/sheet.h"
#include "traces/export/export.h"
#include "traces/import/import.h"

static const struct {
  const char *key;
  enum import_unit unit;
  const char *text;
} rows[] = {
#define ROW(id, key, unit, join, text) {key, IMPORT_##unit, text},
#include "traces/import/rows.def"
};

static const char *const units[] = {
    [IMPORT_PS] = "us", [IMPORT_COUNT] = "", [IMPORT_BYTES] = "bytes"};
enum { PS_DECIMALS = 6, SHOWN_DECIMALS = 3, PS_PER_SHOWN = 1000000 };

/* Empty when the source does not know. */
static struct decimal cell_text(const struct imported *source, unsigned row, bool shown) {
  const struct import_cell *cell = &source->cell[row];
  if (!cell->known)
    return (struct decimal){""};
  if (rows[row].unit != IMPORT_PS)
    return decimal_exact(cell->value, 0);
  return shown ? decimal_ratio(cell->value, PS_PER_SHOWN, SHOWN_DECIMALS)
               : decimal_exact(cell->value, PS_DECIMALS);
}

static bool row_is_known(const struct imported *sources, size_t count, unsigned row) {
  for (size_t i = 0; i < count; i++)
    if (sources[i].cell[row].known)
      return true;
  return false;
}

enum {
  KEY,
  UNIT,
  FIRST_SOURCE,
  SIDE_BY_SIDE = SHEET_COLUMNS_MAX - FIRST_SOURCE - 1,
  TITLE_BYTES = 24
};

/* Rows that no source knows are left out. A narrow terminal leaves out what the rows say, then the
 * last sources. */
static void write_table(const struct imported *sources, size_t first, size_t count, FILE *out) {
  char titles[SIDE_BY_SIDE][TITLE_BYTES];
  struct sheet_column columns[SHEET_COLUMNS_MAX] = {
      [KEY] = {.title = "", .left = true}, [UNIT] = {.title = "", .left = true}};
  for (size_t i = 0; i < count; i++) {
    snprintf(titles[i], sizeof titles[i], "[%zu]", first + i + 1);
    columns[FIRST_SOURCE + i] =
        (struct sheet_column){.title = titles[i], .rank = i > 0 ? (unsigned)i : 0};
  }
  columns[FIRST_SOURCE + count] = (struct sheet_column){
      .title = "what it is", .left = true, .fit = SHEET_BREAK, .rank = SHEET_COLUMNS_MAX};
  struct sheet sheet;
  sheet_begin(&sheet, out, columns, (unsigned)(FIRST_SOURCE + count + 1), 0, NULL);
  while (sheet_pass(&sheet))
    for (unsigned row = 0; row < IMPORT_ROWS; row++) {
      if (!row_is_known(sources, count, row))
        continue;
      sheet_text(&sheet, rows[row].key);
      sheet_text(&sheet, units[rows[row].unit]);
      for (size_t i = 0; i < count; i++)
        sheet_text(&sheet, cell_text(&sources[i], row, true).text);
      sheet_text(&sheet, rows[row].text);
    }
}

static void write_text(const struct imported *sources, const char *const *paths, size_t count,
                       FILE *out) {
  struct sheet_lines lines;
  FILE *names = sheet_lines_begin(&lines, out);
  for (size_t i = 0; i < count; i++) {
    fprintf(names, "[%zu] %s: %s", i + 1, paths[i], sources[i].kind);
    if (*sources[i].name)
      fprintf(names, ", %s", sources[i].name);
    if (sources[i].samples > 1)
      fprintf(names, ", mean of %" PRIu64 " rows", sources[i].samples);
    fputc('\n', names);
  }
  sheet_lines_end(&lines);
  for (size_t i = 0; i < count; i += SIDE_BY_SIDE)
    write_table(sources + i, i, count - i < SIDE_BY_SIDE ? count - i : SIDE_BY_SIDE, out);
}

static void write_csv(const struct imported *sources, const char *const *paths, size_t count,
                      FILE *out) {
  fputs("row,unit", out);
  for (size_t i = 0; i < count; i++) {
    fputc(',', out);
    cell_write_quoted(out, paths[i]);
  }
  fputc('\n', out);
  for (unsigned row = 0; row < IMPORT_ROWS; row++) {
    fprintf(out, "%s,%s", rows[row].key, units[rows[row].unit]);
    for (size_t i = 0; i < count; i++)
      fprintf(out, ",%s", cell_text(&sources[i], row, false).text);
    fputc('\n', out);
  }
}

static void write_json(const struct imported *sources, const char *const *paths, size_t count,
                       FILE *out) {
  struct json_writer json;
  json_start(&json, out);
  json_object(&json, NULL, false);
  json_array(&json, "sources", false);
  for (size_t i = 0; i < count; i++) {
    json_object(&json, NULL, false);
    json_text(&json, "path", paths[i]);
    json_text(&json, "kind", sources[i].kind);
    json_text(&json, "kernel", sources[i].name);
    json_number(&json, "samples", sources[i].samples);
    for (unsigned row = 0; row < IMPORT_ROWS; row++) {
      char key[40];
      snprintf(key, sizeof key, "%s%s%s", rows[row].key, *units[rows[row].unit] ? "_" : "",
               units[rows[row].unit]);
      struct decimal value = cell_text(&sources[i], row, false);
      json_decimal(&json, key, *value.text ? value : (struct decimal){"null"});
    }
    json_unread(&json, &sources[i].unread, NULL);
    json_end(&json);
  }
  json_end(&json);
  json_end(&json);
}

void import_write(const struct imported *sources, const char *const *paths, size_t count,
                  enum import_form form, FILE *out) {
  if (form == IMPORT_CSV)
    write_csv(sources, paths, count, out);
  else if (form == IMPORT_JSON)
    write_json(sources, paths, count, out);
  else
    write_text(sources, paths, count, out);
}
