/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What single numbers of a system of devices cost, by hand: notifies, copies and sums within a
 * device, their use of the memory, buffers that a collective goes through in pieces, and faults.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "tests/support/devices.h"

#define PS_PER_SECOND UINT64_C(1000000000000)

static struct group_op collective(enum collective_op op, const char *algorithm, uint64_t bytes) {
  struct vinci_diag diag = {0};
  struct group_op out = {.kind = GROUP_COLLECTIVE, .name = "c", .call = {.op = op, .bytes = bytes}};
  assert_int_equal(collective_find(op, algorithm, &out.call.algorithm, &diag), VINCI_OK);
  return out;
}

static void run(const struct group_system *system, const struct group_program *program,
                const struct group_fault *faults, const struct group_observer *observer,
                struct arena *arena, struct group_result *result) {
  struct vinci_diag diag = {0};
  if (run_alike(system, program, faults, observer, arena, result, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
}

/* ---- transfers ------------------------------------------------------------------------------- */

/* Distinct numbers of nanoseconds. */
enum { ISSUE = 11000, TRAVEL = 130000, TAKE = 1700 };

/*
 * The receiver issues "ready", which travels; the sender takes this notify and issues the transfer,
 * whose bytes flow after the latency of the link; the sender issues "done", which travels, and the
 * receiver takes that notify.
 */
static void a_transfer_waits_for_notifies_of_both_sides(void **state) {
  (void)state;
  struct arena arena = {0};
  struct group_result result;
  struct group_system system = simple_system(2);
  system.notify_issue_ps = ISSUE;
  system.notify_ps = TRAVEL;
  system.notify_wait_ps = TAKE;
  struct group_op op = collective(COLLECTIVE_SEND_RECV, "direct", 70000);
  struct group_stream stream = {&op, 1};
  struct group_program program = {&stream, 1, 0};
  run(&system, &program, NULL, NULL, &arena, &result);
  uint64_t sent_ps = ISSUE + TRAVEL + TAKE + ISSUE + ALPHA + 70000 * BETA;
  assert_int_equal(result.ranks[0].end_ps, sent_ps);
  assert_int_equal(result.ranks[1].end_ps, sent_ps + ISSUE + TRAVEL + TAKE);
  assert_int_equal(result.ranks[1].bubble_ps, result.ranks[1].end_ps);
  assert_int_equal(result.ranks[0].bubble_ps, 0);
  arena_free(&arena);
}

/* A device issues one notify after the other: of a star, the root's to each of three others. */
static void notifies_of_a_device_are_issued_one_by_one(void **state) {
  (void)state;
  enum { RANKS = 4 };
  struct arena arena = {0};
  struct group_result result;
  struct group_system system = simple_system(RANKS);
  system.notify_issue_ps = ISSUE;
  struct group_op op = collective(COLLECTIVE_BROADCAST, "star", 0);
  struct group_stream stream = {&op, 1};
  struct group_program program = {&stream, 1, 0};
  run(&system, &program, NULL, NULL, &arena, &result);
  /* All "ready" come at ISSUE. The root issues three transfers, the last ends after the latency of
   * its link; three "done" are behind each other as the transfers were. */
  assert_int_equal(result.end_ps, ISSUE + (RANKS - 1) * ISSUE + ALPHA + ISSUE);
  arena_free(&arena);
}

/* A collective larger than the buffer goes through it in pieces, one behind the other. */
static void a_small_buffer_cuts_collectives(void **state) {
  (void)state;
  enum { RANKS = 4, PART = 1000, BUFFER = 6 * PART };
  struct group_op op = collective(COLLECTIVE_ALL_GATHER, "ring", 20 * PART);
  struct group_stream stream = {&op, 1};
  struct group_program program = {&stream, 1, 0};
  struct arena arena = {0};
  struct group_result result;
  struct group_system system = simple_system(RANKS);
  system.buffer_bytes = BUFFER;
  run(&system, &program, NULL, NULL, &arena, &result);
  /* ceil(20 / 6) = 4 pieces of 5 parts each; of each a rank has a quarter, and gives on 3 of these
   */
  assert_int_equal(result.end_ps, 4 * 3 * (ALPHA + UINT64_C(5) * PART / RANKS * BETA));
  assert_int_equal(result.transfer_bytes, 3 * 20 * PART);
  arena_free(&arena);
  /* The last piece holds what is left: no byte more is moved. */
  arena = (struct arena){0};
  op.call.bytes = 20011;
  run(&system, &program, NULL, NULL, &arena, &result);
  assert_int_equal(result.transfer_bytes, 3 * 20011);
  arena_free(&arena);
}

/* The caller of these says how large a part is; sums of all are cut in slices. */
static void parts_of_the_caller_are_equal(void **state) {
  (void)state;
  static const struct {
    enum collective_op op;
    const char *algorithm;
    uint64_t moved, of_link;
  } rows[] = {{COLLECTIVE_ALL_TO_ALL, "mesh", 4 * 3 * 250, 250},
              {COLLECTIVE_ALL_GATHER, "mesh", 4 * 3 * 250, 250},
              {COLLECTIVE_REDUCE_SCATTER, "mesh", 4 * 3 * 250, 250},
              {COLLECTIVE_SCATTER, "star", 3 * 250, 250},
              {COLLECTIVE_GATHER, "star", 3 * 250, 250},
              {COLLECTIVE_ALL_REDUCE, "mesh", 3 * 1000 + 3 * 1000, 1000}};
  struct group_system system = simple_system(4);
  system.slice_bytes = 4096;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct arena arena = {0};
    struct group_result result;
    struct group_op op = collective(rows[i].op, rows[i].algorithm, 1000);
    struct group_stream stream = {&op, 1};
    struct group_program program = {&stream, 1, 0};
    run(&system, &program, NULL, NULL, &arena, &result);
    assert_int_equal(result.transfer_bytes, rows[i].moved);
    for (uint32_t limit = 0; limit < group_limit_count(&system); limit++) {
      assert_true(result.limit_bytes[limit] % rows[i].of_link == 0);
      assert_true(result.limit_bytes[limit] <= 3 * rows[i].of_link);
    }
    arena_free(&arena);
  }
}

/* Servers of four: algorithms for servers need as many ranks that follow each other in each. */
static void servers_are_found_from_the_devices_of_a_group(void **state) {
  (void)state;
  static const struct {
    uint32_t ranks[8], count, inner;
  } rows[] = {
      {{0, 1, 2, 3, 4, 5, 6, 7}, 8, 4},
      {{0, 1, 4, 5}, 4, 2},
      {{0, 1, 2, 4}, 4, 1},
      {{0, 4, 8}, 3, 1},
      {{0, 1, 2, 3}, 4, 4},
      {{0, 4, 1, 5}, 4, 1},
      {{2, 3, 6, 7, 8, 9}, 6, 2},
      {{0, 1, 2, 4, 5, 6}, 6, 3},
  };
  struct group_system system = simple_system(12);
  system.levels[0].devices = 4;
  const struct group_job job = {.system = &system, .ranks = 12};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct group_ranks group = {rows[i].ranks, rows[i].count};
    struct collective_call call = {.op = COLLECTIVE_ALL_REDUCE};
    group_complete_call(&job, &group, &call);
    assert_int_equal(call.ranks, rows[i].count);
    assert_int_equal(call.inner, rows[i].inner);
  }
}

/* Links of an outer level have that level's latency, rate and ports. */
static void devices_of_two_servers_use_the_outer_level(void **state) {
  (void)state;
  enum { FAR_ALPHA = 17 * US, FAR_BETA = 130 };
  struct group_system system = simple_system(6);
  system.level_count = 2;
  system.levels[0].devices = 3;
  system.levels[1] = system.levels[0];
  system.levels[1].name = "far";
  system.levels[1].join = GROUP_SWITCH;
  system.levels[1].devices = 6;
  system.levels[1].latency_ps = FAR_ALPHA;
  system.levels[1].send_rate = PER_BYTE(FAR_BETA);
  static const struct {
    uint32_t from, to, level, limits;
  } rows[] = {{0, 2, 0, 1}, {3, 5, 0, 1}, {2, 3, 1, 2}, {5, 0, 1, 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct group_path path = group_path_of(&system, rows[i].from, rows[i].to, GROUP_SEND);
    assert_int_equal(path.level, rows[i].level);
    assert_int_equal(path.limit_count, rows[i].limits);
    assert_int_equal(path.latency_ps, rows[i].level ? FAR_ALPHA : ALPHA);
    assert_int_equal(path.rate, PER_BYTE(rows[i].level ? FAR_BETA : BETA));
  }
  /* What bounds all transfers of a device bounds copies too, what bounds those that add does not.
   */
  struct group_system bound = system;
  bound.levels[0].device_rate = 100;
  bound.levels[0].device_reduce_rate = 90;
  assert_int_equal(group_path_of(&bound, 0, 2, GROUP_COPY).limit_count, 2);
  assert_int_equal(group_path_of(&bound, 0, 2, GROUP_REDUCE).limit_count, 3);
  /* A port is that of its device, a link of a mesh that of both ends; sums of a device are none. */
  char name[64];
  for (uint32_t limit = 0; limit < group_limit_count(&system); limit++) {
    unsigned from, to;
    char side[8];
    group_limit_name(&system, limit, name, sizeof name);
    for (uint32_t device = 0; device < 6; device++) {
      bool own = sscanf(name, "link %u->%u", &from, &to) == 2 ? from == device || to == device
                 : sscanf(name, "far %u %7s", &from, side) == 2 &&
                         (strcmp(side, "in") == 0 || strcmp(side, "out") == 0)
                     ? from == device
                     : false;
      assert_int_equal(group_limit_is_of(&system, limit, device), own);
    }
  }
}

/* ---- within a device ------------------------------------------------------------------------- */

enum { LOCAL_LATENCY = 90000, COPY_PS = 4, FRESH_PS = 2, L2_BYTES = 50000 };

static struct group_system system_with_memory(uint32_t devices) {
  struct group_system system = simple_system(devices);
  system.local_latency_ps = LOCAL_LATENCY;
  system.local_copy_rate = PER_BYTE(COPY_PS);
  system.local_fresh_rate = PER_BYTE(FRESH_PS);
  system.local_reduce_rate = PER_BYTE(8);
  system.l2_bytes = L2_BYTES;
  return system;
}

struct locals {
  size_t fresh_small, fresh_large, others;
};

static void check_local(void *context, const struct group_transfer *transfer) {
  struct locals *locals = context;
  const struct group_step *step = transfer->step;
  if (step->kind != STEP_COPY && step->kind != STEP_ADD)
    return;
  bool in_l2 = step->bytes <= L2_BYTES, fresh = step->fresh;
  uint64_t byte_ps = step->kind == STEP_ADD ? 8 : fresh && in_l2 ? FRESH_PS : COPY_PS;
  assert_int_equal(transfer->from, transfer->to);
  assert_int_equal(transfer->end_ps - transfer->start_ps, LOCAL_LATENCY + step->bytes * byte_ps);
  *(!fresh ? &locals->others : in_l2 ? &locals->fresh_small : &locals->fresh_large) += 1;
}

/* What transfers have just brought is copied at the rate of L2, as far as it fits there. */
static void copies_within_a_device_take_the_rate_of_their_kind(void **state) {
  (void)state;
  enum { RANKS = 4 };
  struct locals locals = {0};
  const struct group_observer observer = {.context = &locals, .transfer_ended = check_local};
  static const uint64_t sizes[] = {RANKS * 10000, RANKS * L2_BYTES, RANKS * (L2_BYTES + 1)};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (unsigned adds = 0; adds < 2; adds++) {
      struct arena arena = {0};
      struct group_result result;
      struct group_system system = system_with_memory(RANKS);
      struct group_op op = collective(COLLECTIVE_REDUCE_SCATTER, "mesh", sizes[i]);
      struct group_stream stream = {&op, 1};
      struct group_program program = {&stream, 1, 0};
      system.inline_reduce = adds;
      run(&system, &program, NULL, &observer, &arena, &result);
      arena_free(&arena);
    }
  assert_int_equal(locals.fresh_small, 2 * RANKS);
  assert_int_equal(locals.fresh_large, RANKS);
  assert_int_equal(locals.others, 6 * RANKS + 3 * RANKS); /* own parts, and sums */
}

/* The bytes of the memory of rank 0 that a collective reads and writes. */
static void count_memory(void *context, const struct group_transfer *transfer) {
  uint64_t *bytes = context;
  const struct group_step *step = transfer->step;
  if (step->kind == STEP_EXCHANGE) {
    *bytes += transfer->from == 0 ? step->bytes : 0;
    *bytes +=
        transfer->to == 0 ? (step->adds ? 2 : 1) * step->bytes : 0; /* a sum is read, written */
  } else if (transfer->from == 0) {
    *bytes += (step->kind == STEP_ADD ? 3 : 2) * step->bytes; /* two are read and one is written */
  }
}

/*
 * Work that is bound by memory alone loses just what transfers, copies and sums have taken of the
 * memory meanwhile, however these lie.
 */
static void work_loses_what_others_take_of_the_memory(void **state) {
  (void)state;
  static const struct {
    enum collective_op op;
    const char *algorithm;
    bool adds;
  } rows[] = {
      {COLLECTIVE_ALL_REDUCE, "ring", false}, {COLLECTIVE_ALL_REDUCE, "ring", true},
      {COLLECTIVE_ALL_REDUCE, "mesh", false}, {COLLECTIVE_REDUCE_SCATTER, "mesh", true},
      {COLLECTIVE_ALL_GATHER, "mesh", false}, {COLLECTIVE_ALL_TO_ALL, "pairwise", false},
      {COLLECTIVE_BROADCAST, "tree", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint64_t taken = 0;
    struct arena arena = {0};
    struct group_result result;
    struct group_system system = system_with_memory(4);
    const struct group_observer observer = {.context = &taken, .transfer_ended = count_memory};
    struct group_op ops[] = {
        {.kind = GROUP_WORK, .name = "w", .duration_ps = UINT64_C(3000) * US, .memory_milli = 1000},
        collective(rows[i].op, rows[i].algorithm, 400000)};
    struct group_stream streams[] = {{&ops[0], 1}, {&ops[1], 1}};
    struct group_program program = {streams, 2, 0};
    system.inline_reduce = rows[i].adds;
    system.local_latency_ps = 0; /* a copy takes the memory while it starts up, too */
    system.hbm_rate = 8 * PER_BYTE(2);
    run(&system, &program, NULL, &observer, &arena, &result);
    uint64_t lost_ps = (uint64_t)((uint128)taken * PS_PER_SECOND / system.hbm_rate);
    /* Speeds are millionths, and each change rounds. */
    assert_in_range(result.ranks[0].slowed_ps, lost_ps - lost_ps / 1000 - 100,
                    lost_ps + lost_ps / 1000 + 100);
    arena_free(&arena);
  }
}

/* ---- faults ---------------------------------------------------------------------------------- */

static const uint32_t first_device[] = {0};

static struct group_fault slow(uint32_t milli, uint64_t from_us, uint64_t to_us,
                               const struct group_fault *next) {
  return (struct group_fault){.next = next,
                              .devices = first_device,
                              .device_count = 1,
                              .speed_milli = milli,
                              .from_ps = from_us * US,
                              .to_ps = to_us * US};
}

/* When 100 us of work that begin at once end on a device with faults. */
static uint64_t work_with(const struct group_fault *faults, enum group_op_kind kind) {
  struct arena arena = {0};
  struct group_result result;
  struct group_system system = simple_system(1);
  struct group_op op = {.kind = kind, .name = "w", .duration_ps = 100 * US};
  struct group_stream stream = {&op, 1};
  struct group_program program = {&stream, 1, 0};
  run(&system, &program, faults, NULL, &arena, &result);
  uint64_t end_ps = result.end_ps;
  arena_free(&arena);
  return end_ps;
}

static void the_worst_of_overlapping_faults_counts(void **state) {
  (void)state;
  struct group_fault half = slow(500, 10, 50, NULL), quarter = slow(250, 30, 70, &half);
  /* 10 us, then half of 20, a quarter of 40: 30 us are done at 70 */
  assert_int_equal(work_with(&quarter, GROUP_WORK), 140 * US);
  struct group_fault quarter_alone = slow(250, 30, 70, NULL),
                     turned = slow(500, 10, 50, &quarter_alone);
  assert_int_equal(work_with(&turned, GROUP_WORK), 140 * US);
  struct group_fault first = slow(0, 10, 50, NULL), second = slow(0, 30, 80, &first);
  assert_int_equal(work_with(&second, GROUP_WORK), 170 * US);
  struct group_fault later = slow(0, 30, 80, NULL), sooner = slow(0, 10, 50, &later);
  assert_int_equal(work_with(&sooner, GROUP_WORK), 170 * US);
  struct group_fault down = slow(0, 20, 30, NULL), slower = slow(500, 10, 60, &down);
  assert_int_equal(work_with(&slower, GROUP_WORK), (10 + 10 + 10 + 30 + 70) * US);
  assert_int_equal(work_with(&quarter, GROUP_HOST), 100 * US); /* the host is not the device */
}

/* What a device that is down would begin is put off until it is back. */
static void a_device_that_is_down_begins_nothing(void **state) {
  (void)state;
  struct arena arena = {0};
  struct group_result result;
  struct group_system system = simple_system(2);
  struct group_op op = {
      .kind = GROUP_WORK, .name = "w", .duration_ps = 100 * US, .earliest_ps = 20 * US};
  struct group_stream stream = {&op, 1};
  struct group_program program = {&stream, 1, 0};
  struct group_fault first = slow(0, 10, 50, NULL), second = slow(0, 30, 80, &first);
  run(&system, &program, &second, NULL, &arena, &result);
  assert_int_equal(result.ranks[0].end_ps, 180 * US);
  assert_int_equal(result.ranks[0].work_ps, 100 * US);
  assert_int_equal(result.ranks[1].end_ps, 120 * US);
  arena_free(&arena);
}

/* Transfers to and from a device that is down stand; a slow link has what is left of its rate. */
static void faults_of_links_hold_up_transfers(void **state) {
  (void)state;
  enum { BYTES = 1000000 }; /* 50 us at the whole rate */
  static const struct {
    struct group_fault fault;
    uint64_t lost_us;
  } rows[] = {
      {{.link = "link 0->1", .speed_milli = 400, .from_ps = 13 * US, .to_ps = 23 * US}, 6},
      {{.link = "link 1->0", .speed_milli = 400, .from_ps = 13 * US, .to_ps = 23 * US}, 0},
      {{.link = "link 0->1", .speed_milli = 0, .from_ps = 13 * US, .to_ps = 23 * US}, 10},
      {{.devices = first_device, .device_count = 1, .from_ps = 13 * US, .to_ps = 20 * US}, 7},
  };
  struct group_op op = collective(COLLECTIVE_SEND_RECV, "direct", BYTES);
  struct group_stream stream = {&op, 1};
  struct group_program program = {&stream, 1, 0};
  struct group_system system = simple_system(2);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct arena arena = {0};
    struct group_result result;
    run(&system, &program, &rows[i].fault, NULL, &arena, &result);
    assert_int_equal(result.end_ps, ALPHA + (uint64_t)BYTES * BETA + rows[i].lost_us * US);
    arena_free(&arena);
  }
}

/* A rank gives up what it waits for longer than the timeout while a device is down, and not sooner.
 */
static void ranks_wait_for_a_device_until_the_timeout(void **state) {
  (void)state;
  enum { BYTES = 1000000, TIMEOUT = 400 };
  struct group_op op = collective(COLLECTIVE_ALL_GATHER, "ring", BYTES);
  struct group_stream stream = {&op, 1};
  struct group_program program = {&stream, 1, 0};
  struct group_system system = simple_system(2);
  system.timeout_ps = (uint64_t)TIMEOUT * US;
  for (unsigned longer = 0; longer < 2; longer++) {
    struct arena arena = {0};
    struct group_result result;
    struct vinci_diag diag = {0};
    struct group_fault down = slow(0, 10, longer ? 410 : 380, NULL);
    enum vinci_status status = run_alike(&system, &program, &down, NULL, &arena, &result, &diag);
    assert_int_equal(status, longer ? VINCI_E_DEADLOCK : VINCI_OK);
    if (longer)
      assert_string_equal(diag.text, "rank 1 gives up 'c' at 400.0 us, after 400.0 us: "
                                     "device 0 is down from 10.0 us on");
    arena_free(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_transfer_waits_for_notifies_of_both_sides),
      cmocka_unit_test(notifies_of_a_device_are_issued_one_by_one),
      cmocka_unit_test(a_small_buffer_cuts_collectives),
      cmocka_unit_test(parts_of_the_caller_are_equal),
      cmocka_unit_test(servers_are_found_from_the_devices_of_a_group),
      cmocka_unit_test(devices_of_two_servers_use_the_outer_level),
      cmocka_unit_test(copies_within_a_device_take_the_rate_of_their_kind),
      cmocka_unit_test(work_loses_what_others_take_of_the_memory),
      cmocka_unit_test(the_worst_of_overlapping_faults_counts),
      cmocka_unit_test(a_device_that_is_down_begins_nothing),
      cmocka_unit_test(faults_of_links_hold_up_transfers),
      cmocka_unit_test(ranks_wait_for_a_device_until_the_timeout),
  };
  return cmocka_run_group_tests_name("group rules", tests, NULL, NULL);
}
