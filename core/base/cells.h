/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of CSV: how everything that vinci writes has them, and how tables are read back. */
#ifndef VINCI_CORE_BASE_CELLS_H
#define VINCI_CORE_BASE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Writes a text as one cell of one line. Ends of lines and other control characters become blanks;
 * a cell with a comma, a quote or such an end stands in quotes.
 *
 * Spreadsheets execute a cell that begins with = + - @ or a tab. Such a text, unless it is a number
 * or a lone sign, gets an apostrophe in front, which spreadsheets take for "this is text". So does
 * a text that begins with apostrophes and then such a character: cell_plain() always takes off
 * exactly what was put in front.
 */
void cell_write(FILE *out, const char *text);
/* The same, always in quotes. */
void cell_write_quoted(FILE *out, const char *text);
/* Whether a text has to stand in quotes, for libcsv as well, which leaves out blanks at the end. */
bool cell_wants_quotes(const char *text);
/* A text as it stands between quotes, or without them where it wants none. Nothing is put in front.
 */
void cell_put(FILE *out, const char *text);
/* A field ",key=text" of a trace, a graph or a job as text: to be read again, not for spreadsheets.
 */
void cell_write_field(FILE *out, const char *key, const char *text);
/* The text that cell_write() was given. */
const char *cell_plain(const char *cell);
/*
 * Splits a line without its end in place; the cells are as cell_plain() has them. The count of
 * cells: 0 when its quotes are wrong, more than `most` when there are more.
 */
size_t cells_split(char *line, char **cells, size_t most);
/* The places of columns by their names in a header, which is split in place; false when one of them
 * is missing. */
bool cells_find(char *header, const char *const *names, size_t count, size_t *places);

#endif
