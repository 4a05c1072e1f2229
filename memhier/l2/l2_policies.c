/* SPDX-License-Identifier: Apache-2.0 */
/* Replacement policies of L2: two to four functions for each row of core/chip/l2_policies.def. */
#include "memhier/l2/l2_policies.h"

#include <stddef.h>
#include <string.h>

/* ---- fifo: the number of the way that came in first ---------------------------------------- */

static uint32_t fifo_bytes(uint32_t ways) {
  (void)ways;
  return 1;
}

static unsigned fifo_victim(uint8_t *set, unsigned ways) {
  unsigned way = *set;
  *set = (uint8_t)(way + 1 < ways ? way + 1 : 0);
  return way;
}

#define fifo_touch NULL

static void fifo_order(const uint8_t *set, unsigned ways, uint8_t *order) {
  for (unsigned i = 0; i < ways; i++)
    order[i] = (uint8_t)((*set + i) % ways);
}

/* ---- lru: for each way a rank, the higher the later it was touched; 0: never ---------------- */

static uint32_t lru_bytes(uint32_t ways) { return ways; }

static unsigned lru_victim(uint8_t *set, unsigned ways) {
  unsigned least = 0;
  for (unsigned way = 1; way < ways; way++)
    least = set[way] < set[least] ? way : least;
  return least;
}

static void lru_touch(uint8_t *set, unsigned ways, unsigned way) {
  uint8_t rank = set[way];
  for (unsigned other = 0; other < ways; other++)
    set[other] = (uint8_t)(set[other] - (set[other] > rank));
  set[way] = (uint8_t)ways;
}

/* Ranks end with the number of ways and have no gaps. */
static void lru_order(const uint8_t *set, unsigned ways, uint8_t *order) {
  unsigned never = 0;
  for (unsigned way = 0; way < ways; way++)
    order[set[way] > 0 ? set[way] - 1u : never++] = (uint8_t)way;
}

/* ---- the table ------------------------------------------------------------------------------ */

static const struct l2_policy policies[] = {
#define L2_POLICY(name, text) {#name, name##_bytes, name##_victim, name##_touch, name##_order},
#include "core/chip/l2_policies.def"
#undef L2_POLICY
};

const struct l2_policy *l2_policy_find(const char *name) {
  if (*name == '\0')
    return policies;
  for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
    if (strcmp(policies[i].name, name) == 0)
      return &policies[i];
  return NULL;
}
