/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the indices of a gather or a scatter lead in UB, and how often they need the busiest
 * subbank (Ascend C documentation, avoiding bank conflicts on NPU architecture 3510): numbers of
 * one row of a subbank come together, those of several rows one after the other.
 */
#ifndef VINCI_CORE_MACHINE_REACH_H
#define VINCI_CORE_MACHINE_REACH_H

#include "core/base/number.h"
#include "core/chip/soc.h"

struct reach_indices {
  uint64_t base;        /* in UB, bytes */
  const uint8_t *index; /* the register: 256 bytes */
  unsigned count;       /* of indices */
  unsigned index_bytes; /* 2 or 4; an index counts when the bit of its first byte is set */
  uint64_t mask[4];     /* a bit for each byte of a register */
  unsigned unit_bytes;  /* of what an index counts */
  unsigned bytes;       /* at each */
};

struct reach {
  uint64_t first, last; /* the lowest and the highest index; 0 when none counts */
  uint32_t turns;       /* at least 1 */
};

struct reach reach_of(const struct vinci_soc *soc, const struct reach_indices *indices);

#endif
