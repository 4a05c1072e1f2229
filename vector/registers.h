/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register instructions of vector functions: where their operands lie, and lanes. A lane is active
 * when the mask has the bit of its first byte (Ascend C documentation, MaskReg).
 */
#ifndef VINCI_VECTOR_REGISTERS_H
#define VINCI_VECTOR_REGISTERS_H

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/operands_register.h"
#include "core/isa/unit_functions.h"
#include "core/machine/values.h"

enum { OPERANDS_REG1(OPERAND_NUMBER, REG1, ) };
enum { OPERANDS_REG2(OPERAND_NUMBER, REG2, ) };
enum { OPERANDS_REGS(OPERAND_NUMBER, REGS, ) };
enum { OPERANDS_REGD(OPERAND_NUMBER, REGD) };
enum { OPERANDS_REGLANE(OPERAND_NUMBER, REGLANE) };
enum { OPERANDS_REGROUND(OPERAND_NUMBER, REGROUND) };
enum { OPERANDS_REGCVT(OPERAND_NUMBER, REGCVT) };
enum { OPERANDS_REGCMP(OPERAND_NUMBER, REGCMP) };
enum { OPERANDS_REGCMPS(OPERAND_NUMBER, REGCMPS) };
enum { OPERANDS_REGPAIR(OPERAND_NUMBER, REGPAIR) };
enum { OPERANDS_REGPART(OPERAND_NUMBER, REGPART) };
enum { OPERANDS_REGINDEX(OPERAND_NUMBER, REGINDEX) };
enum { OPERANDS_REGCI(OPERAND_NUMBER, REGCI) };
enum { OPERANDS_REGLOAD(OPERAND_NUMBER, REGLOAD) };
enum { OPERANDS_REGLOAD2(OPERAND_NUMBER, REGLOAD2) };
enum { OPERANDS_REGSTORE(OPERAND_NUMBER, REGSTORE) };
enum { OPERANDS_REGSTORE2(OPERAND_NUMBER, REGSTORE2) };
enum { OPERANDS_REGSLDB(OPERAND_NUMBER, REGSLDB) };
enum { OPERANDS_REGSSTB(OPERAND_NUMBER, REGSSTB) };
enum { OPERANDS_REGLDAS(OPERAND_NUMBER, REGLDAS) };
enum { OPERANDS_REGLDUS(OPERAND_NUMBER, REGLDUS) };
enum { OPERANDS_REGSTUS(OPERAND_NUMBER, REGSTUS) };
enum { OPERANDS_REGSTAS(OPERAND_NUMBER, REGSTAS) };
enum { OPERANDS_REGPLDS(OPERAND_NUMBER, REGPLDS) };
enum { OPERANDS_REGPSTS(OPERAND_NUMBER, REGPSTS) };
enum { OPERANDS_REGPSTU(OPERAND_NUMBER, REGPSTU) };

/* Of any instruction under a mask: those come first. */
enum { MASKED_M0 = REG1_M0, MASKED_MERGE = REG1_MERGE };
enum load_distribution {
  LOAD_NORM,
  LOAD_BRC,
  LOAD_US,
  LOAD_DS,
  LOAD_UNPK,
  LOAD_UNPK4,
  LOAD_BLK,
  LOAD_E2B
};
enum store_distribution { STORE_NORM, STORE_FIRST, STORE_PK, STORE_PK4 };

enum { REG_LANES = REPEAT_BYTES, REG_BLOCKS = REPEAT_BYTES / BLOCK_BYTES };

static inline bool reg_bit(const struct inst *inst, unsigned byte) {
  return (uint64_t)inst->arg[MASKED_M0 + byte / 64] >> (byte % 64) & 1;
}

/* Bytes of an element of the operand `type`. */
static inline unsigned reg_bytes(const struct inst *inst) {
  return dtype_bits(inst_dtype(inst)) / BITS_PER_BYTE;
}

static inline uint8_t *reg_at(const struct inst *inst, const struct value_core *core,
                              unsigned arg) {
  return core->bytes[SPACE_VR] + inst->arg[arg];
}

/* Marks of unwritten bytes (core/isa/inst.h) where these are not those of lane by lane. */
void reg_gather_marks(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core);
void reg_scatter_marks(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core);
void reg_wide_marks(const struct vinci_soc *soc, const struct inst *inst, struct value_core *core);
void reg_counts_marks(const struct vinci_soc *soc, const struct inst *inst,
                      struct value_core *core);

/* What a load reads and a store writes of UB, in bytes. */
uint64_t reg_load_bytes(const struct inst *inst);

#endif
