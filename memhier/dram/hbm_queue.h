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
  for (unsigned e = ch->bank[bank].list[HBM_W].head; e != HBM_NONE; e = ch->entry[e].next)
    if (ch->entry[e].row == row && ch->entry[e].column == column)
      return true;
  return false;
}

/* The oldest request from entry e on that hits the row (`same`), or that does not. */
static inline unsigned find_row(const struct hbm_channel *ch, unsigned e, uint32_t row, bool same) {
  while (e != HBM_NONE && (ch->entry[e].row == row) != same)
    e = ch->entry[e].next;
  return e;
}

/* The oldest request that may close the bank's open row, were timing the only matter. */
static inline unsigned find_conflict(const struct hbm_channel *ch, const struct hbm_list *list,
                                     unsigned bank) {
  bool capped = ch->row_hit_cap && ch->bank[bank].hit_run >= ch->row_hit_cap;
  if (!ch->protect_row_hits || capped || list->hit == HBM_NONE)
    return find_row(ch, list->head, ch->bank[bank].open_row, false);
  bool older = ch->entry[list->head].offered < ch->entry[list->hit].offered;
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
             ch->bank[bank].hit_order[direction] != ch->entry[list->hit].order)
      place_hit(ch, direction, bank, ch->entry[list->hit].order);
    set_bit(&ch->conflict[direction], bank, worker != HBM_NONE);
  }
  ch->bank[bank].row_order[direction] = ch->entry[worker].order;
  set_bit(&ch->waiting[direction], bank, list->head != HBM_NONE);
}

static inline void append(struct hbm_channel *ch, unsigned direction, unsigned bank, unsigned e) {
  struct hbm_list *list = &ch->bank[bank].list[direction];
  ch->entry[e].next = HBM_NONE;
  ch->entry[e].previous = list->tail;
  if (list->tail == HBM_NONE)
    list->head = (uint16_t)e;
  else
    ch->entry[list->tail].next = (uint16_t)e;
  list->tail = (uint16_t)e;
  if (list->hit == HBM_NONE && ch->open >> bank & 1 && ch->entry[e].row == ch->bank[bank].open_row)
    list->hit = (uint16_t)e;
}

static inline bool turn_ends(const struct hbm_channel *ch) {
  if (ch->draining == HBM_R)
    return ch->count[HBM_W] > ch->drain_above || ch->count[HBM_R] == 0;
  return ch->count[HBM_W] < ch->drain_below && ch->count[HBM_R] != 0;
}

/* Takes a request out of its queue; list->hit must not point to the request afterwards. */
static inline void take_out(struct hbm_channel *ch, unsigned direction, unsigned bank, unsigned e) {
  struct hbm_list *list = &ch->bank[bank].list[direction];
  const struct hbm_entry *entry = &ch->entry[e];
  if (entry->previous == HBM_NONE)
    list->head = entry->next;
  else
    ch->entry[entry->previous].next = entry->next;
  if (entry->next == HBM_NONE)
    list->tail = entry->previous;
  else
    ch->entry[entry->next].previous = entry->previous;
  ch->count[direction]--;
  ch->turn_due = turn_ends(ch);
  if (direction == HBM_W)
    --*filter_slot(ch, place_key(bank, entry->row, entry->column));
}

#endif
