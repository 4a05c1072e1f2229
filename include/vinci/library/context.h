// SPDX-License-Identifier: Apache-2.0
// The contexts that functions of an operator are called with: its tensors and attributes, and what they answer.
#ifndef VINCI_LIBRARY_CONTEXT_H
#define VINCI_LIBRARY_CONTEXT_H

#include "vinci/library/platform.h"
#include "vinci/library/tensor.h"

namespace vinci_library {

// A call of an operator. An optional input that is not there has no tensor.
struct Call {
  std::string type;
  std::vector<gert::Tensor> inputs, outputs;
  std::vector<gert::AnchorInstanceInfo> input_place, output_place; // of the inputs of the definition
  gert::RuntimeAttrs attrs;
  fe::PlatFormInfos platform;
  std::shared_ptr<void> compile_info;
  bool deterministic = false;
  // answers
  gert::TilingData tiling{1 << 20};
  std::vector<size_t> workspaces;
  uint64_t key = 0;
  uint32_t blocks = 1, schedule = 0;
};

} // namespace vinci_library

namespace gert {

class ExtendedKernelContext {
public:
  explicit ExtendedKernelContext(vinci_library::Call *call) : call_(call) {}
  const char *GetNodeName() const { return call_->type.c_str(); }
  const char *GetNodeType() const { return call_->type.c_str(); }
  const char *GetKernelName() const { return call_->type.c_str(); }
  const RuntimeAttrs *GetAttrs() const { return &call_->attrs; }
  size_t GetComputeNodeInputNum() const { return call_->inputs.size(); }
  size_t GetComputeNodeOutputNum() const { return call_->outputs.size(); }
  // What is asked of the node's information is answered by the context itself.
  const ExtendedKernelContext *GetComputeNodeInfo() const { return this; }
  size_t GetInputsNum() const { return call_->inputs.size(); }
  size_t GetOutputsNum() const { return call_->outputs.size(); }
  size_t GetIrInputsNum() const { return call_->input_place.size(); }
  size_t GetIrOutputsNum() const { return call_->output_place.size(); }
  const AnchorInstanceInfo *GetInputInstanceInfo(size_t at) const { return PlaceOf(call_->input_place, at); }
  const AnchorInstanceInfo *GetOutputInstanceInfo(size_t at) const { return PlaceOf(call_->output_place, at); }
  const AnchorInstanceInfo *GetIrInputInstanceInfo(size_t at) const { return PlaceOf(call_->input_place, at); }
  const AnchorInstanceInfo *GetIrOutputInstanceInfo(size_t at) const { return PlaceOf(call_->output_place, at); }
  const CompileTimeTensorDesc *GetInputDesc(size_t at) const { return DescOf(Input(at)); }
  const CompileTimeTensorDesc *GetInputTdInfo(size_t at) const { return DescOf(Input(at)); }
  const CompileTimeTensorDesc *GetOutputDesc(size_t at) const { return DescOf(Output(at)); }
  const CompileTimeTensorDesc *GetOutputTdInfo(size_t at) const { return DescOf(Output(at)); }
  const CompileTimeTensorDesc *GetRequiredInputDesc(size_t at) const { return DescOf(Instance(at, 0)); }
  const CompileTimeTensorDesc *GetOptionalInputDesc(size_t at) const { return DescOf(Instance(at, 0)); }
  const CompileTimeTensorDesc *GetDynamicInputDesc(size_t at, size_t i) const { return DescOf(Instance(at, i)); }
  const Tensor *GetInputTensor(size_t at) const { return Input(at); }
  const Tensor *GetRequiredInputTensor(size_t at) const { return Instance(at, 0); }
  const Tensor *GetOptionalInputTensor(size_t at) const { return Instance(at, 0); }
  const Tensor *GetDynamicInputTensor(size_t at, size_t i) const { return Instance(at, i); }
  int32_t GetDeterministic() const { return call_->deterministic; }
  int32_t GetDeterministicLevel() const { return call_->deterministic; }

protected:
  static const AnchorInstanceInfo *PlaceOf(const std::vector<AnchorInstanceInfo> &places, size_t at) {
    return at < places.size() ? &places[at] : nullptr;
  }
  static const CompileTimeTensorDesc *DescOf(const Tensor *tensor) { return tensor ? &tensor->Desc() : nullptr; }
  static const StorageShape *ShapeOf(const Tensor *tensor) { return tensor ? &tensor->GetShape() : nullptr; }
  Tensor *Input(size_t at) const { return at < call_->inputs.size() ? &call_->inputs[at] : nullptr; }
  Tensor *Output(size_t at) const { return at < call_->outputs.size() ? &call_->outputs[at] : nullptr; }
  // Tensor number i of an input of the definition.
  Tensor *Instance(size_t at, size_t i) const {
    const AnchorInstanceInfo *place = PlaceOf(call_->input_place, at);
    return place && i < place->GetInstanceNum() ? Input(place->GetInstanceStart() + i) : nullptr;
  }
  vinci_library::Call *call_;
};
using ComputeNodeInfo = ExtendedKernelContext;

class TilingContext : public ExtendedKernelContext {
public:
  using ExtendedKernelContext::ExtendedKernelContext;
  const void *GetCompileInfo() const { return call_->compile_info.get(); }
  template <typename T> const T *GetCompileInfo() const { return static_cast<const T *>(GetCompileInfo()); }
  fe::PlatFormInfos *GetPlatformInfo() const { return &call_->platform; }
  const StorageShape *GetInputShape(size_t at) const { return ShapeOf(Input(at)); }
  const StorageShape *GetRequiredInputShape(size_t at) const { return ShapeOf(Instance(at, 0)); }
  const StorageShape *GetOptionalInputShape(size_t at) const { return ShapeOf(Instance(at, 0)); }
  const StorageShape *GetDynamicInputShape(size_t at, size_t i) const { return ShapeOf(Instance(at, i)); }
  const StorageShape *GetOutputShape(size_t at) const { return ShapeOf(Output(at)); }
  const Stride *GetInputStride(size_t) const { return nullptr; }
  const Stride *GetOutputStride(size_t) const { return nullptr; }
  bool InputIsView(size_t) const { return false; }
  const Stride *GetDynamicInputStride(size_t, size_t) const { return nullptr; }
  bool DynamicInputIsView(size_t, size_t) const { return false; }
  bool OutputIsView(size_t) const { return false; }
  ge::graphStatus SetTilingKey(uint64_t key) { return call_->key = key, ge::GRAPH_SUCCESS; }
  uint64_t GetTilingKey() const { return call_->key; }
  ge::graphStatus SetBlockDim(uint32_t blocks) { return call_->blocks = blocks, ge::GRAPH_SUCCESS; }
  ge::graphStatus SetNumBlocks(uint32_t blocks) { return SetBlockDim(blocks); }
  uint32_t GetBlockDim() const { return call_->blocks; }
  uint32_t GetNumBlocks() const { return call_->blocks; }
  ge::graphStatus SetAicpuBlockDim(uint32_t) { return ge::GRAPH_SUCCESS; }
  ge::graphStatus SetNeedAtomic(bool) { return ge::GRAPH_SUCCESS; }
  ge::graphStatus SetScheduleMode(uint32_t mode) { return call_->schedule = mode, ge::GRAPH_SUCCESS; }
  uint32_t GetScheduleMode() const { return call_->schedule; }
  ge::graphStatus SetLocalMemorySize(uint32_t) { return ge::GRAPH_SUCCESS; }
  ge::graphStatus SetDynUBufSize(uint32_t) { return ge::GRAPH_SUCCESS; }
  ge::graphStatus SetTilingCond(int32_t) { return ge::GRAPH_SUCCESS; }
  size_t *GetWorkspaceSizes(size_t count) {
    if (call_->workspaces.size() < count)
      call_->workspaces.resize(count);
    return call_->workspaces.data();
  }
  size_t GetWorkspaceNum() const { return call_->workspaces.size(); }
  TilingData *GetRawTilingData() { return &call_->tiling; }
  template <typename T> T *GetTilingData() {
    call_->tiling.SetDataSize(sizeof(T));
    return static_cast<T *>(call_->tiling.GetData());
  }
  vinci_library::Call *VinciCall() { return call_; }
};

// How an operator prepares what its tiling knows of the chip.
class TilingParseContext : public ExtendedKernelContext {
public:
  using ExtendedKernelContext::ExtendedKernelContext;
  template <typename T> T *GetCompiledInfo() const { return static_cast<T *>(call_->compile_info.get()); }
  const char *GetCompiledJson() const { return "{}"; }
  fe::PlatFormInfos *GetPlatformInfo() const { return &call_->platform; }
};

class InferShapeContext : public ExtendedKernelContext {
public:
  using ExtendedKernelContext::ExtendedKernelContext;
  const Shape *GetInputShape(size_t at) const { return Origin(Input(at)); }
  const Shape *GetRequiredInputShape(size_t at) const { return Origin(Instance(at, 0)); }
  const Shape *GetOptionalInputShape(size_t at) const { return Origin(Instance(at, 0)); }
  const Shape *GetDynamicInputShape(size_t at, size_t i) const { return Origin(Instance(at, i)); }
  Shape *GetOutputShape(size_t at) const { return at < call_->outputs.size() ? &Output(at)->MutableOriginShape() : nullptr; }

private:
  static const Shape *Origin(const Tensor *tensor) { return tensor ? &tensor->GetOriginShape() : nullptr; }
};

class InferDataTypeContext : public ExtendedKernelContext {
public:
  using ExtendedKernelContext::ExtendedKernelContext;
  ge::DataType GetInputDataType(size_t at) const { return Type(Input(at)); }
  ge::DataType GetRequiredInputDataType(size_t at) const { return Type(Instance(at, 0)); }
  ge::DataType GetOptionalInputDataType(size_t at) const { return Type(Instance(at, 0)); }
  ge::DataType GetDynamicInputDataType(size_t at, size_t i) const { return Type(Instance(at, i)); }
  ge::DataType GetOutputDataType(size_t at) const { return Type(Output(at)); }
  ge::graphStatus SetOutputDataType(size_t at, ge::DataType type) {
    if (Output(at))
      Output(at)->SetDataType(type);
    return Output(at) ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
  }

private:
  static ge::DataType Type(const Tensor *tensor) { return tensor ? tensor->GetDataType() : ge::DT_UNDEFINED; }
};

// Of graphs with unknown extents; never called here.
class InferShapeRangeContext : public ExtendedKernelContext {
public:
  using ExtendedKernelContext::ExtendedKernelContext;
  const Range<Shape> *GetInputShapeRange(size_t) const { return nullptr; }
  const Range<Shape> *GetOptionalInputShapeRange(size_t) const { return nullptr; }
  const Range<Shape> *GetRequiredInputShapeRange(size_t) const { return nullptr; }
  const Range<Shape> *GetDynamicInputShapeRange(size_t, size_t) const { return nullptr; }
  Range<Shape> *GetOutputShapeRange(size_t) const { return nullptr; }
};

} // namespace gert

#endif
