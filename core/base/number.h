/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number formats of the hardware, for the units that compute values: exact conversions with
 * the documented rounding modes, from integer arithmetic alone, so that every host and build
 * gives the same bits.
 *
 * Conventions of all units. Denormals count in every format. A result that is not a number is
 * the positive quiet NaN of its format, whatever came in; instructions that only move data
 * leave the bits alone. Numbers too large become infinite, except that C100 and M200 have the
 * saturating mode alone: their fp16 results end at the largest finite number, and NaN becomes
 * 0 (CANN runtime documentation, aclrtFloatOverflowMode: the later architectures start in the
 * inf/nan mode). Integers saturate, NaN becomes 0.
 */
#ifndef VINCI_CORE_BASE_NUMBER_H
#define VINCI_CORE_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Order of the words r f c a z o in core/isa/isa.def. */
enum number_round {
  ROUND_EVEN,  /* to nearest, ties to even */
  ROUND_FLOOR, /* down */
  ROUND_CEIL,  /* up */
  ROUND_AWAY,  /* to nearest, ties away from zero */
  ROUND_ZERO,  /* towards zero */
  ROUND_ODD,   /* towards zero, then the last bit is 1 if anything was lost */
};

/* Binary formats of up to 32 bits with a sign bit on top. */
struct number_format {
  unsigned fraction_bits;
  int exponent_min;  /* of the smallest normal number */
  uint32_t largest;  /* codes without the sign: largest finite number, */
  uint32_t infinity; /* infinity; where a format has none, its NaN */
  uint32_t nan;
  uint32_t sign;
};
extern const struct number_format number_fp16;
extern const struct number_format number_bf16;
extern const struct number_format number_fp32;
extern const struct number_format number_fp8_e4m3;
extern const struct number_format number_fp8_e5m2;
extern const struct number_format number_fp4_e2m1, number_fp4_e1m2; /* no infinity and no NaN */
/* 2^(code - 127); 255 is NaN: the scale format of OCP Microscaling 1.0. */
float number_e8m0(uint8_t code);

#define NUMBER_FP32_NAN UINT32_C(0x7fc00000)
#define NUMBER_FP16_NAN UINT16_C(0x7e00)
#define NUMBER_BF16_NAN UINT16_C(0x7fc0)

/* The code of the nearest number in a format, by any mode. Directed modes stop at the largest
 * finite number on the side they do not round to. */
uint32_t number_encode(const struct number_format *format, double value, enum number_round round,
                       bool saturate);
/* The number of a code; fp32 holds all of them exactly. */
float number_decode(const struct number_format *format, uint32_t code);

/* Rounds to an integral number; NaN and infinities stay. */
double number_integral(double value, enum number_round round);
/* Rounds to an integer, cut to low..high; NaN is 0. */
int64_t number_to_integer(double value, enum number_round round, int64_t low, int64_t high);
/* An integer that may have more digits than fp32 (or, rounded to odd first, than fp16). */
float number_from_integer(int64_t value, enum number_round round);

/* fp32 rounded to nearest even with fewer bits of fraction; the bits below are 0. */
float number_to_hf32(float value, unsigned fraction_bits);

/* ---- bits ---- */

static inline uint32_t fp32_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float fp32_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* A computed fp32 result: hosts differ in the bits of a NaN. */
static inline float fp32_result(float value) {
  return value != value ? fp32_from_bits(NUMBER_FP32_NAN) : value;
}

/* ---- the conversions that loops are made of; without branches, for compilers to vectorise ---- */

static inline float fp16_to_fp32(uint16_t code) {
  uint32_t magnitude = code & 0x7fffu;
  uint32_t sign = (uint32_t)(code & 0x8000u) << 16;
  /* The same bits read as fp32 are too small by 2^112; exact, also for denormals. */
  uint32_t bits = fp32_bits(fp32_from_bits(magnitude << 13) * 0x1p112f);
  bits = magnitude >= 0x7c00 ? 0x7f800000 : bits;
  bits = magnitude > 0x7c00 ? NUMBER_FP32_NAN : bits | sign;
  return fp32_from_bits(bits);
}

static inline float bf16_to_fp32(uint16_t code) {
  uint32_t bits = (uint32_t)code << 16;
  return fp32_from_bits((code & 0x7fffu) > 0x7f80 ? NUMBER_FP32_NAN : bits);
}

/* To nearest even, too large becomes infinite. */
static inline uint16_t fp16_from_fp32(float value) {
  uint32_t bits = fp32_bits(value);
  uint32_t magnitude = bits & 0x7fffffff;
  uint32_t sign = bits >> 16 & 0x8000;
  /* Exponent bias 127 to 15; half a unit, or a little less when the last bit is even. */
  uint32_t normal = (magnitude - (UINT32_C(112) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  /* Added to 0.5, whose last bit is the unit of fp16 denormals. */
  uint32_t small = fp32_bits(fp32_from_bits(magnitude) + 0.5f) - fp32_bits(0.5f);
  uint32_t code = magnitude < UINT32_C(113) << 23 ? small : normal;
  code = magnitude >= UINT32_C(143) << 23 ? 0x7c00 : code;
  return (uint16_t)(magnitude > 0x7f800000 ? NUMBER_FP16_NAN : code | sign);
}

/* To nearest even, too large becomes infinite. */
static inline uint16_t bf16_from_fp32(float value) {
  uint32_t bits = fp32_bits(value);
  uint32_t code = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? NUMBER_BF16_NAN : code);
}

/* The saturating mode of arch_saturates() on a computed fp16 result. */
static inline uint16_t fp16_saturate(uint16_t code) {
  uint16_t magnitude = code & 0x7fff;
  uint16_t largest = (uint16_t)((code & 0x8000) | 0x7bff);
  return magnitude > 0x7c00 ? 0 : magnitude == 0x7c00 ? largest : code;
}

static inline uint16_t bf16_saturate(uint16_t code) {
  uint16_t magnitude = code & 0x7fff;
  uint16_t largest = (uint16_t)((code & 0x8000) | 0x7f7f);
  return magnitude > 0x7f80 ? 0 : magnitude == 0x7f80 ? largest : code;
}

/* ---- int4: two to a byte, the first one in the low half ---- */

static inline int int4_load(const uint8_t *bytes, size_t index) {
  int nibble = bytes[index / 2] >> (index % 2 * 4) & 0xf;
  return nibble - (nibble & 8) * 2;
}

static inline void int4_store(uint8_t *bytes, size_t index, int value) {
  unsigned shift = (unsigned)(index % 2 * 4);
  bytes[index / 2] =
      (uint8_t)((bytes[index / 2] & ~(0xfu << shift)) | ((unsigned)value & 0xf) << shift);
}

/* ---- elements of the byte arrays of core/machine/values.h, at any alignment ---- */

/* Elements lie with the least significant byte first. Turns them around on a host that has the most
 * significant one first, from or to its own order; smaller elements than a byte stay as they are.
 */
static inline void number_order(void *elements, size_t bytes, unsigned bits) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  uint8_t *at = (uint8_t *)elements;
  size_t size = bits / 8;
  for (size_t first = 0; size > 1 && first + size <= bytes; first += size)
    for (size_t i = 0; i < size / 2; i++) {
      uint8_t byte = at[first + i];
      at[first + i] = at[first + size - 1 - i];
      at[first + size - 1 - i] = byte;
    }
#else
  (void)elements, (void)bytes, (void)bits;
#endif
}

#define NUMBER_ACCESS(name, type)                                                                  \
  static inline type load_##name(const uint8_t *bytes) {                                           \
    type value;                                                                                    \
    memcpy(&value, bytes, sizeof value);                                                           \
    number_order(&value, sizeof value, 8 * sizeof value);                                          \
    return value;                                                                                  \
  }                                                                                                \
  static inline void store_##name(uint8_t *bytes, type value) {                                    \
    number_order(&value, sizeof value, 8 * sizeof value);                                          \
    memcpy(bytes, &value, sizeof value);                                                           \
  }
NUMBER_ACCESS(u16, uint16_t)
NUMBER_ACCESS(u32, uint32_t)
NUMBER_ACCESS(u64, uint64_t)
NUMBER_ACCESS(i16, int16_t)
NUMBER_ACCESS(i32, int32_t)
NUMBER_ACCESS(i64, int64_t)
NUMBER_ACCESS(fp32, float)
NUMBER_ACCESS(fp64, double)
#undef NUMBER_ACCESS

/* Elements of up to 8 bytes as what stands in their bits, the others 0. */
static inline uint64_t load_low(const uint8_t *bytes, size_t count) {
  uint8_t all[sizeof(uint64_t)] = {0};
  memcpy(all, bytes, count);
  return load_u64(all);
}

static inline void store_low(uint8_t *bytes, uint64_t value, size_t count) {
  uint8_t all[sizeof value];
  store_u64(all, value);
  memcpy(bytes, all, count);
}

#endif
