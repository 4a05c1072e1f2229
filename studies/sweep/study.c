/* SPDX-License-Identifier: Apache-2.0 */
/* A study: its forms, its expansion to points, and what each point is. */
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/chip/energy.h"
#include "core/chip/soc.h"
#include "networks/workload/network.h"
#include "studies/sweep/sweep.h"

/* Of parameters that are arguments of the operator, of the network, or of the job. */
static const char op_prefix[] = "op.", net_prefix[] = "net.", job_prefix[] = SWEEP_JOB_PREFIX;
/* Before the file of a model, which else looks like a study. */
static const char model_word[] = "model=";

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

void sweep_study_free(struct sweep_study *study) {
  free(study->values);
  free(study->ids);
  arena_free(&study->arena);
  *study = (struct sweep_study){0};
}

/* ---- expansion ------------------------------------------------------------------------- */

enum vinci_status sweep_too_many_cells(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_LIMIT,
                    "the study has more than %d values, points times parameters", SWEEP_CELLS_MAX);
}

/* The last axis varies fastest. */
enum vinci_status sweep_expand(struct sweep_study *study, const struct sweep_axis *axes,
                               size_t count, struct vinci_diag *diag) {
  size_t points = 1;
  for (size_t a = 0; a < count; a++) {
    for (size_t b = 0; b < a; b++)
      if (strcmp(axes[a].key, axes[b].key) == 0)
        return diag_error(diag, VINCI_E_USAGE, "parameter '%s' is given twice", axes[a].key);
    if (__builtin_mul_overflow(points, axes[a].count, &points) || points > SWEEP_POINTS_MAX)
      return diag_error(diag, VINCI_E_LIMIT, "the study has more than %d points", SWEEP_POINTS_MAX);
    study->keys[a] = axes[a].key;
  }
  if (count > 0 && points > SWEEP_CELLS_MAX / count)
    return sweep_too_many_cells(diag);
  study->param_count = count;
  study->point_count = points;
  study->values = calloc(points * count + 1, sizeof *study->values);
  if (!study->values)
    return no_memory(diag);
  for (size_t point = 0; point < points; point++) {
    size_t rest = point;
    for (size_t a = count; a-- > 0;) {
      study->values[point * count + a] = axes[a].values[rest % axes[a].count];
      rest /= axes[a].count;
    }
  }
  return VINCI_OK;
}

/* "l2.size=96MiB,192MiB" */
static enum vinci_status parse_axis(struct sweep_study *study, const char *text,
                                    struct sweep_axis *axis, struct vinci_diag *diag) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || equals[1] == '\0') {
    (void)diag_error(diag, VINCI_E_USAGE, "parameter '%s' has no values", text);
    diag_hint(diag, "write KEY=V1,V2, for example l2.size=96MiB,192MiB");
    return VINCI_E_USAGE;
  }
  size_t count = 1;
  for (const char *c = equals; *c; c++)
    count += *c == ',';
  axis->key = arena_strndup(&study->arena, text, (size_t)(equals - text));
  axis->values = ARENA_ARRAY(&study->arena, const char *, count);
  if (!axis->key || !axis->values)
    return no_memory(diag);
  axis->count = 0;
  for (const char *start = equals + 1;; start++) {
    size_t length = strcspn(start, ",");
    if (length == 0)
      return diag_error(diag, VINCI_E_USAGE, "parameter '%s' has an empty value", axis->key);
    char *value = arena_strndup(&study->arena, start, length);
    if (!value)
      return no_memory(diag);
    axis->values[axis->count++] = value;
    start += length;
    if (*start == '\0')
      return VINCI_OK;
  }
}

static enum vinci_status expand_params(struct sweep_study *study,
                                       const struct vinci_sweep_options *options,
                                       struct vinci_diag *diag) {
  struct sweep_axis axes[SWEEP_PARAMS_MAX];
  if (options->param_count > SWEEP_PARAMS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "more than %d parameters", SWEEP_PARAMS_MAX);
  for (size_t i = 0; i < options->param_count; i++) {
    enum vinci_status status = parse_axis(study, options->params[i], &axes[i], diag);
    if (status != VINCI_OK)
      return status;
  }
  return sweep_expand(study, axes, options->param_count, diag);
}

/* ---- arguments -------------------------------------------------------------------------- */

/* A trace, or an operator with the arguments that follow. */
static enum vinci_status keep_workload(struct sweep_study *study, const char *const *arguments,
                                       size_t count, bool is_trace, struct vinci_diag *diag) {
  struct workload *workload = &study->spec.workload;
  const char *what = arena_strdup(&study->arena, arguments[0]);
  workload->args = ARENA_ARRAY(&study->arena, const char *, count);
  if (!what || !workload->args)
    return no_memory(diag);
  if (strncmp(what, model_word, sizeof model_word - 1) == 0)
    workload->model = what + sizeof model_word - 1;
  else if (is_trace && network_is_graph(what))
    workload->net = what;
  else if (is_trace && network_is_job(what))
    workload->job = what;
  else if (is_trace)
    workload->trace = what;
  else
    workload->op = what;
  for (size_t i = 1; i < count; i++) {
    if (!strchr(arguments[i], '='))
      return diag_error(diag, VINCI_E_USAGE, "argument '%s' of %s is not key=value", arguments[i],
                        what);
    char *argument = arena_strdup(&study->arena, arguments[i]);
    if (!argument)
      return no_memory(diag);
    workload->args[workload->arg_count++] = argument;
  }
  return VINCI_OK;
}

static enum vinci_status read_arguments(struct sweep_study *study, const char *const *arguments,
                                        size_t count, const struct vinci_sweep_options *options,
                                        struct vinci_diag *diag) {
  if (count == 0) {
    (void)diag_error(diag, VINCI_E_USAGE, "nothing to run: no study, no trace, no operator");
    diag_hint(diag, "for example matmul m=512 k=512 n=512 dtype=fp16");
    return VINCI_E_USAGE;
  }
  const char *what = arguments[0];
  bool is_model = strncmp(what, model_word, sizeof model_word - 1) == 0;
  bool is_study = !is_model && ends_with(what, ".lua");
  bool is_trace = !is_model && (ends_with(what, ".csv") || strchr(what, '/') != NULL);
  bool takes_none = is_study || (is_trace && !network_is_graph(what) && !network_is_job(what));
  if (takes_none && count > 1)
    return diag_error(diag, VINCI_E_USAGE, "'%s' after %s: it takes no arguments", arguments[1],
                      what);
  if (is_study && options->param_count > 0) {
    (void)diag_error(diag, VINCI_E_USAGE, "%s is a study file, which says itself what varies",
                     what);
    diag_hint(diag, "params are for a trace or an operator");
    return VINCI_E_USAGE;
  }
  if (is_study)
    return sweep_study_read(study, what, diag);
  enum vinci_status status = keep_workload(study, arguments, count, is_trace, diag);
  return status == VINCI_OK ? expand_params(study, options, diag) : status;
}

const char *sweep_argument(const char *key) {
  static const char *const prefixes[] = {op_prefix, net_prefix, job_prefix};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strncmp(key, prefixes[i], strlen(prefixes[i])) == 0)
      return key + strlen(prefixes[i]);
  return NULL;
}

bool sweep_is_model(const char *key) {
  return workload_model(&(struct workload_models){0}, key) != NULL;
}

/* The others are soc, models, and arguments of the operator. */
static bool is_chip_key(const char *key) {
  return !sweep_argument(key) && !sweep_is_model(key) && strcmp(key, "soc") != 0;
}

const char *sweep_value(const struct sweep_study *study, size_t point, size_t param) {
  return study->values[point * study->param_count + param];
}

bool sweep_is_of_jobs(const struct sweep_study *study) {
  return study->spec.workload.job || study->spec.workload.model;
}

/* The chip of a point: of the parameter soc, or of the study. */
static const char *chip_name(const struct sweep_study *study, size_t point) {
  for (size_t p = 0; p < study->param_count; p++)
    if (strcmp(study->keys[p], "soc") == 0 && sweep_value(study, point, p))
      return sweep_value(study, point, p);
  return study->spec.soc;
}

static enum vinci_status check_argument(const struct sweep_study *study, const char *key,
                                        struct vinci_diag *diag) {
  const struct workload *workload = &study->spec.workload;
  bool of_net = strncmp(key, net_prefix, sizeof net_prefix - 1) == 0;
  if (workload->trace)
    return diag_error(diag, VINCI_E_USAGE, "parameter '%s': a trace has no arguments", key);
  if (strncmp(key, job_prefix, sizeof job_prefix - 1) == 0)
    return diag_error(diag, VINCI_E_USAGE, "parameter '%s': only jobs of several devices have %s",
                      key, job_prefix);
  if (of_net != (workload->net != NULL))
    return diag_error(diag, VINCI_E_USAGE, "parameter '%s': arguments of %s begin with %s", key,
                      of_net ? "an operator" : "a network", of_net ? op_prefix : net_prefix);
  return of_net ? network_check_key(sweep_argument(key), diag)
                : workload_check_operator(workload, sweep_argument(key), diag);
}

/* A misspelt key is a mistake of the study; a bad value is the failure of its points. */
static enum vinci_status check_keys(const struct sweep_study *study, struct vinci_diag *diag) {
  struct chip_cache chips = {.data = study->data};
  const vinci_soc *soc = NULL;
  if (sweep_is_of_jobs(study)) {
    enum vinci_status checked = sweep_check_job(study, &chips, diag);
    chip_cache_free(&chips);
    return checked;
  }
  const char *name = study->point_count > 0 ? chip_name(study, 0) : study->spec.soc;
  if (!name)
    return spec_lacks_soc(diag);
  enum vinci_status status = chip_cache_get(&chips, name, &soc, diag);
  if (status == VINCI_OK && study->spec.workload.op)
    status = workload_check_operator(&study->spec.workload, NULL, diag);
  for (size_t p = 0; status == VINCI_OK && p < study->param_count; p++) {
    const char *key = study->keys[p];
    if (sweep_argument(key))
      status = check_argument(study, key, diag);
    else if (is_chip_key(key))
      status = workload_check_key(soc, key, diag);
  }
  for (size_t i = 0; status == VINCI_OK && i < study->spec.set_count; i++) {
    struct run_spec alone = {.sets = &study->spec.sets[i], .set_count = 1};
    vinci_soc *copy;
    status = chip_cache_copy(&chips, name, &alone, &copy, diag);
    vinci_soc_free(copy);
  }
  chip_cache_free(&chips);
  return status;
}

enum vinci_status sweep_study_open(struct sweep_study *study, const char *const *arguments,
                                   size_t count, const struct vinci_sweep_options *options,
                                   struct vinci_diag *diag) {
  struct run_spec overrides;
  *study = (struct sweep_study){.options = {.struct_size = sizeof study->options},
                                .steps = study->steps};
  const char *data = options->overrides.data_dir;
  study->data = data ? arena_strdup(&study->arena, data) : NULL;
  if ((data && !study->data) || !overrides_keep(&options->overrides, &study->arena, &overrides))
    return no_memory(diag);
  overrides.max_cycles = options->max_cycles;
  enum vinci_status status = read_arguments(study, arguments, count, options, diag);
  if (status == VINCI_OK && !spec_override(&study->spec, &overrides, &study->arena))
    status = no_memory(diag);
  study->options.max_cycles = study->spec.max_cycles;
  if (sweep_is_of_jobs(study) && !study->spec.models.memory)
    study->spec.models.memory = "flat"; /* as vinci group run */
  if (status == VINCI_OK)
    status = workload_choose(&study->spec.models, &study->options, diag);
  return status == VINCI_OK ? check_keys(study, diag) : status;
}

enum vinci_status sweep_study_open_list(struct sweep_study *study,
                                        const struct vinci_sweep_options *options,
                                        struct vinci_diag *diag) {
  *study = (struct sweep_study){.options = {.struct_size = sizeof study->options}};
  const char *data = options->overrides.data_dir;
  study->data = data ? arena_strdup(&study->arena, data) : NULL;
  if ((data && !study->data) || !overrides_keep(&options->overrides, &study->arena, &study->spec))
    return no_memory(diag);
  enum vinci_status status = expand_params(study, options, diag);
  if (status == VINCI_OK)
    status = workload_choose(&study->spec.models, &study->options, diag);
  for (size_t p = 0; status == VINCI_OK && p < study->param_count; p++)
    if (sweep_argument(study->keys[p]))
      return VINCI_OK; /* the caller refuses these */
  return status == VINCI_OK ? check_keys(study, diag) : status;
}

/* ---- points ---------------------------------------------------------------------------- */

/* Puts key=value in the place of the argument of that key, or at the end. */
static bool put_argument(struct workload *workload, struct arena *arena, const char *key,
                         const char *value) {
  size_t length = strlen(key), i = 0;
  while (i < workload->arg_count &&
         !(strncmp(workload->args[i], key, length) == 0 && workload->args[i][length] == '='))
    i++;
  char *text = arena_alloc(arena, length + strlen(value) + 2, 1);
  if (!text)
    return false;
  stpcpy(stpcpy(stpcpy(text, key), "="), value);
  workload->args[i] = text;
  workload->arg_count += i == workload->arg_count;
  return true;
}

bool sweep_workload(const struct sweep_study *study, size_t point, struct arena *arena,
                    struct workload *out) {
  size_t count = study->spec.workload.arg_count;
  *out = study->spec.workload;
  out->args = ARENA_ARRAY(arena, const char *, count + study->param_count + 1);
  if (!out->args)
    return false;
  if (count > 0)
    memcpy(out->args, study->spec.workload.args, count * sizeof *out->args);
  for (size_t p = 0; p < study->param_count; p++) {
    const char *value = sweep_value(study, point, p);
    const char *argument = sweep_argument(study->keys[p]);
    if (value && argument && !put_argument(out, arena, argument, value))
      return false;
  }
  return true;
}

static enum vinci_status set_value(vinci_soc *soc, const char *key, const char *value,
                                   struct vinci_diag *diag) {
  char text[512];
  int length = snprintf(text, sizeof text, "%s=%s", key, value);
  if (length >= (int)sizeof text)
    return diag_error(diag, VINCI_E_USAGE, "the value of '%s' is too long", key);
  return vinci_soc_set(soc, text, diag);
}

enum vinci_status sweep_options(const struct sweep_study *study, size_t point,
                                struct vinci_run_options *out, struct vinci_diag *diag) {
  struct workload_models models = {0};
  *out = study->options;
  for (size_t p = 0; p < study->param_count; p++) {
    const char **model = workload_model(&models, study->keys[p]);
    if (model)
      *model = sweep_value(study, point, p);
  }
  return workload_choose(&models, out, diag);
}

enum vinci_status sweep_resolve(const struct sweep_study *study, struct chip_cache *chips,
                                size_t point, vinci_soc **out, struct vinci_diag *diag) {
  const char *name = chip_name(study, point);
  *out = NULL;
  if (!name)
    return diag_error(diag, VINCI_E_USAGE, "no chip is named");
  enum vinci_status status = chip_cache_copy(chips, name, &study->spec, out, diag);
  for (size_t p = 0; status == VINCI_OK && p < study->param_count; p++) {
    const char *value = sweep_value(study, point, p);
    if (value && is_chip_key(study->keys[p]))
      status = set_value(*out, study->keys[p], value, diag);
  }
  if (status != VINCI_OK) {
    vinci_soc_free(*out);
    *out = NULL;
  }
  return status;
}

/* A point whose chip cannot be made is known by what was asked for. */
static uint64_t unresolved_digest(const struct sweep_study *study, size_t point) {
  const char *name = chip_name(study, point);
  uint64_t digest = digest_string(DIGEST_SEED, name ? name : "");
  for (size_t i = 0; i < study->spec.set_count; i++)
    digest = digest_string(digest, study->spec.sets[i]);
  for (size_t p = 0; p < study->param_count; p++) {
    const char *value = sweep_value(study, point, p);
    digest = digest_string(digest, study->keys[p]);
    digest = digest_string(digest, value ? value : "");
  }
  return digest;
}

static enum vinci_status identify(const struct sweep_study *study, struct chip_cache *chips,
                                  size_t point, uint64_t input, uint64_t *id,
                                  struct vinci_diag *diag) {
  struct arena scratch = {0};
  struct workload workload;
  struct vinci_diag ignored = {0};
  vinci_soc *soc = NULL;
  struct vinci_run_options options;
  char models[WORKLOAD_MODELS_MAX];
  uint64_t config = 0;
  enum vinci_status status = sweep_is_of_jobs(study)
                                 ? sweep_job_digest(study, chips, point, &config, &ignored)
                                 : sweep_resolve(study, chips, point, &soc, &ignored);
  if (status != VINCI_OK)
    config = unresolved_digest(study, point);
  else if (soc)
    config = soc_digest(soc);
  if (soc && soc->energy) /* its record has more cells, which these prices have made */
    config = energy_digest(soc->energy, config);
  vinci_soc_free(soc);
  status = VINCI_OK;
  if (!study->spec.workload.trace)
    status = sweep_workload(study, point, &scratch, &workload)
                 ? workload_digest(&workload, &input, diag)
                 : no_memory(diag);
  if (sweep_options(study, point, &options, &ignored) != VINCI_OK)
    config = unresolved_digest(study, point);
  workload_models_text(&options, models, sizeof models);
  *id = digest_string(DIGEST_SEED, vinci_model_revision());
  *id = digest_string(*id, models);
  *id = digest_bytes(*id, &config, sizeof config);
  *id = digest_bytes(*id, &input, sizeof input);
  arena_free(&scratch);
  return status;
}

enum vinci_status sweep_identify(struct sweep_study *study, struct chip_cache *chips,
                                 struct vinci_diag *diag) {
  uint64_t input = 0;
  enum vinci_status status = VINCI_OK;
  free(study->ids); /* of an earlier run: the trace may be another one by now */
  study->ids = calloc(study->point_count + 1, sizeof *study->ids);
  if (!study->ids)
    return no_memory(diag);
  if (study->spec.workload.trace)
    status = workload_digest(&study->spec.workload, &input, diag);
  for (size_t i = 0; status == VINCI_OK && i < study->point_count; i++)
    status = identify(study, chips, i, input, &study->ids[i], diag);
  return status;
}
