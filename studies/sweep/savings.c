/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Savings: what the report of a run says of numbers of the chip is measured, by running the same
 * program again with one number turned. An estimate from the critical path cannot know where
 * another limit takes over: the rate of a path, the second longest chain, contention for memory.
 * Runs take milliseconds, so the promise is kept by construction.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/chip/soc.h"
#include "studies/sweep/measure.h"

enum { VALUE_MAX = 64, ASSIGNMENT_MAX = 160 };

/* The chip with a number turned against its cause; NULL without an error: it cannot have that. */
static enum vinci_status turn_number(const struct measuring *measuring,
                                     const struct critical_turn *turn, vinci_soc **out) {
  const struct soc_param *param = soc_param(turn->param);
  int64_t value = soc_get(measuring->soc, turn->param);
  bool halve = cause_row(turn->cause)->turn == CAUSE_HALVE;
  char text[VALUE_MAX], assignment[ASSIGNMENT_MAX];
  struct vinci_diag refused = {0};
  soc_format_value(halve ? value / 2 : value * 2, param->kind, text, sizeof text);
  snprintf(assignment, sizeof assignment, "%s=%s", param->key, text);
  *out = soc_copy(measuring->soc);
  if (!*out)
    return diag_error(measuring->diag, VINCI_E_NOMEM, "out of memory");
  if (vinci_soc_set(*out, assignment, &refused) == VINCI_OK &&
      soc_validate(*out, &refused) == VINCI_OK)
    return VINCI_OK;
  vinci_soc_free(*out);
  *out = NULL;
  return VINCI_OK;
}

enum vinci_status measure_run_as(struct measuring *measuring, const vinci_soc *soc,
                                 const vinci_trace *trace, struct vinci_run_options options,
                                 uint64_t *cycles) {
  struct vinci_diag diag = {0};
  vinci_result *result = NULL;
  options.max_events = 0;
  enum vinci_status status = vinci_run(soc, trace, &options, &result, &diag);
  *cycles = status == VINCI_OK ? result->total_cycles : 0;
  measuring->steps += result ? result->engine_events : 0;
  vinci_result_free(result);
  if (status == VINCI_E_LIMIT || status == VINCI_E_NOMEM || status == VINCI_E_INTERNAL)
    return diag_error(measuring->diag, status, "%s", diag.text);
  return VINCI_OK;
}

enum vinci_status measure_run(struct measuring *measuring, const vinci_soc *soc,
                              const vinci_trace *trace, bool second_buffers, uint64_t *cycles) {
  struct vinci_run_options options = measuring->options->run;
  options.second_buffers |= second_buffers;
  return measure_run_as(measuring, soc, trace, options, cycles);
}

bool measure_has_steps_left(const struct measuring *measuring) {
  const struct vinci_savings_options *options = measuring->options;
  uint64_t most = measuring->steps == 0 ? max_u64(options->max_steps, options->max_first_steps)
                                        : options->max_steps;
  return options->max_steps == 0 || measuring->steps + measuring->result->engine_events <= most;
}

/* The same program: numbers of causes are all of timing, and none decides what a program may do. */
static enum vinci_status run_same(struct measuring *measuring, const vinci_soc *soc,
                                  uint64_t *cycles) {
  struct vinci_trace trace = *measuring->trace;
  trace.soc_digest = soc_digest(soc);
  return measure_run(measuring, soc, &trace, false, cycles);
}

/* What the operator takes when it is lowered for the changed chip. */
static enum vinci_status run_anew(struct measuring *measuring, const vinci_soc *soc,
                                  uint64_t *cycles) {
  const struct vinci_savings_options *options = measuring->options;
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  if (vinci_compile(soc, options->op, options->args, options->arg_count, &trace, &diag) != VINCI_OK)
    return VINCI_OK;
  enum vinci_status status = measure_run(measuring, soc, trace, false, cycles);
  vinci_trace_free(trace);
  return status;
}

static struct result_saving *find(vinci_result *result, size_t param) {
  for (uint32_t i = 0; i < result->saving_count; i++)
    if (result->savings[i].param == param)
      return &result->savings[i];
  return NULL;
}

static enum vinci_status measure_turn(struct measuring *measuring,
                                      const struct critical_turn *turn) {
  vinci_result *result = measuring->result;
  struct result_saving saving = {.param = turn->param};
  vinci_soc *soc;
  enum vinci_status status = turn_number(measuring, turn, &soc);
  if (status == VINCI_OK && soc)
    status = run_same(measuring, soc, &saving.cycles);
  vinci_soc_free(soc);
  if (status == VINCI_OK)
    result->savings[result->saving_count++] = saving;
  return status;
}

/* The most promising number first, then by the cycles of their causes. */
static enum vinci_status measure_turns(struct measuring *measuring,
                                       const struct critical_path *path) {
  vinci_result *result = measuring->result;
  struct critical_turn turns[CRITICAL_TURNS_MAX];
  enum vinci_status status = VINCI_OK;
  size_t count = critical_turns(result, path, turns);
  const struct critical_turn *first = critical_best(turns, count);
  for (size_t i = 0; first && status == VINCI_OK && i <= count && measure_has_steps_left(measuring);
       i++) {
    const struct critical_turn *turn = i == 0 ? first : &turns[i - 1];
    if (critical_matters(result, turns, count, turn->param) && !find(result, turn->param))
      status = measure_turn(measuring, turn);
  }
  return status;
}

/* Where pipes take turns: as though each buffer were there twice. */
static enum vinci_status measure_second_buffers(struct measuring *measuring,
                                                const struct critical_path *path) {
  const struct vinci_savings_options *options = measuring->options;
  vinci_result *result = measuring->result;
  uint64_t estimated;
  if (!critical_takes_turns(result, path, &estimated) ||
      (options->max_steps > 0 &&
       result->engine_events > max_u64(options->max_steps, options->max_first_steps)))
    return VINCI_OK;
  return measure_run(measuring, measuring->soc, measuring->trace, true,
                     &result->second_buffer_cycles);
}

enum vinci_status measure_keep(struct measuring *measuring, struct lever *lever, uint64_t cycles) {
  vinci_result *result = measuring->result;
  if (cycles == 0 || cycles >= result->total_cycles || result->lever_count == LEVERS_MAX)
    return VINCI_OK;
  if (!result->levers)
    result->levers = ARENA_ARRAY(&result->arena, struct lever, LEVERS_MAX);
  if (!result->levers)
    return diag_error(measuring->diag, VINCI_E_NOMEM, "out of memory");
  lever->saved_cycles = result->total_cycles - cycles;
  lever->measured = true;
  uint32_t at = result->lever_count++;
  for (; at > 0 && result->levers[at - 1].saved_cycles < lever->saved_cycles; at--)
    result->levers[at] = result->levers[at - 1];
  result->levers[at] = *lever;
  return VINCI_OK;
}

/* Of the best number alone: lowering takes time too. */
static enum vinci_status measure_anew(struct measuring *measuring,
                                      const struct critical_path *path) {
  struct critical_turn turns[CRITICAL_TURNS_MAX];
  const struct critical_turn *best =
      critical_best(turns, critical_turns(measuring->result, path, turns));
  vinci_soc *soc;
  if (!measuring->options->op || !best || !best->measured || !measure_has_steps_left(measuring))
    return VINCI_OK;
  enum vinci_status status = turn_number(measuring, best, &soc);
  if (status == VINCI_OK && soc)
    status = run_anew(measuring, soc, &find(measuring->result, best->param)->new_cycles);
  vinci_soc_free(soc);
  return status;
}

enum vinci_status vinci_savings_measure(vinci_result *result, const vinci_soc *soc,
                                        const vinci_trace *trace,
                                        const struct vinci_savings_options *options,
                                        struct vinci_diag *diag) {
  struct measuring measuring = {
      .soc = soc, .trace = trace, .options = options, .result = result, .diag = diag};
  if (options->struct_size != sizeof *options)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the savings options is %zu, not %zu",
                      options->struct_size, sizeof *options);
  if (result->partial)
    return VINCI_OK;
  struct critical_path *path = calloc(1, sizeof *path);
  if (!path)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = critical_find(result, path, diag);
  if (status == VINCI_OK)
    status = measure_second_buffers(&measuring, path);
  if (status == VINCI_OK)
    status = measure_turns(&measuring, path);
  if (status == VINCI_OK)
    status = measure_anew(&measuring, path);
  if (status == VINCI_OK)
    status = measure_states(&measuring);
  if (status == VINCI_OK)
    status = measure_rows(&measuring);
  if (status == VINCI_OK)
    status = measure_tilings(&measuring);
  free(path);
  /* An end that was asked for leaves estimates, and a result that is whole. */
  return status == VINCI_E_LIMIT ? VINCI_OK : status;
}
