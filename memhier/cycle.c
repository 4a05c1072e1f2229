/* SPDX-License-Identifier: Apache-2.0 */
/* The cycle-level memory system: transfer engines with requests in flight. */
#include "memhier/cycle.h"

#include <string.h>

static bool all_issued(const struct gm_transfer *transfer) {
  return transfer->burst == transfer->bursts;
}

static void schedule_issue(struct engine_port *port, uint64_t at_ps) {
  engine_schedule_earliest(port->memory->engine, &port->issue,
                           max_u64(at_ps, engine_now_ps(port->memory->engine)));
}

/* ---- answers ------------------------------------------------------------------- */

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

static void finish_if_over(struct gm_transfer *transfer) {
  if (transfer->requests == 0 && all_issued(transfer))
    finish(transfer, transfer->end_ps);
}

static bool any_known(const struct engine_port *port) {
  return port->known_first != port->known_end;
}

static uint64_t first_known_ps(const struct engine_port *port) {
  return port->known[port->known_first] >> ANSWER_GRANULE_BITS;
}

/* Puts an answer among the known ones, from the end: most come in the order of their requests. */
static void insert_known(struct engine_port *port, uint64_t arrival_ps, uint64_t bytes) {
  uint64_t *known = port->known;
  uint64_t answer = arrival_ps << ANSWER_GRANULE_BITS | bytes / L2_GRANULE_BYTES;
  if (port->known_end == port->known_room) {
    uint32_t count = port->known_end - port->known_first;
    memmove(known, &known[port->known_first], count * sizeof *known);
    port->known_first = 0;
    port->known_end = count;
  }
  uint32_t at = port->known_end++, first = port->known_first;
  for (; at != first && known[at - 1] > answer; at--)
    known[at] = known[at - 1];
  known[at] = answer;
}

/* It is known when an answer arrives; that may lie ahead. */
static void answer_known(struct engine_port *port, struct gm_transfer *transfer,
                         const struct line_run *run, uint64_t arrival_ps) {
  struct memsys *memory = port->memory;
  *(transfer->write ? &memory->write_bytes : &memory->read_bytes) += run->bytes;
  insert_known(port, arrival_ps, run->moved_bytes);
  transfer->end_ps = max_u64(transfer->end_ps, arrival_ps);
}

/* The same for a request, whose port may wait for it. */
static void answered(struct memory_request *request, uint64_t arrival_ps) {
  struct engine_port *port = &request->memory->ports[request->port];
  struct gm_transfer *transfer = request->transfer;
  answer_known(port, transfer, &request->run, arrival_ps);
  request->next = port->free;
  port->free = request;
  transfer->requests--;
  finish_if_over(transfer);
  if (port->window_full)
    schedule_issue(port, first_known_ps(port));
}

static struct memory_request *request_of(struct network_message *message) {
  return (struct memory_request *)((char *)message - offsetof(struct memory_request, message));
}

static void message_at_core(struct network_message *message, uint64_t now_ps) {
  answered(request_of(message), now_ps);
}

static void fire_answer(struct engine_event *event, uint64_t now_ps) {
  struct memory_request *request =
      (struct memory_request *)((char *)event - offsetof(struct memory_request, event));
  struct network_message *message = &request->message;
  (void)now_ps;
  message->to_core = true;
  message->bytes = request->transfer->write ? 0 : request->run.moved_bytes;
  message->done = message_at_core;
  request->memory->network_ops->send(request->memory->network, message);
}

/* Time at which an answer that leaves its slice at start_ps arrives. */
static uint64_t answer_ps(const struct engine_port *port, const struct line_run *run, bool write,
                          uint64_t start_ps) {
  const struct memsys *memory = port->memory;
  return memory->network_ops->arrival_ps(memory->network, port->cluster, run->slice, true,
                                         write ? 0 : run->moved_bytes, start_ps);
}

void cycle_answer(struct memory_request *request, uint64_t start_ps) {
  struct memsys *memory = request->memory;
  if (memory->network_ops->arrival_ps) {
    answered(request, answer_ps(&memory->ports[request->port], &request->run,
                                request->transfer->write, start_ps));
    return;
  }
  request->event.fire = fire_answer;
  engine_schedule(memory->engine, &request->event, start_ps);
}

/* ---- issue ------------------------------------------------------------------- */

/* Takes the answers that have arrived by a time out of the window. */
static void reclaim(struct engine_port *port, uint64_t at_ps) {
  enum { GRANULES_MASK = (1 << ANSWER_GRANULE_BITS) - 1 };
  while (any_known(port) && first_known_ps(port) <= at_ps) {
    port->bytes_in_flight -= (port->known[port->known_first++] & GRANULES_MASK) * L2_GRANULE_BYTES;
    port->in_flight--;
  }
}

/* Room in the window for a request; one is always allowed. */
static bool window_allows(const struct engine_port *port, uint64_t moved_bytes) {
  return port->in_flight < port->request_count &&
         (port->in_flight == 0 || port->bytes_in_flight + moved_bytes <= port->window_bytes);
}

/*
 * When a request fits into the window, from at_ps on. Beyond until_ps: not before that;
 * UINT64_MAX: when an answer is known to come.
 */
static uint64_t window_ps(struct engine_port *port, uint64_t moved_bytes, uint64_t at_ps,
                          uint64_t until_ps) {
  reclaim(port, at_ps);
  while (!window_allows(port, moved_bytes)) {
    port->window_full = true;
    if (!any_known(port))
      return UINT64_MAX;
    at_ps = first_known_ps(port);
    if (at_ps > until_ps)
      return at_ps;
    reclaim(port, at_ps);
  }
  port->window_full = false;
  return at_ps;
}

static struct memory_request *take_request(struct engine_port *port, const struct line_run *run) {
  struct memory_request *request = port->free;
  port->free = request->next;
  request->transfer = port->first;
  request->run = *run;
  port->first->requests++;
  return request;
}

static void message_at_slice(struct network_message *message, uint64_t now_ps) {
  struct memory_request *request = request_of(message);
  bool write = request->transfer->write;
  struct l2_outcome outcome;
  uint64_t ready_ps =
      cycle_slice_access(request->memory, &request->run, request->transfer, now_ps, &outcome);
  if (cycle_needs_memory(&outcome, write))
    cycle_use_memory(request, &outcome, ready_ps);
  else
    cycle_answer(request, ready_ps);
}

/* The network tells no arrivals: the request travels as a message, from now on. */
static void send_message(struct engine_port *port, const struct line_run *run) {
  struct memsys *memory = port->memory;
  struct memory_request *request = take_request(port, run);
  request->message.slice = run->slice;
  request->message.to_core = false;
  request->message.bytes = request->transfer->write ? run->moved_bytes : 0;
  request->message.done = message_at_slice;
  memory->network_ops->send(memory->network, &request->message);
}

/* To the slice and, on a hit, back. */
static void walk(struct engine_port *port, const struct line_run *run, uint64_t at_ps) {
  struct memsys *memory = port->memory;
  struct gm_transfer *transfer = port->first;
  bool write = transfer->write;
  uint64_t arrival_ps = memory->network_ops->arrival_ps(memory->network, port->cluster, run->slice,
                                                        false, write ? run->moved_bytes : 0, at_ps);
  struct l2_outcome outcome;
  uint64_t ready_ps = cycle_slice_access(memory, run, transfer, arrival_ps, &outcome);
  if (cycle_needs_memory(&outcome, write))
    cycle_use_memory(take_request(port, run), &outcome, ready_ps);
  else
    answer_known(port, transfer, run, answer_ps(port, run, write, ready_ps));
}

/* What the first transfer of a port asks of it. */
static void begin_first(struct engine_port *port) {
  const struct vinci_soc *soc = port->memory->soc;
  const struct gm_transfer *transfer = port->first;
  uint64_t rate = transfer_rate(transfer, soc->path[transfer->path].mbytes_per_cycle);
  port->granule_time = transfer_ps(transfer, (uint64_t)L2_GRANULE_BYTES * GRANULE_TIME_UNITS, rate);
  port->window_bytes = cycle_window_bytes(soc, transfer->path);
}

static void issue_run(struct engine_port *port, const struct line_run *run, uint64_t at_ps) {
  struct gm_transfer *transfer = port->first;
  port->next_issue_ps =
      at_ps + run->moved_bytes / L2_GRANULE_BYTES * port->granule_time / GRANULE_TIME_UNITS;
  port->bytes_in_flight += run->moved_bytes;
  port->in_flight++;
  if (port->memory->network_ops->arrival_ps)
    walk(port, run, at_ps);
  else
    send_message(port, run);
  transfer_advance(transfer, run->bytes);
  if (!all_issued(transfer))
    return;
  port->first = transfer->next;
  if (port->first)
    begin_first(port);
  finish_if_over(transfer);
}

/* Issues what the next train holds. */
void cycle_issue(struct engine_event *event, uint64_t now_ps) {
  struct engine_port *port =
      (struct engine_port *)((char *)event - offsetof(struct engine_port, issue));
  struct memsys *memory = port->memory;
  uint64_t until_ps = now_ps + memory->train_ps;
  uint64_t at_ps = now_ps;
  while (port->first) {
    struct gm_transfer *transfer = port->first;
    at_ps = max_u64(at_ps, max_u64(transfer->start_ps, port->next_issue_ps));
    if (at_ps > until_ps)
      break;
    struct line_run run =
        cycle_run_at(memory, transfer_position(transfer), transfer->burst_bytes - transfer->offset);
    at_ps = window_ps(port, run.moved_bytes, at_ps, until_ps);
    if (at_ps > until_ps)
      break;
    issue_run(port, &run, at_ps);
  }
  if (port->first && at_ps != UINT64_MAX)
    schedule_issue(port, at_ps);
}

void cycle_start(struct memsys *memory, struct gm_transfer *transfer, uint64_t start_ps) {
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
    begin_first(port);
    schedule_issue(port, max_u64(transfer->start_ps, port->next_issue_ps));
  }
  port->last = transfer;
}
