/* SPDX-License-Identifier: Apache-2.0 */
/* What a caller of vinci_ops_run() asks for, and which of these go together. */
#include <string.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "studies/ops/ops.h"

static enum vinci_status check_numbers(const struct vinci_ops_options *options,
                                       struct vinci_diag *diag) {
  if (options->struct_size != sizeof *options)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the options of a list is %zu, not %zu",
                      options->struct_size, sizeof *options);
  if (options->jobs > OPS_JOBS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "jobs is at most %d, not %u", OPS_JOBS_MAX,
                      options->jobs);
  return VINCI_OK;
}

static enum vinci_status check_results(const struct vinci_ops_options *options,
                                       struct vinci_diag *diag) {
  if (options->results && options->sequence)
    return diag_error(diag, VINCI_E_USAGE,
                      "a sequence keeps no results: those of a row depend on all rows before");
  if (options->exact && !options->results && !options->sequence)
    return diag_error(diag, VINCI_E_USAGE,
                      "--exact compares with results that are kept: give --results=DIR");
  return options->results ? folder_make(options->results, diag) : VINCI_OK;
}

static enum vinci_status check_state(const struct vinci_ops_options *options,
                                     const struct run_spec *spec, struct vinci_diag *diag) {
  const char *code = spec->models.code;
  bool given = code || spec->models.l2;
  const char *state = code ? "the state of code" : "that of L2";
  if (options->interval && (options->sequence || given))
    return diag_error(diag, VINCI_E_USAGE,
                      "an interval is for rows whose state is not known: leave out %s, or the "
                      "interval",
                      options->sequence ? "the sequence" : state);
  if (options->repeat > 1 && (options->interval || given))
    return diag_error(diag, VINCI_E_USAGE,
                      "launches in a row leave the state that the last finds: leave out %s, or the "
                      "repetition",
                      options->interval ? "the interval" : state);
  return VINCI_OK;
}

/* Models, chip and state of a single run, which lists simulate with flat memory if nothing is said.
 */
static enum vinci_status take_models(struct ops_request *request, struct vinci_diag *diag) {
  struct vinci_run_options models = {.struct_size = sizeof models, .memory = VINCI_MEMORY_FLAT};
  struct workload_models *asked = &request->spec.models;
  request->code_profile = asked->code && strcmp(asked->code, "profile") == 0;
  if (request->code_profile)
    asked->code = NULL;
  enum vinci_status status = workload_choose(asked, &models, diag);
  request->memory = models.memory;
  request->network = models.network;
  request->l2_given = asked->l2 != NULL;
  request->l2_start = models.l2_start;
  request->code_found_ppm = models.code_found_ppm;
  return status;
}

enum vinci_status ops_take_options(const struct vinci_ops_options *options, struct arena *arena,
                                   struct ops_request *out, struct vinci_diag *diag) {
  enum vinci_status status = check_numbers(options, diag);
  if (status == VINCI_OK)
    status = check_results(options, diag);
  if (status == VINCI_OK && !overrides_keep(&options->overrides, arena, &out->spec))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    status = check_state(options, &out->spec, diag);
  if (status != VINCI_OK)
    return status;
  out->results = options->results;
  out->spec.max_cycles = options->max_cycles;
  out->data = options->overrides.data_dir;
  out->sequence = options->sequence;
  out->repeat = options->repeat;
  out->interval = options->interval;
  out->exact = options->exact;
  return take_models(out, diag);
}

uint32_t ops_repeats(const struct ops_request *request) {
  return request->repeat > 1 ? request->repeat : 1;
}
