/* SPDX-License-Identifier: Apache-2.0 */
/* A DRAM channel behind the event engine. */
#include "memhier/hbm_port.h"

#include "core/result.h"

static uint64_t now_cycle(const struct hbm_port *port) {
  return clock_edge_at(&port->clock, engine_now_ps(port->engine));
}

static struct hbm_port *port_of_step(struct engine_event *event) {
  return (struct hbm_port *)((char *)event - offsetof(struct hbm_port, step));
}

static struct hbm_op *op_of_event(struct engine_event *event) {
  return (struct hbm_op *)((char *)event - offsetof(struct hbm_op, event));
}

static void fire_op_done(struct engine_event *event, uint64_t now_ps) {
  struct hbm_op *op = op_of_event(event);
  op->done(op, now_ps);
}

static void schedule_done(struct hbm_op *op, uint64_t cycle) {
  struct hbm_port *port = op->port;
  uint64_t at_ps = clock_edge_ps(&port->clock, cycle);
  uint64_t now_ps = engine_now_ps(port->engine);
  op->event.fire = fire_op_done;
  engine_schedule(port->engine, &op->event, at_ps > now_ps ? at_ps : now_ps);
}

/* The controller's answer to a read: bursts of a line may end in any order. */
static void burst_done(void *context, uint64_t tag, uint64_t cycle) {
  (void)context;
  struct hbm_op *op = (struct hbm_op *)(uintptr_t)tag; /* 0: a write, answered when taken */
  if (!op)
    return;
  op->waiting--;
  if (op->waiting == 0 && op->granules == 0)
    schedule_done(op, cycle);
}

/*
 * Streams that lie a power of two apart would meet in the same bank in other rows again
 * and again; bits of the row spread them (Zhang, Zhu and Zhang, "A permutation-based page
 * interleaving scheme", MICRO 2000). What the parts do is not published.
 */
static void permute_banks(const struct hbm_port *port, struct hbm_place *place) {
  uint32_t spread = place->row * UINT32_C(0x9E3779B1) >> 24;
  place->bank = (uint8_t)(place->bank ^ (spread & port->bank_mask));
  place->group = (uint8_t)(place->group ^ (spread >> 4 & port->group_mask));
}

/* Offers bursts of an operation until it has none left; false when the queue is full. */
static bool offer_bursts(struct hbm_port *port, struct hbm_op *op, uint64_t cycle) {
  while (op->granules != 0) {
    uint64_t granule = (uint64_t)__builtin_ctz(op->granules);
    uint64_t address =
        op->address + granule * L2_GRANULE_BYTES + ((uint64_t)op->burst << port->map->burst_shift);
    struct hbm_place place = hbm_map_decode(port->map, address);
    permute_banks(port, &place);
    /* Counted first: a read answered from the write queue ends inside the call. */
    op->waiting += !op->write;
    bool last = op->burst + 1 == port->bursts_per_granule;
    uint32_t granules = op->granules;
    if (last)
      op->granules &= op->granules - 1;
    if (!hbm_channel_offer(port->channel, &place, op->write, op->write ? 0 : (uintptr_t)op,
                           cycle)) {
      op->waiting -= !op->write;
      op->granules = granules;
      return false;
    }
    op->burst = last ? 0 : op->burst + 1;
  }
  return true;
}

static void schedule_step(struct hbm_port *port) {
  uint64_t next = hbm_channel_next(port->channel);
  if (next == HBM_NEVER)
    return;
  engine_schedule_earliest(port->engine, &port->step, clock_edge_ps(&port->clock, next));
}

/* Hands waiting operations to the controller, in order. */
static void offer_waiting(struct hbm_port *port, uint64_t cycle) {
  while (port->first && offer_bursts(port, port->first, cycle)) {
    struct hbm_op *op = port->first;
    port->first = op->next;
    if (op->write)
      schedule_done(op, cycle);
  }
  schedule_step(port);
}

static void fire_step(struct engine_event *event, uint64_t now_ps) {
  struct hbm_port *port = port_of_step(event);
  uint64_t cycle = clock_edge_at(&port->clock, now_ps);
  hbm_channel_run(port->channel, cycle);
  offer_waiting(port, cycle);
}

bool hbm_port_create(struct hbm_port *port, struct arena *arena, struct engine *engine,
                     const struct mem_spec *mem, const struct hbm_map *map, uint64_t clock_hz,
                     uint32_t part, uint32_t sequence) {
  *port = (struct hbm_port){
      .engine = engine,
      .map = map,
      .bank_mask = (uint32_t)mem->banks_per_group - 1,
      .group_mask = (uint32_t)mem->groups - 1,
      .bursts_per_granule = (uint32_t)(L2_GRANULE_BYTES / mem->burst_bytes),
  };
  clock_init(&port->clock, clock_hz);
  port->step.key = event_key(PHASE_ARBITRATE, part, sequence);
  port->step.fire = fire_step;
  port->channel = hbm_channel_create(arena, mem, (struct hbm_hooks){.done = burst_done});
  return port->channel != NULL;
}

void hbm_port_submit(struct hbm_port *port, struct hbm_op *op) {
  bool idle = port->first == NULL;
  op->port = port;
  op->next = NULL;
  op->burst = 0;
  op->waiting = 0;
  if (idle)
    port->first = op;
  else
    port->last->next = op;
  port->last = op;
  if (idle)
    offer_waiting(port, now_cycle(port));
}
