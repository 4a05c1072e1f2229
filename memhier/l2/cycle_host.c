/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory behind L2 that another simulator owns: what L2 fetches and writes back goes there
 * as requests of granules that follow one another, and each is answered. Left out: a bound of its
 * own for requests under way, which are as many as the engines' bytes in flight need.
 */
#include "memhier/l2/cycle_host.h"

/* A request under way; one that is free again is in a list. */
struct host_op {
  struct engine_event event; /* the answer */
  struct memory_request *request;
  struct host_op *next;
  uint64_t bytes;
  bool write;
};

struct memory_behind {
  const struct memory_host *host;
  struct host_op *ops, *free;
  uint64_t prepared; /* ops that have been used; the memory of others is not touched */
  uint64_t read_bytes;
};

static void fire_answer(struct engine_event *event, uint64_t now_ps) {
  struct host_op *op = (struct host_op *)event;
  struct memory_request *request = op->request;
  struct memory_behind *behind = request->memory->behind;
  traffic_at(&request->memory->traffic, now_ps)[op->write ? TRAFFIC_HBM_WRITE : TRAFFIC_HBM_READ] +=
      op->bytes;
  behind->read_bytes += op->write ? 0 : op->bytes;
  op->next = behind->free;
  behind->free = op;
  cycle_operation_over(request, now_ps);
}

static struct host_op *take_op(struct memsys *memory) {
  struct memory_behind *behind = memory->behind;
  struct host_op *op = behind->free;
  if (op) {
    behind->free = op->next;
    return op;
  }
  uint64_t index = behind->prepared++;
  op = &behind->ops[index];
  *op = (struct host_op){.event.fire = fire_answer};
  op->event.key = event_key(PHASE_ARBITRATE, memory->part + 1, (uint32_t)index);
  return op;
}

/* Granules of the lowest run of a mask. */
static uint32_t lowest_run(uint32_t granules) {
  uint32_t lowest = granules & (~granules + 1);
  return granules & ~(granules + lowest);
}

unsigned cycle_host_operations(uint32_t granules) {
  unsigned runs = 0;
  for (; granules != 0; granules &= ~lowest_run(granules))
    runs++;
  return runs;
}

void cycle_host_submit(struct memory_request *request, unsigned kind) {
  struct memsys *memory = request->memory;
  struct memory_behind *behind = memory->behind;
  uint64_t line = cycle_line_address(memory, request->run.slice, request->lines[kind]);
  uint32_t left = request->granules[kind], run;
  for (; left != 0; left &= ~run) {
    struct host_op *op = take_op(memory);
    run = lowest_run(left);
    op->request = request;
    op->write = kind == LINE_WRITE_BACK;
    op->bytes = (uint64_t)l2_count(run) * L2_GRANULE_BYTES;
    const struct memory_host_request asked = {.id = (uint64_t)(op - behind->ops),
                                              .address = line + (uint64_t)__builtin_ctz(run) *
                                                                    L2_GRANULE_BYTES,
                                              .bytes = op->bytes,
                                              .port = request->port,
                                              .write = op->write};
    behind->host->request(behind->host->context, &asked);
  }
}

void cycle_host_answer(struct memsys *memory, uint64_t id, uint64_t at_ps) {
  engine_schedule(memory->engine, &memory->behind->ops[id].event,
                  max_u64(at_ps, engine_now_ps(memory->engine)));
}

uint64_t cycle_host_read_bytes(const struct memsys *memory) { return memory->behind->read_bytes; }

bool cycle_host_create(struct memsys *memory, struct arena *arena, const struct memory_host *host) {
  uint64_t runs = (memory->line_bytes.value / L2_GRANULE_BYTES + 1) / 2;
  memory->behind = ARENA_NEW(arena, struct memory_behind);
  if (!memory->behind)
    return false;
  memory->behind->host = host;
  memory->behind->ops = ARENA_ROOM(arena, struct host_op, memory->request_count * (2 * runs + 1));
  return memory->behind->ops != NULL;
}
