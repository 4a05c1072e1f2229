/* SPDX-License-Identifier: Apache-2.0 */
/* The cycle-level memory system: requests on their way to L2. */
#include "memhier/l2/cycle.h"

static struct memory_request *prepare_request(struct engine_port *port) {
  struct memsys *memory = port->memory;
  struct memory_request *request = &port->requests[--port->unprepared];
  *request = (struct memory_request){.memory = memory, .port = port->index};
  request->message.id = port->first_id + port->unprepared;
  request->message.cluster = port->cluster;
  request->message.event.key =
      event_key(PHASE_ARBITRATE, memory->part, memory->port_count + request->message.id);
  request->event.key = request->message.event.key;
  cycle_init_request(request);
  return request;
}

/* Takes a request for a run of a transfer from the free ones of a port. */
static struct memory_request *take_request(struct engine_port *port, struct gm_transfer *transfer,
                                           const struct line_run *run) {
  struct memory_request *request = port->free;
  if (request)
    port->free = request->next;
  else
    request = prepare_request(port);
  request->transfer = transfer;
  request->run = *run;
  transfer->requests++;
  return request;
}

/* ---- a network that computes arrivals: batches ------------------------------------- */

void cycle_batch_add(const struct engine_port *port, struct line_batch *batch, uint64_t at_ps) {
  const struct memsys *memory = port->memory;
  unsigned i = batch->count++;
  const struct line_run *run = &batch->run[i];
  if (i == 0)
    batch->answers_from_ps = at_ps + memory->hit_ps;
  batch->transfer[i] = port->first;
  batch->leg[i].slice = run->slice;
  batch->leg[i].bytes = port->first->write ? run->moved_bytes : 0;
  batch->leg[i].time_ps = at_ps;
  l2_prefetch_hint(&memory->slices[run->slice], &run->place);
}

/* Looks up the tags of all lines. Hits become the legs of the way back; returns their number. */
static unsigned look_up(struct engine_port *port, struct line_batch *batch) {
  struct memsys *memory = port->memory;
  unsigned hits = 0;
  cycle_slices_begin(memory);
  for (unsigned i = 0; i < batch->count; i++) {
    const struct line_run *run = &batch->run[i];
    struct gm_transfer *transfer = batch->transfer[i];
    bool write = transfer->write;
    struct l2_outcome outcome;
    uint64_t ready_ps = cycle_slice_access(memory, run, transfer, batch->leg[i].time_ps, &outcome);
    if (cycle_needs_memory(memory, run, &outcome, write)) {
      cycle_use_memory(take_request(port, transfer, run), &outcome, ready_ps);
      continue;
    }
    batch->line_of_leg[hits] = i;
    batch->leg[hits++] = (struct network_leg){
        .slice = run->slice, .bytes = write ? 0 : run->moved_bytes, .time_ps = ready_ps};
  }
  return hits;
}

void cycle_batch_serve(struct engine_port *port, struct line_batch *batch) {
  struct memsys *memory = port->memory;
  for (unsigned i = 0; i < batch->count; i++)
    l2_prefetch_way(&memory->slices[batch->run[i].slice], &batch->run[i].place);
  memory->network_ops->arrivals(memory->network, port->cluster, false, batch->leg, batch->count);
  unsigned hits = look_up(port, batch);
  memory->network_ops->arrivals(memory->network, port->cluster, true, batch->leg, hits);
  cycle_answers_known(port, batch, hits);
  batch->run[0] = *cycle_next_run(batch);
  cycle_batch_clear(batch);
}

/* ---- a network that does not: messages ---------------------------------------------- */

static void message_at_slice(struct network_message *message, uint64_t now_ps) {
  struct memory_request *request =
      (struct memory_request *)((char *)message - offsetof(struct memory_request, message));
  bool write = request->transfer->write;
  struct l2_outcome outcome;
  struct memsys *memory = request->memory;
  cycle_slices_begin(memory);
  uint64_t ready_ps =
      cycle_slice_access(memory, &request->run, request->transfer, now_ps, &outcome);
  if (cycle_needs_memory(memory, &request->run, &outcome, write))
    cycle_use_memory(request, &outcome, ready_ps);
  else
    cycle_answer(request, ready_ps);
}

void cycle_send(struct engine_port *port, const struct line_run *run) {
  struct memsys *memory = port->memory;
  struct memory_request *request = take_request(port, port->first, run);
  request->message.slice = run->slice;
  request->message.to_core = false;
  request->message.bytes = request->transfer->write ? run->moved_bytes : 0;
  request->message.done = message_at_slice;
  memory->network_ops->send(memory->network, &request->message);
}
