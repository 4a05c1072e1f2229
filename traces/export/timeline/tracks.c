/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of timelines. */
#include "traces/export/timeline/tracks.h"

#include <stdio.h>

#include "core/base/clock.h"
#include "traces/export/timeline/lanes.h"

bool track_traffic(struct track *track, const struct vinci_result *result, enum traffic_kind kind) {
  const struct memory_traffic *traffic = &result->traffic;
  bool network = kind == TRAFFIC_NETWORK_READ || kind == TRAFFIC_NETWORK_WRITE;
  *track = (struct track){.unit = network ? "B/cycle" : "GB/s",
                          .step_ps = traffic_step_ps(traffic),
                          .steps = traffic_steps(traffic, result->total_ps),
                          .amount = &traffic->bytes[0][kind],
                          .stride = TRAFFIC_COUNT,
                          .numerator = 1000, /* bytes in a ps are 1000 GB/s */
                          .denominator = traffic_step_ps(traffic)};
  if (network) {
    track->numerator = PS_PER_SECOND;
    track->denominator *= (uint64_t)result->soc->core_hz;
  }
  snprintf(track->name, sizeof track->name, "%s", traffic_name(kind));
  return traffic_sum(traffic, kind) > 0;
}

static struct track of_series(const char *name, const struct series *series) {
  struct track track = {.step_ps = series->step_ps,
                        .steps = series->steps,
                        .amount = series->amount,
                        .stride = 1,
                        .denominator = series->step_ps};
  snprintf(track.name, sizeof track.name, "%s", name);
  return track;
}

struct track track_bytes(const char *name, const struct series *series) {
  struct track track = of_series(name, series);
  track.unit = "GB/s";
  track.numerator = 1000;
  return track;
}

struct track track_depth(const char *name, const struct series *series) {
  struct track track = of_series(name, series);
  track.unit = "instructions";
  track.numerator = 1;
  return track;
}

void track_add_queued(struct series *series, const struct vinci_result *result,
                      const struct result_event *event) {
  uint64_t entered_ps =
      lanes_edge_ps(result, event->core, event->start_cycle - event->queued_cycles);
  uint64_t left_ps = lanes_edge_ps(result, event->core, lanes_leave_cycle(event));
  series_spread(series, entered_ps, left_ps, left_ps - entered_ps);
}

void rates_start(struct rates *rates, const struct vinci_result *result) {
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
      series_start(&rates->series[kind][pipe], result);
}

void rates_add(struct rates *rates, const struct vinci_result *result,
               const struct result_event *event) {
  if (lanes_orders(event->op) || event->bytes == 0)
    return;
  series_spread(&rates->series[result->cores[event->core].kind][event->pipe],
                lanes_edge_ps(result, event->core, event->start_cycle),
                lanes_edge_ps(result, event->core, event->end_cycle), event->bytes);
}

bool rates_track(struct track *track, const struct rates *rates, enum core_kind kind,
                 enum pipe pipe) {
  const struct series *series = &rates->series[kind][pipe];
  uint64_t total = 0;
  char name[32];
  for (size_t step = 0; step < series->steps; step++)
    total += series->amount[step];
  snprintf(name, sizeof name, "all %s %s", core_kind_name(kind), pipe_name(pipe));
  *track = track_bytes(name, series);
  return total > 0;
}
