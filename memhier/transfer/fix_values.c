/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of the fixpipe. Quantisation by the word of the documentation: a factor of 1, 8 and 10
 * bits like the upper ones of fp32, a right shift, an offset and the sign of the result. The
 * product is exact until it is rounded to the result, to nearest even.
 */
#include "core/base/number.h"
#include "memhier/transfer/transfer.h"

enum {
  FACTOR_MASK = (int)0xffffe000,
  SHIFT_BIT = 32, /* 0 to 15 stand for 1 to 16 */
  SHIFT_MASK = 0xf,
  SHIFT_ENABLE_BIT = 36,
  OFFSET_BIT = 37,
  OFFSET_BITS = 9,
  SIGNED_BIT = 46,
  FPC_QUANT_BIT = 8, /* FPC[15:8]: where the words lie in FB, */
  FPC_QUANT_MASK = 0xff,
  FPC_QUANT_UNIT = 128, /* in bytes of this */
};

uint64_t transfer_quant_address(const struct inst *inst) {
  return (inst->registers.fpc >> FPC_QUANT_BIT & FPC_QUANT_MASK) * FPC_QUANT_UNIT;
}

struct fix {
  const struct inst *inst;
  const uint8_t *words; /* by column, or NULL: the scalar word */
  int64_t quant;
  bool relu;
  bool integer;     /* accumulators are int32 */
  bool saturate;    /* fp16 results */
  uint64_t element; /* bytes of one result */
};

static uint64_t quant_word(const struct fix *fix, size_t column) {
  return fix->words ? load_u64(fix->words + column * sizeof(uint64_t))
                    : fix->inst->registers.quant_pre;
}

/* The accumulator, shifted if its word says so, times the factor. */
static double scaled(const struct fix *fix, uint32_t raw, uint64_t word) {
  float value = fp32_from_bits(raw);
  if (fix->quant != QUANT_QF322B8 && fix->quant != QUANT_VQF322B8) {
    int64_t integer = (int32_t)raw;
    if (word >> SHIFT_ENABLE_BIT & 1) {
      integer >>= (word >> SHIFT_BIT & SHIFT_MASK) + 1;
      integer = integer < INT16_MIN ? INT16_MIN : integer > INT16_MAX ? INT16_MAX : integer;
    }
    value = number_from_integer(integer, ROUND_EVEN);
  }
  if (fix->relu && value < 0)
    return 0;
  return (double)value * fp32_from_bits((uint32_t)word & (uint32_t)FACTOR_MASK);
}

/*
 * The vendor's documents give the word (ISA documents of the development kit: the offset is a
 * signed number of 9 bits, OFFSET_BIT) and, for the vector instructions that read the same word,
 * the formula dst = src * scale + offset (asc-devkit,
 * docs/api/context/c_api/vector_compute/asc_deq_int162b8.md); the pages of the fixpipe
 * (asc_copy_l0c2gm, asc_copy_l0c2l1) name the modes REQ8, VREQ8, QF322B8_PRE and VQF322B8_PRE
 * without a formula. That the rounded product is cut to the 9 bits of the offset before the two are
 * added is chosen. It shows only where the product is outside -256 to 255 and the offset has the
 * other sign.
 */
static uint8_t quantise_b8(double value, uint64_t word) {
  int64_t limit = INT64_C(1) << (OFFSET_BITS - 1);
  int64_t offset = (int64_t)(word >> OFFSET_BIT) & (2 * limit - 1);
  offset -= offset & limit ? 2 * limit : 0;
  int64_t sum = number_to_integer(value, ROUND_EVEN, -limit, limit - 1) + offset;
  bool is_signed = word >> SIGNED_BIT & 1;
  int64_t low = is_signed ? INT8_MIN : 0, high = is_signed ? INT8_MAX : UINT8_MAX;
  return (uint8_t)(sum < low ? low : sum > high ? high : sum);
}

static uint32_t rectified(const struct fix *fix, uint32_t raw) {
  if (!fix->relu)
    return raw;
  if (fix->integer)
    return (int32_t)raw < 0 ? 0 : raw;
  float value = fp32_from_bits(raw);
  return value > 0 ? raw : value != value ? NUMBER_FP32_NAN : 0;
}

static uint16_t saved_fp16(const struct fix *fix, uint16_t code) {
  return fix->saturate ? fp16_saturate(code) : code;
}

/* Converts accumulators of a row from a column on. */
static void convert(const struct fix *fix, const uint8_t *from, size_t column, size_t count,
                    uint8_t *to) {
  for (size_t i = 0; i < count; i++, from += ACCUMULATOR_BYTES, to += fix->element) {
    uint32_t raw = load_u32(from);
    uint64_t word;
    switch (fix->quant) {
    case QUANT_NONE:
      store_u32(to, rectified(fix, raw));
      break;
    case QUANT_F322F16:
      store_u16(to, saved_fp16(fix, fp16_from_fp32(fp32_from_bits(rectified(fix, raw)))));
      break;
    case QUANT_F322BF16:
      store_u16(to, bf16_from_fp32(fp32_from_bits(rectified(fix, raw))));
      break;
    case QUANT_DEQF16:
    case QUANT_VDEQF16:
      word = quant_word(fix, column + i);
      store_u16(to, (uint16_t)number_encode(&number_fp16, scaled(fix, raw, word), ROUND_EVEN,
                                            fix->saturate));
      break;
    default:
      word = quant_word(fix, column + i);
      *to = quantise_b8(scaled(fix, raw, word), word);
      break;
    }
  }
}

/* A run of results: part of a row, from a column on. */
static void store_results(const struct fix *fix, const uint8_t *matrix, size_t row, size_t column,
                          size_t count, uint8_t *to) {
  uint8_t results[L0C_FRACTAL_SIDE * ACCUMULATOR_BYTES];
  uint64_t column_bytes = (uint64_t)fix->inst->arg[FIX_SRC_STRIDE] * FIX_ROW_BYTES;
  while (count > 0) {
    size_t within = column % L0C_FRACTAL_SIDE;
    size_t part = L0C_FRACTAL_SIDE - within < count ? L0C_FRACTAL_SIDE - within : count;
    const uint8_t *from = matrix + column / L0C_FRACTAL_SIDE * column_bytes + row * FIX_ROW_BYTES +
                          within * ACCUMULATOR_BYTES;
    convert(fix, from, column, part, results);
    transfer_store(fix->inst, to, results, part * fix->element);
    to += part * fix->element;
    column += part;
    count -= part;
  }
}

/* Columns of blocks; of merged int8 channels the last 16 may be left over and stay alone. */
static void store_nz(const struct fix *fix, const uint8_t *matrix, uint8_t *to) {
  size_t n = (size_t)fix->inst->arg[FIX_N], m = (size_t)fix->inst->arg[FIX_M];
  size_t width = transfer_fix_column_width(fix->inst);
  uint64_t column_bytes = (uint64_t)fix->inst->arg[FIX_DST_STRIDE] * BLOCK_BYTES;
  for (size_t column = 0; column < n; column += width, to += column_bytes) {
    size_t left = n - column, count = left < width ? left : width;
    size_t pitch = width;
    if (left <= L0C_FRACTAL_SIDE && width > L0C_FRACTAL_SIDE)
      pitch = L0C_FRACTAL_SIDE;
    if (n < pitch)
      pitch = n;
    for (size_t row = 0; row < m; row++)
      store_results(fix, matrix, row, column, count, to + row * pitch * fix->element);
  }
}

static void store_nd(const struct fix *fix, const uint8_t *matrix, uint8_t *to) {
  uint64_t row_bytes = (uint64_t)fix->inst->arg[FIX_DST_STRIDE] * fix->element;
  for (size_t row = 0; row < (size_t)fix->inst->arg[FIX_M]; row++)
    store_results(fix, matrix, row, 0, (size_t)fix->inst->arg[FIX_N], to + row * row_bytes);
}

static void store_dn(const struct fix *fix, const uint8_t *matrix, uint8_t *to) {
  uint64_t column_bytes = (uint64_t)fix->inst->arg[FIX_DST_STRIDE] * fix->element;
  for (size_t column = 0; column < (size_t)fix->inst->arg[FIX_N]; column++)
    for (size_t row = 0; row < (size_t)fix->inst->arg[FIX_M]; row++)
      store_results(fix, matrix, row, column, 1, to + column * column_bytes + row * fix->element);
}

static void store_part(const struct fix_part *part, const struct value_core *core, uint8_t *to) {
  const struct inst *inst = &part->inst;
  struct transfer_runs src, dst;
  transfer_fix_matrices(inst, &src, &dst);
  struct fix fix = {
      .inst = inst,
      .quant = inst->arg[FIX_QUANT],
      .relu = inst->arg[FIX_RELU] != 0,
      .integer = inst_dtype(inst) == DTYPE_INT32,
      .saturate = arch_saturates((enum arch)inst->arch),
      .element = transfer_fix_element_bytes(inst),
  };
  if (transfer_fix_by_column(inst))
    fix.words =
        core->bytes[SPACE_FB] + transfer_quant_address(inst) + part->column * sizeof(uint64_t);
  const uint8_t *from = transfer_bytes(inst, core, TRANSFER_SRC);
  for (uint64_t i = 0; i < dst.count; i++) {
    if (inst->arg[FIX_NZ2ND])
      store_nd(&fix, from, to);
    else if (inst->arg[FIX_NZ2DN])
      store_dn(&fix, from, to);
    else
      store_nz(&fix, from, to);
    from += src.stride_bytes;
    to += dst.stride_bytes;
  }
}

void transfer_fix_values(const struct vinci_soc *soc, const struct inst *inst,
                         struct value_core *core) {
  (void)soc;
  struct fix_part parts[FIX_PARTS_MAX];
  unsigned count = transfer_fix_parts(inst, parts);
  for (unsigned i = 0; i < count; i++) {
    bool remote = inst->op == OP_COPY_MATRIX_CC_TO_UB;
    uint8_t *to = remote ? core->aiv_ub[parts[i].sub] + inst->arg[TRANSFER_DST]
                         : transfer_bytes(inst, core, TRANSFER_DST);
    store_part(&parts[i], core, to);
  }
}
