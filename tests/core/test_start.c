/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of what a core waits for at the start of a kernel: code, and the first read from GM.
 * Expected cycles are worked out by hand from the numbers of the fixture; vadd takes 23 + 4 per
 * repeat.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/runs.h"

static uint64_t code_waits(struct run run) {
  uint64_t cycles = 0;
  assert_int_equal(run.status, VINCI_OK);
  for (uint32_t i = 0; i < run.result->core_count; i++)
    cycles += run.result->cores[i].pipe[PIPE_S].stall_cycles[STALL_CODE];
  vinci_result_free(run.result);
  return cycles;
}

/* 100 cycles alone; in the fixture each other core lengthens the wait by a quarter. */
static void cores_that_fetch_the_same_code_wait_longer(void **state) {
  (void)state;
#define CODE "code_fetch,cycles=100\n"
  vinci_soc *soc = fixture_soc();
  assert_int_equal(runs_cycles(soc, HEAD(1) AIV CODE VADD(10)), FIXTURE_LAUNCH + 100 + 23 + 40);
  vinci_soc_free(soc);
  assert_int_equal(code_waits(runs_text(HEAD(1) AIV CODE)), 100);
  assert_int_equal(code_waits(runs_text(HEAD(3) AIV CODE)), 3 * 150);
}

static void a_core_keeps_the_code_of_its_kernel(void **state) {
  (void)state;
  /* 100 blocks on the 40 cores: 39 others. */
  assert_int_equal(code_waits(runs_text(HEAD(100) AIV CODE)), 40 * (100 + 39 * 25));
  /* Two rows: two parts of the code. */
  assert_int_equal(code_waits(runs_text(HEAD(1) AIV CODE CODE)), 200);
#define KERNEL(name) "kernel,name=" name ",arch=dav-c220,blocks=1\n" AIV CODE
  assert_int_equal(code_waits(runs_text("trace,version=1\n" KERNEL("a") KERNEL("a"))), 100);
  assert_int_equal(code_waits(runs_text("trace,version=1\n" KERNEL("a") KERNEL("b"))), 200);
}

/* Cycles by which MTE2 is busier with a wait of 37 cycles for each other core. */
static uint64_t first_read_waits(const char *text) {
  uint64_t busy_cycles[2] = {0};
  for (int waits = 0; waits < 2; waits++) {
    vinci_soc *soc = fixture_soc();
    soc->first_read_cycles = waits ? 37 : 0;
    struct run run = runs_with(soc, text, NULL);
    assert_int_equal(run.status, VINCI_OK);
    for (uint32_t i = 0; i < run.result->core_count; i++)
      busy_cycles[waits] += run.result->cores[i].pipe[PIPE_MTE2].busy_cycles;
    vinci_result_free(run.result);
    vinci_soc_free(soc);
  }
  return busy_cycles[1] - busy_cycles[0];
}

static void first_reads_wait_for_those_of_other_cores(void **state) {
  (void)state;
#define READ "copy_gm_to_ubuf,dst=0,src=x,len_burst=1\n"
#define WRITE "copy_ubuf_to_gm,dst=y,src=0,len_burst=1\n"
  assert_int_equal(first_read_waits(HEAD(1) TENSORS AIV READ), 0);
  assert_int_equal(first_read_waits(HEAD(3) TENSORS AIV READ READ), 3 * 2 * 37);
  /* A core that takes a second block of the kernel has read before. */
  assert_int_equal(first_read_waits(HEAD(80) TENSORS AIV READ), 40 * 39 * 37);
  assert_int_equal(first_read_waits(HEAD(3) TENSORS AIV WRITE), 0);
#undef READ
#undef WRITE
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cores_that_fetch_the_same_code_wait_longer),
      cmocka_unit_test(a_core_keeps_the_code_of_its_kernel),
      cmocka_unit_test(first_reads_wait_for_those_of_other_cores),
  };
  return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
