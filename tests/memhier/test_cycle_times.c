/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of the cycle-level memory system, against bounds that follow from the numbers of the chip:
 * one number is made to decide, and the run has to take what it allows and no less.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/chip/noc_config.h"
#include "core/result/result.h"

enum { LINE = 512, RATE = 128, STARTUP = 3000, LARGE = 1000000, NETWORK_MAX = 120, WAYS = 40 };

/* A chip on which nothing but its start-up and the rate of the path takes time worth a mention. */
static vinci_soc *chip(void) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load("Ascend910B4", NULL, &soc, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  soc->core_hz = soc->vector_hz = 1000000000;
  soc->launch_base_ps = soc->launch_block_ps = 0;
  soc->path[PATH_GM_UB] = soc->path[PATH_UB_GM] =
      (struct path_cost){.mbytes_per_cycle = RATE * 1000, .startup_mcycles = STARTUP * 1000};
  soc->window_cycles = 1000;
  soc->l2_hit_cycles = 50;
  soc->l2_bytes_per_second = INT64_C(100000000000000);
  assert_int_equal(soc->l2_line_bytes, LINE);
  return soc;
}

static vinci_result *run_with(const vinci_soc *soc, const char *text, enum vinci_l2 start,
                              enum vinci_memory memory) {
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  struct vinci_run_options options = {
      .struct_size = sizeof options, .memory = memory, .l2_start = start};
  if (vinci_trace_parse("t.csv", text, strlen(text), soc, &trace, &diag) != VINCI_OK ||
      vinci_run(soc, trace, &options, &result, &diag) != VINCI_OK)
    fail_msg("line %lu: %s", diag.line, diag.text);
  vinci_trace_free(trace);
  return result;
}

static vinci_result *run(const vinci_soc *soc, const char *text, enum vinci_l2 start) {
  return run_with(soc, text, start, VINCI_MEMORY_CYCLE);
}

static uint64_t cycles(const vinci_soc *soc, const char *text, enum vinci_l2 start) {
  vinci_result *result = run(soc, text, start);
  uint64_t total = result->total_cycles;
  vinci_result_free(result);
  return total;
}

#define HEAD(blocks)                                                                               \
  "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=" #blocks "\n"                              \
  "tensor,name=x,dtype=fp16,shape=8388608,io=inout\nstream,core=AIV\n"
#define READ_LINE "copy_gm_to_ubuf,dst=0,src=x,len_burst=16\n"
#define READ_64K "copy_gm_to_ubuf,dst=0,src=x,len_burst=2048\n"
#define WRITE_64K "copy_ubuf_to_gm,dst=x,src=0,len_burst=2048\n"

/* The measured start-up ends with the first data of a hit: the way to L2 and back is in it, but for
 * how far the slice is. */
static void a_hit_takes_the_measured_start_up(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  for (soc->l2_hit_cycles = 50; soc->l2_hit_cycles <= 2000; soc->l2_hit_cycles *= 4)
    assert_in_range(cycles(soc, HEAD(1) READ_LINE, VINCI_L2_USED), STARTUP - WAYS, STARTUP + WAYS);
  vinci_soc_free(soc);
}

/* 64 KiB at 128 bytes a cycle. */
static void a_long_copy_has_the_rate_of_its_path(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  uint64_t least = STARTUP + 65536 / RATE;
  assert_in_range(cycles(soc, HEAD(1) READ_64K, VINCI_L2_USED), least - WAYS, least + NETWORK_MAX);
  vinci_soc_free(soc);
}

/* Stores of 4 KiB, and what comes behind these. */
static uint64_t store_cycles(const vinci_soc *soc, unsigned count, const char *after) {
  char text[500];
  snprintf(text, sizeof text,
           HEAD(1) "loop,i,%u\n copy_ubuf_to_gm,dst=x+i*4096,src=0,len_burst=128\nendloop\n%s",
           count, after);
  return cycles(soc, text, VINCI_L2_WARM);
}

/* Ten copies of 64 KiB that begin at an address, in cycles and bytes of device memory. */
static uint64_t copies_at(const vinci_soc *soc, unsigned address, uint64_t *fetched) {
  char text[500];
  snprintf(text, sizeof text,
           HEAD(1) "loop,i,10\n copy_gm_to_ubuf_align_b16,dst=0,src=x+i*131072+%u,len_burst=65536\n"
                   "endloop\n",
           address);
  vinci_result *result = run(soc, text, VINCI_L2_EMPTY);
  uint64_t total = result->total_cycles;
  *fetched = result->hbm.read_bytes;
  vinci_result_free(result);
  return total;
}

/* Requests of 512 bytes, which between granules bring five of them in place of four. */
static void requests_between_granules_fetch_more(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  uint64_t aligned_bytes, bytes, aligned = copies_at(soc, 0, &aligned_bytes);
  assert_int_equal(aligned_bytes, 10 * 65536);
  (void)copies_at(soc, 128, &bytes);
  assert_int_equal(bytes, 10 * 65536);
  for (unsigned address = 2; address < LINE; address += 94) {
    assert_true(copies_at(soc, address, &bytes) > aligned);
    /* 127 requests meet inside of granules, and one granule more is touched. */
    assert_int_equal(bytes, 10 * (65536 + 128 * 128));
  }
  vinci_soc_free(soc);
}

/* The answer ends the last write; the copy behind a write does not wait for that. */
static void a_write_ends_with_its_answer(void **state) {
  (void)state;
  enum { ANSWER = 700, COUNT = 9 };
  vinci_soc *soc = chip();
  soc->path[PATH_UB_GM].acknowledge_mcycles = 0;
  uint64_t one = store_cycles(soc, 1, ""), all = store_cycles(soc, COUNT, "");
  uint64_t in_turn = store_cycles(soc, 1,
                                  "pipe_barrier,pipe=MTE3\n"
                                  "copy_ubuf_to_gm,dst=x,src=0,len_burst=128\n");
  soc->path[PATH_UB_GM].acknowledge_mcycles = ANSWER * 1000;
  assert_int_equal(store_cycles(soc, 1, ""), one + ANSWER);
  assert_int_equal(store_cycles(soc, COUNT, ""), all + ANSWER);
  assert_int_equal(store_cycles(soc, 1,
                                "pipe_barrier,pipe=MTE3\n"
                                "copy_ubuf_to_gm,dst=x,src=0,len_burst=128\n"),
                   in_turn + 2 * ANSWER);
  vinci_soc_free(soc);
}

/* Cycles of 100 rows more, of a copy that reorders rows on the way to L1. */
static uint64_t row_cycles_of(const vinci_soc *soc, unsigned columns, enum vinci_memory memory) {
  uint64_t total[2];
  for (unsigned i = 0; i < 2; i++) {
    char text[500];
    snprintf(text, sizeof text,
             "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=1\n"
             "tensor,name=x,dtype=fp16,shape=8388608,io=in\nstream,core=AIC\n"
             "copy_gm_to_cbuf_multi_nd2nz_b16,dst=0,src=x,n=%u,d=%u,src_d=4096,dst_c0_stride=208\n",
             i == 0 ? 100 : 200, columns);
    vinci_result *result = run_with(soc, text, VINCI_L2_WARM, memory);
    total[i] = result->total_cycles;
    vinci_result_free(result);
  }
  return total[1] - total[0];
}
static uint64_t row_cycles(const vinci_soc *soc, unsigned columns) {
  return row_cycles_of(soc, columns, VINCI_MEMORY_CYCLE);
}

/* Lines may be parts of those of L2: a row of two takes twice as long as one of a line. */
static void reordered_rows_take_an_engines_time_for_each_part_of_a_line(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->path[PATH_GM_L1] = soc->path[PATH_GM_UB];
  soc->nd2nz_line_mcycles = 37000;
  soc->nd2nz_line_bytes = LINE / 2;
  static const enum vinci_memory memories[] = {VINCI_MEMORY_CYCLE, VINCI_MEMORY_FLAT};
  for (unsigned i = 0; i < 2; i++) {
    enum vinci_memory memory = memories[i];
    assert_in_range(row_cycles_of(soc, 16, memory), 3700 - 40, 3700 + 40);
    assert_in_range(row_cycles_of(soc, LINE / 4, memory), 3700 - 40, 3700 + 40);
    assert_in_range(row_cycles_of(soc, LINE / 4 + 1, memory), 2 * 3700 - 40, 2 * 3700 + 40);
    assert_in_range(row_cycles_of(soc, LINE / 2, memory), 2 * 3700 - 40, 2 * 3700 + 40);
    assert_in_range(row_cycles_of(soc, LINE, memory), 4 * 3700 - 40, 4 * 3700 + 40);
  }
  vinci_soc_free(soc);
}

static void reordered_rows_take_an_engines_time_for_each_line(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->path[PATH_GM_L1] = soc->path[PATH_GM_UB];
  soc->nd2nz_line_mcycles = 37000;
  assert_in_range(row_cycles(soc, 16), 3700 - 40, 3700 + 40);
  assert_in_range(row_cycles(soc, LINE / 2), 3700 - 40, 3700 + 40);
  assert_in_range(row_cycles(soc, LINE / 2 + 1), 2 * 3700 - 40, 2 * 3700 + 40);
  soc->nd2nz_line_mcycles = 1000; /* the rate of the path decides */
  assert_in_range(row_cycles(soc, LINE / 2), 100 * LINE / RATE - 40, 100 * LINE / RATE + 40);
  vinci_soc_free(soc);
}

/* A copy ends with its latest answer, also where the line behind lies in a nearer slice. */
static void more_lines_end_no_sooner(void **state) {
  (void)state;
  enum { STARTS = 64, LENGTHS = 2 };
  vinci_soc *soc = chip();
  soc->path[PATH_GM_UB].startup_mcycles = 0;
  soc->path[PATH_GM_UB].mbytes_per_cycle = INT64_C(1000) * LINE;
  unsigned longer = 0;
  for (unsigned start = 0; start < STARTS; start++) {
    uint64_t total[LENGTHS];
    for (unsigned lines = 1; lines <= LENGTHS; lines++) {
      char text[500];
      snprintf(text, sizeof text, HEAD(1) "copy_gm_to_ubuf,dst=0,src=x+%u,len_burst=%u\n",
               start * LINE, lines * LINE / 32);
      total[lines - 1] = cycles(soc, text, VINCI_L2_WARM);
    }
    assert_true(total[1] >= total[0]);
    longer += total[1] > total[0];
  }
  assert_true(longer > 0 && longer < STARTS); /* the line behind is farther, or nearer */
  vinci_soc_free(soc);
}

/* A window of one line: each line waits for the answer to the one before, 128 times. */
static void a_window_of_a_line_waits_for_each_answer(void **state) {
  (void)state;
  enum { HIT = 1000, LINES = 65536 / LINE };
  vinci_soc *soc = chip();
  soc->window_cycles = LINE / RATE;
  soc->l2_hit_cycles = HIT;
  assert_in_range(cycles(soc, HEAD(1) READ_64K, VINCI_L2_USED), LINES * HIT,
                  STARTUP + LINES * (HIT + NETWORK_MAX));
  vinci_soc_free(soc);
}

/* 20 cores read 64 KiB each through an L2 of 64 bytes a nanosecond, in all. */
static void all_slices_share_the_bandwidth_of_l2(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->l2_bytes_per_second = INT64_C(64000000000);
  uint64_t least = 20 * 65536 / 64;
  assert_in_range(
      cycles(soc, HEAD(20) "copy_gm_to_ubuf,dst=0,src=x+blk*65536,len_burst=2048\n", VINCI_L2_USED),
      least, STARTUP + least * 2);
  vinci_soc_free(soc);
}

/* Lines at a distance of a power of two lie in many slices: far less than one slice would take. */
static void strides_spread_over_slices(void **state) {
  (void)state;
  enum { LINES = 128 };
  vinci_soc *soc = chip();
  uint64_t slices = (uint64_t)soc->l2_slices;
  soc->l2_bytes_per_second = (int64_t)slices * 1000000000; /* a line takes a slice 512 cycles */
  char text[512];
  snprintf(text, sizeof text,
           HEAD(1) "copy_gm_to_ubuf,dst=0,src=x,n_burst=%d,len_burst=16,src_gap=%llu\n", LINES,
           (unsigned long long)(slices - 1) * LINE / 32);
  assert_true(cycles(soc, text, VINCI_L2_USED) < STARTUP + LINES * LINE / 2);
  vinci_soc_free(soc);
}

static void slower_channels_take_longer(void **state) {
  (void)state;
  static const char text[] = HEAD(20) "copy_gm_to_ubuf,dst=0,src=x+blk*65536,len_burst=2048\n";
  vinci_soc *soc = chip();
  soc->hbm_bandwidth_scale = 100000; /* a tenth */
  uint64_t bytes = 20 * 65536, least = bytes * 10000000000 / (uint64_t)soc->hbm_bytes_per_second;
  assert_in_range(cycles(soc, text, VINCI_L2_EMPTY), least, STARTUP + 3 * least);
  vinci_soc_free(soc);
}

/* One cold line among warm ones cannot make a copy end earlier. */
static void a_miss_among_hits_is_never_faster(void **state) {
  (void)state;
  enum { LINES = 24 };
  vinci_soc *soc = chip();
  soc->path[PATH_GM_UB].mbytes_per_cycle = 16000; /* 32 cycles a line: several burst windows */
  char text[1024];
  uint64_t warm = 0;
  for (unsigned cold = 0; cold <= LINES; cold++) {
    /* Reads all lines but one, waits, and reads all. */
    snprintf(text, sizeof text,
             HEAD(1) "loop,i,%d\nloop,n,i!=%u\ncopy_gm_to_ubuf,dst=0,src=x+i*512,len_burst=16\n"
                     "endloop\nendloop\npipe_barrier,pipe=ALL\nkernel,name=l,arch=dav-c220,"
                     "blocks=1\ntensor,name=x,dtype=fp16,shape=8388608,io=in\nstream,core=AIV\n"
                     "copy_gm_to_ubuf,dst=0,src=x,len_burst=%d\n",
             LINES, LINES - cold, LINES * 16);
    vinci_result *result = run(soc, text, VINCI_L2_EMPTY);
    uint64_t taken = result->kernels[1].end_ps - result->kernels[1].start_ps;
    if (cold == 0)
      warm = taken; /* line 24 is none of them */
    assert_true(taken >= warm);
    vinci_result_free(result);
  }
  vinci_soc_free(soc);
}

/* Reads ask with a flit and are answered with lines; writes the other way round. */
static void data_goes_the_way_of_the_copy(void **state) {
  (void)state;
  static const char *const text[] = {HEAD(1) READ_64K, HEAD(1) WRITE_64K};
  vinci_soc *soc = chip();
  const uint64_t per_line = 8; /* flits */
  soc->noc_flit_bytes = LINE / (int64_t)per_line;
  for (unsigned write = 0; write < 2; write++) {
    vinci_result *result = run(soc, text[write], VINCI_L2_USED);
    uint64_t used[NOC_WAYS] = {0};
    for (uint32_t i = 0; i < result->link_count; i++)
      used[result->links[i].way] += result->links[i].utilization_ppm;
    uint64_t with_data = used[write ? NOC_REQUESTS : NOC_ANSWERS];
    uint64_t without = used[write ? NOC_ANSWERS : NOC_REQUESTS];
    assert_in_range(with_data * 100 / without, per_line * 100 / 2, per_line * 100 * 2);
    vinci_result_free(result);
  }
  vinci_soc_free(soc);
}

/* What is written is not fetched before, neither into an empty L2 nor into one full of dirty lines.
 */
static void writes_fetch_nothing(void **state) {
  (void)state;
  enum { COPIES = 32, BYTES = COPIES * 65536 };
  vinci_soc *soc = chip();
  soc->l2_bytes = soc->l2_slices * soc->l2_ways * LINE * 4; /* in four sets of each slice */
  assert_true(soc->l2_bytes <= BYTES / 2);
  vinci_result *result =
      run(soc, HEAD(1) "loop,i,32\ncopy_ubuf_to_gm,dst=x+i*65536,src=0,len_burst=2048\nendloop\n",
          VINCI_L2_EMPTY);
  assert_int_equal(result->hbm.read_bytes, 0);
  assert_int_equal(result->hbm.write_bytes, BYTES - soc->l2_bytes);
  assert_int_equal(result->l2.write_misses, BYTES / 128);
  vinci_result_free(result);
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hit_takes_the_measured_start_up),
      cmocka_unit_test(a_long_copy_has_the_rate_of_its_path),
      cmocka_unit_test(reordered_rows_take_an_engines_time_for_each_line),
      cmocka_unit_test(reordered_rows_take_an_engines_time_for_each_part_of_a_line),
      cmocka_unit_test(requests_between_granules_fetch_more),
      cmocka_unit_test(a_write_ends_with_its_answer),
      cmocka_unit_test(more_lines_end_no_sooner),
      cmocka_unit_test(a_window_of_a_line_waits_for_each_answer),
      cmocka_unit_test(all_slices_share_the_bandwidth_of_l2),
      cmocka_unit_test(strides_spread_over_slices),
      cmocka_unit_test(slower_channels_take_longer),
      cmocka_unit_test(a_miss_among_hits_is_never_faster),
      cmocka_unit_test(data_goes_the_way_of_the_copy),
      cmocka_unit_test(writes_fetch_nothing),
  };
  return cmocka_run_group_tests_name("cycle_times", tests, NULL, NULL);
}
