/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of fp32 numbers with the same bits on every host: no libm, no fused operation of
 * the processor, no branches, so that loops over them vectorise. Computed in double and rounded
 * once; before that rounding their relative error is below 2^-48, so results are within
 * 0.5 + 2^-23 units in the last place of fp32, and correctly rounded but for about one in 2^23.
 */
#ifndef VINCI_VECTOR_MATH_H
#define VINCI_VECTOR_MATH_H

#include "core/base/number.h"

static inline uint64_t fp64_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline double fp64_from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#define FP32_NAN fp32_from_bits(NUMBER_FP32_NAN)
#define FP32_INFINITY fp32_from_bits(UINT32_C(0x7f800000))

/* ln 2 in two parts, the first with 21 zeros at the end: times an exponent it stays exact. */
#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW 0x1.a39ef35793c76p-33
#define LOG2_E 0x1.71547652b82fep+0
/* Added to a small number, it leaves its nearest integer in the low bits. */
#define ROUNDER 0x1.8p52

/* e^x: 2^k * e^r with |r| <= ln 2 / 2, a Taylor polynomial of degree 13 (remainder 2^-57). */
static inline float math_exp(float x) {
  double value = x;
  value = value < -150.0 ? -150.0 : value; /* beyond these fp32 is 0 and infinite */
  value = value > 150.0 ? 150.0 : value;
  double shifted = value * LOG2_E + ROUNDER;
  double k = shifted - ROUNDER;
  double r = (value - k * LN2_HIGH) - k * LN2_LOW;
  double sum = 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  double scale = fp64_from_bits((fp64_bits(shifted) + 1023) << 52);
  return (float)(sum * scale);
}

/*
 * ln x: x = 2^k * m with m around 1, ln m = 2 artanh s with s = (m - 1) / (m + 1), |s| < 0.172,
 * its series up to s^19 (remainder 2^-55 of the sum).
 */
static inline float math_ln(float x) {
  double value = x;
  uint64_t bits = fp64_bits(value);
  /* Biased exponent of the power of two that leaves m in [sqrt 1/2, sqrt 2). */
  uint64_t biased = (bits - fp64_bits(0x1.6a09e667f3bcdp-1) + (UINT64_C(1023) << 52)) >> 52;
  double m = fp64_from_bits(bits - ((biased - 1023) << 52));
  double k = fp64_from_bits(fp64_bits(0x1p52) | biased) - (0x1p52 + 1023.0);
  double s = (m - 1.0) / (m + 1.0);
  double z = s * s;
  double sum = 1.0 / 19.0;
  sum = sum * z + 1.0 / 17.0;
  sum = sum * z + 1.0 / 15.0;
  sum = sum * z + 1.0 / 13.0;
  sum = sum * z + 1.0 / 11.0;
  sum = sum * z + 1.0 / 9.0;
  sum = sum * z + 1.0 / 7.0;
  sum = sum * z + 1.0 / 5.0;
  sum = sum * z + 1.0 / 3.0;
  double ln_m = 2.0 * s + 2.0 * s * z * sum;
  float result = (float)(k * LN2_HIGH + (ln_m + k * LN2_LOW));
  result = x == 0.0f ? -FP32_INFINITY : result;
  result = x == FP32_INFINITY ? FP32_INFINITY : result;
  return x >= 0.0f ? result : FP32_NAN;
}

/*
 * a * b + c, rounded once. The product is exact in double; the sum is rounded to odd (towards
 * zero, the last bit set if anything was lost), which makes the second rounding right.
 */
static inline float math_fma(float a, float b, float c) {
  double product = (double)a * (double)b;
  double sum = product + c;
  double back = sum - product;
  double lost = (product - (sum - back)) + (c - back);
  uint64_t up = lost > 0.0;
  uint64_t down = lost < 0.0;
  uint64_t beyond = sum > 0.0 ? down : up; /* rounded away from zero */
  uint64_t bits = (fp64_bits(sum) - beyond) | up | down;
  return (float)fp64_from_bits(bits);
}

/* The larger one; NaN if one is, and +0 is larger than -0. */
static inline float math_larger(float a, float b) {
  float larger = a > b ? a : b;
  larger = a == b ? fp32_from_bits(fp32_bits(a) & fp32_bits(b)) : larger;
  return a != a || b != b ? FP32_NAN : larger;
}

static inline float math_smaller(float a, float b) {
  float smaller = a < b ? a : b;
  smaller = a == b ? fp32_from_bits(fp32_bits(a) | fp32_bits(b)) : smaller;
  return a != a || b != b ? FP32_NAN : smaller;
}

/* IEEE 754 defines the square root exactly, so the processor's is right. */
static inline float math_sqrt(float x) { return x >= 0.0f ? __builtin_sqrtf(x) : FP32_NAN; }

static inline float math_rsqrt(float x) {
  double value = x;
  return x >= 0.0f ? (float)(1.0 / __builtin_sqrt(value)) : FP32_NAN;
}

#endif
