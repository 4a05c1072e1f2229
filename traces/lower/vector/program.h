/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short straight-line programs on buffers of UB, as tables: what an elementwise operator does
 * with a tile. Registers are whole buffers of equal element count; a register may also be a
 * single 32-byte block that stands for a scalar and is read with stride 0.
 */
#ifndef VINCI_TRACES_LOWER_VECTOR_PROGRAM_H
#define VINCI_TRACES_LOWER_VECTOR_PROGRAM_H

#include "traces/lower/lower.h"

/* Inputs, outputs, temporaries. */
enum vreg { X0, X1, X2, X3, X4, X5, Y0, Y1, Y2, T0, T1, T2, T3, VREGS };

enum vform {
  VFORM_END,
  VFORM_UNARY,   /* dst, a */
  VFORM_BINARY,  /* dst, a, b */
  VFORM_ACC,     /* dst = a op b op dst */
  VFORM_SCALAR,  /* dst, a, scalar */
  VFORM_FILL,    /* dst, scalar */
  VFORM_COMPARE, /* bits of dst = a against scalar */
  VFORM_SELECT,  /* dst = bit of c ? a : b */
  VFORM_CONVERT, /* dst, a; the instruction names both types */
};

/* Scalars that the caller supplies: index into vmachine.parameter. */
enum { VPARAM_NONE, VPARAM_MAX = 8 };

struct vstep {
  const char *inst; /* mnemonic, for VFORM_CONVERT with its operands behind a comma */
  enum vform form;
  uint8_t dst, a, b, c;
  double scalar;     /* times the parameter, if there is one */
  uint8_t parameter; /* 0: none, else its number */
};

/* Steps as rows of a table. */
#define U(inst_, dst_, a_)                                                                         \
  { .inst = inst_, .form = VFORM_UNARY, .dst = dst_, .a = a_ }
#define B(inst_, dst_, a_, b_)                                                                     \
  { .inst = inst_, .form = VFORM_BINARY, .dst = dst_, .a = a_, .b = b_ }
#define S(inst_, dst_, a_, value_)                                                                 \
  { .inst = inst_, .form = VFORM_SCALAR, .dst = dst_, .a = a_, .scalar = value_ }
#define P(inst_, dst_, a_, number_)                                                                \
  { .inst = inst_, .form = VFORM_SCALAR, .dst = dst_, .a = a_, .scalar = 1, .parameter = number_ }
#define FILL(dst_, value_)                                                                         \
  { .form = VFORM_FILL, .dst = dst_, .scalar = value_ }
#define C(inst_, dst_, a_)                                                                         \
  { .inst = inst_, .form = VFORM_CONVERT, .dst = dst_, .a = a_ }
#define A(inst_, dst_, a_, b_)                                                                     \
  { .inst = inst_, .form = VFORM_ACC, .dst = dst_, .a = a_, .b = b_ }
#define Q(inst_, dst_, a_, value_)                                                                 \
  { .inst = inst_, .form = VFORM_COMPARE, .dst = dst_, .a = a_, .scalar = value_ }
#define SEL(dst_, a_, b_, bits_)                                                                   \
  { .form = VFORM_SELECT, .dst = dst_, .a = a_, .b = b_, .c = bits_ }
#define FILL_BY(dst_, number_)                                                                     \
  { .form = VFORM_FILL, .dst = dst_, .scalar = 1, .parameter = number_ }
#define PM(inst_, dst_, a_, value_, number_)                                                       \
  {                                                                                                \
    .inst = inst_, .form = VFORM_SCALAR, .dst = dst_, .a = a_, .scalar = value_,                   \
    .parameter = number_                                                                           \
  }
#define END                                                                                        \
  { .form = VFORM_END }

/* Registers as they lie in UB, and what is still under way in the vector pipe. */
struct vmachine {
  struct emit *emit;
  const char *reg[VREGS]; /* address; NULL: not there */
  uint32_t scalars;       /* bit per register: a block read with stride 0 */
  enum dtype type;
  double parameter[VPARAM_MAX];
  uint32_t written, read; /* since the last barrier */
  const char *mask;       /* element count the mask register holds; NULL: unknown */
  bool normal;            /* the mask is one of lanes */
  uint32_t halves;        /* bit per register: compared as fp16 whatever the type */
};

/* A barrier if an instruction that reads and writes these registers needs one. */
void vmachine_order(struct vmachine *machine, uint32_t reads, uint32_t writes);
/* Counter mode with so many elements; normal mode with the first lanes of each repeat. */
void vmachine_count(struct vmachine *machine, const char *count);
void vmachine_lanes(struct vmachine *machine, unsigned lanes);
/* At the end of a loop body: back to the mode of its start, which is counter mode. */
void vmachine_rest(struct vmachine *machine);
void vmachine_step(struct vmachine *machine, const struct vstep *step);
/* The value as an operand: bit pattern of floating-point types. */
long long vscalar_bits(enum dtype type, double value);

/* Mnemonic (and rounding) of a direct conversion; NULL when the chip has none. */
const char *vconvert_inst(const struct vinci_soc *soc, enum dtype from, enum dtype to);
/* The shortest chain of conversions: types after each; 0 when there is none. */
enum { VCONVERT_HOPS = 3 };
unsigned vconvert_chain(const struct vinci_soc *soc, enum dtype from, enum dtype to,
                        enum dtype hops[VCONVERT_HOPS]);
/* Cycles per 256-byte repeat in steady state, with sources in one bank group. */
uint64_t vstep_mcycles(const struct vinci_soc *soc, const struct vstep *step, enum dtype type);

#endif
