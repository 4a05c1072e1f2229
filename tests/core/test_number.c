/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the number formats: known codes, every code there and back, modes around each step. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/number.h"
#include "core/chip/arch.h"

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 16;
}

static void known_codes(void **state) {
  (void)state;
  static const struct {
    double value;
    uint16_t fp16, bf16;
  } cases[] = {
      {0.0, 0x0000, 0x0000},       {-0.0, 0x8000, 0x8000},     {1.0, 0x3c00, 0x3f80},
      {-2.0, 0xc000, 0xc000},      {65504.0, 0x7bff, 0x4780},  {65520.0, 0x7c00, 0x4780},
      {65519.0, 0x7bff, 0x4780},   {0x1p-24, 0x0001, 0x3380},  {0x1p-25, 0x0000, 0x3300},
      {0x1.8p-25, 0x0001, 0x3340}, {0x1p-133, 0x0000, 0x0001}, {3.4e38, 0x7c00, 0x7f80},
      {0.1, 0x2e66, 0x3dcd},       {INFINITY, 0x7c00, 0x7f80}, {NAN, 0x7e00, 0x7fc0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(fp16_from_fp32((float)cases[i].value), cases[i].fp16);
    assert_int_equal(bf16_from_fp32((float)cases[i].value), cases[i].bf16);
    assert_int_equal(number_encode(&number_fp16, cases[i].value, ROUND_EVEN, false), cases[i].fp16);
    assert_int_equal(number_encode(&number_bf16, cases[i].value, ROUND_EVEN, false), cases[i].bf16);
  }
}

static bool is_nan(const struct number_format *format, uint32_t code) {
  uint32_t magnitude = code & (format->sign - 1);
  return magnitude > format->infinity ||
         (magnitude == format->infinity && format->nan == magnitude);
}

static void every_code_comes_back(void **state) {
  (void)state;
  static const struct {
    const struct number_format *format;
    uint32_t codes;
  } formats[] = {{&number_fp16, 0x10000},   {&number_bf16, 0x10000},  {&number_fp8_e4m3, 0x100},
                 {&number_fp8_e5m2, 0x100}, {&number_fp4_e2m1, 0x10}, {&number_fp4_e1m2, 0x10}};
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
    for (uint32_t code = 0; code < formats[f].codes; code++) {
      const struct number_format *format = formats[f].format;
      float value = number_decode(format, code);
      uint32_t expected = is_nan(format, code) ? format->nan : code;
      for (int round = ROUND_EVEN; round <= ROUND_ODD; round++)
        assert_int_equal(number_encode(format, value, (enum number_round)round, false), expected);
    }
  }
}

/* The numbers of OCP Microscaling 1.0: e2m1 and the scale format; of e1m2 the Ascend C
 * documentation has the largest, 1.75. */
static void numbers_of_scaled_blocks(void **state) {
  (void)state;
  static const float e2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (uint32_t code = 0; code < 8; code++) {
    assert_true(number_decode(&number_fp4_e2m1, code) == e2m1[code]);
    assert_true(number_decode(&number_fp4_e2m1, code | 8) == -e2m1[code]);
    assert_true(number_decode(&number_fp4_e1m2, code) == (float)code / 4);
    assert_true(number_decode(&number_fp4_e1m2, code | 8) == (float)code / -4);
  }
  for (int code = 0; code < 255; code++)
    assert_true(number_e8m0((uint8_t)code) == ldexpf(1, code - 127));
  assert_true(isnan(number_e8m0(255)));
}

static void quick_conversions_agree_with_exact_ones(void **state) {
  (void)state;
  for (uint32_t code = 0; code < 0x10000; code++) {
    float half = fp16_to_fp32((uint16_t)code), brain = bf16_to_fp32((uint16_t)code);
    assert_int_equal(fp32_bits(half), fp32_bits(number_decode(&number_fp16, code)));
    assert_int_equal(fp32_bits(brain), fp32_bits(number_decode(&number_bf16, code)));
    /* Around every step of both formats: the code, the middle to the next, and neighbours. */
    for (uint32_t base = 0; base < 2; base++) {
      uint32_t bits = fp32_bits(base ? half : brain) + (base ? 0x1000 : 0x8000);
      for (uint32_t step = 0; step < 3; step++) {
        float value = fp32_from_bits(bits - 1 + step);
        assert_int_equal(fp16_from_fp32(value),
                         number_encode(&number_fp16, value, ROUND_EVEN, false));
        assert_int_equal(bf16_from_fp32(value),
                         number_encode(&number_bf16, value, ROUND_EVEN, false));
      }
    }
  }
  uint64_t seed = 20;
  print_message("# seed %d\n", (int)seed);
  for (int i = 0; i < 1000000; i++) {
    float value = fp32_from_bits((uint32_t)next_random(&seed));
    assert_int_equal(fp16_from_fp32(value), number_encode(&number_fp16, value, ROUND_EVEN, false));
    assert_int_equal(bf16_from_fp32(value), number_encode(&number_bf16, value, ROUND_EVEN, false));
  }
}

/* Of a value between two codes, what each mode may take. */
static void modes_choose_the_right_neighbour(void **state) {
  (void)state;
  for (uint32_t code = 0; code < 0x7bff; code++) {
    double low = number_decode(&number_fp16, code), high = number_decode(&number_fp16, code + 1);
    uint32_t even = code & 1 ? code + 1 : code, odd = code & 1 ? code : code + 1;
    static const double parts[] = {0.25, 0.5, 0.75};
    for (int i = 0; i < 3; i++) {
      double value = low + (high - low) * parts[i];
      uint32_t nearest = i == 0 ? code : i == 2 ? code + 1 : even;
      uint32_t away = i == 0 ? code : code + 1;
      assert_int_equal(number_encode(&number_fp16, value, ROUND_EVEN, false), nearest);
      assert_int_equal(number_encode(&number_fp16, value, ROUND_AWAY, false), away);
      assert_int_equal(number_encode(&number_fp16, value, ROUND_FLOOR, false), code);
      assert_int_equal(number_encode(&number_fp16, value, ROUND_CEIL, false), code + 1);
      assert_int_equal(number_encode(&number_fp16, value, ROUND_ZERO, false), code);
      assert_int_equal(number_encode(&number_fp16, value, ROUND_ODD, false), odd);
      assert_int_equal(number_encode(&number_fp16, -value, ROUND_FLOOR, false),
                       0x8000 | (code + 1));
      assert_int_equal(number_encode(&number_fp16, -value, ROUND_CEIL, false), 0x8000 | code);
      assert_int_equal(number_encode(&number_fp16, -value, ROUND_EVEN, false), 0x8000 | nearest);
    }
  }
}

static void too_large_numbers(void **state) {
  (void)state;
  assert_int_equal(number_encode(&number_fp16, 1e6, ROUND_EVEN, false), 0x7c00);
  assert_int_equal(number_encode(&number_fp16, 1e6, ROUND_ZERO, false), 0x7bff);
  assert_int_equal(number_encode(&number_fp16, 1e6, ROUND_FLOOR, false), 0x7bff);
  assert_int_equal(number_encode(&number_fp16, -1e6, ROUND_FLOOR, false), 0xfc00);
  assert_int_equal(number_encode(&number_fp16, -1e6, ROUND_CEIL, false), 0xfbff);
  assert_int_equal(number_encode(&number_fp16, INFINITY, ROUND_ZERO, false), 0x7c00);
  assert_int_equal(number_encode(&number_fp16, -1e6, ROUND_EVEN, true), 0xfbff);
  assert_int_equal(number_encode(&number_fp16, -INFINITY, ROUND_EVEN, true), 0xfbff);
  assert_int_equal(number_encode(&number_fp16, NAN, ROUND_EVEN, true), 0);
  assert_int_equal(number_encode(&number_fp8_e4m3, 1e6, ROUND_EVEN, true), 0x7e);
  assert_int_equal(number_encode(&number_fp8_e4m3, 1e6, ROUND_EVEN, false), 0x7f);
  assert_int_equal(fp16_saturate(0xfc00), 0xfbff);
  assert_int_equal(fp16_saturate(0x7e00), 0);
  assert_int_equal(fp16_saturate(0x8001), 0x8001);
  assert_true(arch_saturates(ARCH_C100) && !arch_saturates(ARCH_C220));
}

static void integers(void **state) {
  (void)state;
  static const struct {
    double value;
    int by_mode[6]; /* r f c a z o */
  } cases[] = {
      {2.5, {2, 2, 3, 3, 2, 3}},        {3.5, {4, 3, 4, 4, 3, 3}},
      {-2.5, {-2, -3, -2, -3, -2, -3}}, {0.49, {0, 0, 1, 0, 0, 1}},
      {-0.5, {0, -1, 0, -1, 0, -1}},    {7.0, {7, 7, 7, 7, 7, 7}},
      {1e9, {99, 99, 99, 99, 99, 99}},  {-INFINITY, {-99, -99, -99, -99, -99, -99}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int round = ROUND_EVEN; round <= ROUND_ODD; round++)
      assert_int_equal(number_to_integer(cases[i].value, (enum number_round)round, -99, 99),
                       cases[i].by_mode[round]);
  assert_int_equal(number_to_integer(NAN, ROUND_EVEN, 5, 9), 0);
  assert_int_equal(number_to_integer(1e30, ROUND_EVEN, INT64_MIN, INT64_MAX), INT64_MAX);
  assert_int_equal(number_to_integer(-0x1p63, ROUND_EVEN, INT64_MIN, INT64_MAX), INT64_MIN);
  assert_true(signbit(number_integral(-0.25, ROUND_EVEN)));
  assert_true(isinf(number_integral(INFINITY, ROUND_EVEN)));

  assert_true(number_from_integer(16777217, ROUND_EVEN) == 16777216.0f);
  assert_true(number_from_integer(16777219, ROUND_EVEN) == 16777220.0f);
  assert_true(number_from_integer(16777217, ROUND_CEIL) == 16777218.0f);
  assert_true(number_from_integer(-16777217, ROUND_CEIL) == -16777216.0f);
  assert_true(number_from_integer(-16777217, ROUND_AWAY) == -16777218.0f);
  assert_true(number_from_integer(INT64_MIN, ROUND_EVEN) == -0x1p63f);
  assert_true(number_from_integer(INT64_MAX, ROUND_EVEN) == 0x1p63f);
  assert_true(number_from_integer(INT64_MAX, ROUND_ZERO) == 0x1.fffffep62f);
}

static void hf32_drops_fraction_bits(void **state) {
  (void)state;
  assert_true(number_to_hf32(1.0f + 0x1p-11f, arch_hf32_bits(ARCH_C220)) == 1.0f + 0x1p-11f);
  assert_true(number_to_hf32(1.0f + 0x1p-12f, arch_hf32_bits(ARCH_C220)) == 1.0f);
  assert_true(number_to_hf32(1.0f + 0x3p-12f, arch_hf32_bits(ARCH_C220)) == 1.0f + 0x2p-11f);
  assert_true(number_to_hf32(1.0f + 0x1p-11f, arch_hf32_bits(ARCH_C310)) == 1.0f);
  assert_true(number_to_hf32(1.0f + 0x1.1p-11f, arch_hf32_bits(ARCH_C310)) == 1.0f + 0x1p-10f);
  assert_true(isinf(number_to_hf32(3.4028235e38f, arch_hf32_bits(ARCH_C220))));
  assert_true(isnan(number_to_hf32(NAN, arch_hf32_bits(ARCH_C220))));
}

static void int4_lies_low_half_first(void **state) {
  (void)state;
  uint8_t bytes[2] = {0};
  int4_store(bytes, 0, -8);
  int4_store(bytes, 1, 7);
  int4_store(bytes, 2, -1);
  assert_int_equal(bytes[0], 0x78);
  assert_int_equal(bytes[1], 0x0f);
  assert_int_equal(int4_load(bytes, 0), -8);
  assert_int_equal(int4_load(bytes, 1), 7);
  assert_int_equal(int4_load(bytes, 2), -1);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_codes),
      cmocka_unit_test(every_code_comes_back),
      cmocka_unit_test(numbers_of_scaled_blocks),
      cmocka_unit_test(quick_conversions_agree_with_exact_ones),
      cmocka_unit_test(modes_choose_the_right_neighbour),
      cmocka_unit_test(too_large_numbers),
      cmocka_unit_test(integers),
      cmocka_unit_test(hf32_drops_fraction_bits),
      cmocka_unit_test(int4_lies_low_half_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
