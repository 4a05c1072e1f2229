/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event-driven DRAM controller. Two choices are always kept: what each command bus
 * issues next, and when. A choice is the least (cycle, order) over the candidates of all
 * banks, where cycle is the first one that timing allows; so stepping from choice to
 * choice issues what a scan in every cycle would. A change of one bank is compared with
 * the kept choice; only when the chosen one itself changes are all banks looked at again.
 */
#include "core/base/arith.h"
#include "core/base/diag.h"
#include "memhier/dram/hbm_choose.h"
#include "memhier/dram/hbm_hold.h"
#include "memhier/dram/hbm_queue.h"

/* ---- read and write turns ------------------------------------------------------------ */

static inline void take_turn(struct hbm_channel *ch) {
  if (!ch->turn_due || ch->refresh_left)
    return;
  ch->turn_due = false;
  const struct hbm_distances *distance = &ch->distance;
  ch->draining ^= 1u;
  uint32_t turn = ch->draining ? distance->pseudo_read_write : distance->pseudo_write_read;
  uint32_t straight = ch->draining ? distance->pseudo_write_write : distance->pseudo_read_read;
  ch->turn_cycles += turn - min_u64(turn, straight);
  choose_column(ch);
  choose_row(ch);
}

/* ---- issuing ------------------------------------------------------------------------- */

static void tell(const struct hbm_channel *ch, unsigned kind, unsigned bank, uint32_t row,
                 unsigned column) {
  unsigned group = bank >> ch->bank_shift;
  struct hbm_command command = {
      .cycle = ch->cycle,
      .kind = (uint8_t)kind,
      .pseudo = (uint8_t)(bank >> ch->pseudo_shift),
      .group = (uint8_t)(group & (ch->groups - 1)),
      .bank = (uint8_t)(bank & ((1u << ch->bank_shift) - 1)),
      .column = (uint16_t)column,
      .row = row,
  };
  ch->hooks.command(ch->hooks.context, &command);
}

static inline void time_column(struct hbm_channel *ch, unsigned direction, unsigned bank) {
  if (direction == HBM_W)
    hold_back_all(ch, HBM_WRITE, bank);
  else
    hold_back_all(ch, HBM_READ, bank);
  ch->column_free = ch->cycle + 1;
}

static uint64_t first_active(const struct hbm_channel *ch) {
  uint64_t first = HBM_NEVER;
  for (unsigned d = 0; d < HBM_DIRECTIONS; d++)
    for (uint32_t left = ch->active[d]; left; left &= left - 1)
      first = sooner(first, ch->bank[__builtin_ctz(left)].column[d]);
  return first;
}

/* Tells the end of an operation, and what happened in its time. */
static inline void end_op(struct hbm_channel *ch, struct hbm_op *op, uint64_t cycle) {
  op->delay.refresh_cycles = ch->refresh_cycles - op->delay.refresh_cycles;
  op->delay.turn_cycles = ch->turn_cycles - op->delay.turn_cycles;
  ch->hooks.op_done(ch->hooks.context, op, cycle);
}

/* The last data of a request come in a cycle. */
static inline void end_burst(struct hbm_channel *ch, const struct hbm_entry *entry,
                             uint64_t cycle) {
  struct hbm_op *op = entry->op;
  if (op) {
    op->end_cycle = later(op->end_cycle, cycle);
    if (--op->waiting == 0 && op->granules == 0)
      end_op(ch, op, op->end_cycle);
  } else if (ch->hooks.done) {
    ch->hooks.done(ch->hooks.context, entry->tag, cycle);
  }
}

/* After a column command of a direction to a bank, for the request e. */
static inline __attribute__((always_inline)) void
column_issued(struct hbm_channel *ch, unsigned direction, unsigned bank, unsigned e) {
  const struct hbm_entry *entry = &ch->entry[e];
  if (ch->row_hit_cap && ch->bank[bank].hit_run == ch->row_hit_cap) {
    list_changed(ch, HBM_R, bank);
    list_changed(ch, HBM_W, bank);
  }
  ++*(direction == HBM_W ? &ch->counters.writes : &ch->counters.reads);
  ch->free_entries[ch->free_count++] = (uint16_t)e;
  end_burst(ch, entry, ch->cycle + ch->distance.column_end[direction]);
  row_changed(ch, bank);
}

static inline __attribute__((always_inline)) void
issue_column_to(struct hbm_channel *ch, unsigned direction, unsigned bank, unsigned e) {
  time_column(ch, direction, bank);
  ch->bank[bank].hit_run++;
  if (ch->hooks.command)
    tell(ch, HBM_READ + direction, bank, ch->entry[e].row, ch->entry[e].column);
}

/* A column command for the oldest row hit of a bank, of the queue in turn. The direction is a
 * constant of the caller. */
static inline __attribute__((always_inline)) void issue_hit(struct hbm_channel *ch,
                                                            unsigned direction, unsigned bank) {
  struct hbm_list *list = &ch->bank[bank].list[direction];
  unsigned e = list->hit;
  issue_column_to(ch, direction, bank, e);
  list->hit = (uint16_t)find_row(ch, ch->entry[e].next, ch->bank[bank].open_row, true);
  take_out(ch, direction, bank, e);
  if (list->hit != HBM_NONE && list->hit == list->head && ch->plain_protection)
    next_hit(ch, direction, bank, ch->entry[list->hit].order); /* one hit after another */
  else
    list_changed(ch, direction, bank);
  column_issued(ch, direction, bank, e);
  /* The command just issued keeps the pseudo-channel longer than the bus. */
  choose_next_column(ch, direction, ch->pseudo[0].column[direction]);
}

/* A column command for the request that has opened the row. */
static void issue_active(struct hbm_channel *ch, unsigned bank) {
  unsigned direction = ch->active[HBM_W] >> bank & 1, e = ch->bank[bank].active_entry;
  issue_column_to(ch, direction, bank, e);
  set_bit(&ch->active[direction], bank, false);
  ch->active_from = first_active(ch);
  column_issued(ch, direction, bank, e);
  choose_column(ch);
}

static inline __attribute__((always_inline)) void issue_column(struct hbm_channel *ch) {
  unsigned bank = chosen_bank(&ch->column);
  if (!(ch->column.order & HBM_QUEUED))
    issue_active(ch, bank);
  else if (ch->draining == HBM_R)
    issue_hit(ch, HBM_R, bank);
  else
    issue_hit(ch, HBM_W, bank);
}

/* The fourth ACT from here on keeps the window. */
static void keep_window(struct hbm_channel *ch, unsigned pseudo) {
  ch->faw_ring[pseudo][ch->faw_at[pseudo]++ % HBM_WINDOW_pseudo_act] = ch->cycle;
  if (ch->faw_at[pseudo] < HBM_WINDOW_pseudo_act)
    return;
  uint64_t fourth_last = ch->faw_ring[pseudo][ch->faw_at[pseudo] % HBM_WINDOW_pseudo_act];
  raise_to(&ch->pseudo[pseudo].act, fourth_last + ch->distance.pseudo_act_window);
}

static void time_act(struct hbm_channel *ch, unsigned bank) {
  hold_back_all(ch, HBM_ACT, bank);
  keep_window(ch, bank >> ch->pseudo_shift);
  ch->row_free = ch->cycle + ch->distance.act_bus;
}

/* A row is opened for a read, which may have waited until another row of the bank was closed. */
static void note_row(const struct hbm_channel *ch, unsigned bank, const struct hbm_entry *entry) {
  if (!entry->op)
    return;
  entry->op->delay.row_cycles = ch->distance.bank_act_read;
  if (ch->bank[bank].act > entry->offered)
    entry->op->delay.row_cycles += ch->distance.bank_pre_act;
}

static void issue_act(struct hbm_channel *ch) {
  unsigned bank = chosen_bank(&ch->row), direction = ch->draining;
  unsigned e = ch->bank[bank].list[direction].head;
  struct hbm_entry *entry = &ch->entry[e];
  note_row(ch, bank, entry);
  time_act(ch, bank);
  if (ch->hooks.command)
    tell(ch, HBM_ACT, bank, entry->row, 0);
  ch->counters.activates++;
  set_bit(&ch->open, bank, true);
  ch->bank[bank].open_row = entry->row;
  ch->bank[bank].hit_run = 0;
  take_out(ch, direction, bank, e);
  uint64_t act = ch->counters.activates & ((UINT64_C(1) << HBM_ORDER_ACT_BITS) - 1);
  uint64_t offered = entry->offered & ((UINT64_C(1) << HBM_ORDER_OFFER_BITS) - 1);
  ch->bank[bank].active_order = (offered << HBM_ORDER_ACT_BITS | act) << HBM_ORDER_BANK_BITS | bank;
  ch->bank[bank].active_entry = (uint16_t)e;
  set_bit(&ch->active[direction], bank, true);
  ch->active_from = sooner(ch->active_from, ch->bank[bank].column[direction]);
  for (unsigned d = 0; d < HBM_DIRECTIONS; d++) {
    if (!(ch->waiting[d] >> bank & 1))
      continue;
    struct hbm_list *list = &ch->bank[bank].list[d];
    list->hit = (uint16_t)find_row(ch, list->head, entry->row, true);
    list_changed(ch, d, bank);
  }
  /* Hits of the same direction stay behind the active request; those of the other wait for
   * their turn, which brings a new choice. */
  consider(&ch->column, hit_key(ch, direction, bank, ch->bank[bank].active_order));
}

/* The row of a bank is closed: nothing hits it any more. */
static void close_bank(struct hbm_channel *ch, unsigned bank) {
  set_bit(&ch->open, bank, false);
  for (unsigned d = 0; d < HBM_DIRECTIONS; d++) {
    struct hbm_list *list = &ch->bank[bank].list[d];
    list->hit = HBM_NONE;
    ch->bank[bank].row_order[d] = ch->entry[list->head].order;
    drop_hit(ch, d, bank);
    set_bit(&ch->conflict[d], bank, false);
  }
}

static void issue_pre(struct hbm_channel *ch) {
  unsigned bank = chosen_bank(&ch->row);
  if (ch->hooks.command)
    tell(ch, HBM_PRE, bank, ch->bank[bank].open_row, 0);
  ch->counters.precharges++;
  close_bank(ch, bank);
  hold_back_all(ch, HBM_PRE, bank);
  ch->row_free = ch->cycle + 1;
  if (chosen_bank(&ch->column) == bank)
    choose_column(ch);
}

static void issue_pre_all(struct hbm_channel *ch) {
  unsigned first = refresh_bank(ch);
  if (ch->hooks.command)
    tell(ch, HBM_PRE_ALL, first, 0, 0);
  for (uint32_t left = ch->open & ch->pseudo_banks << first; left; left &= left - 1) {
    unsigned bank = (unsigned)__builtin_ctz(left);
    close_bank(ch, bank);
    hold_back(ch, LEVEL_bank, HBM_PRE_ALL, bank);
  }
  hold_back(ch, LEVEL_pseudo, HBM_PRE_ALL, first);
  ch->row_free = ch->cycle + 1;
}

static void issue_refresh(struct hbm_channel *ch) {
  unsigned first = refresh_bank(ch);
  if (ch->hooks.command)
    tell(ch, HBM_REFRESH, first, 0, 0);
  ch->counters.refreshes++;
  ch->refresh_cycles += ch->distance.bank_refresh_act / ch->pseudos;
  for (unsigned bank = first; bank < first + (1u << ch->pseudo_shift); bank++)
    hold_back(ch, LEVEL_bank, HBM_REFRESH, bank);
  hold_back(ch, LEVEL_pseudo, HBM_REFRESH, first);
  ch->row_free = ch->cycle + 1;
  if (--ch->refresh_left == 0)
    choose_column(ch); /* queued requests take part again */
}

static void issue_row(struct hbm_channel *ch) {
  bool open = ch->open >> chosen_bank(&ch->row) & 1;
  if (ch->refresh_left) {
    if (ch->open & ch->pseudo_banks << refresh_bank(ch))
      issue_pre_all(ch);
    else
      issue_refresh(ch);
  } else if (open) {
    issue_pre(ch);
  } else {
    issue_act(ch);
  }
  choose_row(ch);
}

/* ---- taking bursts -------------------------------------------------------------------- */

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

/* Where a burst stands after its offer. */
enum taken { TAKEN_NOT, TAKEN_SERVED, TAKEN_QUEUED };

/* Queues a burst, or serves the burst from the write queue, unless its queue is full. Adds its bank
 * to the changed banks. */
static inline __attribute__((always_inline)) enum taken
take(struct hbm_channel *ch, struct hbm_spot spot, unsigned direction, struct hbm_op *op,
     uint64_t tag, uint64_t cycle, uint32_t *changed) {
  unsigned bank = spot.bank;
  if (ch->count[HBM_W] && write_waits(ch, bank, spot.row, spot.column)) {
    ++*(direction == HBM_W ? &ch->counters.merged_writes : &ch->counters.forwarded_reads);
    return TAKEN_SERVED;
  }
  if (ch->count[direction] == ch->depth[direction])
    return TAKEN_NOT;
  unsigned e = ch->free_entries[--ch->free_count];
  struct hbm_entry *entry = &ch->entry[e];
  entry->order = ch->offers++ << HBM_ORDER_BANK_BITS | bank | HBM_QUEUED;
  entry->offered = cycle;
  entry->op = op;
  entry->tag = tag;
  entry->row = spot.row;
  entry->column = spot.column;
  *changed |= (uint32_t)!comes_behind(ch, &ch->bank[bank].list[direction], bank) << bank;
  append(ch, direction, bank, e);
  ch->count[direction]++;
  if (direction == HBM_W)
    ++*filter_slot(ch, place_key(bank, spot.row, spot.column));
  return TAKEN_QUEUED;
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

/* Takes bursts of the lowest granule of an operation; false when the queue is full before the last.
 * Adds the banks whose lists have changed. */
static inline __attribute__((always_inline)) bool take_granule(struct hbm_channel *ch,
                                                               struct hbm_op *op,
                                                               unsigned direction, uint64_t cycle,
                                                               uint32_t *changed) {
  const uint32_t bursts = op->layout->bursts_per_granule;
  const struct hbm_spot *offset =
      &op->layout->offset[(unsigned)__builtin_ctz(op->granules) * bursts];
  uint32_t burst = op->burst;
  for (; burst < bursts; burst++) {
    if (ch->count[direction] == ch->depth[direction] && !ch->count[HBM_W])
      break;
    enum taken taken = take(ch, hbm_op_spot(op, &offset[burst]), direction,
                            direction == HBM_W ? NULL : op, 0, cycle, changed);
    if (taken == TAKEN_NOT)
      break;
    if (taken == TAKEN_SERVED)
      op->end_cycle = later(op->end_cycle, cycle + 1);
    else
      op->waiting += direction == HBM_R;
  }
  op->burst = burst == bursts ? 0 : burst;
  return burst == bursts;
}

/* Takes bursts of an operation; false when the queue is full before the last. The direction is a
 * constant of the caller. */
static inline __attribute__((always_inline)) bool
take_bursts(struct hbm_channel *ch, struct hbm_op *op, unsigned direction, uint64_t cycle) {
  uint64_t offers = ch->offers;
  uint32_t changed = 0;
  while (op->granules != 0 && take_granule(ch, op, direction, cycle, &changed))
    op->granules &= op->granules - 1;
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

/* ---- running ------------------------------------------------------------------------- */

static void begin_refresh(struct hbm_channel *ch) {
  ch->refresh_due += ch->refi;
  ch->refresh_left += ch->pseudos;
  choose_column(ch);
  choose_row(ch);
}

static void process_cycle(struct hbm_channel *ch) {
  uint64_t now = ch->next;
  ch->cycle = now;
  if (now == ch->refresh_due)
    begin_refresh(ch);
  take_turn(ch);
  if (ch->column.cycle == now) {
    issue_column(ch);
    take_turn(ch);
  }
  if (ch->row.cycle == now)
    issue_row(ch);
  ch->cycle = now + 1;
  set_next(ch);
}

/* Whether no earlier command restricts a command at this cycle. */
static bool is_past(const struct hbm_channel *ch, uint64_t cycle) {
  uint64_t last = later(ch->column_free, ch->row_free);
  for (unsigned p = 0; p < ch->pseudos; p++) {
    last = later(last, later(ch->pseudo[p].act, ch->pseudo[p].pre_all));
    last = later(last, ch->pseudo[p].refresh);
  }
  for (unsigned g = 0; g < HBM_GROUPS_MAX; g++)
    last = later(last, ch->group[g].act);
  for (unsigned b = 0; b < HBM_BANKS_MAX; b++)
    last = later(last, later(ch->bank[b].act, ch->bank[b].pre));
  for (unsigned d = 0; d < HBM_DIRECTIONS; d++) {
    for (unsigned p = 0; p < ch->pseudos; p++)
      last = later(last, ch->pseudo[p].column[d]);
    for (unsigned g = 0; g < HBM_GROUPS_MAX; g++)
      last = later(last, ch->group[g].column[d]);
  }
  return last <= cycle;
}

/*
 * A channel without requests only refreshes. When no earlier command restricts a refresh, all
 * periods are alike. The periods up to the last before `cycle` are counted and not simulated,
 * because a chip may be idle for hours. A refresh is over long before the next begins
 * (mem_validate()).
 */
static void skip_refreshes(struct hbm_channel *ch, uint64_t cycle) {
  if (!hbm_channel_idle(ch) || ch->open || ch->refresh_left || ch->turn_due || ch->hooks.command ||
      ch->next != ch->refresh_due || cycle <= ch->next || !is_past(ch, ch->next))
    return;
  uint64_t periods = (cycle - ch->next) / ch->refi;
  ch->counters.refreshes += periods * ch->pseudos;
  ch->refresh_due += periods * ch->refi;
  set_next(ch);
}

static __attribute__((noinline)) void run_on(struct hbm_channel *ch, uint64_t cycle) {
  do {
    if (cycle - ch->next > ch->long_idle_cycles)
      skip_refreshes(ch, cycle);
    process_cycle(ch);
    if (ch->first_op)
      take_ops(ch, ch->cycle - 1);
  } while (ch->next <= cycle);
}

static inline void run_to(struct hbm_channel *ch, uint64_t cycle) {
  if (ch->next <= cycle)
    run_on(ch, cycle);
  ch->cycle = later(ch->cycle, cycle + 1);
}

void hbm_channel_run(struct hbm_channel *ch, uint64_t cycle) { run_to(ch, cycle); }

uint64_t hbm_channel_next(const struct hbm_channel *ch) { return ch->next; }

bool hbm_channel_idle(const struct hbm_channel *ch) { return ch->free_count == HBM_ENTRIES_MAX; }

bool hbm_channel_reads_wait(const struct hbm_channel *ch) {
  return ch->count[HBM_R] != 0 || ch->active[HBM_R] != 0;
}

const struct hbm_op *hbm_channel_first_op(const struct hbm_channel *ch) { return ch->first_op; }

uint32_t hbm_channel_read_cycles(const struct hbm_channel *ch) {
  return ch->distance.column_end[HBM_R];
}

const struct hbm_counters *hbm_channel_counters(const struct hbm_channel *ch) {
  return &ch->counters;
}

/* Runs the channel up to the cycle of an offer. */
static void run_to_offer(struct hbm_channel *ch, uint64_t cycle) {
  if (cycle + 1 < ch->cycle)
    vinci_bug("a burst is offered in cycle %llu, the channel is in a later cycle",
              (unsigned long long)cycle);
  run_to(ch, cycle);
}

bool hbm_channel_offer(struct hbm_channel *ch, const struct hbm_place *place, bool write,
                       uint64_t tag, uint64_t cycle) {
  unsigned group = (place->channel & (ch->pseudos - 1)) * ch->groups + place->group;
  struct hbm_spot spot = {.row = place->row,
                          .column = place->column,
                          .bank = (uint16_t)(group << ch->bank_shift | place->bank)};
  unsigned direction = write ? HBM_W : HBM_R;
  uint32_t changed = 0;
  run_to_offer(ch, cycle);
  enum taken taken = take(ch, spot, direction, NULL, tag, cycle, &changed);
  if (taken == TAKEN_QUEUED)
    settle(ch, direction, changed);
  if (taken == TAKEN_SERVED && ch->hooks.done)
    ch->hooks.done(ch->hooks.context, tag, cycle + 1);
  return taken != TAKEN_NOT;
}

void hbm_channel_submit(struct hbm_channel *ch, struct hbm_op *op, uint64_t cycle) {
  run_to_offer(ch, cycle);
  bool alone = !ch->first_op;
  op->next = NULL;
  op->burst = op->waiting = 0;
  op->end_cycle = 0;
  op->delay =
      (struct hbm_delay){.refresh_cycles = ch->refresh_cycles, .turn_cycles = ch->turn_cycles};
  if (alone)
    ch->first_op = op;
  else
    ch->last_op->next = op;
  ch->last_op = op;
  if (alone)
    take_ops(ch, cycle);
}
