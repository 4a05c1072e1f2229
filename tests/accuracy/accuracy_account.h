/* SPDX-License-Identifier: Apache-2.0 */
/* The account of time of operators: errors of durations, cores and pipes, and their targets. */
#ifndef VINCI_TESTS_ACCURACY_ACCURACY_ACCOUNT_H
#define VINCI_TESTS_ACCURACY_ACCURACY_ACCOUNT_H

#include "tests/accuracy/accuracy_rows.h"

/* The tables by class and by type of operator. */
void accuracy_account_print(const struct accuracy_rows *rows);
/* The targets, judged with the blocks that are our own choice; beside them the figures with those
 * of the profiles. Returns whether all are met or as known. */
bool accuracy_account_judge(const char *program, const struct accuracy_rows *own,
                            const struct accuracy_rows *profile);
/* The rows of traces/export/report/expected.def as these rows show them; whether the table has
 * them. */
void accuracy_expected_print(const struct accuracy_rows *rows);
bool accuracy_expected_holds(const struct accuracy_rows *rows);
/* By source of the rows: errors, and launch and start fitted on the other sources. */
void accuracy_sources_print(const struct accuracy_rows *rows);

#endif
