/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a vector function takes: its register instructions come one by one, in the order of the
 * code, and each gets the cycles in which it is dispatched and issued. Nothing of a function is
 * kept but the state of the unit, so a function may be of any length.
 *
 * An instruction is dispatched in order, `vf.width` a cycle, when a register is free for each of
 * its results and the queue has room. It is issued out of order: when its sources are there
 * (forwarding by class), and an execution unit, or a port of UB, is free in that cycle. An
 * execution unit issues one a cycle; the results of its plain instructions leave it one a cycle
 * too; its special unit (exp, ln, quotients, roots, reductions) takes `interval_cycles` each.
 *
 * Left out: how loops of a function start again, banks of UB, address registers, spilled registers,
 * and overlap of one function with the next.
 */
#ifndef VINCI_CORE_SIM_FUNCTION_H
#define VINCI_CORE_SIM_FUNCTION_H

#include "core/base/arena.h"
#include "core/isa/inst.h"

struct vector_function;

/* The unit of one core; NULL: out of memory. */
struct vector_function *function_create(struct arena *arena, const struct vinci_soc *soc);
/* The next register instruction. */
void function_add(struct vector_function *function, const struct inst *inst);
/* The cost of what has come since the last one, for vf_call; the next function begins. */
void function_end(struct vector_function *function, struct inst_cost *cost);

#endif
