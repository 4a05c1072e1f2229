/* SPDX-License-Identifier: Apache-2.0 */
/* How work of a job is simulated. */
#ifndef VINCI_DEVICES_JOBS_KERNEL_OPTIONS_H
#define VINCI_DEVICES_JOBS_KERNEL_OPTIONS_H

#include "core/vinci.h"
#include "devices/jobs/job.h"
#include "networks/workload/order.h"

#define JOB_NO_RANK UINT32_MAX

struct job_kernel_options {
  const vinci_soc *soc;     /* of each device */
  enum vinci_memory memory; /* of all ranks but `detail` */
  /* The rank whose work is simulated with single requests in network, L2 and DRAM
   * (VINCI_MEMORY_CYCLE), and with it that of ranks of the same program; JOB_NO_RANK: none. */
  uint32_t detail;
  /* Operators of a program in their order on one chip (sequence.c); false: each alone. */
  bool sequence;
  /* As of struct order: kernels of a user's library. Both need the engine. */
  const char *library, *data;
  order_engine *engine; /* NULL: each operator is lowered, and simulated alone */
  bool (*progress)(void *context, size_t done, size_t all); /* false: VINCI_E_LIMIT; may be NULL */
  void *progress_context;
};

#endif
