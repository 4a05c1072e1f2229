/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of reductions of registers. Sums are taken two by two, neighbours first, lanes that are
 * not active counting 0 (Ascend C documentation, Reduce, ReduceDataBlock, PairReduceElem); each sum
 * of two is rounded to the type.
 *
 * And marks of unwritten bytes on their way through register instructions: what a lane is made of.
 */
#include "vector/registers.h"

#include "vector/math.h"

enum { SUM, LARGEST, SMALLEST };

static bool is_whole(enum dtype type) {
  return type == DTYPE_INT16 || type == DTYPE_UINT16 || type == DTYPE_INT32 || type == DTYPE_UINT32;
}

/* Lanes as numbers that both kinds fit into: integers of 32 bits and fp32 are exact in double. */
static double load_number(const uint8_t *at, enum dtype type) {
  switch (type) {
  case DTYPE_FP16:
    return (double)fp16_to_fp32(load_u16(at));
  case DTYPE_FP32:
    return (double)load_fp32(at);
  case DTYPE_INT16:
    return load_i16(at);
  case DTYPE_UINT16:
    return load_u16(at);
  case DTYPE_INT32:
    return load_i32(at);
  default:
    return load_u32(at);
  }
}

/* What a result that is not exact becomes: a number of the type. Integers keep their low bits. */
static double rounded(const struct inst *inst, double value, enum dtype type) {
  if (type == DTYPE_FP32)
    return (double)(float)value;
  if (type != DTYPE_FP16)
    return value;
  uint16_t code = fp16_from_fp32((float)value);
  return (double)fp16_to_fp32(inst_saturates(inst) ? fp16_saturate(code) : code);
}

static void store_number(uint8_t *at, enum dtype type, double value) {
  if (type == DTYPE_FP16) {
    store_u16(at, fp16_from_fp32((float)value));
  } else if (type == DTYPE_FP32) {
    store_fp32(at, fp32_result((float)value));
  } else {
    store_low(at, (uint64_t)(int64_t)value, dtype_bits(type) / BITS_PER_BYTE);
  }
}

/* What lanes that are not active count as. */
static double neutral(enum dtype type, int kind) {
  unsigned bits = dtype_bits(type);
  bool sign = type == DTYPE_INT16 || type == DTYPE_INT32;
  if (kind == SUM)
    return 0;
  if (!is_whole(type))
    return kind == LARGEST ? -__builtin_inf() : __builtin_inf();
  double high = (double)((UINT64_C(1) << (bits - sign)) - 1), low = sign ? -high - 1 : 0;
  return kind == LARGEST ? low : high;
}

static double joined(const struct inst *inst, double a, double b, enum dtype type, int kind) {
  if (kind == SUM)
    return rounded(inst, a + b, type);
  if (is_whole(type))
    return kind == LARGEST ? (a > b ? a : b) : (a < b ? a : b);
  return kind == LARGEST ? (double)math_larger((float)a, (float)b)
                         : (double)math_smaller((float)a, (float)b);
}

/* Two by two; changes the lanes. */
static double reduced(const struct inst *inst, double *lane, unsigned count, enum dtype type,
                      int kind) {
  for (; count > 1; count /= 2)
    for (unsigned i = 0; i < count / 2; i++)
      lane[i] = joined(inst, lane[2 * i], lane[2 * i + 1], type, kind);
  return lane[0];
}

static unsigned load_all(const struct inst *inst, const struct value_core *core, int kind,
                         double *lane) {
  enum dtype type = inst_dtype(inst);
  unsigned bytes = reg_bytes(inst);
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes)
    lane[at / bytes] = reg_bit(inst, at) ? load_number(reg_at(inst, core, REG1_SRC) + at, type)
                                         : neutral(type, kind);
  return REPEAT_BYTES / bytes;
}

/* 16-bit integers are summed up in 32 bits. */
static enum dtype sum_type(enum dtype type) {
  return type == DTYPE_INT16 ? DTYPE_INT32 : type == DTYPE_UINT16 ? DTYPE_UINT32 : type;
}

static void store_results(const struct inst *inst, const struct value_core *core, enum dtype type,
                          const double *result, unsigned count) {
  uint8_t *dst = reg_at(inst, core, REG1_DST);
  memset(dst, 0, REPEAT_BYTES);
  for (unsigned i = 0; i < count; i++)
    store_number(dst + i * (dtype_bits(type) / BITS_PER_BYTE), type, result[i]);
}

void REG_VCADD_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  double lane[REG_LANES];
  unsigned count = load_all(inst, core, SUM, lane);
  double sum = reduced(inst, lane, count, inst_dtype(inst), SUM);
  store_results(inst, core, sum_type(inst_dtype(inst)), &sum, 1);
}

/* The extreme and the index of the first lane that has it, as an integer of the same width. */
static void extreme(const struct inst *inst, struct value_core *core, int kind) {
  enum dtype type = inst_dtype(inst);
  unsigned bytes = reg_bytes(inst), index = 0;
  double lane[REG_LANES], copy[REG_LANES];
  unsigned count = load_all(inst, core, kind, lane);
  memcpy(copy, lane, sizeof copy);
  double best = reduced(inst, copy, count, type, kind);
  while (index + 1 < count &&
         !(reg_bit(inst, index * bytes) &&
           (lane[index] == best || (lane[index] != lane[index] && best != best))))
    index++;
  store_results(inst, core, type, &best, 1);
  uint32_t at = index + 1 < count || reg_bit(inst, index * bytes) ? index : 0;
  store_low(reg_at(inst, core, REG1_DST) + bytes, at, bytes);
}

void REG_VCMAX_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  extreme(inst, core, LARGEST);
}

void REG_VCMIN_values(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  extreme(inst, core, SMALLEST);
}

static void by_block(const struct inst *inst, struct value_core *core, int kind) {
  enum dtype type = inst_dtype(inst);
  unsigned per_block = BLOCK_BYTES / reg_bytes(inst);
  double lane[REG_LANES], result[REG_BLOCKS];
  (void)load_all(inst, core, kind, lane);
  for (unsigned block = 0; block < REG_BLOCKS; block++)
    result[block] = reduced(inst, lane + block * per_block, per_block, type, kind);
  store_results(inst, core, kind == SUM ? sum_type(type) : type, result, REG_BLOCKS);
}

#define BY_BLOCK(id, kind)                                                                         \
  void REG_##id##_values(const struct vinci_soc *soc, const struct inst *inst,                     \
                         struct value_core *core) {                                                \
    (void)soc;                                                                                     \
    by_block(inst, core, kind);                                                                    \
  }
BY_BLOCK(VCGADD, SUM)
BY_BLOCK(VCGMAX, LARGEST)
BY_BLOCK(VCGMIN, SMALLEST)

void REG_VCPADD_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  (void)soc;
  enum dtype type = inst_dtype(inst);
  double lane[REG_LANES];
  unsigned count = load_all(inst, core, SUM, lane);
  for (unsigned i = 0; i < count / 2; i++)
    lane[i] = joined(inst, lane[2 * i], lane[2 * i + 1], type, SUM);
  store_results(inst, core, type, lane, count / 2);
}

/* ---- marks --------------------------------------------------------------------------------- */

/* A mark of any byte of a lane marks the lane. */
static uint8_t mark_of(const uint8_t *at, unsigned bytes) {
  uint8_t mark = 0;
  for (unsigned i = 0; i < bytes; i++)
    mark |= at[i];
  return mark ? UINT8_MAX : 0;
}

/* Lane by lane: what is active is unwritten where a source is; what is not is 0, or stays. */
static void mark_lanes(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  (void)soc;
  const struct isa_row *row = isa_row((enum isa_op)inst->op);
  unsigned bytes = reg_bytes(inst), target = row->arg_count;
  uint8_t result[REPEAT_BYTES] = {0};
  for (unsigned i = row->arg_count; i-- > 0;)
    if (row->arg[i].kind == ARG_ADDRESS && row->arg[i].writes)
      target = i;
  if (target == row->arg_count)
    return; /* a comparison: masks have no marks */
  if (inst->arg[MASKED_MERGE] != 0)
    memcpy(result, reg_at(inst, core, target), sizeof result);
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes) {
    uint8_t mark = 0;
    for (unsigned i = 0; i < row->arg_count; i++)
      if (row->arg[i].kind == ARG_ADDRESS && row->arg[i].reads)
        mark |= mark_of(reg_at(inst, core, i) + at, bytes);
    if (reg_bit(inst, at))
      memset(result + at, mark, bytes);
  }
  memcpy(reg_at(inst, core, target), result, sizeof result);
}

/* A conversion moves lanes too; their marks are those of the wide lanes. */
static void mark_wide(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  uint8_t *dst = reg_at(inst, core, REG1_DST);
  const uint8_t *src = reg_at(inst, core, REG1_SRC);
  for (unsigned at = 0; at < REPEAT_BYTES; at += sizeof(uint32_t)) {
    uint8_t mark = 0;
    for (unsigned i = 0; i < sizeof(uint32_t); i++)
      mark |= reg_bit(inst, at + i) ? mark_of(src + at, sizeof(uint32_t)) : 0;
    memset(dst + at, mark, sizeof(uint32_t));
  }
}

/* A reduction is unwritten where an active lane is. */
static void mark_whole(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  (void)soc;
  unsigned bytes = reg_bytes(inst);
  uint8_t mark = 0;
  for (unsigned at = 0; at < REPEAT_BYTES; at += bytes)
    mark |= reg_bit(inst, at) ? mark_of(reg_at(inst, core, REG1_SRC) + at, bytes) : 0;
  memset(reg_at(inst, core, REG1_DST), mark, REPEAT_BYTES);
}

/* Which lanes an index takes is a matter of values: nothing is told of the result. */
static void mark_none(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core) {
  (void)soc;
  memset(reg_at(inst, core, REGINDEX_DST), 0, REPEAT_BYTES);
}

inst_values_fn reg_marks(enum isa_op op, inst_values_fn values, inst_access_fn access) {
  switch (op) {
  case OP_REG_VSELR:
    return mark_none;
  case OP_REG_VGATHER2:
  case OP_REG_VGATHERB:
    return reg_gather_marks;
  case OP_REG_VSCATTER:
    return reg_scatter_marks;
  case OP_REG_VADDC:
  case OP_REG_VSUBC:
  case OP_REG_VADDCS:
  case OP_REG_VSUBCS:
    return mark_lanes;
  case OP_REG_VMULL:
    return reg_wide_marks;
  case OP_REG_DHISTV2:
  case OP_REG_CHISTV2:
    return reg_counts_marks;
  case OP_REG_VCVT:
    return mark_wide;
  case OP_REG_VCADD:
  case OP_REG_VCMAX:
  case OP_REG_VCMIN:
  case OP_REG_VCGADD:
  case OP_REG_VCGMAX:
  case OP_REG_VCGMIN:
  case OP_REG_VCPADD:
    return mark_whole;
  case OP_REG_VCI:
  case OP_REG_VUSQZ:
  case OP_REG_PLDS: /* bits that nobody wrote choose lanes at once */
  case OP_REG_PSTS:
  case OP_REG_PSTU:
    return NULL; /* nothing is read */
  default:
    break;
  }
  bool moves =
      access != reg_compute_access || op == OP_REG_VSEL || op == OP_REG_VSQZ || op == OP_REG_VDUPR;
  return moves ? values : mark_lanes;
}
