/* SPDX-License-Identifier: Apache-2.0 */
/*
 * initcheck: what nobody wrote on its way through L1, L0A, L0B and L0C to the store of a result.
 * Which rows and columns are missing follows from the layouts of the Ascend C documentation: rows
 * of A are rows of C, rows of B's fractals are columns of C, and a lane along k reaches all of
 * them.
 */
#include "tests/support/checks.h"

enum { INIT = VINCI_CHECK_INITCHECK, MEM = VINCI_CHECK_MEMCHECK };

/* Lines 1 to 5. */
#define CUBE_HEAD                                                                                  \
  HEAD(1)                                                                                          \
  "tensor,name=a,dtype=fp16,shape=64x16,io=in\ntensor,name=c,dtype=fp32,shape=1024,io=out\n"       \
  "stream,core=AIC\n"
/* A matrix of rows of 16 halves, in one column of blocks of 16 rows. */
#define ND2NZ(dst, rows)                                                                           \
  "copy_gm_to_cbuf_multi_nd2nz_b16,dst=" dst ",src=a,n=" rows ",d=16,src_d=16,dst_c0_stride=16\n"
#define LOADS(ca, cb) SET(MTE2, MTE1) WAIT(MTE2, MTE1) ca cb SET(MTE1, M) WAIT(MTE1, M)
#define CA "load_cbuf_to_ca,dst=0,src=0,repeat=1\n"
#define CB "load_cbuf_to_cb,dst=0,src=512,repeat=1\n"
#define MAD(sizes) "mad,c=0,a=0,b=0," sizes ",type=fp16\n"
#define STORE(m, n)                                                                                \
  SET(M, FIX)                                                                                      \
  WAIT(M, FIX)                                                                                     \
  "copy_matrix_cc_to_gm,dst=c,src=0,n=" n ",m=" m ",dst_stride=16,src_stride=16,nz2nd=1,type="     \
  "fp32\n"
/* a_rows rows of A and b_rows rows of B's fractal, which are columns; mad is line 14. */
#define PRODUCT(a_rows, b_rows, sizes, m, n)                                                       \
  CUBE_HEAD ND2NZ("0", a_rows) ND2NZ("512", b_rows) LOADS(CA, CB) MAD(sizes) STORE(m, n)
#define WHOLE "m=16,k=16,n=16"
enum { STORE_LINE = 17 };

static void test_rows_that_nobody_brought(void **state) {
  (void)state;
  expect_clean(PRODUCT("16", "16", WHOLE, "16", "16"));
  expect_report(PRODUCT("10", "16", WHOLE, "16", "16"), INIT,
                "====== ERROR: uninitialized read of size 384\n"
                "======    at 0x280 on L0C in k\n"
                "======    operand \"src\" reads 1024 bytes, of which 384 are sums of what nobody "
                "wrote: mad reads rows of a fractal that nobody wrote\n"
                "======    in block aic(0) on PIPE_FIX\n"
                "======    #0 t.csv:17 copy_matrix_cc_to_gm\n"
                "======    from\n"
                "======    #0 t.csv:14 mad\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  /* Rows that are not stored do no harm, whatever mad computes of them. */
  expect_clean(PRODUCT("10", "16", WHOLE, "10", "16"));
  expect_clean(PRODUCT("10", "16", "m=10,k=16,n=16", "10", "16"));
  assert_true(
      finds(PRODUCT("10", "16", WHOLE, "11", "16"), INIT, FINDING_UNINITIALIZED, STORE_LINE));
}

static void test_columns_that_nobody_brought(void **state) {
  (void)state;
  assert_true(
      finds(PRODUCT("16", "10", WHOLE, "16", "16"), INIT, FINDING_UNINITIALIZED, STORE_LINE));
  assert_true(
      finds(PRODUCT("16", "10", WHOLE, "1", "11"), INIT, FINDING_UNINITIALIZED, STORE_LINE));
  expect_clean(PRODUCT("16", "10", WHOLE, "16", "10"));
  expect_clean(PRODUCT("16", "10", "m=16,k=16,n=10", "16", "10"));
}

/* mad of 10 rows writes 10 rows; the rest of the fractal is as it was. */
static void test_rows_and_columns_that_mad_leaves(void **state) {
  (void)state;
  expect_report(PRODUCT("16", "16", "m=10,k=16,n=16", "16", "16"), INIT,
                "====== ERROR: uninitialized read of size 384\n"
                "======    at 0x280 on L0C in k\n"
                "======    operand \"src\" reads 1024 bytes, of which 384 have never been written\n"
                "======    in block aic(0) on PIPE_FIX\n"
                "======    #0 t.csv:17 copy_matrix_cc_to_gm\n"
                "======    from\n"
                "======    #0 t.csv:14 mad\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  assert_true(finds(PRODUCT("16", "16", "m=16,k=16,n=10", "16", "16"), INIT, FINDING_UNINITIALIZED,
                    STORE_LINE));
  expect_clean(PRODUCT("16", "16", "m=10,k=16,n=10", "10", "10"));
  /* An earlier product of all rows is still there. */
  expect_clean(CUBE_HEAD ND2NZ("0", "16") ND2NZ("512", "16") LOADS(CA, CB) MAD(WHOLE) BARRIER(M)
                   MAD("m=10,k=16,n=10") STORE("16", "16"));
}

/* Rows of B as it lies in memory are lanes along k: each of them reaches every sum. */
static void test_lanes_along_k(void **state) {
  (void)state;
#define TURNED "load_cbuf_to_cb,dst=0,src=512,repeat=1,transpose=1\n"
#define BY_K(sizes)                                                                                \
  CUBE_HEAD ND2NZ("0", "16") ND2NZ("512", "10") LOADS(CA, TURNED) MAD(sizes) STORE("16", "16")
  assert_true(finds(BY_K(WHOLE), INIT, FINDING_UNINITIALIZED, STORE_LINE));
  assert_true(finds(BY_K("m=16,k=11,n=16"), INIT, FINDING_UNINITIALIZED, STORE_LINE));
  assert_false(finds(BY_K("m=16,k=10,n=16"), INIT, FINDING_UNINITIALIZED, STORE_LINE));
}

/* The bias table is filled by 64 bytes: the second half of the last may be nobody's. Column 8 has
 * no bias. */
static void test_biases_that_nobody_brought(void **state) {
  (void)state;
#define BIASED(src, pairs, n)                                                                      \
  CUBE_HEAD ND2NZ("0", "16")                                                                       \
      ND2NZ("512", "16") "copy_gm_to_cbuf,dst=1024,src=a,n_burst=1,len_burst=1\n" LOADS(           \
          CA, CB "copy_cbuf_to_bt,dst=0,src=" src ",n_burst=1,len_burst=" pairs "\n")              \
          MAD("m=16,k=16,n=" n ",init=0,source=bt,bias=0") STORE("16", n)
  enum { COPY = 13, STORED = 19 };
  expect_clean(BIASED("1024", "2", "8"));
  assert_true(finds(BIASED("1024", "2", "9"), INIT, FINDING_UNINITIALIZED, STORED));
  assert_false(finds(BIASED("1024", "2", "9"), INIT, FINDING_UNINITIALIZED, COPY));
  assert_true(finds(BIASED("1024", "4", "8"), INIT, FINDING_UNINITIALIZED, COPY));
  assert_true(finds(BIASED("1088", "2", "8"), INIT, FINDING_UNINITIALIZED, COPY));
}

static void test_sums_go_on(void **state) {
  (void)state;
#define AGAIN(init)                                                                                \
  CUBE_HEAD ND2NZ("0", "10") ND2NZ("512", "16") ND2NZ("1024", "16")                                \
      LOADS(CA "load_cbuf_to_ca,dst=512,src=1024,repeat=1\n", CB) MAD(WHOLE)                       \
          BARRIER(M) "mad,c=0,a=512,b=0," WHOLE ",init=" init ",type=fp16\n" STORE("16", "16")
  assert_true(finds(AGAIN("0"), INIT, FINDING_UNINITIALIZED, 21));
  expect_clean(AGAIN("1"));
}

/* Whole fractals that nobody wrote are reported where they are loaded, and once. */
static void test_no_finding_twice(void **state) {
  (void)state;
  const char *const text = CUBE_HEAD ND2NZ("512", "16") LOADS(CA, CB) MAD(WHOLE) STORE("16", "16");
  vinci_findings *findings = find_with(fixture_shared, text, INIT);
  assert_non_null(findings);
  assert_int_equal(vinci_findings_count(findings), 1);
  assert_int_equal(findings->items[0].event[1].line, 9);
  vinci_findings_free(findings);
}

/* load3d fills m_ext rows; rows of the map that are missing are rows of windows. */
static void test_windows(void **state) {
  (void)state;
#define WINDOWS(rows, m_ext, sizes, m)                                                             \
  CUBE_HEAD ND2NZ("0", rows) ND2NZ("512", "16")                                                    \
      LOADS("img2colv2_cbuf_to_ca,dst=0,src=0,k_ext=16,m_ext=" m_ext                               \
            ",filter_w=1,filter_h=1,l1_w=16,l1_h=1,channels=16,type=fp16\n",                       \
            CB) MAD(sizes) STORE(m, "16")
  expect_clean(WINDOWS("16", "16", WHOLE, "16"));
  assert_true(finds(WINDOWS("16", "10", WHOLE, "16"), INIT, FINDING_UNINITIALIZED, STORE_LINE));
  assert_true(finds(WINDOWS("10", "16", WHOLE, "16"), INIT, FINDING_UNINITIALIZED, STORE_LINE));
  expect_clean(WINDOWS("10", "16", WHOLE, "10"));
  expect_clean(WINDOWS("16", "10", "m=10,k=16,n=16", "10"));
}

/* The copies of the coupled cores take whole fractals; the store to GM is what shows rows. */
static void test_coupled_cores(void **state) {
  (void)state;
#define COUPLED(blocks)                                                                            \
  "trace,version=1\nkernel,name=k,arch=dav-c100,blocks=1\n"                                        \
  "tensor,name=c,dtype=fp32,shape=256,io=out\nstream,core=AICORE\n"                                \
  "create_ca_matrix,dst=0,blocks=1,value=0\ncreate_cb_matrix,dst=0,blocks=1,value=0\n" SET(        \
      MTE1, M) WAIT(MTE1, M) MAD("m=10,k=16,n=16") SET(M, V)                                       \
      WAIT(M, V) "copy_matrix_cc_to_ubuf,dst=0,src=0,len_burst=1,type=fp32\n" SET(V, MTE3)         \
          WAIT(V, MTE3) "copy_ubuf_to_gm,dst=c,src=0,len_burst=" blocks "\n"
  vinci_soc *soc = fixture_soc_coupled();
  assert_string_equal(report_of(soc, COUPLED("20"), 0), ""); /* 10 rows of 64 bytes */
  assert_non_null(strstr(report_of(soc, COUPLED("21"), INIT), "#0 t.csv:15 copy_ubuf_to_gm\n"));
  vinci_soc_free(soc);
}

static void test_rows_that_overlap(void **state) {
  (void)state;
#define OUT(fields)                                                                                \
  CUBE_HEAD ND2NZ("0", "16") ND2NZ("512", "16") LOADS(CA, CB) MAD(WHOLE) SET(M, FIX) WAIT(M, FIX)  \
      fields ",src=0,src_stride=16,type=fp32\n"
  expect_report(OUT("copy_matrix_cc_to_gm,dst=c,n=16,m=16,dst_stride=12,nz2nd=1"), MEM,
                "====== ERROR: overlapping rows of one write of size 16\n"
                "======    at 0x1830 on GM in k\n"
                "======    operand \"dst\" writes rows of 64 bytes that overlap; which of them is "
                "there at the end is not defined\n"
                "======    in block aic(0) on PIPE_FIX\n"
                "======    #0 t.csv:17 copy_matrix_cc_to_gm\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  /* One row has nothing to overlap with; sums in memory may come in any order. */
  expect_clean(OUT("copy_matrix_cc_to_gm,dst=c,n=16,m=1,dst_stride=12,nz2nd=1"));
  assert_false(finds(OUT("set_atomic_add\nset_atomic_f32\ncopy_matrix_cc_to_gm,dst=c,n=16,m=16,"
                         "dst_stride=12,nz2nd=1"),
                     MEM, FINDING_OVERLAPPING_ROWS, 19));
  assert_true(finds(OUT("copy_matrix_cc_to_gm,dst=c,n=16,m=2,dst_stride=16,nz2nd=1,nd_num=2,"
                        "dst_nd_stride=0,src_nd_stride=0"),
                    MEM, FINDING_OVERLAPPING_ROWS, 17));
}

/* Rows in NZ order: blocks of 32 bytes. */
static void test_blocks_that_overlap(void **state) {
  (void)state;
#define BLOCKS(fields) CUBE_HEAD "copy_gm_to_cbuf_multi_nd2nz_b16,dst=0,src=a," fields ",src_d=32\n"
  expect_clean(BLOCKS("n=4,d=32,dst_c0_stride=4"));
  assert_true(finds(BLOCKS("n=4,d=32,dst_c0_stride=3"), MEM, FINDING_OVERLAPPING_ROWS, 6));
  assert_true(
      finds(BLOCKS("n=4,d=32,dst_c0_stride=4,dst_n_stride=0"), MEM, FINDING_OVERLAPPING_ROWS, 6));
  /* Two matrices between each other's rows; and in one place. */
  expect_clean(BLOCKS("nd_num=2,n=2,d=16,dst_c0_stride=4,dst_n_stride=2,dst_nd_stride=16"));
  assert_true(finds(BLOCKS("nd_num=2,n=2,d=16,dst_c0_stride=4,dst_n_stride=2,dst_nd_stride=32"),
                    MEM, FINDING_OVERLAPPING_ROWS, 6));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_that_nobody_brought),
      cmocka_unit_test(test_columns_that_nobody_brought),
      cmocka_unit_test(test_rows_and_columns_that_mad_leaves),
      cmocka_unit_test(test_lanes_along_k),
      cmocka_unit_test(test_biases_that_nobody_brought),
      cmocka_unit_test(test_sums_go_on),
      cmocka_unit_test(test_no_finding_twice),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_coupled_cores),
      cmocka_unit_test(test_rows_that_overlap),
      cmocka_unit_test(test_blocks_that_overlap),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
