/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how transfers are cut into requests to GM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "memhier/requests.h"

enum { RANDOM_CASES = 20000 };

static struct request_runs one_run(uint64_t address, uint64_t bytes) {
  return (struct request_runs){
      .address = address, .bursts = 1, .burst_bytes = bytes, .stride_bytes = bytes};
}

static void aligned_runs_ask_for_what_they_use(void **state) {
  (void)state;
  struct request_totals totals = requests_total(one_run(4096, 16384), 256);
  assert_int_equal(totals.requests, 64);
  assert_int_equal(totals.requested_bytes, 16384);
  assert_int_equal(totals.used_bytes, 16384);
}

static void bytes_are_rounded_up_to_requests(void **state) {
  (void)state;
  assert_int_equal(requests_total(one_run(0, 1), 128).requested_bytes, 128);
  assert_int_equal(requests_total(one_run(0, 129), 128).requested_bytes, 256);
  assert_int_equal(requests_total(one_run(127, 2), 128).requests, 2);
  assert_int_equal(requests_total(one_run(96, 32), 128).requests, 1);
}

static void runs_off_a_boundary_need_one_more(void **state) {
  (void)state;
  assert_int_equal(requests_total(one_run(32, 512), 512).requests, 2);
  /* Rows of 2 KiB of a matrix with 12287 columns of 2 bytes: five lines instead of four. */
  struct request_runs rows = {.bursts = 256, .burst_bytes = 2048, .stride_bytes = 24574};
  struct request_totals totals = requests_total(rows, 512);
  assert_int_equal(totals.requests, 255 * 5 + 4); /* the first one lies on a boundary */
  rows.stride_bytes = 24576;
  assert_int_equal(requests_total(rows, 512).requests, 256 * 4);
}

static void nothing_asks_for_nothing(void **state) {
  (void)state;
  struct request_runs runs = {.address = 5, .bursts = 3, .burst_bytes = 0, .stride_bytes = 64};
  struct request_walk walk;
  struct request request;
  assert_int_equal(requests_total(runs, 128).requests, 0);
  requests_begin(&walk, runs, 128);
  assert_false(requests_next(&walk, &request));
  runs = (struct request_runs){.bursts = 0, .burst_bytes = 32};
  requests_begin(&walk, runs, 128);
  assert_false(requests_next(&walk, &request));
}

static void requests_come_in_order(void **state) {
  (void)state;
  struct request_runs runs = {.address = 100, .bursts = 2, .burst_bytes = 200, .stride_bytes = 300};
  static const struct request expected[] = {
      {0, 128, 28}, {128, 128, 128}, {256, 128, 44}, {384, 128, 112}, {512, 128, 88}};
  struct request_walk walk;
  struct request request;
  requests_begin(&walk, runs, 128);
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    assert_true(requests_next(&walk, &request));
    assert_int_equal(request.address, expected[i].address);
    assert_int_equal(request.bytes, expected[i].bytes);
    assert_int_equal(request.used_bytes, expected[i].used_bytes);
  }
  assert_false(requests_next(&walk, &request));
}

static uint64_t next_random(uint64_t *seed) {
  *seed ^= *seed >> 12;
  *seed ^= *seed << 25;
  *seed ^= *seed >> 27;
  return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

static void sums_agree_with_the_walk(void **state) {
  (void)state;
  const char *given = getenv("VINCI_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 0) | 1 : UINT64_C(20240802);
  print_message("# VINCI_TEST_SEED=%llu\n", (unsigned long long)seed);
  for (unsigned i = 0; i < RANDOM_CASES; i++) {
    uint64_t size = UINT64_C(128) << next_random(&seed) % 3;
    struct request_runs runs = {
        .address = next_random(&seed) % 4096,
        .bursts = next_random(&seed) % 20,
        .burst_bytes = next_random(&seed) % 1500,
        .stride_bytes = next_random(&seed) % 2048,
    };
    struct request_totals walked = {0}, totals = requests_total(runs, size);
    struct request_walk walk;
    struct request request;
    for (requests_begin(&walk, runs, size); requests_next(&walk, &request); walked.requests++) {
      assert_int_equal(request.address % size, 0);
      assert_in_range(request.used_bytes, 1, size);
      walked.requested_bytes += request.bytes;
      walked.used_bytes += request.used_bytes;
    }
    assert_int_equal(totals.requests, walked.requests);
    assert_int_equal(totals.requested_bytes, walked.requested_bytes);
    assert_int_equal(totals.used_bytes, walked.used_bytes);
    assert_true(totals.requested_bytes >= totals.used_bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aligned_runs_ask_for_what_they_use),
      cmocka_unit_test(bytes_are_rounded_up_to_requests),
      cmocka_unit_test(runs_off_a_boundary_need_one_more),
      cmocka_unit_test(nothing_asks_for_nothing),
      cmocka_unit_test(requests_come_in_order),
      cmocka_unit_test(sums_agree_with_the_walk),
  };
  return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
