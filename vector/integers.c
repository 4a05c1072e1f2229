/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of integers from and to fp32, in loops that vectorise. core/base/number.h defines the
 * bits. */
#include "vector/math.h"
#include "vector/values.h"

/* ---- to integers ---- */

/* Nearest integral numbers in double; those beyond 2^51 are integral already. */
static inline double nearest(double x) {
  double rounded = (x + ROUNDER) - ROUNDER;
  return x < 0x1p51 && x > -0x1p51 ? rounded : x;
}

static inline double down(double x) {
  double rounded = nearest(x);
  return rounded > x ? rounded - 1.0 : rounded;
}

static inline double up(double x) {
  double rounded = nearest(x);
  return rounded < x ? rounded + 1.0 : rounded;
}

static inline double inwards(double x) { return x < 0.0 ? up(x) : down(x); }

static inline double away(double x) {
  double whole = inwards(x);
  double rest = x - whole;
  whole = rest >= 0.5 ? whole + 1.0 : whole;
  return rest <= -0.5 ? whole - 1.0 : whole;
}

struct range {
  double low;
  double high;
};

static inline int32_t cut(double x, struct range range) {
  double inside = x < range.low ? range.low : x > range.high ? range.high : x;
  return (int32_t)(x == x ? inside : 0.0);
}

#define ROUND_LOOP(name)                                                                           \
  LOOP static void all_##name(const float *restrict values, int32_t *restrict out, size_t count,   \
                              struct range range) {                                                \
    for (size_t i = 0; i < count; i++)                                                             \
      out[i] = cut(name(values[i]), range);                                                        \
  }
ROUND_LOOP(nearest)
ROUND_LOOP(down)
ROUND_LOOP(up)
ROUND_LOOP(inwards)
ROUND_LOOP(away)

void floats_to_integers(const float *values, enum number_round round, int64_t low, int64_t high,
                        int32_t *out, size_t count) {
  struct range range = {(double)low, (double)high};
  switch (round) {
  case ROUND_FLOOR:
    all_down(values, out, count, range);
    break;
  case ROUND_CEIL:
    all_up(values, out, count, range);
    break;
  case ROUND_AWAY:
    all_away(values, out, count, range);
    break;
  case ROUND_ZERO:
    all_inwards(values, out, count, range);
    break;
  default:
    all_nearest(values, out, count, range);
    break;
  }
}

/* ---- narrower integers ---- */

LOOP static void to_16(const int32_t *restrict values, uint16_t *restrict out, size_t count) {
  for (size_t i = 0; i < count; i++)
    out[i] = (uint16_t)values[i];
}

LOOP static void to_8(const int32_t *restrict values, uint8_t *restrict out, size_t count) {
  for (size_t i = 0; i < count; i++)
    out[i] = (uint8_t)values[i];
}

void integers_narrow(const int32_t *values, unsigned bits, union slots *out, size_t count) {
  switch (bits) {
  case 4:
    for (size_t i = 0; i < count; i++)
      int4_store(out->bytes, i, (int)values[i]);
    break;
  case 8:
    to_8(values, out->bytes, count);
    break;
  case 16:
    to_16(values, out->u16, count);
    break;
  default:
    memcpy(out->i32, values, count * sizeof *values);
    break;
  }
}

/* ---- from integers ---- */

LOOP static void from_32(const int32_t *restrict values, float *restrict out, size_t count) {
  for (size_t i = 0; i < count; i++)
    out[i] = (float)values[i];
}

LOOP static void from_16(const int16_t *restrict values, float *restrict out, size_t count) {
  for (size_t i = 0; i < count; i++)
    out[i] = (float)values[i];
}

LOOP static void from_8(const uint8_t *restrict values, bool is_signed, float *restrict out,
                        size_t count) {
  int wrap = is_signed ? 256 : 0;
  for (size_t i = 0; i < count; i++)
    out[i] = (float)(values[i] - (values[i] >= 128 ? wrap : 0));
}

void integers_to_floats(enum dtype type, const union slots *values, float *out, size_t count) {
  switch (type) {
  case DTYPE_INT4:
    for (size_t i = 0; i < count; i++)
      out[i] = (float)int4_load(values->bytes, i);
    break;
  case DTYPE_INT8:
  case DTYPE_UINT8:
    from_8(values->bytes, type == DTYPE_INT8, out, count);
    break;
  case DTYPE_INT16:
    from_16(values->i16, out, count);
    break;
  default:
    from_32(values->i32, out, count);
    break;
  }
}
