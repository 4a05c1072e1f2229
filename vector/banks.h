/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The banks of UB, and what a vector instruction loses to them.
 *
 * UB is built of groups of banks; rows of 32 bytes at neighbouring addresses lie in
 * neighbouring groups. Per cycle a group reads ub.reads_per_group rows and writes one, a
 * bank does one thing. So per repeat
 * - blocks of one operand that fall into one group come one after the other (8 blocks in a
 *   group: 8 cycles; at a distance of 8 blocks, with 16 groups: 4);
 * - sources are read together unless more of them want a group than it can read: then one
 *   after the other, in the order of the operands;
 * - a block that all lanes share (block stride 0) is read once, and a source that does not
 *   move (repeat stride 0) is read in the first repeat only;
 * - the result is written ub.write_delay_cycles after the last read of its repeat, or a cycle
 *   later when a source starts in the same group: an operation in place, or on
 *   buffers of the same alignment, so meets the other half of the groups. Reads wait while
 *   a bank they want is written to.
 * A repeat takes what its cost class takes or what the ports need, whichever is more. Reads
 * and writes do not collide in classes slow enough to leave a free cycle in each repeat, nor
 * where ub.write_delay_cycles is 0.
 *
 * Source of maps and rules: Ascend C documentation and samples; the delay is the one number
 * fitted to the measured cases of the sample bank_conflict_ub.
 *
 * Left out: the few bytes per repeat of masks, comparison results and reductions; blocks
 * whose addresses depend on data (gathers); copies of the transfer engines at the same time;
 * collisions with the writes of the instruction before.
 */
#ifndef VINCI_VECTOR_BANKS_H
#define VINCI_VECTOR_BANKS_H

#include "core/chip/soc.h"

/* One operand: `blocks` rows per repeat; numbers of rows, from the start of UB. */
struct bank_operand {
  uint64_t row; /* of the first block of the first repeat */
  uint64_t block_stride;
  uint64_t repeat_stride;
  uint64_t blocks; /* 0: not there */
};

enum { BANK_READS_MAX = 3 };

struct bank_traffic {
  struct bank_operand read[BANK_READS_MAX]; /* in the order of the instruction's operands */
  unsigned reads;
  struct bank_operand write;
  uint64_t repeats;
};

/* Thousandths of cycles beyond repeats x per_repeat_mcycles. */
struct bank_loss {
  uint64_t group_mcycles; /* rows that wait for their group */
  uint64_t bank_mcycles;  /* reads that wait for a write */
};

struct bank_loss banks_loss(const struct vinci_soc *soc, const struct bank_traffic *traffic,
                            uint64_t per_repeat_mcycles);

#endif
