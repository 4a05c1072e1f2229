/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-checks between the numbers of a SoC that no single range can catch. */
#include <inttypes.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/chip/layout.h"
#include "core/chip/mem.h"
#include "core/chip/soc.h"

/* Architectures that have a path at all; an override may add one as a what-if. */
struct path_archs {
  enum path path;
  uint32_t archs;
};

/* Sources: platform files and Ascend C documentation; paths not listed exist everywhere. */
static const struct path_archs limited_paths[] = {
    {PATH_GM_L0A, ARCH_BIT(C100) | ARCH_BIT(M200) | ARCH_BIT(C220)},
    {PATH_GM_L0B, ARCH_BIT(C100) | ARCH_BIT(M200) | ARCH_BIT(C220)},
    {PATH_L1_L0A_MX, ARCH_BIT(C310)},
    {PATH_L1_L0B_MX, ARCH_BIT(C310)},
    {PATH_L1_BT, ARCH_BIT(C220) | ARCH_BIT(C310)},
    {PATH_L1_FB, ARCH_BIT(C220) | ARCH_BIT(C310)},
    {PATH_L1_UB, ARCH_BIT(C100) | ARCH_BIT(M200) | ARCH_BIT(C310)},
    {PATH_L1_GM, ARCH_BIT(C220)},
    {PATH_UB_L1, ARCH_BIT(C100) | ARCH_BIT(M200) | ARCH_BIT(C310)},
    {PATH_L0C_GM, ARCH_BIT(C220) | ARCH_BIT(C310)},
    {PATH_L0C_L1, ARCH_BIT(C220) | ARCH_BIT(C310)},
    {PATH_L0C_UB, ARCH_BIT(C100) | ARCH_BIT(M200) | ARCH_BIT(C310)},
};

/* Index of the parameter that is stored in a field of the SoC. */
static size_t param_of(const struct vinci_soc *soc, const int64_t *field) {
  size_t offset = (size_t)((const char *)field - (const char *)soc), i = 0;
  while (i < soc_param_count() && soc_param(i)->offset != offset)
    i++;
  return i;
}

static bool overridden(const struct vinci_soc *soc, const int64_t *field) {
  return soc->provenance[param_of(soc, field)].overridden;
}

static enum vinci_status fail(const struct vinci_soc *soc, struct vinci_diag *diag,
                              const char *what, const char *why) {
  return diag_error(diag, VINCI_E_USAGE, "%s: %s: %s", soc->name, what, why);
}

static enum vinci_status fail_rates(const struct vinci_soc *soc, const struct path_cost *path,
                                    struct vinci_diag *diag) {
  const char *memory = soc_param(param_of(soc, &path->hbm_mbytes_per_cycle))->key;
  const char *cache = soc_param(param_of(soc, &path->mbytes_per_cycle))->key;
  char memory_rate[64], cache_rate[64];
  soc_format_value(path->hbm_mbytes_per_cycle, SOC_KIND_MBYTES_PER_CYCLE, memory_rate,
                   sizeof memory_rate);
  soc_format_value(path->mbytes_per_cycle, SOC_KIND_MBYTES_PER_CYCLE, cache_rate,
                   sizeof cache_rate);
  (void)diag_error(diag, VINCI_E_USAGE, "%s: %s is %s, above the %s of %s", soc->name, memory,
                   memory_rate, cache_rate, cache);
  diag_hint(diag, "device memory is not faster than L2: lower %s", memory);
  return VINCI_E_USAGE;
}

static enum vinci_status check_paths(const struct vinci_soc *soc, struct vinci_diag *diag) {
  for (size_t i = 0; i < sizeof limited_paths / sizeof limited_paths[0]; i++) {
    const struct path_archs *row = &limited_paths[i];
    const int64_t *rate = &soc->path[row->path].mbytes_per_cycle;
    if (*rate > 0 && !(row->archs & (1u << soc->arch)) && !overridden(soc, rate))
      return diag_error(diag, VINCI_E_USAGE, "%s: path %s does not exist on %s", soc->name,
                        path_name(row->path), arch_name(soc->arch));
  }
  for (unsigned i = 0; i < PATH_COUNT; i++) {
    const struct path_cost *path = &soc->path[i];
    const char *name = path_name((enum path)i);
    if (path->mbytes_per_cycle == 0) {
      if (path->startup_mcycles || path->hbm_mbytes_per_cycle || path->minimum_mcycles ||
          path->overlap_issue_mcycles || path->peak_bytes_per_second ||
          path->sustained_mbytes_per_cycle || path->request_bytes || path->spread_mcycles ||
          path->acknowledge_mcycles || path->unaligned_mcycles)
        return fail(soc, diag, name, "has numbers but no bytes_per_cycle");
      continue;
    }
    if (soc_space_bytes(soc, path_from((enum path)i)) == 0 ||
        soc_space_bytes(soc, path_to((enum path)i)) == 0)
      return fail(soc, diag, name, "exists, but the buffer at one end has no size");
    if (path->hbm_mbytes_per_cycle > path->mbytes_per_cycle)
      return fail_rates(soc, path, diag);
    if (path->spread_mcycles > 0 && path->request_bytes == 0)
      return fail(soc, diag, name, "has a spread of requests of unknown size");
  }
  return VINCI_OK;
}

/*
 * Maps of banks. L1 and L0C are given with what follows from them: a path reads at most one row
 * of each group of L1 per cycle, and a mad may write at most one row of each bank of L0C.
 * Collisions of engines inside them depend on time and are not modelled.
 */
static enum vinci_status check_banks(const struct vinci_soc *soc, struct vinci_diag *diag) {
  if (soc->ub_reads_per_group > 0) {
    if (soc->ub_bank_groups == 0 || soc->ub_banks_per_group == 0 || soc->ub_bank_stride_bytes == 0)
      return fail(soc, diag, "ub", "has a port rule but no map of banks");
    if (soc->ub_row_bytes != BLOCK_BYTES || soc->ub_bank_stride_bytes % BLOCK_BYTES != 0)
      return fail(soc, diag, "ub.row_bytes", "rows of banks must be the blocks of 32 bytes");
  }
  if (soc->l1_bank_groups > 0) {
    int64_t width = soc->l1_bank_groups * soc->l1_row_bytes * MILLI;
    for (unsigned i = 0; i < PATH_COUNT; i++) {
      const int64_t *rate = &soc->path[i].mbytes_per_cycle;
      if (path_from((enum path)i) == SPACE_L1 && *rate > width && !overridden(soc, rate))
        return fail(soc, diag, path_name((enum path)i), "is faster than the banks of L1");
    }
  }
  if (soc->l0c_banks > 0 && soc->cube_fp16_mcycles > 0 &&
      soc->cube_m * soc->cube_n * ACCUMULATOR_BYTES * MILLI >
          soc->l0c_banks * soc->l0c_row_bytes * soc->cube_fp16_mcycles &&
      !overridden(soc, &soc->cube_fp16_mcycles) && !overridden(soc, &soc->cube_m) &&
      !overridden(soc, &soc->cube_n))
    return fail(soc, diag, "cube", "writes tiles faster than the banks of L0C take them");
  return VINCI_OK;
}

static enum vinci_status check_buffers(const struct vinci_soc *soc, struct vinci_diag *diag) {
  for (unsigned space = SPACE_GM; space < SPACE_COUNT; space++)
    if (soc_space_bytes(soc, (enum space)space) % space_alignment((enum space)space) != 0)
      return fail(soc, diag, space_name((enum space)space),
                  "the size is not a multiple of the alignment");
  if (soc->l2_bytes > 0 && soc->l2_bytes < SOC_L2_BYTES_MIN)
    return fail(soc, diag, "l2.size", "is neither 0 for no cache nor at least 64KiB");
  return VINCI_OK;
}

/* A core kind without its working set could run nothing. */
static enum vinci_status check_cores(const struct vinci_soc *soc, struct vinci_diag *diag) {
  if (soc->cube_cores == 0 && soc->vector_cores == 0)
    return fail(soc, diag, "device", "there is neither a cube core nor a vector core");
  if (soc->cube_cores > 0) {
    if (soc->cube_fp16_mcycles == 0)
      return fail(soc, diag, "cube", "fp16 must be supported");
    if (soc->path[PATH_GM_L1].mbytes_per_cycle == 0 ||
        soc->path[PATH_L1_L0A].mbytes_per_cycle == 0 ||
        soc->path[PATH_L1_L0B].mbytes_per_cycle == 0)
      return fail(soc, diag, "cube", "no path for data from GM over L1 to L0A and L0B");
  }
  bool has_vector = soc->vector_cores > 0 || soc_core_count(soc, CORE_AICORE) > 0;
  if (has_vector &&
      (soc->path[PATH_GM_UB].mbytes_per_cycle == 0 || soc->path[PATH_UB_GM].mbytes_per_cycle == 0))
    return fail(soc, diag, "vector", "no path for data from GM to UB and back");
  return VINCI_OK;
}

/* Each number has its range; together they may leave a channel a clock that nothing can count. */
static enum vinci_status check_channel_clock(const struct vinci_soc *soc, struct vinci_diag *diag) {
  uint64_t hz = soc_channel_hz(soc);
  if (hz >= 1 && hz <= CLOCK_HZ_MAX)
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_USAGE,
                   "%s: a channel of device memory would have a clock of %" PRIu64
                   " Hz, allowed is 1 to %" PRIu64,
                   soc->name, hz, CLOCK_HZ_MAX);
  diag_hint(diag, "it follows from hbm.bandwidth, hbm.bandwidth_scale and hbm.channels");
  return VINCI_E_USAGE;
}

/* The cycle model's L2 and memory have to divide evenly. */
static enum vinci_status check_memory(const struct vinci_soc *soc, struct vinci_diag *diag) {
  enum { MASK_BITS = 32, PARTS_MAX = 4 };
  int64_t line = soc->l2_line_bytes, run = soc->hbm_interleave_bytes;
  if (soc->hbm_channels % soc->l2_slices != 0)
    return fail(soc, diag, "hbm.channels", "must be a multiple of l2.slices");
  if (line % L2_GRANULE_BYTES != 0 || line / L2_GRANULE_BYTES > MASK_BITS)
    return fail(soc, diag, "l2.line", "must be a multiple of 128 bytes, at most 4 KiB");
  if (run % L2_GRANULE_BYTES != 0 || (run & (run - 1)) != 0 || line % run != 0 ||
      line / run > PARTS_MAX)
    return fail(
        soc, diag, "hbm.interleave",
        "must be a power of two, at least 128 bytes, and divide l2.line into at most 4 parts");
  if (soc->memory && L2_GRANULE_BYTES % soc->memory->burst_bytes != 0)
    return fail(soc, diag, "memory.geometry.burst", "must divide 128 bytes");
  return soc->memory ? check_channel_clock(soc, diag) : VINCI_OK;
}

/* A pair of registers is loaded in one cycle, and a name that is written needs a register beside
 * those that hold the other names. */
static enum vinci_status check_functions(const struct vinci_soc *soc, struct vinci_diag *diag) {
  if (soc->vf_physical == 0)
    return VINCI_OK;
  if (soc->vf_registers == 0 || soc->vf_physical <= soc->vf_registers)
    return fail(soc, diag, "vf.physical", "must be more than vf.registers, which is at least 1");
  if (soc->vf_width == 0 || soc->vf_queue == 0 || soc->vf_units == 0 || soc->vf_loads < 2)
    return fail(soc, diag, "vf", "width, queue and units must be at least 1, and loads at least 2");
  return VINCI_OK;
}

enum vinci_status soc_validate(const struct vinci_soc *soc, struct vinci_diag *diag) {
  enum vinci_status status = check_buffers(soc, diag);
  if (status == VINCI_OK)
    status = check_paths(soc, diag);
  if (status == VINCI_OK)
    status = check_cores(soc, diag);
  if (status == VINCI_OK)
    status = check_banks(soc, diag);
  if (status == VINCI_OK)
    status = check_functions(soc, diag);
  if (status == VINCI_OK)
    status = check_memory(soc, diag);
  if (status == VINCI_OK && soc->memory)
    status = mem_validate(soc->memory, diag);
  return status;
}
