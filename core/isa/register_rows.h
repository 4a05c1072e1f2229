/* SPDX-License-Identifier: Apache-2.0 */
/* The words that rows of core/isa/registers.def are written in. */
#ifndef VINCI_CORE_ISA_REGISTER_ROWS_H
#define VINCI_CORE_ISA_REGISTER_ROWS_H

#include "core/isa/operands_register.h"

/* clang-format off */

#define D_REG_FLOAT (D_FLOAT | D(BF16))
#define D_REG_INTEGER (D(INT8) | D(UINT8) | D_INTEGER)
#define D_REG (D_REG_FLOAT | D_REG_INTEGER)
#define D_REG_WIDE (D_REG_FLOAT | D_INTEGER)
#define D_REG_SIGNED (D_FLOAT | D(INT8) | D(INT16) | D(INT32))
#define D_REG_SUM (D_FLOAT | D_INTEGER)

#define CLASS2(id16, id32) .register16 = REGISTER_##id16, .register32 = REGISTER_##id32
#define CLASS(id) CLASS2(id, id)

#define S_REGROUND OPERANDS_REGROUND(OPERAND_TEXT, REGROUND) S_TYPE
#define S_REGCVT OPERANDS_REGCVT(OPERAND_TEXT, REGCVT) S_TYPE
#define S_REGD OPERANDS_REGD(OPERAND_TEXT, REGD) S_TYPE
#define S_REGD_NONE OPERANDS_MASKED(OPERAND_TEXT, REGD) " dst:VR:w" S_TYPE
#define S_REGLANE OPERANDS_REGLANE(OPERAND_TEXT, REGLANE) S_TYPE
#define S_REGCI OPERANDS_REGCI(OPERAND_TEXT, REGCI) S_TYPE
#define S_REGCMP OPERANDS_REGCMP(OPERAND_TEXT, REGCMP) S_TYPE
#define S_REGCMPS OPERANDS_REGCMPS(OPERAND_TEXT, REGCMPS) S_TYPE
#define S_REGPAIR OPERANDS_REGPAIR(OPERAND_TEXT, REGPAIR) S_TYPE
#define S_REGPART OPERANDS_REGPART(OPERAND_TEXT, REGPART) S_TYPE
#define S_REGINDEX OPERANDS_REGINDEX(OPERAND_TEXT, REGINDEX) S_TYPE
#define S_REGLOAD OPERANDS_REGLOAD(OPERAND_TEXT, REGLOAD) S_TYPE
#define S_REGLOAD2 OPERANDS_REGLOAD2(OPERAND_TEXT, REGLOAD2) S_TYPE
#define S_REGSTORE OPERANDS_REGSTORE(OPERAND_TEXT, REGSTORE) S_TYPE
#define S_REGSTORE2 OPERANDS_REGSTORE2(OPERAND_TEXT, REGSTORE2) S_TYPE
#define S_REGSLDB OPERANDS_REGSLDB(OPERAND_TEXT, REGSLDB) S_TYPE
#define S_REGSSTB OPERANDS_REGSSTB(OPERAND_TEXT, REGSSTB) S_TYPE
#define S_REGLDAS OPERANDS_REGLDAS(OPERAND_TEXT, REGLDAS)
#define S_REGLDUS OPERANDS_REGLDUS(OPERAND_TEXT, REGLDUS)
#define S_REGSTUS OPERANDS_REGSTUS(OPERAND_TEXT, REGSTUS)
#define S_REGSTAS OPERANDS_REGSTAS(OPERAND_TEXT, REGSTAS)
#define S_REGMASK OPERANDS_REGMASK(OPERAND_TEXT, REGMASK)
#define S_REGBAR OPERANDS_REGBAR(OPERAND_TEXT, REGBAR)

/* The class comes last: it is two members. */
#define REG(id, name, signature, dtypes, stem, values, text, ...) \
    ISA(REG_##id, "reg_" name, PIPE_V, A_C310, signature, dtypes, stem, REG_##values, text, \
        "DK Reg; PTO", __VA_ARGS__)
#define REG1(id, name, dtypes, text, ...) \
    REG(id, name, OPERANDS_REG1(OPERAND_TEXT, REG1, "w") S_TYPE, dtypes, reg_compute, id, text, __VA_ARGS__)
#define REG2(id, name, dtypes, text, ...) \
    REG(id, name, OPERANDS_REG2(OPERAND_TEXT, REG2, "w") S_TYPE, dtypes, reg_compute, id, text, __VA_ARGS__)
#define REG_ADDS(id, name, dtypes, text) \
    REG(id, name, OPERANDS_REG2(OPERAND_TEXT, REG2, "rw") S_TYPE, dtypes, reg_compute, id, text, CLASS(MULTIPLY))
#define REGS(id, name, dst, dtypes, text, ...) \
    REG(id, name, OPERANDS_REGS(OPERAND_TEXT, REGS, dst) S_TYPE, dtypes, reg_compute, id, text, __VA_ARGS__)
#define REG_MASK(id, name, text) \
    ISA(REG_##id, "reg_" name, PIPE_V, A_C310, S_REGMASK, 0, reg_mask, control, text, "DK Reg; PTO", CLASS(MASK))

/* clang-format on */
#endif
