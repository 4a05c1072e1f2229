/* SPDX-License-Identifier: Apache-2.0 */
/* vinci run --ops: simulates the operators of a list and writes a summary of them. */
#ifndef VINCI_CLI_OPS_RUN_H
#define VINCI_CLI_OPS_RUN_H

#include "cli/support/options.h"

struct run_ops {
  const char *list;   /* CSV file, '-' for standard input */
  const char *output; /* folder for op_summary.csv */
  const char *soc;    /* for rows that name none; may be NULL */
  const char *data;
  const struct text_list *sets;
  uint64_t jobs; /* processes at a time, 0 for one */
  uint64_t max_cycles;
  uint64_t timeout_minutes; /* of the whole list */
  enum vinci_memory memory;
  enum vinci_network network;
  bool l2_given; /* else by operator */
  enum vinci_l2 l2_start;
  bool quiet;
};

/* Returns the exit code. A run that was ended goes on where it was when it is given again. */
int run_ops(const struct run_ops *options);

#endif
