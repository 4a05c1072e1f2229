/* SPDX-License-Identifier: Apache-2.0 */
/* The cycle-level memory system: transfer engines with requests in flight. */
#include "memhier/l2/cycle.h"

static void schedule_issue(struct engine_port *port, uint64_t at_ps) {
  engine_schedule_earliest(port->memory->engine, &port->issue,
                           max_u64(at_ps, engine_now_ps(port->memory->engine)));
}

/* Takes the answers that have arrived by a time out of the window. */
static void reclaim(struct engine_port *port, uint64_t at_ps) {
  enum { GRANULES_MASK = (1 << ANSWER_GRANULE_BITS) - 1 };
  while (cycle_any_known(port) && cycle_first_known_ps(port) <= at_ps) {
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
 * When the next run fits into the window, from at_ps on. Beyond until_ps: not before that;
 * UINT64_MAX: when an answer is known to come. Lines that may be answered by then are carried
 * on first.
 */
static uint64_t window_ps(struct engine_port *port, struct wagon *wagon, uint64_t at_ps,
                          uint64_t until_ps) {
  uint64_t moved_bytes = cycle_next_run(wagon)->moved_bytes;
  if (at_ps >= wagon->answers_from_ps)
    cycle_carry(port, wagon);
  reclaim(port, at_ps);
  while (!window_allows(port, moved_bytes)) {
    port->window_full = true;
    if (wagon->count > 0 &&
        (!cycle_any_known(port) || cycle_first_known_ps(port) >= wagon->answers_from_ps))
      cycle_carry(port, wagon);
    if (!cycle_any_known(port))
      return UINT64_MAX;
    at_ps = cycle_first_known_ps(port);
    if (at_ps > until_ps)
      return at_ps;
    reclaim(port, at_ps);
  }
  port->window_full = false;
  return at_ps;
}

/* What the first transfer of a port asks of it. */
static void begin_first(struct engine_port *port) {
  const struct vinci_soc *soc = port->memory->soc;
  const struct gm_transfer *transfer = port->first;
  uint64_t rate = transfer_rate(transfer, soc->path[transfer->path].mbytes_per_cycle);
  port->granule_time = transfer_ps(transfer, (uint64_t)L2_GRANULE_BYTES * GRANULE_TIME_UNITS, rate);
  port->window_bytes = cycle_window_bytes(soc, transfer->path);
}

static void issue_run(struct engine_port *port, struct wagon *wagon, uint64_t at_ps) {
  const struct line_run *run = cycle_next_run(wagon);
  struct gm_transfer *transfer = port->first;
  port->next_issue_ps =
      at_ps + run->moved_bytes / L2_GRANULE_BYTES * port->granule_time / GRANULE_TIME_UNITS;
  port->bytes_in_flight += run->moved_bytes;
  port->in_flight++;
  if (port->memory->network_ops->arrivals)
    cycle_board(port, wagon, at_ps);
  else
    cycle_send(port, run);
  transfer_advance(transfer, run->bytes);
  bool last = cycle_all_issued(transfer);
  if (wagon->count == WAGON_LINES || (last && wagon->count > 0))
    cycle_carry(port, wagon);
  if (!last)
    return;
  port->first = transfer->next;
  if (port->first)
    begin_first(port);
  cycle_finish_if_over(transfer);
}

/* Issues what the next train holds. */
void cycle_issue(struct engine_event *event, uint64_t now_ps) {
  struct engine_port *port =
      (struct engine_port *)((char *)event - offsetof(struct engine_port, issue));
  struct memsys *memory = port->memory;
  uint64_t until_ps = now_ps + memory->train_ps;
  uint64_t at_ps = now_ps;
  struct wagon wagon;
  cycle_empty(&wagon);
  while (port->first) {
    struct gm_transfer *transfer = port->first;
    at_ps = max_u64(at_ps, max_u64(transfer->start_ps, port->next_issue_ps));
    if (at_ps > until_ps)
      break;
    cycle_run_at(memory, transfer_position(transfer), transfer->burst_bytes - transfer->offset,
                 cycle_next_run(&wagon));
    at_ps = window_ps(port, &wagon, at_ps, until_ps);
    if (at_ps > until_ps)
      break;
    issue_run(port, &wagon, at_ps);
  }
  if (wagon.count > 0)
    cycle_carry(port, &wagon);
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
    cycle_finish(transfer, start_ps);
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
