/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mad: cost from the number of tiles, ranges from the fractal layouts. Left out: the
 * GEMV mode's own speed, which is not published. A sparse mad takes as many tiles as the values
 * of B fill: the documentation gives its parallelism (that of int8) and says that A is reduced to
 * these values before an ordinary mad; that k of its formula counts them is derived.
 * core/sim/pipe_units.c has the unit flag's overlap with the fixpipe.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "cube/cube.h"

void cube_mad_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  enum dtype type = inst_dtype(inst);
  uint64_t m = (uint64_t)inst->arg[MAD_M];
  uint64_t k = mad_k(inst);
  uint64_t n = (uint64_t)inst->arg[MAD_N];
  uint64_t tile_k = (uint64_t)soc->cube_k_bytes * BITS_PER_BYTE / dtype_bits(type);
  uint64_t tiles =
      ceil_div(m, (uint64_t)soc->cube_m) * ceil_div(k, tile_k) * ceil_div(n, (uint64_t)soc->cube_n);
  uint64_t steady = tiles * (uint64_t)soc_cube_mcycles(soc, type);
  if (tiles)
    steady = max_u64(steady, (uint64_t)soc->cube_least_mcycles);
  uint64_t latency = steady + (uint64_t)soc->cube_startup_mcycles;
  /* A mad without tiles takes time too: the start-up. */
  uint64_t issue = tiles ? steady + (uint64_t)soc->cube_issue_mcycles : latency;
  issue = max_u64(issue, max_u64((uint64_t)soc->cube_minimum_mcycles, MILLI));
  latency = max_u64(latency, issue);
  *cost = (struct inst_cost){
      .issue_cycles = issue / MILLI,
      .issue_rest_mcycles = issue % MILLI,
      .latency_cycles = ceil_div(latency, MILLI),
      .startup_cycles = (latency - steady) / MILLI,
      .path = PATH_NONE,
      .unit_work = tiles,
      .operations = m * k * n,
  };
}

static struct inst_access range(enum space space, bool write, const struct inst *inst, unsigned arg,
                                uint64_t bytes) {
  return (struct inst_access){.space = space,
                              .write = write,
                              .address = inst->arg[arg],
                              .bytes = bytes,
                              .arg = (uint8_t)arg};
}

/* Of a buffer beside that of an operand, whose address is a share of the operand's. */
static struct inst_access beside(enum space space, const struct inst *inst, unsigned arg,
                                 uint64_t bytes, int64_t share) {
  struct inst_access access = range(space, false, inst, arg, bytes);
  access.address /= share;
  return access;
}

unsigned cube_mad_access(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_access *access) {
  (void)soc;
  uint64_t m = (uint64_t)inst->arg[MAD_M];
  uint64_t n = (uint64_t)inst->arg[MAD_N];
  if (m == 0 || inst->arg[MAD_K] == 0 || n == 0)
    return 0;
  uint64_t k_blocks = mad_k_blocks(inst);
  uint64_t a_bytes = mad_is_gemv(inst) ? k_blocks * BLOCK_BYTES
                                       : ceil_div(m, FRACTAL_ROWS) * k_blocks * FRACTAL_BYTES;
  uint64_t b_bytes = ceil_div(n, FRACTAL_ROWS) * mad_b_blocks(inst) * FRACTAL_BYTES;
  uint64_t c_side = L0C_FRACTAL_SIDE;
  uint64_t c_bytes =
      ceil_div(m, c_side) * ceil_div(n, c_side) * c_side * c_side * mad_sum_bytes(inst);
  unsigned count = 0;
  access[count++] = range(SPACE_L0A, false, inst, MAD_A, a_bytes);
  access[count++] = range(SPACE_L0B, false, inst, MAD_B, b_bytes);
  if (mad_is_sparse(inst))
    access[count++] =
        beside(SPACE_IDX, inst, MAD_B, b_bytes / SPARSE_INDEX_SHARE, SPARSE_INDEX_SHARE);
  if (mad_is_scaled(inst)) {
    /* Ascend C documentation, MmadMx: fp4 begins at 512 bytes, fp8 at 1,024. */
    uint16_t alignment = dtype_bits(inst_dtype(inst)) == BITS_PER_BYTE ? 2 * FRACTAL_BYTES : 0;
    access[0].alignment = access[1].alignment = alignment;
    access[count++] = beside(SPACE_L0A_MX, inst, MAD_A, mad_scale_bytes(inst, m), MX_SHARE);
    access[count++] = beside(SPACE_L0B_MX, inst, MAD_B, mad_scale_bytes(inst, n), MX_SHARE);
  }
  if (!inst->arg[MAD_INIT] && inst->arg[MAD_SOURCE] == MAD_SOURCE_BT)
    access[count++] = range(SPACE_BT, false, inst, MAD_BIAS, n * ACCUMULATOR_BYTES);
  else if (!inst->arg[MAD_INIT])
    access[count++] = range(SPACE_L0C, false, inst, MAD_C, c_bytes);
  access[count] = range(SPACE_L0C, true, inst, MAD_C, c_bytes);
  access[count].partial = m % c_side != 0 || n % c_side != 0;
  access[count++].alignment = (uint16_t)(L0C_ALIGNMENT * mad_sum_bytes(inst) / ACCUMULATOR_BYTES);
  return count;
}
