/* SPDX-License-Identifier: Apache-2.0 */
/* vinci run --ops: simulates the operators of a list and writes a summary of them. */
#ifndef VINCI_CLI_RUN_LIST_H
#define VINCI_CLI_RUN_LIST_H

#include "cli/support/command.h"
#include "core/vinci_study.h"

struct run_list {
  const struct cli_command *command;
  const char *list;   /* CSV file, '-' for standard input */
  const char *output; /* folder for op_summary.csv; NULL: the table is printed */
  bool csv;           /* the table goes to standard output as it is in the folder */
  bool keeps;         /* set by run_list(): the folder stays */
  struct vinci_ops_options options;
  uint64_t timeout_minutes; /* of the whole list */
  bool quiet;
};

/* Returns the exit code. A run that was ended goes on where it was when it is given again. */
int run_list(struct run_list *list);

#endif
