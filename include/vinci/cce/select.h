// SPDX-License-Identifier: Apache-2.0
// Comparisons and selections of the vector unit: a part of vinci/cce/vector.h.
#ifndef VINCI_CCE_SELECT_H
#define VINCI_CCE_SELECT_H

// A selection by the comparison mask.
#define VINCI_CCE_SELECT(name, type, text)                                                             \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src0, __ubuf__ type *src1,             \
                             int64_t repeat, int64_t dst_block, int64_t src0_block, int64_t src1_block, \
                             int64_t dst_repeat, int64_t src0_repeat, int64_t src1_repeat) {           \
    VINCI_CCE(#name,                                                                                   \
              "dst src0 src1 repeat:u8 dst_block:u8 src0_block:u8 src1_block:u8 dst_repeat:u8 src0_repeat:u8 " \
              "src1_repeat:u8 mode=register type=" text,                                               \
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
                             int64_t repeat, int64_t dst_block, int64_t src0_block, int64_t src1_block, \
                             int64_t dst_repeat, int64_t src0_repeat, int64_t src1_repeat,             \
                             int64_t mode) {                                                           \
    int64_t from = vinci_cce::cmpmask_from;                                                            \
    if (mode == 0)                                                                                     \
      name(dst, src0, (__ubuf__ type *)src1, repeat, dst_block, src0_block, src1_block, dst_repeat,    \
           src0_repeat, src1_repeat);                                                                  \
    else if (mode == 1)                                                                                \
      VINCI_CCE(#name,                                                                                 \
                "dst src0 src1=0 mask repeat:u8 dst_block:u8 src0_block:u8 src1_block:u8 dst_repeat:u8 src0_repeat:u8 " \
                "src1_repeat:u8 mode=held type=" text,                                                 \
                (int64_t)dst, (int64_t)src0, (int64_t)src1, repeat, dst_block, src0_block, src1_block, \
                dst_repeat, src0_repeat, src1_repeat);                                                 \
    else if (from == vinci_cce::dup_to)                                                                \
      VINCI_CCE(#name,                                                                                 \
                "dst src0 src1 mask repeat:u8 dst_block:u8 src0_block:u8 src1_block:u8 dst_repeat:u8 src0_repeat:u8 " \
                "src1_repeat:u8 mode=tensor type=" text,                                               \
                (int64_t)dst, (int64_t)src0, (int64_t)src1, vinci_cce::dup_value & 0xffffffff, repeat, \
                dst_block, src0_block, src1_block, dst_repeat, src0_repeat, src1_repeat);              \
    else                                                                                               \
      vinci_cce::trap("vsel: the address of its mask does not come from a vector_dup");                \
  }
VINCI_CCE_FLOATS(VINCI_CCE_SELECT_MASK, vsel)
#undef VINCI_CCE_SELECT_MASK

#define VINCI_CCE_COMPARE(name, type, text)                                                            \
  VINCI_CCE_INLINE void name(__ubuf__ uint8_t *dst, __ubuf__ type *src0, __ubuf__ type *src1,          \
                             int64_t repeat, uint8_t, int64_t src0_block, int64_t src1_block, uint8_t, \
                             int64_t src0_repeat, int64_t src1_repeat) {                               \
    VINCI_CCE(#name, "dst src0 src1 repeat:u8 src0_block:u8 src1_block:u8 src0_repeat:u8 src1_repeat:u8 type=" text, \
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
                             int64_t src0_block, int64_t src1_block, uint8_t, uint8_t, uint8_t) {      \
    VINCI_CCE(#name, "src0 src1 src0_block:u8 src1_block:u8 type=" text, (int64_t)src0, (int64_t)src1, \
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
  VINCI_CCE_INLINE void name(__ubuf__ uint8_t *dst, __ubuf__ type *src, type value, int64_t repeat,    \
                             uint8_t, int64_t src_block, uint8_t, int64_t src_repeat) {                \
    VINCI_CCE(#name, "dst src scalar repeat:u8 src_block:u8 src_repeat:u8 type=" text, (int64_t)dst,   \
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

#endif
