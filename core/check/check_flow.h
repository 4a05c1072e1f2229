/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How "unwritten" travels. A load of L0A takes rows along that nobody has written, mad sums them
 * up, and only where a result leaves the cube is anything wrong: rows beyond m that are not stored
 * do no harm. So marks of unwritten bytes go through these instructions as values do: buffers of
 * marks are filled from the shadows, the instruction works on them (registry_marks), and what
 * comes out marked is written but hollow. Nothing of that happens while all is written.
 */
#ifndef VINCI_CORE_CHECK_CHECK_FLOW_H
#define VINCI_CORE_CHECK_CHECK_FLOW_H

#include "core/check/check_history.h"

/* Whether an instruction passes on what is unwritten. */
bool check_flow_passes(const struct check_run *run, const struct machine_step *step);
/* After the reads have been looked at, and before the writes take effect: works out the marks.
 * False when there are none. */
bool check_flow_begin(const struct visit *visit, const struct target *targets, unsigned count);
/* After the writes: makes marked bytes hollow. */
void check_flow_end(struct visit *visit, const struct target *targets, unsigned count);
void check_flow_free(struct check_run *run);

#endif
