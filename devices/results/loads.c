/* SPDX-License-Identifier: Apache-2.0 */
/* Load of links over time: a transfer is spread evenly over the slices that it is in. */
#include "devices/results/loads.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/decimal.h"

enum { US_DIGITS = 6, SHARE_DIGITS = 4 };
#define FIRST_WIDTH_PS (UINT64_C(1) << 20) /* about a microsecond */
#define GIGA UINT64_C(1000000000)

/* Two slices become one until `end_ps` lies in the last one or before. */
static void widen(struct job_loads *loads, uint64_t end_ps) {
  if (!loads->width_ps)
    loads->width_ps = FIRST_WIDTH_PS;
  for (; end_ps > loads->width_ps * JOB_LOAD_SLICES; loads->width_ps *= 2)
    for (uint32_t level = 0; level < GROUP_LEVELS_MAX; level++) {
      uint64_t *slices = loads->bytes[level];
      for (uint32_t i = 0; i < JOB_LOAD_SLICES / 2; i++)
        slices[i] = slices[2 * i] + slices[2 * i + 1];
      memset(slices + JOB_LOAD_SLICES / 2, 0, JOB_LOAD_SLICES / 2 * sizeof *slices);
    }
}

void job_keep_load(struct job_loads *loads, const struct group_transfer *moved) {
  const struct group_job *job = loads->job;
  if (moved->step->kind != STEP_EXCHANGE || moved->step->bytes == 0)
    return;
  widen(loads, moved->end_ps);
  uint32_t level = group_level_of(job->system, group_device_of(job, moved->from),
                                  group_device_of(job, moved->to));
  uint64_t takes_ps = max_u64(moved->end_ps - moved->start_ps, 1), done = 0;
  uint64_t last = (max_u64(moved->end_ps, 1) - 1) / loads->width_ps;
  for (uint64_t slice = min_u64(moved->start_ps / loads->width_ps, last); slice <= last; slice++) {
    uint64_t until_ps = min_u64((slice + 1) * loads->width_ps, moved->end_ps);
    uint64_t part =
        slice == last
            ? moved->step->bytes
            : (uint64_t)((uint128)moved->step->bytes * (until_ps - moved->start_ps) / takes_ps);
    loads->bytes[level][slice] += part - done;
    done = part;
  }
}

/* What the links out of all ranks of the job can move, bytes a second. */
static uint64_t rate_of(const struct group_job *job, uint32_t index) {
  const struct group_level *level = &job->system->levels[index];
  uint64_t links = level->join == GROUP_MESH ? min_u64(level->devices, job->ranks) - 1 : 1;
  uint64_t rate = max_u64(level->copy_rate, max_u64(level->reduce_rate, level->send_rate)) * links;
  if (level->device_rate)
    rate = min_u64(rate, level->device_rate);
  return rate * job->ranks;
}

static void put_level(const struct job_loads *loads, uint32_t level, uint64_t end_ps, FILE *out) {
  uint64_t rate = rate_of(loads->job, level);
  for (uint64_t slice = 0; slice * loads->width_ps < end_ps && slice < JOB_LOAD_SLICES; slice++) {
    uint64_t from_ps = slice * loads->width_ps, to_ps = min_u64(from_ps + loads->width_ps, end_ps);
    uint64_t bytes = loads->bytes[level][slice];
    uint64_t most = (uint64_t)((uint128)rate * (to_ps - from_ps) / PS_PER_SECOND);
    fprintf(
        out, "%s,%s,%s,%" PRIu64 ",%s,%s\n", loads->job->system->levels[level].name,
        decimal_exact(from_ps, US_DIGITS).text, decimal_exact(to_ps, US_DIGITS).text, bytes,
        decimal_ratio((uint128)bytes * PS_PER_SECOND, (uint128)GIGA * (to_ps - from_ps), 3).text,
        decimal_ratio(bytes, max_u64(most, 1), SHARE_DIGITS).text);
  }
}

void job_put_loads(const struct job_loads *loads, uint64_t end_ps, FILE *out) {
  fputs("level,from_us,to_us,bytes,gb_per_s,share\n", out);
  for (uint32_t level = 0; loads->width_ps && level < loads->job->system->level_count; level++) {
    uint64_t sum = 0;
    for (uint32_t slice = 0; slice < JOB_LOAD_SLICES; slice++)
      sum += loads->bytes[level][slice];
    if (sum)
      put_level(loads, level, end_ps, out);
  }
}
