/* SPDX-License-Identifier: Apache-2.0 */
/* The cycle-level memory system: transfer engines with requests in flight. */
#include "memhier/cycle.h"

enum { REQUESTS_MAX = 1024 };

/* ---- issue ------------------------------------------------------------------- */

static uint64_t granule_bytes(uint64_t address, uint64_t bytes) {
  uint64_t first = address / L2_GRANULE_BYTES;
  uint64_t last = (address + bytes - 1) / L2_GRANULE_BYTES;
  return (last - first + 1) * L2_GRANULE_BYTES;
}

/* The next run of bytes of a transfer that lies in one line of L2. */
static uint64_t next_run(const struct gm_transfer *transfer, uint64_t *address) {
  uint64_t line_bytes = (uint64_t)transfer->memory->soc->l2_line_bytes;
  *address = transfer_position(transfer);
  uint64_t in_line = line_bytes - *address % line_bytes;
  uint64_t left = transfer->burst_bytes - transfer->offset;
  return min_u64(left, in_line);
}

static bool all_issued(const struct gm_transfer *transfer) {
  return transfer->burst == transfer->bursts;
}

static void schedule_issue(struct engine_port *port, uint64_t at_ps) {
  engine_schedule_earliest(port->memory->engine, &port->issue,
                           max_u64(at_ps, engine_now_ps(port->memory->engine)));
}

static void message_at_slice(struct network_message *message, uint64_t now_ps);
static void message_at_core(struct network_message *message, uint64_t now_ps);

static struct memory_request *request_of(struct network_message *message) {
  return (struct memory_request *)((char *)message - offsetof(struct memory_request, message));
}

/* Bytes that may be in flight: what the engine moves in window_cycles at its full rate. */
static uint64_t window_bytes(const struct vinci_soc *soc, enum path path) {
  return (uint64_t)soc->path[path].mbytes_per_cycle * (uint64_t)soc->window_cycles / MILLI;
}

/* Room in the window for a request; one is always allowed. */
static bool window_allows(const struct engine_port *port, const struct gm_transfer *transfer,
                          uint64_t moved_bytes) {
  return port->free &&
         (port->bytes_in_flight == 0 ||
          port->bytes_in_flight + moved_bytes <= window_bytes(port->memory->soc, transfer->path));
}

static void send_request(struct engine_port *port, struct gm_transfer *transfer, uint64_t address,
                         uint64_t bytes, uint64_t moved_bytes) {
  struct memsys *memory = port->memory;
  struct memory_request *request = port->free;
  port->free = request->next;
  port->bytes_in_flight += moved_bytes;
  transfer->requests++;
  request->transfer = transfer;
  request->address = address;
  request->bytes = (uint32_t)bytes;
  request->moved_bytes = (uint32_t)moved_bytes;
  request->message.slice = cycle_place(memory, address).slice;
  request->message.to_core = false;
  request->message.bytes = transfer->write ? moved_bytes : 0;
  request->message.done = message_at_slice;
  memory->network_ops->send(memory->network, &request->message);
}

/* Takes back the requests whose answers have arrived. */
static void reclaim(struct engine_port *port, uint64_t now_ps) {
  while (port->returning && port->returning->arrival_ps <= now_ps) {
    struct memory_request *request = port->returning;
    port->returning = request->next;
    *(request->next ? &request->next->previous : &port->returning_last) = NULL;
    port->bytes_in_flight -= request->moved_bytes;
    request->next = port->free;
    port->free = request;
  }
}

/* The window is full: on with the next answer, when it is known when that comes. */
static void wait_for_answer(struct engine_port *port) {
  port->window_full = port->returning == NULL;
  if (port->returning)
    schedule_issue(port, port->returning->arrival_ps);
}

static void fire_issue(struct engine_event *event, uint64_t now_ps) {
  struct engine_port *port =
      (struct engine_port *)((char *)event - offsetof(struct engine_port, issue));
  struct gm_transfer *transfer = port->first;
  if (!transfer)
    return;
  uint64_t ready_ps = max_u64(transfer->start_ps, port->next_issue_ps);
  if (ready_ps > now_ps) {
    schedule_issue(port, ready_ps);
    return;
  }
  reclaim(port, now_ps);
  uint64_t address;
  uint64_t bytes = next_run(transfer, &address);
  uint64_t moved_bytes = granule_bytes(address, bytes);
  if (!window_allows(port, transfer, moved_bytes)) {
    wait_for_answer(port);
    return;
  }
  uint64_t rate = transfer_rate(transfer, port->memory->soc->path[transfer->path].mbytes_per_cycle);
  port->next_issue_ps = now_ps + transfer_ps(transfer, moved_bytes, rate);
  send_request(port, transfer, address, bytes, moved_bytes);
  transfer_advance(transfer, bytes);
  if (all_issued(transfer))
    port->first = transfer->next;
  if (port->first)
    schedule_issue(port, max_u64(port->next_issue_ps, port->first->start_ps));
}

/* ---- answers ------------------------------------------------------------------- */

static void message_at_slice(struct network_message *message, uint64_t now_ps) {
  cycle_slice_access(request_of(message), now_ps);
}

static void fire_transfer_done(struct engine_event *event, uint64_t now_ps) {
  struct gm_transfer *transfer =
      (struct gm_transfer *)((char *)event - offsetof(struct gm_transfer, event));
  transfer->done(transfer, now_ps);
}

/* The end is told in the deliveries of its instant; this instant's are over. */
static void finish(struct gm_transfer *transfer, uint64_t end_ps) {
  struct memsys *memory = transfer->memory;
  bool later_instant = end_ps > engine_now_ps(memory->engine);
  transfer->event.fire = fire_transfer_done;
  transfer->event.key =
      event_key(later_instant ? PHASE_DELIVER : PHASE_ARBITRATE, memory->part, transfer->port);
  engine_schedule(memory->engine, &transfer->event, end_ps);
}

/* Puts a request among the returning ones, from the end: most come in the order of their requests.
 */
static void insert_returning(struct engine_port *port, struct memory_request *request) {
  struct memory_request *before = port->returning_last;
  while (before && before->arrival_ps > request->arrival_ps)
    before = before->previous;
  request->previous = before;
  request->next = before ? before->next : port->returning;
  *(before ? &before->next : &port->returning) = request;
  *(request->next ? &request->next->previous : &port->returning_last) = request;
}

/* It is known when the answer arrives; that may lie ahead. */
static void answered(struct memory_request *request, uint64_t arrival_ps) {
  struct memsys *memory = request->memory;
  struct engine_port *port = &memory->ports[request->port];
  struct gm_transfer *transfer = request->transfer;
  *(transfer->write ? &memory->write_bytes : &memory->read_bytes) += request->bytes;
  request->arrival_ps = arrival_ps;
  insert_returning(port, request);
  transfer->end_ps = max_u64(transfer->end_ps, arrival_ps);
  if (--transfer->requests == 0 && all_issued(transfer))
    finish(transfer, transfer->end_ps);
  if (port->window_full)
    wait_for_answer(port);
}

static void message_at_core(struct network_message *message, uint64_t now_ps) {
  answered(request_of(message), now_ps);
}

static void fire_answer(struct engine_event *event, uint64_t now_ps) {
  struct memory_request *request =
      (struct memory_request *)((char *)event - offsetof(struct memory_request, event));
  (void)now_ps;
  request->memory->network_ops->send(request->memory->network, &request->message);
}

void cycle_answer(struct memory_request *request, uint64_t start_ps) {
  struct memsys *memory = request->memory;
  request->message.to_core = true;
  request->message.bytes = request->transfer->write ? 0 : request->moved_bytes;
  request->message.done = message_at_core;
  if (memory->network_ops->arrival_ps) {
    answered(request,
             memory->network_ops->arrival_ps(memory->network, &request->message, start_ps));
    return;
  }
  request->event.fire = fire_answer;
  engine_schedule(memory->engine, &request->event, start_ps);
}

static void cycle_start(struct memsys *memory, struct gm_transfer *transfer, uint64_t start_ps) {
  struct engine_port *port = &memory->ports[transfer->port];
  uint64_t now_ps = engine_now_ps(memory->engine);
  transfer->memory = memory;
  transfer->next = NULL;
  transfer->burst = transfer->offset = transfer->requests = transfer->end_ps = 0;
  if (transfer->bursts == 0 || transfer->burst_bytes == 0) {
    transfer->bursts = 0;
    finish(transfer, start_ps);
    return;
  }
  /* The measured start-up ends with the first data of a hit: its round trip is part of it. */
  transfer->start_ps = now_ps;
  if (start_ps > now_ps + memory->round_trip_ps)
    transfer->start_ps = start_ps - memory->round_trip_ps;
  if (port->first) {
    port->last->next = transfer;
  } else {
    port->first = transfer;
    schedule_issue(port, max_u64(transfer->start_ps, port->next_issue_ps));
  }
  port->last = transfer;
}

/* ---- construction ---------------------------------------------------------------- */

static uint64_t largest_window(const struct vinci_soc *soc) {
  uint64_t largest = L2_GRANULE_BYTES;
  for (unsigned i = 0; i < PATH_COUNT; i++)
    if ((path_from((enum path)i) == SPACE_GM || path_to((enum path)i) == SPACE_GM) &&
        window_bytes(soc, (enum path)i) > largest)
      largest = window_bytes(soc, (enum path)i);
  return largest;
}

/* Requests of a port: as many granules as its window holds, and one for a window of less. */
static bool create_requests(struct memsys *memory, struct arena *arena, struct engine_port *port) {
  uint64_t granules = largest_window(memory->soc) / L2_GRANULE_BYTES + 1;
  uint32_t count = granules < REQUESTS_MAX ? (uint32_t)granules : REQUESTS_MAX;
  struct memory_request *requests = ARENA_ARRAY(arena, struct memory_request, count);
  if (!requests)
    return false;
  for (uint32_t i = 0; i < count; i++) {
    struct memory_request *request = &requests[i];
    request->memory = memory;
    request->port = port->index;
    request->message.id = memory->request_count++;
    request->message.cluster = port->cluster;
    request->message.event.key =
        event_key(PHASE_ARBITRATE, memory->part, memory->port_count + request->message.id);
    request->event.key = request->message.event.key;
    cycle_init_request(request);
    request->next = port->free;
    port->free = request;
  }
  return true;
}

static bool create_ports(struct memsys *memory, struct arena *arena,
                         const struct memsys_shape *shape) {
  memory->ports = ARENA_ARRAY(arena, struct engine_port, shape->ports);
  memory->l2_of_core = ARENA_ARRAY(arena, struct l2_counters, shape->ports / PIPE_COUNT);
  if (!memory->ports || !memory->l2_of_core)
    return false;
  for (uint32_t i = 0; i < shape->ports; i++) {
    struct engine_port *port = &memory->ports[i];
    *port = (struct engine_port){
        .memory = memory, .index = i, .cluster = shape->cluster_of_core[i / PIPE_COUNT]};
    port->issue.key = event_key(PHASE_ARBITRATE, memory->part, i);
    port->issue.fire = fire_issue;
    enum pipe pipe = (enum pipe)(i % PIPE_COUNT);
    bool moves = pipe == PIPE_MTE2 || pipe == PIPE_MTE3 || pipe == PIPE_FIX;
    if (moves && !create_requests(memory, arena, port))
      return false;
  }
  return true;
}

static bool create_slices(struct memsys *memory, struct arena *arena, uint64_t gm_bytes) {
  const struct vinci_soc *soc = memory->soc;
  struct l2_geometry geometry = {
      .capacity_bytes = (uint64_t)soc->l2_bytes / memory->slice_count,
      .line_bytes = (uint32_t)soc->l2_line_bytes,
      .ways = (uint32_t)soc->l2_ways,
  };
  memory->slices = ARENA_ARRAY(arena, struct l2_slice, memory->slice_count);
  if (!memory->slices)
    return false;
  uint64_t share = gm_bytes / memory->slice_count + (uint64_t)soc->l2_line_bytes;
  for (uint32_t i = 0; i < memory->slice_count; i++)
    if (!l2_create(&memory->slices[i].tags, arena, geometry, share))
      return false;
  return true;
}

/* The clock at which all channels together have the SoC's bandwidth. */
static uint64_t channel_hz(const struct vinci_soc *soc) {
  enum { PPM = 1000000 };
  uint128 bandwidth =
      (uint128)(uint64_t)soc->hbm_bytes_per_second * (uint64_t)soc->hbm_bandwidth_scale / PPM;
  return (uint64_t)(bandwidth * (uint64_t)soc->memory->burst_cycles /
                    ((uint64_t)soc->hbm_channels * (uint64_t)soc->memory->burst_bytes));
}

static bool create_channels(struct memsys *memory, struct arena *arena) {
  const struct vinci_soc *soc = memory->soc;
  uint32_t count = (uint32_t)soc->hbm_channels;
  memory->channels_per_slice = count / memory->slice_count;
  memory->channels = ARENA_ARRAY(arena, struct hbm_port, count);
  if (!memory->channels || hbm_map_parse(&memory->map, mem_map_text(soc->memory, soc->memory_map),
                                         soc->memory, 1, NULL) != VINCI_OK)
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (!hbm_port_create(&memory->channels[i], arena, memory->engine, soc->memory, &memory->map,
                         channel_hz(soc), memory->part + 1, i))
      return false;
  return true;
}

static struct memsys *cycle_create(struct arena *arena, struct engine *engine,
                                   const struct vinci_soc *soc,
                                   const struct network_ops *network_ops, struct network *network,
                                   const struct memsys_shape *shape) {
  struct memsys *memory = ARENA_NEW(arena, struct memsys);
  if (!memory || !soc->memory)
    return NULL;
  *memory = (struct memsys){
      .engine = engine,
      .soc = soc,
      .network_ops = network_ops,
      .network = network,
      .part = shape->part,
      .port_count = shape->ports,
      .slice_count = (uint32_t)soc->l2_slices,
  };
  clock_init(&memory->core_clock, (uint64_t)soc->core_hz);
  memory->round_trip_ps = network_ops->idle_ps(network, 0, false) +
                          clock_edge_ps(&memory->core_clock, (uint64_t)soc->l2_hit_cycles) +
                          network_ops->idle_ps(network, (uint64_t)soc->l2_line_bytes, true);
  if (!create_ports(memory, arena, shape) ||
      !network_ops->prepare(network, arena, memory->request_count) ||
      !create_slices(memory, arena, shape->gm_bytes) || !create_channels(memory, arena))
    return NULL;
  return memory;
}

static void cycle_report(const struct memsys *memory, uint64_t total_ps,
                         struct vinci_result *result) {
  (void)total_ps;
  for (uint32_t i = 0; i < memory->slice_count; i++) {
    const struct l2_counters *slice = &memory->slices[i].tags.counters;
    result->l2.read_hits += slice->read_hits;
    result->l2.read_misses += slice->read_misses;
    result->l2.write_hits += slice->write_hits;
    result->l2.write_misses += slice->write_misses;
    result->l2.writebacks += slice->writebacks;
  }
  uint64_t burst_bytes = (uint64_t)memory->soc->memory->burst_bytes;
  /* What L2 has handed over; the last of it may still wait in the controllers' write queues. */
  result->hbm.write_bytes = result->l2.writebacks * L2_GRANULE_BYTES;
  for (uint32_t i = 0; i < memory->slice_count * memory->channels_per_slice; i++) {
    const struct hbm_counters *channel = hbm_channel_counters(memory->channels[i].channel);
    uint64_t columns = channel->reads + channel->writes;
    result->hbm.read_bytes += (channel->reads + channel->forwarded_reads) * burst_bytes;
    result->hbm.row_misses += channel->activates;
    result->hbm.row_hits += columns > channel->activates ? columns - channel->activates : 0;
  }
  result->hbm_peak_bytes_per_second = channel_hz(memory->soc) /
                                      (uint64_t)memory->soc->memory->burst_cycles * burst_bytes *
                                      (uint64_t)memory->soc->hbm_channels;
  for (uint32_t i = 0; i < result->core_count; i++)
    result->cores[i].l2 = memory->l2_of_core[i];
  result->gm_read_bytes = memory->read_bytes;
  result->gm_write_bytes = memory->write_bytes;
}

const struct memsys_ops memhier_cycle_ops = {
    .name = "cycle",
    .create = cycle_create,
    .start = cycle_start,
    .report = cycle_report,
};
