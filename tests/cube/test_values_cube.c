/* SPDX-License-Identifier: Apache-2.0 */
/* Values of mad on matrices small enough to work out by hand. Random ones: tests/values/cube.py. */
#include <math.h>

#include "core/base/number.h"
#include "core/machine/values.h"
#include "tests/support/units.h"

static uint8_t l0a[65536], l0b[65536], l0c[65536], bt[1024], idx[16384];
static struct value_core core = {.bytes[SPACE_L0A] = l0a,
                                 .bytes[SPACE_L0B] = l0b,
                                 .bytes[SPACE_L0C] = l0c,
                                 .bytes[SPACE_BT] = bt,
                                 .bytes[SPACE_IDX] = idx};

static int clear(void **state) {
  (void)state;
  memset(l0a, 0, sizeof l0a);
  memset(l0b, 0, sizeof l0b);
  memset(l0c, 0, sizeof l0c);
  memset(bt, 0, sizeof bt);
  return 0;
}

static struct inst mad(enum dtype type, int64_t m, int64_t k, int64_t n) {
  struct inst inst = test_inst(OP_MAD, type);
  test_set(&inst, "m", m);
  test_set(&inst, "k", k);
  test_set(&inst, "n", n);
  return inst;
}

static void run(const struct inst *inst) { registry_values(OP_MAD)(test_soc(), inst, &core); }

static void set_half(uint8_t *at, size_t index, float value) {
  store_u16(at + index * sizeof(uint16_t), fp16_from_fp32(value));
}

static float result(size_t index) { return load_fp32(l0c + index * sizeof(float)); }

/* Two blocks along k: ZZ in L0A, ZN in L0B, NZ in L0C. */
static void fractals_lie_as_documented(void **state) {
  (void)state;
  struct inst inst = mad(DTYPE_FP16, 17, 17, 17);
  set_half(l0a, 3 * 256, 2);            /* a[16, 16] */
  set_half(l0a, 2 * 256, 3);            /* a[16, 0] */
  set_half(l0b, 3 * 256, 5);            /* b[16, 16] */
  set_half(l0b, 1 * 256, 7);            /* b[0, 16] */
  set_half(l0b, 0 * 256 + 4 * 16, 0.5); /* b[0, 4] */
  run(&inst);
  assert_true(result(3 * 256) == 2 * 5 + 3 * 7); /* c[16, 16] */
  assert_true(result(1 * 256 + 4) == 1.5f);      /* c[16, 4] */
  assert_true(result(0) == 0);
}

static void nz_on_the_950(void **state) {
  (void)state;
  struct inst inst = mad(DTYPE_FP16, 17, 17, 1);
  inst.arch = ARCH_C310;
  set_half(l0a, 1 * 256, 2); /* a[16, 0] */
  set_half(l0b, 0, 3);
  run(&inst);
  assert_true(result(256) == 6);
}

static void only_the_results_are_written(void **state) {
  (void)state;
  struct inst inst = mad(DTYPE_FP32, 3, 8, 5);
  memset(l0c, 0x11, 2048);
  memset(l0a, 0x22, 2048); /* also what lies beyond the matrix */
  memset(l0b, 0x22, 2048);
  run(&inst);
  for (size_t i = 0; i < 512; i++)
    assert_true((load_u32(l0c + 4 * i) != 0x11111111) == (i / 16 < 3 && i % 16 < 5));
}

static void sums_begin_where_told(void **state) {
  (void)state;
  struct inst inst = mad(DTYPE_FP16, 2, 1, 2);
  for (size_t row = 0; row < 2; row++)
    set_half(l0a, row * 16, (float)(row + 1));
  set_half(l0b, 0, 10);
  set_half(l0b, 16, 100);
  store_fp32(l0c, 1);
  test_set(&inst, "init", 0);
  run(&inst);
  assert_true(result(0) == 11 && result(1) == 100 && result(16) == 20 && result(17) == 200);
  test_set(&inst, "source", 1);
  test_set(&inst, "bias", 64);
  store_fp32(bt + 64, 0.5f);
  store_fp32(bt + 68, -0.5f);
  run(&inst);
  assert_true(result(0) == 10.5f && result(1) == 99.5f && result(16) == 20.5f);
}

/* 2^24 + 1 is 2^24 in fp32, so the order shows. */
static void products_are_added_in_the_order_of_k(void **state) {
  (void)state;
  struct inst inst = mad(DTYPE_FP32, 2, 3, 1);
  static const float a[] = {16777216.0f, 1, -16777216.0f}, b[] = {1, -16777216.0f, 16777216.0f};
  for (size_t k = 0; k < 3; k++) {
    store_fp32(l0a + 4 * k, a[k]);
    store_fp32(l0a + 32 + 4 * k, b[k]);
    store_fp32(l0b + 4 * k, 1);
  }
  run(&inst);
  assert_true(result(0) == 0);  /* (2^24 + 1) - 2^24 */
  assert_true(result(16) == 1); /* (1 - 2^24) + 2^24 */
}

/* The vendor's table of limit values: A, B, what the product is. */
static void infinities_and_nan(void **state) {
  (void)state;
  static const float cases[][3] = {
      {INFINITY, 2, INFINITY},
      {INFINITY, -INFINITY, -INFINITY},
      {-INFINITY, -1, INFINITY},
      {INFINITY, 0, NAN},
      {0, -INFINITY, NAN},
      {NAN, 1, NAN},
      {0, NAN, NAN},
      {-3, INFINITY, -INFINITY},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct inst inst = mad(DTYPE_FP16, 1, 1, 1);
    set_half(l0a, 0, cases[i][0]);
    set_half(l0b, 0, cases[i][1]);
    run(&inst);
    uint32_t expected = isnan(cases[i][2]) ? NUMBER_FP32_NAN : fp32_bits(cases[i][2]);
    assert_int_equal(load_u32(l0c), expected);
  }
  struct inst inst = mad(DTYPE_FP16, 1, 2, 1);
  set_half(l0a, 0, INFINITY);
  set_half(l0a, 1, -INFINITY);
  set_half(l0b, 0, 1);
  set_half(l0b, 1, 1);
  run(&inst);
  assert_int_equal(load_u32(l0c), NUMBER_FP32_NAN);
}

static void a_vector_lies_as_it_is(void **state) {
  (void)state;
  struct inst inst = mad(DTYPE_FP16, 1, 40, 1);
  for (size_t k = 0; k < 40; k++) {
    set_half(l0a, k, (float)k);
    set_half(l0b, k / 16 * 256 + k % 16, 1);
  }
  run(&inst);
  assert_true(result(0) == 39 * 40 / 2);
}

static void integers_wrap_around(void **state) {
  (void)state;
  struct inst inst = mad(DTYPE_INT8, 1, 2, 1);
  l0a[0] = l0b[0] = 0x80;
  l0a[1] = 2;
  l0b[1] = 0xff;
  run(&inst);
  assert_int_equal(load_i32(l0c), 128 * 128 - 2);
  test_set(&inst, "init", 0);
  store_i32(l0c, INT32_MAX);
  run(&inst);
  assert_int_equal(load_i32(l0c), INT32_MIN + 128 * 128 - 3);
  inst = mad(DTYPE_INT4, 1, 3, 1);
  l0a[0] = 0x78; /* -8, 7 */
  l0a[1] = 0x01;
  l0b[0] = 0xf8; /* -8, -1 */
  l0b[1] = 0x05;
  run(&inst);
  assert_int_equal(load_i32(l0c), 64 - 7 + 5);
}

/* Ascend C documentation, MmadWithSparse: what each pair of indices chooses of four values. */
static void indices_choose_two_of_four(void **state) {
  (void)state;
  static const struct {
    unsigned first, second; /* the indices */
    unsigned places[2];
  } pairs[] = {{2, 2, {2, 3}}, {1, 2, {1, 3}}, {0, 2, {0, 3}}, {1, 1, {1, 2}},
               {0, 1, {0, 2}}, {0, 0, {0, 1}}, {2, 0, {2, 2}}, {1, 0, {1, 1}}};
  static const int a[4] = {1, -10, 100, 7};
  struct inst inst = test_inst(OP_MAD_SP, DTYPE_INT8);
  test_set(&inst, "m", 1);
  test_set(&inst, "k", 72);
  test_set(&inst, "n", 2);
  test_set(&inst, "init", 1);
  test_set(&inst, "b", 1024);
  for (unsigned i = 0; i < 4; i++)
    l0a[2 * 512 + 4 + i] = (uint8_t)a[i]; /* a[0, 68 + i] */
  l0b[1024 + 512 + 32 + 2] = 3;           /* the values 34 and 35 of column 1: for 68 to 71 */
  l0b[1024 + 512 + 32 + 3] = (uint8_t)-5;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    idx[256 + 128 + 8] = (uint8_t)(pairs[i].first << 4 | pairs[i].second << 6);
    run(&inst);
    assert_int_equal(load_i32(l0c + 4), 3 * a[pairs[i].places[0]] - 5 * a[pairs[i].places[1]]);
    assert_int_equal(load_i32(l0c), 0);
  }
}

static void nothing_is_nothing(void **state) {
  (void)state;
  struct inst inst = mad(DTYPE_FP16, 16, 0, 16);
  store_fp32(l0c, 3);
  run(&inst);
  assert_true(result(0) == 3);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(fractals_lie_as_documented, clear),
      cmocka_unit_test_setup(nz_on_the_950, clear),
      cmocka_unit_test_setup(only_the_results_are_written, clear),
      cmocka_unit_test_setup(sums_begin_where_told, clear),
      cmocka_unit_test_setup(products_are_added_in_the_order_of_k, clear),
      cmocka_unit_test_setup(infinities_and_nan, clear),
      cmocka_unit_test_setup(a_vector_lies_as_it_is, clear),
      cmocka_unit_test_setup(integers_wrap_around, clear),
      cmocka_unit_test_setup(indices_choose_two_of_four, clear),
      cmocka_unit_test_setup(nothing_is_nothing, clear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
