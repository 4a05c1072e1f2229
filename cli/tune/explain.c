/* SPDX-License-Identifier: Apache-2.0 */
/* Why a winner wins: the gate's split of the difference along the critical path. And a bound. */
#include <string.h>

#include "cli/tune/cmd_tune.h"
#include "cli/tune/values.h"
#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/isa/program.h"
#include "core/result/result.h"
#include "lower/kernel/emit.h"
#include "studies/gate/gate.h"

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
               .models = {settings->memory, settings->network, settings->l2, NULL}},
      .options = {.struct_size = sizeof point.options}};
  enum vinci_status status = workload_choose(&point.spec.models, &point.options, diag);
  if (status == VINCI_OK)
    status = gate_measure(&point, &chips, NULL, 0, rows, diag);
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

/* Work of all cores together, on units of which each block has `units`. */
struct work {
  const char *text;
  uint64_t cycles;
  uint64_t units;
};

/* What a block takes before its first copy and behind its last one, beside its work. */
struct ends {
  enum core_kind kind;
  uint64_t code_lines, line_cycles, head_cycles; /* of the kernel's rows */
  uint64_t copy_cycles; /* the first copy's start, the last one's and its answer */
};

static uint64_t busy_cycles(const struct vinci_result *result, enum pipe pipe) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < result->core_count; i++)
    sum += result->cores[i].pipe[pipe].busy_cycles;
  return sum;
}

/* Bytes of tensors of a direction. */
static uint64_t tensor_bytes(const struct vinci_trace *trace, enum tensor_io io) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < trace->tensor_count; i++)
    if (trace->tensors[i].io == io || trace->tensors[i].io == TENSOR_INOUT)
      sum += trace->tensors[i].bytes;
  return sum;
}

static struct ends ends_of(const struct vinci_soc *soc, const struct vinci_trace *trace) {
  const struct program_kernel *kernel = &trace->kernels[0];
  struct ends ends = {.kind = kernel->mixed ? emit_cube_core(soc) : emit_vector_core(soc)};
  if (kernel->stream[emit_cube_core(soc)].present)
    ends.kind = emit_cube_core(soc);
  const struct program_stream *stream = &kernel->stream[ends.kind];
  for (uint64_t i = 0; i < stream->row_count; i++) {
    const struct program_row *row = &trace->rows[stream->first_row + i];
    if (row->kind == ROW_LOOP)
      break;
    if (row->kind != ROW_INST || row->expr_mask != 0)
      continue;
    const int64_t *operands = trace->operands + row->first_operand;
    if (row->op == OP_CODE_FETCH) {
      ends.code_lines += soc_code_lines(soc, (uint64_t)operands[CODE_BYTES]);
      ends.line_cycles = (uint64_t)operands[CODE_LINE_CYCLES];
    } else if (row->op == OP_SCALAR)
      ends.head_cycles += (uint64_t)trace->operands[row->first_operand];
  }
  bool cube = ends.kind == emit_cube_core(soc) && ends.kind != emit_vector_core(soc);
  const struct path_cost *in = &soc->path[cube ? PATH_GM_L1 : PATH_GM_UB];
  const struct path_cost *out = &soc->path[cube && !kernel->mixed ? PATH_L0C_GM : PATH_UB_GM];
  ends.copy_cycles =
      (uint64_t)(in->startup_mcycles + out->startup_mcycles + out->acknowledge_mcycles) / MILLI;
  return ends;
}

static uint64_t cycles_of(const struct vinci_soc *soc, uint64_t ps) {
  return (uint64_t)((uint128)ps * (uint64_t)soc->core_hz / PS_PER_SECOND);
}

/*
 * The end of work that is shared out as evenly as the starts of blocks allow: a block that starts
 * earlier does more. `blocks` are launched; those that would start behind the end get nothing.
 */
static uint64_t shared_cycles(const struct vinci_soc *soc, const struct ends *ends, uint64_t blocks,
                              const struct work *work) {
  uint64_t places = soc_core_count(soc, ends->kind), starts = 0, end = UINT64_MAX;
  for (uint64_t i = 0; i < blocks; i++) {
    uint64_t start = cycles_of(soc, soc_dispatch_ps(soc, places, blocks, i));
    if (start >= end)
      break;
    starts += start;
    end = (work->cycles / work->units + starts) / (i + 1);
  }
  return cycles_of(soc, (uint64_t)soc->launch_base_ps) + ends->head_cycles + ends->copy_cycles +
         soc_code_cycles(soc, ends->line_cycles, ends->code_lines, ends->code_lines, blocks) + end;
}

static uint64_t rate_cycles(const struct vinci_soc *soc, enum path path, uint64_t bytes) {
  uint64_t rate = (uint64_t)soc->path[path].mbytes_per_cycle;
  return rate > 0 ? bytes * MILLI / rate : 0;
}

/*
 * For each number of blocks the longest of what these share; of all numbers the least. Device
 * memory is shared by all. Work that a kernel does more than once, as it reads operands of a
 * product, counts once.
 */
static void find_bound(const struct vinci_trace *trace, const struct vinci_result *result,
                       uint64_t *cycles, const char **what) {
  const struct vinci_soc *soc = result->soc;
  const struct ends ends = ends_of(soc, trace);
  bool cube = ends.kind == emit_cube_core(soc) && ends.kind != emit_vector_core(soc);
  uint64_t places = soc_core_count(soc, ends.kind), in_bytes = tensor_bytes(trace, TENSOR_IN);
  uint64_t vectors = max_u64(soc_core_count(soc, emit_vector_core(soc)) / places, 1);
  const struct work works[] = {
      {"the work of the cube", busy_cycles(result, PIPE_M), 1},
      {"the work of the vector unit", busy_cycles(result, PIPE_V), vectors},
      {"reading the inputs once", rate_cycles(soc, cube ? PATH_GM_L1 : PATH_GM_UB, in_bytes),
       cube ? 1 : vectors},
      {"writing the results",
       rate_cycles(soc, cube && !trace->kernels[0].mixed ? PATH_L0C_GM : PATH_UB_GM,
                   tensor_bytes(trace, TENSOR_OUT)),
       trace->kernels[0].mixed ? vectors : 1}};
  *cycles = UINT64_MAX;
  for (uint64_t blocks = 1; blocks <= places; blocks++) {
    uint64_t longest = 0, most = 0;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
      uint64_t end = shared_cycles(soc, &ends, blocks, &works[i]);
      most = end > longest ? i : most;
      longest = max_u64(longest, end);
    }
    if (longest >= *cycles)
      continue;
    *cycles = longest;
    *what = works[most].text;
  }
  uint64_t hbm = (uint64_t)((uint128)min_u64(in_bytes, result->hbm.read_bytes) *
                            (uint64_t)soc->core_hz / soc_hbm_stream_bytes_per_second(soc));
  const struct work alone = {"reading the inputs from device memory", hbm, 1};
  uint64_t end = shared_cycles(soc, &ends, 1, &alone);
  if (end > *cycles) {
    *cycles = end;
    *what = alone.text;
  }
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
