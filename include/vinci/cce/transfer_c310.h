// SPDX-License-Identifier: Apache-2.0
// Copies between GM and UB of dav-c310: runs of bytes whose strides go from start to start, in two loops around.
// A turn of the loops is a copy of its own here; on a board all turns are one instruction.
#ifndef VINCI_CCE_TRANSFER_C310_H
#define VINCI_CCE_TRANSFER_C310_H

#include "vinci/cce/transfer.h"

namespace vinci_cce {
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

// Blocks of 32 bytes between runs in UB.
VINCI_CCE_INLINE int64_t block_gap(int64_t n_burst, int64_t bytes, int64_t stride) {
  const int64_t rounded = (bytes + 31) / 32 * 32;
  if (n_burst <= 1)
    return 0;
  if (stride < rounded || stride % 32 != 0)
    trap("runs in UB that do not begin at blocks of their own are not modelled");
  return (stride - rounded) / 32;
}
} // namespace vinci_cce

VINCI_CCE_INLINE void set_loop_size_outtoub(uint64_t turns) { vinci_cce::loops_in.turns = turns; }
VINCI_CCE_INLINE void set_loop1_stride_outtoub(uint64_t strides) { vinci_cce::loops_in.inner = strides; }
VINCI_CCE_INLINE void set_loop2_stride_outtoub(uint64_t strides) { vinci_cce::loops_in.outer = strides; }
VINCI_CCE_INLINE void set_loop_size_ubtoout(uint64_t turns) { vinci_cce::loops_out.turns = turns; }
VINCI_CCE_INLINE void set_loop1_stride_ubtoout(uint64_t strides) { vinci_cce::loops_out.inner = strides; }
VINCI_CCE_INLINE void set_loop2_stride_ubtoout(uint64_t strides) { vinci_cce::loops_out.outer = strides; }

// Fills are numbers of the type; `filled` says that they are the number of set_mov_pad_val.
template <typename number>
VINCI_CCE_INLINE void copy_gm_to_ubuf_align_v2(__ubuf__ number *dst, __gm__ number *src, uint8_t, int64_t n_burst,
                                               int64_t len_burst, int64_t left_pad, int64_t right_pad, bool filled,
                                               uint8_t, int64_t src_stride, int64_t dst_stride) {
  if (!filled && left_pad + right_pad > 0)
    vinci_cce::trap("copy_gm_to_ubuf_align_v2: fills with numbers of the source are not modelled");
  const int64_t bytes = len_burst + (left_pad + right_pad) * (int64_t)sizeof(number);
  const int64_t dst_gap = vinci_cce::block_gap(n_burst, bytes, dst_stride);
  const int64_t src_gap = n_burst > 1 ? src_stride - len_burst : 0;
  vinci_cce::each_turn(vinci_cce::loops_in, [=](int64_t gm, int64_t ub) {
    __ubuf__ uint8_t *to = (__ubuf__ uint8_t *)dst + ub;
    __gm__ uint8_t *from = (__gm__ uint8_t *)src + gm;
    if constexpr (sizeof(number) == 1)
      copy_gm_to_ubuf_align_b8(to, from, 0, n_burst, len_burst, left_pad, right_pad, src_gap, dst_gap);
    else if constexpr (sizeof(number) == 2)
      copy_gm_to_ubuf_align_b16(to, from, 0, n_burst, len_burst, left_pad, right_pad, src_gap, dst_gap);
    else
      copy_gm_to_ubuf_align_b32(to, from, 0, n_burst, len_burst, left_pad, right_pad, src_gap, dst_gap);
  });
}

VINCI_CCE_INLINE void copy_ubuf_to_gm_align_v2(__gm__ void *dst, __ubuf__ void *src, uint8_t, int64_t n_burst,
                                               int64_t len_burst, uint8_t, int64_t dst_stride, int64_t src_stride) {
  const int64_t src_gap = vinci_cce::block_gap(n_burst, len_burst, src_stride);
  vinci_cce::each_turn(vinci_cce::loops_out, [=](int64_t gm, int64_t ub) {
    copy_ubuf_to_gm_align_b8((__gm__ uint8_t *)dst + gm, (__ubuf__ uint8_t *)src + ub, 0, n_burst, len_burst, 0, 0, src_gap,
                             n_burst > 1 ? dst_stride - len_burst : 0);
  });
}

#endif
