// SPDX-License-Identifier: Apache-2.0
// Kernels that are templates: host code says with which arguments. The key of such a choice is its place in a list.
#ifndef TEMPLATE_ARGUMENT_H
#define TEMPLATE_ARGUMENT_H

#include <cstdint>
#include <vector>

enum { ASCENDC_TPL_DTYPE, ASCENDC_TPL_FORMAT, ASCENDC_TPL_UINT, ASCENDC_TPL_BOOL };
enum { ASCENDC_TPL_UI_RANGE, ASCENDC_TPL_UI_LIST, ASCENDC_TPL_UI_MIX };
enum { ASCENDC_TPL_1_BW = 1, ASCENDC_TPL_2_BW = 2, ASCENDC_TPL_4_BW = 4, ASCENDC_TPL_8_BW = 8 };
enum {
  ASCENDC_TPL_AIV_ONLY = 0,
  ASCENDC_TPL_AIC_ONLY = 1,
  ASCENDC_TPL_MIX_AIV_1_0 = 4,
  ASCENDC_TPL_MIX_AIC_1_0 = 5,
  ASCENDC_TPL_MIX_AIC_1_1 = 6,
  ASCENDC_TPL_MIX_AIC_1_2 = 7,
  ASCENDC_TPL_AICORE = 8,
  ASCENDC_TPL_VECTORCORE = 9,
  ASCENDC_TPL_MIX_AICORE = 10,
  ASCENDC_TPL_MIX_VECTOR_CORE = 11
};
#define ASCENDC_TPL_INPUT(at) (100000000 + (at))
#define ASCENDC_TPL_OUTPUT(at) (900000000 + (at))

namespace vinci_library {

// Notes the arguments of a template; the result is the key of this choice, whose lower 32 bits are enough.
uint64_t ChooseTemplate(const std::vector<long long> &arguments);
// Notes which arguments of templates are types.
enum class TemplateKind { NUMBER, TYPE };
bool DeclareTemplate(const char *name, const std::vector<TemplateKind> &kinds);

} // namespace vinci_library

#define GET_TPL_TILING_KEY(...) vinci_library::ChooseTemplate({VINCI_LIBRARY_WHOLE(__VA_ARGS__)})
#define ASCENDC_TPL_SEL_PARAM(context, ...) (context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__))
#define VINCI_LIBRARY_WHOLE(...) __VA_ARGS__

#ifdef ASCENDC_TPL_KERNEL
#define ASCENDC_TPL_ARGS_DECL(...)
#else
#define VINCI_LIBRARY_JOIN(a, b) VINCI_LIBRARY_JOINED(a, b)
#define VINCI_LIBRARY_JOINED(a, b) a##b
#define ASCENDC_TPL_ARGS_DECL(name, ...)                                                                           \
  [[maybe_unused]] static const bool VINCI_LIBRARY_JOIN(vinci_library_declared_, __COUNTER__) =                    \
      vinci_library::DeclareTemplate(#name, {__VA_ARGS__});
#endif
#define ASCENDC_TPL_DATATYPE_DECL(...) vinci_library::TemplateKind::TYPE
#define ASCENDC_TPL_DTYPE_DECL(...) vinci_library::TemplateKind::NUMBER
#define ASCENDC_TPL_FORMAT_DECL(...) vinci_library::TemplateKind::NUMBER
#define ASCENDC_TPL_UINT_DECL(...) vinci_library::TemplateKind::NUMBER
#define ASCENDC_TPL_BOOL_DECL(...) vinci_library::TemplateKind::NUMBER
#define ASCENDC_TPL_KERNEL_TYPE_DECL(...) vinci_library::TemplateKind::NUMBER
// Which choices there are is for compilers that make all of them.
#define ASCENDC_TPL_DTYPE_SEL(...)
#define ASCENDC_TPL_DATATYPE_SEL(...)
#define ASCENDC_TPL_FORMAT_SEL(...)
#define ASCENDC_TPL_UINT_SEL(...)
#define ASCENDC_TPL_BOOL_SEL(...)
#define ASCENDC_TPL_TILING_STRUCT_SEL(...)
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...)
#define ASCENDC_TPL_DETERMINISTIC_SEL(...)
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(...)
#define ASCENDC_TPL_ARGS_SEL(...)
#define ASCENDC_TPL_SEL(...)

#endif
