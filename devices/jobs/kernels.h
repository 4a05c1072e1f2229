/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work of a job whose time is not given: operators and networks, which are simulated, each of them
 * once. What a job says again has the time of the first. Or, as a sequence, all operators of a
 * program in their order, each with the state that those before have left.
 */
#ifndef VINCI_DEVICES_JOBS_KERNELS_H
#define VINCI_DEVICES_JOBS_KERNELS_H

#include "devices/jobs/kernel_options.h"

/*
 * Simulates what the work of a job computes, and gives each such operation its duration; and its
 * share of device memory, where the job does not: the bytes by what the memory could have moved in
 * that time. Errors: those of lowering and running, with the line of the job; a library that
 * cannot be opened.
 */
VINCI_MUST_CHECK enum vinci_status
job_time(struct job *job, const struct job_kernel_options *options, struct vinci_diag *diag);

/* The model by which a use was timed. */
enum job_model job_model_of(const struct job *job, const struct job_kernel_options *options,
                            const struct job_use *use);

/* kernels.csv: a row for each operator or network by each model: how often, and its time. */
void job_put_kernels(const struct job *job, FILE *out);

#endif
