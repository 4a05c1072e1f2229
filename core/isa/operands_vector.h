/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operands of vector instructions, in the way of core/isa/operands.h. Block strides and repeat
 * strides count 32-byte blocks from start to start; a repeat is 8 blocks. Scalars are the value of
 * integers and the bit pattern of floating-point types.
 */
#ifndef VINCI_CORE_ISA_OPERANDS_VECTOR_H
#define VINCI_CORE_ISA_OPERANDS_VECTOR_H

#include "core/isa/operands.h"

/* clang-format off */

/* dst: its directions, "w" or "rw"; steps: the defaults of repeat strides. */
#define OPERANDS_BINARY(O, F, dst, dst_step, src_step) \
  O(F, DST, "dst:UB:" dst) O(F, SRC0, "src0:UB:r") O(F, SRC1, "src1:UB:r") \
  O(F, REPEAT, "repeat:0..255") O(F, DST_BLOCK, "dst_block:0..65535=1") \
  O(F, SRC0_BLOCK, "src0_block:0..65535=1") O(F, SRC1_BLOCK, "src1_block:0..65535=1") \
  O(F, DST_REPEAT, "dst_repeat:0..255=" dst_step) \
  O(F, SRC0_REPEAT, "src0_repeat:0..255=" src_step) \
  O(F, SRC1_REPEAT, "src1_repeat:0..255=" src_step)

#define OPERANDS_SELECT(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC0, "src0:UB:r") O(F, SRC1, "src1:UB:r") \
  O(F, MASK, "mask:UB:r=0") O(F, REPEAT, "repeat:0..255") \
  O(F, DST_BLOCK, "dst_block:0..65535=1") O(F, SRC0_BLOCK, "src0_block:0..65535=1") \
  O(F, SRC1_BLOCK, "src1_block:0..65535=1") O(F, DST_REPEAT, "dst_repeat:0..255=8") \
  O(F, SRC0_REPEAT, "src0_repeat:0..255=8") O(F, SRC1_REPEAT, "src1_repeat:0..255=8") \
  O(F, MODE, "mode:{register|scalar|tensor|held}=tensor")

/* vcmpv: bits to UB. */
#define OPERANDS_COMPARE(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC0, "src0:UB:r") O(F, SRC1, "src1:UB:r") \
  O(F, REPEAT, "repeat:0..255") O(F, SRC0_BLOCK, "src0_block:0..65535=1") \
  O(F, SRC1_BLOCK, "src1_block:0..65535=1") O(F, SRC0_REPEAT, "src0_repeat:0..255=8") \
  O(F, SRC1_REPEAT, "src1_repeat:0..255=8")

/* vcmp: bits to the register. */
#define OPERANDS_COMPARER(O, F) \
  O(F, SRC0, "src0:UB:r") O(F, SRC1, "src1:UB:r") \
  O(F, SRC0_BLOCK, "src0_block:0..65535=1") O(F, SRC1_BLOCK, "src1_block:0..65535=1")

/* vcmpvs: a tensor and a scalar. */
#define OPERANDS_COMPARES(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC, "src:UB:r") O(F, SCALAR, "scalar:" RANGE_INT64) \
  O(F, REPEAT, "repeat:0..255") O(F, SRC_BLOCK, "src_block:0..65535=1") \
  O(F, SRC_REPEAT, "src_repeat:0..255=8")

/* set_cmpmask and get_cmpmask. */
#define OPERANDS_COMPARE_MASK(O, F, text) O(F, ADDRESS, text)

/* One source, and conversions. */
#define OPERANDS_UNARY(O, F, dst_step, src_step) \
  O(F, DST, "dst:UB:w") O(F, SRC, "src:UB:r") O(F, REPEAT, "repeat:0..255") \
  O(F, DST_BLOCK, "dst_block:0..65535=1") O(F, SRC_BLOCK, "src_block:0..65535=1") \
  O(F, DST_REPEAT, "dst_repeat:0..255=" dst_step) O(F, SRC_REPEAT, "src_repeat:0..255=" src_step)

/* modes: the words of core/base/number.h, as far as the instruction has them. */
#define OPERANDS_CONVERT_ROUND(O, F, dst_step, src_step, modes) \
  OPERANDS_UNARY(O, F, dst_step, src_step) O(F, ROUND, "round:{" modes "}=r")

/* The operand `scales` stands for the scale register. */
#define OPERANDS_CONVERT_SCALES(O, F) \
  OPERANDS_UNARY(O, F, "8", "8") O(F, SCALES, "scales:{deqscale}=deqscale")

#define OPERANDS_SCALAR(O, F, dst, src_step) \
  O(F, DST, "dst:UB:" dst) O(F, SRC, "src:UB:r") O(F, VALUE, "scalar:" RANGE_INT64) \
  O(F, REPEAT, "repeat:0..255") O(F, DST_BLOCK, "dst_block:0..65535=1") \
  O(F, SRC_BLOCK, "src_block:0..65535=1") O(F, DST_REPEAT, "dst_repeat:0..255=8") \
  O(F, SRC_REPEAT, "src_repeat:0..255=" src_step)

#define OPERANDS_DUP(O, F) \
  O(F, DST, "dst:UB:w") O(F, VALUE, "scalar:" RANGE_INT64) O(F, REPEAT, "repeat:0..255") \
  O(F, DST_BLOCK, "dst_block:0..65535=1") O(F, DST_REPEAT, "dst_repeat:0..255=8")

/* All reductions but vreduce and vreducev2. */
#define OPERANDS_REDUCE(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC, "src:UB:r") O(F, REPEAT, "repeat:0..255") \
  O(F, DST_REPEAT, "dst_repeat:0..65535=1") O(F, SRC_BLOCK, "src_block:0..65535=1") \
  O(F, SRC_REPEAT, "src_repeat:0..65535=8")
#define OPERANDS_REDUCE_INDEX(O, F) OPERANDS_REDUCE(O, F) \
  O(F, ORDER, "order:{value_index|index_value|value|index}=value_index")

#define OPERANDS_COMPACT(O, F, patterns) \
  O(F, DST, "dst:UB:w") O(F, SRC0, "src0:UB:r") O(F, SRC1, "src1:UB:r") \
  O(F, REPEAT, "repeat:0..255") O(F, SRC0_BLOCK, "src0_block:0..65535=1") \
  O(F, PATTERN, "pattern:" patterns) O(F, SRC0_REPEAT, "src0_repeat:0..65535=8") \
  O(F, SRC1_REPEAT, "src1_repeat:0..255=1")

#define OPERANDS_TRANSPOSE(O, F) O(F, DST, "dst:UB:w") O(F, SRC, "src:UB:r")

#define OPERANDS_NCHWCONV(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC, "src:UB:r") O(F, REPEAT, "repeat:0..255=1") \
  O(F, DST_STEP, "dst_step:0..65535=1") O(F, SRC_STEP, "src_step:0..65535=1") \
  O(F, DST_REPEAT, "dst_repeat:0..65535=0") O(F, SRC_REPEAT, "src_repeat:0..65535=0")
/* Of 8-bit elements. */
#define OPERANDS_NCHWCONV_HIGH(O, F) OPERANDS_NCHWCONV(O, F) \
  O(F, DST_HIGH, "dst_high:0..1=0") O(F, SRC_HIGH, "src_high:0..1=0")

#define OPERANDS_BROADCAST(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC, "src:UB:r") O(F, REPEAT, "repeat:0..255") \
  O(F, DST_BLOCK, "dst_block:0..65535=1") O(F, DST_REPEAT, "dst_repeat:0..65535=8")

#define OPERANDS_GATHER(O, F) \
  O(F, DST, "dst:UB:w") O(F, OFFSET, "offset:UB:r") O(F, SRC, "src:UB:r") \
  O(F, REPEAT, "repeat:0..255") O(F, DST_REPEAT, "dst_repeat:0..255=8")

#define OPERANDS_GATHERB(O, F) \
  O(F, DST, "dst:UB:w") O(F, OFFSET, "offset:UB:r") O(F, SRC, "src:UB:r") \
  O(F, REPEAT, "repeat:0..255") O(F, DST_BLOCK, "dst_block:0..65535=1") \
  O(F, DST_REPEAT, "dst_repeat:0..65535=8")

#define OPERANDS_BITSORT(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC0, "src0:UB:r") O(F, SRC1, "src1:UB:r") \
  O(F, REPEAT, "repeat:0..255")

/* Region proposals of 8 elements, of which the fifth is the score. */
#define OPERANDS_PROPOSAL(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC, "src:UB:r") O(F, REPEAT, "repeat:0..255")
#define OPERANDS_PROPOSAL_FIELD(O, F) OPERANDS_PROPOSAL(O, F) \
  O(F, FIELD, "field:0..5")

#define OPERANDS_MERGE(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC0, "src0:UB:r") O(F, SRC1, "src1:UB:r") \
  O(F, SRC2, "src2:UB:r") O(F, SRC3, "src3:UB:r") O(F, REPEAT, "repeat:0..255=1") \
  O(F, LENGTH0, "length0:0..4095") O(F, LENGTH1, "length1:0..4095") \
  O(F, LENGTH2, "length2:0..4095=0") O(F, LENGTH3, "length3:0..4095=0") \
  O(F, LISTS, "lists:2..4=4") O(F, STOP, "stop:0..1=0")

/* ---- functions of register instructions ---- */

#define OPERANDS_VF_BINARY(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC0, "src0:UB:r") O(F, SRC1, "src1:UB:r") \
  O(F, COUNT, "count:0..1048576")

#define OPERANDS_VF_SCALAR(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC, "src:UB:r") O(F, VALUE, "scalar:" RANGE_INT64) \
  O(F, COUNT, "count:0..1048576")

#define OPERANDS_VF_UNARY(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC, "src:UB:r") O(F, COUNT, "count:0..1048576")

#define OPERANDS_VF_DUP(O, F) \
  O(F, DST, "dst:UB:w") O(F, VALUE, "scalar:" RANGE_INT64) O(F, COUNT, "count:0..1048576")

/* clang-format on */
#endif
