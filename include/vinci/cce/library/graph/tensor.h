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
  DT_STRING = 13,
  DT_DUAL_SUB_INT8 = 14,
  DT_DUAL_SUB_UINT8 = 15,
  DT_COMPLEX64 = 16,
  DT_COMPLEX128 = 17,
  DT_QINT8 = 18,
  DT_QINT16 = 19,
  DT_QINT32 = 20,
  DT_QUINT8 = 21,
  DT_QUINT16 = 22,
  DT_RESOURCE = 23,
  DT_STRING_REF = 24,
  DT_DUAL = 25,
  DT_VARIANT = 26,
  DT_BF16 = 27,
  DT_UNDEFINED = 28,
  DT_INT4 = 29,
  DT_UINT1 = 30,
  DT_INT2 = 31,
  DT_UINT2 = 32,
  DT_COMPLEX32 = 33,
  DT_HIFLOAT8 = 34,
  DT_FLOAT8_E5M2 = 35,
  DT_FLOAT8_E4M3FN = 36,
  DT_FLOAT8_E8M0 = 37,
  DT_FLOAT4_E2M1 = 40,
  DT_FLOAT4_E1M2 = 41,
  DT_MAX = 43
};

enum Format {
  FORMAT_NCHW = 0,
  FORMAT_NHWC = 1,
  FORMAT_ND = 2,
  FORMAT_NC1HWC0 = 3,
  FORMAT_FRACTAL_Z = 4,
  FORMAT_C1HWNC0 = 9,
  FORMAT_NC1HWC0_C04 = 12,
  FORMAT_FRACTAL_Z_C04 = 13,
  FORMAT_CHWN = 14,
  FORMAT_HWCN = 16,
  FORMAT_NDHWC = 27,
  FORMAT_FRACTAL_ZZ = 28,
  FORMAT_FRACTAL_NZ = 29,
  FORMAT_NCDHW = 30,
  FORMAT_DHWCN = 31,
  FORMAT_NDC1HWC0 = 32,
  FORMAT_FRACTAL_Z_3D = 33,
  FORMAT_CN = 34,
  FORMAT_NC = 35,
  FORMAT_DHWNC = 36,
  FORMAT_FRACTAL_Z_3D_TRANSPOSE = 37,
  FORMAT_FRACTAL_ZN_LSTM = 38,
  FORMAT_FRACTAL_Z_G = 39,
  FORMAT_RESERVED = 40,
  FORMAT_ALL = 41,
  FORMAT_NULL = 42,
  FORMAT_ND_RNN_BIAS = 43,
  FORMAT_FRACTAL_ZN_RNN = 44,
  FORMAT_NCL = 47,
  FORMAT_FRACTAL_Z_WINO = 48,
  FORMAT_C1HWC0 = 49,
  FORMAT_FRACTAL_NZ_C0_16 = 50,
  FORMAT_FRACTAL_NZ_C0_32 = 51,
  FORMAT_FRACTAL_NZ_C0_2 = 52,
  FORMAT_FRACTAL_NZ_C0_4 = 53,
  FORMAT_FRACTAL_NZ_C0_8 = 54,
  FORMAT_END = 55, // behind the last
  FORMAT_MAX = 0xff
};

inline int GetSizeByDataType(DataType type) {
  switch (type) {
  case DT_FLOAT:
  case DT_INT32:
  case DT_UINT32:
  case DT_COMPLEX32:
    return 4;
  case DT_FLOAT16:
  case DT_BF16:
  case DT_INT16:
  case DT_UINT16:
    return 2;
  case DT_INT64:
  case DT_UINT64:
  case DT_DOUBLE:
  case DT_COMPLEX64:
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
