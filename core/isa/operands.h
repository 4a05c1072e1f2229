/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operands of instructions, in their order: one list for each family of instructions. A list
 * expands into the signature of rows of core/isa/isa.def (grammar: core/isa/isa.h) and, in the
 * headers of the units, into the operands' numbers in inst.arg[]: the order stands here alone. An
 * operand is
 *   O(family, id, text): its number is FAMILY_ID, its text a part of the signature.
 * Parameters of a list are what rows of the family differ in. This header: control, transfers and
 * the matrix unit; core/isa/operands_vector.h: the vector unit.
 */
#ifndef VINCI_CORE_ISA_OPERANDS_H
#define VINCI_CORE_ISA_OPERANDS_H

#define OPERAND_NUMBER(family, id, text) family##_##id,
#define OPERAND_TEXT(family, id, text) " " text

#define RANGE_INT64 "-9223372036854775808..9223372036854775807"

/* clang-format off */

/* ---- control ---- */

/* set_flag and wait_flag. */
#define OPERANDS_FLAG(O, F) O(F, SRC, "src:pipe") O(F, DST, "dst:pipe") O(F, ID, "id:0..31")

#define OPERANDS_BARRIER(O, F) O(F, PIPE, "pipe:pipe")

#define OPERANDS_CROSS_SET(O, F) \
  O(F, PIPE, "pipe:pipe") O(F, MODE, "mode:0..4!3") O(F, ID, "id:0..31")

#define OPERANDS_CROSS_WAIT(O, F) \
  O(F, ID, "id:0..31") O(F, PIPE, "pipe:pipe=S@dav-c310") O(F, MODE, "mode:0..4!3=0@dav-c310")

#define OPERANDS_SCALAR_WORK(O, F) O(F, CYCLES, "cycles:1..1000000000=1")
#define OPERANDS_CODE_FETCH(O, F) \
  O(F, BYTES, "bytes:1..1000000000") O(F, LINE_CYCLES, "line_cycles:0..1000000=0")

/* Those that the host has executed for all threads. */
#define OPERANDS_THREADS(O, F) O(F, COUNT, "threads:1..2048") O(F, INSTRUCTIONS, "instructions:0..1000000000000=0")
#define OPERANDS_SET_MASK(O, F) O(F, HIGH, "high:" RANGE_INT64) O(F, LOW, "low:" RANGE_INT64)

/* All other instructions that set a register. */
#define OPERANDS_REGISTER(O, F) O(F, VALUE, "value:" RANGE_INT64)

/* ---- transfers ---- */

/* dst, src: space and direction, as "UB:w". */
#define OPERANDS_TRANSFER(O, F, dst, src) O(F, DST, "dst:" dst) O(F, SRC, "src:" src)

#define OPERANDS_BURST(O, F, dst, src) OPERANDS_TRANSFER(O, F, dst, src) \
  O(F, COUNT, "n_burst:0..4095=1") O(F, LENGTH, "len_burst:0..65535") \
  O(F, SRC_GAP, "src_gap:0..65535=0") O(F, DST_GAP, "dst_gap:0..65535=0")
#define OPERANDS_BURST_SUB(O, F, dst, src) OPERANDS_BURST(O, F, dst, src) \
  O(F, SUB, "sub:0..1=0@dav-c310")
#define OPERANDS_BURST_CONVERT(O, F, dst, src) OPERANDS_BURST(O, F, dst, src) \
  O(F, CONVERT, "conv:0..1=0")

/* Between L0C and UB. */
#define OPERANDS_L0C_CONVERT(O, F, dst, src, words) OPERANDS_BURST(O, F, dst, src) \
  O(F, CONVERT, "convert:{" words "}=none")
#define OPERANDS_L0C_RELU(O, F, dst, src, words) OPERANDS_L0C_CONVERT(O, F, dst, src, words) \
  O(F, RELU, "relu:0..1=0")

#define OPERANDS_ALIGN(O, F, dst, src) OPERANDS_TRANSFER(O, F, dst, src) \
  O(F, COUNT, "n_burst:0..4095=1") O(F, LENGTH, "len_burst:0..2097151") \
  O(F, LEFT_PAD, "left_pad:0..32=0") O(F, RIGHT_PAD, "right_pad:0..32=0") \
  O(F, SRC_GAP, "src_gap:0..4294967295=0") O(F, DST_GAP, "dst_gap:0..4294967295=0")

/* Of each of three loops, the inner one first: how many numbers, strides in numbers, fills before and
 * behind. */
#define OPERANDS_NDDMA(O, F) OPERANDS_TRANSFER(O, F, "UB:w", "GM:r") \
  O(F, N0, "n0:0..1048575") O(F, N1, "n1:0..1048575=1") O(F, N2, "n2:0..1048575=1") \
  O(F, SRC0, "src0:0..1099511627775=1") O(F, SRC1, "src1:0..1099511627775=0") \
  O(F, SRC2, "src2:0..1099511627775=0") \
  O(F, DST0, "dst0:0..1048575=1") O(F, DST1, "dst1:0..1048575=0") O(F, DST2, "dst2:0..1048575=0") \
  O(F, LEFT0, "left0:0..1048575=0") O(F, LEFT1, "left1:0..255=0") O(F, LEFT2, "left2:0..255=0") \
  O(F, RIGHT0, "right0:0..255=0") O(F, RIGHT1, "right1:0..255=0") O(F, RIGHT2, "right2:0..255=0") \
  O(F, VALUE, "value:" RANGE_INT64 "=0") O(F, NEAREST, "nearest:0..1=0")

#define OPERANDS_ND2NZ(O, F) OPERANDS_TRANSFER(O, F, "L1:w", "GM:r") \
  O(F, NUMBER, "nd_num:0..4095=1") O(F, N, "n:0..16384") O(F, D, "d:0..65535") \
  O(F, SRC_ND_STRIDE, "src_nd_stride:0..65535=0") O(F, SRC_D, "src_d:0..65535") \
  O(F, DST_C0_STRIDE, "dst_c0_stride:0..16384") O(F, DST_N_STRIDE, "dst_n_stride:0..16384=1") \
  O(F, DST_ND_STRIDE, "dst_nd_stride:0..65535=0")

#define OPERANDS_DN2NZ(O, F) OPERANDS_TRANSFER(O, F, "L1:w", "GM:r") \
  O(F, NUMBER, "dn_num:0..4095=1") O(F, N, "n:0..16384") O(F, D, "d:0..2097151") \
  O(F, SRC_DN_STRIDE, "src_dn_stride:0..1099511627775=0") O(F, SRC_D, "src_d:1..1099511627775") \
  O(F, DST_C0_STRIDE, "dst_c0_stride:1..16384") O(F, DST_N_STRIDE, "dst_n_stride:1..16384=1") \
  O(F, DST_NZ_STRIDE, "dst_nz_stride:0..16384=0")

/* As ND2NZ, with the ranges of the 950. */
#define OPERANDS_ND2NZ_WIDE(O, F) OPERANDS_TRANSFER(O, F, "L1:w", "GM:r") \
  O(F, NUMBER, "nd_num:0..65535=1") O(F, N, "n:0..65535") O(F, D, "d:0..2097151") \
  O(F, SRC_ND_STRIDE, "src_nd_stride:0..1099511627775=0") O(F, SRC_D, "src_d:0..1099511627775") \
  O(F, DST_C0_STRIDE, "dst_c0_stride:0..65535") O(F, DST_N_STRIDE, "dst_n_stride:0..65535=1") \
  O(F, DST_ND_STRIDE, "dst_nd_stride:0..2097151=0")

#define OPERANDS_LOAD2D(O, F, dst, src) OPERANDS_TRANSFER(O, F, dst, src) \
  O(F, BASE, "base:0..65535=0") O(F, REPEAT, "repeat:0..255") \
  O(F, SRC_STRIDE, "src_stride:0..65535=1") O(F, DST_GAP, "dst_gap:0..65535=0")
#define OPERANDS_LOAD2D_L1(O, F, dst) OPERANDS_LOAD2D(O, F, dst, "L1:r") \
  O(F, TRANSPOSE, "transpose:0..1=0")
#define OPERANDS_LOAD2DT(O, F, dst) OPERANDS_LOAD2D(O, F, dst, "L1:r") \
  O(F, FRAC_GAP, "frac_gap:0..65535=0")

#define OPERANDS_LOAD2DV2(O, F, dst) OPERANDS_TRANSFER(O, F, dst, "L1:r") \
  O(F, M_START, "m_start:0..65535=0") O(F, K_START, "k_start:0..65535=0") \
  O(F, M_STEP, "m_step:0..255") O(F, K_STEP, "k_step:0..255") \
  O(F, SRC_STRIDE, "src_stride:0..65535") O(F, DST_STRIDE, "dst_stride:0..65535") \
  O(F, TRANSPOSE, "transpose:0..1=0")

/* Rows of fractals, where LOAD2DV2 has columns. */
#define OPERANDS_LOAD_SCALES(O, F, dst) OPERANDS_TRANSFER(O, F, dst, "L1:r") \
  O(F, X_START, "x_start:0..65535=0") O(F, Y_START, "y_start:0..65535=0") \
  O(F, X_STEP, "x_step:0..255") O(F, Y_STEP, "y_step:0..255") \
  O(F, SRC_STRIDE, "src_stride:0..65535") O(F, DST_STRIDE, "dst_stride:0..65535")

#define OPERANDS_LOAD_SPARSE(O, F) OPERANDS_TRANSFER(O, F, "L0B:w", "L1:r") \
  O(F, INDEX, "index:L1:r") O(F, BASE, "base:0..65535=0") O(F, REPEAT, "repeat:0..255")

#define OPERANDS_LOAD3D(O, F, dst) OPERANDS_TRANSFER(O, F, dst, "L1:r") \
  O(F, K_EXT, "k_ext:0..65535") O(F, M_EXT, "m_ext:0..65535") \
  O(F, K_START, "k_start:0..65535=0") O(F, M_START, "m_start:0..65535=0") \
  O(F, STRIDE_W, "stride_w:1..63=1") O(F, STRIDE_H, "stride_h:1..63=1") \
  O(F, FILTER_W, "filter_w:1..511") O(F, FILTER_H, "filter_h:1..511") \
  O(F, DILATION_W, "dilation_w:1..255=1") O(F, DILATION_H, "dilation_h:1..255=1") \
  O(F, PAD_LEFT, "pad_left:0..255=0") O(F, PAD_RIGHT, "pad_right:0..255=0") \
  O(F, PAD_TOP, "pad_top:0..255=0") O(F, PAD_BOTTOM, "pad_bottom:0..255=0") \
  O(F, L1_W, "l1_w:1..32767") O(F, L1_H, "l1_h:1..32767") \
  O(F, CHANNELS, "channels:1..65535") O(F, TRANSPOSE, "transpose:0..1=0")

/* load3d of the first version: where the first window begins in the map, borders being negative;
 * the point of the window, and the block of channels. */
#define OPERANDS_IMG2COL(O, F, dst) OPERANDS_TRANSFER(O, F, dst, "L1:r") \
  O(F, REPEAT, "repeat:0..255") O(F, MODE, "mode:{points|windows}=points") \
  O(F, JUMP, "jump:0..127=1") \
  O(F, FIRST_X, "first_x:-255..32767=0") O(F, FIRST_Y, "first_y:-255..32767=0") \
  O(F, C1, "c1:0..4095=0") O(F, POINT_X, "point_x:0..255=0") O(F, POINT_Y, "point_y:0..255=0") \
  O(F, STRIDE_W, "stride_w:1..63=1") O(F, STRIDE_H, "stride_h:1..63=1") \
  O(F, FILTER_W, "filter_w:1..255") O(F, FILTER_H, "filter_h:1..255") \
  O(F, DILATION_W, "dilation_w:1..255=1") O(F, DILATION_H, "dilation_h:1..255=1") \
  O(F, PAD_LEFT, "pad_left:0..255=0") O(F, PAD_RIGHT, "pad_right:0..255=0") \
  O(F, PAD_TOP, "pad_top:0..255=0") O(F, PAD_BOTTOM, "pad_bottom:0..255=0") \
  O(F, L1_W, "l1_w:1..32767") O(F, L1_H, "l1_h:1..32767")

#define OPERANDS_FILL(O, F, dst) \
  O(F, DST, "dst:" dst) O(F, BLOCKS, "blocks:0..32767") O(F, REPEAT, "repeat:0..32767=1") \
  O(F, DST_GAP, "dst_gap:0..32767=0") O(F, VALUE, "value:0..4294967295=0")

#define OPERANDS_FIX(O, F, dst) OPERANDS_TRANSFER(O, F, dst, "L0C:r") \
  O(F, N, "n:0..4095") O(F, M, "m:0..65535") \
  O(F, DST_STRIDE, "dst_stride:0..4294967295") O(F, SRC_STRIDE, "src_stride:0..65535") \
  O(F, QUANT, \
    "quant:{none|f322f16|f322bf16|deqf16|vdeqf16|qf322b8|vqf322b8|req8|vreq8}=none") \
  O(F, RELU, "relu:0..1=0") O(F, UNIT_FLAG, "unit_flag:0..3!1=0") O(F, NZ2ND, "nz2nd:0..1=0") \
  O(F, CHANNEL_SPLIT, "channel_split:0..1=0") O(F, ND_NUMBER, "nd_num:0..65535=1") \
  O(F, SRC_ND_STRIDE, "src_nd_stride:0..65535=0") \
  O(F, DST_ND_STRIDE, "dst_nd_stride:0..65535=0") O(F, NZ2DN, "nz2dn:0..1=0@dav-c310")
#define OPERANDS_FIX_UB(O, F) OPERANDS_FIX(O, F, "UB:w") \
  O(F, SPLIT, "split:{none|m|n}=none") O(F, SUB, "sub:0..1=0")

/* ---- matrix unit ---- */

#define OPERANDS_MAD(O, F) \
  O(F, C, "c:L0C:rw") O(F, A, "a:L0A:r") O(F, B, "b:L0B:r") \
  O(F, M, "m:0..4095") O(F, K, "k:0..4095") O(F, N, "n:0..4095") O(F, INIT, "init:0..1=1") \
  O(F, UNIT_FLAG, "unit_flag:0..3!1=0@dav-c220|dav-c310") O(F, SOURCE, "source:{l0c|bt}=l0c") \
  O(F, BIAS, "bias:0..65535=0") O(F, SUMS, "sums:{wide|fp16}=wide@dav-c100|dav-m200") \
  O(F, B_TYPE, \
    "b_type:{same|int8|fp8_e4m3|fp8_e5m2|fp4_e2m1|fp4_e1m2}=same@dav-c100|dav-m200|dav-c310") \
  O(F, GEMV, "gemv:0..1=1@dav-c310") O(F, K_ALIGN, "k_align:0..1=0@dav-c220|dav-c310")

/* clang-format on */
#endif
