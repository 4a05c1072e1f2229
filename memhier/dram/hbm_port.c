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

static void tell_done(struct hbm_op *op, uint64_t cycle) {
  struct hbm_port *port = op->port;
  uint64_t at_ps = clock_edge_ps(&port->clock, cycle);
  uint64_t now_ps = engine_now_ps(port->engine);
  op->done(op, at_ps > now_ps ? at_ps : now_ps);
}

/* The controller's answer to a read: bursts of a line may end in any order. */
static void burst_done(void *context, uint64_t tag, uint64_t cycle) {
  (void)context;
  struct hbm_op *op = (struct hbm_op *)(uintptr_t)tag; /* 0: a write, answered when taken */
  if (!op)
    return;
  op->port->reads--;
  op->end_cycle = cycle > op->end_cycle ? cycle : op->end_cycle;
  if (--op->waiting == 0 && op->granules == 0)
    tell_done(op, op->end_cycle);
}

void hbm_layout_init(struct hbm_layout *layout, const struct mem_spec *mem) {
  layout->bank_mask = (uint32_t)mem->banks_per_group - 1;
  layout->group_mask = (uint32_t)mem->groups - 1;
  layout->bursts_per_granule = (uint32_t)(L2_GRANULE_BYTES / mem->burst_bytes);
  for (unsigned i = 0; i < HBM_LINE_BURSTS_MAX; i++)
    layout->offset[i] = hbm_map_decode(&layout->map, (uint64_t)i << layout->map.burst_shift);
}

/*
 * Streams that lie a power of two apart would often meet in the same bank in other rows;
 * bits of the row spread them (Zhang, Zhu and Zhang, "A permutation-based page
 * interleaving scheme", MICRO 2000). How real parts do this is not published.
 */
static void permute_banks(const struct hbm_layout *layout, struct hbm_place *place) {
  uint32_t spread = place->row * UINT32_C(0x9E3779B1) >> 24;
  place->bank = (uint8_t)(place->bank ^ (spread & layout->bank_mask));
  place->group = (uint8_t)(place->group ^ (spread >> 4 & layout->group_mask));
}

/* Place of a burst of a line. Line address and burst number share no bit, so OR joins them. */
static struct hbm_place place_of(const struct hbm_layout *layout, const struct hbm_op *op,
                                 unsigned burst) {
  const struct hbm_place *offset = &layout->offset[burst];
  struct hbm_place place = {
      .row = op->place.row | offset->row,
      .column = (uint16_t)(op->place.column | offset->column),
      .group = (uint8_t)(op->place.group | offset->group),
      .bank = (uint8_t)(op->place.bank | offset->bank),
  };
  permute_banks(layout, &place);
  return place;
}

/* Takes the next burst out of those an operation has to offer, and returns its place. */
static inline struct hbm_place next_burst(const struct hbm_layout *layout, struct hbm_op *op) {
  unsigned granule = (unsigned)__builtin_ctz(op->granules);
  struct hbm_place place = place_of(layout, op, granule * layout->bursts_per_granule + op->burst);
  if (++op->burst == layout->bursts_per_granule) {
    op->burst = 0;
    op->granules &= op->granules - 1;
  }
  return place;
}

/* Offers bursts of an operation until it has none left; false when the queue is full. */
static bool offer_bursts(struct hbm_port *port, struct hbm_op *op, uint64_t cycle) {
  enum { TOGETHER = 16 };
  struct hbm_place places[TOGETHER];
  while (op->granules != 0) {
    uint32_t granules = op->granules, burst = op->burst;
    unsigned room = hbm_channel_room(port->channel, op->write), count = 0;
    unsigned most = room == 0 ? 1 : room < TOGETHER ? room : TOGETHER;
    if (room == 0 && !hbm_channel_writes_wait(port->channel))
      return false;
    while (count < most && op->granules != 0)
      places[count++] = next_burst(port->layout, op);
    /* Counted first: a read answered from the write queue ends inside the call. The additional 1
     * keeps the operation from ending there. */
    op->waiting += op->write ? 0 : count + 1;
    port->reads += op->write ? 0 : count;
    unsigned taken = hbm_channel_offer_all(port->channel, places, count, op->write,
                                           op->write ? 0 : (uintptr_t)op, cycle);
    unsigned refused = count - taken;
    op->waiting -= op->write ? 0 : refused + 1;
    port->reads -= op->write ? 0 : refused;
    if (refused > 0) {
      op->granules = granules;
      op->burst = burst;
      for (unsigned i = 0; i < taken; i++)
        (void)next_burst(port->layout, op);
      return false;
    }
  }
  if (!op->write && op->waiting == 0)
    tell_done(op, op->end_cycle);
  return true;
}

/* Hands waiting operations to the controller, in order. */
static void offer_waiting(struct hbm_port *port, uint64_t cycle) {
  while (port->first && offer_bursts(port, port->first, cycle)) {
    struct hbm_op *op = port->first;
    port->first = op->next;
    if (op->write)
      tell_done(op, cycle);
  }
}

/* Executes all commands up to a cycle; waiting operations go on when the queues have room. */
static void catch_up(struct hbm_port *port, uint64_t cycle) {
  while (port->first && hbm_channel_next(port->channel) <= cycle) {
    uint64_t next = hbm_channel_next(port->channel);
    hbm_channel_run(port->channel, next);
    offer_waiting(port, next);
  }
  hbm_channel_run(port->channel, cycle);
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
  if (next == HBM_NEVER || (port->reads == 0 && !port->first))
    return;
  for (const struct hbm_op *op = port->first; op && wait_cycles > 0; op = op->next)
    if (op->write && op->granules != 0) {
      wait_cycles = min_u64(wait_cycles, write_cycles(port, op));
      break;
    }
  engine_schedule_earliest(port->engine, &port->step,
                           clock_edge_ps(&port->clock, next + wait_cycles));
}

static void fire_step(struct engine_event *event, uint64_t now_ps) {
  struct hbm_port *port = port_of_step(event);
  catch_up(port, clock_edge_at(&port->clock, now_ps));
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
  port->channel = hbm_channel_create(arena, mem, (struct hbm_hooks){.done = burst_done});
  if (port->channel)
    port->read_cycles = hbm_channel_read_cycles(port->channel);
  return port->channel != NULL;
}

void hbm_port_submit(struct hbm_port *port, struct hbm_op *op) {
  uint64_t cycle = now_cycle(port);
  catch_up(port, cycle);
  bool idle = port->first == NULL;
  if (op->write)
    port->written_granules += l2_count(op->granules);
  op->port = port;
  op->next = NULL;
  op->burst = 0;
  op->waiting = 0;
  op->end_cycle = 0;
  op->place = hbm_map_decode(&port->layout->map, op->address);
  if (idle)
    port->first = op;
  else
    port->last->next = op;
  port->last = op;
  if (idle)
    offer_waiting(port, cycle);
  schedule_step(port);
}

bool hbm_port_busy(const struct hbm_port *port) { return port->first != NULL; }

const struct hbm_counters *hbm_port_counters(const struct hbm_port *port, uint64_t at_ps) {
  /* Nothing depends on late writes; reads have a step to come. */
  if (port->reads == 0 && !port->first)
    hbm_channel_run(port->channel, clock_edge_at(&port->clock, at_ps));
  return hbm_channel_counters(port->channel);
}
