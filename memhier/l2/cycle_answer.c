/* SPDX-License-Identifier: Apache-2.0 */
/* The cycle-level memory system: answers, and the ends of transfers. */
#include "memhier/l2/cycle.h"

#include <string.h>

static void fire_transfer_done(struct engine_event *event, uint64_t now_ps) {
  struct gm_transfer *transfer =
      (struct gm_transfer *)((char *)event - offsetof(struct gm_transfer, event));
  transfer->done(transfer, now_ps);
}

/* The end is told among the deliveries of its instant; those of the present instant are over. */
void cycle_finish(struct gm_transfer *transfer, uint64_t end_ps) {
  struct memsys *memory = transfer->memory;
  bool later_instant = end_ps > engine_now_ps(memory->engine);
  transfer->event.fire = fire_transfer_done;
  transfer->event.key =
      event_key(later_instant ? PHASE_DELIVER : PHASE_ARBITRATE, memory->part, transfer->port);
  engine_schedule(memory->engine, &transfer->event, end_ps);
}

void cycle_finish_if_over(struct gm_transfer *transfer) {
  if (transfer->requests > 0 || !cycle_all_issued(transfer))
    return;
  cycle_divide(transfer);
  cycle_finish(transfer, transfer->end_ps + cycle_first_miss(transfer));
}

/* Puts an answer into a rising list with room for it, from the end. */
static void insert(uint64_t *list, uint32_t count, uint64_t answer) {
  for (; count != 0 && list[count - 1] > answer; count--)
    list[count] = list[count - 1];
  list[count] = answer;
}

/* Puts rising answers among the known ones, from the end: most come in the order of their
 * requests. */
static void merge_known(struct engine_port *port, const uint64_t *answers, uint32_t count) {
  uint32_t known_count = port->known_end - port->known_first;
  if (port->known_end + count > port->known_room) {
    memmove(port->known, &port->known[port->known_first], known_count * sizeof *port->known);
    port->known_first = 0;
  }
  uint64_t *known = &port->known[port->known_first];
  port->known_end = port->known_first + known_count + count;
  while (count != 0) {
    bool later = known_count != 0 && known[known_count - 1] > answers[count - 1];
    known[known_count + count - 1] = later ? known[known_count - 1] : answers[count - 1];
    known_count -= later;
    count -= !later;
  }
}

/* Counts an answer and tells it in the form in which it is kept. */
static uint64_t count_answer(struct memsys *memory, struct gm_transfer *transfer,
                             const struct line_run *run, uint64_t arrival_ps) {
  *(transfer->write ? &memory->write_bytes : &memory->read_bytes) += run->bytes;
  transfer->end_ps = max_u64(transfer->end_ps, arrival_ps);
  transfer->part_ps[GM_NETWORK] += arrival_ps;
  return arrival_ps << ANSWER_GRANULE_BITS | run->moved_bytes / L2_GRANULE_BYTES;
}

void cycle_answers_known(struct engine_port *port, const struct line_batch *batch, unsigned count) {
  uint64_t answers[BATCH_LINES];
  for (unsigned i = 0; i < count; i++) {
    unsigned line = batch->line_of_leg[i];
    insert(answers, i,
           count_answer(port->memory, batch->transfer[line], &batch->run[line],
                        batch->leg[i].time_ps));
  }
  merge_known(port, answers, count);
}

/* A request is answered; its port may have waited for that. */
static void answered(struct memory_request *request, uint64_t arrival_ps) {
  struct engine_port *port = &request->memory->ports[request->port];
  struct gm_transfer *transfer = request->transfer;
  uint64_t answer = count_answer(port->memory, transfer, &request->run, arrival_ps);
  merge_known(port, &answer, 1);
  request->next = port->free;
  port->free = request;
  transfer->requests--;
  cycle_finish_if_over(transfer);
  if (port->window_full)
    engine_schedule_earliest(
        port->memory->engine, &port->issue,
        max_u64(cycle_first_known_ps(port), engine_now_ps(port->memory->engine)));
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

void cycle_answer(struct memory_request *request, uint64_t start_ps) {
  struct memsys *memory = request->memory;
  if (memory->network_ops->arrivals) {
    struct network_leg leg = {.slice = request->run.slice,
                              .bytes = request->transfer->write ? 0 : request->run.moved_bytes,
                              .time_ps = start_ps};
    memory->network_ops->arrivals(memory->network, memory->ports[request->port].cluster, true, &leg,
                                  1);
    answered(request, leg.time_ps);
    return;
  }
  request->event.fire = fire_answer;
  engine_schedule(memory->engine, &request->event, start_ps);
}
