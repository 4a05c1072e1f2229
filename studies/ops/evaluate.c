/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluations: threads share the loaded chip, and each thread writes the answers to its questions.
 */
#include <string.h>

#include "core/base/diag.h"
#include "core/base/threads.h"
#include "core/isa/program.h"
#include "core/result/result.h"
#include "core/vinci_evaluate.h"
#include "networks/workload/workload.h"

enum { JOBS_MAX = 256 };

struct batch {
  const vinci_soc *soc;
  struct vinci_evaluation *list;
  struct vinci_run_options run;
};

static void answer_question(void *context, size_t index) {
  const struct batch *batch = context;
  struct vinci_evaluation *one = &batch->list[index];
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  one->status = vinci_compile(batch->soc, one->op, one->args, one->arg_count, &trace, &diag);
  if (one->status == VINCI_OK)
    one->status = vinci_run(batch->soc, trace, &batch->run, &result, &diag);
  bool known = one->status == VINCI_OK;
  one->total_cycles = known ? result->total_cycles : 0;
  one->duration_ps = known ? result->total_ps : 0;
  one->program_digest = known ? trace->digest : 0;
  snprintf(one->text, sizeof one->text, "%.*s", (int)sizeof one->text - 1, known ? "" : diag.text);
  vinci_result_free(result);
  vinci_trace_free(trace);
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
  struct batch batch = {
      .soc = soc,
      .list = list,
      .run = {.struct_size = sizeof batch.run,
              .max_cycles = options->max_cycles,
              .memory = options->memory,
              .network = options->network,
              .l2_start = options->l2_start,
              .code_found_ppm = options->code_found_ppm},
  };
  threads_run(count, workload_jobs(options->jobs, JOBS_MAX), answer_question, &batch);
  return VINCI_OK;
}
