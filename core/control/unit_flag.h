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
#ifndef VINCI_CORE_CONTROL_UNIT_FLAG_H
#define VINCI_CORE_CONTROL_UNIT_FLAG_H

#include "core/chip/layout.h"
#include "core/isa/inst.h"
#include "core/isa/program.h"

enum unit_flag { UNIT_FLAG_OFF = 0, UNIT_FLAG_KEEP = 2, UNIT_FLAG_TURN = 3 };

/* Ranges of L0C that an instruction has at most: mad reads and writes one, halves go to two UB. */
enum { UNIT_RANGES_MAX = 4 };

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

/* Who may have a unit. UNIT_IN_TRANSFER: nobody, a fixpipe is reading the unit. */
enum unit_state { UNIT_WRITABLE, UNIT_READABLE, UNIT_IN_TRANSFER };

struct unit {
  uint32_t line; /* UNIT_READABLE: of the mad that handed the unit over, else 0 */
  uint8_t state; /* enum unit_state */
};

/* The unit flags of a core. */
struct unit_flags {
  struct unit *unit;   /* NULL: the core has no L0C, or no row of the trace has a unit flag */
  struct unit_set set; /* room for the units of one instruction */
};

/* False when memory is short. */
bool unit_flags_create(struct unit_flags *flags, struct arena *arena, const struct vinci_soc *soc,
                       const struct vinci_trace *trace, enum core_kind kind);
/* All units may be written. */
void unit_flags_start_block(struct unit_flags *flags);
/* The first unit of flags->set that holds an instruction of M or FIX back; set.units when there is
 * none. */
uint32_t unit_flags_blocked(const struct unit_flags *flags, enum pipe pipe);
static inline bool unit_is_free(const struct unit_flags *flags, uint32_t unit, enum pipe pipe) {
  return flags->unit[unit].state == (pipe == PIPE_M ? UNIT_WRITABLE : UNIT_READABLE);
}
/* What becomes of the units of an instruction with UNIT_FLAG_TURN that has started; to_gm: in a
 * model in which transfers to GM take time. */
static inline enum unit_state unit_next_state(enum pipe pipe, bool to_gm) {
  return pipe == PIPE_M ? UNIT_READABLE : to_gm ? UNIT_IN_TRANSFER : UNIT_WRITABLE;
}
static inline void unit_turn(struct unit_flags *flags, uint32_t unit, enum unit_state state,
                             uint32_t line) {
  flags->unit[unit] =
      (struct unit){.line = state == UNIT_READABLE ? line : 0, .state = (uint8_t)state};
}

void unit_use_find(const struct vinci_soc *soc, const struct inst *inst, struct unit_use *use);
/* Makes the set that of the units in use, and returns how many they are. */
uint32_t unit_set_fill(const struct unit_set *set, const struct unit_use *use);
/* The first unit of the set from one on; set->units when there is none. */
uint32_t unit_set_next(const struct unit_set *set, uint32_t from);

#endif
