/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector functions: their register instructions come one by one, in the order of the code. What one
 * takes (schedule.h) depends on its instructions, their registers and their banks of UB, not on
 * other bits of addresses: loops call the same few functions over and over, on all cores, so a
 * function that was met before is not scheduled again.
 */
#ifndef VINCI_CORE_SIM_FUNCTION_H
#define VINCI_CORE_SIM_FUNCTION_H

#include "core/sim/schedule.h"

struct vector_functions;

/* Of one chip; one function is added at a time. NULL: out of memory. */
struct vector_functions *functions_create(struct arena *arena, const struct vinci_soc *soc);
/* The next register instruction. */
void functions_add(struct vector_functions *functions, const struct inst *inst);
/* The cost of what has come since the last one, for vf_call; the next function begins. */
void functions_end(struct vector_functions *functions, struct inst_cost *cost);

#endif
