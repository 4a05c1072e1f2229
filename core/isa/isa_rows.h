/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that rows of core/isa/isa.def are written in: sets of architectures and of data types,
 * signatures, texts that several rows share, and kinds of rows.
 */
#ifndef VINCI_CORE_ISA_ISA_ROWS_H
#define VINCI_CORE_ISA_ISA_ROWS_H

#include "core/chip/arch.h"
#include "core/isa/operands.h"
#include "core/isa/operands_vector.h"

/* clang-format off */

/* ---- architectures ---- */

#define A_ALL   (ARCH_BIT(C100) | ARCH_BIT(M200) | ARCH_BIT(C220) | ARCH_BIT(C310))
#define A_SPLIT (ARCH_BIT(C220) | ARCH_BIT(C310))
#define A_GATHER (ARCH_BIT(M200) | ARCH_BIT(C220) | ARCH_BIT(C310))
#define A_COUPLED (ARCH_BIT(C100) | ARCH_BIT(M200))
#define A_M200 ARCH_BIT(M200)
#define A_C220 ARCH_BIT(C220)
#define A_C310 ARCH_BIT(C310)
#define A_NOT_C310 (ARCH_BIT(C100) | ARCH_BIT(M200) | ARCH_BIT(C220))
#define A_M200_SPLIT (ARCH_BIT(M200) | ARCH_BIT(C220) | ARCH_BIT(C310))
#define A_UB_L1 (ARCH_BIT(C100) | ARCH_BIT(M200) | ARCH_BIT(C310))

/* ---- data types ---- */

#define D(id) (1u << DTYPE_##id)
#define D_FLOAT (D(FP16) | D(FP32))
#define D_NUMBER (D(FP16) | D(FP32) | D(INT16) | D(INT32))
#define D_BITS16 (D(INT16) | D(UINT16))
#define D_INTEGER (D(INT16) | D(UINT16) | D(INT32) | D(UINT32))
#define D_ANY (D(FP16) | D(BF16) | D(FP32) | D_INTEGER)
#define D_FP8 (D(FP8_E4M3) | D(FP8_E5M2))
#define D_FP4 (D(FP4_E2M1) | D(FP4_E1M2))
#define D_CUBE (D(FP16) | D(BF16) | D(FP32) | D(HF32) | D(INT8) | D(UINT8) | D(INT4) | D_FP8)
#define D_CUBE_IN (D_CUBE | D(INT32) | D(UINT32))
#define D_IMG2COL (D(FP16) | D(INT8) | D(UINT8))
#define D_SQUARE (D(FP16) | D(BF16) | D(FP32) | D(INT8) | D(UINT8) | D(INT32) | D(UINT32))
#define D_DN2NZ (D_SQUARE | D_BITS16 | D_FP8)
#define D_ACCUMULATOR (D(FP32) | D(INT32))
#define D_L0C (D_FLOAT | D(INT32))

/* ---- other columns ---- */

#define COST(id) COST2(id, id)
#define COST2(id16, id32) .class16 = VECTOR_CLASS_##id16, .class32 = VECTOR_CLASS_##id32
#define FIXED(src, dst) .has_fixed_types = true, .fixed = {DTYPE_##src, DTYPE_##dst}

/* ---- signatures ---- */

#define S_NONE ""
#define S_TYPE " type:dtype"
#define S_FLAG OPERANDS_FLAG(OPERAND_TEXT, FLAG)
#define S_BARRIER OPERANDS_BARRIER(OPERAND_TEXT, BARRIER)
#define S_CROSS_SET OPERANDS_CROSS_SET(OPERAND_TEXT, CROSS_SET)
#define S_CROSS_WAIT OPERANDS_CROSS_WAIT(OPERAND_TEXT, CROSS_WAIT)
#define S_THREADS OPERANDS_THREADS(OPERAND_TEXT, THREADS)
#define S_SCALAR_WORK OPERANDS_SCALAR_WORK(OPERAND_TEXT, SCALAR_WORK)
#define S_CODE_FETCH OPERANDS_CODE_FETCH(OPERAND_TEXT, CODE)
#define S_SET_MASK OPERANDS_SET_MASK(OPERAND_TEXT, SET_MASK)
#define S_REGISTER OPERANDS_REGISTER(OPERAND_TEXT, REGISTER)
#define S_BINARY OPERANDS_BINARY(OPERAND_TEXT, BINARY, "w", "8", "8") S_TYPE
#define S_BINARY_ACC OPERANDS_BINARY(OPERAND_TEXT, BINARY, "rw", "8", "8") S_TYPE
#define S_BINARY_ACC_WIDER OPERANDS_BINARY(OPERAND_TEXT, BINARY, "rw", "8", "4")
#define S_BINARY_CONVERT OPERANDS_BINARY(OPERAND_TEXT, BINARY, "w", "4", "8")
#define S_SELECT OPERANDS_SELECT(OPERAND_TEXT, SELECT) S_TYPE
#define S_COMPARE OPERANDS_COMPARE(OPERAND_TEXT, COMPARE) S_TYPE
#define S_COMPARE_REGISTER OPERANDS_COMPARER(OPERAND_TEXT, COMPARER) S_TYPE
#define S_COMPARE_SCALAR OPERANDS_COMPARES(OPERAND_TEXT, COMPARES) S_TYPE
#define S_COMPARE_MASK(text) OPERANDS_COMPARE_MASK(OPERAND_TEXT, COMPARE_MASK, text)
#define S_UNARY OPERANDS_UNARY(OPERAND_TEXT, UNARY, "8", "8") S_TYPE
#define S_CONVERT(dst_step, src_step) OPERANDS_UNARY(OPERAND_TEXT, UNARY, dst_step, src_step)
#define S_ROUND(dst_step, src_step) \
    OPERANDS_CONVERT_ROUND(OPERAND_TEXT, CONVERT_ROUND, dst_step, src_step, "r|f|c|a|z")
#define S_ROUND_ODD(dst_step, src_step) \
    OPERANDS_CONVERT_ROUND(OPERAND_TEXT, CONVERT_ROUND, dst_step, src_step, "r|f|c|a|z|o")
#define S_CONVERT_SCALES OPERANDS_CONVERT_SCALES(OPERAND_TEXT, CONVERT_SCALES)
#define S_SCALAR OPERANDS_SCALAR(OPERAND_TEXT, SCALAR, "w", "8") S_TYPE
#define S_SCALAR_ACC OPERANDS_SCALAR(OPERAND_TEXT, SCALAR, "rw", "8") S_TYPE
#define S_SCALAR_ACC_WIDER OPERANDS_SCALAR(OPERAND_TEXT, SCALAR, "rw", "4")
#define S_DUP OPERANDS_DUP(OPERAND_TEXT, DUP) S_TYPE
#define S_REDUCE OPERANDS_REDUCE(OPERAND_TEXT, REDUCE) S_TYPE
#define S_REDUCE_INDEX OPERANDS_REDUCE_INDEX(OPERAND_TEXT, REDUCE_INDEX) S_TYPE
#define S_COMPACT(patterns) OPERANDS_COMPACT(OPERAND_TEXT, COMPACT, patterns) S_TYPE
#define S_TRANSPOSE OPERANDS_TRANSPOSE(OPERAND_TEXT, TRANSPOSE) S_TYPE
#define S_NCHWCONV OPERANDS_NCHWCONV(OPERAND_TEXT, NCHWCONV)
#define S_NCHWCONV_HIGH OPERANDS_NCHWCONV_HIGH(OPERAND_TEXT, NCHWCONV_HIGH)
#define S_BROADCAST OPERANDS_BROADCAST(OPERAND_TEXT, BROADCAST) S_TYPE
#define S_GATHER OPERANDS_GATHER(OPERAND_TEXT, GATHER) S_TYPE
#define S_GATHERB OPERANDS_GATHERB(OPERAND_TEXT, GATHERB) S_TYPE
#define S_BITSORT OPERANDS_BITSORT(OPERAND_TEXT, BITSORT) S_TYPE
#define S_PROPOSAL OPERANDS_PROPOSAL(OPERAND_TEXT, PROPOSAL) S_TYPE
#define S_PROPOSAL_FIELD OPERANDS_PROPOSAL_FIELD(OPERAND_TEXT, PROPOSAL_FIELD) S_TYPE
#define S_MERGE OPERANDS_MERGE(OPERAND_TEXT, MERGE) S_TYPE
#define S_VF_BINARY OPERANDS_VF_BINARY(OPERAND_TEXT, VF_BINARY) S_TYPE
#define S_VF_SCALAR OPERANDS_VF_SCALAR(OPERAND_TEXT, VF_SCALAR) S_TYPE
#define S_VF_UNARY OPERANDS_VF_UNARY(OPERAND_TEXT, VF_UNARY) S_TYPE
#define S_VF_DUP OPERANDS_VF_DUP(OPERAND_TEXT, VF_DUP) S_TYPE
#define S_BURST(dst, src) OPERANDS_BURST(OPERAND_TEXT, BURST, dst, src)
#define S_BURST_SUB(dst, src) OPERANDS_BURST_SUB(OPERAND_TEXT, BURST_SUB, dst, src)
#define S_BURST_CONVERT(dst, src) OPERANDS_BURST_CONVERT(OPERAND_TEXT, BURST_CONVERT, dst, src)
#define S_L0C(dst, src) OPERANDS_BURST(OPERAND_TEXT, BURST, dst, src) S_TYPE
#define S_L0C_CONVERT(dst, src, words) \
    OPERANDS_L0C_CONVERT(OPERAND_TEXT, L0C_CONVERT, dst, src, words) S_TYPE
#define S_L0C_RELU(dst, src, words) \
    OPERANDS_L0C_RELU(OPERAND_TEXT, L0C_RELU, dst, src, words) S_TYPE
#define S_ALIGN(dst, src) OPERANDS_ALIGN(OPERAND_TEXT, ALIGN, dst, src)
#define S_NDDMA OPERANDS_NDDMA(OPERAND_TEXT, NDDMA) S_TYPE
#define S_ND2NZ OPERANDS_ND2NZ(OPERAND_TEXT, ND2NZ)
#define S_ND2NZ_WIDE OPERANDS_ND2NZ_WIDE(OPERAND_TEXT, ND2NZ_WIDE) S_TYPE
#define S_DN2NZ OPERANDS_DN2NZ(OPERAND_TEXT, DN2NZ) S_TYPE
#define S_LOAD2D(dst, src) OPERANDS_LOAD2D(OPERAND_TEXT, LOAD2D, dst, src)
#define S_LOAD2D_L1(dst) OPERANDS_LOAD2D_L1(OPERAND_TEXT, LOAD2D_L1, dst)
#define S_LOAD2DV2(dst) OPERANDS_LOAD2DV2(OPERAND_TEXT, LOAD2DV2, dst) S_TYPE
#define S_LOAD_SCALES(dst) OPERANDS_LOAD_SCALES(OPERAND_TEXT, LOAD_SCALES, dst)
#define S_LOAD_SPARSE OPERANDS_LOAD_SPARSE(OPERAND_TEXT, LOAD_SPARSE)
#define S_LOAD2DT(dst) OPERANDS_LOAD2DT(OPERAND_TEXT, LOAD2DT, dst) S_TYPE
#define S_LOAD3D(dst) OPERANDS_LOAD3D(OPERAND_TEXT, LOAD3D, dst) S_TYPE
#define S_IMG2COL(dst) OPERANDS_IMG2COL(OPERAND_TEXT, IMG2COL, dst) S_TYPE
#define S_FILL(dst) OPERANDS_FILL(OPERAND_TEXT, FILL, dst)
#define S_FIX(dst) OPERANDS_FIX(OPERAND_TEXT, FIX, dst) S_TYPE
#define S_FIX_UB OPERANDS_FIX_UB(OPERAND_TEXT, FIX_UB) S_TYPE
#define S_MAD OPERANDS_MAD(OPERAND_TEXT, MAD) S_TYPE

/* ---- texts ---- */

#define TEXT_BURST "n_burst runs of len_burst 32-byte blocks, gaps in 32-byte blocks"
#define TEXT_ALIGN_IN(bits) \
    "n_burst runs of len_burst bytes; pads in elements of " bits \
    " bits, src_gap in bytes, dst_gap in 32-byte blocks"
#define TEXT_ALIGN_OUT \
    "n_burst runs of len_burst bytes; src_gap in 32-byte blocks, dst_gap in bytes; pads have no " \
    "effect"
#define TEXT_ND2NZ(bits) \
    "nd_num matrices of n rows and d columns of " bits "-bit elements into NZ order; src strides " \
    "and dst_nd_stride in elements, dst_c0_stride (block columns) and dst_n_stride (rows) in " \
    "32-byte blocks"
#define TEXT_LOAD2D \
    "repeat fractals of 512 bytes; base: first source fractal, src_stride from start to start, " \
    "dst_gap between fractals"
#define TEXT_LOAD2DV2 \
    "k_step columns of m_step fractals of 512 bytes from fractal m_start of column k_start on; src_stride and " \
    "dst_stride in fractals from column to column; transpose: rows become columns, whole squares of " \
    "fractals alone"
#define TEXT_LOAD_SCALES \
    "x_step rows of y_step fractals of 16 x 2 scales, 32 bytes each, from fractal y_start of row x_start " \
    "on; src_stride and dst_stride in fractals from row to row; dst: the address of the values / 16"
#define TEXT_LOAD2DT \
    "repeat transposed squares: one fractal of 16-bit, two of 8-bit and 32-bit, four of 4-bit " \
    "types; base and src_stride count squares, dst_gap and frac_gap fractals between squares and " \
    "inside one"
#define TEXT_LOAD3D \
    "columns of a convolution window: m_ext x k_ext elements from (m_start, k_start) of the " \
    "matrix [out_h * out_w, c1 * filter_h * filter_w * c0] of an NC1HWC0 feature map"
#define TEXT_FIX \
    "; src_stride: from one column of 16 to the next, in rows; dst_stride: nz2nd: elements of a " \
    "row, nz2dn: elements of a column, else 32-byte blocks from one column of blocks to the " \
    "next; src_nd_stride in fractals of 1024 bytes, dst_nd_stride in elements; type: of the " \
    "accumulators; unit_flag: 0 off, 2 waits until each block of src is handed over by a mad, " \
    "3 also gives it back once read"

/* ---- kinds of rows ---- */

/* What the scalar unit does itself or sends to a pipe to hold it: it computes no values. */
#define CONTROL(id, name, pipe, archs, signature, text, source) \
    ISA(id, name, pipe, archs, signature, 0, control, control, text, source, COST(NONE))
#define ATOMIC(id, name, archs, text) \
    CONTROL(id, name, PIPE_S, archs, S_NONE, text, \
        "DK SetAtomicAdd, SetAtomicMax, SetAtomicMin, SetAtomicType, SetAtomicNone")
#define REGISTER(id, name, archs, text, source) \
    CONTROL(id, name, PIPE_S, archs, S_REGISTER, text, source)
/* Vector instructions that differ in one word. */
#define CMP(id, name, relation) \
    ISA(id, name, PIPE_V, A_ALL, S_COMPARE_REGISTER, D_FLOAT, vec_compare_register, id, \
        "bit i of the comparison mask = src0[i] " relation " src1[i], of one repeat; bits of " \
        "lanes that are not active stay", "DK Compare into a register; KPP", COST(TWO))
#define CMPV(id, name, relation) \
    ISA(id, name, PIPE_V, A_ALL, S_COMPARE, D_FLOAT | D(INT32), vec_compare, id, \
        "bit i of dst = src0[i] " relation " src1[i]; dst is contiguous; a normal mask has no " \
        "effect", "DK Compare; KPP", COST(COMPARE))
#define CMPVS(id, name, relation) \
    ISA(id, name, PIPE_V, A_M200_SPLIT, S_COMPARE_SCALAR, D_FLOAT | D(INT32), \
        vec_compare_scalar, id, \
        "bit i of dst = src[i] " relation " scalar; dst is contiguous; a normal mask has no " \
        "effect", "DK CompareScalar; KPP", COST(COMPARE_SCALAR))
#define BINARY_CONVERT(id, name, archs, src, dst, values, text, source) \
    ISA(id, name, PIPE_V, archs, S_BINARY_CONVERT, 0, vec_binary_convert, values, text, source, \
        COST(TWO), FIXED(src, dst))
#define CONVERT(id, name, archs, src, dst, signature, text) \
    ISA(id, name, PIPE_V, archs, signature, 0, vec_convert, vec_convert, text, \
        "DK Cast; KPP", COST(ONE), FIXED(src, dst))
/* Transfers. MOVE_FIXED: of elements whose type no operand names. */
#define MOVE(id, name, pipe, archs, signature, dtypes, stem, text, source) \
    ISA(id, name, pipe, archs, signature, dtypes, stem, stem, text, source, COST(NONE))
#define MOVE_FIXED(id, name, pipe, archs, signature, type, stem, text, source) \
    ISA(id, name, pipe, archs, signature, 0, stem, stem, text, source, FIXED(type, type))

/* clang-format on */

#include "core/isa/register_rows.h"

#endif
