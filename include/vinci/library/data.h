// SPDX-License-Identifier: Apache-2.0
// Tiling structures of operators: register/tilingdata_base.h, and beside that which members a structure has, so that
// the same structure can be written for the kernel.
#ifndef VINCI_LIBRARY_DATA_H
#define VINCI_LIBRARY_DATA_H

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "register/tilingdata_base.h"

namespace vinci_library {

struct Field {
  std::string type;
  const char *name;
  size_t count; // of an array; 0: a single member
};
// All structures by name, in the order in which they came.
std::vector<Field> &FieldsOf(const char *structure);
// The structure of an operator's kernel: "Op", or "Op_KEY".
std::string &StructureOf(const char *op);

// Structures of operators have a name; those of the headers are known to kernels.
template <typename T, typename = void> struct IsOwn : std::false_type {};
template <typename T> struct IsOwn<T, std::void_t<decltype(T::vinci_name)>> : std::true_type {};

// "uint32_t", or "struct Part"; `spelled` for a structure of the headers.
template <typename T> std::string TypeName(const char *spelled) {
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_same_v<T, float>)
    return "float";
  else if constexpr (std::is_same_v<T, double>)
    return "double";
  else if constexpr (std::is_integral_v<T>)
    return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T)) + "_t";
  else if constexpr (IsOwn<T>::value)
    return std::string("struct ") + T::vinci_name;
  else
    return std::string("AscendC::tiling::") + spelled;
}

struct AddField {
  AddField(const char *structure, const std::string &type, const char *name, size_t count) {
    FieldsOf(structure).push_back({type, name, count});
  }
};
struct AddStructure {
  AddStructure(const char *op, const char *structure) { StructureOf(op) = structure; }
};

} // namespace vinci_library

#undef BEGIN_TILING_DATA_DEF
#undef TILING_DATA_FIELD_DEF
#undef TILING_DATA_FIELD_DEF_ARR
#undef TILING_DATA_FIELD_DEF_STRUCT
#undef REGISTER_TILING_DATA_CLASS
#define VINCI_LIBRARY_FIELD(type, name, count)                                                                     \
  inline static vinci_library::AddField vinci_field_##name{vinci_name, vinci_library::TypeName<type>(#type), #name, count};
#define BEGIN_TILING_DATA_DEF(name)                                                                                \
  struct name {                                                                                                    \
    static constexpr const char *vinci_name = #name;                                                               \
    VINCI_TILING_FUNCTIONS(name)                                                                                   \
    void SetDataPtr(void *data) { memcpy((void *)this, data, sizeof(name)); }
#define TILING_DATA_FIELD_DEF(type, name)                                                                          \
  type name = {};                                                                                                  \
  void set_##name(type value) { name = value; }                                                                    \
  type get_##name() const { return name; }                                                                         \
  VINCI_LIBRARY_FIELD(type, name, 0)
#define TILING_DATA_FIELD_DEF_ARR(type, size, name)                                                                \
  type name[size] = {};                                                                                            \
  void set_##name(const type *values) { memcpy(name, values, sizeof name); }                                       \
  type *get_##name() { return name; }                                                                              \
  VINCI_LIBRARY_FIELD(type, name, size)
#define TILING_DATA_FIELD_DEF_STRUCT(type, name)                                                                   \
  type name = {};                                                                                                  \
  VINCI_LIBRARY_FIELD(type, name, 0)
#define REGISTER_TILING_DATA_CLASS(op, structure)                                                                  \
  static vinci_library::AddStructure VINCI_LIBRARY_JOIN(vinci_library_structure_, __COUNTER__){#op, #structure};

#endif
