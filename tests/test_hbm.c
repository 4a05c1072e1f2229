/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DRAM controller: its commands keep all timing rules (an independent checker), are
 * those of a controller that looks at everything in every cycle, and its latencies, refresh
 * and queues behave as documented. VINCI_HBM_COMMANDS sets the length of the random traffic.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "memhier/hbm_stream.h"
#include "tests/hbm_specs.h"
#include "tests/hbm_ticking.h"

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

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

struct traffic {
  const char *map;
  unsigned write_percent;
  unsigned idle_percent; /* of cycles without an offer */
  unsigned run_percent;  /* chance that a request follows the one before */
  uint64_t span;         /* bytes */
};

static const struct traffic traffics[] = {
    {HBM2_M1, 0, 0, 50, UINT64_C(1) << 29},   {HBM2_M3, 100, 0, 50, UINT64_C(1) << 29},
    {HBM2_M3, 33, 0, 80, UINT64_C(1) << 29},  {HBM2_M2, 50, 30, 0, UINT64_C(1) << 29},
    {HBM2_M3, 50, 0, 20, UINT64_C(1) << 16},  {HBM2_M1, 20, 70, 60, UINT64_C(1) << 20},
    {HBM2_M3, 10, 90, 10, UINT64_C(1) << 12}, {HBM2_M2, 0, 0, 97, UINT64_C(1) << 29},
};
enum { TRAFFICS = sizeof traffics / sizeof *traffics };

struct source {
  const struct traffic *traffic;
  struct hbm_map map;
  uint64_t random;
  uint64_t address;
  bool write;
};

static void draw(struct source *source) {
  const struct traffic *traffic = source->traffic;
  if (next_random(&source->random) % 100 < traffic->run_percent) {
    source->address += 32;
  } else {
    source->address = next_random(&source->random) * 32;
    source->write = next_random(&source->random) % 100 < traffic->write_percent;
  }
  source->address %= traffic->span;
}

static struct source make_source(const struct traffic *traffic, const struct mem_spec *mem,
                                 uint64_t seed) {
  struct source source = {.traffic = traffic, .random = seed};
  struct vinci_diag diag = {0};
  assert_int_equal(hbm_map_parse(&source.map, traffic->map, mem, 1, &diag), VINCI_OK);
  draw(&source);
  return source;
}

static struct hbm_place place_of(const struct source *source) {
  struct hbm_place place = hbm_map_decode(&source->map, source->address);
  place.channel = place.row & 1; /* spreads over two pseudo-channels where there are two */
  return place;
}

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
    struct source source = make_source(&traffics[i], &mem, i + 1);
    for (uint64_t cycle = 0; checker.commands < wanted; cycle++) {
      if (next_random(&source.random) % 100 < traffics[i].idle_percent)
        continue;
      for (unsigned k = 0; k < 2; k++) {
        struct hbm_place place = place_of(&source);
        if (!hbm_channel_offer(channel, &place, source.write, 0, cycle))
          break;
        draw(&source);
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
  struct source source = make_source(traffic, mem, seed);
  for (uint64_t cycle = 0; cycle < cycles; cycle++) {
    bool idle = next_random(&source.random) % 100 < traffic->idle_percent;
    for (unsigned k = 0; k < 2 && !idle; k++) {
      struct hbm_place place = place_of(&source);
      bool taken = hbm_channel_offer(channel, &place, source.write, 0, cycle);
      assert_int_equal(taken, ticking_offer(ticking, &place, source.write, cycle));
      if (!taken)
        break;
      draw(&source);
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

/* ---- latencies ------------------------------------------------------------------------ */

enum { FIRST = 20 };

struct latencies {
  uint64_t cycles[FIRST];
  size_t count;
};

static void note_latency(void *context, uint64_t cycles) {
  struct latencies *latencies = context;
  if (latencies->count < FIRST)
    latencies->cycles[latencies->count++] = cycles;
}

static struct hbm_stream_result run_stream(const struct mem_spec *mem, const char *map_text,
                                           const struct hbm_stream *stream,
                                           const struct hbm_stream_hooks *hooks) {
  struct hbm_map map;
  struct hbm_stream_result result;
  struct vinci_diag diag = {0};
  assert_int_equal(hbm_map_parse(&map, map_text, mem, stream->channels, &diag), VINCI_OK);
  assert_int_equal(hbm_stream_run(mem, &map, stream, hooks, &result, &diag), VINCI_OK);
  return result;
}

/* One cycle into the controller, then the device: ACT counts from its second cycle. */
static void single_requests_take_the_sum_of_their_times(void **state) {
  (void)state;
  struct mem_spec mem = hbm2_spec();
  mem.refi_cycles = 0;
  const struct hbm_stream sequential = {
      .kind = HBM_STREAM_SEQR, .feed = HBM_FEED_CHASE, .cycles = 2000, .channels = 1};
  const struct hbm_stream same_bank = {.kind = HBM_STREAM_STRIDE,
                                       .feed = HBM_FEED_CHASE,
                                       .stride_bytes = 16384,
                                       .cycles = 2000,
                                       .channels = 1};
  const uint64_t hit = 1 + 14 + 2, closed = 1 + 1 + 14 + 14 + 2, back_to_back = 48;
  struct latencies latencies = {0};
  const struct hbm_stream_hooks hooks = {.context = &latencies, .latency = note_latency};
  run_stream(&mem, HBM2_M1, &sequential, &hooks);
  for (size_t i = 0; i < FIRST; i++) /* 16 requests of 64 bytes in a row of 1 KiB */
    assert_int_equal(latencies.cycles[i], i % 16 ? hit : closed);
  latencies.count = 0;
  run_stream(&mem, HBM2_M1, &same_bank, &hooks);
  for (size_t i = 0; i < FIRST; i++) /* bound by tRC */
    assert_int_equal(latencies.cycles[i], i ? back_to_back : closed);
}

static void note_end(void *context, uint64_t tag, uint64_t cycle) {
  ((uint64_t *)context)[tag] = cycle;
}

static void a_ready_conflict_takes_a_precharge_more(void **state) {
  (void)state;
  struct mem_spec mem = hbm2_spec();
  mem.refi_cycles = 0;
  uint64_t end[3] = {0};
  struct arena arena = {0};
  struct hbm_channel *channel =
      hbm_channel_create(&arena, &mem, (struct hbm_hooks){.context = end, .done = note_end});
  const struct hbm_place first = {.row = 1}, second = {.row = 2};
  assert_true(hbm_channel_offer(channel, &first, false, 0, 0));
  hbm_channel_run(channel, 200);
  assert_true(hbm_channel_idle(channel));
  assert_int_equal(end[0], 32);
  assert_true(hbm_channel_offer(channel, &second, false, 1, 1000));
  hbm_channel_run(channel, 2000);
  assert_int_equal(end[1], 1000 + 1 + 14 + 14 + 14 + 2);
  arena_free(&arena);
}

/* ---- queues --------------------------------------------------------------------------- */

static void reads_of_waiting_writes_are_answered_from_the_queue(void **state) {
  (void)state;
  struct mem_spec mem = hbm2_spec();
  uint64_t end[4] = {0};
  struct arena arena = {0};
  struct hbm_channel *channel =
      hbm_channel_create(&arena, &mem, (struct hbm_hooks){.context = end, .done = note_end});
  const struct hbm_place place = {.row = 3, .column = 5}, other = {.row = 3, .column = 6};
  assert_true(hbm_channel_offer(channel, &place, true, 0, 10));
  assert_true(hbm_channel_offer(channel, &place, false, 1, 10));
  assert_true(hbm_channel_offer(channel, &place, true, 2, 10));
  assert_true(hbm_channel_offer(channel, &other, false, 3, 10));
  hbm_channel_run(channel, 1000);
  assert_int_equal(end[1], 11);
  assert_int_equal(end[2], 11);
  const struct hbm_counters *counters = hbm_channel_counters(channel);
  assert_int_equal(counters->forwarded_reads, 1);
  assert_int_equal(counters->merged_writes, 1);
  assert_int_equal(counters->reads, 1);
  assert_int_equal(counters->writes, 1);
  assert_int_equal(counters->activates, 1);
  /* The write has gone: the next read of it comes from the device, as a row hit. */
  assert_true(hbm_channel_offer(channel, &place, false, 1, 1000));
  hbm_channel_run(channel, 2000);
  assert_int_equal(end[1], 1000 + 1 + 14 + 2);
  arena_free(&arena);
}

static void a_full_queue_refuses(void **state) {
  (void)state;
  struct mem_spec mem = hbm2_spec();
  struct arena arena = {0};
  struct hbm_channel *channel = hbm_channel_create(&arena, &mem, (struct hbm_hooks){0});
  for (uint16_t i = 0; i < 64; i++) {
    struct hbm_place place = {.row = i};
    assert_int_equal(hbm_channel_offer(channel, &place, i >= 32, 0, 0), true);
  }
  struct hbm_place place = {.row = 99};
  assert_false(hbm_channel_offer(channel, &place, false, 0, 0));
  assert_false(hbm_channel_offer(channel, &place, true, 0, 0));
  /* The first ACT takes its request out of the queue in cycle 1. Writes are drained first:
   * their queue is above its mark. */
  assert_int_equal(hbm_channel_next(channel), 1);
  assert_false(hbm_channel_offer(channel, &place, false, 0, 1));
  assert_true(hbm_channel_offer(channel, &place, true, 0, 1));
  arena_free(&arena);
}

struct ledger {
  uint8_t ended[1 << 16];
  uint64_t count;
};

static void note_once(void *context, uint64_t tag, uint64_t cycle) {
  struct ledger *ledger = context;
  (void)cycle;
  assert_int_equal(ledger->ended[tag], 0);
  ledger->ended[tag] = 1;
  ledger->count++;
}

static void every_request_ends_once(void **state) {
  (void)state;
  for (unsigned i = 0; i < TRAFFICS; i++) {
    struct mem_spec mem = hbm2_spec();
    struct arena arena = {0};
    struct ledger *ledger = ARENA_NEW(&arena, struct ledger);
    struct hbm_hooks hooks = {.context = ledger, .done = note_once};
    struct hbm_channel *channel = hbm_channel_create(&arena, &mem, hooks);
    struct source source = make_source(&traffics[i], &mem, i + 40);
    uint64_t sent = 0, reads = 0, cycle = 0;
    for (; sent < sizeof ledger->ended; cycle++) {
      struct hbm_place place = place_of(&source);
      if (!hbm_channel_offer(channel, &place, source.write, sent, cycle))
        continue;
      sent++;
      reads += !source.write;
      draw(&source);
    }
    hbm_channel_run(channel, cycle + 20000);
    assert_true(hbm_channel_idle(channel));
    assert_int_equal(ledger->count, sent);
    const struct hbm_counters *counters = hbm_channel_counters(channel);
    assert_int_equal(counters->reads + counters->forwarded_reads, reads);
    assert_int_equal(counters->writes + counters->merged_writes, sent - reads);
    arena_free(&arena);
  }
}

/* ---- bandwidth ------------------------------------------------------------------------ */

static uint64_t bursts_moved(const struct mem_spec *mem, enum hbm_stream_kind kind) {
  const struct hbm_stream stream = {
      .kind = kind, .feed = HBM_FEED_SAT, .stride_bytes = 1024, .cycles = 60000, .channels = 1};
  struct hbm_stream_result result = run_stream(mem, HBM2_M3, &stream, NULL);
  return result.commands.reads + result.commands.writes;
}

static void refresh_caps_the_bandwidth(void **state) {
  (void)state;
  struct mem_spec mem = hbm2_spec();
  const struct hbm_stream stream = {
      .kind = HBM_STREAM_SEQR, .feed = HBM_FEED_SAT, .cycles = 390500, .channels = 1};
  struct hbm_stream_result result = run_stream(&mem, HBM2_M3, &stream, NULL);
  double fraction = (double)result.commands.reads * 2 / 390500;
  assert_int_equal(result.commands.refreshes, 100);
  assert_true(fraction < 1 - 260.0 / 3900 && fraction > 0.92);
  mem.refi_cycles = 0;
  result = run_stream(&mem, HBM2_M3, &stream, NULL);
  assert_int_equal(result.commands.refreshes, 0);
  assert_true((double)result.commands.reads * 2 / 390500 > 0.985);
}

/* More of a resource is never slower, less is never faster, but for 1 % of scheduling luck. */
static void better_memories_are_not_slower(void **state) {
  (void)state;
  static const struct {
    size_t offset;
    int64_t worse;
  } changes[] = {
      {offsetof(struct mem_spec, read_queue), 16},    {offsetof(struct mem_spec, write_queue), 16},
      {offsetof(struct mem_spec, faw_cycles), 30},    {offsetof(struct mem_spec, rp_cycles), 28},
      {offsetof(struct mem_spec, ccd_l_cycles), 8},   {offsetof(struct mem_spec, rfc_cycles), 520},
      {offsetof(struct mem_spec, refi_cycles), 1950}, {offsetof(struct mem_spec, ccd_s_cycles), 4},
      {offsetof(struct mem_spec, rc_cycles), 96},     {offsetof(struct mem_spec, wtr_l_cycles), 16},
  };
  const struct mem_spec good = hbm2_spec();
  for (unsigned kind = 0; kind < HBM_STREAM_KINDS; kind++) {
    uint64_t best = bursts_moved(&good, (enum hbm_stream_kind)kind);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
      struct mem_spec worse = hbm2_spec();
      memcpy((char *)&worse + changes[i].offset, &changes[i].worse, sizeof changes[i].worse);
      uint64_t moved = bursts_moved(&worse, (enum hbm_stream_kind)kind);
      if (moved * 100 > best * 101)
        fail_msg("%s, change %zu: %llu bursts instead of %llu",
                 hbm_stream_name((enum hbm_stream_kind)kind), i, (unsigned long long)moved,
                 (unsigned long long)best);
    }
  }
}

static void runs_are_repeatable(void **state) {
  (void)state;
  struct mem_spec mem = hbm2_spec();
  const struct hbm_stream stream = {
      .kind = HBM_STREAM_RMIX21, .feed = HBM_FEED_SAT, .cycles = 30000, .channels = 16};
  struct hbm_stream_result a = run_stream(&mem, "ro ba2 co4 ch4 bg2 co1", &stream, NULL);
  struct hbm_stream_result b = run_stream(&mem, "ro ba2 co4 ch4 bg2 co1", &stream, NULL);
  assert_memory_equal(&a, &b, sizeof a);
}

/* ---- mappings ------------------------------------------------------------------------- */

static void mappings_place_bits_as_written(void **state) {
  (void)state;
  struct mem_spec mem = hbm2_spec();
  struct hbm_map map;
  struct vinci_diag diag = {0};
  for (uint64_t address = 0; address < UINT64_C(1) << 29; address = address * 5 / 3 + 32) {
    uint64_t l = address >> 5;
    assert_int_equal(hbm_map_parse(&map, HBM2_M3, &mem, 1, &diag), VINCI_OK);
    struct hbm_place place = hbm_map_decode(&map, address);
    assert_int_equal(place.column, (l & 1) | ((l >> 3) & 15) << 1);
    assert_int_equal(place.group, (l >> 1) & 3);
    assert_int_equal(place.bank, (l >> 7) & 3);
    assert_int_equal(place.row, l >> 9);
    assert_int_equal(hbm_map_parse(&map, "ro ba2 co4 ch4 bg2 co1", &mem, 16, &diag), VINCI_OK);
    place = hbm_map_decode(&map, address);
    uint64_t local = (address >> 12) << 8 | (address & 255);
    l = local >> 5;
    assert_int_equal(place.channel, (address >> 8) & 15);
    assert_int_equal(place.column, (l & 1) | ((l >> 3) & 15) << 1);
    assert_int_equal(place.row, l >> 9);
  }
}

static void wrong_mappings_are_refused(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "",      "ro ba2 co4 bg2",     "ba2 co5 bg2 ro",  "ro ba2 co5 bg2 ch4",
      "ro ba", "ro ba2 co5 bg2 bg2", "ro ba2 co99 bg2", "ro xx2 co5 bg2",
      "ro",    "ro33 ba2 co5 bg2",   "ro ba2 co5 bg0",  "ba2 co5 bg2",
  };
  struct mem_spec mem = hbm2_spec();
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct hbm_map map;
    struct vinci_diag diag = {0};
    assert_int_equal(hbm_map_parse(&map, wrong[i], &mem, 1, &diag), VINCI_E_USAGE);
    assert_string_not_equal(diag.text, "");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(checker_knows_the_exact_cycle_of_each_rule),
      cmocka_unit_test(checker_knows_order_states_and_the_data_bus),
      cmocka_unit_test(random_traffic_breaks_no_rule),
      cmocka_unit_test(commands_are_those_of_a_ticking_controller),
      cmocka_unit_test(other_shapes_match_a_ticking_controller_too),
      cmocka_unit_test(single_requests_take_the_sum_of_their_times),
      cmocka_unit_test(a_ready_conflict_takes_a_precharge_more),
      cmocka_unit_test(reads_of_waiting_writes_are_answered_from_the_queue),
      cmocka_unit_test(a_full_queue_refuses),
      cmocka_unit_test(every_request_ends_once),
      cmocka_unit_test(refresh_caps_the_bandwidth),
      cmocka_unit_test(better_memories_are_not_slower),
      cmocka_unit_test(runs_are_repeatable),
      cmocka_unit_test(mappings_place_bits_as_written),
      cmocka_unit_test(wrong_mappings_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
