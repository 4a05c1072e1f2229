// SPDX-License-Identifier: Apache-2.0
// Registers of vector functions (dav-c310). A variable of a vector type has the name of a register; what the register
// holds is the simulator's, as UB is. Copies of a variable share the register until one of them is written, so that a
// register that goes into a function by value costs nothing. A mask is scalar data: its bits ride on the
// instructions that are under the mask.
#ifndef VINCI_CCE_REGISTER_TYPES_H
#define VINCI_CCE_REGISTER_TYPES_H

#include <type_traits>

#include "vinci/cce/issue.h"
#include "vinci/cce/types.h"

// ---- words, by the numbers of the register interface ----

enum class Mode { MODE_UNKNOWN, MODE_MERGING, MODE_ZEROING };
enum class Pat { ALL, VL1, VL2, VL3, VL4, VL8, VL16, VL32, VL64, VL128, M3, M4, H, Q, ALLF = 15 };
enum class Dist {
  NORM, BRC_B8, BRC_B16, BRC_B32, US_B8 = 6, US_B16, DS_B8, DS_B16, BDINTLV, DINTLV_B8, DINTLV_B16, UNPK_B8, UNPK_B16,
  BLK, E2B_B16, E2B_B32, UNPK_B32, DINTLV_B32, UNPK4_B8
};
enum class DistVST {
  NORM_B8, NORM_B16, NORM_B32, ONEPT_B8, ONEPT_B16, ONEPT_B32, PK_B16, PK_B32, INTLV_B8, INTLV_B16, PK_B64, INTLV_B32,
  PK4_B32
};
enum class Part { EVEN, ODD };
enum class Part_T { P0, P1, P2, P3 };
enum class HiloPart { Lower, Higher };
enum class Pos { LOWEST, HIGHEST };
enum class Post { NO_POST_UPDATE, POST_UPDATE };
enum class ROUND { R, F, C, A, Z, O, H };
enum class RoundingSaturation { RS_DISABLE, RS_ENABLE, RS_DISABLE_VALUE = RS_DISABLE, RS_ENABLE_VALUE = RS_ENABLE };
enum class Order { INC_ORDER, DEC_ORDER };
enum class StoreMode { NO_STORED, STORED };
enum class Bar { VV_ALL, VST_VLD, VLD_VST, VST_VST, VS_ALL, VST_LD, VLD_ST, VST_ST, SV_ALL, ST_VLD, LD_VST, ST_VST };

#define VINCI_CCE_WORD(type, name, value) static constexpr std::integral_constant<type, type::value> name{};
VINCI_CCE_WORD(Mode, MODE_MERGING, MODE_MERGING)
VINCI_CCE_WORD(Mode, MODE_ZEROING, MODE_ZEROING)
VINCI_CCE_WORD(Mode, MODE_UNKNOWN, MODE_UNKNOWN)
#define VINCI_CCE_PATTERN(name) VINCI_CCE_WORD(Pat, PAT_##name, name)
VINCI_CCE_PATTERN(ALL) VINCI_CCE_PATTERN(VL1) VINCI_CCE_PATTERN(VL2) VINCI_CCE_PATTERN(VL3) VINCI_CCE_PATTERN(VL4)
VINCI_CCE_PATTERN(VL8) VINCI_CCE_PATTERN(VL16) VINCI_CCE_PATTERN(VL32) VINCI_CCE_PATTERN(VL64)
VINCI_CCE_PATTERN(VL128) VINCI_CCE_PATTERN(M3) VINCI_CCE_PATTERN(M4) VINCI_CCE_PATTERN(H) VINCI_CCE_PATTERN(Q)
VINCI_CCE_PATTERN(ALLF)
#undef VINCI_CCE_PATTERN
#define VINCI_CCE_SAME(type, name) VINCI_CCE_WORD(type, name, name)
VINCI_CCE_SAME(Dist, NORM) VINCI_CCE_SAME(Dist, BRC_B8) VINCI_CCE_SAME(Dist, BRC_B16) VINCI_CCE_SAME(Dist, BRC_B32)
VINCI_CCE_SAME(Dist, US_B8) VINCI_CCE_SAME(Dist, US_B16) VINCI_CCE_SAME(Dist, DS_B8) VINCI_CCE_SAME(Dist, DS_B16)
VINCI_CCE_SAME(Dist, DINTLV_B8) VINCI_CCE_SAME(Dist, DINTLV_B16) VINCI_CCE_SAME(Dist, DINTLV_B32)
VINCI_CCE_SAME(Dist, UNPK_B8) VINCI_CCE_SAME(Dist, UNPK_B16) VINCI_CCE_SAME(Dist, UNPK_B32)
VINCI_CCE_SAME(Dist, UNPK4_B8) VINCI_CCE_SAME(Dist, BLK) VINCI_CCE_SAME(Dist, E2B_B16) VINCI_CCE_SAME(Dist, E2B_B32)
VINCI_CCE_SAME(DistVST, NORM_B8) VINCI_CCE_SAME(DistVST, NORM_B16) VINCI_CCE_SAME(DistVST, NORM_B32)
VINCI_CCE_SAME(DistVST, ONEPT_B8) VINCI_CCE_SAME(DistVST, ONEPT_B16) VINCI_CCE_SAME(DistVST, ONEPT_B32)
VINCI_CCE_SAME(DistVST, PK_B16) VINCI_CCE_SAME(DistVST, PK_B32) VINCI_CCE_SAME(DistVST, PK_B64)
VINCI_CCE_SAME(DistVST, PK4_B32) VINCI_CCE_SAME(DistVST, INTLV_B8) VINCI_CCE_SAME(DistVST, INTLV_B16)
VINCI_CCE_SAME(DistVST, INTLV_B32)
VINCI_CCE_SAME(Post, POST_UPDATE) VINCI_CCE_SAME(Post, NO_POST_UPDATE)
VINCI_CCE_SAME(RoundingSaturation, RS_ENABLE) VINCI_CCE_SAME(RoundingSaturation, RS_DISABLE)
VINCI_CCE_SAME(Order, INC_ORDER) VINCI_CCE_SAME(Order, DEC_ORDER)
VINCI_CCE_SAME(Bar, VV_ALL) VINCI_CCE_SAME(Bar, VST_VLD) VINCI_CCE_SAME(Bar, VLD_VST) VINCI_CCE_SAME(Bar, VST_VST)
VINCI_CCE_SAME(Bar, VS_ALL) VINCI_CCE_SAME(Bar, VST_LD) VINCI_CCE_SAME(Bar, VLD_ST) VINCI_CCE_SAME(Bar, VST_ST)
VINCI_CCE_SAME(Bar, SV_ALL) VINCI_CCE_SAME(Bar, ST_VLD) VINCI_CCE_SAME(Bar, LD_VST) VINCI_CCE_SAME(Bar, ST_VST)
#undef VINCI_CCE_SAME
VINCI_CCE_WORD(Part, PART_EVEN, EVEN) VINCI_CCE_WORD(Part, PART_ODD, ODD)
VINCI_CCE_WORD(Part_T, PART_P0, P0) VINCI_CCE_WORD(Part_T, PART_P1, P1)
VINCI_CCE_WORD(Part_T, PART_P2, P2) VINCI_CCE_WORD(Part_T, PART_P3, P3)
VINCI_CCE_WORD(HiloPart, LOWER, Lower) VINCI_CCE_WORD(HiloPart, HIGHER, Higher)
VINCI_CCE_WORD(Pos, POS_LOWEST, LOWEST) VINCI_CCE_WORD(Pos, POS_HIGHEST, HIGHEST)
VINCI_CCE_WORD(ROUND, ROUND_R, R) VINCI_CCE_WORD(ROUND, ROUND_F, F) VINCI_CCE_WORD(ROUND, ROUND_C, C)
VINCI_CCE_WORD(ROUND, ROUND_A, A) VINCI_CCE_WORD(ROUND, ROUND_Z, Z) VINCI_CCE_WORD(ROUND, ROUND_O, O)
VINCI_CCE_WORD(StoreMode, MODE_STORED, STORED) VINCI_CCE_WORD(StoreMode, MODE_NO_STORED, NO_STORED)
#undef VINCI_CCE_WORD

// In a function that reads at once what instructions before give: tells who loads the library.
#define VINCI_CCE_IN_ORDER                                                                             \
  static const char in_order_ __attribute__((section(".vinci.in_order"), used, retain)) = 1

namespace vinci_cce {

// ---- names ----

enum { REGISTER_BYTES = 256, REGISTER_NAMES = 256, MASK_NAMES = 64 };

// How many variables share a name, in each core's copy of the code. Mask 0 is that of no register.
__attribute__((visibility("hidden"))) inline uint16_t register_users[REGISTER_NAMES];
__attribute__((visibility("hidden"))) inline uint16_t mask_users[MASK_NAMES];

template <int count> inline uint16_t take_name(uint16_t (&users)[count], int from, const char *text) {
  for (int i = from; i < count; i++)
    if (users[i] == 0) {
      users[i] = 1;
      return (uint16_t)i;
    }
  trap(text);
  return 0;
}
inline uint16_t take_register() {
  return take_name(register_users, 0, "more than 256 variables of vector types at a time");
}
inline uint16_t take_mask() { return take_name(mask_users, 1, "more than 63 masks at a time"); }

// The name of a register that a variable has.
struct vector_name {
  uint16_t name;
  vector_name() : name(take_register()) {}
  vector_name(const vector_name &other) : name(other.name) { register_users[name]++; }
  vector_name &operator=(const vector_name &other) {
    register_users[other.name]++;
    register_users[name]--;
    name = other.name;
    return *this;
  }
  ~vector_name() { register_users[name]--; }
  int64_t read() const { return (int64_t)name * REGISTER_BYTES; }
  // The register as a result: other variables keep what they have.
  int64_t write() {
    if (register_users[name] > 1) {
      register_users[name]--;
      name = take_register();
    }
    return read();
  }
  // The same, when what is there stays in part.
  int64_t change() {
    int64_t before = read(), now = write();
    if (now != before)
      VINCI_CCE("reg_vmov", "dst src type=uint32", now, before);
    return now;
  }
};

// Register instructions between the beginning and the end of a scope are one function.
__attribute__((visibility("hidden"))) inline int function_depth;
struct function_scope {
  function_scope() {
    if (function_depth++ == 0)
      VINCI_CCE("vf_begin", "", 0);
  }
  ~function_scope() {
    if (--function_depth == 0)
      VINCI_CCE("vf_call", "", 0);
  }
  function_scope(const function_scope &) = delete;
};

} // namespace vinci_cce

#define __VEC_SCOPE__ if (vinci_cce::function_scope vinci_cce_scope_{}; true)

// ---- types ----

#define VINCI_CCE_VECTOR_TYPES(X)                                                                      \
  X(vector_s8, int8_t, "int8") X(vector_u8, uint8_t, "uint8") X(vector_s16, int16_t, "int16")          \
  X(vector_u16, uint16_t, "uint16") X(vector_s32, int32_t, "int32") X(vector_u32, uint32_t, "uint32")  \
  X(vector_f16, half, "fp16") X(vector_bf16, bfloat16_t, "bf16") X(vector_f32, float, "fp32")
#define VINCI_CCE_VECTOR_TYPE(name, type, text)                                                        \
  struct name : vinci_cce::vector_name {                                                               \
    using element = type;                                                                              \
    static constexpr const char *text_ = text;                                                         \
  };
VINCI_CCE_VECTOR_TYPES(VINCI_CCE_VECTOR_TYPE)
VINCI_CCE_VECTOR_TYPE(vector_s64, int64_t, "")
VINCI_CCE_VECTOR_TYPE(vector_u64, uint64_t, "")
VINCI_CCE_VECTOR_TYPE(vector_f8e4m3, uint8_t, "")
VINCI_CCE_VECTOR_TYPE(vector_f8e5m2, uint8_t, "")
VINCI_CCE_VECTOR_TYPE(vector_hif8, uint8_t, "")
VINCI_CCE_VECTOR_TYPE(vector_f8e8m0, uint8_t, "")
VINCI_CCE_VECTOR_TYPE(vector_f4e2m1x2, uint8_t, "")
VINCI_CCE_VECTOR_TYPE(vector_f4e1m2x2, uint8_t, "")
VINCI_CCE_VECTOR_TYPE(vector_s4x2, uint8_t, "")
#undef VINCI_CCE_VECTOR_TYPE
using vector_int8_t = vector_s8;
using vector_uint8_t = vector_u8;
using vector_int16_t = vector_s16;
using vector_uint16_t = vector_u16;
using vector_int32_t = vector_s32;
using vector_uint32_t = vector_u32;
using vector_int64_t = vector_s64;
using vector_uint64_t = vector_u64;
using vector_half = vector_f16;
using vector_bfloat16_t = vector_bf16;
using vector_float = vector_f32;

// A mask: a bit for each byte of a register.
struct vector_bool {
  uint64_t word[4] = {0, 0, 0, 0};
  uint16_t name;
  bool known = false;
  vector_bool() : name(vinci_cce::take_mask()) {}
  vector_bool(const vector_bool &other) : name(other.name), known(other.known) {
    __builtin_memcpy(word, other.word, sizeof word);
    vinci_cce::mask_users[name]++;
  }
  vector_bool &operator=(const vector_bool &other) {
    vinci_cce::mask_users[other.name]++;
    vinci_cce::mask_users[name]--;
    name = other.name;
    known = other.known;
    __builtin_memcpy(word, other.word, sizeof word);
    return *this;
  }
  ~vector_bool() { vinci_cce::mask_users[name]--; }
  bool bit(int i) const { return word[i / 64] >> (i % 64) & 1; }
  int64_t read() const {
    if (!known)
      vinci_cce::trap("a mask is used that nothing has been written to");
    return name;
  }
  int64_t write() {
    if (vinci_cce::mask_users[name] > 1) {
      vinci_cce::mask_users[name]--;
      name = vinci_cce::take_mask();
    }
    known = true;
    return name;
  }
};

// The register for unaligned transfers: of stores, how many bytes it holds.
struct vector_align : vinci_cce::vector_name {
  uint32_t held = 0;
};
// An offset in bytes.
struct vector_address {
  int64_t offset = 0;
};

namespace vinci_cce {
constexpr bool merges(Mode mode) { return mode == Mode::MODE_MERGING; }
constexpr bool merges() { return false; }
} // namespace vinci_cce

// The first operands of an instruction under a mask.
#define VINCI_CCE_MASKED "m0 m1 m2 m3 pg merge "
#define VINCI_CCE_UNDER(mask, mode)                                                                    \
  (int64_t)(mask).word[0], (int64_t)(mask).word[1], (int64_t)(mask).word[2], (int64_t)(mask).word[3],  \
      (mask).read(), vinci_cce::merges(mode)

#endif
