/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buckets: neighbouring gradients that are summed together. A sum begins when its last gradient is
 * there and the sum before has ended; sums run one at a time.
 */
#ifndef VINCI_DEVICES_PLAN_BUCKETS_H
#define VINCI_DEVICES_PLAN_BUCKETS_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/vinci_group.h"
#include "devices/flow/text.h"

enum { BUCKETS_ENUMERATED_MAX = 14 };

/* Sums over the first gradients: [i] is that of the first i, [0] is 0. */
struct bucket_step {
  size_t count;
  const uint64_t *ready_ps; /* work before gradient i is there */
  const uint64_t *bytes;
};

/* What a sum of some bytes takes. */
typedef enum vinci_status bucket_cost(void *context, uint64_t bytes, uint64_t *out_ps,
                                      struct vinci_diag *diag);

/* A grouping: ends[i] says that a bucket ends behind gradient i (from 0); ends[count - 1] is true.
 */

/* Buckets end when they have this many bytes. */
void buckets_fixed(const struct bucket_step *step, uint64_t most_bytes, bool *ends);
/*
 * The grouping whose last sum ends first, and when that is. Exact: f(i), the earliest end of sums
 * of the first i gradients, is the least of max(ready(i), f(j)) + cost(bytes of j + 1 ... i), as a
 * sum never ends later because the sum before ended earlier. count^2 / 2 costs.
 */
VINCI_MUST_CHECK enum vinci_status buckets_best(const struct bucket_step *step, bucket_cost *cost,
                                                void *context, struct arena *arena, bool *ends,
                                                uint64_t *end_ps, struct vinci_diag *diag);
/*
 * Of the groupings whose last sum ends by end_ps, which buckets_best() has given, that with fewest
 * sums: layer by layer of k sums at the end, the latest time by which those before have to end. It
 * uses all slack that costs leave, so they have to be exact.
 */
VINCI_MUST_CHECK enum vinci_status buckets_fewest(const struct bucket_step *step, bucket_cost *cost,
                                                  void *context, uint64_t end_ps,
                                                  struct arena *arena, bool *ends,
                                                  struct vinci_diag *diag);
/* The earliest end over all 2^(count - 1) groupings, one by one; at most BUCKETS_ENUMERATED_MAX. */
VINCI_MUST_CHECK enum vinci_status buckets_enumerate(const struct bucket_step *step,
                                                     bucket_cost *cost, void *context,
                                                     uint64_t *end_ps, struct vinci_diag *diag);
/* The buckets of a grouping with their times; `out` has room for one for each gradient. */
VINCI_MUST_CHECK enum vinci_status buckets_place(const struct bucket_step *step, const bool *ends,
                                                 bucket_cost *cost, void *context,
                                                 struct vinci_bucket *out, size_t *count,
                                                 struct vinci_diag *diag);

/*
 * vinci_buckets_open() for those who see core/ alone: find_system gives the system of `ranks`
 * devices. *jobs gets a text for each plan, NULL where there is none. All belongs to the arena,
 * which the caller frees, after errors too.
 */
VINCI_MUST_CHECK enum vinci_status
group_buckets_text(const char *path, const char *text, size_t length,
                   const struct vinci_buckets_options *options, group_find_system *find_system,
                   void *context, struct arena *arena, struct vinci_buckets_result *out,
                   const char *jobs[VINCI_BUCKET_PLANS], struct vinci_diag *diag);

#endif
