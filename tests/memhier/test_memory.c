/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the flat memory system: L2 tags, device memory, transfers, conservation of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/chip/mem.h"
#include "core/sim/memsys.h"
#include "memhier/l2/l2_policies.h"
#include "memhier/memhier.h"
#include "tests/support/fixture.h"

enum { LINE = L2_FLAT_LINE_BYTES, GRANULE = L2_GRANULE_BYTES, PORTS = 4 };

static struct l2_tags new_l2(struct arena *arena, uint64_t capacity) {
  struct l2_tags l2 = {0};
  assert_true(l2_create(&l2, arena,
                        (struct l2_geometry){.capacity_bytes = capacity,
                                             .line_bytes = LINE,
                                             .ways = L2_FLAT_WAYS,
                                             .policy = l2_policy_find("fifo")},
                        UINT64_C(1) << 40));
  return l2;
}

static void second_read_hits(void **state) {
  (void)state;
  struct arena arena = {0};
  struct l2_tags l2 = new_l2(&arena, 1 << 20);
  struct l2_outcome first = l2_access(&l2, 8192, 1024, false, false);
  struct l2_outcome again = l2_access(&l2, 8192, 1024, false, false);
  assert_int_equal(l2_count(first.misses), 8);
  assert_int_equal(l2_count(first.hits), 0);
  assert_int_equal(l2_count(again.hits), 8);
  assert_int_equal(l2_count(again.misses), 0);
  arena_free(&arena);
}

/* One byte on either side of a granule's edge touches two granules. */
static void granules_are_counted_exactly(void **state) {
  (void)state;
  struct arena arena = {0};
  struct l2_tags l2 = new_l2(&arena, 1 << 20);
  assert_int_equal(l2_count(l2_access(&l2, GRANULE - 1, 2, false, false).misses), 2);
  assert_int_equal(l2_count(l2_access(&l2, 0, LINE, false, false).misses), LINE / GRANULE - 2);
  assert_int_equal(l2_count(l2_access(&l2, LINE - 1, 1, false, false).hits), 1);
  arena_free(&arena);
}

/* Writing a stream of n lines through a cache of c lines writes back n - c of them. */
static void streamed_writes_are_written_back(void **state) {
  (void)state;
  enum { CAPACITY_LINES = 256, STREAM_LINES = 1000 };
  struct arena arena = {0};
  struct l2_tags l2 = new_l2(&arena, (uint64_t)CAPACITY_LINES * LINE);
  for (uint64_t i = 0; i < STREAM_LINES; i++)
    l2_access(&l2, i * LINE, LINE, true, false);
  uint64_t per_line = LINE / GRANULE;
  assert_int_equal(l2.counters.writebacks, (STREAM_LINES - CAPACITY_LINES) * per_line);
  assert_int_equal(l2.counters.write_misses, STREAM_LINES * per_line);
  arena_free(&arena);
}

/* A line stays whole while parts of it come one after the other. */
static void parts_of_a_line_stay(void **state) {
  (void)state;
  struct arena arena = {0};
  struct l2_tags l2 = new_l2(&arena, 1 << 20);
  l2_access(&l2, 0, GRANULE, false, false);
  l2_access(&l2, GRANULE, GRANULE, false, false);
  assert_int_equal(l2_count(l2_access(&l2, 0, 2 * GRANULE, false, false).hits), 2);
  arena_free(&arena);
}

/* A write that passes L2 makes what it finds there dirty: it is written back in the end. Lines in a
 * row do not leave in their order: twice the capacity pushes the first out. */
static void passing_writes_are_written_back(void **state) {
  (void)state;
  enum { CAPACITY_LINES = 64 };
  struct arena arena = {0};
  struct l2_tags l2 = new_l2(&arena, (uint64_t)CAPACITY_LINES * LINE);
  l2_access(&l2, 0, LINE, false, false);
  assert_int_equal(l2_count(l2_access(&l2, 0, LINE, true, true).hits), LINE / GRANULE);
  for (uint64_t i = 1; i <= 2 * (uint64_t)CAPACITY_LINES; i++)
    l2_access(&l2, i * LINE, LINE, false, false);
  assert_int_equal(l2.counters.writebacks, LINE / GRANULE);
  arena_free(&arena);
}

/* Rows of a pitch that divides the number of sets fill half of L2: nearly all of them stay. */
static void rows_of_any_pitch_stay(void **state) {
  (void)state;
  enum { SETS = 96, CAPACITY_LINES = SETS * L2_FLAT_WAYS, ROWS = CAPACITY_LINES / 2 };
  static const uint64_t pitches[] = {1, 6, 48, SETS, 4 * SETS, 5};
  for (size_t i = 0; i < sizeof pitches / sizeof *pitches; i++) {
    struct arena arena = {0};
    struct l2_tags l2 = new_l2(&arena, (uint64_t)CAPACITY_LINES * LINE);
    for (uint64_t row = 0; row < ROWS; row++)
      l2_access(&l2, row * pitches[i] * LINE, GRANULE, false, false);
    assert_int_equal(l2.counters.read_misses, ROWS);
    for (uint64_t row = 0; row < ROWS; row++)
      l2_access(&l2, row * pitches[i] * LINE, GRANULE, false, false);
    assert_true(l2.counters.read_hits >= ROWS * 9 / 10);
    arena_free(&arena);
  }
}

/* What leaves is named, each line once. */
static void victims_are_lines_that_were_written(void **state) {
  (void)state;
  enum { CAPACITY_LINES = 64, LINES = 3 * CAPACITY_LINES, STEP = 5 };
  struct arena arena = {0};
  struct l2_tags l2 = new_l2(&arena, (uint64_t)CAPACITY_LINES * LINE);
  bool inside[LINES * STEP] = {false};
  for (uint64_t i = 0; i < LINES; i++) {
    struct l2_outcome outcome = l2_access(&l2, i * STEP * LINE, LINE, true, false);
    inside[i * STEP] = true;
    if (outcome.written_back == 0)
      continue;
    assert_true(outcome.victim < LINES * STEP && inside[outcome.victim]);
    inside[outcome.victim] = false;
  }
  unsigned left = 0;
  for (unsigned i = 0; i < LINES * STEP; i++)
    left += inside[i];
  assert_int_equal(left, CAPACITY_LINES);
  arena_free(&arena);
}

/* Reads of lines that follow each other, from one on; returns how many lines went back. */
static unsigned read_lines(struct l2_tags *l2, uint64_t first, uint64_t count) {
  unsigned back = 0;
  for (uint64_t i = first; i < first + count; i++)
    back += l2_access(l2, i * LINE, LINE, false, false).written_back != 0;
  return back;
}

/* A quarter is owed: every fourth line that comes in sends one back, until all have gone. */
static void owed_lines_go_back_in_their_share(void **state) {
  (void)state;
  enum { OWED_LINES = 5, FIRST = 1000 };
  struct arena arena = {0};
  struct l2_tags l2 = new_l2(&arena, 64 * LINE);
  l2_owe(&l2, FIRST, (uint64_t)OWED_LINES * LINE, 250000);
  for (uint64_t i = 0; i < OWED_LINES; i++) {
    assert_int_equal(read_lines(&l2, 4 * i, 3), 0);
    struct l2_outcome outcome = l2_access(&l2, (4 * i + 3) * LINE, LINE, false, false);
    assert_int_equal(l2_count(outcome.written_back), LINE / GRANULE);
    assert_int_equal(outcome.victim, FIRST + i);
  }
  assert_int_equal(read_lines(&l2, 4 * OWED_LINES, 400), 0);
  assert_int_equal(l2.counters.writebacks, OWED_LINES * LINE / GRANULE);
  arena_free(&arena);
}

/* 64 lines that were written leave for 64 that are read, twice as many as are due at a half: what
 * is owed waits until 128 have come in, and half of those after them send one back. */
static void owed_lines_wait_for_those_that_leave(void **state) {
  (void)state;
  enum { LINES = 64 };
  struct arena arena = {0};
  struct l2_tags l2 = new_l2(&arena, (uint64_t)LINES * LINE);
  for (uint64_t i = 0; i < LINES; i++)
    l2_access(&l2, i * LINE, LINE, true, false);
  l2_owe(&l2, 10000, 10 * LINE, 500000);
  assert_int_equal(read_lines(&l2, LINES, LINES), LINES);
  assert_int_equal(read_lines(&l2, 2 * LINES, LINES + 1), 0);
  assert_int_equal(read_lines(&l2, 3 * LINES + 1, 1), 1);
  assert_int_equal(read_lines(&l2, 3 * LINES + 2, 2 * 9), 9);
  assert_int_equal(read_lines(&l2, 4 * LINES, 100), 0);
  arena_free(&arena);
}

static void no_cache_never_hits(void **state) {
  (void)state;
  struct arena arena = {0};
  struct l2_tags l2 = new_l2(&arena, 0);
  l2_access(&l2, 0, LINE, true, false);
  assert_int_equal(l2_count(l2_access(&l2, 0, LINE, false, false).hits), 0);
  assert_int_equal(l2.counters.writebacks, LINE / GRANULE);
  arena_free(&arena);
}

static uint64_t stream_ps(const struct vinci_soc *soc, unsigned accesses, unsigned write_every) {
  struct hbm_flat hbm = {0};
  hbm_flat_create(&hbm, soc);
  uint64_t end_ps = 0;
  for (unsigned i = 0; i < accesses; i++)
    end_ps = hbm_flat_move_ps(&hbm, LINE, write_every > 0 && i % write_every == 0, 0);
  return end_ps;
}

static void device_memory_keeps_its_bandwidth(void **state) {
  (void)state;
  enum { ACCESSES = 10000 };
  vinci_soc *soc = fixture_soc();
  uint64_t ideal_ps =
      (uint64_t)((uint128)ACCESSES * LINE * PS_PER_SECOND / (uint64_t)soc->hbm_bytes_per_second);
  uint64_t reads_ps = stream_ps(soc, ACCESSES, 0);
  assert_in_range(reads_ps, ideal_ps - ACCESSES, ideal_ps);
  uint64_t mixed_ps = stream_ps(soc, ACCESSES, 3);
  uint64_t expected_ps =
      (uint64_t)((uint128)ideal_ps * 1000000 / (uint64_t)soc->hbm_mixed_efficiency);
  assert_in_range(mixed_ps, expected_ps * 99 / 100, expected_ps * 101 / 100);
  soc->hbm_bandwidth_scale *= 2;
  assert_in_range(stream_ps(soc, ACCESSES, 0), ideal_ps / 2 - ACCESSES, ideal_ps / 2);
  vinci_soc_free(soc);
}

/* A tenth of the time goes to refreshes: ten percent less of the bandwidth, in both directions. */
static void refreshes_take_their_share(void **state) {
  (void)state;
  enum { ACCESSES = 10000 };
  vinci_soc *soc = fixture_soc();
  struct mem_spec *before = soc->memory, memory = {.refi_cycles = 0, .rfc_cycles = 100};
  soc->memory = &memory;
  uint64_t without_ps = stream_ps(soc, ACCESSES, 0);
  memory.refi_cycles = 1000;
  uint64_t reads_ps = stream_ps(soc, ACCESSES, 0), writes_ps = stream_ps(soc, ACCESSES, 1);
  assert_in_range(reads_ps, without_ps * 10 / 9 - ACCESSES, without_ps * 10 / 9 + ACCESSES);
  assert_in_range(writes_ps, reads_ps, reads_ps * 101 / 100); /* the first 64 look mixed */
  soc->memory = before;
  vinci_soc_free(soc);
}

/* Pins that move half of the nominal bandwidth take twice as long. */
static void pins_set_the_pace(void **state) {
  (void)state;
  enum { ACCESSES = 1000 };
  vinci_soc *soc = fixture_soc();
  uint64_t whole_ps = stream_ps(soc, ACCESSES, 0);
  soc->hbm_pin_share /= 2;
  assert_in_range(stream_ps(soc, ACCESSES, 0), 2 * whole_ps - ACCESSES, 2 * whole_ps + ACCESSES);
  vinci_soc_free(soc);
}

/* ---- transfers ------------------------------------------------------------- */

struct bench {
  struct arena arena;
  struct engine *engine;
  vinci_soc *soc;
  struct memsys *memory;
};

static struct memory_model flat(void) {
  return registry_memory(VINCI_MEMORY_FLAT, VINCI_NETWORK_PACKET);
}

static struct bench new_bench_of(vinci_soc *soc) {
  struct bench bench = {.soc = soc};
  bench.engine = engine_create(&bench.arena);
  struct memory_model model = flat();
  struct network *network =
      model.network->create(&bench.arena, bench.engine, bench.soc, (struct network_shape){0});
  static const uint32_t cluster_of_core[1];
  struct memsys_shape shape = {
      .part = 1, .ports = PORTS, .cluster_of_core = cluster_of_core, .gm_bytes = UINT64_C(1) << 32};
  bench.memory =
      model.memory->create(&bench.arena, bench.engine, bench.soc, model.network, network, &shape);
  assert_non_null(bench.memory);
  return bench;
}

static struct bench new_bench(void) { return new_bench_of(fixture_soc()); }

static void free_bench(struct bench *bench) {
  vinci_soc_free(bench->soc);
  arena_free(&bench->arena);
}

static void note_end(struct gm_transfer *transfer, uint64_t now_ps) {
  *(uint64_t *)transfer->owner = now_ps;
}

static struct gm_transfer new_transfer(const struct bench *bench, uint32_t port, uint64_t address,
                                       uint64_t bytes, uint64_t *end_ps) {
  return (struct gm_transfer){
      .port = port,
      .path = PATH_GM_UB,
      .address = address,
      .bursts = 1,
      .burst_bytes = bytes,
      .stride_bytes = bytes,
      .core_hz = (uint64_t)bench->soc->core_hz,
      .done = note_end,
      .owner = end_ps,
  };
}

static uint64_t run_one(struct bench *bench, uint64_t address, uint64_t bytes) {
  uint64_t end_ps = 0, start_ps = engine_now_ps(bench->engine);
  struct gm_transfer transfer = new_transfer(bench, 0, address, bytes, &end_ps);
  flat().memory->start(bench->memory, &transfer, start_ps);
  engine_run_until(bench->engine, UINT64_MAX - 1);
  assert_true(end_ps >= start_ps);
  return end_ps - start_ps;
}

static uint64_t path_ps(const struct bench *bench, uint64_t bytes, int64_t mbytes_per_cycle) {
  return (uint64_t)((uint128)bytes * 1000 * PS_PER_SECOND /
                    ((uint128)(uint64_t)mbytes_per_cycle * (uint64_t)bench->soc->core_hz));
}

static void one_transfer_moves_at_the_paths_rate(void **state) {
  (void)state;
  struct bench bench = new_bench();
  const struct path_cost *path = &bench.soc->path[PATH_GM_UB];
  uint64_t bytes = 65536;
  uint64_t cold_ps = run_one(&bench, 0x1000, bytes);
  uint64_t warm_ps = run_one(&bench, 0x1000, bytes);
  uint64_t hit_ps = path_ps(&bench, bytes, path->mbytes_per_cycle);
  uint64_t miss_ps = path_ps(&bench, bytes, path->hbm_mbytes_per_cycle);
  assert_in_range(warm_ps, hit_ps - 100, hit_ps + 100);
  assert_in_range(cold_ps, miss_ps - 100, miss_ps + 100);
  free_bench(&bench);
}

/* Rows on 7 lines each, of which the first and the last are touched in part. */
/* Rows that begin inside a line: of 512 bytes each touches 7, of 256 bytes 12. */
static void an_engine_may_take_time_for_lines(void **state) {
  (void)state;
  enum { ROWS = 11, LINE_MCYCLES = 30700 };
  static const struct { uint64_t line_bytes, lines; } cases[] = {{512, 7}, {256, 12}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct bench bench = new_bench();
    uint64_t end_ps = 0;
    struct gm_transfer rows = new_transfer(&bench, 0, 0x1000 + 500, 5 * 512 + 100, &end_ps);
    rows.bursts = ROWS;
    rows.stride_bytes = 8 * 512;
    rows.line_mcycles = LINE_MCYCLES;
    rows.line_bytes = cases[i].line_bytes;
    flat().memory->start(bench.memory, &rows, 0);
    engine_run_until(bench.engine, UINT64_MAX - 1);
    uint64_t expected_ps = ROWS * cases[i].lines * LINE_MCYCLES * (PS_PER_SECOND / 1000) /
                           (uint64_t)bench.soc->core_hz;
    assert_in_range(end_ps, expected_ps - 100, expected_ps + 100);
    free_bench(&bench);
  }
}

/* Runs of 4 requests of a line that meet inside of granules: 17 granules and 3 of them twice. */
static void requests_that_share_granules_move_them_twice(void **state) {
  (void)state;
  enum { ROWS = 5 };
  struct bench bench = new_bench();
  uint64_t end_ps = 0;
  struct gm_transfer rows = new_transfer(&bench, 0, 0x1000 + 2, 2048, &end_ps);
  rows.bursts = ROWS;
  rows.stride_bytes = 4096;
  flat().memory->start(bench.memory, &rows, 0);
  engine_run_until(bench.engine, UINT64_MAX - 1);
  struct vinci_result *result = result_create();
  flat().memory->report(bench.memory, end_ps, result);
  assert_int_equal(result->gm_read_bytes, ROWS * 2048);
  assert_int_equal(result->l2.read_misses, ROWS * 17);
  assert_int_equal(result->hbm.read_bytes, ROWS * 20 * GRANULE);
  vinci_result_free(result);
  free_bench(&bench);
}

static void an_empty_transfer_ends_at_once(void **state) {
  (void)state;
  struct bench bench = new_bench();
  assert_int_equal(run_one(&bench, 0x1000, 0), 0);
  free_bench(&bench);
}

/* Two transfers on one port follow each other; on two ports they share the chip. */
static void transfers_of_a_port_queue(void **state) {
  (void)state;
  struct bench bench = new_bench();
  uint64_t bytes = 65536, ends[3] = {0};
  run_one(&bench, 0x1000, 3 * bytes);
  uint64_t start_ps = engine_now_ps(bench.engine);
  struct gm_transfer transfer[3];
  for (unsigned i = 0; i < 3; i++) {
    transfer[i] = new_transfer(&bench, i == 2, 0x1000 + i * bytes, bytes, &ends[i]);
    flat().memory->start(bench.memory, &transfer[i], start_ps);
  }
  engine_run_until(bench.engine, UINT64_MAX - 1);
  uint64_t alone_ps = path_ps(&bench, bytes, bench.soc->path[PATH_GM_UB].mbytes_per_cycle);
  assert_in_range(ends[0] - start_ps, alone_ps - 100, alone_ps + 100);
  assert_in_range(ends[1] - start_ps, 2 * alone_ps - 200, 2 * alone_ps + 200);
  assert_in_range(ends[2] - start_ps, alone_ps - 100, alone_ps + 100);
  free_bench(&bench);
}

/* Two ports that read what is in L2 get its bandwidth between them. */
static void ports_share_the_bandwidth_of_l2(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->l2_bytes_per_second = INT64_C(10000000000); /* 10 bytes a nanosecond */
  struct bench bench = new_bench_of(soc);
  uint64_t bytes = 65536, ends[2] = {0};
  run_one(&bench, 0x1000, 2 * bytes);
  uint64_t start_ps = engine_now_ps(bench.engine);
  struct gm_transfer transfer[2];
  for (unsigned i = 0; i < 2; i++) {
    transfer[i] = new_transfer(&bench, i, 0x1000 + i * bytes, bytes, &ends[i]);
    flat().memory->start(bench.memory, &transfer[i], start_ps);
  }
  engine_run_until(bench.engine, UINT64_MAX - 1);
  uint64_t shared_ps = 2 * bytes * 100; /* to move both, at 100 ps a byte */
  assert_in_range(max_u64(ends[0], ends[1]) - start_ps, shared_ps - 100, shared_ps + 100);
  free_bench(&bench);
}

/* A full L2 takes what is written no faster than device memory takes what has to leave. */
static void write_backs_have_the_pace_of_device_memory(void **state) {
  (void)state;
  enum { L2_BYTES = 65536 };
  vinci_soc *soc = fixture_soc();
  soc->l2_bytes = L2_BYTES;
  soc->hbm_bytes_per_second = INT64_C(10000000000);
  struct bench bench = new_bench_of(soc);
  uint64_t end_ps = 0, start_ps = 0;
  for (unsigned i = 0; i < 2; i++) {
    start_ps = engine_now_ps(bench.engine);
    struct gm_transfer write = new_transfer(&bench, 0, i * L2_BYTES, L2_BYTES, &end_ps);
    write.path = PATH_UB_GM;
    write.write = true;
    flat().memory->start(bench.memory, &write, start_ps);
    engine_run_until(bench.engine, UINT64_MAX - 1);
  }
  /* 64 KiB of dirty lines leave, at 100 ps a byte; the way in alone takes a tenth of that. */
  assert_in_range(end_ps - start_ps, L2_BYTES * 100 - 100, L2_BYTES * 100 + 100 * LINE);
  free_bench(&bench);
}

static void bytes_are_conserved(void **state) {
  (void)state;
  struct bench bench = new_bench();
  uint64_t end_ps = 0;
  struct gm_transfer strided = new_transfer(&bench, 0, 0x1000, 352, &end_ps);
  strided.bursts = 77;
  strided.stride_bytes = 4096;
  flat().memory->start(bench.memory, &strided, 0);
  engine_run_until(bench.engine, UINT64_MAX - 1);
  struct vinci_result *result = result_create();
  flat().memory->report(bench.memory, end_ps, result);
  assert_int_equal(result->gm_read_bytes, 77 * 352);
  assert_int_equal(result->gm_write_bytes, 0);
  assert_int_equal(result->hbm.read_bytes, result->l2.read_misses * GRANULE);
  vinci_result_free(result);
  free_bench(&bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(second_read_hits),
      cmocka_unit_test(granules_are_counted_exactly),
      cmocka_unit_test(streamed_writes_are_written_back),
      cmocka_unit_test(parts_of_a_line_stay),
      cmocka_unit_test(passing_writes_are_written_back),
      cmocka_unit_test(rows_of_any_pitch_stay),
      cmocka_unit_test(victims_are_lines_that_were_written),
      cmocka_unit_test(owed_lines_go_back_in_their_share),
      cmocka_unit_test(owed_lines_wait_for_those_that_leave),
      cmocka_unit_test(no_cache_never_hits),
      cmocka_unit_test(device_memory_keeps_its_bandwidth),
      cmocka_unit_test(refreshes_take_their_share),
      cmocka_unit_test(pins_set_the_pace),
      cmocka_unit_test(one_transfer_moves_at_the_paths_rate),
      cmocka_unit_test(an_engine_may_take_time_for_lines),
      cmocka_unit_test(requests_that_share_granules_move_them_twice),
      cmocka_unit_test(an_empty_transfer_ends_at_once),
      cmocka_unit_test(transfers_of_a_port_queue),
      cmocka_unit_test(ports_share_the_bandwidth_of_l2),
      cmocka_unit_test(write_backs_have_the_pace_of_device_memory),
      cmocka_unit_test(bytes_are_conserved),
  };
  return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
