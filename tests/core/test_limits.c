/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs at the ends of what is allowed: every number of a SoC at its smallest and largest,
 * operands whose values only the run knows, masks of all 64 bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/runs.h"

/* ---- numbers of the SoC ---------------------------------------------------------- */

/* Cube and vector work, most paths, both kinds of flags, two mask modes. */
#define MIXED                                                                                      \
  HEAD(3)                                                                                          \
  TENSORS "stream,core=AIC\n"                                                                      \
          "copy_gm_to_cbuf,dst=0,src=x+blk*8192,len_burst=256\n"                                   \
          "copy_gm_to_cbuf_multi_nd2nz_b16,dst=8192,src=x,n=16,d=64,src_d=128,dst_c0_stride=16\n"  \
          "set_flag,src=MTE2,dst=MTE1,id=0\nwait_flag,src=MTE2,dst=MTE1,id=0\n"                    \
          "load_cbuf_to_ca,dst=0,src=0,repeat=4\nload_cbuf_to_cb,dst=0,src=8192,repeat=4\n"        \
          "pipe_barrier,pipe=ALL\n"                                                                \
          "mad,c=0,a=0,b=0,m=16,k=64,n=16,init=1,type=fp16\n"                                      \
          "mad,c=0,a=0,b=0,m=16,k=16,n=16,init=0,type=fp32\n"                                      \
          "pipe_barrier,pipe=ALL\n"                                                                \
          "copy_matrix_cc_to_gm,dst=y,src=0,n=16,m=16,dst_stride=16,src_stride=16,quant=f322f16,"  \
          "nz2nd=1,type=fp32\n"                                                                    \
          "ffts_cross_core_sync,pipe=FIX,mode=2,id=0\n" AIV "wait_flag_dev,id=0\n"                 \
          "loop,i,3\n"                                                                             \
          "copy_gm_to_ubuf,dst=0,src=x+i*4096,len_burst=128\n"                                     \
          "copy_gm_to_ubuf_align_b16,dst=4096,src=x,n_burst=4,len_burst=34,src_gap=6\n"            \
          "pipe_barrier,pipe=ALL\n"                                                                \
          "vadd,dst=8192,src0=0,src1=4096,repeat=7,type=fp32\n"                                    \
          "vcmax,dst=16384,src=0,repeat=3,type=fp16\n"                                             \
          "set_mask_count\nset_vector_mask,high=0,low=300\n"                                       \
          "vexp,dst=8192,src=0,repeat=1,type=fp16\nset_mask_norm\n"                                \
          "pipe_barrier,pipe=ALL\n"                                                                \
          "copy_ubuf_to_gm,dst=y+4096,src=8192,len_burst=64\n"                                     \
          "endloop\n"

/* Whether the SoC accepts the number and the trace runs with it to a proper end. */
static bool runs_with_number(size_t index, int64_t value) {
  vinci_soc *changed = soc_copy(fixture_shared);
  assert_non_null(changed);
  struct vinci_diag diag = {0};
  struct soc_provenance provenance = {.source = "test", .note = "", .overridden = true};
  assert_int_equal(soc_store(changed, index, value, provenance, &diag), VINCI_OK);
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  enum vinci_status status = soc_validate(changed, &diag);
  if (status == VINCI_OK)
    status = vinci_trace_parse("t.csv", MIXED, sizeof MIXED - 1, changed, &trace, &diag);
  if (status == VINCI_OK) {
    struct vinci_run_options options = {
        .struct_size = sizeof options, .max_cycles = 10000000, .memory = VINCI_MEMORY_FLAT};
    status = vinci_run(changed, trace, &options, &result, &diag);
  }
  /* A chip may lack what the trace needs; nothing else may go wrong. */
  if (status != VINCI_OK && status != VINCI_E_LIMIT && status != VINCI_E_INPUT &&
      status != VINCI_E_USAGE)
    fail_msg("%s = %lld: %s", soc_param(index)->key, (long long)value, diag.text);
  vinci_result_free(result);
  vinci_trace_free(trace);
  vinci_soc_free(changed);
  return status == VINCI_OK || status == VINCI_E_LIMIT;
}

static void every_number_runs_at_its_ends(void **state) {
  (void)state;
  unsigned ran = 0;
  for (size_t i = 0; i < soc_param_count(); i++) {
    assert_true(runs_with_number(i, soc_get(fixture_shared, i)));
    ran += runs_with_number(i, soc_param(i)->minimum);
    ran += runs_with_number(i, soc_param(i)->maximum);
  }
  /* Few ends leave a chip that cannot run the trace. */
  assert_true(ran > 2 * soc_param_count() * 3 / 4);
}

static void a_tile_of_the_cube_holds_an_element(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *changed = soc_copy(fixture_shared);
  assert_non_null(changed);
  assert_int_equal(vinci_soc_set(changed, "cube.k_bytes=3B", &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "cube.k_bytes: 3B is outside 4B to 4KiB");
  vinci_soc_free(changed);
}

/* ---- values that only the run knows ------------------------------------------------ */

static void assert_stops(const char *text, unsigned long line, const char *message) {
  struct run run = runs_with(fixture_shared, text, NULL);
  assert_int_equal(run.status, VINCI_E_INPUT);
  assert_string_equal(run.diag.text, message);
  assert_int_equal(run.diag.line, line);
  assert_null(run.result);
}

static void assert_runs(const char *text) {
  struct run run = runs_with(fixture_shared, text, NULL);
  if (run.status != VINCI_OK)
    fail_msg("%s in\n%s", run.diag.text, text);
  vinci_result_free(run.result);
}

static void computed_addresses_lie_in_their_space(void **state) {
  (void)state;
  assert_stops(
      HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=9223372036854775807-blk,len_burst=1\n", 6,
      "operand \"src\" of copy_gm_to_ubuf: address 9223372036854775807 is outside GM, "
      "which has 34359738368 bytes");
  assert_stops(
      HEAD(1) TENSORS AIV "loop,i,2\ncopy_gm_to_ubuf,dst=0-32*i,src=x,len_burst=1\nendloop\n", 7,
      "operand \"dst\" of copy_gm_to_ubuf: address -32 is outside UB, which has 196608 "
      "bytes");
  assert_stops(HEAD(1) AIV "vadd,dst=9223372036854775776-blk,src0=0,src1=0,repeat=255,type=fp16\n",
               4,
               "operand \"dst\" of vadd: address 9223372036854775776 is outside UB, which has "
               "196608 bytes");
}

#define COUNT_OF(count) HEAD(1) AIV "set_mask_count\nset_vector_mask,high=0,low=" count "\n"

static void counter_mode_is_bounded(void **state) {
  (void)state;
  static const char vadd[] = "vadd in counter mode: the mask counts ";
  char message[160];
  snprintf(message, sizeof message, "%s196609 elements, UB has 196608 bytes", vadd);
  assert_stops(COUNT_OF("196609") VADD(1), 6, message);
  snprintf(message, sizeof message, "%s18446744073709551615 elements, UB has 196608 bytes", vadd);
  assert_stops(COUNT_OF("0xffffffffffffffff") VADD(1), 6, message);
  /* What does not fit is a matter of the ranges. */
  assert_stops(COUNT_OF("196608") VADD(1), 6,
               "operand \"src0\" of vadd: bytes 8192 to 401408 of UB, which has 196608");
  assert_runs(COUNT_OF("0xffffffffffffffff") "set_mask_norm\n" VADD(1));
  assert_runs(COUNT_OF("0xffffffffffffffff") "copy_ubuf_to_ubuf,dst=0,src=4096,len_burst=1\n");
}

static void masks_and_scalars_have_all_64_bits(void **state) {
  (void)state;
  assert_runs(HEAD(1) AIV
              "set_vector_mask,high=0x8000000000000000,low=0x8000000000000000\n" VADD(1));
  assert_runs(HEAD(1) AIV "vadds,dst=0,src=0,scalar=-9223372036854775808,repeat=1,type=int32\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_number_runs_at_its_ends),
      cmocka_unit_test(a_tile_of_the_cube_holds_an_element),
      cmocka_unit_test(computed_addresses_lie_in_their_space),
      cmocka_unit_test(counter_mode_is_bounded),
      cmocka_unit_test(masks_and_scalars_have_all_64_bits),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
