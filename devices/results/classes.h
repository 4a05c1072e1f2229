/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a job by classes of ranks: those that run one program and take the same in all.
 */
#ifndef VINCI_DEVICES_RESULTS_CLASSES_H
#define VINCI_DEVICES_RESULTS_CLASSES_H

#include "devices/results/result.h"

struct job_classes {
  uint32_t *of;    /* by rank */
  uint32_t *first; /* rank of each class */
  uint32_t count;
};

/* False when memory is short; for job_classes_free() in any case. */
bool job_classes_find(const struct group_job *job, const struct group_result *result,
                      struct job_classes *out);
void job_classes_free(struct job_classes *classes);
/* "0-3 8": ranks of a class, in runs. */
void job_classes_put_ranks(const struct job_classes *classes, uint32_t ranks, uint32_t class,
                           FILE *out);
/* What the first rank of each class does, a row for each operation: the class, its ranks, stream,
 * kind, name, bytes, start, how long a collective waits for others to come, duration, operation of
 * a collective. False when memory is short. */
bool job_put_classes(const struct group_job *job, const struct group_result *result,
                     const struct job_moments *moments, FILE *out);

#endif
