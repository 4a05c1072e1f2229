/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of one side that is a job, from a run or a folder, before they are shared out. */
#ifndef VINCI_STUDIES_DIFF_JOB_H
#define VINCI_STUDIES_DIFF_JOB_H

#include "studies/diff/diff.h"

#define DIFF_JOB_NO_CLASS UINT32_MAX

enum job_span_kind { SPAN_WORK, SPAN_COLLECTIVE, SPAN_HOST, SPAN_KINDS };

/* An operation of the first rank of a class. */
struct job_span {
  uint32_t class;
  enum job_span_kind kind;
  const char *name, *op;
  uint64_t bytes, start_ps, come_ps, end_ps; /* come: all ranks of the collective are there */
  size_t place;                              /* in the file */
  struct diff_collective *collective;
};

/* What is known of a side so far. */
struct job_reading {
  struct vinci_diff *diff;
  struct diff_side *side;
  struct diff_job *job;
  struct job_span *spans; /* for free() */
  size_t count, capacity;
  uint64_t end_ps;
  bool *taken;    /* by class: its ranks are known */
  unsigned found; /* keys of the summary */
  bool short_of_memory;
};

/*
 * Fills the classes of the job from the operations, which it sorts. Classes are numbered by their
 * first ranks; the last of all is of ranks that do nothing. path: for errors, VINCI_E_INPUT.
 */
VINCI_MUST_CHECK enum vinci_status diff_job_share(struct job_reading *reading, const char *path,
                                                  struct vinci_diag *diag);

#endif
