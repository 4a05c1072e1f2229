/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the cores: issue, queues, flags, barriers, dispatch. Expected cycles are
 * worked out by hand from the round numbers of the fixture: 1 GHz, launch 1000
 * cycles, 100 between blocks, vadd 20 + 4 per repeat, GM copies 100 + bytes / 50.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/runs.h"

static void assert_cycles(const char *text, uint64_t expected) {
  vinci_soc *soc = fixture_soc();
  assert_int_equal(runs_cycles(soc, text), expected);
  vinci_soc_free(soc);
}

/* ---- timing ------------------------------------------------------------------ */

static void one_instruction_takes_its_latency(void **state) {
  (void)state;
  assert_cycles(HEAD(1) AIV VADD(10), 1000 + 20 + 40);
}

static void back_to_back_instructions_keep_the_issue_distance(void **state) {
  (void)state;
  assert_cycles(HEAD(1) AIV VADD(10) VADD(10) VADD(10), 1000 + 2 * 40 + 60);
}

static void parts_of_cycles_add_up_in_a_stream(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->vector_class[VECTOR_CLASS_TWO].per_repeat_mcycles = 4040;
  /* 40.4 each: starts at 0, 40, 80, 121, 161, 202; the last takes 20 + 40.4 */
  assert_int_equal(
      runs_cycles(soc, HEAD(1) AIV VADD(10) VADD(10) VADD(10) VADD(10) VADD(10) VADD(10)),
      1000 + 202 + 61);
  /* after a pause they start anew: twice 0, 40, 80 */
  assert_int_equal(runs_cycles(soc, HEAD(1) AIV VADD(10) VADD(10) VADD(
                                        10) "pipe_barrier,pipe=V\n" VADD(10) VADD(10) VADD(10)),
                   1000 + 141 + 1 + 141);
  vinci_soc_free(soc);
}

static void a_barrier_waits_for_completion(void **state) {
  (void)state;
  assert_cycles(HEAD(1) AIV VADD(10) "pipe_barrier,pipe=V\n" VADD(10), 1000 + 60 + 1 + 60);
}

static void a_barrier_of_all_pipes_holds_the_scalar_unit(void **state) {
  (void)state;
  /* drained at 1060, 1 cycle of barrier, issued at 1061 */
  assert_cycles(HEAD(1) AIV VADD(10) "pipe_barrier,pipe=ALL\n" VADD(10), 1061 + 60);
}

static void a_copy_takes_start_up_and_bytes(void **state) {
  (void)state;
  /* 4096 bytes from device memory at 50 bytes per cycle: 81.92 */
  assert_cycles(HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n", 1000 + 100 + 82);
}

static void plain_copies_follow_each_other(void **state) {
  (void)state;
  assert_cycles(HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n"
                                    "copy_gm_to_ubuf,dst=4096,src=x+4096,len_burst=128\n",
                1000 + 2 * 182);
}

static void aligned_copies_start_up_behind_each_other(void **state) {
  (void)state;
  /* second starts 20 later, and streams when the first has: 100 + 2 * 81.92 */
  assert_cycles(HEAD(1) TENSORS AIV
                "copy_gm_to_ubuf_align_b8,dst=0,src=x,n_burst=1,len_burst=4096\n"
                "copy_gm_to_ubuf_align_b8,dst=4096,src=x+4096,n_burst=1,len_burst=4096\n",
                1000 + 100 + 164);
}

static void a_flag_orders_two_pipes(void **state) {
  (void)state;
  /* copy ends at 1182, the flag is seen at 1183 */
  assert_cycles(HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n"
                                    "set_flag,src=MTE2,dst=V,id=0\n"
                                    "wait_flag,src=MTE2,dst=V,id=0\n" VADD(10),
                1183 + 60);
}

static void a_flag_set_does_not_hold_its_own_pipe(void **state) {
  (void)state;
  assert_cycles(HEAD(1) AIV VADD(10) "set_flag,src=V,dst=MTE3,id=0\n" VADD(
                    10) "wait_flag,src=V,dst=MTE3,id=0\n",
                1000 + 40 + 60);
}

static void the_scalar_unit_waits_and_sets_flags(void **state) {
  (void)state;
  /* V ends at 1060, seen at 1061, the wait takes the scalar unit 1 cycle, issue at 1062 */
  assert_cycles(HEAD(1)
                    AIV VADD(10) "set_flag,src=V,dst=S,id=0\nwait_flag,src=V,dst=S,id=0\n" VADD(10),
                1062 + 60);
  /* scalar works to 1500, sets the flag, V sees it at 1501 */
  assert_cycles(HEAD(1) AIV "scalar,cycles=500\nset_flag,src=S,dst=V,id=0\n"
                            "wait_flag,src=S,dst=V,id=0\n" VADD(10),
                1501 + 1 + 60);
}

static void a_full_queue_stalls_the_scalar_unit(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->queue_v = 2;
  struct run run = runs_with(soc, HEAD(1) AIV VADD(10) VADD(10) VADD(10) VADD(10) VADD(10), NULL);
  assert_int_equal(run.status, VINCI_OK);
  assert_int_equal(vinci_result_total_cycles(run.result), 1000 + 4 * 40 + 60);
  const struct pipe_counters *scalar = &run.result->cores[0].pipe[PIPE_S];
  /* the fourth from 1003 to 1040, the fifth from 1041 to 1080 */
  assert_int_equal(scalar->stall_cycles[STALL_QUEUE_FULL], 37 + 39);
  assert_int_equal(scalar->busy_cycles, 5);
  vinci_result_free(run.result);
  vinci_soc_free(soc);
}

static void stalls_are_counted_by_reason(void **state) {
  (void)state;
  struct run run = runs_text(HEAD(1) TENSORS AIV
                             "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n"
                             "set_flag,src=MTE2,dst=V,id=0\n"
                             "wait_flag,src=MTE2,dst=V,id=0\n" VADD(10) "pipe_barrier,pipe=V\n");
  assert_int_equal(run.status, VINCI_OK);
  const struct pipe_counters *v = &run.result->cores[0].pipe[PIPE_V];
  assert_int_equal(v->busy_cycles, 60);
  /* the wait reaches the pipe at 1002 and ends at 1183 */
  assert_int_equal(v->stall_cycles[STALL_WAIT_FLAG], 1183 - 1002);
  assert_int_equal(v->stall_cycles[STALL_BARRIER], 1);
  assert_int_equal(v->idle_cycles, 1002);
  assert_int_equal(v->instructions, 3);
  assert_int_equal(run.result->cores[0].pipe[PIPE_MTE2].busy_cycles, 182);
  vinci_result_free(run.result);
}

/* ---- dispatch ------------------------------------------------------------------ */

static void blocks_are_dispatched_one_after_the_other(void **state) {
  (void)state;
  assert_cycles(HEAD(5) AIV VADD(10), 1000 + 4 * 100 + 60);
}

static void more_blocks_than_cores_run_in_rounds(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->vector_cores = 2;
  /* 1040 cycles each: starts 1000, 1100; 2040, 2140; 3080 */
  assert_int_equal(runs_cycles(soc, HEAD(5) AIV VADD(255)), 3080 + 1040);
  vinci_soc_free(soc);
}

/* A core is free again long before the next block is handed out, and still the others have turns.
 */
static void short_blocks_use_all_cores(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->vector_cores = 5;
  soc->launch_block_ps = 7000000;
  struct run run = runs_with(soc, HEAD(7) AIV VADD(1), NULL);
  assert_int_equal(run.status, VINCI_OK);
  static const uint32_t blocks[] = {2, 2, 1, 1, 1};
  for (unsigned i = 0; i < 5; i++)
    assert_int_equal(run.result->cores[i].blocks_run, blocks[i]);
  assert_int_equal(run.result->kernels[0].first_block_ps, soc->launch_base_ps);
  assert_int_equal(run.result->kernels[0].last_block_ps, soc->launch_base_ps + 6 * 7000000);
  assert_int_equal(run.result->kernels[0].places, 5);
  vinci_result_free(run.result);
  vinci_soc_free(soc);
}

static void kernels_follow_one_another_and_share_l2(void **state) {
  (void)state;
  struct run run =
      runs_text(HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n"
                                    "kernel,name=again,arch=dav-c220,blocks=1\n" TENSORS AIV
                                    "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n");
  assert_int_equal(run.status, VINCI_OK);
  assert_int_equal(run.result->kernel_count, 2);
  assert_int_equal(run.result->l2.read_misses, 32);
  assert_int_equal(run.result->l2.read_hits, 32);
  /* the second launch starts where the first ended, and reads at 100 bytes per cycle */
  assert_int_equal(vinci_result_total_cycles(run.result), 1182 + 1000 + 100 + 41);
  vinci_result_free(run.result);
}

static void loops_are_executed(void **state) {
  (void)state;
  struct run run = runs_text(HEAD(1) AIV "loop,i,10\nloop,j,i\n" VADD(1) "endloop\nendloop\n");
  assert_int_equal(run.status, VINCI_OK);
  assert_int_equal(run.result->cores[0].pipe[PIPE_V].instructions, 45);
  vinci_result_free(run.result);
}

/* ---- between cores --------------------------------------------------------------- */

static void a_cube_core_waits_for_its_vector_cores(void **state) {
  (void)state;
  /* both AIV signal at 1060; 250 cycles later the AIC goes on: issue at 1311, mad 21 */
  assert_cycles(HEAD(1) AIV VADD(10) "ffts_cross_core_sync,pipe=V,mode=2,id=3\n"
                                     "stream,core=AIC\nwait_flag_dev,id=3\n"
                                     "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=fp16\n",
                1311 + 21);
}

static void vector_cores_wait_for_their_cube_core(void **state) {
  (void)state;
  assert_cycles(HEAD(1) AIV
                "wait_flag_dev,id=3\n" VADD(10) "stream,core=AIC\n"
                                                "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=fp16\n"
                                                "ffts_cross_core_sync,pipe=M,mode=2,id=3\n",
                1021 + 250 + 1 + 60);
}

static void synchronising_all_cores_needs_all_of_them(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->vector_cores = 4;
  static const char sync_all[] = AIV "ffts_cross_core_sync,pipe=V,mode=0,id=1\n"
                                     "wait_flag_dev,id=1\n";
  char text[512];
  snprintf(text, sizeof text, "%s%s", HEAD(4), sync_all);
  /* the last block starts at 1300, signals at 1300, all go on at 1550 */
  assert_int_equal(runs_cycles(soc, text), 1551);
  snprintf(text, sizeof text, "%s%s", HEAD(3), sync_all);
  struct run run = runs_with(soc, text, NULL);
  assert_int_equal(run.status, VINCI_E_DEADLOCK);
  assert_string_equal(run.diag.text,
                      "the simulated program hangs in kernel \"k\" after 0 of 3 blocks:\n"
                      "  core0.veccore0 S (and 2 more cores) waits for cross-core flag 1, line 5; "
                      "3 of 4 AIV cores have signalled it in mode 0, which needs all");
  vinci_result_free(run.result);
  vinci_soc_free(soc);
}

#define MAD "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=fp16\n"
#define SYNC(mode, id) "ffts_cross_core_sync,pipe=S,mode=" #mode ",id=" #id "\n"

static void a_core_cannot_signal_for_another(void **state) {
  (void)state;
  /* Only the first AIV signals, twice: the AIC waits for both. */
  struct run run = runs_text(HEAD(1) AIV "loop,n,2*(sub==0)\n" SYNC(
      2, 3) "endloop\n"
            "scalar,cycles=10\nstream,core=AIC\nwait_flag_dev,id=3\n" MAD);
  assert_int_equal(run.status, VINCI_E_DEADLOCK);
  assert_null(strstr(run.diag.text, "mode 0")); /* only there all cores count */
  vinci_result_free(run.result);
}

static void one_flag_serves_both_directions(void **state) {
  (void)state;
  /* The AIC signals while one AIV has and the other has not: that one's signal stays.
   * AIV 0 at 1000, the AIC at 1000, AIV 1 at 2000; the AIC goes on 250 cycles later. */
  assert_cycles(HEAD(1) AIV "scalar,cycles=1+999*sub\n" SYNC(
                    2, 0) "wait_flag_dev,id=0\n"
                          "stream,core=AIC\n" SYNC(2, 0) "wait_flag_dev,id=0\n" MAD,
                2000 + 250 + 1 + 21);
}

static void the_vector_cores_of_a_block_wait_for_each_other(void **state) {
  (void)state;
  /* the slower comes at 1500; both go on at 1750 */
  assert_cycles(HEAD(1) AIV "scalar,cycles=1+499*sub\n" SYNC(1, 7) "wait_flag_dev,id=7\n" VADD(
                    10) "stream,core=AIC\n" MAD,
                1751 + 60);
}

static void results_say_what_a_kernel_ran_on(void **state) {
  (void)state;
  struct run run = runs_text(HEAD(30) AIV "scalar\nstream,core=AIC\nscalar\n"
                                          "kernel,name=v,arch=dav-c220,blocks=2\n" AIV "scalar\n");
  assert_int_equal(run.status, VINCI_OK);
  assert_int_equal(run.result->kernel_count, 2);
  assert_int_equal(run.result->kernels[0].kind, CORE_AIC);
  assert_int_equal(run.result->kernels[0].vectors_per_cube, 2);
  assert_int_equal(run.result->kernels[1].kind, CORE_AIV);
  assert_int_equal(run.result->kernels[1].vectors_per_cube, 0);
  vinci_result_free(run.result);
}

static void signals_do_not_outlive_their_block(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->cube_cores = 1;
  soc->vector_cores = 2;
  /* Block 0: AIV 0 signals alone. Block 1 on the same cores: AIV 1 alone; nobody is complete. */
  struct run run = runs_with(
      soc,
      HEAD(2) AIV "loop,n,sub==blk\n" SYNC(2, 3) "endloop\n"
                                                 "scalar,cycles=1\nstream,core=AIC\n"
                                                 "loop,n,blk\nwait_flag_dev,id=3\nendloop\n" MAD,
      NULL);
  assert_int_equal(run.status, VINCI_E_DEADLOCK);
  vinci_result_free(run.result);
  vinci_soc_free(soc);
}

static void one_engine_moves_one_thing_at_a_time(void **state) {
  (void)state;
  /* FIX: 100 + 512 / 100 cycles, to the nearest from L0C to L1, to the end of the last in GM. */
  uint64_t both[2];
  static const char *const order[2] = {"copy_matrix_cc_to_cbuf,dst=0,src=0,n=16,m=16,dst_stride=16,"
                                       "src_stride=16,quant=f322f16,type=fp32\n"
                                       "copy_matrix_cc_to_gm,dst=y,src=0,n=16,m=16,dst_stride=16,"
                                       "src_stride=16,quant=f322f16,type=fp32\n",
                                       "copy_matrix_cc_to_gm,dst=y,src=0,n=16,m=16,dst_stride=16,"
                                       "src_stride=16,quant=f322f16,type=fp32\n"
                                       "copy_matrix_cc_to_cbuf,dst=0,src=0,n=16,m=16,dst_stride=16,"
                                       "src_stride=16,quant=f322f16,type=fp32\n"};
  for (unsigned i = 0; i < 2; i++) {
    char text[1024];
    snprintf(text, sizeof text, "%s%sstream,core=AIC\n%s", HEAD(1), TENSORS, order[i]);
    vinci_soc *soc = fixture_soc();
    both[i] = runs_cycles(soc, text);
    vinci_soc_free(soc);
  }
  assert_int_equal(both[0], 1000 + 105 + 106);
  assert_int_equal(both[0], both[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_instruction_takes_its_latency),
      cmocka_unit_test(back_to_back_instructions_keep_the_issue_distance),
      cmocka_unit_test(parts_of_cycles_add_up_in_a_stream),
      cmocka_unit_test(a_barrier_waits_for_completion),
      cmocka_unit_test(a_barrier_of_all_pipes_holds_the_scalar_unit),
      cmocka_unit_test(a_copy_takes_start_up_and_bytes),
      cmocka_unit_test(plain_copies_follow_each_other),
      cmocka_unit_test(aligned_copies_start_up_behind_each_other),
      cmocka_unit_test(a_flag_orders_two_pipes),
      cmocka_unit_test(a_flag_set_does_not_hold_its_own_pipe),
      cmocka_unit_test(the_scalar_unit_waits_and_sets_flags),
      cmocka_unit_test(a_full_queue_stalls_the_scalar_unit),
      cmocka_unit_test(stalls_are_counted_by_reason),
      cmocka_unit_test(blocks_are_dispatched_one_after_the_other),
      cmocka_unit_test(more_blocks_than_cores_run_in_rounds),
      cmocka_unit_test(short_blocks_use_all_cores),
      cmocka_unit_test(kernels_follow_one_another_and_share_l2),
      cmocka_unit_test(loops_are_executed),
      cmocka_unit_test(a_cube_core_waits_for_its_vector_cores),
      cmocka_unit_test(vector_cores_wait_for_their_cube_core),
      cmocka_unit_test(synchronising_all_cores_needs_all_of_them),
      cmocka_unit_test(a_core_cannot_signal_for_another),
      cmocka_unit_test(one_flag_serves_both_directions),
      cmocka_unit_test(the_vector_cores_of_a_block_wait_for_each_other),
      cmocka_unit_test(results_say_what_a_kernel_ran_on),
      cmocka_unit_test(signals_do_not_outlive_their_block),
      cmocka_unit_test(one_engine_moves_one_thing_at_a_time),
  };
  return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
