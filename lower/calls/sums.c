/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of profilers that have times by name, and no shapes: frequencies of kinds of operators. */
#include <stdlib.h>
#include <string.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "lower/calls/calls.h"

enum { SUMS_BYTES_MAX = 256 << 20, SUMS_CELLS_MAX = 128, SUMS_COLUMNS = 4 };
enum sums_column { SUMS_NAME, SUMS_TIME, SUMS_CORE, SUMS_COUNT };

/* Columns as msprof and the profiler of PyTorch call them; NULL: the table has none. */
static const char *const tables[][SUMS_COLUMNS] = {
    {"OP Type", "Total Time(us)", "Core Type", "Count"},   /* op_statistic */
    {"kernel_name", "task_time(us)", "kernel_type", NULL}, /* task_time */
    {"Name", "Device Self Duration(us)", NULL, NULL},      /* operator_details */
};

struct sums {
  const char *path;
  struct vinci_diag *diag;
  struct call_list *list;
  size_t place[SUMS_COLUMNS];
  size_t most; /* the last of these places */
  const char *const *names;
};

/* Which table a header is that of; false: of none, or its columns lie too far behind. */
static bool find_table(const char *header, struct sums *sums) {
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    char *copy = strdup(header);
    size_t count = 0;
    while (count < SUMS_COLUMNS && tables[i][count])
      count++;
    bool found = copy && !strstr(header, "Input Data Types") &&
                 cells_find(copy, tables[i], count, sums->place);
    free(copy);
    if (!found)
      continue;
    sums->names = tables[i];
    for (size_t k = 0; k < count; k++)
      sums->most = sums->place[k] > sums->most ? sums->place[k] : sums->most;
    return sums->most < SUMS_CELLS_MAX;
  }
  return false;
}

static const char *cell_at(const struct sums *sums, char *const *cell, enum sums_column column) {
  return sums->names[column] ? cell[sums->place[column]] : "";
}

static enum vinci_status take_row(struct sums *sums, char *const *cell, unsigned long line) {
  struct call_list *list = sums->list;
  struct call_row *row = &list->rows[list->count];
  const char *name = cell_at(sums, cell, SUMS_NAME), *order;
  struct lower_call call = {0};
  uint64_t total;
  struct diag_position at = {.path = sums->path, .line = line};
  *row = calls_empty_row();
  row->line = line;
  if (!calls_time(cell_at(sums, cell, SUMS_TIME), &total))
    return diag_error_at(sums->diag, VINCI_E_INPUT, at, "'%.40s' is not a time in microseconds",
                         cell_at(sums, cell, SUMS_TIME));
  if (sums->names[SUMS_COUNT] && (!decimal_whole(cell_at(sums, cell, SUMS_COUNT), &row->weight) ||
                                  row->weight == 0 || row->weight > UINT32_MAX))
    return diag_error_at(sums->diag, VINCI_E_INPUT, at, "'%.40s' is not a count of launches",
                         cell_at(sums, cell, SUMS_COUNT));
  bool on_device = sums->names[SUMS_CORE] ? strcmp(name, "N/A") != 0 : total > 0;
  if (!on_device || total == 0)
    return VINCI_OK;
  row->measured_ps = total / row->weight;
  bool known =
      !lower_find_vendor(name) && calls_take_name(name, &call, &order) && calls_operator(call.type);
  row->cell[CALL_TYPE] = arena_strdup(&list->arena, known ? call.type : name);
  row->cell[CALL_CORE] = arena_strdup(&list->arena, cell_at(sums, cell, SUMS_CORE));
  if (!row->cell[CALL_TYPE] || !row->cell[CALL_CORE])
    return diag_error(sums->diag, VINCI_E_NOMEM, "out of memory reading the list");
  list->count++;
  return VINCI_OK;
}

static enum vinci_status take_rows(struct sums *sums, char *rest) {
  enum vinci_status status = VINCI_OK;
  unsigned long line = 1;
  size_t lines = 1;
  for (const char *at = rest; (at = strchr(at, '\n')); at++)
    lines++;
  sums->list->rows = ARENA_ARRAY(&sums->list->arena, struct call_row, lines + 1);
  if (!sums->list->rows)
    return diag_error(sums->diag, VINCI_E_NOMEM, "out of memory reading the list");
  while (rest && *rest && status == VINCI_OK) {
    char *cell[SUMS_CELLS_MAX], *end = strchr(rest, '\n'), *own = rest;
    rest = end ? end + 1 : NULL;
    if (end)
      *end = '\0';
    own[strcspn(own, "\r")] = '\0';
    line++;
    if (*own && cells_split(own, cell, SUMS_CELLS_MAX) > sums->most)
      status = take_row(sums, cell, line);
    else if (*own)
      status = diag_error_at(sums->diag, VINCI_E_INPUT,
                             (struct diag_position){.path = sums->path, .line = line},
                             "the row has fewer cells than the header, or open quotes");
  }
  return status;
}

enum vinci_status calls_read_sums(const char *path, struct call_list *out, bool *are_sums,
                                  struct vinci_diag *diag) {
  struct sums sums = {.path = path, .diag = diag, .list = out};
  struct vinci_diag own = {0};
  size_t length;
  *are_sums = false;
  char *text = file_read_text(path, SUMS_BYTES_MAX, &length, &own);
  char *end = text ? strchr(text, '\n') : NULL;
  if (!end) { /* a folder, or what others tell of */
    free(text);
    return VINCI_OK;
  }
  *end = '\0';
  text[strcspn(text, "\r")] = '\0';
  *are_sums = find_table(text, &sums);
  enum vinci_status status = VINCI_OK;
  if (*are_sums) {
    *out = (struct call_list){.has[CALL_TYPE] = true};
    status = take_rows(&sums, end + 1);
    if (status != VINCI_OK)
      arena_free(&out->arena);
  }
  free(text);
  return status;
}
