/* SPDX-License-Identifier: Apache-2.0 */
/* The insides of vinci_diff_run(): what is known of a side, and what both give together. */
#ifndef VINCI_SCRIPTS_DIFF_DIFF_H
#define VINCI_SCRIPTS_DIFF_DIFF_H

#include "core/result/divergence.h"
#include "core/result/explain.h"
#include "core/result/metrics.h"
#include "core/study/workload.h"
#include "core/vinci_diff.h"

enum { DIFF_EVENTS_MAX = 4000000, DIFF_NOTES_MAX = 8, DIFF_JOBS_MAX = 256 };

enum diff_kind {
  DIFF_RUN,       /* a trace or an operator, simulated here */
  DIFF_KEPT,      /* a result folder or summary.json */
  DIFF_LIST,      /* a list of operators, simulated here */
  DIFF_KEPT_LIST, /* op_summary.csv of vinci run --ops */
};

/* An operator of a list. */
struct diff_operator {
  const char *name;
  const char *lowered; /* "matmul m=4 k=4 n=4" */
  bool has_time;
  uint64_t duration_ps;
  bool matched;
};

struct diff_side {
  enum diff_kind kind;
  const char *name; /* as the caller says */
  const char *soc_name;
  struct run_spec spec;
  const char *data; /* the folder that holds soc/, may be NULL */
  uint64_t total_cycles, duration_ps;
  uint64_t value[METRICS_MAX]; /* by the index of metrics_collect() */
  bool has[METRICS_MAX];
  bool used[METRICS_MAX]; /* of a pipe that executed something, or of none */
  bool has_path;          /* its parts are in the explanation */
  vinci_soc *soc;         /* of a run; else NULL */
  vinci_trace *trace;
  vinci_result *result;
  struct diff_operator *operators;
  size_t operator_count, left_out;
};

/* A pair of operators; NULL: only in the other list. */
struct diff_pair {
  const struct diff_operator *a, *b;
};

struct vinci_diff {
  struct arena arena;
  struct diff_side side[EXPLAIN_SIDES];
  struct metric_list names;
  size_t *counters; /* indices that both sides have */
  size_t counter_count;
  struct explanation explanation;
  struct diff_pair *pairs;
  size_t pair_count;
  bool program_parts, time_parts;
  struct vinci_diff_point program, time;
  const char *notes[DIFF_NOTES_MAX];
  size_t note_count;
};

enum vinci_status diff_no_memory(struct vinci_diag *diag);
bool diff_note(struct vinci_diff *diff, const char *text);

/* ---- what words name (side.c) ---- */
VINCI_MUST_CHECK enum vinci_status diff_side_open(struct vinci_diff *diff, enum explain_side side,
                                                  const struct vinci_diff_side *given,
                                                  const struct vinci_diff_options *options,
                                                  struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status diff_check_kept(const struct diff_side *side,
                                                   const struct diff_side *other,
                                                   struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status diff_side_run(struct vinci_diff *diff, enum explain_side side,
                                                 const struct vinci_diff_options *options,
                                                 struct vinci_diag *diag);
void diff_side_close(struct diff_side *side);

/* ---- results of earlier runs (kept.c) ---- */
/* summary.json, and critical.csv beside it when the name is that of a folder. */
VINCI_MUST_CHECK enum vinci_status diff_kept_read(struct vinci_diff *diff, enum explain_side side,
                                                  struct vinci_diag *diag);

/* ---- lists (list.c) ---- */
VINCI_MUST_CHECK enum vinci_status diff_list_run(struct vinci_diff *diff, enum explain_side side,
                                                 const struct vinci_diff_options *options,
                                                 struct vinci_diag *diag);
/* Whether a CSV file has the columns of what vinci run --ops writes. */
bool diff_list_is_kept(const char *path);
VINCI_MUST_CHECK enum vinci_status diff_list_read(struct vinci_diff *diff, enum explain_side side,
                                                  const char *path, struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status diff_list_match(struct vinci_diff *diff,
                                                   struct vinci_diag *diag);

/* ---- where two runs part (parting.c) ---- */
VINCI_MUST_CHECK enum vinci_status diff_find_partings(struct vinci_diff *diff,
                                                      struct vinci_diag *diag);

#endif
