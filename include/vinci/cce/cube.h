// SPDX-License-Identifier: Apache-2.0
// The matrix unit.
#ifndef VINCI_CCE_CUBE_H
#define VINCI_CCE_CUBE_H

#include "vinci/cce/issue.h"
#include "vinci/cce/types.h"

// The flag behind unit_flag is another one on dav-c310: whether one row of a lies in fractals too.
#if __NPU_ARCH__ == 3510
#define VINCI_CCE_MAD_FLAG "gemv"
#define VINCI_CCE_MAD_FLAG_OF(flag) !(flag)
#else
#define VINCI_CCE_MAD_FLAG "k_align"
#define VINCI_CCE_MAD_FLAG_OF(flag) flag
#endif

// init: c starts at 0. bias_from_table: at the biases that the accumulators' address holds in its upper half.
#define VINCI_CCE_MAD(name, c_type, a_type, b_type, type_text)                                         \
  VINCI_CCE_INLINE void name(__cc__ c_type *c, __ca__ a_type *a, __cb__ b_type *b, int64_t m,          \
                             int64_t k, int64_t n, int64_t unit_flag, bool flag,                       \
                             bool bias_from_table, bool init) {                                        \
    uint64_t address = (uint64_t)c;                                                                    \
    if (bias_from_table)                                                                               \
      VINCI_CCE("mad", "c a b m:u16 k:u16 n:u16 unit_flag:u8 " VINCI_CCE_MAD_FLAG " source=bt bias init=0 type=" type_text, \
                (int64_t)(address & 0xffffffff), (int64_t)a, (int64_t)b, m, k, n, unit_flag,           \
                VINCI_CCE_MAD_FLAG_OF(flag), (int64_t)(address >> 32));                                \
    else                                                                                               \
      VINCI_CCE("mad", "c a b m:u16 k:u16 n:u16 unit_flag:u8 " VINCI_CCE_MAD_FLAG " init type=" type_text, (int64_t)address, \
                (int64_t)a, (int64_t)b, m, k, n, unit_flag, VINCI_CCE_MAD_FLAG_OF(flag), init);        \
  }
VINCI_CCE_MAD(mad, float, half, half, "fp16")
VINCI_CCE_MAD(mad, float, bfloat16_t, bfloat16_t, "bf16")
VINCI_CCE_MAD(mad, float, float, float, "fp32")
VINCI_CCE_MAD(mad, int32_t, int8_t, int8_t, "int8")
VINCI_CCE_MAD(mad_s4, int32_t, void, void, "int4")
#undef VINCI_CCE_MAD
#undef VINCI_CCE_MAD_FLAG_OF
#undef VINCI_CCE_MAD_FLAG

// A sparse right matrix, whose indices load_cbuf_to_cb_sp has loaded with it; k counts the values of a.
VINCI_CCE_INLINE void mad_sp(__cc__ int32_t *c, __ca__ int8_t *a, __cb__ int8_t *b, int64_t m, int64_t k, int64_t n,
                             int64_t unit_flag, bool bias_from_table, bool init) {
  uint64_t address = (uint64_t)c;
  if (bias_from_table)
    VINCI_CCE("mad_sp", "c a b m:u16 k:u16 n:u16 unit_flag:u8 source=bt bias init=0 type=int8", (int64_t)(address & 0xffffffff),
              (int64_t)a, (int64_t)b, m, k, n, unit_flag, (int64_t)(address >> 32));
  else
    VINCI_CCE("mad_sp", "c a b m:u16 k:u16 n:u16 unit_flag:u8 init type=int8", (int64_t)address, (int64_t)a, (int64_t)b, m, k, n,
              unit_flag, init);
}

// The form with the operands of other architectures, offsets of features and masks, which are 0 here.
#define VINCI_CCE_MAD_OFFSETS(name)                                                                    \
  template <typename c_type, typename a_type, typename b_type>                                         \
  VINCI_CCE_INLINE void name(__cc__ c_type *c, __ca__ a_type *a, __cb__ b_type *b, uint16_t m,         \
                             uint16_t k, uint16_t n, uint8_t feature_offset, uint8_t mask_offset,      \
                             uint8_t unit_flag, bool k_align, bool, bool bias_from_table, bool init) { \
    if (feature_offset != 0 || mask_offset != 0)                                                       \
      vinci_cce::trap(#name ": offsets of features and masks are not modelled");                       \
    name(c, a, b, m, k, n, unit_flag, k_align, bias_from_table, init);                                 \
  }
VINCI_CCE_MAD_OFFSETS(mad)
VINCI_CCE_MAD_OFFSETS(mad_s4)
#undef VINCI_CCE_MAD_OFFSETS

#endif
