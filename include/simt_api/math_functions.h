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

#endif
