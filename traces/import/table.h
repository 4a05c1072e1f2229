/* SPDX-License-Identifier: Apache-2.0 */
/* A CSV table with a header, read whole. */
#ifndef VINCI_TRACES_IMPORT_TABLE_H
#define VINCI_TRACES_IMPORT_TABLE_H

#include "core/base/arena.h"
#include "traces/import/import.h"

struct table_cell {
  const char *text; /* without blanks around */
  uint32_t line, column;
};

struct table {
  struct arena arena;
  const char *path; /* of the caller */
  size_t columns, rows;
  struct table_cell *cells; /* by row and column; the header is not among them */
  struct table_cell *header;
};

/* The caller frees, also after an error. */
VINCI_MUST_CHECK enum vinci_status table_read(const char *path, struct table *out,
                                              struct vinci_diag *diag);
void table_free(struct table *table);
/* The column that has a name of the list "A|B"; -1: there is no such column. */
int table_column(const struct table *table, const char *names);
static inline const struct table_cell *table_at(const struct table *table, size_t row,
                                                size_t column) {
  return &table->cells[row * table->columns + column];
}
/* A number times 10^decimals; "", "NA" and "N/A" are unknown. */
VINCI_MUST_CHECK enum vinci_status table_number(const struct table *table, size_t row,
                                                size_t column, unsigned decimals,
                                                struct import_cell *out, struct vinci_diag *diag);

#endif
