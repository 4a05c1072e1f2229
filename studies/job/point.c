/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of several devices with changes. */
#include "studies/job/point.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/chip/soc.h"
#include "devices/jobs/turns.h"

enum { TEXT_BYTES_MAX = 1 << 30 };

static const char system_key[] = "system", bucket_key[] = "bucket", fault_key[] = "fault",
                  algorithm_prefix[] = "algorithm.";
const char *const job_point_fields[] = {bucket_key, fault_key, algorithm_prefix, NULL};

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

/* ---- what a point is --------------------------------------------------------------------- */

static bool is_algorithm(const char *key) {
  return strncmp(key, algorithm_prefix, sizeof algorithm_prefix - 1) == 0;
}

/* The value when an argument has this key, or NULL. */
static const char *value_of(const char *argument, const char *key) {
  size_t length = strlen(key);
  return strncmp(argument, key, length) == 0 && argument[length] == '=' ? argument + length + 1
                                                                        : NULL;
}

static void take_argument(struct job_point *point, const char *argument) {
  const char *value;
  if ((value = value_of(argument, system_key)))
    point->system = value;
  else if ((value = value_of(argument, bucket_key)))
    point->bucket = value;
  else if ((value = value_of(argument, fault_key)))
    point->fault = value;
  else if (is_algorithm(argument))
    point->algorithms[point->algorithm_count++] = argument + sizeof algorithm_prefix - 1;
  else
    point->args[point->arg_count++] = argument;
}

bool job_point_begin(struct job_point *point, const struct workload *workload, const char *data) {
  *point = (struct job_point){.job = workload->job, .model = workload->model, .data = data};
  point->algorithms = ARENA_ARRAY(&point->arena, const char *, workload->arg_count + 1);
  point->args = ARENA_ARRAY(&point->arena, const char *, workload->arg_count + 1);
  if (!point->algorithms || !point->args)
    return false;
  for (size_t i = 0; i < workload->arg_count; i++)
    take_argument(point, workload->args[i]);
  return true;
}

void job_point_free(struct job_point *point) {
  group_host_free(point->group);
  vinci_soc_free(point->soc);
  arena_free(&point->arena);
}

/* ---- names ------------------------------------------------------------------------------- */

enum vinci_status job_point_check_argument(const char *key, struct vinci_diag *diag) {
  if (strcmp(key, system_key) == 0 || strcmp(key, bucket_key) == 0 || strcmp(key, fault_key) == 0 ||
      (is_algorithm(key) && key[sizeof algorithm_prefix - 1]))
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_USAGE, "a job of a file has no argument '%s'", key);
  diag_hint(diag, "system, bucket, fault, and algorithm.WHICH, such as algorithm.all_reduce=ring; "
                  "splits are arguments of model=MODEL.lua");
  return VINCI_E_USAGE;
}

static enum vinci_status check_key(const struct job_point *point, const vinci_soc *soc,
                                   const char *key, struct vinci_diag *diag) {
  struct vinci_diag ignored = {0};
  if (group_host_has(point->group, key) || workload_check_key(soc, key, &ignored) == VINCI_OK)
    return VINCI_OK;
  const char *nearest = group_host_nearest(point->group, key);
  if (!nearest)
    nearest = soc_param_nearest(key);
  (void)diag_error(diag, VINCI_E_USAGE, "unknown parameter '%s'", key);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
  else
    diag_hint(diag,
              "'vinci group show %s' lists the numbers of the system, 'vinci soc show %s' those of "
              "its chip; job.KEY is an argument of the job",
              point->system, point->group->chip);
  return VINCI_E_USAGE;
}

enum vinci_status job_point_check_key(const struct job_point *point, const char *key,
                                      struct vinci_diag *diag) {
  return check_key(point, point->soc, key, diag);
}

enum vinci_status job_point_lacks_steps(struct vinci_diag *diag) {
  (void)diag_error(diag, VINCI_E_USAGE,
                   "the training step of a model is made by scripts, which the library has not");
  diag_hint(diag, "'vinci sweep', 'vinci gate' and the module of Lua have them; a job of a file "
                  "needs none");
  return VINCI_E_USAGE;
}

/* ---- system and chip --------------------------------------------------------------------- */

enum vinci_status job_point_read(const struct job_point *point, struct job *out,
                                 struct vinci_diag *diag) {
  size_t length;
  char *text = file_read_text(point->job, TEXT_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  enum vinci_status status = job_read(point->job, text, length, out, diag);
  free(text);
  return status;
}

/* The word of the job's text that names a system, kept in the arena. */
static enum vinci_status find_system(struct job_point *point, struct vinci_diag *diag) {
  struct job job;
  if (point->system)
    return VINCI_OK;
  if (point->job) {
    enum vinci_status status = job_point_read(point, &job, diag);
    if (status != VINCI_OK)
      return status;
    point->system = job.system ? arena_strdup(&point->arena, job.system) : NULL;
    bool lost = job.system && !point->system;
    job_free(&job);
    if (lost)
      return no_memory(diag);
  }
  if (point->system)
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_USAGE, "the job names no system of devices");
  diag_hint(diag, "give system=NAME behind the file; 'vinci group show' lists the systems");
  return VINCI_E_USAGE;
}

/* Parts the assignments into those of the system and those of its chip, as that is without. */
static enum vinci_status take_sets(struct job_point *point, const char *const *sets, size_t count,
                                   const vinci_soc *soc, struct vinci_diag *diag) {
  point->sets = ARENA_ARRAY(&point->arena, const char *, count + 1);
  point->chip_sets = ARENA_ARRAY(&point->arena, const char *, count + 1);
  if (!point->sets || !point->chip_sets)
    return no_memory(diag);
  for (size_t i = 0; i < count; i++) {
    char *key = arena_strndup(&point->arena, sets[i], strcspn(sets[i], "="));
    if (!key)
      return no_memory(diag);
    enum vinci_status status = check_key(point, soc, key, diag);
    if (status != VINCI_OK)
      return status;
    if (group_host_has(point->group, key))
      point->sets[point->set_count++] = sets[i];
    else
      point->chip_sets[point->chip_set_count++] = sets[i];
  }
  return VINCI_OK;
}

enum vinci_status job_point_open(struct job_point *point, const char *const *sets, size_t set_count,
                                 struct chip_cache *chips, struct vinci_diag *diag) {
  const vinci_soc *soc = NULL;
  enum vinci_status status = find_system(point, diag);
  if (status == VINCI_OK)
    status = group_host_load(point->system, point->data, &point->group, diag);
  if (status == VINCI_OK)
    status = chip_cache_get(chips, point->group->chip, &soc, diag);
  if (status == VINCI_OK)
    status = take_sets(point, sets, set_count, soc, diag);
  for (size_t i = 0; status == VINCI_OK && i < point->set_count; i++)
    status = group_host_set(point->group, point->sets[i], diag);
  if (status != VINCI_OK)
    return status;
  const struct run_spec changes = {.sets = point->chip_sets, .set_count = point->chip_set_count};
  return chip_cache_copy(chips, point->group->chip, &changes, &point->soc, diag);
}

/* ---- the run ----------------------------------------------------------------------------- */

enum vinci_status job_point_make(const struct job_point *point, const struct model_steps *steps,
                                 struct job *job, uint64_t *memory_bytes, struct vinci_diag *diag) {
  struct model_step step = {0};
  *memory_bytes = 0;
  if (!point->model)
    return job_point_read(point, job, diag);
  if (!steps)
    return job_point_lacks_steps(diag);
  const struct model_step_request request = {.model = point->model,
                                             .data = point->data,
                                             .soc = point->group->chip,
                                             .sets = point->chip_sets,
                                             .set_count = point->chip_set_count,
                                             .memory = point->memory ? point->memory : "flat",
                                             .args = point->args,
                                             .arg_count = point->arg_count};
  enum vinci_status status = steps->make(steps->context, &request, &step, diag);
  if (status == VINCI_OK)
    status = job_read(point->model, step.text, step.length, job, diag);
  *memory_bytes = step.memory_bytes;
  free(step.text);
  return status;
}

/* What the point changes of the job. */
static enum vinci_status turn_job(const struct job_point *point, struct job *job,
                                  struct vinci_diag *diag) {
  int64_t bytes = 0;
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < point->algorithm_count; i++)
    status = job_turn_algorithm(job, point->algorithms[i], diag);
  if (status == VINCI_OK && point->bucket) {
    struct vinci_diag problem = {0};
    if (soc_parse_value(point->bucket, SOC_KIND_BYTES, &bytes, &problem) != VINCI_OK)
      return diag_error(diag, VINCI_E_USAGE, "bucket: %s", problem.text);
    if (bytes > 0)
      (void)job_turn_buckets(job, (uint64_t)bytes);
  }
  return status == VINCI_OK && point->fault ? job_add_fault(job, point->fault, diag) : status;
}

enum vinci_status job_point_run(struct job_point *point, struct job *job,
                                const struct job_kernel_options *timed,
                                const struct group_observer *observer, struct arena *arena,
                                struct group_result *out, struct vinci_diag *diag) {
  enum vinci_status status = group_host_fit_chip(point->group, point->soc, job->job.ranks, diag);
  job->job.system = &point->group->system;
  if (status == VINCI_OK)
    status = turn_job(point, job, diag);
  if (status == VINCI_OK && job->kernels)
    status = job_time(job, timed, diag);
  return status == VINCI_OK ? group_run(&job->job, observer, arena, out, diag) : status;
}
