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
#include "memhier/dram/hbm_take.h"

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

/* The last data of a request come in a cycle. */
static inline void end_burst(struct hbm_channel *ch, struct hbm_op *op, uint64_t tag,
                             uint64_t cycle) {
  if (op) {
    op->end_cycle = later(op->end_cycle, cycle);
    if (--op->waiting == 0 && op->granules == 0)
      end_op(ch, op, op->end_cycle);
  } else if (ch->hooks.done) {
    ch->hooks.done(ch->hooks.context, tag, cycle);
  }
}

/* A column command has been issued for a request of an operation or with a tag. */
static inline void end_command(struct hbm_channel *ch, unsigned direction, struct hbm_op *op,
                               uint64_t tag) {
  ++*(direction == HBM_W ? &ch->counters.writes : &ch->counters.reads);
  end_burst(ch, op, tag, ch->cycle + ch->distance.column_end[direction]);
}

/* After a column command of a direction to a bank, for a request of an operation or with a tag. */
static inline __attribute__((always_inline)) void column_issued(struct hbm_channel *ch,
                                                                unsigned direction, unsigned bank,
                                                                struct hbm_op *op, uint64_t tag) {
  if (ch->row_hit_cap && ch->bank[bank].hit_run == ch->row_hit_cap) {
    list_changed(ch, HBM_R, bank);
    list_changed(ch, HBM_W, bank);
  }
  end_command(ch, direction, op, tag);
  row_changed(ch, bank);
}

static inline __attribute__((always_inline)) void
issue_column_to(struct hbm_channel *ch, unsigned direction, unsigned bank, unsigned column) {
  time_column(ch, direction, bank);
  ch->bank[bank].hit_run++;
  if (ch->hooks.command)
    tell(ch, HBM_READ + direction, bank, ch->bank[bank].open_row, column);
}

/* A column command for the oldest row hit of a bank, of the queue in turn. The direction is a
 * constant of the caller. */
static inline __attribute__((always_inline)) void issue_hit(struct hbm_channel *ch,
                                                            unsigned direction, unsigned bank) {
  struct hbm_list *list = &ch->bank[bank].list[direction];
  const struct hbm_run *run = &ch->run[list->hit];
  issue_column_to(ch, direction, bank, run->column);
  unsigned left = take_first(ch, direction, bank, list->hit);
  list->hit = (uint16_t)find_row(ch, left, ch->bank[bank].open_row, true);
  if (list->hit != HBM_NONE && list->hit == list->head && ch->plain_protection)
    next_hit(ch, direction, bank, ch->run[list->hit].order); /* one hit after another */
  else
    list_changed(ch, direction, bank);
  column_issued(ch, direction, bank, run->op, run->tag);
  /* The command just issued keeps the pseudo-channel longer than the bus. */
  choose_next_column(ch, direction, ch->pseudo[0].column[direction]);
}

/* A column command for the request that has opened the row. */
static void issue_active(struct hbm_channel *ch, unsigned bank) {
  unsigned direction = ch->active[HBM_W] >> bank & 1;
  const struct hbm_active *active = &ch->bank[bank].active;
  issue_column_to(ch, direction, bank, active->column);
  set_bit(&ch->active[direction], bank, false);
  ch->active_from = first_active(ch);
  column_issued(ch, direction, bank, active->op, active->tag);
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
static void note_row(const struct hbm_channel *ch, unsigned bank, const struct hbm_run *run) {
  if (!run->op)
    return;
  run->op->delay.row_cycles = ch->distance.bank_act_read;
  if (ch->bank[bank].act > offered(run))
    run->op->delay.row_cycles += ch->distance.bank_pre_act;
}

/* The first request of a run leaves its queue, as its row is opened. */
static void make_active(struct hbm_channel *ch, unsigned direction, unsigned bank, unsigned r) {
  const struct hbm_run *run = &ch->run[r];
  uint64_t act = ch->counters.activates & ((UINT64_C(1) << HBM_ORDER_ACT_BITS) - 1);
  uint64_t since = offered(run) & ((UINT64_C(1) << HBM_ORDER_OFFER_BITS) - 1);
  ch->bank[bank].active = (struct hbm_active){
      .order = (since << HBM_ORDER_ACT_BITS | act) << HBM_ORDER_BANK_BITS | bank,
      .op = run->op,
      .tag = run->tag,
      .column = run->column,
  };
  take_first(ch, direction, bank, r);
  set_bit(&ch->active[direction], bank, true);
  ch->active_from = sooner(ch->active_from, ch->bank[bank].column[direction]);
}

static void issue_act(struct hbm_channel *ch) {
  unsigned bank = chosen_bank(&ch->row), direction = ch->draining;
  unsigned head = ch->bank[bank].list[direction].head;
  const struct hbm_run *run = &ch->run[head];
  uint32_t row = run->row;
  note_row(ch, bank, run);
  time_act(ch, bank);
  if (ch->hooks.command)
    tell(ch, HBM_ACT, bank, row, 0);
  ch->counters.activates++;
  set_bit(&ch->open, bank, true);
  ch->bank[bank].open_row = row;
  ch->bank[bank].hit_run = 0;
  make_active(ch, direction, bank, head);
  for (unsigned d = 0; d < HBM_DIRECTIONS; d++) {
    if (!(ch->waiting[d] >> bank & 1))
      continue;
    struct hbm_list *list = &ch->bank[bank].list[d];
    list->hit = (uint16_t)find_row(ch, list->head, row, true);
    list_changed(ch, d, bank);
  }
  /* Hits of the same direction stay behind the active request; those of the other wait for
   * their turn, which brings a new choice. */
  consider(&ch->column, hit_key(ch, direction, bank, ch->bank[bank].active.order));
}

/* The row of a bank is closed: nothing hits it any more. */
static void close_bank(struct hbm_channel *ch, unsigned bank) {
  set_bit(&ch->open, bank, false);
  for (unsigned d = 0; d < HBM_DIRECTIONS; d++) {
    struct hbm_list *list = &ch->bank[bank].list[d];
    list->hit = HBM_NONE;
    ch->bank[bank].row_order[d] = ch->run[list->head].order;
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

/* Takes bursts of the operations that wait once there is room again. False: choices may be others
 * now. */
static inline bool take_more(struct hbm_channel *ch) {
  if (ch->count[HBM_R] == ch->grows_at)
    return grow(ch, ch->cycle - 1);
  const struct hbm_op *op = ch->first_op;
  if (!op || ch->count[op->write] == ch->depth[op->write])
    return true;
  take_ops(ch, ch->cycle - 1);
  return false;
}

/* The last cycle, up to another, in which nothing but row hits can happen. */
static inline uint64_t streak_end(const struct hbm_channel *ch, uint64_t cycle) {
  return ch->turn_due || ch->refresh_left
             ? 0
             : sooner(cycle, sooner(ch->row.cycle, ch->refresh_due) - 1);
}

/*
 * The same as process_cycle() and take_more() for the most frequent command: a row hit that its
 * bank has been waiting for longest, and behind which its next request is a hit as well.
 * So no row choice changes, and of the column choices that of this bank. False: the next command is
 * another, or other choices have changed as well.
 */
static inline __attribute__((always_inline)) bool issue_next_hit(struct hbm_channel *ch,
                                                                 unsigned direction) {
  unsigned bank = chosen_bank(&ch->column);
  struct hbm_list *list = &ch->bank[bank].list[direction];
  unsigned r = list->hit;
  struct hbm_run *run = &ch->run[r];
  bool another = run->count > 1 ||
                 (run->next != HBM_NONE && ch->run[run->next].row == ch->bank[bank].open_row);
  bool turns = direction == HBM_W && ch->count[HBM_W] <= ch->drain_below && ch->count[HBM_R] != 0;
  if (!another || turns || r != list->head || !(ch->column.order & HBM_QUEUED))
    return false;
  ch->cycle = ch->column.cycle;
  time_column(ch, direction, bank);
  ch->bank[bank].hit_run++;
  leave(ch, direction, bank, run);
  if (run->count == 0) {
    list->hit = run->next;
    take_out(ch, direction, bank, r);
  }
  next_hit(ch, direction, bank, ch->run[list->hit].order);
  end_command(ch, direction, run->op, run->tag);
  choose_first_hit(ch, direction, ch->pseudo[0].column[direction]);
  if (ch->active_from <= ch->column.cycle)
    choose_active(ch);
  ch->cycle++;
  return take_more(ch);
}

/* Issues row hits of the queue in turn up to a cycle as long as nothing else happens. */
static __attribute__((noinline)) void issue_reads(struct hbm_channel *ch, uint64_t end) {
  while (ch->column.cycle <= end && issue_next_hit(ch, HBM_R)) {
  }
}

static __attribute__((noinline)) void issue_writes(struct hbm_channel *ch, uint64_t end) {
  while (ch->column.cycle <= end && issue_next_hit(ch, HBM_W)) {
  }
}

/* False: the next command is another than a row hit. */
static inline bool issue_streak(struct hbm_channel *ch, uint64_t cycle) {
  uint64_t end = streak_end(ch, cycle), before = ch->cycle;
  if (ch->column.cycle > end)
    return false;
  if (ch->draining == HBM_R)
    issue_reads(ch, end);
  else
    issue_writes(ch, end);
  set_next(ch);
  return ch->cycle > before;
}

static __attribute__((noinline)) void run_on(struct hbm_channel *ch, uint64_t cycle) {
  do {
    if (ch->streaks && issue_streak(ch, cycle))
      continue;
    if (cycle - ch->next > ch->long_idle_cycles)
      skip_refreshes(ch, cycle);
    process_cycle(ch);
    (void)take_more(ch);
  } while (ch->next <= cycle);
}

static inline void run_to(struct hbm_channel *ch, uint64_t cycle) {
  if (ch->next <= cycle)
    run_on(ch, cycle);
  ch->cycle = later(ch->cycle, cycle + 1);
}

void hbm_channel_run(struct hbm_channel *ch, uint64_t cycle) { run_to(ch, cycle); }

uint64_t hbm_channel_next(const struct hbm_channel *ch) { return ch->next; }

bool hbm_channel_idle(const struct hbm_channel *ch) {
  return (ch->count[HBM_R] | ch->count[HBM_W] | ch->active[HBM_R] | ch->active[HBM_W]) == 0;
}

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
  if (is_served(ch, spot, direction)) {
    if (ch->hooks.done)
      ch->hooks.done(ch->hooks.context, tag, cycle + 1);
    return true;
  }
  if (ch->count[direction] == ch->depth[direction])
    return false;
  struct hbm_offer offer = {.spot = spot, .tag = tag, .cycle = cycle, .count = 1};
  queue_up(ch, direction, &offer, &changed);
  settle(ch, direction, changed);
  return true;
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
