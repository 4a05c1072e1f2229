/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operands of register instructions (core/isa/registers.def), in the way of
 * core/isa/operands.h. Registers are addresses in VR, multiples of 256. An instruction under a mask
 * has the bits of the mask in m0 to m3, a bit for each byte of a register, as they stand when the
 * instruction is issued, and the name of the mask register that they come from in pg: time depends
 * on the name, values on the bits. Lanes that are not active become 0, or stay with merge=1.
 */
#ifndef VINCI_CORE_ISA_OPERANDS_REGISTER_H
#define VINCI_CORE_ISA_OPERANDS_REGISTER_H

#include "core/isa/operands.h"

/* clang-format off */

#define OPERANDS_MASKED(O, F) \
  O(F, M0, "m0:" RANGE_INT64 "=-1") O(F, M1, "m1:" RANGE_INT64 "=-1") \
  O(F, M2, "m2:" RANGE_INT64 "=-1") O(F, M3, "m3:" RANGE_INT64 "=-1") \
  O(F, PG, "pg:0..63=0") O(F, MERGE, "merge:0..1=0")

/* dst: its directions. */
#define OPERANDS_REG1(O, F, dst) OPERANDS_MASKED(O, F) \
  O(F, DST, "dst:VR:" dst) O(F, SRC, "src:VR:r")
#define OPERANDS_REG2(O, F, dst) OPERANDS_MASKED(O, F) \
  O(F, DST, "dst:VR:" dst) O(F, SRC0, "src0:VR:r") O(F, SRC1, "src1:VR:r")
#define OPERANDS_REGS(O, F, dst) OPERANDS_REG1(O, F, dst) O(F, VALUE, "scalar:" RANGE_INT64)
#define OPERANDS_REGD(O, F) OPERANDS_MASKED(O, F) \
  O(F, DST, "dst:VR:w") O(F, VALUE, "scalar:" RANGE_INT64)
#define OPERANDS_REGLANE(O, F) OPERANDS_REG1(O, F, "w") O(F, LANE, "lane:{lowest|highest}=lowest")
#define OPERANDS_REGROUND(O, F) OPERANDS_REG1(O, F, "w") O(F, ROUND, "round:{r|f|c|a|z|o}=r")
#define OPERANDS_REGCVT(O, F) OPERANDS_REGROUND(O, F) O(F, SATURATES, "saturates:0..1=0") \
  O(F, PART, "part:0..3=0") \
  O(F, TO, "to:{fp16|bf16|fp32|int8|uint8|int16|uint16|int32|uint32|int64}")

#define REG_RELATIONS "relation:{eq|ne|lt|gt|le|ge}"
#define OPERANDS_REGCMP(O, F) OPERANDS_MASKED(O, F) \
  O(F, SRC0, "src0:VR:r") O(F, SRC1, "src1:VR:r") O(F, RELATION, REG_RELATIONS) O(F, PD, "pd:0..63=0")
#define OPERANDS_REGCMPS(O, F) OPERANDS_MASKED(O, F) \
  O(F, SRC, "src:VR:r") O(F, VALUE, "scalar:" RANGE_INT64) O(F, RELATION, REG_RELATIONS) \
  O(F, PD, "pd:0..63=0")

/* Carries: a bit for each byte of a register, as masks have them, in c0 to c3 and from p0. */
#define OPERANDS_REGCARRY(O, F) OPERANDS_MASKED(O, F) \
  O(F, DST, "dst:VR:w") O(F, SRC0, "src0:VR:r") O(F, SRC1, "src1:VR:r") O(F, PD, "pd:0..63=0")
#define OPERANDS_REGCARRIED(O, F) OPERANDS_REGCARRY(O, F) \
  O(F, C0, "c0:" RANGE_INT64 "=0") O(F, C1, "c1:" RANGE_INT64 "=0") \
  O(F, C2, "c2:" RANGE_INT64 "=0") O(F, C3, "c3:" RANGE_INT64 "=0") O(F, P0, "p0:0..63=0")
#define OPERANDS_REGWIDE(O, F) OPERANDS_MASKED(O, F) \
  O(F, DST0, "dst0:VR:w") O(F, DST1, "dst1:VR:w") O(F, SRC0, "src0:VR:r") O(F, SRC1, "src1:VR:r")
#define OPERANDS_REGCOUNTS(O, F) OPERANDS_REG1(O, F, "rw") O(F, BIN, "bin:0..1=0")

/* Of two registers two, of one register one, whole registers all. */
#define OPERANDS_REGPAIR(O, F) \
  O(F, DST0, "dst0:VR:w") O(F, DST1, "dst1:VR:w") O(F, SRC0, "src0:VR:r") O(F, SRC1, "src1:VR:r")
#define OPERANDS_REGPART(O, F) \
  O(F, DST, "dst:VR:w") O(F, SRC, "src:VR:r") O(F, PART, "part:{lower|higher}=lower")
#define OPERANDS_REGINDEX(O, F) \
  O(F, DST, "dst:VR:w") O(F, SRC, "src:VR:r") O(F, INDEX, "index:VR:r")
#define OPERANDS_REGCI(O, F) \
  O(F, DST, "dst:VR:w") O(F, VALUE, "scalar:" RANGE_INT64) O(F, ORDER, "order:{inc|dec}=inc")

/* Transfers; the words of a distribution are those of the CCE intrinsics. */
#define OPERANDS_REGLOAD(O, F) O(F, DST, "dst:VR:w") O(F, SRC, "src:UB:r") \
  O(F, DIST, "dist:{norm|brc|us|ds|unpk|unpk4|blk|e2b}=norm")
#define OPERANDS_REGLOAD2(O, F) \
  O(F, DST0, "dst0:VR:w") O(F, DST1, "dst1:VR:w") O(F, SRC, "src:UB:r")
#define OPERANDS_REGSTORE(O, F) OPERANDS_MASKED(O, F) O(F, DST, "dst:UB:w") O(F, SRC, "src:VR:r") \
  O(F, DIST, "dist:{norm|first|pk|pk4}=norm")
#define OPERANDS_REGSTORE2(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC0, "src0:VR:r") O(F, SRC1, "src1:VR:r")
#define OPERANDS_REGSLDB(O, F) OPERANDS_MASKED(O, F) \
  O(F, DST, "dst:VR:w") O(F, SRC, "src:UB:r") O(F, STRIDE, "stride:0..65535=1")
#define OPERANDS_REGSSTB(O, F) OPERANDS_MASKED(O, F) \
  O(F, DST, "dst:UB:w") O(F, SRC, "src:VR:r") O(F, STRIDE, "stride:0..65535=1")
#define OPERANDS_REGLDAS(O, F) O(F, UB, "ub:UB:r")
#define OPERANDS_REGLDUS(O, F) O(F, DST, "dst:VR:w") O(F, SRC, "src:UB:r")
#define OPERANDS_REGSTAS(O, F) \
  O(F, ALIGN, "align:VR:r") O(F, DST, "dst:UB:w") O(F, HELD, "held:0..31=0")
#define OPERANDS_REGSTUS(O, F) \
  O(F, ALIGN, "align:VR:rw") O(F, SRC, "src:VR:r") O(F, DST, "dst:UB:w") \
  O(F, HELD, "held:0..31=0") O(F, COUNT, "count:0..256")

/*
 * By index. first and last: the lowest and the highest index of active lanes, in elements, of blocks
 * in bytes. turns: how many rows of the busiest subbank of UB the indices need. Compiled kernels have
 * them from the register; what a mask leaves no lane of touches nothing.
 */
#define OPERANDS_REACH(O, F) \
  O(F, FIRST, "first:0..1048575") O(F, LAST, "last:0..1048575") O(F, TURNS, "turns:1..256=1")
#define OPERANDS_REGGATHER(O, F) OPERANDS_MASKED(O, F) O(F, DST, "dst:VR:w") O(F, SRC, "src:UB:r") \
  O(F, INDEX, "index:VR:r") OPERANDS_REACH(O, F)
#define OPERANDS_REGSCATTER(O, F) OPERANDS_MASKED(O, F) O(F, DST, "dst:UB:w") O(F, SRC, "src:VR:r") \
  O(F, INDEX, "index:VR:r") OPERANDS_REACH(O, F)

/* Masks in UB. Of unaligned stores count says how many bytes the bits of all lanes make. */
#define OPERANDS_REGPLDS(O, F) O(F, PD, "pd:0..63") O(F, SRC, "src:UB:r") O(F, DIST, "dist:{norm|us|ds}=norm")
#define OPERANDS_REGPSTS(O, F) OPERANDS_MASKED(O, F) O(F, DST, "dst:UB:w") O(F, DIST, "dist:{norm|pk}=norm")
#define OPERANDS_REGPSTU(O, F) OPERANDS_MASKED(O, F) O(F, ALIGN, "align:VR:rw") O(F, DST, "dst:UB:w") \
  O(F, HELD, "held:0..31=0") O(F, COUNT, "count:8..16")

/* Masks: time alone. pd and pd1 are written. */
#define OPERANDS_REGMASK(O, F) O(F, PD, "pd:0..63") O(F, PD1, "pd1:0..63=0") \
  O(F, P0, "p0:0..63=0") O(F, P1, "p1:0..63=0") O(F, P2, "p2:0..63=0")
#define OPERANDS_REGBAR(O, F) O(F, WAITS, "waits:{loads|stores|all}=all") \
  O(F, FOR, "for:{loads|stores|all}=all")

/* clang-format on */
#endif
