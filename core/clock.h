/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock domains. Simulated time is unsigned 64-bit picoseconds (213 days). Edge
 * k of a domain lies at floor(k * 10^12 / f_hz): computed from k each time, never
 * from an accumulated period, so that domains never drift apart.
 */
#ifndef VINCI_CORE_CLOCK_H
#define VINCI_CORE_CLOCK_H

#include "core/arith.h"

#define PS_PER_SECOND UINT64_C(1000000000000)

/* period = ps / edges, in lowest terms; safe = largest k with k * ps in 64 bits. */
struct clock_domain {
  uint64_t hz;
  struct divisor ps;
  struct divisor edges;
  uint64_t safe_edge;
  uint64_t safe_ps;
};

/* hz must not be zero. */
void clock_init(struct clock_domain *clock, uint64_t hz);

/* Time of edge k. */
static inline uint64_t clock_edge_ps(const struct clock_domain *clock, uint64_t k) {
  if (k <= clock->safe_edge)
    return divide(k * clock->ps.value, &clock->edges);
  return (uint64_t)((uint128)k * clock->ps.value / clock->edges.value);
}

/* The first edge at or after a time. */
static inline uint64_t clock_edge_at(const struct clock_domain *clock, uint64_t time_ps) {
  if (time_ps <= clock->safe_ps)
    return divide(time_ps * clock->edges.value + clock->ps.value - 1, &clock->ps);
  return (uint64_t)(((uint128)time_ps * clock->edges.value + clock->ps.value - 1) /
                    clock->ps.value);
}

#endif
