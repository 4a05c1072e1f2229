/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of several devices with what a study, a suite or a comparison changes: a job of a file, or
 * the training step of a model that is split over devices. What is changed is an argument of the
 * job, a number of its system, or one of the chip of its devices, on which its operators are
 * simulated.
 */
#ifndef VINCI_STUDIES_JOB_POINT_H
#define VINCI_STUDIES_JOB_POINT_H

#include "devices/jobs/job.h"
#include "devices/jobs/kernels.h"
#include "networks/workload/workload.h"
#include "scripts/systems/group_host.h"
#include "studies/job/model.h"

/* Fields of a job beside system; one that ends in '.' is how fields begin. Ends with NULL. */
extern const char *const job_point_fields[];

struct job_point {
  struct arena arena;
  const char *job, *model;             /* the file; one is NULL */
  const char *data;                    /* the folder of descriptions, may be NULL */
  const char *system, *bucket, *fault; /* NULL: not given */
  const char **algorithms;             /* "all_reduce@dp=ring" */
  const char **args;                   /* of the model and its split */
  const char **sets, **chip_sets;      /* of the system, of its chip */
  size_t algorithm_count, arg_count, set_count, chip_set_count;
  const char *memory; /* of operators; NULL: flat */
  struct group_description *group;
  vinci_soc *soc;
};

/* Takes the arguments of a workload whose job or model is set, which have to live as long. False
 * when memory is short. Free in any case. */
bool job_point_begin(struct job_point *point, const struct workload *workload, const char *data);
void job_point_free(struct job_point *point);

/* Whether a job of a file has an argument of this name: VINCI_E_USAGE with a hint. */
VINCI_MUST_CHECK enum vinci_status job_point_check_argument(const char *key,
                                                            struct vinci_diag *diag);
/* Whether the system or its chip, which are open, has a number of this key. */
VINCI_MUST_CHECK enum vinci_status job_point_check_key(const struct job_point *point,
                                                       const char *key, struct vinci_diag *diag);

/* Reads the job of the file, whose job_free() is the caller's after success. */
VINCI_MUST_CHECK enum vinci_status job_point_read(const struct job_point *point, struct job *out,
                                                  struct vinci_diag *diag);
/* Loads the system, and the chip of its devices, with "KEY=VALUE" assignments of both. */
VINCI_MUST_CHECK enum vinci_status job_point_open(struct job_point *point, const char *const *sets,
                                                  size_t set_count, struct chip_cache *chips,
                                                  struct vinci_diag *diag);
/* The job of a point that is open; of a model also what a device holds, else 0. steps: makes steps
 * of models. */
VINCI_MUST_CHECK enum vinci_status job_point_make(const struct job_point *point,
                                                  const struct model_steps *steps, struct job *job,
                                                  uint64_t *memory_bytes, struct vinci_diag *diag);
/* Runs the job, turned as the point says. What `out` holds belongs to the arena. */
VINCI_MUST_CHECK enum vinci_status job_point_run(struct job_point *point, struct job *job,
                                                 const struct job_kernel_options *timed,
                                                 const struct group_observer *observer,
                                                 struct arena *arena, struct group_result *out,
                                                 struct vinci_diag *diag);
/* That steps of models are made by scripts. */
enum vinci_status job_point_lacks_steps(struct vinci_diag *diag);

#endif
