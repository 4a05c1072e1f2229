/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of data parallel training as a table: the work before each gradient, and its bytes. */
#ifndef VINCI_DEVICES_JOBS_STEPS_H
#define VINCI_DEVICES_JOBS_STEPS_H

#include <stdio.h>

#include "core/base/arena.h"
#include "core/base/diag.h"

enum { STEP_ROWS_MAX = 100000, STEP_GRADIENTS_MAX = 4096, STEP_JOB_HEAD = 3 };

struct step_row {
  const char *name;
  const char *op;          /* whose time is simulated; NULL: the table has the time */
  uint64_t work_ps, bytes; /* bytes 0: work alone */
  unsigned long line;      /* where it stands */
  uint32_t memory_milli;   /* thousandths of the work that are bound by memory */
};

struct step_table {
  const char *path;
  size_t count, gradients;
  struct step_row *rows;
  bool has_operators;
};

/* Reads a table (GROUP.md) into the arena. Errors: VINCI_E_INPUT with line and column. */
VINCI_MUST_CHECK enum vinci_status step_read(const char *path, const char *text, size_t length,
                                             struct arena *arena, struct step_table *out,
                                             struct vinci_diag *diag);
/*
 * Writes the step of `ranks` devices as a job: its work, and beside that a sum for each bucket.
 * ends: by gradient, whether a bucket ends there; NULL: no sums, operators in place of times, and
 * row i of the table in line STEP_JOB_HEAD + i + 1.
 */
void step_write_job(const struct step_table *table, unsigned ranks, const bool *ends, FILE *out);

#endif
