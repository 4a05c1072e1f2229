/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a list of operators, for people. */
#ifndef VINCI_CLI_RUN_TABLE_H
#define VINCI_CLI_RUN_TABLE_H

#include "core/vinci.h"

/* Prints op_summary.csv of a folder: a line for each operator unless there are many, then the total
 * and the slowest. */
VINCI_MUST_CHECK enum vinci_status list_print_table(const char *folder, struct vinci_diag *diag);

#endif
