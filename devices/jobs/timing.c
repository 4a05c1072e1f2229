/* SPDX-License-Identifier: Apache-2.0 */
/* An operator or a network of a job, simulated alone. */
#include "devices/jobs/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/chip/soc.h"
#include "core/result/result_energy.h"
#include "networks/workload/network.h"

enum { WORDS_MAX = 64 };

static bool may_go_on(const struct job_timing *timing) {
  const struct job_kernel_options *options = timing->options;
  return !options->progress ||
         options->progress(options->progress_context, timing->done, timing->all);
}

bool job_goes_on(struct job_timing *timing) {
  if (may_go_on(timing))
    return true;
  (void)diag_error(timing->diag, VINCI_E_LIMIT, "interrupted before the job ran");
  return false;
}

/* A network tells of its nodes, the caller hears of operators and networks. */
static bool on_node(void *context, size_t done, size_t all) {
  (void)done, (void)all;
  return may_go_on(context);
}

/* Takes the next word off a text, which goes on with the word behind; NULL: out of memory. */
static const char *take_word(struct arena *arena, const char **text) {
  size_t length = strcspn(*text, " ");
  const char *word = arena_strndup(arena, *text, length);
  *text += length;
  *text += strspn(*text, " ");
  return word;
}

/* The operator and its arguments as words of the arena. */
static enum vinci_status split(struct job *job, const char *text, const char *words[WORDS_MAX],
                               size_t *count, struct vinci_diag *diag) {
  text += strspn(text, " ");
  for (*count = 0; *text; ++*count) {
    if (*count == WORDS_MAX)
      return diag_error(diag, VINCI_E_INPUT, "an operator has at most %d words", WORDS_MAX);
    if (!(words[*count] = take_word(&job->arena, &text)))
      return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  return *count > 0 ? VINCI_OK : diag_error(diag, VINCI_E_INPUT, "op= has no operator");
}

bool job_take_result(struct arena *arena, const struct vinci_result *result, const char *program,
                     struct job_kernel_time *out) {
  *out = (struct job_kernel_time){.duration_ps = result->total_ps,
                                  .hbm_bytes = hbm_bytes(&result->hbm),
                                  .launches = result->kernel_count,
                                  .bound = bound_name(result_bound(result)),
                                  .program = arena_strdup(arena, program)};
  for (uint32_t i = 0; i < result->core_count; i++)
    out->blocks += result->cores[i].blocks_run;
  struct energy_counts work = {0};
  if (result->soc->energy) {
    energy_count_work(result, &work);
    out->energy = energy_total(result->soc->energy, &work);
  }
  return out->program != NULL;
}

/* ---- by the engine of lists: kernels of a library -------------------------------------------- */

static enum vinci_memory memory_of(const struct job_kernel_options *options, enum job_model model) {
  return model == JOB_MODEL_DETAIL ? VINCI_MEMORY_CYCLE : options->memory;
}

struct order job_order(const struct job_kernel_options *options, enum job_model model) {
  return (struct order){.soc = options->soc,
                        .memory = memory_of(options, model),
                        .sequence = options->sequence,
                        .l2_start = VINCI_L2_EMPTY,
                        .library = options->library,
                        .data = options->data};
}

bool job_order_row(struct arena *arena, const char *op, struct order_row *out) {
  op += strspn(op, " ");
  *out = (struct order_row){.op = take_word(arena, &op)};
  out->args = arena_strdup(arena, op);
  return out->op && out->args;
}

struct alone {
  struct arena *arena;
  struct job_kernel_time *out;
  struct vinci_diag *diag;
};

static bool take_answer(void *context, size_t row, const struct order_answer *answer) {
  const struct alone *alone = context;
  (void)row;
  if (answer->status != VINCI_OK) {
    (void)diag_error(alone->diag, answer->status, "%s", answer->text);
    if (*answer->hint)
      diag_hint(alone->diag, "%s", answer->hint);
  } else if (!job_take_result(alone->arena, answer->result, answer->program, alone->out)) {
    (void)diag_error(alone->diag, VINCI_E_NOMEM, "out of memory");
  }
  return true;
}

/* Errors that are none of the row's go straight to the caller. */
static enum vinci_status time_by_engine(const struct job_timing *timing,
                                        const struct job_kernel *kernel, enum job_model model,
                                        struct job_kernel_time *out, struct vinci_diag *diag) {
  struct alone alone = {&timing->job->arena, out, diag};
  struct order order = job_order(timing->options, model);
  struct order_row row;
  if (!job_order_row(&timing->job->arena, kernel->op, &row))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  order.sequence = false;
  order.rows = &row;
  order.count = 1;
  order.answer = take_answer;
  order.context = &alone;
  enum vinci_status status = timing->options->engine(&order, timing->diag);
  return status == VINCI_OK ? diag->status : status;
}

/* ---- operators ------------------------------------------------------------------------------- */

static enum vinci_status lower_and_run(struct job_timing *timing, const struct job_kernel *kernel,
                                       enum job_model model, struct job_kernel_time *out,
                                       struct vinci_diag *diag) {
  struct vinci_run_options options = {.struct_size = sizeof options,
                                      .memory = memory_of(timing->options, model)};
  const char *words[WORDS_MAX];
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  size_t count;
  enum vinci_status status = split(timing->job, kernel->op, words, &count, diag);
  if (status == VINCI_OK)
    status = vinci_compile(timing->options->soc, words[0], words + 1, count - 1, &trace, diag);
  if (status == VINCI_OK)
    status = vinci_run(timing->options->soc, trace, &options, &result, diag);
  if (status == VINCI_OK && !job_take_result(&timing->job->arena, result, "lowering", out))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  vinci_result_free(result);
  vinci_trace_free(trace);
  return status;
}

/* What vinci cannot lower a library may have. */
static enum vinci_status time_operator(struct job_timing *timing, const struct job_kernel *kernel,
                                       enum job_model model, struct job_kernel_time *out,
                                       struct vinci_diag *diag) {
  const struct job_kernel_options *options = timing->options;
  const char *set = getenv("VINCI_LIBRARY");
  if (options->engine && options->library)
    return time_by_engine(timing, kernel, model, out, diag);
  enum vinci_status status = lower_and_run(timing, kernel, model, out, diag);
  if (status != VINCI_E_USAGE || !options->engine || !set || !*set)
    return status;
  *diag = (struct vinci_diag){0};
  return time_by_engine(timing, kernel, model, out, diag);
}

static bool add_node(void *context, const struct vinci_net_node *node) {
  struct job_timing *timing = context;
  energy_join(&timing->energy,
              (struct vinci_energy){node->energy_pj, node->energy_low_pj, node->energy_high_pj});
  return true;
}

static enum vinci_status time_network(struct job_timing *timing, const struct job_kernel *kernel,
                                      enum job_model model, struct job_kernel_time *out,
                                      struct vinci_diag *diag) {
  struct workload workload = {.net = kernel->net};
  struct vinci_run_options models = {.struct_size = sizeof models,
                                     .memory = memory_of(timing->options, model)};
  struct network_watch watch = {.progress = on_node, .context = timing, .visit = add_node};
  struct vinci_net_result result;
  timing->energy = (struct vinci_energy){0};
  enum vinci_status status =
      network_run(&workload, timing->options->soc, &models, &watch, &result, NULL, diag);
  if (status == VINCI_OK)
    *out = (struct job_kernel_time){.duration_ps = result.end_ps,
                                    .hbm_bytes = result.hbm_bytes,
                                    .launches = (uint32_t)result.launches,
                                    .bound = result.bound,
                                    .program = "",
                                    .energy = timing->energy};
  return status;
}

enum vinci_status job_fail(struct job_timing *timing, unsigned long line, enum vinci_status status,
                           const char *text, const char *hint) {
  struct diag_position place = {timing->job->path, line, 1};
  (void)diag_error_at(timing->diag, status, place, "%s", text);
  if (*hint)
    diag_hint(timing->diag, "%s", hint);
  return status;
}

/* What fails is told at the line of the job; messages of files of their own stay as they are. */
enum vinci_status job_time_kernel(struct job_timing *timing, const struct job_kernel *kernel,
                                  enum job_model model, struct job_kernel_time *out) {
  struct vinci_diag problem = {0};
  if (!job_goes_on(timing))
    return VINCI_E_LIMIT;
  enum vinci_status status = kernel->net ? time_network(timing, kernel, model, out, &problem)
                                         : time_operator(timing, kernel, model, out, &problem);
  timing->done++;
  out->shortest_ps = out->longest_ps = out->duration_ps;
  if (status == VINCI_OK)
    return VINCI_OK;
  if (timing->diag->status != VINCI_OK)
    return status;
  if (kernel->net && *problem.path) {
    *timing->diag = problem;
    return status;
  }
  char text[sizeof problem.text + 256];
  snprintf(text, sizeof text, "%.200s%s%s", kernel->net ? kernel->net : "", kernel->net ? ": " : "",
           problem.text);
  return job_fail(timing, kernel->line, status, text, problem.hint);
}
