/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The matrix unit: what mad costs and touches. It works through tiles of
 * cube.m x cube.k_bytes x cube.n, one after the other, on L0A, L0B and L0C.
 */
#ifndef VINCI_CUBE_CUBE_H
#define VINCI_CUBE_CUBE_H

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/unit_functions.h"
#include "core/machine/values.h"

/* Numbers of the operands. */
enum { OPERANDS_MAD(OPERAND_NUMBER, MAD) };
/* Words of operands, in the order of their signatures. */
enum { MAD_SOURCE_L0C, MAD_SOURCE_BT };
enum { MAD_SUMS_WIDE, MAD_SUMS_FP16 };
enum {
  MAD_B_SAME,
  MAD_B_INT8,
  MAD_B_FP8_E4M3,
  MAD_B_FP8_E5M2,
  MAD_B_FP4_E2M1,
  MAD_B_FP4_E1M2,
};

/* Whether A is one row as it stands, instead of fractals. */
static inline bool mad_is_gemv(const struct inst *inst) {
  return inst->arg[MAD_M] == 1 && inst->arg[MAD_GEMV] && inst->op == OP_MAD;
}
/* Whether B has two of four values along k, and indices. */
static inline bool mad_is_sparse(const struct inst *inst) { return inst->op == OP_MAD_SP; }
/* Whether blocks of both operands have scales. */
static inline bool mad_is_scaled(const struct inst *inst) { return inst->op == OP_MAD_MX; }
/* Bytes of the scales of a matrix of this many rows of A, or columns of B. */
static inline uint64_t mad_scale_bytes(const struct inst *inst, uint64_t lines) {
  uint64_t pairs = ceil_div((uint64_t)inst->arg[MAD_K], MX_BLOCK * MX_BLOCKS);
  return ceil_div(lines, FRACTAL_ROWS) * pairs * MX_FRACTAL_BYTES;
}
/* Values along k that are multiplied: those of B. */
static inline uint64_t mad_k(const struct inst *inst) {
  uint64_t k = (uint64_t)inst->arg[MAD_K];
  return mad_is_sparse(inst) ? ceil_div(k, SPARSE_OF) * SPARSE_KEPT : k;
}
/* Blocks of 32 bytes along k in A. */
static inline uint64_t mad_k_blocks(const struct inst *inst) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  uint64_t blocks = ceil_div((uint64_t)inst->arg[MAD_K] * bits, BLOCK_BYTES * BITS_PER_BYTE);
  bool even = inst->arg[MAD_K_ALIGN] && bits == dtype_bits(DTYPE_FP32);
  return blocks + (even && blocks % 2);
}
/* The same in B. */
static inline uint64_t mad_b_blocks(const struct inst *inst) {
  return mad_is_sparse(inst) ? ceil_div(mad_k(inst), BLOCK_BYTES) : mad_k_blocks(inst);
}
static inline uint64_t mad_sum_bytes(const struct inst *inst) {
  return inst->arg[MAD_SUMS] == MAD_SUMS_FP16 ? dtype_bits(DTYPE_FP16) / BITS_PER_BYTE
                                              : ACCUMULATOR_BYTES;
}

#endif
