/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of device memory over time: longer steps as a run gets longer. */
#include "core/result/traffic.h"

#include <string.h>

static void join(uint64_t amount[TRAFFIC_STEPS]) {
  for (unsigned i = 0; i < TRAFFIC_STEPS / 2; i++)
    amount[i] = amount[2 * i] + amount[2 * i + 1];
  memset(amount + TRAFFIC_STEPS / 2, 0, TRAFFIC_STEPS / 2 * sizeof *amount);
}

void traffic_reach(struct device_traffic *traffic, uint64_t at_ps) {
  while (at_ps >> (TRAFFIC_SHIFT + traffic->doublings) >= TRAFFIC_STEPS) {
    join(traffic->read_bytes);
    join(traffic->write_bytes);
    traffic->doublings++;
  }
}
