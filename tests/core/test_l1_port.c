/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port of L1: of the cycles that a copy from ND to NZ writes, at 256 bytes a cycle, those in
 * which MTE1 works are added to its loads; plain copies, and copies while MTE1 rests, add none.
 */
#include "tests/support/checks.h"

#define HEAD_AIC HEAD(1) TENSORS "stream,core=AIC\n"
#define LOADS(count) "loop,i," #count "\nload_cbuf_to_ca,dst=0,src=262144,repeat=16\nendloop\n"
/* 64 rows of 64 halves, 8192 bytes: 32 cycles of the port. */
#define SCATTER "copy_gm_to_cbuf_multi_nd2nz_b16,dst=0,src=x,n=64,d=64,src_d=64,dst_c0_stride=64\n"
#define PLAIN "copy_gm_to_cbuf,dst=0,src=x,len_burst=256\n"

enum { PORT_BYTES = 256, WRITES = 8192 / PORT_BYTES };

static uint64_t load_cycles(int64_t port_bytes, const char *text) {
  vinci_soc *soc = fixture_soc();
  assert_non_null(soc);
  soc->l1_write_bytes = port_bytes;
  struct run run = runs_with(soc, text, NULL);
  assert_int_equal(run.status, VINCI_OK);
  uint64_t cycles = 0;
  for (uint32_t i = 0; i < run.result->core_count; i++)
    cycles += run.result->cores[i].pipe[PIPE_MTE1].busy_cycles;
  vinci_result_free(run.result);
  vinci_soc_free(soc);
  return cycles;
}

static uint64_t added(const char *text) {
  return load_cycles(PORT_BYTES, text) - load_cycles(0, text);
}

static void loads_wait_for_the_writes_of_a_copy(void **state) {
  (void)state;
  /* The copy of about 900 cycles lies within 100 loads; a second one behind the first the same. */
  assert_in_range(added(HEAD_AIC SCATTER LOADS(100)), WRITES - 2, WRITES);
  assert_in_range(added(HEAD_AIC SCATTER SCATTER LOADS(100)), 2 * WRITES - 3, 2 * WRITES);
}

static void plain_copies_and_idle_cycles_cost_nothing(void **state) {
  (void)state;
  assert_int_equal(added(HEAD_AIC PLAIN LOADS(100)), 0);
  assert_int_equal(added(HEAD_AIC SCATTER SET(MTE2, MTE1) WAIT(MTE2, MTE1) LOADS(100)), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_wait_for_the_writes_of_a_copy),
      cmocka_unit_test(plain_copies_and_idle_cycles_cost_nothing),
  };
  return cmocka_run_group_tests_name("l1_port", tests, fixture_set_up, fixture_tear_down);
}
