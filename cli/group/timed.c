/* SPDX-License-Identifier: Apache-2.0 */
/* The time of work that a job describes by operators and networks, with progress. */
#include "cli/group/group.h"
#include "cli/support/monitor.h"
#include "devices/jobs/kernels.h"
#include "networks/workload/workload.h"
#include "studies/ops/order.h"

static bool watch(void *context, size_t done, size_t all) {
  return monitor_items(context, &(struct monitor_count){.done_permille = 1000 * done, .all = all});
}

/* What says how work is simulated needs work that is. */
static enum vinci_status check(const struct group_work_settings *settings, const struct job *job,
                               struct vinci_diag *diag) {
  const char *option = settings->detail     ? "detail"
                       : settings->sequence ? "sequence"
                       : settings->library  ? "library"
                                            : NULL;
  if (settings->detail && settings->detail - 1 >= job->job.ranks) {
    (void)diag_error(diag, VINCI_E_USAGE, "--detail=%u: the job has %u ranks",
                     (unsigned)(settings->detail - 1), job->job.ranks);
    diag_hint(diag, "ranks are 0 to %u", job->job.ranks - 1);
    return VINCI_E_USAGE;
  }
  if (option && !job->kernels)
    return diag_error(diag, VINCI_E_USAGE,
                      "--%s: no row of work has op= or net=, so there is nothing to simulate",
                      option);
  return VINCI_OK;
}

enum vinci_status group_time_work(const struct group_description *group,
                                  const struct group_work_settings *settings, const char *data,
                                  struct job *job, struct job_kernel_options *out,
                                  struct vinci_diag *diag) {
  struct vinci_run_options models = {.struct_size = sizeof models};
  struct workload_models names = {.memory = settings->memory ? settings->memory : "flat"};
  struct monitor monitor;
  vinci_soc *soc = NULL;
  uint32_t detail = settings->detail ? (uint32_t)(settings->detail - 1) : JOB_NO_RANK;
  enum vinci_status status = workload_choose(&names, &models, diag);
  if (status == VINCI_OK)
    status = check(settings, job, diag);
  if (status != VINCI_OK || (!job->kernels && !settings->chip_sets))
    return status;
  status = cli_load_soc(group->chip, data, settings->chip_sets, &soc, diag);
  monitor_catch_interrupt();
  monitor_start(&monitor, job->path, 0, settings->quiet);
  struct job_kernel_options options = {.soc = soc,
                                       .memory = models.memory,
                                       .detail = detail,
                                       .sequence = settings->sequence,
                                       .library = settings->library,
                                       .data = data,
                                       .engine = ops_order_run,
                                       .progress = watch,
                                       .progress_context = &monitor};
  if (status == VINCI_OK)
    status = job_time(job, &options, diag);
  monitor_clear(&monitor);
  if (out && status == VINCI_OK) {
    *out = options;
    return status;
  }
  vinci_soc_free(soc);
  return status;
}
