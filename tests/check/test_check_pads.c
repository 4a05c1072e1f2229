/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes that an unaligned copy leaves without a value, behind its data and pads: what is made of
 * them is found, whatever lane by lane instructions stand between; a mask or a fill helps.
 */
#include <stdlib.h>

#include "tests/support/checks.h"

/* Lines 1 to 8, and a copy of `bytes` in line 9 behind which all waits. */
#define PADS_HEAD CHECK_HEAD(1) "set_mask_norm\n"
#define IN(operands) "copy_gm_to_ubuf_align_b16,dst=ubx,src=x," operands "\n" BARRIER(ALL)
#define MASK(low) "set_vector_mask,high=0,low=" low "\n"
#define SUM(src, type) "vcadd,dst=uby+2048,src=" src ",repeat=1,type=" type "\n"
#define ADDS "vadds,dst=uby,src=ubx,scalar=1,repeat=1,type=fp16\n"
#define BY_ITSELF "vmul,dst=uby,src0=uby,src1=uby,repeat=1,type=fp16\n"
#define WIDEN "vconv_f162f32,dst=uby,src=ubx,repeat=1\n"
#define OUT(operands) BARRIER(ALL) "copy_ubuf_to_gm_align_b16,dst=y,src=uby," operands "\n"

/* Which bytes of UB the first finding names, 0: none; its line. */
static int64_t found(const char *text, uint32_t *line) {
  struct vinci_diag diag = {0};
  struct vinci_check_options options = {.struct_size = sizeof options,
                                        .checks = VINCI_CHECK_INITCHECK};
  vinci_findings *findings;
  vinci_trace *trace = runs_parse(text, fixture_shared);
  int64_t bytes = 0;
  enum vinci_status status = vinci_check(fixture_shared, trace, &options, &findings, &diag);
  vinci_trace_free(trace);
  if (status != VINCI_OK)
    fail_msg("%s", diag.text);
  for (size_t i = findings->count; i-- > 0;)
    if (findings->items[i].kind == FINDING_PADS) {
      bytes = (int64_t)findings->items[i].bytes;
      *line = findings->items[i].event[1].line;
    }
  vinci_findings_free(findings);
  return bytes;
}

static void expect_lanes(const char *text, int64_t bytes, uint32_t at) {
  uint32_t line = 0;
  assert_int_equal(found(text, &line), bytes);
  assert_int_equal(line, at);
}

static void test_a_sum(void **state) {
  (void)state;
  expect_lanes(PADS_HEAD IN("len_burst=26") MASK("0xffff") SUM("ubx", "fp16"), 6, 12);
  expect_lanes(PADS_HEAD IN("len_burst=26") MASK("0x1fff") SUM("ubx", "fp16"), 0, 0);
  expect_lanes(PADS_HEAD IN("len_burst=32") MASK("0xffff") SUM("ubx", "fp16"), 0, 0);
  /* Pads have the pad value; what is missing of the block has none. */
  expect_lanes(PADS_HEAD IN("len_burst=26,right_pad=3") MASK("0xffff") SUM("ubx", "fp16"), 0, 0);
  expect_lanes(PADS_HEAD IN("len_burst=26,right_pad=1") MASK("0xffff") SUM("ubx", "fp16"), 4, 12);
  expect_lanes(PADS_HEAD IN("len_burst=26,left_pad=3") MASK("0xffff") SUM("ubx", "fp16"), 0, 0);
  /* The last block of each run; the first block of a run is whole. */
  expect_lanes(PADS_HEAD IN("n_burst=3,len_burst=40") MASK("0xfffff") SUM("ubx", "fp16"), 0, 0);
  expect_lanes(PADS_HEAD IN("n_burst=3,len_burst=40") MASK("0x1fffff") SUM("ubx", "fp16"), 2, 12);
  expect_lanes(
      PADS_HEAD IN("n_burst=2,len_burst=26,dst_gap=1") MASK("0xffff") SUM("ubx+64", "fp16"), 6, 12);
}

static void test_what_they_go_through(void **state) {
  (void)state;
  expect_lanes(PADS_HEAD IN("len_burst=26") MASK("0xffff") ADDS BARRIER(V) SUM("uby", "fp16"), 6,
               14);
  expect_lanes(PADS_HEAD IN("len_burst=26") MASK("0xffff") ADDS BARRIER(V) BY_ITSELF BARRIER(V)
                   SUM("uby", "fp16"),
               6, 16);
  expect_lanes(PADS_HEAD IN("len_burst=26") MASK("0xffff") WIDEN BARRIER(V) SUM("uby", "fp32"), 12,
               14);
  expect_lanes(PADS_HEAD IN("len_burst=26") MASK("0xffff") WIDEN BARRIER(V) MASK("0x1fff")
                   SUM("uby", "fp32"),
               0, 0);
  /* A fill of these lanes. */
  expect_lanes(PADS_HEAD IN("len_burst=26")
                   MASK("0xe000") "vector_dup,dst=ubx,scalar=0,repeat=1,type=fp16\n" BARRIER(V)
                       MASK("0xffff") SUM("ubx", "fp16"),
               0, 0);
}

static void test_stores(void **state) {
  (void)state;
  expect_lanes(PADS_HEAD IN("len_burst=26") MASK("0xffff") ADDS OUT("len_burst=26"), 0, 0);
  expect_lanes(PADS_HEAD IN("len_burst=26") MASK("0xffff") ADDS OUT("len_burst=28"), 2, 14);
  expect_lanes(PADS_HEAD IN("len_burst=26") "copy_ubuf_to_gm,dst=y,src=ubx,len_burst=1\n", 6, 11);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_sum),
      cmocka_unit_test(test_what_they_go_through),
      cmocka_unit_test(test_stores),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
