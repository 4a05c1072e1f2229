/* SPDX-License-Identifier: Apache-2.0 */
/* Reporting of errors into a caller-owned diagnostic. */
#include "core/base/diag.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/sheet.h"

static void copy_text(char *to, size_t size, const char *from) {
  size_t length = strlen(from);
  if (length >= size)
    length = size - 1;
  memcpy(to, from, length);
  to[length] = '\0';
}

static void report(struct vinci_diag *diag, enum vinci_status status, struct diag_position position,
                   const char *format, va_list arguments) {
  if (!diag || diag->status != VINCI_OK)
    return;
  diag->status = status;
  diag->line = position.line;
  diag->column = position.column;
  copy_text(diag->path, sizeof diag->path, position.path ? position.path : "");
  vsnprintf(diag->text, sizeof diag->text, format, arguments);
  diag->hint[0] = '\0';
  diag->excerpt[0] = '\0';
  diag->excerpt_column = 0;
}

enum vinci_status diag_error(struct vinci_diag *diag, enum vinci_status status, const char *format,
                             ...) {
  va_list arguments;
  va_start(arguments, format);
  report(diag, status, (struct diag_position){0}, format, arguments);
  va_end(arguments);
  return status;
}

enum vinci_status diag_error_at(struct vinci_diag *diag, enum vinci_status status,
                                struct diag_position position, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report(diag, status, position, format, arguments);
  va_end(arguments);
  return status;
}

enum vinci_status diag_status_of(int error) { return error == ENOMEM ? VINCI_E_NOMEM : VINCI_E_IO; }

void diag_hint(struct vinci_diag *diag, const char *format, ...) {
  if (!diag || diag->status == VINCI_OK || diag->hint[0] != '\0')
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(diag->hint, sizeof diag->hint, format, arguments);
  va_end(arguments);
}

void diag_excerpt(struct vinci_diag *diag, const char *line, size_t length) {
  enum { CONTEXT_BEFORE = 60 };
  if (!diag || diag->status == VINCI_OK || diag->excerpt[0] != '\0')
    return;
  size_t column = diag->column > 0 ? (size_t)diag->column - 1 : 0;
  size_t start = column > CONTEXT_BEFORE ? column - CONTEXT_BEFORE : 0;
  if (start > length)
    start = length;
  size_t count = length - start;
  if (count > sizeof diag->excerpt - 1)
    count = sizeof diag->excerpt - 1;
  for (size_t i = 0; i < count; i++) {
    unsigned char c = (unsigned char)line[start + i];
    diag->excerpt[i] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
  }
  diag->excerpt[count] = '\0';
  if (diag->column > 0 && column - start <= count)
    diag->excerpt_column = (unsigned)(column - start) + 1;
}

void diag_warn(const struct vinci_diag *diag, const char *text) {
  if (diag && diag->warn)
    diag->warn(diag->warn_context, text);
}

/* Lines of a trace stay as they are, or the mark below would point elsewhere. */
void vinci_diag_print(const struct vinci_diag *diag, FILE *screen) {
  struct sheet_lines lines;
  FILE *out = sheet_lines_begin(&lines, screen);
  bool colour = sheet_colour(screen);
  if (diag->path[0] != '\0') {
    fputs(diag->path, out);
    if (diag->line > 0)
      fprintf(out, ":%lu", diag->line);
    if (diag->line > 0 && diag->column > 0)
      fprintf(out, ":%lu", diag->column);
    fputs(": ", out);
  }
  fprintf(out, "%serror:%s %s\n", colour ? "\033[1;31m" : "", colour ? "\033[0m" : "", diag->text);
  sheet_lines_end(&lines);
  if (diag->excerpt[0] != '\0') {
    fprintf(screen, "  %s\n", diag->excerpt);
    if (diag->excerpt_column > 0)
      fprintf(screen, "  %*s\n", (int)diag->excerpt_column, "^");
  }
  if (diag->hint[0] != '\0')
    sheet_line(screen, "hint: %s\n", diag->hint);
}

/* Levenshtein distance, cut off at `limit` + 1. Names are short: one row on the stack. */
static size_t edit_distance(const char *a, const char *b, size_t limit) {
  enum { LENGTH_MAX = 63 };
  size_t a_length = strlen(a), b_length = strlen(b);
  if (a_length > LENGTH_MAX || b_length > LENGTH_MAX)
    return limit + 1;
  size_t row[LENGTH_MAX + 1];
  for (size_t j = 0; j <= b_length; j++)
    row[j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      size_t shorter = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
      diagonal = row[j];
      row[j] = substitute < shorter ? substitute : shorter;
    }
  }
  return row[b_length];
}

const char *diag_nearest(const char *name, size_t count,
                         const char *(*name_at)(const void *context, size_t index),
                         const void *context) {
  size_t limit = strlen(name) / 3 + 1;
  bool letter = strlen(name) == 1; /* each other letter would be one edit away */
  const char *best = NULL;
  for (size_t i = 0; i < count; i++) {
    const char *candidate = name_at(context, i);
    if (!candidate || (letter && strcasecmp(name, candidate) != 0))
      continue;
    size_t distance = edit_distance(name, candidate, limit);
    if (distance <= limit) {
      best = candidate;
      if (distance == 0)
        break;
      limit = distance - 1;
    }
  }
  return best;
}

void vinci_bug_at(const char *file, int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: vinci bug: ", file, line);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  abort();
}
