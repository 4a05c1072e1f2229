/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of vector instructions, worked out by hand: each rule of traces/VALUES.md.
 * Random instructions in great numbers are tests/values/vector.py's.
 */
#include <float.h>

#include "tests/support/vector_values.h"
#include "vector/values.h"

/* ---- lanes ---- */

/* Nothing is written with repeat 0, nor in lanes that are not active. */
static void masks(void **state) {
  (void)state;
  for (unsigned lane = 0; lane < 128; lane++) {
    store_fp32(ub + SRC0 + 4 * lane, (float)lane);
    store_fp32(ub + SRC1 + 4 * lane, 0.5f);
  }
  struct inst inst = usual(OP_VADD, DTYPE_FP32);
  test_set(&inst, "repeat", 0);
  execute(&inst);
  assert_true(fp32_at(DST) == 0.0f);
  test_set(&inst, "repeat", 2);
  inst.mask = (struct vector_mask){.low = 0x8000000000000002u};
  execute(&inst);
  assert_true(fp32_at(DST) == 0.0f);
  assert_true(fp32_at(DST + 4) == 1.5f);
  assert_true(fp32_at(DST + 8) == 0.0f);
  assert_true(fp32_at(DST + 0xfc) == 63.5f);
  assert_true(fp32_at(DST + 0x104) == 65.5f);
  inst.mask = (struct vector_mask){.low = 66, .counter = true};
  execute(&inst);
  assert_true(fp32_at(DST + 0x100) == 64.5f);
  assert_true(fp32_at(DST + 0x108) == 0.0f);
}

/* Block stride 0 and repeat stride 0 read the same bytes again. */
static void strides(void **state) {
  (void)state;
  for (unsigned lane = 0; lane < 8; lane++)
    store_fp32(ub + SRC0 + 4 * lane, (float)lane);
  struct inst inst = usual(OP_VADDS, DTYPE_FP32);
  test_set(&inst, "scalar", (int64_t)fp32_bits(10.0f));
  test_set(&inst, "repeat", 2);
  test_set(&inst, "src_block", 0);
  test_set(&inst, "src_repeat", 0);
  test_set(&inst, "dst_block", 2);
  test_set(&inst, "dst_repeat", 16);
  execute(&inst);
  assert_true(fp32_at(DST + 4) == 11.0f);
  assert_true(fp32_at(DST + 32) == 0.0f);
  assert_true(fp32_at(DST + 64 + 4) == 11.0f);
  assert_true(fp32_at(DST + 512 + 7 * 64 + 28) == 17.0f);
}

/* A repeat reads what the one before has written, but nothing of its own. */
static void overlapping_repeats(void **state) {
  (void)state;
  for (unsigned lane = 0; lane < 64; lane++)
    store_fp32(ub + SRC0 + 4 * lane, 1.0f);
  struct inst inst = usual(OP_VADDS, DTYPE_FP32);
  test_set(&inst, "scalar", (int64_t)fp32_bits(1.0f));
  test_set(&inst, "repeat", 3);
  test_set(&inst, "dst", SRC0 + 256);
  execute(&inst);
  assert_true(fp32_at(SRC0 + 256) == 2.0f);
  assert_true(fp32_at(SRC0 + 512) == 3.0f);
  assert_true(fp32_at(SRC0 + 768 + 252) == 4.0f);
  test_set(&inst, "dst", SRC0 + 32); /* within one repeat */
  test_set(&inst, "repeat", 1);
  execute(&inst);
  assert_true(fp32_at(SRC0 + 32 + 224) == 2.0f);
}

/* ---- arithmetic ---- */

static void special_numbers(void **state) {
  (void)state;
  const uint16_t a[] = {0x7c00, 0x7bff, 0x0001, 0x8000, 0x7d01, 0x3c00};
  const uint16_t b[] = {0xfc00, 0x5000, 0x0001, 0x0000, 0x3c00, 0x1000};
  put_u16(SRC0, a, 6);
  put_u16(SRC1, b, 6);
  execute_usual(OP_VADD, DTYPE_FP16);
  assert_int_equal(u16_at(DST), 0x7e00);      /* inf - inf */
  assert_int_equal(u16_at(DST + 2), 0x7c00);  /* 65504 + 32: infinite */
  assert_int_equal(u16_at(DST + 4), 0x0002);  /* denormals */
  assert_int_equal(u16_at(DST + 6), 0x0000);  /* -0 + 0 */
  assert_int_equal(u16_at(DST + 8), 0x7e00);  /* NaN has one form */
  assert_int_equal(u16_at(DST + 10), 0x3c00); /* a tie to even: 1 + 2^-11 */
  execute_usual(OP_VMAX, DTYPE_FP16);
  assert_int_equal(u16_at(DST + 6), 0x0000); /* +0 is larger */
  assert_int_equal(u16_at(DST + 8), 0x7e00);
  execute_usual(OP_VMIN, DTYPE_FP16);
  assert_int_equal(u16_at(DST + 6), 0x8000);
  execute_usual(OP_VRELU, DTYPE_FP16);
  assert_int_equal(u16_at(DST + 6), 0x0000);
  struct inst saturating = usual(OP_VADD, DTYPE_FP16);
  saturating.arch = ARCH_C100;
  execute(&saturating);
  assert_int_equal(u16_at(DST), 0);
  assert_int_equal(u16_at(DST + 2), 0x7bff);
}

static void integers_wrap(void **state) {
  (void)state;
  store_i16(ub + SRC0, INT16_MAX);
  store_i16(ub + SRC1, 1);
  execute_usual(OP_VADD, DTYPE_INT16);
  assert_int_equal(load_i16(ub + DST), INT16_MIN);
  execute_usual(OP_VADDRELU, DTYPE_INT16);
  assert_int_equal(load_i16(ub + DST), 0);
  store_i32(ub + SRC0, 65537);
  store_i32(ub + SRC1, 65536);
  execute_usual(OP_VMUL, DTYPE_INT32);
  assert_int_equal(load_i32(ub + DST), 65536);
}

/* The examples of the Ascend C documentation, ShiftLeft and ShiftRight. */
static void shifts(void **state) {
  (void)state;
  static const struct {
    enum isa_op op;
    enum dtype type;
    int64_t count;
    unsigned expected;
  } cases[] = {{OP_VSHL, DTYPE_INT16, 1, 0xd554},  {OP_VSHL, DTYPE_INT16, 3, 0xd550},
               {OP_VSHL, DTYPE_UINT16, 1, 0x5554}, {OP_VSHL, DTYPE_UINT16, 16, 0},
               {OP_VSHL, DTYPE_INT16, 16, 0x8000}, {OP_VSHR, DTYPE_INT16, 1, 0xd555},
               {OP_VSHR, DTYPE_INT16, 3, 0xf555},  {OP_VSHR, DTYPE_UINT16, 3, 0x1555},
               {OP_VSHR, DTYPE_INT16, 16, 0xffff}, {OP_VSHR, DTYPE_UINT16, 16, 0}};
  store_u16(ub + SRC0, 0xaaaa);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct inst inst = usual(cases[i].op, cases[i].type);
    test_set(&inst, "scalar", cases[i].count);
    execute(&inst);
    assert_int_equal(u16_at(DST), cases[i].expected);
  }
}

/* Products are not rounded before the sum: (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24. */
static void fused_products(void **state) {
  (void)state;
  const float factor = 1.0f + 0x1p-12f, minus = -(1.0f + 0x1p-11f);
  put_fp32(SRC0, &factor, 1);
  put_fp32(SRC1, &factor, 1);
  put_fp32(DST, &minus, 1);
  execute_usual(OP_VMLA, DTYPE_FP32);
  assert_true(fp32_at(DST) == 0x1p-24f);
  put_fp32(DST, &factor, 1);
  put_fp32(SRC1, &minus, 1);
  execute_usual(OP_VMADD, DTYPE_FP32);
  assert_true(fp32_at(DST) == 0x1p-24f);
}

static void check_function(enum isa_op op, float x, uint32_t expected) {
  put_fp32(SRC0, &x, 1);
  execute_usual(op, DTYPE_FP32);
  assert_int_equal(u32_at(DST), expected);
}

static void functions(void **state) {
  (void)state;
  const float infinity = fp32_from_bits(0x7f800000);
  check_function(OP_VEXP, 0.0f, 0x3f800000);
  check_function(OP_VEXP, 1.0f, 0x402df854);
  check_function(OP_VEXP, 0x1.62e42ep+6f, 0x7f7fff84); /* the last one that is finite */
  check_function(OP_VEXP, 0x1.62e43p+6f, 0x7f800000);
  check_function(OP_VEXP, -100.0f, 0x0000001b); /* a denormal */
  check_function(OP_VEXP, -infinity, 0);
  check_function(OP_VEXP, infinity, 0x7f800000);
  check_function(OP_VLN, 1.0f, 0);
  check_function(OP_VLN, 2.0f, 0x3f317218);
  check_function(OP_VLN, 0x1p-149f, 0xc2ce8ed0);
  check_function(OP_VLN, -0.0f, 0xff800000);
  check_function(OP_VLN, -1.0f, 0x7fc00000);
  check_function(OP_VLN, infinity, 0x7f800000);
  check_function(OP_VREC, -0.0f, 0xff800000);
  check_function(OP_VRSQRT, 4.0f, 0x3f000000);
  check_function(OP_VSQRT, 2.0f, 0x3fb504f3);
  check_function(OP_VSQRT, -1.0f, 0x7fc00000);
  check_function(OP_VABS, -0.0f, 0);
}

/* ---- conversions ---- */

static void rounding_modes(void **state) {
  (void)state;
  static const unsigned expected_codes[] = {0x6c00, 0x6c00, 0x6c01, 0x6c01, 0x6c00};
  store_i16(ub + SRC0, 4096 + 2); /* half of a unit above 4096: the documented example */
  for (int64_t round = 0; round < 5; round++) {
    struct inst inst = usual(OP_VCONV_S162F16, DTYPE_FP16);
    test_set(&inst, "round", round);
    execute(&inst);
    assert_int_equal(u16_at(DST), expected_codes[round]);
  }
  const float values[] = {127.5f, -0.5f, 300.0f, -2.5f, 2.5f};
  static const int8_t expected[5][5] = {{127, 0, 127, -2, 2},
                                        {127, -1, 127, -3, 2},
                                        {127, 0, 127, -2, 3},
                                        {127, -1, 127, -3, 3},
                                        {127, 0, 127, -2, 2}};
  put_fp16(SRC0, values, 5);
  for (int64_t round = 0; round < 5; round++) {
    struct inst inst = usual(OP_VCONV_F162S8, DTYPE_FP16);
    test_set(&inst, "round", round);
    execute(&inst);
    assert_memory_equal(ub + DST, expected[round], 5);
  }
}

static void saturation_of_conversions(void **state) {
  (void)state;
  const float values[] = {3e9f, -3e9f, FLT_MAX, fp32_from_bits(0x7fc00000)};
  put_fp32(SRC0, values, 4);
  execute_usual(OP_VCONV_F322S32, DTYPE_FP32);
  assert_int_equal(load_i32(ub + DST), INT32_MAX);
  assert_int_equal(load_i32(ub + DST + 4), INT32_MIN);
  assert_int_equal(load_i32(ub + DST + 12), 0);
  execute_usual(OP_VCONV_F322F16, DTYPE_FP32);
  assert_int_equal(u16_at(DST + 4), 0x7c00);
  store_i32(ub + SRC0, 40000);
  execute_usual(OP_VCONV_S322S16, DTYPE_FP32);
  assert_int_equal(load_i16(ub + DST), INT16_MAX);
}

static void dequantisation(void **state) {
  (void)state;
  store_i32(ub + SRC0, 2049);
  struct inst inst = usual(OP_VCONV_DEQ, DTYPE_FP16);
  inst.registers.deq_scale = 0x4000; /* 2 */
  execute(&inst);
  assert_int_equal(u16_at(DST), fp16_from_fp32(4096.0f)); /* 4098 is a tie */
  store_i32(ub + SRC0, -3);
  execute(&inst);
  assert_int_equal(u16_at(DST), fp16_from_fp32(-6.0f));
}

/* int4 elements are two to a byte, the first in the low half; their neighbours stay. */
static void nibbles(void **state) {
  (void)state;
  const float values[] = {7.0f, -8.0f, -1.0f, 9.0f};
  put_fp16(SRC0, values, 4);
  memset(ub + DST, 0x33, 4);
  struct inst inst = usual(OP_VCONV_F162S4, DTYPE_FP16);
  inst.mask = first_lanes(3);
  execute(&inst);
  assert_int_equal(ub[DST], 0x87);
  assert_int_equal(ub[DST + 1], 0x3f);
  assert_int_equal(ub[DST + 2], 0x33);
}

/* A host's own instructions for fp16 and the portable conversions agree. */
static void fp16_arrays(void **state) {
  (void)state;
  static union slots codes, back;
  static float values[SLOTS_MAX];
  for (unsigned first = 0; first < 0x10000; first += SLOTS_MAX) {
    for (unsigned i = 0; i < SLOTS_MAX; i++)
      codes.u16[i] = (uint16_t)(first + i);
    floats_from(DTYPE_FP16, &codes, values, SLOTS_MAX);
    for (unsigned i = 0; i < SLOTS_MAX; i++)
      assert_int_equal(fp32_bits(values[i]), fp32_bits(fp16_to_fp32(codes.u16[i])));
  }
  uint32_t bits = 0;
  for (unsigned batch = 0; batch < 2000; batch++) {
    for (unsigned i = 0; i < SLOTS_MAX; i++)
      values[i] = fp32_from_bits(bits += 1051);
    floats_to(DTYPE_FP16, false, values, &back, SLOTS_MAX);
    for (unsigned i = 0; i < SLOTS_MAX; i++)
      assert_int_equal(back.u16[i], fp16_from_fp32(values[i]));
  }
}

/* What set_ctrl chooses: infinity becomes the largest number, NaN 0; all else stays. */
static void saturation_of_halves(void **state) {
  (void)state;
  static const float values[] = {1e30f, -1e30f, 1.5f, -0.0f, 65504.0f};
  static const uint16_t fp16[] = {0x7bff, 0xfbff, 0x3e00, 0x8000, 0x7bff};
  union slots codes;
  floats_to(DTYPE_FP16, true, values, &codes, 5);
  for (unsigned i = 0; i < 5; i++)
    assert_int_equal(codes.u16[i], fp16[i]);
  assert_int_equal(bf16_saturate(0x7f80), 0x7f7f);
  assert_int_equal(bf16_saturate(0xff80), 0xff7f);
  assert_int_equal(bf16_saturate(0x7fc0), 0);
  assert_int_equal(bf16_saturate(0xff7f), 0xff7f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(masks, values_set_up),
      cmocka_unit_test_setup(strides, values_set_up),
      cmocka_unit_test_setup(overlapping_repeats, values_set_up),
      cmocka_unit_test_setup(special_numbers, values_set_up),
      cmocka_unit_test_setup(integers_wrap, values_set_up),
      cmocka_unit_test_setup(shifts, values_set_up),
      cmocka_unit_test_setup(fused_products, values_set_up),
      cmocka_unit_test_setup(functions, values_set_up),
      cmocka_unit_test_setup(rounding_modes, values_set_up),
      cmocka_unit_test_setup(saturation_of_conversions, values_set_up),
      cmocka_unit_test_setup(dequantisation, values_set_up),
      cmocka_unit_test_setup(nibbles, values_set_up),
      cmocka_unit_test_setup(fp16_arrays, values_set_up),
      cmocka_unit_test(saturation_of_halves),
  };
  return cmocka_run_group_tests_name("values_vector", tests, NULL, NULL);
}
