// SPDX-License-Identifier: Apache-2.0
// Launches. `vinci cc` writes kernel<<<blocks, l2ctrl, stream>>>(arguments) as
// kernel->*vinci_cce::launch(blocks, l2ctrl, stream)(arguments), which is an expression of C++.
#ifndef VINCI_CCE_LAUNCH_H
#define VINCI_CCE_LAUNCH_H

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

// Of the library with the runtime (acl/acl.h), which a kernel library does without. kernel and enter are known
// by their symbols: the device code has them too.
extern "C" int vinci_acl_launch(const void *kernel, const void *enter, uint32_t blocks, void *stream,
                                const void *arguments, size_t argument_bytes) __attribute__((weak));

namespace vinci_cce {

// Calls a kernel with arguments that lie in a tuple: how the device code is entered.
template <typename... parameters>
__attribute__((visibility("default"), noinline, used, retain)) void enter(void (*kernel)(parameters...),
                                                                  const void *arguments) {
  std::apply(kernel, *static_cast<const std::tuple<std::decay_t<parameters>...> *>(arguments));
}

template <typename... arguments> struct call {
  uint32_t blocks;
  void *stream;
  std::tuple<arguments...> values;
};

struct configuration {
  uint32_t blocks;
  void *stream;
  template <typename... arguments> call<arguments &&...> operator()(arguments &&...values) const {
    return {blocks, stream, std::forward_as_tuple(std::forward<arguments>(values)...)};
  }
};

// l2ctrl has no meaning for the device; it is given as 0 or nullptr.
template <typename number, typename control = int>
configuration launch(number blocks, control = {}, void *stream = nullptr) {
  return {static_cast<uint32_t>(blocks), stream};
}

// An argument as a parameter: as in any call, and addresses of any type.
template <typename parameter, typename argument> parameter convert(argument &&value) {
  if constexpr (std::is_pointer_v<parameter>)
    return (parameter)value;
  else
    return static_cast<parameter>(std::forward<argument>(value));
}

template <typename... parameters, typename... arguments, size_t... at>
void start(void (*kernel)(parameters...), call<arguments...> &&call, std::index_sequence<at...>) {
  std::tuple<std::decay_t<parameters>...> values(
      convert<std::decay_t<parameters>>(std::get<at>(std::move(call.values)))...);
  (void)vinci_acl_launch((const void *)kernel, (const void *)&enter<parameters...>, call.blocks, call.stream,
                         &values, sizeof values);
}

template <typename... parameters, typename... arguments>
void operator->*(void (*kernel)(parameters...), call<arguments...> &&call) {
  static_assert(sizeof...(parameters) == sizeof...(arguments),
                "a launch has as many arguments as its kernel has parameters");
  static_assert((std::is_trivially_copyable_v<std::decay_t<parameters>> && ...),
                "parameters of a kernel are copied to the device, byte by byte");
  start(kernel, std::move(call), std::index_sequence_for<parameters...>{});
}

// The same of a template, as the types of the arguments choose. A call that is const is the second choice.
template <typename... arguments>
void operator->*(void (*kernel)(std::decay_t<arguments>...), const call<arguments...> &&call) {
  kernel->*std::move(const_cast<vinci_cce::call<arguments...> &>(call));
}

// A launch with the addresses of the arguments, for kernels that were compiled at run time (acl/compile.c).
template <typename... parameters, size_t... at>
int launch_array(void (*kernel)(parameters...), uint32_t blocks, void *stream, void **values,
                 std::index_sequence<at...>) {
  std::tuple<std::decay_t<parameters>...> copies(*static_cast<std::decay_t<parameters> *>(values[at])...);
  return vinci_acl_launch((const void *)kernel, (const void *)&enter<parameters...>, blocks, stream, &copies,
                          sizeof copies);
}
template <typename... parameters>
int launch_array(void (*kernel)(parameters...), uint32_t blocks, void *stream, void **values) {
  return launch_array(kernel, blocks, stream, values, std::index_sequence_for<parameters...>{});
}

} // namespace vinci_cce

#endif
