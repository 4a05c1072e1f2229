/* SPDX-License-Identifier: Apache-2.0 */
/* memcheck and initcheck: each message, and programs that must not raise any. */
#include "tests/support/checks.h"

#define IN_AND_OUT                                                                                 \
  COPY_IN SET(MTE2, V)                                                                             \
      WAIT(MTE2, V) "vadds,dst=uby,src=ubx,scalar=1,repeat=1,type=fp16\n" SET(V, MTE3)             \
          WAIT(V, MTE3) COPY_OUT

static void test_a_right_program_raises_nothing(void **state) {
  (void)state;
  expect_clean(CHECK_HEAD(1) IN_AND_OUT);
}

static void test_out_of_the_space(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) "loop,i,2\nvector_dup,dst=i*196480,scalar=0,repeat=1,type=fp16\n"
                              "endloop\n",
                VINCI_CHECK_MEMCHECK,
                "====== ERROR: illegal write of size 128\n"
                "======    at 0x30000 on UB in k\n"
                "======    operand \"dst\" leaves UB, bytes 0x0 to 0x30000\n"
                "======    in block aiv(0) on PIPE_V\n"
                "======    #0 t.csv:9 vector_dup\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
}

static void test_below_the_space(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) "loop,i,1\nvector_dup,dst=i*32-64,scalar=0,repeat=1,type=fp16\n"
                              "endloop\n",
                VINCI_CHECK_MEMCHECK,
                "====== ERROR: illegal write of size 64\n"
                "======    at 0xffffffffffffffc0 on UB in k\n"
                "======    operand \"dst\" leaves UB, bytes 0x0 to 0x30000\n"
                "======    in block aiv(0) on PIPE_V\n"
                "======    #0 t.csv:9 vector_dup\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
}

static void test_out_of_the_named_buffer(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) "vector_dup,dst=ubx+3968,scalar=0,repeat=1,type=fp16\n",
                VINCI_CHECK_MEMCHECK,
                "====== ERROR: illegal write of size 128\n"
                "======    at 0x1000 on UB in k\n"
                "======    operand \"dst\" leaves buffer \"ubx\", bytes 0x0 to 0x1000\n"
                "======    in block aiv(0) on PIPE_V\n"
                "======    #0 t.csv:8 vector_dup\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  /* The name is known through a let, and in what is no plain sum. */
  assert_true(
      finds(CHECK_HEAD(1) "let,at,ubx+3968\nvector_dup,dst=at,scalar=0,repeat=1,type=fp16\n", 0,
            FINDING_ILLEGAL_WRITE, 9));
  assert_true(finds(CHECK_HEAD(1) "loop,i,3\nvector_dup,dst=ubx+(i%2)*3968,scalar=0,repeat=1,"
                                  "type=fp16\nendloop\n",
                    0, FINDING_ILLEGAL_WRITE, 9));
  /* Without a name only the space counts. */
  expect_clean(CHECK_HEAD(1) "vector_dup,dst=3968,scalar=0,repeat=1,type=fp16\n");
  /* Two names: none of them is meant alone. */
  expect_clean(CHECK_HEAD(1) "vector_dup,dst=uby-ubx+3968,scalar=0,repeat=1,type=fp16\n");
}

static void test_out_of_the_tensor(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) "copy_gm_to_ubuf,dst=ubx,src=x+3840,len_burst=16\n",
                VINCI_CHECK_MEMCHECK,
                "====== ERROR: illegal read of size 256\n"
                "======    at 0x2000 on GM in k\n"
                "======    operand \"src\" leaves tensor \"x\", bytes 0x1000 to 0x2000\n"
                "======    in block aiv(0) on PIPE_MTE2\n"
                "======    #0 t.csv:8 copy_gm_to_ubuf\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  expect_report(
      CHECK_HEAD(1) "loop,i,1\ncopy_gm_to_ubuf,dst=ubx,src=i+100,len_burst=1\nendloop\n",
      VINCI_CHECK_MEMCHECK,
      "====== ERROR: illegal read of size 32\n"
      "======    at 0x64 on GM in k\n"
      "======    operand \"src\" is an address outside of all tensors, 3996 bytes before the "
      "start of tensor \"x\"\n"
      "======    in block aiv(0) on PIPE_MTE2\n"
      "======    #0 t.csv:9 copy_gm_to_ubuf\n"
      "======\n"
      "====== SUMMARY: 1 error\n");
}

/* The last block of a tensor ends in its tail, which nothing has to have written. */
static void test_in_and_out_of_a_tail(void **state) {
  (void)state;
  static const char head[] = "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=1\n"
                             "tensor,name=w,dtype=fp16,shape=8,io=workspace,tail=32\n"
                             "buffer,name=u,space=UB,address=0,size=4096\nstream,core=AIV\n";
  char text[1024];
  const char *const write = "vector_dup,dst=u,scalar=0,repeat=1,type=fp16\n"
                            "set_flag,src=V,dst=MTE3,id=0\nwait_flag,src=V,dst=MTE3,id=0\n"
                            "copy_ubuf_to_gm_align_b16,dst=w,src=u,len_burst=16\n"
                            "set_flag,src=MTE3,dst=MTE2,id=0\nwait_flag,src=MTE3,dst=MTE2,id=0\n";
  snprintf(text, sizeof text, "%s%scopy_gm_to_ubuf,dst=u+512,src=w,len_burst=1\n", head, write);
  expect_clean(text);
  snprintf(text, sizeof text, "%s%scopy_gm_to_ubuf,dst=u+512,src=w,len_burst=2\n", head, write);
  assert_true(finds(text, 0, FINDING_ILLEGAL_READ, 12));
  snprintf(text, sizeof text, "%scopy_gm_to_ubuf,dst=u+512,src=w,len_burst=1\n", head);
  assert_true(finds(text, 0, FINDING_UNINITIALIZED, 6));
}

static void test_another_memory(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) "vector_dup,dst=x,scalar=0,repeat=1,type=fp16\n",
                VINCI_CHECK_MEMCHECK,
                "====== ERROR: address of another memory of size 256\n"
                "======    at 0x1000 on UB in k\n"
                "======    operand \"dst\" names tensor \"x\", which lies in GM\n"
                "======    in block aiv(0) on PIPE_V\n"
                "======    #0 t.csv:8 vector_dup\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  assert_true(finds(CHECK_HEAD(1) "copy_gm_to_ubuf,dst=ubx,src=uby,len_burst=1\n", 0,
                    FINDING_WRONG_SPACE, 8));
}

/* The first fractal that is loaded lies inside, the address that it is counted from does not. */
static void test_operand_outside(void **state) {
  (void)state;
#define LOAD(shift)                                                                                \
  HEAD(1)                                                                                          \
  "stream,core=AIC\ncreate_cbuf_matrix,dst=0,blocks=64,value=0\npipe_barrier,pipe=ALL\nloop,i,1\n" \
  "load_cbuf_to_ca,dst=0,src=(i+1)*" shift ",base=2,repeat=1\nendloop\n"
  assert_string_equal(report_of(fixture_shared, LOAD("-32"), VINCI_CHECK_MEMCHECK),
                      "====== ERROR: illegal read of size 512\n"
                      "======    at 0xffffffffffffffe0 on L1 in k\n"
                      "======    operand \"src\" is an address outside of L1\n"
                      "======    in block aic(0) on PIPE_MTE1\n"
                      "======    #0 t.csv:7 load_cbuf_to_ca\n"
                      "======\n"
                      "====== SUMMARY: 1 error\n");
  expect_clean(LOAD("32"));
}

static void test_misaligned(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(2) "loop,i,1\nvector_dup,dst=ubx+i*32+16,scalar=0,repeat=1,type=fp16\n"
                              "endloop\n",
                VINCI_CHECK_MEMCHECK,
                "====== ERROR: misaligned access of size 256\n"
                "======    at 0x10 on UB in k\n"
                "======    operand \"dst\" must be a multiple of 32\n"
                "======    in block aiv(0) on PIPE_V\n"
                "======    #0 t.csv:9 vector_dup\n"
                "======    2 times in all; the first is shown\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
}

static void test_purpose_of_tensors(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) "vector_dup,dst=ubx,scalar=0,repeat=1,type=fp16\n" SET(V, MTE3)
                    WAIT(V, MTE3) "copy_ubuf_to_gm,dst=x,src=ubx,len_burst=8\n",
                VINCI_CHECK_MEMCHECK,
                "====== ERROR: illegal write to an input of size 256\n"
                "======    at 0x1000 on GM in k\n"
                "======    tensor \"x\" is declared io=in\n"
                "======    in block aiv(0) on PIPE_MTE3\n"
                "======    #0 t.csv:11 copy_ubuf_to_gm\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  expect_report(CHECK_HEAD(1) "copy_gm_to_ubuf,dst=ubx,src=y,len_burst=8\n", VINCI_CHECK_MEMCHECK,
                "====== ERROR: illegal read of an output that nothing writes of size 256\n"
                "======    at 0x2000 on GM in k\n"
                "======    tensor \"y\" is declared io=out\n"
                "======    in block aiv(0) on PIPE_MTE2\n"
                "======    #0 t.csv:8 copy_gm_to_ubuf\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
}

#define STORE(address)                                                                             \
  "vector_dup,dst=uby,scalar=0,repeat=1,type=fp16\n" SET(V, MTE3)                                  \
      WAIT(V, MTE3) "copy_ubuf_to_gm,dst=y+" address ",src=uby,len_burst=8\n"

static void test_overlap_of_blocks(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(3) STORE("blk*192"), VINCI_CHECK_MEMCHECK,
                "====== ERROR: out of bounds, blocks write the same memory, of size 64\n"
                "======    PIPE_MTE3 Write at 0x20c0, 64 bytes, in block aiv(0)\n"
                "======    #0 t.csv:11 copy_ubuf_to_gm\n"
                "======    PIPE_MTE3 Write at 0x20c0, 64 bytes, in block aiv(1)\n"
                "======    #0 t.csv:11 copy_ubuf_to_gm\n"
                "======    2 times in all; the first is shown\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  /* Alone, racecheck tells the same in its words. */
  assert_true(finds(CHECK_HEAD(3) STORE("blk*192"), VINCI_CHECK_RACECHECK, FINDING_WAW, 11));
  expect_clean(CHECK_HEAD(3) STORE("blk*256"));
}

/* Rows of two blocks alternate in the same 32-byte blocks, and do not touch. */
static void test_interleaved_writes_do_not_overlap(void **state) {
  (void)state;
  expect_clean(CHECK_HEAD(2) "vector_dup,dst=uby,scalar=0,repeat=4,type=fp16\n" SET(V, MTE3)
                   WAIT(V, MTE3) "copy_ubuf_to_gm_align_b16,dst=y+blk*16,src=uby,n_burst=32,"
                                 "len_burst=16,src_gap=0,dst_gap=16\n");
  assert_true(finds(CHECK_HEAD(2) "vector_dup,dst=uby,scalar=0,repeat=4,type=fp16\n" SET(V, MTE3)
                        WAIT(V, MTE3) "copy_ubuf_to_gm_align_b16,dst=y+blk*14,src=uby,n_burst=32,"
                                      "len_burst=16,src_gap=0,dst_gap=16\n",
                    0, FINDING_OVERLAP, 11));
}

static void test_blocks_that_read_the_same(void **state) {
  (void)state;
  expect_clean(CHECK_HEAD(40) "copy_gm_to_ubuf,dst=ubx,src=x,len_burst=8\n");
}

/* ---- initcheck --------------------------------------------------------------------- */

static void test_unwritten_buffer(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) "vector_dup,dst=ubx,scalar=0,repeat=1,type=fp16\n" BARRIER(
                    V) "vadds,dst=uby,src=ubx,scalar=1,repeat=2,type=fp16\n",
                VINCI_CHECK_INITCHECK,
                "====== ERROR: uninitialized read of size 256\n"
                "======    at 0x100 on UB in k\n"
                "======    operand \"src\" reads 512 bytes, of which 256 have never been written\n"
                "======    in block aiv(0) on PIPE_V\n"
                "======    #0 t.csv:10 vadds\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
}

static void test_masked_lanes_are_not_written(void **state) {
  (void)state;
  /* Lanes 0 to 9 of 128, then all ten are read: fine; eleven: the last is not written. */
#define MASKED(lanes)                                                                              \
  CHECK_HEAD(1)                                                                                    \
  "set_vector_mask,high=0,low=0x3ff\n"                                                             \
  "vector_dup,dst=ubx,scalar=0,repeat=1,type=fp16\n" BARRIER(                                      \
      V) "set_vector_mask,high=0,low=" lanes "\n"                                                  \
         "vadds,dst=uby,src=ubx,scalar=1,repeat=1,type=fp16\n"
  expect_clean(MASKED("0x3ff"));
  expect_clean(MASKED("0x2aa"));
  assert_true(finds(MASKED("0x7ff"), 0, FINDING_UNINITIALIZED, 12));
  assert_true(finds(MASKED("0x400"), 0, FINDING_UNINITIALIZED, 12));
}

static void test_counter_mode_counts_elements(void **state) {
  (void)state;
#define COUNTED(first, second)                                                                     \
  CHECK_HEAD(1)                                                                                    \
  "set_mask_count\nset_vector_mask,high=0,low=" first "\n"                                         \
  "vector_dup,dst=ubx,scalar=0,repeat=1,type=fp16\n" BARRIER(                                      \
      V) "set_vector_mask,high=0,low=" second "\n"                                                 \
         "vadds,dst=uby,src=ubx,scalar=1,repeat=1,type=fp16\n"
  expect_clean(COUNTED("200", "200"));
  assert_true(finds(COUNTED("200", "201"), 0, FINDING_UNINITIALIZED, 13));
}

static void test_strides_leave_gaps(void **state) {
  (void)state;
  static const char text[] =
      CHECK_HEAD(1) "vector_dup,dst=ubx,scalar=0,repeat=1,dst_block=2,type=fp16\n" BARRIER(
          V) "vadds,dst=uby,src=ubx,scalar=1,repeat=1,src_block=%s,type=fp16\n";
  char even[1024], odd[1024];
  snprintf(even, sizeof even, text, "2");
  snprintf(odd, sizeof odd, text, "1");
  expect_clean(even);
  assert_true(finds(odd, 0, FINDING_UNINITIALIZED, 10));
}

static void test_unwritten_workspace(void **state) {
  (void)state;
  expect_report(HEAD(1) "tensor,name=w,dtype=fp16,shape=2048,io=workspace\n" AIV
                        "copy_gm_to_ubuf,dst=0,src=w,len_burst=8\n",
                0,
                "====== ERROR: uninitialized read of size 256\n"
                "======    at 0x1000 on GM in k\n"
                "======    operand \"src\" reads 256 bytes, of which 256 have never been written\n"
                "======    in block aiv(0) on PIPE_MTE2\n"
                "======    #0 t.csv:5 copy_gm_to_ubuf\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
}

/* What one kernel wrote the next may read; a buffer's contents do not outlive a block. */
static void test_lifetimes(void **state) {
  (void)state;
#define SECOND_KERNEL(stream)                                                                      \
  "kernel,name=k2,arch=dav-c220,blocks=1\ntensor,name=y,dtype=fp16,shape=2048,io=out\n" AIV stream
  expect_clean(CHECK_HEAD(1) IN_AND_OUT SECOND_KERNEL("copy_gm_to_ubuf,dst=0,src=y,len_burst=8\n"));
  assert_true(finds(CHECK_HEAD(1)
                        IN_AND_OUT SECOND_KERNEL("copy_gm_to_ubuf,dst=0,src=y,len_burst=9\n"),
                    0, FINDING_UNINITIALIZED, 18));
  assert_true(finds(CHECK_HEAD(1)
                        IN_AND_OUT SECOND_KERNEL("vadds,dst=0,src=0,scalar=1,repeat=1,type=fp16\n"),
                    0, FINDING_UNINITIALIZED, 18));
}

/* Loads of whole fractals bring rows along that no operand fills. */
static void test_fractals_that_are_not_full(void **state) {
  (void)state;
#define CUBE(rows, fractals)                                                                       \
  HEAD(1)                                                                                          \
  "tensor,name=a,dtype=fp16,shape=64x16,io=in\nstream,core=AIC\n"                                  \
  "copy_gm_to_cbuf_multi_nd2nz_b16,dst=0,src=a,n=" rows                                            \
  ",d=16,src_d=16,dst_c0_stride=64\n" SET(MTE2, MTE1)                                              \
      WAIT(MTE2, MTE1) "load_cbuf_to_ca,dst=0,src=0,repeat=" fractals "\n"
  expect_clean(CUBE("20", "2"));
  assert_true(finds(CUBE("20", "3"), 0, FINDING_UNINITIALIZED, 8));
}

static void test_json(void **state) {
  (void)state;
  char text[4096] = "";
  struct vinci_diag diag = {0};
  vinci_findings *findings = find_with(
      fixture_shared, CHECK_HEAD(2) "vector_dup,dst=ubx+3968,scalar=0,repeat=1,type=fp16\n",
      VINCI_CHECK_MEMCHECK | VINCI_CHECK_SYNCCHECK);
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  assert_int_equal(vinci_findings_write_json(findings, out, &diag), VINCI_OK);
  fclose(out);
  vinci_findings_free(findings);
  assert_string_equal(
      text,
      "{\n"
      "  \"schema\": 1,\n"
      "  \"trace\": \"t.csv\",\n"
      "  \"checks\": [\"memcheck\", \"synccheck\"],\n"
      "  \"executed_instructions\": 2,\n"
      "  \"errors\": 1,\n"
      "  \"partial\": false,\n"
      "  \"warnings\": 0,\n"
      "  \"scalar_accesses_checked\": 0,\n"
      "  \"scalar_accesses_not_checked\": 0,\n"
      "  \"findings\": [\n"
      "    {\n"
      "      \"level\": \"ERROR\",\n"
      "      \"check\": \"memcheck\",\n"
      "      \"kind\": \"illegal_write\",\n"
      "      \"kernel\": \"k\",\n"
      "      \"count\": 2,\n"
      "      \"space\": \"UB\",\n"
      "      \"address\": 4096,\n"
      "      \"bytes\": 128,\n"
      "      \"detail\": \"operand \\\"dst\\\" leaves buffer \\\"ubx\\\", bytes 0x0 to 0x1000\",\n"
      "      \"events\": [\n"
      "        {\"file\": \"t.csv\", \"line\": 8, \"instruction\": \"vector_dup\", \"block\": "
      "\"aiv(0)\", \"pipe\": \"V\", \"access\": \"write\"}\n"
      "      ]\n"
      "    }\n"
      "  ]\n"
      "}\n");
}

static void test_options(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_findings *findings;
  vinci_trace *trace = runs_parse(CHECK_HEAD(1) COPY_IN, fixture_shared);
  struct vinci_check_options options = {.struct_size = 1};
  assert_int_equal(vinci_check(fixture_shared, trace, &options, &findings, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "struct_size of the check options is 1, not 48");
  diag = (struct vinci_diag){0};
  options = (struct vinci_check_options){.struct_size = sizeof options, .checks = 16};
  assert_int_equal(vinci_check(fixture_shared, trace, &options, &findings, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "unknown bits in the set of checks: 0x10");
  assert_null(findings);
  vinci_trace_free(trace);
}

/* Each store leaves a run of its own; a limit that is hit is told, not passed over. */
static void test_bounded_memory(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_findings *findings;
  vinci_trace *trace =
      runs_parse(CHECK_HEAD(1) "vector_dup,dst=uby,scalar=0,repeat=1,type=fp16\n" SET(V, MTE3)
                     WAIT(V, MTE3) "loop,i,60\ncopy_ubuf_to_gm,dst=y+i*64,src=uby,len_burst=1\n"
                                   "endloop\n",
                 fixture_shared);
  struct vinci_check_options options = {.struct_size = sizeof options, .max_shadow_bytes = 4096};
  assert_int_equal(vinci_check(fixture_shared, trace, &options, &findings, &diag), VINCI_E_LIMIT);
  assert_string_equal(diag.text, "t.csv: what the program has done to memory takes more than the "
                                 "4096 bytes that the checks may keep");
  assert_int_equal(vinci_findings_count(findings), 0);
  vinci_findings_free(findings);
  options.max_shadow_bytes = 65536;
  assert_int_equal(vinci_check(fixture_shared, trace, &options, &findings, &diag), VINCI_OK);
  vinci_findings_free(findings);
  vinci_trace_free(trace);
}

static bool stop(void *context, uint64_t instructions, unsigned done_permille) {
  ++*(unsigned *)context;
  assert_true(instructions > 0 && done_permille <= 1000);
  return false;
}

/* What was found before the end that somebody asked for. */
static void test_partial_findings(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_findings *findings;
  vinci_trace *trace = runs_parse(
      CHECK_HEAD(1) "vector_dup,dst=ubx+3968,scalar=0,repeat=1,type=fp16\nloop,i,100000000\n"
                    "scalar\nendloop\nvector_dup,dst=ubx+3968,scalar=0,repeat=1,type=fp16\n",
      fixture_shared);
  unsigned looks = 0;
  struct vinci_check_options options = {
      .struct_size = sizeof options, .progress = stop, .progress_context = &looks};
  assert_int_equal(vinci_check(fixture_shared, trace, &options, &findings, &diag), VINCI_E_LIMIT);
  assert_int_equal(looks, 1);
  assert_int_equal(vinci_findings_count(findings), 1);
  char text[4096] = "";
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  assert_int_equal(vinci_findings_write_text(findings, out, &diag), VINCI_OK);
  assert_int_equal(vinci_findings_write_json(findings, out, &diag), VINCI_OK);
  fclose(out);
  assert_non_null(strstr(text, "====== SUMMARY: 1 error so far; the program was not executed to "
                               "its end\n"));
  assert_non_null(strstr(text, "  \"errors\": 1,\n  \"partial\": true,\n"));
  vinci_findings_free(findings);
  vinci_trace_free(trace);
}

/* More elements than the buffers hold are refused at once, also where nothing else checks ranges.
 */
static void test_counts_beyond_reason(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_findings *findings;
  vinci_trace *trace =
      runs_parse(CHECK_HEAD(1) "set_mask_count\nset_vector_mask,high=0,low=8589934592\n"
                               "vadd,dst=ubx,src0=uby,src1=uby,repeat=1,src1_repeat=0,type=fp16\n",
                 fixture_shared);
  assert_int_equal(vinci_check(fixture_shared, trace, NULL, &findings, &diag), VINCI_E_INPUT);
  assert_string_equal(diag.text, "vadd in counter mode: the mask counts 8589934592 elements, UB "
                                 "has 196608 bytes");
  assert_int_equal(diag.line, 10);
  vinci_trace_free(trace);
}

/* A source that stays where it is has its bytes once, however often it is read. */
static void test_repeats_in_one_place(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) "vadds,dst=uby,src=ubx,scalar=1,repeat=8,src_repeat=0,type=fp16\n",
                VINCI_CHECK_INITCHECK,
                "====== ERROR: uninitialized read of size 256\n"
                "======    at 0x0 on UB in k\n"
                "======    operand \"src\" reads 256 bytes, of which 256 have never been written\n"
                "======    in block aiv(0) on PIPE_V\n"
                "======    #0 t.csv:8 vadds\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
}

static void test_memory_that_is_short(void **state) {
  (void)state;
  vinci_trace *trace = runs_parse(CHECK_HEAD(1) IN_AND_OUT, fixture_shared);
  enum vinci_status status = VINCI_E_NOMEM;
  for (size_t chunks = 1; chunks < 100 && status != VINCI_OK; chunks++) {
    struct vinci_diag diag = {0};
    vinci_findings *findings;
    arena_fail_after(chunks);
    status = vinci_check(fixture_shared, trace, NULL, &findings, &diag);
    arena_fail_after(0);
    assert_true(status == VINCI_OK || status == VINCI_E_NOMEM);
    vinci_findings_free(findings);
  }
  assert_int_equal(status, VINCI_OK);
  vinci_trace_free(trace);
}

static void test_addresses_beyond_reason(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_findings *findings;
  vinci_trace *trace = runs_parse(CHECK_HEAD(1) "loop,i,1\nvector_dup,dst=i+0x7ffffffffffffff0,"
                                                "scalar=0,repeat=1,type=fp16\nendloop\n",
                                  fixture_shared);
  assert_int_equal(vinci_check(fixture_shared, trace, NULL, &findings, &diag), VINCI_E_INPUT);
  assert_int_equal(diag.line, 9);
  vinci_trace_free(trace);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_right_program_raises_nothing),
      cmocka_unit_test(test_out_of_the_space),
      cmocka_unit_test(test_below_the_space),
      cmocka_unit_test(test_out_of_the_named_buffer),
      cmocka_unit_test(test_out_of_the_tensor),
      cmocka_unit_test(test_in_and_out_of_a_tail),
      cmocka_unit_test(test_another_memory),
      cmocka_unit_test(test_operand_outside),
      cmocka_unit_test(test_misaligned),
      cmocka_unit_test(test_purpose_of_tensors),
      cmocka_unit_test(test_overlap_of_blocks),
      cmocka_unit_test(test_interleaved_writes_do_not_overlap),
      cmocka_unit_test(test_blocks_that_read_the_same),
      cmocka_unit_test(test_unwritten_buffer),
      cmocka_unit_test(test_masked_lanes_are_not_written),
      cmocka_unit_test(test_counter_mode_counts_elements),
      cmocka_unit_test(test_strides_leave_gaps),
      cmocka_unit_test(test_unwritten_workspace),
      cmocka_unit_test(test_lifetimes),
      cmocka_unit_test(test_fractals_that_are_not_full),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_options),
      cmocka_unit_test(test_bounded_memory),
      cmocka_unit_test(test_partial_findings),
      cmocka_unit_test(test_counts_beyond_reason),
      cmocka_unit_test(test_repeats_in_one_place),
      cmocka_unit_test(test_memory_that_is_short),
      cmocka_unit_test(test_addresses_beyond_reason),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
