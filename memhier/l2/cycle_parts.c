/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cycle-level memory system: where the time of a transfer goes.
 *
 * The time from the first answer that could have come to the last that came is, first, what the
 * engine needs for its requests. The rest is waiting. Requests of a transfer overlap, so the sum of
 * what they waited for, stage by stage, is longer than the rest; the sums give the shares of the
 * stages. As many requests follow each other without overlap as the bytes in flight make rounds.
 * Where the rest is longer than the mean waits of these rounds, the engine waited in an idle
 * system: its bytes in flight were too few for the way to L2 and back.
 */
#include "memhier/l2/cycle.h"

enum { HALF_WORD_BITS = 32 };

static uint64_t take(uint64_t *left, uint64_t wanted) {
  uint64_t taken = min_u64(*left, wanted);
  *left -= taken;
  return taken;
}

void cycle_count_memory(const struct memory_request *request) {
  const struct memsys *memory = request->memory;
  uint64_t *part_ps = request->transfer->part_ps;
  uint64_t left_ps = request->ready_ps - request->looked_up_ps;
  if (request->again) {
    part_ps[GM_REFETCH] += left_ps;
    return;
  }
  if (memory->behind) {
    part_ps[GM_QUEUE] += left_ps;
    return;
  }
  const struct hbm_delay *delay = &request->last->delay;
  uint64_t cycle_ps = memory->channel_cycle_ps;
  if (!request->last->write)
    part_ps[GM_ACCESS] += take(&left_ps, memory->channels->read_cycles * cycle_ps);
  part_ps[GM_ROW] += take(&left_ps, delay->row_cycles * cycle_ps);
  part_ps[GM_REFRESH] += take(&left_ps, delay->refresh_cycles * cycle_ps);
  part_ps[GM_TURN] += take(&left_ps, delay->turn_cycles * cycle_ps);
  part_ps[GM_QUEUE] += left_ps;
}

/* part * factor / whole; whole > 0. Mostly the product fits a word. */
static uint64_t portion(uint64_t part, uint64_t factor, uint64_t whole) {
  if ((part | factor) >> HALF_WORD_BITS == 0)
    return part * factor / whole;
  return (uint64_t)((uint128)part * factor / whole);
}

/* Takes an idle system's time out of that on the network; near slices take less. Returns the sum of
 * all waits. */
static uint64_t sum_waits(struct gm_transfer *transfer) {
  const struct memsys *memory = transfer->memory;
  const struct engine_port *port = &memory->ports[transfer->port];
  uint64_t *part_ps = transfer->part_ps, sum_ps = 0;
  for (unsigned part = GM_SLICE; part < GM_PARTS; part++)
    sum_ps += part_ps[part];
  uint64_t line_ps = port->idle_ps[transfer->write] + memory->hit_ps;
  uint64_t idle_ps = sum_ps + transfer->lines * line_ps;
  part_ps[GM_NETWORK] -= min_u64(part_ps[GM_NETWORK], idle_ps);
  return sum_ps + part_ps[GM_NETWORK];
}

uint64_t cycle_first_miss(struct gm_transfer *transfer) {
  uint64_t wait_ps = transfer_first_miss_ps(transfer, transfer->memory->soc), given_ps = 0;
  if (wait_ps == 0)
    return 0;
  for (unsigned part = 0; part < GM_PARTS; part++) { /* those behind the end are not looked at */
    transfer->part_ps[part] = min_u64(transfer->part_ps[part], transfer->moved_ps - given_ps);
    given_ps += transfer->part_ps[part];
  }
  transfer->part_ps[GM_ACCESS] += wait_ps;
  transfer->moved_ps += wait_ps;
  return wait_ps;
}

void cycle_divide(struct gm_transfer *transfer) {
  const struct memsys *memory = transfer->memory;
  uint64_t *part_ps = transfer->part_ps;
  uint64_t begin_ps = transfer->first_ps + memory->round_trip_ps;
  uint64_t left_ps = transfer->end_ps > begin_ps ? transfer->end_ps - begin_ps : 0;
  uint64_t bytes = transfer->bursts * transfer->burst_bytes;
  uint64_t rounds = bytes / max_u64(path_window_bytes(memory->soc, transfer->path), 1) + 1;
  transfer->moved_ps = left_ps;
  part_ps[GM_RATE] = take(&left_ps, part_ps[GM_RATE]);
  part_ps[GM_REORDER] = take(&left_ps, part_ps[GM_REORDER]);
  if (left_ps == 0) /* the parts behind are not looked at */
    return;
  uint64_t waits_ps = sum_waits(transfer);
  uint64_t shared_ps = min_u64(left_ps, portion(waits_ps, rounds, transfer->lines));
  uint64_t given_ps = 0;
  for (unsigned part = GM_NETWORK; part < GM_PARTS; part++) {
    if (part_ps[part] == 0)
      continue;
    part_ps[part] = portion(part_ps[part], shared_ps, waits_ps);
    given_ps += part_ps[part];
  }
  part_ps[GM_WINDOW] = left_ps - given_ps;
}
