/* SPDX-License-Identifier: Apache-2.0 */
/* The table of several sources side by side, as text, CSV and JSON. */
#include <inttypes.h>
#include <string.h>

#include "core/base/cells.h"
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

/* Rows that no source knows are left out. */
static void write_text(const struct imported *sources, const char *const *paths, size_t count,
                       FILE *out) {
  for (size_t i = 0; i < count; i++) {
    fprintf(out, "[%zu] %s: %s", i + 1, paths[i], sources[i].kind);
    if (*sources[i].name)
      fprintf(out, ", %s", sources[i].name);
    if (sources[i].samples > 1)
      fprintf(out, ", mean of %" PRIu64 " rows", sources[i].samples);
    fputc('\n', out);
  }
  fprintf(out, "%-22s %-6s", "", "");
  for (size_t i = 0; i < count; i++)
    fprintf(out, " %13s%zu]", "[", i + 1);
  fputc('\n', out);
  for (unsigned row = 0; row < IMPORT_ROWS; row++) {
    if (!row_is_known(sources, count, row))
      continue;
    fprintf(out, "%-22s %-6s", rows[row].key, units[rows[row].unit]);
    for (size_t i = 0; i < count; i++)
      fprintf(out, " %15s", cell_text(&sources[i], row, true).text);
    fprintf(out, "  %s\n", rows[row].text);
  }
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
