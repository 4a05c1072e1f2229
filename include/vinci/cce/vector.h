// SPDX-License-Identifier: Apache-2.0
// The vector unit: families of instructions, each for the types that the instruction table names.
#ifndef VINCI_CCE_VECTOR_H
#define VINCI_CCE_VECTOR_H

#include "vinci/cce/issue.h"
#include "vinci/cce/types.h"

// ---- two sources ----

#define VINCI_CCE_BINARY_AS(name, dst_type, src_type, last)                                            \
  VINCI_CCE_INLINE void name(__ubuf__ dst_type *dst, __ubuf__ src_type *src0, __ubuf__ src_type *src1, \
                             int64_t repeat, int64_t dst_block, int64_t src0_block, int64_t src1_block, \
                             int64_t dst_repeat, int64_t src0_repeat, int64_t src1_repeat) {           \
    VINCI_CCE(#name,                                                                                   \
              "dst src0 src1 repeat:u8 dst_block:u8 src0_block:u8 src1_block:u8 dst_repeat:u8 src0_repeat:u8 " \
              "src1_repeat:u8" last,                                                                   \
              (int64_t)dst, (int64_t)src0, (int64_t)src1, repeat, dst_block, src0_block, src1_block,   \
              dst_repeat, src0_repeat, src1_repeat);                                                   \
  }
#define VINCI_CCE_BINARY(name, type, text) VINCI_CCE_BINARY_AS(name, type, type, " type=" text)
#define VINCI_CCE_FLOATS(family, name) family(name, half, "fp16") family(name, float, "fp32")
#define VINCI_CCE_NUMBERS(family, name)                                                                \
  VINCI_CCE_FLOATS(family, name) family(name, int16_t, "int16") family(name, int32_t, "int32")
#define VINCI_CCE_BITS(family, name) family(name, int16_t, "int16") family(name, uint16_t, "uint16")
#define VINCI_CCE_INTEGERS(family, name)                                                               \
  VINCI_CCE_BITS(family, name) family(name, int32_t, "int32") family(name, uint32_t, "uint32")

VINCI_CCE_NUMBERS(VINCI_CCE_BINARY, vadd)
VINCI_CCE_NUMBERS(VINCI_CCE_BINARY, vsub)
VINCI_CCE_NUMBERS(VINCI_CCE_BINARY, vmul)
VINCI_CCE_NUMBERS(VINCI_CCE_BINARY, vmax)
VINCI_CCE_NUMBERS(VINCI_CCE_BINARY, vmin)
VINCI_CCE_FLOATS(VINCI_CCE_BINARY, vdiv)
VINCI_CCE_FLOATS(VINCI_CCE_BINARY, vmla)
VINCI_CCE_FLOATS(VINCI_CCE_BINARY, vmadd)
VINCI_CCE_FLOATS(VINCI_CCE_BINARY, vmaddrelu)
VINCI_CCE_BITS(VINCI_CCE_BINARY, vand)
VINCI_CCE_BITS(VINCI_CCE_BINARY, vor)
VINCI_CCE_FLOATS(VINCI_CCE_BINARY, vaddrelu) VINCI_CCE_BINARY(vaddrelu, int16_t, "int16")
VINCI_CCE_FLOATS(VINCI_CCE_BINARY, vsubrelu) VINCI_CCE_BINARY(vsubrelu, int16_t, "int16")
VINCI_CCE_BINARY_AS(vmla_f162f32, float, half, "")
VINCI_CCE_BINARY_AS(vaddreluconv_f162s8, int8_t, half, "")
VINCI_CCE_BINARY_AS(vaddreluconv_f322f16, half, float, "")
VINCI_CCE_BINARY_AS(vaddreluconv_s162s8, int8_t, int16_t, "")
VINCI_CCE_BINARY_AS(vsubreluconv_f162s8, int8_t, half, "")
VINCI_CCE_BINARY_AS(vsubreluconv_f322f16, half, float, "")
VINCI_CCE_BINARY_AS(vsubreluconv_s162s8, int8_t, int16_t, "")
VINCI_CCE_BINARY_AS(vmulconv_f162s8, int8_t, half, "")
VINCI_CCE_BINARY_AS(vmulconv_f162u8, uint8_t, half, "")

// Comparisons, selections, permutations and sorting use the families above.
#include "vinci/cce/select.h"

// ---- one source ----

#define VINCI_CCE_UNARY_AS(call, name, dst_type, src_type, last)                                       \
  VINCI_CCE_INLINE void call(__ubuf__ dst_type *dst, __ubuf__ src_type *src, int64_t repeat,           \
                             int64_t dst_block, int64_t src_block, int64_t dst_repeat,                 \
                             int64_t src_repeat) {                                                     \
    VINCI_CCE(name, "dst src repeat:u8 dst_block:u16 src_block:u16 dst_repeat:u8 src_repeat:u8" last, (int64_t)dst, \
              (int64_t)src, repeat, dst_block, src_block, dst_repeat, src_repeat);                     \
  }
#define VINCI_CCE_UNARY(name, type, text) VINCI_CCE_UNARY_AS(name, #name, type, type, " type=" text)
VINCI_CCE_FLOATS(VINCI_CCE_UNARY, vabs)
VINCI_CCE_FLOATS(VINCI_CCE_UNARY, vexp)
VINCI_CCE_FLOATS(VINCI_CCE_UNARY, vln)
VINCI_CCE_FLOATS(VINCI_CCE_UNARY, vrec)
VINCI_CCE_FLOATS(VINCI_CCE_UNARY, vsqrt)
VINCI_CCE_FLOATS(VINCI_CCE_UNARY, vrsqrt)
VINCI_CCE_FLOATS(VINCI_CCE_UNARY, vrelu)
VINCI_CCE_UNARY(vrelu, int32_t, "int32")
VINCI_CCE_BITS(VINCI_CCE_UNARY, vnot)
VINCI_CCE_INTEGERS(VINCI_CCE_UNARY, vcopy)

// ---- conversions: the rounding is the last letter of the name ----

#define VINCI_CCE_CONVERT(name, dst_type, src_type)                                                    \
  VINCI_CCE_UNARY_AS(name, #name, dst_type, src_type, "")
#define VINCI_CCE_ROUND(name, round, dst_type, src_type)                                               \
  VINCI_CCE_UNARY_AS(name##round, #name, dst_type, src_type, " round=" #round)
#define VINCI_CCE_ROUNDS(name, dst_type, src_type)                                                     \
  VINCI_CCE_ROUND(name, r, dst_type, src_type) VINCI_CCE_ROUND(name, f, dst_type, src_type)            \
  VINCI_CCE_ROUND(name, c, dst_type, src_type) VINCI_CCE_ROUND(name, a, dst_type, src_type)            \
  VINCI_CCE_ROUND(name, z, dst_type, src_type)
VINCI_CCE_ROUNDS(vconv_f322f16, half, float)
VINCI_CCE_ROUNDS(vconv_f322bf16, bfloat16_t, float)
VINCI_CCE_ROUNDS(vconv_f322f32, float, float)
VINCI_CCE_ROUNDS(vconv_f322s32, int32_t, float)
VINCI_CCE_ROUNDS(vconv_s322f32, float, int32_t)
VINCI_CCE_ROUNDS(vconv_f322s16, int16_t, float)
VINCI_CCE_ROUNDS(vconv_f322s64, int64_t, float)
VINCI_CCE_ROUNDS(vconv_s642f32, float, int64_t)
VINCI_CCE_ROUNDS(vconv_f162s32, int32_t, half)
VINCI_CCE_ROUNDS(vconv_f162s16, int16_t, half)
VINCI_CCE_ROUNDS(vconv_s162f16, half, int16_t)
VINCI_CCE_ROUNDS(vconv_f162s8, int8_t, half)
VINCI_CCE_ROUNDS(vconv_f162u8, uint8_t, half)
VINCI_CCE_ROUNDS(vconv_f162s4, void, half)
VINCI_CCE_ROUNDS(vconv_bf162s32, int32_t, bfloat16_t)
VINCI_CCE_ROUND(vconv_f322f16, o, half, float)
VINCI_CCE_CONVERT(vconv_f322f16, half, float)
VINCI_CCE_CONVERT(vconv_s322f32, float, int32_t)
VINCI_CCE_CONVERT(vconv_f162s4, void, half)
VINCI_CCE_CONVERT(vconv_f162s8, int8_t, half)
VINCI_CCE_CONVERT(vconv_f162u8, uint8_t, half)
VINCI_CCE_CONVERT(vconv_s162f16, half, int16_t)
VINCI_CCE_CONVERT(vconv_f162f32, float, half)
VINCI_CCE_CONVERT(vconv_bf162f32, float, bfloat16_t)
VINCI_CCE_CONVERT(vconv_s162f32, float, int16_t)
VINCI_CCE_CONVERT(vconv_s82f16, half, int8_t)
VINCI_CCE_CONVERT(vconv_u82f16, half, uint8_t)
VINCI_CCE_CONVERT(vconv_s42f16, half, void)
VINCI_CCE_CONVERT(vconv_s322s16, int16_t, int32_t)
VINCI_CCE_CONVERT(vconv_s322s64, int64_t, int32_t)
VINCI_CCE_CONVERT(vconv_s642s32, int32_t, int64_t)
VINCI_CCE_CONVERT(vconv_deq, half, int32_t)

// ---- a tensor and a scalar ----

#define VINCI_CCE_SCALAR_AS(name, dst_type, src_type, last)                                            \
  VINCI_CCE_INLINE void name(__ubuf__ dst_type *dst, __ubuf__ src_type *src, src_type value,           \
                             int64_t repeat, int64_t dst_block, int64_t src_block,                     \
                             int64_t dst_repeat, int64_t src_repeat) {                                 \
    VINCI_CCE(#name, "dst src scalar repeat:u8 dst_block:u16 src_block:u16 dst_repeat:u8 src_repeat:u8" last, \
              (int64_t)dst, (int64_t)src, vinci_cce::scalar(value), repeat, dst_block, src_block,      \
              dst_repeat, src_repeat);                                                                 \
  }
#define VINCI_CCE_SCALAR(name, type, text) VINCI_CCE_SCALAR_AS(name, type, type, " type=" text)
VINCI_CCE_NUMBERS(VINCI_CCE_SCALAR, vadds)
VINCI_CCE_NUMBERS(VINCI_CCE_SCALAR, vmuls)
VINCI_CCE_NUMBERS(VINCI_CCE_SCALAR, vmaxs)
VINCI_CCE_NUMBERS(VINCI_CCE_SCALAR, vmins)
VINCI_CCE_FLOATS(VINCI_CCE_SCALAR, vlrelu)
VINCI_CCE_FLOATS(VINCI_CCE_SCALAR, vaxpy)
VINCI_CCE_SCALAR_AS(vaxpy_f162f32, float, half, "")
// With two switches of the interface that have no effect on values.
#define VINCI_CCE_LIMIT(name, type, text)                                                              \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src, type value, uint8_t repeat,       \
                             uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat,               \
                             uint8_t src_repeat, bool, bool) {                                         \
    name(dst, src, value, repeat, dst_block, src_block, dst_repeat, src_repeat);                       \
  }
VINCI_CCE_NUMBERS(VINCI_CCE_LIMIT, vmaxs)
VINCI_CCE_NUMBERS(VINCI_CCE_LIMIT, vmins)
#undef VINCI_CCE_LIMIT

#define VINCI_CCE_SHIFT(name, type, text)                                                              \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src, int32_t distance, int64_t repeat, \
                             int64_t dst_block, int64_t src_block, int64_t dst_repeat,                 \
                             int64_t src_repeat) {                                                     \
    VINCI_CCE(#name, "dst src scalar repeat:u8 dst_block:u16 src_block:u16 dst_repeat:u8 src_repeat:u8 type=" text, \
              (int64_t)dst, (int64_t)src, distance, repeat, dst_block, src_block, dst_repeat,          \
              src_repeat);                                                                             \
  }
VINCI_CCE_INTEGERS(VINCI_CCE_SHIFT, vshl)
#define VINCI_CCE_SHIFT_RIGHT(name, type, text)                                                        \
  VINCI_CCE_SHIFT(name, type, text)                                                                    \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src, int32_t distance, uint8_t repeat, \
                             uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat,               \
                             uint8_t src_repeat, bool round) {                                         \
    if (round)                                                                                         \
      vinci_cce::trap(#name ": rounding is not modelled");                                             \
    name(dst, src, distance, repeat, dst_block, src_block, dst_repeat, src_repeat);                    \
  }
VINCI_CCE_INTEGERS(VINCI_CCE_SHIFT_RIGHT, vshr)
#undef VINCI_CCE_SHIFT_RIGHT
#undef VINCI_CCE_SHIFT

#define VINCI_CCE_DUP(name, type, text)                                                                \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, type value, int64_t repeat, int64_t dst_block,        \
                             uint16_t, int64_t dst_repeat, uint8_t) {                                  \
    vinci_cce::dup_to = (int64_t)dst;                                                                  \
    vinci_cce::dup_value = vinci_cce::scalar(value);                                                   \
    VINCI_CCE(#name, "dst scalar repeat:u8 dst_block:u16 dst_repeat:u8 type=" text, (int64_t)dst,      \
              vinci_cce::scalar(value), repeat, dst_block, dst_repeat);                                \
  }
VINCI_CCE_FLOATS(VINCI_CCE_DUP, vector_dup)
VINCI_CCE_INTEGERS(VINCI_CCE_DUP, vector_dup)
VINCI_CCE_DUP(vector_dup, bfloat16_t, "bf16")
#undef VINCI_CCE_DUP

// ---- reductions ----

#define VINCI_CCE_REDUCE(name, type, text)                                                             \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src, int64_t repeat,                   \
                             int64_t dst_repeat, int64_t src_block, int64_t src_repeat) {              \
    VINCI_CCE(#name, "dst src repeat:u8 dst_repeat:u16 src_block:u16 src_repeat:u16 type=" text, (int64_t)dst, \
              (int64_t)src, repeat, dst_repeat, src_block, src_repeat);                                \
  }
VINCI_CCE_FLOATS(VINCI_CCE_REDUCE, vcgadd)
VINCI_CCE_FLOATS(VINCI_CCE_REDUCE, vcgmax)
VINCI_CCE_FLOATS(VINCI_CCE_REDUCE, vcgmin)
VINCI_CCE_FLOATS(VINCI_CCE_REDUCE, vcpadd)
// The flag at the end of vcadd asks for the sum of all repeats in a register, for get_acc_val. The target then takes
// no more than an element: here the sum of the last repeat (assumed; the headers write over it).
#define VINCI_CCE_SUM(name, type, text)                                                                \
  VINCI_CCE_REDUCE(name, type, text)                                                                   \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src, uint8_t repeat,                   \
                             uint16_t dst_repeat, uint16_t src_block, uint16_t src_repeat, bool all) { \
    name(dst, src, repeat, all ? 0 : dst_repeat, src_block, src_repeat);                                       \
  }
VINCI_CCE_FLOATS(VINCI_CCE_SUM, vcadd)
#undef VINCI_CCE_SUM

#define VINCI_CCE_REDUCE_INDEX(name, type, text)                                                       \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src, int64_t repeat,                   \
                             int64_t dst_repeat, int64_t src_block, int64_t src_repeat,                \
                             Order_t order) {                                                          \
    VINCI_CCE(#name, "dst src repeat:u8 dst_repeat:u16 src_block:u16 src_repeat:u16 order type=" text, (int64_t)dst, \
              (int64_t)src, repeat, dst_repeat, src_block, src_repeat, order);                         \
  }
VINCI_CCE_FLOATS(VINCI_CCE_REDUCE_INDEX, vcmax)
VINCI_CCE_FLOATS(VINCI_CCE_REDUCE_INDEX, vcmin)
#undef VINCI_CCE_REDUCE_INDEX

#include "vinci/cce/permute.h"

#undef VINCI_CCE_BINARY_AS
#undef VINCI_CCE_BINARY
#undef VINCI_CCE_UNARY_AS
#undef VINCI_CCE_UNARY
#undef VINCI_CCE_CONVERT
#undef VINCI_CCE_ROUND
#undef VINCI_CCE_ROUNDS
#undef VINCI_CCE_SCALAR_AS
#undef VINCI_CCE_SCALAR
#undef VINCI_CCE_REDUCE
#undef VINCI_CCE_FLOATS
#undef VINCI_CCE_NUMBERS
#undef VINCI_CCE_BITS
#undef VINCI_CCE_INTEGERS

#endif
