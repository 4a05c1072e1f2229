// SPDX-License-Identifier: Apache-2.0
// Types and words of dav-c310 that libraries name beside those of all architectures. Numbers of 8 bits and less have
// no arithmetic here: they are moved.
#ifndef VINCI_CCE_TYPES_C310_H
#define VINCI_CCE_TYPES_C310_H

#include <cstdint>
#include <type_traits>

#include "vinci/cce/issue.h"
#include "vinci/cce/types.h"

#define VINCI_CCE_SMALL(name)                                                                          \
  struct name {                                                                                        \
    uint8_t bits;                                                                                      \
  };
VINCI_CCE_SMALL(float8_e4m3_t)
VINCI_CCE_SMALL(float8_e5m2_t)
VINCI_CCE_SMALL(float8_e8m0_t)
VINCI_CCE_SMALL(hifloat8_t)
VINCI_CCE_SMALL(float4_e2m1x2_t)
VINCI_CCE_SMALL(float4_e1m2x2_t)
VINCI_CCE_SMALL(hifloat4x2_t)
VINCI_CCE_SMALL(int4x2_t)
#undef VINCI_CCE_SMALL

namespace bisheng {
namespace cce {
template <pipe_t pipe> static inline void mark_stamp(int64_t) {}
} // namespace cce
} // namespace bisheng
enum class Spr { AR = 74 };
static constexpr std::integral_constant<Spr, Spr::AR> SPR_AR{};
enum class Bin { N0, N1, N2, N3, N4, N5, N6, N7 };
static constexpr std::integral_constant<Bin, Bin::N0> Bin_N0{};
static constexpr std::integral_constant<Bin, Bin::N1> Bin_N1{};
enum QuantMode_post { NoConv };
#define __no_simd_vf_fusion__
#define LAUNCH_BOUND(threads)
#define __launch_bounds__(threads)
// How many parts a number of elements makes.
static constexpr int32_t get_repeat_ceiling(int32_t elements, int32_t part) { return (elements + part - 1) / part; }

// Where queues begin, behind the arrays that functions have in UB: at address 0 here, as on the other chips.
namespace AscendC {
extern __attribute__((weak)) __ubuf__ uint32_t dynamicStartUB[];
}

#endif
