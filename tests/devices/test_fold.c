/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded runs give what the simulation of all steps gives: random jobs on random systems, whose
 * ranks are alike or not, with stragglers, families of groups, and faults. VINCI_FOLD_JOBS asks for
 * more jobs, VINCI_FOLD_SEED for others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "devices/flow/run.h"

/* The first jobs from this seed on have some where ranks end at the very same time. */
enum {
  SEED = 1290,
  JOBS = 160,
  DEVICES = 64,
  OPS = 12,
  PROGRAMS = 3,
  FAMILIES = 3,
  PS_PER_US = 1000000
};

static uint64_t state;

static uint32_t below(uint32_t count) { return (uint32_t)(splitmix64_next(&state) % count); }

/* One of four; equal times come about where numbers are round, or 0. */
static uint64_t one_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  uint64_t all[] = {a, b, c, d};
  return all[below(4)];
}

static struct group_level random_level(const char *name, enum group_join join, uint32_t devices) {
  return (struct group_level){
      .name = name,
      .join = join,
      .devices = devices,
      .latency_ps = one_of(0, 100000, 1100000, 12345678),
      .copy_rate = one_of(19420000000, 20000000000, 1000000007, 50000000000),
      .reduce_rate = one_of(18690000000, 20000000000, 999999937, 7000000000),
      .send_rate = 20000000000,
      .device_rate = one_of(0, 0, 60000000000, 30000000000),
      .device_reduce_rate = one_of(0, 0, 102200000000, 31000000001)};
}

static struct group_system random_system(void) {
  struct group_system system = {.name = "random",
                                .devices = DEVICES,
                                .level_count = 2,
                                .local_latency_ps = one_of(0, 600000, 600000, 1),
                                .local_copy_rate =
                                    one_of(0, 320000000000, 320000000000, 1000000000),
                                .local_fresh_rate = one_of(0, 0, 650000000000, 1000000000),
                                .local_reduce_rate = 100000000000,
                                .notify_ps = one_of(1900000, 1900000, 1000000, 7),
                                .notify_issue_ps = one_of(280000, 280000, 0, 500000),
                                .notify_wait_ps = one_of(730000, 730000, 0, 500000),
                                .inline_reduce = below(4) > 0,
                                .slice_bytes = one_of(16384, 16384, 1, 512),
                                .buffer_bytes = one_of(0, 251658240, 1000000, 251658240),
                                .hbm_rate = one_of(0, 800000000000, 800000000000, 100000000000),
                                .l2_bytes = 100000000};
  system.levels[0] = random_level("inner", GROUP_MESH, (uint32_t)one_of(2, 4, 8, 8));
  system.levels[1] = random_level("outer", GROUP_SWITCH, 1024);
  return system;
}

/* What a job is made of. `with` are the streams with rows of memory, as many more. */
struct parts {
  struct group_op with[PROGRAMS][2][3 * OPS];
  struct group_op ops[PROGRAMS][2][OPS];
  struct group_stream streams[PROGRAMS][2];
  struct group_program programs[PROGRAMS];
  const struct group_program *by_rank[DEVICES];
  uint32_t ranks[FAMILIES][DEVICES];
  struct group_ranks groups[FAMILIES][DEVICES];
  struct group_family families[FAMILIES];
  uint32_t devices[DEVICES], slow;
  struct group_fault fault;
  struct group_system system;
  struct group_job job;
};

/* All ranks, ranks that follow each other, ranks a distance apart. */
static void take_families(struct parts *parts, uint32_t ranks) {
  uint32_t near = (uint32_t)one_of(2, 4, 8, 8), far = ranks / near;
  for (uint32_t r = 0; r < ranks; r++) {
    parts->ranks[0][r] = parts->ranks[1][r] = r;
    parts->ranks[2][r] = r % far * near + r / far;
  }
  parts->groups[0][0] = (struct group_ranks){parts->ranks[0], ranks};
  for (uint32_t g = 0; g < far; g++)
    parts->groups[1][g] = (struct group_ranks){&parts->ranks[1][g * near], near};
  for (uint32_t g = 0; g < near; g++)
    parts->groups[2][g] = (struct group_ranks){&parts->ranks[2][g * far], far};
  parts->families[0] = (struct group_family){"all", parts->groups[0], 1};
  parts->families[1] = (struct group_family){"near", parts->groups[1], far};
  parts->families[2] = (struct group_family){"far", parts->groups[2], near};
}

static void take_call(struct group_op *op) {
  static const enum collective_op ops[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE_SCATTER,
                                           COLLECTIVE_ALL_GATHER, COLLECTIVE_ALL_TO_ALL,
                                           COLLECTIVE_BARRIER,    COLLECTIVE_BROADCAST};
  size_t count;
  const struct collective_algorithm *all = collective_algorithms(&count);
  *op =
      (struct group_op){.kind = GROUP_COLLECTIVE, .name = "collective", .family = below(FAMILIES)};
  op->call.op = ops[below(6)];
  op->call.bytes = one_of(4, 1000000, 12345678, 100000 + below(5000000));
  if (op->call.op == COLLECTIVE_BARRIER)
    op->call.bytes = 0;
  const struct collective_algorithm *algorithm = &all[below((uint32_t)count)];
  if (below(2) && collective_can(algorithm, op->call.op))
    op->call.algorithm = algorithm;
}

/* Programs have the same collectives, and work of their own. */
static void take_programs(struct parts *parts, uint32_t count) {
  uint32_t length = 2 + below(OPS / 2 - 2);
  bool alike = below(2), beside = below(2), bound = below(3) == 0;
  for (uint32_t i = 0; i < length; i++) {
    take_call(&parts->ops[0][0][2 * i + 1]);
    for (uint32_t p = 0; p < count; p++) {
      parts->ops[p][0][2 * i + 1] = parts->ops[0][0][2 * i + 1];
      uint64_t us = alike ? 10 : 10 + below(3);
      parts->ops[p][0][2 * i] = (struct group_op){.kind = below(4) ? GROUP_WORK : GROUP_HOST,
                                                  .name = "work",
                                                  .duration_ps = us * PS_PER_US,
                                                  .memory_milli = below(1000)};
    }
  }
  for (uint32_t p = 0; p < count; p++) {
    for (uint32_t i = 0; i < length; i++)
      parts->ops[p][1][i] = (struct group_op){.kind = GROUP_WORK,
                                              .name = "beside",
                                              .duration_ps = 33 * PS_PER_US,
                                              .memory_milli = bound ? 500 : 0};
    parts->streams[p][0] = (struct group_stream){parts->ops[p][0], 2 * length};
    parts->streams[p][1] = (struct group_stream){parts->ops[p][1], length};
    parts->programs[p] = (struct group_program){parts->streams[p], beside ? 2 : 1, 0};
  }
}

/* Around operations, streams take memory and give back some of what they hold; one of eight jobs
 * gives back too much. Numbers of their own: jobs are those without memory. */
static void take_memory(struct parts *parts, uint64_t seed) {
  static const char *const names[] = {"a", "b", "c"};
  uint64_t kept = state;
  state = seed ^ UINT64_C(0x6d656d6f7279);
  bool wrong = below(8) == 0;
  for (uint32_t p = 0; p < PROGRAMS; p++)
    for (uint32_t s = 0; s < 2; s++) {
      uint64_t held[3] = {0};
      struct group_stream *stream = &parts->streams[p][s];
      uint32_t count = 0;
      for (uint32_t i = 0; i < stream->count; i++) {
        uint32_t took = below(3), gave = below(3);
        struct group_op take = {.kind = GROUP_ALLOCATE, .name = names[took], .memory = took};
        struct group_op give = {.kind = GROUP_FREE, .name = names[gave], .memory = gave};
        take.bytes = 1 + below(4) * 1000;
        if (below(3) > 0) {
          held[took] += take.bytes;
          parts->with[p][s][count++] = take;
        }
        parts->with[p][s][count++] = stream->ops[i];
        give.bytes = wrong && below(9) == 0 ? 100000 : held[gave] / (1 + below(2));
        if (give.bytes > 0) {
          held[gave] -= give.bytes <= held[gave] ? give.bytes : 0;
          parts->with[p][s][count++] = give;
        }
      }
      if (stream->count > 0)
        *stream = (struct group_stream){parts->with[p][s], count};
    }
  parts->job.memories = names;
  parts->job.memory_count = 3;
  state = kept;
}

static void take_job(struct parts *parts, bool with_fault) {
  uint32_t ranks = 8 * (1 + below(DEVICES / 8)), programs = 1 + below(PROGRAMS);
  memset(parts, 0, sizeof *parts);
  parts->system = random_system();
  take_families(parts, ranks);
  take_programs(parts, programs);
  for (uint32_t r = 0; r < ranks; r++) {
    parts->by_rank[r] = &parts->programs[below(2) ? 0 : below(programs)];
    parts->devices[r] = DEVICES - 1 - r;
  }
  parts->job = (struct group_job){.system = &parts->system,
                                  .programs = parts->by_rank,
                                  .ranks = ranks,
                                  .families = parts->families,
                                  .family_count = FAMILIES,
                                  .devices = below(4) ? NULL : parts->devices};
  parts->slow = below(ranks);
  parts->fault = (struct group_fault){.devices = &parts->slow,
                                      .device_count = 1,
                                      .speed_milli = 500,
                                      .from_ps = 20 * PS_PER_US,
                                      .to_ps = UINT64_MAX};
  if (with_fault)
    parts->job.faults = &parts->fault;
}

static bool same_memory(const struct group_result *one, const struct group_result *two,
                        uint32_t ranks) {
  size_t bytes = (size_t)ranks * one->memory_count * sizeof *one->peak_held;
  return one->memory_count == two->memory_count &&
         (bytes == 0 || (memcmp(one->peak_held, two->peak_held, bytes) == 0 &&
                         memcmp(one->most_held, two->most_held, bytes) == 0));
}

/* Rows of memory change no time. */
static void compare_times(const struct group_result *with, const struct group_result *without,
                          uint32_t ranks, uint64_t seed) {
  bool same = with->end_ps == without->end_ps && with->transfers == without->transfers &&
              with->folded == without->folded;
  for (uint32_t i = 0; i < ranks; i++)
    same = same && memcmp(&with->ranks[i], &without->ranks[i],
                          offsetof(struct group_rank_result, peak_bytes)) == 0;
  if (!same)
    fail_msg("seed %llu: memory changes times", (unsigned long long)seed);
}

/* Returns how many collectives were folded. */
static uint64_t compare(struct parts *parts, uint64_t seed) {
  struct arena arenas[2] = {{0}};
  struct group_result results[2];
  struct vinci_diag diags[2] = {{0}};
  enum vinci_status status[2];
  for (unsigned i = 0; i < 2; i++) {
    parts->job.unfolded = i;
    status[i] = group_run(&parts->job, NULL, &arenas[i], &results[i], &diags[i]);
  }
  const struct group_result *folded = &results[0], *all = &results[1];
  uint32_t limits = group_limit_count(&parts->system);
  bool same = status[0] == status[1];
  if (same && status[0] == VINCI_OK)
    same = folded->end_ps == all->end_ps && folded->transfers == all->transfers &&
           folded->transfer_bytes == all->transfer_bytes &&
           memcmp(folded->ranks, all->ranks, parts->job.ranks * sizeof *all->ranks) == 0 &&
           same_memory(folded, all, parts->job.ranks) &&
           memcmp(folded->limit_bytes, all->limit_bytes, limits * sizeof *all->limit_bytes) == 0;
  else
    same = same && strcmp(diags[0].text, diags[1].text) == 0;
  if (!same)
    fail_msg("seed %llu: folded %llu ps, all steps %llu ps (%s; %s)", (unsigned long long)seed,
             (unsigned long long)folded->end_ps, (unsigned long long)all->end_ps, diags[0].text,
             diags[1].text);
  assert_int_equal(all->folded, 0);
  arena_free(&arenas[0]);
  arena_free(&arenas[1]);
  return folded->folded;
}

/* The same job with rows of memory; counts the jobs that hold something. */
static void compare_with_memory(struct parts *parts, uint64_t seed, uint64_t *levels) {
  struct arena arenas[2] = {{0}};
  struct group_result without, with;
  struct vinci_diag diag = {0};
  parts->job.unfolded = false;
  bool runs = group_run(&parts->job, NULL, &arenas[0], &without, &diag) == VINCI_OK;
  take_memory(parts, seed);
  (void)compare(parts, seed);
  parts->job.unfolded = false;
  if (runs && group_run(&parts->job, NULL, &arenas[1], &with, &diag) == VINCI_OK) {
    compare_times(&with, &without, parts->job.ranks, seed);
    *levels += with.ranks[0].peak_bytes > 0;
  }
  arena_free(&arenas[0]);
  arena_free(&arenas[1]);
}

static uint64_t number_of(const char *name, uint64_t fallback) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : fallback;
}

static void folded_runs_give_the_result_of_all_steps(void **context) {
  (void)context;
  struct parts *parts = malloc(sizeof *parts);
  uint64_t jobs = number_of("VINCI_FOLD_JOBS", JOBS), seed = number_of("VINCI_FOLD_SEED", SEED);
  uint64_t folded = 0, levels = 0;
  assert_non_null(parts);
  for (uint64_t i = 0; i < jobs; i++) {
    state = seed + i;
    take_job(parts, below(6) == 0);
    folded += compare(parts, seed + i);
    compare_with_memory(parts, seed + i, &levels);
  }
  assert_true(levels >= jobs / 2);
  free(parts);
  printf("%llu jobs, %llu collectives folded\n", (unsigned long long)jobs,
         (unsigned long long)folded);
  assert_true(folded >= jobs / 2);
}

/* A mesh over servers with equal parts: ranks of one server stand for all. A rank that comes later,
 * or smaller last parts, make each rank different. */
static void meshes_over_servers_are_folded(void **context) {
  (void)context;
  struct parts *parts = malloc(sizeof *parts);
  struct vinci_diag diag = {0};
  assert_non_null(parts);
  for (unsigned i = 0; i < 48; i++) {
    state = i;
    take_job(parts, false);
    parts->programs[0].stream_count = 1;
    parts->streams[0][0].count = 2;
    parts->programs[1] = parts->programs[0];
    parts->streams[1][0] = parts->streams[0][0];
    parts->programs[1].streams = &parts->streams[1][0];
    memcpy(parts->ops[1][0], parts->ops[0][0], sizeof parts->ops[0][0]);
    parts->streams[1][0].ops = parts->ops[1][0];
    struct collective_call *call = &parts->ops[0][0][1].call;
    *call = (struct collective_call){.op = i % 2 ? COLLECTIVE_ALL_REDUCE : COLLECTIVE_ALL_TO_ALL,
                                     .bytes = (uint64_t)parts->job.ranks * (i % 3 ? 16384 : 16000)};
    assert_int_equal(collective_find(call->op, "mesh", &call->algorithm, &diag), VINCI_OK);
    parts->ops[0][0][1].family = 0;
    parts->ops[1][0][1] = parts->ops[0][0][1];
    parts->ops[1][0][0].duration_ps += 1;
    for (uint32_t r = 0; r < parts->job.ranks; r++)
      parts->by_rank[r] = &parts->programs[i % 5 == 4 && r == parts->slow];
    assert_true(compare(parts, i) == (i % 2 == 0 || i % 3 || parts->system.slice_bytes == 1));
  }
  free(parts);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(folded_runs_give_the_result_of_all_steps),
                                     cmocka_unit_test(meshes_over_servers_are_folded)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
