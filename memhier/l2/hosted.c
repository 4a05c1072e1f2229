/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that another simulator owns: engines send requests of at most a line of L2 at the rate of
 * their path, with as many bytes under way as the path allows, and the host answers. There is no
 * L2 and no network here. The transfers of one engine follow one another.
 */
#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/sim/memsys.h"
#include "memhier/memhier.h"

/* A request under way; one that is free again is in a list. */
struct hosted_request {
  struct engine_event event; /* the answer arrives */
  struct memsys *memory;
  struct hosted_port *port;
  struct hosted_request *next;
  uint64_t bytes;
};

/* The transfers of one engine, in order; the first moves. */
struct hosted_port {
  struct engine_event issue;
  struct memsys *memory;
  struct gm_transfer *first, *last;
  uint64_t window_bytes, under_way_bytes;
  uint64_t next_issue_ps;
  uint64_t begun_ps;
};

struct memsys {
  struct engine *engine;
  const struct vinci_soc *soc;
  const struct memory_host *host;
  uint32_t part, port_count;
  struct hosted_port *ports;
  struct hosted_request *requests, *free;
  uint64_t prepared; /* requests that have been used; the rest of their memory is not touched */
  uint64_t read_bytes, write_bytes;
  struct memory_traffic traffic;
};

/* ---- requests ------------------------------------------------------------------------- */

static void begin(struct hosted_port *port, uint64_t at_ps);

static void finish(struct hosted_port *port, uint64_t now_ps) {
  struct gm_transfer *transfer = port->first;
  uint64_t all_ps = now_ps - port->begun_ps;
  transfer->moved_ps = all_ps;
  transfer->part_ps[GM_RATE] = min_u64(all_ps, port->next_issue_ps - port->begun_ps);
  transfer->part_ps[GM_QUEUE] = all_ps - transfer->part_ps[GM_RATE];
  port->first = transfer->next;
  if (port->first)
    begin(port, max_u64(now_ps, port->first->start_ps));
  transfer->done(transfer, now_ps);
}

/* The last answer is there, and the engine has had the time that its bytes need. */
static void finish_if_over(struct hosted_port *port, uint64_t now_ps) {
  const struct gm_transfer *transfer = port->first;
  if (transfer && transfer->burst == transfer->bursts && transfer->requests == 0 &&
      !port->issue.pending)
    finish(port, now_ps);
}

static void fire_answer(struct engine_event *event, uint64_t now_ps) {
  struct hosted_request *request = (struct hosted_request *)event;
  struct hosted_port *port = request->port;
  struct memsys *memory = request->memory;
  port->under_way_bytes -= request->bytes;
  port->first->requests--;
  request->next = memory->free;
  memory->free = request;
  if (port->first->burst < port->first->bursts && !port->issue.pending)
    engine_schedule(memory->engine, &port->issue, max_u64(now_ps, port->next_issue_ps));
  finish_if_over(port, now_ps);
}

static struct hosted_request *take_request(struct memsys *memory) {
  struct hosted_request *request = memory->free;
  if (request) {
    memory->free = request->next;
    return request;
  }
  uint64_t index = memory->prepared++;
  request = &memory->requests[index];
  *request = (struct hosted_request){.memory = memory};
  request->event.fire = fire_answer;
  request->event.key = event_key(PHASE_DELIVER, memory->part, memory->port_count + (uint32_t)index);
  return request;
}

/* Bytes of the run up to the end of the line. */
static uint64_t next_bytes(const struct memsys *memory, const struct gm_transfer *transfer) {
  uint64_t line_bytes = (uint64_t)memory->soc->l2_line_bytes;
  return min_u64(transfer->burst_bytes - transfer->offset,
                 line_bytes - transfer_position(transfer) % line_bytes);
}

static uint64_t granules_of(uint64_t bytes) {
  return (bytes + L2_GRANULE_BYTES - 1) / L2_GRANULE_BYTES * L2_GRANULE_BYTES;
}

static void send(struct hosted_port *port, uint64_t bytes, uint64_t now_ps) {
  struct memsys *memory = port->memory;
  struct gm_transfer *transfer = port->first;
  struct hosted_request *request = take_request(memory);
  request->port = port;
  request->bytes = granules_of(bytes);
  port->under_way_bytes += request->bytes;
  transfer->requests++;
  const struct memory_host_request asked = {.id = (uint64_t)(request - memory->requests),
                                            .address = transfer_position(transfer),
                                            .bytes = bytes,
                                            .port = transfer->port,
                                            .write = transfer->write};
  traffic_at(&memory->traffic,
             now_ps)[transfer->write ? TRAFFIC_NETWORK_WRITE : TRAFFIC_NETWORK_READ] += bytes;
  *(transfer->write ? &memory->write_bytes : &memory->read_bytes) += bytes;
  uint64_t rate = (uint64_t)memory->soc->path[transfer->path].mbytes_per_cycle;
  port->next_issue_ps =
      now_ps + max_u64(transfer_ps(transfer, bytes, rate), transfer_lines_ps(transfer, 1));
  transfer_advance(transfer, bytes);
  memory->host->request(memory->host->context, &asked);
}

static void fire_issue(struct engine_event *event, uint64_t now_ps) {
  struct hosted_port *port = (struct hosted_port *)event;
  struct gm_transfer *transfer = port->first;
  if (transfer->burst == transfer->bursts) {
    finish_if_over(port, now_ps);
    return;
  }
  uint64_t bytes = next_bytes(port->memory, transfer);
  if (port->under_way_bytes > 0 && port->under_way_bytes + granules_of(bytes) > port->window_bytes)
    return; /* an answer goes on */
  send(port, bytes, now_ps);
  if (transfer->burst == transfer->bursts) /* then the engine is through: an arrival */
    port->issue.key = event_key(PHASE_DELIVER, port->memory->part, transfer->port);
  engine_schedule(port->memory->engine, &port->issue, port->next_issue_ps);
}

static void begin(struct hosted_port *port, uint64_t at_ps) {
  port->window_bytes = path_window_bytes(port->memory->soc, port->first->path);
  port->begun_ps = port->next_issue_ps = at_ps;
  port->issue.key = event_key(PHASE_ARBITRATE, port->memory->part, port->first->port);
  engine_schedule(port->memory->engine, &port->issue, at_ps);
}

static void hosted_start(struct memsys *memory, struct gm_transfer *transfer, uint64_t start_ps) {
  struct hosted_port *port = &memory->ports[transfer->port];
  transfer->memory = memory;
  transfer->next = NULL;
  transfer->start_ps = start_ps;
  transfer->burst = transfer->offset = transfer->requests = 0;
  if (transfer->burst_bytes == 0)
    transfer->bursts = 0;
  if (port->first) {
    port->last->next = transfer;
  } else {
    port->first = transfer;
    begin(port, start_ps);
  }
  port->last = transfer;
}

static void hosted_answer(struct memsys *memory, uint64_t id, uint64_t at_ps) {
  engine_schedule(memory->engine, &memory->requests[id].event,
                  max_u64(at_ps, engine_now_ps(memory->engine)));
}

/* ---- the whole ------------------------------------------------------------------------ */

static bool create_ports(struct memsys *memory, struct arena *arena, uint32_t count) {
  uint64_t each = path_largest_window(memory->soc) / L2_GRANULE_BYTES + 1;
  memory->port_count = count;
  memory->ports = ARENA_ARRAY(arena, struct hosted_port, count);
  memory->requests = ARENA_ROOM(arena, struct hosted_request, each * count);
  if (!memory->ports || !memory->requests)
    return false;
  for (uint32_t i = 0; i < count; i++) {
    memory->ports[i].memory = memory;
    memory->ports[i].issue.fire = fire_issue;
  }
  return true;
}

static struct memsys *hosted_create(struct arena *arena, struct engine *engine,
                                    const struct vinci_soc *soc,
                                    const struct network_ops *network_ops, struct network *network,
                                    const struct memsys_shape *shape) {
  struct memsys *memory = ARENA_NEW(arena, struct memsys);
  (void)network_ops;
  (void)network;
  if (!memory)
    return NULL;
  *memory = (struct memsys){.engine = engine, .soc = soc, .host = shape->host, .part = shape->part};
  return create_ports(memory, arena, shape->ports) ? memory : NULL;
}

static void hosted_report(const struct memsys *memory, uint64_t total_ps,
                          struct vinci_result *result) {
  (void)total_ps;
  result->hbm_peak_bytes_per_second = soc_hbm_bytes_per_second(memory->soc);
  result->traffic = memory->traffic;
  result->gm_read_bytes = memory->read_bytes;
  result->gm_write_bytes = memory->write_bytes;
}

const struct memsys_ops memhier_hosted_ops = {
    .name = "hosted",
    .create = hosted_create,
    .start = hosted_start,
    .answer = hosted_answer,
    .report = hosted_report,
};
