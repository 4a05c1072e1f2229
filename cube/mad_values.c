/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mad: values. Every result is a sum in ascending order of k, starting from the accumulator,
 * the bias or +0; each product and each sum is rounded to fp32. Products of all types but fp32
 * are exact. Integers: int32 that wraps around; the parts of a sum are small enough for fp32
 * to be exact, so that one loop serves all types. Sums kept in fp16 are rounded after 128 steps
 * of k and at the end; how often the hardware rounds is not published. Values with scales are
 * scaled first, each rounded to fp32: the documentation has this formula.
 */
#include "core/base/arith.h"
#include "core/base/number.h"
#include "core/chip/layout.h"
#include "core/machine/values.h"
#include "cube/cube.h"

enum {
  CHUNK_M = 128, /* rows and */
  CHUNK_K = 128, /* columns of A that are decoded at a time; sums of int8 stay below 2^24 */
  SIDE = L0C_FRACTAL_SIDE,
  LANES = 8,
  ROWS = 4, /* that share the loads of B */
  C0_MAX = 64,
};

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef lanes stored_lanes __attribute__((aligned(sizeof(float)), may_alias));
#define LANES_AT(address) (*(stored_lanes *)(uintptr_t)(address))

/* The thread sanitizer does not live with functions that are chosen while the library is loaded. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&                            \
    !defined(__SANITIZE_THREAD__)
#define WIDEST_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define WIDEST_VECTORS
#endif

struct mad {
  enum arch arch;
  enum dtype type, b_type;
  const uint8_t *a, *b, *bias;
  const uint8_t *index;               /* NULL: b is not sparse */
  const uint8_t *a_scales, *b_scales; /* NULL: values are not scaled */
  uint8_t *c;
  size_t m, k, n;
  size_t c0; /* elements of 32 bytes */
  size_t m_blocks, k_blocks, n_blocks;
  bool zero, from_bias, integer, gemv;
  bool narrow; /* sums are kept in fp16, rounded with every CHUNK_K steps */
};

/* Decoded operands of a step. */
struct operands {
  float a[CHUNK_M][CHUNK_K];
  float b[CHUNK_K][SIDE];
};

static enum dtype b_type_of(const struct inst *inst) {
  switch (inst->arg[MAD_B_TYPE]) {
  case MAD_B_INT8:
    return DTYPE_INT8;
  case MAD_B_FP8_E4M3:
    return DTYPE_FP8_E4M3;
  case MAD_B_FP8_E5M2:
    return DTYPE_FP8_E5M2;
  case MAD_B_FP4_E2M1:
    return DTYPE_FP4_E2M1;
  case MAD_B_FP4_E1M2:
    return DTYPE_FP4_E1M2;
  default:
    return inst_dtype(inst);
  }
}

static struct mad mad_of(const struct inst *inst, const struct value_core *core) {
  enum dtype type = inst_dtype(inst);
  struct mad mad = {
      .arch = (enum arch)inst->arch,
      .type = type,
      .b_type = b_type_of(inst),
      .a = core->bytes[SPACE_L0A] + inst->arg[MAD_A],
      .b = core->bytes[SPACE_L0B] + inst->arg[MAD_B],
      .c = core->bytes[SPACE_L0C] + inst->arg[MAD_C],
      .m = (size_t)inst->arg[MAD_M],
      .k = (size_t)inst->arg[MAD_K],
      .n = (size_t)inst->arg[MAD_N],
      .c0 = (size_t)BLOCK_BYTES * BITS_PER_BYTE / dtype_bits(type),
      .zero = inst->arg[MAD_INIT] != 0,
      .from_bias = !inst->arg[MAD_INIT] && inst->arg[MAD_SOURCE] == MAD_SOURCE_BT,
      .integer = type == DTYPE_INT8 || type == DTYPE_UINT8 || type == DTYPE_INT4,
      .gemv = mad_is_gemv(inst),
      .narrow = inst->arg[MAD_SUMS] == MAD_SUMS_FP16,
  };
  if (mad.from_bias)
    mad.bias = core->bytes[SPACE_BT] + inst->arg[MAD_BIAS];
  if (mad_is_sparse(inst))
    mad.index = core->bytes[SPACE_IDX] + inst->arg[MAD_B] / SPARSE_INDEX_SHARE;
  if (mad_is_scaled(inst)) {
    mad.a_scales = core->bytes[SPACE_L0A_MX] + inst->arg[MAD_A] / MX_SHARE;
    mad.b_scales = core->bytes[SPACE_L0B_MX] + inst->arg[MAD_B] / MX_SHARE;
  }
  mad.m_blocks = ceil_div(mad.m, FRACTAL_ROWS);
  mad.k_blocks = mad_k_blocks(inst);
  mad.n_blocks = ceil_div(mad.n, FRACTAL_ROWS);
  return mad;
}

/* The elements of one block of 32 bytes. */
static void decode_block(const struct mad *mad, enum dtype type, const uint8_t *bytes, float *out) {
  switch (type) {
  case DTYPE_FP16:
    for (size_t i = 0; i < BLOCK_BYTES / sizeof(uint16_t); i++)
      out[i] = fp16_to_fp32(load_u16(bytes + i * sizeof(uint16_t)));
    break;
  case DTYPE_BF16:
    for (size_t i = 0; i < BLOCK_BYTES / sizeof(uint16_t); i++)
      out[i] = bf16_to_fp32(load_u16(bytes + i * sizeof(uint16_t)));
    break;
  case DTYPE_HF32:
    for (size_t i = 0; i < BLOCK_BYTES / sizeof(float); i++)
      out[i] = number_to_hf32(load_fp32(bytes + i * sizeof(float)), arch_hf32_bits(mad->arch));
    break;
  case DTYPE_INT8:
    for (size_t i = 0; i < BLOCK_BYTES; i++)
      out[i] = (float)(int8_t)bytes[i];
    break;
  case DTYPE_UINT8:
    for (size_t i = 0; i < BLOCK_BYTES; i++)
      out[i] = (float)bytes[i];
    break;
  case DTYPE_FP8_E4M3:
  case DTYPE_FP8_E5M2:
    for (size_t i = 0; i < BLOCK_BYTES; i++)
      out[i] =
          number_decode(type == DTYPE_FP8_E4M3 ? &number_fp8_e4m3 : &number_fp8_e5m2, bytes[i]);
    break;
  case DTYPE_INT4:
    for (size_t i = 0; i < C0_MAX; i++)
      out[i] = (float)int4_load(bytes, i);
    break;
  case DTYPE_FP4_E2M1:
  case DTYPE_FP4_E1M2:
    for (size_t i = 0; i < C0_MAX; i++)
      out[i] = number_decode(type == DTYPE_FP4_E2M1 ? &number_fp4_e2m1 : &number_fp4_e1m2,
                             (uint32_t)int4_load(bytes, i) & 15);
    break;
  default:
    memcpy(out, bytes, BLOCK_BYTES);
    number_order(out, BLOCK_BYTES, 8 * sizeof *out);
    break;
  }
}

/* Block (row, block of columns) of A: a plain row in GEMV mode, NZ on C310, else ZZ. */
static const uint8_t *a_block(const struct mad *mad, size_t row, size_t block) {
  if (mad->gemv)
    return mad->a + block * BLOCK_BYTES;
  size_t row_block = row / FRACTAL_ROWS;
  size_t fractal = mad->arch == ARCH_C310 ? block * mad->m_blocks + row_block
                                          : row_block * mad->k_blocks + block;
  return mad->a + fractal * FRACTAL_BYTES + row % FRACTAL_ROWS * BLOCK_BYTES;
}

/* The scales of two blocks along k of a row of A or a column of B. */
static const uint8_t *scales_at(const struct mad *mad, const uint8_t *scales, size_t line,
                                size_t k) {
  size_t pairs = ceil_div(mad->k, MX_BLOCK * MX_BLOCKS);
  size_t fractal = line / FRACTAL_ROWS * pairs + k / (MX_BLOCK * MX_BLOCKS);
  return scales + (fractal * FRACTAL_ROWS + line % FRACTAL_ROWS) * MX_BLOCKS;
}

/* Scales what a block of 32 bytes holds, from k on. */
static void scale_block(const struct mad *mad, const uint8_t *scales, size_t line, size_t k,
                        float *values) {
  if (!scales)
    return;
  const uint8_t *codes = scales_at(mad, scales, line, k);
  for (size_t i = 0; i < mad->c0; i++)
    values[i] *= number_e8m0(codes[(k + i) / MX_BLOCK % MX_BLOCKS]);
}

static void decode_a(const struct mad *mad, size_t m0, size_t rows, size_t k0, size_t columns,
                     struct operands *to) {
  for (size_t row = 0; row < rows; row++)
    for (size_t k = 0; k < columns; k += mad->c0) {
      decode_block(mad, mad->type, a_block(mad, m0 + row, (k0 + k) / mad->c0), &to->a[row][k]);
      scale_block(mad, mad->a_scales, m0 + row, k0 + k, &to->a[row][k]);
    }
  for (size_t row = rows; row % ROWS != 0; row++)
    memset(to->a[row], 0, sizeof to->a[row]);
}

/*
 * A column of fractals of a sparse B as the matrix it stands for: each pair of values goes to two
 * of four places along k. A nibble is the indices of a pair: that of the first value, and that of
 * the second value less 1. Pairs of one value have the same place twice.
 */
static void decode_sparse_b(const struct mad *mad, size_t n_block, size_t k0, size_t columns,
                            struct operands *to) {
  memset(to->b, 0, ceil_div(columns, SPARSE_OF) * SPARSE_OF * sizeof *to->b);
  for (size_t k = 0; k < columns; k += SPARSE_OF) {
    size_t kept = (k0 + k) / SPARSE_OF * SPARSE_KEPT;
    size_t fractal = kept / mad->c0 * mad->n_blocks + n_block;
    for (size_t n = 0; n < SIDE; n++) {
      size_t at = fractal * FRACTAL_BYTES + n * BLOCK_BYTES + kept % mad->c0;
      unsigned pair = mad->index[at / SPARSE_INDEX_SHARE] >> (at % SPARSE_INDEX_SHARE * 2) & 15;
      unsigned first = pair & 3, second = (pair >> 2) + 1;
      second = second < first ? first : second;
      to->b[k + first][n] += (float)(int8_t)mad->b[at];
      to->b[k + (second < SPARSE_OF ? second : SPARSE_OF - 1)][n] += (float)(int8_t)mad->b[at + 1];
    }
  }
}

/* A column of fractals of B, which is ZN: rows of a fractal are columns of the matrix. */
static void decode_b(const struct mad *mad, size_t n_block, size_t k0, size_t columns,
                     struct operands *to) {
  if (mad->index) {
    decode_sparse_b(mad, n_block, k0, columns, to);
    return;
  }
  for (size_t k = 0; k < columns; k += mad->c0) {
    const uint8_t *fractal =
        mad->b + ((k0 + k) / mad->c0 * mad->n_blocks + n_block) * FRACTAL_BYTES;
    for (size_t n = 0; n < SIDE; n++) {
      float block[C0_MAX];
      decode_block(mad, mad->b_type, fractal + n * BLOCK_BYTES, block);
      scale_block(mad, mad->b_scales, n_block * SIDE + n, k0 + k, block);
      for (size_t i = 0; i < mad->c0; i++)
        to->b[k + i][n] = block[i];
    }
  }
}

/*
 * Adds the products of some rows of A and a column of blocks of B, in the order of k. Wider
 * vectors, where the host has them, change no order and so no bit.
 */
WIDEST_VECTORS static void multiply(const struct operands *from, size_t row, size_t columns,
                                    float sums[ROWS][SIDE]) {
#define ROW(r)                                                                                     \
  const float *a##r = from->a[row + r];                                                            \
  lanes low##r = LANES_AT(sums[r]), high##r = LANES_AT(sums[r] + LANES);
#define ADD(r)                                                                                     \
  low##r += a##r[k] * low;                                                                         \
  high##r += a##r[k] * high;
#define STORE(r)                                                                                   \
  LANES_AT(sums[r]) = low##r;                                                                      \
  LANES_AT(sums[r] + LANES) = high##r;
  ROW(0) ROW(1) ROW(2) ROW(3) for (size_t k = 0; k < columns; k++) {
    lanes low = LANES_AT(from->b[k]), high = LANES_AT(from->b[k] + LANES);
    ADD(0) ADD(1) ADD(2) ADD(3)
  }
  STORE(0) STORE(1) STORE(2) STORE(3)
#undef ROW
#undef ADD
#undef STORE
}

/* Where a row of 16 accumulators lies. */
static uint8_t *c_row(const struct mad *mad, size_t row, size_t n_block) {
  size_t fractal = n_block * mad->m_blocks + row / SIDE;
  size_t bytes = mad->narrow ? sizeof(uint16_t) : ACCUMULATOR_BYTES;
  return mad->c + (fractal * SIDE * SIDE + row % SIDE * SIDE) * bytes;
}

/* What a row of sums starts from. */
static void load_sums(const struct mad *mad, size_t row, size_t n_block, bool first,
                      uint8_t bytes[SIDE * ACCUMULATOR_BYTES]) {
  size_t columns = mad->n - n_block * SIDE < SIDE ? mad->n - n_block * SIDE : SIDE;
  memset(bytes, 0, SIDE * ACCUMULATOR_BYTES);
  if (first && mad->zero)
    return;
  if (mad->narrow) {
    const uint8_t *sums = c_row(mad, row, n_block);
    for (size_t n = 0; n < columns; n++)
      store_fp32(bytes + n * sizeof(float), fp16_to_fp32(load_u16(sums + n * sizeof(uint16_t))));
    return;
  }
  const uint8_t *from = first && mad->from_bias ? mad->bias + n_block * SIDE * ACCUMULATOR_BYTES
                                                : c_row(mad, row, n_block);
  memcpy(bytes, from, columns * ACCUMULATOR_BYTES);
}

static void store_sums(const struct mad *mad, size_t row, size_t n_block, const float sums[SIDE],
                       const uint8_t start[SIDE * ACCUMULATOR_BYTES]) {
  uint8_t *to = c_row(mad, row, n_block);
  for (size_t n = 0; n < SIDE && n_block * SIDE + n < mad->n; n++) {
    if (mad->narrow) {
      uint16_t code = fp16_from_fp32(sums[n]);
      store_u16(to + n * sizeof code, arch_saturates(mad->arch) ? fp16_saturate(code) : code);
      continue;
    }
    uint8_t *accumulator = to + n * ACCUMULATOR_BYTES;
    if (mad->integer)
      store_u32(accumulator, load_u32(start + n * ACCUMULATOR_BYTES) + (uint32_t)(int32_t)sums[n]);
    else
      store_fp32(accumulator, fp32_result(sums[n]));
  }
}

/* A few rows times a column of fractals. */
static void step(const struct mad *mad, const struct operands *from, size_t m0, size_t row,
                 size_t n_block, size_t columns, bool first) {
  size_t left = mad->m - m0 - row, count = left < ROWS ? left : ROWS;
  uint8_t start[ROWS][SIDE * ACCUMULATOR_BYTES];
  float sums[ROWS][SIDE] = {0};
  for (size_t i = 0; i < count; i++)
    load_sums(mad, m0 + row + i, n_block, first, start[i]);
  if (!mad->integer) {
    memcpy(sums, start, count * sizeof *start);
    number_order(sums, count * sizeof *start, 8 * sizeof(float));
  }
  multiply(from, row, columns, sums);
  for (size_t i = 0; i < count; i++)
    store_sums(mad, m0 + row + i, n_block, sums[i], start[i]);
}

/* ---- marks of unwritten bytes ---- */

static bool any_marked(const uint8_t *bytes, size_t count) {
  uint8_t marks = 0;
  for (size_t i = 0; i < count; i++) /* no early end: compilers make vectors of the loop */
    marks |= bytes[i];
  return marks != 0;
}

/* Bytes of a block along k that hold factors. */
static size_t factor_bytes(const struct mad *mad, size_t k, size_t block) {
  size_t left = k - block * mad->c0, factors = left < mad->c0 ? left : mad->c0;
  return (factors * BLOCK_BYTES + mad->c0 - 1) / mad->c0;
}

static bool row_is_marked(const struct mad *mad, size_t row) {
  for (size_t block = 0; block * mad->c0 < mad->k; block++)
    if (any_marked(a_block(mad, row, block), factor_bytes(mad, mad->k, block)))
      return true;
  return false;
}

static bool column_is_marked(const struct mad *mad, size_t k, size_t column) {
  if (mad->from_bias && any_marked(mad->bias + column * ACCUMULATOR_BYTES, ACCUMULATOR_BYTES))
    return true;
  for (size_t block = 0; block * mad->c0 < k; block++) {
    size_t fractal = block * mad->n_blocks + column / SIDE;
    size_t at = fractal * FRACTAL_BYTES + column % SIDE * BLOCK_BYTES;
    size_t bytes = factor_bytes(mad, k, block);
    if (any_marked(mad->b + at, bytes) ||
        (mad->index &&
         any_marked(mad->index + at / SPARSE_INDEX_SHARE, ceil_div(bytes, SPARSE_INDEX_SHARE))))
      return true;
  }
  return false;
}

/* A sum is marked with any of its factors, and with what it starts from. */
void cube_mad_marks(const struct vinci_soc *soc, const struct inst *inst, struct value_core *core) {
  (void)soc;
  struct mad mad = mad_of(inst, core);
  size_t bytes = mad_sum_bytes(inst), k = mad_k(inst);
  bool starts_clean = mad.zero || mad.from_bias;
  if (mad.k == 0)
    return;
  for (size_t row = 0; row < mad.m; row++) {
    bool marked = row_is_marked(&mad, row);
    for (size_t n = 0; (marked || starts_clean) && n < mad.n; n += SIDE)
      memset(c_row(&mad, row, n / SIDE), marked ? UINT8_MAX : 0,
             (mad.n - n < SIDE ? mad.n - n : SIDE) * bytes);
  }
  for (size_t column = 0; column < mad.n; column++) {
    bool marked = column_is_marked(&mad, k, column);
    for (size_t row = 0; marked && row < mad.m; row++)
      memset(c_row(&mad, row, column / SIDE) + column % SIDE * bytes, UINT8_MAX, bytes);
  }
}

void cube_mad_values(const struct vinci_soc *soc, const struct inst *inst,
                     struct value_core *core) {
  (void)soc;
  struct mad mad = mad_of(inst, core);
  if (mad.n == 0)
    return;
  struct operands operands;
  for (size_t m0 = 0; m0 < mad.m; m0 += CHUNK_M) {
    size_t rows = mad.m - m0 < CHUNK_M ? mad.m - m0 : CHUNK_M;
    for (size_t k0 = 0; k0 < mad.k; k0 += CHUNK_K) {
      size_t columns = mad.k - k0 < CHUNK_K ? mad.k - k0 : CHUNK_K;
      decode_a(&mad, m0, rows, k0, columns, &operands);
      for (size_t n_block = 0; n_block < mad.n_blocks; n_block++) {
        decode_b(&mad, n_block, k0, columns, &operands);
        for (size_t row = 0; row < rows; row += ROWS)
          step(&mad, &operands, m0, row, n_block, columns, k0 == 0);
      }
    }
  }
}
