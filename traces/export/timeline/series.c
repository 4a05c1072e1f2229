/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts over time in equal steps. */
#include "traces/export/timeline/series.h"

#include <string.h>

#include "core/base/arith.h"

void series_start(struct series *series, const struct vinci_result *result) {
  uint64_t steps = result->total_ps / SERIES_STEP_PS + 1;
  uint64_t joined = ceil_div(steps, SERIES_STEPS_MAX);
  series->step_ps = joined * SERIES_STEP_PS;
  series->steps = (size_t)ceil_div(steps, joined);
  memset(series->amount, 0, sizeof series->amount);
}

void series_start_fine(struct series *series, const struct vinci_result *result) {
  series->step_ps = result->total_ps / SERIES_STEPS_MAX + 1;
  series->steps = (size_t)(result->total_ps / series->step_ps + 1);
  memset(series->amount, 0, sizeof series->amount);
}

void series_add(struct series *series, const struct series *other) {
  for (size_t step = 0; step < series->steps; step++)
    series->amount[step] += other->amount[step];
}

/* Differences of what has been spread by the end of each step, so that no rest is lost. */
void series_spread(struct series *series, uint64_t start_ps, uint64_t end_ps, uint64_t amount) {
  size_t last = series->steps - 1;
  size_t step = min_u64(start_ps / series->step_ps, last);
  uint64_t done = 0;
  for (; step < last && (step + 1) * series->step_ps < end_ps; step++) {
    uint64_t passed_ps = (step + 1) * series->step_ps - start_ps;
    uint64_t now_done = (uint64_t)((uint128)amount * passed_ps / (end_ps - start_ps));
    series->amount[step] += now_done - done;
    done = now_done;
  }
  series->amount[step] += amount - done;
}
