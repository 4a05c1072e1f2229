/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of floating-point numbers from and to fp32. The conversions of core/base/number.h decide
 * the bits; hosts with instructions of their own for fp16 use those, which differ in nothing but
 * the bits of NaN, made equal here (tests/vector/test_values_vector.c compares both).
 */
#include "vector/values.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAS_F16C 1
#include <immintrin.h>
#else
#define HAS_F16C 0
#endif

enum { WIDTH = 8 }; /* lanes of the fp16 instructions */

#if HAS_F16C
static bool use_f16c(void) {
  return __builtin_cpu_supports("f16c") && __builtin_cpu_supports("avx2");
}

/* Whole vectors only; returns how many numbers are done. */
__attribute__((target("avx2,f16c"))) static size_t f16c_from(const uint16_t *codes, float *values,
                                                             size_t count) {
  const __m256 nan = _mm256_set1_ps(fp32_from_bits(NUMBER_FP32_NAN));
  size_t i = 0;
  for (; i + WIDTH <= count; i += WIDTH) {
    __m256 wide = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(codes + i)));
    __m256 unordered = _mm256_cmp_ps(wide, wide, _CMP_UNORD_Q);
    _mm256_storeu_ps(values + i, _mm256_blendv_ps(wide, nan, unordered));
  }
  return i;
}

__attribute__((target("avx2,f16c"))) static size_t f16c_to(const float *values, uint16_t *codes,
                                                           size_t count) {
  const __m256 nan = _mm256_set1_ps(fp32_from_bits(NUMBER_FP32_NAN));
  size_t i = 0;
  for (; i + WIDTH <= count; i += WIDTH) {
    __m256 wide = _mm256_loadu_ps(values + i);
    __m256 unordered = _mm256_cmp_ps(wide, wide, _CMP_UNORD_Q);
    wide = _mm256_blendv_ps(wide, nan, unordered);
    __m128i narrow = _mm256_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128((__m128i *)(codes + i), narrow);
  }
  return i;
}
#else
static bool use_f16c(void) { return false; }

static size_t f16c_from(const uint16_t *codes, float *values, size_t count) {
  (void)codes, (void)values, (void)count;
  return 0;
}

static size_t f16c_to(const float *values, uint16_t *codes, size_t count) {
  (void)codes, (void)values, (void)count;
  return 0;
}
#endif

LOOP static void fp16_from(const uint16_t *codes, float *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    values[i] = fp16_to_fp32(codes[i]);
}

LOOP static void fp16_to(const float *values, uint16_t *codes, size_t count) {
  for (size_t i = 0; i < count; i++)
    codes[i] = fp16_from_fp32(values[i]);
}

LOOP static void fp16_saturate_all(uint16_t *codes, size_t count) {
  for (size_t i = 0; i < count; i++)
    codes[i] = fp16_saturate(codes[i]);
}

LOOP static void bf16_from(const uint16_t *codes, float *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    values[i] = bf16_to_fp32(codes[i]);
}

LOOP static void bf16_to(const float *values, uint16_t *codes, size_t count) {
  for (size_t i = 0; i < count; i++)
    codes[i] = bf16_from_fp32(values[i]);
}

LOOP static void fp32_results(const float *values, float *codes, size_t count) {
  for (size_t i = 0; i < count; i++)
    codes[i] = fp32_result(values[i]);
}

void floats_from(enum dtype type, const union slots *codes, float *values, size_t count) {
  size_t done = 0;
  switch (type) {
  case DTYPE_FP16:
    if (use_f16c())
      done = f16c_from(codes->u16, values, count);
    fp16_from(codes->u16 + done, values + done, count - done);
    break;
  case DTYPE_BF16:
    bf16_from(codes->u16, values, count);
    break;
  default:
    memcpy(values, codes->fp32, count * sizeof *values);
    break;
  }
}

void floats_to(enum dtype type, bool saturates, const float *values, union slots *codes,
               size_t count) {
  size_t done = 0;
  switch (type) {
  case DTYPE_FP16:
    if (use_f16c())
      done = f16c_to(values, codes->u16, count);
    fp16_to(values + done, codes->u16 + done, count - done);
    if (saturates)
      fp16_saturate_all(codes->u16, count);
    break;
  case DTYPE_BF16:
    bf16_to(values, codes->u16, count);
    for (size_t i = 0; saturates && i < count; i++)
      codes->u16[i] = bf16_saturate(codes->u16[i]);
    break;
  default:
    fp32_results(values, codes->fp32, count);
    break;
  }
}

float scalar_float(enum dtype type, int64_t bits) {
  if (type == DTYPE_FP16)
    return fp16_to_fp32((uint16_t)bits);
  if (type == DTYPE_BF16)
    return bf16_to_fp32((uint16_t)bits);
  return fp32_from_bits((uint32_t)bits);
}
