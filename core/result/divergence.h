/* SPDX-License-Identifier: Apache-2.0 */
/* The first instruction that two runs execute at different times. */
#ifndef VINCI_CORE_RESULT_DIVERGENCE_H
#define VINCI_CORE_RESULT_DIVERGENCE_H

#include "core/result/result.h"

/* The events live as long as the results; all is NULL when nothing differs. */
struct divergence {
  const struct core_result *core;   /* on which; of a, or of b when only b has the instruction */
  const struct result_event *a, *b; /* NULL: that run has no such instruction */
};

/*
 * Compares the recorded instructions of each pipe in their order, core by core; cores are the same
 * when their names are. Of the pairs that differ in instruction, start or end, the one that starts
 * first is found. Waits differ when they start at other times. Needs the event store (max_events of
 * the run options).
 */
VINCI_MUST_CHECK enum vinci_status divergence_find(const struct vinci_result *a,
                                                   const struct vinci_result *b,
                                                   struct divergence *out, struct vinci_diag *diag);
/* "copy_gm_to_ubuf on MTE2, line 24, cycles 894 to 1206"; "nothing" for NULL. */
void divergence_event_text(const struct result_event *event, char *text, size_t size);

#endif
