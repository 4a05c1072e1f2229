// SPDX-License-Identifier: Apache-2.0
// An operator's definition: its inputs, outputs and attributes, with the types that it takes, for each chip.
#ifndef VINCI_LIBRARY_DEFINITION_H
#define VINCI_LIBRARY_DEFINITION_H

#include <map>
#include <memory>

#include "vinci/library/context.h"

namespace ops {

enum Option { IGNORE = 0, OPTIONAL, REQUIRED, DYNAMIC, VIRTUAL };
enum class FollowType { ALL = 0, DTYPE, FORMAT, SHAPE, INVALID_TYPE };
enum class InitValueType { INIT_VALUE_UINT64_T = 0, INIT_VALUE_DEFAULT };
enum class HcclServerType { AICPU, AICORE, CCU, MAX };
enum class DependScope { ALL = 0, TILING, INVALID_SCOPE };
enum class ItemFindStatus { ITEM_FIND = 0, ITEM_NOEXIST };

// An input or an output. Types and formats at the same place of their lists go together.
class OpParamDef {
public:
  explicit OpParamDef(const char *name) : name(name) {}
  using Self = OpParamDef;
  Self &ParamType(Option value) { return option = value, *this; }
  Self &DataType(std::vector<ge::DataType> list) { return types = std::move(list), *this; }
  Self &DataTypeList(std::vector<ge::DataType> list) { return types = std::move(list), any = true, *this; }
  Self &Format(std::vector<ge::Format> list) { return formats = std::move(list), *this; }
  Self &FormatList(std::vector<ge::Format> list) { return formats = std::move(list), *this; }
  Self &Follow(const char *other, FollowType = FollowType::ALL) { return follows = other, *this; }
  Self &UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
  Self &DataTypeForBinQuery(std::vector<ge::DataType>) { return *this; }
  Self &FormatForBinQuery(std::vector<ge::Format>) { return *this; }
  Self &ValueDepend(Option, DependScope = DependScope::ALL) { return *this; }
  Self &IgnoreContiguous() { return *this; }
  Self &AutoContiguous() { return *this; }
  Self &Scalar() { return *this; }
  Self &ScalarList() { return *this; }
  template <typename T> Self &To(T) { return *this; }
  Self &Version(uint32_t) { return *this; }
  template <typename T> Self &InitValue(const T &) { return *this; }
  Self &InitValue(std::initializer_list<int64_t>) { return *this; }
  Self &OutputShapeDependOnCompute() { return *this; }
  Self &Comment(const char *) { return *this; }
  std::string name, follows;
  Option option = REQUIRED;
  std::vector<ge::DataType> types;
  std::vector<ge::Format> formats;
  bool any = false; // each type of the list goes with each of other inputs
};

class OpAttrDef {
public:
  explicit OpAttrDef(const char *name) : name(name) {}
  using Self = OpAttrDef;
  using Value = gert::RuntimeAttrs::Value;
  Self &AttrType(Option value) { return option = value, *this; }
  Self &Bool(bool value = false) { return Number('b', value); }
  Self &Int(int64_t value = 0) { return Number('i', value); }
  Self &Float(float value = 0) { return kind = 'f', this->value.kind = Value::REAL, this->value.real = value, *this; }
  Self &String(const char *value = "") { return kind = 's', this->value.kind = Value::WORD, this->value.word = value, *this; }
  Self &ListInt(const std::vector<int64_t> &list = {}) { return List('I', list); }
  Self &ListFloat(const std::vector<float> &list = {}) { return List('F', list); }
  Self &ListBool(const std::vector<bool> &list = {}) { return List('B', std::vector<uint8_t>(list.begin(), list.end())); }
  Self &ListListInt(const std::vector<std::vector<int64_t>> &lists = {}) {
    kind = 'L', value.kind = Value::LISTS;
    for (const auto &list : lists)
      value.lists.Append()->Assign(list);
    return *this;
  }
  template <typename T> Self &ListString(const T &) { return kind = 'S', *this; }
  Self &Version(uint32_t) { return *this; }
  Self &Comment(const char *) { return *this; }
  std::string name;
  Option option = REQUIRED;
  char kind = 'i';
  Value value;

private:
  Self &Number(char letter, int64_t number) { return kind = letter, value.whole = number, *this; }
  template <typename T> Self &List(char letter, const std::vector<T> &list) {
    kind = letter, value.kind = Value::LIST;
    value.list.Assign(list);
    return *this;
  }
};

// Inputs and outputs, for all chips or for a single chip.
class OpParams {
public:
  OpParamDef &Input(const char *name) { return Find(inputs, name); }
  OpParamDef &Output(const char *name) { return Find(outputs, name); }
  // In the order of their first mention; pointers stay.
  std::vector<std::shared_ptr<OpParamDef>> inputs, outputs;

private:
  static OpParamDef &Find(std::vector<std::shared_ptr<OpParamDef>> &list, const char *name) {
    for (auto &param : list)
      if (param->name == name)
        return *param;
    return *list.emplace_back(std::make_shared<OpParamDef>(name));
  }
};

class OpAICoreConfig : public OpParams {
public:
  OpAICoreConfig() = default;
  explicit OpAICoreConfig(const char *) {}
  using Self = OpAICoreConfig;
  Self &DynamicCompileStaticFlag(bool) { return *this; }
  Self &DynamicFormatFlag(bool) { return *this; }
  Self &DynamicRankSupportFlag(bool) { return *this; }
  Self &DynamicShapeSupportFlag(bool) { return *this; }
  Self &NeedCheckSupportFlag(bool) { return *this; }
  Self &PrecisionReduceFlag(bool) { return *this; }
  Self &ExtendCfgInfo(const char *key, const char *value) { return extra[key] = value, *this; }
  std::map<std::string, std::string> extra;
};

class OpAICoreDef {
public:
  template <typename T> OpAICoreDef &SetTiling(T &&) { return *this; }
  template <typename T> OpAICoreDef &SetCheckSupport(T &&) { return *this; }
  template <typename T> OpAICoreDef &SetOpSelectFormat(T &&) { return *this; }
  template <typename T> OpAICoreDef &SetOpSupportInfo(T &&) { return *this; }
  template <typename T> OpAICoreDef &SetOpSpecInfo(T &&) { return *this; }
  template <typename T> OpAICoreDef &SetParamGeneralize(T &&) { return *this; }
  OpAICoreDef &AddConfig(const char *chip) { return configs[chip], *this; }
  OpAICoreDef &AddConfig(const char *chip, const OpAICoreConfig &config) { return configs[chip] = config, *this; }
  std::map<std::string, OpAICoreConfig> configs;
};

class OpMC2Def {
public:
  template <typename... T> OpMC2Def &HcclGroup(T &&...) { return *this; }
  OpMC2Def &HcclGroup(std::initializer_list<const char *>) { return *this; }
  template <typename... T> OpMC2Def &HcclServerType(T &&...) { return *this; }
};

class OpDef : public OpParams {
public:
  explicit OpDef(const char *name) : type(name) {}
  OpAttrDef &Attr(const char *name) {
    for (auto &attr : attrs)
      if (attr->name == name)
        return *attr;
    return *attrs.emplace_back(std::make_shared<OpAttrDef>(name));
  }
  OpAICoreDef &AICore() { return core; }
  OpMC2Def &MC2() { return mc2; }
  template <typename T> OpDef &SetInferShape(T &&) { return *this; }
  template <typename T> OpDef &SetInferShapeRange(T &&) { return *this; }
  template <typename T> OpDef &SetInferDataType(T &&) { return *this; }
  template <typename T> OpDef &FormatMatchMode(T &&) { return *this; }
  template <typename T> OpDef &EnableFallBack(T &&) { return *this; }
  OpDef &EnableFallBack() { return *this; }
  OpDef &Comment(...) { return *this; }
  std::string type;
  std::vector<std::shared_ptr<OpAttrDef>> attrs;
  OpAICoreDef core;
  OpMC2Def mc2;
};

} // namespace ops

namespace vinci_library {

std::map<std::string, std::unique_ptr<ops::OpDef>> &Definitions();
template <typename T> bool Define(const char *name) {
  Definitions()[name] = std::make_unique<T>(name);
  return true;
}

} // namespace vinci_library

#define OP_ADD(name, ...) static bool vinci_library_defined_##name = vinci_library::Define<name>(#name)

#endif
