// SPDX-License-Identifier: Apache-2.0
// What the kernel of an operator is compiled with: the macros that the build of a library generates. The key of the
// tiling is a constant, TILING_KEY_VAR, and VINCI_TILING_STRUCTURE is the structure of its data.
#ifndef VINCI_LIBRARY_KERNEL_H
#define VINCI_LIBRARY_KERNEL_H

#ifndef TILING_KEY_IS
#define TILING_KEY_IS(key) (TILING_KEY_VAR == (key))
#endif
#if __has_include("kernel_operator.h")
#include "kernel_operator.h"
#endif
#include "vinci/library/template.h"

// Types and formats as the preprocessor compares them.
#ifndef DT_FLOAT
#define DT_FLOAT 0
#define DT_FLOAT16 1
#define DT_INT8 2
#define DT_INT32 3
#define DT_UINT8 4
#define DT_INT16 6
#define DT_UINT16 7
#define DT_UINT32 8
#define DT_INT64 9
#define DT_UINT64 10
#define DT_DOUBLE 11
#define DT_BOOL 12
#define DT_COMPLEX64 16
#define DT_BF16 27
#define DT_INT4 29
#define DT_COMPLEX32 33
#endif
#ifndef FORMAT_ND
#define FORMAT_NCHW 0
#define FORMAT_NHWC 1
#define FORMAT_ND 2
#define FORMAT_NC1HWC0 3
#define FORMAT_FRACTAL_Z 4
#define FORMAT_HWCN 16
#define FORMAT_NDHWC 27
#define FORMAT_FRACTAL_NZ 29
#define FORMAT_NCDHW 30
#define FORMAT_DHWCN 31
#define FORMAT_NDC1HWC0 32
#define FORMAT_FRACTAL_Z_3D 33
#define FORMAT_NCL 47
#endif

// The type with a number of DT_...; void: not there.
template <int number> struct TypeFromId { using type = void; };
#define VINCI_LIBRARY_TYPE(number, name)                                                                           \
  template <> struct TypeFromId<number> { using type = name; }
VINCI_LIBRARY_TYPE(DT_FLOAT, float);
VINCI_LIBRARY_TYPE(DT_FLOAT16, half);
VINCI_LIBRARY_TYPE(DT_BF16, bfloat16_t);
VINCI_LIBRARY_TYPE(DT_INT8, int8_t);
VINCI_LIBRARY_TYPE(DT_UINT8, uint8_t);
VINCI_LIBRARY_TYPE(DT_INT16, int16_t);
VINCI_LIBRARY_TYPE(DT_UINT16, uint16_t);
VINCI_LIBRARY_TYPE(DT_INT32, int32_t);
VINCI_LIBRARY_TYPE(DT_UINT32, uint32_t);
VINCI_LIBRARY_TYPE(DT_INT64, int64_t);
VINCI_LIBRARY_TYPE(DT_UINT64, uint64_t);
VINCI_LIBRARY_TYPE(DT_DOUBLE, double);
VINCI_LIBRARY_TYPE(DT_BOOL, bool);

// The data lie in device memory; kernels have their own copy.
template <typename T> __aicore__ inline void vinci_library_copy(T *to, const __gm__ uint8_t *from) {
  static_assert(sizeof(T) > 0, "a structure of tiling data");
  const __gm__ T *data = (const __gm__ T *)from;
  *to = *data;
}
#define GET_TILING_DATA(name, from) GET_TILING_DATA_WITH_STRUCT(VINCI_TILING_STRUCTURE, name, from)
#define GET_TILING_DATA_WITH_STRUCT(type, name, from)                                                              \
  type name;                                                                                                       \
  vinci_library_copy(&name, (const __gm__ uint8_t *)(from))
#define GET_TILING_DATA_MEMBER(type, member, name, from) auto name = ((const __gm__ type *)(from))->member
#define GET_TILING_DATA_PTR_WITH_STRUCT(type, name, from) const __gm__ type *name = (const __gm__ type *)(from)
#define COPY_TILING_WITH_STRUCT(type, from, to) *(to) = *(const __gm__ type *)(from)
#define __tiling_data_ptr__ const __gm__
#ifndef KERNEL_TASK_TYPE
#define KERNEL_TASK_TYPE(key, type)
#define KERNEL_TASK_TYPE_DEFAULT(type)
#endif
#ifndef REGISTER_TILING_DEFAULT
#define REGISTER_TILING_DEFAULT(structure)
#define REGISTER_TILING_FOR_TILINGKEY(condition, structure)
#endif

#endif
