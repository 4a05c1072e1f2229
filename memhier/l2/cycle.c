/* SPDX-License-Identifier: Apache-2.0 */
/* The cycle-level memory system: transfer engines with requests in flight. */
#include "memhier/l2/cycle.h"

static void schedule_issue(struct engine_port *port, uint64_t at_ps) {
  engine_schedule_earliest(port->memory->engine, &port->issue,
                           max_u64(at_ps, engine_now_ps(port->memory->engine)));
}

/* Takes the answers that have arrived by a time out of the bytes in flight. */
static void reclaim(struct engine_port *port, uint64_t at_ps) {
  enum { GRANULES_MASK = (1 << ANSWER_GRANULE_BITS) - 1 };
  while (cycle_any_known(port) && cycle_first_known_ps(port) <= at_ps) {
    port->bytes_in_flight -= (port->known[port->known_first++] & GRANULES_MASK) * L2_GRANULE_BYTES;
    port->in_flight--;
  }
}

/* Whether a request fits into the bytes in flight; a request alone always does. */
static bool window_allows(const struct engine_port *port, uint64_t moved_bytes) {
  return port->in_flight < port->request_count &&
         (port->in_flight == 0 || port->bytes_in_flight + moved_bytes <= port->window_bytes);
}

/*
 * The first time, from at_ps on, at which the next run fits into the bytes in flight. A result
 * beyond until_ps is a lower bound; UINT64_MAX: no answer is known yet that would make room.
 * Lines of the batch that may be answered by then are served first.
 */
static uint64_t window_ps(struct engine_port *port, struct line_batch *batch, uint64_t at_ps,
                          uint64_t until_ps) {
  uint64_t moved_bytes = cycle_next_run(batch)->moved_bytes;
  if (at_ps >= batch->answers_from_ps)
    cycle_batch_serve(port, batch);
  reclaim(port, at_ps);
  while (!window_allows(port, moved_bytes)) {
    port->window_full = true;
    if (batch->count > 0 &&
        (!cycle_any_known(port) || cycle_first_known_ps(port) >= batch->answers_from_ps))
      cycle_batch_serve(port, batch);
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

/* Pace and bytes in flight of the transfer that is now first in the port. */
static void begin_first(struct engine_port *port) {
  const struct vinci_soc *soc = port->memory->soc;
  const struct gm_transfer *transfer = port->first;
  uint64_t rate = (uint64_t)soc->path[transfer->path].mbytes_per_cycle;
  port->granule_time = transfer_ps(transfer, (uint64_t)L2_GRANULE_BYTES * GRANULE_TIME_UNITS, rate);
  port->line_ps = transfer_lines_ps(transfer, 1);
  port->window_bytes = path_window_bytes(soc, transfer->path);
}

/* Lines of the engine that reorders in what lies in one line of L2. */
static uint64_t reorder_lines(const struct engine_port *port, const struct gm_transfer *transfer,
                              uint64_t bytes) {
  if (port->line_ps == 0)
    return 0;
  uint64_t address = transfer_position(transfer), line = transfer->line_bytes;
  return (address + bytes - 1) / line - address / line + 1;
}

static void issue_run(struct engine_port *port, struct line_batch *batch, uint64_t at_ps) {
  const struct line_run *run = cycle_next_run(batch);
  struct gm_transfer *transfer = port->first;
  uint64_t bytes_ps = run->moved_bytes / L2_GRANULE_BYTES * port->granule_time / GRANULE_TIME_UNITS;
  uint64_t pace_ps = max_u64(bytes_ps, port->line_ps * reorder_lines(port, transfer, run->bytes));
  port->next_issue_ps = at_ps + pace_ps;
  if (transfer->lines++ == 0)
    transfer->first_ps = at_ps;
  transfer->part_ps[pace_ps > bytes_ps ? GM_REORDER : GM_RATE] += pace_ps;
  transfer->part_ps[GM_NETWORK] -= at_ps;
  port->bytes_in_flight += run->moved_bytes;
  port->in_flight++;
  if (port->memory->network_ops->arrivals)
    cycle_batch_add(port, batch, at_ps);
  else
    cycle_send(port, run);
  transfer_advance(transfer, run->bytes);
  bool last = cycle_all_issued(transfer);
  if (batch->count == BATCH_LINES || (last && batch->count > 0))
    cycle_batch_serve(port, batch);
  if (!last)
    return;
  port->first = transfer->next;
  if (port->first)
    begin_first(port);
  cycle_finish_if_over(transfer);
}

/* The next bytes of a transfer, up to the end of their line. */
static void next_line(const struct memsys *memory, const struct gm_transfer *transfer,
                      struct line_run *run) {
  cycle_run_at(memory, transfer_position(transfer), transfer->burst_bytes - transfer->offset, run);
  run->shared = transfer_shared_granules(transfer, run->bytes, memory->line_bytes.value) > 0;
  run->moved_bytes += run->shared ? L2_GRANULE_BYTES : 0;
}

/* Issues the lines of the next burst window. */
void cycle_issue(struct engine_event *event, uint64_t now_ps) {
  struct engine_port *port =
      (struct engine_port *)((char *)event - offsetof(struct engine_port, issue));
  struct memsys *memory = port->memory;
  uint64_t until_ps = now_ps + memory->burst_window_ps;
  uint64_t at_ps = now_ps;
  struct line_batch batch;
  cycle_batch_clear(&batch);
  while (port->first) {
    struct gm_transfer *transfer = port->first;
    at_ps = max_u64(at_ps, max_u64(transfer->start_ps, port->next_issue_ps));
    if (at_ps > until_ps)
      break;
    next_line(memory, transfer, cycle_next_run(&batch));
    at_ps = window_ps(port, &batch, at_ps, until_ps);
    if (at_ps > until_ps)
      break;
    issue_run(port, &batch, at_ps);
  }
  if (batch.count > 0)
    cycle_batch_serve(port, &batch);
  if (port->first && at_ps != UINT64_MAX)
    schedule_issue(port, at_ps);
}

void cycle_start(struct memsys *memory, struct gm_transfer *transfer, uint64_t start_ps) {
  struct engine_port *port = &memory->ports[transfer->port];
  uint64_t now_ps = engine_now_ps(memory->engine);
  transfer->memory = memory;
  transfer->next = NULL;
  transfer->burst = transfer->offset = transfer->requests = transfer->end_ps = 0;
  transfer->lines = 0;
  transfer->missed = false;
  if (transfer->bursts == 0 || transfer->burst_bytes == 0) {
    transfer->bursts = 0;
    cycle_finish(transfer, start_ps);
    return;
  }
  /* The measured start-up ends with the first data of a hit, so it contains that round trip. */
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
