/* SPDX-License-Identifier: Apache-2.0 */
/* The insides of vinci_diff_run(): what is known of a side, and what both give together. */
#ifndef VINCI_STUDIES_DIFF_DIFF_H
#define VINCI_STUDIES_DIFF_DIFF_H

#include "core/result/divergence.h"
#include "core/result/explain.h"
#include "core/result/metrics.h"
#include "core/vinci_diff.h"
#include "networks/workload/network.h"
#include "networks/workload/workload.h"

enum {
  DIFF_EVENTS_MAX = 4000000,
  DIFF_NOTES_MAX = 8,
  DIFF_JOBS_MAX = 256,
  DIFF_CLASSES = NETWORK_PARTS
};

enum diff_kind {
  DIFF_RUN,       /* a trace or an operator, simulated here */
  DIFF_KEPT,      /* a result folder or summary.json */
  DIFF_LIST,      /* a list of operators, simulated here */
  DIFF_KEPT_LIST, /* op_summary.csv of vinci run --ops */
  DIFF_NET,       /* a network, simulated here: a list of its nodes, with classes */
  DIFF_KEPT_NET,  /* a result folder of vinci net run */
  DIFF_JOB,       /* a job of several devices, run here */
  DIFF_KEPT_JOB,  /* a result folder of vinci group run */
};

/* An operator of a list, a node of a network. */
struct diff_operator {
  const char *name;
  const char *lowered; /* "matmul m=4 k=4 n=4" */
  bool has_time;
  uint64_t duration_ps;
  bool matched;
};

/* ---- jobs of several devices: classes of ranks that do the same in the same time ---- */

/* What an instant of a rank is: the first that holds. All together are the time of the job. */
enum diff_job_part {
  DIFF_JOB_COMPUTING,
  DIFF_JOB_MOVING,  /* in a collective to which all ranks have come, and not at work */
  DIFF_JOB_WAITING, /* in a collective to which others have to come */
  DIFF_JOB_HOST,    /* idle while the host is busy */
  DIFF_JOB_EVENTS,  /* idle before the end of the rank: events, times before which nothing begins */
  DIFF_JOB_ENDED,   /* idle behind the end of the rank */
  DIFF_JOB_PARTS
};

/* The collectives of a rank with one name, operation and size. */
struct diff_collective {
  const char *name, *op;
  uint64_t bytes, count;
  uint64_t time_ps;    /* in them, waiting too */
  uint64_t exposed_ps; /* of that, while the rank is not at work; of two at once the one that began
                          first has the time */
  bool matched;
};

struct diff_job_class {
  uint64_t part_ps[DIFF_JOB_PARTS];
  struct diff_collective *collectives; /* by name, operation and size */
  size_t collective_count;
};

struct diff_job {
  uint32_t ranks;
  uint32_t *class_of; /* by rank */
  struct diff_job_class *classes;
  size_t class_count;
  uint64_t transfers, moved_bytes;
};

/* Ranks that are of one class on each side. NULL: ranks that the side has not. */
struct diff_job_pair {
  const char *ranks; /* "0-3 8" */
  const struct diff_job_class *a, *b;
};

/* A row of the tables of collectives. NULL: the side has none of that kind. */
struct diff_collective_pair {
  const char *ranks;
  const struct diff_collective *a, *b;
};

struct diff_job_tables {
  struct diff_job_pair *pairs; /* by their first ranks */
  size_t pair_count;
  struct diff_collective_pair *collectives; /* by the change of exposed time, then of time */
  size_t collective_count;
};

/* ---- sides ---- */

struct diff_side {
  enum diff_kind kind;
  const char *name;     /* as the caller says */
  const char *soc_name; /* of a job the system */
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
  uint64_t class_ps[DIFF_CLASSES]; /* of a network, what its time is made of */
  struct diff_job *job;            /* of a job; else NULL */
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
  struct diff_job_tables job; /* of jobs */
  bool program_parts, time_parts;
  struct vinci_diff_point program, time;
  const char *notes[DIFF_NOTES_MAX];
  size_t note_count;
};

/* Whether all that is known of a side is a list; whether the list is that of a network. */
bool diff_side_lists(const struct diff_side *side);
bool diff_side_is_net(const struct diff_side *side);
bool diff_side_is_job(const struct diff_side *side);
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

/* Adds an operator to a side, and its time to that of the side; NULL: it has none. *capacity is 0
 * before the first. */
VINCI_MUST_CHECK bool diff_list_add(struct vinci_diff *diff, struct diff_side *side,
                                    size_t *capacity, const char *name, const char *lowered,
                                    const uint64_t *duration_ps);
/* "12.345" us in ps; false for "N/A". */
bool diff_list_us(const char *text, uint64_t *ps);

/* ---- networks (net.c) ---- */
VINCI_MUST_CHECK enum vinci_status diff_net_run(struct vinci_diff *diff, enum explain_side side,
                                                struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status diff_net_read(struct vinci_diff *diff, enum explain_side side,
                                                 struct vinci_diag *diag);
const char *diff_class_name(size_t index);
const char *diff_class_text(size_t index);

/* ---- jobs of several devices (job.c, job_tables.c) ---- */
VINCI_MUST_CHECK enum vinci_status diff_job_run(struct vinci_diff *diff, enum explain_side side,
                                                struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status diff_job_read(struct vinci_diff *diff, enum explain_side side,
                                                 struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status diff_job_match(struct vinci_diff *diff, struct vinci_diag *diag);
size_t diff_job_row_count(const struct vinci_diff *diff, enum vinci_diff_table table);
void diff_job_row(const struct vinci_diff *diff, enum vinci_diff_table table, size_t index,
                  struct vinci_diff_row *out);

/* ---- where two runs part (parting.c) ---- */
VINCI_MUST_CHECK enum vinci_status diff_find_partings(struct vinci_diff *diff,
                                                      struct vinci_diag *diag);

#endif
