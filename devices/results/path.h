/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of a job: from its end back to its start, what each moment waited for. */
#ifndef VINCI_DEVICES_RESULTS_PATH_H
#define VINCI_DEVICES_RESULTS_PATH_H

#include "devices/results/result.h"

/*
 * Rows from the start to the end of the job, whose times sum to that of the job: rank, kind (work,
 * host, collective: while it moves data; idle), name, bytes, start, duration. The path goes from a
 * collective to the rank that came last, and from work to what ended last before on its rank. False
 * when memory is short.
 */
bool job_put_path(const struct group_job *job, const struct group_result *result,
                  const struct job_moments *moments, FILE *out);

#endif
