/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs as text, read and run in one call. */
#include "devices/flow/text.h"

#include "devices/jobs/kernels.h"

enum vinci_status group_run_text(const char *path, const char *text, size_t length,
                                 group_find_system *find_system, void *context, struct arena *arena,
                                 uint32_t *ranks, struct group_result *out,
                                 struct vinci_diag *diag) {
  struct job job;
  enum vinci_status status = job_read(path, text, length, &job, diag);
  if (status != VINCI_OK)
    return status;
  struct job_kernel_options options = {.memory = VINCI_MEMORY_FLAT, .detail = JOB_NO_RANK};
  status = find_system(context, job.system, job.job.ranks, &job.job.system,
                       job.kernels ? &options.soc : NULL, diag);
  if (status == VINCI_OK && job.kernels)
    status = job_time(&job, &options, diag);
  if (status == VINCI_OK)
    status = group_run(&job.job, NULL, arena, out, diag);
  *ranks = job.job.ranks;
  job_free(&job);
  return status;
}
