// SPDX-License-Identifier: Apache-2.0
// Small functions that host code of operators shares: quotients, unknown shapes, sizes of the chip.
#ifndef VINCI_LIBRARY_UTIL_H
#define VINCI_LIBRARY_UTIL_H

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <set>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "vinci/library/context.h"
#include "vinci/library/log.h"

namespace Ops {
namespace Base {

// Quotients, to below and to above; what is divided by 0 stays.
template <typename T> std::enable_if_t<std::is_integral_v<T>, T> FloorDiv(T a, T b) { return b == 0 ? a : a / b; }
template <typename T> std::enable_if_t<std::is_integral_v<T>, T> CeilDiv(T a, T b) {
  return b == 0 ? a : a / b + (a % b != 0 && (a < 0) == (b < 0));
}
template <typename T> std::enable_if_t<std::is_integral_v<T>, T> FloorAlign(T a, T b) { return b == 0 ? 0 : a / b * b; }
template <typename T> std::enable_if_t<std::is_integral_v<T>, T> CeilAlign(T a, T b) {
  return b == 0 ? 0 : CeilDiv(a, b) * b;
}
template <typename T> bool IsFloatEqual(T a, T b) { return std::fabs(a - b) <= std::numeric_limits<T>::epsilon(); }
// The largest power of two up to n.
inline uint64_t LastPow2(uint64_t n) { return n == 0 ? 0 : 1ull << (63 - __builtin_clzll(n)); }

inline void SetUnknownRank(gert::Shape &shape) {
  shape.SetDimNum(0);
  shape.AppendDim(ge::UNKNOWN_DIM_NUM);
}
inline bool IsUnknownRank(const gert::Shape &shape) {
  return shape.GetDimNum() == 1 && shape.GetDim(0) == ge::UNKNOWN_DIM_NUM;
}
inline void SetUnknownShape(int64_t rank, gert::Shape &shape) {
  shape.SetDimNum(0);
  while ((int64_t)shape.GetDimNum() < rank)
    shape.AppendDim(ge::UNKNOWN_DIM);
}
inline bool IsUnknownShape(const gert::Shape &shape) {
  for (size_t i = 0; i < shape.GetDimNum(); i++)
    if (shape.GetDim(i) < 0)
      return true;
  return false;
}
template <typename R, typename A> bool CheckAxisBounds(R rank, A axis) {
  return rank == 0 ? axis == 0 : (int64_t)axis >= -(int64_t)rank && (int64_t)axis < (int64_t)rank;
}

inline std::string ToString(ge::DataType type) { return ge::TypeUtils::DataTypeToSerialString(type); }
inline std::string ToString(ge::Format format) { return ge::TypeUtils::FormatToSerialString(format); }
inline std::string ToString(const gert::Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.GetDimNum(); i++)
    text += (i > 0 ? "," : "") + std::to_string(shape.GetDim(i));
  return text + "]";
}

// Chips whose vector units run functions of register instructions.
#ifdef VINCI_LIBRARY_REGISTERS
constexpr bool has_registers = true;
#else
constexpr bool has_registers = false;
#endif
// A block of UB, a repetition or a register of the vector unit, a line of L2 and a part of one; caches and threads of
// the 950, as opbase has them.
template <typename T> uint32_t GetUbBlockSize(const T *) { return 32; }
template <typename T> uint32_t GetVRegSize(const T *) { return 256; }
template <typename T> uint32_t GetCacheLineSize(const T *) { return has_registers ? 256 : 512; }
template <typename T> uint32_t GetSectorCacheLineSize(const T *context) { return GetCacheLineSize(context) / 2; }
template <typename T> uint32_t GetSimtMaxThreadNum(const T *) { return 2048; }
template <typename T> uint32_t GetSimtMaxDCacheSize(const T *) { return 128 << 10; }
template <typename T> uint32_t GetNddmaDcacheSize(const T *) { return 8 << 10; }
template <typename T> uint64_t GetUbSize(const T *context) {
  uint64_t size = 0;
  platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreMemSize(platform_ascendc::CoreMemType::UB, size);
  return size;
}
template <typename T> bool IsRegbaseSocVersion(const T *) { return has_registers; }
inline bool IsRegbaseSocVersion(const gert::TilingContext *) { return has_registers; }
inline bool IsRegbaseSocVersion(const gert::TilingParseContext *) { return has_registers; }
// A template: some libraries define the same as a function of their own.
template <typename T> const T &EnsureNotScalar(const T &shape) {
  static const T one = {1};
  return shape.IsScalar() ? one : shape;
}
template <typename T> bool IsFinite(T number) { return std::isfinite((double)number); }
template <typename T> uint32_t GetAivCoreNum(const T *context) {
  return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();
}
template <typename T> uint32_t GetAicCoreNum(const T *context) {
  return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAic();
}
template <typename T> uint32_t GetWorkspaceSize(const T *context) {
  return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetLibApiWorkSpaceSize();
}

// Shapes of elementwise operators: that of the first input, or what inputs broadcast to.
inline ge::graphStatus InferShape4Elewise(gert::InferShapeContext *context) {
  const gert::Shape *in = context->GetInputShape(0);
  gert::Shape *out = context->GetOutputShape(0);
  if (in && out)
    *out = *in;
  return in && out ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}
inline bool BroadcastShape(const gert::Shape *a, const gert::Shape *b, gert::Shape *out) {
  gert::Shape result;
  size_t rank = std::max(a->GetDimNum(), b->GetDimNum());
  for (size_t i = 0; i < rank; i++) {
    int64_t m = i + a->GetDimNum() < rank ? 1 : a->GetDim(i + a->GetDimNum() - rank);
    int64_t n = i + b->GetDimNum() < rank ? 1 : b->GetDim(i + b->GetDimNum() - rank);
    if (m != n && m != 1 && n != 1)
      return false;
    result.AppendDim(m == 1 ? n : m);
  }
  *out = result;
  return true;
}
inline ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *context, size_t inputs) {
  const gert::Shape *first = context->GetInputShape(0);
  gert::Shape *out = context->GetOutputShape(0);
  if (!first || !out)
    return ge::GRAPH_FAILED;
  gert::Shape shape = *first;
  for (size_t i = 1; i < inputs; i++) {
    const gert::Shape *next = context->GetInputShape(i);
    if (!next || !BroadcastShape(&shape, next, &shape))
      return ge::GRAPH_FAILED;
  }
  *out = shape;
  return ge::GRAPH_SUCCESS;
}
inline ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *context) { return InferShape4Broadcast(context, 2); }

// The values of a constant input of whole numbers.
template <typename T> bool GetValueToShape(const gert::Tensor *tensor, gert::Shape &shape) {
  if (!tensor || !tensor->GetAddr())
    return false;
  shape.SetDimNum(0);
  for (int64_t i = 0; i < tensor->GetShapeSize(); i++)
    shape.AppendDim((int64_t)tensor->GetData<T>()[i]);
  return true;
}
template <typename C> bool GetConstIntToShape(C *context, int64_t at, gert::Shape &shape) {
  const gert::Tensor *tensor = context->GetInputTensor((size_t)at);
  bool wide = tensor && (tensor->GetDataType() == ge::DT_INT64 || tensor->GetDataType() == ge::DT_UINT64);
  return wide ? GetValueToShape<int64_t>(tensor, shape) : GetValueToShape<int32_t>(tensor, shape);
}
template <typename T, typename C> bool GetConstIntToShape(C *context, int64_t at, gert::Shape &shape) {
  return GetConstIntToShape(context, at, shape);
}
template <typename T, typename C> bool GetConstInt(C *context, int64_t at, T &value) {
  gert::Shape values;
  if (!GetConstIntToShape(context, at, values) || values.GetDimNum() == 0)
    return false;
  value = (T)values.GetDim(0);
  return true;
}

} // namespace Base
} // namespace Ops

#endif
