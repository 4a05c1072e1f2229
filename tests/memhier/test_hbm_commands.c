/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of the DRAM controller: an independent checker finds no broken rule in random
 * traffic, and they are those of a controller that looks at everything in every cycle.
 * VINCI_HBM_COMMANDS sets the length of the random traffic.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/hbm_specs.h"
#include "tests/support/hbm_ticking.h"
#include "tests/support/hbm_traffic.h"

/* ---- the checker itself --------------------------------------------------------------- */

/* A memory in which every rule can be the one that binds. */
static struct mem_spec strict_spec(void) {
  struct mem_spec mem = hbm2_spec();
  mem.rrd_l_cycles = 6;
  mem.faw_cycles = 24;
  mem.rc_cycles = 52;
  return mem;
}

enum { CASE_COMMANDS = 8 };

/* Commands that keep all rules; the last one a cycle earlier breaks `rule`. */
struct rule_case {
  enum hbm_rule rule;
  unsigned count;
  struct hbm_command commands[CASE_COMMANDS];
};

#define ACT(at, g, b)                                                                              \
  { .cycle = (at), .kind = HBM_ACT, .group = (g), .bank = (b), .row = 7 }
#define PRE(at, g, b)                                                                              \
  { .cycle = (at), .kind = HBM_PRE, .group = (g), .bank = (b), .row = 7 }
#define RD(at, g, b)                                                                               \
  { .cycle = (at), .kind = HBM_READ, .group = (g), .bank = (b), .row = 7 }
#define WR(at, g, b)                                                                               \
  { .cycle = (at), .kind = HBM_WRITE, .group = (g), .bank = (b), .row = 7 }
#define PREA(at)                                                                                   \
  { .cycle = (at), .kind = HBM_PRE_ALL }
#define REF(at)                                                                                    \
  { .cycle = (at), .kind = HBM_REFRESH }

/* Cycles by hand from strict_spec; an ACT counts from its second cycle, one later. */
static const struct rule_case rule_cases[] = {
    {HBM_RULE_RCDRD, 2, {ACT(10, 0, 0), RD(11 + 14, 0, 0)}},
    {HBM_RULE_RCDWR, 2, {ACT(10, 0, 0), WR(11 + 12, 0, 0)}},
    {HBM_RULE_RAS, 2, {ACT(10, 0, 0), PRE(11 + 34, 0, 0)}},
    {HBM_RULE_RAS, 2, {ACT(10, 0, 0), PREA(11 + 34)}},
    {HBM_RULE_RP, 3, {ACT(10, 0, 0), PRE(60, 0, 0), ACT(60 + 14 - 1, 0, 0)}},
    {HBM_RULE_RC, 3, {ACT(10, 0, 0), PRE(45, 0, 0), ACT(10 + 52, 0, 0)}},
    {HBM_RULE_RRDS, 2, {ACT(10, 0, 0), ACT(10 + 4, 1, 0)}},
    {HBM_RULE_RRDL, 2, {ACT(10, 0, 0), ACT(10 + 6, 0, 1)}},
    {HBM_RULE_FAW,
     5,
     {ACT(10, 0, 0), ACT(14, 1, 0), ACT(18, 2, 0), ACT(22, 3, 0), ACT(10 + 24, 0, 1)}},
    {HBM_RULE_CCDS, 4, {ACT(10, 0, 0), ACT(14, 1, 0), RD(40, 0, 0), RD(40 + 2, 1, 0)}},
    {HBM_RULE_CCDS, 4, {ACT(10, 0, 0), ACT(14, 1, 0), WR(40, 0, 0), WR(40 + 2, 1, 0)}},
    {HBM_RULE_CCDL, 3, {ACT(10, 0, 0), RD(40, 0, 0), RD(40 + 4, 0, 0)}},
    {HBM_RULE_CCDL, 4, {ACT(10, 0, 0), ACT(16, 0, 1), WR(40, 0, 0), WR(40 + 4, 0, 1)}},
    {HBM_RULE_WTRS, 4, {ACT(10, 0, 0), ACT(14, 1, 0), WR(40, 0, 0), RD(40 + 5 + 2 + 6, 1, 0)}},
    {HBM_RULE_WTRL, 3, {ACT(10, 0, 0), WR(40, 0, 0), RD(40 + 5 + 2 + 8, 0, 0)}},
    {HBM_RULE_RTW, 3, {ACT(10, 0, 0), RD(40, 0, 0), WR(40 + 13, 0, 0)}},
    {HBM_RULE_RTP, 3, {ACT(10, 0, 0), RD(60, 0, 0), PRE(60 + 5, 0, 0)}},
    {HBM_RULE_WR, 3, {ACT(10, 0, 0), WR(60, 0, 0), PRE(60 + 5 + 2 + 16, 0, 0)}},
    {HBM_RULE_WR, 3, {ACT(10, 0, 0), WR(60, 0, 0), PREA(60 + 5 + 2 + 16)}},
    {HBM_RULE_RP, 3, {ACT(3850, 0, 0), PRE(3900, 0, 0), REF(3900 + 14)}},
    {HBM_RULE_RFC, 2, {REF(3900), ACT(3900 + 260 - 1, 0, 0)}},
    {HBM_RULE_RFC, 2, {REF(7800), REF(7800 + 260)}},
    {HBM_RULE_REFI, 1, {REF(3900)}},
    {HBM_RULE_ROW_BUS, 2, {ACT(10, 0, 0), PRE(10 + 2, 3, 3)}},
    {HBM_RULE_ROW_BUS, 2, {PRE(10, 0, 0), PRE(10 + 1, 3, 3)}},
    {HBM_RULE_COLUMN_BUS,
     4,
     {ACT(10, 0, 0),
      {.cycle = 14, .kind = HBM_ACT, .pseudo = 1, .row = 7},
      RD(40, 0, 0),
      {.cycle = 40 + 1, .kind = HBM_READ, .pseudo = 1, .row = 7}}},
};

/* The rules a sequence breaks, with its last command moved by some cycles. */
static uint32_t broken_rules(const struct rule_case *item, int shift, const struct mem_spec *mem) {
  struct hbm_checker checker;
  hbm_checker_init(&checker, mem);
  uint32_t broken = 0;
  for (unsigned i = 0; i < item->count; i++) {
    struct hbm_command command = item->commands[i];
    if (i + 1 == item->count)
      command.cycle = (uint64_t)((int64_t)command.cycle + shift);
    broken |= hbm_checker_test(&checker, &command);
    hbm_checker_add(&checker, &command);
  }
  return broken;
}

static void checker_knows_the_exact_cycle_of_each_rule(void **state) {
  (void)state;
  struct mem_spec mem = strict_spec();
  uint32_t covered = 0;
  for (size_t i = 0; i < sizeof rule_cases / sizeof *rule_cases; i++) {
    const struct rule_case *item = &rule_cases[i];
    assert_int_equal(broken_rules(item, 0, &mem), 0);
    assert_true(broken_rules(item, -1, &mem) >> item->rule & 1);
    covered |= 1u << item->rule;
  }
  /* The rest by hand, in the tests below. */
  covered |= 1u << HBM_RULE_TIME | 1u << HBM_RULE_DATA_BUS | 1u << HBM_RULE_STATE;
  assert_int_equal(covered, (1u << HBM_RULES) - 1);
}

static uint32_t broken_by(const struct mem_spec *mem, unsigned count,
                          const struct hbm_command *commands) {
  struct rule_case item = {.count = count};
  memcpy(item.commands, commands, count * sizeof *commands);
  return broken_rules(&item, 0, mem);
}

static void checker_knows_order_states_and_the_data_bus(void **state) {
  (void)state;
  struct mem_spec mem = strict_spec();
  const struct hbm_command backwards[] = {ACT(10, 0, 0), PRE(9, 3, 3)};
  assert_true(broken_by(&mem, 2, backwards) >> HBM_RULE_TIME & 1);
  const struct hbm_command closed[] = {RD(10, 0, 0)};
  assert_true(broken_by(&mem, 1, closed) >> HBM_RULE_STATE & 1);
  const struct hbm_command other_row[] = {ACT(10, 0, 0), {.cycle = 40, .kind = HBM_READ, .row = 8}};
  assert_true(broken_by(&mem, 2, other_row) >> HBM_RULE_STATE & 1);
  const struct hbm_command open[] = {ACT(10, 0, 0), ACT(100, 0, 0)};
  assert_true(broken_by(&mem, 2, open) >> HBM_RULE_STATE & 1);
  const struct hbm_command refreshed[] = {ACT(10, 0, 0), REF(3900)};
  assert_true(broken_by(&mem, 2, refreshed) >> HBM_RULE_STATE & 1);
  const struct hbm_command late[] = {ACT(9 * 3900, 0, 0)};
  assert_true(broken_by(&mem, 1, late) >> HBM_RULE_REFI & 1);
  /* Write data would come 2 cycles before the read's: 40 + 14 against 50 + 5. */
  mem.rtw_cycles = 9;
  const struct hbm_command clash[] = {ACT(10, 0, 0), RD(40, 0, 0), WR(40 + 10, 0, 0)};
  assert_int_equal(broken_by(&mem, 3, clash), 1u << HBM_RULE_DATA_BUS);
  const struct hbm_command again[] = {REF(7400), REF(7400 + 260)};
  assert_int_equal(broken_by(&mem, 2, again), 1u << HBM_RULE_REFI); /* one is due */
}

/* ---- random traffic ------------------------------------------------------------------- */

static void check_command(void *context, const struct hbm_command *command) {
  hbm_checker_add(context, command);
}

static uint64_t wanted_commands(void) {
  const char *text = getenv("VINCI_HBM_COMMANDS");
  return text ? strtoull(text, NULL, 10) : 10000000;
}

static void print_violations(const struct hbm_checker *checker) {
  for (unsigned rule = 0; rule < HBM_RULES; rule++)
    if (checker->violations[rule])
      print_message("%s: %llu times\n", hbm_rule_text((enum hbm_rule)rule),
                    (unsigned long long)checker->violations[rule]);
}

static void random_traffic_breaks_no_rule(void **state) {
  (void)state;
  uint64_t wanted = wanted_commands() / TRAFFICS;
  uint64_t total = 0;
  for (unsigned i = 0; i < TRAFFICS; i++) {
    struct mem_spec mem = hbm2_spec();
    struct arena arena = {0};
    struct hbm_checker checker;
    mem.pseudo_channels = 1 + i % 2;
    mem.protect_row_hits = i % 4 != 3;
    hbm_checker_init(&checker, &mem);
    struct hbm_hooks hooks = {.context = &checker, .command = check_command};
    struct hbm_channel *channel = hbm_channel_create(&arena, &mem, hooks);
    assert_non_null(channel);
    struct traffic_source source;
    assert_true(traffic_start(&source, &traffics[i], &mem, i + 1));
    for (uint64_t cycle = 0; checker.commands < wanted; cycle++) {
      if (traffic_pauses(&source))
        continue;
      for (unsigned k = 0; k < 2; k++) {
        struct hbm_place place = traffic_place(&source);
        if (!hbm_channel_offer(channel, &place, source.write, 0, cycle))
          break;
        traffic_next(&source);
      }
    }
    print_violations(&checker);
    assert_int_equal(hbm_checker_violations(&checker), 0);
    total += checker.commands;
    arena_free(&arena);
  }
  print_message("%llu commands checked\n", (unsigned long long)total);
}

/* ---- the same commands as a ticking controller ---------------------------------------- */

enum { LOG_MAX = 60000 };

struct command_log {
  struct hbm_command command[LOG_MAX];
  size_t count;
};

static void log_command(void *context, const struct hbm_command *command) {
  struct command_log *log = context;
  assert_in_range(log->count, 0, LOG_MAX - 1);
  log->command[log->count++] = *command;
}

static bool same_command(const struct hbm_command *a, const struct hbm_command *b) {
  return a->cycle == b->cycle && a->kind == b->kind && a->pseudo == b->pseudo &&
         a->group == b->group && a->bank == b->bank && a->row == b->row && a->column == b->column;
}

static void compare_logs(const struct command_log *ours, const struct command_log *plain) {
  for (size_t i = 0; i < ours->count && i < plain->count; i++) {
    const struct hbm_command *a = &ours->command[i], *b = &plain->command[i];
    if (!same_command(a, b))
      fail_msg("command %zu: cycle %llu kind %u bank %u.%u, ticking: cycle %llu kind %u bank %u.%u",
               i, (unsigned long long)a->cycle, a->kind, a->group, a->bank,
               (unsigned long long)b->cycle, b->kind, b->group, b->bank);
  }
  assert_int_equal(ours->count, plain->count);
}

static void compare_with_ticking(const struct mem_spec *mem, const struct traffic *traffic,
                                 uint64_t cycles, uint64_t seed) {
  struct arena arena = {0};
  struct command_log *ours = ARENA_NEW(&arena, struct command_log);
  struct command_log *plain = ARENA_NEW(&arena, struct command_log);
  struct ticking *ticking = ARENA_NEW(&arena, struct ticking);
  struct hbm_hooks hooks = {.context = ours, .command = log_command};
  struct hbm_channel *channel = hbm_channel_create(&arena, mem, hooks);
  assert_true(ours && plain && ticking && channel);
  ticking_init(ticking, mem);
  ticking->context = plain;
  ticking->command = log_command;
  struct traffic_source source;
  assert_true(traffic_start(&source, traffic, mem, seed));
  for (uint64_t cycle = 0; cycle < cycles; cycle++) {
    bool idle = traffic_pauses(&source);
    for (unsigned k = 0; k < 2 && !idle; k++) {
      struct hbm_place place = traffic_place(&source);
      bool taken = hbm_channel_offer(channel, &place, source.write, 0, cycle);
      assert_int_equal(taken, ticking_offer(ticking, &place, source.write, cycle));
      if (!taken)
        break;
      traffic_next(&source);
    }
    ticking_tick(ticking, cycle + 1);
  }
  hbm_channel_run(channel, cycles);
  compare_logs(ours, plain);
  assert_int_equal(hbm_checker_violations(&ticking->checker), 0);
  arena_free(&arena);
}

static void commands_are_those_of_a_ticking_controller(void **state) {
  (void)state;
  enum { CYCLES = 12000 };
  for (unsigned i = 0; i < TRAFFICS; i++)
    for (unsigned variant = 0; variant < 4; variant++) {
      struct mem_spec mem = variant == 3 ? strict_spec() : hbm2_spec();
      mem.protect_row_hits = variant != 1;
      mem.row_hit_cap = variant == 2 ? 4 : 0;
      mem.pseudo_channels = variant == 3 ? 2 : 1;
      compare_with_ticking(&mem, &traffics[i], CYCLES, 100 * i + variant);
    }
}

static void other_shapes_match_a_ticking_controller_too(void **state) {
  (void)state;
  enum { CYCLES = 20000 };
  struct mem_spec mem = hbm2_spec();
  mem.groups = 1;
  mem.banks_per_group = 8;
  mem.columns = 64;
  mem.act_bus_cycles = 4;
  mem.burst_cycles = 8;
  mem.ccd_s_cycles = mem.ccd_l_cycles = 8;
  mem.read_queue = 7;
  mem.write_queue = 5;
  mem.rtw_cycles = 20;
  const struct traffic traffic = {"ro co4 ba3 co2", 40, 20, 50, UINT64_C(1) << 24};
  compare_with_ticking(&mem, &traffic, CYCLES, 5);
  mem.refi_cycles = 0;
  compare_with_ticking(&mem, &traffic, CYCLES, 6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(checker_knows_the_exact_cycle_of_each_rule),
      cmocka_unit_test(checker_knows_order_states_and_the_data_bus),
      cmocka_unit_test(random_traffic_breaks_no_rule),
      cmocka_unit_test(commands_are_those_of_a_ticking_controller),
      cmocka_unit_test(other_shapes_match_a_ticking_controller_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
