// SPDX-License-Identifier: Apache-2.0
// How an operator's functions are made known: IMPL_OP_OPTILING(Name).Tiling(function) and the like.
#ifndef VINCI_LIBRARY_REGISTRY_H
#define VINCI_LIBRARY_REGISTRY_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vinci/library/context.h"

// Names that the vendor's header of registration (register/register.h) makes known to host code without std::.
using std::make_shared;
using std::map;
using std::pair;
using std::string;
using std::to_string;
using std::unique_ptr;
using std::vector;

namespace vinci_library {

struct Functions {
  ge::graphStatus (*tiling)(gert::TilingContext *) = nullptr;
  std::function<ge::graphStatus(gert::TilingParseContext *)> parse;
  std::shared_ptr<void> (*compile_info)() = nullptr;
  ge::graphStatus (*shape)(gert::InferShapeContext *) = nullptr;
  ge::graphStatus (*type)(gert::InferDataTypeContext *) = nullptr;
};
Functions &FunctionsOf(const char *name);

} // namespace vinci_library

namespace gert {

enum class TilingPlacement { TILING_ON_HOST = 0, TILING_ON_AICPU };

class OpImplRegisterV2 {
public:
  explicit OpImplRegisterV2(const char *name) : of_(vinci_library::FunctionsOf(name)) {}
  using Self = OpImplRegisterV2;
  Self &Tiling(ge::graphStatus (*function)(TilingContext *), size_t = 0) { return of_.tiling = function, *this; }
  template <typename T> Self &TilingParse(ge::graphStatus (*function)(TilingParseContext *)) {
    of_.parse = function;
    of_.compile_info = CompileInfo<T>;
    return *this;
  }
  template <typename T, typename C> Self &TilingParse(ge::graphStatus (*function)(C *)) {
    of_.compile_info = CompileInfo<T>;
    return (void)function, *this;
  }
  Self &InferShape(ge::graphStatus (*function)(InferShapeContext *)) { return of_.shape = function, *this; }
  Self &InferShapeRange(ge::graphStatus (*)(InferShapeRangeContext *)) { return *this; }
  Self &InferDataType(ge::graphStatus (*function)(InferDataTypeContext *)) { return of_.type = function, *this; }
  Self &InferOutDataTypeSameWithFirstInput() { return InferDataType(SameAsFirst); }
  template <typename... T> Self &InputsDataDependency(T &&...) { return *this; }
  Self &InputsDataDependency(std::initializer_list<int32_t>) { return *this; }
  Self &TilingInputsDataDependency(std::initializer_list<int32_t>) { return *this; }
  template <typename T> Self &TilingInputsDataDependency(std::initializer_list<int32_t>, T &&) { return *this; }
  Self &TilingInputsDataDependency(std::initializer_list<int32_t>, std::initializer_list<TilingPlacement>) {
    return *this;
  }
  template <typename... T> Self &PrivateAttr(T &&...) { return *this; }
  template <typename T> Self &GenSimplifiedKey(T &&) { return *this; }
  template <typename T> Self &OpExecuteFunc(T &&) { return *this; }
  template <typename T> Self &HostInputs(T &&) { return *this; }
  Self &HostInputs(std::initializer_list<int32_t>) { return *this; }

private:
  // Sources of one operator for several chips have structures of one name and several sizes, and the linker takes one of
  // these functions for all: there is room behind.
  template <typename T> struct Roomy {
    T value{};
    char room[4096];
  };
  template <typename T> static std::shared_ptr<void> CompileInfo() {
    auto made = std::make_shared<Roomy<T>>();
    return std::shared_ptr<void>(made, &made->value);
  }
  static ge::graphStatus SameAsFirst(InferDataTypeContext *context) {
    for (size_t i = 0; i < context->GetComputeNodeOutputNum(); i++)
      context->SetOutputDataType(i, context->GetInputDataType(0));
    return ge::GRAPH_SUCCESS;
  }
  vinci_library::Functions &of_;
};
using OpImplRegister = OpImplRegisterV2;

} // namespace gert

#define VINCI_LIBRARY_JOIN2(a, b) a##b
#define VINCI_LIBRARY_JOIN(a, b) VINCI_LIBRARY_JOIN2(a, b)
#define IMPL_OP(name)                                                                                              \
  static gert::OpImplRegisterV2 VINCI_LIBRARY_JOIN(vinci_library_op_, __COUNTER__) = gert::OpImplRegisterV2(#name)
#define IMPL_OP_OPTILING(name) IMPL_OP(name)
#define IMPL_OP_OPTILING_LEGACY(name) IMPL_OP(name)
#define IMPL_OP_INFERSHAPE(name) IMPL_OP(name)
#define IMPL_OP_DEFAULT() IMPL_OP(DefaultImpl)

#endif
