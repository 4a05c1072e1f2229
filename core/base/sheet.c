/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and tables for people, as wide as the terminal. */
#include "core/base/sheet.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
  NARROWEST = 80,      /* a terminal is taken to have as many columns */
  GAP = 2,             /* between columns */
  SHORTEST_NAME = 20,  /* that a name is shortened to, and */
  NARROWEST_TEXT = 28, /* that a text breaks in, before columns are left out */
  LABEL_END = 24,      /* a label ends before this column */
  BELOW = 6,           /* blanks before a text below its row */
};

static bool is_terminal(FILE *out) {
  int file = fileno(out);
  return file >= 0 && isatty(file);
}

unsigned sheet_width(FILE *out) {
  struct winsize size = {0};
  if (!is_terminal(out))
    return 0;
  const char *given = getenv("COLUMNS");
  unsigned long width = given ? strtoul(given, NULL, 10) : 0;
  if (width == 0 && ioctl(fileno(out), TIOCGWINSZ, &size) == 0)
    width = size.ws_col;
  return width < NARROWEST ? NARROWEST : width > UINT16_MAX ? UINT16_MAX : (unsigned)width;
}

bool sheet_colour(FILE *out) {
  const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
  return !(none && *none) && term && strcmp(term, "dumb") != 0 && is_terminal(out);
}

/* Characters of a text in UTF-8. */
static unsigned length_of(const char *text, size_t bytes) {
  unsigned length = 0;
  for (size_t i = 0; i < bytes; i++)
    length += ((unsigned char)text[i] & 0xc0) != 0x80;
  return length;
}

/* Bytes of the first characters of a text. */
static size_t bytes_of(const char *text, size_t most, unsigned characters) {
  size_t bytes = 0;
  while (bytes < most && (characters > 0 || ((unsigned char)text[bytes] & 0xc0) == 0x80))
    characters -= ((unsigned char)text[bytes++] & 0xc0) != 0x80;
  return bytes;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Where the lines below begin: under the text behind a label, "Duration  2.4 us", else two further.
 */
static unsigned hanging_indent(const char *line, size_t bytes) {
  size_t begin = strspn(line, " ");
  for (size_t i = begin; i + GAP < bytes && i < LABEL_END; i++)
    if (line[i] == ' ' && line[i + 1] == ' ')
      return (unsigned)(i + strspn(line + i, " "));
  return (unsigned)begin + (begin >= BELOW ? 0 : GAP);
}

/* Of the next word, such as "4.7 %". */
static size_t word_bytes(const char *text, const char *end) {
  size_t bytes = 0;
  while (text + bytes < end &&
         (text[bytes] != ' ' || (text + bytes + 1 < end && text[bytes + 1] == '%')))
    bytes++;
  return bytes;
}

static void write_blanks(FILE *out, size_t count) {
  static const char blanks[] = "                                ";
  for (size_t bytes; count > 0; count -= bytes) {
    bytes = count < sizeof blanks - 1 ? count : sizeof blanks - 1;
    fwrite(blanks, 1, bytes, out);
  }
}

static void go_below(FILE *out, unsigned indent, unsigned *column) {
  fputc('\n', out);
  write_blanks(out, indent);
  *column = indent;
}

/* Of a text without blanks: what goes into a line, up to a comma of that part. */
static size_t part_of_word(const char *text, size_t bytes, unsigned room) {
  size_t part = bytes_of(text, bytes, room);
  for (size_t i = part; part < bytes && i > 0; i--)
    if (text[i - 1] == ',')
      return i;
  return part;
}

/* A word that is longer than any line goes on in the next ones. */
static void put_word(FILE *out, const char *text, size_t bytes, unsigned indent, unsigned width,
                     unsigned *column) {
  const char *end = text + bytes;
  for (bool first = true; text < end; first = false) {
    if ((!first || *column >= width) && width > indent)
      go_below(out, indent, column);
    unsigned room = width > indent ? width - *column : UINT16_MAX;
    size_t part = part_of_word(text, (size_t)(end - text), room);
    fwrite(text, 1, part, out);
    *column += length_of(text, part);
    text += part;
  }
}

/* Words from `column` on, below from `indent` on. The line is not ended. */
static void put_words(FILE *out, const char *text, size_t bytes, unsigned column, unsigned indent,
                      unsigned width) {
  const char *end = text + bytes;
  for (bool first = true; text < end; first = false) {
    size_t blanks = 0;
    while (text + blanks < end && text[blanks] == ' ')
      blanks++;
    size_t word = word_bytes(text + blanks, end);
    unsigned length = length_of(text + blanks, word);
    if (!first && column > indent && column + blanks + length > width && word > 0) {
      go_below(out, indent, &column);
    } else {
      write_blanks(out, blanks);
      column += (unsigned)blanks;
    }
    put_word(out, text + blanks, word, indent, width, &column);
    text += blanks + word;
  }
}

static void put_lines(FILE *out, const char *text, unsigned width) {
  while (*text) {
    size_t bytes = strcspn(text, "\n");
    if (width == 0 || length_of(text, bytes) <= width)
      fwrite(text, 1, bytes, out);
    else
      put_words(out, text, bytes, 0, hanging_indent(text, bytes), width);
    text += bytes;
    if (*text == '\n') {
      fputc('\n', out);
      text++;
    }
  }
}

void sheet_line(FILE *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  unsigned width = sheet_width(out);
  if (width == 0) {
    vfprintf(out, format, arguments);
  } else {
    char line[SHEET_CELL_BYTES];
    vsnprintf(line, sizeof line, format, arguments);
    put_lines(out, line, width);
  }
  va_end(arguments);
}

void sheet_words(FILE *out, const char *text, unsigned column, unsigned indent) {
  unsigned width = sheet_width(out);
  put_words(out, text, strlen(text), column, indent,
            width > 0 && width < SHEET_TEXT_WIDTH ? width : SHEET_TEXT_WIDTH);
}

FILE *sheet_lines_begin(struct sheet_lines *lines, FILE *out) {
  *lines = (struct sheet_lines){.out = out};
  if (sheet_width(out) > 0)
    lines->kept = open_memstream(&lines->text, &lines->size);
  return lines->kept ? lines->kept : out; /* short of memory: lines as they are */
}

void sheet_lines_end(struct sheet_lines *lines) {
  if (!lines->kept)
    return;
  if (fclose(lines->kept) == 0)
    put_lines(lines->out, lines->text, sheet_width(lines->out));
  free(lines->text);
}

/* ---- tables --------------------------------------------------------------------------------- */

void sheet_begin(struct sheet *sheet, FILE *out, const struct sheet_column *columns, unsigned count,
                 unsigned indent, const char *file) {
  *sheet = (struct sheet){.out = out,
                          .columns = columns,
                          .file = file,
                          .count = count,
                          .indent = indent,
                          .terminal = sheet_width(out)};
  for (unsigned i = 0; i < count; i++)
    sheet->width[i] = columns[i].title ? length_of(columns[i].title, strlen(columns[i].title)) : 0;
}

/* Whether a column is a text that goes on below: the last one that is shown. */
static bool breaks(const struct sheet *sheet, unsigned column) {
  for (unsigned i = column + 1; i < sheet->count; i++)
    if (!sheet->hidden[i])
      return false;
  return sheet->columns[column].fit == SHEET_BREAK;
}

/* Of a column that may be narrower. */
static unsigned least_width(const struct sheet *sheet, unsigned column) {
  bool shortens = sheet->columns[column].fit == SHEET_SHORTEN;
  unsigned least = shortens ? SHORTEST_NAME : NARROWEST_TEXT, whole = sheet->width[column];
  return whole < least || (!shortens && !breaks(sheet, column)) ? whole : least;
}

static unsigned total_width(const struct sheet *sheet) {
  unsigned total = sheet->indent, gap = 0;
  for (unsigned i = 0; i < sheet->count; i++) {
    if (sheet->hidden[i])
      continue;
    total += gap + least_width(sheet, i);
    gap = GAP;
  }
  return total;
}

/* The column to leave out next; `count` where all have to stay. */
static unsigned least_important(const struct sheet *sheet) {
  unsigned found = sheet->count;
  for (unsigned i = 0; i < sheet->count; i++)
    if (!sheet->hidden[i] && sheet->columns[i].rank > 0 &&
        (found == sheet->count || sheet->columns[i].rank >= sheet->columns[found].rank))
      found = i;
  return found;
}

/* Leaves columns out, the least important first, then gives names and texts what is left. A text
 * that has no place even then goes below its row. */
static void fit_columns(struct sheet *sheet) {
  unsigned column;
  while (total_width(sheet) > sheet->terminal && (column = least_important(sheet)) < sheet->count)
    sheet->hidden[column] = true;
  unsigned total = total_width(sheet);
  unsigned spare = total < sheet->terminal ? sheet->terminal - total : 0;
  for (unsigned i = 0; i < sheet->count; i++) {
    if (sheet->hidden[i] || (sheet->columns[i].fit != SHEET_SHORTEN && !breaks(sheet, i)))
      continue;
    unsigned least = least_width(sheet, i), wanted = sheet->width[i] - least;
    unsigned more = wanted < spare ? wanted : spare;
    sheet->width[i] = breaks(sheet, i) && total > sheet->terminal ? 0 : least + more;
    spare -= more;
  }
}

static void put_blanks(struct sheet *sheet) {
  write_blanks(sheet->out, sheet->blanks);
  sheet->at += sheet->blanks;
  sheet->blanks = 0;
}

/* `length`: characters of the text. */
static void put_text(struct sheet *sheet, const char *text, size_t bytes, unsigned length) {
  if (bytes == 0)
    return;
  put_blanks(sheet);
  fwrite(text, 1, bytes, sheet->out);
  sheet->at += length;
}

static const char dots[] = "...";

static void put_short(struct sheet *sheet, const char *text, unsigned length, unsigned width) {
  unsigned kept = width - (unsigned)strlen(dots), head = kept / 2, tail = kept - head;
  put_text(sheet, text, bytes_of(text, strlen(text), head), head);
  put_text(sheet, dots, strlen(dots), (unsigned)strlen(dots));
  const char *end = text + bytes_of(text, strlen(text), length - tail);
  put_text(sheet, end, strlen(end), tail);
  sheet->shortened = true;
}

/* Text of the last column: in its place, or below the row where there is no place. */
static void put_broken(struct sheet *sheet, const char *text, unsigned width) {
  unsigned indent = sheet->at + sheet->blanks;
  if (!*text)
    return;
  if (width == 0) {
    go_below(sheet->out, sheet->indent + BELOW, &indent);
  } else {
    put_blanks(sheet);
  }
  put_words(sheet->out, text, strlen(text), indent, indent, sheet->terminal);
}

static void end_row(struct sheet *sheet) {
  fputc('\n', sheet->out);
  sheet->next = sheet->at = sheet->blanks = 0;
}

/* Nothing stands behind a last column, so that its width counts on a terminal alone. */
static bool has_free_width(const struct sheet *sheet) {
  return sheet->terminal == 0 && sheet->next + 1 == sheet->count &&
         sheet->columns[sheet->next].left;
}

static void put_cell(struct sheet *sheet, const char *text) {
  const struct sheet_column *column = &sheet->columns[sheet->next];
  size_t bytes = strlen(text);
  unsigned width = sheet->width[sheet->next];
  unsigned length = has_free_width(sheet) ? width : length_of(text, bytes);
  if (sheet->next == 0)
    sheet->blanks = sheet->indent;
  if (!sheet->hidden[sheet->next]) {
    bool first = sheet->at == 0 && sheet->blanks == sheet->indent;
    unsigned fill = length < width ? width - length : 0;
    sheet->blanks += (first ? 0 : GAP) + (column->left ? 0 : fill);
    if (sheet->terminal > 0 && breaks(sheet, sheet->next) && length > width)
      put_broken(sheet, text, width);
    else if (sheet->terminal > 0 && column->fit == SHEET_SHORTEN && length > width)
      put_short(sheet, text, length, width);
    else
      put_text(sheet, text, bytes, length);
    sheet->blanks += column->left ? fill : 0;
  }
  if (++sheet->next == sheet->count)
    end_row(sheet);
}

static void take_cell(struct sheet *sheet, const char *text) {
  if (sheet->pass == 2) {
    put_cell(sheet, text);
    return;
  }
  unsigned length = length_of(text, strlen(text)), *width = &sheet->width[sheet->next];
  *width = length > *width ? length : *width;
  sheet->next = (sheet->next + 1) % sheet->count;
}

void sheet_cell(struct sheet *sheet, const char *format, ...) {
  char text[SHEET_CELL_BYTES];
  if (sheet->pass < 2 && has_free_width(sheet)) {
    sheet->next = 0;
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) >= (int)sizeof text)
    memcpy(text + sizeof text - sizeof dots, dots, sizeof dots);
  va_end(arguments);
  take_cell(sheet, text);
}

void sheet_text(struct sheet *sheet, const char *text) {
  if (strlen(text) >= SHEET_CELL_BYTES)
    sheet_cell(sheet, "%s", text); /* which shortens long texts */
  else
    take_cell(sheet, text);
}

void sheet_between(struct sheet *sheet, const char *format, ...) {
  char line[SHEET_CELL_BYTES];
  va_list arguments;
  if (sheet->pass < 2)
    return;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  put_lines(sheet->out, line, sheet->terminal);
}

static void put_head(struct sheet *sheet) {
  bool any = false, colour = sheet_colour(sheet->out);
  for (unsigned i = 0; i < sheet->count; i++)
    any |= sheet->columns[i].title != NULL;
  if (!any)
    return;
  fputs(colour ? "\033[1m" : "", sheet->out);
  for (unsigned i = 0; i < sheet->count; i++) {
    bool below = breaks(sheet, i) && sheet->width[i] == 0;
    put_cell(sheet, sheet->columns[i].title && !below ? sheet->columns[i].title : "");
  }
  fputs(colour ? "\033[0m" : "", sheet->out);
}

/* What is not shown, and who shows that. */
static void put_note(struct sheet *sheet) {
  struct sheet_lines lines;
  bool said = false;
  FILE *out = sheet_lines_begin(&lines, sheet->out);
  for (unsigned i = 0; i < sheet->count; i++) {
    const char *title = sheet->columns[i].title;
    if (!sheet->hidden[i] || !title || !*title)
      continue;
    title += strspn(title, " ");
    if (said)
      fprintf(out, ", %s", title);
    else
      fprintf(out, "%*snot shown in %u columns: %s", (int)sheet->indent, "", sheet->terminal,
              title);
    said = true;
  }
  if (sheet->shortened)
    fprintf(out, "%*snames are shortened", said ? 0 : (int)sheet->indent, said ? "; " : "");
  if (said || sheet->shortened)
    fprintf(out, " (%s%s)\n", sheet->file ? "whole in " : "a wider terminal or a pipe shows all",
            sheet->file ? sheet->file : "");
  sheet_lines_end(&lines);
}

bool sheet_pass(struct sheet *sheet) {
  sheet->pass++;
  if (sheet->pass == 2) {
    if (sheet->terminal > 0)
      fit_columns(sheet);
    put_head(sheet);
  }
  if (sheet->pass == 3)
    put_note(sheet);
  return sheet->pass < 3;
}
