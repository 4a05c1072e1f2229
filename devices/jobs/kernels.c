/* SPDX-License-Identifier: Apache-2.0 */
/* Work of a job whose time is simulated. */
#include "devices/jobs/kernels.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/base/arith.h"
#include "core/base/cells.h"
#include "core/base/clock.h"
#include "core/base/decimal.h"
#include "core/chip/soc.h"
#include "devices/jobs/timing.h"

enum { US_DIGITS = 6 };

static const char *const model_names[JOB_MODELS] = {"all", "detail"};

enum job_model job_model_of(const struct job *job, const struct job_kernel_options *options,
                            const struct job_use *use) {
  uint32_t detail = options->detail;
  return detail != JOB_NO_RANK && job->job.programs[detail] == use->program ? JOB_MODEL_DETAIL
                                                                            : JOB_MODEL_ALL;
}

/* Thousandths of a duration in which the memory would move the bytes. */
static uint32_t memory_milli(const struct job_kernel_time *time, uint64_t bytes_per_second) {
  uint128 most = (uint128)time->duration_ps * bytes_per_second;
  uint128 share = (uint128)time->hbm_bytes * PS_PER_SECOND * MILLI;
  return most == 0 ? 0 : (uint32_t)(share / most < MILLI ? share / most : MILLI);
}

/* Each kernel once by each model that somebody uses. */
static enum vinci_status time_each_alone(struct job_timing *timing) {
  struct job *job = timing->job;
  enum vinci_status status = VINCI_OK;
  for (struct job_kernel *kernel = job->kernels; kernel; kernel = kernel->next)
    for (unsigned model = 0; model < JOB_MODELS; model++)
      timing->all += kernel->time[model].uses > 0;
  for (struct job_kernel *kernel = job->kernels; kernel; kernel = kernel->next)
    for (unsigned model = 0; model < JOB_MODELS && status == VINCI_OK; model++) {
      struct job_kernel_time *time = &kernel->time[model];
      uint32_t uses = time->uses;
      if (uses > 0)
        status = job_time_kernel(timing, kernel, (enum job_model)model, time);
      time->uses = uses;
    }
  for (struct job_use *use = job->uses; use; use = use->next)
    use->took = &use->kernel->time[job_model_of(job, timing->options, use)];
  return status;
}

enum vinci_status job_time(struct job *job, const struct job_kernel_options *options,
                           struct vinci_diag *diag) {
  struct vinci_diag own = {0};
  struct job_timing timing = {.job = job, .options = options, .diag = &own};
  for (struct job_use *use = job->uses; use; use = use->next)
    use->kernel->time[job_model_of(job, options, use)].uses++;
  enum vinci_status status =
      options->sequence && options->engine ? job_time_sequence(&timing) : time_each_alone(&timing);
  if (status != VINCI_OK && diag)
    *diag = own;
  for (struct job_use *use = job->uses; use && status == VINCI_OK; use = use->next) {
    use->op->duration_ps = use->took->duration_ps;
    if (!use->memory_given)
      use->op->memory_milli = memory_milli(use->took, soc_hbm_bytes_per_second(options->soc));
  }
  return status;
}

void job_put_kernels(const struct job *job, FILE *out) {
  fputs("kernel,model,uses,duration_us,launches,blocks,bound,hbm_bytes,program,shortest_us,"
        "longest_us\n",
        out);
  for (const struct job_kernel *kernel = job->kernels; kernel; kernel = kernel->next)
    for (unsigned model = 0; model < JOB_MODELS; model++) {
      const struct job_kernel_time *time = &kernel->time[model];
      if (time->uses == 0)
        continue;
      cell_write_quoted(out, kernel->net ? kernel->net : kernel->op);
      fprintf(out, ",%s,%" PRIu32 ",%s,%" PRIu32 ",%" PRIu32 ",%s,%" PRIu64 ",", model_names[model],
              time->uses, decimal_exact(time->duration_ps, US_DIGITS).text, time->launches,
              time->blocks, time->bound, time->hbm_bytes);
      cell_write(out, time->program);
      fprintf(out, ",%s", decimal_exact(time->shortest_ps, US_DIGITS).text);
      fprintf(out, ",%s\n", decimal_exact(time->longest_ps, US_DIGITS).text);
    }
}
