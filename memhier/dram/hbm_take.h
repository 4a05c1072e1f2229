/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a DRAM controller takes into its queues: bursts of the operations that wait, as there is
 * room. Internal to memhier/dram/hbm_channel.c.
 */
#ifndef VINCI_MEMHIER_DRAM_HBM_TAKE_H
#define VINCI_MEMHIER_DRAM_HBM_TAKE_H

#include "core/base/arith.h"
#include "memhier/dram/hbm_choose.h"
#include "memhier/dram/hbm_queue.h"

static inline void set_next(struct hbm_channel *ch) {
  uint64_t next = sooner(sooner(ch->column.cycle, ch->row.cycle), ch->refresh_due);
  ch->next = ch->turn_due && !ch->refresh_left ? ch->cycle : next;
}

/* Compares requests that were queued to a bank just now with the kept choices. */
static inline void arrived(struct hbm_channel *ch, unsigned direction, unsigned bank) {
  if (direction != ch->draining || ch->refresh_left)
    return;
  uint64_t row_order = ch->bank[bank].row_order[direction];
  if (!(ch->open >> bank & 1)) {
    consider(&ch->row, act_key(ch, bank, row_order, row_floor(ch)));
    return;
  }
  if (hit_banks(ch, ch->draining) >> bank & 1)
    consider(&ch->column, hit_key(ch, direction, bank, ch->bank[bank].hit_order[direction]));
  if (chosen_bank(&ch->row) == bank) /* a hit may protect the row from a conflict */
    choose_row(ch);
  else if (pre_banks(ch) >> bank & 1)
    consider(&ch->row, pre_key(ch, bank, row_order, row_floor(ch)));
}

/* Whether a request behind others in its list changes no kept choice. */
static inline bool comes_behind(const struct hbm_channel *ch, const struct hbm_list *list,
                                unsigned bank) {
  bool closed = !(ch->open >> bank & 1);
  return list->head != HBM_NONE && (closed || (list->hit != HBM_NONE && ch->plain_protection));
}

/* Whether a waiting write to a burst answers another request for the same data, or takes in another
 * write. */
static inline bool is_served(struct hbm_channel *ch, struct hbm_spot spot, unsigned direction) {
  if (ch->count[HBM_W] == 0 || !write_waits(ch, spot.bank, spot.row, spot.column))
    return false;
  ++*(direction == HBM_W ? &ch->counters.merged_writes : &ch->counters.forwarded_reads);
  return true;
}

/* Queues bursts, for which there is room. Adds their bank to the changed banks, unless they
 * continue a run: what comes behind requests of its row changes no choice. */
static inline __attribute__((always_inline)) void
queue_up(struct hbm_channel *ch, unsigned direction, struct hbm_offer *offer, uint32_t *changed) {
  unsigned bank = offer->spot.bank;
  const struct hbm_list *list = &ch->bank[bank].list[direction];
  struct hbm_run *last = &ch->run[list->tail];
  offer->order = ch->offers << HBM_ORDER_BANK_BITS | bank | HBM_QUEUED;
  ch->offers += offer->count;
  ch->count[direction] += offer->count;
  ch->grows_at = HBM_GROWS_NOT;
  if (continues(last, offer)) {
    add(last, offer);
  } else {
    *changed |= (uint32_t)!comes_behind(ch, list, bank) << bank;
    append(ch, direction, offer);
  }
  for (unsigned i = 0; direction == HBM_W && i < offer->count; i++)
    ++*filter_slot(ch, place_key(bank, offer->spot.row, offer->spot.column + i));
}

/* Updates the kept choices after bursts have been queued to some banks. */
static __attribute__((noinline)) void settle_banks(struct hbm_channel *ch, unsigned direction,
                                                   uint32_t changed) {
  for (; changed; changed &= changed - 1) {
    unsigned bank = (unsigned)__builtin_ctz(changed);
    list_changed(ch, direction, bank);
    arrived(ch, direction, bank);
  }
  ch->turn_due = turn_ends(ch);
  set_next(ch);
}

/* The same for all bursts that have been queued. Most come behind others and change nothing. */
static inline void settle(struct hbm_channel *ch, unsigned direction, uint32_t changed) {
  if (changed || turn_ends(ch) != ch->turn_due)
    settle_banks(ch, direction, changed);
}

/* ---- operations ---------------------------------------------------------------------- */

/* Tells the end of an operation, and what happened in its time. */
static inline void end_op(struct hbm_channel *ch, struct hbm_op *op, uint64_t cycle) {
  op->delay.refresh_cycles = ch->refresh_cycles - op->delay.refresh_cycles;
  op->delay.turn_cycles = ch->turn_cycles - op->delay.turn_cycles;
  ch->hooks.op_done(ch->hooks.context, op, cycle);
}

/* Bursts that come next, side by side in a row; `at` is the first of them. */
static inline unsigned next_neighbours(const struct hbm_op *op, unsigned at) {
  uint32_t wanted = op->granules >> __builtin_ctz(op->granules);
  unsigned granules = wanted == UINT32_MAX ? 32 : (unsigned)__builtin_ctz(~wanted);
  unsigned bursts = granules * op->layout->bursts_per_granule - op->burst;
  bursts = bursts < op->layout->neighbours[at] ? bursts : op->layout->neighbours[at];
  return bursts < HBM_RUN_BURSTS ? bursts : HBM_RUN_BURSTS;
}

/* How many of some neighbours there is room for, none of which but the first may be served by a
 * write. */
static inline unsigned fitting(struct hbm_channel *ch, unsigned direction, struct hbm_spot spot,
                               unsigned count) {
  unsigned room = ch->depth[direction] - ch->count[direction], i = 1;
  count = count < room ? count : room;
  if (ch->count[HBM_W] == 0)
    return count;
  while (i < count && !write_waits(ch, spot.bank, spot.row, spot.column + i))
    i++;
  return count < i ? count : i;
}

/* The next bursts of an operation are taken; they are neighbours. */
static inline void advance(struct hbm_op *op, unsigned count) {
  for (op->burst += count; op->burst >= op->layout->bursts_per_granule;
       op->burst -= op->layout->bursts_per_granule)
    op->granules &= op->granules - 1;
}

/*
 * The queue of reads is full before the last of some neighbours: notes that the run they are of may
 * grow. Not beside writes, as one might serve a burst; and not in a queue of one, whose turn ends
 * with each.
 */
static inline void note_growing(struct hbm_channel *ch, const struct hbm_op *op, unsigned run,
                                unsigned left) {
  unsigned room = HBM_RUN_BURSTS - (unsigned)(ch->run[run].gone + ch->run[run].count);
  uint64_t more = count_bits(op->granules) * op->layout->bursts_per_granule - op->burst;
  ch->growing = run;
  ch->growing_left = (uint32_t)min_u64(min_u64(left, room), more);
  if (ch->growing_left > 0 && ch->count[HBM_W] == 0 && ch->depth[HBM_R] > 1)
    ch->grows_at = ch->depth[HBM_R] - 1;
}

/* Takes the next bursts of an operation, neighbours; false when the queue is full. Adds the banks
 * whose lists have changed. */
static inline __attribute__((always_inline)) bool take_next(struct hbm_channel *ch,
                                                            struct hbm_op *op, unsigned direction,
                                                            uint64_t cycle, uint32_t *changed) {
  unsigned first = (unsigned)__builtin_ctz(op->granules) * op->layout->bursts_per_granule;
  unsigned at = first + op->burst, count = next_neighbours(op, at);
  struct hbm_offer offer = {.spot = hbm_op_spot(op, &op->layout->offset[at]), .cycle = cycle};
  if (is_served(ch, offer.spot, direction)) {
    op->end_cycle = later(op->end_cycle, cycle + 1);
    advance(op, 1);
    ch->grows_at = HBM_GROWS_NOT;
    return true;
  }
  offer.count = fitting(ch, direction, offer.spot, count);
  if (offer.count == 0)
    return false;
  offer.op = direction == HBM_W ? NULL : op;
  queue_up(ch, direction, &offer, changed);
  op->waiting += direction == HBM_R ? offer.count : 0;
  advance(op, offer.count);
  if (direction == HBM_R && offer.count < count)
    note_growing(ch, op, ch->bank[offer.spot.bank].list[direction].tail, count - offer.count);
  return true;
}

/* Takes bursts of an operation; false when the queue is full before the last. The direction is a
 * constant of the caller. */
static inline __attribute__((always_inline)) bool
take_bursts(struct hbm_channel *ch, struct hbm_op *op, unsigned direction, uint64_t cycle) {
  uint64_t offers = ch->offers;
  uint32_t changed = 0;
  bool room = true;
  while (room && op->granules != 0)
    room = take_next(ch, op, direction, cycle, &changed);
  if (ch->offers != offers)
    settle(ch, direction, changed);
  return op->granules == 0;
}

/* Takes bursts of the operations that wait, in order. */
static void take_ops(struct hbm_channel *ch, uint64_t cycle) {
  struct hbm_op *op;
  while ((op = ch->first_op) &&
         (op->write ? take_bursts(ch, op, HBM_W, cycle) : take_bursts(ch, op, HBM_R, cycle))) {
    ch->first_op = op->next;
    if (op->write)
      end_op(ch, op, cycle);
    else if (op->waiting == 0)
      end_op(ch, op, op->end_cycle);
  }
}

/* Takes the next burst of the first operation into the run that grows. False: choices may be others
 * now. */
static inline bool grow(struct hbm_channel *ch, uint64_t cycle) {
  struct hbm_run *run = &ch->run[ch->growing];
  struct hbm_op *op = ch->first_op;
  run->offered[run->gone + run->count++] = cycle;
  ch->offers++;
  ch->count[HBM_R]++;
  if (--ch->growing_left == 0)
    ch->grows_at = HBM_GROWS_NOT;
  op->waiting++;
  advance(op, 1);
  if (op->granules != 0)
    return true;
  ch->first_op = op->next;
  ch->grows_at = HBM_GROWS_NOT;
  take_ops(ch, cycle);
  return false;
}

#endif
