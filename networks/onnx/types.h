/* SPDX-License-Identifier: Apache-2.0 */
/* The element types of ONNX. */
#ifndef VINCI_NETWORKS_ONNX_TYPES_H
#define VINCI_NETWORKS_ONNX_TYPES_H

#include "core/base/number.h"

/* Element types: id, number in TensorProto.DataType (of ONNX 1.19, later than the schema that the
 * build uses), name, bits, type of the graph; DTYPE_COUNT: the chip has none. */
#define ONNX_TYPE_LIST(X)                                                                          \
  X(FLOAT, 1, "float", 32, DTYPE_FP32)                                                             \
  X(UINT8, 2, "uint8", 8, DTYPE_UINT8)                                                             \
  X(INT8, 3, "int8", 8, DTYPE_INT8)                                                                \
  X(UINT16, 4, "uint16", 16, DTYPE_UINT16)                                                         \
  X(INT16, 5, "int16", 16, DTYPE_INT16)                                                            \
  X(INT32, 6, "int32", 32, DTYPE_INT32)                                                            \
  X(INT64, 7, "int64", 64, DTYPE_INT64)                                                            \
  X(STRING, 8, "string", 0, DTYPE_COUNT)                                                           \
  X(BOOL, 9, "bool", 8, DTYPE_UINT8)                                                               \
  X(FLOAT16, 10, "float16", 16, DTYPE_FP16)                                                        \
  X(DOUBLE, 11, "double", 64, DTYPE_COUNT)                                                         \
  X(UINT32, 12, "uint32", 32, DTYPE_UINT32)                                                        \
  X(UINT64, 13, "uint64", 64, DTYPE_COUNT)                                                         \
  X(COMPLEX64, 14, "complex64", 64, DTYPE_COUNT)                                                   \
  X(COMPLEX128, 15, "complex128", 128, DTYPE_COUNT)                                                \
  X(BFLOAT16, 16, "bfloat16", 16, DTYPE_BF16)                                                      \
  X(FLOAT8E4M3FN, 17, "float8e4m3fn", 8, DTYPE_FP8_E4M3)                                           \
  X(FLOAT8E4M3FNUZ, 18, "float8e4m3fnuz", 8, DTYPE_COUNT)                                          \
  X(FLOAT8E5M2, 19, "float8e5m2", 8, DTYPE_FP8_E5M2)                                               \
  X(FLOAT8E5M2FNUZ, 20, "float8e5m2fnuz", 8, DTYPE_COUNT)                                          \
  X(UINT4, 21, "uint4", 4, DTYPE_COUNT)                                                            \
  X(INT4, 22, "int4", 4, DTYPE_INT4)                                                               \
  X(FLOAT4E2M1, 23, "float4e2m1", 4, DTYPE_COUNT)
enum onnx_type {
  ONNX_UNKNOWN, /* not known, or no tensor */
#define X(id, number, name, bits, dtype) ONNX_##id = number,
  ONNX_TYPE_LIST(X)
#undef X
      ONNX_TYPE_COUNT
};

#endif
