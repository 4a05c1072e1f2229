// SPDX-License-Identifier: Apache-2.0
// Variables in the memories of a core. `vinci cc` writes the declaration of a variable,
//   __ubuf__ float tile[64];
// as a reference to a place in that memory (kernels/compile/variables.c). A place is found when the core comes to
// the declaration for the first time: behind all places that were given out before, from address 0 on.
#ifndef VINCI_CCE_VARIABLE_H
#define VINCI_CCE_VARIABLE_H

#include <cstddef>
#include <cstdint>

#include "vinci/cce/types.h"

namespace vinci_cce {

struct memory_ubuf {};
struct memory_cbuf {};
struct memory_ca {};
struct memory_cb {};
struct memory_cc {};
struct memory_biasbuf {};
struct memory_fbuf {};
struct memory_ssbuf {};

// Where variables have to lie: fractals of the matrix memories, rows of the tables, else a block.
template <typename memory> constexpr uint32_t alignment_bytes = 32;
template <> inline constexpr uint32_t alignment_bytes<memory_ca> = 512;
template <> inline constexpr uint32_t alignment_bytes<memory_cb> = 512;
template <> inline constexpr uint32_t alignment_bytes<memory_cc> = 1024;
template <> inline constexpr uint32_t alignment_bytes<memory_biasbuf> = 64;
template <> inline constexpr uint32_t alignment_bytes<memory_fbuf> = 128;

// The first byte that no variable has, in each core's copy of the code.
template <typename memory> __attribute__((visibility("hidden"))) uint32_t used_bytes;

// The place of a variable, which the first call gives out. place: 0 until then, afterwards the address + 1.
template <typename memory> inline uint32_t variable_address(uint32_t &place, size_t bytes) {
  if (place == 0) {
    uint32_t last = alignment_bytes<memory> - 1;
    place = ((used_bytes<memory> + last) & ~last) + 1;
    used_bytes<memory> = place - 1 + (uint32_t)bytes;
  }
  return place - 1;
}

template <typename type> inline type &variable_at(uint32_t address) { return *(type *)(uintptr_t)address; }

} // namespace vinci_cce

// memory and then the type of the variable, as in "ubuf, __ubuf__ float[64]".
#define VINCI_CCE_VARIABLE(memory, ...)                                                                \
  vinci_cce::variable_at<__VA_ARGS__>([] {                                                             \
    static uint32_t place_;                                                                            \
    return vinci_cce::variable_address<vinci_cce::memory_##memory>(place_, sizeof(__VA_ARGS__));       \
  }())

#endif
