/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores that share device memory, as estimates see them: alone they take their own time, together
 * the time of all bytes, and never less than either.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "lower/estimate/estimate.h"
#include "tests/support/fixture.h"

enum { CASES = 2000, CORES_MAX = 90 };

static vinci_soc *soc;

static int load(void **state) {
  struct vinci_diag diag = {0};
  (void)state;
  return vinci_soc_load("Ascend910B4", NULL, &soc, &diag) == VINCI_OK ? 0 : -1;
}

static int unload(void **state) {
  (void)state;
  vinci_soc_free(soc);
  return 0;
}

/* What device memory takes for N bytes. */
static uint64_t memory_cycles(uint64_t bytes) {
  return (uint64_t)((uint128)bytes * (uint64_t)soc->core_hz / soc_hbm_stream_bytes_per_second(soc));
}

static void a_core_alone_takes_its_own_time(void **state) {
  (void)state;
  struct estimate_flow flow = {.kind = CORE_AIV,
                               .launched = 1,
                               .cores = 1,
                               .in_bytes = 30000,
                               .in_cycles = 700,
                               .ahead_bytes = 30000,
                               .rest_bytes = 90000,
                               .rest_cycles = 2900,
                               .turn_cycles = 970};
  assert_int_equal(estimate_flow(soc, &flow), 700 + 2900);
  /* Nor do two cores meet that start at once and want less than device memory has. */
  flow.launched = 0;
  flow.cores = 2;
  assert_int_equal(estimate_flow(soc, &flow), 700 + 2900);
  /* A tile that is read ahead takes as long as the first. */
  flow.rest_bytes = 30000;
  flow.rest_cycles = 300;
  assert_int_equal(estimate_flow(soc, &flow), 700 + 700);
}

/* Within thousandths, as speeds are rounded down to thousandths of a core's own. */
static void near(uint64_t cycles, uint64_t expected, uint64_t per_mille) {
  uint64_t off = cycles > expected ? cycles - expected : expected - cycles;
  if (off * 1000 > expected * per_mille + 1000)
    fail_msg("%llu cycles, not %llu", (unsigned long long)cycles, (unsigned long long)expected);
}

static void together_they_take_the_time_of_all_bytes(void **state) {
  (void)state;
  struct estimate_flow flow = {
      .kind = CORE_AIV, .cores = 40, .in_bytes = 100000, .in_cycles = 1000, .turn_cycles = 1000};
  near(estimate_flow(soc, &flow), memory_cycles(40 * 100000), 10);
  flow.rest_bytes = 900000;
  flow.rest_cycles = 9000;
  near(estimate_flow(soc, &flow), memory_cycles(40 * 1000000), 10);
  /* With the tiles that follow read ahead, memory is as busy. */
  flow.ahead_bytes = 100000;
  near(estimate_flow(soc, &flow), memory_cycles(40 * 1000000), 10);
  /* More cores than groups of cores. */
  flow.cores = 80;
  near(estimate_flow(soc, &flow), memory_cycles(80 * 1000000), 10);
}

static uint64_t next(uint64_t *random, uint64_t count) {
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (*random >> 33) % count;
}

/* No results: what these hold up comes on top. */
static void no_less_than_each_and_no_more_than_both(void **state) {
  (void)state;
  uint64_t random = 5;
  for (unsigned i = 0; i < CASES; i++) {
    struct estimate_flow flow = {.kind = CORE_AIV, .cores = 1 + next(&random, CORES_MAX)};
    flow.launched = next(&random, 2) * flow.cores;
    flow.in_cycles = 200 + next(&random, 3000);
    flow.in_bytes = next(&random, 100 * flow.in_cycles);
    /* None, or tiles that each take as long as the first at least. */
    uint64_t more = next(&random, 8);
    flow.rest_cycles = more * (flow.in_cycles + next(&random, 4000));
    flow.rest_bytes = more * flow.in_bytes;
    flow.ahead_bytes = more ? next(&random, 2) * flow.in_bytes : 0;
    flow.turn_cycles = 1 + flow.in_cycles;
    uint64_t ahead = flow.ahead_bytes ? flow.in_cycles : 0;
    uint64_t alone = flow.in_cycles + max_u64(flow.rest_cycles, ahead);
    uint64_t memory = memory_cycles(flow.cores * (flow.in_bytes + flow.rest_bytes));
    uint64_t spread = launch_spread_cycles(soc, flow.kind, flow.launched);
    uint64_t cycles = estimate_flow(soc, &flow), least = max_u64(spread + alone, memory);
    /* Speeds are thousandths, rounded down. */
    if (cycles + cycles / 50 + 64 < least)
      fail_msg("case %u: %llu cycles, at least %llu", i, (unsigned long long)cycles,
               (unsigned long long)least);
    /* With one buffer cores wait for each other, and device memory for all of them. */
    uint64_t most = spread + alone + memory;
    if (flow.ahead_bytes > 0 && cycles > most + most / 50 + 64)
      fail_msg("case %u: %llu cycles, at most %llu", i, (unsigned long long)cycles,
               (unsigned long long)most);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_core_alone_takes_its_own_time),
      cmocka_unit_test(together_they_take_the_time_of_all_bytes),
      cmocka_unit_test(no_less_than_each_and_no_more_than_both),
  };
  return cmocka_run_group_tests_name("flow", tests, load, unload);
}
