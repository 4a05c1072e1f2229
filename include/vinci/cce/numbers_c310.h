// SPDX-License-Identifier: Apache-2.0
// Groups of numbers, and functions of a number, that functions of threads (SIMT) of dav-c310 use.
#ifndef VINCI_CCE_NUMBERS_C310_H
#define VINCI_CCE_NUMBERS_C310_H

#include <cmath>
#include <type_traits>

#include "vinci/cce/types.h"

// ---- groups of numbers ----

#define VINCI_CCE_GROUPS(name, type)                                                                   \
  typedef type name##1 __attribute__((ext_vector_type(1)));                                            \
  typedef type name##2 __attribute__((ext_vector_type(2)));                                            \
  typedef type name##3 __attribute__((ext_vector_type(3)));                                            \
  typedef type name##4 __attribute__((ext_vector_type(4)));
VINCI_CCE_GROUPS(char, signed char)
VINCI_CCE_GROUPS(uchar, unsigned char)
VINCI_CCE_GROUPS(short, short)
VINCI_CCE_GROUPS(ushort, unsigned short)
VINCI_CCE_GROUPS(int, int)
VINCI_CCE_GROUPS(uint, unsigned int)
VINCI_CCE_GROUPS(long, long)
VINCI_CCE_GROUPS(ulong, unsigned long)
VINCI_CCE_GROUPS(longlong, long long)
VINCI_CCE_GROUPS(ulonglong, unsigned long long)
VINCI_CCE_GROUPS(float, float)
#undef VINCI_CCE_GROUPS
typedef half half2 __attribute__((ext_vector_type(2)));
struct bfloat16x2_t {
  bfloat16_t x, y;
};

// ---- bits ----

template <typename number> VINCI_CCE_INLINE int32_t __clz(number x) {
  const uint64_t bits = (uint64_t)(std::make_unsigned_t<number>)x;
  return (bits ? __builtin_clzll(bits) : 64) - (int32_t)(64 - 8 * sizeof x);
}
template <typename number> VINCI_CCE_INLINE int32_t __popc(number x) {
  return __builtin_popcountll((uint64_t)(std::make_unsigned_t<number>)x);
}
template <typename number> VINCI_CCE_INLINE int32_t __ffs(number x) { return __builtin_ffsll((int64_t)x); }
template <typename number> VINCI_CCE_INLINE number __brev(number x) {
  number turned = 0;
  for (unsigned i = 0; i < sizeof x * 8; i++)
    turned = (number)(turned << 1 | (x >> i & 1));
  return turned;
}
// Byte i of the result is the byte of both words that bits 4i+2..4i of the selector say.
VINCI_CCE_INLINE uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t selector) {
  const uint64_t both = (uint64_t)y << 32 | x;
  uint32_t chosen = 0;
  for (unsigned i = 0; i < 4; i++)
    chosen |= (uint32_t)(both >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return chosen;
}
VINCI_CCE_INLINE int32_t __mulhi(int32_t x, int32_t y) { return (int32_t)((int64_t)x * y >> 32); }
VINCI_CCE_INLINE uint32_t __umulhi(uint32_t x, uint32_t y) { return (uint32_t)((uint64_t)x * y >> 32); }
VINCI_CCE_INLINE int64_t __mul64hi(int64_t x, int64_t y) { return (int64_t)((__int128)x * y >> 64); }
VINCI_CCE_INLINE uint64_t __umul64hi(uint64_t x, uint64_t y) { return (uint64_t)((unsigned __int128)x * y >> 64); }

// ---- functions of a number ----
// Names of their own, as the C library has functions of these names. In double and rounded once: the C library may not be
// asked for the fp32 function, as a header of the user may define that one by the functions here. The compiler, which
// knows the functions of the C library, would ask for it all the same, and find a function that calls itself.
#define VINCI_CCE_CALLED __attribute__((noinline, no_builtin, visibility("hidden"))) inline

#define VINCI_CCE_OF_DOUBLE(name, of)                                                                  \
  VINCI_CCE_CALLED float vinci_cce_##name(float x) { return (float)std::of((double)x); }
VINCI_CCE_OF_DOUBLE(floorf, floor)
VINCI_CCE_OF_DOUBLE(ceilf, ceil)
VINCI_CCE_OF_DOUBLE(roundf, round)
VINCI_CCE_OF_DOUBLE(rintf, rint)
VINCI_CCE_OF_DOUBLE(fabsf, fabs)
VINCI_CCE_OF_DOUBLE(expf, exp)
VINCI_CCE_OF_DOUBLE(logf, log)
VINCI_CCE_OF_DOUBLE(sqrtf, sqrt)
#undef VINCI_CCE_OF_DOUBLE
#define VINCI_CCE_OF_TWO(name)                                                                         \
  VINCI_CCE_INLINE half2 vinci_cce_##name(half2 x) {                                                   \
    return half2{(half)vinci_cce_##name((float)x.x), (half)vinci_cce_##name((float)x.y)};              \
  }
VINCI_CCE_OF_TWO(expf)
VINCI_CCE_OF_TWO(logf)
VINCI_CCE_OF_TWO(sqrtf)
#undef VINCI_CCE_OF_TWO
VINCI_CCE_INLINE half2 __exp(half2 x) { return vinci_cce_expf(x); }
VINCI_CCE_INLINE half2 __log(half2 x) { return vinci_cce_logf(x); }
VINCI_CCE_INLINE int signbitf(float x) { return __builtin_signbit(x) != 0; }
template <typename number> VINCI_CCE_INLINE number __max(number x, number y) { return x < y ? y : x; }
template <typename number> VINCI_CCE_INLINE number __min(number x, number y) { return y < x ? y : x; }
VINCI_CCE_CALLED float vinci_cce_powf(float x, float y) { return (float)std::pow((double)x, (double)y); }
VINCI_CCE_CALLED float vinci_cce_fmaxf(float x, float y) { return (float)std::fmax((double)x, (double)y); }
VINCI_CCE_CALLED float vinci_cce_fminf(float x, float y) { return (float)std::fmin((double)x, (double)y); }
VINCI_CCE_INLINE bool vinci_cce_isnan(float x) { return x != x; }
VINCI_CCE_INLINE bool vinci_cce_isinf(float x) { return x == __builtin_inff() || x == -__builtin_inff(); }
VINCI_CCE_INLINE bool vinci_cce_isfinite(float x) { return x - x == 0; }
#undef VINCI_CCE_CALLED
// One rounding: the product is exact in double, and a sum that is not ends in an odd bit, so that rounding to fp32
// is right.
VINCI_CCE_INLINE float vinci_cce_fma(float x, float y, float z) {
  const double product = (double)x * y, sum = product + z, part = sum - product;
  const double rest = (product - (sum - part)) + (z - part);
  uint64_t bits;
  __builtin_memcpy(&bits, &sum, sizeof bits);
  if (rest != 0 && rest - rest == 0 && (bits & 1) == 0)
    bits += (rest > 0) == (sum > 0) ? 1 : -1;
  double odd;
  __builtin_memcpy(&odd, &bits, sizeof odd);
  return (float)odd;
}
#define __floorf vinci_cce_floorf
#define __ceilf vinci_cce_ceilf
#define __roundf vinci_cce_roundf
#define __rintf vinci_cce_rintf
#define __fabsf vinci_cce_fabsf
#define __expf vinci_cce_expf
#define __logf vinci_cce_logf
#define __sqrtf vinci_cce_sqrtf
#define __powf vinci_cce_powf
#define __fmaxf vinci_cce_fmaxf
#define __fminf vinci_cce_fminf
#define __isnan vinci_cce_isnan
#define __isinf vinci_cce_isinf
#define __isfinite vinci_cce_isfinite
#define __fma vinci_cce_fma

#endif
