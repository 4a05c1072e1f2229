/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of device memory, L2 and network over time, counted while a run goes on. The steps are
 * equal, and as many as fit: when time passes the last of them, each two become one of twice the
 * length. So the memory is the same for runs of any length, and no byte is lost.
 */
#ifndef VINCI_CORE_RESULT_TRAFFIC_H
#define VINCI_CORE_RESULT_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Enough for a picture; steps of a fresh count are 2^16 ps, some hundred cycles. */
enum { TRAFFIC_STEPS = 512, TRAFFIC_SHIFT = 16 };

/*
 * What is counted: id, key, name in timelines. Device memory when an operation has ended (cycle
 * model) or begins (flat model); L2 in whole granules, and the network in the bytes that cores
 * asked for, both when the slice is reached. The sums over all steps are counters of the run:
 * result_check() compares.
 */
#define TRAFFIC_LIST(X)                                                                            \
  X(HBM_READ, "hbm_read", "HBM read")                                                              \
  X(HBM_WRITE, "hbm_write", "HBM written")                                                         \
  X(L2_HIT, "l2_hit", "L2 hits")                                                                   \
  X(L2_MISS, "l2_miss", "L2 misses")                                                               \
  X(NETWORK_READ, "network_read", "network to cores")                                              \
  X(NETWORK_WRITE, "network_write", "network from cores")

enum traffic_kind {
#define X(id, key, name) TRAFFIC_##id,
  TRAFFIC_LIST(X)
#undef X
      TRAFFIC_COUNT
};

/* Zero-initialised: nothing was counted. */
struct memory_traffic {
  unsigned doublings; /* a step is 2^(TRAFFIC_SHIFT + doublings) ps */
  uint64_t bytes[TRAFFIC_STEPS][TRAFFIC_COUNT];
};

static inline uint64_t traffic_step_ps(const struct memory_traffic *traffic) {
  return UINT64_C(1) << (TRAFFIC_SHIFT + traffic->doublings);
}

/* Joins steps until there is one for a time; of a result the last is that of its end. */
void traffic_reach(struct memory_traffic *traffic, uint64_t at_ps);

/* The counts of the step that holds a time, valid until the next call. */
static inline uint64_t *traffic_at(struct memory_traffic *traffic, uint64_t at_ps) {
  uint64_t step = at_ps >> (TRAFFIC_SHIFT + traffic->doublings);
  if (step >= TRAFFIC_STEPS) {
    traffic_reach(traffic, at_ps);
    step = at_ps >> (TRAFFIC_SHIFT + traffic->doublings);
  }
  return traffic->bytes[step];
}

/* Steps of a run of that duration. */
size_t traffic_steps(const struct memory_traffic *traffic, uint64_t total_ps);
uint64_t traffic_sum(const struct memory_traffic *traffic, enum traffic_kind kind);
const char *traffic_key(enum traffic_kind kind);  /* "hbm_read" */
const char *traffic_name(enum traffic_kind kind); /* "HBM read" */

#endif
