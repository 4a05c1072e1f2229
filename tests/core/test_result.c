/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of results: what limits a run, and the identities every run satisfies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/results.h"

static void check_bound(const struct vinci_result *result, enum bound bound, const char *reason) {
  char text[512];
  assert_int_equal(result_bound_explain(result, text, sizeof text), bound);
  assert_string_equal(text, reason);
  assert_int_equal(result_bound(result), bound);
}

static void bound_follows_the_busiest_resource(void **state) {
  (void)state;
  struct vinci_result *result = vector_result();
  check_bound(result, BOUND_LATENCY,
              "nothing is busy 80 % of the time; pipe V of the AIV cores is busy 60.0 % of the "
              "time, otherwise it mostly waits for flags of other pipes");
  result->cores[0].pipe[PIPE_V] = result->cores[1].pipe[PIPE_V] = counters(13199, 1, 16);
  check_bound(result, BOUND_LATENCY,
              "nothing is busy 80 % of the time; pipe V of the AIV cores is busy 80.0 % of the "
              "time, otherwise its core mostly waits for the launch or has no block");
  result->cores[0].pipe[PIPE_V] = result->cores[1].pipe[PIPE_V] = counters(13200, 0, 16);
  check_bound(result, BOUND_COMPUTE, "pipe V of the AIV cores is busy 80.0 % of the time");
  result->cores[0].pipe[PIPE_MTE2] = result->cores[1].pipe[PIPE_MTE2] = counters(14000, 0, 16);
  check_bound(result, BOUND_MEMORY, "pipe MTE2 of the AIV cores is busy 84.8 % of the time");
  result->cores[0].pipe[PIPE_S] = result->cores[1].pipe[PIPE_S] = counters(15000, 0, 16);
  check_bound(result, BOUND_SCALAR, "pipe S of the AIV cores is busy 90.9 % of the time");
  result->hbm.read_bytes = 7600000; /* of 8 MB that 10 us allow */
  result->hbm.write_bytes = 0;
  check_bound(result, BOUND_MEMORY, "device memory works at 95.0 % of its peak bandwidth");
  vinci_result_free(result);

  result = new_result(1);
  idle_core(result->cores, CORE_AIV, 0, 0);
  check_bound(result, BOUND_NONE, "no core executed anything");
  vinci_result_free(result);
}

static void profiles_count_the_fixpipe_from_its_issue(void **state) {
  (void)state;
  struct pipe_counters pipe = {.busy_cycles = 100,
                               .stall_cycles = {[STALL_UNIT_FLAG] = 30, [STALL_WAIT_FLAG] = 7}};
  assert_int_equal(result_profiled_cycles(&pipe, PIPE_FIX), 130);
  assert_int_equal(result_profiled_cycles(&pipe, PIPE_M), 100);
}

/* Copies of 2 bytes touch a granule of 128 each: L2 hands over 2 of them. */
static void l2_is_charged_for_bytes_moved(void **state) {
  (void)state;
  struct vinci_result *result = new_result(1);
  vector_core(result->cores, 0, 0, 0);
  result->soc->l2_bytes_per_second = INT64_C(1000000000000); /* 10 MB in the 10 us */
  result->gm_read_bytes = result->gm_write_bytes = 100000;
  result->l2.read_hits = result->l2.write_hits = 50000;
  assert_int_equal(result_l2_bytes(result), 200000);
  check_bound(result, BOUND_LATENCY,
              "nothing is busy 80 % of the time; pipe V of the AIV cores is busy 60.0 % of the "
              "time, otherwise it mostly waits for flags of other pipes");
  result->gm_read_bytes = 8800000;
  check_bound(result, BOUND_MEMORY, "L2 works at 89.0 % of its peak bandwidth");
  vinci_result_free(result);
}

static void check_violation(const struct vinci_result *result, const char *message) {
  struct vinci_diag diag = {0};
  assert_int_equal(result_check(result, &diag), VINCI_E_INTERNAL);
  assert_string_equal(diag.text, message);
}

static void identities_are_checked(void **state) {
  (void)state;
  struct vinci_result *result = vector_result();
  struct vinci_diag diag = {0};
  assert_int_equal(result_check(result, &diag), VINCI_OK);

  result->cores[1].pipe[PIPE_V].idle_cycles--;
  check_violation(result, "core0.veccore1 pipe V: busy 9900 + stalls 3300 + idle 3299 = 16499 "
                          "cycles, but the run has 16500");
  result->cores[1].pipe[PIPE_V].busy_cycles = 16501;
  check_violation(result,
                  "core0.veccore1 pipe V: busy 16501 cycles exceed the 16500 cycles of the run");
  result->cores[1].pipe[PIPE_V] = counters(9900, 3300, 16);
  result->cores[1].pipe[PIPE_V].cause_cycles[CAUSE_BANK]++;
  check_violation(result, "core0.veccore1 pipe V: the causes sum to 9901 cycles, but the pipe was "
                          "busy 9900");
  result->cores[1].pipe[PIPE_V] = counters(9900, 3300, 16);

  result->cores[0].pipe[PIPE_M].busy_cycles = 3;
  check_violation(result, "core0.veccore0 has no pipe M, but counted 3 busy and 0 stall cycles "
                          "and 0 instructions");
  result->cores[0].pipe[PIPE_M].busy_cycles = 0;

  result->cores[0].active_cycles = 16501;
  check_violation(result, "core0.veccore0: active 16501 cycles exceed the 16500 cycles of the "
                          "run");
  result->cores[0].active_cycles = 13200;

  result->gm_read_bytes++;
  check_violation(result, "the cores' instructions read 2097152 bytes of GM, but the memory "
                          "system moved 2097153");
  result->partial = true; /* then transfers may be on their way */
  assert_int_equal(result_check(result, &diag), VINCI_OK);
  result->partial = false;
  result->gm_read_bytes--;
  result->gm_write_bytes = 0;
  check_violation(result, "the cores' instructions wrote 1048576 bytes of GM, but the memory "
                          "system moved 0");
  result->gm_write_bytes = 1048576;

  result->channels[0].row_hits = 7;
  check_violation(result, "the channels of device memory have hbm.row_hits 7, but all of it has 0");
  result->channels[0].row_hits = 0;
  result->channels[0].write_bytes = 1;
  check_violation(result, "the channels of device memory have hbm.write_bytes 12801, but all of it "
                          "has 12800");
  result->channels[0].write_bytes = 0;
  result->links[1].utilization_ppm--;
  check_violation(result, "the busiest link is used 123399 ppm of the time, but the network says "
                          "123400");
  result->links[1].utilization_ppm++;

  result->traffic.bytes[9][TRAFFIC_L2_MISS]++;
  check_violation(result, "L2 misses: the steps of time have 1572865 bytes, but the run has "
                          "1572864");
  result->traffic.bytes[9][TRAFFIC_L2_MISS]--;
  result->traffic.bytes[3][TRAFFIC_HBM_WRITE] = 0;
  check_violation(result, "HBM written: the steps of time have 0 bytes, but the run has 12800");
  vinci_result_free(result);
}

/* Steps of 2^16 ps reach 2^25 ps; a time behind takes as many doublings as it needs. Each byte
 * stays in the step that holds its time. */
static void traffic_keeps_all_bytes(void **state) {
  (void)state;
  static const uint64_t at_ps[] = {0, 65535, 65536, (1 << 25) - 1, 1 << 25, UINT64_C(1) << 40};
  static const unsigned doublings[] = {0, 0, 0, 0, 1, 16};
  struct memory_traffic *traffic = calloc(1, sizeof *traffic);
  assert_non_null(traffic);
  for (unsigned i = 0; i < sizeof at_ps / sizeof *at_ps; i++) {
    traffic_at(traffic, at_ps[i])[TRAFFIC_L2_HIT] += UINT64_C(1) << i;
    assert_int_equal(traffic->doublings, doublings[i]);
    assert_int_equal(traffic_sum(traffic, TRAFFIC_L2_HIT), (UINT64_C(2) << i) - 1);
    assert_true(traffic_at(traffic, at_ps[i])[TRAFFIC_L2_HIT] >> i & 1);
  }
  assert_int_equal(traffic->bytes[0][TRAFFIC_L2_HIT], 31);
  assert_int_equal(traffic->bytes[256][TRAFFIC_L2_HIT], 32);
  assert_int_equal(traffic_sum(traffic, TRAFFIC_L2_MISS), 0);
  free(traffic);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bound_follows_the_busiest_resource),
      cmocka_unit_test(profiles_count_the_fixpipe_from_its_issue),
      cmocka_unit_test(l2_is_charged_for_bytes_moved),
      cmocka_unit_test(identities_are_checked),
      cmocka_unit_test(traffic_keeps_all_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
