/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a list of operators: times, rates, bounds, the slowest. */
#include "cli/run/table.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/sheet.h"

enum { CELLS_MAX = 512, US_DIGITS = 6, LINES_MAX = 50, SLOWEST = 5 };
#define GIGA UINT64_C(1000000000)
enum { BYTES_PER_PS_OF_GIGA = 1000 }; /* 10^12 ps a second, 10^9 bytes a unit */

enum column { NAME, LOWERED, STATUS, DURATION, GM_BYTES, BOUND_WORD, WEIGHT, COLUMNS };
static const char *const column_names[] = {"Op Name",      "lowered",   "status", "sim_duration_us",
                                           "sim_gm_bytes", "sim_bound", "weight"};

/* Of a list that was asked for the range of durations. */
enum range { LOW, HIGH, RANGE_COLUMNS };
static const char *const range_names[] = {"sim_duration_low_us", "sim_duration_high_us"};

struct operator_line {
  const char *text[COLUMNS];
  uint64_t ps, bytes, weight;
  uint64_t range_ps[RANGE_COLUMNS];
  bool ok;
};

struct places {
  size_t of[COLUMNS], of_range[RANGE_COLUMNS];
};

struct table {
  struct arena arena;
  struct operator_line *lines;
  size_t count, capacity;
  uint128 ps, bytes; /* of those that are ok, each as often as its weight says */
  uint128 range_ps[RANGE_COLUMNS];
  bool weighted, ranged;
};

/* ---- reading --------------------------------------------------------------------------------- */

static void add_times(struct table *table, struct operator_line *line, char *const *cell,
                      const struct places *places) {
  line->ps = decimal_read(line->text[DURATION], US_DIGITS);
  line->bytes = strtoull(line->text[GM_BYTES], NULL, 10);
  table->ps += (uint128)line->ps * line->weight;
  table->bytes += (uint128)line->bytes * line->weight;
  for (unsigned i = 0; table->ranged && i < RANGE_COLUMNS; i++) {
    line->range_ps[i] = decimal_read(cell[places->of_range[i]], US_DIGITS);
    table->range_ps[i] += (uint128)line->range_ps[i] * line->weight;
  }
}

static bool add_line(struct table *table, char *const *cell, const struct places *places) {
  if (table->count == table->capacity) {
    size_t capacity = table->capacity ? 2 * table->capacity : 64;
    struct operator_line *lines = ARENA_ARRAY(&table->arena, struct operator_line, capacity);
    if (!lines)
      return false;
    if (table->count > 0)
      memcpy(lines, table->lines, table->count * sizeof *lines);
    table->lines = lines;
    table->capacity = capacity;
  }
  struct operator_line *line = &table->lines[table->count++];
  for (unsigned c = 0; c < COLUMNS; c++)
    if (!(line->text[c] = arena_strdup(&table->arena, cell[places->of[c]])))
      return false;
  line->ok = strcmp(line->text[STATUS], "ok") == 0;
  line->weight = strtoull(line->text[WEIGHT], NULL, 10);
  table->weighted |= line->weight != 1;
  if (line->ok)
    add_times(table, line, cell, places);
  return true;
}

static enum vinci_status read_table(const char *path, struct table *table,
                                    struct vinci_diag *diag) {
  struct places places;
  size_t room = 0;
  char *line = NULL, *cell[CELLS_MAX];
  FILE *in = fopen(path, "r");
  if (!in)
    return file_error(diag, path, "open");
  enum vinci_status status = VINCI_OK;
  bool found = getline(&line, &room, in) > 0;
  char *header = found ? strdup(line) : NULL;
  found = header && cells_find(header, column_names, COLUMNS, places.of);
  table->ranged = found && cells_find(line, range_names, RANGE_COLUMNS, places.of_range);
  free(header);
  if (!found)
    status = diag_error_at(diag, VINCI_E_INTERNAL, (struct diag_position){.path = path},
                           "is not a table of operators");
  while (status == VINCI_OK && getline(&line, &room, in) > 0) {
    line[strcspn(line, "\r\n")] = '\0';
    size_t count = cells_split(line, cell, CELLS_MAX);
    bool whole = count > places.of[WEIGHT] && count > places.of[BOUND_WORD] && count <= CELLS_MAX &&
                 (!table->ranged || count > places.of_range[HIGH]);
    if (whole && !add_line(table, cell, &places))
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  if (status == VINCI_OK && !file_ended(in))
    status = file_error(diag, path, "read");
  free(line);
  fclose(in);
  return status;
}

/* ---- printing -------------------------------------------------------------------------------- */

static uint128 sum_of(const struct operator_line *line) { return (uint128)line->ps * line->weight; }

enum { TABLE_COLUMNS_MAX = 8 };

/* Columns of what the list was asked for. */
static unsigned table_columns(const struct table *table, bool titles,
                              struct sheet_column columns[TABLE_COLUMNS_MAX]) {
  unsigned count = 0;
  columns[count++] = (struct sheet_column){.title = "us"};
  if (table->ranged) {
    columns[count++] = (struct sheet_column){.title = "cheapest"};
    columns[count++] = (struct sheet_column){.title = "dearest"};
  }
  if (table->weighted)
    columns[count++] = (struct sheet_column){.title = "weight"};
  columns[count++] = (struct sheet_column){.title = "share"};
  columns[count++] = (struct sheet_column){.title = "GB/s", .rank = 2};
  columns[count++] = (struct sheet_column){.title = "bound", .left = true, .rank = 1};
  columns[count++] = (struct sheet_column){.title = "operator", .left = true, .fit = SHEET_BREAK};
  for (unsigned i = 0; !titles && i < count; i++)
    columns[i].title = NULL;
  return count;
}

static void print_range(const struct table *table, uint128 low_ps, uint128 high_ps,
                        struct sheet *sheet) {
  if (!table->ranged)
    return;
  sheet_text(sheet, decimal_ratio(low_ps, 1000000, 3).text);
  sheet_text(sheet, decimal_ratio(high_ps, 1000000, 3).text);
}

static void print_line(const struct table *table, const struct operator_line *line,
                       struct sheet *sheet) {
  const char *name = line->text[NAME], *lowered = line->text[LOWERED];
  bool named = strncmp(lowered, name, strlen(name)) != 0;
  sheet_text(sheet, line->ok ? decimal_ratio(line->ps, 1000000, 3).text : "-");
  if (line->ok)
    print_range(table, line->range_ps[LOW], line->range_ps[HIGH], sheet);
  for (unsigned i = 0; !line->ok && table->ranged && i < RANGE_COLUMNS; i++)
    sheet_cell(sheet, "-");
  if (table->weighted)
    sheet_text(sheet, line->text[WEIGHT]);
  if (line->ok) {
    sheet_cell(sheet, "%s %%", decimal_ratio(sum_of(line) * 100, table->ps, 1).text);
    sheet_text(sheet, decimal_rate(line->bytes, line->ps, GIGA, 1).text);
    sheet_text(sheet, line->text[BOUND_WORD]);
  } else {
    for (unsigned i = 0; i < 3; i++)
      sheet_cell(sheet, "-");
  }
  sheet_cell(sheet, "%s%s%s%s%s", named ? name : "", named && *lowered ? ": " : "",
             *lowered || named ? lowered : name, line->ok ? "" : "; ",
             line->ok ? "" : line->text[STATUS]);
}

static void print_sum(const struct table *table, struct sheet *sheet) {
  sheet_text(sheet, decimal_ratio(table->ps, 1000000, 3).text);
  print_range(table, table->range_ps[LOW], table->range_ps[HIGH], sheet);
  if (table->weighted)
    sheet_text(sheet, "");
  sheet_cell(sheet, "100.0 %%");
  sheet_text(sheet, decimal_ratio(table->bytes * BYTES_PER_PS_OF_GIGA, table->ps, 1).text);
  sheet_text(sheet, "");
  sheet_cell(sheet, "all%s", table->weighted ? ", each as often as its weight says" : "");
}

static int compare_lines(const void *left, const void *right) {
  const struct operator_line *a = *(const struct operator_line *const *)left;
  const struct operator_line *b = *(const struct operator_line *const *)right;
  if (sum_of(a) != sum_of(b))
    return sum_of(a) > sum_of(b) ? -1 : 1;
  return (a > b) - (a < b);
}

static enum vinci_status print_slowest(const struct table *table, struct vinci_diag *diag) {
  struct sheet_column columns[TABLE_COLUMNS_MAX];
  struct sheet sheet;
  const struct operator_line **order = calloc(table->count + 1, sizeof *order);
  uint128 sum = 0;
  size_t shown = table->count < SLOWEST ? table->count : SLOWEST;
  if (!order)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0; i < table->count; i++)
    order[i] = &table->lines[i];
  qsort(order, table->count, sizeof *order, compare_lines);
  while (shown > 0 && !order[shown - 1]->ok)
    shown--;
  for (size_t i = 0; i < shown; i++)
    sum += sum_of(order[i]);
  printf("\nThe %zu slowest, %s %% of the time\n", shown,
         decimal_ratio(sum * 100, table->ps, 1).text);
  sheet_begin(&sheet, stdout, columns, table_columns(table, false, columns), 0,
              "op_summary.csv of --output");
  while (sheet_pass(&sheet))
    for (size_t i = 0; i < shown; i++)
      print_line(table, order[i], &sheet);
  free(order);
  return VINCI_OK;
}

static void print_table(const struct table *table) {
  struct sheet_column columns[TABLE_COLUMNS_MAX];
  struct sheet sheet;
  sheet_begin(&sheet, stdout, columns, table_columns(table, true, columns), 0,
              "op_summary.csv of --output");
  while (sheet_pass(&sheet)) {
    for (size_t i = 0; table->count <= LINES_MAX && i < table->count; i++)
      print_line(table, &table->lines[i], &sheet);
    if (table->count > LINES_MAX)
      sheet_between(&sheet, "  (%zu operators: --output=DIR keeps the table)\n", table->count);
    print_sum(table, &sheet);
  }
}

enum vinci_status list_print_table(const char *folder, struct vinci_diag *diag) {
  struct table table = {0};
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%.*s/op_summary.csv", PATH_MAX - 32, folder);
  enum vinci_status status = read_table(path, &table, diag);
  if (status == VINCI_OK)
    print_table(&table);
  if (status == VINCI_OK && table.ps > 0 && table.count > SLOWEST)
    status = print_slowest(&table, diag);
  arena_free(&table.arena);
  return status;
}
