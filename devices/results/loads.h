/* SPDX-License-Identifier: Apache-2.0 */
/* How much the links of each level move over time. */
#ifndef VINCI_DEVICES_RESULTS_LOADS_H
#define VINCI_DEVICES_RESULTS_LOADS_H

#include <stdio.h>

#include "devices/flow/run.h"

enum { JOB_LOAD_SLICES = 256 };

/* Bytes by level and slice of time; slices become twice as wide when a run goes beyond the last. */
struct job_loads {
  const struct group_job *job;
  uint64_t width_ps; /* of a slice; 0: nothing has been moved */
  uint64_t bytes[GROUP_LEVELS_MAX][JOB_LOAD_SLICES];
};

/* A transfer between devices, whose bytes count evenly over its time; `loads->job` is set. */
void job_keep_load(struct job_loads *loads, const struct group_transfer *moved);
/*
 * Rows of levels that have moved something, up to the end of the job: level, from, to in
 * microseconds, bytes, GB/s of all links together, and the share of what the links of all ranks of
 * the job can move (out of each device: a port, or a link to each other rank of its group).
 */
void job_put_loads(const struct job_loads *loads, uint64_t end_ps, FILE *out);

#endif
