// SPDX-License-Identifier: Apache-2.0
// Transfers between registers and UB. Offsets count numbers; POST_UPDATE moves the address on behind the transfer.
#ifndef VINCI_CCE_REGISTER_MEMORY_H
#define VINCI_CCE_REGISTER_MEMORY_H

#include "vinci/cce/register_masks.h"

namespace vinci_cce {

// The word of a distribution in the instruction table, and the type that its numbers have there.
enum { LOAD_NORM, LOAD_BRC, LOAD_US, LOAD_DS, LOAD_UNPK, LOAD_UNPK4, LOAD_BLK, LOAD_E2B, LOAD_TWO };
enum { STORE_NORM, STORE_FIRST, STORE_PK, STORE_PK4, STORE_TWO };
struct distribution {
  int64_t word;
  int bytes; // of a number; 0: those of the register's type
};
constexpr distribution distribution_of(Dist dist) {
  switch (dist) {
  case Dist::NORM: return {LOAD_NORM, 0};
  case Dist::BRC_B8: return {LOAD_BRC, 1};
  case Dist::BRC_B16: return {LOAD_BRC, 2};
  case Dist::BRC_B32: return {LOAD_BRC, 4};
  case Dist::US_B8: return {LOAD_US, 1};
  case Dist::US_B16: return {LOAD_US, 2};
  case Dist::DS_B8: return {LOAD_DS, 1};
  case Dist::DS_B16: return {LOAD_DS, 2};
  case Dist::UNPK_B8: return {LOAD_UNPK, 1};
  case Dist::UNPK_B16: return {LOAD_UNPK, 2};
  case Dist::UNPK_B32: return {LOAD_UNPK, 4};
  case Dist::UNPK4_B8: return {LOAD_UNPK4, 1};
  case Dist::BLK: return {LOAD_BLK, 0};
  case Dist::E2B_B16: return {LOAD_E2B, 2};
  case Dist::E2B_B32: return {LOAD_E2B, 4};
  case Dist::DINTLV_B8: return {LOAD_TWO, 1};
  case Dist::DINTLV_B16: return {LOAD_TWO, 2};
  case Dist::DINTLV_B32: return {LOAD_TWO, 4};
  case Dist::BDINTLV: break;
  }
  return {-1, 0};
}
constexpr distribution distribution_of(DistVST dist) {
  switch (dist) {
  case DistVST::NORM_B8: return {STORE_NORM, 1};
  case DistVST::NORM_B16: return {STORE_NORM, 2};
  case DistVST::NORM_B32: return {STORE_NORM, 4};
  case DistVST::ONEPT_B8: return {STORE_FIRST, 1};
  case DistVST::ONEPT_B16: return {STORE_FIRST, 2};
  case DistVST::ONEPT_B32: return {STORE_FIRST, 4};
  case DistVST::PK_B16: return {STORE_PK, 2};
  case DistVST::PK_B32: return {STORE_PK, 4};
  case DistVST::PK4_B32: return {STORE_PK4, 4};
  case DistVST::INTLV_B8: return {STORE_TWO, 1};
  case DistVST::INTLV_B16: return {STORE_TWO, 2};
  case DistVST::INTLV_B32: return {STORE_TWO, 4};
  case DistVST::PK_B64: break;
  }
  return {-1, 0};
}

// Instructions of three widths: the table looks at the width of a transfer's type alone.
VINCI_CCE_INLINE void load(int64_t dst, int64_t src, distribution how, int bytes) {
  if (how.bytes != 0)
    bytes = how.bytes;
  if (how.word < 0 || how.word == LOAD_TWO)
    trap("a load into one register has no such distribution");
  if (bytes == 1)
    VINCI_CCE("reg_vlds", "dst src dist type=uint8", dst, src, how.word);
  else if (bytes == 2)
    VINCI_CCE("reg_vlds", "dst src dist type=uint16", dst, src, how.word);
  else
    VINCI_CCE("reg_vlds", "dst src dist type=uint32", dst, src, how.word);
}
VINCI_CCE_INLINE void load2(int64_t dst0, int64_t dst1, int64_t src, distribution how) {
  if (how.word != LOAD_TWO)
    trap("a load into two registers has no such distribution");
  if (how.bytes == 1)
    VINCI_CCE("reg_vlds2", "dst0 dst1 src type=uint8", dst0, dst1, src);
  else if (how.bytes == 2)
    VINCI_CCE("reg_vlds2", "dst0 dst1 src type=uint16", dst0, dst1, src);
  else
    VINCI_CCE("reg_vlds2", "dst0 dst1 src type=uint32", dst0, dst1, src);
}
VINCI_CCE_INLINE void store(int64_t dst, int64_t src, distribution how, const vector_bool &mask) {
  if (how.word < 0 || how.word == STORE_TWO)
    trap("a store of one register has no such distribution");
  if (how.bytes == 1)
    VINCI_CCE("reg_vsts", VINCI_CCE_MASKED "dst src dist type=uint8", VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), dst, src, how.word);
  else if (how.bytes == 2)
    VINCI_CCE("reg_vsts", VINCI_CCE_MASKED "dst src dist type=uint16", VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), dst, src, how.word);
  else
    VINCI_CCE("reg_vsts", VINCI_CCE_MASKED "dst src dist type=uint32", VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), dst, src, how.word);
}
VINCI_CCE_INLINE void store2(int64_t dst, int64_t src0, int64_t src1, distribution how) {
  if (how.word != STORE_TWO)
    trap("a store of two registers has no such distribution");
  if (how.bytes == 1)
    VINCI_CCE("reg_vsts2", "dst src0 src1 type=uint8", dst, src0, src1);
  else if (how.bytes == 2)
    VINCI_CCE("reg_vsts2", "dst src0 src1 type=uint16", dst, src0, src1);
  else
    VINCI_CCE("reg_vsts2", "dst src0 src1 type=uint32", dst, src0, src1);
}

} // namespace vinci_cce

// With POST_UPDATE the transfer is at the address itself.
#define VINCI_CCE_RMEMORY(vector, number, text)                                                        \
  VINCI_CCE_INLINE void vlds(vector &dst, __ubuf__ number *src, int64_t offset, Dist dist) {           \
    vinci_cce::load(dst.write(), (int64_t)(src + offset), vinci_cce::distribution_of(dist), sizeof(number)); \
  }                                                                                                    \
  VINCI_CCE_INLINE void vlds(vector &dst, __ubuf__ number *&src, int64_t offset, Dist dist, Post post) { \
    bool moves = post == Post::POST_UPDATE;                                                            \
    vinci_cce::load(dst.write(), (int64_t)(moves ? src : src + offset), vinci_cce::distribution_of(dist), sizeof(number)); \
    src += moves ? offset : 0;                                                                         \
  }                                                                                                    \
  VINCI_CCE_INLINE void vlds(vector &dst0, vector &dst1, __ubuf__ number *src, int64_t offset, Dist dist) { \
    vinci_cce::load2(dst0.write(), dst1.write(), (int64_t)(src + offset), vinci_cce::distribution_of(dist)); \
  }                                                                                                    \
  VINCI_CCE_INLINE void vlds(vector &dst0, vector &dst1, __ubuf__ number *&src, int64_t offset, Dist dist, Post post) { \
    bool moves = post == Post::POST_UPDATE;                                                            \
    vinci_cce::load2(dst0.write(), dst1.write(), (int64_t)(moves ? src : src + offset), vinci_cce::distribution_of(dist)); \
    src += moves ? offset : 0;                                                                         \
  }                                                                                                    \
  VINCI_CCE_INLINE void vsts(const vector &src, __ubuf__ number *dst, int64_t offset, DistVST dist, const vector_bool &mask) { \
    vinci_cce::store((int64_t)(dst + offset), src.read(), vinci_cce::distribution_of(dist), mask);     \
  }                                                                                                    \
  VINCI_CCE_INLINE void vsts(const vector &src, __ubuf__ number *&dst, int64_t offset, DistVST dist, const vector_bool &mask, Post post) { \
    bool moves = post == Post::POST_UPDATE;                                                            \
    vinci_cce::store((int64_t)(moves ? dst : dst + offset), src.read(), vinci_cce::distribution_of(dist), mask); \
    dst += moves ? offset : 0;                                                                         \
  }                                                                                                    \
  VINCI_CCE_INLINE void vsts(const vector &src0, const vector &src1, __ubuf__ number *dst, int64_t offset, DistVST dist, const vector_bool &) { \
    vinci_cce::store2((int64_t)(dst + offset), src0.read(), src1.read(), vinci_cce::distribution_of(dist)); \
  }                                                                                                    \
  VINCI_CCE_INLINE void vld(vector &dst, __ubuf__ number *src, const vector_address &offset, Dist dist) { \
    vinci_cce::load(dst.write(), (int64_t)src + offset.offset, vinci_cce::distribution_of(dist), sizeof(number)); \
  }                                                                                                    \
  VINCI_CCE_INLINE void vld(vector &dst0, vector &dst1, __ubuf__ number *src, const vector_address &offset, Dist dist) { \
    vinci_cce::load2(dst0.write(), dst1.write(), (int64_t)src + offset.offset, vinci_cce::distribution_of(dist)); \
  }                                                                                                    \
  VINCI_CCE_INLINE void vst(const vector &src, __ubuf__ number *dst, const vector_address &offset, DistVST dist, const vector_bool &mask) { \
    vinci_cce::store((int64_t)dst + offset.offset, src.read(), vinci_cce::distribution_of(dist), mask); \
  }                                                                                                    \
  VINCI_CCE_INLINE void vst(const vector &src0, const vector &src1, __ubuf__ number *dst, const vector_address &offset, DistVST dist, const vector_bool &) { \
    vinci_cce::store2((int64_t)dst + offset.offset, src0.read(), src1.read(), vinci_cce::distribution_of(dist)); \
  }                                                                                                    \
  VINCI_CCE_INLINE void vstus(vector_align &align, uint32_t count, const vector &src, __ubuf__ number *dst) { \
    const int64_t to = (int64_t)dst, bytes = (int64_t)(count * sizeof(number)), held = align.held;     \
    const int64_t start = to - held, end = to + bytes, whole = end / 32 * 32;                          \
    VINCI_CCE("reg_vstus", "align src dst held count", align.change(), src.read(), to, held, bytes);   \
    align.held = (uint32_t)(end - (whole > start ? whole : start));                                    \
  }                                                                                                    \
  VINCI_CCE_INLINE void vstus(vector_align &align, uint32_t count, const vector &src, __ubuf__ number *&dst, Post) { \
    vstus(align, count, src, (__ubuf__ number *)dst);                                                  \
    dst += count;                                                                                      \
  }
VINCI_CCE_VECTOR_TYPES(VINCI_CCE_RMEMORY)
#undef VINCI_CCE_RMEMORY

// Bytes, whatever the type.
#define VINCI_CCE_RUNALIGNED(vector, number, text)                                                     \
  VINCI_CCE_INLINE void vldas(vector_align &, __ubuf__ number *src) {                                  \
    VINCI_CCE("reg_vldas", "ub", (int64_t)src);                                                        \
  }                                                                                                    \
  VINCI_CCE_INLINE void vldus(vector &dst, vector_align &, __ubuf__ number *src) {                     \
    VINCI_CCE("reg_vldus", "dst src", dst.write(), (int64_t)src);                                      \
  }                                                                                                    \
  VINCI_CCE_INLINE void vldus(vector &dst, vector_align &align, __ubuf__ number *&src, uint32_t stride, Post) { \
    vldus(dst, align, (__ubuf__ number *)src);                                                         \
    src += stride;                                                                                     \
  }
VINCI_CCE_VECTOR_TYPES(VINCI_CCE_RUNALIGNED)
VINCI_CCE_RUNALIGNED(vector_s64, int64_t, "")
VINCI_CCE_RUNALIGNED(vector_u64, uint64_t, "")
#undef VINCI_CCE_RUNALIGNED

// What is held goes to the addresses before dst; the offset has been added by the stores before.
#define VINCI_CCE_RFLUSH(vector, number, text)                                                         \
  VINCI_CCE_INLINE void vstas(vector_align &align, __ubuf__ number *dst, int64_t offset) {             \
    VINCI_CCE("reg_vstas", "align dst held", align.read(), (int64_t)(dst + offset), align.held);       \
    align.held = 0;                                                                                    \
  }                                                                                                    \
  VINCI_CCE_INLINE void vstas(vector_align &align, __ubuf__ number *&dst, int64_t offset, Post) {      \
    vstas(align, (__ubuf__ number *)dst, 0);                                                           \
    dst += offset;                                                                                     \
  }
VINCI_CCE_VECTOR_TYPES(VINCI_CCE_RFLUSH)
#undef VINCI_CCE_RFLUSH

// Blocks: the stride from start to start is in the upper half of the word.
#define VINCI_CCE_RBLOCKS(vector, number, text)                                                        \
  VINCI_CCE_INLINE void vsldb(vector &dst, __ubuf__ number *src, uint32_t strides, const vector_bool &mask) { \
    VINCI_CCE("reg_vsldb", VINCI_CCE_MASKED "dst src stride type=" text,                               \
              VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), dst.write(), (int64_t)src, strides >> 16);    \
  }                                                                                                    \
  VINCI_CCE_INLINE void vsldb(vector &dst, __ubuf__ number *&src, uint32_t strides, const vector_bool &mask, Post) { \
    vsldb(dst, (__ubuf__ number *)src, strides, mask);                                                 \
    src += (strides & 0xffff) * (32 / sizeof(number));                                                 \
  }                                                                                                    \
  VINCI_CCE_INLINE void vsstb(const vector &src, __ubuf__ number *dst, uint32_t strides, const vector_bool &mask) { \
    VINCI_CCE("reg_vsstb", VINCI_CCE_MASKED "dst src stride type=" text,                               \
              VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), (int64_t)dst, src.read(), strides >> 16);     \
  }                                                                                                    \
  VINCI_CCE_INLINE void vsstb(const vector &src, __ubuf__ number *&dst, uint32_t strides, const vector_bool &mask, Post) { \
    vsstb(src, (__ubuf__ number *)dst, strides, mask);                                                 \
    dst += (strides & 0xffff) * (32 / sizeof(number));                                                 \
  }
VINCI_CCE_VECTOR_TYPES(VINCI_CCE_RBLOCKS)
#undef VINCI_CCE_RBLOCKS

// Masks: addresses and offsets count bytes. Their distributions have numbers of their own: 0 as it is, 1 each bit twice (of
// loads) or each second bit (of stores), 2 each second bit (of loads).
static constexpr std::integral_constant<Dist, (Dist)1> US{}, PK{};
static constexpr std::integral_constant<Dist, (Dist)2> DS{};
namespace vinci_cce {
VINCI_CCE_INLINE void load_mask(vector_bool &dst, int64_t src, Dist dist) {
  if ((int64_t)dist > 2)
    trap("a load of a mask has no such distribution");
  VINCI_CCE("reg_plds", "pd src dist", dst.write(), src, (int64_t)dist);
  take_mask_bits(dst);
}
VINCI_CCE_INLINE void store_mask(const vector_bool &src, int64_t dst, Dist dist) {
  if ((int64_t)dist > 1)
    trap("a store of a mask has no such distribution");
  VINCI_CCE("reg_psts", VINCI_CCE_MASKED "dst dist", VINCI_CCE_UNDER(src, Mode::MODE_ZEROING), dst, (int64_t)dist);
}
} // namespace vinci_cce
template <typename number> VINCI_CCE_INLINE void plds(vector_bool &dst, __ubuf__ number *src, int64_t offset, Dist dist) {
  vinci_cce::load_mask(dst, (int64_t)src + offset, dist);
}
template <typename number>
VINCI_CCE_INLINE void plds(vector_bool &dst, __ubuf__ number *&src, int64_t offset, Dist dist, Post) {
  vinci_cce::load_mask(dst, (int64_t)src, dist);
  src = (__ubuf__ number *)((__ubuf__ uint8_t *)src + offset);
}
template <typename number>
VINCI_CCE_INLINE void pld(vector_bool &dst, __ubuf__ number *src, const vector_address &offset, Dist dist) {
  vinci_cce::load_mask(dst, (int64_t)src + offset.offset, dist);
}
template <typename number>
VINCI_CCE_INLINE void psts(const vector_bool &src, __ubuf__ number *dst, int64_t offset, Dist dist) {
  vinci_cce::store_mask(src, (int64_t)dst + offset, dist);
}
template <typename number>
VINCI_CCE_INLINE void psts(const vector_bool &src, __ubuf__ number *&dst, int64_t offset, Dist dist, Post) {
  vinci_cce::store_mask(src, (int64_t)dst, dist);
  dst = (__ubuf__ number *)((__ubuf__ uint8_t *)dst + offset);
}
template <typename number>
VINCI_CCE_INLINE void pst(const vector_bool &src, __ubuf__ number *dst, const vector_address &offset, Dist dist) {
  vinci_cce::store_mask(src, (int64_t)dst + offset.offset, dist);
}
// A bit for each lane, of numbers of 2 or 4 bytes; the address moves on behind these.
template <typename number>
VINCI_CCE_INLINE void pstu(vector_align &align, const vector_bool &src, __ubuf__ number *&dst) {
  static_assert(sizeof(number) == 2 || sizeof(number) == 4, "lanes of 2 or 4 bytes");
  const int64_t to = (int64_t)dst, bytes = 32 / sizeof(number), held = align.held;
  const int64_t start = to - held, end = to + bytes, whole = end / 32 * 32;
  VINCI_CCE("reg_pstu", VINCI_CCE_MASKED "align dst held count", VINCI_CCE_UNDER(src, Mode::MODE_ZEROING),
            align.change(), to, held, bytes);
  align.held = (uint32_t)(end - (whole > start ? whole : start));
  dst = (__ubuf__ number *)((__ubuf__ uint8_t *)dst + bytes);
}

// Address registers: a sum of indices times strides, in numbers of a width. With indices: vag_b32(i, stride, j, stride). The
// open headers give strides alone, as loops of the chip know how often they have turned; the indices are parameters of the
// function around, index0 and so on, whose names a macro sees.
namespace vinci_cce {
struct no_index {};
VINCI_CCE_INLINE int64_t weighted() { return 0; }
template <typename... rest>
VINCI_CCE_INLINE int64_t weighted(int64_t index, int64_t stride, rest... more) {
  return index * stride + weighted(more...);
}
template <typename... named> struct indices {
  static constexpr size_t count = (!std::is_same_v<named, no_index> + ... + 0);
  int64_t at[sizeof...(named)];
};
VINCI_CCE_INLINE int64_t index_of(int64_t index) { return index; }
VINCI_CCE_INLINE int64_t index_of(no_index) { return 0; }
template <typename... named> VINCI_CCE_INLINE indices<named...> indices_of(named... index) { return {{index_of(index)...}}; }
template <typename... named, typename... numbers>
VINCI_CCE_INLINE vector_address address_of(int64_t bytes, indices<named...> index, numbers... number) {
  if constexpr (indices<named...>::count > 0) {
    static_assert(sizeof...(numbers) == indices<named...>::count, "a stride for each index");
    int64_t sum = 0, at = 0;
    ((sum += index.at[at++] * (int64_t)number), ...);
    return {sum * bytes};
  } else if constexpr (sizeof...(numbers) % 2 == 0) {
    return {weighted((int64_t)number...) * bytes};
  } else {
    trap("an address register takes an index and a stride in turn where it is not made in the loops of a function");
    return {};
  }
}
} // namespace vinci_cce
inline constexpr vinci_cce::no_index index0, index1, index2, index3;
#define VINCI_CCE_ADDRESS(bytes, ...)                                                                  \
  vinci_cce::address_of(bytes, vinci_cce::indices_of(index0, index1, index2, index3), __VA_ARGS__)
#define vag_b8(...) VINCI_CCE_ADDRESS(1, __VA_ARGS__)
#define vag_b16(...) VINCI_CCE_ADDRESS(2, __VA_ARGS__)
#define vag_b32(...) VINCI_CCE_ADDRESS(4, __VA_ARGS__)

// Barriers of scalar accesses hold nothing: scalar code in a function is no part of the model.
VINCI_CCE_INLINE void mem_bar(Bar bar) {
  enum { LOADS, STORES, ALL };
  switch (bar) {
  case Bar::VST_VLD: VINCI_CCE("reg_mem_bar", "waits for", STORES, LOADS); break;
  case Bar::VLD_VST: VINCI_CCE("reg_mem_bar", "waits for", LOADS, STORES); break;
  case Bar::VST_VST: VINCI_CCE("reg_mem_bar", "waits for", STORES, STORES); break;
  case Bar::VV_ALL: VINCI_CCE("reg_mem_bar", "waits for", ALL, ALL); break;
  default: break;
  }
}

#endif
