/* SPDX-License-Identifier: Apache-2.0 */
/* Values of transfers: the documentation's examples. Random ones: tests/values/transfers.py. */
#include <math.h>

#include "core/base/number.h"
#include "core/machine/values.h"
#include "tests/support/units.h"

static uint8_t memory[SPACE_COUNT][65536];
static struct value_core core;

static int clear(void **state) {
  (void)state;
  memset(memory, 0, sizeof memory);
  for (unsigned i = 0; i < SPACE_COUNT; i++)
    core.bytes[i] = memory[i];
  return 0;
}

static void run(const struct inst *inst) {
  registry_values((enum isa_op)inst->op)(test_soc(), inst, &core);
}

static void count_up(enum space space, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    memory[space][i] = (uint8_t)i;
}

static void assert_filled(const uint8_t *from, size_t bytes, uint8_t value) {
  for (size_t i = 0; i < bytes; i++)
    assert_int_equal(from[i], value);
}

/* Runs of 47 bytes, a byte apart, into UB: the documentation's second example of DataCopyPad. */
static void unaligned_runs_are_filled_up(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_COPY_GM_TO_UBUF_ALIGN_B8, DTYPE_COUNT);
  count_up(SPACE_GM, 256);
  test_set(&inst, "n_burst", 2);
  test_set(&inst, "len_burst", 47);
  test_set(&inst, "src_gap", 1);
  test_set(&inst, "dst_gap", 1);
  inst.registers.pad_value = 0xee;
  run(&inst);
  assert_memory_equal(memory[SPACE_UB], memory[SPACE_GM], 47);
  assert_filled(memory[SPACE_UB] + 47, 17, 0); /* no pads: the run's first element */
  assert_filled(memory[SPACE_UB] + 64, 32, 0);
  assert_memory_equal(memory[SPACE_UB] + 96, memory[SPACE_GM] + 48, 47);
  assert_filled(memory[SPACE_UB] + 96 + 47, 17, 48);
  test_set(&inst, "left_pad", 3);
  test_set(&inst, "right_pad", 2);
  test_set(&inst, "n_burst", 1);
  run(&inst);
  assert_filled(memory[SPACE_UB], 3, 0xee);
  assert_memory_equal(memory[SPACE_UB] + 3, memory[SPACE_GM], 47);
  assert_filled(memory[SPACE_UB] + 50, 14, 0xee);
}

static void nd_to_nz(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_COPY_GM_TO_CBUF_MULTI_ND2NZ_B16, DTYPE_COUNT);
  count_up(SPACE_GM, 256);
  memset(memory[SPACE_L1], 0xff, 512);
  test_set(&inst, "n", 2);
  test_set(&inst, "d", 17);
  test_set(&inst, "src_d", 20);
  test_set(&inst, "dst_c0_stride", 3);
  run(&inst);
  assert_memory_equal(memory[SPACE_L1], memory[SPACE_GM], 32);
  assert_memory_equal(memory[SPACE_L1] + 32, memory[SPACE_GM] + 40, 32);
  assert_filled(memory[SPACE_L1] + 64, 32, 0xff);
  assert_memory_equal(memory[SPACE_L1] + 96, memory[SPACE_GM] + 32, 2);
  assert_filled(memory[SPACE_L1] + 98, 30, 0);
  assert_memory_equal(memory[SPACE_L1] + 128, memory[SPACE_GM] + 72, 2);
}

/* Square (r, c) of 32-bit elements: two fractals side by side, before and after. */
static void squares_of_32_bits_are_transposed(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_LOAD_CBUF_TO_CA_TRANSPOSE, DTYPE_FP32);
  for (unsigned r = 0; r < 16; r++)
    for (unsigned c = 0; c < 16; c++)
      store_u32(memory[SPACE_L1] + c / 8 * 512 + r * 32 + c % 8 * 4, 16 * r + c);
  test_set(&inst, "repeat", 1);
  test_set(&inst, "frac_gap", 1);
  run(&inst);
  for (unsigned r = 0; r < 16; r++)
    for (unsigned c = 0; c < 16; c++)
      assert_int_equal(load_u32(memory[SPACE_L0A] + c / 8 * 1024 + r * 32 + c % 8 * 4), 16 * c + r);
}

/* A 3 x 3 window over 2 x 2 points with a border of 1: the middle output sees all points. */
static void windows_have_borders(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_IMG2COLV2_CBUF_TO_CA, DTYPE_FP16);
  static const char *const ones[] = {"pad_left", "pad_right", "pad_top", "pad_bottom"};
  for (unsigned point = 0; point < 4; point++)
    for (unsigned c = 0; c < 16; c++)
      store_u16(memory[SPACE_L1] + point * 32 + c * 2, (uint16_t)(100 * (point + 1) + c));
  for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
    test_set(&inst, ones[i], 1);
  test_set(&inst, "filter_w", 3);
  test_set(&inst, "filter_h", 3);
  test_set(&inst, "l1_w", 2);
  test_set(&inst, "l1_h", 2);
  test_set(&inst, "channels", 16);
  test_set(&inst, "m_ext", 4);
  test_set(&inst, "k_ext", 9 * 16);
  inst.registers.load3d_padding = 0xabcd;
  run(&inst);
  /* Output (0, 0): row 0 of the matrix; the window's points are blocks of columns. */
  static const unsigned points[9] = {0, 0, 0, 0, 1, 2, 0, 3, 4};
  for (unsigned block = 0; block < 9; block++)
    for (unsigned c = 0; c < 16; c++)
      assert_int_equal(load_u16(memory[SPACE_L0A] + block * 512 + c * 2),
                       points[block] ? 100 * points[block] + c : 0xabcd);
}

/* Points of 32 bytes from 512 on; the third and fourth lie behind the boundary. */
static void windows_go_on_at_the_start_of_l1(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_IMG2COLV2_CBUF_TO_CA, DTYPE_INT8);
  static const char *const ones[] = {"filter_w", "filter_h", "l1_h"};
  count_up(SPACE_L1, 128);
  memset(memory[SPACE_L1] + 1024 - 64, 0xaa, 128);
  for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
    test_set(&inst, ones[i], 1);
  test_set(&inst, "src", 1024 - 64);
  test_set(&inst, "l1_w", 4);
  test_set(&inst, "channels", 32);
  test_set(&inst, "m_ext", 4);
  test_set(&inst, "k_ext", 32);
  inst.registers.load3d_boundary = 1024;
  run(&inst);
  assert_filled(memory[SPACE_L0A], 64, 0xaa);
  assert_memory_equal(memory[SPACE_L0A] + 64, memory[SPACE_L1], 64);
  inst.registers.load3d_boundary = 0;
  run(&inst);
  assert_filled(memory[SPACE_L0A], 128, 0xaa);
}

static struct inst fix(unsigned quant, enum dtype type, int64_t n, int64_t m) {
  struct inst inst = test_inst(OP_COPY_MATRIX_CC_TO_GM, type);
  test_set(&inst, "n", n);
  test_set(&inst, "m", m);
  test_set(&inst, "src_stride", 16);
  test_set(&inst, "dst_stride", n);
  test_set(&inst, "nz2nd", 1);
  test_set(&inst, "quant", quant);
  return inst;
}
enum { NONE, F322F16, F322BF16, DEQF16, VDEQF16, QF322B8, VQF322B8, REQ8, VREQ8 };

static void requantisation(void **state) {
  (void)state;
  struct inst inst = fix(REQ8, DTYPE_INT32, 8, 1);
  static const int32_t sums[8] = {0, 3, 5, -3, 1000, -1000, 400, 2147483647};
  static const int8_t halves[8] = {0, 2, 2, -2, 127, -128, 127, 127};
  static const uint8_t positive[8] = {10, 12, 12, 8, 255, 0, 210, 255};
  memcpy(memory[SPACE_L0C], sums, sizeof sums);
  inst.registers.quant_pre = fp32_bits(0.5f) | UINT64_C(1) << 46;
  run(&inst);
  assert_memory_equal(memory[SPACE_GM], halves, 8);
  inst.registers.quant_pre = fp32_bits(0.5f) | UINT64_C(10) << 37; /* unsigned, offset 10 */
  run(&inst);
  assert_memory_equal(memory[SPACE_GM], positive, 8);
  inst.registers.quant_pre |= UINT64_C(0x1fff); /* below the 10 bits of fraction */
  run(&inst);
  assert_memory_equal(memory[SPACE_GM], positive, 8);
  inst.registers.quant_pre = fp32_bits(1.0f) | UINT64_C(1) << 46 | UINT64_C(1) << 36 |
                             UINT64_C(2) << 32; /* shifted right by 3 */
  run(&inst);
  static const int8_t shifted[8] = {0, 0, 0, -1, 125, -125, 50, 127};
  assert_memory_equal(memory[SPACE_GM], shifted, 8);
  test_set(&inst, "relu", 1);
  run(&inst);
  assert_int_equal(memory[SPACE_GM][3], 0);
  assert_int_equal(memory[SPACE_GM][4], 125);
}

static void scales_by_column(void **state) {
  (void)state;
  struct inst inst = fix(VDEQF16, DTYPE_INT32, 16, 2);
  for (unsigned n = 0; n < 16; n++) {
    store_i32(memory[SPACE_L0C] + 64 + n * 4, 2048);
    store_u64(memory[SPACE_FB] + 256 + n * 8, fp32_bits((float)n));
  }
  inst.registers.fpc = 2 << 8; /* at 2 * 128 */
  run(&inst);
  for (unsigned n = 0; n < 16; n++)
    assert_int_equal(load_u16(memory[SPACE_GM] + (16 + n) * 2), fp16_from_fp32(2048.0f * (float)n));
}

static void merged_channels_leave_the_last_16_alone(void **state) {
  (void)state;
  struct inst inst = fix(QF322B8, DTYPE_FP32, 48, 2);
  for (unsigned n = 0; n < 48; n++)
    for (unsigned m = 0; m < 2; m++)
      store_fp32(memory[SPACE_L0C] + n / 16 * 1024 + m * 64 + n % 16 * 4, (float)(n + 50 * m));
  test_set(&inst, "nz2nd", 0);
  test_set(&inst, "dst_stride", 4);
  inst.registers.quant_pre = fp32_bits(1.0f);
  run(&inst);
  for (unsigned n = 0; n < 48; n++)
    for (unsigned m = 0; m < 2; m++) {
      unsigned at = n < 32 ? m * 32 + n : 128 + m * 16 + n - 32;
      assert_int_equal(memory[SPACE_GM][at], n + 50 * m);
    }
}

static void stores_can_be_atomic(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_COPY_UBUF_TO_GM, DTYPE_COUNT);
  test_set(&inst, "len_burst", 1);
  static const float old[8] = {1, 2, INFINITY, 0.0f, NAN, -5, 1e38f, 7};
  static const float new[8] = {4, -9, -INFINITY, -0.0f, 1, -6, 3e38f, NAN};
  memcpy(memory[SPACE_UB], new, sizeof new);
  inst.registers.atomic_type = DTYPE_FP32;
  static const struct {
    enum atomic_op op;
    float expected[8];
  } cases[] = {
      {ATOMIC_NONE, {4, -9, -INFINITY, -0.0f, 1, -6, 3e38f, NAN}},
      {ATOMIC_ADD, {5, -7, NAN, 0.0f, NAN, -11, INFINITY, NAN}},
      {ATOMIC_MAX, {4, 2, INFINITY, 0.0f, NAN, -5, 3e38f, NAN}},
      {ATOMIC_MIN, {1, -9, -INFINITY, -0.0f, NAN, -6, 1e38f, NAN}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    memcpy(memory[SPACE_GM], old, sizeof old);
    inst.registers.atomic = (uint8_t)cases[i].op;
    run(&inst);
    for (unsigned n = 0; n < 8; n++) {
      uint32_t got = load_u32(memory[SPACE_GM] + 4 * n), want = fp32_bits(cases[i].expected[n]);
      assert_true(got == want || (isnan(cases[i].expected[n]) && isnan(fp32_from_bits(got))));
    }
  }
}

static void biases_widen_on_their_way(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_COPY_CBUF_TO_BT, DTYPE_COUNT);
  for (unsigned i = 0; i < 16; i++)
    store_u16(memory[SPACE_L1] + 2 * i, fp16_from_fp32((float)i / 4));
  test_set(&inst, "len_burst", 1);
  test_set(&inst, "conv", 1);
  run(&inst);
  for (unsigned i = 0; i < 16; i++)
    assert_true(load_fp32(memory[SPACE_BT] + 4 * i) == (float)i / 4);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(unaligned_runs_are_filled_up, clear),
      cmocka_unit_test_setup(nd_to_nz, clear),
      cmocka_unit_test_setup(squares_of_32_bits_are_transposed, clear),
      cmocka_unit_test_setup(windows_have_borders, clear),
      cmocka_unit_test_setup(windows_go_on_at_the_start_of_l1, clear),
      cmocka_unit_test_setup(requantisation, clear),
      cmocka_unit_test_setup(scales_by_column, clear),
      cmocka_unit_test_setup(merged_channels_leave_the_last_16_alone, clear),
      cmocka_unit_test_setup(stores_can_be_atomic, clear),
      cmocka_unit_test_setup(biases_widen_on_their_way, clear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
