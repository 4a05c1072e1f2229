/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector instructions that were met before, with their verdict and cost. A loop issues the same
 * few instructions over and over, on all cores, and to find the conflicts of one in the banks of
 * UB takes thousands of host instructions. Both are pure functions of chip and instruction, so
 * what is kept is exact.
 */
#ifndef VINCI_CORE_ISA_KNOWN_H
#define VINCI_CORE_ISA_KNOWN_H

#include "core/isa/inst.h"

enum { KNOWN_ENTRIES = 512 /* a power of two; a program with more of them finds some again */ };

struct known_inst {
  struct inst inst;
  bool in_range; /* its operands are inside their buffers */
  bool costed;   /* `cost` is known */
  struct inst_cost cost;
};

/* Of one chip. Zeroed: nothing is known. */
struct known {
  struct known_inst entry[KNOWN_ENTRIES];
};

/*
 * The entry of an instruction, which stays until another one needs its place; nothing is known in
 * a new entry. NULL when instructions of its pipe are not kept.
 */
struct known_inst *known_find(struct known *known, const struct inst *inst);
/* The cost of an instruction, as registry_cost() finds. */
void known_cost(struct known *known, const struct vinci_soc *soc, const struct inst *inst,
                struct inst_cost *cost);

#endif
