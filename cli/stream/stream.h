/* SPDX-License-Identifier: Apache-2.0 */
/* The models that vinci stream drives; each is a verb of its own with its options. */
#ifndef VINCI_CLI_STREAM_STREAM_H
#define VINCI_CLI_STREAM_STREAM_H

#include <stdio.h>

#include "cli/support/cli.h"

/* Rows of CSV, a head first: on a terminal kept for a table, unless CSV is asked for; elsewhere
 * printed as they come. They go to what stream_rows_begin() returns, also `out`. */
struct stream_rows {
  FILE *out, *kept;
  char *text;
  size_t size;
};
FILE *stream_rows_begin(struct stream_rows *rows, bool csv);
/* `important`: columns with blanks between, which a narrow terminal does not leave out. */
void stream_rows_end(struct stream_rows *rows, const char *important);

extern const struct cli_verb cli_stream_memory;
extern const struct cli_verb cli_stream_network;

#endif
