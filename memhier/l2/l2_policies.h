/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which line of a set leaves L2 when another comes in. A policy keeps some bytes for each set,
 * which are 0 at first; ways are numbers below `ways`, and all ways of a set are empty at first.
 * Both memory models use policies through l2_tags.c alone. A policy is a row of
 * core/chip/l2_policies.def.
 */
#ifndef VINCI_MEMHIER_L2_L2_POLICIES_H
#define VINCI_MEMHIER_L2_L2_POLICIES_H

#include <stdint.h>

struct l2_policy {
  const char *name;
  /* Bytes of a set. */
  uint32_t (*bytes)(uint32_t ways);
  /* The way that a line takes which comes in now. Ways that are empty have to come first. */
  unsigned (*victim)(uint8_t *set, unsigned ways);
  /* A line in L2 is read or written, or has just come in. NULL: this changes nothing. Accesses that
   * pass L2 do not touch. */
  void (*touch)(uint8_t *set, unsigned ways, unsigned way);
  /* Writes all ways in the order in which they leave when nothing is touched. Only for a policy to
   * which this order is all that there is of a set: two sets do the same that hold the same lines
   * in this order, in whatever ways. NULL: the bytes of the set count as they are. */
  void (*order)(const uint8_t *set, unsigned ways, uint8_t *order);
};

/* Of all that later accesses depend on: caches of one geometry with the same digest go on alike. */
struct l2_tags;
uint64_t l2_digest(const struct l2_tags *l2, uint64_t seed);

/* That of a row's name; that of the first row for "", NULL when there is no such row. */
const struct l2_policy *l2_policy_find(const char *name);

#endif
