/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of events from the counters of a run, and their prices. */
#include "core/result/result_energy.h"

#include "core/base/clock.h"
#include "core/chip/layout.h"
#include "core/chip/mem.h"
#include "core/chip/noc_config.h"

enum { FJ_PER_PJ = 1000, PPM = 1000000 };

/* ---- counts ---------------------------------------------------------------------------------- */

/* The number of a type of data of the cube. */
static enum energy_number mac_of(enum dtype type) {
  switch (type) {
  case DTYPE_FP16:
    return ENERGY_MAC_FP16;
  case DTYPE_BF16:
    return ENERGY_MAC_BF16;
  case DTYPE_HF32:
    return ENERGY_MAC_HF32;
  case DTYPE_INT8:
  case DTYPE_UINT8:
    return ENERGY_MAC_INT8;
  case DTYPE_INT4:
    return ENERGY_MAC_INT4;
  case DTYPE_FP8_E4M3:
  case DTYPE_FP8_E5M2:
    return ENERGY_MAC_FP8;
  case DTYPE_FP4_E2M1:
  case DTYPE_FP4_E1M2:
    return ENERGY_MAC_FP4;
  default:
    return ENERGY_MAC_FP32;
  }
}

/* The same of the vector unit. */
static enum energy_number lane_of(enum dtype type) {
  switch (type) {
  case DTYPE_FP16:
    return ENERGY_LANE_FP16;
  case DTYPE_BF16:
    return ENERGY_LANE_BF16;
  case DTYPE_FP32:
  case DTYPE_HF32:
    return ENERGY_LANE_FP32;
  case DTYPE_INT16:
  case DTYPE_UINT16:
    return ENERGY_LANE_INT16;
  case DTYPE_INT32:
  case DTYPE_UINT32:
  case DTYPE_INT64:
    return ENERGY_LANE_INT32;
  default:
    return ENERGY_LANE_INT8;
  }
}

/* A tile reads its operands whole, reads the sums so far and writes these. */
static void count_cube(const struct vinci_soc *soc, const struct work_counters *work,
                       struct energy_counts *counts) {
  uint64_t rows = (uint64_t)soc->cube_m, columns = (uint64_t)soc->cube_n,
           depth = (uint64_t)soc->cube_k_bytes;
  for (unsigned type = 0; type < DTYPE_COUNT; type++) {
    uint64_t tiles = work->unit_work[type];
    uint64_t mcycles = tiles * (uint64_t)soc_cube_mcycles(soc, (enum dtype)type);
    counts->of[mac_of((enum dtype)type)] += work->operations[type];
    counts->of[ENERGY_CUBE_CYCLE] += (mcycles + MILLI / 2) / MILLI;
    counts->of[ENERGY_L0A] += tiles * rows * depth;
    counts->of[ENERGY_L0B] += tiles * columns * depth;
    counts->of[ENERGY_L0C] += tiles * 2 * rows * columns * ACCUMULATOR_BYTES;
  }
}

static void count_vector(const struct work_counters *work, struct energy_counts *counts) {
  for (unsigned type = 0; type < DTYPE_COUNT; type++) {
    counts->of[lane_of((enum dtype)type)] += work->operations[type];
    counts->of[ENERGY_UB] += work->unit_work[type];
  }
}

/* The number of a buffer's bytes; ENERGY_COUNT: no buffer of a core. */
static enum energy_number buffer_of(enum space space) {
  switch (space) {
  case SPACE_L0A:
    return ENERGY_L0A;
  case SPACE_L0B:
    return ENERGY_L0B;
  case SPACE_L0C:
    return ENERGY_L0C;
  case SPACE_L1:
    return ENERGY_L1;
  case SPACE_UB:
    return ENERGY_UB;
  case SPACE_BT:
    return ENERGY_BT;
  case SPACE_FB:
    return ENERGY_FB;
  default:
    return ENERGY_COUNT;
  }
}

/* A transfer reads its bytes where they are and writes them where they go. What GM costs is counted
 * where it is: L2, network, device memory. */
static void count_path(enum path path, uint64_t bytes, struct energy_counts *counts) {
  enum energy_number ends[] = {buffer_of(path_from(path)), buffer_of(path_to(path))};
  for (unsigned i = 0; i < 2; i++)
    if (ends[i] < ENERGY_COUNT)
      counts->of[ends[i]] += bytes;
  counts->of[ENERGY_WIRE] += bytes;
}

static void count_core(const struct vinci_soc *soc, const struct core_result *core,
                       struct energy_counts *counts) {
  struct clock_domain clock;
  clock_init(&clock, core->hz);
  count_cube(soc, &core->cube, counts);
  count_vector(&core->vector, counts);
  for (unsigned path = 0; path < PATH_COUNT; path++)
    count_path((enum path)path, core->path_bytes[path], counts);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    counts->of[ENERGY_INSTRUCTION] += core->pipe[pipe].instructions;
  /* Scalar work is told in cycles, an instruction each. */
  counts->of[ENERGY_INSTRUCTION] += core->scalar_work_cycles;
  counts->of[core->kind == CORE_AIV ? ENERGY_VECTOR_ACTIVE : ENERGY_CUBE_ACTIVE] +=
      clock_edge_ps(&clock, core->active_cycles);
}

/* An access reads or writes L2; what is missing is written there once more when it comes, and what
 * goes back is read. */
static uint64_t l2_bytes(const struct l2_counters *l2) {
  struct hits all = l2_hits(l2, L2_ALL);
  return (all.hits + all.misses + l2->read_misses + l2->writebacks) * L2_GRANULE_BYTES;
}

/* Bytes times links. The flat model of memory has no links: a mean of the description. */
static uint64_t hop_bytes(const struct vinci_result *result) {
  const struct vinci_soc *soc = result->soc;
  uint64_t flits = 0;
  for (uint32_t i = 0; i < result->link_count; i++)
    flits += result->links[i].flits;
  if (result->link_count > 0)
    return flits * (uint64_t)soc->noc_flit_bytes;
  uint128 bytes = (uint128)result->gm_read_bytes + result->gm_write_bytes;
  return (uint64_t)(bytes * (uint64_t)soc->energy->value[ENERGY_FLAT_HOPS] / PPM);
}

static uint64_t activations(const struct vinci_result *result) {
  if (result->channel_count > 0)
    return result->hbm.row_misses;
  return ceil_div(hbm_bytes(&result->hbm), (uint64_t)result->soc->energy->value[ENERGY_FLAT_ROW]);
}

void energy_count_work(const struct vinci_result *result, struct energy_counts *counts) {
  for (uint32_t i = 0; i < result->core_count; i++)
    count_core(result->soc, &result->cores[i], counts);
  counts->of[ENERGY_L2_BYTE] += l2_bytes(&result->l2);
  counts->of[ENERGY_HOP_BYTE] += hop_bytes(result);
  counts->of[ENERGY_DRAM_READ] += result->hbm.read_bytes;
  counts->of[ENERGY_DRAM_WRITE] += result->hbm.write_bytes;
  counts->of[ENERGY_DRAM_ACTIVATE] += activations(result);
}

/* Of all pseudo-channels; a chip without a description of its memory has no refreshes. */
static uint64_t refreshes(const struct vinci_soc *soc, uint64_t time_ps) {
  const struct mem_spec *memory = soc->memory;
  if (!memory || memory->refi_cycles == 0)
    return 0;
  uint64_t interval_ps = (uint64_t)memory->refi_cycles * (uint64_t)memory->tck_ps;
  return (uint64_t)((uint128)time_ps * (uint64_t)soc->hbm_channels / interval_ps);
}

void energy_count_time(const struct vinci_soc *soc, uint64_t time_ps,
                       struct energy_counts *counts) {
  uint64_t cubes = soc_core_count(soc, CORE_AIC) + soc_core_count(soc, CORE_AICORE);
  counts->of[ENERGY_CUBE_IDLE] += cubes * time_ps;
  counts->of[ENERGY_VECTOR_IDLE] += soc_core_count(soc, CORE_AIV) * time_ps;
  counts->of[ENERGY_CHANNEL] += (uint64_t)soc->hbm_channels * time_ps;
  counts->of[ENERGY_CHIP] += time_ps;
  counts->of[ENERGY_DRAM_REFRESH] += refreshes(soc, time_ps);
}

void energy_add(struct energy_counts *sum, const struct energy_counts *counts) {
  for (unsigned i = 0; i < ENERGY_COUNT; i++)
    sum->of[i] += counts->of[i];
}

bool energy_counts_of(const struct vinci_result *result, struct energy_counts *counts) {
  *counts = (struct energy_counts){0};
  if (!result->soc->energy)
    return false;
  energy_count_work(result, counts);
  energy_count_time(result->soc, result->total_ps, counts);
  return true;
}

uint64_t energy_macs(const struct energy_counts *counts) {
  uint64_t macs = 0;
  for (unsigned i = ENERGY_MAC_FP16; i <= ENERGY_MAC_FP4; i++)
    macs += counts->of[i];
  return macs;
}

/* ---- prices ---------------------------------------------------------------------------------- */

/* A milliwatt is a femtojoule in each picosecond. */
struct energy_sum energy_of(const struct energy_spec *spec, const struct energy_counts *counts,
                            enum energy_number number) {
  uint128 count = counts->of[number];
  return (struct energy_sum){.fj = count * (uint64_t)spec->value[number],
                             .low_fj = count * (uint64_t)spec->low[number],
                             .high_fj = count * (uint64_t)spec->high[number]};
}

struct vinci_energy energy_part(const struct energy_spec *spec, const struct energy_counts *counts,
                                enum energy_part part) {
  struct energy_sum sum = {0};
  for (unsigned i = 0; i < ENERGY_COUNT; i++) {
    if (energy_part_of((enum energy_number)i) != part)
      continue;
    struct energy_sum one = energy_of(spec, counts, (enum energy_number)i);
    sum.fj += one.fj;
    sum.low_fj += one.low_fj;
    sum.high_fj += one.high_fj;
  }
  return (struct vinci_energy){.pj = (uint64_t)((sum.fj + FJ_PER_PJ / 2) / FJ_PER_PJ),
                               .low_pj = (uint64_t)(sum.low_fj / FJ_PER_PJ),
                               .high_pj = (uint64_t)((sum.high_fj + FJ_PER_PJ - 1) / FJ_PER_PJ)};
}

void energy_join(struct vinci_energy *sum, struct vinci_energy more) {
  sum->pj += more.pj;
  sum->low_pj += more.low_pj;
  sum->high_pj += more.high_pj;
}

struct vinci_energy energy_total(const struct energy_spec *spec,
                                 const struct energy_counts *counts) {
  struct vinci_energy sum = {0};
  for (unsigned part = 0; part < ENERGY_PART_COUNT; part++)
    energy_join(&sum, energy_part(spec, counts, (enum energy_part)part));
  return sum;
}

uint64_t energy_mw(uint64_t pj, uint64_t time_ps) {
  uint128 fj = (uint128)pj * FJ_PER_PJ;
  return time_ps > 0 ? (uint64_t)((fj + time_ps / 2) / time_ps) : 0;
}

uint64_t energy_share_ppm(const struct energy_spec *spec, const struct energy_counts *counts,
                          enum confidence confidence) {
  uint128 all = 0, some = 0;
  for (unsigned i = 0; i < ENERGY_COUNT; i++) {
    uint128 fj = energy_of(spec, counts, (enum energy_number)i).fj;
    all += fj;
    if (spec->provenance[i].confidence == confidence && !spec->provenance[i].overridden)
      some += fj;
  }
  return all > 0 ? (uint64_t)((some * PPM + all / 2) / all) : 0;
}

/* ---- results --------------------------------------------------------------------------------- */

bool vinci_result_energy(const vinci_result *result, struct vinci_energy *out) {
  struct energy_counts counts;
  *out = (struct vinci_energy){0};
  if (!energy_counts_of(result, &counts))
    return false;
  *out = energy_total(result->soc->energy, &counts);
  return true;
}

size_t vinci_energy_part_count(void) { return ENERGY_PART_COUNT; }

bool vinci_result_energy_part(const vinci_result *result, size_t index,
                              struct vinci_energy_part *out) {
  struct energy_counts counts;
  if (index >= ENERGY_PART_COUNT || !energy_counts_of(result, &counts))
    return false;
  enum energy_part part = (enum energy_part)index;
  *out = (struct vinci_energy_part){.name = energy_part_key(part),
                                    .text = energy_part_text(part),
                                    .energy = energy_part(result->soc->energy, &counts, part)};
  return true;
}
