/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a list of operators with their measured times, beside what vinci_ops_run() makes of the
 * list: the table that `vinci run --ops` writes.
 */
#ifndef VINCI_TESTS_ACCURACY_ACCURACY_ROWS_H
#define VINCI_TESTS_ACCURACY_ACCURACY_ROWS_H

#include "core/vinci_study.h"
#include "lower/calls/calls.h"
#include "traces/export/report/expected.h"

/* Times in microseconds; NAN: not known. */
struct accuracy_times {
  double duration;
  double core;  /* mean time that a core had a block */
  double start; /* simulated: of that, the start of the kernel */
  double pipe[PIPE_COUNT];
};

struct accuracy_row {
  const struct call_row *source, *result;
  enum expected_class class;
  bool simulated;
  bool second; /* the AIV part of the kernel in the row before, whose duration counts once */
  struct accuracy_times measured, model;
};

struct accuracy_rows {
  struct call_list list, table;
  struct accuracy_row *row;
  size_t count;
};

/*
 * Runs a list into `folder` and pairs its rows with those of the table. Ends the program when that
 * fails. Freed by accuracy_rows_free().
 */
struct accuracy_run {
  const char *list, *folder;
  struct vinci_ops_options options;
};
void accuracy_rows_read(const struct accuracy_run *run, struct accuracy_rows *out);
void accuracy_rows_free(struct accuracy_rows *rows);

/* What is compared: durations, times of cores, their difference (launch and end), pipes. */
enum accuracy_measure {
  MEASURE_DURATION,
  MEASURE_CORE,
  MEASURE_GAP,  /* duration less core time */
  MEASURE_WORK, /* core time less the model's start of the kernel, on both sides */
  MEASURE_MAC,
  MEASURE_VEC,
  MEASURE_MTE1,
  MEASURE_MTE2,
  MEASURE_MTE3,
  MEASURE_SCALAR,
  MEASURE_FIXPIPE,
  MEASURE_COUNT
};
const char *accuracy_measure_name(enum accuracy_measure measure);
/* Signed relative error; NAN where nothing can be compared: one of the times is not known, or a
 * pipe was busy for less than a tenth of the duration. */
double accuracy_row_error(const struct accuracy_row *row, enum accuracy_measure measure);

/* Errors of some rows. */
enum { ACCURACY_ERRORS_MAX = 4096 };
struct accuracy_errors {
  size_t count;
  double value[ACCURACY_ERRORS_MAX]; /* signed */
};
void accuracy_errors_add(struct accuracy_errors *errors, double value); /* NAN is left out */
double accuracy_mean(const struct accuracy_errors *errors);             /* of sizes */
double accuracy_bias(const struct accuracy_errors *errors);
/* The size that a share of the rows does not exceed: 0.5 is the median. 0 without rows. */
double accuracy_quantile(const struct accuracy_errors *errors, double share);
double accuracy_share_beyond(const struct accuracy_errors *errors, double limit);

#endif
