/* SPDX-License-Identifier: Apache-2.0 */
/* vinci run --counters. */
#ifndef VINCI_CLI_RUN_COUNTERS_H
#define VINCI_CLI_RUN_COUNTERS_H

/* Prints what a run counts; returns the exit code. */
int run_print_counters(void);

#endif
