/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs of several devices as text (GROUP.md): groups of ranks, programs, and which ranks run
 * which. The form that schedulers, planners and converters write.
 */
#ifndef VINCI_DEVICES_JOBS_JOB_H
#define VINCI_DEVICES_JOBS_JOB_H

#include "core/vinci_energy.h"
#include "devices/flow/run.h"

enum {
  JOB_TEXT_VERSION = 1,
  JOB_STREAMS_MAX = 64,
  JOB_FAMILIES_MAX = 256,
  JOB_MEMORIES_MAX = 64 /* names */
};

/* The models of memory by which a kernel was simulated. */
enum job_model { JOB_MODEL_ALL, JOB_MODEL_DETAIL, JOB_MODELS };

/* What a kernel took; all zero when it was not simulated by that model. Of uses in a sequence,
 * which take different times, the mean. */
struct job_kernel_time {
  uint64_t duration_ps, hbm_bytes;
  uint64_t shortest_ps, longest_ps; /* of its uses */
  uint32_t uses, launches, blocks;  /* operations of programs; blocks: 0 of networks */
  const char *bound;
  const char
      *program; /* "library", "lowering", "lowering: why not of the library"; "" of networks */
  /* Of what it does, without what the chip takes all the time; 0: the chip keeps no account. */
  struct vinci_energy energy;
};

/* An operator or a network that work of a job names (kernels.h). */
struct job_kernel {
  struct job_kernel *next;
  const char *op, *net; /* one is NULL: "matmul m=256 k=256 n=256"; the path of a graph or model */
  unsigned long line;   /* where it stands first */
  struct job_kernel_time time[JOB_MODELS];
};

/* An operation that takes the time of a kernel. */
struct job_use {
  struct job_use *next;
  const struct group_program *program;
  struct group_op *op;
  struct job_kernel *kernel;
  const struct job_kernel_time *took; /* once it was simulated */
  bool memory_given;
};

struct job {
  struct arena arena;
  const char *path;
  const char *name;
  const char *system;         /* the system that the text names, NULL: none */
  struct group_job job;       /* its system is for the caller to fill */
  struct job_kernel *kernels; /* whose time job_time() simulates; NULL: all times are given */
  struct job_use *uses;
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
