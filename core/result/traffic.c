/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes over time: longer steps as a run gets longer. */
#include "core/result/traffic.h"

#include <string.h>

#include "core/base/arith.h"

/* Joins each two steps. */
static void join(struct memory_traffic *traffic) {
  for (unsigned i = 0; i < TRAFFIC_STEPS / 2; i++)
    for (unsigned kind = 0; kind < TRAFFIC_COUNT; kind++)
      traffic->bytes[i][kind] = traffic->bytes[2 * i][kind] + traffic->bytes[2 * i + 1][kind];
  memset(traffic->bytes[TRAFFIC_STEPS / 2], 0, sizeof traffic->bytes / 2);
  traffic->doublings++;
}

void traffic_reach(struct memory_traffic *traffic, uint64_t at_ps) {
  while (at_ps >> (TRAFFIC_SHIFT + traffic->doublings) >= TRAFFIC_STEPS)
    join(traffic);
}

size_t traffic_steps(const struct memory_traffic *traffic, uint64_t total_ps) {
  return (size_t)min_u64(total_ps / traffic_step_ps(traffic) + 1, TRAFFIC_STEPS);
}

uint64_t traffic_sum(const struct memory_traffic *traffic, enum traffic_kind kind) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < TRAFFIC_STEPS; i++)
    sum += traffic->bytes[i][kind];
  return sum;
}

const char *traffic_key(enum traffic_kind kind) {
  static const char *const keys[] = {
#define X(id, key, name) key,
      TRAFFIC_LIST(X)
#undef X
  };
  return keys[kind];
}

const char *traffic_name(enum traffic_kind kind) {
  static const char *const names[] = {
#define X(id, key, name) name,
      TRAFFIC_LIST(X)
#undef X
  };
  return names[kind];
}
