// SPDX-License-Identifier: Apache-2.0
// Shapes and types of tensors as host code of a library uses them, with the numbers of the public
// documentation.
#ifndef VINCI_CCE_LIBRARY_TENSOR_H
#define VINCI_CCE_LIBRARY_TENSOR_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace ge {

enum DataType {
  DT_FLOAT = 0,
  DT_FLOAT16 = 1,
  DT_INT8 = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 6,
  DT_UINT16 = 7,
  DT_UINT32 = 8,
  DT_INT64 = 9,
  DT_UINT64 = 10,
  DT_DOUBLE = 11,
  DT_BOOL = 12,
  DT_BF16 = 27,
  DT_INT4 = 29,
  DT_HIFLOAT8 = 34,
  DT_FLOAT8_E5M2 = 35,
  DT_FLOAT8_E4M3FN = 36,
  DT_FLOAT8_E8M0 = 37,
  DT_FLOAT4_E2M1 = 40,
  DT_FLOAT4_E1M2 = 41
};

inline int GetSizeByDataType(DataType type) {
  switch (type) {
  case DT_FLOAT:
  case DT_INT32:
  case DT_UINT32:
    return 4;
  case DT_FLOAT16:
  case DT_BF16:
  case DT_INT16:
  case DT_UINT16:
    return 2;
  case DT_INT64:
  case DT_UINT64:
  case DT_DOUBLE:
    return 8;
  default:
    return 1;
  }
}

// Extents of a tensor; one element when there are none.
class Shape {
public:
  Shape() = default;
  explicit Shape(const std::vector<int64_t> &extents) : extents_(extents) {}
  Shape(std::initializer_list<int64_t> extents) : extents_(extents) {}
  size_t GetDimNum() const { return extents_.size(); }
  int64_t GetDim(size_t at) const { return at < extents_.size() ? extents_[at] : 0; }
  bool SetDim(size_t at, int64_t extent) {
    if (at < extents_.size())
      extents_[at] = extent;
    return at < extents_.size();
  }
  std::vector<int64_t> GetDims() const { return extents_; }
  int64_t GetShapeSize() const {
    int64_t count = 1;
    for (int64_t extent : extents_)
      count *= extent;
    return count;
  }

private:
  std::vector<int64_t> extents_;
};

} // namespace ge

#endif
