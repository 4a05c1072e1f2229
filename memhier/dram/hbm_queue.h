/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queues of a DRAM controller: requests by bank, banks by the order of their row hits, and a
 * filter of the writes that wait. Internal to memhier/dram/hbm_channel.c.
 */
#ifndef VINCI_MEMHIER_DRAM_HBM_QUEUE_H
#define VINCI_MEMHIER_DRAM_HBM_QUEUE_H

#include "memhier/dram/hbm_state.h"

#define HASH_FACTOR UINT64_C(0x9E3779B97F4A7C15) /* 2^64 / golden ratio */

/* ---- queues -------------------------------------------------------------------------- */

static inline uint64_t place_key(unsigned bank, uint32_t row, unsigned column) {
  return (uint64_t)row << 32 | bank << 16 | column;
}

static inline uint16_t *filter_slot(struct hbm_channel *ch, uint64_t key) {
  return &ch->filter[key * HASH_FACTOR >> (64 - HBM_FILTER_BITS)];
}

/* Whether a write to this burst waits in the write queue. */
static inline bool write_waits(struct hbm_channel *ch, unsigned bank, uint32_t row,
                               unsigned column) {
  if (*filter_slot(ch, place_key(bank, row, column)) == 0)
    return false;
  for (unsigned r = ch->bank[bank].list[HBM_W].head; r != HBM_NONE; r = ch->run[r].next)
    if (ch->run[r].row == row && column - ch->run[r].column < ch->run[r].count)
      return true;
  return false;
}

/* The oldest run from r on that hits the row (`same`), or that does not. */
static inline unsigned find_row(const struct hbm_channel *ch, unsigned r, uint32_t row, bool same) {
  while (r != HBM_NONE && (ch->run[r].row == row) != same)
    r = ch->run[r].next;
  return r;
}

/* When the first request of a run was offered. */
static inline uint64_t offered(const struct hbm_run *run) { return run->offered[run->gone]; }

/* The oldest run that may close the bank's open row, were timing the only matter. */
static inline unsigned find_conflict(const struct hbm_channel *ch, const struct hbm_list *list,
                                     unsigned bank) {
  bool capped = ch->row_hit_cap && ch->bank[bank].hit_run >= ch->row_hit_cap;
  if (!ch->protect_row_hits || capped || list->hit == HBM_NONE)
    return find_row(ch, list->head, ch->bank[bank].open_row, false);
  bool older = offered(&ch->run[list->head]) < offered(&ch->run[list->hit]);
  return older ? list->head : HBM_NONE;
}

static inline void set_bit(uint32_t *mask, unsigned bank, bool value) {
  *mask = (*mask & ~(1u << bank)) | (uint32_t)value << bank;
}

/* ---- banks by the order of their hits --------------------------------------------------- */

static inline void unlink_hit(struct hbm_hits *hits, unsigned bank) {
  uint16_t next = hits->next[bank], previous = hits->previous[bank];
  hits->next[previous] = next;
  hits->previous[next] = previous;
}

static inline void link_hit_behind(struct hbm_hits *hits, unsigned bank, unsigned previous) {
  uint16_t next = hits->next[previous];
  hits->next[bank] = next;
  hits->previous[bank] = (uint16_t)previous;
  hits->next[previous] = hits->previous[next] = (uint16_t)bank;
}

/* Another request has become a bank's oldest hit. Most are younger than those of all other banks.
 */
static inline void place_hit(struct hbm_channel *ch, unsigned direction, unsigned bank,
                             uint64_t order) {
  struct hbm_hits *hits = &ch->by_order[direction];
  if (ch->hits[direction] >> bank & 1)
    unlink_hit(hits, bank);
  unsigned at = hits->previous[HBM_HITS_END];
  while (at != HBM_HITS_END && ch->bank[at].hit_order[direction] > order)
    at = hits->previous[at];
  link_hit_behind(hits, bank, at);
  ch->hits[direction] |= 1u << bank;
  ch->bank[bank].hit_order[direction] = order;
}

/* The same for a younger one, where few banks have older ones in between. */
static inline void next_hit(struct hbm_channel *ch, unsigned direction, unsigned bank,
                            uint64_t order) {
  struct hbm_hits *hits = &ch->by_order[direction];
  unsigned at = bank;
  while (hits->next[at] != HBM_HITS_END && ch->bank[hits->next[at]].hit_order[direction] < order)
    at = hits->next[at];
  if (at != bank) {
    unlink_hit(hits, bank);
    link_hit_behind(hits, bank, at);
  }
  ch->bank[bank].hit_order[direction] = order;
}

static inline void drop_hit(struct hbm_channel *ch, unsigned direction, unsigned bank) {
  if (!(ch->hits[direction] >> bank & 1))
    return;
  unlink_hit(&ch->by_order[direction], bank);
  ch->hits[direction] &= ~(1u << bank);
}

/* Updates the kept choices after a change of a list; the list and its hit are already right. */
static inline void list_changed(struct hbm_channel *ch, unsigned direction, unsigned bank) {
  const struct hbm_list *list = &ch->bank[bank].list[direction];
  bool open = ch->open >> bank & 1;
  unsigned worker = list->head;
  if (open) {
    bool none = worker == HBM_NONE || (worker == list->hit && ch->plain_protection);
    worker = none ? HBM_NONE : find_conflict(ch, list, bank);
    if (list->hit == HBM_NONE)
      drop_hit(ch, direction, bank);
    else if (!(ch->hits[direction] >> bank & 1) ||
             ch->bank[bank].hit_order[direction] != ch->run[list->hit].order)
      place_hit(ch, direction, bank, ch->run[list->hit].order);
    set_bit(&ch->conflict[direction], bank, worker != HBM_NONE);
  }
  ch->bank[bank].row_order[direction] = ch->run[worker].order;
  set_bit(&ch->waiting[direction], bank, list->head != HBM_NONE);
}

/* Requests that are offered: neighbours, at most HBM_RUN_BURSTS. */
struct hbm_offer {
  struct hbm_spot spot; /* of the first */
  struct hbm_op *op;    /* as of a run */
  uint64_t tag;
  uint64_t order; /* of the first */
  uint64_t cycle;
  unsigned count;
};

static inline void add(struct hbm_run *run, const struct hbm_offer *offer) {
  uint64_t *cycle = &run->offered[run->gone + run->count];
  run->count = (uint16_t)(run->count + offer->count);
  for (unsigned i = 0; i < offer->count; i++)
    cycle[i] = offer->cycle;
}

/* Whether requests that are offered continue a run. */
static inline bool continues(const struct hbm_run *run, const struct hbm_offer *offer) {
  return run->order + run->count * HBM_ORDER_STEP == offer->order && run->op == offer->op &&
         run->tag == offer->tag && run->row == offer->spot.row &&
         run->column + run->count == offer->spot.column &&
         run->gone + run->count + offer->count <= HBM_RUN_BURSTS;
}

/* Adds requests to a list as a run of their own. */
static inline void append(struct hbm_channel *ch, unsigned direction,
                          const struct hbm_offer *offer) {
  unsigned r = ch->free_runs[--ch->free_count], bank = offer->spot.bank;
  struct hbm_list *list = &ch->bank[bank].list[direction];
  struct hbm_run *run = &ch->run[r];
  run->order = offer->order;
  run->op = offer->op;
  run->tag = offer->tag;
  run->row = offer->spot.row;
  run->column = offer->spot.column;
  run->gone = run->count = 0;
  add(run, offer);
  run->next = HBM_NONE;
  run->previous = list->tail;
  if (list->tail == HBM_NONE)
    list->head = (uint16_t)r;
  else
    ch->run[list->tail].next = (uint16_t)r;
  list->tail = (uint16_t)r;
  if (list->hit == HBM_NONE && ch->open >> bank & 1 && run->row == ch->bank[bank].open_row)
    list->hit = (uint16_t)r;
}

static inline bool turn_ends(const struct hbm_channel *ch) {
  if (ch->draining == HBM_R)
    return ch->count[HBM_W] > ch->drain_above || ch->count[HBM_R] == 0;
  return ch->count[HBM_W] < ch->drain_below && ch->count[HBM_R] != 0;
}

/* Takes a run that is empty out of its list; list->hit must not point to the run afterwards. */
static inline void take_out(struct hbm_channel *ch, unsigned direction, unsigned bank, unsigned r) {
  struct hbm_list *list = &ch->bank[bank].list[direction];
  const struct hbm_run *run = &ch->run[r];
  if (run->previous == HBM_NONE)
    list->head = run->next;
  else
    ch->run[run->previous].next = run->next;
  if (run->next == HBM_NONE)
    list->tail = run->previous;
  else
    ch->run[run->next].previous = run->previous;
  if (ch->growing == r)
    ch->grows_at = HBM_GROWS_NOT;
  ch->free_runs[ch->free_count++] = (uint16_t)r;
}

/* The first request of a run leaves its queue. */
static inline void leave(struct hbm_channel *ch, unsigned direction, unsigned bank,
                         struct hbm_run *run) {
  ch->count[direction]--;
  if (direction == HBM_W)
    --*filter_slot(ch, place_key(bank, run->row, run->column));
  run->order += HBM_ORDER_STEP;
  run->gone++;
  run->column++;
  run->count--;
}

/* Takes the first request out of a run. Returns what is left: that run, or the run behind. */
static inline unsigned take_first(struct hbm_channel *ch, unsigned direction, unsigned bank,
                                  unsigned r) {
  const struct hbm_run *run = &ch->run[r];
  leave(ch, direction, bank, &ch->run[r]);
  ch->turn_due = turn_ends(ch);
  if (run->count != 0)
    return r;
  take_out(ch, direction, bank, r);
  return run->next;
}

#endif
