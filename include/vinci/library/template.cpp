// SPDX-License-Identifier: Apache-2.0
// Arguments of kernels that are templates: which of them are types is told by the declaration, which host code includes.
#include "vinci/library/main.h"

namespace vinci_library {

struct Declaration {
  std::string name;
  std::vector<TemplateKind> kinds;
};
static std::vector<Declaration> &Declarations() {
  static std::vector<Declaration> declarations;
  return declarations;
}
bool DeclareTemplate(const char *name, const std::vector<TemplateKind> &kinds) {
  Declarations().push_back({name, kinds});
  return true;
}

static std::vector<std::vector<long long>> &Choices() {
  static std::vector<std::vector<long long>> choices;
  return choices;
}
// The lower half alone is a key too: host code may keep keys in 32 bits.
static constexpr uint64_t choice_low = 0x7e570000, choice_high = 1ull << 62;
uint64_t ChooseTemplate(const std::vector<long long> &arguments) {
  Choices().push_back(arguments);
  return choice_high + choice_low + Choices().size() - 1;
}

static const std::vector<long long> *ChoiceOf(uint64_t key) {
  uint64_t high = key >> 32 << 32, at = key - high - choice_low;
  return (high == choice_high || high == 0) && at < Choices().size() ? &Choices()[at] : nullptr;
}

// Of the operator itself, else of a part with as many arguments.
static const Declaration *DeclarationOf(const std::string &op, size_t count) {
  const Declaration *found = nullptr;
  for (const Declaration &declaration : Declarations())
    if (declaration.kinds.size() == count && (!found || declaration.name == op))
      found = &declaration;
  return found;
}

bool TemplateText(const std::string &op, uint64_t key, std::string &text) {
  const std::vector<long long> *choice = ChoiceOf(key);
  if (!choice)
    return false;
  const Declaration *declaration = DeclarationOf(op, choice->size());
  for (size_t i = 0; i < choice->size(); i++) {
    bool type = declaration && declaration->kinds[i] == TemplateKind::TYPE;
    const char *code = type ? TypeCode((ge::DataType)(*choice)[i]) : nullptr;
    text += (i > 0 ? "," : "") + (code ? std::string(code) : std::to_string((*choice)[i]));
  }
  return true;
}

} // namespace vinci_library
