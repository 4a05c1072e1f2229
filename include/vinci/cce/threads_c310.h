// SPDX-License-Identifier: Apache-2.0
// Functions of threads (SIMT) of dav-c310. Each thread executes the function from its begin to its end, one thread after
// the other, as scalar code does; what they access are accesses of the vector unit. So there is no model of what threads
// wait for among themselves: barriers, votes and exchanges within a warp.
#ifndef VINCI_CCE_THREADS_C310_H
#define VINCI_CCE_THREADS_C310_H

#include "vinci/cce/absent.h"
#include "vinci/cce/control.h"
#include "vinci/cce/register_types.h"
#include "vinci/cce/scalar.h"

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
  const uint64_t row = count.x > THREADS_MAX || count.y > THREADS_MAX ? THREADS_MAX + 1 : count.x * count.y;
  const uint64_t threads = row * count.z; // less than 2^64: a row has at most 2048 * 2048
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

// Where the open headers of threads have their functions; code of kernels does not name this namespace. Their own end of
// assert() is left out, as host code would not know which of the two to take.
#define IMPL_UTILS_DEBUG_ASC_ASSERT_SIMT_IMPL_H
namespace __asc_simt_vf {}
using namespace __asc_simt_vf;

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
template <typename... others>
VINCI_CCE_INLINE void __builtin_cce_dcci(const void *address, uint64_t whole_cache, others...) {
  dcci(address, whole_cache);
}
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

namespace vinci_cce {
// The type of what lies at an address, without the space.
template <typename type> struct unplaced {
  using plain = type;
};
template <typename type> struct unplaced<__ubuf__ type> {
  using plain = type;
};
template <typename place>
using memory_t = typename unplaced<std::remove_cv_t<std::remove_reference_t<decltype(*std::declval<place>())>>>::plain;
template <typename place, typename number> VINCI_CCE_INLINE void put(place &at, number value) {
  if constexpr (std::is_same_v<number, bfloat16_t>)
    at.bits = value.bits;
  else
    at = value;
}
} // namespace vinci_cce
// Computed in the type of the memory, which an operand becomes as an argument of a function does. `old` is what lies at
// an address, `value` the operand; the result is `old`.
#define VINCI_CCE_ATOMIC(name, result)                                                                 \
  template <typename place, typename number> VINCI_CCE_INLINE auto name(place address, number operand) { \
    using memory = vinci_cce::memory_t<place>;                                                         \
    if constexpr (vinci_cce::is_number<memory> && std::is_convertible_v<number, memory>) {             \
      const memory old = (memory)*address, value = (memory)operand;                                    \
      vinci_cce::put(*address, (memory)(result));                                                      \
      return old;                                                                                      \
    } else {                                                                                           \
      vinci_cce::trap(#name " of groups of numbers is not modelled");                                  \
      return operand;                                                                                  \
    }                                                                                                  \
  }
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
template <typename place, typename number, typename other>
VINCI_CCE_INLINE auto atomicCAS(place address, number compare, other operand) {
  using memory = vinci_cce::memory_t<place>;
  if constexpr (vinci_cce::is_number<memory> && std::is_convertible_v<number, memory> &&
                std::is_convertible_v<other, memory>) {
    const memory old = (memory)*address;
    if (old == (memory)compare)
      vinci_cce::put(*address, (memory)operand);
    return old;
  } else {
    vinci_cce::trap("atomicCAS of groups of numbers is not modelled");
    return operand;
  }
}

#endif
