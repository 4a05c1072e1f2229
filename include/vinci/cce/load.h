// SPDX-License-Identifier: Apache-2.0
// Loads of L0A and L0B. Names that end in _s4 are for int4, two to a byte; their operands are the same.
#ifndef VINCI_CCE_LOAD_H
#define VINCI_CCE_LOAD_H

#include "vinci/cce/issue.h"
#include "vinci/cce/types.h"

// Fractals of 512 bytes. addr_cal_mode dec (descending sources) is not modelled.
#define VINCI_CCE_LOAD2D(name, text, space, transposes)                                                \
  VINCI_CCE_INLINE void name(space void *dst, __cbuf__ void *src, int64_t base, int64_t repeat,        \
                             int64_t src_stride, int64_t dst_gap, uint8_t, bool transpose,             \
                             addr_cal_mode_t mode) {                                                   \
    if (mode != inc)                                                                                   \
      vinci_cce::trap(#name ": addresses that go down are not modelled");                              \
    if (transpose && !transposes)                                                                      \
      vinci_cce::trap(#name ": only elements of 16 bits can be transposed");                           \
    VINCI_CCE(text, "dst src base:u16 repeat:u8 src_stride:u16 dst_gap:u16 transpose", (int64_t)dst, (int64_t)src, \
              base, repeat, src_stride, dst_gap, transpose);                                           \
  }                                                                                                    \
  VINCI_CCE_INLINE void name(space void *dst, __cbuf__ void *src, int64_t base, int64_t repeat,        \
                             int64_t src_stride, int64_t sid, bool transpose, addr_cal_mode_t mode) {  \
    name(dst, src, base, repeat, src_stride, 0, sid, transpose, mode);                                 \
  }
VINCI_CCE_LOAD2D(load_cbuf_to_ca, "load_cbuf_to_ca", __ca__, true)
VINCI_CCE_LOAD2D(load_cbuf_to_cb, "load_cbuf_to_cb", __cb__, true)
VINCI_CCE_LOAD2D(load_cbuf_to_ca_s4, "load_cbuf_to_ca", __ca__, false)
VINCI_CCE_LOAD2D(load_cbuf_to_cb_s4, "load_cbuf_to_cb", __cb__, false)
#undef VINCI_CCE_LOAD2D
// A sparse right matrix: src has the address of its values in bits 31..0, that of their indices above.
VINCI_CCE_INLINE void load_cbuf_to_cb_sp(__cb__ int8_t *dst, __cbuf__ int8_t *src, int64_t base, int64_t repeat) {
  VINCI_CCE("load_cbuf_to_cb_sp", "dst src index base:u16 repeat:u8", (int64_t)dst, (int64_t)((uint64_t)src & 0xffffffff),
            (int64_t)((uint64_t)src >> 32), base, repeat);
}

// The convolution window of load3d stands in registers.
namespace vinci_cce {
struct window {
  uint16_t l1_h, l1_w;
  uint8_t pad_left, pad_right, pad_top, pad_bottom;
};
static window fmatrix[2]; // of the left and of the right operand

VINCI_CCE_INLINE void set_window(bool right, uint64_t value) {
  fmatrix[right] = {(uint16_t)(value >> 16), (uint16_t)value,       (uint8_t)(value >> 32),
                    (uint8_t)(value >> 40),  (uint8_t)(value >> 48), (uint8_t)(value >> 56)};
}
} // namespace vinci_cce
VINCI_CCE_INLINE void set_fmatrix(uint64_t value) { vinci_cce::set_window(false, value); }
VINCI_CCE_INLINE void set_fmatrix_b(uint64_t value) { vinci_cce::set_window(true, value); }
// Where reads of load3d begin at the start of L1 again, in bytes; what smaller values do is not documented.
VINCI_CCE_INLINE void set_l1_3d_size(uint64_t value) {
  if (value % 32 != 0 || (value != 0 && value < 1024))
    vinci_cce::trap("set_l1_3d_size: a boundary is 0, or a multiple of 32 bytes and at least 1024");
  VINCI_CCE("set_l1_3d_size", "value", (int64_t)value);
}
// The number of repetitions stands in bits 23..16.
VINCI_CCE_INLINE void set_l3d_rpt(uint64_t value) {
  if ((value >> 16 & 0xff) > 1)
    vinci_cce::trap("set_l3d_rpt: repetitions of load3d are not modelled");
}

// The types of elements that these loads tell apart.
#define VINCI_CCE_LOAD_TYPES(family, name, space)                                                      \
  family(name, #name, space, half, "fp16")                                                             \
  family(name, #name, space, bfloat16_t, "bf16")                                                       \
  family(name, #name, space, float, "fp32")                                                            \
  family(name, #name, space, int8_t, "int8")                                                           \
  family(name, #name, space, uint8_t, "uint8")                                                         \
  family(name, #name, space, int32_t, "int32")                                                         \
  family(name, #name, space, uint32_t, "uint32")
// Operands have the widths of their fields: the library shifts packed words and leaves the cut to the call.
#define VINCI_CCE_LOAD3D(name, text, space, type, type_text)                                           \
  VINCI_CCE_INLINE void name(space type *dst, __cbuf__ type *src, uint16_t k_ext, uint16_t m_ext,      \
                             uint16_t k_start, uint16_t m_start, uint8_t stride_w, uint8_t stride_h,   \
                             uint8_t filter_w, uint8_t filter_h, uint8_t dilation_w,                   \
                             uint8_t dilation_h, bool filter_w_high, bool filter_h_high,               \
                             bool transpose, bool right, uint16_t channels) {                          \
    const vinci_cce::window &window = vinci_cce::fmatrix[right];                                       \
    VINCI_CCE(text,                                                                                    \
              "dst src k_ext m_ext k_start m_start stride_w stride_h filter_w filter_h dilation_w " \
              "dilation_h transpose channels l1_w l1_h pad_left pad_right pad_top pad_bottom type=" \
              type_text,                                                                               \
              (int64_t)dst, (int64_t)src, k_ext, m_ext, k_start, m_start, stride_w, stride_h,          \
              filter_w + 256 * filter_w_high, filter_h + 256 * filter_h_high, dilation_w, dilation_h,  \
              transpose, channels, window.l1_w, window.l1_h, window.pad_left, window.pad_right,        \
              window.pad_top, window.pad_bottom);                                                      \
  }
VINCI_CCE_LOAD_TYPES(VINCI_CCE_LOAD3D, img2colv2_cbuf_to_ca, __ca__)
VINCI_CCE_LOAD_TYPES(VINCI_CCE_LOAD3D, img2colv2_cbuf_to_cb, __cb__)
VINCI_CCE_LOAD3D(img2colv2_cbuf_to_ca_s4, "img2colv2_cbuf_to_ca", __ca__, void, "int4")
#undef VINCI_CCE_LOAD3D
// The form with operands in two words.
#define VINCI_CCE_LOAD3D_WORDS(name, space)                                                            \
  template <typename type>                                                                             \
  VINCI_CCE_INLINE void name(space type *, __cbuf__ type *, uint64_t, uint64_t) {                      \
    vinci_cce::trap(#name ": the form with operands in two words is not modelled");                    \
  }
VINCI_CCE_LOAD3D_WORDS(img2colv2_cbuf_to_ca, __ca__)
VINCI_CCE_LOAD3D_WORDS(img2colv2_cbuf_to_cb, __cb__)
#undef VINCI_CCE_LOAD3D_WORDS

// Transposed squares: one fractal of 16-bit, two fractals of 8-bit and 32-bit, four of 4-bit types.
#define VINCI_CCE_LOAD_TRANSPOSE(name, text, space, type, type_text)                                   \
  VINCI_CCE_INLINE void name(space type *dst, __cbuf__ type *src, int64_t base, int64_t repeat,        \
                             int64_t src_stride, int64_t dst_gap, int mode, int64_t frac_gap) {        \
    if (mode != inc)                                                                                   \
      vinci_cce::trap(#name ": addresses that go down are not modelled");                              \
    VINCI_CCE(text, "dst src base:u16 repeat:u8 src_stride:u16 dst_gap:u16 frac_gap:u16 type=" type_text, (int64_t)dst, \
              (int64_t)src, base, repeat, src_stride, dst_gap, frac_gap);                              \
  }
VINCI_CCE_LOAD_TYPES(VINCI_CCE_LOAD_TRANSPOSE, load_cbuf_to_ca_transpose, __ca__)
VINCI_CCE_LOAD_TYPES(VINCI_CCE_LOAD_TRANSPOSE, load_cbuf_to_cb_transpose, __cb__)
VINCI_CCE_LOAD_TRANSPOSE(load_cbuf_to_cb_transpose_s4, "load_cbuf_to_cb_transpose", __cb__, void, "int4")
#undef VINCI_CCE_LOAD_TRANSPOSE
#undef VINCI_CCE_LOAD_TYPES

#endif
