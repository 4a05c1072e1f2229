/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people, as wide as the terminal behind a stream: lines that break between words, and
 * tables that leave out columns, or shorten names, and say which. Anything that is not a terminal
 * (a pipe, a file, memory) gets lines and tables whole, so that its bytes depend on neither host
 * nor environment.
 *
 *     static const struct sheet_column columns[] = {
 *         {.title = "name", .left = true, .fit = SHEET_SHORTEN},
 *         {.title = "us"},
 *         {.title = "bytes", .rank = 1},
 *     };
 *     struct sheet sheet;
 *     SHEET_BEGIN(&sheet, out, columns, 2, "nodes.csv");
 *     while (sheet_pass(&sheet))
 *       for (...) { sheet_cell(&sheet, "%s", name); sheet_cell(...); sheet_cell(...); }
 *
 * The body runs twice: the first pass measures, the second prints. Nothing is kept in memory.
 */
#ifndef VINCI_CORE_BASE_SHEET_H
#define VINCI_CORE_BASE_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal behind a stream: COLUMNS of the environment, or what the terminal says,
 * and at least 80. 0: not a terminal. */
unsigned sheet_width(FILE *out);
/* Whether what stands out may be coloured: on a terminal, unless NO_COLOR is set or TERM is "dumb".
 */
bool sheet_colour(FILE *out);

/* A line, "\n" included. Words that do not fit go below, under the first word behind the label. */
void sheet_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The words of a paragraph, which breaks at 96 columns at most, in a pipe too: the first stands at
 * `column`, lines below begin at `indent`. The last line is not ended. */
enum { SHEET_TEXT_WIDTH = 96 };
void sheet_words(FILE *out, const char *text, unsigned column, unsigned indent);

/* Lines that come in pieces: they go to what sheet_lines_begin() returns, which is `out`
 * itself where nothing breaks. */
struct sheet_lines {
  FILE *out, *kept;
  char *text;
  size_t size;
};
FILE *sheet_lines_begin(struct sheet_lines *lines, FILE *out);
void sheet_lines_end(struct sheet_lines *lines);

enum sheet_fit {
  SHEET_WHOLE,
  SHEET_SHORTEN, /* names: the middle becomes "..." */
  SHEET_BREAK,   /* text that goes on below, where the column is the last one shown */
};

struct sheet_column {
  const char *title;
  bool left; /* aligned to the left, as words are; numbers to the right */
  enum sheet_fit fit;
  unsigned rank; /* 0 stays; of others the highest is left out first */
};

enum { SHEET_COLUMNS_MAX = 32, SHEET_CELL_BYTES = 4096 };

struct sheet {
  FILE *out;
  const struct sheet_column *columns;
  const char *file; /* that has everything; NULL: none has */
  unsigned count, indent, terminal;
  unsigned pass, next; /* of the cell */
  unsigned width[SHEET_COLUMNS_MAX];
  bool hidden[SHEET_COLUMNS_MAX];
  bool shortened;
  unsigned at, blanks; /* columns of the line that are printed, and blanks that wait for a text */
};

/* `columns` stay where they are. A table whose titles are all NULL has no head. */
void sheet_begin(struct sheet *sheet, FILE *out, const struct sheet_column *columns, unsigned count,
                 unsigned indent, const char *file);
#define SHEET_BEGIN(sheet, out, columns, indent, file)                                             \
  sheet_begin(sheet, out, columns, sizeof(columns) / sizeof *(columns), indent, file)
bool sheet_pass(struct sheet *sheet);
/* The next cell of the row; behind the last one a line ends. */
void sheet_cell(struct sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a text that needs no format. */
void sheet_text(struct sheet *sheet, const char *text);
/* A line between rows, which is not made of cells. */
void sheet_between(struct sheet *sheet, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
