/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluations: threads share the loaded chip, and each thread writes the answers to its questions.
 * Sequences, and kernels of a library, have one thread (order.h).
 */
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/threads.h"
#include "core/isa/program.h"
#include "core/result/result.h"
#include "core/vinci_evaluate.h"
#include "networks/workload/workload.h"
#include "studies/ops/order.h"

enum { JOBS_MAX = 256 };

struct batch {
  const vinci_soc *soc;
  struct vinci_evaluation *list;
  struct vinci_run_options run;
};

/* result NULL: nothing was simulated; text says why, unless the time was given. */
static void put_answer(struct vinci_evaluation *one, enum vinci_status status, const char *text,
                       const struct vinci_result *result) {
  one->status = status;
  one->total_cycles = result ? result->total_cycles : 0;
  one->duration_ps = result ? result->total_ps : status == VINCI_OK ? one->given_ps : 0;
  snprintf(one->text, sizeof one->text, "%.*s", (int)sizeof one->text - 1, text);
}

static void answer_question(void *context, size_t index) {
  const struct batch *batch = context;
  struct vinci_evaluation *one = &batch->list[index];
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  enum vinci_status status =
      vinci_compile(batch->soc, one->op, one->args, one->arg_count, &trace, &diag);
  if (status == VINCI_OK)
    status = vinci_run(batch->soc, trace, &batch->run, &result, &diag);
  bool known = status == VINCI_OK;
  put_answer(one, status, known ? "" : diag.text, known ? result : NULL);
  one->program_digest = known ? trace->digest : 0;
  snprintf(one->program, sizeof one->program, "%s", known ? "lowering" : "");
  vinci_result_free(result);
  vinci_trace_free(trace);
}

/* ---- in their order ------------------------------------------------------------------------- */

struct ordered {
  struct vinci_evaluation *list;
  struct arena arena;
};

static bool take_answer(void *context, size_t row, const struct order_answer *answer) {
  struct vinci_evaluation *one = &((struct ordered *)context)->list[row];
  put_answer(one, answer->status, answer->text, answer->result);
  one->program_digest = answer->result ? answer->program_digest : 0;
  snprintf(one->program, sizeof one->program, "%s", answer->result ? answer->program : "");
  return true;
}

/* The arguments of a question as one text of the arena; NULL: out of memory. */
static const char *join(struct arena *arena, const struct vinci_evaluation *one) {
  size_t size = 1, used = 0;
  for (size_t i = 0; i < one->arg_count; i++)
    size += strlen(one->args[i]) + 1;
  char *text = arena_alloc(arena, size, 1);
  if (!text)
    return NULL;
  *text = '\0';
  for (size_t i = 0; i < one->arg_count; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", one->args[i]);
  return text;
}

static enum vinci_status evaluate_in_order(const vinci_soc *soc, struct vinci_evaluation *list,
                                           size_t count,
                                           const struct vinci_evaluate_options *options,
                                           struct vinci_diag *diag) {
  struct ordered ordered = {.list = list};
  struct order_row *rows = ARENA_ARRAY(&ordered.arena, struct order_row, count + 1);
  bool good = rows != NULL;
  for (size_t i = 0; good && i < count; i++) {
    rows[i] = (struct order_row){
        .op = list[i].op, .args = join(&ordered.arena, &list[i]), .given_ps = list[i].given_ps};
    good = rows[i].args != NULL;
    put_answer(&list[i], VINCI_OK, "", NULL);
    list[i].program_digest = 0;
    *list[i].program = '\0';
  }
  const struct order order = {.soc = soc,
                              .memory = options->memory,
                              .network = options->network,
                              .max_cycles = options->max_cycles,
                              .sequence = options->sequence,
                              .l2_start = options->l2_start,
                              .code_found_ppm = options->code_found_ppm,
                              .library = options->library,
                              .rows = rows,
                              .count = count,
                              .answer = take_answer,
                              .context = &ordered};
  enum vinci_status status =
      good ? ops_order_run(&order, diag) : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  arena_free(&ordered.arena);
  return status;
}

/* ---- the call ------------------------------------------------------------------------------- */

static enum vinci_status check(const struct vinci_evaluation *list, size_t count,
                               const struct vinci_evaluate_options *options,
                               struct vinci_diag *diag) {
  if (options->struct_size != sizeof *options)
    return diag_error(diag, VINCI_E_USAGE,
                      "struct_size of the options of evaluations is %zu, not %zu",
                      options->struct_size, sizeof *options);
  if (options->jobs > JOBS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "jobs is at most %d, not %u", JOBS_MAX, options->jobs);
  if (options->sequence && options->l2_start != VINCI_L2_EMPTY)
    return diag_error(diag, VINCI_E_USAGE,
                      "a sequence takes no state of L2: L2 holds what the operators before have "
                      "left");
  for (size_t i = 0; i < count && !options->sequence; i++)
    if (!list[i].op || list[i].given_ps > 0)
      return diag_error(diag, VINCI_E_USAGE, "question %zu is %s, which only a sequence has", i + 1,
                        list[i].op ? "an operator whose time is given" : "communication");
  return VINCI_OK;
}

enum vinci_status vinci_evaluate(const vinci_soc *soc, struct vinci_evaluation *list, size_t count,
                                 const struct vinci_evaluate_options *options,
                                 struct vinci_diag *diag) {
  static const struct vinci_evaluate_options defaults = {.struct_size = sizeof defaults};
  options = options ? options : &defaults;
  enum vinci_status status = check(list, count, options, diag);
  if (status != VINCI_OK)
    return status;
  if (options->sequence || options->library)
    return evaluate_in_order(soc, list, count, options, diag);
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
