/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: what each number of the chip does to the duration of a run, as by `vinci sensitivity`. The
 * shortest use:
 *
 *     const char *what[] = {"matmul", "m=512", "k=512", "n=512"};
 *     struct vinci_sensitivity_options options = {.struct_size = sizeof options,
 *                                                 .overrides = {.soc = "Ascend910B4"}};
 *     vinci_sensitivity *result = NULL;
 *     if (vinci_sensitivity_run(what, 4, &options, &result, &diag) != VINCI_OK)
 *       vinci_diag_print(&diag, stderr);
 *     vinci_sensitivity_free(result);
 *
 * Runs are in processes of their own, as those of a sweep (vinci_study.h), but those of
 * vinci_savings_measure().
 */
#ifndef VINCI_SENSITIVITY_H
#define VINCI_SENSITIVITY_H

#include "vinci_study.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vinci_sensitivity vinci_sensitivity;

struct vinci_sensitivity_options {
  size_t struct_size; /* sizeof(struct vinci_sensitivity_options) */
  struct vinci_overrides overrides;
  /* Numbers of the chip, "l2.size"; none: those that the causes on the critical path name. */
  const char *const *params;
  size_t param_count;
  /* Where results are kept, as of vinci_sweep_run(); NULL: in a folder that is removed. */
  const char *folder;
  unsigned jobs; /* points that run at a time, at most 256; 0: the number of processors */
};

struct vinci_sensitivity_row {
  const char *key;
  const char *value, *half, *twice;   /* as vinci_soc_set() takes them */
  uint64_t half_cycles, twice_cycles; /* of the run; 0: the chip cannot have the number */
  uint64_t effect_cycles;             /* the larger of both changes */
  /* Of an operator, which is lowered for each chip: with the tiling of the run as it is. Of a trace
   * the same as half_cycles and twice_cycles. */
  uint64_t half_kept_cycles, twice_kept_cycles;
};

/* Runs a trace, or an operator with its arguments "key=value", as it is and with each number halved
 * and doubled. Rows come by effect, the largest first. The same for any number of jobs. The caller
 * frees the result. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_sensitivity_run(const char *const *arguments, size_t argument_count,
                      const struct vinci_sensitivity_options *options, vinci_sensitivity **out,
                      struct vinci_diag *diag);
VINCI_API size_t vinci_sensitivity_count(const vinci_sensitivity *result);
VINCI_API const struct vinci_sensitivity_row *vinci_sensitivity_row(const vinci_sensitivity *result,
                                                                    size_t index);
/* Cycles of the run as it is. */
VINCI_API uint64_t vinci_sensitivity_cycles(const vinci_sensitivity *result);
VINCI_API void vinci_sensitivity_free(vinci_sensitivity *result);

/* ---- what a report promises ---------------------------------------------------------------- */

struct vinci_savings_options {
  size_t struct_size;           /* sizeof(struct vinci_savings_options) */
  struct vinci_run_options run; /* those that gave the result; no instructions are kept */
  /* The operator that the trace was lowered from, with its arguments "key=value": the best number
   * is then also measured with the operator lowered for the changed chip. NULL: none. */
  const char *op;
  const char *const *args;
  size_t arg_count;
  /* No run begins when all of them together would take more steps (events of the simulation, about
   * half a microsecond of the host each); 0: no limit. The first run may take max_first_steps
   * alone, when those are more. */
  uint64_t max_steps;
  uint64_t max_first_steps;
};

/*
 * Measures what the report of a result says of numbers of the chip: runs the trace again with each
 * number turned that causes with half a per cent of the run or more name. Without this, and beyond
 * max_steps, reports give estimates and say so. The result must be of this chip, trace and options,
 * with max_events, and whole: a partial result stays as it is. A run that progress ends is left
 * out.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_savings_measure(vinci_result *result, const vinci_soc *soc, const vinci_trace *trace,
                      const struct vinci_savings_options *options, struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
