// SPDX-License-Identifier: Apache-2.0
// Lanes side by side: squeezing, and streams of squeezed numbers to any address of UB. The register AR counts the bytes of
// a stream; how many a squeeze gives is known from its mask when the squeeze is issued.
#ifndef VINCI_CCE_REGISTER_SQUEEZE_H
#define VINCI_CCE_REGISTER_SQUEEZE_H

#include "vinci/cce/register_memory.h"
#include "vinci/cce/types_c310.h"

namespace vinci_cce {
// In each core's copy of the code, as functions follow each other with what AR has.
struct stream_state {
  int64_t ar = 0;     // bytes that lie before the next store
  int64_t lanes = -1; // of the squeeze that no store has taken yet; -1: there is none
};
__attribute__((visibility("hidden"))) inline stream_state stream;

VINCI_CCE_INLINE void count_lanes(const vector_bool &mask, int bytes) {
  if (stream.lanes >= 0)
    trap("vsqz with MODE_STORED once more before vstur: each takes turns with the other (Ascend C, Squeeze)");
  int64_t lanes = 0;
  for (int i = 0; i < REGISTER_BYTES; i += bytes)
    lanes += mask.bit(i);
  stream.lanes = lanes;
}
VINCI_CCE_INLINE uint32_t take_lanes() {
  if (stream.lanes < 0)
    trap("vstur without a vsqz with MODE_STORED before, which says how many numbers there are");
  uint32_t lanes = (uint32_t)stream.lanes;
  stream.lanes = -1;
  return lanes;
}
template <typename number> VINCI_CCE_INLINE __ubuf__ number *behind_ar(__ubuf__ number *dst) {
  return (__ubuf__ number *)((__ubuf__ uint8_t *)dst + stream.ar);
}
} // namespace vinci_cce

#define VINCI_CCE_RSQUEEZE(vector, number, text)                                                       \
  VINCI_CCE_INLINE void vsqz(vector &dst, const vector &src, const vector_bool &mask, StoreMode mode) { \
    const int64_t from = src.read(), to = dst.write();                                                 \
    VINCI_CCE("reg_vsqz", VINCI_CCE_MASKED "dst src type=" text,                                       \
              VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), to, from);                                    \
    if (mode == StoreMode::STORED)                                                                     \
      vinci_cce::count_lanes(mask, sizeof(number));                                                    \
  }
VINCI_CCE_VECTOR_TYPES(VINCI_CCE_RSQUEEZE)
#undef VINCI_CCE_RSQUEEZE

#define VINCI_CCE_RCOUNT(vector, text)                                                                 \
  VINCI_CCE_INLINE void vusqz(vector &dst, const vector_bool &mask) {                                  \
    VINCI_CCE("reg_vusqz", VINCI_CCE_MASKED "dst type=" text,                                          \
              VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), dst.write());                                 \
  }
VINCI_CCE_RCOUNT(vector_s8, "int8") VINCI_CCE_RCOUNT(vector_u8, "int8")
VINCI_CCE_RCOUNT(vector_s16, "int16") VINCI_CCE_RCOUNT(vector_u16, "int16")
VINCI_CCE_RCOUNT(vector_s32, "int32") VINCI_CCE_RCOUNT(vector_u32, "int32")
#undef VINCI_CCE_RCOUNT

// As many numbers as the squeeze before gave, to the address that lies AR bytes behind dst. POST_UPDATE moves AR on.
#define VINCI_CCE_RSTREAM(vector, number, text)                                                        \
  VINCI_CCE_INLINE void vstur(vector_align &align, const vector &src, __ubuf__ number *dst, Post post) { \
    const uint32_t count = vinci_cce::take_lanes();                                                    \
    vstus(align, count, src, vinci_cce::behind_ar(dst));                                               \
    vinci_cce::stream.ar += post == Post::POST_UPDATE ? (int64_t)(count * sizeof(number)) : 0;         \
  }
VINCI_CCE_VECTOR_TYPES(VINCI_CCE_RSTREAM)
#undef VINCI_CCE_RSTREAM
// What the alignment register holds goes before the address that lies AR bytes behind dst.
template <typename number> VINCI_CCE_INLINE void vstar(vector_align &align, __ubuf__ number *dst) {
  vstas(align, vinci_cce::behind_ar(dst), 0);
}

VINCI_CCE_INLINE void sprclr(Spr which) {
  if (which != Spr::AR)
    vinci_cce::trap("sprclr of another register than AR is not modelled");
  vinci_cce::stream.ar = 0;
}
VINCI_CCE_INLINE int64_t get_ar() { return vinci_cce::stream.ar; }

#endif
