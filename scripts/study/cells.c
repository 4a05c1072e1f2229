/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of CSV. */
#include "scripts/study/cells.h"

#include <string.h>

void cell_write(FILE *out, const char *text) {
  if (!strpbrk(text, ",\"\n\r")) {
    fputs(text, out);
    return;
  }
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"')
      fputc('"', out);
    fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
  }
  fputc('"', out);
}

size_t cells_split(char *line, char **cells, size_t most) {
  size_t count = 0;
  for (char *at = line;; at++) {
    if (count == most)
      return most + 1;
    char *out = at;
    cells[count++] = out;
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
