/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks of a job hold of the memory of their devices (rows allocate and free of GROUP.md). */
#ifndef VINCI_DEVICES_RESULTS_MEMORY_H
#define VINCI_DEVICES_RESULTS_MEMORY_H

#include <stdio.h>

#include "devices/flow/run.h"

/* All zero: nothing has changed. */
struct job_levels {
  struct group_held *items;
  size_t count, capacity;
  bool short_of_memory;
};

/* An observer's memory_held with a struct job_levels as its context. */
void job_keep_level(void *context, const struct group_held *held);
void job_levels_free(struct job_levels *levels);

/*
 * memory.csv: each change of what the first rank of each class holds, in the order of times: the
 * class, its ranks, the time, the name, bytes of the name and of all names from then on. Sorts the
 * levels. False when memory is short.
 */
bool job_put_levels(const struct group_job *job, const struct group_result *result,
                    struct job_levels *levels, FILE *out);

#endif
