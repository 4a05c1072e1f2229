/* SPDX-License-Identifier: Apache-2.0 */
/* A study as Slurm jobs. */
#ifndef VINCI_CLI_SWEEP_SUBMIT_H
#define VINCI_CLI_SWEEP_SUBMIT_H

#include "cli/support/options.h"
#include "core/vinci_study.h"

struct sweep_submit {
  const struct vinci_sweep_options *options;
  const struct text_list *arguments;
  const struct text_list *sbatch; /* further options of sbatch */
  const char *folder;
  unsigned shards;
  unsigned at_once; /* tasks of the array that run together; 0: as Slurm likes */
  unsigned jobs;    /* workers of a task */
  bool wait;        /* until the collector has ended */
  bool quiet;
};

/* Writes DIR/slurm/ and submits canary, shards and collector. */
VINCI_MUST_CHECK enum vinci_status sweep_submit_slurm(const struct sweep_submit *submit,
                                                      struct vinci_diag *diag);

#endif
