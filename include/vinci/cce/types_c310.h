// SPDX-License-Identifier: Apache-2.0
// Types and words of dav-c310 that libraries name beside those of all architectures. Numbers of 8 bits and less have
// no arithmetic here: they are moved.
#ifndef VINCI_CCE_TYPES_C310_H
#define VINCI_CCE_TYPES_C310_H

#include <cstdint>

#define VINCI_CCE_SMALL(name)                                                                          \
  struct name {                                                                                        \
    uint8_t bits;                                                                                      \
  };
VINCI_CCE_SMALL(float8_e4m3_t)
VINCI_CCE_SMALL(float8_e5m2_t)
VINCI_CCE_SMALL(float8_e8m0_t)
VINCI_CCE_SMALL(hifloat8_t)
VINCI_CCE_SMALL(float4_e2m1x2_t)
VINCI_CCE_SMALL(float4_e1m2x2_t)
#undef VINCI_CCE_SMALL

#endif
