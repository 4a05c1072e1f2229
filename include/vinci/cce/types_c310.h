// SPDX-License-Identifier: Apache-2.0
// Types and words of dav-c310 that libraries name beside those of all architectures. Numbers of 8 bits and less have
// no arithmetic here: they are moved.
#ifndef VINCI_CCE_TYPES_C310_H
#define VINCI_CCE_TYPES_C310_H

#include <cstdint>

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

// Of functions of threads, which have no model: groups of numbers, and places of a thread.
#define VINCI_CCE_GROUPS(name, type)                                                                   \
  typedef type name##1 __attribute__((ext_vector_type(1)));                                            \
  typedef type name##2 __attribute__((ext_vector_type(2)));                                            \
  typedef type name##3 __attribute__((ext_vector_type(3)));                                            \
  typedef type name##4 __attribute__((ext_vector_type(4)));
VINCI_CCE_GROUPS(float, float)
VINCI_CCE_GROUPS(int, int)
VINCI_CCE_GROUPS(long, long)
#undef VINCI_CCE_GROUPS
typedef half half2 __attribute__((ext_vector_type(2)));
struct bfloat16x2_t {
  bfloat16_t x, y;
};
namespace bisheng {
namespace cce {
template <pipe_t pipe> static inline void mark_stamp(int64_t) {}
// Starts a function of threads.
template <auto function, typename... arguments> static inline void async_invoke(arguments...) {
  vinci_cce::trap("functions of threads are not modelled");
}
struct dim3 {
  uint32_t x, y, z;
  constexpr dim3(uint32_t first = 1, uint32_t second = 1, uint32_t third = 1) : x(first), y(second), z(third) {}
};
} // namespace cce
} // namespace bisheng
namespace cce = bisheng::cce;
using cce::dim3;
static const cce::dim3 threadIdx = {0, 0, 0}, blockIdx = {0, 0, 0}, blockDim, gridDim;
enum { warpSize = 32 };
enum class Spr { AR = 74 };
enum class Bin { N0, N1, N2, N3, N4, N5, N6, N7 };
enum class LD_L2CacheType { L2_CACHE_HINT_NORMAL_FV };
enum class L1CacheType { NON_CACHEABLE };
enum QuantMode_post { NoConv };
#define __no_simd_vf_fusion__
#define LAUNCH_BOUND(threads)
// How many parts a number of elements makes.
static constexpr int32_t get_repeat_ceiling(int32_t elements, int32_t part) { return (elements + part - 1) / part; }

// Where queues begin, behind the arrays that functions have in UB: at address 0 here, as on the other chips.
namespace AscendC {
extern __attribute__((weak)) __ubuf__ uint32_t dynamicStartUB[];
}

#endif
