/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock domains. Simulated time is unsigned 64-bit picoseconds. Edge k of a domain
 * lies at floor(k * 10^12 / f_hz): computed from k each time, never from an
 * accumulated period, so that domains never drift apart.
 *
 * A run ends at ENGINE_END_PS (core/sim/engine.h). Parts compute ahead of the present; what
 * they compute never lies after TIME_END_PS. So the sum of two times has room in 64 bits,
 * and a time has room beside a few bits of something else. An edge after TIME_END_PS is
 * told as TIME_END_PS: both are times that no run reaches.
 */
#ifndef VINCI_CORE_BASE_CLOCK_H
#define VINCI_CORE_BASE_CLOCK_H

#include "core/base/arith.h"

#define PS_PER_SECOND UINT64_C(1000000000000)
#define TIME_END_PS ((UINT64_C(1) << 58) - 1)
/* With more, the edges up to ENGINE_END_PS have no room in 64 bits. */
#define CLOCK_HZ_MAX UINT64_C(100000000000000)

/* period = ps / edges, in lowest terms; safe_edge: up to there k * ps has room in 64 bits and the
 * edge lies before TIME_END_PS; safe_ps: the same for the way back. */
struct clock_domain {
  uint64_t hz;
  struct divisor ps;
  struct divisor edges;
  uint64_t safe_edge;
  uint64_t safe_ps;
};

/* hz is 1 to CLOCK_HZ_MAX. */
void clock_init(struct clock_domain *clock, uint64_t hz);

/* Time of edge k, at most TIME_END_PS. */
static inline uint64_t clock_edge_ps(const struct clock_domain *clock, uint64_t k) {
  if (k <= clock->safe_edge)
    return divide(k * clock->ps.value, &clock->edges);
  uint128 edge_ps = (uint128)k * clock->ps.value / clock->edges.value;
  return edge_ps < TIME_END_PS ? (uint64_t)edge_ps : TIME_END_PS;
}

/* The first edge at or after a time. */
static inline uint64_t clock_edge_at(const struct clock_domain *clock, uint64_t time_ps) {
  if (time_ps <= clock->safe_ps)
    return divide(time_ps * clock->edges.value + clock->ps.value - 1, &clock->ps);
  return (uint64_t)(((uint128)time_ps * clock->edges.value + clock->ps.value - 1) /
                    clock->ps.value);
}

#endif
