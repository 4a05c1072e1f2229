// SPDX-License-Identifier: Apache-2.0
// Permutations and sorting by the vector unit: a part of vinci/cce/vector.h.
#ifndef VINCI_CCE_PERMUTE_H
#define VINCI_CCE_PERMUTE_H

#define VINCI_CCE_BROADCAST(name, type, text)                                                          \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src, int64_t dst_block,                \
                             int64_t dst_repeat, int64_t repeat) {                                     \
    VINCI_CCE(#name, "dst src dst_block:u16 dst_repeat:u16 repeat:u8 type=" text, (int64_t)dst, (int64_t)src, \
              dst_block, dst_repeat, repeat);                                                          \
  }
VINCI_CCE_BROADCAST(vbrcb, uint16_t, "uint16")
VINCI_CCE_BROADCAST(vbrcb, uint32_t, "uint32")
#undef VINCI_CCE_BROADCAST

#define VINCI_CCE_GATHER(name, type, text)                                                             \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ uint32_t *offset, int64_t src,               \
                             int64_t dst_repeat, int64_t repeat) {                                     \
    VINCI_CCE(#name, "dst offset src:u32 dst_repeat:u16 repeat:u8 type=" text, (int64_t)dst, (int64_t)offset, \
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
  VINCI_CCE_INLINE void name(ub_addr8_t dst, ub_addr8_t src, int64_t repeat, int64_t dst_repeat,       \
                             int64_t src_repeat) {                                                     \
    vinci_cce::blocks to = vinci_cce::blocks_of(dst), from = vinci_cce::blocks_of(src);                \
    VINCI_CCE(#name, "dst src repeat:u8 dst_step src_step dst_repeat:u16 src_repeat:u16", to.first, from.first, \
              repeat, to.step, from.step, dst_repeat, src_repeat);                                     \
  }
VINCI_CCE_SCATTER(scatter_vnchwconv_b16)
VINCI_CCE_SCATTER(scatter_vnchwconv_b32)
#undef VINCI_CCE_SCATTER
VINCI_CCE_INLINE void scatter_vnchwconv_b8(ub_addr8_t dst, ub_addr8_t src, int64_t repeat,
                                           int64_t dst_repeat, int64_t src_repeat, bool dst_high,
                                           bool src_high) {
  vinci_cce::blocks to = vinci_cce::blocks_of(dst), from = vinci_cce::blocks_of(src);
  VINCI_CCE("scatter_vnchwconv_b8",
            "dst src repeat:u8 dst_step src_step dst_repeat:u16 src_repeat:u16 dst_high src_high", to.first,
            from.first, repeat, to.step, from.step, dst_repeat, src_repeat, dst_high, src_high);
}

#define VINCI_CCE_COMPACT(name, type, text)                                                            \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src0, __ubuf__ type *src1,             \
                             int64_t repeat, int64_t src0_block, int64_t pattern,                      \
                             int64_t src0_repeat, int64_t src1_repeat) {                               \
    VINCI_CCE(#name, "dst src0 src1 repeat:u16 src0_block:u8 pattern:u8 src0_repeat:u16 src1_repeat:u8 type=" text, \
              (int64_t)dst, (int64_t)src0, (int64_t)src1, repeat, src0_block, pattern, src0_repeat,    \
              src1_repeat);                                                                            \
  }
VINCI_CCE_COMPACT(vreducev2, uint16_t, "uint16")
VINCI_CCE_COMPACT(vreducev2, uint32_t, "uint32")
#undef VINCI_CCE_COMPACT

#define VINCI_CCE_SORT(name, type, text)                                                               \
  VINCI_CCE_INLINE void name(__ubuf__ type *dst, __ubuf__ type *src0, __ubuf__ uint32_t *src1,         \
                             int64_t repeat) {                                                         \
    VINCI_CCE(#name, "dst src0 src1 repeat:u8 type=" text, (int64_t)dst, (int64_t)src0, (int64_t)src1, \
              repeat);                                                                                 \
  }
VINCI_CCE_FLOATS(VINCI_CCE_SORT, vbitsort)
#undef VINCI_CCE_SORT
#if __NPU_ARCH__ == 3510 // the same with the repeats in the upper 8 bits of a word
template <typename number>
VINCI_CCE_INLINE void vbs(__ubuf__ number *dst, __ubuf__ number *src0, __ubuf__ uint32_t *src1, uint64_t config) {
  vbitsort(dst, src0, src1, (int64_t)(config >> 56));
}
#endif

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

#endif
