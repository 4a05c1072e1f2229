/* SPDX-License-Identifier: Apache-2.0 */
/* Walking over the tilings of an operator. */
#ifndef VINCI_LOWER_PLAN_PLAN_H
#define VINCI_LOWER_PLAN_PLAN_H

#include "lower/kernel/lower.h"

/* Called with a legal tiling in job->value and its cost; false ends the walk. */
typedef bool (*lower_visit)(struct lower_job *job, void *context);

/* Arguments and setup, without a tiling. */
VINCI_MUST_CHECK enum vinci_status lower_prepare(struct lower_job *job, const char *const *args,
                                                 size_t count);
/* Every tiling; with cheaper_only those are left out that cannot be cheaper than one before.
 * VINCI_E_NOMEM when one could not be estimated for want of memory: the choice would depend on
 * that. */
VINCI_MUST_CHECK enum vinci_status lower_each_tiling(struct lower_job *job, bool cheaper_only,
                                                     lower_visit visit, void *context);

#endif
