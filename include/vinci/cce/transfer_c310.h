// SPDX-License-Identifier: Apache-2.0
// Copies between GM and UB of dav-c310: runs of bytes whose strides go from start to start, in two loops around.
// A turn of the loops is a copy of its own here; on a board all turns are one instruction.
#ifndef VINCI_CCE_TRANSFER_C310_H
#define VINCI_CCE_TRANSFER_C310_H

#include "vinci/cce/transfer.h"

namespace vinci_cce {
// The operand of copies that says what the cache does: 4 keeps what passes out of L2. That data should stay (2) has no model.
template <typename number> VINCI_CCE_INLINE __gm__ number *by_cache(__gm__ number *at, uint8_t mode) {
  return mode == 4 ? (__gm__ number *)((uint64_t)at | VINCI_CCE_PASSES_L2) : at;
}

// Bytes of a number; 1 where the pointer has no type.
template <typename number> constexpr int64_t width_of = sizeof(number);
template <> constexpr int64_t width_of<void> = 1;

// Registers of the loops: turns of the inner one in bits 20..0 and of the outer one in bits 41..21; of each loop the
// stride in GM in bits 39..0, in UB in bits 60..40, in bytes.
struct copy_loops {
  uint64_t turns = 1 | UINT64_C(1) << 21, inner = 0, outer = 0;
};
static copy_loops loops_in, loops_out;

template <typename function> VINCI_CCE_INLINE void each_turn(const copy_loops &loops, const function &copy) {
  const uint64_t low = (UINT64_C(1) << 40) - 1, field = (UINT64_C(1) << 21) - 1;
  for (uint64_t i = 0; i < (loops.turns >> 21 & field); i++)
    for (uint64_t j = 0; j < (loops.turns & field); j++)
      copy((int64_t)(i * (loops.outer & low) + j * (loops.inner & low)),
           (int64_t)(i * (loops.outer >> 40 & field) + j * (loops.inner >> 40 & field)));
}

// Copies for n_burst runs in GM: one, or one for each run where runs overlap, or lie farther apart than the field of the
// instruction here counts (the chip takes distances from -len_burst to 2^40, documentation of DataCopyPad).
VINCI_CCE_INLINE int64_t copies_of(int64_t n_burst, int64_t gap) {
  return n_burst > 1 && (gap < 0 || gap > (int64_t)UINT32_MAX) ? n_burst : 1;
}

// Blocks of 32 bytes between runs in UB.
VINCI_CCE_INLINE int64_t block_gap(int64_t n_burst, int64_t bytes, int64_t stride) {
  const int64_t rounded = (bytes + 31) / 32 * 32;
  if (n_burst <= 1)
    return 0;
  if (stride < rounded || stride % 32 != 0)
    trap("runs that do not begin at blocks of their own are not modelled");
  return (stride - rounded) / 32;
}
} // namespace vinci_cce

VINCI_CCE_INLINE void set_loop_size_outtoub(uint64_t turns) { vinci_cce::loops_in.turns = turns; }
VINCI_CCE_INLINE void set_loop1_stride_outtoub(uint64_t strides) { vinci_cce::loops_in.inner = strides; }
VINCI_CCE_INLINE void set_loop2_stride_outtoub(uint64_t strides) { vinci_cce::loops_in.outer = strides; }
VINCI_CCE_INLINE void set_loop_size_ubtoout(uint64_t turns) { vinci_cce::loops_out.turns = turns; }
VINCI_CCE_INLINE void set_loop1_stride_ubtoout(uint64_t strides) { vinci_cce::loops_out.inner = strides; }
VINCI_CCE_INLINE void set_loop2_stride_ubtoout(uint64_t strides) { vinci_cce::loops_out.outer = strides; }

// Fills are numbers of the type; `filled` says that they are the number of set_mov_pad_val. L1 has no loops around.
#define VINCI_CCE_ALIGN_V2(name, space, loops)                                                         \
  template <typename number>                                                                           \
  VINCI_CCE_INLINE void name##_v2(space number *dst, __gm__ number *src, uint8_t, int64_t n_burst, int64_t len_burst, \
                                  int64_t left_pad, int64_t right_pad, bool filled, uint8_t cache, int64_t src_stride, \
                                  int64_t dst_stride) {                                                \
    if (!filled && left_pad + right_pad > 0)                                                           \
      vinci_cce::trap(#name "_v2: fills with numbers of the source are not modelled");                 \
    const int64_t bytes = len_burst + (left_pad + right_pad) * vinci_cce::width_of<number>;            \
    const int64_t dst_gap = vinci_cce::block_gap(n_burst, bytes, dst_stride);                          \
    const int64_t gap = n_burst > 1 ? src_stride - len_burst : 0, copies = vinci_cce::copies_of(n_burst, gap); \
    const int64_t runs = n_burst / copies, src_gap = copies > 1 ? 0 : gap;                             \
    vinci_cce::each_turn(loops, [=](int64_t gm, int64_t in) {                                          \
      for (int64_t i = 0; i < copies; i++) {                                                           \
        space uint8_t *to = (space uint8_t *)dst + in + i * dst_stride;                                \
        __gm__ uint8_t *from = vinci_cce::by_cache((__gm__ uint8_t *)src + gm + i * src_stride, cache); \
        if constexpr (vinci_cce::width_of<number> == 1)                                                \
          name##_b8(to, from, 0, runs, len_burst, left_pad, right_pad, src_gap, dst_gap);              \
        else if constexpr (vinci_cce::width_of<number> == 2)                                           \
          name##_b16(to, from, 0, runs, len_burst, left_pad, right_pad, src_gap, dst_gap);             \
        else                                                                                           \
          name##_b32(to, from, 0, runs, len_burst, left_pad, right_pad, src_gap, dst_gap);             \
      }                                                                                                \
    });                                                                                                \
  }
VINCI_CCE_ALIGN_V2(copy_gm_to_ubuf_align, __ubuf__, vinci_cce::loops_in)
VINCI_CCE_ALIGN_V2(copy_gm_to_cbuf_align, __cbuf__, vinci_cce::copy_loops{})
#undef VINCI_CCE_ALIGN_V2

VINCI_CCE_INLINE void copy_ubuf_to_gm_align_v2(__gm__ void *dst, __ubuf__ void *src, uint8_t, int64_t n_burst,
                                               int64_t len_burst, uint8_t cache, int64_t dst_stride, int64_t src_stride) {
  const int64_t src_gap = vinci_cce::block_gap(n_burst, len_burst, src_stride);
  const int64_t gap = n_burst > 1 ? dst_stride - len_burst : 0, copies = vinci_cce::copies_of(n_burst, gap);
  vinci_cce::each_turn(vinci_cce::loops_out, [=](int64_t gm, int64_t ub) {
    for (int64_t i = 0; i < copies; i++)
      copy_ubuf_to_gm_align_b8(vinci_cce::by_cache((__gm__ uint8_t *)dst + gm + i * dst_stride, cache),
                               (__ubuf__ uint8_t *)src + ub + i * src_stride, 0, n_burst / copies, len_burst, 0, 0, src_gap,
                               copies > 1 ? 0 : gap);
  });
}

// ---- copies of several dimensions ----
// Registers: of each loop the stride in GM in bits 59..20, in UB in bits 19..0, in numbers; fills of loops 1 to 4 in 16
// bits each, those before in the low half. The outer two loops are loops of copies here, one instruction on a board.

namespace vinci_cce {
struct many_loops {
  uint64_t stride[5] = {0, 0, 0, 0, 0}, fills = 0, value = 0;
};
static many_loops loops_many;

struct many_turn {
  int64_t size, left, right; // of the loop
  int64_t source(int64_t place) const { return place - left; }
  int64_t places() const { return left + size + right; }
  bool inside(int64_t place) const { return place >= left && place < left + size; }
};

template <typename number>
VINCI_CCE_INLINE void many_inner(__ubuf__ number *dst, __gm__ number *src, const many_turn (&loop)[5], bool fills_all,
                                 bool nearest) {
  const uint64_t low = (UINT64_C(1) << 20) - 1, *stride = loops_many.stride;
  const int64_t n0 = fills_all ? 0 : loop[0].size, left0 = fills_all ? loop[0].places() : loop[0].left;
#define VINCI_CCE_MANY(type)                                                                           \
  VINCI_CCE("nddma_out_to_ub",                                                                         \
            "dst src n0 n1 n2 src0 src1 src2 dst0 dst1 dst2 left0 left1 left2 right0 right1 right2 value nearest type=" type, \
            (int64_t)dst, (int64_t)src, n0, loop[1].size, loop[2].size, (int64_t)(stride[0] >> 20),    \
            (int64_t)(stride[1] >> 20), (int64_t)(stride[2] >> 20), (int64_t)(stride[0] & low),        \
            (int64_t)(stride[1] & low), (int64_t)(stride[2] & low), left0, loop[1].left, loop[2].left, \
            fills_all ? 0 : loop[0].right, loop[1].right, loop[2].right, (int64_t)loops_many.value, nearest && !fills_all)
  if constexpr (sizeof(number) == 1)
    VINCI_CCE_MANY("uint8");
  else if constexpr (sizeof(number) == 2)
    VINCI_CCE_MANY("uint16");
  else
    VINCI_CCE_MANY("uint32");
#undef VINCI_CCE_MANY
}

template <typename number>
VINCI_CCE_INLINE void many_outer(__ubuf__ number *dst, __gm__ number *src, const many_turn (&loop)[5], bool nearest) {
  const uint64_t low = (UINT64_C(1) << 20) - 1, *stride = loops_many.stride;
  const bool has_nearest = nearest && loop[4].size > 0 && loop[3].size > 0; // else a fill is the value, as in inner loops
  for (int64_t i = 0; i < loop[4].places(); i++)
    for (int64_t j = 0; j < loop[3].places(); j++) {
      const bool inside = loop[4].inside(i) && loop[3].inside(j);
      auto nearest_of = [](const many_turn &turn, int64_t place) {
        const int64_t at = turn.source(place), last = turn.size > 0 ? turn.size - 1 : 0;
        return at < 0 ? 0 : at < last ? at : last;
      };
      __gm__ number *from = src + nearest_of(loop[4], i) * (int64_t)(stride[4] >> 20) +
                            nearest_of(loop[3], j) * (int64_t)(stride[3] >> 20);
      many_inner(dst + i * (int64_t)(stride[4] & low) + j * (int64_t)(stride[3] & low), from, loop,
                 !inside && !has_nearest, nearest);
    }
}
} // namespace vinci_cce

VINCI_CCE_INLINE void nd_dma_dci() {} // of the engine's cache
VINCI_CCE_INLINE void set_pcie_rd_ctrl(uint64_t) {} // of reads from the host's memory
VINCI_CCE_INLINE void set_pad_cnt_nddma(uint64_t fills) { vinci_cce::loops_many.fills = fills; }
VINCI_CCE_INLINE void set_pad_val_nddma(uint64_t value) { vinci_cce::loops_many.value = value; }
VINCI_CCE_INLINE void set_loop0_stride_nddma(uint64_t strides) { vinci_cce::loops_many.stride[0] = strides; }
VINCI_CCE_INLINE void set_loop1_stride_nddma(uint64_t strides) { vinci_cce::loops_many.stride[1] = strides; }
VINCI_CCE_INLINE void set_loop2_stride_nddma(uint64_t strides) { vinci_cce::loops_many.stride[2] = strides; }
VINCI_CCE_INLINE void set_loop3_stride_nddma(uint64_t strides) { vinci_cce::loops_many.stride[3] = strides; }
VINCI_CCE_INLINE void set_loop4_stride_nddma(uint64_t strides) { vinci_cce::loops_many.stride[4] = strides; }

#define VINCI_CCE_MANY(name, bytes)                                                                    \
  template <typename number>                                                                           \
  VINCI_CCE_INLINE void name(__ubuf__ number *dst, __gm__ number *src, uint8_t, uint32_t n0, uint32_t n1, uint32_t n2, \
                             uint32_t n3, uint32_t n4, uint8_t left, uint8_t right, bool constant, uint8_t cache) { \
    static_assert(std::is_void_v<number> || vinci_cce::width_of<number> == bytes, "the width is that of the name"); \
    using unit = std::conditional_t<bytes == 1, uint8_t, std::conditional_t<bytes == 2, uint16_t, uint32_t>>; \
    const uint64_t fills = vinci_cce::loops_many.fills;                                                \
    auto fill = [=](int at) { return (int64_t)(fills >> 8 * at & 0xff); };                             \
    const vinci_cce::many_turn loop[5] = {{n0, left, right},                                           \
                                          {n1, fill(0), fill(1)},                                      \
                                          {n2, fill(2), fill(3)},                                      \
                                          {n3, fill(4), fill(5)},                                      \
                                          {n4, fill(6), fill(7)}};                                     \
    vinci_cce::many_outer((__ubuf__ unit *)dst, (__gm__ unit *)vinci_cce::by_cache(src, cache), loop, !constant); \
  }
VINCI_CCE_MANY(nddma_out_to_ub_b8, 1)
VINCI_CCE_MANY(nddma_out_to_ub_b16, 2)
VINCI_CCE_MANY(nddma_out_to_ub_b32, 4)
#undef VINCI_CCE_MANY

#endif
