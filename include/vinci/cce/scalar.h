// SPDX-License-Identifier: Apache-2.0
// Functions of numbers that the device compiler knows without a header. abs(), sqrt() and their like are those of
// math.h, for all types.
#ifndef VINCI_CCE_SCALAR_H
#define VINCI_CCE_SCALAR_H

#include <math.h>
#include <stdlib.h>
#include <type_traits>

#include "vinci/cce/types.h"

namespace vinci_cce {

template <typename type>
constexpr bool is_number =
    std::is_arithmetic_v<type> || std::is_same_v<type, half> || std::is_same_v<type, bfloat16_t>;

// Of two numbers: their own type when they have the same, else that of their sum.
template <typename left, typename right, bool same = std::is_same_v<left, right>> struct either {
  using type = decltype(left() + right());
};
template <typename number> struct either<number, number, true> {
  using type = number;
};
template <typename left, typename right>
using either_t = typename either<std::enable_if_t<is_number<left>, left>, std::enable_if_t<is_number<right>, right>>::type;

} // namespace vinci_cce

// Two types of their own and a pack that stays empty, so that a function of the user, of a library or of namespace std is
// preferred where both are seen.
template <typename left, typename right, typename... none>
constexpr vinci_cce::either_t<left, right> min(left a, right b, none...) {
  static_assert(sizeof...(none) == 0, "min takes two numbers");
  using type = vinci_cce::either_t<left, right>;
  return (type)b < (type)a ? (type)b : (type)a;
}
template <typename left, typename right, typename... none>
constexpr vinci_cce::either_t<left, right> max(left a, right b, none...) {
  static_assert(sizeof...(none) == 0, "max takes two numbers");
  using type = vinci_cce::either_t<left, right>;
  return (type)a < (type)b ? (type)b : (type)a;
}

// A value from its bytes, also while a program is compiled.
template <typename type> constexpr type convert_from_bytes(const uint8_t *bytes) {
  struct {
    uint8_t byte[sizeof(type)];
  } copy = {};
  for (size_t i = 0; i < sizeof(type); i++)
    copy.byte[i] = bytes[i];
  return __builtin_bit_cast(type, copy);
}

#endif
