// SPDX-License-Identifier: Apache-2.0
// What the sources of the host program share.
#ifndef VINCI_LIBRARY_MAIN_H
#define VINCI_LIBRARY_MAIN_H

#include "vinci/library/host.h"

namespace vinci_library {

// Ends the program with an answer.
[[noreturn]] void Fail(const std::string &text, const std::string &hint = "");
std::vector<std::string> Split(const std::string &text, char at);
const char *TypeWord(ge::DataType type); // "bf16"; nullptr: not known
const char *TypeCode(ge::DataType type); // "bfloat16_t"; nullptr: not known
std::string FormatName(ge::Format format);
// Arguments of the kernel's template where `key` is a choice of these (template.cpp): "float,1".
bool TemplateText(const std::string &op, uint64_t key, std::string &text);
// What a call needs; the words of `vinci run --library`.
int Tile(const std::string &op, const std::string &chip, const std::string &data, const std::vector<std::string> &words);
// The same for call number `which` of those that the tiling takes (trials.cpp).
int Try(const std::string &op, const std::string &chip, const std::string &data, size_t which);

} // namespace vinci_library

#endif
