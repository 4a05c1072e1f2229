/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory as one shared resource with a loss for refresh and for mixed reads and writes. */
#include "core/base/clock.h"
#include "memhier/memhier.h"

enum { PPM = 1000000, WINDOW = 64, FULLY_MIXED = WINDOW / 4 };

void hbm_flat_create(struct hbm_flat *hbm, const struct vinci_soc *soc) {
  hbm->bytes_per_second = soc_hbm_bytes_per_second(soc);
  hbm->stream_bytes_per_second = soc_hbm_stream_bytes_per_second(soc);
  hbm->mixed_loss_ppm = PPM - (uint64_t)soc->hbm_mixed_efficiency;
}

/* Share of the bandwidth left by the present mix, in millionths. */
static uint64_t efficiency_ppm(const struct hbm_flat *hbm) {
  unsigned writes = (unsigned)__builtin_popcountll(hbm->writes);
  unsigned fewer = writes < WINDOW - writes ? writes : WINDOW - writes;
  if (fewer > FULLY_MIXED)
    fewer = FULLY_MIXED;
  return PPM - hbm->mixed_loss_ppm * fewer / FULLY_MIXED;
}

uint64_t hbm_flat_move_ps(struct hbm_flat *hbm, uint64_t bytes, bool write, uint64_t now_ps) {
  hbm->writes = hbm->writes << 1 | write;
  *(write ? &hbm->write_bytes : &hbm->read_bytes) += bytes;
  uint64_t duration_ps = (uint64_t)((uint128)bytes * PS_PER_SECOND * PPM /
                                    ((uint128)hbm->stream_bytes_per_second * efficiency_ppm(hbm)));
  uint64_t start_ps = hbm->free_ps > now_ps ? hbm->free_ps : now_ps;
  traffic_at(&hbm->traffic, start_ps)[write ? TRAFFIC_HBM_WRITE : TRAFFIC_HBM_READ] += bytes;
  hbm->free_ps = add_up_to(start_ps, duration_ps, TIME_END_PS);
  return hbm->free_ps;
}
