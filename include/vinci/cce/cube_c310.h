// SPDX-License-Identifier: Apache-2.0
// What feeds and empties the matrix unit of dav-c310: loads of L0A and L0B by columns of fractals, copies into L1, the
// fixpipe, and products of numbers of 8 and 4 bits with a point, with scales too. Forms and units are those of the open headers of Ascend C.
#ifndef VINCI_CCE_CUBE_C310_H
#define VINCI_CCE_CUBE_C310_H

#include "vinci/cce/cube.h"
#include "vinci/cce/load.h"
#include "vinci/cce/transfer.h"
#include "vinci/cce/transfer_c310.h"
#include "vinci/cce/types_c310.h"

// ---- L1 to L0A and L0B ----

#define VINCI_CCE_2DV2(name, text)                                                                     \
  VINCI_CCE(name "_2dv2", "dst src m_start:u16 k_start:u16 m_step:u8 k_step:u8 src_stride dst_stride:u16 transpose type=" text, \
            (int64_t)dst, (int64_t)src, m_start, k_start, m_step, k_step, src_stride, dst_stride, transposed)
// A flag of another type than addr_cal_mode_t tells this form from that of fractals in a row (load.h).
#define VINCI_CCE_LOAD2DV2(name, text, space, packed)                                                  \
  template <typename number, typename flag, std::enable_if_t<std::is_integral_v<flag>, int> = 0>       \
  VINCI_CCE_INLINE void name(space number *dst, __cbuf__ number *src, int64_t m_start, int64_t k_start, int64_t m_step, \
                             int64_t k_step, int64_t src_stride, int64_t dst_stride, flag transpose) { \
    const bool transposed = transpose != 0;                                                            \
    constexpr int64_t block = packed ? 64 : 32 / sizeof(number);                                       \
    if (src_stride < 0)                                                                                \
      vinci_cce::trap(#name ": strides that go down are not modelled");                                \
    if (transposed && (m_step * 16 % block != 0 || k_step * block % 16 != 0))                          \
      vinci_cce::trap(#name ": m_step and k_step have to make whole squares of fractals to be transposed");  \
    if constexpr (packed)                                                                              \
      VINCI_CCE_2DV2(text, "fp4_e2m1");                                                                \
    else if constexpr (sizeof(number) == 1)                                                            \
      VINCI_CCE_2DV2(text, "uint8");                                                                   \
    else if constexpr (sizeof(number) == 2)                                                            \
      VINCI_CCE_2DV2(text, "uint16");                                                                  \
    else                                                                                               \
      VINCI_CCE_2DV2(text, "uint32");                                                                  \
  }                                                                                                    \
  template <typename number>                                                                           \
  VINCI_CCE_INLINE void name(space number *dst, __cbuf__ number *src, uint64_t steps, uint64_t strides, bool transpose) { \
    name(dst, src, (int64_t)(steps & 0xffff), (int64_t)(steps >> 16 & 0xffff), (int64_t)(steps >> 32 & 0xff), \
         (int64_t)(steps >> 40 & 0xff), (int64_t)(int16_t)strides, (int64_t)(strides >> 16 & 0xffff), transpose); \
  }
VINCI_CCE_LOAD2DV2(load_cbuf_to_ca, "load_cbuf_to_ca", __ca__, false)
VINCI_CCE_LOAD2DV2(load_cbuf_to_cb, "load_cbuf_to_cb", __cb__, false)
VINCI_CCE_LOAD2DV2(load_cbuf_to_ca_s4, "load_cbuf_to_ca", __ca__, true)
VINCI_CCE_LOAD2DV2(load_cbuf_to_cb_s4, "load_cbuf_to_cb", __cb__, true)
#undef VINCI_CCE_LOAD2DV2
#undef VINCI_CCE_2DV2

// Scales of blocks of 32 values; dst is an address in the buffer of scales, which is that of the values / 16.
#define VINCI_CCE_LOAD_SCALES(name)                                                                    \
  VINCI_CCE_INLINE void name(uint64_t dst, __cbuf__ void *src, int64_t x_start, int64_t y_start, int64_t x_step, \
                             int64_t y_step, int64_t src_stride, int64_t dst_stride) {                 \
    VINCI_CCE(#name, "dst src x_start:u16 y_start:u16 x_step:u8 y_step:u8 src_stride:u16 dst_stride:u16", (int64_t)dst, \
              (int64_t)src, x_start, y_start, x_step, y_step, src_stride, dst_stride);                 \
  }
VINCI_CCE_LOAD_SCALES(load_cbuf_to_ca_mx)
VINCI_CCE_LOAD_SCALES(load_cbuf_to_cb_mx)
#undef VINCI_CCE_LOAD_SCALES

// Squares by rows of fractals (load.h), where start and stride count fractals.
template <typename number>
VINCI_CCE_INLINE void load_cbuf_to_cb_transpose(__cb__ number *dst, __cbuf__ number *src, int64_t start, int64_t repeat,
                                                int64_t src_stride, int64_t dst_gap, int mode, int64_t frac_gap,
                                                int64_t src_frac_gap) {
  constexpr int64_t square = sizeof(number) == 2 ? 1 : 2;
  if (src_frac_gap != 0 || start % square != 0 || src_stride % square != 0)
    vinci_cce::trap("load_cbuf_to_cb_transpose: squares whose fractals do not lie together are not modelled");
  load_cbuf_to_cb_transpose(dst, src, start / square, repeat, src_stride / square, dst_gap, mode, frac_gap);
}

// ---- GM to L1 ----

namespace vinci_cce {
// Number of matrices, then strides in L1 of rows, of columns of blocks and of matrices, 16 bits each, in blocks of 32 bytes.
static uint64_t nz_para = 1 | UINT64_C(1) << 16;
static int64_t fractal_stride; // in GM, of load_gm_to_cbuf_2dv2

template <typename number> VINCI_CCE_INLINE int64_t elements_of(int64_t bytes) {
  if (bytes % (int64_t)sizeof(number) != 0)
    trap("a stride in GM is not a whole number of elements");
  return bytes / (int64_t)sizeof(number);
}
VINCI_CCE_INLINE int64_t nz_field(int first) { return (int64_t)(nz_para >> first & 0xffff); }
} // namespace vinci_cce
VINCI_CCE_INLINE void set_mte2_nz_para(uint64_t value) { vinci_cce::nz_para = value; }
VINCI_CCE_INLINE void set_mte2_src_para(uint64_t value) { vinci_cce::fractal_stride = (int64_t)(value & 0xffff); }

// Strides of rows and of matrices in GM are bytes.
#define VINCI_CCE_TO_NZ(name, number_of, src_matrix, dst_matrix, text)                                 \
  VINCI_CCE(#name, "dst src " number_of " n d " src_matrix " src_d dst_c0_stride dst_n_stride " dst_matrix " type=" text, \
            (int64_t)dst, (int64_t)src, vinci_cce::nz_field(0), n, d, vinci_cce::elements_of<number>(matrix_bytes), \
            vinci_cce::elements_of<number>(row_bytes), vinci_cce::nz_field(32), vinci_cce::nz_field(16), \
            vinci_cce::nz_field(48) * 32 / (int64_t)sizeof(number))
#define VINCI_CCE_TO_NZ_TYPES(name, number_of, src_matrix, dst_matrix)                                 \
  template <typename number>                                                                           \
  VINCI_CCE_INLINE void name(__cbuf__ number *dst, __gm__ number *from, uint8_t, int64_t row_bytes, uint8_t cache, int64_t n, \
                             int64_t d, int64_t matrix_bytes, bool few_channels) {                     \
    __gm__ number *src = vinci_cce::by_cache(from, cache);                                             \
    if (few_channels)                                                                                  \
      vinci_cce::trap(#name ": blocks of at most four channels are not modelled");                     \
    if constexpr (sizeof(number) == 1)                                                                 \
      VINCI_CCE_TO_NZ(name, number_of, src_matrix, dst_matrix, "uint8");                               \
    else if constexpr (sizeof(number) == 2)                                                            \
      VINCI_CCE_TO_NZ(name, number_of, src_matrix, dst_matrix, "uint16");                              \
    else                                                                                               \
      VINCI_CCE_TO_NZ(name, number_of, src_matrix, dst_matrix, "uint32");                              \
  }
VINCI_CCE_TO_NZ_TYPES(copy_gm_to_cbuf_multi_nd2nz, "nd_num", "src_nd_stride", "dst_nd_stride")
VINCI_CCE_TO_NZ_TYPES(copy_gm_to_cbuf_multi_dn2nz, "dn_num", "src_dn_stride", "dst_nz_stride")
#undef VINCI_CCE_TO_NZ_TYPES
#undef VINCI_CCE_TO_NZ

// Columns of fractals, as they are: runs of blocks.
template <typename number>
VINCI_CCE_INLINE void load_gm_to_cbuf_2dv2(__cbuf__ number *dst, __gm__ number *src, int64_t m_start, int64_t k_start,
                                           int64_t dst_stride, int64_t m_step, int64_t k_step, uint8_t sid, uint8_t, uint8_t cache) {
  const int64_t stride = vinci_cce::fractal_stride, blocks = 16;
  if (k_step > 1 && (stride < m_step || dst_stride < m_step))
    vinci_cce::trap("load_gm_to_cbuf_2dv2: columns that overlap are not modelled");
  __gm__ uint8_t *from = vinci_cce::by_cache((__gm__ uint8_t *)src + (k_start * stride + m_start) * 512, cache);
  if (m_step > 0 && k_step > 0)
    copy_gm_to_cbuf((__cbuf__ void *)dst, (__gm__ void *)from, sid, k_step, m_step * blocks,
                    k_step > 1 ? (stride - m_step) * blocks : 0, k_step > 1 ? (dst_stride - m_step) * blocks : 0);
}

// ---- L0C to GM, L1 and UB ----

namespace vinci_cce {
static uint64_t loop3_para = 1; // matrices; their distance in L0C in 16 accumulators, and at the target in elements
static uint64_t channel_para = UINT64_C(1) << 48;

// Between columns of blocks, in elements, as the instruction table counts: in blocks of 32 bytes.
VINCI_CCE_INLINE int64_t fix_stride(int64_t elements, int64_t bytes, bool keeps_blocks) {
  if (keeps_blocks && elements * bytes % 32 != 0)
    trap("the fixpipe writes columns of blocks at multiples of 32 bytes");
  return keeps_blocks ? elements * bytes / 32 : elements;
}
// Of an element of the result; where the pointer has no type, the conversion tells.
template <typename number> VINCI_CCE_INLINE int64_t fix_bytes(uint64_t quant) {
  if constexpr (!std::is_void_v<number>)
    return sizeof(number);
  return quant == NoQuant ? 4 : quant == F322F16 || quant == VDEQF16 || quant == DEQF16 || quant == F322BF16 ? 2 : 1;
}
VINCI_CCE_INLINE int64_t fix_matrices(bool several) { return several ? (int64_t)(loop3_para & 0xffff) : 1; }
VINCI_CCE_INLINE int64_t fix_source(bool several) {
  const int64_t rows = (int64_t)(loop3_para >> 16 & 0xffff);
  if (several && fix_matrices(true) > 1 && rows % 16 != 0)
    trap("matrices of the fixpipe that do not begin at fractals are not modelled");
  return several ? rows / 16 : 0;
}
VINCI_CCE_INLINE int64_t fix_target(bool several) { return several ? (int64_t)(loop3_para >> 32) : 0; }
VINCI_CCE_INLINE void fix_plain(bool nz2dn, int64_t others) {
  if (nz2dn && channel_para >> 48 > 1)
    trap("the fixpipe with a distance between columns of a block is not modelled");
  if (others != 0)
    trap("what the fixpipe does behind the first conversion is not modelled");
}
} // namespace vinci_cce
VINCI_CCE_INLINE void set_loop3_para(uint64_t value) { vinci_cce::loop3_para = value; }
VINCI_CCE_INLINE void set_channel_para(uint64_t value) { vinci_cce::channel_para = value; }

#define VINCI_CCE_FIX_NAMES                                                                            \
  "dst src n:u16 m:u16 dst_stride:u32 src_stride:u16 unit_flag:u8 quant:quant relu:u8 channel_split nz2nd nz2dn nd_num " \
  "src_nd_stride dst_nd_stride"
#define VINCI_CCE_FIX_VALUES                                                                           \
  (int64_t)dst, (int64_t)src, n, m, vinci_cce::fix_stride(dst_stride, vinci_cce::fix_bytes<number>(quant), !nz2nd && !nz2dn), src_stride, unit_flag, \
      (int64_t)quant, relu, channel_split, nz2nd, nz2dn, vinci_cce::fix_matrices(nz2nd || nz2dn),       \
      vinci_cce::fix_source(nz2nd || nz2dn), vinci_cce::fix_target(nz2nd || nz2dn)
// The conversion behind, its activation, limits, an operand of each element, and broadcasts: none here.
#define VINCI_CCE_FIX_BEHIND                                                                           \
  uint64_t post, int64_t relu_post, bool clip, bool clip_post, int64_t element, bool a, bool b, bool c, bool d, bool e
#define VINCI_CCE_FIX_OTHERS (int64_t)post + relu_post + clip + clip_post + element + a + b + c + d + e
#define VINCI_CCE_FIX_C310(name, space, accumulator, text, place)                                      \
  template <typename number>                                                                           \
  VINCI_CCE_INLINE void name(space number *to, __cc__ accumulator *src, uint8_t, int64_t n, int64_t m, int64_t dst_stride, \
                             int64_t src_stride, uint8_t cache, uint8_t, int64_t unit_flag, uint64_t quant, int64_t relu, \
                             bool channel_split, bool nz2nd, VINCI_CCE_FIX_BEHIND, bool nz2dn) {       \
    space number *dst = place;                                                                         \
    vinci_cce::fix_plain(nz2dn, VINCI_CCE_FIX_OTHERS);                                                 \
    VINCI_CCE(#name, VINCI_CCE_FIX_NAMES " type=" text, VINCI_CCE_FIX_VALUES);                         \
  }
#define VINCI_CCE_FIX_TO_UB(accumulator, text)                                                         \
  template <typename number>                                                                           \
  VINCI_CCE_INLINE void copy_matrix_cc_to_ub(__ubuf__ number *dst, __cc__ accumulator *src, uint8_t, int64_t n, int64_t m, \
                                             int64_t dst_stride, int64_t src_stride, int64_t split, int64_t sub, uint8_t, \
                                             int64_t unit_flag, uint64_t quant, int64_t relu, bool channel_split, bool nz2nd, \
                                             VINCI_CCE_FIX_BEHIND, bool nz2dn) {                       \
    vinci_cce::fix_plain(nz2dn, VINCI_CCE_FIX_OTHERS);                                                 \
    VINCI_CCE("copy_matrix_cc_to_ub", VINCI_CCE_FIX_NAMES " split sub type=" text, VINCI_CCE_FIX_VALUES, split, sub); \
  }
VINCI_CCE_FIX_C310(copy_matrix_cc_to_gm, __gm__, float, "fp32", vinci_cce::by_cache(to, cache))
VINCI_CCE_FIX_C310(copy_matrix_cc_to_gm, __gm__, int32_t, "int32", vinci_cce::by_cache(to, cache))
VINCI_CCE_FIX_C310(copy_matrix_cc_to_cbuf, __cbuf__, float, "fp32", to)
VINCI_CCE_FIX_C310(copy_matrix_cc_to_cbuf, __cbuf__, int32_t, "int32", to)
VINCI_CCE_FIX_TO_UB(float, "fp32")
VINCI_CCE_FIX_TO_UB(int32_t, "int32")
#undef VINCI_CCE_FIX_TO_UB
#undef VINCI_CCE_FIX_C310
#undef VINCI_CCE_FIX_OTHERS
#undef VINCI_CCE_FIX_BEHIND
#undef VINCI_CCE_FIX_VALUES
#undef VINCI_CCE_FIX_NAMES

// ---- products ----

namespace vinci_cce {
VINCI_CCE_INLINE void mad_mx_shape(int64_t m, int64_t k, bool gemv) {
  if (k % 64 != 0)
    trap("mad_mx: k has to be a multiple of 64");
  if (m == 1 && gemv)
    trap("mad_mx: one row needs disableGemv here: where GEMV has its scales is not documented");
}
} // namespace vinci_cce

// The operands one by one, or in fields of a word.
#define VINCI_CCE_MAD(name, a_type, b_type, text, check)                                               \
  VINCI_CCE_INLINE void name(__cc__ float *c, __ca__ a_type *a, __cb__ b_type *b, int64_t m, int64_t k, int64_t n, \
                             int64_t unit_flag, bool no_gemv, bool bias_from_table, bool init) {       \
    const int64_t address = (int64_t)c & 0xffffffff, gemv = !no_gemv;                                  \
    check;                                                                                             \
    if (bias_from_table)                                                                               \
      VINCI_CCE(#name, "c a b m:u16 k:u16 n:u16 unit_flag:u8 gemv source=bt bias init=0 " text, address, (int64_t)a, \
                (int64_t)b, m, k, n, unit_flag, gemv, (int64_t)((uint64_t)c >> 32));                   \
    else                                                                                               \
      VINCI_CCE(#name, "c a b m:u16 k:u16 n:u16 unit_flag:u8 gemv init " text, (int64_t)c, (int64_t)a, (int64_t)b, m, k, n, \
                unit_flag, gemv, init);                                                                \
  }
#define VINCI_CCE_MAD_WORD(name)                                                                       \
  template <typename c_type, typename a_type, typename b_type>                                         \
  VINCI_CCE_INLINE void name(__cc__ c_type *c, __ca__ a_type *a, __cb__ b_type *b, uint64_t word) {    \
    const auto field = [word](int first, int bits) { return (int64_t)(word >> first & ((UINT64_C(1) << bits) - 1)); }; \
    name(c, a, b, field(0, 12), field(12, 12), field(24, 12), field(55, 2), field(61, 1) != 0, field(62, 1) != 0, \
         field(63, 1) != 0);                                                                           \
  }
#define VINCI_CCE_MAD_PAIRS(name, one, two, text_one, text_two, check)                                 \
  VINCI_CCE_MAD(name, one, one, "type=" text_one, check)                                               \
  VINCI_CCE_MAD(name, one, two, "b_type=" text_two " type=" text_one, check)                           \
  VINCI_CCE_MAD(name, two, one, "b_type=" text_one " type=" text_two, check)                           \
  VINCI_CCE_MAD(name, two, two, "type=" text_two, check)
VINCI_CCE_MAD_PAIRS(mad, float8_e4m3_t, float8_e5m2_t, "fp8_e4m3", "fp8_e5m2", )
VINCI_CCE_MAD_PAIRS(mad_mx, float8_e4m3_t, float8_e5m2_t, "fp8_e4m3", "fp8_e5m2", vinci_cce::mad_mx_shape(m, k, gemv))
VINCI_CCE_MAD_PAIRS(mad_mx, float4_e2m1x2_t, float4_e1m2x2_t, "fp4_e2m1", "fp4_e1m2", vinci_cce::mad_mx_shape(m, k, gemv))
VINCI_CCE_MAD_WORD(mad)
VINCI_CCE_MAD_WORD(mad_mx)
#undef VINCI_CCE_MAD_PAIRS
#undef VINCI_CCE_MAD_WORD
#undef VINCI_CCE_MAD

#endif
