/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of timelines: what the memory system has counted over time (core/result/traffic.h), what
 * the transfer pipes of all cores of a kind have moved, and how deep queues were. A track is an
 * integer amount for each of its equal steps, so that no byte is lost; each format makes values in
 * the track's unit from these.
 */
#ifndef VINCI_TRACES_EXPORT_TRACKS_H
#define VINCI_TRACES_EXPORT_TRACKS_H

#include "core/base/arith.h"
#include "traces/export/timeline/series.h"

struct track {
  char name[48];
  const char *unit; /* "GB/s" (10^9 bytes), "B/cycle" of the chip's core clock, "instructions" */
  uint64_t step_ps;
  size_t steps;
  const uint64_t *amount; /* bytes, or picoseconds of waiting; steps are `stride` apart */
  size_t stride;
  uint128 numerator, denominator; /* amount * numerator / denominator is in the unit */
};

static inline uint64_t track_amount(const struct track *track, size_t step) {
  return track->amount[step * track->stride];
}

/* Bytes that the memory system has counted; false when there are none. */
bool track_traffic(struct track *track, const struct vinci_result *result, enum traffic_kind kind);
/* Bytes of a series, in GB/s; waiting of a series, in instructions that wait at a time. */
struct track track_bytes(const char *name, const struct series *series);
struct track track_depth(const char *name, const struct series *series);

/* Spreads the time that an instruction waits in the queue: waits and barriers hold their place to
 * the end. */
void track_add_queued(struct series *series, const struct vinci_result *result,
                      const struct result_event *event);

/* Bytes of recorded transfers, by kind of core and pipe. */
struct rates {
  struct series series[CORE_KIND_COUNT][PIPE_COUNT];
};

void rates_start(struct rates *rates, const struct vinci_result *result);
/* Counts an instruction, from its start to its end; those that move nothing are left out. */
void rates_add(struct rates *rates, const struct vinci_result *result,
               const struct result_event *event);
/* False when nothing was moved. */
bool rates_track(struct track *track, const struct rates *rates, enum core_kind kind,
                 enum pipe pipe);

#endif
