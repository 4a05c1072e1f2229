/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of CSV: the tables that gate and sweep write, and read back. */
#ifndef VINCI_SCRIPTS_STUDY_CELLS_H
#define VINCI_SCRIPTS_STUDY_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes a text as one cell; control characters become blanks. */
void cell_write(FILE *out, const char *text);
/*
 * Splits a line without its end in place. The count of cells: 0 when its quotes are wrong, more
 * than `most` when there are more.
 */
size_t cells_split(char *line, char **cells, size_t most);
/* The places of columns by their names in a header, which is split in place; false when one of them
 * is missing. */
bool cells_find(char *header, const char *const *names, size_t count, size_t *places);

#endif
