/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit flags: how mad and the fixpipe take turns on L0C without set_flag and wait_flag.
 *
 * The hardware has a flag for each 512-byte block of L0C, which says whether the block may be
 * written or may be read (Ascend C documentation, SetFixPipeConfig). A mad with the operand
 * unit_flag waits until its blocks may be written, a fixpipe until its blocks may be read. With
 * UNIT_FLAG_KEEP they leave the flags as they are, with UNIT_FLAG_TURN each block changes sides as
 * soon as it is written or read (values: cann-ops, conv_util.h). All blocks may be written when a
 * block of the kernel starts.
 *
 * Assumed: the two blocks of a fractal of 16 x 16 accumulators, a unit here, have one flag, so
 * that a mad and a fixpipe with different numbers of rows in the last fractal agree; an
 * instruction without the operand neither looks at the flags nor changes them.
 */
#ifndef VINCI_CORE_ISA_UNIT_FLAG_H
#define VINCI_CORE_ISA_UNIT_FLAG_H

#include "core/chip/layout.h"
#include "core/isa/inst.h"
#include "core/isa/program.h"

enum unit_flag { UNIT_FLAG_OFF = 0, UNIT_FLAG_KEEP = 2, UNIT_FLAG_TURN = 3 };

/* Ranges of L0C that an instruction has at most: mad reads and writes one, halves go to two UB. */
enum { UNIT_RANGES_MAX = 2 };

/* What an instruction with a unit flag touches of L0C. */
struct unit_use {
  unsigned count;
  struct inst_access access[UNIT_RANGES_MAX];
};

/* A set of the units of an L0C. */
struct unit_set {
  uint64_t *bits;
  uint32_t units;
};

/* An empty set for the L0C of a chip; false when memory is short. */
bool unit_set_create(struct unit_set *set, struct arena *arena, const struct vinci_soc *soc);
void unit_use_find(const struct vinci_soc *soc, const struct inst *inst, struct unit_use *use);
/* Makes the set that of the units in use, and returns how many they are. */
uint32_t unit_set_fill(const struct unit_set *set, const struct unit_use *use);
/* The first unit of the set from one on; set->units when there is none. */
uint32_t unit_set_next(const struct unit_set *set, uint32_t from);

#endif
