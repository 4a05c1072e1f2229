/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluations: a pool of processes shares the loaded chip and leaves the answers in memory that all
 * of them see. A process that dies costs the question it had.
 */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/diag.h"
#include "core/base/pool.h"
#include "core/isa/program.h"
#include "core/result/result.h"
#include "core/vinci_evaluate.h"
#include "networks/workload/workload.h"

enum { JOBS_MAX = 256 };

struct answer {
  atomic_bool given;
  enum vinci_status status;
  char text[sizeof((struct vinci_evaluation *)NULL)->text];
  uint64_t total_cycles;
  uint64_t duration_ps;
  uint64_t program_digest;
};

struct batch {
  const vinci_soc *soc;
  struct vinci_evaluation *list;
  size_t count;
  struct vinci_run_options run;
  struct answer *answers; /* of all processes */
};

static void answer_question(const struct batch *batch, size_t index) {
  const struct vinci_evaluation *question = &batch->list[index];
  struct answer *answer = &batch->answers[index];
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  answer->status =
      vinci_compile(batch->soc, question->op, question->args, question->arg_count, &trace, &diag);
  if (answer->status == VINCI_OK)
    answer->status = vinci_run(batch->soc, trace, &batch->run, &result, &diag);
  if (answer->status == VINCI_OK) {
    answer->total_cycles = result->total_cycles;
    answer->duration_ps = result->total_ps;
    answer->program_digest = trace->digest;
  } else {
    snprintf(answer->text, sizeof answer->text, "%.*s", (int)sizeof answer->text - 1, diag.text);
  }
  answer->given = true;
  vinci_result_free(result);
  vinci_trace_free(trace);
}

static void work(void *context, struct pool_worker *worker) {
  for (size_t index; (index = pool_next(worker)) != POOL_NONE;)
    answer_question(context, index);
}

/* One job needs no process. */
static enum vinci_status answer_all(struct batch *batch, unsigned jobs, struct vinci_diag *diag) {
  if (jobs > 1) {
    struct pool pool = {.count = batch->count, .jobs = jobs, .context = batch, .work = work};
    return pool_run(&pool, diag);
  }
  for (size_t i = 0; i < batch->count; i++)
    answer_question(batch, i);
  return VINCI_OK;
}

static void take_answers(const struct batch *batch) {
  for (size_t i = 0; i < batch->count; i++) {
    const struct answer *answer = &batch->answers[i];
    struct vinci_evaluation *out = &batch->list[i];
    out->status = answer->given ? answer->status : VINCI_E_INTERNAL;
    snprintf(out->text, sizeof out->text, "%s", answer->given ? answer->text : "its process died");
    out->total_cycles = answer->given ? answer->total_cycles : 0;
    out->duration_ps = answer->given ? answer->duration_ps : 0;
    out->program_digest = answer->given ? answer->program_digest : 0;
  }
}

enum vinci_status vinci_evaluate(const vinci_soc *soc, struct vinci_evaluation *list, size_t count,
                                 const struct vinci_evaluate_options *options,
                                 struct vinci_diag *diag) {
  static const struct vinci_evaluate_options defaults = {.struct_size = sizeof defaults};
  options = options ? options : &defaults;
  if (options->struct_size != sizeof *options)
    return diag_error(diag, VINCI_E_USAGE,
                      "struct_size of the options of evaluations is %zu, not %zu",
                      options->struct_size, sizeof *options);
  if (options->jobs > JOBS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "jobs is at most %d, not %u", JOBS_MAX, options->jobs);
  if (count == 0) /* nothing is asked, and no process is needed for that */
    return VINCI_OK;
  struct batch batch = {
      .soc = soc,
      .list = list,
      .count = count,
      .run = {.struct_size = sizeof batch.run,
              .max_cycles = options->max_cycles,
              .memory = options->memory,
              .network = options->network,
              .l2_start = options->l2_start,
              .code_found_ppm = options->code_found_ppm},
      .answers = pool_memory(count * sizeof *batch.answers),
  };
  if (!batch.answers)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = answer_all(&batch, workload_jobs(options->jobs, JOBS_MAX), diag);
  if (status == VINCI_OK)
    take_answers(&batch);
  munmap(batch.answers, count * sizeof *batch.answers);
  return status;
}
