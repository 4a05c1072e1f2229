/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy of a job: the work that was simulated, bytes to other devices, and what each device
 * takes all the time, while it waits too. Left out: what collectives read and write in device
 * memory, and work of given times.
 */
#ifndef VINCI_DEVICES_RESULTS_ENERGY_H
#define VINCI_DEVICES_RESULTS_ENERGY_H

#include "core/result/result_energy.h"
#include "devices/jobs/kernels.h"

struct job_energy {
  struct vinci_energy work, links, time; /* of all devices; the sum is the whole */
  struct vinci_energy *rank_work;        /* by rank, of the job's arena */
  struct vinci_energy rank_time;         /* of each device */
  uint64_t given;                        /* operations of work that were not simulated, all ranks */
};

/* After the run. False when memory is short. The chip keeps an account, and has timed the work. */
bool job_energy_sum(struct job *job, const struct job_kernel_options *options,
                    const struct group_result *result, struct job_energy *out);
/* The table of the report. */
void job_energy_print(const struct job *job, const vinci_soc *soc,
                      const struct group_result *result, const struct job_energy *energy,
                      FILE *out);
/* The last key of summary.json, with the comma before. */
void job_energy_put(const struct job *job, const struct group_result *result,
                    const struct job_energy *energy, FILE *out);

#endif
