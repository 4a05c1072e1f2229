// SPDX-License-Identifier: Apache-2.0
// Functions of threads (SIMT) of dav-c310. Each thread executes the function from its begin to its end, one thread after
// the other, as scalar code does; what they access are accesses of the vector unit. So there is no model of what threads
// wait for among themselves: barriers, votes and exchanges within a warp.
#ifndef VINCI_CCE_THREADS_C310_H
#define VINCI_CCE_THREADS_C310_H

#include <limits>

#include "vinci/cce/absent.h"
#include "vinci/cce/control.h"
#include "vinci/cce/register_types.h"
#include "vinci/cce/scalar.h"
#include "vinci/cce/types_c310.h"

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

// ---- places of a thread ----

namespace bisheng {
namespace cce {
struct dim3 {
  uint32_t x, y, z;
  constexpr dim3(uint32_t first = 1, uint32_t second = 1, uint32_t third = 1) : x(first), y(second), z(third) {}
};
} // namespace cce
} // namespace bisheng
namespace cce = bisheng::cce;
using cce::dim3;
// In each core's copy of the code.
__attribute__((visibility("hidden"))) inline cce::dim3 threadIdx(0, 0, 0), blockIdx(0, 0, 0), blockDim, gridDim;
enum { warpSize = 32 };

namespace vinci_cce {

enum { THREADS_MAX = 2048 }; // of a function: documentation of LAUNCH_BOUND

// Calls a function for each of these threads.
template <typename function> VINCI_CCE_INLINE void each_thread(const cce::dim3 &count, const function &call) {
  VINCI_CCE_IN_ORDER;
  const uint64_t threads = (uint64_t)count.x * count.y * count.z;
  if (threads == 0 || threads > THREADS_MAX)
    trap("a function of threads has 1 to 2048 threads");
  if (vinci_cce_host->size <= offsetof(struct vinci_cce_host, threads))
    trap("functions of threads: this vinci is older than the headers");
  blockDim = count;
  blockIdx = {(uint32_t)(get_block_idx() * get_subblockdim() + get_subblockid()), 0, 0};
  gridDim = {(uint32_t)(get_block_num() * get_subblockdim()), 1, 1};
  (void)vinci_cce_host->threads(vinci_cce_host, 1);
  for (uint32_t z = 0; z < count.z; z++)
    for (uint32_t y = 0; y < count.y; y++)
      for (uint32_t x = 0; x < count.x; x++) {
        threadIdx = {x, y, z};
        call();
      }
  const uint64_t instructions = vinci_cce_host->threads(vinci_cce_host, 0);
  VINCI_CCE("simt_call", "threads instructions", (int64_t)threads, (int64_t)instructions);
}

} // namespace vinci_cce

namespace bisheng {
namespace cce {
template <auto function, typename... arguments> static inline void async_invoke(dim3 threads, arguments... values) {
  vinci_cce::each_thread(threads, [&] { function(values...); });
}
} // namespace cce
} // namespace bisheng

// ---- what has no model ----

#define VINCI_CCE_ABSENT_EXCHANGE(name)                                                                \
  template <typename number, typename... arguments> VINCI_CCE_INLINE number name(number value, arguments...) { \
    vinci_cce::trap(#name " is not modelled");                                                         \
    return value;                                                                                      \
  }
VINCI_CCE_ABSENT_EXCHANGE(__shfl)
VINCI_CCE_ABSENT_EXCHANGE(__shfl_up)
VINCI_CCE_ABSENT_EXCHANGE(__shfl_down)
VINCI_CCE_ABSENT_EXCHANGE(__shfl_xor)
VINCI_CCE_ABSENT_EXCHANGE(__reduce_add)
VINCI_CCE_ABSENT_EXCHANGE(__reduce_max)
VINCI_CCE_ABSENT_EXCHANGE(__reduce_min)
#undef VINCI_CCE_ABSENT_EXCHANGE
VINCI_CCE_ABSENT(__sync_workitems)
VINCI_CCE_ABSENT(__activemask)
VINCI_CCE_ABSENT(__ballot)
VINCI_CCE_ABSENT(__any)
VINCI_CCE_ABSENT(__all)
VINCI_CCE_ABSENT(__uni)
VINCI_CCE_ABSENT(__cce_simt_get_CLOCK64)
VINCI_CCE_ABSENT(lanemask_lt)
VINCI_CCE_ABSENT(laneid)
VINCI_CCE_ABSENT(get_shmem_sz)
VINCI_CCE_ABSENT(init_printf_ubuf_addr_aicore)
VINCI_CCE_ABSENT(asc_vf_debug_ub2gm)
VINCI_CCE_ABSENT(asc_debug_get_block_idx)

// ---- memory: threads come one after the other, so what one does is done for the next ----

VINCI_CCE_INLINE void __threadfence() {}
VINCI_CCE_INLINE void __threadfence_block() {}
enum class LD_L2CacheType { L2_CACHE_HINT_NORMAL_FV };
enum class ST_L2CacheType { L2_CACHE_HINT_NORMAL_FV };
enum class L1CacheType { NON_CACHEABLE, CACHEABLE };
template <LD_L2CacheType l2, L1CacheType l1, typename number> VINCI_CCE_INLINE number __ldg(const number *address) {
  return *address;
}
template <ST_L2CacheType l2, L1CacheType l1, typename number, typename other>
VINCI_CCE_INLINE void __stg(number *address, other value) {
  *address = (number)value;
}

// `old` is what lies at an address, `value` an operand; the result is `old`.
#define VINCI_CCE_ATOMIC(name, result)                                                                 \
  template <typename place, typename number> VINCI_CCE_INLINE number name(place address, number value) { \
    if constexpr (vinci_cce::is_number<number>) {                                                      \
      const number old = (number)*address;                                                             \
      vinci_cce::put(*address, (number)(result));                                                      \
      return old;                                                                                      \
    } else {                                                                                           \
      vinci_cce::trap(#name " of groups of numbers is not modelled");                                  \
      return value;                                                                                    \
    }                                                                                                  \
  }
namespace vinci_cce {
template <typename place, typename number> VINCI_CCE_INLINE void put(place &at, number value) {
  if constexpr (std::is_same_v<number, bfloat16_t>)
    at.bits = value.bits;
  else
    at = value;
}
} // namespace vinci_cce
VINCI_CCE_ATOMIC(atomicAdd, old + value)
VINCI_CCE_ATOMIC(atomicSub, old - value)
VINCI_CCE_ATOMIC(atomicExch, value)
VINCI_CCE_ATOMIC(atomicMax, old < value ? value : old)
VINCI_CCE_ATOMIC(atomicMin, value < old ? value : old)
VINCI_CCE_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
VINCI_CCE_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
VINCI_CCE_ATOMIC(atomicAnd, old &value)
VINCI_CCE_ATOMIC(atomicOr, old | value)
VINCI_CCE_ATOMIC(atomicXOr, old ^ value)
#undef VINCI_CCE_ATOMIC
template <typename place, typename number>
VINCI_CCE_INLINE number atomicCAS(place address, number compare, number value) {
  if constexpr (vinci_cce::is_number<number>) {
    const number old = (number)*address;
    if (old == compare)
      vinci_cce::put(*address, value);
    return old;
  } else {
    vinci_cce::trap("atomicCAS of groups of numbers is not modelled");
    return value;
  }
}

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

// ---- conversions ----

namespace vinci_cce {

// A whole number; of mode O the odd one of two that are as near as can be.
VINCI_CCE_INLINE long double whole(long double x, ROUND mode) {
  switch (mode) {
  case ROUND::F: return std::floor(x);
  case ROUND::C: return std::ceil(x);
  case ROUND::A: return std::round(x);
  case ROUND::Z: return std::trunc(x);
  case ROUND::O: {
    const long double low = std::floor(x);
    return low == x || std::fmod(low, 2.0L) != 0 ? low : low + 1;
  }
  case ROUND::R:
  case ROUND::H: break;
  }
  return std::rint(x);
}
// A number rounded to `bits` bits, the last of which counts 2^lowest at least.
VINCI_CCE_INLINE long double narrow(long double x, int bits, int lowest, ROUND mode) {
  int exponent;
  if (x == 0 || x - x != 0)
    return x;
  (void)std::frexp(x, &exponent);
  const int last = exponent - bits > lowest ? exponent - bits : lowest;
  return std::ldexp(whole(std::ldexp(x, -last), mode), last);
}
template <typename number> VINCI_CCE_INLINE long double exact(number x) {
  if constexpr (std::is_integral_v<number>)
    return (long double)x;
  else
    return (long double)(float)x;
}
// Whole numbers beyond the type are the nearest of the type.
template <typename to, typename number> VINCI_CCE_INLINE to to_whole(number x, ROUND mode) {
  const long double rounded = whole(exact(x), mode);
  if (rounded != rounded)
    return 0;
  if (rounded <= (long double)std::numeric_limits<to>::min())
    return std::numeric_limits<to>::min();
  return rounded >= (long double)std::numeric_limits<to>::max() ? std::numeric_limits<to>::max() : (to)rounded;
}

} // namespace vinci_cce

template <ROUND mode, RoundingSaturation saturation, typename number> VINCI_CCE_INLINE float __cvt_float(number x) {
  if constexpr (std::is_integral_v<number> && sizeof x >= sizeof(float) && mode != ROUND::R)
    return (float)vinci_cce::narrow(vinci_cce::exact(x), 24, -149, mode);
  else
    return (float)x;
}
template <ROUND mode, RoundingSaturation saturation, typename number> VINCI_CCE_INLINE half __cvt_half(number x) {
  constexpr long double largest = 65504;
  const long double rounded = vinci_cce::narrow(vinci_cce::exact(x), 11, -24, mode);
  if (rounded - rounded == 0 && (rounded > largest || rounded < -largest))
    return (half)(float)(saturation == RoundingSaturation::RS_ENABLE ? (rounded > 0 ? largest : -largest)
                                                                     : rounded * __builtin_inff());
  return (half)(float)rounded;
}
template <ROUND mode, RoundingSaturation saturation, typename number>
VINCI_CCE_INLINE bfloat16_t __cvt_bfloat16_t(number x) {
  return bfloat16_t((float)vinci_cce::narrow(vinci_cce::exact(x), 8, -133, mode));
}
#define VINCI_CCE_TO_WHOLE(type)                                                                       \
  template <ROUND mode, RoundingSaturation saturation, typename number>                                \
  VINCI_CCE_INLINE type __cvt_##type(number x) {                                                       \
    return vinci_cce::to_whole<type>(x, mode);                                                         \
  }
VINCI_CCE_TO_WHOLE(int32_t)
VINCI_CCE_TO_WHOLE(uint32_t)
VINCI_CCE_TO_WHOLE(int64_t)
VINCI_CCE_TO_WHOLE(uint64_t)
#undef VINCI_CCE_TO_WHOLE
template <ROUND mode, RoundingSaturation saturation, typename numbers> VINCI_CCE_INLINE half2 __cvt_half2(numbers x) {
  return half2{__cvt_half<mode, saturation>(x.x), __cvt_half<mode, saturation>(x.y)};
}
template <ROUND mode, RoundingSaturation saturation, typename numbers>
VINCI_CCE_INLINE bfloat16x2_t __cvt_bfloat16x2_t(numbers x) {
  return {__cvt_bfloat16_t<mode, saturation>(x.x), __cvt_bfloat16_t<mode, saturation>(x.y)};
}
template <ROUND mode, RoundingSaturation saturation, typename numbers> VINCI_CCE_INLINE float2 __cvt_float2(numbers x) {
  return float2{(float)x.x, (float)x.y};
}

#endif
