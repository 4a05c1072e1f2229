/* SPDX-License-Identifier: Apache-2.0 */
/* vinci diff: what is printed of a comparison. */
#ifndef VINCI_CLI_DIFF_PRINT_H
#define VINCI_CLI_DIFF_PRINT_H

#include "core/base/sheet.h"
#include "core/vinci_diff.h"

/* For people: of the counters those that differ, unless all are wanted; of a list at most `rows`
 * operators, 0 for all. */
void diff_print_text(const vinci_diff *diff, bool all, uint64_t rows);
/* Of jobs: classes of ranks, then at most `rows` collectives (job.c). */
void diff_print_job(const vinci_diff *diff, bool all, uint64_t rows);
/* "+12.0 %" in text; "-" of nothing to something, which has no per cent. */
const char *diff_percent_text(int64_t change, uint64_t whole, char *text, size_t size);
/* The first four cells of a row of times: A, B and change in us, then `percent`. */
void diff_print_change(const struct vinci_diff_row *row, const char *percent, struct sheet *sheet);
/* All rows of all tables, a row a line. */
void diff_print_csv(const vinci_diff *diff);
void diff_print_json(const vinci_diff *diff);

#endif
