/* SPDX-License-Identifier: Apache-2.0 */
/* One row of a list of operators: its chip, its operator, its run. */
#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/isa/program.h"
#include "studies/ops/ops.h"

enum vinci_status ops_take_soc(struct ops_worker *worker, const char *name,
                               struct vinci_diag *diag) {
  if (worker->request->soc)
    worker->soc = worker->request->soc;
  if (worker->request->soc || (worker->soc && strcmp(worker->soc_name, name) == 0))
    return VINCI_OK;
  ops_drop_soc(worker);
  snprintf(worker->soc_name, sizeof worker->soc_name, "%s", name);
  struct run_spec spec = worker->request->spec;
  vinci_soc *soc = NULL;
  spec.soc = *name ? name : NULL;
  enum vinci_status status = spec_load_soc(&spec, worker->request->data, &soc, diag);
  worker->soc = soc;
  return status;
}

void ops_drop_soc(struct ops_worker *worker) {
  if (worker->soc != worker->request->soc)
    vinci_soc_free((vinci_soc *)(uintptr_t)worker->soc);
  worker->soc = NULL;
}

const char *ops_soc_of(const struct ops_request *request, const struct call_row *row) {
  if (*row->cell[CALL_SOC])
    return row->cell[CALL_SOC];
  return request->spec.soc ? request->spec.soc : "";
}

static void keep_args(const struct call_request *request, struct ops_outcome *outcome) {
  size_t used = (size_t)snprintf(outcome->args, sizeof outcome->args, "%s", request->op->name);
  for (size_t i = 0; i < request->arg_count && used < sizeof outcome->args; i++)
    used += (size_t)snprintf(outcome->args + used, sizeof outcome->args - used, " %s",
                             request->args[i]);
}

/* The line of progress is the first process's business. */
static bool goes_on(void *context, uint64_t cycles, unsigned done_permille) {
  const struct ops_worker *worker = context;
  (void)cycles;
  *worker->done_permille = done_permille;
  return !*worker->stop;
}

/* Runs a program and keeps what the row is told of the result. */
static enum vinci_status run_program(struct ops_worker *worker, const struct call_row *row,
                                     const struct vinci_trace *trace,
                                     const struct vinci_run_options *options,
                                     struct ops_outcome *outcome, struct vinci_diag *diag) {
  vinci_result *result = NULL;
  enum vinci_status status =
      worker->sequence ? ops_sequence_run(worker->sequence, row, trace, options, &result, diag)
                       : vinci_run(worker->soc, trace, options, &result, diag);
  *worker->done_permille = 0;
  if (status == VINCI_OK) {
    calls_times(result, row, &outcome->times);
    outcome->l2_start = result->l2_start;
    outcome->l2_owed_bytes = result->l2_start_owed_bytes;
    outcome->program_digest = trace->digest;
  }
  if (worker->result) {
    vinci_result_free(*worker->result);
    *worker->result = result;
  } else {
    vinci_result_free(result);
  }
  return status;
}

/* The same with results of other runs: what is there is taken, what is not is kept. */
static enum vinci_status run_or_take(struct ops_worker *worker, const struct call_row *row,
                                     const struct vinci_trace *trace,
                                     const struct vinci_run_options *options,
                                     struct ops_outcome *outcome, struct vinci_diag *diag) {
  const struct ops_request *asked = worker->request;
  if (!asked->results)
    return run_program(worker, row, trace, options, outcome, diag);
  struct ops_outcome kept = {0};
  uint64_t digest = ops_result_digest(worker->soc, trace, options, row);
  bool found = ops_result_find(asked->results, digest, asked->exact ? &kept : outcome);
  enum vinci_status status = VINCI_OK;
  if (!found || asked->exact)
    status = run_program(worker, row, trace, options, outcome, diag);
  if (status != VINCI_OK)
    return status;
  outcome->stored = found;
  if (!found)
    return ops_result_keep(asked->results, digest, outcome, diag);
  if (asked->exact && !ops_result_equals(&kept, outcome))
    return diag_error(
        diag, VINCI_E_MISMATCH, "%s has another result, %016llx.result, with a duration of %llu ps",
        asked->results, (unsigned long long)digest, (unsigned long long)kept.times.duration_ps);
  return VINCI_OK;
}

/* Tiles may not give as many blocks as the profile says. */
static enum vinci_status compile(struct ops_worker *worker, struct call_request *request,
                                 struct ops_outcome *outcome, vinci_trace **trace,
                                 struct vinci_diag *diag) {
  struct vinci_diag own = {0};
  keep_args(request, outcome);
  enum vinci_status status =
      vinci_compile(worker->soc, request->op->name, request->args, request->arg_count, trace, &own);
  if (status != VINCI_E_USAGE || !calls_forget_launch(request)) {
    *diag = own;
    return status;
  }
  keep_args(request, outcome);
  return vinci_compile(worker->soc, request->op->name, request->args, request->arg_count, trace,
                       diag);
}

/* From the miss rates of a run that finds no code and of the profile to what was there; false when
 * the row has no rate, or nothing was there. */
static bool options_of_profile(const struct call_row *row, const struct ops_outcome *cold,
                               struct vinci_run_options *options) {
  enum { PPM = 1000000 };
  uint64_t measured = 0, simulated = 0;
  bool known = false;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    known |= row->code_measured[kind];
    measured = max_u64(measured, row->code_miss_ppm[kind]);
    simulated = max_u64(simulated, cold->times.code_miss_ppm[kind]);
  }
  if (!known || measured >= simulated)
    return false;
  options->code_found_ppm = (uint32_t)(PPM - measured * PPM / simulated);
  return true;
}

/* The states that a row may meet: what is read lies in L2 with the code, or both lie in device
 * memory, beside what other kernels have left to be written back. */
static const struct {
  enum vinci_l2 l2;
  uint32_t code_found_ppm;
} extremes[] = {{VINCI_L2_WARM, VINCI_CODE_WARM}, {VINCI_L2_EMPTY, 0}, {VINCI_L2_DIRTY, 0}};

/* The range of durations, the row's own among them. */
static enum vinci_status find_interval(struct ops_worker *worker, const struct call_row *row,
                                       const struct vinci_trace *trace,
                                       const struct vinci_run_options *options,
                                       struct ops_outcome *outcome, struct vinci_diag *diag) {
  outcome->low_ps = outcome->high_ps = outcome->times.duration_ps;
  for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
    struct ops_outcome other = {0};
    struct vinci_run_options extreme = *options;
    extreme.l2_start = extremes[i].l2;
    extreme.l2_written_given = false;
    extreme.code_found_ppm = extremes[i].code_found_ppm;
    enum vinci_status status = run_or_take(worker, row, trace, &extreme, &other, diag);
    if (status != VINCI_OK)
      return status;
    outcome->low_ps = min_u64(outcome->low_ps, other.times.duration_ps);
    outcome->high_ps = max_u64(outcome->high_ps, other.times.duration_ps);
  }
  return VINCI_OK;
}

/* Launches in a row begin with nothing; L2 of a row without a lowering is as of most operators,
 * whose inputs the operator before has written. */
static enum vinci_l2 start_of(const struct ops_request *asked, const struct call_row *row,
                              const struct call_request *request) {
  if (asked->repeat > 1)
    return VINCI_L2_EMPTY;
  if (asked->l2_given)
    return asked->l2_start;
  return request->op ? calls_l2_start(row, request) : VINCI_L2_WARM;
}

static enum vinci_status run_trace(struct ops_worker *worker, const struct call_row *row,
                                   const vinci_trace *trace, const struct call_request *request,
                                   struct ops_outcome *outcome, struct vinci_diag *diag) {
  const struct ops_request *asked = worker->request;
  struct vinci_run_options options = {.struct_size = sizeof options,
                                      .max_cycles = asked->spec.max_cycles,
                                      .progress = goes_on,
                                      .progress_context = worker,
                                      .memory = asked->memory,
                                      .network = asked->network,
                                      .repeat = worker->sequence ? 1 : asked->repeat,
                                      .code_found_ppm = asked->code_found_ppm,
                                      .l2_written_given = !asked->l2_given,
                                      .l2_written_bytes = calls_l2_written(row),
                                      .l2_start = start_of(asked, row, request)};
  enum vinci_status status = run_or_take(worker, row, trace, &options, outcome, diag);
  if (status == VINCI_OK && asked->code_profile && options_of_profile(row, outcome, &options))
    status = run_or_take(worker, row, trace, &options, outcome, diag);
  if (status == VINCI_OK && asked->interval)
    status = find_interval(worker, row, trace, &options, outcome, diag);
  outcome->code_found_ppm = options.code_found_ppm;
  if (status == VINCI_OK)
    outcome->expected =
        expected_error(worker->soc, trace->op, trace->tensors[0].dtype, outcome->times.duration_ps);
  return status;
}

static enum vinci_status simulate(struct ops_worker *worker, const struct call_row *row,
                                  struct call_request *request, struct ops_outcome *outcome,
                                  struct vinci_diag *diag) {
  vinci_trace *trace = NULL;
  enum vinci_status status = compile(worker, request, outcome, &trace, diag);
  char reason[OPS_STATUS_BYTES];
  if (status == VINCI_OK && !calls_check_outputs(row, trace, reason, sizeof reason))
    status = diag_error(diag, VINCI_E_USAGE, "%s", reason);
  if (status == VINCI_OK)
    outcome->other_type = calls_other_type(row, trace);
  if (status == VINCI_OK)
    status = run_trace(worker, row, trace, request, outcome, diag);
  vinci_trace_free(trace);
  return status;
}

void ops_end_row(struct ops_outcome *outcome, enum ops_end end, const char *reason) {
  static const char *const words[OPS_ENDS] = {[OPS_OK] = "ok",
                                              [OPS_UNSUPPORTED] = "unsupported: ",
                                              [OPS_FAILED] = "failed: ",
                                              [OPS_LIMIT] = "failed: ",
                                              [OPS_CRASHED] = "failed: "};
  snprintf(outcome->status, sizeof outcome->status, "%s%.200s", words[end], reason);
  outcome->end = end;
}

static enum ops_end end_of(enum vinci_status status) {
  switch (status) {
  case VINCI_OK:
    return OPS_OK;
  case VINCI_E_USAGE:
    return OPS_UNSUPPORTED;
  case VINCI_E_LIMIT:
    return OPS_LIMIT;
  case VINCI_E_NOMEM: /* not the row's fault: the same command tries it again */
    return OPS_CRASHED;
  default:
    return OPS_FAILED;
  }
}

/* By the kernel of the library; false when the row is left to the lowering. */
static bool run_of_library(struct ops_worker *worker, const struct call_row *row,
                           const struct call_request *request, struct ops_outcome *outcome) {
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  if (!worker->request->library)
    return false;
  snprintf(outcome->program, sizeof outcome->program, "lowering");
  enum vinci_status status = ops_library_load(worker, row, outcome, &trace, &diag);
  if (status == VINCI_OK && !trace)
    return false;
  if (status == VINCI_OK) {
    status = run_trace(worker, row, trace, request, outcome, &diag);
    if (status != VINCI_OK)
      ops_library_refuse(outcome, diag.text, "");
  }
  vinci_trace_free(trace);
  if (status != VINCI_OK && worker->refusal)
    *worker->refusal = diag;
  bool ended = status == VINCI_OK || status == VINCI_E_LIMIT || status == VINCI_E_NOMEM;
  if (ended) {
    outcome->of_library = true;
    snprintf(outcome->program, sizeof outcome->program, "library");
  }
  if (ended && (status != VINCI_E_LIMIT || !*worker->stop))
    ops_end_row(outcome, end_of(status), status == VINCI_OK ? "" : diag.text);
  return ended;
}

static void run_row(struct ops_worker *worker, const struct call_row *row,
                    struct ops_outcome *outcome) {
  struct vinci_diag diag = {0};
  struct arena arena = {0};
  struct call_request request = {0};
  bool lowered = calls_resolve(worker->list, row, worker->soc, &arena, &request);
  if (run_of_library(worker, row, &request, outcome)) {
    arena_free(&arena);
    return;
  }
  if (!lowered) {
    ops_end_row(outcome, request.no_memory ? OPS_CRASHED : OPS_UNSUPPORTED, request.reason);
  } else {
    enum vinci_status status = simulate(worker, row, &request, outcome, &diag);
    if (status != VINCI_E_LIMIT || !*worker->stop)
      ops_end_row(outcome, end_of(status), status == VINCI_OK ? "" : diag.text);
  }
  arena_free(&arena);
}

void ops_run_row(struct ops_worker *worker, const struct call_row *row,
                 struct ops_outcome *outcome) {
  struct vinci_diag diag = {0};
  const char *soc = ops_soc_of(worker->request, row);
  snprintf(outcome->soc, sizeof outcome->soc, "%s", soc);
  enum vinci_status status = ops_take_soc(worker, soc, &diag);
  if (status != VINCI_OK) {
    ops_end_row(outcome, status == VINCI_E_NOMEM ? OPS_CRASHED : OPS_FAILED, diag.text);
  } else if (!worker->sequence) {
    run_row(worker, row, outcome);
  } else if (!ops_sequence_begin(worker->sequence, row, outcome)) {
    ops_end_row(outcome, OPS_CRASHED, "out of memory for the tensors of the row");
  } else {
    run_row(worker, row, outcome);
    ops_sequence_end(worker->sequence, row, outcome);
  }
}
