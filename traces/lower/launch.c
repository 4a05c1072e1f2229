/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks are handed out one after the other: more cores are not always sooner done. */
#include "traces/lower/launch.h"

#include "core/base/arith.h"
#include "core/base/clock.h"

static uint64_t cycles_of(const struct vinci_soc *soc, uint128 ps) {
  return (uint64_t)(ps * (uint64_t)soc->core_hz / PS_PER_SECOND);
}

uint64_t launch_spread_cycles(const struct vinci_soc *soc, uint64_t blocks) {
  return blocks > 0 ? cycles_of(soc, (uint128)(blocks - 1) * (uint64_t)soc->launch_block_ps) : 0;
}

uint64_t launch_cycles(const struct vinci_soc *soc, uint64_t blocks) {
  return cycles_of(soc, (uint64_t)soc->launch_base_ps) + launch_spread_cycles(soc, blocks);
}

static uint64_t work_cycles(const struct vinci_soc *soc, uint64_t blocks, uint64_t pieces,
                            uint64_t piece_cycles) {
  return launch_cycles(soc, blocks) + ceil_div(pieces, blocks) * piece_cycles;
}

uint64_t launch_cores(const struct vinci_soc *soc, uint64_t cores, uint64_t pieces,
                      uint64_t piece_cycles) {
  uint64_t best = 1, most = min_u64(cores, pieces);
  for (uint64_t blocks = 2; blocks <= most; blocks++)
    if (work_cycles(soc, blocks, pieces, piece_cycles) <
        work_cycles(soc, best, pieces, piece_cycles))
      best = blocks;
  return best;
}

uint64_t launch_work_cycles(const struct vinci_soc *soc, uint64_t cores, uint64_t pieces,
                            uint64_t piece_cycles) {
  return work_cycles(soc, launch_cores(soc, cores, pieces, piece_cycles), pieces, piece_cycles);
}
