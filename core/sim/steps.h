/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register instructions of a vector function as steps, which have all that their time depends on:
 * names of registers, banks of UB, and where loops begin. One function is read at a time, from its
 * first instruction on.
 */
#ifndef VINCI_CORE_SIM_STEPS_H
#define VINCI_CORE_SIM_STEPS_H

#include "core/sim/schedule.h"

struct steps;

/* For functions of one chip; NULL: out of memory. */
struct steps *steps_create(struct arena *arena, const struct vinci_soc *soc);
/* The next instruction; false: one that takes no time. */
bool steps_next(struct steps *steps, const struct inst *inst, struct function_step *step);
/* The next instruction is the first of a function. */
void steps_end(struct steps *steps);

#endif
