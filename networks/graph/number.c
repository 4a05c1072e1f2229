/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of tensors whose values are known. */
#include "networks/graph/graph.h"

#include "core/base/number.h"

/* Data of tensors are little-endian, as in files, on every host. */
bool graph_number(const struct graph_tensor *tensor, uint64_t index, double *out) {
  size_t bytes = dtype_bits(tensor->dtype) / 8;
  if (!tensor->data || bytes == 0)
    return false;
  const uint8_t *at = (const uint8_t *)tensor->data + index * bytes;
  switch (tensor->dtype) {
  case DTYPE_FP32:
    *out = (double)load_fp32(at);
    return true;
  case DTYPE_FP16:
    *out = (double)fp16_to_fp32(load_u16(at));
    return true;
  case DTYPE_BF16:
    *out = (double)bf16_to_fp32(load_u16(at));
    return true;
  case DTYPE_INT64:
    *out = (double)load_i64(at);
    return true;
  case DTYPE_INT32:
    *out = (double)load_i32(at);
    return true;
  case DTYPE_UINT32:
    *out = (double)load_u32(at);
    return true;
  case DTYPE_INT16:
    *out = (double)load_i16(at);
    return true;
  case DTYPE_UINT16:
    *out = (double)load_u16(at);
    return true;
  case DTYPE_UINT8:
    *out = (double)*at;
    return true;
  case DTYPE_INT8:
    *out = (double)(int8_t)*at;
    return true;
  default:
    return false;
  }
}

/* Truncated; what int64 cannot hold becomes its nearest end, NaN 0, the same on every host. */
static int64_t whole(double number) {
  return number_to_integer(number, ROUND_ZERO, INT64_MIN, INT64_MAX);
}

bool graph_put_number(enum dtype dtype, void *data, uint64_t index, double number) {
  uint8_t *at = (uint8_t *)data + index * (dtype_bits(dtype) / 8);
  switch (dtype) {
  case DTYPE_FP32:
    store_fp32(at, (float)number);
    return true;
  case DTYPE_FP16:
    store_u16(at, fp16_from_fp32((float)number));
    return true;
  case DTYPE_BF16:
    store_u16(at, bf16_from_fp32((float)number));
    return true;
  case DTYPE_INT64:
    store_i64(at, whole(number));
    return true;
  case DTYPE_INT32:
  case DTYPE_UINT32:
    store_u32(at, (uint32_t)whole(number));
    return true;
  case DTYPE_INT16:
  case DTYPE_UINT16:
    store_u16(at, (uint16_t)whole(number));
    return true;
  case DTYPE_INT8:
  case DTYPE_UINT8:
    *at = (uint8_t)whole(number);
    return true;
  default:
    return false;
  }
}
