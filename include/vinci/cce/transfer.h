// SPDX-License-Identifier: Apache-2.0
// Copies between memories; load.h has those into L0A and L0B. The operand sid (stream of the bus) has no effect.
#ifndef VINCI_CCE_TRANSFER_H
#define VINCI_CCE_TRANSFER_H

#include "vinci/cce/issue.h"
#include "vinci/cce/types.h"

#define VINCI_CCE_BURST(name, dst_space, src_space)                                                    \
  VINCI_CCE_INLINE void name(dst_space void *dst, src_space void *src, uint8_t, int64_t n_burst,       \
                             int64_t len_burst, int64_t src_gap, int64_t dst_gap) {                    \
    VINCI_CCE(#name, "dst src n_burst:u16 len_burst:u16 src_gap:u16 dst_gap:u16", (int64_t)dst, (int64_t)src, n_burst, \
              len_burst, src_gap, dst_gap);                                                            \
  }
VINCI_CCE_BURST(copy_gm_to_ubuf, __ubuf__, __gm__)
VINCI_CCE_BURST(copy_ubuf_to_gm, __gm__, __ubuf__)
VINCI_CCE_BURST(copy_ubuf_to_ubuf, __ubuf__, __ubuf__)
VINCI_CCE_BURST(copy_cbuf_to_gm, __gm__, __cbuf__)
#if __NPU_ARCH__ == 3510 // UB of an AIV beside the AIC
VINCI_CCE_INLINE void copy_cbuf_to_ubuf(__ubuf__ void *dst, __cbuf__ void *src, bool sub, int64_t n_burst, int64_t len_burst,
                                        int64_t src_gap, int64_t dst_gap) {
  VINCI_CCE("copy_cbuf_to_ubuf", "dst src n_burst:u16 len_burst:u16 src_gap:u16 dst_gap:u16 sub", (int64_t)dst, (int64_t)src,
            n_burst, len_burst, src_gap, dst_gap, sub);
}
#else
VINCI_CCE_BURST(copy_cbuf_to_ubuf, __ubuf__, __cbuf__)
#endif
VINCI_CCE_BURST(copy_ubuf_to_cbuf, __cbuf__, __ubuf__)
#undef VINCI_CCE_BURST
VINCI_CCE_INLINE void copy_gm_to_cbuf(__cbuf__ void *dst, __gm__ void *src, uint8_t, int64_t n_burst,
                                      int64_t len_burst, int64_t src_gap, int64_t dst_gap,
                                      pad_t pad = PAD_NONE) {
  if (pad != PAD_NONE)
    vinci_cce::trap("copy_gm_to_cbuf: fills beside the data are not modelled");
  VINCI_CCE("copy_gm_to_cbuf", "dst src n_burst:u16 len_burst:u16 src_gap:u16 dst_gap:u16", (int64_t)dst, (int64_t)src,
            n_burst, len_burst, src_gap, dst_gap);
}

// Bursts of bytes, elements of a width.
#define VINCI_CCE_ALIGN(name, dst_space, src_space)                                                    \
  VINCI_CCE_INLINE void name(dst_space void *dst, src_space void *src, uint8_t, int64_t n_burst,       \
                             int64_t len_burst, int64_t left_pad, int64_t right_pad,                   \
                             int64_t src_gap, int64_t dst_gap) {                                       \
    VINCI_CCE(#name, "dst src n_burst:u16 len_burst:u32 left_pad:u8 right_pad:u8 src_gap:u32 dst_gap:u32", (int64_t)dst, \
              (int64_t)src, n_burst, len_burst, left_pad, right_pad, src_gap, dst_gap);                \
  }
VINCI_CCE_ALIGN(copy_gm_to_ubuf_align_b8, __ubuf__, __gm__)
VINCI_CCE_ALIGN(copy_gm_to_ubuf_align_b16, __ubuf__, __gm__)
VINCI_CCE_ALIGN(copy_gm_to_ubuf_align_b32, __ubuf__, __gm__)
VINCI_CCE_ALIGN(copy_ubuf_to_gm_align_b8, __gm__, __ubuf__)
VINCI_CCE_ALIGN(copy_ubuf_to_gm_align_b16, __gm__, __ubuf__)
VINCI_CCE_ALIGN(copy_ubuf_to_gm_align_b32, __gm__, __ubuf__)
#if __NPU_ARCH__ == 3510
VINCI_CCE_ALIGN(copy_gm_to_cbuf_align_b8, __cbuf__, __gm__)
VINCI_CCE_ALIGN(copy_gm_to_cbuf_align_b16, __cbuf__, __gm__)
VINCI_CCE_ALIGN(copy_gm_to_cbuf_align_b32, __cbuf__, __gm__)
#endif
#undef VINCI_CCE_ALIGN

// Matrices of rows into fractals.
#define VINCI_CCE_ND2NZ(name)                                                                          \
  VINCI_CCE_INLINE void name(__cbuf__ void *dst, __gm__ void *src, uint8_t, int64_t nd_num, int64_t n, \
                             int64_t d, int64_t src_nd_stride, int64_t src_d,                          \
                             int64_t dst_c0_stride, int64_t dst_n_stride, int64_t dst_nd_stride) {     \
    VINCI_CCE(#name,                                                                                   \
              "dst src nd_num:u16 n:u16 d:u16 src_nd_stride:u16 src_d:u16 dst_c0_stride:u16 dst_n_stride:u16 dst_nd_stride:u16", \
              (int64_t)dst, (int64_t)src, nd_num, n, d, src_nd_stride, src_d, dst_c0_stride,           \
              dst_n_stride, dst_nd_stride);                                                            \
  }
VINCI_CCE_ND2NZ(copy_gm_to_cbuf_multi_nd2nz_b8)
VINCI_CCE_ND2NZ(copy_gm_to_cbuf_multi_nd2nz_b16)
VINCI_CCE_ND2NZ(copy_gm_to_cbuf_multi_nd2nz_b32s)
#undef VINCI_CCE_ND2NZ

// Fills: the number of runs in bits 15..0 of the word, blocks of a run in bits 31..16, then the gap. The instruction
// has 32 bits of a value: elements of 16 bits twice.
namespace vinci_cce {
template <typename number> VINCI_CCE_INLINE int64_t fill_word(number value) {
  return sizeof value == 2 ? (scalar(value) & 0xffff) * 0x10001 : scalar(value) & 0xffffffff;
}
} // namespace vinci_cce
#define VINCI_CCE_FILL(name, text, space)                                                              \
  template <typename type, typename number>                                                            \
  VINCI_CCE_INLINE void name(space type *dst, int64_t config, number value) {                          \
    VINCI_CCE(text, "dst blocks repeat dst_gap value", (int64_t)dst, config >> 16 & 0x7fff,            \
              config & 0x7fff, config >> 32 & 0x7fff, vinci_cce::fill_word(value));                    \
  }
// The last part of some names is the type of the value.
#define VINCI_CCE_FILLS(name, space)                                                                   \
  VINCI_CCE_FILL(name, #name, space)                                                                   \
  VINCI_CCE_FILL(name##_bf16, #name, space)                                                            \
  VINCI_CCE_FILL(name##_h, #name, space)                                                               \
  VINCI_CCE_FILL(name##_ui, #name, space)
VINCI_CCE_FILLS(create_ca_matrix, __ca__)
VINCI_CCE_FILLS(create_cb_matrix, __cb__)
VINCI_CCE_FILLS(create_cbuf_matrix, __cbuf__)
#undef VINCI_CCE_FILLS
#undef VINCI_CCE_FILL

// Tables: biases, parameters of the fixpipe. The instruction table has blocks of 32 bytes between runs. Here runs
// and the gaps of their target have units of their own; the gaps of parameters go from start to start (in 32 bytes
// for the source).
namespace vinci_cce {
#if __NPU_ARCH__ == 3510
enum : int64_t { BIAS_BLOCKS = 1, PARAMETER_BLOCKS = 2 };
#else
enum : int64_t { BIAS_BLOCKS = 2, PARAMETER_BLOCKS = 4 };
#endif
} // namespace vinci_cce
template <typename source>
VINCI_CCE_INLINE void copy_cbuf_to_bt(uint64_t dst, __cbuf__ source *src, int64_t convert, int64_t n_burst,
                                      int64_t len_burst, int64_t src_gap, int64_t dst_gap) {
  constexpr int64_t unit = vinci_cce::BIAS_BLOCKS;
  VINCI_CCE("copy_cbuf_to_bt", "dst src conv:u16 n_burst:u16 len_burst:u17 src_gap:u16 dst_gap:u17", (int64_t)dst, (int64_t)src,
            convert, n_burst, unit * len_burst, src_gap, unit * dst_gap);
}
VINCI_CCE_INLINE void copy_cbuf_to_fbuf(__fbuf__ void *dst, __cbuf__ void *src, int64_t n_burst,
                                        int64_t len_burst, int64_t src_gap, int64_t dst_gap) {
  constexpr int64_t unit = vinci_cce::PARAMETER_BLOCKS;
  if (src_gap >> 16 != 0 || dst_gap >> 16 != 0)
    vinci_cce::trap("copy_cbuf_to_fbuf: a gap is wider than its field of 16 bits");
  VINCI_CCE("copy_cbuf_to_fbuf", "dst src n_burst:u16 len_burst:u18 src_gap dst_gap", (int64_t)dst, (int64_t)src,
            n_burst, unit * len_burst, n_burst > 1 ? src_gap - unit * len_burst : 0,
            n_burst > 1 ? unit * (dst_gap - len_burst) : 0);
}

// Matrices that the fixpipe writes to GM: their number, and strides from one to the next.
namespace vinci_cce {
static uint64_t nd_para = 1; // number, source and destination strides
} // namespace vinci_cce
VINCI_CCE_INLINE void set_nd_para(uint64_t value) { vinci_cce::nd_para = value; }

#define VINCI_CCE_FIX_OPERANDS                                                                         \
  "dst src n:u16 m:u16 dst_stride:u32 src_stride:u16 unit_flag:u8 quant:quant relu:u8 channel_split "   \
  "nz2nd nd_num "                                                                                      \
  "src_nd_stride dst_nd_stride type="
#define VINCI_CCE_FIX(name, dst_space, src_type, type_text)                                            \
  VINCI_CCE_INLINE void name(dst_space void *dst, __cc__ src_type *src, uint8_t, int64_t n, int64_t m, \
                             int64_t dst_stride, int64_t src_stride, int64_t unit_flag,                \
                             uint64_t quant, int64_t relu, bool channel_split, bool nz2nd) {           \
    VINCI_CCE(#name, VINCI_CCE_FIX_OPERANDS type_text, (int64_t)dst, (int64_t)src, n, m, dst_stride,   \
              src_stride, unit_flag, (int64_t)quant, relu, channel_split, nz2nd,                       \
              nz2nd ? (int64_t)(vinci_cce::nd_para & 0xffff) : 1,                                      \
              nz2nd ? (int64_t)(vinci_cce::nd_para >> 16 & 0xffff) : 0,                                \
              nz2nd ? (int64_t)(vinci_cce::nd_para >> 32 & 0xffff) : 0);                               \
  }
VINCI_CCE_FIX(copy_matrix_cc_to_gm, __gm__, float, "fp32")
VINCI_CCE_FIX(copy_matrix_cc_to_gm, __gm__, int32_t, "int32")
VINCI_CCE_FIX(copy_matrix_cc_to_cbuf, __cbuf__, float, "fp32")
VINCI_CCE_FIX(copy_matrix_cc_to_cbuf, __cbuf__, int32_t, "int32")
#undef VINCI_CCE_FIX
#undef VINCI_CCE_FIX_OPERANDS

#endif
