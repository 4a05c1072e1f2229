/* SPDX-License-Identifier: Apache-2.0 */
/* Who executes a trace whose instructions come from a source, one thread at a time. */
#ifndef VINCI_CORE_ISA_TAKEN_H
#define VINCI_CORE_ISA_TAKEN_H

#include "core/isa/program.h"

/*
 * Takes the right to execute such a trace: compiled code has signal handlers, and the source has
 * its place in what was recorded. Waits for another thread that has it; VINCI_E_USAGE when this
 * thread has. Other traces need no right.
 */
VINCI_MUST_CHECK enum vinci_status trace_take(const struct vinci_trace *trace,
                                              struct vinci_diag *diag);
void trace_give_back(const struct vinci_trace *trace);

#endif
