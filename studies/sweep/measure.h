/* SPDX-License-Identifier: Apache-2.0 */
/* What the measurements of a report share: the program of a run, run again with one thing changed.
 */
#ifndef VINCI_STUDIES_SWEEP_MEASURE_H
#define VINCI_STUDIES_SWEEP_MEASURE_H

#include "core/result/levers.h"
#include "core/vinci_sensitivity.h"

struct measuring {
  const vinci_soc *soc;
  const vinci_trace *trace;
  const struct vinci_savings_options *options;
  vinci_result *result;
  uint64_t steps; /* of the simulation, so far */
  struct vinci_diag *diag;
};

/* Whether another run of about this length is within the limits. */
bool measure_has_steps_left(const struct measuring *measuring);
/* Cycles of a trace on a chip. A run that fails there has 0, which is no error. */
VINCI_MUST_CHECK enum vinci_status measure_run(struct measuring *measuring, const vinci_soc *soc,
                                               const vinci_trace *trace, bool second_buffers,
                                               uint64_t *cycles);

/* The same with other options of the run. */
VINCI_MUST_CHECK enum vinci_status measure_run_as(struct measuring *measuring, const vinci_soc *soc,
                                                  const vinci_trace *trace,
                                                  struct vinci_run_options options,
                                                  uint64_t *cycles);

/* Keeps a lever in the result when the cycles are fewer; lever->saved_cycles is filled. */
VINCI_MUST_CHECK enum vinci_status measure_keep(struct measuring *measuring, struct lever *lever,
                                                uint64_t cycles);
/* What the state at the start costs: instruction caches without the code, L2 without the inputs. */
VINCI_MUST_CHECK enum vinci_status measure_states(struct measuring *measuring);
/* Barriers, flags and copies of the trace: what the run takes without their rows. */
VINCI_MUST_CHECK enum vinci_status measure_rows(struct measuring *measuring);
/* Other tilings, core counts and layouts of the operator that the trace was lowered from. */
VINCI_MUST_CHECK enum vinci_status measure_tilings(struct measuring *measuring);

#endif
