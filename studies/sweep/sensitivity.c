/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sensitivity: a study of points that each change one number of the chip, by half or to twice. The
 * points run as those of a sweep; the numbers are those that the causes on the critical path name,
 * unless the caller says which. An operator is a second study too, with its tiling kept.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/chip/soc.h"
#include "core/result/critical.h"
#include "core/vinci_sensitivity.h"
#include "studies/sweep/sweep.h"

enum { EVENTS_MAX = 1000000, CHANGES = 2, VALUE_MAX = 64, PATH_SIZE = 512, TILING_SIZE = 512 };

struct vinci_sensitivity {
  struct arena arena;
  uint64_t cycles;
  struct vinci_sensitivity_row row[SWEEP_PARAMS_MAX];
  size_t count;
};

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

/* ---- which numbers --------------------------------------------------------------------------- */

/* A number with half and twice of what the chip has; one of 0 has no effect and is left out. */
static enum vinci_status add_param(struct vinci_sensitivity *result, const vinci_soc *soc,
                                   size_t index, struct vinci_diag *diag) {
  const struct soc_param *param = soc_param(index);
  int64_t value = soc_get(soc, index);
  char text[VALUE_MAX];
  for (size_t i = 0; i < result->count; i++)
    if (strcmp(result->row[i].key, param->key) == 0)
      return VINCI_OK;
  if (value == 0)
    return VINCI_OK;
  if (result->count == SWEEP_PARAMS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "more than %d parameters", SWEEP_PARAMS_MAX);
  struct vinci_sensitivity_row *row = &result->row[result->count++];
  row->key = param->key;
  soc_format_value(value, param->kind, text, sizeof text);
  row->value = arena_strdup(&result->arena, text);
  soc_format_value(value / 2, param->kind, text, sizeof text);
  row->half = arena_strdup(&result->arena, text);
  soc_format_value(value * 2, param->kind, text, sizeof text);
  row->twice = arena_strdup(&result->arena, text);
  return row->value && row->half && row->twice ? VINCI_OK : no_memory(diag);
}

static enum vinci_status add_given(struct vinci_sensitivity *result, const vinci_soc *soc,
                                   const struct vinci_sensitivity_options *options,
                                   struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < options->param_count; i++) {
    size_t index = soc_param_find(options->params[i]);
    status = index < soc_param_count() ? add_param(result, soc, index, diag)
                                       : workload_check_key(soc, options->params[i], diag);
    if (status == VINCI_OK && index == soc_param_count())
      status =
          diag_error(diag, VINCI_E_USAGE, "'%s' is a name, which has no half", options->params[i]);
  }
  return status;
}

/* Runs the program as it is, for its causes. */
static enum vinci_status add_causes(struct vinci_sensitivity *result, vinci_sweep *sweep,
                                    const vinci_soc *soc, struct vinci_diag *diag) {
  struct vinci_run_options options;
  struct critical_turn turns[CRITICAL_TURNS_MAX];
  struct critical_path path;
  struct arena scratch = {0};
  struct workload workload;
  vinci_trace *trace = NULL;
  vinci_result *base = NULL;
  enum vinci_status status = sweep_options(&sweep->study, 0, &options, diag);
  options.max_events = EVENTS_MAX;
  if (status == VINCI_OK && !sweep_workload(&sweep->study, 0, &scratch, &workload))
    status = no_memory(diag);
  if (status == VINCI_OK)
    status = workload_open(&workload, soc, &trace, diag);
  if (status == VINCI_OK)
    status = vinci_run(soc, trace, &options, &base, diag);
  if (status == VINCI_OK)
    status = critical_find(base, &path, diag);
  size_t count = status == VINCI_OK ? critical_turns(base, &path, turns) : 0;
  for (size_t i = 0; status == VINCI_OK && i < count; i++)
    if (turns[i].param < soc_param_count())
      status = add_param(result, soc, turns[i].param, diag);
  vinci_result_free(base);
  vinci_trace_free(trace);
  arena_free(&scratch);
  return status;
}

static enum vinci_status choose_params(struct vinci_sensitivity *result, vinci_sweep *sweep,
                                       const struct vinci_sensitivity_options *options,
                                       struct vinci_diag *diag) {
  vinci_soc *soc = NULL;
  if (sweep->study.spec.workload.net)
    return diag_error(diag, VINCI_E_USAGE,
                      "%s is a network; sensitivity takes a trace or an "
                      "operator",
                      sweep->study.spec.workload.net);
  enum vinci_status status = sweep_resolve(&sweep->study, &sweep->chips, 0, &soc, diag);
  if (status == VINCI_OK)
    status = options->param_count > 0 ? add_given(result, soc, options, diag)
                                      : add_causes(result, sweep, soc, diag);
  vinci_soc_free(soc);
  return status;
}

/* ---- the points ------------------------------------------------------------------------------ */

/* Point 0 is the run as it is; two points for each number follow. */
static enum vinci_status make_points(struct sweep_study *study,
                                     const struct vinci_sensitivity *result,
                                     struct vinci_diag *diag) {
  size_t count = result->count, points = 1 + CHANGES * count;
  free(study->values);
  study->values = calloc(points * count + 1, sizeof *study->values);
  if (!study->values)
    return no_memory(diag);
  study->param_count = count;
  study->point_count = points;
  for (size_t i = 0; i < count; i++) {
    study->keys[i] = result->row[i].key;
    study->values[(1 + CHANGES * i) * count + i] = result->row[i].half;
    study->values[(2 + CHANGES * i) * count + i] = result->row[i].twice;
  }
  return VINCI_OK;
}

/* The rows of the table in the order of the points. */
struct reading {
  struct vinci_sensitivity *result;
  bool kept; /* the study with the tiling kept */
  size_t point;
  bool base_failed;
  char error[256];
};

static uint64_t cycles_of(const char *const *columns, const char *const *cells, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(columns[i], "total_cycles") == 0)
      return strtoull(cells[i], NULL, 10);
  return 0;
}

static bool visit(void *context, const char *const *columns, const char *const *cells,
                  size_t count) {
  struct reading *reading = context;
  struct vinci_sensitivity *result = reading->result;
  uint64_t cycles = cycles_of(columns, cells, count);
  size_t point = reading->point++;
  if (point == 0 && reading->kept)
    return true;
  if (point == 0) {
    result->cycles = cycles;
    reading->base_failed = cycles == 0;
    for (size_t i = 0; i < count; i++)
      if (strcmp(columns[i], "error") == 0)
        snprintf(reading->error, sizeof reading->error, "%s", cells[i]);
    return true;
  }
  struct vinci_sensitivity_row *row = &result->row[(point - 1) / CHANGES];
  bool half = (point - 1) % CHANGES == 0;
  if (!reading->kept)
    *(half ? &row->half_cycles : &row->twice_cycles) = cycles;
  *(half ? &row->half_kept_cycles : &row->twice_kept_cycles) = cycles;
  return point < CHANGES * result->count;
}

static uint64_t change(uint64_t cycles, uint64_t base) {
  return cycles == 0 ? 0 : cycles > base ? cycles - base : base - cycles;
}

static int compare_rows(const void *left, const void *right) {
  const struct vinci_sensitivity_row *a = left, *b = right;
  if (a->effect_cycles != b->effect_cycles)
    return a->effect_cycles > b->effect_cycles ? -1 : 1;
  return strcmp(a->key, b->key);
}

static enum vinci_status read_points(struct vinci_sensitivity *result, const char *folder,
                                     bool kept, struct vinci_diag *diag) {
  struct reading reading = {.result = result, .kept = kept};
  enum vinci_status status = vinci_sweep_read(folder, visit, &reading, diag);
  if (status == VINCI_OK && reading.base_failed)
    status = diag_error(diag, VINCI_E_INPUT, "the run as it is fails: %s", reading.error);
  return status;
}

static void order_rows(struct vinci_sensitivity *result) {
  for (size_t i = 0; i < result->count; i++) {
    struct vinci_sensitivity_row *row = &result->row[i];
    uint64_t half = change(row->half_cycles, result->cycles);
    uint64_t twice = change(row->twice_cycles, result->cycles);
    row->effect_cycles = half > twice ? half : twice;
  }
  qsort(result->row, result->count, sizeof *result->row, compare_rows);
}

static enum vinci_status run_points(struct vinci_sensitivity *result, vinci_sweep *sweep,
                                    const struct vinci_sensitivity_options *options, bool kept,
                                    struct vinci_diag *diag) {
  struct vinci_sweep_run_options run = {.struct_size = sizeof run, .jobs = options->jobs};
  struct vinci_sweep_result counts;
  char folder[PATH_SIZE];
  enum vinci_status status = make_points(&sweep->study, result, diag);
  if (status == VINCI_OK && !options->folder)
    status = folder_make_temporary("vinci-sensitivity", folder, sizeof folder, diag);
  else if (snprintf(folder, sizeof folder, "%s%s", options->folder ? options->folder : "",
                    kept ? "/kept" : "") >= (int)sizeof folder)
    status = diag_error(diag, VINCI_E_USAGE, "the path of the folder is too long");
  if (status != VINCI_OK)
    return status;
  status = vinci_sweep_run(sweep, folder, &run, &counts, diag);
  if (status == VINCI_OK)
    status = read_points(result, folder, kept, diag);
  if (!options->folder)
    folder_remove(folder);
  return status;
}

/* ---- with the tiling of the run as it is ----------------------------------------------------- */

/* Whether the arguments give the key of "key=value". */
static bool gives(const struct workload *workload, const char *assignment) {
  size_t length = strcspn(assignment, "=") + 1;
  for (size_t i = 0; i < workload->arg_count; i++)
    if (strncmp(workload->args[i], assignment, length) == 0)
      return true;
  return false;
}

/* The operator, its arguments, and behind those its tiling on the chip. */
static enum vinci_status fix_tiling(struct vinci_sensitivity *result, vinci_sweep *sweep,
                                    const char **words, size_t *count, struct vinci_diag *diag) {
  const struct workload *workload = &sweep->study.spec.workload;
  struct vinci_tiling tiling;
  char text[TILING_SIZE], *rest = NULL;
  vinci_soc *soc = NULL;
  enum vinci_status status = sweep_resolve(&sweep->study, &sweep->chips, 0, &soc, diag);
  if (status == VINCI_OK)
    status = vinci_op_tiling(soc, workload->op, workload->args, workload->arg_count, text,
                             sizeof text, &tiling, diag);
  vinci_soc_free(soc);
  *count = 0;
  words[(*count)++] = workload->op;
  for (size_t i = 0; i < workload->arg_count; i++)
    words[(*count)++] = workload->args[i];
  for (char *word = status == VINCI_OK ? strtok_r(text, " ", &rest) : NULL; word;
       word = strtok_r(NULL, " ", &rest))
    if (!gives(workload, word) && !(words[(*count)++] = arena_strdup(&result->arena, word)))
      return no_memory(diag);
  return status;
}

static enum vinci_status run_kept(struct vinci_sensitivity *result, vinci_sweep *sweep,
                                  const struct vinci_sensitivity_options *options,
                                  struct vinci_diag *diag) {
  struct vinci_sweep_options study = {.struct_size = sizeof study, .overrides = options->overrides};
  const struct workload *workload = &sweep->study.spec.workload;
  size_t count;
  vinci_sweep *kept = NULL;
  const char **words = calloc(1 + workload->arg_count + TILING_SIZE / 2, sizeof *words);
  if (!words)
    return no_memory(diag);
  enum vinci_status status = fix_tiling(result, sweep, words, &count, diag);
  if (status == VINCI_OK)
    status = vinci_sweep_open(words, count, &study, &kept, diag);
  if (status == VINCI_OK)
    status = run_points(result, kept, options, true, diag);
  vinci_sweep_free(kept);
  free(words);
  return status;
}

/* ---- public ---------------------------------------------------------------------------------- */

enum vinci_status vinci_sensitivity_run(const char *const *arguments, size_t argument_count,
                                        const struct vinci_sensitivity_options *options,
                                        vinci_sensitivity **out, struct vinci_diag *diag) {
  static const struct vinci_sensitivity_options defaults = {.struct_size = sizeof defaults};
  const struct vinci_sensitivity_options *given = options ? options : &defaults;
  struct vinci_sweep_options study = {.struct_size = sizeof study, .overrides = given->overrides};
  vinci_sweep *sweep = NULL;
  *out = NULL;
  if (given->struct_size != sizeof *given)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the sensitivity options is %zu, not %zu",
                      given->struct_size, sizeof *given);
  struct vinci_sensitivity *result = calloc(1, sizeof *result);
  if (!result)
    return no_memory(diag);
  enum vinci_status status = vinci_sweep_open(arguments, argument_count, &study, &sweep, diag);
  if (status == VINCI_OK && sweep->study.param_count > 0)
    status = diag_error(diag, VINCI_E_USAGE,
                        "%s says itself what varies; sensitivity takes a "
                        "trace or an operator",
                        arguments[0]);
  if (status == VINCI_OK && sweep->study.options.memory == VINCI_MEMORY_AUTO)
    status = diag_error(diag, VINCI_E_USAGE,
                        "memory is cycle or flat, not auto: what a number changes may be less than "
                        "the error bar");
  if (status == VINCI_OK)
    status = choose_params(result, sweep, given, diag);
  if (status == VINCI_OK)
    status = run_points(result, sweep, given, false, diag);
  if (status == VINCI_OK && sweep->study.spec.workload.op)
    status = run_kept(result, sweep, given, diag);
  order_rows(result);
  vinci_sweep_free(sweep);
  if (status != VINCI_OK) {
    vinci_sensitivity_free(result);
    return status;
  }
  *out = result;
  return VINCI_OK;
}

size_t vinci_sensitivity_count(const vinci_sensitivity *result) { return result->count; }

const struct vinci_sensitivity_row *vinci_sensitivity_row(const vinci_sensitivity *result,
                                                          size_t index) {
  return &result->row[index];
}

uint64_t vinci_sensitivity_cycles(const vinci_sensitivity *result) { return result->cycles; }

void vinci_sensitivity_free(vinci_sensitivity *result) {
  if (!result)
    return;
  arena_free(&result->arena);
  free(result);
}
