/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of vector instructions that look across lanes, worked out by hand: comparison and
 * selection, reductions, movement, sorting. The rules are in traces/VALUES.md.
 */
#include "tests/support/vector_values.h"

/* Lanes 0, 1, 2 ... as 16-bit numbers of a repeat. */
static void count_up(unsigned address, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    store_u16(ub + address + 2 * i, (uint16_t)i);
}

/* ---- comparison and selection ---- */

static void comparisons_pack_bits(void **state) {
  (void)state;
  const float a[] = {1.0f, 2.0f, -0.0f, fp32_from_bits(NUMBER_FP32_NAN), 5.0f};
  const float b[] = {1.0f, 1.0f, 0.0f, fp32_from_bits(NUMBER_FP32_NAN), 7.0f};
  put_fp32(SRC0, a, 5);
  put_fp32(SRC1, b, 5);
  memset(ub + DST, 0xff, 2);
  struct inst inst = usual(OP_VCMPV_EQ, DTYPE_FP32);
  inst.mask = (struct vector_mask){.low = 5, .counter = true};
  execute(&inst);
  assert_int_equal(ub[DST], 0xe5); /* lanes 0 and 2; the bits behind the count stay */
  assert_int_equal(ub[DST + 1], 0xff);
  inst.mask = first_lanes(1); /* a normal mask counts for nothing */
  inst.op = OP_VCMPV_LE;
  execute(&inst);
  assert_int_equal(ub[DST], 0xf5);
  inst.op = OP_VCMPV_NE;
  execute(&inst);
  assert_int_equal(ub[DST], 0x1a);
}

static void comparison_mask(void **state) {
  (void)state;
  const float a[] = {1.0f, 2.0f, 3.0f, 4.0f}, b[] = {9.0f, 0.0f, 9.0f, 0.0f};
  put_fp32(SRC0, a, 4);
  put_fp32(SRC1, b, 4);
  memset(ub + 0x3000, 0xff, 16);
  struct inst set = test_inst(OP_SET_CMPMASK, DTYPE_FP32);
  test_set(&set, "src", 0x3000);
  execute(&set);
  struct inst compare = usual(OP_VCMP_LT, DTYPE_FP32);
  compare.mask = first_lanes(2); /* other lanes keep their bits */
  execute(&compare);
  assert_true(core.compare_mask[0] == ~UINT64_C(2));
  assert_true(core.compare_mask[1] == UINT64_MAX);
  struct inst select = usual(OP_VSEL, DTYPE_FP32);
  test_set(&select, "mode", 0);
  execute(&select);
  assert_true(fp32_at(DST) == 1.0f);
  assert_true(fp32_at(DST + 4) == 0.0f);
  assert_true(fp32_at(DST + 8) == 3.0f);
  struct inst get = test_inst(OP_GET_CMPMASK, DTYPE_FP32);
  test_set(&get, "dst", DST);
  execute(&get);
  assert_int_equal(ub[DST], 0xfd);
  assert_int_equal(ub[DST + 15], 0xff);
}

static void selection_by_bits(void **state) {
  (void)state;
  count_up(SRC0, 128);
  store_u16(ub + SRC1, 500);
  store_u16(ub + SRC1 + 2, 501);
  ub[0x3000] = 0x02;
  struct inst inst = usual(OP_VSEL, DTYPE_FP16);
  test_set(&inst, "mask", 0x3000);
  execute(&inst);
  assert_int_equal(u16_at(DST), 500);
  assert_int_equal(u16_at(DST + 2), 1);
  test_set(&inst, "mode", 1); /* one element for all lanes */
  execute(&inst);
  assert_int_equal(u16_at(DST + 4), 500);
}

/* ---- reductions ---- */

/* 60000 + 60000 overflows before -30000 + 100 can help: the documented example. */
static void sums_are_trees(void **state) {
  (void)state;
  const float values[] = {60000.0f, 60000.0f, -30000.0f, 100.0f};
  put_fp16(SRC0, values, 4);
  struct inst inst = usual(OP_VCGADD, DTYPE_FP16);
  execute(&inst);
  assert_int_equal(u16_at(DST), 0x7c00);
  inst.arch = ARCH_C100;
  execute(&inst);
  assert_int_equal(u16_at(DST), fp16_from_fp32(65504.0f - 29904.0f)); /* 35604 but for fp16 */
  inst = usual(OP_VCPADD, DTYPE_FP16);
  execute(&inst);
  assert_int_equal(u16_at(DST + 2), fp16_from_fp32(-29900.0f));
  assert_int_equal(u16_at(DST + 4), 0);
}

static void sums_of_active_lanes(void **state) {
  (void)state;
  const float values[] = {-0.0f, 5.0f, 7.0f};
  put_fp32(SRC0, values, 3);
  struct inst inst = usual(OP_VCADD, DTYPE_FP32);
  inst.mask = (struct vector_mask){.low = 5};
  execute(&inst);
  assert_true(fp32_at(DST) == 7.0f);
  inst.mask = (struct vector_mask){.low = 1};
  execute(&inst);
  assert_int_equal(u32_at(DST), 0x80000000); /* nothing is added to -0 */
  store_u32(ub + DST, 1234);
  inst.mask = (struct vector_mask){0};
  execute(&inst);
  assert_int_equal(u32_at(DST), 1234);
}

static void empty_groups(void **state) {
  (void)state;
  memset(ub + DST, 0x11, 32);
  struct inst inst = usual(OP_VCGMAX, DTYPE_FP32);
  inst.mask = first_lanes(8);
  execute(&inst);
  assert_int_equal(u32_at(DST), 0);
  assert_int_equal(u32_at(DST + 4), 0x11111111);
  inst.arch = ARCH_C310;
  execute(&inst);
  assert_int_equal(u32_at(DST + 4), 0xff800000);
  inst.op = OP_VCGADD;
  execute(&inst);
  assert_int_equal(u32_at(DST + 4), 0);
}

static void extremes_and_their_index(void **state) {
  (void)state;
  const float values[] = {3.0f, 9.0f, -4.0f, 9.0f};
  put_fp16(SRC0, values, 4);
  struct inst inst = usual(OP_VCMAX, DTYPE_FP16);
  execute(&inst);
  assert_int_equal(u16_at(DST), fp16_from_fp32(9.0f));
  assert_int_equal(u16_at(DST + 2), 1); /* of equal ones the first */
  test_set(&inst, "order", 3);
  inst.mask = (struct vector_mask){.low = 0xc};
  execute(&inst);
  assert_int_equal(u32_at(DST), 3);
  inst = usual(OP_VCMIN, DTYPE_FP16);
  test_set(&inst, "order", 1);
  execute(&inst);
  assert_int_equal(u16_at(DST), 2);
  assert_int_equal(u16_at(DST + 2), fp16_from_fp32(-4.0f));
  store_u16(ub + SRC0 + 20, 0x7e00);
  execute(&inst);
  assert_int_equal(u16_at(DST), 10); /* a NaN is found by both */
}

/* The documented example: mask 70, two repeats, pattern 2; each counts its own 70 elements. */
static void compaction_counts_by_repeat(void **state) {
  (void)state;
  count_up(SRC0, 256);
  struct inst inst = usual(OP_VREDUCEV2, DTYPE_UINT16);
  test_set(&inst, "pattern", 2);
  test_set(&inst, "repeat", 2);
  inst.mask = (struct vector_mask){.low = 70, .counter = true};
  execute(&inst);
  assert_int_equal(u16_at(DST), 1);
  assert_int_equal(u16_at(DST + 2 * 34), 69);
  assert_int_equal(u16_at(DST + 2 * 35), 129);
  assert_int_equal(u16_at(DST + 2 * 69), 197);
  assert_int_equal(u16_at(DST + 2 * 70), 0);
}

static void compaction_by_bits(void **state) {
  (void)state;
  count_up(SRC0, 128);
  memset(ub + SRC1, 0x99, 16);
  struct inst inst = usual(OP_VREDUCEV2, DTYPE_UINT16);
  test_set(&inst, "pattern", 0);
  execute(&inst);
  static const uint16_t expected[] = {0, 3, 4, 7, 8, 11};
  for (unsigned i = 0; i < 6; i++)
    assert_int_equal(u16_at(DST + 2 * i), expected[i]);
  assert_int_equal(u16_at(DST + 2 * 63), 127);
  assert_int_equal(u16_at(DST + 2 * 64), 0);
}

/* ---- movement ---- */

static void transposition_in_place(void **state) {
  (void)state;
  count_up(DST, 256);
  struct inst inst = usual(OP_VTRANSPOSE, DTYPE_UINT16);
  test_set(&inst, "src", DST);
  execute(&inst);
  assert_int_equal(u16_at(DST + 2 * 1), 16);
  assert_int_equal(u16_at(DST + 2 * (15 * 16 + 2)), 2 * 16 + 15);
}

static void nchwconv_of_all_widths(void **state) {
  (void)state;
  for (unsigned i = 0; i < 128; i++)
    store_u32(ub + SRC0 + 4 * i, i);
  execute_usual(OP_SCATTER_VNCHWCONV_B32, DTYPE_FP32);
  assert_int_equal(u32_at(DST + 4), 8);               /* block 1, column 0 */
  assert_int_equal(u32_at(DST + 32 + 4 * 7), 15 * 8); /* second half of column 0 */
  assert_int_equal(u32_at(DST + 64 * 7 + 4 * 3), 3 * 8 + 7);
  count_up(SRC0, 256);
  execute_usual(OP_SCATTER_VNCHWCONV_B16, DTYPE_FP32);
  assert_int_equal(u16_at(DST + 32 * 5 + 2 * 3), 3 * 16 + 5);
  for (unsigned i = 0; i < 512; i++)
    ub[SRC0 + i] = (uint8_t)(i / 32 * 16 + i % 16 + (i % 32 >= 16));
  memset(ub + DST, 0xee, 512);
  struct inst inst = usual(OP_SCATTER_VNCHWCONV_B8, DTYPE_FP32);
  test_set(&inst, "src_high", 1);
  execute(&inst);
  assert_int_equal(ub[DST + 32 * 2 + 3], 3 * 16 + 2 + 1);
  assert_int_equal(ub[DST + 32 * 2 + 16], 0xee);
}

/* A single repeat starts a stride behind its addresses, the first of several does not. */
static void nchwconv_repeats(void **state) {
  (void)state;
  count_up(SRC0, 1024);
  struct inst inst = usual(OP_SCATTER_VNCHWCONV_B16, DTYPE_FP32);
  test_set(&inst, "src_repeat", 16);
  execute(&inst);
  assert_int_equal(u16_at(DST), 256);
  test_set(&inst, "repeat", 2);
  test_set(&inst, "dst_repeat", 16);
  execute(&inst);
  assert_int_equal(u16_at(DST), 0);
  assert_int_equal(u16_at(DST + 512), 256);
}

static void broadcast_and_gather(void **state) {
  (void)state;
  count_up(SRC0, 16);
  struct inst brcb = usual(OP_VBRCB, DTYPE_UINT16);
  test_set(&brcb, "repeat", 2);
  execute(&brcb);
  assert_int_equal(u16_at(DST + 32 * 9), 9);
  assert_int_equal(u16_at(DST + 32 * 9 + 30), 9);
  const uint32_t offsets[] = {6, 2, UB_BYTES};
  memcpy(ub + 0x3000, offsets, sizeof offsets);
  store_u16(ub + DST + 4, 77);
  struct inst gather = usual(OP_VGATHER, DTYPE_UINT16);
  test_set(&gather, "offset", 0x3000);
  gather.mask = first_lanes(3);
  execute(&gather);
  assert_int_equal(u16_at(DST), 3);
  assert_int_equal(u16_at(DST + 2), 1);
  assert_int_equal(u16_at(DST + 4), 0); /* beyond the end of UB there is nothing */
  const uint32_t blocks[] = {32, 0, 32, 0, 32, 0, 32, 0};
  memcpy(ub + 0x3000, blocks, sizeof blocks);
  store_u16(ub + SRC0 + 32, 55);
  struct inst gather_block = usual(OP_VGATHERB, DTYPE_UINT16);
  test_set(&gather_block, "offset", 0x3000);
  test_set(&gather_block, "dst_block", 0); /* stands for 1 */
  execute(&gather_block);
  assert_int_equal(u16_at(DST), 55);
  assert_int_equal(u16_at(DST + 32 + 2), 1);
  assert_int_equal(u16_at(DST + 192), 55);
}

/* ---- sorting ---- */

static void sorted_entries(void **state) {
  (void)state;
  float scores[32] = {1.0f, 8.0f, -2.0f, 8.0f};
  put_fp16(SRC0, scores, 32);
  store_u16(ub + SRC0 + 40, 0x7e00);
  for (uint32_t i = 0; i < 32; i++)
    store_u32(ub + SRC1 + 4 * i, 100 + i);
  memset(ub + DST, 0xff, 256);
  execute_usual(OP_VBITSORT, DTYPE_FP16);
  static const uint32_t first[] = {120, 101, 103, 100, 104}; /* NaN, 8, 8, 1, 0 */
  for (unsigned i = 0; i < 5; i++)
    assert_int_equal(u32_at(DST + 8 * i + 4), first[i]);
  assert_int_equal(u32_at(DST + 8), fp16_from_fp32(8.0f)); /* its upper half is 0 */
  assert_int_equal(u32_at(DST + 8 * 31 + 4), 102);
}

static void put_entries(unsigned address, const float *scores, unsigned count, uint32_t index) {
  for (unsigned i = 0; i < count; i++) {
    store_fp32(ub + address + 8 * i, scores[i]);
    store_u32(ub + address + 8 * i + 4, index + i);
  }
}

static void merged_lists(void **state) {
  (void)state;
  const float first[] = {9.0f, 5.0f, 1.0f}, second[] = {9.0f, 7.0f};
  put_entries(SRC0, first, 3, 10);
  put_entries(SRC1, second, 2, 20);
  struct inst inst = usual(OP_VMRGSORT4, DTYPE_FP32);
  test_set(&inst, "lists", 2);
  test_set(&inst, "length0", 3);
  test_set(&inst, "length1", 2);
  execute(&inst);
  static const uint32_t merged[] = {10, 20, 21, 11, 12};
  for (unsigned i = 0; i < 5; i++)
    assert_int_equal(u32_at(DST + 8 * i + 4), merged[i]);
  memset(ub + DST, 0, 64);
  test_set(&inst, "stop", 1); /* the second list is used up by 7 */
  execute(&inst);
  assert_int_equal(u32_at(DST + 8 * 2 + 4), 21);
  assert_int_equal(u32_at(DST + 8 * 3 + 4), 0);
}

/* In counter mode the mask counts the elements of each repeat (Ascend C documentation, Copy): a row
 * and a half of blocks from the one block of each repeat. */
static void copies_count_their_repeats(void **state) {
  (void)state;
  count_up(SRC0, 48);
  memset(ub + DST, 0xff, 512);
  struct inst inst = usual(OP_VCOPY, DTYPE_UINT16);
  inst.mask = (struct vector_mask){.low = 40, .counter = true};
  set_if(&inst, "repeat", 3);
  set_if(&inst, "src_block", 0);
  set_if(&inst, "src_repeat", 1);
  set_if(&inst, "dst_block", 1);
  set_if(&inst, "dst_repeat", 4);
  execute(&inst);
  for (unsigned repeat = 0; repeat < 3; repeat++)
    for (unsigned i = 0; i < 64; i++)
      assert_int_equal(u16_at(DST + 128 * repeat + 2 * i), i < 40 ? 16 * repeat + i % 16 : 0xffff);
  struct inst_access written = test_access(&inst, "dst", true);
  assert_int_equal(written.address, DST);
  assert_int_equal(written.bytes, 2 * 128 + 2 * 40);
  struct inst_access read = test_access(&inst, "src", false);
  assert_int_equal(read.bytes, 3 * 32);
  set_if(&inst, "repeat", 0); /* nothing happens */
  assert_int_equal(test_access(&inst, "dst", true).bytes, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(comparisons_pack_bits, values_set_up),
      cmocka_unit_test_setup(comparison_mask, values_set_up),
      cmocka_unit_test_setup(copies_count_their_repeats, values_set_up),
      cmocka_unit_test_setup(selection_by_bits, values_set_up),
      cmocka_unit_test_setup(sums_are_trees, values_set_up),
      cmocka_unit_test_setup(sums_of_active_lanes, values_set_up),
      cmocka_unit_test_setup(empty_groups, values_set_up),
      cmocka_unit_test_setup(extremes_and_their_index, values_set_up),
      cmocka_unit_test_setup(compaction_counts_by_repeat, values_set_up),
      cmocka_unit_test_setup(compaction_by_bits, values_set_up),
      cmocka_unit_test_setup(transposition_in_place, values_set_up),
      cmocka_unit_test_setup(nchwconv_of_all_widths, values_set_up),
      cmocka_unit_test_setup(nchwconv_repeats, values_set_up),
      cmocka_unit_test_setup(broadcast_and_gather, values_set_up),
      cmocka_unit_test_setup(sorted_entries, values_set_up),
      cmocka_unit_test_setup(merged_lists, values_set_up),
  };
  return cmocka_run_group_tests_name("values_lanes", tests, NULL, NULL);
}
