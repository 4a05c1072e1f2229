/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the models of `vinci stream` print: a row of CSV for each run. People at a terminal, whose
 * lines are shorter than a row, get a table of the rows; of a run alone, a line for each column.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/stream/stream.h"
#include "core/base/sheet.h"

FILE *stream_rows_begin(struct stream_rows *rows, bool csv) {
  *rows = (struct stream_rows){.out = stdout};
  if (!csv && sheet_width(stdout) > 0)
    rows->kept = open_memstream(&rows->text, &rows->size);
  if (rows->kept)
    rows->out = rows->kept; /* short of memory: rows as they are */
  return rows->out;
}

/* Whether a name is one of several with blanks between. */
static bool is_among(const char *name, const char *names) {
  size_t length = strlen(name);
  for (const char *at = names; (at = strstr(at, name)) != NULL; at += length)
    if ((at == names || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
      return true;
  return false;
}

/* The cells of a line, which ends there; the line behind. */
static char *split(char *line, const char *cells[SHEET_COLUMNS_MAX], unsigned *count) {
  char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end;
  *end = '\0';
  *count = 0;
  for (char *rest = line; rest && *count < SHEET_COLUMNS_MAX;)
    cells[(*count)++] = strsep(&rest, ",");
  return next;
}

/* Rows are cut into cells by the first pass, so that the second finds them one after the other. */
static void print_table(const char *const *names, unsigned count, char *first,
                        const char *important) {
  struct sheet_column columns[SHEET_COLUMNS_MAX] = {0};
  struct sheet sheet;
  const char *end = first + strlen(first);
  for (unsigned i = 0; i < count; i++)
    columns[i] =
        (struct sheet_column){.title = names[i], .rank = is_among(names[i], important) ? 0 : 1};
  for (char *at = first; at < end; at++)
    if (*at == ',' || *at == '\n')
      *at = '\0';
  sheet_begin(&sheet, stdout, columns, count, 0, "CSV, by --csv");
  while (sheet_pass(&sheet))
    for (const char *cell = first; cell < end; cell += strlen(cell) + 1)
      sheet_text(&sheet, cell);
}

static void print_lines(const char *const *names, const char *const *cells, unsigned count) {
  static const struct sheet_column columns[] = {{.left = true}, {.left = true, .fit = SHEET_BREAK}};
  struct sheet sheet;
  SHEET_BEGIN(&sheet, stdout, columns, 0, NULL);
  while (sheet_pass(&sheet))
    for (unsigned i = 0; i < count; i++) {
      sheet_text(&sheet, names[i]);
      sheet_text(&sheet, cells[i]);
    }
}

void stream_rows_end(struct stream_rows *rows, const char *important) {
  const char *names[SHEET_COLUMNS_MAX], *cells[SHEET_COLUMNS_MAX];
  unsigned count, cell_count;
  if (!rows->kept)
    return;
  if (fclose(rows->kept) == 0 && rows->size > 0) {
    char *first = split(rows->text, names, &count), *second = strchr(first, '\n');
    if (second && second[1] == '\0') {
      (void)split(first, cells, &cell_count);
      print_lines(names, cells, cell_count < count ? cell_count : count);
    } else {
      print_table(names, count, first, important);
    }
  }
  free(rows->text);
}
