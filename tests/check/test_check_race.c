/* SPDX-License-Identifier: Apache-2.0 */
/* racecheck and synccheck: each message, and programs that must not raise any. */
#include "tests/support/checks.h"

#define VADDS(dst, src) "vadds,dst=" dst ",src=" src ",scalar=1,repeat=1,type=fp16\n"
#define DUP(dst) "vector_dup,dst=" dst ",scalar=0,repeat=1,type=fp16\n"

enum { RACE = VINCI_CHECK_RACECHECK, SYNC = VINCI_CHECK_SYNCCHECK };

/* ---- inside a pipe, between pipes ------------------------------------------------------- */

static void test_read_after_write(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) COPY_IN VADDS("uby", "ubx"), RACE,
                "====== ERROR: Potential RAW hazard detected at UB in k:\n"
                "======    PIPE_MTE2 Write at 0x0, 256 bytes, in block aiv(0)\n"
                "======    #0 t.csv:8 copy_gm_to_ubuf\n"
                "======    PIPE_V Read at 0x0, 256 bytes, in block aiv(0)\n"
                "======    #0 t.csv:9 vadds\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
}

static void test_inside_the_vector_pipe(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) DUP("ubx") VADDS("uby", "ubx"), RACE,
                "====== ERROR: Potential RAW hazard detected at UB in k:\n"
                "======    PIPE_V Write at 0x0, 256 bytes, in block aiv(0)\n"
                "======    #0 t.csv:8 vector_dup\n"
                "======    PIPE_V Read at 0x0, 256 bytes, in block aiv(0)\n"
                "======    #0 t.csv:9 vadds\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  assert_true(finds(CHECK_HEAD(1) DUP("ubx") DUP("ubx+128"), RACE, FINDING_WAW, 9));
  assert_true(finds(CHECK_HEAD(1) VADDS("uby", "ubx") DUP("ubx"), RACE, FINDING_WAR, 9));
  expect_clean(CHECK_HEAD(1) DUP("ubx") BARRIER(V) VADDS("uby", "ubx") BARRIER(V) DUP("ubx"));
  expect_clean(CHECK_HEAD(1) DUP("ubx") BARRIER(ALL) VADDS("uby", "ubx"));
  /* In place: an instruction is no hazard to itself. */
  expect_clean(CHECK_HEAD(1) DUP("ubx") BARRIER(V) VADDS("ubx", "ubx"));
  /* A flag to the scalar unit and back orders as well. */
  expect_clean(CHECK_HEAD(1) DUP("ubx") SET(V, S) WAIT(V, S) VADDS("uby", "ubx"));
  /* A barrier of another pipe does not. */
  assert_true(
      finds(CHECK_HEAD(1) DUP("ubx") BARRIER(MTE2) VADDS("uby", "ubx"), RACE, FINDING_RAW, 10));
}

static void test_inside_other_pipes(void **state) {
  (void)state;
  assert_true(finds(CHECK_HEAD(1) COPY_IN COPY_IN, RACE, FINDING_WAW, 9));
  expect_clean(CHECK_HEAD(1) COPY_IN BARRIER(MTE2) COPY_IN);
  assert_true(finds(CHECK_HEAD(1) DUP("uby") SET(V, MTE3) WAIT(V, MTE3) COPY_OUT COPY_OUT, RACE,
                    FINDING_WAW, 12));
}

static void test_write_after_read_of_another_pipe(void **state) {
  (void)state;
  static const char text[] = CHECK_HEAD(1) DUP("uby") SET(V, MTE3) WAIT(V, MTE3) COPY_OUT DUP("uby")
      SET(MTE3, V) WAIT(MTE3, V);
  assert_true(finds(text, RACE, FINDING_WAR, 12));
  expect_clean(CHECK_HEAD(1) DUP("uby") SET(V, MTE3) WAIT(V, MTE3) COPY_OUT SET(MTE3, V)
                   WAIT(MTE3, V) DUP("uby"));
}

/* An order holds through a third pipe. */
static void test_order_is_transitive(void **state) {
  (void)state;
  expect_clean(CHECK_HEAD(1) COPY_IN SET(MTE2, MTE3) WAIT(MTE2, MTE3) SET(MTE3, V) WAIT(MTE3, V)
                   VADDS("uby", "ubx"));
}

/* A flag orders what stands before the set and behind the wait, no more. */
static void test_flags_order_only_what_they_enclose(void **state) {
  (void)state;
  assert_true(finds(CHECK_HEAD(1) SET(MTE2, V) WAIT(MTE2, V) COPY_IN VADDS("uby", "ubx"), RACE,
                    FINDING_RAW, 11));
  assert_true(finds(CHECK_HEAD(1) COPY_IN SET(MTE2, V) VADDS("uby", "ubx") WAIT(MTE2, V), RACE,
                    FINDING_RAW, 10));
}

#define TURN(wait_free, set_free)                                                                  \
  CHECK_HEAD(1)                                                                                    \
  "set_flag,src=V,dst=MTE2,id=0\nset_flag,src=V,dst=MTE2,id=1\n"                                   \
  "loop,i,6\nlet,b,i%2\n" wait_free "copy_gm_to_ubuf,dst=ubx+b*2048,src=x,len_burst=8\n"           \
  "set_flag,src=MTE2,dst=V,id=b\nwait_flag,src=MTE2,dst=V,id=b\n"                                  \
  "vadds,dst=uby+b*2048,src=ubx+b*2048,scalar=1,repeat=1,type=fp16\n" BARRIER(V) set_free          \
      "endloop\nwait_flag,src=V,dst=MTE2,id=0\nwait_flag,src=V,dst=MTE2,id=1\n"
#define WAIT_FREE(id) "wait_flag,src=V,dst=MTE2,id=" id "\n"
#define SET_FREE(id) "set_flag,src=V,dst=MTE2,id=" id "\n"

static void test_double_buffers(void **state) {
  (void)state;
  expect_clean(TURN(WAIT_FREE("b"), SET_FREE("b")));
  /* The flag of the other buffer: one turn too early. */
  expect_found(TURN(WAIT_FREE("1-b"), SET_FREE("b")), RACE);
}

static void test_disjoint_lanes_do_not_race(void **state) {
  (void)state;
#define LANES(first, second)                                                                       \
  CHECK_HEAD(1)                                                                                    \
  "set_vector_mask,high=0,low=" first "\n" DUP("ubx") "set_vector_mask,high=0,low=" second         \
                                                      "\n" DUP("ubx")
  expect_clean(LANES("0x5555", "0xaaaa"));
  expect_clean(LANES("0xff", "0xff00"));
  assert_true(finds(LANES("0x5555", "0xa8aa1"), RACE, FINDING_WAW, 11));
}

static void test_disjoint_strides_do_not_race(void **state) {
  (void)state;
  static const char text[] =
      CHECK_HEAD(1) "vector_dup,dst=ubx,scalar=0,repeat=4,dst_block=2,dst_repeat=16,type=fp16\n"
                    "vector_dup,dst=ubx+%d,scalar=0,repeat=4,dst_block=2,dst_repeat=16,type=fp16\n";
  char between[1024], same[1024];
  snprintf(between, sizeof between, text, 32);
  snprintf(same, sizeof same, text, 64);
  expect_clean(between);
  assert_true(finds(same, RACE, FINDING_WAW, 9));
}

/* Halves of blocks of 8-bit elements are written by two instructions. */
static void test_halves_of_blocks_do_not_race(void **state) {
  (void)state;
#define CONVERT8(high) "scatter_vnchwconv_b8,dst=uby,src=ubx,dst_high=" high ",src_high=0\n"
  static const char prepare[] =
      CHECK_HEAD(1) "vector_dup,dst=ubx,scalar=0,repeat=2,type=fp16\n" BARRIER(V);
  char text[1024];
  snprintf(text, sizeof text, "%s%s%s", prepare, CONVERT8("0"), CONVERT8("1"));
  expect_clean(text);
  snprintf(text, sizeof text, "%s%s%s", prepare, CONVERT8("1"), CONVERT8("1"));
  assert_true(finds(text, RACE, FINDING_WAW, 11));
}

/* ---- the cube ------------------------------------------------------------------------------- */

#define MAD(m, n, init, flag)                                                                      \
  "mad,c=0,a=0,b=0,m=" m ",k=16,n=" n ",init=" init ",unit_flag=" flag ",type=fp16\n"
#define FIX_OUT(flag)                                                                              \
  "copy_matrix_cc_to_gm,dst=c,src=0,n=16,m=16,dst_stride=16,src_stride=16,unit_flag=" flag         \
  ",nz2nd=1,type=fp32\n"
#define AIC_HEAD HEAD(1) "tensor,name=c,dtype=fp32,shape=256x256,io=out\nstream,core=AIC\n"

static void test_mads_back_to_back(void **state) {
  (void)state;
  /* 10 tiles of 16 x 16 are enough, 9 are not. */
  assert_null(find_with(fixture_shared,
                        AIC_HEAD MAD("32", "80", "1", "0") MAD("32", "80", "0", "0"), RACE));
  assert_true(
      finds(AIC_HEAD MAD("48", "48", "1", "0") MAD("48", "48", "0", "0"), RACE, FINDING_RAW, 6));
  assert_null(find_with(fixture_shared,
                        AIC_HEAD MAD("48", "48", "1", "0") BARRIER(M) MAD("48", "48", "0", "0"),
                        RACE));
}

static void test_unit_flag_orders_mad_and_fixpipe(void **state) {
  (void)state;
  assert_true(finds(AIC_HEAD MAD("16", "16", "1", "0") FIX_OUT("0"), RACE, FINDING_RAW, 6));
  assert_null(find_with(fixture_shared, AIC_HEAD MAD("16", "16", "1", "3") FIX_OUT("3"), RACE));
}

/* ---- between cores --------------------------------------------------------------------------- */

#define SHARED(blocks, middle)                                                                     \
  HEAD(blocks)                                                                                     \
  "tensor,name=w,dtype=fp16,shape=41x128,io=inout\n" AIV                                           \
  "vector_dup,dst=0,scalar=0,repeat=1,type=fp16\n" SET(V, MTE3)                                    \
      WAIT(V, MTE3) "copy_ubuf_to_gm,dst=w+blk*256,src=0,len_burst=8\n" middle                     \
                    "copy_gm_to_ubuf,dst=4096,src=w+(blk+1)%blocks*256,len_burst=8\n"
#define MEET "ffts_cross_core_sync,pipe=MTE3,mode=0,id=0\nwait_flag_dev,id=0\n"

static void test_between_cores(void **state) {
  (void)state;
  /* Neither block is first: the access of the earlier line is called so. */
  expect_report(SHARED(2, ""), RACE,
                "====== ERROR: Potential RAW hazard detected at GM in k:\n"
                "======    PIPE_MTE3 Write at 0x1100, 256 bytes, in block aiv(1)\n"
                "======    #0 t.csv:8 copy_ubuf_to_gm\n"
                "======    PIPE_MTE2 Read at 0x1100, 256 bytes, in block aiv(0)\n"
                "======    #0 t.csv:9 copy_gm_to_ubuf\n"
                "======    2 times in all; the first is shown\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  expect_clean(SHARED(40, MEET));
  /* The signal of a pipe that does not write says nothing of the one that does. */
  assert_true(finds(SHARED(40, "ffts_cross_core_sync,pipe=MTE2,mode=0,id=0\nwait_flag_dev,id=0\n"),
                    RACE, FINDING_RAW, 11));
}

/* Blocks that follow each other on one core may as well run side by side. */
static void test_blocks_of_one_core_are_not_ordered(void **state) {
  (void)state;
  expect_found(SHARED(80, ""), RACE);
}

static void test_kernels_follow_each_other(void **state) {
  (void)state;
  expect_clean(CHECK_HEAD(2) DUP("uby") SET(V, MTE3) WAIT(
      V, MTE3) "copy_ubuf_to_gm,dst=y+blk*256,src=uby,len_burst=8\n"
               "kernel,name=k2,arch=dav-c220,blocks=2\ntensor,name=y,dtype=fp16,shape=2048,io="
               "inout\n" AIV "copy_gm_to_ubuf,dst=0,src=y+(1-blk)*256,len_burst=8\n" SET(MTE2, MTE3)
                   WAIT(MTE2, MTE3) "copy_ubuf_to_gm,dst=y+512+blk*256,src=0,len_burst=8\n");
}

/* More readers than a cell has room for. */
static void test_many_readers(void **state) {
  (void)state;
  static const char text[] =
      HEAD(24) "tensor,name=w,dtype=fp16,shape=2048,io=inout\n" AIV
               "loop,r,blk<23\ncopy_gm_to_ubuf,dst=0,src=w,len_burst=8\nendloop\n"
               "loop,o,blk==23\nvector_dup,dst=0,scalar=0,repeat=1,type=fp16\n" SET(V, MTE3)
                   WAIT(V, MTE3) "copy_ubuf_to_gm,dst=w,src=0,len_burst=8\nendloop\n";
  vinci_findings *findings = find_with(fixture_shared, text, RACE);
  assert_non_null(findings);
  assert_int_equal(findings->count, 1);
  assert_int_equal(findings->items[0].kind, FINDING_WAR);
  vinci_findings_free(findings);
}

static void test_atomic_stores_commute(void **state) {
  (void)state;
#define ATOMIC_STORE(before)                                                                       \
  HEAD(4)                                                                                          \
  "tensor,name=w,dtype=fp16,shape=2048,io=inout\n" AIV before DUP("0") SET(V, MTE3)                \
      WAIT(V, MTE3) "copy_ubuf_to_gm,dst=w,src=0,len_burst=8\n"
  expect_found(ATOMIC_STORE(""), 0);
  expect_clean(ATOMIC_STORE("set_atomic_f16\nset_atomic_add\n"));
}

/* Two blocks that each change the same 256 bytes, at `to`, in ways of their own. */
#define TWO_STORES(first, second, to)                                                              \
  HEAD(2)                                                                                          \
  "tensor,name=w,dtype=fp32,shape=2048,io=inout\n" AIV "loop,i,blk==0\n" first                     \
  "endloop\nloop,i,blk==1\n" second "endloop\n" DUP("0") SET(V, MTE3)                              \
      WAIT(V, MTE3) "copy_ubuf_to_gm,dst=w+" to ",src=0,len_burst=8\n"

/* Half a sum and half a maximum depend on who was first, and so do elements that overlap. */
static void test_atomic_stores_of_other_kinds_do_not_commute(void **state) {
  (void)state;
#define KIND(type, how) "set_atomic_" #type "\nset_atomic_" #how "\n"
  expect_clean(TWO_STORES(KIND(f32, add), KIND(f32, add), "0"));
  expect_clean(TWO_STORES(KIND(f32, add), KIND(f32, add), "blk*4"));
  assert_true(finds(TWO_STORES(KIND(f32, add), KIND(f32, max), "0"), RACE, FINDING_WAW, 16));
  assert_true(finds(TWO_STORES(KIND(f32, add), KIND(f16, add), "0"), RACE, FINDING_WAW, 16));
  assert_true(finds(TWO_STORES(KIND(f32, add), KIND(f32, add), "blk*2"), RACE, FINDING_WAW, 16));
}

/* Blocks that follow each other on a core are many; what is kept of them is bounded, and a reader
 * that has an order with none of them is found. */
static void test_atomic_stores_of_many_blocks(void **state) {
  (void)state;
#define MANY(end)                                                                                  \
  HEAD(20000)                                                                                      \
  "tensor,name=w,dtype=fp16,shape=128,io=inout\n" AIV "set_atomic_add\n" DUP("0") SET(V, MTE3)     \
      WAIT(V, MTE3) "copy_ubuf_to_gm,dst=w,src=0,len_burst=8\n" end
  struct vinci_diag diag = {0};
  struct vinci_check_options options = {.struct_size = sizeof options, .max_shadow_bytes = 65536};
  vinci_findings *findings;
  vinci_trace *trace = runs_parse(MANY(""), fixture_shared);
  assert_int_equal(vinci_check(fixture_shared, trace, &options, &findings, &diag), VINCI_OK);
  vinci_findings_free(findings);
  vinci_trace_free(trace);
  assert_true(
      finds(MANY("loop,one,blk==19999\ncopy_gm_to_ubuf,dst=512,src=w,len_burst=8\nendloop\n"), RACE,
            FINDING_RAW, 11));
}

static void test_atomic_stores_name_what_they_change(void **state) {
  (void)state;
  static const char text[] = HEAD(1) "tensor,name=w,dtype=fp32,shape=128,io=out\n" AIV
                                     "set_atomic_add\nset_atomic_f32\n" DUP("0") SET(V, MTE3)
                                         WAIT(V, MTE3) "copy_ubuf_to_gm,dst=w,src=0,len_burst=8\n";
  const char *report = report_of(fixture_shared, text, VINCI_CHECK_INITCHECK);
  assert_non_null(
      strstr(report, "operand \"dst\" changes 256 bytes, of which 256 have never been written\n"));
  /* A second one changes what still nobody has set. */
  static const char twice[] = HEAD(1) "tensor,name=w,dtype=fp32,shape=128,io=out\n" AIV
                                      "set_atomic_add\nset_atomic_f32\n" DUP("0") SET(V, MTE3)
                                          WAIT(V, MTE3) "copy_ubuf_to_gm,dst=w,src=0,len_burst=8\n"
                                                        "copy_ubuf_to_gm,dst=w,src=0,len_burst=8\n";
  assert_true(finds(twice, VINCI_CHECK_INITCHECK, FINDING_UNINITIALIZED, 10));
  assert_true(finds(twice, VINCI_CHECK_INITCHECK, FINDING_UNINITIALIZED, 11));
}

#define MIXED(aic, aiv)                                                                            \
  HEAD(2)                                                                                          \
  "tensor,name=w,dtype=fp32,shape=2x64x64,io=workspace\nstream,core=AIC\n" aic AIV aiv
#define AIC_WRITES                                                                                 \
  "copy_matrix_cc_to_gm,dst=w+blk*16384,src=0,n=64,m=64,dst_stride=64,src_stride=64,nz2nd=1,"      \
  "type=fp32\n"
#define AIV_READS "copy_gm_to_ubuf,dst=0,src=w+blk*16384+sub*8192,len_burst=256\n"
#define SIGNAL(pipe) "ffts_cross_core_sync,pipe=" #pipe ",mode=2,id=1\n"

static void test_cores_of_a_block(void **state) {
  (void)state;
  assert_null(find_with(fixture_shared,
                        MIXED(AIC_WRITES SIGNAL(FIX), "wait_flag_dev,id=1\n" AIV_READS), RACE));
  vinci_findings *findings = find_with(
      fixture_shared, MIXED(SIGNAL(FIX) AIC_WRITES, "wait_flag_dev,id=1\n" AIV_READS), RACE);
  assert_non_null(findings);
  vinci_findings_free(findings);
  const char *report = report_of(fixture_shared, MIXED(AIC_WRITES, AIV_READS), RACE);
  assert_non_null(strstr(report, "in block aic(0)"));
  assert_non_null(strstr(report, "in block aiv(0.0)"));
}

/* ---- synccheck ------------------------------------------------------------------------------- */

static void test_a_flag_left_set(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(2) SET(MTE2, V), SYNC,
                "====== ERROR: Unpaired set_flag instructions detected in k\n"
                "======    the block ends and nobody has waited for the flag\n"
                "======    in block aiv(0)\n"
                "======    #0 t.csv:8 set_flag\n"
                "======    2 times in all; the first is shown\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
}

static void test_a_flag_set_twice(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) SET(MTE2, V) SET(MTE2, V) WAIT(MTE2, V), SYNC,
                "====== ERROR: Redundant set_flag instructions detected in k\n"
                "======    set_flag MTE2->V id 0 is set a second time before anyone waited for it; "
                "it was set "
                "in line 8\n"
                "======    in block aiv(0) on PIPE_MTE2\n"
                "======    #0 t.csv:9 set_flag\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
}

/* Whether it happens is up to the timing: the producer may run ahead. */
static void test_a_flag_that_may_be_set_twice(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) SET(MTE2, V) WAIT(MTE2, V) BARRIER(V) SET(MTE2, V) WAIT(MTE2, V),
                SYNC,
                "====== ERROR: Redundant set_flag instructions detected in k\n"
                "======    from PIPE_MTE2 to PIPE_V, id 0: nothing makes this set come after the "
                "wait\n"
                "======    in block aiv(0) on PIPE_MTE2\n"
                "======    #0 t.csv:11 set_flag\n"
                "======    and\n"
                "======    #0 t.csv:9 wait_flag\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  expect_clean(CHECK_HEAD(1) SET(MTE2, V) WAIT(MTE2, V) SET(V, MTE2) WAIT(V, MTE2) SET(MTE2, V)
                   WAIT(MTE2, V));
  expect_clean(CHECK_HEAD(1) SET(MTE2, V) WAIT(MTE2, V) BARRIER(ALL) SET(MTE2, V) WAIT(MTE2, V));
}

static void test_deadlock(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) WAIT(MTE2, V) DUP("ubx"), SYNC,
                "====== ERROR: Deadlock detected in k\n"
                "======    the simulated program hangs in kernel \"k\" after 0 of 1 blocks:\n"
                "  core0.veccore0 V waits for flag MTE2->V id 0, line 8\n"
                "======    #0 t.csv:8 wait_flag\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  /* Nothing else can be said of such a program, so every check gives this message. */
  assert_true(finds(CHECK_HEAD(1) WAIT(MTE2, V), VINCI_CHECK_MEMCHECK, FINDING_DEADLOCK, 8));
}

static void test_sync_all_with_more_blocks_than_cores(void **state) {
  (void)state;
  expect_report(
      CHECK_HEAD(80) "ffts_cross_core_sync,pipe=MTE3,mode=0,id=0\nwait_flag_dev,id=0\n", SYNC,
      "====== ERROR: Hardware SyncAll does not match the blocks in k\n"
      "======    mode 0 waits for all blocks at once: 80 of them need 80 AIV cores, the chip has "
      "40\n"
      "======    in block aiv(0) on PIPE_MTE3\n"
      "======    #0 t.csv:8 ffts_cross_core_sync\n"
      "======    40 times in all; the first is shown\n"
      "======\n"
      "====== ERROR: Deadlock detected in k\n"
      "======    the simulated program hangs in kernel \"k\" after 0 of 80 blocks:\n"
      "  core0.veccore0 S (and 39 more cores) waits for cross-core flag 0, line 9; 40 of the 80 "
      "AIV cores of all blocks have signalled it in mode 0\n"
      "======    #0 t.csv:9 wait_flag_dev\n"
      "======\n"
      "====== SUMMARY: 2 errors\n");
  /* Samples of the Ascend C documentation synchronise 8 blocks. */
  expect_clean(CHECK_HEAD(8) "ffts_cross_core_sync,pipe=MTE3,mode=0,id=0\nwait_flag_dev,id=0\n");
}

static void test_too_many_signals(void **state) {
  (void)state;
  const char *report =
      report_of(fixture_shared, MIXED("loop,i,16\n" SIGNAL(FIX) "endloop\n", ""), SYNC);
  assert_non_null(strstr(report,
                         "====== ERROR: Too many cross-core flags outstanding in k\n"
                         "======    cross-core flag 1 has 15 signals that nobody took, its limit\n"
                         "======    in block aic(0) on PIPE_FIX\n"));
  report =
      report_of(fixture_shared, MIXED("", "loop,s,(sub==0)*16\n" SIGNAL(MTE3) "endloop\n"), SYNC);
  assert_non_null(
      strstr(report, "cross-core flag 1 is set 15 times ahead of other cores, its limit\n"));
}

static void test_signals_left_over(void **state) {
  (void)state;
  expect_report(MIXED(SIGNAL(FIX), "loop,s,sub==0\nwait_flag_dev,id=1\nendloop\n"), SYNC,
                "====== ERROR: Unpaired cross-core flags detected in k\n"
                "======    the signal has arrived at cores that do not take it\n"
                "======    in block aiv(0.1)\n"
                "======    #0 t.csv:5 ffts_cross_core_sync\n"
                "======    2 times in all; the first is shown\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  const char *report =
      report_of(fixture_shared, MIXED("", "loop,s,sub==0\n" SIGNAL(MTE3) "endloop\n"), SYNC);
  assert_non_null(strstr(report, "the other cores that must signal have not"));
}

static void test_modes_without_meaning(void **state) {
  (void)state;
  const char *report =
      report_of(fixture_shared, CHECK_HEAD(1) "ffts_cross_core_sync,pipe=MTE3,mode=2,id=0\n", SYNC);
  assert_non_null(strstr(
      report, "====== ERROR: Cross-core flag in a mode without meaning in k\n"
              "======    ffts_cross_core_sync mode 2 needs a kernel with AIC and AIV streams\n"));
  report =
      report_of(fixture_shared, MIXED("ffts_cross_core_sync,pipe=FIX,mode=1,id=0\n", ""), SYNC);
  assert_non_null(strstr(report, "mode 1 orders the AIV of a block, not its AIC"));
}

/* The same findings in the same order, whatever is left out. */
static void test_reports_are_deterministic(void **state) {
  (void)state;
  static char first[16384];
  strcpy(first, report_of(fixture_shared, SHARED(41, MEET), 0));
  assert_true(strlen(first) > 0);
  assert_string_equal(first, report_of(fixture_shared, SHARED(41, MEET), 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_read_after_write),
      cmocka_unit_test(test_inside_the_vector_pipe),
      cmocka_unit_test(test_inside_other_pipes),
      cmocka_unit_test(test_write_after_read_of_another_pipe),
      cmocka_unit_test(test_order_is_transitive),
      cmocka_unit_test(test_flags_order_only_what_they_enclose),
      cmocka_unit_test(test_double_buffers),
      cmocka_unit_test(test_disjoint_lanes_do_not_race),
      cmocka_unit_test(test_disjoint_strides_do_not_race),
      cmocka_unit_test(test_halves_of_blocks_do_not_race),
      cmocka_unit_test(test_mads_back_to_back),
      cmocka_unit_test(test_unit_flag_orders_mad_and_fixpipe),
      cmocka_unit_test(test_between_cores),
      cmocka_unit_test(test_blocks_of_one_core_are_not_ordered),
      cmocka_unit_test(test_kernels_follow_each_other),
      cmocka_unit_test(test_many_readers),
      cmocka_unit_test(test_atomic_stores_commute),
      cmocka_unit_test(test_atomic_stores_of_other_kinds_do_not_commute),
      cmocka_unit_test(test_atomic_stores_of_many_blocks),
      cmocka_unit_test(test_atomic_stores_name_what_they_change),
      cmocka_unit_test(test_cores_of_a_block),
      cmocka_unit_test(test_a_flag_left_set),
      cmocka_unit_test(test_a_flag_set_twice),
      cmocka_unit_test(test_a_flag_that_may_be_set_twice),
      cmocka_unit_test(test_deadlock),
      cmocka_unit_test(test_sync_all_with_more_blocks_than_cores),
      cmocka_unit_test(test_too_many_signals),
      cmocka_unit_test(test_signals_left_over),
      cmocka_unit_test(test_modes_without_meaning),
      cmocka_unit_test(test_reports_are_deterministic),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
