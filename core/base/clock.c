/* SPDX-License-Identifier: Apache-2.0 */
/* Clock domains: reduction of the period to lowest terms. */
#include "core/base/clock.h"

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

void clock_init(struct clock_domain *clock, uint64_t hz) {
  uint64_t divisor = greatest_common_divisor(PS_PER_SECOND, hz);
  clock->hz = hz;
  clock->ps = divisor_of(PS_PER_SECOND / divisor);
  clock->edges = divisor_of(hz / divisor);
  uint128 last_edge = (uint128)TIME_END_PS * clock->edges.value / clock->ps.value;
  clock->safe_edge = UINT64_MAX / clock->ps.value;
  if (last_edge < clock->safe_edge)
    clock->safe_edge = (uint64_t)last_edge;
  clock->safe_ps = (UINT64_MAX - clock->ps.value) / clock->edges.value;
}
