/* SPDX-License-Identifier: Apache-2.0 */
/* Who came last to each collective of a run. */
#ifndef VINCI_DEVICES_RESULTS_WAITS_H
#define VINCI_DEVICES_RESULTS_WAITS_H

#include "devices/results/result.h"

/* By moment, of collectives: when the last of its ranks came, and which; a rank that was done
 * before waited for nobody: its own start. Other moments: their start and rank. */
struct job_waits {
  uint64_t *last_ps;
  uint32_t *last_rank;
};

/* False when memory is short; for job_waits_free() in all cases. */
bool job_waits_find(const struct job_moments *moments, struct job_waits *out);
void job_waits_free(struct job_waits *waits);

#endif
