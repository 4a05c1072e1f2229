/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of estimates: start of a kernel, dispatch, copies, device memory. */
#include "traces/lower/estimate.h"

#include "core/base/arith.h"

uint64_t estimate_start(const struct vinci_soc *soc, enum kernel_code code, uint64_t blocks) {
  const struct kernel_start *kernel = &soc->kernel[code];
  return (uint64_t)kernel->start_cycles + (uint64_t)kernel->block_cycles * (blocks - 1);
}

uint64_t estimate_copies(const struct path_cost *path, uint64_t bytes, uint64_t copies) {
  if (copies == 0)
    return 0;
  uint64_t rate = (uint64_t)path->mbytes_per_cycle;
  if (path->hbm_mbytes_per_cycle > 0)
    rate = min_u64(rate, (uint64_t)path->hbm_mbytes_per_cycle);
  return (uint64_t)path->startup_mcycles / MILLI +
         (copies - 1) * (uint64_t)path->overlap_issue_mcycles / MILLI + bytes * MILLI / rate;
}

uint64_t estimate_memory(const struct vinci_soc *soc, uint64_t in_bytes, uint64_t out_bytes) {
  uint64_t l2_bytes = (uint64_t)soc->l2_bytes;
  uint64_t bytes = in_bytes + (out_bytes > l2_bytes ? out_bytes - l2_bytes : 0);
  return (uint64_t)((uint128)bytes * (uint64_t)soc->core_hz / soc_hbm_bytes_per_second(soc));
}
