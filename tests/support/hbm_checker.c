/* SPDX-License-Identifier: Apache-2.0 */
/* All pairwise timing rules over a DRAM command log, and the states of the banks. */
#include "tests/support/hbm_checker.h"

#include <string.h>

#define LONG_AGO (-(INT64_C(1) << 40))

enum { REFRESHES_LATE_MAX = 8 };

static const char *const rule_texts[] = {
#define X(id, text) text,
    HBM_RULE_LIST(X)
#undef X
};

const char *hbm_rule_text(enum hbm_rule rule) { return rule_texts[rule]; }

void hbm_checker_init(struct hbm_checker *checker, const struct mem_spec *mem) {
  memset(checker, 0, sizeof *checker);
  checker->mem = mem;
  for (unsigned p = 0; p < CHECKER_PSEUDOS; p++) {
    struct checked_pseudo *pseudo = &checker->pseudo[p];
    pseudo->rd = pseudo->wr = pseudo->pre = pseudo->ref = LONG_AGO;
    pseudo->data_from = pseudo->data_to = LONG_AGO;
    for (unsigned i = 0; i < CHECKER_FAW; i++)
      pseudo->act[i] = LONG_AGO;
    for (unsigned g = 0; g < CHECKER_GROUPS; g++) {
      struct checked_group *group = &pseudo->group[g];
      group->act = group->rd = group->wr = LONG_AGO;
      for (unsigned b = 0; b < CHECKER_BANKS; b++)
        group->bank[b] =
            (struct checked_bank){.act = LONG_AGO, .pre = LONG_AGO, .rd = LONG_AGO, .wr = LONG_AGO};
    }
  }
}

static bool is_column(const struct hbm_command *command) {
  return command->kind == HBM_READ || command->kind == HBM_WRITE;
}

/* The cycle timing counts from. */
static int64_t effective(const struct hbm_checker *checker, const struct hbm_command *command) {
  int64_t cycle = (int64_t)command->cycle;
  return command->kind == HBM_ACT ? cycle + checker->mem->act_bus_cycles - 1 : cycle;
}

/* What a test needs to see. */
struct view {
  const struct mem_spec *mem;
  const struct checked_pseudo *pseudo;
  const struct checked_group *group;
  const struct checked_bank *bank;
  int64_t now; /* effective */
  uint32_t broken;
};

static void require(struct view *view, enum hbm_rule rule, bool holds) {
  if (!holds)
    view->broken |= 1u << rule;
}

static void require_gap(struct view *view, enum hbm_rule rule, int64_t since, int64_t cycles) {
  require(view, rule, view->now - since >= cycles);
}

static void test_act(struct view *view) {
  const struct mem_spec *mem = view->mem;
  const struct checked_pseudo *pseudo = view->pseudo;
  require(view, HBM_RULE_STATE, !view->bank->open);
  require_gap(view, HBM_RULE_RP, view->bank->pre, mem->rp_cycles);
  require_gap(view, HBM_RULE_RC, view->bank->act, mem->rc_cycles);
  require_gap(view, HBM_RULE_RFC, pseudo->ref, mem->rfc_cycles);
  int64_t last = pseudo->act[(pseudo->act_count + CHECKER_FAW - 1) % CHECKER_FAW];
  require_gap(view, HBM_RULE_RRDS, last, mem->rrd_s_cycles);
  require_gap(view, HBM_RULE_RRDL, view->group->act, mem->rrd_l_cycles);
  require_gap(view, HBM_RULE_FAW, pseudo->act[pseudo->act_count % CHECKER_FAW], mem->faw_cycles);
}

static void test_pre_bank(struct view *view, const struct checked_bank *bank) {
  const struct mem_spec *mem = view->mem;
  require_gap(view, HBM_RULE_RAS, bank->act, mem->ras_cycles);
  require_gap(view, HBM_RULE_RTP, bank->rd, mem->rtp_cycles);
  require_gap(view, HBM_RULE_WR, bank->wr, mem->cwl_cycles + mem->burst_cycles + mem->wr_cycles);
}

/* The data bus is taken from `latency` after the command on, for a burst. */
static void test_data(struct view *view, int64_t latency) {
  int64_t from = view->now + latency, to = from + view->mem->burst_cycles;
  require(view, HBM_RULE_DATA_BUS, from >= view->pseudo->data_to || to <= view->pseudo->data_from);
}

static void test_column(struct view *view, const struct hbm_command *command) {
  bool read = command->kind == HBM_READ;
  require(view, HBM_RULE_STATE, view->bank->open && view->bank->row == command->row);
  require_gap(view, read ? HBM_RULE_RCDRD : HBM_RULE_RCDWR, view->bank->act,
              read ? view->mem->rcd_read_cycles : view->mem->rcd_write_cycles);
  const struct mem_spec *mem = view->mem;
  const struct checked_pseudo *pseudo = view->pseudo;
  const struct checked_group *group = view->group;
  int64_t data = mem->cwl_cycles + mem->burst_cycles;
  if (read) {
    require_gap(view, HBM_RULE_CCDS, pseudo->rd, mem->ccd_s_cycles);
    require_gap(view, HBM_RULE_CCDL, group->rd, mem->ccd_l_cycles);
    require_gap(view, HBM_RULE_WTRS, pseudo->wr, data + mem->wtr_s_cycles);
    require_gap(view, HBM_RULE_WTRL, group->wr, data + mem->wtr_l_cycles);
  } else {
    require_gap(view, HBM_RULE_CCDS, pseudo->wr, mem->ccd_s_cycles);
    require_gap(view, HBM_RULE_CCDL, group->wr, mem->ccd_l_cycles);
    require_gap(view, HBM_RULE_RTW, pseudo->rd, mem->rtw_cycles);
  }
  test_data(view, read ? mem->cl_cycles : mem->cwl_cycles);
}

static void test_refresh(struct view *view) {
  const struct mem_spec *mem = view->mem;
  const struct checked_pseudo *pseudo = view->pseudo;
  for (unsigned g = 0; g < CHECKER_GROUPS; g++)
    for (unsigned b = 0; b < CHECKER_BANKS; b++) {
      const struct checked_bank *bank = &pseudo->group[g].bank[b];
      require(view, HBM_RULE_STATE, !bank->open);
      require_gap(view, HBM_RULE_RP, bank->pre, mem->rp_cycles);
      require_gap(view, HBM_RULE_RC, bank->act, mem->rc_cycles);
    }
  require_gap(view, HBM_RULE_RFC, pseudo->ref, mem->rfc_cycles);
  require(view, HBM_RULE_REFI,
          mem->refi_cycles > 0 && view->now / mem->refi_cycles > (int64_t)pseudo->refreshes);
}

static void test_buses(struct view *view, const struct hbm_checker *checker,
                       const struct hbm_command *command) {
  int64_t cycle = (int64_t)command->cycle;
  require(view, HBM_RULE_TIME, cycle >= checker->now);
  if (is_column(command))
    require(view, HBM_RULE_COLUMN_BUS, cycle >= checker->column_bus);
  else
    require(view, HBM_RULE_ROW_BUS, cycle >= checker->row_bus);
  int64_t refi = view->mem->refi_cycles;
  if (refi > 0)
    require(view, HBM_RULE_REFI,
            cycle / refi <= (int64_t)view->pseudo->refreshes + REFRESHES_LATE_MAX);
}

uint32_t hbm_checker_test(const struct hbm_checker *checker, const struct hbm_command *command) {
  const struct checked_pseudo *pseudo = &checker->pseudo[command->pseudo];
  struct view view = {
      .mem = checker->mem,
      .pseudo = pseudo,
      .group = &pseudo->group[command->group],
      .bank = &pseudo->group[command->group].bank[command->bank],
      .now = effective(checker, command),
  };
  test_buses(&view, checker, command);
  switch ((enum hbm_command_kind)command->kind) {
  case HBM_ACT:
    test_act(&view);
    break;
  case HBM_PRE:
    test_pre_bank(&view, view.bank);
    break;
  case HBM_PRE_ALL:
    for (unsigned g = 0; g < CHECKER_GROUPS; g++)
      for (unsigned b = 0; b < CHECKER_BANKS; b++)
        test_pre_bank(&view, &pseudo->group[g].bank[b]);
    break;
  case HBM_READ:
  case HBM_WRITE:
    test_column(&view, command);
    break;
  case HBM_REFRESH:
    test_refresh(&view);
    break;
  }
  return view.broken;
}

static void close_bank(struct checked_bank *bank, int64_t now) {
  if (bank->open)
    bank->pre = now;
  bank->open = false;
}

static void note_act(struct checked_pseudo *pseudo, const struct hbm_command *command,
                     int64_t now) {
  struct checked_group *group = &pseudo->group[command->group];
  struct checked_bank *bank = &group->bank[command->bank];
  bank->open = true;
  bank->row = command->row;
  bank->act = group->act = now;
  pseudo->act[pseudo->act_count++ % CHECKER_FAW] = now;
}

static void note_column(struct checked_pseudo *pseudo, const struct hbm_command *command,
                        const struct mem_spec *mem, int64_t now) {
  struct checked_group *group = &pseudo->group[command->group];
  struct checked_bank *bank = &group->bank[command->bank];
  bool read = command->kind == HBM_READ;
  *(read ? &bank->rd : &bank->wr) = now;
  *(read ? &group->rd : &group->wr) = now;
  *(read ? &pseudo->rd : &pseudo->wr) = now;
  pseudo->data_from = now + (read ? mem->cl_cycles : mem->cwl_cycles);
  pseudo->data_to = pseudo->data_from + mem->burst_cycles;
}

static void note_state(struct checked_pseudo *pseudo, const struct hbm_command *command,
                       const struct mem_spec *mem, int64_t now) {
  switch ((enum hbm_command_kind)command->kind) {
  case HBM_ACT:
    note_act(pseudo, command, now);
    break;
  case HBM_PRE:
    close_bank(&pseudo->group[command->group].bank[command->bank], now);
    break;
  case HBM_PRE_ALL:
    for (unsigned g = 0; g < CHECKER_GROUPS; g++)
      for (unsigned b = 0; b < CHECKER_BANKS; b++)
        close_bank(&pseudo->group[g].bank[b], now);
    break;
  case HBM_READ:
  case HBM_WRITE:
    note_column(pseudo, command, mem, now);
    break;
  case HBM_REFRESH:
    pseudo->ref = now;
    pseudo->refreshes++;
    break;
  }
}

void hbm_checker_add(struct hbm_checker *checker, const struct hbm_command *command) {
  uint32_t broken = hbm_checker_test(checker, command);
  for (unsigned rule = 0; rule < HBM_RULES; rule++)
    checker->violations[rule] += broken >> rule & 1;
  int64_t now = effective(checker, command);
  note_state(&checker->pseudo[command->pseudo], command, checker->mem, now);
  checker->now = (int64_t)command->cycle;
  *(is_column(command) ? &checker->column_bus : &checker->row_bus) = now + 1;
  checker->commands++;
}

uint64_t hbm_checker_violations(const struct hbm_checker *checker) {
  uint64_t sum = 0;
  for (unsigned rule = 0; rule < HBM_RULES; rule++)
    sum += checker->violations[rule];
  return sum;
}
