/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of counters (core/result/counters.def) at run time: whoever adds, prints or compares
 * counters walks its rows instead of naming fields.
 */
#ifndef VINCI_CORE_RESULT_RESULT_COUNTERS_H
#define VINCI_CORE_RESULT_RESULT_COUNTERS_H

#include "core/base/decimal.h"
#include "core/result/result.h"

enum counter_unit {
  UNIT_COUNT,
  UNIT_CYCLE,
  UNIT_PS, /* printed in us */
  UNIT_BYTE,
  UNIT_PPM,  /* printed as a share of 1 */
  UNIT_WORD, /* an enum bound */
  UNIT_PJ,   /* printed in uJ */
};

enum metric_better { METRIC_NEUTRAL, METRIC_LOWER, METRIC_HIGHER };

enum counter_kind { KIND_SUM, KIND_MAXIMUM, KIND_SHARE };

/* Where a counter is shown; the report has a column of its own. */
enum counter_place {
  IN_SUMMARY = 1,    /* summary.json */
  IN_METRICS = 2,    /* result:counters() and result:get() of Lua */
  IN_GATE = 4,       /* compared with the baseline */
  IN_DETAIL = 8,     /* kept in the baseline for explanations, not compared */
  IN_SWEEP = 16,     /* a column of results.csv */
  IN_SWEEP_END = 32, /* one of its last columns */
  IN_OVERVIEW = 64,  /* result:summary() of Lua */
  IN_CORES = 128,    /* result:cores() of Lua */
  IN_EVERY = IN_SUMMARY | IN_METRICS | IN_GATE | IN_SWEEP,
};

/* The struct that has the field. */
enum counter_group {
  GROUP_RUN,  /* struct vinci_result */
  GROUP_PIPE, /* struct pipe_counters */
  GROUP_CORE, /* struct core_result */
  GROUP_PATH, /* struct core_result, an array over paths */
  GROUP_L2,   /* struct l2_counters */
  GROUP_HBM,  /* struct hbm_totals */
};

/* Columns as in core/result/counters.def. */
struct counter {
  enum counter_group group;
  size_t offset;                                                          /* of the field */
  uint64_t (*figure)(const struct vinci_result *result, unsigned member); /* NULL: a field */
  const char *name, *printed;
  enum counter_unit unit;
  enum metric_better better;
  enum counter_kind kind;
  unsigned places; /* enum counter_place */
  const char *report, *text;
};

const struct counter *counter_rows(size_t *count);
/* The next row of a group that has a field; the first row after NULL; NULL after the last row. */
const struct counter *counter_next(const struct counter *row, enum counter_group group);
/* Whether a pipe can have the counter of a pipe: causes are those of its unit. */
bool counter_is_of(const struct counter *row, enum pipe pipe);
/* The row of a metric's name, "pipe.M.busy_cycles"; NULL: there is none. */
const struct counter *counter_find(const char *name);

const char *counter_unit_name(enum counter_unit unit);      /* "cycle", "ps", "byte", "1", "ppm" */
const char *counter_better_name(enum metric_better better); /* "lower" */
const char *counter_kind_name(enum counter_kind kind);      /* "sum" */
const char *counter_key(const struct counter *row);         /* "read_hits" of "l2.read_hits" */
unsigned counter_decimals(enum counter_unit unit);          /* in print */
struct decimal counter_decimal(const struct counter *row, uint64_t value); /* as it is printed */

/* The field of a struct of the row's group. */
uint64_t counter_value(const struct counter *row, const void *part);
/* Adds the counters of a part to those of the whole, or takes the larger, as the rows' kind says.
 */
void counters_add(enum counter_group group, void *whole, const void *part);
void counter_join(const struct counter *row, void *whole, const void *part);
/* All counters of a core: its own, and those of its pipes, paths, units and of L2. */
void counters_add_core(struct core_result *sum, const struct core_result *core);

#endif
