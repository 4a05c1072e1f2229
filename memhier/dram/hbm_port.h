/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A DRAM channel behind the event engine: granules of L2 lines in, bursts to the
 * controller, and a call when the last of them is through. Requests wait here in order
 * while the controller's queue is full, so a full queue slows the sender down.
 *
 * The channel lags behind the present where nothing can depend on the lag: the data of a read come
 * a fixed latency after its command, so commands are executed in batches of that time. Each command
 * still has its exact cycle.
 */
#ifndef VINCI_MEMHIER_DRAM_HBM_PORT_H
#define VINCI_MEMHIER_DRAM_HBM_PORT_H

#include "core/base/clock.h"
#include "core/sim/engine.h"
#include "memhier/dram/hbm_channel.h"
#include "memhier/dram/hbm_op.h"

struct hbm_port {
  struct engine *engine;
  struct hbm_channel *channel;
  const struct hbm_layout *layout;
  struct clock_domain clock;
  struct engine_event step;
  uint32_t read_cycles;      /* from the command of a read to its last data */
  uint64_t written_granules; /* taken on; the last of them may still wait in the controller */
};

/* part and sequence place the port's own event in the total order. */
VINCI_MUST_CHECK bool hbm_port_create(struct hbm_port *port, struct arena *arena,
                                      struct engine *engine, const struct mem_spec *mem,
                                      const struct hbm_layout *layout, uint64_t clock_hz,
                                      uint32_t part, uint32_t sequence);
/* Takes an operation on at the present time. One of 0 granules, a write, only waits for its turn.
 */
void hbm_port_submit(struct hbm_port *port, struct hbm_op *op);
/* Whether operations wait because the controller's queue is full. */
bool hbm_port_busy(const struct hbm_port *port);
/* Counters up to a time, not before the present. */
const struct hbm_counters *hbm_port_counters(const struct hbm_port *port, uint64_t at_ps);

#endif
