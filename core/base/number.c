/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions by any rounding mode, on the bits of a double. A double holds every number of
 * the narrower formats, and every product of two of them, exactly.
 */
#include "core/base/number.h"

enum { DOUBLE_FRACTION_BITS = 52, DOUBLE_BIAS = 1023, DOUBLE_EXPONENT_MASK = 0x7ff };

const struct number_format number_fp16 = {10, -14, 0x7bff, 0x7c00, NUMBER_FP16_NAN, 0x8000};
const struct number_format number_bf16 = {7, -126, 0x7f7f, 0x7f80, NUMBER_BF16_NAN, 0x8000};
const struct number_format number_fp32 = {23,        -126, 0x7f7fffff, 0x7f800000, NUMBER_FP32_NAN,
                                          0x80000000};
const struct number_format number_fp8_e4m3 = {3, -6, 0x7e, 0x7f, 0x7f, 0x80};
const struct number_format number_fp8_e5m2 = {2, -14, 0x7b, 0x7c, 0x7e, 0x80};
/* Their infinity and NaN are a code that no four bits without the sign have. */
const struct number_format number_fp4_e2m1 = {1, 0, 7, 8, 8, 8};
const struct number_format number_fp4_e1m2 = {2, 0, 7, 8, 8, 8};

/* A finite number other than zero: significand * 2^(exponent - 52), 53 bits unless tiny. */
struct parts {
  bool negative;
  int exponent;
  uint64_t significand;
};

static struct parts take_apart(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  int biased = (int)(bits >> DOUBLE_FRACTION_BITS & DOUBLE_EXPONENT_MASK);
  uint64_t one = UINT64_C(1) << DOUBLE_FRACTION_BITS;
  return (struct parts){
      .negative = bits >> 63 != 0,
      .exponent = biased ? biased - DOUBLE_BIAS : 1 - DOUBLE_BIAS,
      .significand = (bits & (one - 1)) | (biased ? one : 0),
  };
}

/* Drops the lowest `count` bits. */
static uint64_t drop_bits(uint64_t significand, int count, bool negative, enum number_round round) {
  if (count <= 0)
    return significand;
  /* Of 53 bits nothing is left beyond 54, not even a tie. */
  unsigned shift = count > DOUBLE_FRACTION_BITS + 2 ? DOUBLE_FRACTION_BITS + 2 : (unsigned)count;
  uint64_t kept = significand >> shift;
  uint64_t lost = significand & ((UINT64_C(1) << shift) - 1);
  uint64_t half = UINT64_C(1) << (shift - 1);
  switch (round) {
  case ROUND_EVEN:
    return kept + (lost > half || (lost == half && kept & 1));
  case ROUND_AWAY:
    return kept + (lost >= half);
  case ROUND_FLOOR:
    return kept + (negative && lost);
  case ROUND_CEIL:
    return kept + (!negative && lost);
  case ROUND_ODD:
    return kept | (lost != 0);
  case ROUND_ZERO:
  default:
    return kept;
  }
}

/* Where a number beyond the largest one of a format ends. */
static uint32_t overflow(const struct number_format *format, bool negative, enum number_round round,
                         bool saturate) {
  bool inwards =
      round == ROUND_ZERO || round == ROUND_ODD || round == (negative ? ROUND_CEIL : ROUND_FLOOR);
  return saturate || inwards ? format->largest : format->infinity;
}

uint32_t number_encode(const struct number_format *format, double value, enum number_round round,
                       bool saturate) {
  if (value != value)
    return saturate ? 0 : format->nan;
  struct parts parts = take_apart(value);
  uint32_t sign = parts.negative ? format->sign : 0;
  if (parts.exponent > DOUBLE_BIAS)
    return sign | (saturate ? format->largest : format->infinity);
  int exponent = parts.exponent < format->exponent_min ? format->exponent_min : parts.exponent;
  int drop = DOUBLE_FRACTION_BITS - (int)format->fraction_bits + exponent - parts.exponent;
  uint64_t kept = drop_bits(parts.significand, drop, parts.negative, round);
  /* The leading one counts as an exponent of 1, and a carry raises the exponent. */
  uint64_t code = ((uint64_t)(exponent - format->exponent_min) << format->fraction_bits) + kept;
  if (code > format->largest)
    return sign | overflow(format, parts.negative, round, saturate);
  return sign | (uint32_t)code;
}

/* 2^exponent, for exponents of normal doubles. */
static double power_of_two(int exponent) {
  uint64_t bits = (uint64_t)(exponent + DOUBLE_BIAS) << DOUBLE_FRACTION_BITS;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

float number_e8m0(uint8_t code) {
  if (code == UINT8_MAX)
    return fp32_from_bits(NUMBER_FP32_NAN);
  return code == 0 ? 0x1p-127f : fp32_from_bits((uint32_t)code << 23);
}

float number_decode(const struct number_format *format, uint32_t code) {
  uint32_t magnitude = code & (format->sign - 1);
  if (magnitude > format->largest && magnitude != format->infinity)
    return fp32_from_bits(NUMBER_FP32_NAN);
  if (magnitude > format->largest && format->infinity == format->nan)
    return fp32_from_bits(NUMBER_FP32_NAN);
  uint32_t sign = code & format->sign ? UINT32_C(0x80000000) : 0;
  if (magnitude > format->largest)
    return fp32_from_bits(sign | number_fp32.infinity);
  uint32_t one = UINT32_C(1) << format->fraction_bits;
  uint32_t biased = magnitude >> format->fraction_bits;
  uint32_t significand = (magnitude & (one - 1)) | (biased ? one : 0);
  int exponent = format->exponent_min + (biased ? (int)biased - 1 : 0);
  double value = (double)significand * power_of_two(exponent - (int)format->fraction_bits);
  return (float)(sign ? -value : value);
}

double number_integral(double value, enum number_round round) {
  struct parts parts = take_apart(value);
  int drop = DOUBLE_FRACTION_BITS - parts.exponent;
  if (drop <= 0)
    return value; /* integral, infinite or NaN */
  double integral = (double)drop_bits(parts.significand, drop, parts.negative, round);
  return parts.negative ? -integral : integral;
}

int64_t number_to_integer(double value, enum number_round round, int64_t low, int64_t high) {
  if (value != value)
    return 0;
  double integral = number_integral(value, round);
  if (integral >= 0x1p63)
    return high;
  if (integral < -0x1p63)
    return low;
  int64_t integer = (int64_t)integral;
  return integer < low ? low : integer > high ? high : integer;
}

float number_from_integer(int64_t value, enum number_round round) {
  bool negative = value < 0;
  uint64_t magnitude = negative ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;
  int width = magnitude ? 64 - __builtin_clzll(magnitude) : 0;
  int drop = width - (int)(number_fp32.fraction_bits + 1);
  if (drop > 0)
    magnitude = drop_bits(magnitude, drop, negative, round) << drop;
  return negative ? -(float)magnitude : (float)magnitude;
}

float number_to_hf32(float value, unsigned fraction_bits) {
  unsigned drop = number_fp32.fraction_bits - fraction_bits;
  uint32_t bits = fp32_bits(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return fp32_from_bits(NUMBER_FP32_NAN);
  uint32_t even = bits >> drop & 1;
  bits += (UINT32_C(1) << (drop - 1)) - 1 + even;
  return fp32_from_bits(bits & ~((UINT32_C(1) << drop) - 1));
}
