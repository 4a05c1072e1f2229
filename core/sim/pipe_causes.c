/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causes of the busy cycles of a pipe. Instructions of a pipe overlap; each busy cycle belongs to
 * the first that was in flight. So an instruction brings the cycles from the end of those before
 * to its own end, and of its parts the last: a start-up that runs behind other work costs nothing.
 * Of an instruction that follows closely, what is left of the start-up is the distance that the
 * unit keeps between two.
 */
#include "core/base/arith.h"
#include "core/sim/aicore.h"

enum { HALF_WORD_BITS = 32 };

static uint64_t take(uint64_t *left, uint64_t wanted) {
  uint64_t taken = min_u64(*left, wanted);
  *left -= taken;
  return taken;
}

/* The slot of an event with the fewest (or most) cycles. */
static unsigned slot_of(const struct result_event *event, bool most) {
  unsigned found = 0;
  for (unsigned i = 1; i < EVENT_CAUSES; i++) {
    bool more = event->cause_cycles[i] > event->cause_cycles[found];
    if (most ? more : event->cause_cycles[i] < event->cause_cycles[found])
      found = i;
  }
  return found;
}

static void add_to_event(struct result_event *event, enum cause cause, uint64_t cycles) {
  unsigned slot = slot_of(event, false);
  uint32_t amount = (uint32_t)min_u64(cycles, UINT32_MAX / EVENT_CAUSES);
  uint32_t small = event->cause_cycles[slot] < amount ? event->cause_cycles[slot] : amount;
  if (amount > event->cause_cycles[slot]) {
    event->cause[slot] = (uint8_t)cause;
    event->cause_cycles[slot] = amount;
  }
  event->cause_cycles[slot_of(event, true)] += small;
}

static void spend(struct pipe_unit *pipe, struct result_event *event, enum cause cause,
                  uint64_t cycles) {
  if (cycles == 0)
    return;
  pipe->counters->cause_cycles[cause] += cycles;
  if (event)
    add_to_event(event, cause, cycles);
}

/* The cycles that an instruction brings. */
static uint64_t new_cycles(struct pipe_unit *pipe, uint64_t start_cycle, uint64_t end_cycle) {
  uint64_t from = max_u64(start_cycle, pipe->caused_cycle);
  pipe->caused_cycle = max_u64(end_cycle, from);
  return pipe->caused_cycle - from;
}

/* ---- instructions of units ------------------------------------------------------------- */

/* What the parts of an instruction are called, by the unit. */
struct unit_causes {
  enum cause startup, follow, work;
};

#define COPY_CAUSES                                                                                \
  { CAUSE_STARTUP, CAUSE_FOLLOW, CAUSE_RATE }
static const struct unit_causes causes_of[PIPE_COUNT] = {
    [PIPE_M] = {CAUSE_MAD_STARTUP, CAUSE_MAD_ISSUE, CAUSE_MAD_TILES},
    [PIPE_V] = {CAUSE_VECTOR_STARTUP, CAUSE_VECTOR_ISSUE, CAUSE_VECTOR_REPEATS},
    [PIPE_MTE1] = COPY_CAUSES,
    [PIPE_MTE2] = COPY_CAUSES,
    [PIPE_MTE3] = COPY_CAUSES,
    [PIPE_FIX] = COPY_CAUSES,
};

static unsigned member_of(enum pipe pipe, const struct pipe_entry *entry) {
  if (pipe == PIPE_M)
    return entry->dtype;
  return pipe == PIPE_V ? entry->cost.vector_class : (unsigned)entry->cost.path;
}

void pipe_causes_unit(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t start_cycle,
                      uint64_t wait_cycles, uint64_t end_cycle) {
  const struct inst_cost *cost = &entry->cost;
  struct result_event *event = aicore_record(pipe->core, pipe->id, entry, start_cycle, end_cycle);
  bool follows = start_cycle < pipe->caused_cycle;
  uint64_t left = new_cycles(pipe, start_cycle, end_cycle);
  const struct unit_causes *causes = &causes_of[pipe->id];
  uint64_t bank = cost->conflict_bank_cycles, group = cost->conflict_bankgroup_cycles;
  uint64_t work = cost->latency_cycles - cost->startup_cycles;
  if (event)
    event->member = (uint8_t)member_of(pipe->id, entry);
  if (wait_cycles + bank + group > 0) {
    spend(pipe, event, CAUSE_L1_PORT, take(&left, wait_cycles));
    spend(pipe, event, CAUSE_BANK, take(&left, bank));
    spend(pipe, event, CAUSE_BANK_GROUP, take(&left, group));
    work -= min_u64(bank + group, work);
  }
  spend(pipe, event, causes->work, take(&left, work));
  spend(pipe, event, follows ? causes->follow : causes->startup, left);
}

/* ---- transfers from and to GM --------------------------------------------------------------- */

static const uint8_t cause_of_part[GM_PARTS] = {
    [GM_RATE] = CAUSE_RATE,
    [GM_REORDER] = CAUSE_REORDER,
    [GM_WINDOW] = CAUSE_WINDOW,
    [GM_NETWORK] = CAUSE_NETWORK,
    [GM_SLICE] = CAUSE_SLICE,
    [GM_SAME_LINE] = CAUSE_SAME_LINE,
    [GM_REFETCH] = CAUSE_REFETCH,
    [GM_ACCESS] = CAUSE_DRAM_ACCESS,
    [GM_ROW] = CAUSE_DRAM_ROW,
    [GM_TURN] = CAUSE_DRAM_TURN,
    [GM_REFRESH] = CAUSE_DRAM_REFRESH,
    [GM_QUEUE] = CAUSE_DRAM_QUEUE,
};

/* Divides cycles by the shares of the memory system: each part ends at the sum of the shares so
 * far, so that nothing is lost. Mostly products fit a word. */
static void divide_move(struct pipe_unit *pipe, struct result_event *event,
                        const struct gm_transfer *transfer, uint64_t cycles) {
  uint64_t sum = transfer->moved_ps, reached = 0, spent = 0;
  if (sum == transfer->part_ps[GM_RATE]) { /* nothing else, or not known */
    spend(pipe, event, CAUSE_RATE, cycles);
    return;
  }
  bool fits = (cycles | sum) >> HALF_WORD_BITS == 0;
  for (unsigned part = 0; part < GM_PARTS && spent < cycles; part++) {
    if (transfer->part_ps[part] == 0)
      continue;
    reached += transfer->part_ps[part];
    uint64_t until = cycles;
    if (reached < sum)
      until = fits ? cycles * reached / sum : (uint64_t)((uint128)cycles * reached / sum);
    spend(pipe, event, (enum cause)cause_of_part[part], until - spent);
    spent = until;
  }
}

void pipe_causes_transfer(struct pipe_unit *pipe, const struct retire_entry *slot) {
  const struct inst_cost *cost = &slot->entry.cost;
  struct result_event *event =
      aicore_record(pipe->core, pipe->id, &slot->entry, slot->start_cycle, slot->cycle);
  bool follows = cost->overlaps && slot->start_cycle < pipe->caused_cycle;
  uint64_t left = new_cycles(pipe, slot->start_cycle, slot->cycle);
  uint64_t moved_cycle = slot->cycle - cost->acknowledge_cycles;
  uint64_t begun_cycle = slot->start_cycle + slot->first_read_cycles + cost->latency_cycles;
  uint64_t move = slot->arrived_cycle > begun_cycle ? slot->arrived_cycle - begun_cycle : 0;
  if (event)
    event->member = (uint8_t)cost->path;
  spend(pipe, event, CAUSE_ACKNOWLEDGE, take(&left, cost->acknowledge_cycles));
  spend(pipe, event, cost->sustained ? CAUSE_SUSTAINED : CAUSE_MINIMUM,
        take(&left, moved_cycle - slot->arrived_cycle));
  divide_move(pipe, event, &slot->transfer, take(&left, move));
  spend(pipe, event, follows ? CAUSE_FOLLOW : CAUSE_STARTUP, take(&left, cost->latency_cycles));
  spend(pipe, event, CAUSE_FIRST_READ, left);
}

/* ---- runs that are cut short ---------------------------------------------------------------- */

void pipe_causes_cut(struct pipe_counters *counters) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < CAUSE_COUNT; i++)
    sum += counters->cause_cycles[i];
  uint64_t more = sum > counters->busy_cycles ? sum - counters->busy_cycles : 0;
  for (unsigned i = 0; i < CAUSE_COUNT; i++)
    counters->cause_cycles[i] -= take(&more, counters->cause_cycles[i]);
  if (sum < counters->busy_cycles)
    counters->cause_cycles[CAUSE_UNFINISHED] += counters->busy_cycles - sum;
}
