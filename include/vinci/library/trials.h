// SPDX-License-Identifier: Apache-2.0
// Calls for a trial, from the tests of a library. Such a test gives shapes, types and attributes to a faked context, and
// calls the tiling with that. Compiled against this header, a test only tells what it would have called.
#ifndef VINCI_LIBRARY_TRIALS_H
#define VINCI_LIBRARY_TRIALS_H

#include "vinci/library/host.h"

#include <fstream>
#include <thread>

using namespace std; // as many tests have it by a header of their own

namespace vinci_library {

struct Trial {
  std::string op; // empty: the operator that the library's sources are of
  std::vector<std::string> words;
  size_t attr_count = 0;
  // By its place, too: tests do not always have the names of the definition.
  void AddAttr(const std::string &text) { words.push_back("%" + std::to_string(attr_count++) + "=" + text); }
  // Tensors by their place; counts: how many there are of each input of the definition, which may be none.
  void Add(char mark, const std::vector<std::string> &tensors, const std::vector<uint32_t> &counts) {
    size_t sum = 0, at = 0, place = 0;
    for (uint32_t count : counts)
      sum += count;
    auto put = [&](const std::string &text) {
      words.push_back(mark + std::to_string(place++) + "=" + text);
    };
    for (uint32_t count : sum == tensors.size() ? counts : std::vector<uint32_t>(tensors.size(), 1)) {
      if (count == 0)
        put("");
      for (; count > 0; count--)
        put(tensors[at++]);
    }
  }
};
void AddTrial(const Trial &trial);
// "fp32:8x16:ND=1,2"; without a tensor "".
std::string TrialTensor(const gert::StorageShape *shape, ge::DataType type, ge::Format format, const void *values);

template <typename T> std::string TrialText(const T &value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "true" : "false";
  else if constexpr (std::is_arithmetic_v<T>) {
    std::ostringstream out;
    out.precision(9);
    out << +value;
    return out.str();
  } else if constexpr (std::is_convertible_v<T, std::string>)
    return value;
  else if constexpr (std::is_same_v<T, ge::AscendString>)
    return value.GetString();
  else {
    std::string text;
    for (const auto &part : value)
      text += (text.empty() ? "" : ",") + TrialText<typename T::value_type>(part);
    return text;
  }
}

struct AnyValue {
  AnyValue() = default;
  template <typename T> static AnyValue CreateFrom(const T &value) { return {TrialText<T>(value)}; }
  AnyValue(const std::string &given) : text(given) {}
  std::string text;
};

} // namespace vinci_library

namespace Ops {
namespace NN {
using vinci_library::AnyValue;
}
namespace Math {
using vinci_library::AnyValue;
}
namespace Cv {
using vinci_library::AnyValue;
}
namespace Transformer {
using vinci_library::AnyValue;
}
} // namespace Ops
namespace ge {
using vinci_library::AnyValue;
}

namespace gert {

class TilingContextPara {
public:
  struct TensorDescription {
    TensorDescription(const StorageShape &shape, ge::DataType type, ge::Format format, bool given = false,
                      const void *data = nullptr)
        : text(vinci_library::TrialTensor(&shape, type, format, given ? data : nullptr)) {}
    std::string text;
  };
  struct OpAttr {
    OpAttr(const std::string &name, const vinci_library::AnyValue &value) : name(name), value(value) {}
    std::string name;
    vinci_library::AnyValue value;
  };
  using Tensors = std::vector<TensorDescription>;
  using Attrs = std::vector<OpAttr>;
  using Counts = std::vector<uint32_t>;
  TilingContextPara(const std::string &op, const Tensors &in, const Tensors &out, const Attrs &attrs, void * = nullptr) {
    Take(op, in, out, attrs);
  }
  template <typename T, typename... More>
  TilingContextPara(const std::string &op, const Tensors &in, const Tensors &out, const Attrs &attrs, void *, const T &,
                    const More &...) {
    Take(op, in, out, attrs);
  }
  TilingContextPara(const std::string &op, const Tensors &in, const Tensors &out, void * = nullptr) {
    Take(op, in, out, {});
  }
  template <typename T, typename... More>
  TilingContextPara(const std::string &op, const Tensors &in, const Tensors &out, void *, const T &, const More &...) {
    Take(op, in, out, {});
  }
  template <typename... More>
  TilingContextPara(const std::string &op, const Tensors &in, const Tensors &out, const Attrs &attrs,
                    const Counts &ins, const Counts &outs, const More &...) {
    Take(op, in, out, attrs, ins, outs);
  }
  template <typename... More>
  TilingContextPara(const std::string &op, const Tensors &in, const Tensors &out, const Counts &ins,
                    const Counts &outs, const More &...) {
    Take(op, in, out, {}, ins, outs);
  }
  vinci_library::Trial trial;
  uint64_t coreNum_ = 0, ubSize_ = 0, tilingDataSize_ = 0;
  void *compileInfo_ = nullptr;
  std::string socVersion_;
  int32_t deterministic_ = 0;

private:
  static std::vector<std::string> Texts(const Tensors &tensors) {
    std::vector<std::string> texts;
    for (const TensorDescription &tensor : tensors)
      texts.push_back(tensor.text);
    return texts;
  }
  void Take(const std::string &op, const Tensors &in, const Tensors &out, const Attrs &attrs, const Counts &ins = {},
            const Counts &outs = {}) {
    trial.op = op;
    trial.Add('#', Texts(in), ins);
    trial.Add('@', Texts(out), outs);
    for (const OpAttr &attr : attrs)
      trial.AddAttr(attr.value.text);
  }
};

class KernelContext;
template <typename C> struct TrialHolder {
  template <typename T> auto *GetContext() const {
    if constexpr (std::is_same_v<T, KernelContext>)
      return context.get();
    else
      return reinterpret_cast<T *>(context.get());
  }
  std::shared_ptr<vinci_library::Call> call = std::make_shared<vinci_library::Call>();
  std::shared_ptr<C> context = std::make_shared<C>(call.get());
};

class KernelRunContextFaker {
public:
  KernelRunContextFaker &KernelIONum(size_t, size_t) { return *this; }
  KernelRunContextFaker &Inputs(const std::vector<void *> &) { return *this; }
  KernelRunContextFaker &Outputs(const std::vector<void *> &) { return *this; }
  KernelRunContextFaker &NodeIoNum(size_t, size_t) { return *this; }
  KernelRunContextFaker &IrInstanceNum(const std::vector<uint32_t> &) { return *this; }
  TrialHolder<TilingParseContext> Build() { return {}; }
};

// The older way: a context that is put together step by step.
class TilingContextFaker {
public:
  using Self = TilingContextFaker;
  Self &SetOpType(const std::string &type) { return op_ = type, *this; }
  Self &NodeIoNum(size_t, size_t) { return *this; }
  Self &IrInstanceNum(const std::vector<uint32_t> &in) { return input_counts_ = in, *this; }
  Self &IrInstanceNum(const std::vector<uint32_t> &in, const std::vector<uint32_t> &out) {
    return output_counts_ = out, IrInstanceNum(in);
  }
  Self &IrInputNum(size_t) { return *this; }
  Self &InputShapes(const std::vector<StorageShape *> &shapes) { return TakeShapes(inputs_, shapes); }
  Self &OutputShapes(const std::vector<StorageShape *> &shapes) { return TakeShapes(outputs_, shapes); }
  Self &NodeInputTd(int32_t at, ge::DataType type, ge::Format, ge::Format format) {
    return TakeType(inputs_, at, type, format);
  }
  Self &NodeOutputTd(int32_t at, ge::DataType type, ge::Format, ge::Format format) {
    return TakeType(outputs_, at, type, format);
  }
  template <typename T> Self &Attr(const std::string &, const T &value) {
    return attrs_.push_back(vinci_library::TrialText<T>(value)), *this;
  }
  Self &NodeAttrs(const std::vector<std::pair<std::string, vinci_library::AnyValue>> &attrs) {
    for (const auto &attr : attrs)
      attrs_.push_back(attr.second.text);
    return *this;
  }
  template <typename T> Self &ConstInput(T &list) {
    for (auto &one : list)
      if (one.first < inputs_.size() && one.second)
        inputs_[one.first].values = reinterpret_cast<const Tensor *>(one.second.get())->GetAddr();
    return *this;
  }
  template <typename T> Self &CompileInfo(T &&) { return *this; }
  template <typename T> Self &PlatformInfo(T &&) { return *this; }
  template <typename T> Self &DeterministicInfo(T &&) { return *this; }
  template <typename T> Self &DeterministicLevelInfo(T &&) { return *this; }
  template <typename T> Self &TilingData(T &&) { return *this; }
  template <typename T> Self &Workspace(T &&) { return *this; }
  TrialHolder<TilingContext> Build() {
    vinci_library::Trial trial{op_, {}};
    trial.Add('#', Texts(inputs_), input_counts_);
    trial.Add('@', Texts(outputs_), output_counts_);
    for (const std::string &attr : attrs_)
      trial.AddAttr(attr);
    vinci_library::AddTrial(trial);
    return {};
  }

private:
  struct One {
    const StorageShape *shape;
    ge::DataType type = ge::DT_FLOAT;
    ge::Format format = ge::FORMAT_ND;
    const void *values = nullptr;
  };
  Self &TakeShapes(std::vector<One> &list, const std::vector<StorageShape *> &shapes) {
    for (StorageShape *shape : shapes)
      list.push_back({shape});
    return *this;
  }
  Self &TakeType(std::vector<One> &list, int32_t at, ge::DataType type, ge::Format format) {
    if (at >= 0 && (size_t)at < list.size())
      list[(size_t)at].type = type, list[(size_t)at].format = format;
    return *this;
  }
  static std::vector<std::string> Texts(const std::vector<One> &list) {
    std::vector<std::string> texts;
    for (const One &one : list)
      texts.push_back(vinci_library::TrialTensor(one.shape, one.type, one.format, one.values));
    return texts;
  }
  std::string op_;
  std::vector<uint32_t> input_counts_, output_counts_;
  std::vector<One> inputs_, outputs_;
  std::vector<std::string> attrs_;
};

// A test asks for the functions of an operator by name, and calls them.
struct TrialFunctions {
  struct Function {
    template <typename... T> ge::graphStatus operator()(T &&...) const { return ge::GRAPH_SUCCESS; }
    bool operator!=(std::nullptr_t) const { return true; }
    bool operator==(std::nullptr_t) const { return false; }
  };
  Function tiling, tiling_parse, infer_shape, gen_simplifiedkey;
};
struct OpImplRegistry {
  static OpImplRegistry &GetInstance() {
    static OpImplRegistry registry;
    return registry;
  }
  const TrialFunctions *GetOpImpl(const char *) const {
    static const TrialFunctions functions;
    return &functions;
  }
};

} // namespace gert

struct TilingInfo {
  int64_t tilingKey = -1;
  std::vector<int64_t> workspaceSizes;
  std::unique_ptr<uint8_t[]> tilingData;
  size_t tilingDataSize = 0, blockNum = 0;
};

// Calls that have to be refused are none to try.
template <typename... T> void ExecuteTestCase(const gert::TilingContextPara &para, ge::graphStatus expected, T &&...) {
  if (expected == ge::GRAPH_SUCCESS)
    vinci_library::AddTrial(para.trial);
}
inline void ExecuteTestCase(const gert::TilingContextPara &) {}
template <typename... T>
void ExecuteTestCaseForEle(const gert::TilingContextPara &para, ge::graphStatus expected, T &&...more) {
  ExecuteTestCase(para, expected);
}
inline bool ExecuteTiling(const gert::TilingContextPara &para, TilingInfo &) {
  vinci_library::AddTrial(para.trial);
  return true;
}
template <typename... T> void GetPlatFormInfos(T &&...) {}

namespace ut_util {} // that tests have in use

// What a graph knows of operators (REG_OP) is left out.
struct VinciTrialProto {
  VinciTrialProto Part() const { return {}; }
};
#define REG_OP(name) static const VinciTrialProto vinci_trial_proto_##name = VinciTrialProto()
#define INPUT(...) Part()
#define OPTIONAL_INPUT(...) Part()
#define DYNAMIC_INPUT(...) Part()
#define OUTPUT(...) Part()
#define DYNAMIC_OUTPUT(...) Part()
#define ATTR(...) Part()
#define REQUIRED_ATTR(...) Part()
#define OP_END_FACTORY_REG(name) Part();

#include "vinci/library/testing.h"

#endif
