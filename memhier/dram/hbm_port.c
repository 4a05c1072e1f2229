/* SPDX-License-Identifier: Apache-2.0 */
/* A DRAM channel behind the event engine. */
#include "memhier/dram/hbm_port.h"

#include "memhier/memhier.h"

static uint64_t now_cycle(const struct hbm_port *port) {
  return clock_edge_at(&port->clock, engine_now_ps(port->engine));
}

static struct hbm_port *port_of_step(struct engine_event *event) {
  return (struct hbm_port *)((char *)event - offsetof(struct hbm_port, step));
}

/* The controller has done an operation; the last of its data come in a cycle, now or later. */
static void op_done(void *context, struct hbm_op *op, uint64_t cycle) {
  const struct hbm_port *port = context;
  uint64_t at_ps = clock_edge_ps(&port->clock, cycle);
  uint64_t now_ps = engine_now_ps(port->engine);
  op->done(op, at_ps > now_ps ? at_ps : now_ps);
}

/* Whether a burst is the next one of the same row. */
static bool are_neighbours(const struct hbm_spot *one, const struct hbm_spot *next) {
  return next->row == one->row && next->bank == one->bank && next->column == one->column + 1;
}

void hbm_layout_init(struct hbm_layout *layout, const struct mem_spec *mem, uint64_t bytes) {
  unsigned bursts = (unsigned)(bytes / (uint64_t)mem->burst_bytes);
  layout->bank_shift = (uint32_t)__builtin_ctzll((uint64_t)mem->banks_per_group);
  layout->bank_mask = (uint32_t)mem->banks_per_group - 1;
  layout->group_mask = (uint32_t)mem->groups - 1;
  layout->bursts_per_granule = (uint32_t)(L2_GRANULE_BYTES / mem->burst_bytes);
  for (unsigned i = 0; i < bursts; i++)
    layout->offset[i] = hbm_spot_at(layout, (uint64_t)i << layout->map.burst_shift);
  layout->neighbours[bursts - 1] = 1;
  for (unsigned i = bursts - 1; i-- > 0;) {
    bool follow = are_neighbours(&layout->offset[i], &layout->offset[i + 1]);
    layout->neighbours[i] = (uint16_t)(follow ? layout->neighbours[i + 1] + 1 : 1);
  }
}

/* Bursts that a waiting write still has to hand over: a command makes room for one, and a cycle
 * holds two commands. */
static uint64_t write_cycles(const struct hbm_port *port, const struct hbm_op *op) {
  return (l2_count(op->granules) * port->layout->bursts_per_granule - op->burst - 1) / 2;
}

/* The next step comes when something may have to be told: not before the data of the next
 * command's read, nor before the last burst of a waiting write can be taken. */
static void schedule_step(struct hbm_port *port) {
  uint64_t next = hbm_channel_next(port->channel), wait_cycles = port->read_cycles;
  const struct hbm_op *first = hbm_channel_first_op(port->channel);
  if (next == HBM_NEVER || (!first && !hbm_channel_reads_wait(port->channel)))
    return;
  for (const struct hbm_op *op = first; op && wait_cycles > 0; op = op->next)
    if (op->write && op->granules != 0) {
      wait_cycles = min_u64(wait_cycles, write_cycles(port, op));
      break;
    }
  engine_schedule_earliest(port->engine, &port->step,
                           clock_edge_ps(&port->clock, next + wait_cycles));
}

static void fire_step(struct engine_event *event, uint64_t now_ps) {
  struct hbm_port *port = port_of_step(event);
  hbm_channel_run(port->channel, clock_edge_at(&port->clock, now_ps));
  schedule_step(port);
}

bool hbm_port_create(struct hbm_port *port, struct arena *arena, struct engine *engine,
                     const struct mem_spec *mem, const struct hbm_layout *layout, uint64_t clock_hz,
                     uint32_t part, uint32_t sequence) {
  *port = (struct hbm_port){
      .engine = engine,
      .layout = layout,
  };
  clock_init(&port->clock, clock_hz);
  port->step.key = event_key(PHASE_ARBITRATE, part, sequence);
  port->step.fire = fire_step;
  port->channel =
      hbm_channel_create(arena, mem, (struct hbm_hooks){.context = port, .op_done = op_done});
  if (port->channel)
    port->read_cycles = hbm_channel_read_cycles(port->channel);
  return port->channel != NULL;
}

void hbm_port_submit(struct hbm_port *port, struct hbm_op *op) {
  if (op->write)
    port->written_granules += l2_count(op->granules);
  op->layout = port->layout;
  op->spot = hbm_spot_at(port->layout, op->address);
  op->spread = hbm_spread(port->layout, op->spot.row);
  hbm_channel_submit(port->channel, op, now_cycle(port));
  schedule_step(port);
}

bool hbm_port_busy(const struct hbm_port *port) {
  return hbm_channel_first_op(port->channel) != NULL;
}

const struct hbm_counters *hbm_port_counters(const struct hbm_port *port, uint64_t at_ps) {
  /* Nothing depends on late writes; reads have a step to come. */
  if (!hbm_channel_reads_wait(port->channel) && !hbm_port_busy(port))
    hbm_channel_run(port->channel, clock_edge_at(&port->clock, at_ps));
  return hbm_channel_counters(port->channel);
}
