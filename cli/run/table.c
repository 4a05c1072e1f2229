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

enum { CELLS_MAX = 512, US_DIGITS = 6, LINES_MAX = 50, SLOWEST = 5 };
#define GIGA UINT64_C(1000000000)

enum column { NAME, LOWERED, STATUS, DURATION, GM_BYTES, BOUND_WORD, COLUMNS };
static const char *const column_names[] = {"Op Name",         "lowered",      "status",
                                           "sim_duration_us", "sim_gm_bytes", "sim_bound"};

struct operator_line {
  const char *text[COLUMNS];
  uint64_t ps, bytes;
  bool ok;
};

struct table {
  struct arena arena;
  struct operator_line *lines;
  size_t count, capacity;
  uint64_t ps, bytes; /* of those that are ok */
};

/* ---- reading --------------------------------------------------------------------------------- */

static bool add_line(struct table *table, char *const *cell, const size_t places[COLUMNS]) {
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
    if (!(line->text[c] = arena_strdup(&table->arena, cell[places[c]])))
      return false;
  line->ok = strcmp(line->text[STATUS], "ok") == 0;
  if (line->ok) {
    line->ps = decimal_read(line->text[DURATION], US_DIGITS);
    line->bytes = strtoull(line->text[GM_BYTES], NULL, 10);
    table->ps += line->ps;
    table->bytes += line->bytes;
  }
  return true;
}

static enum vinci_status read_table(const char *path, struct table *table,
                                    struct vinci_diag *diag) {
  size_t places[COLUMNS], room = 0;
  char *line = NULL, *cell[CELLS_MAX];
  FILE *in = fopen(path, "r");
  if (!in)
    return file_error(diag, path, "open");
  enum vinci_status status = VINCI_OK;
  bool found = getline(&line, &room, in) > 0 && cells_find(line, column_names, COLUMNS, places);
  if (!found)
    status = diag_error_at(diag, VINCI_E_INTERNAL, (struct diag_position){.path = path},
                           "is no table of operators");
  while (status == VINCI_OK && getline(&line, &room, in) > 0) {
    line[strcspn(line, "\r\n")] = '\0';
    size_t count = cells_split(line, cell, CELLS_MAX);
    bool whole = count > places[GM_BYTES] && count > places[BOUND_WORD] && count <= CELLS_MAX;
    if (whole && !add_line(table, cell, places))
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  free(line);
  fclose(in);
  return status;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_line(const struct table *table, const struct operator_line *line) {
  const char *name = line->text[NAME], *lowered = line->text[LOWERED];
  bool named = strncmp(lowered, name, strlen(name)) != 0;
  if (line->ok)
    printf("%12s %7s %% %9s  %-8s", decimal_ratio(line->ps, 1000000, 3).text,
           decimal_ratio((uint128)line->ps * 100, table->ps, 1).text,
           decimal_rate(line->bytes, line->ps, GIGA, 1).text, line->text[BOUND_WORD]);
  else
    printf("%12s %9s %9s  %-8s", "-", "-", "-", "-");
  printf("  %s%s%s%s%s\n", named ? name : "", named && *lowered ? ": " : "",
         *lowered || named ? lowered : name, line->ok ? "" : "; ",
         line->ok ? "" : line->text[STATUS]);
}

static int compare_lines(const void *left, const void *right) {
  const struct operator_line *a = *(const struct operator_line *const *)left;
  const struct operator_line *b = *(const struct operator_line *const *)right;
  if (a->ps != b->ps)
    return a->ps > b->ps ? -1 : 1;
  return (a > b) - (a < b);
}

static enum vinci_status print_slowest(const struct table *table, struct vinci_diag *diag) {
  const struct operator_line **order = calloc(table->count + 1, sizeof *order);
  uint64_t sum = 0;
  size_t shown = table->count < SLOWEST ? table->count : SLOWEST;
  if (!order)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0; i < table->count; i++)
    order[i] = &table->lines[i];
  qsort(order, table->count, sizeof *order, compare_lines);
  while (shown > 0 && !order[shown - 1]->ok)
    shown--;
  for (size_t i = 0; i < shown; i++)
    sum += order[i]->ps;
  printf("\nThe %zu slowest, %s %% of the time\n", shown,
         decimal_ratio((uint128)sum * 100, table->ps, 1).text);
  for (size_t i = 0; i < shown; i++)
    print_line(table, order[i]);
  free(order);
  return VINCI_OK;
}

enum vinci_status list_print_table(const char *folder, struct vinci_diag *diag) {
  struct table table = {0};
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%.*s/op_summary.csv", PATH_MAX - 32, folder);
  enum vinci_status status = read_table(path, &table, diag);
  if (status == VINCI_OK) {
    printf("%12s %9s %9s  %-8s  %s\n", "us", "share", "GB/s", "bound", "operator");
    for (size_t i = 0; table.count <= LINES_MAX && i < table.count; i++)
      print_line(&table, &table.lines[i]);
    if (table.count > LINES_MAX)
      printf("  (%zu operators: --output=DIR keeps the table)\n", table.count);
    printf("%12s %7s %% %9s  %-8s  all\n", decimal_ratio(table.ps, 1000000, 3).text, "100.0",
           decimal_rate(table.bytes, table.ps, GIGA, 1).text, "");
  }
  if (status == VINCI_OK && table.ps > 0 && table.count > SLOWEST)
    status = print_slowest(&table, diag);
  arena_free(&table.arena);
  return status;
}
