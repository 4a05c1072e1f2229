/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chain of elementwise operators as one kernel: values between the steps stay in UB.
 *
 * The text, as "steps=add:x:x1,muls:0.5,t=sigmoid,mul:x:t", is read by chain_text.c. A step is an
 * elementwise operator by its name, or "cast"; behind colons are its operands, then its numbers:
 *
 *   operands   x (or x0), x1 ... x5; the name of an earlier result. Where one is missing, the first
 *              is the result of the step before; of the first step, x.
 *   numbers    the operator's own keys in their order, such as alpha; or key=value
 *   cast       the type is its number: cast:fp32
 *   name=      in front: a name for the result. y, y1 and y2 go out; without a y, the last result
 * is that.
 *
 * chain.c gives each value a type and steps, chain_registers.c gives each value a place.
 */
#ifndef VINCI_LOWER_VECTOR_ELEMENTWISE_CHAIN_H
#define VINCI_LOWER_VECTOR_ELEMENTWISE_CHAIN_H

#include "lower/vector/elementwise/elementwise.h"

enum {
  CHAIN_STEPS = 32,
  CHAIN_VALUES = VFUNC_INPUTS + CHAIN_STEPS, /* inputs, then a result for each step */
  /* Values as they lie in registers: some are converted, some are copied to a result. */
  CHAIN_STORED = VFUNC_INPUTS + 3 * CHAIN_STEPS + VFUNC_OUTPUTS,
  CHAIN_ARGS = 12,
};

/* A step as it is written. */
struct chain_step {
  const char *text;
  const struct lower_op *op; /* NULL: a cast */
  enum dtype to;
  unsigned operands, operand[VFUNC_INPUTS]; /* values */
  const char *args[CHAIN_ARGS];             /* "alpha=0.5" */
  unsigned arg_count;
  const char *name; /* of the result, or NULL */
};

struct chain_text {
  unsigned inputs, outputs, steps;
  struct chain_step step[CHAIN_STEPS];
  unsigned output[VFUNC_OUTPUTS]; /* values */
};

/* What a step is in registers: the operator's table, and what stands for its names. */
struct chain_node {
  const struct vstep *steps;                        /* X0.. are the operands, Y0 the result */
  unsigned operands, operand[VFUNC_INPUTS], result; /* stored values */
  enum dtype type;                                  /* of its steps, where they have none */
  double parameter[VPARAM_MAX];
};

/* A value in a register. The first VFUNC_INPUTS are the inputs, in X0 .. X5. */
struct chain_stored {
  enum dtype held;
  unsigned first, last; /* nodes that write and that read last */
  bool output;          /* goes out */
  bool placed;          /* has a register */
  uint8_t reg;
};

struct chain {
  struct chain_text text;
  enum dtype type[CHAIN_VALUES]; /* as the operators, one by one, would have */
  unsigned stored[CHAIN_VALUES]; /* where a value is */
  enum dtype computed;           /* of all but bytes, which are fp16 */
  unsigned nodes, stored_count;
  struct chain_node node[CHAIN_STORED];
  struct vstep single[CHAIN_STORED][2]; /* of nodes that are one step */
  struct chain_stored value[CHAIN_STORED];
  unsigned converted[CHAIN_STORED]; /* the same value in the other type; 0: there is none */
  unsigned output[VFUNC_OUTPUTS];   /* stored values */
  bool reusable[VFUNC_INPUTS];      /* the register of an input has room for other values */
};

/* What fusions of the vendor's graph are called: this, then their members with '_' between. */
#define CHAIN_FUSION "FusionOp_"
/* The steps of elementwise members, whose first takes x; the others of their inputs are x1, x2 ...,
 * of which the call has `most`. */
struct chain_members {
  char steps[400];
  size_t length;
  unsigned inputs, most; /* beyond x */
};
bool chain_read_members(struct lower_call *call, const char *names, unsigned most,
                        struct chain_members *out);
/* A call of the vendor's as a chain (chain_calls.c). */
bool chain_from_call(struct lower_call *call);
/* Whether an operator can be a step. */
bool chain_takes(const struct lower_op *op);
/* Reads the text; a usage error names the step. */
VINCI_MUST_CHECK enum vinci_status chain_read(struct lower_job *job, const char *text,
                                              struct chain_text *out);
/* Steps on registers of a text that has been read, of inputs whose types are set, as is whether the
 * register of an input may hold other values. */
VINCI_MUST_CHECK enum vinci_status chain_on_registers(struct lower_job *job, struct chain *chain,
                                                      const struct vstep **steps, unsigned *count);
/* "step 2, mul:x1: ..." */
enum vinci_status chain_error(struct lower_job *job, const struct chain_text *text, unsigned step,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));
/*
 * Places for all values: those of results in Y0 .. Y2, whose registers, as those of inputs, hold
 * others before and after. Fills *steps, which live in the job's arena, up to VFORM_END.
 */
VINCI_MUST_CHECK enum vinci_status chain_place(struct lower_job *job, struct chain *chain,
                                               const struct vstep **steps, unsigned *count);

#endif
