// SPDX-License-Identifier: Apache-2.0
// Masks of vector functions: their bits are computed here, what they take is the simulator's (reg_pset ...).
#ifndef VINCI_CCE_REGISTER_MASKS_H
#define VINCI_CCE_REGISTER_MASKS_H

#include "vinci/cce/register_types.h"

namespace vinci_cce {

// Lanes of `bytes` bytes: the bit of the first byte of each.
template <typename condition>
VINCI_CCE_INLINE void fill_mask(vector_bool &mask, int bytes, condition active) {
  uint64_t word[4] = {0, 0, 0, 0};
  for (int at = 0; at < REGISTER_BYTES; at += bytes)
    if (active(at / bytes))
      word[at / 64] |= 1ull << (at % 64);
  __builtin_memcpy(mask.word, word, sizeof word);
}

VINCI_CCE_INLINE bool in_pattern(Pat pattern, int lane, int lanes) {
  switch (pattern) {
  case Pat::ALL: return true;
  case Pat::VL1: return lane < 1;
  case Pat::VL2: return lane < 2;
  case Pat::VL3: return lane < 3;
  case Pat::VL4: return lane < 4;
  case Pat::VL8: return lane < 8;
  case Pat::VL16: return lane < 16;
  case Pat::VL32: return lane < 32;
  case Pat::VL64: return lane < 64;
  case Pat::VL128: return lane < 128;
  case Pat::M3: return lane % 3 == 0;
  case Pat::M4: return lane % 4 == 0;
  case Pat::H: return lane < lanes / 2;
  case Pat::Q: return lane < lanes / 4;
  case Pat::ALLF: return false;
  }
  return false;
}

template <int bytes> VINCI_CCE_INLINE vector_bool pattern_mask(Pat pattern) {
  vector_bool mask;
  fill_mask(mask, bytes, [=](int lane) { return in_pattern(pattern, lane, REGISTER_BYTES / bytes); });
  return mask;
}

// Bits that the last comparison, or load of a mask, has left.
VINCI_CCE_INLINE void take_mask_bits(vector_bool &mask) {
  VINCI_CCE_IN_ORDER;
  for (int i = 0; i < 4; i++)
    mask.word[i] = (uint64_t)number((vinci_cce_number)(VINCI_CCE_MASK0 + i));
}

} // namespace vinci_cce

#define VINCI_CCE_PATTERNS(row, width, bytes)                                                          \
  VINCI_CCE_INLINE vector_bool row##_b##width(Pat pattern) {                                           \
    vector_bool mask = vinci_cce::pattern_mask<bytes>(pattern);                                        \
    VINCI_CCE("reg_" #row, "pd", mask.write());                                                        \
    return mask;                                                                                       \
  }
VINCI_CCE_PATTERNS(pset, 8, 1) VINCI_CCE_PATTERNS(pset, 16, 2) VINCI_CCE_PATTERNS(pset, 32, 4)
VINCI_CCE_PATTERNS(pge, 8, 1) VINCI_CCE_PATTERNS(pge, 16, 2) VINCI_CCE_PATTERNS(pge, 32, 4)
#undef VINCI_CCE_PATTERNS

// The lowest lanes, as many as the scalar says.
#define VINCI_CCE_PLT(width, bytes)                                                                    \
  template <typename number>                                                                           \
  VINCI_CCE_INLINE vector_bool plt_b##width(number &count, Post post) {                                \
    vector_bool mask;                                                                                  \
    const number lanes = (number)(vinci_cce::REGISTER_BYTES / bytes), active = count;                  \
    vinci_cce::fill_mask(mask, bytes, [=](int lane) { return (number)lane < active; });                \
    if (post == Post::POST_UPDATE)                                                                     \
      count = active > lanes ? (number)(active - lanes) : (number)0;                                   \
    VINCI_CCE("reg_plt", "pd", mask.write());                                                          \
    return mask;                                                                                       \
  }
VINCI_CCE_PLT(8, 1) VINCI_CCE_PLT(16, 2) VINCI_CCE_PLT(32, 4)
#undef VINCI_CCE_PLT

// ---- bits ----

#define VINCI_CCE_MASKS(name, result)                                                                  \
  VINCI_CCE_INLINE void name(vector_bool &dst, const vector_bool &src0, const vector_bool &src1,       \
                             const vector_bool &mask) {                                                \
    const int64_t p0 = src0.read(), p1 = src1.read(), p2 = mask.read();                                \
    uint64_t word[4];                                                                                  \
    for (int i = 0; i < 4; i++) {                                                                      \
      const uint64_t a = src0.word[i], b = src1.word[i], under = mask.word[i];                         \
      word[i] = result;                                                                                \
    }                                                                                                  \
    __builtin_memcpy(dst.word, word, sizeof word);                                                     \
    VINCI_CCE("reg_" #name, "pd p0 p1 p2", dst.write(), p0, p1, p2);                                   \
  }
VINCI_CCE_MASKS(pand, a & b & under)
VINCI_CCE_MASKS(por, (a | b) & under)
VINCI_CCE_MASKS(pxor, (a ^ b) & under)
VINCI_CCE_MASKS(psel, (a & under) | (b & ~under))
#undef VINCI_CCE_MASKS

VINCI_CCE_INLINE void pnot(vector_bool &dst, const vector_bool &src, const vector_bool &mask) {
  const int64_t p0 = src.read(), p2 = mask.read();
  for (int i = 0; i < 4; i++)
    dst.word[i] = ~src.word[i] & mask.word[i];
  VINCI_CCE("reg_pnot", "pd p0 p2", dst.write(), p0, p2);
}
VINCI_CCE_INLINE void pmov(vector_bool &dst, const vector_bool &src, const vector_bool &mask) {
  const int64_t p0 = src.read(), p2 = mask.read();
  for (int i = 0; i < 4; i++)
    dst.word[i] = src.word[i] & mask.word[i];
  VINCI_CCE("reg_pmov", "pd p0 p2", dst.write(), p0, p2);
}
VINCI_CCE_INLINE void pmov(vector_bool &dst, const vector_bool &src) {
  const int64_t p0 = src.read();
  __builtin_memcpy(dst.word, src.word, sizeof dst.word);
  VINCI_CCE("reg_pmov", "pd p0", dst.write(), p0);
}

// ---- lanes of other widths ----

VINCI_CCE_INLINE void ppack(vector_bool &dst, const vector_bool &src, HiloPart part) {
  vector_bool packed;
  const int64_t p0 = src.read();
  const int from = part == HiloPart::Lower ? 0 : 128;
  vinci_cce::fill_mask(packed, 1, [&](int i) { return i >= from && i < from + 128 && src.bit(2 * (i - from)); });
  __builtin_memcpy(dst.word, packed.word, sizeof dst.word);
  VINCI_CCE("reg_ppack", "pd p0", dst.write(), p0);
}
VINCI_CCE_INLINE void punpack(vector_bool &dst, const vector_bool &src, HiloPart part) {
  vector_bool unpacked;
  const int64_t p0 = src.read();
  const int from = part == HiloPart::Lower ? 0 : 128;
  vinci_cce::fill_mask(unpacked, 1, [&](int i) { return i % 2 == 0 && src.bit(from + i / 2); });
  __builtin_memcpy(dst.word, unpacked.word, sizeof dst.word);
  VINCI_CCE("reg_punpack", "pd p0", dst.write(), p0);
}

namespace vinci_cce {
// Bit i of two masks side by side.
VINCI_CCE_INLINE bool bit_of_both(const vector_bool &a, const vector_bool &b, int i) {
  return i < REGISTER_BYTES ? a.bit(i) : b.bit(i - REGISTER_BYTES);
}
} // namespace vinci_cce

// `turn` says which bit of both sources, one behind the other or in turn, a bit of a result is.
#define VINCI_CCE_MASK_PAIRS(row, width, bytes, turn)                                                  \
  VINCI_CCE_INLINE void row##_b##width(vector_bool &dst0, vector_bool &dst1, const vector_bool &src0,  \
                                       const vector_bool &src1) {                                      \
    vector_bool first, second;                                                                         \
    const int64_t p0 = src0.read(), p1 = src1.read();                                                  \
    auto from = [](int half, int i) {                                                                  \
      const int lane = i / bytes, rest = i % bytes, lanes = vinci_cce::REGISTER_BYTES / bytes;         \
      (void)lanes;                                                                                     \
      return (turn) * bytes + rest;                                                                    \
    };                                                                                                 \
    vinci_cce::fill_mask(first, 1, [&](int i) { return vinci_cce::bit_of_both(src0, src1, from(0, i)); }); \
    vinci_cce::fill_mask(second, 1, [&](int i) { return vinci_cce::bit_of_both(src0, src1, from(1, i)); }); \
    __builtin_memcpy(dst0.word, first.word, sizeof first.word);                                        \
    __builtin_memcpy(dst1.word, second.word, sizeof second.word);                                      \
    const int64_t pd = dst0.write(), pd1 = dst1.write();                                               \
    VINCI_CCE("reg_" #row, "pd pd1 p0 p1", pd, pd1, p0, p1);                                           \
  }
#define VINCI_CCE_IN_TURN (half * lanes + lane) % 2 * lanes + (half * lanes + lane) / 2
#define VINCI_CCE_EACH_SECOND 2 * lane + half
VINCI_CCE_MASK_PAIRS(pintlv, 8, 1, VINCI_CCE_IN_TURN)
VINCI_CCE_MASK_PAIRS(pintlv, 16, 2, VINCI_CCE_IN_TURN)
VINCI_CCE_MASK_PAIRS(pintlv, 32, 4, VINCI_CCE_IN_TURN)
VINCI_CCE_MASK_PAIRS(pdintlv, 8, 1, VINCI_CCE_EACH_SECOND)
VINCI_CCE_MASK_PAIRS(pdintlv, 16, 2, VINCI_CCE_EACH_SECOND)
VINCI_CCE_MASK_PAIRS(pdintlv, 32, 4, VINCI_CCE_EACH_SECOND)
#undef VINCI_CCE_MASK_PAIRS
#undef VINCI_CCE_IN_TURN
#undef VINCI_CCE_EACH_SECOND

#endif
