/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates from the program that a tiling would become. */
#ifndef VINCI_LOWER_PLAN_PROGRAM_H
#define VINCI_LOWER_PLAN_PROGRAM_H

#include "lower/kernel/lower.h"

/*
 * Fills job->cost for the tiling in job->value, which has to be legal: records the kernels that
 * emit() writes, runs the core that has most to do, and lets all cores share device memory.
 * Kernels of one kind of core. False, with a reason, where that is not possible.
 */
bool program_cost(struct lower_job *job);
/* The same of a part of the kernels, which `write` emits. */
typedef void (*program_writer)(const struct lower_job *job, struct emit *emit);
bool program_cost_of(struct lower_job *job, program_writer write);

#endif
