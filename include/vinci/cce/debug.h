// SPDX-License-Identifier: Apache-2.0
// Text, assertions and dumps of kernels. The open headers of Ascend C write them into a buffer in device memory
// that a driver reads; here they go to the simulator at once, so their own parts for that are left out.
#ifndef VINCI_CCE_DEBUG_H
#define VINCI_CCE_DEBUG_H

#include <cstdarg>
#include <cstdio>
#include <type_traits>

#include "vinci/cce/control.h"

// Those parts, by the names with which headers note that they have been read.
#define IMPL_UTILS_DEBUG_ASC_AICORE_PRINTF_IMPL_H
#define IMPL_UTILS_DEBUG_ASC_AICORE_ASSERT_IMPL_H
#define IMPL_UTILS_DEBUG_ASC_AICORE_DUMP_IMPL_H

namespace vinci_cce {

enum { TEXT_BYTES = 4096 };

// -DASCENDC_DUMP=0 silences a kernel.
#if defined(ASCENDC_DUMP) && ASCENDC_DUMP == 0
enum { SILENT = 1 };
#else
enum { SILENT = 0 };
#endif

// A number as a variable argument of C.
template <typename type> VINCI_CCE_INLINE auto plain(type value) {
  if constexpr (std::is_same_v<type, half> || std::is_same_v<type, bfloat16_t>)
    return (double)(float)value;
  else
    return value;
}

inline void format(char *text, int used, const char *form, ...) {
  va_list arguments;
  va_start(arguments, form);
  (void)vsnprintf(text + used, (size_t)(TEXT_BYTES - used), form, arguments);
  va_end(arguments);
}

template <typename... numbers> void write(const char *form, numbers... values) {
  char text[TEXT_BYTES];
  if (SILENT)
    return;
  format(text, 0, form, plain(values)...);
  if (vinci_cce_host)
    vinci_cce_host->write(vinci_cce_host, text);
  else
    fputs(text, stdout); // host code has found this function
}

template <typename... numbers>
void fail_assertion(const char *expression, const char *file, unsigned line, const char *form, numbers... values) {
  char text[TEXT_BYTES];
  int used = snprintf(text, sizeof text, "assertion '%s' failed%s", expression, *form ? ": " : "");
  if (used < TEXT_BYTES)
    format(text, used, form, plain(values)...);
  vinci_cce_host->fail(vinci_cce_host, file, line, text);
}

template <typename type> constexpr const char *type_name() {
  return std::is_same_v<type, half>         ? "float16"
         : std::is_same_v<type, bfloat16_t> ? "bfloat16"
         : std::is_same_v<type, float>      ? "float32"
         : std::is_same_v<type, int8_t>     ? "int8"
         : std::is_same_v<type, uint8_t>    ? "uint8"
         : std::is_same_v<type, int16_t>    ? "int16"
         : std::is_same_v<type, uint16_t>   ? "uint16"
         : std::is_same_v<type, int32_t>    ? "int32"
         : std::is_same_v<type, uint32_t>   ? "uint32"
         : std::is_same_v<type, int64_t>    ? "int64"
         : std::is_same_v<type, uint64_t>   ? "uint64"
         : std::is_same_v<type, bool>       ? "bool"
                                            : "";
}

// What has been issued before is over when memory is read for a dump.
template <typename type>
void dump(const char *memory, int64_t address, uint32_t desc, uint32_t count, const uint32_t *shape = nullptr,
          uint32_t dimensions = 0) {
  static_assert(*type_name<type>() != '\0', "a dump of numbers of 8, 16, 32 or 64 bits");
  const vinci_cce_dump wanted = {memory, type_name<type>(), address, desc, count, shape, dimensions};
  if (SILENT)
    return;
  pipe_barrier(PIPE_ALL);
  vinci_cce_host->dump(vinci_cce_host, &wanted);
}

} // namespace vinci_cce

// ---- assertions: assert() of C (vinci cc links its end to this one), and with a message ----

extern "C" __attribute__((visibility("hidden"), weak)) void
__wrap___assert_fail(const char *expression, const char *file, unsigned line, const char *) {
  vinci_cce::fail_assertion(expression, file, line, "");
}
template <typename... numbers>
void __assert_fail_msg(const char *expression, const char *file, unsigned line, const char *, const char *form,
                       numbers... values) {
  vinci_cce::fail_assertion(expression, file, line, form, values...);
}

// ---- dumps: with and without a shape ----

#define VINCI_CCE_DUMP(name, space, memory)                                                            \
  template <typename type> inline void name(space type *from, uint32_t desc, uint32_t count) {         \
    vinci_cce::dump<type>(memory, (int64_t)from, desc, count);                                         \
  }                                                                                                    \
  template <typename type>                                                                             \
  inline void name(space type *from, uint32_t desc, uint32_t count, const uint32_t *shape,             \
                   uint32_t dimensions) {                                                              \
    vinci_cce::dump<type>(memory, (int64_t)from, desc, count, shape, dimensions);                      \
  }

namespace __asc_aicore {

VINCI_CCE_DUMP(asc_dump_gm, __gm__, "GM")
VINCI_CCE_DUMP(asc_dump_ubuf, __ubuf__, "UB")
VINCI_CCE_DUMP(asc_dump_l1buf, __cbuf__, "L1")
VINCI_CCE_DUMP(asc_dump_abuf, __ca__, "L0A")
VINCI_CCE_DUMP(asc_dump_bbuf, __cb__, "L0B")
VINCI_CCE_DUMP(asc_dump_cbuf, __cc__, "L0C")
VINCI_CCE_DUMP(asc_dump, __gm__, "GM")
VINCI_CCE_DUMP(asc_dump, __ubuf__, "UB")
VINCI_CCE_DUMP(asc_dump, __cbuf__, "L1")
VINCI_CCE_DUMP(asc_dump, __cc__, "L0C")
VINCI_CCE_DUMP(asc_dump, __biasbuf__, "BT")
VINCI_CCE_DUMP(asc_dump, __fbuf__, "FB")

inline void asc_dump_shape_impl(uint32_t, const uint32_t *) {}

// Two of a kind, so that these come before the open headers' own for functions of threads, which takes any arguments.
template <int none = 0> inline void printf(__gm__ const char *fmt) { vinci_cce::write(fmt); }
template <class First, class... Rest> inline void printf(__gm__ const char *fmt, First &&first, Rest &&...rest) {
  vinci_cce::write(fmt, first, rest...);
}
template <class... Args> inline void PRINTF(__gm__ const char *fmt, Args &&...args) {
  vinci_cce::write(fmt, args...);
}
template <class... Args> inline void printf_impl(__gm__ const char *fmt, Args &&...args) {
  vinci_cce::write(fmt, args...);
}
template <class... Args> inline void printf_impl_assert(__gm__ const char *fmt, Args &&...args) {
  vinci_cce::write(fmt, args...);
}

} // namespace __asc_aicore
#undef VINCI_CCE_DUMP

using __asc_aicore::asc_dump;
using __asc_aicore::asc_dump_abuf;
using __asc_aicore::asc_dump_bbuf;
using __asc_aicore::asc_dump_cbuf;
using __asc_aicore::asc_dump_gm;
using __asc_aicore::asc_dump_l1buf;
using __asc_aicore::asc_dump_ubuf;

#endif
