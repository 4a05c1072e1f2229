// SPDX-License-Identifier: Apache-2.0
// Messages and checks of host code. What an operator refuses is told on standard error with its line; the rest is
// not told.
#ifndef VINCI_LIBRARY_LOG_H
#define VINCI_LIBRARY_LOG_H

#include <cstdio>
#include <sstream>
#include <string>

#include "dlog_pub.h"

// Modules that messages come from, and what the headers' host functions print by.
enum { GE = 45, OP = 63 };
extern "C" int32_t CheckLogLevel(int32_t module, int32_t level);
extern "C" void DlogRecord(int32_t module, int32_t level, const char *format, ...);

namespace vinci_library {

inline void Add(std::ostringstream &out, const char *text) { out << (text ? text : "(none)"); }
template <typename T> auto Add(std::ostringstream &out, const T &value) -> decltype(out << value, void()) { out << value; }
inline void Add(std::ostringstream &, ...) {}

// A message of words: "x, 3, the last extent is 0".
template <typename N, typename... T> void Refuse(const char *file, int line, const N &, const T &...words) {
  std::ostringstream out;
  ((Add(out, words), out << ' '), ...);
  fprintf(stderr, "%s:%d: %s\n", file, line, out.str().c_str());
}
// A message with its form, as printf has.
template <typename N, typename... T> void Error(const char *file, int line, const N &, const char *form, T... words) {
  fprintf(stderr, "%s:%d: ", file, line);
  if constexpr (sizeof...(words) == 0)
    fputs(form, stderr);
  else
    fprintf(stderr, form, words...);
  fputc('\n', stderr);
}
// Nothing is told, and what would be printed is no unused variable.
template <typename... T> void Silent(const T &...) {}

} // namespace vinci_library

namespace Ops {
namespace Base {

template <typename T> const char *GetOpInfo(const T &context) { return context->GetNodeName(); }
inline const char *GetOpInfo(const char *name) { return name; }
inline const char *GetOpInfo(const std::string &name) { return name.c_str(); }
inline const char *GetSafeStr(const char *text) { return text ? text : "(none)"; }

} // namespace Base
} // namespace Ops

#define VINCI_LIBRARY_ERROR(...) vinci_library::Error(__FILE__, __LINE__, __VA_ARGS__)
#define VINCI_LIBRARY_REFUSE(...) vinci_library::Refuse(__FILE__, __LINE__, __VA_ARGS__)
#define VINCI_LIBRARY_SILENT(...) ((void)0)

#define OP_LOGD(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define OP_LOGI(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define OP_LOGW(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define OP_LOGE(...) VINCI_LIBRARY_ERROR(__VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(...) VINCI_LIBRARY_ERROR(__VA_ARGS__)
#define OP_LOGE_IF(condition, result, ...)                                                                         \
  do {                                                                                                             \
    if (condition) {                                                                                               \
      VINCI_LIBRARY_ERROR(__VA_ARGS__);                                                                            \
      return result;                                                                                               \
    }                                                                                                              \
  } while (0)
#define OpLogSub(module, level, ...) ((level) == DLOG_ERROR ? VINCI_LIBRARY_ERROR(__VA_ARGS__) : (void)0)
#define OpLogErrSub(...) OpLogSub(__VA_ARGS__)
#define OP_EVENT(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define D_OP_LOGD(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define D_OP_LOGI(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define D_OP_LOGW(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define D_OP_LOGE(...) VINCI_LIBRARY_ERROR(__VA_ARGS__)
#define OP_LOGD_FULL(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define OP_LOGI_FULL(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define OP_LOGW_FULL(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define OP_LOGE_FULL(...) VINCI_LIBRARY_ERROR(__VA_ARGS__)
#define REPORT_INNER_ERR_MSG(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define REPORT_INNER_ERROR(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define REPORT_CALL_ERROR(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define REPORT_PREDEFINED_ERR_MSG(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)
#define REPORT_INPUT_ERROR(...) VINCI_LIBRARY_SILENT(__VA_ARGS__)

// What is wrong with an input or an attribute: the operator's name, then words.
#define OP_LOGE_FOR_FILE_OPEN(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_FILE_PARSE(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_FILE_PATH(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_ARGUMENT_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_CONFIG(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_CONFIGS_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_CONFIG_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPES_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMATS_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_GRAPH_NODE(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_LISTSIZE(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_LISTSIZE_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIMS_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZES_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_STRIDE(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUM(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUMS_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUE(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUES_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUE_WITH_REASON(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR_SIZE(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_DTYPE(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_FORMAT(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_SHAPE(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_SHAPESIZE(...) VINCI_LIBRARY_REFUSE(__VA_ARGS__)

#define OP_CHECK_IF(condition, tell, leave)                                                                        \
  do {                                                                                                             \
    if (condition) {                                                                                               \
      tell;                                                                                                        \
      leave;                                                                                                       \
    }                                                                                                              \
  } while (0)
#define OP_CHECK_NULL_WITH_CONTEXT(context, pointer)                                                               \
  do {                                                                                                             \
    if ((pointer) == nullptr) {                                                                                    \
      VINCI_LIBRARY_ERROR(context, "there is no " #pointer);                                                       \
      return ge::GRAPH_FAILED;                                                                                     \
    }                                                                                                              \
  } while (0)
#define OP_CHECK_NULL_WITH_CONTEXT_RET(context, pointer, result)                                                   \
  do {                                                                                                             \
    if ((pointer) == nullptr) {                                                                                    \
      VINCI_LIBRARY_ERROR(context, "there is no " #pointer);                                                       \
      return result;                                                                                               \
    }                                                                                                              \
  } while (0)
#ifndef likely
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif

#endif
