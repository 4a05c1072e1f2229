/* SPDX-License-Identifier: Apache-2.0 */
/* A sequence that runs its list several times: the times before the last (launches.c). */
#ifndef VINCI_STUDIES_OPS_PASSED_H
#define VINCI_STUDIES_OPS_PASSED_H

#include "studies/ops/ops.h"

/*
 * The list `times` times, for what these leave on the chip, before its last time; ended: rows by
 * their number, of which those whose process has died pass their tensors. The same launches on a
 * chip in the same state take the same time and leave the same. Unless the request is exact, times
 * from a state on that the chip was in before an earlier time are not run again, as far as they are
 * whole turns from that state to itself.
 */
struct ops_passed {
  size_t skipped;               /* launches that were not run */
  bool last;                    /* the last time is among them: its rows have these outcomes */
  struct ops_outcome *outcomes; /* by row; to be freed, also on failure */
};
/* False when the run shall end, or memory is short. */
VINCI_MUST_CHECK bool ops_launches_pass(struct ops_worker *worker,
                                        const struct ops_launches *launches,
                                        const struct ops_outcome *ended, uint32_t times,
                                        struct ops_passed *out);

#endif
