// SPDX-License-Identifier: Apache-2.0
// Register instructions that compute, compare and move lanes, each for the types of its row of registers.def.
#ifndef VINCI_CCE_REGISTER_COMPUTE_H
#define VINCI_CCE_REGISTER_COMPUTE_H

#include "vinci/cce/register_masks.h"

// ---- families: VINCI_CCE_R2(name, type of vectors, of numbers, text of the type) ----

#define VINCI_CCE_R1(name, vector, number, text)                                                       \
  template <typename... modes>                                                                         \
  VINCI_CCE_INLINE void name(vector &dst, const vector &src, const vector_bool &mask, modes... mode) { \
    const int64_t from = src.read();                                                                   \
    const int64_t to = vinci_cce::merges(mode...) ? dst.change() : dst.write();                        \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src type=" text, VINCI_CCE_UNDER(mask, mode...), to, from); \
  }
#define VINCI_CCE_R2(name, vector, number, text)                                                       \
  template <typename... modes>                                                                         \
  VINCI_CCE_INLINE void name(vector &dst, const vector &src0, const vector &src1,                      \
                             const vector_bool &mask, modes... mode) {                                 \
    const int64_t a = src0.read(), b = src1.read();                                                    \
    const int64_t to = vinci_cce::merges(mode...) ? dst.change() : dst.write();                        \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src0 src1 type=" text, VINCI_CCE_UNDER(mask, mode...), to, a, b); \
  }
#define VINCI_CCE_R2_ADDS(name, vector, number, text)                                                  \
  template <typename... modes>                                                                         \
  VINCI_CCE_INLINE void name(vector &dst, const vector &src0, const vector &src1,                      \
                             const vector_bool &mask, modes... mode) {                                 \
    const int64_t a = src0.read(), b = src1.read(), to = dst.change();                                 \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src0 src1 type=" text, VINCI_CCE_UNDER(mask, mode...), to, a, b); \
  }
#define VINCI_CCE_RS(name, vector, number, text)                                                       \
  template <typename... modes>                                                                         \
  VINCI_CCE_INLINE void name(vector &dst, const vector &src, number value, const vector_bool &mask,    \
                             modes... mode) {                                                          \
    const int64_t from = src.read();                                                                   \
    const int64_t to = vinci_cce::merges(mode...) ? dst.change() : dst.write();                        \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src scalar type=" text, VINCI_CCE_UNDER(mask, mode...), to, from, \
              vinci_cce::register_scalar(value));                                                      \
  }
#define VINCI_CCE_RSHIFT(name, vector, number, text)                                                   \
  template <typename... modes>                                                                         \
  VINCI_CCE_INLINE void name(vector &dst, const vector &src, int16_t value, const vector_bool &mask,   \
                             modes... mode) {                                                          \
    const int64_t from = src.read(), to = dst.write();                                                 \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src scalar type=" text, VINCI_CCE_UNDER(mask, mode...), to, from, value); \
  }

namespace vinci_cce {
VINCI_CCE_INLINE int64_t register_scalar(int8_t value) { return value; }
VINCI_CCE_INLINE int64_t register_scalar(uint8_t value) { return value; }
template <typename number> VINCI_CCE_INLINE int64_t register_scalar(number value) { return scalar(value); }
} // namespace vinci_cce

// ---- types ----

#define VINCI_CCE_RTYPES_HALVES(family, name) family(name, vector_f16, half, "fp16") family(name, vector_f32, float, "fp32")
#define VINCI_CCE_RTYPES_REALS(family, name)                                                           \
  VINCI_CCE_RTYPES_HALVES(family, name) family(name, vector_bf16, bfloat16_t, "bf16")
#define VINCI_CCE_RTYPES_WHOLES(family, name)                                                          \
  family(name, vector_s16, int16_t, "int16") family(name, vector_u16, uint16_t, "uint16")              \
  family(name, vector_s32, int32_t, "int32") family(name, vector_u32, uint32_t, "uint32")
#define VINCI_CCE_RTYPES_BYTES(family, name)                                                           \
  family(name, vector_s8, int8_t, "int8") family(name, vector_u8, uint8_t, "uint8")
#define VINCI_CCE_RTYPES_INTEGERS(family, name)                                                        \
  VINCI_CCE_RTYPES_WHOLES(family, name) VINCI_CCE_RTYPES_BYTES(family, name)
#define VINCI_CCE_RTYPES_WIDE(family, name)                                                            \
  VINCI_CCE_RTYPES_REALS(family, name) VINCI_CCE_RTYPES_WHOLES(family, name)
#define VINCI_CCE_RTYPES_ALL(family, name)                                                             \
  VINCI_CCE_RTYPES_REALS(family, name) VINCI_CCE_RTYPES_INTEGERS(family, name)
#define VINCI_CCE_RTYPES_SIGNED(family, name)                                                          \
  VINCI_CCE_RTYPES_HALVES(family, name) family(name, vector_s8, int8_t, "int8")                        \
  family(name, vector_s16, int16_t, "int16") family(name, vector_s32, int32_t, "int32")
#define VINCI_CCE_RTYPES_SUMS(family, name)                                                            \
  VINCI_CCE_RTYPES_HALVES(family, name) VINCI_CCE_RTYPES_WHOLES(family, name)

// ---- lane by lane ----

VINCI_CCE_RTYPES_ALL(VINCI_CCE_R2, vadd)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_R2, vsub)
VINCI_CCE_RTYPES_WIDE(VINCI_CCE_R2, vmul)
VINCI_CCE_RTYPES_HALVES(VINCI_CCE_R2, vdiv) VINCI_CCE_RTYPES_WHOLES(VINCI_CCE_R2, vdiv)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_R2, vmax)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_R2, vmin)
VINCI_CCE_RTYPES_HALVES(VINCI_CCE_R2, vabsdif)
VINCI_CCE_RTYPES_HALVES(VINCI_CCE_R2, vprelu)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_R2, vand)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_R2, vor)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_R2, vxor)
VINCI_CCE_RTYPES_WIDE(VINCI_CCE_R2_ADDS, vmula)
VINCI_CCE_RTYPES_REALS(VINCI_CCE_R2_ADDS, vmadd)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RS, vadds)
VINCI_CCE_RTYPES_WIDE(VINCI_CCE_RS, vmuls)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RS, vmaxs)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RS, vmins)
VINCI_CCE_RTYPES_HALVES(VINCI_CCE_RS, vlrelu)
VINCI_CCE_RTYPES_INTEGERS(VINCI_CCE_RSHIFT, vshls)
VINCI_CCE_RTYPES_INTEGERS(VINCI_CCE_RSHIFT, vshrs)
VINCI_CCE_RTYPES_HALVES(VINCI_CCE_R1, vexp)
VINCI_CCE_RTYPES_HALVES(VINCI_CCE_R1, vln)
VINCI_CCE_RTYPES_HALVES(VINCI_CCE_R1, vsqrt)
VINCI_CCE_RTYPES_SIGNED(VINCI_CCE_R1, vabs)
VINCI_CCE_RTYPES_SIGNED(VINCI_CCE_R1, vneg)
VINCI_CCE_RTYPES_HALVES(VINCI_CCE_R1, vrelu)
VINCI_CCE_R1(vrelu, vector_s32, int32_t, "int32")
VINCI_CCE_RTYPES_ALL(VINCI_CCE_R1, vnot)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_R1, vmov)

// dst = src * value + dst.
#define VINCI_CCE_RAXPY(name, vector, number, text)                                                    \
  template <typename... modes>                                                                         \
  VINCI_CCE_INLINE void name(vector &dst, const vector &src, number value, const vector_bool &mask,    \
                             modes... mode) {                                                          \
    const int64_t from = src.read(), to = dst.change();                                                \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src scalar type=" text, VINCI_CCE_UNDER(mask, mode...), to, from, \
              vinci_cce::register_scalar(value));                                                      \
  }
VINCI_CCE_RTYPES_HALVES(VINCI_CCE_RAXPY, vaxpy)
#undef VINCI_CCE_RAXPY

// Counts of shifts are signed integers of the same width.
#define VINCI_CCE_RSHIFTS(name, vector, counts, text)                                                  \
  template <typename... modes>                                                                         \
  VINCI_CCE_INLINE void name(vector &dst, const vector &src0, const counts &src1,                      \
                             const vector_bool &mask, modes... mode) {                                 \
    const int64_t a = src0.read(), b = src1.read(), to = dst.write();                                  \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src0 src1 type=" text, VINCI_CCE_UNDER(mask, mode...), to, a, b); \
  }
#define VINCI_CCE_RTYPES_SHIFTS(name)                                                                  \
  VINCI_CCE_RSHIFTS(name, vector_s8, vector_s8, "int8") VINCI_CCE_RSHIFTS(name, vector_u8, vector_s8, "uint8")     \
  VINCI_CCE_RSHIFTS(name, vector_s16, vector_s16, "int16") VINCI_CCE_RSHIFTS(name, vector_u16, vector_s16, "uint16") \
  VINCI_CCE_RSHIFTS(name, vector_s32, vector_s32, "int32") VINCI_CCE_RSHIFTS(name, vector_u32, vector_s32, "uint32")
VINCI_CCE_RTYPES_SHIFTS(vshl)
VINCI_CCE_RTYPES_SHIFTS(vshr)
#undef VINCI_CCE_RSHIFTS
#undef VINCI_CCE_RTYPES_SHIFTS

template <typename... parts>
VINCI_CCE_INLINE void vexpdif(vector_f32 &dst, const vector_f32 &src0, const vector_f32 &src1,
                              const vector_bool &mask, parts...) {
  const int64_t a = src0.read(), b = src1.read(), to = dst.write();
  VINCI_CCE("reg_vexpdif", VINCI_CCE_MASKED "dst src0 src1 type=fp32", VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), to, a, b);
}

// ---- whole registers ----

#define VINCI_CCE_RCOPY(name, vector, number, text)                                                    \
  VINCI_CCE_INLINE void name(vector &dst, const vector &src) {                                         \
    const int64_t from = src.read(), to = dst.write();                                                 \
    VINCI_CCE("reg_" #name, "dst src type=" text, to, from);                                           \
  }
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RCOPY, vmov)
#undef VINCI_CCE_RCOPY

#define VINCI_CCE_RSELECT(name, vector, number, text)                                                  \
  VINCI_CCE_INLINE void name(vector &dst, const vector &src0, const vector &src1,                      \
                             const vector_bool &mask) {                                                \
    const int64_t a = src0.read(), b = src1.read(), to = dst.write();                                  \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src0 src1 type=" text,                               \
              VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), to, a, b);                                    \
  }
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RSELECT, vsel)
#undef VINCI_CCE_RSELECT

// A scalar, or a lane, in all lanes.
#define VINCI_CCE_RFILL(name, vector, number, text)                                                    \
  template <typename... modes>                                                                         \
  VINCI_CCE_INLINE void name(vector &dst, number value, const vector_bool &mask, modes... mode) {      \
    const int64_t to = vinci_cce::merges(mode...) ? dst.change() : dst.write();                        \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst scalar type=" text, VINCI_CCE_UNDER(mask, mode...), to, \
              vinci_cce::register_scalar(value));                                                      \
  }                                                                                                    \
  template <typename... modes>                                                                         \
  VINCI_CCE_INLINE void name(vector &dst, const vector &src, const vector_bool &mask, Pos lane, modes... mode) { \
    const int64_t from = src.read();                                                                   \
    const int64_t to = vinci_cce::merges(mode...) ? dst.change() : dst.write();                        \
    VINCI_CCE("reg_vdupr", VINCI_CCE_MASKED "dst src lane type=" text, VINCI_CCE_UNDER(mask, mode...), to, from, \
              (int64_t)lane);                                                                          \
  }
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RFILL, vdup)
#undef VINCI_CCE_RFILL
#define VINCI_CCE_RBROADCAST(name, vector, number, text)                                               \
  VINCI_CCE_INLINE void name(vector &dst, number value) {                                              \
    VINCI_CCE("reg_" #name, "dst scalar type=" text, dst.write(), vinci_cce::register_scalar(value));  \
  }
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RBROADCAST, vbr)
#undef VINCI_CCE_RBROADCAST
#define VINCI_CCE_RINDICES(name, vector, number, text)                                                 \
  VINCI_CCE_INLINE void name(vector &dst, number value, Order order = Order::INC_ORDER) {              \
    VINCI_CCE("reg_" #name, "dst scalar order type=" text, dst.write(), vinci_cce::register_scalar(value), \
              (int64_t)order);                                                                         \
  }
VINCI_CCE_RTYPES_HALVES(VINCI_CCE_RINDICES, vci)
VINCI_CCE_RTYPES_INTEGERS(VINCI_CCE_RINDICES, vci)
#undef VINCI_CCE_RINDICES

// ---- comparisons ----

#define VINCI_CCE_RCOMPARE(relation, vector, number, text)                                             \
  VINCI_CCE_INLINE void vcmp_##relation(vector_bool &dst, const vector &src0, const vector &src1,      \
                                        const vector_bool &mask) {                                     \
    const vector_bool under = mask;                                                                    \
    const int64_t a = src0.read(), b = src1.read(), to = dst.write();                                  \
    VINCI_CCE("reg_vcmp", VINCI_CCE_MASKED "src0 src1 relation=" #relation " pd type=" text,           \
              VINCI_CCE_UNDER(under, Mode::MODE_ZEROING), a, b, to);                                   \
    vinci_cce::take_mask_bits(dst);                                                                     \
  }                                                                                                    \
  VINCI_CCE_INLINE void vcmps_##relation(vector_bool &dst, const vector &src, number value,            \
                                         const vector_bool &mask) {                                    \
    const vector_bool under = mask;                                                                    \
    const int64_t a = src.read(), to = dst.write();                                                    \
    VINCI_CCE("reg_vcmps", VINCI_CCE_MASKED "src scalar relation=" #relation " pd type=" text,         \
              VINCI_CCE_UNDER(under, Mode::MODE_ZEROING), a, vinci_cce::register_scalar(value), to);   \
    vinci_cce::take_mask_bits(dst);                                                                     \
  }
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RCOMPARE, eq)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RCOMPARE, ne)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RCOMPARE, lt)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RCOMPARE, gt)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RCOMPARE, le)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RCOMPARE, ge)
#undef VINCI_CCE_RCOMPARE

// ---- across lanes ----

VINCI_CCE_RTYPES_HALVES(VINCI_CCE_R1, vcadd)
VINCI_CCE_RTYPES_SUMS(VINCI_CCE_R1, vcmax)
VINCI_CCE_RTYPES_SUMS(VINCI_CCE_R1, vcmin)
VINCI_CCE_RTYPES_HALVES(VINCI_CCE_R1, vcgadd)
VINCI_CCE_RTYPES_SUMS(VINCI_CCE_R1, vcgmax)
VINCI_CCE_RTYPES_SUMS(VINCI_CCE_R1, vcgmin)
VINCI_CCE_RTYPES_HALVES(VINCI_CCE_R1, vcpadd)
// Sums of integers have 32 bits.
#define VINCI_CCE_RSUM(name, vector, sums, text)                                                       \
  template <typename... modes>                                                                         \
  VINCI_CCE_INLINE void name(sums &dst, const vector &src, const vector_bool &mask, modes... mode) {   \
    const int64_t from = src.read(), to = dst.write();                                                 \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src type=" text, VINCI_CCE_UNDER(mask, mode...), to, from); \
  }
#define VINCI_CCE_RSUMS(name)                                                                          \
  VINCI_CCE_RSUM(name, vector_s16, vector_s32, "int16") VINCI_CCE_RSUM(name, vector_u16, vector_u32, "uint16") \
  VINCI_CCE_RSUM(name, vector_s32, vector_s32, "int32") VINCI_CCE_RSUM(name, vector_u32, vector_u32, "uint32")
VINCI_CCE_RSUMS(vcadd)
VINCI_CCE_RSUMS(vcgadd)
#undef VINCI_CCE_RSUM
#undef VINCI_CCE_RSUMS

#define VINCI_CCE_RPAIR(name, vector, number, text)                                                    \
  VINCI_CCE_INLINE void name(vector &dst0, vector &dst1, const vector &src0, const vector &src1) {     \
    const int64_t a = src0.read(), b = src1.read(), first = dst0.write(), second = dst1.write();       \
    VINCI_CCE("reg_" #name, "dst0 dst1 src0 src1 type=" text, first, second, a, b);                    \
  }
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RPAIR, vintlv)
VINCI_CCE_RTYPES_ALL(VINCI_CCE_RPAIR, vdintlv)
#undef VINCI_CCE_RPAIR

// A mode behind the part has no effect: all of a half is written, and the other half as the vendor's C interface leaves open.
#define VINCI_CCE_RPART(name, to_vector, vector, text)                                                 \
  template <typename... modes>                                                                         \
  VINCI_CCE_INLINE void name(to_vector &dst, const vector &src, HiloPart part, modes...) {             \
    const int64_t from = src.read(), to = dst.write();                                                 \
    VINCI_CCE("reg_" #name, "dst src part type=" text, to, from, (int64_t)part);                       \
  }
VINCI_CCE_RPART(vpack, vector_u8, vector_u16, "uint16") VINCI_CCE_RPART(vpack, vector_u8, vector_s16, "int16")
VINCI_CCE_RPART(vpack, vector_u16, vector_u32, "uint32") VINCI_CCE_RPART(vpack, vector_u16, vector_s32, "int32")
VINCI_CCE_RPART(vunpack, vector_u16, vector_u8, "uint8") VINCI_CCE_RPART(vunpack, vector_s16, vector_s8, "int8")
VINCI_CCE_RPART(vunpack, vector_u32, vector_u16, "uint16") VINCI_CCE_RPART(vunpack, vector_s32, vector_s16, "int16")
#undef VINCI_CCE_RPART

#define VINCI_CCE_RINDEX(name, vector, by_vector, text)                                                \
  VINCI_CCE_INLINE void name(vector &dst, const vector &src, const by_vector &index) {                 \
    const int64_t from = src.read(), by = index.read(), to = dst.write();                              \
    VINCI_CCE("reg_" #name, "dst src index type=" text, to, from, by);                                 \
  }
VINCI_CCE_RINDEX(vselr, vector_u8, vector_u8, "uint8") VINCI_CCE_RINDEX(vselr, vector_s8, vector_u8, "uint8")
VINCI_CCE_RINDEX(vselr, vector_u16, vector_u16, "uint16") VINCI_CCE_RINDEX(vselr, vector_s16, vector_u16, "uint16")
VINCI_CCE_RINDEX(vselr, vector_f16, vector_u16, "uint16") VINCI_CCE_RINDEX(vselr, vector_bf16, vector_u16, "uint16")
VINCI_CCE_RINDEX(vselr, vector_u32, vector_u32, "uint32") VINCI_CCE_RINDEX(vselr, vector_s32, vector_u32, "uint32")
VINCI_CCE_RINDEX(vselr, vector_f32, vector_u32, "uint32")
#undef VINCI_CCE_RINDEX

// ---- rounding and conversions: words in any order ----

namespace vinci_cce {
struct conversion {
  int64_t round = 0, saturates = 0, part = 0;
  bool merge = false;
  constexpr void take(ROUND value) { round = (int64_t)value; }
  constexpr void take(RoundingSaturation value) { saturates = value == RoundingSaturation::RS_ENABLE; }
  constexpr void take(Part value) { part = (int64_t)value; }
  constexpr void take(Part_T value) { part = (int64_t)value; }
  constexpr void take(Mode value) { merge = merges(value); }
};
// What exceeds the type becomes its end where the word says so. While CTRL[60] is 1, as it is at the start, CTRL[59] says so
// of integers, by 0 (Ascend C, "SetCtrlSpr").
template <typename to> inline int64_t saturates(int64_t word) {
  const uint64_t ctrl = (uint64_t)number(VINCI_CCE_CTRL);
  return std::is_integral_v<to> && (ctrl >> 60 & 1) ? !(ctrl >> 59 & 1) : word;
}
} // namespace vinci_cce

#define VINCI_CCE_RTRUNCATE(name, vector, number, text)                                                \
  template <typename... modes>                                                                         \
  VINCI_CCE_INLINE void name(vector &dst, const vector &src, ROUND round, const vector_bool &mask, modes... mode) { \
    const int64_t from = src.read();                                                                   \
    const int64_t to = vinci_cce::merges(mode...) ? dst.change() : dst.write();                        \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src round type=" text, VINCI_CCE_UNDER(mask, mode...), to, from, \
              (int64_t)round);                                                                         \
  }
VINCI_CCE_RTYPES_REALS(VINCI_CCE_RTRUNCATE, vtrc)
#undef VINCI_CCE_RTRUNCATE

#define VINCI_CCE_RCONVERT(from_vector, text, to_vector, to_text)                                      \
  template <typename... words>                                                                         \
  VINCI_CCE_INLINE void vcvt(to_vector &dst, const from_vector &src, const vector_bool &mask, words... word) { \
    vinci_cce::conversion how;                                                                         \
    (how.take(word), ...);                                                                             \
    const int64_t from = src.read(), to = how.merge ? dst.change() : dst.write();                      \
    VINCI_CCE("reg_vcvt", VINCI_CCE_MASKED "dst src round saturates part to=" to_text " type=" text,   \
              VINCI_CCE_UNDER(mask, how.merge ? Mode::MODE_MERGING : Mode::MODE_ZEROING), to, from,    \
              how.round, vinci_cce::saturates<to_vector::element>(how.saturates), how.part);                                                     \
  }
VINCI_CCE_RCONVERT(vector_s8, "int8", vector_s16, "int16") VINCI_CCE_RCONVERT(vector_s8, "int8", vector_f16, "fp16")
VINCI_CCE_RCONVERT(vector_s8, "int8", vector_s32, "int32") VINCI_CCE_RCONVERT(vector_u8, "uint8", vector_u16, "uint16")
VINCI_CCE_RCONVERT(vector_u8, "uint8", vector_f16, "fp16") VINCI_CCE_RCONVERT(vector_u8, "uint8", vector_u32, "uint32")
VINCI_CCE_RCONVERT(vector_s16, "int16", vector_u8, "uint8") VINCI_CCE_RCONVERT(vector_s16, "int16", vector_f16, "fp16")
VINCI_CCE_RCONVERT(vector_s16, "int16", vector_s32, "int32") VINCI_CCE_RCONVERT(vector_s16, "int16", vector_u32, "uint32")
VINCI_CCE_RCONVERT(vector_s16, "int16", vector_f32, "fp32") VINCI_CCE_RCONVERT(vector_u16, "uint16", vector_u8, "uint8")
VINCI_CCE_RCONVERT(vector_u16, "uint16", vector_u32, "uint32") VINCI_CCE_RCONVERT(vector_f16, "fp16", vector_s8, "int8")
VINCI_CCE_RCONVERT(vector_f16, "fp16", vector_u8, "uint8") VINCI_CCE_RCONVERT(vector_f16, "fp16", vector_s16, "int16")
VINCI_CCE_RCONVERT(vector_f16, "fp16", vector_bf16, "bf16") VINCI_CCE_RCONVERT(vector_f16, "fp16", vector_s32, "int32")
VINCI_CCE_RCONVERT(vector_f16, "fp16", vector_f32, "fp32") VINCI_CCE_RCONVERT(vector_bf16, "bf16", vector_f16, "fp16")
VINCI_CCE_RCONVERT(vector_bf16, "bf16", vector_s32, "int32") VINCI_CCE_RCONVERT(vector_bf16, "bf16", vector_f32, "fp32")
VINCI_CCE_RCONVERT(vector_s32, "int32", vector_u8, "uint8") VINCI_CCE_RCONVERT(vector_s32, "int32", vector_s16, "int16")
VINCI_CCE_RCONVERT(vector_s32, "int32", vector_u16, "uint16") VINCI_CCE_RCONVERT(vector_s32, "int32", vector_f32, "fp32")
VINCI_CCE_RCONVERT(vector_u32, "uint32", vector_u8, "uint8") VINCI_CCE_RCONVERT(vector_u32, "uint32", vector_s16, "int16")
VINCI_CCE_RCONVERT(vector_u32, "uint32", vector_u16, "uint16") VINCI_CCE_RCONVERT(vector_f32, "fp32", vector_s16, "int16")
VINCI_CCE_RCONVERT(vector_f32, "fp32", vector_f16, "fp16") VINCI_CCE_RCONVERT(vector_f32, "fp32", vector_bf16, "bf16")
VINCI_CCE_RCONVERT(vector_f32, "fp32", vector_s32, "int32") VINCI_CCE_RCONVERT(vector_f32, "fp32", vector_s64, "int64")
VINCI_CCE_RCONVERT(vector_s32, "int32", vector_s64, "int64") VINCI_CCE_RCONVERT(vector_s64, "int64", vector_f32, "fp32")
VINCI_CCE_RCONVERT(vector_s64, "int64", vector_s32, "int32")
#undef VINCI_CCE_RCONVERT

#endif
