/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of `vinci group run` has found, for its table and its files. */
#ifndef VINCI_CLI_GROUP_OUTCOME_H
#define VINCI_CLI_GROUP_OUTCOME_H

#include "cli/group/group.h"
#include "devices/exchange/profiler.h"
#include "devices/results/loads.h"
#include "devices/results/memory.h"

struct group_outcome {
  const struct job *job;
  struct group_result result;
  struct job_profile profile;
  struct job_loads loads;
  struct job_levels levels;
  bool keeps_moves;                /* for --profiler */
  const struct job_energy *energy; /* NULL: nobody has asked */
  const vinci_soc *soc;            /* with energy */
  struct proven_list *levers;      /* NULL: nobody has asked */
  bool short_of_memory;
};

/* The table of ranks, and what was asked for besides. */
void group_outcome_print(const struct group_outcome *outcome);
/* What was simulated for the rank of --detail, the longest in all uses first. */
VINCI_MUST_CHECK enum vinci_status group_kernels_print(struct job *job, struct vinci_diag *diag);
/* Files of a result folder; those that the job does not have are removed. */
VINCI_MUST_CHECK enum vinci_status
group_outcome_write(const char *folder, struct group_outcome *outcome, struct vinci_diag *diag);

#endif
