/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all transfers share. A path that a SoC lacks (rate 0) has no duration
 * here; the core rejects such instructions before they cost anything.
 */
#include "memhier/transfer/transfer.h"

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

unsigned transfer_touch(const struct inst *inst, struct inst_access *access, unsigned count,
                        unsigned arg, uint64_t offset, const struct transfer_runs *levels,
                        unsigned level_count) {
  struct inst_runs runs = {.bytes = levels[level_count - 1].bytes};
  uint64_t bytes = runs.bytes;
  for (unsigned i = level_count; i-- > 0;) {
    struct transfer_runs level = levels[i];
    level.bytes = bytes;
    bytes = transfer_span(level);
    runs.level[i] = (struct inst_level){level.count, level.stride_bytes};
  }
  unsigned from = count;
  count = inst_touch(inst, access, count, arg, offset, bytes);
  inst_set_runs(access, from, count, runs);
  return count;
}

uint64_t transfer_minimum_mcycles(const struct path_cost *path, uint64_t bytes) {
  uint64_t minimum = (uint64_t)path->minimum_mcycles;
  uint64_t rate = (uint64_t)path->sustained_mbytes_per_cycle;
  uint64_t sustained = rate ? ceil_div(bytes * MILLI * MILLI, rate) : 0;
  return minimum > sustained ? minimum : sustained;
}

/* Binary logarithm in thousandths, straight between powers of two. */
static uint64_t log2_milli(uint64_t value) {
  unsigned whole = 63 - (unsigned)__builtin_clzll(value);
  uint64_t power = UINT64_C(1) << whole;
  return whole * MILLI + (value - power) * MILLI / power;
}

uint64_t transfer_startup_mcycles(const struct path_cost *path, uint64_t bytes) {
  uint64_t startup = (uint64_t)path->startup_mcycles;
  if (path->request_bytes == 0 || bytes == 0)
    return startup;
  uint64_t requests = ceil_div(bytes, (uint64_t)path->request_bytes);
  return startup + (uint64_t)path->spread_mcycles * log2_milli(requests) / MILLI;
}

void transfer_cost_local(const struct vinci_soc *soc, enum path path, uint64_t bytes,
                         struct inst_cost *cost) {
  const struct path_cost *numbers = &soc->path[path];
  uint64_t rate = (uint64_t)numbers->mbytes_per_cycle;
  /* bytes / (rate / 1000) cycles, in thousandths. */
  uint64_t startup = transfer_startup_mcycles(numbers, bytes);
  uint64_t mcycles = startup + (rate ? ceil_div(bytes * MILLI * MILLI, rate) : 0);
  uint64_t minimum = transfer_minimum_mcycles(numbers, bytes);
  /* To the nearest cycle: rounding up would add most of a cycle to each copy of a stream. */
  uint64_t cycles = (max_u64(mcycles, minimum) + MILLI / 2) / MILLI;
  *cost = (struct inst_cost){
      .issue_cycles = cycles,
      .latency_cycles = cycles,
      .startup_cycles = min_u64(cycles, startup / MILLI),
      .path = path,
      .bytes = bytes,
  };
}

void transfer_cost_gm(const struct vinci_soc *soc, enum path path, uint64_t gm_address,
                      struct transfer_runs runs, struct inst_cost *cost) {
  const struct path_cost *numbers = &soc->path[path];
  uint64_t bytes = runs.count * runs.bytes;
  uint64_t startup = ceil_div(transfer_startup_mcycles(numbers, bytes), MILLI);
  if (runs.stride_bytes == runs.bytes || runs.count == 1)
    runs = (struct transfer_runs){.count = 1, .bytes = bytes, .stride_bytes = bytes};
  *cost = (struct inst_cost){
      .issue_cycles = startup,
      .latency_cycles = startup,
      .startup_cycles = startup,
      .path = path,
      .bytes = bytes,
      .minimum_cycles = ceil_div(transfer_minimum_mcycles(numbers, bytes), MILLI),
      .sustained = transfer_minimum_mcycles(numbers, bytes) > (uint64_t)numbers->minimum_mcycles,
      .acknowledge_cycles = ceil_div((uint64_t)numbers->acknowledge_mcycles, MILLI),
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

void transfer_overlap(const struct vinci_soc *soc, struct inst_cost *cost) {
  uint64_t next = ceil_div((uint64_t)soc->path[cost->path].overlap_issue_mcycles, MILLI);
  if (!cost->uses_gm || next == 0 || next >= cost->latency_cycles)
    return;
  cost->overlaps = true;
  cost->issue_cycles = next;
}

void transfer_reorder(const struct vinci_soc *soc, struct transfer_runs rows,
                      struct inst_cost *cost) {
  if (!cost->uses_gm)
    return;
  uint64_t line_bytes = soc_reorder_line_bytes(soc);
  cost->line_mcycles = (uint64_t)soc->nd2nz_line_mcycles;
  cost->line_bytes = line_bytes;
  /* Rows without gaps are one run, whose lines are fewer than those of the rows. */
  if (cost->gm_burst_bytes > rows.bytes)
    cost->line_mcycles = cost->line_mcycles * rows.count * ceil_div(rows.bytes, line_bytes) /
                         (cost->gm_bursts * ceil_div(cost->gm_burst_bytes, line_bytes));
  transfer_overlap(soc, cost);
}
