/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a vector function takes. An instruction is dispatched in order, `vf.width` a cycle, when
 * a register is free for each of its results and the queue has room. It is issued out of order:
 * when its sources are there (forwarding by class), and an execution unit, or a port and the banks
 * of UB, are free in that cycle. A loop takes `vf.loop_cycles` of dispatch to begin. The next
 * function starts while this one ends. An execution unit issues one a cycle; the results of its
 * plain instructions leave it one a cycle too; its special unit (exp, ln, quotients, roots,
 * reductions) takes `interval_cycles` each. Nothing of a function is kept but the state of the
 * unit, so a function may be of any length.
 *
 * Left out: address registers, spilled registers, loops of a single turn, the banks of gathers and
 * scatters, and that loads go before stores.
 */
#ifndef VINCI_CORE_SIM_SCHEDULE_H
#define VINCI_CORE_SIM_SCHEDULE_H

#include "core/base/arena.h"
#include "core/isa/inst.h"

enum { FUNCTION_OPERANDS = 8 }; /* registers and masks that an instruction reads and writes */
/* What a barrier waits for, and what waits for the barrier. */
enum function_side { FUNCTION_LOADS = 1, FUNCTION_STORES, FUNCTION_ALL };

/* An instruction: all that its time depends on. */
struct function_step {
  uint8_t class;
  uint8_t ports;          /* of UB that a load takes */
  uint8_t waits, waiting; /* of a barrier: enum function_side; of others 0 */
  uint8_t reads, writes;
  uint16_t operations;
  uint16_t name[FUNCTION_OPERANDS]; /* those that are read, then those that are written */
  uint64_t banks;                   /* of UB that a load or a store needs, a bit each */
  uint32_t turns;                   /* cycles that the busiest of them needs; 0: as 1 */
  uint16_t again;                   /* reads what the load before has read */
  uint16_t loop;                    /* 1: a loop begins its second turn here */
};

struct schedule;

/* The unit at the start of a function; NULL: out of memory. */
struct schedule *schedule_create(struct arena *arena, const struct vinci_soc *soc);
/* The same of one that has been used. */
void schedule_begin(struct schedule *at, const struct vinci_soc *soc);
/* The next instruction. */
void schedule_add(struct schedule *at, const struct function_step *step);
/* The cost of the function that ends here. */
void schedule_end(const struct schedule *at, struct inst_cost *cost);

#endif
