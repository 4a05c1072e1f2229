/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts over time in equal steps, for counters of timelines: bytes of transfers, depth of
 * queues. */
#ifndef VINCI_TRACES_EXPORT_SERIES_H
#define VINCI_TRACES_EXPORT_SERIES_H

#include "core/result/result.h"

/* Enough to see phases of a kernel, and few against the instructions of a long run. */
enum { SERIES_STEPS_MAX = 256 };
#define SERIES_STEP_PS UINT64_C(1000000) /* the vendor's counters have steps of 1 us */

struct series {
  uint64_t step_ps; /* a multiple of SERIES_STEP_PS, unless fine */
  size_t steps;
  uint64_t amount[SERIES_STEPS_MAX];
};

/* No amounts yet; steps for the whole run. */
void series_start(struct series *series, const struct vinci_result *result);
/* The same with the finest steps, SERIES_STEPS_MAX of them in a run of that many picoseconds. */
void series_start_fine(struct series *series, const struct vinci_result *result);
/* Spreads an amount evenly from start to end; all at the start when both are equal. The steps add
 * up to all that was spread. */
void series_spread(struct series *series, uint64_t start_ps, uint64_t end_ps, uint64_t amount);

/* Adds the amounts of another series of the same steps. */
void series_add(struct series *series, const struct series *other);

#endif
