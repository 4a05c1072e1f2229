/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the cores: issue, queues, flags, barriers, dispatch. Expected cycles are
 * worked out by hand from the numbers of the fixture, which are all different: a
 * core of 1 GHz; vadd 23 + 4 per repeat; copies from GM 103 + bytes / 53 cycles (bytes / 109
 * from L2), at least 137; a mad of one tile 19 + 1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/runs.h"

enum {
  LAUNCH = FIXTURE_LAUNCH, /* the first block starts */
  BLOCK = FIXTURE_BLOCK,
  ISSUE = FIXTURE_ISSUE,
  FLAG = FIXTURE_FLAG,
  BARRIER = FIXTURE_BARRIER,
  CROSS = FIXTURE_CROSS,
  STEP = 40,       /* VADD(10) to VADD(10): 4 a repeat */
  ADD = 23 + STEP, /* VADD(10) alone */
  COPY = 103 + 78, /* 4096 bytes from device memory: 103 + 77.28 */
  TILE = 19 + 1,   /* a mad of one tile */
};

static void assert_cycles(const char *text, uint64_t expected) {
  vinci_soc *soc = fixture_soc();
  assert_int_equal(runs_cycles(soc, text), expected);
  vinci_soc_free(soc);
}

/* ---- timing ------------------------------------------------------------------ */

static void one_instruction_takes_its_latency(void **state) {
  (void)state;
  assert_cycles(HEAD(1) AIV VADD(10), LAUNCH + ADD);
}

static void back_to_back_instructions_keep_the_issue_distance(void **state) {
  (void)state;
  assert_cycles(HEAD(1) AIV VADD(10) VADD(10) VADD(10), LAUNCH + 2 * STEP + ADD);
}

static void parts_of_cycles_add_up_in_a_stream(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->vector_class[VECTOR_CLASS_TWO].per_repeat_mcycles = 4040;
  /* 40.4 each: starts at 0, 40, 80, 121, 161, 202; the last takes 23 + 40.4 */
  assert_int_equal(
      runs_cycles(soc, HEAD(1) AIV VADD(10) VADD(10) VADD(10) VADD(10) VADD(10) VADD(10)),
      LAUNCH + 202 + 64);
  /* after a pause they start anew: twice 0, 40, 80, and the last to 80 + 63.4 */
  assert_int_equal(runs_cycles(soc, HEAD(1) AIV VADD(10) VADD(10) VADD(
                                        10) "pipe_barrier,pipe=V\n" VADD(10) VADD(10) VADD(10)),
                   LAUNCH + 144 + BARRIER + 144);
  vinci_soc_free(soc);
}

static void a_barrier_waits_for_completion(void **state) {
  (void)state;
  assert_cycles(HEAD(1) AIV VADD(10) "pipe_barrier,pipe=V\n" VADD(10),
                LAUNCH + ADD + BARRIER + ADD);
}

static void a_barrier_of_all_pipes_holds_the_scalar_unit(void **state) {
  (void)state;
  /* The scalar unit goes on when V has drained and the barrier has taken its cycles. */
  assert_cycles(HEAD(1) AIV VADD(10) "pipe_barrier,pipe=ALL\n" VADD(10),
                LAUNCH + ADD + BARRIER + ADD);
}

static void a_copy_takes_start_up_and_bytes(void **state) {
  (void)state;
  /* 4096 bytes from device memory at 53 bytes per cycle: 77.28 */
  assert_cycles(HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n",
                LAUNCH + 103 + 78);
}

static void plain_copies_follow_each_other(void **state) {
  (void)state;
  assert_cycles(HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n"
                                    "copy_gm_to_ubuf,dst=4096,src=x+4096,len_burst=128\n",
                LAUNCH + 2 * COPY);
}

static void aligned_copies_start_up_behind_each_other(void **state) {
  (void)state;
  /* the second starts 37 later, and streams when the first has: 103 + 2 * 77.28 = 257.57 */
  assert_cycles(HEAD(1) TENSORS AIV
                "copy_gm_to_ubuf_align_b8,dst=0,src=x,n_burst=1,len_burst=4096\n"
                "copy_gm_to_ubuf_align_b8,dst=4096,src=x+4096,n_burst=1,len_burst=4096\n",
                LAUNCH + 258);
}

#define COPY_ALIGNED(bytes) "copy_gm_to_ubuf_align_b8,dst=0,src=x,n_burst=1,len_burst=" #bytes "\n"

static void short_copies_take_the_shortest(void **state) {
  (void)state;
  /* 103 + 32 / 53 is less than 137; the second of two starts 37 later */
  assert_cycles(HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=1\n", LAUNCH + 137);
  assert_cycles(HEAD(1) TENSORS AIV COPY_ALIGNED(32) COPY_ALIGNED(32), LAUNCH + 37 + 137);
}

static void a_barrier_waits_for_transfers(void **state) {
  (void)state;
  assert_cycles(HEAD(1) TENSORS AIV COPY_ALIGNED(4096) "pipe_barrier,pipe=MTE2\n"
                                                       "copy_gm_to_ubuf_align_b8,dst=4096,"
                                                       "src=x+4096,n_burst=1,len_burst=4096\n",
                LAUNCH + COPY + BARRIER + COPY);
}

static void a_short_instruction_does_not_end_a_long_one(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->vector_class[VECTOR_CLASS_TWO].startup_mcycles = 500000;
  /* vadd ends at 500 + 4; vabs, of another class, starts at 11 and is through long before. */
  assert_int_equal(runs_cycles(soc, HEAD(1) AIV VADD(1) "vabs,dst=0,src=8192,repeat=1,type=fp16\n"),
                   LAUNCH + 504);
  vinci_soc_free(soc);
}

static void a_flag_orders_two_pipes(void **state) {
  (void)state;
  assert_cycles(HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n"
                                    "set_flag,src=MTE2,dst=V,id=0\n"
                                    "wait_flag,src=MTE2,dst=V,id=0\n" VADD(10),
                LAUNCH + COPY + FLAG + ADD);
}

static void a_flag_set_does_not_hold_its_own_pipe(void **state) {
  (void)state;
  assert_cycles(HEAD(1) AIV VADD(10) "set_flag,src=V,dst=MTE3,id=0\n" VADD(
                    10) "wait_flag,src=V,dst=MTE3,id=0\n",
                LAUNCH + STEP + ADD);
}

static void the_scalar_unit_waits_and_sets_flags(void **state) {
  (void)state;
  /* V ends, the flag is seen, the wait takes the scalar unit an issue; then vadd is issued. */
  assert_cycles(HEAD(1)
                    AIV VADD(10) "set_flag,src=V,dst=S,id=0\nwait_flag,src=V,dst=S,id=0\n" VADD(10),
                LAUNCH + ADD + FLAG + ISSUE + ADD);
  /* The scalar unit works for 500 cycles and sets the flag; by when V sees the flag, vadd has been
   * issued, as the third: 2 * 3 < 7. */
  assert_cycles(HEAD(1) AIV "scalar,cycles=500\nset_flag,src=S,dst=V,id=0\n"
                            "wait_flag,src=S,dst=V,id=0\n" VADD(10),
                LAUNCH + 500 + FLAG + ADD);
}

static void a_flag_set_before_the_wait_still_has_its_latency(void **state) {
  (void)state;
  /* V sets the flag at 63; the scalar unit comes to the wait at 65. */
  assert_cycles(HEAD(1) AIV VADD(10) "set_flag,src=V,dst=S,id=0\nscalar,cycles=59\n"
                                     "wait_flag,src=V,dst=S,id=0\n" VADD(10),
                LAUNCH + ADD + FLAG + ISSUE + ADD);
}

static void a_block_ends_with_its_scalar_unit(void **state) {
  (void)state;
  struct run run = runs_text(HEAD(1) AIV VADD(10) "scalar,cycles=500\n");
  assert_int_equal(run.status, VINCI_OK);
  assert_int_equal(vinci_result_total_cycles(run.result), LAUNCH + ISSUE + 500);
  assert_int_equal(run.result->cores[0].active_cycles, ISSUE + 500);
  vinci_result_free(run.result);
}

static void a_full_queue_stalls_the_scalar_unit(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->queue_v = 2;
  struct run run = runs_with(soc, HEAD(1) AIV VADD(10) VADD(10) VADD(10) VADD(10) VADD(10), NULL);
  assert_int_equal(run.status, VINCI_OK);
  assert_int_equal(vinci_result_total_cycles(run.result), LAUNCH + 4 * STEP + ADD);
  const struct pipe_counters *scalar = &run.result->cores[0].pipe[PIPE_S];
  /* From the launch on, the fourth waits from 9 to 40, the fifth from 43 to 80. */
  assert_int_equal(scalar->stall_cycles[STALL_QUEUE_FULL], 31 + 37);
  assert_int_equal(scalar->busy_cycles, 5 * ISSUE);
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
  assert_int_equal(v->busy_cycles, ADD);
  /* The wait reaches the pipe as third instruction and ends when the flag is seen. */
  assert_int_equal(v->stall_cycles[STALL_WAIT_FLAG], COPY + FLAG - 2 * ISSUE);
  assert_int_equal(v->stall_cycles[STALL_BARRIER], BARRIER);
  assert_int_equal(v->idle_cycles, LAUNCH + 2 * ISSUE);
  assert_int_equal(v->instructions, 3);
  assert_int_equal(run.result->cores[0].pipe[PIPE_MTE2].busy_cycles, COPY);
  /* A core without a block waits for nothing. */
  const struct core_result *without = &run.result->cores[1];
  assert_int_equal(without->pipe[PIPE_S].idle_cycles, without->total_cycles);
  vinci_result_free(run.result);
}

/* 17 cycles for each instruction: the second vadd is issued 2 x 17 after the start, a later block
 * starts anew. */
static void a_kernel_says_what_its_instructions_cost(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->vector_cores = 1;
  struct run run =
      runs_with(soc, HEAD(2) AIV VADD(1) "issue_cost,cycles=17\n" VADD(1) VADD(1), NULL);
  assert_int_equal(run.status, VINCI_OK);
  assert_int_equal(run.result->cores[0].pipe[PIPE_S].busy_cycles, 2 * (ISSUE + 2 * 17));
  vinci_result_free(run.result);
  assert_int_equal(runs_cycles(soc, HEAD(1) AIV "issue_cost,cycles=17\n" VADD(1) VADD(1)),
                   LAUNCH + 17 + 27);
  vinci_soc_free(soc);
}

static void stalls_of_every_part_have_their_reason(void **state) {
  (void)state;
  /* MTE3 waits for V as third instruction, the scalar unit for both from the fourth on: vadd, the
   * latency of the flag, and the copy to GM of at least 191. */
  struct run run = runs_text(HEAD(1) TENSORS AIV VADD(
      10) "set_flag,src=V,dst=MTE3,id=0\nwait_flag,src=V,dst=MTE3,id=0\n"
          "copy_ubuf_to_gm,dst=y,src=0,len_burst=1\npipe_barrier,pipe=ALL\n");
  assert_int_equal(run.status, VINCI_OK);
  const struct pipe_counters *pipe = run.result->cores[0].pipe;
  assert_int_equal(pipe[PIPE_MTE3].stall_cycles[STALL_WAIT_FLAG], ADD + FLAG - 2 * ISSUE);
  assert_int_equal(pipe[PIPE_MTE3].busy_cycles, 191);
  assert_int_equal(pipe[PIPE_MTE3].idle_cycles, LAUNCH + 2 * ISSUE + BARRIER);
  assert_int_equal(pipe[PIPE_S].stall_cycles[STALL_BARRIER], ADD + FLAG + 191 - 4 * ISSUE);
  assert_int_equal(run.result->cores[0].path_bytes[PATH_UB_GM], 32);
  vinci_result_free(run.result);
  /* The flag is there when V comes to the wait, an issue later: the rest of its latency. */
  run = runs_text(HEAD(1) AIV "set_flag,src=S,dst=V,id=0\nwait_flag,src=S,dst=V,id=0\n");
  assert_int_equal(run.status, VINCI_OK);
  pipe = run.result->cores[0].pipe;
  assert_int_equal(pipe[PIPE_V].stall_cycles[STALL_WAIT_FLAG], FLAG - ISSUE);
  vinci_result_free(run.result);
}

static void vector_cores_count_in_a_clock_of_their_own(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->vector_hz = 500000000;
  /* Edges of the slower clock lie at even cycles of the other: the next one starts the block. */
  assert_int_equal(runs_cycles(soc, HEAD(1) AIV VADD(10)), LAUNCH + 1 + 2 * ADD);
  vinci_soc_free(soc);
}

/* ---- dispatch ------------------------------------------------------------------ */

static void blocks_are_dispatched_one_after_the_other(void **state) {
  (void)state;
  assert_cycles(HEAD(40) AIV VADD(10), LAUNCH + 39 * BLOCK + ADD);
  assert_cycles(HEAD(100) AIV VADD(10), LAUNCH + 99 * BLOCK + ADD);
}

/* 20 clusters of an AIC and two AIV. */
static void a_kernel_that_leaves_cores_free_is_dispatched_by_clusters(void **state) {
  (void)state;
  assert_cycles(HEAD(5) AIV VADD(10), LAUNCH + 4 * FIXTURE_CLUSTER + ADD);
  assert_cycles(HEAD(39) AIV VADD(10), LAUNCH + 19 * FIXTURE_CLUSTER + ADD);
}

static void more_blocks_than_cores_run_in_rounds(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->vector_cores = 2;
  /* 23 + 4 * 255 = 1043 cycles each: the fifth block is the third of the first core. */
  assert_int_equal(runs_cycles(soc, HEAD(5) AIV VADD(255)), LAUNCH + 3 * 1043);
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

static void each_kernel_begins_with_the_first_core(void **state) {
  (void)state;
  struct run run =
      runs_text(HEAD(3) AIV VADD(1) "kernel,name=again,arch=dav-c220,blocks=2\n" AIV VADD(1));
  assert_int_equal(run.status, VINCI_OK);
  static const uint32_t blocks[] = {2, 2, 1};
  for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++)
    assert_int_equal(run.result->cores[i].blocks_run, blocks[i]);
  vinci_result_free(run.result);
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
  /* the second launch starts where the first ended, and reads at 109 bytes per cycle: 37.58 */
  assert_int_equal(vinci_result_total_cycles(run.result), LAUNCH + COPY + LAUNCH + 103 + 38);
  vinci_result_free(run.result);
}

static void flags_do_not_outlive_their_block(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->vector_cores = 1;
  /* Nobody waits for the flag: both blocks may set it, since each starts without. The second is
   * handed out 101 cycles after the first, whose 63 are over by then. */
  assert_int_equal(runs_cycles(soc, HEAD(2) AIV VADD(10) "set_flag,src=V,dst=MTE3,id=0\n"),
                   LAUNCH + BLOCK + ADD);
  vinci_soc_free(soc);
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
  /* Both AIV signal at their end; the AIC sees the signals and issues the mad behind the wait. */
  assert_cycles(HEAD(1) AIV VADD(10) "ffts_cross_core_sync,pipe=V,mode=2,id=3\n"
                                     "stream,core=AIC\nwait_flag_dev,id=3\n"
                                     "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=fp16\n",
                LAUNCH + ADD + CROSS + ISSUE + TILE);
}

static void vector_cores_wait_for_their_cube_core(void **state) {
  (void)state;
  assert_cycles(HEAD(1) AIV
                "wait_flag_dev,id=3\n" VADD(10) "stream,core=AIC\n"
                                                "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=fp16\n"
                                                "ffts_cross_core_sync,pipe=M,mode=2,id=3\n",
                LAUNCH + TILE + CROSS + ISSUE + ADD);
}

static void a_signal_before_the_wait_still_has_its_latency(void **state) {
  (void)state;
  /* Both AIV signal at once; the AIC waits from cycle 100 on. */
  struct run run = runs_text(HEAD(1) AIV "ffts_cross_core_sync,pipe=S,mode=2,id=3\n"
                                         "stream,core=AIC\nscalar,cycles=100\n"
                                         "wait_flag_dev,id=3\n"
                                         "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=fp16\n");
  assert_int_equal(run.status, VINCI_OK);
  assert_int_equal(vinci_result_total_cycles(run.result), LAUNCH + CROSS + ISSUE + TILE);
  const struct pipe_counters *scalar = &run.result->cores[0].pipe[PIPE_S];
  assert_int_equal(scalar->stall_cycles[STALL_CROSS_CORE], CROSS - 100);
  vinci_result_free(run.result);
}

static void synchronising_all_blocks_needs_all_of_them(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->vector_cores = 4;
  static const char sync_all[] = AIV "ffts_cross_core_sync,pipe=V,mode=0,id=1\n"
                                     "wait_flag_dev,id=1\n";
  char text[512];
  snprintf(text, sizeof text, "%s%s", HEAD(4), sync_all);
  /* The last of four blocks signals when it starts; all see its signal. */
  assert_int_equal(runs_cycles(soc, text), LAUNCH + 3 * BLOCK + CROSS + ISSUE);
  snprintf(text, sizeof text, "%s%s", HEAD(5), sync_all);
  struct run run = runs_with(soc, text, NULL);
  assert_int_equal(run.status, VINCI_E_DEADLOCK);
  assert_string_equal(run.diag.text,
                      "the simulated program hangs in kernel \"k\" after 0 of 5 blocks:\n"
                      "  core0.veccore0 S (and 3 more cores) waits for cross-core flag 1, line 5; "
                      "4 of the 5 AIV cores of all blocks have signalled it in mode 0");
  vinci_result_free(run.result);
  vinci_soc_free(soc);
}

#define MAD "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=fp16\n"
#define SYNC(mode, id) "ffts_cross_core_sync,pipe=S,mode=" #mode ",id=" #id "\n"

static void a_wait_takes_what_it_waits_for(void **state) {
  (void)state;
  /* One flag, one signal of each AIV: the second wait has nothing to take. */
  static const char *const texts[] = {
      HEAD(1) AIV "set_flag,src=MTE2,dst=V,id=0\nwait_flag,src=MTE2,dst=V,id=0\n"
                  "wait_flag,src=MTE2,dst=V,id=0\n",
      HEAD(1) AIV SYNC(2, 3) "stream,core=AIC\nwait_flag_dev,id=3\nwait_flag_dev,id=3\n"};
  for (unsigned i = 0; i < 2; i++) {
    struct run run = runs_text(texts[i]);
    assert_int_equal(run.status, VINCI_E_DEADLOCK);
    vinci_result_free(run.result);
  }
  /* AIV 0 signals twice, AIV 1 once: that is one meeting. */
  struct run run = runs_text(HEAD(1) AIV "loop,n,2-sub\n" SYNC(
      2, 3) "endloop\nscalar,cycles=9\nstream,core=AIC\nloop,n,2\nwait_flag_dev,id=3\nendloop\n");
  assert_int_equal(run.status, VINCI_E_DEADLOCK);
  vinci_result_free(run.result);
}

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
   * AIV 0 after 1 cycle, the AIC at once, AIV 1 after 1000. */
  assert_cycles(HEAD(1) AIV "scalar,cycles=1+999*sub\n" SYNC(
                    2, 0) "wait_flag_dev,id=0\n"
                          "stream,core=AIC\n" SYNC(2, 0) "wait_flag_dev,id=0\n" MAD,
                LAUNCH + 1000 + CROSS + ISSUE + TILE);
}

static void the_vector_cores_of_a_block_wait_for_each_other(void **state) {
  (void)state;
  /* the slower comes after 500 cycles; both see its signal */
  assert_cycles(HEAD(1) AIV "scalar,cycles=1+499*sub\n" SYNC(1, 7) "wait_flag_dev,id=7\n" VADD(
                    10) "stream,core=AIC\n" MAD,
                LAUNCH + 500 + CROSS + ISSUE + ADD);
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
  /* FIX: from L0C to L1 107 + 512 / 139 = 110.68, to the nearest; to GM 113 + 512 / 107 = 117.79,
   * to the end of the last cycle. */
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
  assert_int_equal(both[0], LAUNCH + 111 + 118);
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
      cmocka_unit_test(short_copies_take_the_shortest),
      cmocka_unit_test(a_barrier_waits_for_transfers),
      cmocka_unit_test(a_short_instruction_does_not_end_a_long_one),
      cmocka_unit_test(a_flag_orders_two_pipes),
      cmocka_unit_test(a_flag_set_does_not_hold_its_own_pipe),
      cmocka_unit_test(the_scalar_unit_waits_and_sets_flags),
      cmocka_unit_test(a_flag_set_before_the_wait_still_has_its_latency),
      cmocka_unit_test(a_block_ends_with_its_scalar_unit),
      cmocka_unit_test(a_full_queue_stalls_the_scalar_unit),
      cmocka_unit_test(stalls_are_counted_by_reason),
      cmocka_unit_test(a_kernel_says_what_its_instructions_cost),
      cmocka_unit_test(stalls_of_every_part_have_their_reason),
      cmocka_unit_test(vector_cores_count_in_a_clock_of_their_own),
      cmocka_unit_test(blocks_are_dispatched_one_after_the_other),
      cmocka_unit_test(a_kernel_that_leaves_cores_free_is_dispatched_by_clusters),
      cmocka_unit_test(more_blocks_than_cores_run_in_rounds),
      cmocka_unit_test(short_blocks_use_all_cores),
      cmocka_unit_test(each_kernel_begins_with_the_first_core),
      cmocka_unit_test(kernels_follow_one_another_and_share_l2),
      cmocka_unit_test(flags_do_not_outlive_their_block),
      cmocka_unit_test(loops_are_executed),
      cmocka_unit_test(a_cube_core_waits_for_its_vector_cores),
      cmocka_unit_test(vector_cores_wait_for_their_cube_core),
      cmocka_unit_test(a_signal_before_the_wait_still_has_its_latency),
      cmocka_unit_test(synchronising_all_blocks_needs_all_of_them),
      cmocka_unit_test(a_wait_takes_what_it_waits_for),
      cmocka_unit_test(a_core_cannot_signal_for_another),
      cmocka_unit_test(one_flag_serves_both_directions),
      cmocka_unit_test(the_vector_cores_of_a_block_wait_for_each_other),
      cmocka_unit_test(results_say_what_a_kernel_ran_on),
      cmocka_unit_test(signals_do_not_outlive_their_block),
      cmocka_unit_test(one_engine_moves_one_thing_at_a_time),
  };
  return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
