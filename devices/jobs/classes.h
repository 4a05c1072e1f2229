/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a job by classes of ranks: those that run one program and take the same in all.
 */
#ifndef VINCI_DEVICES_JOBS_CLASSES_H
#define VINCI_DEVICES_JOBS_CLASSES_H

#include "devices/jobs/result.h"

/* What the first rank of each class does, a row for each operation: the class, its ranks, stream,
 * kind, name, bytes, start, how long a collective waits for others to come, duration, operation of
 * a collective. False when memory is short. */
bool job_put_classes(const struct group_job *job, const struct group_result *result,
                     const struct job_moments *moments, FILE *out);

#endif
