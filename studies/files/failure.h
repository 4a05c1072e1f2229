/* SPDX-License-Identifier: Apache-2.0 */
/* What tables and baselines keep of a run that failed. */
#ifndef VINCI_STUDIES_FILES_FAILURE_H
#define VINCI_STUDIES_FILES_FAILURE_H

#include "core/vinci.h"

enum { FAILURE_BYTES = 1400 };

/* The error in one line: "FILE:LINE: what is wrong (how to mend that)". A text that has no room is
 * cut off, a hint that has no room is left out. */
void failure_text(const struct vinci_diag *diag, char *out, size_t size);

#endif
