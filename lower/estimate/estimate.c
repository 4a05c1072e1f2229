/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of estimates: launch and start of a kernel, copies, device memory. */
#include "lower/estimate/estimate.h"

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "lower/kernel/emit.h"

/* ---- launch: blocks are handed out one after the other, so more cores are not always sooner done
 */

static uint64_t cycles_of(const struct vinci_soc *soc, uint128 ps) {
  return (uint64_t)(ps * (uint64_t)soc->core_hz / PS_PER_SECOND);
}

uint64_t launch_block_cycles(const struct vinci_soc *soc, enum core_kind kind, uint64_t blocks,
                             uint64_t index) {
  return cycles_of(soc, soc_dispatch_ps(soc, soc_core_count(soc, kind), blocks, index));
}

uint64_t launch_spread_cycles(const struct vinci_soc *soc, enum core_kind kind, uint64_t blocks) {
  return blocks > 0 ? launch_block_cycles(soc, kind, blocks, blocks - 1) : 0;
}

uint64_t launch_cycles(const struct vinci_soc *soc, enum core_kind kind, uint64_t blocks) {
  return cycles_of(soc, (uint64_t)soc->launch_base_ps) + launch_spread_cycles(soc, kind, blocks);
}

static uint64_t work_cycles(const struct vinci_soc *soc, uint64_t blocks, uint64_t pieces,
                            uint64_t piece_cycles) {
  return launch_cycles(soc, emit_vector_core(soc), blocks) +
         ceil_div(pieces, blocks) * piece_cycles;
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

/* ---- one block ------------------------------------------------------------------------------- */

uint64_t estimate_start(const struct vinci_soc *soc, enum kernel_code code, uint64_t blocks) {
  const struct kernel_start *kernel = &soc->kernel[code];
  uint32_t lines = soc_code_lines(soc, (uint64_t)kernel->code_bytes);
  return (uint64_t)kernel->head_cycles +
         soc_code_cycles(soc, (uint64_t)kernel->line_cycles, lines, lines, blocks);
}

uint64_t estimate_first_read(const struct vinci_soc *soc, uint64_t blocks) {
  return blocks > 0 ? (uint64_t)soc->first_read_cycles * (blocks - 1) : 0;
}

uint64_t kernel_issue_cycles(const struct vinci_soc *soc, enum kernel_code code) {
  int64_t cycles = soc->kernel[code].issue_cycles;
  return (uint64_t)(cycles ? cycles : soc->scalar_issue_cycles);
}

uint64_t start_spread_cycles(const struct vinci_soc *soc, enum kernel_code code, uint64_t blocks) {
  return launch_spread_cycles(soc, emit_cube_core(soc), blocks) +
         estimate_start(soc, code, blocks) - estimate_start(soc, code, 1) +
         estimate_first_read(soc, blocks);
}

uint64_t estimate_next_mcycles(const struct path_cost *path) {
  int64_t next = path->overlap_issue_mcycles;
  return (uint64_t)(next > 0 && next < path->startup_mcycles ? next : path->startup_mcycles);
}

/* A copy that starts up while another moves is late only when that other is short. */
uint64_t estimate_copies(const struct path_cost *path, uint64_t bytes, uint64_t copies) {
  if (copies == 0)
    return 0;
  uint64_t rate = (uint64_t)path->mbytes_per_cycle;
  if (path->hbm_mbytes_per_cycle > 0)
    rate = min_u64(rate, (uint64_t)path->hbm_mbytes_per_cycle);
  uint64_t startup_mcycles = (uint64_t)path->startup_mcycles, next = estimate_next_mcycles(path);
  uint64_t moved = bytes * MILLI / rate, sustained = (uint64_t)path->sustained_mbytes_per_cycle;
  uint64_t cycles = (startup_mcycles + (copies - 1) * next) / MILLI;
  cycles = next < startup_mcycles
               ? max_u64(cycles + moved / copies, startup_mcycles / MILLI + moved)
               : cycles + moved;
  return max_u64(cycles, sustained ? bytes * MILLI / sustained : 0);
}

uint64_t estimate_reorder(const struct vinci_soc *soc, uint64_t rows, uint64_t row_bytes,
                          uint64_t stride_bytes) {
  uint64_t line_bytes = soc_reorder_line_bytes(soc);
  /* Rows begin at multiples of their distance and length: the largest power of two in both tells
   * where in a line. On the mean a row touches this much more than its own bytes. The engine counts
   * rows without gaps as if each began a line. */
  uint64_t starts = row_bytes | stride_bytes;
  uint64_t step_bytes = min_u64(starts & (~starts + 1), line_bytes);
  uint64_t touched_bytes = stride_bytes == row_bytes
                               ? round_up(row_bytes, line_bytes)
                               : round_up(row_bytes, step_bytes) + line_bytes - step_bytes;
  return rows * touched_bytes * (uint64_t)soc->nd2nz_line_mcycles / (line_bytes * MILLI);
}

uint64_t estimate_memory(const struct vinci_soc *soc, uint64_t in_bytes, uint64_t out_bytes) {
  uint64_t l2_bytes = (uint64_t)soc->l2_bytes;
  uint64_t bytes = in_bytes + (out_bytes > l2_bytes ? out_bytes - l2_bytes : 0);
  return (uint64_t)((uint128)bytes * (uint64_t)soc->core_hz / soc_hbm_bytes_per_second(soc));
}

/* The first alone / memory of the cores have memory at work; until they all run, half of them do on
 * the mean. */
uint64_t estimate_memory_idle(uint64_t memory, uint64_t spread, uint64_t alone) {
  return alone < memory ? (uint64_t)((uint128)spread * alone / memory / 2) : spread / 2;
}
