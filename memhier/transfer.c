/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all transfers share. A path that a SoC lacks (rate 0) has no duration
 * here; the core rejects such instructions before they cost anything.
 */
#include "memhier/transfer.h"

enum path transfer_path(const struct inst *inst) {
  /* Path + 1, so that absent pairs are 0. */
  static const uint8_t path_of[SPACE_COUNT][SPACE_COUNT] = {
#define X(id, from, to, pipe) [SPACE_##from][SPACE_##to] = PATH_##id + 1,
      PATH_LIST(X)
#undef X
  };
  const struct isa_row *row = isa_row((enum isa_op)inst->op);
  uint8_t found = path_of[row->arg[TRANSFER_SRC].space][row->arg[TRANSFER_DST].space];
  return found ? (enum path)(found - 1) : PATH_NONE;
}

uint64_t transfer_address(const struct inst *inst, unsigned arg) {
  return (uint64_t)inst->arg[arg];
}

uint64_t transfer_span(struct transfer_runs runs) {
  return runs.count && runs.bytes ? (runs.count - 1) * runs.stride_bytes + runs.bytes : 0;
}

void transfer_cost_local(const struct vinci_soc *soc, enum path path, uint64_t bytes,
                         struct inst_cost *cost) {
  const struct path_cost *numbers = &soc->path[path];
  uint64_t rate = (uint64_t)numbers->mbytes_per_cycle;
  /* bytes / (rate / 1000) cycles, in thousandths. */
  uint64_t moving = rate ? ceil_div(bytes * MILLI * MILLI, rate) : 0;
  if (moving < (uint64_t)numbers->minimum_mcycles)
    moving = (uint64_t)numbers->minimum_mcycles;
  uint64_t cycles = ceil_div(moving + (uint64_t)numbers->startup_mcycles, MILLI);
  *cost = (struct inst_cost){
      .issue_cycles = cycles,
      .latency_cycles = cycles,
      .path = path,
      .bytes = bytes,
  };
}

void transfer_cost_gm(const struct vinci_soc *soc, enum path path, uint64_t gm_address,
                      struct transfer_runs runs, struct inst_cost *cost) {
  const struct path_cost *numbers = &soc->path[path];
  uint64_t startup = ceil_div((uint64_t)numbers->startup_mcycles, MILLI);
  uint64_t bytes = runs.count * runs.bytes;
  if (runs.stride_bytes == runs.bytes || runs.count == 1)
    runs = (struct transfer_runs){.count = 1, .bytes = bytes, .stride_bytes = bytes};
  *cost = (struct inst_cost){
      .issue_cycles = startup,
      .latency_cycles = startup,
      .path = path,
      .bytes = bytes,
      .minimum_cycles = ceil_div((uint64_t)numbers->minimum_mcycles, MILLI),
  };
  /* A copy of nothing pays the start-up and leaves the memory system alone. */
  if (bytes == 0)
    return;
  cost->uses_gm = true;
  cost->gm_write = path_to(path) == SPACE_GM;
  cost->gm_address = gm_address;
  cost->gm_bursts = runs.count;
  cost->gm_burst_bytes = runs.bytes;
  cost->gm_stride_bytes = runs.stride_bytes;
}
