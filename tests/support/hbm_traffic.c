/* SPDX-License-Identifier: Apache-2.0 */
/* Random traffic for tests of the DRAM controller. */
#include "tests/support/hbm_traffic.h"

#include "tests/support/hbm_specs.h"

enum { BURST_BYTES = 32, PERCENT = 100 };

const struct traffic traffics[TRAFFICS] = {
    {HBM2_M1, 0, 0, 50, UINT64_C(1) << 29},   {HBM2_M3, 100, 0, 50, UINT64_C(1) << 29},
    {HBM2_M3, 33, 0, 80, UINT64_C(1) << 29},  {HBM2_M2, 50, 30, 0, UINT64_C(1) << 29},
    {HBM2_M3, 50, 0, 20, UINT64_C(1) << 16},  {HBM2_M1, 20, 70, 60, UINT64_C(1) << 20},
    {HBM2_M3, 10, 90, 10, UINT64_C(1) << 12}, {HBM2_M2, 0, 0, 97, UINT64_C(1) << 29},
};

/* Linear congruential generator with the constants of Knuth's MMIX. */
static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

void traffic_next(struct traffic_source *source) {
  const struct traffic *traffic = source->traffic;
  if (next_random(&source->random) % PERCENT < traffic->run_percent) {
    source->address += BURST_BYTES;
  } else {
    source->address = next_random(&source->random) * BURST_BYTES;
    source->write = next_random(&source->random) % PERCENT < traffic->write_percent;
  }
  source->address %= traffic->span;
}

bool traffic_start(struct traffic_source *source, const struct traffic *traffic,
                   const struct mem_spec *mem, uint64_t seed) {
  *source = (struct traffic_source){.traffic = traffic, .random = seed};
  if (hbm_map_parse(&source->map, traffic->map, mem, 1, NULL) != VINCI_OK)
    return false;
  traffic_next(source);
  return true;
}

bool traffic_pauses(struct traffic_source *source) {
  return next_random(&source->random) % PERCENT < source->traffic->idle_percent;
}

struct hbm_place traffic_place(const struct traffic_source *source) {
  struct hbm_place place = hbm_map_decode(&source->map, source->address);
  place.channel = place.row & 1;
  return place;
}
