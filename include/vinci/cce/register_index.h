// SPDX-License-Identifier: Apache-2.0
// Register instructions that take numbers of UB by their indices.
#ifndef VINCI_CCE_REGISTER_INDEX_H
#define VINCI_CCE_REGISTER_INDEX_H

#include "vinci/cce/register_masks.h"

namespace vinci_cce {

// Where the indices of a register lead: they have been computed, so such code runs in order.
VINCI_CCE_INLINE vinci_cce_reach reach_of(int64_t base, int64_t index, const vector_bool &mask, uint32_t count,
                                          uint32_t index_bytes, uint32_t unit_bytes, uint32_t bytes) {
  VINCI_CCE_IN_ORDER;
  vinci_cce_reach reach = {base, index, {}, count, index_bytes, unit_bytes, bytes, 0, 0, 1};
  for (int i = 0; i < 4; i++)
    reach.mask[i] = mask.word[i];
  if (vinci_cce_host->size <= offsetof(struct vinci_cce_host, reach))
    trap("gathers and scatters: this vinci is older than the headers");
  vinci_cce_host->reach(vinci_cce_host, &reach);
  return reach;
}

// Indices of 16 bits for numbers of 8 and 16 bits, else of 32.
template <typename number>
VINCI_CCE_INLINE vinci_cce_reach reach_of(int64_t base, int64_t index, const vector_bool &mask) {
  constexpr uint32_t bytes = sizeof(number), lane = bytes == 1 ? 2 : bytes;
  return reach_of(base, index, mask, REGISTER_BYTES / lane, lane, bytes, bytes);
}

// An instruction of three widths, as transfers are.
#define VINCI_CCE_BY_WIDTH(name, ...)                                                                  \
  if constexpr (sizeof(number) == 1)                                                                   \
    VINCI_CCE(name, VINCI_CCE_MASKED "dst src index first last turns type=uint8", __VA_ARGS__);        \
  else if constexpr (sizeof(number) == 2)                                                              \
    VINCI_CCE(name, VINCI_CCE_MASKED "dst src index first last turns type=uint16", __VA_ARGS__);       \
  else                                                                                                 \
    VINCI_CCE(name, VINCI_CCE_MASKED "dst src index first last turns type=uint32", __VA_ARGS__)
template <typename number>
VINCI_CCE_INLINE void gather(int64_t dst, int64_t src, int64_t index, const vector_bool &mask) {
  const vinci_cce_reach reach = reach_of<number>(src, index, mask);
  VINCI_CCE_BY_WIDTH("reg_vgather2", VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), dst, src, index, reach.first,
                     reach.last, reach.turns);
}
template <typename number>
VINCI_CCE_INLINE void scatter(int64_t dst, int64_t src, int64_t index, const vector_bool &mask) {
  const vinci_cce_reach reach = reach_of<number>(dst, index, mask);
  VINCI_CCE_BY_WIDTH("reg_vscatter", VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), dst, src, index, reach.first,
                     reach.last, reach.turns);
}
#undef VINCI_CCE_BY_WIDTH

// Eight blocks, by eight indices in bytes under the first eight lanes of 32 bits of the mask.
VINCI_CCE_INLINE void gather_blocks(int64_t dst, int64_t src, int64_t index, const vector_bool &mask) {
  const vinci_cce_reach reach = reach_of(src, index, mask, 8, 4, 1, 32);
  VINCI_CCE("reg_vgatherb", VINCI_CCE_MASKED "dst src index first last turns",
            VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), dst, src, index, reach.first, reach.last, reach.turns);
}

} // namespace vinci_cce

#define VINCI_CCE_RGATHER(vector, number, indices)                                                     \
  VINCI_CCE_INLINE void vgather2(vector &dst, __ubuf__ number *src, const indices &index, const vector_bool &mask) { \
    const int64_t at = index.read();                                                                   \
    vinci_cce::gather<number>(dst.write(), (int64_t)src, at, mask);                                    \
  }
#define VINCI_CCE_RSCATTER(vector, number, indices)                                                    \
  VINCI_CCE_INLINE void vscatter(const vector &src, __ubuf__ number *dst, const indices &index, const vector_bool &mask) { \
    vinci_cce::scatter<number>((int64_t)dst, src.read(), index.read(), mask);                          \
  }
#define VINCI_CCE_RBOTH(vector, number, indices)                                                       \
  VINCI_CCE_RGATHER(vector, number, indices) VINCI_CCE_RSCATTER(vector, number, indices)
VINCI_CCE_RGATHER(vector_s16, int8_t, vector_u16)
VINCI_CCE_RGATHER(vector_u16, uint8_t, vector_u16)
VINCI_CCE_RSCATTER(vector_s8, int8_t, vector_u16)
VINCI_CCE_RSCATTER(vector_u8, uint8_t, vector_u16)
VINCI_CCE_RBOTH(vector_s16, int16_t, vector_u16)
VINCI_CCE_RBOTH(vector_u16, uint16_t, vector_u16)
VINCI_CCE_RBOTH(vector_f16, half, vector_u16)
VINCI_CCE_RBOTH(vector_bf16, bfloat16_t, vector_u16)
VINCI_CCE_RBOTH(vector_s32, int32_t, vector_u32)
VINCI_CCE_RBOTH(vector_u32, uint32_t, vector_u32)
VINCI_CCE_RBOTH(vector_f32, float, vector_u32)
#undef VINCI_CCE_RBOTH
#undef VINCI_CCE_RSCATTER
#undef VINCI_CCE_RGATHER

#define VINCI_CCE_RBLOCKS(vector, number, text)                                                        \
  VINCI_CCE_INLINE void vgatherb(vector &dst, __ubuf__ number *src, const vector_u32 &index, const vector_bool &mask) { \
    const int64_t at = index.read();                                                                   \
    vinci_cce::gather_blocks(dst.write(), (int64_t)src, at, mask);                                     \
  }                                                                                                    \
  VINCI_CCE_INLINE void vgatherb(vector &dst, __ubuf__ number *src, const vector_u32 &index) {         \
    vgatherb(dst, src, index, pset_b32(PAT_ALL));                                                      \
  }
VINCI_CCE_VECTOR_TYPES(VINCI_CCE_RBLOCKS)
VINCI_CCE_RBLOCKS(vector_s64, int64_t, "")
VINCI_CCE_RBLOCKS(vector_u64, uint64_t, "")
#undef VINCI_CCE_RBLOCKS

#endif
