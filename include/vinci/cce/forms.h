// SPDX-License-Identifier: Apache-2.0
// Further forms of intrinsics, which the C interface of Ascend C calls.
#ifndef VINCI_CCE_FORMS_H
#define VINCI_CCE_FORMS_H

#include "vinci/cce/control.h"
#include "vinci/cce/transfer.h"
#include "vinci/cce/vector.h"

// ---- vector unit: a target that is wider than the sources, and a last operand of other architectures ----

VINCI_CCE_INLINE void vmla(__ubuf__ float *dst, __ubuf__ half *src0, __ubuf__ half *src1, uint8_t repeat,
                           uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, uint8_t dst_repeat,
                           uint8_t src0_repeat, uint8_t src1_repeat) {
  vmla_f162f32(dst, src0, src1, repeat, dst_block, src0_block, src1_block, dst_repeat, src0_repeat, src1_repeat);
}
VINCI_CCE_INLINE void vaxpy(__ubuf__ float *dst, __ubuf__ half *src, half value, uint8_t repeat,
                            uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat, uint8_t src_repeat) {
  vaxpy_f162f32(dst, src, value, repeat, dst_block, src_block, dst_repeat, src_repeat);
}
#define VINCI_CCE_UPPER(name, dst_type, src_type)                                                      \
  VINCI_CCE_INLINE void name(__ubuf__ dst_type *dst, __ubuf__ src_type *src0, __ubuf__ src_type *src1, \
                             uint8_t repeat, uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, \
                             uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat, bool upper) { \
    if (upper)                                                                                         \
      vinci_cce::trap(#name ": the upper half of a block is not modelled");                            \
    name(dst, src0, src1, repeat, dst_block, src0_block, src1_block, dst_repeat, src0_repeat,          \
         src1_repeat);                                                                                 \
  }
VINCI_CCE_UPPER(vaddreluconv_f162s8, int8_t, half)
VINCI_CCE_UPPER(vaddreluconv_f322f16, half, float)
VINCI_CCE_UPPER(vaddreluconv_s162s8, int8_t, int16_t)
VINCI_CCE_UPPER(vsubreluconv_f162s8, int8_t, half)
VINCI_CCE_UPPER(vsubreluconv_f322f16, half, float)
VINCI_CCE_UPPER(vsubreluconv_s162s8, int8_t, int16_t)
#undef VINCI_CCE_UPPER

// Whether results have a sign is a bit of the scale, so the type of the target tells nothing.
#define VINCI_CCE_HALF(name)                                                                           \
  template <typename type>                                                                             \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ int16_t *src, int64_t repeat,                \
                             int64_t dst_block, int64_t src_block, int64_t dst_repeat,                 \
                             int64_t src_repeat) {                                                     \
    static_assert(sizeof(type) == 1, "results of 8 bits");                                             \
    VINCI_CCE(#name, "dst src repeat:u8 dst_block:u16 src_block:u16 dst_repeat:u8 src_repeat:u8", (int64_t)dst, \
              (int64_t)src, repeat, dst_block, src_block, dst_repeat, src_repeat);                     \
  }
VINCI_CCE_HALF(vconv_deqs162b8h)
VINCI_CCE_HALF(vconv_deqs162b8l)
VINCI_CCE_HALF(vconv_vdeqs162b8h)
VINCI_CCE_HALF(vconv_vdeqs162b8l)
#undef VINCI_CCE_HALF

#define VINCI_CCE_GATHER_BLOCKS(type, text)                                                            \
  VINCI_CCE_INLINE void vgatherb(__ubuf__ type *dst, __ubuf__ uint32_t *offset, uint64_t src,          \
                                 int64_t dst_repeat, int64_t dst_block, int64_t repeat) {              \
    VINCI_CCE("vgatherb", "dst offset src dst_repeat:u16 dst_block:u8 repeat:u8 type=" text, (int64_t)dst, \
              (int64_t)offset, (int64_t)src, dst_repeat, dst_block, repeat);                           \
  }
VINCI_CCE_GATHER_BLOCKS(uint16_t, "uint16")
VINCI_CCE_GATHER_BLOCKS(uint32_t, "uint32")
#undef VINCI_CCE_GATHER_BLOCKS

// Merges with one operand for each part of the configuration.
template <typename type>
VINCI_CCE_INLINE void vmrgsort4(__ubuf__ type *dst, __ubuf__ type *src[4], uint8_t repeat, uint16_t length0,
                                uint16_t length1, uint16_t length2, uint16_t length3, bool stop, uint8_t lists) {
  vmrgsort4(dst, src,
            (uint64_t)length0 | (uint64_t)length1 << 16 | (uint64_t)length2 << 32 | (uint64_t)length3 << 48,
            (uint64_t)repeat | (uint64_t)(lists & 15) << 8 | (uint64_t)stop << 12);
}

// ---- fractals of 512 bytes from device memory ----

#define VINCI_CCE_LOAD_GM(name, space)                                                                 \
  template <typename type>                                                                             \
  VINCI_CCE_INLINE void name(space type *dst, __gm__ type *src, int64_t base, int64_t repeat,          \
                             int64_t src_stride, int64_t dst_gap, uint8_t, int mode) {                 \
    if (mode != inc)                                                                                   \
      vinci_cce::trap(#name ": addresses that go down are not modelled");                              \
    VINCI_CCE(#name, "dst src base:u16 repeat:u8 src_stride:u16 dst_gap:u16", (int64_t)dst, (int64_t)src, base, \
              repeat, src_stride, dst_gap);                                                            \
  }
VINCI_CCE_LOAD_GM(load_gm_to_ca, __ca__)
VINCI_CCE_LOAD_GM(load_gm_to_cb, __cb__)
#undef VINCI_CCE_LOAD_GM

#endif
