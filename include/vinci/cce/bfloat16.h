// SPDX-License-Identifier: Apache-2.0
// bf16: a class, computed in fp32 and rounded to nearest, ties to even. The members of a class do not take an
// object in another address space; of single numbers in UB `vinci cc` writes value() around what is read and cell()
// around what is written (kernels/compile/cells.c). Both are the element itself for all other types.
#ifndef VINCI_CCE_BFLOAT16_H
#define VINCI_CCE_BFLOAT16_H

#include <cstdint>
#include <type_traits>

struct bfloat16_t {
  uint16_t bits;

  bfloat16_t() = default;
  template <typename number, typename = std::enable_if_t<std::is_convertible_v<number, float>>>
  bfloat16_t(number value) : bits(from_float((float)value)) {}
  // From UB: a template, as a copy constructor is for one address space.
  template <typename other, typename = std::enable_if_t<std::is_same_v<other, bfloat16_t>>>
  bfloat16_t(const __ubuf__ other &value) : bits(value.bits) {}
  operator float() const {
    uint32_t word = (uint32_t)bits << 16;
    float value;
    __builtin_memcpy(&value, &word, sizeof value);
    return value;
  }
  template <typename number> bfloat16_t &operator+=(number value) { return *this = *this + value; }
  template <typename number> bfloat16_t &operator-=(number value) { return *this = *this - value; }
  template <typename number> bfloat16_t &operator*=(number value) { return *this = *this * value; }
  template <typename number> bfloat16_t &operator/=(number value) { return *this = *this / value; }
  bfloat16_t &operator++() { return *this += 1; }
  bfloat16_t &operator--() { return *this -= 1; }

  static uint16_t from_float(float value) {
    uint32_t word;
    __builtin_memcpy(&word, &value, sizeof word);
    if ((word & 0x7fffffff) > 0x7f800000)
      return 0x7fc0;
    return (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
};

namespace vinci_cce {

template <typename type> constexpr type &&value(type &&element) { return static_cast<type &&>(element); }
inline bfloat16_t value(__ubuf__ bfloat16_t &element) { return element; }
inline bfloat16_t value(const __ubuf__ bfloat16_t &element) { return element; }

// A number in UB that gets a value.
struct ub_number {
  __ubuf__ bfloat16_t *at;

  operator bfloat16_t() const { return *at; }
  float now() const { return bfloat16_t(*at); }
  const ub_number &put(bfloat16_t value) const {
    at->bits = value.bits;
    return *this;
  }
  template <typename number> const ub_number &operator=(const number &value) const { return put(bfloat16_t(value)); }
  const ub_number &operator=(const ub_number &value) const { return put(bfloat16_t(*value.at)); }
  template <typename number> const ub_number &operator+=(number value) const { return put(now() + (float)value); }
  template <typename number> const ub_number &operator-=(number value) const { return put(now() - (float)value); }
  template <typename number> const ub_number &operator*=(number value) const { return put(now() * (float)value); }
  template <typename number> const ub_number &operator/=(number value) const { return put(now() / (float)value); }
  const ub_number &operator++() const { return *this += 1; }
  const ub_number &operator--() const { return *this -= 1; }
  bfloat16_t operator++(int) const {
    bfloat16_t before = *at;
    *this += 1;
    return before;
  }
  bfloat16_t operator--(int) const {
    bfloat16_t before = *at;
    *this -= 1;
    return before;
  }
};

template <typename type> constexpr type &&cell(type &&element) { return static_cast<type &&>(element); }
inline ub_number cell(__ubuf__ bfloat16_t &element) { return {&element}; }

} // namespace vinci_cce

#endif
