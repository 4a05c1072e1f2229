/* SPDX-License-Identifier: Apache-2.0 */
/* The insides of job_time(): one operator or network alone, and operators in their order
 * (sequence.c). */
#ifndef VINCI_DEVICES_JOBS_TIMING_H
#define VINCI_DEVICES_JOBS_TIMING_H

#include "devices/jobs/kernel_options.h"

struct job_timing {
  struct job *job;
  const struct job_kernel_options *options;
  size_t done, all;           /* of what is to be simulated */
  struct vinci_energy energy; /* of the nodes of the network that runs */
  struct vinci_diag *diag;
};

/* Whether the caller lets the run go on; if not, the diagnostic says so. */
VINCI_MUST_CHECK bool job_goes_on(struct job_timing *timing);
/* The error of a kernel, at the line of its work; hint: "" for none. */
enum vinci_status job_fail(struct job_timing *timing, unsigned long line, enum vinci_status status,
                           const char *text, const char *hint);
/* Simulates a kernel alone, by a model of memory. */
VINCI_MUST_CHECK enum vinci_status job_time_kernel(struct job_timing *timing,
                                                   const struct job_kernel *kernel,
                                                   enum job_model model,
                                                   struct job_kernel_time *out);
/* What is asked of the engine of lists, but for its rows and who is told. */
struct order job_order(const struct job_kernel_options *options, enum job_model model);
/* An operator and its arguments, which become a text of the arena; false when memory is short. */
VINCI_MUST_CHECK bool job_order_row(struct arena *arena, const char *op, struct order_row *out);
/* What a program took; its name becomes a text of the arena. False when memory is short. */
VINCI_MUST_CHECK bool job_take_result(struct arena *arena, const struct vinci_result *result,
                                      const char *program, struct job_kernel_time *out);

/* Of each use what it took in the order of its program (`took`). */
VINCI_MUST_CHECK enum vinci_status job_time_sequence(struct job_timing *timing);

#endif
