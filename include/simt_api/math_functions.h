// SPDX-License-Identifier: Apache-2.0
// In front of the Ascend C header of this name, which defines each function once for each memory that a pointer may lead to:
// here device memory and the memory of a thread are one, so only the form for a source without memories can be compiled.
// Questions about a number are asked of <cmath>, whose functions of the same names are there already.
#ifndef VINCI_SIMT_API_MATH_FUNCTIONS_H
#define VINCI_SIMT_API_MATH_FUNCTIONS_H

#include "simt_api/device_types.h"

#define __NPU_COMPILER_INTERNAL_PURE_SIMT__
#define isfinite vinci_simt_isfinite
#define isnan vinci_simt_isnan
#define isinf vinci_simt_isinf
#define signbit vinci_simt_signbit
#include_next "simt_api/math_functions.h"
#undef __NPU_COMPILER_INTERNAL_PURE_SIMT__
#undef isfinite
#undef isnan
#undef isinf
#undef signbit

// Of integers it only declares these.
#define VINCI_SIMT_EXTREMES(number)                                                                    \
  [[maybe_unused]] static number max(number x, number y) { return x < y ? y : x; }                     \
  [[maybe_unused]] static number min(number x, number y) { return y < x ? y : x; }
VINCI_SIMT_EXTREMES(char)
VINCI_SIMT_EXTREMES(unsigned char)
VINCI_SIMT_EXTREMES(short)
VINCI_SIMT_EXTREMES(unsigned short)
VINCI_SIMT_EXTREMES(int)
VINCI_SIMT_EXTREMES(unsigned int)
VINCI_SIMT_EXTREMES(long)
VINCI_SIMT_EXTREMES(unsigned long)
VINCI_SIMT_EXTREMES(long long)
VINCI_SIMT_EXTREMES(unsigned long long)
#undef VINCI_SIMT_EXTREMES

#endif
