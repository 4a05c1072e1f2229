// SPDX-License-Identifier: Apache-2.0
// The vector unit: families of instructions, each for the types that the instruction table names.
#ifndef VINCI_CCE_VECTOR_H
#define VINCI_CCE_VECTOR_H

#include "vinci/cce/issue.h"
#include "vinci/cce/types.h"

// ---- two sources ----

#define VINCI_CCE_BINARY_AS(name, dst_type, src_type, last)                                            \
  VINCI_CCE_INLINE void name(__ubuf__ dst_type *dst, __ubuf__ src_type *src0, __ubuf__ src_type *src1, \
                             uint8_t repeat, uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, \
                             uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat) {           \
    VINCI_CCE(#name,                                                                                   \
              "dst src0 src1 repeat dst_block src0_block src1_block dst_repeat src0_repeat "           \
              "src1_repeat" last,                                                                      \
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

// A selection by the comparison mask.
#define VINCI_CCE_SELECT(name, type, text)                                                             \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src0, __ubuf__ type *src1,             \
                             uint8_t repeat, uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, \
                             uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat) {           \
    VINCI_CCE(#name,                                                                                   \
              "dst src0 src1 repeat dst_block src0_block src1_block dst_repeat src0_repeat "           \
              "src1_repeat mode=register type=" text,                                                  \
              (int64_t)dst, (int64_t)src0, (int64_t)src1, repeat, dst_block, src0_block, src1_block,   \
              dst_repeat, src0_repeat, src1_repeat);                                                   \
  }
VINCI_CCE_FLOATS(VINCI_CCE_SELECT, vsel)
#undef VINCI_CCE_SELECT
// Selections by a mask in UB find their third operand in the comparison register: with mode 1 the element in
// place of src1, which is the address of the mask then; with mode 2 the address of the mask. The register was
// loaded from UB, where a vector_dup has put that: both remember what they did for the vsel that follows.
namespace vinci_cce {
static int64_t cmpmask_from, dup_to, dup_value;
}
#define VINCI_CCE_SELECT_MASK(name, type, text)                                                        \
  template <typename other>                                                                            \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src0, __ubuf__ other *src1,            \
                             uint8_t repeat, uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, \
                             uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat,             \
                             uint8_t mode) {                                                           \
    int64_t from = vinci_cce::cmpmask_from;                                                            \
    if (mode == 0)                                                                                     \
      name(dst, src0, (__ubuf__ type *)src1, repeat, dst_block, src0_block, src1_block, dst_repeat,    \
           src0_repeat, src1_repeat);                                                                  \
    else if (mode == 1)                                                                                \
      VINCI_CCE(#name,                                                                                 \
                "dst src0 src1 mask repeat dst_block src0_block src1_block dst_repeat src0_repeat "    \
                "src1_repeat mode=scalar type=" text,                                                  \
                (int64_t)dst, (int64_t)src0, from, (int64_t)src1, repeat, dst_block, src0_block,       \
                src1_block, dst_repeat, src0_repeat, src1_repeat);                                     \
    else if (from == vinci_cce::dup_to)                                                                \
      VINCI_CCE(#name,                                                                                 \
                "dst src0 src1 mask repeat dst_block src0_block src1_block dst_repeat src0_repeat "    \
                "src1_repeat mode=tensor type=" text,                                                  \
                (int64_t)dst, (int64_t)src0, (int64_t)src1, vinci_cce::dup_value & 0xffffffff, repeat, \
                dst_block, src0_block, src1_block, dst_repeat, src0_repeat, src1_repeat);              \
    else                                                                                               \
      vinci_cce::trap("vsel: the address of its mask does not come from a vector_dup");                \
  }
VINCI_CCE_FLOATS(VINCI_CCE_SELECT_MASK, vsel)
#undef VINCI_CCE_SELECT_MASK

#define VINCI_CCE_COMPARE(name, type, text)                                                            \
  VINCI_CCE_INLINE void name(__ubuf__ uint8_t *dst, __ubuf__ type *src0, __ubuf__ type *src1,          \
                             uint8_t repeat, uint8_t, uint8_t src0_block, uint8_t src1_block, uint8_t, \
                             uint8_t src0_repeat, uint8_t src1_repeat) {                               \
    VINCI_CCE(#name, "dst src0 src1 repeat src0_block src1_block src0_repeat src1_repeat type=" text,  \
              (int64_t)dst, (int64_t)src0, (int64_t)src1, repeat, src0_block, src1_block, src0_repeat, \
              src1_repeat);                                                                            \
  }
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE, vcmpv_eq) VINCI_CCE_COMPARE(vcmpv_eq, int32_t, "int32")
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE, vcmpv_ne) VINCI_CCE_COMPARE(vcmpv_ne, int32_t, "int32")
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE, vcmpv_lt) VINCI_CCE_COMPARE(vcmpv_lt, int32_t, "int32")
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE, vcmpv_le) VINCI_CCE_COMPARE(vcmpv_le, int32_t, "int32")
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE, vcmpv_gt) VINCI_CCE_COMPARE(vcmpv_gt, int32_t, "int32")
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE, vcmpv_ge) VINCI_CCE_COMPARE(vcmpv_ge, int32_t, "int32")
#undef VINCI_CCE_COMPARE

#define VINCI_CCE_COMPARE_REGISTER(name, type, text)                                                   \
  VINCI_CCE_INLINE void name(__ubuf__ type *src0, __ubuf__ type *src1, uint8_t, uint8_t,               \
                             uint8_t src0_block, uint8_t src1_block, uint8_t, uint8_t, uint8_t) {      \
    VINCI_CCE(#name, "src0 src1 src0_block src1_block type=" text, (int64_t)src0, (int64_t)src1,       \
              src0_block, src1_block);                                                                 \
  }
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE_REGISTER, vcmp_eq)
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE_REGISTER, vcmp_ne)
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE_REGISTER, vcmp_lt)
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE_REGISTER, vcmp_le)
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE_REGISTER, vcmp_gt)
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE_REGISTER, vcmp_ge)
#undef VINCI_CCE_COMPARE_REGISTER

#define VINCI_CCE_COMPARE_SCALAR(name, type, text)                                                     \
  VINCI_CCE_INLINE void name(__ubuf__ uint8_t *dst, __ubuf__ type *src, type value, uint8_t repeat,    \
                             uint8_t, uint8_t src_block, uint8_t, uint8_t src_repeat) {                \
    VINCI_CCE(#name, "dst src scalar repeat src_block src_repeat type=" text, (int64_t)dst,            \
              (int64_t)src, vinci_cce::scalar(value), repeat, src_block, src_repeat);                  \
  }
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE_SCALAR, vcmpvs_eq) VINCI_CCE_COMPARE_SCALAR(vcmpvs_eq, int32_t, "int32")
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE_SCALAR, vcmpvs_ne) VINCI_CCE_COMPARE_SCALAR(vcmpvs_ne, int32_t, "int32")
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE_SCALAR, vcmpvs_lt) VINCI_CCE_COMPARE_SCALAR(vcmpvs_lt, int32_t, "int32")
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE_SCALAR, vcmpvs_le) VINCI_CCE_COMPARE_SCALAR(vcmpvs_le, int32_t, "int32")
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE_SCALAR, vcmpvs_gt) VINCI_CCE_COMPARE_SCALAR(vcmpvs_gt, int32_t, "int32")
VINCI_CCE_FLOATS(VINCI_CCE_COMPARE_SCALAR, vcmpvs_ge) VINCI_CCE_COMPARE_SCALAR(vcmpvs_ge, int32_t, "int32")
#undef VINCI_CCE_COMPARE_SCALAR

template <typename type> VINCI_CCE_INLINE void set_cmpmask(__ubuf__ type *src) {
  vinci_cce::cmpmask_from = (int64_t)src;
  VINCI_CCE("set_cmpmask", "src", (int64_t)src);
}
template <typename type> VINCI_CCE_INLINE void get_cmpmask(__ubuf__ type *dst) {
  VINCI_CCE("get_cmpmask", "dst", (int64_t)dst);
}

// ---- one source ----

#define VINCI_CCE_UNARY_AS(call, name, dst_type, src_type, last)                                       \
  VINCI_CCE_INLINE void call(__ubuf__ dst_type *dst, __ubuf__ src_type *src, uint8_t repeat,           \
                             uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat,               \
                             uint8_t src_repeat) {                                                     \
    VINCI_CCE(name, "dst src repeat dst_block src_block dst_repeat src_repeat" last, (int64_t)dst,     \
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
                             uint8_t repeat, uint16_t dst_block, uint16_t src_block,                   \
                             uint8_t dst_repeat, uint8_t src_repeat) {                                 \
    VINCI_CCE(#name, "dst src scalar repeat dst_block src_block dst_repeat src_repeat" last,           \
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
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src, int32_t distance, uint8_t repeat, \
                             uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat,               \
                             uint8_t src_repeat) {                                                     \
    VINCI_CCE(#name, "dst src scalar repeat dst_block src_block dst_repeat src_repeat type=" text,     \
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
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, type value, uint8_t repeat, uint16_t dst_block,       \
                             uint16_t, uint8_t dst_repeat, uint8_t) {                                  \
    vinci_cce::dup_to = (int64_t)dst;                                                                  \
    vinci_cce::dup_value = vinci_cce::scalar(value);                                                   \
    VINCI_CCE(#name, "dst scalar repeat dst_block dst_repeat type=" text, (int64_t)dst,                \
              vinci_cce::scalar(value), repeat, dst_block, dst_repeat);                                \
  }
VINCI_CCE_FLOATS(VINCI_CCE_DUP, vector_dup)
VINCI_CCE_INTEGERS(VINCI_CCE_DUP, vector_dup)
VINCI_CCE_DUP(vector_dup, bfloat16_t, "bf16")
#undef VINCI_CCE_DUP

// ---- reductions ----

#define VINCI_CCE_REDUCE(name, type, text)                                                             \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src, uint8_t repeat,                   \
                             uint16_t dst_repeat, uint16_t src_block, uint16_t src_repeat) {           \
    VINCI_CCE(#name, "dst src repeat dst_repeat src_block src_repeat type=" text, (int64_t)dst,        \
              (int64_t)src, repeat, dst_repeat, src_block, src_repeat);                                \
  }
VINCI_CCE_FLOATS(VINCI_CCE_REDUCE, vcgadd)
VINCI_CCE_FLOATS(VINCI_CCE_REDUCE, vcgmax)
VINCI_CCE_FLOATS(VINCI_CCE_REDUCE, vcgmin)
VINCI_CCE_FLOATS(VINCI_CCE_REDUCE, vcpadd)
// The flag at the end of vcadd asks for the sum of all repeats in a register, which is not modelled.
#define VINCI_CCE_SUM(name, type, text)                                                                \
  VINCI_CCE_REDUCE(name, type, text)                                                                   \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src, uint8_t repeat,                   \
                             uint16_t dst_repeat, uint16_t src_block, uint16_t src_repeat, bool all) { \
    if (all)                                                                                           \
      vinci_cce::trap(#name ": the sum in a register is not modelled");                           \
    name(dst, src, repeat, dst_repeat, src_block, src_repeat);                                         \
  }
VINCI_CCE_FLOATS(VINCI_CCE_SUM, vcadd)
#undef VINCI_CCE_SUM

#define VINCI_CCE_REDUCE_INDEX(name, type, text)                                                       \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src, uint8_t repeat,                   \
                             uint16_t dst_repeat, uint16_t src_block, uint16_t src_repeat,             \
                             Order_t order) {                                                          \
    VINCI_CCE(#name, "dst src repeat dst_repeat src_block src_repeat order type=" text, (int64_t)dst,  \
              (int64_t)src, repeat, dst_repeat, src_block, src_repeat, order);                         \
  }
VINCI_CCE_FLOATS(VINCI_CCE_REDUCE_INDEX, vcmax)
VINCI_CCE_FLOATS(VINCI_CCE_REDUCE_INDEX, vcmin)
#undef VINCI_CCE_REDUCE_INDEX

// ---- permutation and sorting ----

#define VINCI_CCE_BROADCAST(name, type, text)                                                          \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src, uint16_t dst_block,               \
                             uint16_t dst_repeat, uint8_t repeat) {                                    \
    VINCI_CCE(#name, "dst src dst_block dst_repeat repeat type=" text, (int64_t)dst, (int64_t)src,     \
              dst_block, dst_repeat, repeat);                                                          \
  }
VINCI_CCE_BROADCAST(vbrcb, uint16_t, "uint16")
VINCI_CCE_BROADCAST(vbrcb, uint32_t, "uint32")
#undef VINCI_CCE_BROADCAST

#define VINCI_CCE_GATHER(name, type, text)                                                             \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ uint32_t *offset, uint32_t src,              \
                             uint16_t dst_repeat, uint8_t repeat) {                                    \
    VINCI_CCE(#name, "dst offset src dst_repeat repeat type=" text, (int64_t)dst, (int64_t)offset,     \
              src, dst_repeat, repeat);                                                                \
  }
VINCI_CCE_GATHER(vgather, uint16_t, "uint16")
VINCI_CCE_GATHER(vgather, uint32_t, "uint32")
#undef VINCI_CCE_GATHER

#define VINCI_CCE_TRANSPOSE(name, type, text)                                                          \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src) {                                 \
    VINCI_CCE(#name, "dst src type=" text, (int64_t)dst, (int64_t)src);                                \
  }
VINCI_CCE_BITS(VINCI_CCE_TRANSPOSE, vtranspose)
#undef VINCI_CCE_TRANSPOSE

// Transpositions of 16 blocks, whose addresses two registers hold. The instruction table has such blocks at
// equal distances, as all libraries put them.
namespace vinci_cce {
static uint64_t address[8][8];
struct blocks {
  int64_t first, step;
};
VINCI_CCE_INLINE blocks blocks_of(ub_addr8_t first) {
  const uint64_t *list = address[first];
  for (int i = 2; i < 16; i++)
    if (list[i] - list[i - 1] != list[1] - list[0])
      trap("a transposition of blocks at unequal distances is not modelled");
  return {(int64_t)list[0], (int64_t)(list[1] - list[0]) / 32};
}
} // namespace vinci_cce
template <typename type> VINCI_CCE_INLINE void set_va_reg_sb(ub_addr8_t which, const type *list) {
  for (int i = 0; i < 8; i++)
    vinci_cce::address[which][i] = (uint64_t)list[i];
}
#define VINCI_CCE_SCATTER(name)                                                                        \
  VINCI_CCE_INLINE void name(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dst_repeat,      \
                             uint16_t src_repeat) {                                                    \
    vinci_cce::blocks to = vinci_cce::blocks_of(dst), from = vinci_cce::blocks_of(src);                \
    VINCI_CCE(#name, "dst src repeat dst_step src_step dst_repeat src_repeat", to.first, from.first,   \
              repeat, to.step, from.step, dst_repeat, src_repeat);                                     \
  }
VINCI_CCE_SCATTER(scatter_vnchwconv_b16)
VINCI_CCE_SCATTER(scatter_vnchwconv_b32)
#undef VINCI_CCE_SCATTER
VINCI_CCE_INLINE void scatter_vnchwconv_b8(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat,
                                           uint16_t dst_repeat, uint16_t src_repeat, bool dst_high,
                                           bool src_high) {
  vinci_cce::blocks to = vinci_cce::blocks_of(dst), from = vinci_cce::blocks_of(src);
  VINCI_CCE("scatter_vnchwconv_b8",
            "dst src repeat dst_step src_step dst_repeat src_repeat dst_high src_high", to.first,
            from.first, repeat, to.step, from.step, dst_repeat, src_repeat, dst_high, src_high);
}

#define VINCI_CCE_COMPACT(name, type, text)                                                            \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src0, __ubuf__ type *src1,             \
                             uint16_t repeat, uint8_t src0_block, uint8_t pattern,                     \
                             uint16_t src0_repeat, uint8_t src1_repeat) {                              \
    VINCI_CCE(#name, "dst src0 src1 repeat src0_block pattern src0_repeat src1_repeat type=" text,     \
              (int64_t)dst, (int64_t)src0, (int64_t)src1, repeat, src0_block, pattern, src0_repeat,    \
              src1_repeat);                                                                            \
  }
VINCI_CCE_COMPACT(vreducev2, uint16_t, "uint16")
VINCI_CCE_COMPACT(vreducev2, uint32_t, "uint32")
#undef VINCI_CCE_COMPACT

#define VINCI_CCE_SORT(name, type, text)                                                               \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src0, __ubuf__ uint32_t *src1,         \
                             uint8_t repeat) {                                                         \
    VINCI_CCE(#name, "dst src0 src1 repeat type=" text, (int64_t)dst, (int64_t)src0, (int64_t)src1,    \
              repeat);                                                                                 \
  }
VINCI_CCE_FLOATS(VINCI_CCE_SORT, vbitsort)
#undef VINCI_CCE_SORT

// Merges 2 to 4 lists: lengths in the four quarters of a word. The configuration has the repeats in bits 7..0,
// a bit for each list in bits 11..8, and in bit 12 whether the first list that ends ends the merge.
#define VINCI_CCE_MERGE(name, type, type_text)                                                         \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src[4], uint64_t lengths,              \
                             uint64_t config) {                                                        \
    VINCI_CCE(#name,                                                                                   \
              "dst src0 src1 src2 src3 repeat length0 length1 length2 length3 lists stop type=" type_text, \
              (int64_t)dst, (int64_t)src[0], (int64_t)src[1], (int64_t)src[2], (int64_t)src[3],        \
              (int64_t)(config & 0xff), (int64_t)(lengths & 0xffff), (int64_t)(lengths >> 16 & 0xffff), \
              (int64_t)(lengths >> 32 & 0xffff), (int64_t)(lengths >> 48),                             \
              __builtin_popcountll(config >> 8 & 15), (int64_t)(config >> 12 & 1));                    \
  }
VINCI_CCE_FLOATS(VINCI_CCE_MERGE, vmrgsort4)
#undef VINCI_CCE_MERGE

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
