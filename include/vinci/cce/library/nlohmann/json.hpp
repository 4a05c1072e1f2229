// SPDX-License-Identifier: Apache-2.0
// Host code reads what a compiler of operators has found out, and tables of tuned tilings, as JSON. Neither is there in a
// run, so that a value is nothing here: no key is in it, and what is got has the type's first value. Where the
// compiler finds the library of this name, that one is taken.
#ifndef VINCI_LIBRARY_JSON_HPP
#define VINCI_LIBRARY_JSON_HPP

#if defined(__has_include_next) && __has_include_next(<nlohmann/json.hpp>)
#include_next <nlohmann/json.hpp>
#else

#include <cstddef>
#include <string>

namespace nlohmann {

class json {
public:
  using iterator = json *;
  using const_iterator = const json *;

  json() = default;
  template <typename type> json(const type &) {}
  template <typename type> static json parse(const type &) { return {}; }
  template <typename type> json &operator=(const type &) { return *this; }
  template <typename key> json &operator[](const key &) { return *this; }
  template <typename key> const json &operator[](const key &) const { return *this; }
  template <typename key> json &at(const key &) { return *this; }
  template <typename key> const json &at(const key &) const { return *this; }
  template <typename type> type get() const { return type(); }
  template <typename type> void get_to(type &value) const { value = type(); }
  template <typename key, typename type> type value(const key &, const type &other) const { return other; }
  template <typename key> bool contains(const key &) const { return false; }
  template <typename key> std::size_t count(const key &) const { return 0; }
  template <typename key> iterator find(const key &) { return end(); }
  template <typename key> const_iterator find(const key &) const { return end(); }
  template <typename type> void push_back(const type &) {}
  iterator begin() { return this; }
  iterator end() { return this; }
  const_iterator begin() const { return this; }
  const_iterator end() const { return this; }
  bool empty() const { return true; }
  std::size_t size() const { return 0; }
  bool is_null() const { return true; }
  bool is_array() const { return false; }
  bool is_object() const { return false; }
  bool is_string() const { return false; }
  bool is_number() const { return false; }
  std::string dump(int = 0) const { return "null"; }
  bool operator==(const json &) const { return true; }
  bool operator!=(const json &) const { return false; }
};

} // namespace nlohmann

#endif
#endif
