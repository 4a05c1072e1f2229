/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a gate: what is known of a point, now or in the baseline. */
#ifndef VINCI_STUDIES_GATE_ROWS_H
#define VINCI_STUDIES_GATE_ROWS_H

#include "core/base/arena.h"
#include "core/vinci.h"

struct gate_row {
  const char *point;
  const char *metric;
  const char *value; /* a whole number, or the text of a digest or failure */
  const char *unit;
  const char *kind; /* "metric", "detail" (only to explain), "digest", "failure" */
};

struct gate_rows {
  struct arena arena;
  struct gate_row *items; /* sorted by point, then metric */
  size_t count, capacity;
};

bool gate_rows_add(struct gate_rows *rows, const char *point, const char *metric, const char *value,
                   const char *unit, const char *kind);
void gate_rows_sort(struct gate_rows *rows);
void gate_rows_free(struct gate_rows *rows);
/* NULL when there is none. */
const char *gate_rows_text(const struct gate_rows *rows, const char *point, const char *metric);
/* 0 when there is none: counters of zero are left out. */
uint64_t gate_rows_value(const struct gate_rows *rows, const char *point, const char *metric);
/* The first row of a point, and how many there are. */
size_t gate_rows_of(const struct gate_rows *rows, const char *point, size_t *count);
bool gate_is_number(const struct gate_row *row);
uint64_t gate_number(const struct gate_row *row);

/* Reads a baseline; VINCI_E_INPUT (exit code 3) when the file is missing or no baseline. */
VINCI_MUST_CHECK enum vinci_status gate_rows_read(struct gate_rows *rows, const char *path,
                                                  struct vinci_diag *diag);
/* The same of an open file without the header, for rows that a child has sent. */
VINCI_MUST_CHECK enum vinci_status gate_rows_parse(struct gate_rows *rows, FILE *in,
                                                   const char *path, bool header,
                                                   struct vinci_diag *diag);
void gate_rows_write(const struct gate_rows *rows, bool header, FILE *out);

#endif
