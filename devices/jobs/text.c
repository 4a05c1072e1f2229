/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs as text, read and run in one call. */
#include "devices/flow/text.h"

#include "devices/jobs/kernels.h"
#include "devices/jobs/turns.h"

enum vinci_status group_run_text(const char *path, const char *text, size_t length,
                                 group_find_system *find_system, void *context,
                                 const struct group_text_turns *turns, struct arena *arena,
                                 uint32_t *ranks, struct group_result *out,
                                 struct vinci_diag *diag) {
  static const struct group_text_turns none;
  struct job job;
  enum vinci_status status = job_read(path, text, length, &job, diag);
  if (status != VINCI_OK)
    return status;
  if (!turns)
    turns = &none;
  struct job_kernel_options options = {.memory = VINCI_MEMORY_FLAT, .detail = JOB_NO_RANK};
  if (turns->timed)
    options = *turns->timed;
  status = find_system(context, job.system, job.job.ranks, &job.job.system,
                       job.kernels ? &options.soc : NULL, diag);
  if (status == VINCI_OK && job.kernels)
    status = job_time(&job, &options, diag);
  for (size_t i = 0; status == VINCI_OK && i < turns->algorithm_count; i++)
    status = job_turn_algorithm(&job, turns->algorithms[i], diag);
  if (status == VINCI_OK && turns->bucket_bytes > 0)
    (void)job_turn_buckets(&job, turns->bucket_bytes);
  if (status == VINCI_OK)
    status = group_run(&job.job, NULL, arena, out, diag);
  if (status == VINCI_OK && turns->levers)
    status = job_levers_find(&job, out->end_ps, turns->levers, diag);
  *ranks = job.job.ranks;
  job_free(&job);
  return status;
}
