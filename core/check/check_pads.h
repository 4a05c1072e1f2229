/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that an unaligned copy leaves without a value: check_pads.c. */
#ifndef VINCI_CORE_CHECK_CHECK_PADS_H
#define VINCI_CORE_CHECK_CHECK_PADS_H

#include "core/check/check_history.h"

/* An instruction reads such lanes. */
void check_pads_read(struct visit *visit, const struct shadow_cell *cell, uint64_t start,
                     uint64_t end);
/* After the writes of an instruction: which of its results are such lanes. */
void check_pads_written(struct visit *visit, const struct target *targets, unsigned count);
void check_pads_free(struct check_run *run);

#endif
