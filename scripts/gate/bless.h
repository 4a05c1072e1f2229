/* SPDX-License-Identifier: Apache-2.0 */
/* Making a baseline of what a run gave. */
#ifndef VINCI_SCRIPTS_GATE_BLESS_H
#define VINCI_SCRIPTS_GATE_BLESS_H

#include "scripts/gate/gate.h"

struct gate_bless {
  const struct gate_run *run;
  const struct gate_rows *baseline; /* as it is now, empty when there is none */
  const struct gate_verdicts *verdicts;
  const char *path;
  const char *reason;
  const char *only; /* glob; NULL: all points, and those not in the suite go */
  bool rebase_inputs;
};

/*
 * VINCI_E_INTERNAL when a point has no result, VINCI_E_INPUT when one has another input than
 * the baseline and rebase_inputs is not set. *changed: whether anything was to be written.
 */
VINCI_MUST_CHECK enum vinci_status gate_bless_write(const struct gate_bless *bless, bool *changed,
                                                    struct vinci_diag *diag);

#endif
