/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of all models: rounding up, the smaller and the larger, scales of held numbers,
 * divisions by what stays the same. */
#ifndef VINCI_CORE_BASE_ARITH_H
#define VINCI_CORE_BASE_ARITH_H

#include <stdbool.h>
#include <stdint.h>

enum {
  BITS_PER_BYTE = 8,
  MILLI = 1000 /* thousandths, in which fractional numbers of a SoC are held */
};

static inline uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The sum, or the limit where the sum exceeds that. a <= limit. */
static inline uint64_t add_up_to(uint64_t a, uint64_t b, uint64_t limit) {
  return b < limit - a ? a + b : limit;
}

/* The divisor must not be 0, nor the sum of both exceed 64 bits. */
static inline uint64_t ceil_div(uint64_t value, uint64_t divisor) {
  return (value + divisor - 1) / divisor;
}
/* To the next multiple of the unit; the same limits hold. */
static inline uint64_t round_up(uint64_t value, uint64_t unit) {
  return ceil_div(value, unit) * unit;
}

__extension__ typedef unsigned __int128 uint128;

/* A number that much is divided by: a shift or a product takes the place of each division. */
struct divisor {
  uint64_t value;
  uint64_t reciprocal; /* of 2^64 - 1, rounded down; 0: the number is a power of two */
  uint32_t shift;      /* its logarithm */
};

/* value must not be 0. */
static inline struct divisor divisor_of(uint64_t value) {
  bool power = (value & (value - 1)) == 0;
  return (struct divisor){value, power ? 0 : UINT64_MAX / value,
                          power ? (uint32_t)__builtin_ctzll(value) : 0};
}

/* The quotient, exactly: the product is it or one less. */
static inline uint64_t divide(uint64_t value, const struct divisor *divisor) {
  if (divisor->reciprocal == 0)
    return value >> divisor->shift;
  uint64_t quotient = (uint64_t)((uint128)value * divisor->reciprocal >> 64);
  return quotient + (value - quotient * divisor->value >= divisor->value);
}

/* Pseudo-random numbers: splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", 2014). */
static inline uint64_t splitmix64_next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

/* Bits that are set. (The compiler's built-in is a library call on a plain x86-64.) */
static inline uint64_t count_bits(uint64_t bits) {
  bits -= bits >> 1 & UINT64_C(0x5555555555555555);
  bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
  return ((bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * UINT64_C(0x0101010101010101) >> 56;
}

#endif
