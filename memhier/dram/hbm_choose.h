/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing the next commands of a DRAM controller: the least (cycle, order) over the
 * candidates of all banks. Internal to memhier/dram/hbm_channel.c.
 */
#ifndef VINCI_MEMHIER_DRAM_HBM_CHOOSE_H
#define VINCI_MEMHIER_DRAM_HBM_CHOOSE_H

#include "core/base/clock.h"
#include "memhier/dram/hbm_state.h"

static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static inline uint64_t sooner(uint64_t a, uint64_t b) { return a < b ? a : b; }

static inline void raise_to(uint64_t *time, uint64_t at_least) { *time = later(*time, at_least); }

/* Cycle and order as one number: the smaller one is issued first. */
static inline uint128 choice_key(uint64_t cycle, uint64_t order) {
  return (uint128)cycle << 64 | order;
}

static inline uint128 smaller(uint128 a, uint128 b) { return a < b ? a : b; }

static inline void set_choice(struct hbm_choice *choice, uint128 key) {
  choice->cycle = (uint64_t)(key >> 64);
  choice->order = (uint64_t)key;
}

static inline void consider(struct hbm_choice *choice, uint128 key) {
  set_choice(choice, smaller(key, choice_key(choice->cycle, choice->order)));
}

static inline unsigned chosen_bank(const struct hbm_choice *choice) {
  return choice->order & (HBM_BANKS_MAX - 1);
}

/* ---- column bus ----------------------------------------------------------------------- */

/* Row hits of the queue in turn that are not behind an active request of their bank. */
static inline uint32_t hit_banks(const struct hbm_channel *ch, unsigned turn) {
  return ch->refresh_left ? 0 : ch->hits[turn] & ~ch->active[turn];
}

/* What the bus and the pseudo-channel of a bank allow at best. */
static inline uint64_t column_floor(const struct hbm_channel *ch, unsigned direction,
                                    unsigned pseudo) {
  return later(ch->pseudo[pseudo].column[direction], later(ch->column_free, ch->cycle));
}

/* The first cycle in which a bank and its group allow a column command. */
static inline uint64_t bank_column(const struct hbm_channel *ch, unsigned direction,
                                   unsigned bank) {
  return later(ch->bank[bank].column[direction],
               ch->group[bank >> ch->bank_shift].column[direction]);
}

static inline uint128 hit_key(const struct hbm_channel *ch, unsigned direction, unsigned bank,
                              uint64_t order) {
  uint64_t floor = column_floor(ch, direction, bank >> ch->pseudo_shift);
  return choice_key(later(bank_column(ch, direction, bank), floor), order);
}

/*
 * The best row hit of the queue in turn behind a single pseudo-channel. They come in their order,
 * so the first that timing allows at once is the best: mostly one of the first two.
 */
static inline __attribute__((always_inline)) void choose_first_hit(struct hbm_channel *ch,
                                                                   unsigned turn, uint64_t floor) {
  unsigned bank = HBM_HITS_END;
  uint32_t active = ch->active[turn];
  const uint16_t *next = ch->by_order[turn].next;
  struct hbm_choice best = {HBM_NEVER, UINT64_MAX};
  while (best.cycle > floor && (bank = next[bank]) != HBM_HITS_END) {
    uint64_t cycle = later(bank_column(ch, turn, bank), floor);
    if (cycle < best.cycle && !(active >> bank & 1))
      best = (struct hbm_choice){cycle, ch->bank[bank].hit_order[turn]};
  }
  ch->column = best;
}

/* Of the row hits: each pseudo-channel has times of its own, and all share one order. */
static inline __attribute__((always_inline)) void choose_hits(struct hbm_channel *ch, unsigned turn,
                                                              uint64_t floor) {
  uint32_t hits = hit_banks(ch, turn);
  if (ch->pseudos == 1 && hits) {
    choose_first_hit(ch, turn, floor);
    return;
  }
  ch->column = (struct hbm_choice){HBM_NEVER, UINT64_MAX};
  for (; hits; hits &= hits - 1) {
    unsigned bank = (unsigned)__builtin_ctz(hits);
    consider(&ch->column, hit_key(ch, turn, bank, ch->bank[bank].hit_order[turn]));
  }
}

/* The best of the active requests, if better than the choice so far. */
static inline void choose_active(struct hbm_channel *ch) {
  for (uint32_t left = ch->active[HBM_R] | ch->active[HBM_W]; left; left &= left - 1) {
    unsigned bank = (unsigned)__builtin_ctz(left);
    unsigned direction = ch->active[HBM_W] >> bank & 1 ? HBM_W : HBM_R;
    consider(&ch->column, hit_key(ch, direction, bank, ch->bank[bank].active.order));
  }
}

/* Active requests wait for tRCD. Until the first of them may go, they are not looked at. `turn` is
 * ch->draining, and `floor` what a single pseudo-channel allows at best, where the caller knows. */
static inline __attribute__((always_inline)) void
choose_next_column(struct hbm_channel *ch, unsigned turn, uint64_t floor) {
  choose_hits(ch, turn, floor);
  if (ch->active_from <= ch->column.cycle)
    choose_active(ch);
}

/* The same where it is rare. */
static __attribute__((noinline)) void choose_column(struct hbm_channel *ch) {
  choose_next_column(ch, ch->draining, column_floor(ch, ch->draining, 0));
}

/* ---- row bus -------------------------------------------------------------------------- */

static inline uint64_t row_floor(const struct hbm_channel *ch) {
  return later(ch->row_free, ch->cycle);
}

static inline uint128 act_key(const struct hbm_channel *ch, unsigned bank, uint64_t order,
                              uint64_t floor) {
  uint64_t cycle = later(ch->bank[bank].act, ch->group[bank >> ch->bank_shift].act);
  cycle = later(cycle, ch->pseudo[bank >> ch->pseudo_shift].act);
  return choice_key(later(cycle, floor), order);
}

static inline uint128 pre_key(const struct hbm_channel *ch, unsigned bank, uint64_t order,
                              uint64_t floor) {
  return choice_key(later(ch->bank[bank].pre, floor), order);
}

/* The first bank of the pseudo-channel at the head of those that wait for a refresh. */
static inline unsigned refresh_bank(const struct hbm_channel *ch) {
  return ((0u - ch->refresh_left) & (ch->pseudos - 1)) << ch->pseudo_shift;
}

static inline void choose_refresh(struct hbm_channel *ch) {
  unsigned first = refresh_bank(ch), pseudo = first >> ch->pseudo_shift;
  uint32_t banks = ch->pseudo_banks << first;
  uint64_t ready = ch->open & banks ? ch->pseudo[pseudo].pre_all : ch->pseudo[pseudo].refresh;
  /* Rows opened for a request stay open until it is served. */
  bool busy = (ch->active[HBM_R] | ch->active[HBM_W]) & banks;
  ch->row = (struct hbm_choice){busy ? HBM_NEVER : later(row_floor(ch), ready), first};
}

/* Open banks with a request in the queue in turn that may close them. */
static inline uint32_t pre_banks(const struct hbm_channel *ch) {
  return ch->conflict[ch->draining] & ~(ch->active[HBM_R] | ch->active[HBM_W]);
}

static inline void choose_row(struct hbm_channel *ch) {
  if (ch->refresh_left) {
    choose_refresh(ch);
    return;
  }
  uint128 best = choice_key(HBM_NEVER, UINT64_MAX);
  uint64_t floor = row_floor(ch);
  unsigned turn = ch->draining;
  for (uint32_t left = ch->waiting[turn] & ~ch->open; left; left &= left - 1) {
    unsigned bank = (unsigned)__builtin_ctz(left);
    best = smaller(best, act_key(ch, bank, ch->bank[bank].row_order[turn], floor));
  }
  for (uint32_t left = pre_banks(ch); left; left &= left - 1) {
    unsigned bank = (unsigned)__builtin_ctz(left);
    best = smaller(best, pre_key(ch, bank, ch->bank[bank].row_order[turn], floor));
  }
  set_choice(&ch->row, best);
}

/* Brings the row choice up to date after a change of an open bank. */
static inline void row_changed(struct hbm_channel *ch, unsigned bank) {
  if (ch->refresh_left || chosen_bank(&ch->row) == bank)
    choose_row(ch);
  else if (pre_banks(ch) >> bank & 1)
    consider(&ch->row, pre_key(ch, bank, ch->bank[bank].row_order[ch->draining], row_floor(ch)));
}

#endif
