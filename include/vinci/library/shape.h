// SPDX-License-Identifier: Apache-2.0
// Shapes, formats and types as host code of an operator library knows them. Names and numbers are those of
// the public documentation.
#ifndef VINCI_LIBRARY_SHAPE_H
#define VINCI_LIBRARY_SHAPE_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "graph/tensor.h"

#define OPBASE_API // the mark of functions that a part of the library exports

namespace ge {

using graphStatus = uint32_t;
using char_t = char;
using float32_t = float;
using float64_t = double;
using Status = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
constexpr graphStatus GRAPH_PARAM_INVALID = 50331649;
constexpr graphStatus GRAPH_PARAM_OUT_OF_RANGE = 50331644;
constexpr Status SUCCESS = 0;
constexpr Status FAILED = 0xFFFFFFFF;
constexpr int64_t UNKNOWN_DIM = -1;
constexpr int64_t UNKNOWN_DIM_NUM = -2;

// A format has its sub-format (groups) above its lowest byte.
inline int32_t GetPrimaryFormat(int32_t format) { return format & 0xff; }
inline int32_t GetSubFormat(int32_t format) { return (format >> 8) & 0xffff; }
inline int32_t GetC0Value(int32_t format) { return (format >> 24) & 0xf ? 1 << (((format >> 24) & 0xf) - 1) : -1; }
inline int32_t GetFormatFromSub(int32_t primary, int32_t sub) { return primary | sub << 8; }
inline bool HasSubFormat(int32_t format) { return GetSubFormat(format) > 0; }

struct AscendString;
struct TypeUtils {
  static AscendString DataTypeToAscendString(DataType type);
  static AscendString FormatToAscendString(Format format);
  static std::string DataTypeToSerialString(DataType type);
  static std::string FormatToSerialString(Format format);
  static bool GetDataTypeLength(DataType type, uint32_t &bytes) {
    bytes = (uint32_t)GetSizeByDataType(type);
    return true;
  }
};

struct AscendString {
  AscendString() = default;
  AscendString(const char *text) : text_(text ? text : "") {}
  AscendString(const char *text, size_t length) : text_(text, length) {}
  const char *GetString() const { return text_.c_str(); }
  size_t GetLength() const { return text_.size(); }
  bool operator<(const AscendString &other) const { return text_ < other.text_; }
  bool operator==(const AscendString &other) const { return text_ == other.text_; }
  bool operator!=(const AscendString &other) const { return text_ != other.text_; }

private:
  std::string text_;
};
inline std::string ToString(const std::string &text) { return text; }
inline AscendString TypeUtils::DataTypeToAscendString(DataType type) { return DataTypeToSerialString(type).c_str(); }
inline AscendString TypeUtils::FormatToAscendString(Format format) { return FormatToSerialString(format).c_str(); }
// For as long as the program runs: code keeps such names.
const char *GetFormatName(Format format);

// The multiplication overflows.
template <typename A, typename B, typename C> bool MulOverflow(A a, B b, C &out) { return __builtin_mul_overflow(a, b, &out); }
template <typename A, typename B, typename C> bool AddOverflow(A a, B b, C &out) { return __builtin_add_overflow(a, b, &out); }

} // namespace ge

namespace gert {

class Shape {
public:
  static constexpr size_t kMaxDimNum = 25;
  static constexpr int64_t kInvalidDimValue = std::numeric_limits<int64_t>::min();
  Shape() = default;
  Shape(std::initializer_list<int64_t> extents) {
    for (int64_t extent : extents)
      AppendDim(extent);
  }
  bool operator==(const Shape &other) const {
    bool same = count_ == other.count_;
    for (size_t i = 0; i < count_ && same; i++)
      same = extent_[i] == other.extent_[i];
    return same;
  }
  bool operator!=(const Shape &other) const { return !(*this == other); }
  int64_t GetShapeSize() const {
    int64_t size = 1;
    for (size_t i = 0; i < count_; i++)
      if (__builtin_mul_overflow(size, extent_[i], &size))
        return -1;
    return size;
  }
  bool IsScalar() const { return count_ == 0; }
  void SetScalar() { count_ = 0; }
  size_t GetDimNum() const { return count_; }
  void SetDimNum(size_t count) {
    for (size_t i = count; i < kMaxDimNum; i++)
      extent_[i] = 0;
    count_ = count;
  }
  int64_t GetDim(size_t at) const { return at < kMaxDimNum ? extent_[at] : kInvalidDimValue; }
  const int64_t &operator[](size_t at) const { return extent_[at]; }
  int64_t &operator[](size_t at) { return extent_[at]; }
  void SetDim(size_t at, int64_t extent) {
    if (at < kMaxDimNum)
      extent_[at] = extent;
  }
  Shape &AppendDim(int64_t extent) {
    if (count_ < kMaxDimNum)
      extent_[count_++] = extent;
    return *this;
  }

private:
  size_t count_ = 0;
  int64_t extent_[kMaxDimNum] = {};
};

// The shape that the caller gave, and that in memory, which differs for formats of blocks.
class StorageShape {
public:
  StorageShape() = default;
  StorageShape(std::initializer_list<int64_t> origin, std::initializer_list<int64_t> storage)
      : origin_(origin), storage_(storage) {}
  StorageShape(const Shape &origin, const Shape &storage) : origin_(origin), storage_(storage) {}
  const Shape &GetOriginShape() const { return origin_; }
  const Shape &GetShape() const { return storage_; }
  const Shape &GetStorageShape() const { return storage_; }
  Shape &MutableShape() { return storage_; }
  Shape &MutableOriginShape() { return origin_; }
  Shape &MutableStorageShape() { return storage_; }
  bool operator==(const StorageShape &other) const { return origin_ == other.origin_ && storage_ == other.storage_; }
  bool operator!=(const StorageShape &other) const { return !(*this == other); }

private:
  Shape origin_, storage_;
};

class Stride : public Shape {
public:
  using Shape::Shape;
  int64_t GetStride(size_t at) const { return GetDim(at); }
};

template <typename T> class Range {
public:
  Range() = default;
  Range(T *low, T *high) : low_(low), high_(high) {}
  const T *GetMin() const { return low_; }
  const T *GetMax() const { return high_; }
  T *GetMin() { return low_; }
  T *GetMax() { return high_; }
  void SetMin(T *low) { low_ = low; }
  void SetMax(T *high) { high_ = high; }

private:
  T *low_ = nullptr, *high_ = nullptr;
};

class ExpandDimsType {};

class StorageFormat {
public:
  StorageFormat() = default;
  StorageFormat(ge::Format origin, ge::Format storage, const ExpandDimsType &) : origin_(origin), storage_(storage) {}
  ge::Format GetOriginFormat() const { return origin_; }
  void SetOriginFormat(ge::Format format) { origin_ = format; }
  ge::Format GetStorageFormat() const { return storage_; }
  void SetStorageFormat(ge::Format format) { storage_ = format; }

private:
  ge::Format origin_ = ge::FORMAT_ND, storage_ = ge::FORMAT_ND;
};

} // namespace gert

#endif
