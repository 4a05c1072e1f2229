/* SPDX-License-Identifier: Apache-2.0 */
/* The DRAM controller: latencies, queues, refresh, bandwidth, address mappings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/base/arith.h"
#include "memhier/dram/hbm_op.h"
#include "memhier/dram/hbm_stream.h"
#include "tests/support/hbm_specs.h"
#include "tests/support/hbm_traffic.h"

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
    struct traffic_source source;
    assert_true(traffic_start(&source, &traffics[i], &mem, i + 40));
    uint64_t sent = 0, reads = 0, cycle = 0;
    for (; sent < sizeof ledger->ended; cycle++) {
      struct hbm_place place = traffic_place(&source);
      if (!hbm_channel_offer(channel, &place, source.write, sent, cycle))
        continue;
      sent++;
      reads += !source.write;
      traffic_next(&source);
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

/* A step at a time, so short that no period of refresh can be left out. */
static void run_in_steps(struct hbm_channel *channel, uint64_t from, uint64_t to) {
  enum { STEP = 500 };
  for (uint64_t cycle = from; cycle < to; cycle += STEP)
    hbm_channel_run(channel, cycle);
  hbm_channel_run(channel, to);
}

enum { BURSTS = 24 };

static void offer_burst(struct hbm_channel *channel, unsigned i, uint64_t cycle) {
  struct hbm_place place = {.channel = i % 2, .bank = (uint8_t)(i % 4), .row = i * 7 % 5};
  assert_true(hbm_channel_offer(channel, &place, i % 3 == 0, i % BURSTS, cycle));
}

/* An idle channel's refreshes are counted; that must not show in anything that comes later. */
static void idle_time_in_one_step_is_idle_time_in_many(void **state) {
  (void)state;
  static const uint64_t idle_cycles[] = {200000, 200001, 1234567, 3900 * 80, 3900 * 80 + 1};
  for (unsigned c = 0; c < 10; c++) {
    struct mem_spec mem = hbm2_spec();
    mem.pseudo_channels = 1 + c / 5;
    uint64_t end[2][BURSTS] = {{0}}, to = idle_cycles[c % 5];
    struct hbm_counters counters[2];
    for (unsigned way = 0; way < 2; way++) {
      struct arena arena = {0};
      struct hbm_channel *channel = hbm_channel_create(
          &arena, &mem, (struct hbm_hooks){.context = end[way], .done = note_end});
      for (unsigned i = 0; i < BURSTS; i++)
        offer_burst(channel, i, 10 * i);
      if (way == 0)
        hbm_channel_run(channel, to);
      else
        run_in_steps(channel, 10 * BURSTS, to);
      for (unsigned i = 0; i < BURSTS; i++)
        offer_burst(channel, i + 1, to + i);
      hbm_channel_run(channel, to + 5000);
      assert_true(hbm_channel_idle(channel));
      counters[way] = *hbm_channel_counters(channel);
      arena_free(&arena);
    }
    assert_memory_equal(end[0], end[1], sizeof end[0]);
    assert_memory_equal(&counters[0], &counters[1], sizeof counters[0]);
    assert_true(counters[0].refreshes >= to / (uint64_t)mem.refi_cycles);
  }
}

/* Ten hours at 1 GHz: nobody waits for ten thousand million refreshes. */
static void hours_of_idle_time_pass_at_once(void **state) {
  (void)state;
  const uint64_t hours = UINT64_C(36028797018963);
  struct mem_spec mem = hbm2_spec();
  uint64_t end[BURSTS] = {0};
  struct arena arena = {0};
  struct hbm_channel *channel =
      hbm_channel_create(&arena, &mem, (struct hbm_hooks){.context = end, .done = note_end});
  for (unsigned i = 0; i < BURSTS; i++)
    offer_burst(channel, i, 10 * i);
  hbm_channel_run(channel, hours);
  assert_true(hbm_channel_counters(channel)->refreshes == hours / (uint64_t)mem.refi_cycles);
  for (unsigned i = 0; i < BURSTS; i++)
    offer_burst(channel, i, hours + i);
  hbm_channel_run(channel, hours + 5000);
  assert_true(hbm_channel_idle(channel));
  arena_free(&arena);
}

/* ---- operations ----------------------------------------------------------------------- */

enum { OPERATIONS = 400, LINE_BYTES = 512, LINE_GRANULES = 4 };

/* Lines that are read and written, some again and again, and when each operation ended. */
struct lines {
  struct hbm_layout layout;
  struct hbm_op op[OPERATIONS];
  uint64_t start[OPERATIONS];
  uint64_t end[OPERATIONS];
};

static void draw_lines(struct lines *lines, const struct mem_spec *mem, const char *map,
                       uint64_t seed) {
  uint64_t cycle = 1, gap = seed % 3 * 40;
  bool mixed = seed % 2 == 0; /* else many reads come before the first write */
  assert_int_equal(hbm_map_parse(&lines->layout.map, map, mem, 1, NULL), VINCI_OK);
  hbm_layout_init(&lines->layout, mem, LINE_BYTES);
  for (unsigned i = 0; i < OPERATIONS; i++) {
    struct hbm_op *op = &lines->op[i];
    uint64_t line = splitmix64_next(&seed) % 5 == 0 ? splitmix64_next(&seed) % 512 : i;
    *op = (struct hbm_op){.address = line * LINE_BYTES, .layout = &lines->layout};
    op->granules = (uint32_t)(splitmix64_next(&seed) % ((1u << LINE_GRANULES) - 1)) + 1;
    op->write = mixed ? splitmix64_next(&seed) % 4 == 0 : i % 100 >= 92;
    op->spot = hbm_spot_at(&lines->layout, op->address);
    op->spread = hbm_spread(&lines->layout, op->spot.row);
    lines->start[i] = cycle += splitmix64_next(&seed) % (gap + 1);
    lines->end[i] = 0;
  }
}

static void note_operation(void *context, struct hbm_op *op, uint64_t cycle) {
  struct lines *lines = context;
  assert_int_equal(lines->end[op - lines->op], 0);
  lines->end[op - lines->op] = cycle;
}

static struct hbm_counters submit_lines(struct lines *lines, const struct mem_spec *mem) {
  struct arena arena = {0};
  struct hbm_channel *channel = hbm_channel_create(
      &arena, mem, (struct hbm_hooks){.context = lines, .op_done = note_operation});
  for (unsigned i = 0; i < OPERATIONS; i++)
    hbm_channel_submit(channel, &lines->op[i], lines->start[i]);
  hbm_channel_run(channel, lines->start[OPERATIONS - 1] + 100000);
  struct hbm_counters counters = *hbm_channel_counters(channel);
  arena_free(&arena);
  return counters;
}

static void note_burst(void *context, uint64_t tag, uint64_t cycle) {
  struct lines *lines = context;
  if (!lines->op[tag].write)
    lines->end[tag] = max_u64(lines->end[tag], cycle);
}

static void ignore_command(void *context, const struct hbm_command *command) {
  (void)context;
  (void)command;
}

/* Offers bursts of an operation as long as they are taken; true when all are. */
static bool offer_bursts(struct hbm_channel *channel, struct lines *lines, unsigned i,
                         uint64_t cycle) {
  struct hbm_op *op = &lines->op[i];
  const struct hbm_layout *layout = &lines->layout;
  for (; op->granules != 0; op->granules &= op->granules - 1, op->burst = 0)
    for (; op->burst < layout->bursts_per_granule; op->burst++) {
      unsigned at = (unsigned)__builtin_ctz(op->granules) * layout->bursts_per_granule + op->burst;
      struct hbm_spot spot = hbm_op_spot(op, &layout->offset[at]);
      struct hbm_place place = {.row = spot.row,
                                .column = spot.column,
                                .group = (uint8_t)(spot.bank >> layout->bank_shift),
                                .bank = (uint8_t)(spot.bank & layout->bank_mask)};
      if (!hbm_channel_offer(channel, &place, op->write, i, cycle))
        return false;
    }
  if (op->write)
    lines->end[i] = cycle;
  return true;
}

/* The same work burst by burst, by a channel that tells each command. */
static struct hbm_counters offer_lines(struct lines *lines, const struct mem_spec *mem) {
  struct arena arena = {0};
  struct hbm_hooks hooks = {.context = lines, .done = note_burst, .command = ignore_command};
  struct hbm_channel *channel = hbm_channel_create(&arena, mem, hooks);
  for (uint64_t i = 0, cycle = 1; i < OPERATIONS; cycle++)
    while (i < OPERATIONS && lines->start[i] <= cycle &&
           offer_bursts(channel, lines, (unsigned)i, cycle))
      i++;
  hbm_channel_run(channel, lines->start[OPERATIONS - 1] + 100000);
  struct hbm_counters counters = *hbm_channel_counters(channel);
  arena_free(&arena);
  return counters;
}

static void operations_are_their_bursts(void **state) {
  (void)state;
  static const char *const maps[] = {"ro ba2 bg1 co2 bg1 co3", "ro ba2 co4 bg2 co1", HBM2_M1};
  static const int64_t depths[] = {96, 32, 8, 3, 2, 1, 32, 8};
  static struct lines whole, bursts;
  for (unsigned c = 0; c < 24; c++) {
    struct mem_spec mem = hbm2_spec();
    mem.read_queue = mem.write_queue = depths[c / 3];
    mem.protect_row_hits = c < 18;
    draw_lines(&whole, &mem, maps[c % 3], c);
    draw_lines(&bursts, &mem, maps[c % 3], c);
    struct hbm_counters of_whole = submit_lines(&whole, &mem);
    struct hbm_counters of_bursts = offer_lines(&bursts, &mem);
    assert_memory_equal(whole.end, bursts.end, sizeof whole.end);
    assert_memory_equal(&of_whole, &of_bursts, sizeof of_whole);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(single_requests_take_the_sum_of_their_times),
      cmocka_unit_test(a_ready_conflict_takes_a_precharge_more),
      cmocka_unit_test(reads_of_waiting_writes_are_answered_from_the_queue),
      cmocka_unit_test(a_full_queue_refuses),
      cmocka_unit_test(every_request_ends_once),
      cmocka_unit_test(refresh_caps_the_bandwidth),
      cmocka_unit_test(better_memories_are_not_slower),
      cmocka_unit_test(runs_are_repeatable),
      cmocka_unit_test(idle_time_in_one_step_is_idle_time_in_many),
      cmocka_unit_test(hours_of_idle_time_pass_at_once),
      cmocka_unit_test(operations_are_their_bursts),
      cmocka_unit_test(mappings_place_bits_as_written),
      cmocka_unit_test(wrong_mappings_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
