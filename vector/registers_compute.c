/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of register instructions that work lane by lane, and of comparisons. Floating-point types
 * are computed in fp32 and rounded once, to nearest even; integers in 64 bits and cut to their
 * width, as documents of the register interface say (a memory-based instruction saturates them).
 */
#include "vector/registers.h"

#include "vector/math.h"
#include "vector/values.h"

/* The lanes of a register as numbers. */
union reg_lanes {
  float real[REG_LANES];
  int64_t whole[REG_LANES];
};

static bool is_real(enum dtype type) {
  return type == DTYPE_FP16 || type == DTYPE_BF16 || type == DTYPE_FP32;
}

static int64_t load_whole(const uint8_t *at, enum dtype type) {
  switch (type) {
  case DTYPE_INT8:
    return (int8_t)*at;
  case DTYPE_UINT8:
    return *at;
  case DTYPE_INT16:
    return load_i16(at);
  case DTYPE_UINT16:
    return load_u16(at);
  case DTYPE_INT32:
    return load_i32(at);
  case DTYPE_INT64:
    return (int64_t)load_low(at, sizeof(int64_t));
  default:
    return load_u32(at);
  }
}

static float load_real(const uint8_t *at, enum dtype type) {
  return type == DTYPE_FP16   ? fp16_to_fp32(load_u16(at))
         : type == DTYPE_BF16 ? bf16_to_fp32(load_u16(at))
                              : load_fp32(at);
}

static void store_whole(uint8_t *at, unsigned bytes, int64_t value) {
  store_low(at, (uint64_t)value, bytes);
}

static void store_real(const struct inst *inst, uint8_t *at, enum dtype type, float value) {
  if (type == DTYPE_FP32) {
    store_fp32(at, fp32_result(value));
    return;
  }
  uint16_t code = type == DTYPE_FP16 ? fp16_from_fp32(value) : bf16_from_fp32(value);
  if (inst_saturates(inst))
    code = type == DTYPE_FP16 ? fp16_saturate(code) : bf16_saturate(code);
  store_u16(at, code);
}

static void load_lanes(const uint8_t *from, enum dtype type, unsigned lanes, union reg_lanes *out) {
  unsigned bytes = REPEAT_BYTES / lanes;
  for (unsigned i = 0; i < lanes; i++)
    if (is_real(type))
      out->real[i] = load_real(from + i * bytes, type);
    else
      out->whole[i] = load_whole(from + i * bytes, type);
}

/* A scalar operand in all lanes: integers as they are, floating-point types by their bits. */
static void spread(int64_t scalar, enum dtype type, unsigned lanes, union reg_lanes *out) {
  uint8_t bytes[sizeof scalar];
  store_i64(bytes, scalar);
  for (unsigned i = 0; i < lanes; i++)
    if (is_real(type))
      out->real[i] = load_real(bytes, type);
    else
      out->whole[i] = load_whole(bytes, type);
}

/* Lanes that are not active become 0, or stay. */
static void store_lanes(const struct inst *inst, uint8_t *to, enum dtype type, unsigned lanes,
                        const union reg_lanes *value) {
  unsigned bytes = REPEAT_BYTES / lanes;
  for (unsigned i = 0; i < lanes; i++) {
    uint8_t *at = to + i * bytes;
    if (!reg_bit(inst, i * bytes)) {
      if (inst->arg[MASKED_MERGE] == 0)
        memset(at, 0, bytes);
    } else if (is_real(type)) {
      store_real(inst, at, type, value->real[i]);
    } else {
      store_whole(at, bytes, value->whole[i]);
    }
  }
}

/* ---- operations ---------------------------------------------------------------------------- */

/* On one lane: a and b are the sources, or a source and a scalar, c is what dst had. */
struct operation {
  float (*real)(float a, float b, float c);
  int64_t (*whole)(int64_t a, int64_t b, int64_t c, unsigned bits);
};

#define REAL(name, result)                                                                         \
  static float real_##name(float a, float b, float c) {                                            \
    (void)a, (void)b, (void)c;                                                                     \
    return result;                                                                                 \
  }
#define WHOLE(name, result)                                                                        \
  static int64_t whole_##name(int64_t a, int64_t b, int64_t c, unsigned bits) {                    \
    (void)a, (void)b, (void)c, (void)bits;                                                         \
    return (int64_t)(result);                                                                      \
  }
#define BOTH(name, real_result, whole_result) REAL(name, real_result) WHOLE(name, whole_result)

BOTH(add, a + b, a + b)
BOTH(sub, a - b, a - b)
BOTH(mul, a *b, (uint64_t)a *(uint64_t)b)
BOTH(max, math_larger(a, b), a > b ? a : b)
BOTH(min, math_smaller(a, b), a < b ? a : b)
BOTH(mula, math_fma(a, b, c), (uint64_t)a *(uint64_t)b + (uint64_t)c)
BOTH(abs, __builtin_fabsf(a), a < 0 ? -a : a)
BOTH(neg, -a, -a)
BOTH(relu, math_larger(a, 0.0f), a > 0 ? a : 0)
WHOLE(copy, a)
WHOLE(copy_b, b)
BOTH(div, a / b, b == 0 ? -1 : a / b) /* by 0: no document says */
REAL(absdif, __builtin_fabsf(a - b))
REAL(expdif, math_exp(a - b))
REAL(prelu, a < 0.0f ? a * b : a)
REAL(madd, math_fma(a, c, b))
REAL(exp, math_exp(a))
REAL(ln, math_ln(a))
REAL(sqrt, math_sqrt(a))
WHOLE(and, a &b)
WHOLE(or, a | b)
WHOLE(xor, a ^ b)
WHOLE(not, ~a)
WHOLE(shl, b >= 0 && b < (int64_t)bits ? (uint64_t)a << b : 0)
/* a has the sign of its type, so what is shifted in is that sign. */
WHOLE(shr, b >= 0 && b < (int64_t)bits ? a >> b : a < 0 ? -1 : 0)

/* Bits are the same in all types, so those of floating-point types count as integers. */
static enum dtype bits_of_type(enum dtype type) {
  static const enum dtype same[] = {DTYPE_UINT8, DTYPE_UINT16, DTYPE_UINT32};
  unsigned bits = dtype_bits(type);
  return is_real(type) ? same[bits / 16] : type;
}

static void apply(const struct operation *operation, enum dtype type, unsigned lanes,
                  union reg_lanes *a, const union reg_lanes *b, const union reg_lanes *c) {
  for (unsigned i = 0; i < lanes; i++)
    if (is_real(type))
      a->real[i] = operation->real(a->real[i], b->real[i], c->real[i]);
    else
      a->whole[i] = operation->whole(a->whole[i], b->whole[i], c->whole[i],
                                     REPEAT_BYTES / lanes * BITS_PER_BYTE);
}

/* sources: 0 to 2 registers; what is missing of two is the scalar, or nothing. */
static void compute(const struct inst *inst, const struct value_core *core,
                    struct operation operation, unsigned sources, int scalar) {
  enum dtype type = inst_dtype(inst);
  if (!operation.real)
    type = bits_of_type(type);
  unsigned lanes = REPEAT_BYTES * BITS_PER_BYTE / dtype_bits(type);
  uint8_t *dst = reg_at(inst, core, REG1_DST);
  union reg_lanes a = {.whole = {0}}, b = {.whole = {0}}, c;
  load_lanes(dst, type, lanes, &c);
  if (sources > 0)
    load_lanes(reg_at(inst, core, REG2_SRC0), type, lanes, &a);
  if (sources > 1)
    load_lanes(reg_at(inst, core, REG2_SRC1), type, lanes, &b);
  else if (scalar >= 0)
    spread(inst->arg[scalar], type, lanes, &b);
  apply(&operation, type, lanes, &a, &b, &c);
  store_lanes(inst, dst, type, lanes, &a);
}

#define FUNCTION(id, operation, sources, scalar)                                                   \
  void REG_##id##_values(const struct vinci_soc *soc, const struct inst *inst,                     \
                         struct value_core *core) {                                                \
    (void)soc;                                                                                     \
    compute(inst, core, operation, sources, scalar);                                               \
  }
#define NUMBERS(name) ((struct operation){real_##name, whole_##name})
#define REALS(name) ((struct operation){real_##name, NULL})
#define WHOLES(name) ((struct operation){NULL, whole_##name})
enum { NO_SCALAR = -1 };

FUNCTION(VADD, NUMBERS(add), 2, NO_SCALAR)
FUNCTION(VSUB, NUMBERS(sub), 2, NO_SCALAR)
FUNCTION(VMUL, NUMBERS(mul), 2, NO_SCALAR)
FUNCTION(VDIV, NUMBERS(div), 2, NO_SCALAR)
FUNCTION(VMAX, NUMBERS(max), 2, NO_SCALAR)
FUNCTION(VMIN, NUMBERS(min), 2, NO_SCALAR)
FUNCTION(VABSDIF, REALS(absdif), 2, NO_SCALAR)
FUNCTION(VEXPDIF, REALS(expdif), 2, NO_SCALAR)
FUNCTION(VPRELU, REALS(prelu), 2, NO_SCALAR)
FUNCTION(VAND, WHOLES(and), 2, NO_SCALAR)
FUNCTION(VOR, WHOLES(or), 2, NO_SCALAR)
FUNCTION(VXOR, WHOLES(xor), 2, NO_SCALAR)
FUNCTION(VSHL, WHOLES(shl), 2, NO_SCALAR)
FUNCTION(VSHR, WHOLES(shr), 2, NO_SCALAR)
FUNCTION(VMULA, NUMBERS(mula), 2, NO_SCALAR)
FUNCTION(VMADD, REALS(madd), 2, NO_SCALAR)
FUNCTION(VADDS, NUMBERS(add), 1, REGS_VALUE)
FUNCTION(VMULS, NUMBERS(mul), 1, REGS_VALUE)
FUNCTION(VMAXS, NUMBERS(max), 1, REGS_VALUE)
FUNCTION(VMINS, NUMBERS(min), 1, REGS_VALUE)
FUNCTION(VLRELU, REALS(prelu), 1, REGS_VALUE)
FUNCTION(VAXPY, REALS(mula), 1, REGS_VALUE)
FUNCTION(VEXP, REALS(exp), 1, NO_SCALAR)
FUNCTION(VLN, REALS(ln), 1, NO_SCALAR)
FUNCTION(VSQRT, REALS(sqrt), 1, NO_SCALAR)
FUNCTION(VABS, NUMBERS(abs), 1, NO_SCALAR)
FUNCTION(VNEG, NUMBERS(neg), 1, NO_SCALAR)
FUNCTION(VRELU, NUMBERS(relu), 1, NO_SCALAR)
FUNCTION(VNOT, WHOLES(not ), 1, NO_SCALAR)
FUNCTION(VMOV, WHOLES(copy), 1, NO_SCALAR)
FUNCTION(VDUP, WHOLES(copy_b), 0, REGD_VALUE)

/* Shifts by a scalar: the count is a number of its own, whatever the type of the lanes. */
static void shift(const struct inst *inst, const struct value_core *core, bool left) {
  enum dtype type = inst_dtype(inst);
  unsigned bits = dtype_bits(type), lanes = REPEAT_BYTES * BITS_PER_BYTE / bits;
  union reg_lanes a;
  load_lanes(reg_at(inst, core, REGS_SRC), type, lanes, &a);
  for (unsigned i = 0; i < lanes; i++)
    a.whole[i] = left ? whole_shl(a.whole[i], inst->arg[REGS_VALUE], 0, bits)
                      : whole_shr(a.whole[i], inst->arg[REGS_VALUE], 0, bits);
  store_lanes(inst, reg_at(inst, core, REGS_DST), type, lanes, &a);
}

void REG_VSHLS_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  shift(inst, core, true);
}

void REG_VSHRS_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  shift(inst, core, false);
}

/* ---- rounding, selection, fills ------------------------------------------------------------- */

void REG_VTRC_values(const struct vinci_soc *soc, const struct inst *inst,
                     struct value_core *core) {
  (void)soc;
  enum dtype type = inst_dtype(inst);
  unsigned lanes = REPEAT_BYTES * BITS_PER_BYTE / dtype_bits(type);
  union reg_lanes a;
  load_lanes(reg_at(inst, core, REGROUND_SRC), type, lanes, &a);
  for (unsigned i = 0; i < lanes; i++)
    a.real[i] = (float)number_integral(a.real[i], (enum number_round)inst->arg[REGROUND_ROUND]);
  store_lanes(inst, reg_at(inst, core, REGROUND_DST), type, lanes, &a);
}

void REG_VSEL_values(const struct vinci_soc *soc, const struct inst *inst,
                     struct value_core *core) {
  (void)soc;
  unsigned bytes = reg_bytes(inst);
  uint8_t result[REPEAT_BYTES];
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes)
    memcpy(result + at, reg_at(inst, core, reg_bit(inst, at) ? REG2_SRC0 : REG2_SRC1) + at, bytes);
  memcpy(reg_at(inst, core, REG2_DST), result, sizeof result);
}

/* The highest lane is the last active one, the lowest lane 0 (Ascend C documentation, Duplicate).
 */
void REG_VDUPR_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  unsigned bytes = reg_bytes(inst), from = 0;
  uint8_t lane[sizeof(uint32_t)];
  for (unsigned at = 0; inst->arg[REGLANE_LANE] != 0 && at < REPEAT_BYTES; at += bytes)
    from = reg_bit(inst, at) ? at : from;
  memcpy(lane, reg_at(inst, core, REGLANE_SRC) + from, bytes);
  uint8_t *dst = reg_at(inst, core, REGLANE_DST);
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes)
    if (reg_bit(inst, at))
      memcpy(dst + at, lane, bytes);
    else if (inst->arg[MASKED_MERGE] == 0)
      memset(dst + at, 0, bytes);
}

void REG_VCI_values(const struct vinci_soc *soc, const struct inst *inst, struct value_core *core) {
  (void)soc;
  enum dtype type = inst_dtype(inst);
  unsigned bytes = reg_bytes(inst), lanes = REPEAT_BYTES / bytes;
  union reg_lanes a;
  uint8_t *dst = reg_at(inst, core, REGCI_DST);
  spread(inst->arg[REGCI_VALUE], type, lanes, &a);
  for (unsigned i = 0; i < lanes; i++) {
    unsigned step = inst->arg[REGCI_ORDER] == 0 ? i : lanes - 1 - i;
    if (is_real(type))
      store_real(inst, dst + i * bytes, type, a.real[i] + (float)step);
    else
      store_whole(dst + i * bytes, bytes, a.whole[i] + step);
  }
}

/* ---- comparisons ---------------------------------------------------------------------------- */

static bool holds(enum dtype type, const union reg_lanes *a, const union reg_lanes *b, unsigned i,
                  int64_t relation) {
  enum { EQ, NE, LT, GT, LE, GE };
  bool real = is_real(type);
  bool less = real ? a->real[i] < b->real[i] : a->whole[i] < b->whole[i];
  bool more = real ? a->real[i] > b->real[i] : a->whole[i] > b->whole[i];
  bool equal = real ? a->real[i] == b->real[i] : a->whole[i] == b->whole[i];
  switch (relation) {
  case EQ:
    return equal;
  case NE:
    return !equal;
  case LT:
    return less;
  case GT:
    return more;
  case LE:
    return less || equal;
  default:
    return more || equal;
  }
}

/* The bits go to where scalar code fetches them, for the instructions that have them as a mask. */
static void compare(const struct inst *inst, struct value_core *core, const union reg_lanes *a,
                    const union reg_lanes *b, int64_t relation) {
  enum dtype type = inst_dtype(inst);
  unsigned bytes = reg_bytes(inst);
  uint64_t mask[MASK_WORDS] = {0};
  for (unsigned i = 0; i < REPEAT_BYTES / bytes; i++)
    if (reg_bit(inst, i * bytes) && holds(type, a, b, i, relation))
      mask[i * bytes / 64] |= UINT64_C(1) << (i * bytes % 64);
  if (core->registers)
    memcpy(core->registers->mask, mask, sizeof mask);
}

void REG_VCMP_values(const struct vinci_soc *soc, const struct inst *inst,
                     struct value_core *core) {
  (void)soc;
  enum dtype type = inst_dtype(inst);
  unsigned lanes = REPEAT_BYTES / reg_bytes(inst);
  union reg_lanes a, b;
  load_lanes(reg_at(inst, core, REGCMP_SRC0), type, lanes, &a);
  load_lanes(reg_at(inst, core, REGCMP_SRC1), type, lanes, &b);
  compare(inst, core, &a, &b, inst->arg[REGCMP_RELATION]);
}

void REG_VCMPS_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  enum dtype type = inst_dtype(inst);
  unsigned lanes = REPEAT_BYTES / reg_bytes(inst);
  union reg_lanes a, b;
  load_lanes(reg_at(inst, core, REGCMPS_SRC), type, lanes, &a);
  spread(inst->arg[REGCMPS_VALUE], type, lanes, &b);
  compare(inst, core, &a, &b, inst->arg[REGCMPS_RELATION]);
}

/* ---- conversions ---------------------------------------------------------------------------- */

/* The types in the order of the words of the operand `to`. */
static enum dtype target_type(const struct inst *inst) {
  static const enum dtype types[] = {DTYPE_FP16,   DTYPE_BF16,  DTYPE_FP32,   DTYPE_INT8,
                                     DTYPE_UINT8,  DTYPE_INT16, DTYPE_UINT16, DTYPE_INT32,
                                     DTYPE_UINT32, DTYPE_INT64};
  return types[inst->arg[REGCVT_TO]];
}

static void range_of(enum dtype type, int64_t *low, int64_t *high) {
  unsigned bits = dtype_bits(type);
  bool sign =
      type == DTYPE_INT8 || type == DTYPE_INT16 || type == DTYPE_INT32 || type == DTYPE_INT64;
  *high = (int64_t)((UINT64_C(1) << (bits - sign)) - 1);
  *low = sign ? -*high - 1 : 0;
}

static void put_real(const struct inst *inst, uint8_t *at, enum dtype to, double value) {
  enum number_round round = (enum number_round)inst->arg[REGCVT_ROUND];
  bool saturates = inst->arg[REGCVT_SATURATES] != 0;
  if (to == DTYPE_FP32)
    store_fp32(at, fp32_result((float)value));
  else
    store_u16(at, (uint16_t)number_encode(to == DTYPE_FP16 ? &number_fp16 : &number_bf16, value,
                                          round, saturates));
}

/* Without saturation an integer keeps its low bits; numbers beyond 64 bits end at the range. */
static void put_whole(const struct inst *inst, uint8_t *at, enum dtype to, int64_t value) {
  int64_t low, high;
  range_of(to, &low, &high);
  if (inst->arg[REGCVT_SATURATES] != 0)
    value = value < low ? low : value > high ? high : value;
  store_whole(at, dtype_bits(to) / BITS_PER_BYTE, value);
}

static void convert_lane(const struct inst *inst, const uint8_t *from, enum dtype src, uint8_t *at,
                         enum dtype dst) {
  enum number_round round = (enum number_round)inst->arg[REGCVT_ROUND];
  if (is_real(src) && is_real(dst)) {
    put_real(inst, at, dst, load_real(from, src));
  } else if (is_real(src)) {
    double value = load_real(from, src);
    int64_t low, high;
    range_of(dst, &low, &high);
    bool beyond = inst->arg[REGCVT_SATURATES] != 0 || value - value != 0.0 /* infinite */ ||
                  dst == DTYPE_INT64;
    put_whole(inst, at, dst,
              number_to_integer(value, round, beyond ? low : -(INT64_C(1) << 62),
                                beyond ? high : INT64_C(1) << 62));
  } else if (dst == DTYPE_FP32) {
    store_fp32(at, number_from_integer(load_whole(from, src), round));
  } else if (is_real(dst)) {
    put_real(inst, at, dst, (double)load_whole(from, src));
  } else {
    put_whole(inst, at, dst, load_whole(from, src));
  }
}

/*
 * As many lanes as the wider type has. A narrow source is read at `part` of each wide lane, a
 * narrow result written there and 0 beside; the mask is that of the source.
 */
void REG_VCVT_values(const struct vinci_soc *soc, const struct inst *inst,
                     struct value_core *core) {
  (void)soc;
  enum dtype src = inst_dtype(inst), dst = target_type(inst);
  unsigned from_bytes = reg_bytes(inst), to_bytes = dtype_bits(dst) / BITS_PER_BYTE;
  unsigned wide = from_bytes > to_bytes ? from_bytes : to_bytes;
  unsigned part = (unsigned)inst->arg[REGCVT_PART];
  const uint8_t *from = reg_at(inst, core, REGCVT_SRC);
  uint8_t *to = reg_at(inst, core, REGCVT_DST), result[REPEAT_BYTES];
  memset(result, 0, sizeof result);
  if (inst->arg[MASKED_MERGE] != 0)
    memcpy(result, to, sizeof result);
  for (unsigned at = 0; at < REPEAT_BYTES; at += wide) {
    unsigned source = at + (from_bytes < wide ? part * from_bytes % wide : 0);
    unsigned target = at + (to_bytes < wide ? part * to_bytes % wide : 0);
    if (reg_bit(inst, source))
      convert_lane(inst, from + source, src, result + target, dst);
  }
  memcpy(to, result, sizeof result);
}
