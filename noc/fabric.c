/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network as one shared fabric: all traffic between cores and L2 passes a
 * resource of the chip's L2 bandwidth, first come first served. Models the chip-level
 * limit and the queue in front of the fabric; leaves out topology, hops and routers.
 */
#include "core/sim/memsys.h"

struct network {
  uint64_t bytes_per_second;
  uint64_t free_ps; /* when the fabric has moved all it was given */
  uint64_t busy_ps;
};

static struct network *fabric_create(struct arena *arena, struct engine *engine,
                                     const struct vinci_soc *soc, struct network_shape shape) {
  (void)engine;
  (void)shape;
  struct network *network = ARENA_NEW(arena, struct network);
  if (network)
    network->bytes_per_second = (uint64_t)soc->l2_bytes_per_second;
  return network;
}

static uint64_t fabric_move_ps(struct network *network, uint32_t port, uint64_t bytes,
                               uint64_t now_ps) {
  (void)port; /* no topology: every port is equally far */
  uint64_t duration_ps = (uint64_t)((uint128)bytes * PS_PER_SECOND / network->bytes_per_second);
  uint64_t start_ps = network->free_ps > now_ps ? network->free_ps : now_ps;
  network->free_ps = add_up_to(start_ps, duration_ps, TIME_END_PS);
  network->busy_ps += duration_ps;
  return network->free_ps;
}

static void fabric_report(const struct network *network, uint64_t total_ps,
                          struct vinci_result *result) {
  enum { PPM = 1000000 };
  if (total_ps > 0)
    result->noc_max_link_ppm = (uint64_t)((uint128)network->busy_ps * PPM / total_ps);
}

const struct network_ops noc_fabric_ops = {
    .name = "fabric",
    .create = fabric_create,
    .move_ps = fabric_move_ps,
    .report = fabric_report,
};
