/* SPDX-License-Identifier: Apache-2.0 */
/* Why a winner wins: the gate's split of the difference along the critical path. And a bound. */
#include <string.h>

#include "cli/tune/tune.h"
#include "cli/tune/values.h"
#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/isa/program.h"
#include "core/result/result.h"
#include "scripts/gate/gate.h"
#include "traces/lower/emit.h"

enum { WORDS_MAX = 64 };
static const char point_name[] = "tune";

/* Arguments of an operator and those of a schedule. */
struct words {
  char text[VINCI_TUNE_SCHEDULE_BYTES];
  const char *word[WORDS_MAX];
  size_t count;
};

static void put_words(struct words *words, const struct tune_problem *problem,
                      const char *schedule) {
  char *rest = NULL;
  words->count = 0;
  for (size_t i = 0; i < problem->arg_count && words->count < WORDS_MAX; i++)
    words->word[words->count++] = problem->args[i];
  snprintf(words->text, sizeof words->text, "%s", schedule);
  for (char *word = strtok_r(words->text, " ", &rest); word && words->count < WORDS_MAX;
       word = strtok_r(NULL, " ", &rest))
    words->word[words->count++] = word;
}

/* ---- why ------------------------------------------------------------------------------------ */

/* The rows of a gate's point for one schedule. */
static enum vinci_status measure(const struct tune_settings *settings,
                                 const struct tune_problem *problem, const char *schedule,
                                 struct gate_rows *rows, struct vinci_diag *diag) {
  struct words words;
  struct chip_cache chips = {.data = settings->data};
  put_words(&words, problem, schedule);
  struct gate_point point = {
      .name = point_name,
      .spec = {.soc = settings->soc,
               .sets = settings->sets.items,
               .set_count = settings->sets.count,
               .workload = {.op = problem->op, .args = words.word, .arg_count = words.count},
               .models = {settings->memory, settings->network, settings->l2}},
      .options = {.struct_size = sizeof point.options}};
  enum vinci_status status = workload_choose(&point.spec.models, &point.options, diag);
  if (status == VINCI_OK)
    status = gate_measure(&point, &chips, 0, rows, diag);
  gate_rows_sort(rows);
  chip_cache_free(&chips);
  return status;
}

void tune_explain(const struct tune_settings *settings, const struct tune_problem *problem) {
  struct vinci_diag diag = {0};
  struct gate_rows before = {0};
  struct gate_point point = {.name = point_name};
  const struct gate_suite suite = {.points = &point, .count = 1};
  struct gate_run run = {.suite = &suite};
  const struct gate_outcome outcome = {.point = point_name, .verdict = GATE_IMPROVED};
  if (measure(settings, problem, problem->tuned.default_schedule, &before, &diag) == VINCI_OK &&
      measure(settings, problem, problem->tuned.schedule, &run.rows, &diag) == VINCI_OK)
    gate_explain_numbers(&run, &before, &outcome, false, "          ", stdout);
  gate_rows_free(&before);
  gate_rows_free(&run.rows);
}

/* ---- values --------------------------------------------------------------------------------- */

enum vinci_status tune_check_values(const vinci_soc *soc, const struct tune_problem *problem,
                                    struct vinci_diag *diag) {
  const char *const schedules[] = {problem->tuned.default_schedule, problem->tuned.schedule};
  vinci_trace *trace[2] = {NULL, NULL};
  enum vinci_status status = VINCI_OK;
  for (unsigned i = 0; status == VINCI_OK && i < 2; i++) {
    struct words words;
    put_words(&words, problem, schedules[i]);
    status = vinci_compile(soc, problem->op, words.word, words.count, &trace[i], diag);
  }
  if (status == VINCI_OK)
    status = tune_compare_values(soc, trace[0], trace[1], diag);
  vinci_trace_free(trace[0]);
  vinci_trace_free(trace[1]);
  return status;
}

/* ---- what no schedule saves ----------------------------------------------------------------- */

/* Busy cycles of a unit, as if all cores that have the unit shared them evenly. */
static uint64_t even_cycles(const struct vinci_result *result, enum pipe pipe,
                            enum core_kind kind) {
  uint64_t sum = 0;
  unsigned cores = soc_core_count(result->soc, kind);
  for (uint32_t i = 0; i < result->core_count; i++)
    sum += result->cores[i].pipe[pipe].busy_cycles;
  return cores > 0 ? sum / cores : 0;
}

/* Bytes of inputs that have to come from device memory; no more than the run read. */
static uint64_t input_bytes(const struct vinci_trace *trace, const struct vinci_result *result) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < trace->tensor_count; i++)
    if (trace->tensors[i].io == TENSOR_IN || trace->tensors[i].io == TENSOR_INOUT)
      sum += trace->tensors[i].bytes;
  return min_u64(sum, result->hbm.read_bytes);
}

static void find_bound(const struct vinci_trace *trace, const struct vinci_result *result,
                       uint64_t *cycles, const char **what) {
  const struct vinci_soc *soc = result->soc;
  uint64_t hbm = (uint64_t)((uint128)input_bytes(trace, result) * (uint64_t)soc->core_hz /
                            soc_hbm_stream_bytes_per_second(soc));
  uint64_t launch =
      (uint64_t)((uint128)(uint64_t)soc->launch_base_ps * (uint64_t)soc->core_hz / PS_PER_SECOND);
  const struct {
    uint64_t cycles;
    const char *text;
  } parts[] = {
      {hbm, "reading the inputs once from device memory"},
      {even_cycles(result, PIPE_M, emit_cube_core(soc)), "the work of the cube on all cores"},
      {even_cycles(result, PIPE_V, emit_vector_core(soc)),
       "the work of the vector unit on all cores"}};
  size_t most = 0;
  for (size_t i = 1; i < sizeof parts / sizeof *parts; i++)
    if (parts[i].cycles > parts[most].cycles)
      most = i;
  *cycles = launch + parts[most].cycles;
  *what = parts[most].text;
}

enum vinci_status tune_bound(const vinci_soc *soc, const struct vinci_tune_options *options,
                             const struct tune_problem *problem, uint64_t *bound_cycles,
                             const char **what, struct vinci_diag *diag) {
  const struct vinci_run_options run = {.struct_size = sizeof run,
                                        .memory = options->memory,
                                        .network = options->network,
                                        .l2_start = options->l2_start};
  struct words words;
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  put_words(&words, problem, problem->tuned.schedule);
  enum vinci_status status = vinci_compile(soc, problem->op, words.word, words.count, &trace, diag);
  if (status == VINCI_OK)
    status = vinci_run(soc, trace, &run, &result, diag);
  if (status == VINCI_OK)
    find_bound(trace, result, bound_cycles, what);
  vinci_result_free(result);
  vinci_trace_free(trace);
  return status;
}
