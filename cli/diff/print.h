/* SPDX-License-Identifier: Apache-2.0 */
/* vinci diff: what is printed of a comparison. */
#ifndef VINCI_CLI_DIFF_PRINT_H
#define VINCI_CLI_DIFF_PRINT_H

#include "core/vinci_diff.h"

/* For people: of the counters those that differ, unless all are wanted; of a list at most `rows`
 * operators, 0 for all. */
void diff_print_text(const vinci_diff *diff, bool all, uint64_t rows);
/* All rows of all tables, a row a line. */
void diff_print_csv(const vinci_diff *diff);
void diff_print_json(const vinci_diff *diff);

#endif
