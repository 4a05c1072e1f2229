// SPDX-License-Identifier: Apache-2.0
// The host program of an operator. It is linked with the operator's own host code, and answers on standard output,
// a line for each fact:
//   tile OPERATOR chip=FILE name=KIND data=FILE WORD...   what a call needs (the words of `vinci run --library`)
//   try OPERATOR chip=FILE name=KIND data=FILE N         the same for call number N of those that the tiling takes
//   list                                                   the operators that the code defines, with their chips
#include <cctype>
#include <cerrno>
#include <fstream>

#include "vinci/library/main.h"

namespace vinci_library {

static std::map<std::string, std::vector<Field>> &Structures() {
  static std::map<std::string, std::vector<Field>> structures;
  return structures;
}
std::vector<Field> &FieldsOf(const char *structure) { return Structures()[structure]; }
std::string &StructureOf(const char *op) {
  static std::map<std::string, std::string> names;
  return names[op];
}
Functions &FunctionsOf(const char *name) {
  static std::map<std::string, Functions> functions;
  return functions[name];
}
std::map<std::string, std::unique_ptr<ops::OpDef>> &Definitions() {
  static std::map<std::string, std::unique_ptr<ops::OpDef>> definitions;
  return definitions;
}

// ---- the chip -------------------------------------------------------------------------------------------------------

static std::map<std::string, int64_t> numbers;

} // namespace vinci_library

extern "C" int64_t vinci_acl_number(const char *name) {
  auto found = vinci_library::numbers.find(name);
  return found == vinci_library::numbers.end() ? -1 : found->second;
}

namespace fe {

uint32_t PlatFormInfos::GetCoreNum() const { return platform_ascendc::PlatformAscendC(nullptr).GetCoreNum(); }
uint32_t PlatFormInfos::GetCoreNumByType(const std::string &type) {
  platform_ascendc::PlatformAscendC chip(nullptr);
  return type == "VectorCore" ? chip.GetCoreNumAiv() : chip.GetCoreNumAic();
}
void PlatFormInfos::MemorySize(int memory, uint64_t &size) {
  platform_ascendc::PlatformAscendC(nullptr).GetCoreMemSize((platform_ascendc::CoreMemType)memory, size);
}
bool PlatFormInfos::GetPlatformRes(const std::string &label, const std::string &key, std::string &value) {
  platform_ascendc::PlatformAscendC chip(nullptr);
  static const std::map<std::string, const char *> sizes = {
      {"l1_size", "l1.size"},   {"l0_a_size", "l0a.size"}, {"l0_b_size", "l0b.size"},
      {"l0_c_size", "l0c.size"}, {"l2_size", "l2.size"}, {"memory_size", "hbm.size"}, {"bt_size", "bt.size"}};
  auto size = sizes.find(key);
  value = "";
  if (key == "ub_size")
    value = std::to_string(vinci_platform_ub());
  else if (size != sizes.end())
    value = std::to_string(vinci_acl_number(size->second));
  else if (key == "ai_core_cnt" || key == "cube_core_cnt")
    value = std::to_string(chip.GetCoreNumAic());
  else if (key == "vector_core_cnt")
    value = std::to_string(chip.GetCoreNumAiv());
  else if (key == "Short_SoC_version" || key == "SoC_version")
    value = Ops::Base::has_registers ? "Ascend950" : "Ascend910B";
  else if (key == "NpuArch" || key == "npu_arch")
    value = Ops::Base::has_registers ? "3510" : "2201";
  else if (key == "Intrinsic_fix_pipe_l0c2out" || key == "Intrinsic_data_move_l12ub")
    value = label == "AICoreintrinsicDtypeMap" && key == "Intrinsic_fix_pipe_l0c2out" ? "float16" : "";
  return !value.empty();
}

} // namespace fe

// ---- names of types and formats -------------------------------------------------------------------------------------

namespace vinci_library {

struct TypeRow {
  ge::DataType type;
  const char *ours, *trace, *name, *code; // of words, of a trace, of DT_..., of a kernel
};
static const TypeRow types[] = {
    {ge::DT_FLOAT, "fp32", "fp32", "FLOAT", "float"},       {ge::DT_FLOAT16, "fp16", "fp16", "FLOAT16", "half"},
    {ge::DT_BF16, "bf16", "bf16", "BF16", "bfloat16_t"},    {ge::DT_INT8, "int8", "int8", "INT8", "int8_t"},
    {ge::DT_UINT8, "uint8", "uint8", "UINT8", "uint8_t"},   {ge::DT_INT16, "int16", "int16", "INT16", "int16_t"},
    {ge::DT_UINT16, "uint16", "uint16", "UINT16", "uint16_t"}, {ge::DT_INT32, "int32", "int32", "INT32", "int32_t"},
    {ge::DT_UINT32, "uint32", "uint32", "UINT32", "uint32_t"}, {ge::DT_INT64, "int64", "int64", "INT64", "int64_t"},
    {ge::DT_UINT64, "uint64", "int64", "UINT64", "uint64_t"}, {ge::DT_BOOL, "bool", "uint8", "BOOL", "bool"},
    {ge::DT_INT4, "int4", "int4", "INT4", "AscendC::int4b_t"}, {ge::DT_DOUBLE, "fp64", "int64", "DOUBLE", "double"},
    {ge::DT_COMPLEX64, "complex64", "int64", "COMPLEX64", "complex64"}};
static const struct {
  ge::Format format;
  const char *name;
} formats[] = {{ge::FORMAT_ND, "ND"},
               {ge::FORMAT_NCHW, "NCHW"},
               {ge::FORMAT_NHWC, "NHWC"},
               {ge::FORMAT_NC1HWC0, "NC1HWC0"},
               {ge::FORMAT_FRACTAL_Z, "FRACTAL_Z"},
               {ge::FORMAT_HWCN, "HWCN"},
               {ge::FORMAT_FRACTAL_NZ, "FRACTAL_NZ"},
               {ge::FORMAT_NCDHW, "NCDHW"},
               {ge::FORMAT_NDHWC, "NDHWC"},
               {ge::FORMAT_DHWCN, "DHWCN"},
               {ge::FORMAT_NDC1HWC0, "NDC1HWC0"},
               {ge::FORMAT_FRACTAL_Z_3D, "FRACTAL_Z_3D"},
               {ge::FORMAT_NCL, "NCL"}};

static const TypeRow *RowOf(ge::DataType type) {
  for (const TypeRow &row : types)
    if (row.type == type)
      return &row;
  return nullptr;
}
const char *TypeWord(ge::DataType type) {
  const TypeRow *row = RowOf(type);
  return row ? row->ours : nullptr;
}
const char *TypeCode(ge::DataType type) {
  const TypeRow *row = RowOf(type);
  return row ? row->code : nullptr;
}
std::string FormatName(ge::Format format) {
  for (const auto &row : formats)
    if (row.format == format)
      return row.name;
  return std::to_string((int)format);
}

[[noreturn]] void Fail(const std::string &text, const std::string &hint) {
  fprintf(stdout, "error %s\n", text.c_str());
  if (!hint.empty())
    fprintf(stdout, "hint %s\n", hint.c_str());
  exit(1);
}

// ---- the words of a call --------------------------------------------------------------------------------------------

std::vector<std::string> Split(const std::string &text, char at) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(at, begin)) != std::string::npos; begin = end + 1)
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

static int64_t Whole(const std::string &text, const std::string &word) {
  char *end;
  errno = 0;
  long long number = strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno)
    Fail("'" + text + "' in " + word + " is not a whole number");
  return number;
}

static double Real(const std::string &text, const std::string &word) {
  char *end;
  double number = strtod(text.c_str(), &end);
  if (text.empty() || *end)
    Fail("'" + text + "' in " + word + " is not a number");
  return number;
}

static void SetValues(gert::Tensor &tensor, const std::string &text, const std::string &word) {
  std::vector<uint8_t> bytes;
  size_t size = (size_t)ge::GetSizeByDataType(tensor.GetDataType());
  for (const std::string &part : Split(text, ',')) {
    int64_t whole = 0;
    if (tensor.GetDataType() == ge::DT_FLOAT) {
      float real = (float)Real(part, word);
      memcpy(&whole, &real, sizeof real);
    } else
      whole = Whole(part, word);
    const uint8_t *first = reinterpret_cast<const uint8_t *>(&whole);
    bytes.insert(bytes.end(), first, first + size);
  }
  tensor.SetValues(bytes);
}

// "bf16:4096x1024", with ":NCHW" for a format and "=1,2" for values that the host code may read.
static gert::Tensor ReadTensor(const std::string &text, const std::string &word) {
  static const char form[] = "a tensor is TYPE:SHAPE, such as x=bf16:4096x1024, and x=int64:2=3,4 with values";
  gert::Tensor tensor;
  size_t equals = text.find('=');
  std::vector<std::string> parts = Split(text.substr(0, equals), ':');
  const TypeRow *type = nullptr;
  for (const TypeRow &row : types)
    if (parts[0] == row.ours || parts[0] == row.name || parts[0] == std::string("DT_") + row.name)
      type = &row;
  if (!type)
    Fail("'" + parts[0] + "' in " + word + " is not a type", form);
  if (parts.size() < 2 || parts.size() > 3)
    Fail(word + " has no shape", form);
  tensor.SetDataType(type->type);
  gert::Shape shape;
  if (!parts[1].empty())
    for (const std::string &extent : Split(parts[1], 'x'))
      shape.AppendDim(Whole(extent, word));
  tensor.MutableStorageShape() = tensor.MutableOriginShape() = shape;
  if (parts.size() == 3) {
    const auto *format = std::find_if(std::begin(formats), std::end(formats), [&](auto &row) { return parts[2] == row.name; });
    if (format == std::end(formats))
      Fail("'" + parts[2] + "' in " + word + " is not a format", "such as ND, NCHW, NHWC, FRACTAL_NZ");
    tensor.Desc().SetOriginFormat(format->format);
    tensor.Desc().SetStorageFormat(format->format);
  }
  if (equals != std::string::npos)
    SetValues(tensor, text.substr(equals + 1), word);
  return tensor;
}

// Tensors of one input are separated by commas, which also separate values.
static std::vector<gert::Tensor> ReadTensors(const std::string &text, const std::string &word) {
  std::vector<gert::Tensor> tensors;
  if (text.find('=') != std::string::npos)
    return {ReadTensor(text, word)};
  for (const std::string &part : Split(text, ','))
    tensors.push_back(ReadTensor(part, word));
  return tensors;
}

static void ReadAttr(ops::OpAttrDef &attr, const std::string &text, const std::string &word) {
  std::vector<std::string> parts = text.empty() ? std::vector<std::string>{} : Split(text, ',');
  std::vector<int64_t> wholes;
  std::vector<float> reals;
  switch (attr.kind) {
  case 'b':
    attr.Bool(text == "true" || text == "1");
    break;
  case 'i':
    attr.Int(Whole(text, word));
    break;
  case 'f':
    attr.Float((float)Real(text, word));
    break;
  case 's':
    attr.value.word = text;
    break;
  case 'F':
    for (const std::string &part : parts)
      reals.push_back((float)Real(part, word));
    attr.ListFloat(reals);
    break;
  case 'I':
    for (const std::string &part : parts)
      wholes.push_back(Whole(part, word));
    attr.ListInt(wholes);
    break;
  default:
    Fail(attr.name + " has a kind of list that cannot be given");
  }
}

// ---- a call ---------------------------------------------------------------------------------------------------------

struct Param {
  ops::OpParamDef *def;
  std::vector<gert::Tensor> given;
  bool listed = false; // by its place, though maybe absent
};

struct Request {
  ops::OpDef *definition;
  std::vector<Param> inputs, outputs;
  std::vector<std::shared_ptr<ops::OpAttrDef>> attrs;
  std::string kernel_file;
  std::vector<std::string> input_words, output_words; // by place
  size_t column = 0; // of the lists of types
};

static bool Fits(const Param &param, size_t column) {
  const std::vector<ge::DataType> &list = param.def->types;
  if (param.given.empty() || list.empty())
    return true;
  if (param.def->any || list.size() == 1)
    return std::find(list.begin(), list.end(), param.given[0].GetDataType()) != list.end();
  return column < list.size() && list[column] == param.given[0].GetDataType();
}

// Extents that a format tells one by one; 0: any number.
static size_t ExtentsOf(ge::Format format) {
  const std::string name = FormatName(format);
  return name.find_first_not_of("NCDHWL") == std::string::npos && format != ge::FORMAT_ND ? name.size() : 0;
}

// Whether what is given has the format of the column, or as many extents where no format is given.
static bool HasFormat(const Param &param, size_t column) {
  const std::vector<ge::Format> &formats = param.def->formats;
  if (column >= formats.size())
    return true;
  for (const gert::Tensor &tensor : param.given) {
    if (tensor.GetStorageFormat() != ge::FORMAT_ND ? tensor.GetStorageFormat() != formats[column]
                                                   : ExtentsOf(formats[column]) > 0 &&
                                                         ExtentsOf(formats[column]) != tensor.GetStorageShape().GetDimNum())
      return false;
  }
  return true;
}

static size_t Columns(const Request &request) {
  size_t count = 1;
  for (const auto *params : {&request.inputs, &request.outputs})
    for (const Param &param : *params)
      if (!param.def->any)
        count = std::max(count, param.def->types.size());
  return count;
}

// "x=fp16 gamma=fp32" of each column, for the message.
static std::string Accepted(const Request &request) {
  std::string text;
  for (size_t column = 0; column < Columns(request); column++) {
    text += column > 0 ? "; " : "";
    for (const Param &param : request.inputs) {
      const TypeRow *row = column < param.def->types.size() ? RowOf(param.def->types[column]) : nullptr;
      text += row ? " " + param.def->name + "=" + row->ours : "";
    }
  }
  return text;
}

// The first column with these types and formats, else the first with these types.
static void ChooseColumn(Request &request) {
  const size_t columns = Columns(request);
  size_t chosen = columns;
  for (size_t column = 0; column < columns; column++) {
    bool fits = true, has_formats = true;
    for (const auto *params : {&request.inputs, &request.outputs})
      for (const Param &param : *params) {
        fits &= Fits(param, column);
        has_formats &= HasFormat(param, column);
      }
    if (fits && (chosen == columns || has_formats)) {
      chosen = column;
      if (has_formats)
        break;
    }
  }
  request.column = chosen;
  if (chosen < columns)
    return;
  Fail(request.definition->type + " does not take these types", "the definition has" + Accepted(request));
}

// "#2=bf16:8x4", input number 2, and "@0=...", output number 0, as lists of calls have them: a tensor that is listed may
// be absent, and a dynamic parameter takes as many as the others leave.
struct Place {
  size_t index;
  std::string value;
};
static bool ReadPlace(Request &request, const std::string &name, const std::string &value, const std::string &word) {
  if (name.size() < 2 || (name[0] != '#' && name[0] != '@'))
    return false;
  auto &places = name[0] == '#' ? request.input_words : request.output_words;
  if (Whole(name.substr(1), word) != (int64_t)places.size())
    Fail(word + " is not the next tensor of the call");
  places.push_back(value);
  return true;
}

static void TakePlaces(const Request &request, std::vector<Param> &params, const std::vector<std::string> &words,
                       const char *kind) {
  size_t dynamic = 0, at = 0;
  for (const Param &param : params)
    dynamic += param.def->option == ops::DYNAMIC;
  size_t single = params.size() - dynamic;
  if (words.empty())
    return;
  if ((dynamic == 0 && words.size() > single) || (dynamic > 0 && words.size() < single) ||
      (dynamic > 1 && (words.size() - single) % dynamic != 0))
    Fail("the call has " + std::to_string(words.size()) + " " + kind + ", " + request.definition->type + " has " +
         std::to_string(params.size()));
  for (Param &param : params) {
    size_t count = param.def->option == ops::DYNAMIC ? (words.size() - single) / dynamic : 1;
    for (; count > 0 && at < words.size(); count--, at++) {
      const std::string &text = words[at];
      if (!text.empty() && !(param.def->option == ops::OPTIONAL && text.back() == ':'))
        param.given.push_back(ReadTensor(text, param.def->name + "=" + text));
      param.listed = true;
    }
  }
}

static Request ReadRequest(const std::string &op, const std::string &chip, const std::vector<std::string> &words) {
  auto found = Definitions().find(op);
  if (found == Definitions().end())
    Fail("the host code does not define " + op);
  Request request{.definition = found->second.get()};
  auto config = request.definition->core.configs.find(chip);
  if (config == request.definition->core.configs.end())
    Fail(op + " has no kernel for " + chip);
  const ops::OpParams &params = config->second.inputs.empty() ? (ops::OpParams &)*request.definition : config->second;
  for (const auto &input : params.inputs)
    request.inputs.push_back({input.get(), {}});
  for (const auto &output : params.outputs)
    request.outputs.push_back({output.get(), {}});
  request.attrs = request.definition->attrs;
  auto file = config->second.extra.find("opFile.value");
  request.kernel_file = file == config->second.extra.end() ? "" : file->second;
  for (const std::string &word : words) {
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    bool known = ReadPlace(request, name, value, word);
    for (auto *list : {&request.inputs, &request.outputs})
      for (Param &param : *list)
        if (!known && param.def->name == name) {
          param.given = ReadTensors(value, word);
          known = true;
        }
    for (auto &attr : request.attrs)
      if (!known && attr->name == name) {
        ReadAttr(*attr, value, word);
        known = true;
      }
    std::string names;
    for (auto *list : {&request.inputs, &request.outputs})
      for (Param &param : *list)
        names += " " + param.def->name;
    for (auto &attr : request.attrs)
      names += " " + attr->name;
    if (!known)
      Fail(op + " has no '" + name + "'", "it has" + names);
  }
  TakePlaces(request, request.inputs, request.input_words, "inputs");
  TakePlaces(request, request.outputs, request.output_words, "outputs");
  return request;
}

// A tensor without a format has that of the chosen column.
static void SetFormat(gert::Tensor &tensor, const Param &param, size_t column) {
  const std::vector<ge::Format> &formats = param.def->formats;
  if (tensor.GetStorageFormat() != ge::FORMAT_ND || column >= formats.size())
    return;
  tensor.Desc().SetStorageFormat(formats[column]);
  tensor.Desc().SetOriginFormat(formats[column]);
}

static void AddTensors(const Request &request, const Param &param, std::vector<gert::Tensor> &tensors,
                       std::vector<gert::AnchorInstanceInfo> &places) {
  places.emplace_back(tensors.size(), param.given.size());
  for (gert::Tensor tensor : param.given) {
    SetFormat(tensor, param, request.column);
    tensors.push_back(tensor);
  }
}

// Outputs that the caller did not give: their shapes by the operator's own rule, their types by the definition.
static void InferOutputs(Request &request, Call &call) {
  Functions &functions = FunctionsOf(request.definition->type.c_str());
  size_t longest = 1; // lists of outputs are as long as those of inputs
  for (const Param &input : request.inputs)
    longest = std::max(longest, input.def->option == ops::DYNAMIC ? input.given.size() : 0);
  for (Param &output : request.outputs) {
    std::vector<gert::Tensor> tensors = output.given;
    if (tensors.empty()) {
      tensors.resize(output.def->option == ops::DYNAMIC ? longest : 1);
      const std::vector<ge::DataType> &list = output.def->types;
      for (gert::Tensor &tensor : tensors)
        tensor.SetDataType(request.column < list.size() ? list[request.column]
                           : list.size() == 1           ? list[0]
                                                        : ge::DT_UNDEFINED);
    }
    call.output_place.emplace_back(call.outputs.size(), tensors.size());
    for (gert::Tensor &tensor : tensors) {
      SetFormat(tensor, output, request.column);
      call.outputs.push_back(tensor);
    }
  }
  gert::InferDataTypeContext type(&call);
  std::vector<gert::Tensor> before = call.outputs;
  if (functions.type && functions.type(&type) == ge::GRAPH_SUCCESS)
    for (size_t i = 0; i < before.size(); i++)
      if (before[i].GetDataType() != ge::DT_UNDEFINED)
        call.outputs[i].SetDataType(before[i].GetDataType());
  bool all = true;
  for (const Param &output : request.outputs)
    all &= !output.given.empty() || output.listed;
  gert::InferShapeContext shape(&call);
  if (all)
    return;
  if (!functions.shape || functions.shape(&shape) != ge::GRAPH_SUCCESS)
    Fail("the shapes of the outputs of " + request.definition->type + " are not known from those of its inputs",
         "give each output as an input is given, such as y=bf16:4096x1024");
  for (size_t o = 0; o < request.outputs.size(); o++) {
    Param &output = request.outputs[o];
    size_t at = call.output_place[o].GetInstanceStart(), count = call.output_place[o].GetInstanceNum();
    bool inferred = output.given.empty() && !output.listed;
    for (size_t i = 0; i < count; i++)
      if (!output.given.empty() && !inferred)
        SetFormat(call.outputs[at + i] = output.given[i], output, request.column);
      else if (inferred) {
        call.outputs[at + i].MutableStorageShape() = call.outputs[at + i].GetOriginShape();
        output.given.push_back(call.outputs[at + i]);
      }
  }
}

static void FillCall(Request &request, Call &call) {
  call.type = request.definition->type;
  ChooseColumn(request);
  for (const Param &input : request.inputs) {
    if (input.given.empty() && input.def->option == ops::REQUIRED)
      Fail(call.type + " needs " + input.def->name, "such as " + input.def->name + "=bf16:4096x1024");
    AddTensors(request, input, call.inputs, call.input_place);
  }
  for (const auto &attr : request.attrs)
    call.attrs.Add() = attr->value;
  InferOutputs(request, call);
}

// ---- answers --------------------------------------------------------------------------------------------------------

static void PrintStructure(const std::string &name, std::set<std::string> &printed) {
  if (!printed.insert(name).second)
    return;
  const std::vector<Field> &fields = Structures()[name];
  for (const Field &field : fields)
    if (field.type.compare(0, 7, "struct ") == 0)
      PrintStructure(field.type.substr(7), printed);
  printf("code struct %s {\n", name.c_str());
  std::set<std::string> members; // a header that two files include has its members told twice
  for (const Field &field : fields) {
    if (!members.insert(field.name).second)
      continue;
    const char *type = field.type.c_str() + (field.type.compare(0, 7, "struct ") == 0 ? 7 : 0);
    if (field.count > 0)
      printf("code   %s %s[%zu];\n", type, field.name, field.count);
    else
      printf("code   %s %s;\n", type, field.name);
  }
  printf("code };\n");
}

static void PrintStructures(const Call &call) {
  std::set<std::string> printed;
  std::string name = StructureOf((call.type + "_" + std::to_string(call.key)).c_str());
  if (name.empty())
    name = StructureOf(call.type.c_str());
  for (const auto &structure : Structures())
    PrintStructure(structure.first, printed);
  if (!name.empty())
    printf("code #define VINCI_TILING_STRUCTURE %s\n", name.c_str() + (name.rfind(':') + 1));
}

static std::string ShapeText(const gert::Shape &shape) {
  std::string text;
  for (size_t i = 0; i < shape.GetDimNum(); i++)
    text += (i > 0 ? "x" : "") + std::to_string(shape.GetDim(i));
  return text.empty() ? "1" : text;
}

static void PrintParam(const Param &param, const char *io, const std::set<std::string> &before) {
  std::string name = param.def->name, upper;
  for (char letter : name)
    upper += (char)toupper(letter);
  bool again = before.count(name) > 0;
  if (param.given.empty()) {
    if (!again)
      printf("arg value=0\n");
    return;
  }
  const gert::Tensor &first = param.given[0];
  const TypeRow *row = RowOf(first.GetDataType());
  if (!row)
    Fail("the type of " + name + " is not known");
  const char *suffix = again ? "_REF" : "";
  printf("code #define DTYPE_%s%s %s\n", upper.c_str(), suffix, row->code);
  printf("code #define ORIG_DTYPE_%s%s DT_%s\n", upper.c_str(), suffix, row->name);
  printf("code #define FORMAT_%s%s FORMAT_%s\n", upper.c_str(), suffix, FormatName(first.GetStorageFormat()).c_str());
  if (again)
    return;
  bool lists = param.def->option == ops::DYNAMIC;
  if (lists)
    printf("arg list=%zu\n", param.given.size());
  for (size_t i = 0; i < param.given.size(); i++) {
    const TypeRow *type = RowOf(param.given[i].GetDataType());
    printf("arg name=%s%s,dtype=%s,shape=%s,io=%s\n", name.c_str(), lists ? ("_" + std::to_string(i)).c_str() : "",
           (type ? type : row)->trace, ShapeText(param.given[i].GetStorageShape()).c_str(), io);
  }
}

static void PrintCall(const Request &request, const Call &call) {
  std::set<std::string> inputs, outputs;
  for (const Param &param : request.outputs)
    outputs.insert(param.def->name);
  for (const Param &param : request.inputs) {
    PrintParam(param, outputs.count(param.def->name) ? "inout" : "in", {});
    inputs.insert(param.def->name);
  }
  for (const Param &param : request.outputs)
    PrintParam(param, "out", inputs);
  size_t workspace = 0;
  for (size_t size : call.workspaces)
    workspace += size;
  printf("workspace %zu\n", workspace);
  printf("blocks %u\n", call.blocks);
  std::string arguments;
  if (TemplateText(request.definition->type, call.key, arguments))
    printf("key 0\ntemplate %s\n", arguments.c_str());
  else
    printf("key %llu\n", (unsigned long long)call.key);
  printf("bytes %zu\n", call.tiling.GetDataSize());
  if (!request.kernel_file.empty())
    printf("file %s\n", request.kernel_file.c_str());
  PrintStructures(call);
}

static void ReadChip(const std::string &path) {
  std::ifstream in(path);
  std::string name;
  int64_t number;
  while (in >> name >> number)
    numbers[name] = number;
}

int Tile(const std::string &op, const std::string &chip, const std::string &data,
                const std::vector<std::string> &words) {
  Request request = ReadRequest(op, chip, words);
  Call call;
  FillCall(request, call);
  Functions &functions = FunctionsOf(op.c_str());
  if (!functions.tiling)
    Fail(op + " has no tiling function");
  if (functions.compile_info)
    call.compile_info = functions.compile_info();
  gert::TilingParseContext parse(&call);
  if (functions.parse && functions.parse(&parse) != ge::GRAPH_SUCCESS)
    Fail("the tiling of " + op + " does not know the chip");
  gert::TilingContext context(&call);
  if (functions.tiling(&context) != ge::GRAPH_SUCCESS)
    Fail("the tiling of " + op + " refuses this call", "what it wrote stands above");
  std::ofstream out(data, std::ios::binary);
  out.write(static_cast<const char *>(call.tiling.GetData()), (std::streamsize)call.tiling.GetDataSize());
  if (!out.flush())
    Fail("cannot write " + data);
  PrintCall(request, call);
  return 0;
}

static int List() {
  for (const auto &definition : Definitions()) {
    printf("operator %s tiling=%d chips=", definition.first.c_str(), FunctionsOf(definition.first.c_str()).tiling != nullptr);
    const char *between = "";
    for (const auto &config : definition.second->core.configs) {
      printf("%s%s", between, config.first.c_str());
      between = ",";
    }
    printf("\n");
  }
  return 0;
}

} // namespace vinci_library

namespace ge {

std::string TypeUtils::DataTypeToSerialString(DataType type) {
  const vinci_library::TypeRow *row = vinci_library::RowOf(type);
  return row ? std::string("DT_") + row->name : "DT_" + std::to_string((int)type);
}
std::string TypeUtils::FormatToSerialString(Format format) { return vinci_library::FormatName(format); }
const char *GetFormatName(Format format) {
  static std::map<int, std::string> names;
  return (names[format] = vinci_library::FormatName(format)).c_str();
}

} // namespace ge

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "list") == 0)
    return vinci_library::List();
  if (argc < 6 || (strcmp(argv[1], "tile") != 0 && strcmp(argv[1], "try") != 0))
    vinci_library::Fail("tile OPERATOR CHIP NUMBERS DATA WORD...");
  vinci_library::ReadChip(argv[4]);
  if (strcmp(argv[1], "try") == 0)
    return vinci_library::Try(argv[2], argv[3], argv[5], argc > 6 ? strtoul(argv[6], nullptr, 10) : 0);
  return vinci_library::Tile(argv[2], argv[3], argv[5], {argv + 6, argv + argc});
}
