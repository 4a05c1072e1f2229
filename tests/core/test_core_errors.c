/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the cores: programs that hang or are wrong, and runs that are ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/runs.h"

#define MAD "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=fp16\n"

static void assert_run_error(const char *text, enum vinci_status status, unsigned long line,
                             const char *message) {
  struct run run = runs_text(text);
  assert_string_equal(run.diag.text, message);
  assert_int_equal(run.status, status);
  assert_int_equal(run.diag.line, line);
  vinci_result_free(run.result);
}

static void a_flag_never_set_is_a_hang(void **state) {
  (void)state;
  assert_run_error(HEAD(2) AIV "wait_flag,src=MTE2,dst=V,id=4\n" VADD(1), VINCI_E_DEADLOCK, 4,
                   "the simulated program hangs in kernel \"k\" after 0 of 2 blocks:\n"
                   "  core0.veccore0 V (and 1 more core) waits for flag MTE2->V id 4, line 4");
}

static void a_hang_names_every_waiting_part(void **state) {
  (void)state;
  assert_run_error(HEAD(1) AIV "wait_flag,src=V,dst=MTE2,id=0\nset_flag,src=MTE2,dst=V,id=0\n"
                               "wait_flag,src=MTE2,dst=V,id=0\nset_flag,src=V,dst=MTE2,id=0\n"
                               "pipe_barrier,pipe=ALL\n",
                   VINCI_E_DEADLOCK, 8,
                   "the simulated program hangs in kernel \"k\" after 0 of 1 blocks:\n"
                   "  core0.veccore0 S waits in pipe_barrier for its earlier instructions, line 8\n"
                   "  core0.veccore0 V waits for flag MTE2->V id 0, line 6\n"
                   "  core0.veccore0 MTE2 waits for flag V->MTE2 id 0, line 4");
}

static void a_flag_set_twice_is_rejected(void **state) {
  (void)state;
  assert_run_error(HEAD(1) AIV
                   "set_flag,src=V,dst=MTE3,id=0\n" VADD(1) "set_flag,src=V,dst=MTE3,id=0\n",
                   VINCI_E_INPUT, 6,
                   "set_flag V->MTE3 id 0 is set a second time before anyone waited for it; it was "
                   "set in line 4, on core0.veccore0");
}

static void addresses_are_checked_when_executed(void **state) {
  (void)state;
  struct run run = runs_text(
      HEAD(1) TENSORS AIV "loop,i,4\ncopy_gm_to_ubuf,dst=i*65536,src=x,len_burst=128\nendloop\n");
  assert_int_equal(run.status, VINCI_E_INPUT);
  assert_string_equal(run.diag.text, "operand \"dst\" of copy_gm_to_ubuf: bytes 196608 to 200704 "
                                     "of UB, which has 196608");
  assert_string_equal(run.diag.hint, "at blk=0, sub=0, blocks=1, i=3");
  assert_int_equal(run.diag.line, 7);
  assert_null(run.result);
  assert_run_error(HEAD(1) TENSORS AIV
                   "loop,i,4\ncopy_gm_to_ubuf,dst=i*16,src=x,len_burst=128\nendloop\n",
                   VINCI_E_INPUT, 7,
                   "operand \"dst\" of copy_gm_to_ubuf: address 16 in UB is not a multiple of 32");
  assert_run_error(HEAD(1) TENSORS AIV
                   "loop,i,600\ncopy_gm_to_ubuf,dst=0,src=x+i*4096,len_burst=128\nendloop\n",
                   VINCI_E_INPUT, 7,
                   "operand \"src\" of copy_gm_to_ubuf: 4096 bytes at GM address 0x201000 leave "
                   "tensor \"x\", which has 2097152 bytes from 0x1000");
}

static void operands_are_checked_when_executed(void **state) {
  (void)state;
  assert_run_error(HEAD(1) AIV "loop,i,4\nvadd,dst=0,src0=8192,src1=16384,repeat=i*100,type=fp16\n"
                               "endloop\n",
                   VINCI_E_INPUT, 5, "operand \"repeat\" of vadd is 300, allowed is 0..255");
  assert_run_error(
      HEAD(1) AIV "loop,i,4\nvadd,dst=0,src0=8192,src1=16384,repeat=8/(2-i),type=fp16\n"
                  "endloop\n",
      VINCI_E_INPUT, 5, "operand \"repeat\" divides by zero or leaves the 64-bit range");
}

static void flag_ids_are_checked_when_executed(void **state) {
  (void)state;
  assert_run_error(HEAD(1) AIV "loop,i,32\nset_flag,src=V,dst=MTE3,id=i\nendloop\n", VINCI_E_INPUT,
                   5, "operand \"id\" of set_flag is 8, fixture220 has 8 ids");
  assert_run_error(HEAD(1) AIV "loop,i,32\nffts_cross_core_sync,pipe=V,mode=0,id=i\nendloop\n",
                   VINCI_E_INPUT, 5,
                   "operand \"id\" of ffts_cross_core_sync is 16, fixture220 has 16 ids");
}

static void loops_without_instructions_end(void **state) {
  (void)state;
  assert_run_error(HEAD(1) AIV "loop,i,1000000000000\nloop,j,0\n" VADD(1) "endloop\nendloop\n",
                   VINCI_E_INPUT, 8, "the loops turn 100000000 times without an instruction");
}

static void too_many_cross_core_signals(void **state) {
  (void)state;
  assert_run_error(HEAD(1) AIV "loop,i,20\nffts_cross_core_sync,pipe=V,mode=2,id=3\nendloop\n"
                               "stream,core=AIC\nscalar,cycles=5000\nwait_flag_dev,id=3\n",
                   VINCI_E_INPUT, 5,
                   "cross-core flag 3 has 15 signals that nobody took, its limit, on "
                   "core0.cubecore0");
}

static void a_cycle_limit_gives_partial_results(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  struct vinci_run_options options = {.struct_size = sizeof options, .max_cycles = 5000};
  struct run run = runs_with(soc, HEAD(1) AIV "loop,i,1000000\n" VADD(10) "endloop\n", &options);
  assert_int_equal(run.status, VINCI_E_LIMIT);
  assert_string_equal(run.diag.text,
                      "the limit of simulated cycles was reached; results are partial");
  assert_true(run.result->partial);
  assert_int_equal(vinci_result_total_cycles(run.result), 5000);
  assert_int_equal(run.result->cores[0].pipe[PIPE_V].busy_cycles, 5000 - FIXTURE_LAUNCH);
  vinci_result_free(run.result);
  vinci_soc_free(soc);
}

static bool stop_at_once(void *context, uint64_t cycles, unsigned done_permille) {
  (void)cycles;
  assert_in_range(done_permille, 0, 1000);
  ++*(unsigned *)context;
  return false;
}

static void progress_can_interrupt(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  unsigned calls = 0;
  struct vinci_run_options options = {
      .struct_size = sizeof options, .progress = stop_at_once, .progress_context = &calls};
  struct run run = runs_with(soc, HEAD(1) AIV "loop,i,1000000\n" VADD(10) "endloop\n", &options);
  assert_int_equal(run.status, VINCI_E_LIMIT);
  assert_string_equal(run.diag.text, "the run was interrupted; results are partial");
  assert_int_equal(calls, 1);
  vinci_result_free(run.result);
  vinci_soc_free(soc);
}

struct shares {
  unsigned last, changes;
};

static bool follow_share(void *context, uint64_t cycles, unsigned done_permille) {
  struct shares *shares = context;
  (void)cycles;
  assert_in_range(done_permille, shares->last, 1000);
  shares->changes += done_permille != shares->last;
  shares->last = done_permille;
  return true;
}

/* Also inside a block: products have one block a core. */
static void progress_is_that_of_instructions(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  struct shares shares = {0};
  struct vinci_run_options options = {
      .struct_size = sizeof options, .progress = follow_share, .progress_context = &shares};
  struct run run = runs_with(soc, HEAD(1) AIV "loop,i,20000\n" VADD(10) "endloop\n", &options);
  assert_int_equal(run.status, VINCI_OK);
  assert_true(shares.changes > 50);
  assert_in_range(shares.last, 900, 1000);
  vinci_result_free(run.result);
  vinci_soc_free(soc);
}

static bool keep_going(void *context, uint64_t cycles, unsigned done_permille) {
  (void)cycles;
  (void)done_permille;
  return *(bool *)context;
}

static void a_hang_is_the_same_however_it_is_watched(void **state) {
  (void)state;
  static const char hang[] = HEAD(1) AIV VADD(10) "set_flag,src=V,dst=S,id=0\n"
                                                  "wait_flag,src=V,dst=S,id=0\n"
                                                  "wait_flag,src=V,dst=S,id=0\n";
  vinci_soc *soc = fixture_soc();
  bool go_on = true;
  struct vinci_run_options options[] = {
      {.struct_size = sizeof options[0]},
      {.struct_size = sizeof options[0], .progress = keep_going, .progress_context = &go_on},
      {.struct_size = sizeof options[0], .max_cycles = 100000},
      {.struct_size = sizeof options[0], .max_cycles = UINT64_MAX},
  };
  for (unsigned i = 0; i < sizeof options / sizeof *options; i++) {
    struct run run = runs_with(soc, hang, &options[i]);
    assert_int_equal(run.status, VINCI_E_DEADLOCK);
    /* the last that happened: the scalar unit came to the second wait, behind
     * vadd (23 + 10 * 4), its flag and the issue of the first wait */
    assert_int_equal(vinci_result_total_cycles(run.result),
                     FIXTURE_LAUNCH + 63 + FIXTURE_FLAG + FIXTURE_ISSUE);
    vinci_result_free(run.result);
  }
  vinci_soc_free(soc);
}

static void a_partial_run_counts_open_waits_and_active_time(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  struct vinci_run_options options = {.struct_size = sizeof options, .max_cycles = 5000};
  struct run run =
      runs_with(soc,
                HEAD(1) AIV VADD(10) "wait_flag,src=V,dst=S,id=0\n"
                                     "stream,core=AIC\nloop,i,100000\n" MAD "endloop\n",
                &options);
  assert_int_equal(run.status, VINCI_E_LIMIT);
  const struct core_result *vector = &run.result->cores[20];
  assert_int_equal(vector->kind, CORE_AIV);
  assert_int_equal(vector->active_cycles, 5000 - FIXTURE_LAUNCH);
  assert_int_equal(vector->pipe[PIPE_S].stall_cycles[STALL_WAIT_FLAG],
                   5000 - FIXTURE_LAUNCH - FIXTURE_ISSUE);
  vinci_result_free(run.result);
  vinci_soc_free(soc);
}

static void a_trace_runs_on_the_soc_it_was_loaded_for(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_result *result = NULL;
  vinci_soc *soc = fixture_soc();
  vinci_trace *trace = runs_parse(HEAD(1) AIV VADD(1), soc);
  soc->flag_ids = 4;
  assert_int_equal(vinci_run(soc, trace, NULL, &result, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "t.csv was loaded for another SoC than this fixture220");
  assert_null(result);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flag_never_set_is_a_hang),
      cmocka_unit_test(a_hang_names_every_waiting_part),
      cmocka_unit_test(a_flag_set_twice_is_rejected),
      cmocka_unit_test(addresses_are_checked_when_executed),
      cmocka_unit_test(operands_are_checked_when_executed),
      cmocka_unit_test(flag_ids_are_checked_when_executed),
      cmocka_unit_test(loops_without_instructions_end),
      cmocka_unit_test(too_many_cross_core_signals),
      cmocka_unit_test(a_cycle_limit_gives_partial_results),
      cmocka_unit_test(progress_can_interrupt),
      cmocka_unit_test(progress_is_that_of_instructions),
      cmocka_unit_test(a_hang_is_the_same_however_it_is_watched),
      cmocka_unit_test(a_partial_run_counts_open_waits_and_active_time),
      cmocka_unit_test(a_trace_runs_on_the_soc_it_was_loaded_for),
  };
  return cmocka_run_group_tests_name("core_errors", tests, NULL, NULL);
}
