/* SPDX-License-Identifier: Apache-2.0 */
/* Work of a job whose time is simulated. */
#include "devices/jobs/kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/cells.h"
#include "core/base/clock.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/chip/soc.h"
#include "core/result/result_energy.h"
#include "networks/workload/network.h"

enum { WORDS_MAX = 64, US_DIGITS = 6 };

static const char *const model_names[JOB_MODELS] = {"all", "detail"};

struct timing {
  struct job *job;
  const struct job_kernel_options *options;
  size_t done, all;
  struct vinci_energy energy; /* of the nodes of the network that runs */
  struct vinci_diag *diag;
};

static bool go_on(void *context, size_t done, size_t all) {
  struct timing *timing = context;
  const struct job_kernel_options *options = timing->options;
  (void)done;
  (void)all; /* of nodes of a network */
  return !options->progress ||
         options->progress(options->progress_context, timing->done, timing->all);
}

/* The operator and its arguments as words of the arena. */
static enum vinci_status split(struct job *job, const char *text, const char *words[WORDS_MAX],
                               size_t *count, struct vinci_diag *diag) {
  for (*count = 0; *(text += strspn(text, " ")); ++*count) {
    size_t length = strcspn(text, " ");
    if (*count == WORDS_MAX)
      return diag_error(diag, VINCI_E_INPUT, "an operator has at most %d words", WORDS_MAX);
    if (!(words[*count] = arena_strndup(&job->arena, text, length)))
      return diag_error(diag, VINCI_E_NOMEM, "out of memory");
    text += length;
  }
  return *count > 0 ? VINCI_OK : diag_error(diag, VINCI_E_INPUT, "op= has no operator");
}

static enum vinci_status time_operator(struct timing *timing, const struct job_kernel *kernel,
                                       enum vinci_memory memory, struct job_kernel_time *out,
                                       struct vinci_diag *diag) {
  struct vinci_run_options options = {.struct_size = sizeof options, .memory = memory};
  const char *words[WORDS_MAX];
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  size_t count;
  enum vinci_status status = split(timing->job, kernel->op, words, &count, diag);
  if (status == VINCI_OK)
    status = vinci_compile(timing->options->soc, words[0], words + 1, count - 1, &trace, diag);
  if (status == VINCI_OK)
    status = vinci_run(timing->options->soc, trace, &options, &result, diag);
  if (status == VINCI_OK) {
    *out = (struct job_kernel_time){.duration_ps = result->total_ps,
                                    .hbm_bytes = hbm_bytes(&result->hbm),
                                    .launches = result->kernel_count,
                                    .bound = bound_name(result_bound(result))};
    for (uint32_t i = 0; i < result->core_count; i++)
      out->blocks += result->cores[i].blocks_run;
    struct energy_counts work = {0};
    if (result->soc->energy) {
      energy_count_work(result, &work);
      out->energy = energy_total(result->soc->energy, &work);
    }
  }
  vinci_result_free(result);
  vinci_trace_free(trace);
  return status;
}

static bool add_node(void *context, const struct vinci_net_node *node) {
  struct timing *timing = context;
  energy_join(&timing->energy,
              (struct vinci_energy){node->energy_pj, node->energy_low_pj, node->energy_high_pj});
  return true;
}

static enum vinci_status time_network(struct timing *timing, const struct job_kernel *kernel,
                                      enum vinci_memory memory, struct job_kernel_time *out,
                                      struct vinci_diag *diag) {
  struct workload workload = {.net = kernel->net};
  struct vinci_run_options models = {.struct_size = sizeof models, .memory = memory};
  struct network_watch watch = {.progress = go_on, .context = timing, .visit = add_node};
  struct vinci_net_result result;
  timing->energy = (struct vinci_energy){0};
  enum vinci_status status =
      network_run(&workload, timing->options->soc, &models, &watch, &result, NULL, diag);
  if (status == VINCI_OK)
    *out = (struct job_kernel_time){.duration_ps = result.end_ps,
                                    .hbm_bytes = result.hbm_bytes,
                                    .launches = (uint32_t)result.launches,
                                    .bound = result.bound,
                                    .energy = timing->energy};
  return status;
}

/* What fails is told at the line of the job; messages of files of their own stay as they are. */
static enum vinci_status time_kernel(struct timing *timing, struct job_kernel *kernel,
                                     enum vinci_memory memory, struct job_kernel_time *out) {
  struct vinci_diag problem = {0};
  if (!go_on(timing, 0, 0))
    return diag_error(timing->diag, VINCI_E_LIMIT, "interrupted before the job ran");
  enum vinci_status status = kernel->net ? time_network(timing, kernel, memory, out, &problem)
                                         : time_operator(timing, kernel, memory, out, &problem);
  timing->done++;
  if (status == VINCI_OK)
    return VINCI_OK;
  if (kernel->net && *problem.path) {
    *timing->diag = problem;
    return status;
  }
  struct diag_position place = {timing->job->path, kernel->line, 1};
  (void)diag_error_at(timing->diag, status, place, "%s%s%s", kernel->net ? kernel->net : "",
                      kernel->net ? ": " : "", problem.text);
  if (*problem.hint)
    diag_hint(timing->diag, "%s", problem.hint);
  return status;
}

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

enum vinci_status job_time(struct job *job, const struct job_kernel_options *options,
                           struct vinci_diag *diag) {
  struct timing timing = {.job = job, .options = options, .diag = diag};
  enum vinci_status status = VINCI_OK;
  for (struct job_use *use = job->uses; use; use = use->next)
    timing.all += use->kernel->time[job_model_of(job, options, use)].uses++ == 0;
  for (struct job_kernel *kernel = job->kernels; kernel; kernel = kernel->next)
    for (unsigned model = 0; model < JOB_MODELS && status == VINCI_OK; model++) {
      struct job_kernel_time *time = &kernel->time[model];
      uint32_t uses = time->uses;
      if (uses == 0)
        continue;
      status = time_kernel(&timing, kernel,
                           model == JOB_MODEL_DETAIL ? VINCI_MEMORY_CYCLE : options->memory, time);
      time->uses = uses;
    }
  for (struct job_use *use = job->uses; use && status == VINCI_OK; use = use->next) {
    const struct job_kernel_time *time = &use->kernel->time[job_model_of(job, options, use)];
    use->op->duration_ps = time->duration_ps;
    if (!use->memory_given)
      use->op->memory_milli = memory_milli(time, soc_hbm_bytes_per_second(options->soc));
  }
  return status;
}

void job_put_kernels(const struct job *job, FILE *out) {
  fputs("kernel,model,uses,duration_us,launches,blocks,bound,hbm_bytes\n", out);
  for (const struct job_kernel *kernel = job->kernels; kernel; kernel = kernel->next)
    for (unsigned model = 0; model < JOB_MODELS; model++) {
      const struct job_kernel_time *time = &kernel->time[model];
      if (time->uses == 0)
        continue;
      cell_write_quoted(out, kernel->net ? kernel->net : kernel->op);
      fprintf(out, ",%s,%" PRIu32 ",%s,%" PRIu32 ",%" PRIu32 ",%s,%" PRIu64 "\n",
              model_names[model], time->uses, decimal_exact(time->duration_ps, US_DIGITS).text,
              time->launches, time->blocks, time->bound, time->hbm_bytes);
    }
}
