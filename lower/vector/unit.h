/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions of the vector unit on registers. A register is an address in UB: a whole tile, a
 * column (a number for each row), a row, or one 32-byte block that stands for a scalar. Operators
 * are tables of steps on registers; the unit puts barriers where an instruction needs the result of
 * an earlier one, and sets the mask when the number of elements changes.
 */
#ifndef VINCI_LOWER_VECTOR_UNIT_H
#define VINCI_LOWER_VECTOR_UNIT_H

#include "lower/kernel/lower.h"

/* Inputs, outputs, temporaries, of which those behind T3 are for chains (chain.h); what reductions
 * along rows take (rowwise.h). */
enum vreg { X0, X1, X2, X3, X4, X5, Y0, Y1, Y2, T0, T1, T2, T3, VREGS = T0 + 12 };
enum { V_ACCUMULATOR = T2, V_BLOCKS = T3 };

enum vreduction { V_SUM, V_MAX, V_MIN };

enum vform {
  VFORM_END,
  VFORM_UNARY,       /* dst, a */
  VFORM_BINARY,      /* dst, a, b */
  VFORM_SCALAR,      /* dst, a, scalar */
  VFORM_FILL,        /* dst, scalar */
  VFORM_COMPARE,     /* bits of dst = a against scalar */
  VFORM_SELECT,      /* dst = bit of c ? a : b */
  VFORM_CONVERT,     /* dst, a; the instruction names both types */
  VFORM_GATHER,      /* dst = a at the byte offsets b */
  VFORM_LOW_WORDS,   /* int32 dst = the lower words of int64 a, by way of b and c (words.c) */
  VFORM_TO_LONGS,    /* int64 dst = int32 a, by way of b and c */
  VFORM_HELD,        /* dst is filled once, before the tiles */
  VFORM_REDUCE,      /* column dst of tile a */
  VFORM_READ,        /* the scalar unit reads column a, and the steps that follow wait */
  VFORM_SPREAD,      /* column a, for the steps with a column that follow */
  VFORM_TILE_COLUMN, /* dst = the spread column, all over its rows */
  VFORM_TILE_ROW,    /* tile dst = row a, in each row */
  VFORM_WITH_COLUMN, /* dst = a op the spread column */
  VFORM_WITH_ROW,    /* dst = a op row b */
  VFORM_ADD_ROWS,    /* row dst += the rows of tile a, one after the other */
};

/* Numbers that the operator supplies: index into vunit.parameter. */
enum { VPARAM_MAX = 8 };

struct vstep {
  const char *inst;
  const char *round; /* of conversions; NULL: to nearest even, or exact */
  enum vform form;
  uint8_t dst, a, b, c;
  enum vreduction reduction;
  double scalar;     /* times the parameter, where a step has it too */
  uint8_t parameter; /* 0: none, else its number */
  bool column;       /* the step is on columns */
  bool from_zero;    /* a reduction of rows begins with zeros, and not with their first lanes */
  uint8_t type;      /* 0: of the program; else 1 + enum dtype */
  uint8_t per;       /* elements of that type in one of the program; 0: 1 */
};

/* Steps as rows of a table. */
/* clang-format off */
#define STEP(...) {__VA_ARGS__}
#define U_(inst_, dst_, a_) .inst = inst_, .form = VFORM_UNARY, .dst = dst_, .a = a_
#define P_(inst_, dst_, a_, number_) \
  .inst = inst_, .form = VFORM_SCALAR, .dst = dst_, .a = a_, .scalar = 1, .parameter = number_
#define U(...) STEP(U_(__VA_ARGS__))
#define P(...) STEP(P_(__VA_ARGS__))
#define B_(inst_, dst_, a_, b_) .inst = inst_, .form = VFORM_BINARY, .dst = dst_, .a = a_, .b = b_
#define B(...) STEP(B_(__VA_ARGS__))
#define S_(inst_, dst_, a_, value_) \
  .inst = inst_, .form = VFORM_SCALAR, .dst = dst_, .a = a_, .scalar = value_
#define S(...) STEP(S_(__VA_ARGS__))
#define FILL_(dst_, value_) \
  .inst = "vector_dup", .form = VFORM_FILL, .dst = dst_, .scalar = value_
#define FILL(...) STEP(FILL_(__VA_ARGS__))
#define FILL_BY(dst_, number_) \
  STEP(.inst = "vector_dup", .form = VFORM_FILL, .dst = dst_, .scalar = 1, .parameter = number_)
#define C(inst_, round_, dst_, a_) \
  STEP(.inst = inst_, .round = round_, .form = VFORM_CONVERT, .dst = dst_, .a = a_)
#define Q_(inst_, dst_, a_, value_) \
  .inst = inst_, .form = VFORM_COMPARE, .dst = dst_, .a = a_, .scalar = value_
#define Q(...) STEP(Q_(__VA_ARGS__))
#define SELECT_(dst_, a_, b_, bits_) \
  .inst = "vsel", .form = VFORM_SELECT, .dst = dst_, .a = a_, .b = b_, .c = bits_
#define SELECT(...) STEP(SELECT_(__VA_ARGS__))
#define GATHER_(dst_, a_, b_) .inst = "vgather", .form = VFORM_GATHER, .dst = dst_, .a = a_, .b = b_
#define HELD(dst_) STEP(.inst = "vector_dup", .form = VFORM_HELD, .dst = dst_)
#define REDUCE(dst_, a_, reduction_) \
  STEP(.form = VFORM_REDUCE, .dst = dst_, .a = a_, .reduction = reduction_)
#define SUM_FROM_ZERO(dst_, a_) \
  STEP(.form = VFORM_REDUCE, .dst = dst_, .a = a_, .reduction = V_SUM, .from_zero = true)
#define TILE_COLUMN(dst_) STEP(.form = VFORM_TILE_COLUMN, .dst = dst_)
#define TILE_ROW(dst_, a_) STEP(.form = VFORM_TILE_ROW, .dst = dst_, .a = a_)
#define READ(a_) STEP(.form = VFORM_READ, .a = a_)
#define SPREAD(a_) STEP(.form = VFORM_SPREAD, .a = a_)
#define WITH_COLUMN(inst_, dst_, a_) \
  STEP(.inst = inst_, .form = VFORM_WITH_COLUMN, .dst = dst_, .a = a_)
#define WITH_ROW(inst_, dst_, a_, b_) \
  STEP(.inst = inst_, .form = VFORM_WITH_ROW, .dst = dst_, .a = a_, .b = b_)
#define ADD_ROWS(dst_, a_) STEP(.form = VFORM_ADD_ROWS, .dst = dst_, .a = a_)
/* COLUMN(U_("vsqrt", T1, T1)); AS(DTYPE_FP16, 1, Q_("vcmpvs_ne", T0, X0, 0)) */
#define COLUMN(...) STEP(.column = true, __VA_ARGS__)
#define AS(type_, per_, ...) STEP(.type = 1 + (type_), .per = per_, __VA_ARGS__)
#define END STEP(.form = VFORM_END)
/* clang-format on */

/* Registers as they lie in UB, and what is still under way in the vector pipe. */
struct vunit {
  struct emit *emit;
  struct expr reg[VREGS]; /* addresses */
  uint32_t scalars;       /* bit per register: a block read with stride 0 */
  uint32_t patterns;      /* one repeat of bytes, which all repeats read */
  enum dtype type;
  double parameter[VPARAM_MAX];
  uint32_t written, read; /* since the last barrier */
  bool masked;            /* the mask register is known */
  struct expr count;      /* elements, in counter mode */
  unsigned lanes;         /* not 0: the mask is one of lanes */
};

#define V(reg_) (1u << (reg_))
enum { V_ALL = (1 << VREGS) - 1 };

/* A barrier where an instruction that reads and writes these registers needs to wait. */
void vunit_order(struct vunit *unit, uint32_t reads, uint32_t writes);
/* The order, then the row. */
#define VROW(unit_, reads_, writes_, inst_, ...)                                                   \
  do {                                                                                             \
    vunit_order(unit_, reads_, writes_);                                                           \
    EMIT((unit_)->emit, inst_, __VA_ARGS__);                                                       \
  } while (0)
/* Counter mode with N elements; normal mode with the first lanes of each repeat. */
#define vunit_count(unit_, count_) vunit_count_of(unit_, EXPR(count_))
void vunit_count_of(struct vunit *unit, struct expr count);
void vunit_lanes(struct vunit *unit, unsigned lanes);
/* The mask is not known any more: a loop begins or has ended. */
void vunit_forget(struct vunit *unit);
/* At the end of a loop body: back to the mode of its start, which is counter mode. */
void vunit_rest(struct vunit *unit);
/* A step on whole registers: the forms up to VFORM_TO_LONGS. */
void vunit_step(struct vunit *unit, const struct vstep *step);
/* Such steps up to VFORM_END. */
void vunit_steps(struct vunit *unit, const struct vstep *steps);
/* dst = src in another type. */
void vunit_convert(struct vunit *unit, uint32_t reads, uint32_t writes, enum dtype from,
                   enum dtype to, struct expr dst, struct expr src);
/* Of pairs of words the first of each (pattern 1), or the second (2). */
void vunit_take_words(struct emit *emit, struct expr dst, uint64_t pairs, unsigned pattern);
/* "vadd" or the like of a reduction; the number that changes nothing. */
const char *vreduction_inst(enum vreduction reduction);
double vreduction_identity(enum vreduction reduction);
/* The value as an operand: bit pattern of floating-point types. */
int64_t vscalar(enum dtype type, double value);

/* Counter mode with a number of elements, outside of a unit that keeps track of the mask. */
#define vmask_count(emit_, count_) EMIT(emit_, "set_vector_mask", F("high", 0), F("low", count_))
/* vector_dup of a value, as bits of its type. */
#define vfill(emit_, dst_, bits_, type_)                                                           \
  EMIT(emit_, "vector_dup", F("dst", dst_), F("scalar", bits_), F("repeat", 1), W("type", type_))

/* A table of 32-bit words in UB: the first eight are given, each later eight are the ones before
 * plus 8 * step. Filled by hand, then doubled in each turn; the tables of one call are filled
 * together. Begins and ends in counter mode. */
enum { VTABLE_FIRST = 8 };
struct vtable {
  uint64_t address, first[VTABLE_FIRST], step;
};
void vtables_fill(struct emit *emit, const struct vtable *tables, unsigned count, uint64_t words);
/* The table 0, step, 2 * step ... */
struct vtable vtable_series(uint64_t address, uint64_t step);
/* Behind `length` loaded elements at an address, from the next block on up to `all`: the value. */
void vfill_tail(struct emit *emit, struct expr address, struct expr length, uint64_t all,
                enum dtype type, double value);

uint32_t vstep_reads(const struct vstep *step);

/* An instruction that converts; towards zero into integers, as casts of arrays do. */
struct vconversion {
  enum dtype from, to;
  enum isa_op op;
  const char *inst, *round;
};
/* A direct conversion; NULL when the chip has none. */
const struct vconversion *vconversion(const struct vinci_soc *soc, enum dtype from, enum dtype to);
/* The shortest chain of conversions: types after each; 0 when there is none. */
enum { VCONVERT_HOPS = 3 };
unsigned vconversion_chain(const struct vinci_soc *soc, enum dtype from, enum dtype to,
                           enum dtype hops[VCONVERT_HOPS]);
/* The rows of a step between int64 and int32 on a chip that converts neither (words.c). */
void vwords_put(struct vunit *unit, const struct vstep *step);
/* Cycles per 256-byte repeat in steady state, with sources in one bank group. */
uint64_t vstep_cost_mcycles(const struct vinci_soc *soc, const struct vstep *step, enum dtype type);

#endif
