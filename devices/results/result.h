/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run of a job is told as: tables in the vendor's layout, a timeline with a process for each
 * rank, a summary.
 */
#ifndef VINCI_DEVICES_RESULTS_RESULT_H
#define VINCI_DEVICES_RESULTS_RESULT_H

#include "core/base/arena.h"
#include "core/result/proven.h"
#include "devices/results/energy.h"

/* An operation that has ended, kept for the files. */
struct job_moments {
  struct group_moment *items;
  size_t count, capacity;
  bool short_of_memory;
};

/* An observer's op_ended with a struct job_moments as its context. */
void job_keep_moment(void *context, const struct group_moment *moment);

/* Columns that tables of steps share, and the cells of a rank below them: microseconds. The bubble
 * is exposed time in receives; the stage is the rest of the step, whose time is end_ps. */
#define JOB_STEP_COLUMNS                                                                           \
  "Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"            \
  "Communication(Not Overlapped and Exclude Receive)"
void job_put_step(const struct group_rank_result *rank, uint64_t end_ps, FILE *out);
/* step_trace_time.csv: a row for each rank. */
void job_put_step_trace(const struct group_job *job, const struct group_result *result, FILE *out);
/* Chrome JSON: a process "rank N" for each rank, a thread for each of its streams. */
void job_put_timeline(const struct group_job *job, const struct job_moments *moments, FILE *out);
/* A row for each collective on each rank: start, duration, bytes, algorithm. */
void job_put_collectives(const struct job_moments *moments, FILE *out);
/* JSON: the time of the step, sums over ranks, and of each rank what its time is made of. energy,
 * levers: NULL for none. */
void job_put_summary(const struct job *whole, const struct group_result *result,
                     const struct job_energy *energy, const struct proven_list *levers, FILE *out);

#endif
