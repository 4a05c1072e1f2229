// SPDX-License-Identifier: Apache-2.0
// Types, address spaces and attributes that kernels are written in, for a host compiler (clang).
// Source: the public documentation of Ascend C and of CCE intrinsics.
#ifndef VINCI_CCE_TYPES_H
#define VINCI_CCE_TYPES_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// ---- functions and memories ----

// A kernel: a symbol of the compiled code, with or without calls. The cores that a kernel runs on are the name of
// the section with its code; a kernel without such a mark runs on those that the code was compiled for.
#define __global__ __attribute__((visibility("default"), noinline, used, retain))
#define __aicore__
#define __vector__ __attribute__((section("vinci_aiv")))
#define __cube__ __attribute__((section("vinci_aic")))
#define __mix__(cubes, vectors) __attribute__((section("vinci_mix_" #cubes "_" #vectors)))
#define __host_aicore__
#define __simd_callee__ __attribute__((always_inline))
#define __simd_vf__
#define __simt_callee__
#define __simt_vf__
#define __kfc_workspace__
#define __inout_pipe__(...)
#define __in_pipe__(...)
#define __out_pipe__(...)
#define __sync_alias__
#define __check_sync_alias__
#define __sync_noalias__
#define __sync_out__
#define __sync_in__
// Words that the device compiler brings along, and names of its attributes. Of "[aicore]" and "[host, aicore]" in
// front of functions, and of __attribute__((aiv)), see kernels/compile/launches.c.
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __no_return__ __attribute__((noreturn))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __copyval__
#define __no_specialization__
#define __device_immutable__
#define __device_builtin__
#define __in__
#define __out__
#define cce_kernel visibility("default"), noinline, used, retain
#define cce_builtin_api
#define cce_global
#define cce_unif_buff address_space(256)
#define cce_cube_buff address_space(3)
#define cce_cube_a address_space(4)
#define cce_cube_b address_space(5)
#define cce_cube_c address_space(6)
#define cce_fixpipe_buff address_space(8)
// Variables of a core, [[block_local]] in headers: several objects of a program may have the same variable.
#if __NPU_ARCH__ == 3510 // these are inline in the headers, and some are static
#define block_local gnu::unused
#define workgroup_local gnu::unused
#else
#define block_local gnu::weak
#define workgroup_local gnu::weak
#endif

// Scalar code reads and writes GM and UB. GM lies in the host's memory as all data do, constants and texts
// included. Offsets into UB are added to what segment register GS holds: the UB of the core that executes.
// No scalar code reaches the other buffers; they have spaces of their own because overloads differ by them.
#define __gm__
#define __ubuf__ __attribute__((address_space(256)))
#define __cbuf__ __attribute__((address_space(3)))
#define __ca__ __attribute__((address_space(4)))
#define __cb__ __attribute__((address_space(5)))
#define __cc__ __attribute__((address_space(6)))
#define __biasbuf__ __attribute__((address_space(7)))
#define __fbuf__ __attribute__((address_space(8)))
#define __ssbuf__ __attribute__((address_space(9)))

#define GM_ADDR __gm__ uint8_t *

// ---- numbers ----

// fp16 is a type of the compiler, computed in fp32, so that memories of all spaces can hold numbers of this
// type. The compiler calls these functions to convert, on processors without such instructions: to nearest,
// ties to even.
typedef __fp16 half;

extern "C" {
__attribute__((visibility("hidden"), used, weak)) uint16_t __gnu_f2h_ieee(float value) {
  uint32_t word;
  __builtin_memcpy(&word, &value, sizeof word);
  uint32_t sign = word >> 16 & 0x8000, magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return (uint16_t)(sign | 0x7e00);
  if (magnitude >= 0x47800000)
    return (uint16_t)(sign | 0x7c00);
  if (magnitude < 0x38800000) { // below the smallest normal number: a multiple of 2^-24
    if (magnitude < 0x33000000)
      return (uint16_t)sign;
    uint32_t shift = 126 - (magnitude >> 23), fraction = (magnitude & 0x7fffff) | 0x800000;
    uint32_t kept = fraction >> shift, rest = fraction & ((1u << shift) - 1), tie = 1u << (shift - 1);
    return (uint16_t)(sign | (kept + (rest > tie || (rest == tie && (kept & 1)))));
  }
  uint32_t kept = (magnitude - 0x38000000) >> 13, rest = magnitude & 0x1fff;
  return (uint16_t)(sign | (kept + (rest > 0x1000 || (rest == 0x1000 && (kept & 1)))));
}
__attribute__((visibility("hidden"), used, weak)) float __gnu_h2f_ieee(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  uint32_t word;
  if (exponent == 31)
    word = sign | 0x7f800000 | fraction << 13;
  else if (exponent != 0)
    word = sign | (exponent + 112) << 23 | fraction << 13;
  else {
    float small = (float)fraction / 16777216.0f;
    __builtin_memcpy(&word, &small, sizeof word);
    word |= sign;
  }
  float value;
  __builtin_memcpy(&value, &word, sizeof value);
  return value;
}
}

#include "vinci/cce/bfloat16.h"

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2, "as in memory");
typedef half float16_t;
typedef float float32_t;

namespace vinci_cce {

// A scalar operand: integers as they are, floating-point types by their bits.
static inline __attribute__((always_inline)) int64_t scalar(half value) {
  uint16_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline __attribute__((always_inline)) int64_t scalar(bfloat16_t value) { return value.bits; }
static inline __attribute__((always_inline)) int64_t scalar(float value) {
  uint32_t word;
  __builtin_memcpy(&word, &value, sizeof word);
  return word;
}
static inline __attribute__((always_inline)) int64_t scalar(int16_t value) { return value; }
static inline __attribute__((always_inline)) int64_t scalar(uint16_t value) { return value; }
static inline __attribute__((always_inline)) int64_t scalar(int32_t value) { return value; }
static inline __attribute__((always_inline)) int64_t scalar(uint32_t value) { return value; }

} // namespace vinci_cce

// ---- words ----

// Pipes, by the numbers that the documentation's order gives.
enum pipe_t {
  PIPE_S,
  PIPE_V,
  PIPE_M,
  PIPE_MTE1,
  PIPE_MTE2,
  PIPE_MTE3,
  PIPE_ALL,
  PIPE_FIX = 10,
};

enum event_t {
  EVENT_ID0,
  EVENT_ID1,
  EVENT_ID2,
  EVENT_ID3,
  EVENT_ID4,
  EVENT_ID5,
  EVENT_ID6,
  EVENT_ID7,
};

enum QuantMode_t {
  NoQuant,
  F322F16,
  VQF322HIF8_PRE,
  QF322HIF8_PRE,
  VQF322HIF8_PRE_HYBRID,
  QF322HIF8_PRE_HYBRID,
  AttachF16Mul,
  VREQ8,
  REQ8,
  VDEQF16,
  DEQF16,
  F322BF16 = 16,
  VQF322B8_PRE = 23,
  QF322B8_PRE,
#if __NPU_ARCH__ == 3510
  VQF322FP8_PRE,
  QF322FP8_PRE,
  VQF322F32_PRE,
  QF322F32_PRE,
  VQF322F16_PRE,
  QF322F16_PRE,
  VQF322BF16_PRE,
  QF322BF16_PRE,
  VQS322BF16_PRE,
  QS322BF16_PRE,
#endif
};

enum Order_t { VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX };

enum addr_cal_mode_t { inc, dec };
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum mem_dsb_t { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };
enum mem_t { L1, L0A, L0B, L0C, UB, BT, FB };
enum atomic_type_t { ATOMIC_NONE, ATOMIC_F32, ATOMIC_F16, ATOMIC_S16, ATOMIC_S32, ATOMIC_S8, ATOMIC_BF16 };
enum atomic_op_t { ATOMIC_SUM };
// Registers of 8 addresses, for transpositions.
enum ub_addr8_t { VA0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 };
enum vpart_t { L128, H128 };
enum pad_t { PAD_NONE, PAD_MODE1, PAD_MODE2, PAD_MODE3, PAD_MODE4, PAD_MODE5, PAD_MODE6, PAD_MODE7, PAD_MODE8 };

enum unit_flag_t { UNIT_FLAG_OFF = 0, UNIT_FLAG_WAIT = 2, UNIT_FLAG_TURN = 3 };

#endif
