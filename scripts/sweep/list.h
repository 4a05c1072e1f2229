/* SPDX-License-Identifier: Apache-2.0 */
/* Studies of a list of operators: each point of a space of chips runs all of them. */
#ifndef VINCI_SCRIPTS_SWEEP_LIST_H
#define VINCI_SCRIPTS_SWEEP_LIST_H

#include "scripts/sweep/sweep.h"

struct sweep_list {
  const char *list; /* as of vinci_ops_run(); a column weight says how often each operator counts */
  const char *folder;
  unsigned jobs; /* operators that run at a time; 0: the number of processors */
};

struct sweep_list_result {
  size_t points, operators; /* operators of the list */
  size_t failed;            /* points of which an operator has no time */
  size_t best;              /* the point with the least time of those that have all */
  uint64_t best_ps;         /* 0: there is none */
};

/*
 * Runs the points one after the other, each in FOLDER/points/N, where a run that was ended goes on.
 * FOLDER/results.csv has a row for each point: its parameters, status, operators, failed, and
 * total_us, the sum of the times by their weights. FOLDER/operators.csv has a row for each operator
 * of each point. Parameters are numbers of the chip, soc, memory, network and l2.
 */
VINCI_MUST_CHECK enum vinci_status sweep_list_run(const struct sweep_list *list,
                                                  const struct vinci_sweep_options *options,
                                                  struct sweep_list_result *out,
                                                  struct vinci_diag *diag);

#endif
