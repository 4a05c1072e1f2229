/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of CSV. */
#include "core/base/cells.h"

#include <string.h>

#include "core/base/decimal.h"

/* A text that spreadsheets take for a formula. */
static bool is_formula(const char *text) {
  double number;
  return *text && strchr("=+-@\t", *text) && text[1] && !decimal_parse(text, &number) &&
         !(*text == '+' && text[1] != '-' && decimal_parse(text + 1, &number));
}

/* Behind the apostrophes that a text begins with. */
static const char *behind_marks(const char *text) { return text + strspn(text, "'"); }

static void write(FILE *out, const char *text, bool quoted) {
  fputs(quoted ? "\"" : "", out);
  if (is_formula(behind_marks(text)))
    fputc('\'', out);
  for (; *text; text++) {
    if (*text == '"')
      fputc('"', out);
    fputc((unsigned char)*text < ' ' && *text != '\t' ? ' ' : *text, out);
  }
  fputs(quoted ? "\"" : "", out);
}

void cell_write(FILE *out, const char *text) { write(out, text, strpbrk(text, ",\"\n\r") != NULL); }

void cell_write_quoted(FILE *out, const char *text) { write(out, text, true); }

bool cell_wants_quotes(const char *text) {
  size_t length = strlen(text);
  return (length > 0 && strchr(" \t", text[length - 1])) || strpbrk(text, ",\"\n\r");
}

void cell_put(FILE *out, const char *text) {
  for (; *text; text++) {
    if (*text == '"')
      fputc('"', out);
    fputc(*text, out);
  }
}

void cell_write_field(FILE *out, const char *key, const char *text) {
  bool quoted = cell_wants_quotes(text);
  fprintf(out, quoted ? ",\"%s=" : ",%s=", key);
  cell_put(out, text);
  fputs(quoted ? "\"" : "", out);
}

const char *cell_plain(const char *cell) {
  return *cell == '\'' && is_formula(behind_marks(cell)) ? cell + 1 : cell;
}

size_t cells_split(char *line, char **cells, size_t most) {
  size_t count = 0;
  for (char *at = line;; at++) {
    if (count == most)
      return most + 1;
    char *out = at;
    char **cell = &cells[count++];
    *cell = out;
    bool quoted = *at == '"';
    for (at += quoted; *at && (quoted || *at != ','); at++) {
      if (quoted && *at == '"' && *++at != '"') {
        quoted = false;
        break;
      }
      *out++ = *at;
    }
    char end = *at;
    *out = '\0';
    *cell += cell_plain(*cell) - *cell;
    if (quoted || (end && end != ','))
      return 0;
    if (!end)
      return count;
  }
}

bool cells_find(char *header, const char *const *names, size_t count, size_t *places) {
  enum { COLUMNS_MAX = 512 };
  char *cell[COLUMNS_MAX];
  header[strcspn(header, "\r\n")] = '\0';
  size_t columns = cells_split(header, cell, COLUMNS_MAX);
  columns = columns < COLUMNS_MAX ? columns : COLUMNS_MAX;
  for (size_t n = 0; n < count; n++) {
    places[n] = 0;
    while (places[n] < columns && strcmp(cell[places[n]], names[n]) != 0)
      places[n]++;
    if (places[n] == columns)
      return false;
  }
  return true;
}
