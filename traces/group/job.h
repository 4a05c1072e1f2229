/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs of several devices as text (GROUP.md): groups of ranks, programs, and which ranks run
 * which. The form that schedulers, planners and converters write.
 */
#ifndef VINCI_TRACES_GROUP_JOB_H
#define VINCI_TRACES_GROUP_JOB_H

#include "core/group/run.h"

enum { JOB_TEXT_VERSION = 1, JOB_STREAMS_MAX = 64, JOB_FAMILIES_MAX = 256 };

struct job {
  struct arena arena;
  const char *name;
  const char *system;   /* the system that the text names, NULL: none */
  struct group_job job; /* its system is for the caller to fill */
};

/* Reads a job. Errors: VINCI_E_INPUT with line and column. Free with job_free() after success. */
VINCI_MUST_CHECK enum vinci_status job_read(const char *path, const char *text, size_t length,
                                            struct job *out, struct vinci_diag *diag);
/*
 * Adds a fault to a job, in the keys of a row fault: "devices=3,from_us=100". Errors:
 * VINCI_E_USAGE.
 */
VINCI_MUST_CHECK enum vinci_status job_add_fault(struct job *job, const char *text,
                                                 struct vinci_diag *diag);
void job_free(struct job *job);

#endif
