// SPDX-License-Identifier: Apache-2.0
// Conversions of numbers in functions of threads (SIMT) of dav-c310, each rounded once.
#ifndef VINCI_CCE_CONVERSIONS_C310_H
#define VINCI_CCE_CONVERSIONS_C310_H

#include <cmath>
#include <limits>
#include <type_traits>

#include "vinci/cce/numbers_c310.h"
#include "vinci/cce/register_types.h"

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
