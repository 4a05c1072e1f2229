// SPDX-License-Identifier: Apache-2.0
// Register instructions on integers wider than a lane, and histograms.
#ifndef VINCI_CCE_REGISTER_CARRY_H
#define VINCI_CCE_REGISTER_CARRY_H

#include "vinci/cce/register_masks.h"
#include "vinci/cce/types_c310.h"

// ---- sums with carries, which are masks; products of twice the width ----

#define VINCI_CCE_RCARRY(name, vector, text)                                                           \
  VINCI_CCE_INLINE void name(vector_bool &carry, vector &dst, const vector &src0, const vector &src1,  \
                             const vector_bool &mask) {                                                \
    const vector_bool under = mask;                                                                    \
    const int64_t a = src0.read(), b = src1.read(), to = dst.write(), out = carry.write();             \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src0 src1 pd type=" text,                            \
              VINCI_CCE_UNDER(under, Mode::MODE_ZEROING), to, a, b, out);                              \
    vinci_cce::take_mask_bits(carry);                                                                  \
  }
#define VINCI_CCE_RCARRIED(name, vector, text)                                                         \
  VINCI_CCE_INLINE void name(vector_bool &carry, vector &dst, const vector &src0, const vector &src1,  \
                             const vector_bool &carries, const vector_bool &mask) {                    \
    const vector_bool under = mask, in = carries;                                                      \
    const int64_t a = src0.read(), b = src1.read(), to = dst.write(), out = carry.write();             \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src0 src1 pd c0 c1 c2 c3 p0 type=" text,             \
              VINCI_CCE_UNDER(under, Mode::MODE_ZEROING), to, a, b, out, (int64_t)in.word[0],          \
              (int64_t)in.word[1], (int64_t)in.word[2], (int64_t)in.word[3], in.read());               \
    vinci_cce::take_mask_bits(carry);                                                                  \
  }
#define VINCI_CCE_RPRODUCT(name, vector, text)                                                         \
  VINCI_CCE_INLINE void name(vector &dst0, vector &dst1, const vector &src0, const vector &src1,       \
                             const vector_bool &mask) {                                                \
    const int64_t a = src0.read(), b = src1.read(), low = dst0.write(), high = dst1.write();           \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst0 dst1 src0 src1 type=" text,                         \
              VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), low, high, a, b);                             \
  }
#define VINCI_CCE_RWORDS(family, name) family(name, vector_s32, "int32") family(name, vector_u32, "uint32")
VINCI_CCE_RWORDS(VINCI_CCE_RCARRY, vaddc)
VINCI_CCE_RWORDS(VINCI_CCE_RCARRY, vsubc)
VINCI_CCE_RWORDS(VINCI_CCE_RCARRIED, vaddcs)
VINCI_CCE_RWORDS(VINCI_CCE_RCARRIED, vsubcs)
VINCI_CCE_RWORDS(VINCI_CCE_RPRODUCT, vmull)
#undef VINCI_CCE_RWORDS
#undef VINCI_CCE_RPRODUCT
#undef VINCI_CCE_RCARRIED
#undef VINCI_CCE_RCARRY

// ---- histograms: of bytes, half of their values at a time ----

#define VINCI_CCE_RCOUNTS(name)                                                                        \
  VINCI_CCE_INLINE void name(vector_u16 &dst, const vector_u8 &src, const vector_bool &mask, Bin bin) { \
    if (bin != Bin::N0 && bin != Bin::N1)                                                              \
      vinci_cce::trap(#name " has two bins");                                                          \
    const int64_t from = src.read(), to = dst.change();                                                \
    VINCI_CCE("reg_" #name, VINCI_CCE_MASKED "dst src bin", VINCI_CCE_UNDER(mask, Mode::MODE_ZEROING), to, from, \
              (int64_t)bin);                                                                           \
  }
VINCI_CCE_RCOUNTS(dhistv2)
VINCI_CCE_RCOUNTS(chistv2)
#undef VINCI_CCE_RCOUNTS

#endif
