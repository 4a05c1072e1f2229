/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several devices: collectives against the closed forms that the vendor's library states, exactly,
 * where nothing contends; shares of links against the definition of max-min fairness; what ranks at
 * work and in collectives add up to; jobs that contradict themselves or hang.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "devices/flow/flow.h"
#include "devices/flow/run.h"
#include "tests/support/devices.h"

static uint64_t time_of(const struct group_system *system, enum collective_op op,
                        const char *algorithm, uint64_t bytes, uint64_t *moved) {
  struct arena arena = {0};
  struct group_result result;
  struct vinci_diag diag = {0};
  struct collective_call call = {.op = op, .bytes = bytes};
  if (collective_find(op, algorithm, &call.algorithm, &diag) != VINCI_OK ||
      run_call(system, &call, NULL, &arena, &result, &diag) != VINCI_OK)
    fail_msg("%s: %s", algorithm, diag.text);
  uint64_t end_ps = result.end_ps;
  *moved = result.transfer_bytes;
  arena_free(&arena);
  return end_ps;
}

static uint64_t log2_of(uint64_t ranks) {
  uint64_t k = 0;
  while ((UINT64_C(1) << k) < ranks)
    k++;
  return k;
}

/* The forms of the library's manual (hccl, coll_algo_intro), for p ranks and n bytes of p equal
 * parts. */
struct form {
  enum collective_op op;
  const char *algorithm;
  bool needs_power; /* of two */
  uint64_t (*alphas)(uint64_t p);
  uint64_t (*parts)(uint64_t p); /* n/p that each pass one after the other */
  uint64_t (*sums)(uint64_t p);  /* n/p that a rank adds */
};

static uint64_t none(uint64_t p) { return 0 * p; }
static uint64_t one(uint64_t p) { return p > 0; }
static uint64_t two(uint64_t p) { return 2 * one(p); }
static uint64_t whole(uint64_t p) { return p; }
static uint64_t others(uint64_t p) { return p - 1; }
static uint64_t twice_others(uint64_t p) { return 2 * (p - 1); }
static uint64_t chain(uint64_t p) { return (p - 1) * p; }
static uint64_t twice_log(uint64_t p) { return 2 * log2_of(p); }
static uint64_t log_wholes(uint64_t p) { return log2_of(p) * p; }

static const struct form forms[] = {
    {COLLECTIVE_ALL_REDUCE, "mesh", false, two, two, others},
    {COLLECTIVE_REDUCE_SCATTER, "mesh", false, one, one, others},
    {COLLECTIVE_ALL_GATHER, "mesh", false, one, one, none},
    {COLLECTIVE_BROADCAST, "mesh", false, two, two, none},
    {COLLECTIVE_ALL_TO_ALL, "mesh", false, one, one, none},
    {COLLECTIVE_ALL_REDUCE, "ring", false, twice_others, twice_others, others},
    {COLLECTIVE_REDUCE_SCATTER, "ring", false, others, others, others},
    {COLLECTIVE_ALL_GATHER, "ring", false, others, others, none},
    {COLLECTIVE_BROADCAST, "ring", false, others, chain, none},
    {COLLECTIVE_ALL_REDUCE, "nhr", false, twice_log, twice_others, others},
    {COLLECTIVE_ALL_GATHER, "nhr", false, log2_of, others, none},
    {COLLECTIVE_ALL_REDUCE, "nb", false, twice_log, twice_others, others},
    {COLLECTIVE_ALL_GATHER, "nb", false, log2_of, others, none},
    {COLLECTIVE_REDUCE_SCATTER, "rhd", true, log2_of, others, others},
    {COLLECTIVE_ALL_REDUCE, "rhd", true, twice_log, twice_others, others},
    {COLLECTIVE_BROADCAST, "tree", false, log2_of, log_wholes, none},
    {COLLECTIVE_ALL_TO_ALL, "pairwise", false, others, others, none},
    {COLLECTIVE_BROADCAST, "star", false, one, whole, none},
    {COLLECTIVE_SCATTER, "star", false, one, one, none},
    {COLLECTIVE_GATHER, "star", false, one, one, none},
};

static void collectives_take_the_time_of_their_closed_forms(void **state) {
  (void)state;
  static const uint32_t ranks[] = {2, 3, 4, 5, 7, 8, 13, 16, 32};
  enum { PART = 1000000 };
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
    for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
      uint64_t p = ranks[r], moved;
      if (forms[f].needs_power && (p & (p - 1)) != 0)
        continue;
      struct group_system system = simple_system(ranks[r]);
      uint64_t sums = forms[f].sums(p);
      uint64_t low = forms[f].alphas(p) * ALPHA + forms[f].parts(p) * PART * BETA;
      uint64_t got = time_of(&system, forms[f].op, forms[f].algorithm, p * PART, &moved);
      /* 1/GAMMA bytes a picosecond is no whole number a second: a part of 10^12 is lost at most */
      assert_in_range(got, low + sums * PART * GAMMA - sums * GAMMA, low + sums * PART * GAMMA);
    }
}

/* What a collective has to move at least is what these move, whatever the parts. */
static void collectives_move_no_byte_too_much(void **state) {
  (void)state;
  static const char *const names[] = {"mesh", "ring", "nhr", "nb"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (uint32_t p = 2; p < 12; p++) {
      struct group_system system = simple_system(p);
      uint64_t moved, bytes = 1000003; /* a prime: parts differ */
      time_of(&system, COLLECTIVE_ALL_GATHER, names[i], bytes, &moved);
      assert_int_equal(moved, (p - 1) * bytes);
      time_of(&system, COLLECTIVE_ALL_REDUCE, names[i], bytes, &moved);
      assert_int_equal(moved, 2 * (p - 1) * bytes);
    }
}

static void a_pipeline_hides_the_faster_level(void **state) {
  (void)state;
  enum { INNER = 4, SERVERS = 3, PART = 1000000, SLOW = 80 };
  struct group_system system = simple_system(INNER * SERVERS);
  uint64_t moved, part = PART;
  system.inline_reduce = true;
  system.level_count = 2;
  system.levels[0].devices = INNER;
  system.levels[1] = system.levels[0];
  system.levels[1].name = "far";
  system.levels[1].join = GROUP_SWITCH;
  system.levels[1].devices = RANKS_MAX / INNER * INNER;
  system.levels[1].latency_ps = 5 * US;
  system.levels[1].copy_rate = system.levels[1].reduce_rate = PER_BYTE(SLOW);
  uint64_t near_ps = ALPHA + part * BETA, far_ps = 5 * US + part * SLOW;
  uint64_t gather = (SERVERS - 1) * max_u64(near_ps, far_ps) + near_ps;
  uint64_t bytes = part * INNER * SERVERS;
  assert_int_equal(time_of(&system, COLLECTIVE_ALL_GATHER, "pipeline", bytes, &moved), gather);
  assert_int_equal(moved, bytes * (INNER * SERVERS - 1));
  assert_int_equal(time_of(&system, COLLECTIVE_ALL_REDUCE, "pipeline", bytes, &moved), 2 * gather);
  assert_int_equal(moved, 2 * bytes * (INNER * SERVERS - 1));
  /* One after the other: two passes within the server on n / inner, a ring on what each has. */
  uint64_t rings = 2 * (SERVERS - 1) * far_ps;
  assert_int_equal(time_of(&system, COLLECTIVE_ALL_REDUCE, "mesh+ring", bytes, &moved),
                   2 * (ALPHA + part * SERVERS * BETA) + rings);
}

/* ---- shares ---------------------------------------------------------------------------------- */

enum { SHARES_LIMITS_MAX = 64 };

/*
 * Of max-min fair rates: each transfer has its own rate, or a full limit where none has more. A
 * slow limit has `speeds` thousandths of its rate, and leaves each of its transfers at most that of
 * its own.
 */
static void check_fair(const struct group_system *system, const struct flows *flows,
                       const struct group_path *paths, const uint32_t *numbers, unsigned count,
                       const uint32_t *speeds) {
  for (unsigned i = 0; i < count; i++) {
    uint64_t rate = flow_rate(flows, numbers[i]), own = MILLI;
    for (unsigned l = 0; l < paths[i].limit_count; l++)
      own = min_u64(own, speeds[paths[i].limits[l]]);
    assert_true(rate <= paths[i].rate * own / MILLI);
    assert_true((rate == 0) == (own == 0));
    bool bound = rate == paths[i].rate * own / MILLI;
    for (unsigned l = 0; l < paths[i].limit_count; l++) {
      uint64_t sum = 0, most = 0;
      for (unsigned k = 0; k < count; k++)
        for (unsigned m = 0; m < paths[k].limit_count; m++)
          if (paths[k].limits[m] == paths[i].limits[l]) {
            sum += flow_rate(flows, numbers[k]);
            most = max_u64(most, flow_rate(flows, numbers[k]));
          }
      uint32_t number = paths[i].limits[l];
      uint64_t limit = group_limit_rate(system, number) * speeds[number] / MILLI;
      assert_true(sum <= limit);
      bound = bound || (sum + count >= limit && most <= rate + 1); /* divisions round down */
    }
    assert_true(bound);
  }
}

static void shares_are_max_min_fair(void **state) {
  (void)state;
  uint64_t seed = 7;
  struct group_system system = simple_system(12);
  system.levels[0] = (struct group_level){.name = "port",
                                          .join = GROUP_SWITCH,
                                          .devices = 12,
                                          .copy_rate = 1000003,
                                          .reduce_rate = 700001,
                                          .send_rate = 1100009,
                                          .device_rate = 900007,
                                          .device_reduce_rate = 500009};
  for (unsigned round = 0; round < 200; round++) {
    struct flows *flows = flows_new(&system, NULL, NULL);
    struct group_path paths[24];
    uint32_t numbers[24], speeds[SHARES_LIMITS_MAX];
    unsigned count = 1 + (unsigned)(splitmix64_next(&seed) % 24);
    assert_non_null(flows);
    assert_true(group_limit_count(&system) <= SHARES_LIMITS_MAX);
    for (unsigned i = 0; i < SHARES_LIMITS_MAX; i++)
      speeds[i] = MILLI;
    for (unsigned i = 0; i < count; i++) {
      uint32_t from = (uint32_t)(splitmix64_next(&seed) % 12);
      uint32_t to = (from + 1 + (uint32_t)(splitmix64_next(&seed) % 11)) % 12;
      paths[i] = group_path_of(&system, from, to, (enum group_use)(splitmix64_next(&seed) % 3));
      numbers[i] = flow_start(flows, 0, &paths[i], 1000 + splitmix64_next(&seed) % 100000, NULL);
    }
    flow_share(flows, 0);
    check_fair(&system, flows, paths, numbers, count, speeds);
    for (unsigned i = 0; i < 6; i++) { /* slow, down, and as before again */
      uint32_t limit = (uint32_t)(splitmix64_next(&seed) % group_limit_count(&system));
      speeds[limit] = (uint32_t[]){0, 1, 300, 750, MILLI}[splitmix64_next(&seed) % 5];
      flow_set_speed(flows, i + 1, limit, speeds[limit]);
      check_fair(&system, flows, paths, numbers, count, speeds);
    }
    flows_free(flows);
  }
}

static void a_transfer_that_ends_leaves_its_share(void **state) {
  (void)state;
  struct group_system system = simple_system(3);
  struct flows *flows = flows_new(&system, NULL, NULL);
  assert_non_null(flows);
  struct group_path path = group_path_of(&system, 0, 1, GROUP_COPY);
  uint32_t small = flow_start(flows, 0, &path, 1000, NULL), large;
  uint64_t end_ps;
  large = flow_start(flows, 0, &path, 3000, NULL);
  flow_share(flows, 0);
  assert_int_equal(flow_next(flows, &end_ps), small);
  assert_int_equal(end_ps, 2 * 1000 * BETA); /* half the link each */
  flow_end(flows, small);
  flow_share(flows, end_ps);
  assert_int_equal(flow_next(flows, &end_ps), large);
  assert_int_equal(end_ps, 4000 * BETA); /* all bytes at the whole rate */
  flow_end(flows, large);
  assert_int_equal(flow_bytes(flows, path.limits[0]), 4000);
  assert_int_equal(flow_next(flows, &end_ps), FLOW_NONE);
  flows_free(flows);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static const struct group_op work_op = {
    .kind = GROUP_WORK, .name = "work", .duration_ps = 100 * US};

/* A byte at 3 bytes a second ends within a picosecond; what begins there finds nothing left. */
static void a_transfer_that_ends_now_is_not_begun_anew(void **state) {
  (void)state;
  struct group_system system = simple_system(3);
  system.levels[0].copy_rate = system.levels[0].reduce_rate = system.levels[0].send_rate = 3;
  struct flows *flows = flows_new(&system, NULL, NULL);
  assert_non_null(flows);
  struct group_path path = group_path_of(&system, 0, 1, GROUP_COPY);
  uint32_t first = flow_start(flows, 0, &path, 1, NULL);
  uint64_t end_ps, then_ps;
  flow_share(flows, 0);
  assert_int_equal(flow_next(flows, &end_ps), first);
  (void)flow_start(flows, end_ps, &path, 1, NULL);
  flow_share(flows, end_ps);
  assert_int_equal(flow_next(flows, &then_ps), first);
  assert_int_equal(then_ps, end_ps);
  flows_free(flows);
}

static void exposed_time_is_what_no_work_covers(void **state) {
  (void)state;
  struct group_system system = simple_system(2);
  struct arena arena = {0};
  struct group_result result;
  struct vinci_diag diag = {0};
  struct group_op comm = {.kind = GROUP_COLLECTIVE,
                          .name = "c",
                          .call = {.op = COLLECTIVE_ALL_GATHER, .bytes = 4000000}};
  struct group_op late[] = {{.kind = GROUP_RECORD, .name = "r"}, work_op};
  struct group_op after[] = {{.kind = GROUP_WAIT, .name = "w"}, comm};
  struct group_op wait[] = {work_op, {.kind = GROUP_RECORD, .name = "r"}};
  struct group_stream early_streams[] = {{late, 2}, {after, 2}};
  struct group_stream late_streams[] = {{wait, 2}, {after, 2}};
  struct group_program early = {early_streams, 2, 1}, late_one = {late_streams, 2, 1};
  const struct group_program *programs[] = {&early, &late_one};
  struct group_ranks ranks = {all_ranks(), 2};
  struct group_family family = {"pair", &ranks, 1};
  struct group_job job = {
      .system = &system, .programs = programs, .ranks = 2, .families = &family, .family_count = 1};
  assert_int_equal(group_run(&job, NULL, &arena, &result, &diag), VINCI_OK);
  uint64_t comm_ps = ALPHA + UINT64_C(2000000) * BETA; /* 103 us, begun by rank 1 after its work */
  assert_int_equal(result.end_ps, 100 * US + comm_ps);
  assert_int_equal(result.ranks[0].work_ps, 100 * US);
  assert_int_equal(result.ranks[0].comm_ps, 100 * US + comm_ps); /* it waits for rank 1 */
  assert_int_equal(result.ranks[0].exposed_ps, comm_ps);
  assert_int_equal(result.ranks[0].idle_ps, 0);
  assert_int_equal(result.ranks[1].comm_ps, comm_ps);
  assert_int_equal(result.ranks[1].exposed_ps, comm_ps);
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(result.ranks[i].work_ps + result.ranks[i].exposed_ps + result.ranks[i].idle_ps,
                     result.end_ps);
  arena_free(&arena);
}

/* A launch of 30 us, then 100 us of work, twice: the second launch runs beside the first work. */
static void time_of_the_host_is_not_work_of_the_device(void **state) {
  (void)state;
  struct group_system system = simple_system(1);
  struct arena arena = {0};
  struct group_result result;
  struct vinci_diag diag = {0};
  struct group_op launch = {.kind = GROUP_HOST, .name = "launch", .duration_ps = 30 * US};
  struct group_op host[] = {launch,
                            {.kind = GROUP_RECORD, .name = "a", .event = 0},
                            launch,
                            {.kind = GROUP_RECORD, .name = "b", .event = 1}};
  struct group_op device[] = {{.kind = GROUP_WAIT, .name = "a", .event = 0},
                              work_op,
                              {.kind = GROUP_WAIT, .name = "b", .event = 1},
                              work_op};
  struct group_stream streams[] = {{device, 4}, {host, 4}};
  struct group_program program = {streams, 2, 2};
  const struct group_program *programs[] = {&program};
  struct group_job job = {.system = &system, .programs = programs, .ranks = 1};
  assert_int_equal(group_run(&job, NULL, &arena, &result, &diag), VINCI_OK);
  assert_int_equal(result.end_ps, 230 * US);
  assert_int_equal(result.ranks[0].work_ps, 200 * US);
  assert_int_equal(result.ranks[0].idle_ps, 30 * US);
  assert_int_equal(result.ranks[0].slowed_ps, 0);
  arena_free(&arena);
}

static void transfers_slow_work_that_is_bound_by_memory(void **state) {
  (void)state;
  struct group_system system = simple_system(2);
  struct arena arena = {0};
  struct group_result result;
  struct vinci_diag diag = {0};
  system.hbm_rate = 4 * PER_BYTE(BETA);
  struct group_op comm = {.kind = GROUP_COLLECTIVE,
                          .name = "c",
                          .call = {.op = COLLECTIVE_ALL_GATHER, .bytes = 400000}};
  struct group_op work = work_op;
  work.memory_milli = 500;
  struct group_stream streams[] = {{&work, 1}, {&comm, 1}};
  struct group_program program = {streams, 2, 0};
  const struct group_program *programs[] = {&program, &program};
  struct group_ranks ranks = {all_ranks(), 2};
  struct group_family family = {"pair", &ranks, 1};
  struct group_job job = {
      .system = &system, .programs = programs, .ranks = 2, .families = &family, .family_count = 1};
  assert_int_equal(group_run(&job, NULL, &arena, &result, &diag), VINCI_OK);
  /* 10 us at 2 of 4 parts of the memory: work advances at 3/4 meanwhile */
  assert_int_equal(result.ranks[0].slowed_ps, 10 * US / 4);
  assert_int_equal(result.end_ps, 100 * US + 10 * US / 4);
  arena_free(&arena);
}

static void different_calls_are_told_with_both_lines(void **state) {
  (void)state;
  struct group_system system = simple_system(2);
  struct arena arena = {0};
  struct group_result result;
  struct vinci_diag diag = {0};
  struct group_op a = {.kind = GROUP_COLLECTIVE,
                       .name = "grads",
                       .line = 12,
                       .call = {.op = COLLECTIVE_ALL_REDUCE, .bytes = 64}};
  struct group_op b = {.kind = GROUP_COLLECTIVE,
                       .name = "loss",
                       .line = 31,
                       .call = {.op = COLLECTIVE_ALL_REDUCE, .bytes = 4}};
  struct group_stream first = {&a, 1}, second = {&b, 1};
  struct group_program one_program = {&first, 1, 0}, other = {&second, 1, 0};
  const struct group_program *programs[] = {&one_program, &other};
  struct group_ranks ranks = {all_ranks(), 2};
  struct group_family family = {"dp", &ranks, 1};
  struct group_job job = {
      .system = &system, .programs = programs, .ranks = 2, .families = &family, .family_count = 1};
  assert_int_equal(group_run(&job, NULL, &arena, &result, &diag), VINCI_E_INPUT);
  assert_string_equal(diag.text, "collective 0 of group 'dp' differs: rank 0 has all_reduce of 64 "
                                 "bytes ('grads' in line 12), rank 1 has all_reduce of 4 bytes "
                                 "('loss' in line 31)");
  arena_free(&arena);
}

/* Each of two ranks begins with another group: neither comes to the other's. */
static void a_job_that_hangs_says_who_waits_for_whom(void **state) {
  (void)state;
  struct group_system system = simple_system(2);
  struct arena arena = {0};
  struct group_result result;
  struct vinci_diag diag = {0};
  struct group_op ops[] = {{.kind = GROUP_COLLECTIVE,
                            .name = "x",
                            .line = 3,
                            .family = 0,
                            .call = {.op = COLLECTIVE_ALL_REDUCE, .bytes = 64}},
                           {.kind = GROUP_COLLECTIVE,
                            .name = "y",
                            .line = 4,
                            .family = 1,
                            .call = {.op = COLLECTIVE_ALL_REDUCE, .bytes = 64}}};
  struct group_op turned[] = {ops[1], ops[0]};
  struct group_stream first = {ops, 2}, second = {turned, 2};
  struct group_program one_program = {&first, 1, 0}, other = {&second, 1, 0};
  const struct group_program *programs[] = {&one_program, &other};
  struct group_ranks pair = {all_ranks(), 2};
  struct group_family groups[] = {{"tp", &pair, 1}, {"dp", &pair, 1}};
  struct group_job job = {
      .system = &system, .programs = programs, .ranks = 2, .families = groups, .family_count = 2};
  assert_int_equal(group_run(&job, NULL, &arena, &result, &diag), VINCI_E_DEADLOCK);
  assert_string_equal(
      diag.text, "2 streams never end: rank 0 waits in 'x' in line 3 of group 'tp' for rank 1; "
                 "rank 1 waits in 'y' in line 4 of group 'dp' for rank 0");
  arena_free(&arena);
}

static void a_job_that_takes_days_ends_at_a_limit(void **state) {
  (void)state;
  struct group_system system = simple_system(2);
  struct arena arena = {0};
  struct group_result result;
  struct vinci_diag diag = {0};
  struct collective_call call = {.op = COLLECTIVE_SEND_RECV, .bytes = UINT64_C(1) << 50};
  system.levels[0].send_rate = 1;
  assert_int_equal(run_call(&system, &call, NULL, &arena, &result, &diag), VINCI_E_LIMIT);
  assert_string_equal(diag.text, "the job takes longer than 80 hours");
  arena_free(&arena);
}

static void systems_that_cannot_be_are_refused(void **state) {
  (void)state;
  struct group_system system = simple_system(4);
  struct vinci_diag diag = {0};
  system.devices = RANKS_MAX + 1;
  assert_int_equal(group_system_check(&system, &diag), VINCI_E_INPUT);
  assert_string_equal(diag.text, "65 devices: system 'simple' joins 1 to 64");
  diag = (struct vinci_diag){0};
  system = simple_system(4);
  system.levels[0].devices = 1;
  assert_int_equal(group_system_check(&system, &diag), VINCI_E_INPUT);
  diag = (struct vinci_diag){0};
  const struct collective_algorithm *algorithm;
  assert_int_equal(collective_find(COLLECTIVE_BARRIER, "ring", &algorithm, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "no algorithm 'ring' for barrier");
  assert_string_equal(diag.hint, "there are mesh, nb");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(collectives_take_the_time_of_their_closed_forms),
      cmocka_unit_test(collectives_move_no_byte_too_much),
      cmocka_unit_test(a_pipeline_hides_the_faster_level),
      cmocka_unit_test(shares_are_max_min_fair),
      cmocka_unit_test(a_transfer_that_ends_leaves_its_share),
      cmocka_unit_test(a_transfer_that_ends_now_is_not_begun_anew),
      cmocka_unit_test(exposed_time_is_what_no_work_covers),
      cmocka_unit_test(time_of_the_host_is_not_work_of_the_device),
      cmocka_unit_test(transfers_slow_work_that_is_bound_by_memory),
      cmocka_unit_test(different_calls_are_told_with_both_lines),
      cmocka_unit_test(a_job_that_hangs_says_who_waits_for_whom),
      cmocka_unit_test(a_job_that_takes_days_ends_at_a_limit),
      cmocka_unit_test(systems_that_cannot_be_are_refused),
  };
  return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
