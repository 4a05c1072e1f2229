// SPDX-License-Identifier: Apache-2.0
// Tensors, their descriptions, and attributes of a call.
#ifndef VINCI_LIBRARY_TENSOR_H
#define VINCI_LIBRARY_TENSOR_H

#include <cstring>
#include <memory>

#include "vinci/library/shape.h"

namespace gert {

enum TensorPlacement { kOnDeviceHbm, kOnHost, kFollowing, kOnDeviceP2p, kTensorPlacementEnd };

class ContinuousVector {
public:
  size_t GetSize() const { return count_; }
  size_t GetCapacity() const { return count_; }
  const void *GetData() const { return data_.data(); }
  void *MutableData() { return data_.data(); }
  template <typename T> static std::unique_ptr<uint8_t[]> Create(size_t capacity) {
    return std::make_unique<uint8_t[]>(sizeof(ContinuousVector) + capacity * sizeof(T));
  }
  template <typename T> void Assign(const std::vector<T> &values) {
    count_ = values.size();
    data_.resize((count_ * sizeof(T) + 7) / 8 + 1);
    for (size_t i = 0; i < count_; i++)
      reinterpret_cast<T *>(data_.data())[i] = values[i];
  }

protected:
  size_t count_ = 0;
  std::vector<uint64_t> data_;
};

template <typename T> class TypedContinuousVector : public ContinuousVector {
public:
  const T *GetData() const { return reinterpret_cast<const T *>(data_.data()); }
  T *MutableData() { return reinterpret_cast<T *>(data_.data()); }
};

class ContinuousVectorVector {
public:
  size_t GetSize() const { return lists_.size(); }
  const ContinuousVector *Get(size_t at) const { return at < lists_.size() ? &lists_[at] : nullptr; }
  ContinuousVector *Append() { return &lists_.emplace_back(); }

private:
  std::vector<ContinuousVector> lists_;
};

class CompileTimeTensorDesc {
public:
  ge::DataType GetDataType() const { return type_; }
  const StorageFormat &GetFormat() const { return format_; }
  ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
  ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
  ExpandDimsType GetExpandDimsType() const { return {}; }
  void SetDataType(ge::DataType type) { type_ = type; }
  void SetStorageFormat(ge::Format format) { format_.SetStorageFormat(format); }
  void SetOriginFormat(ge::Format format) { format_.SetOriginFormat(format); }

private:
  ge::DataType type_ = ge::DT_FLOAT;
  StorageFormat format_;
};

// What a tensor holds is known where the caller gave values.
class Tensor {
public:
  size_t GetSize() const { return values_.size(); }
  int64_t GetShapeSize() const { return shape_.GetStorageShape().GetShapeSize(); }
  const void *GetAddr() const { return values_.empty() ? nullptr : values_.data(); }
  template <typename T> const T *GetData() const { return static_cast<const T *>(GetAddr()); }
  template <typename T> T *GetData() { return values_.empty() ? nullptr : reinterpret_cast<T *>(values_.data()); }
  ge::DataType GetDataType() const { return desc_.GetDataType(); }
  void SetDataType(ge::DataType type) { desc_.SetDataType(type); }
  const Shape &GetStorageShape() const { return shape_.GetStorageShape(); }
  Shape &MutableStorageShape() { return shape_.MutableStorageShape(); }
  const Shape &GetOriginShape() const { return shape_.GetOriginShape(); }
  Shape &MutableOriginShape() { return shape_.MutableOriginShape(); }
  const StorageShape &GetShape() const { return shape_; }
  StorageShape &GetShape() { return shape_; }
  ge::Format GetStorageFormat() const { return desc_.GetStorageFormat(); }
  ge::Format GetOriginFormat() const { return desc_.GetOriginFormat(); }
  const StorageFormat &GetFormat() const { return desc_.GetFormat(); }
  TensorPlacement GetPlacement() const { return kOnHost; }
  const CompileTimeTensorDesc &Desc() const { return desc_; }
  CompileTimeTensorDesc &Desc() { return desc_; }
  void SetValues(const std::vector<uint8_t> &values) { values_ = values; }

private:
  StorageShape shape_;
  CompileTimeTensorDesc desc_;
  std::vector<uint8_t> values_;
};
using TensorRange = Range<Tensor>;

// Attributes in the order of the operator's definition.
class RuntimeAttrs {
public:
  // An attribute: a number, a word or a list, each as the pointer types of the library read such values.
  struct Value {
    int64_t whole = 0; // bool and small integers are its first bytes
    float real = 0;
    std::string word;
    ContinuousVector list;
    ContinuousVectorVector lists;
    enum Kind { WHOLE, REAL, WORD, LIST, LISTS } kind = WHOLE;
  };
  size_t GetAttrNum() const { return values_.size(); }
  template <typename T> const T *GetAttrPointer(size_t at) const {
    return at < values_.size() ? static_cast<const T *>(Address(*values_[at])) : nullptr;
  }
  const int64_t *GetInt(size_t at) const { return GetAttrPointer<int64_t>(at); }
  const float *GetFloat(size_t at) const { return GetAttrPointer<float>(at); }
  const bool *GetBool(size_t at) const { return GetAttrPointer<bool>(at); }
  const char *GetStr(size_t at) const { return GetAttrPointer<char>(at); }
  const TypedContinuousVector<int64_t> *GetListInt(size_t at) const {
    return GetAttrPointer<TypedContinuousVector<int64_t>>(at);
  }
  const TypedContinuousVector<float> *GetListFloat(size_t at) const {
    return GetAttrPointer<TypedContinuousVector<float>>(at);
  }
  const ContinuousVectorVector *GetListListInt(size_t at) const { return GetAttrPointer<ContinuousVectorVector>(at); }
  Value &Add() { return *values_.emplace_back(std::make_unique<Value>()); }

private:
  static const void *Address(const Value &value) {
    switch (value.kind) {
    case Value::REAL:
      return &value.real;
    case Value::WORD:
      return value.word.c_str();
    case Value::LIST:
      return &value.list;
    case Value::LISTS:
      return &value.lists;
    default:
      return &value.whole;
    }
  }
  std::vector<std::unique_ptr<Value>> values_;
};

// Where the tensors of an input of the definition are among all inputs.
class AnchorInstanceInfo {
public:
  AnchorInstanceInfo() = default;
  AnchorInstanceInfo(size_t start, size_t count) : start_(start), count_(count) {}
  size_t GetInstanceNum() const { return count_; }
  size_t GetInstanceStart() const { return start_; }

private:
  size_t start_ = 0, count_ = 0;
};

class TilingData {
public:
  explicit TilingData(size_t capacity) : bytes_((capacity + 7) / 8), capacity_(capacity) {}
  static std::unique_ptr<uint8_t[]> CreateCap(size_t capacity) {
    return std::make_unique<uint8_t[]>(sizeof(TilingData) + capacity);
  }
  size_t GetCapacity() const { return capacity_; }
  size_t GetDataSize() const { return size_; }
  void SetDataSize(size_t size) { size_ = size; }
  void *GetData() { return bytes_.data(); }
  const void *GetData() const { return bytes_.data(); }
  template <typename T> ge::graphStatus Append(const T &data) { return Append(&data, 1); }
  template <typename T> ge::graphStatus Append(const T *data, size_t count) {
    void *room = Expand(sizeof(T) * count);
    if (room)
      memcpy(room, data, sizeof(T) * count);
    return room ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
  }
  void *Expand(size_t size) {
    if (size > capacity_ - size_)
      return nullptr;
    size_ += size;
    return reinterpret_cast<uint8_t *>(bytes_.data()) + size_ - size;
  }

private:
  std::vector<uint64_t> bytes_;
  size_t capacity_, size_ = 0;
};

} // namespace gert

#endif
