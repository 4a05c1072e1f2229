/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tiling that is searched once and used several times. The search takes most of the time of a
 * compilation: who estimates a kernel and compiles the same kernel later keeps the choice.
 */
#ifndef VINCI_LOWER_PLAN_CHOICE_H
#define VINCI_LOWER_PLAN_CHOICE_H

#include "lower/kernel/lower.h"

struct lower_choice {
  struct lower_cost cost;
  struct lower_value *value; /* of the operator's tiling keys, in their order */
};

/* Fills out, whose values live in the arena. VINCI_E_USAGE: unknown operator, wrong arguments, or
 * no legal tiling. */
VINCI_MUST_CHECK enum vinci_status lower_choose_tiling(const struct vinci_soc *soc, const char *op,
                                                       const char *const *args, size_t arg_count,
                                                       struct arena *arena,
                                                       struct lower_choice *out,
                                                       struct vinci_diag *diag);
/* vinci_compile() with the choice of lower_choose_tiling() for the same chip, operator and
 * arguments. */
VINCI_MUST_CHECK enum vinci_status lower_compile(const struct vinci_soc *soc, const char *op,
                                                 const char *const *args, size_t arg_count,
                                                 const struct lower_choice *choice,
                                                 struct vinci_trace **out, struct vinci_diag *diag);

/* A request for the operator of a name; VINCI_E_USAGE, with the nearest, when there is none. */
VINCI_MUST_CHECK enum vinci_status lower_start(struct lower_job *job, const struct vinci_soc *soc,
                                               const char *op, struct arena *arena,
                                               struct vinci_diag *diag);
/* Digest of the program for the tiling in job->value, which cost() has found legal: what is written
 * beside the request; 0 when it cannot be written. */
uint64_t lower_program_digest(const struct lower_job *job);
/* The tiling in job->value with the cost in job->cost; text holds its args. */
void lower_fill_tiling(const struct lower_job *job, char *text, size_t size,
                       struct vinci_tiling *tiling);

/* All arguments of a request but those of the tiling that are chosen, in the order of the keys:
 * "m=509 k=331 n=1031 dtype=fp16 ...". VINCI_E_USAGE as of vinci_compile(). */
VINCI_MUST_CHECK enum vinci_status lower_problem_text(const struct vinci_soc *soc, const char *op,
                                                      const char *const *args, size_t arg_count,
                                                      char *text, size_t size,
                                                      struct vinci_diag *diag);

#endif
