/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of tensors whose values are known. */
#include "networks/graph/graph.h"

#include <string.h>

#include "core/base/number.h"

/* All types of elements that are read and written here. */
union element {
  uint8_t u8;
  int8_t i8;
  uint16_t u16;
  int16_t i16;
  int32_t i32;
  uint32_t u32;
  int64_t i64;
  float f32;
};

bool graph_number(const struct graph_tensor *tensor, uint64_t index, double *out) {
  union element value = {0};
  size_t bytes = dtype_bits(tensor->dtype) / 8;
  if (!tensor->data || bytes == 0)
    return false;
  memcpy(&value, (const unsigned char *)tensor->data + index * bytes, bytes);
  switch (tensor->dtype) {
  case DTYPE_FP32:
    *out = (double)value.f32;
    return true;
  case DTYPE_FP16:
    *out = (double)fp16_to_fp32(value.u16);
    return true;
  case DTYPE_BF16:
    *out = (double)bf16_to_fp32(value.u16);
    return true;
  case DTYPE_INT64:
    *out = (double)value.i64;
    return true;
  case DTYPE_INT32:
    *out = (double)value.i32;
    return true;
  case DTYPE_UINT32:
    *out = (double)value.u32;
    return true;
  case DTYPE_INT16:
    *out = (double)value.i16;
    return true;
  case DTYPE_UINT16:
    *out = (double)value.u16;
    return true;
  case DTYPE_UINT8:
    *out = (double)value.u8;
    return true;
  case DTYPE_INT8:
    *out = (double)value.i8;
    return true;
  default:
    return false;
  }
}

bool graph_put_number(enum dtype dtype, void *data, uint64_t index, double number) {
  union element value = {0};
  switch (dtype) {
  case DTYPE_FP32:
    value.f32 = (float)number;
    break;
  case DTYPE_FP16:
    value.u16 = fp16_from_fp32((float)number);
    break;
  case DTYPE_BF16:
    value.u16 = bf16_from_fp32((float)number);
    break;
  case DTYPE_INT64:
    value.i64 = (int64_t)number;
    break;
  case DTYPE_INT32:
  case DTYPE_UINT32:
    value.u32 = (uint32_t)(int64_t)number;
    break;
  case DTYPE_INT16:
  case DTYPE_UINT16:
    value.u16 = (uint16_t)(int64_t)number;
    break;
  case DTYPE_INT8:
  case DTYPE_UINT8:
    value.u8 = (uint8_t)(int64_t)number;
    break;
  default:
    return false;
  }
  memcpy((unsigned char *)data + index * (dtype_bits(dtype) / 8), &value, dtype_bits(dtype) / 8);
  return true;
}
