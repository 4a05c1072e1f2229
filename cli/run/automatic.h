/* SPDX-License-Identifier: Apache-2.0 */
/* What fits a run that chooses its memory model by itself. */
#ifndef VINCI_CLI_RUN_AUTOMATIC_H
#define VINCI_CLI_RUN_AUTOMATIC_H

#include "cli/run/savings.h"

/* Tells why not, and returns false. list: NULL for single runs; error_bar_percent 0: none given. */
bool automatic_fits(enum vinci_memory memory, const char *list, uint64_t error_bar_percent,
                    enum savings savings);

#endif
