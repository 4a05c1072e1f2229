/* SPDX-License-Identifier: Apache-2.0 */
/* The most that ranks of a job hold, as JSON and in words. */
#ifndef VINCI_DEVICES_RESULTS_PEAKS_H
#define VINCI_DEVICES_RESULTS_PEAKS_H

#include <stdio.h>

#include "devices/flow/run.h"

/* The first of the ranks that hold most at their peaks. */
uint32_t job_fullest(const struct group_job *job, const struct group_result *result);
/* A key of summary.json: the peak of the fullest rank, and what it holds then. */
void job_memory_put(const struct group_job *job, const struct group_result *result, FILE *out);
/* The same in words, a line or two. */
void job_memory_print(const struct group_job *job, const struct group_result *result, FILE *out);

#endif
