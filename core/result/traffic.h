/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of device memory over time, counted while a run goes on. The steps are equal, and as many
 * as fit: when time passes the last of them, each two become one of twice the length. So the memory
 * is the same for runs of any length, and no byte is lost.
 */
#ifndef VINCI_CORE_RESULT_TRAFFIC_H
#define VINCI_CORE_RESULT_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

/* Enough for a picture; steps of a fresh count are 2^16 ps, some hundred cycles. */
enum { TRAFFIC_STEPS = 512, TRAFFIC_SHIFT = 16 };

/* Zero-initialised: nothing was counted. */
struct device_traffic {
  unsigned doublings; /* a step is 2^(TRAFFIC_SHIFT + doublings) ps */
  uint64_t read_bytes[TRAFFIC_STEPS];
  uint64_t write_bytes[TRAFFIC_STEPS];
};

static inline uint64_t traffic_step_ps(const struct device_traffic *traffic) {
  return UINT64_C(1) << (TRAFFIC_SHIFT + traffic->doublings);
}

/* Joins steps until there is one for a time. */
void traffic_reach(struct device_traffic *traffic, uint64_t at_ps);

static inline void traffic_add(struct device_traffic *traffic, uint64_t at_ps, bool write,
                               uint64_t bytes) {
  uint64_t step = at_ps >> (TRAFFIC_SHIFT + traffic->doublings);
  if (step >= TRAFFIC_STEPS) {
    traffic_reach(traffic, at_ps);
    step = at_ps >> (TRAFFIC_SHIFT + traffic->doublings);
  }
  (write ? traffic->write_bytes : traffic->read_bytes)[step] += bytes;
}

#endif
