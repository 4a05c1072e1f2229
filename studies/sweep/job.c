/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points that are jobs of several devices: a job of a file, or the training step of a model that is
 * split over devices. A parameter is an argument of the job, a number of its system, or one of the
 * chip of its devices, on which its operators are simulated.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/chip/energy.h"
#include "core/chip/soc.h"
#include "devices/jobs/energy.h"
#include "devices/jobs/turns.h"
#include "scripts/systems/group_host.h"
#include "studies/sweep/sweep.h"

enum { TEXT_BYTES_MAX = 1 << 30 };

static const char system_key[] = "system", bucket_key[] = "bucket", fault_key[] = "fault",
                  algorithm_prefix[] = "algorithm.";
const char *const sweep_job_fields[] = {bucket_key, fault_key, algorithm_prefix, NULL};

/* What a point is, apart from the job. */
struct point {
  struct arena arena;
  const char *system, *bucket, *fault; /* NULL: not given */
  const char **algorithms;             /* "all_reduce@dp=ring" */
  const char **args;                   /* of the model and its split */
  const char **sets, **chip_sets;      /* of the system, of its chip */
  size_t algorithm_count, arg_count, set_count, chip_set_count;
  const char *memory;
  struct group_description *group;
  vinci_soc *soc;
};

static void free_point(struct point *point) {
  group_host_free(point->group);
  vinci_soc_free(point->soc);
  arena_free(&point->arena);
}

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

static void take_argument(struct point *point, const char *argument) {
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

static enum vinci_status read_job(const struct sweep_study *study, struct job *job,
                                  struct vinci_diag *diag) {
  const char *path = study->spec.workload.job;
  size_t length;
  char *text = file_read_text(path, TEXT_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  enum vinci_status status = job_read(path, text, length, job, diag);
  free(text);
  return status;
}

/* The word of the job's text that names a system, kept in the arena. */
static enum vinci_status find_system(const struct sweep_study *study, struct point *point,
                                     struct vinci_diag *diag) {
  struct job job;
  if (point->system)
    return VINCI_OK;
  if (study->spec.workload.job) {
    enum vinci_status status = read_job(study, &job, diag);
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

/* Behind those of the system or of its chip, as the key is. */
static void take_set(struct point *point, const char *set, const char *key) {
  if (group_host_has(point->group, key))
    point->sets[point->set_count++] = set;
  else
    point->chip_sets[point->chip_set_count++] = set;
}

/* Numbers of all points, then those of parameters. */
static enum vinci_status take_sets(const struct sweep_study *study, size_t number,
                                   struct point *point, struct vinci_diag *diag) {
  const struct run_spec *spec = &study->spec;
  for (size_t i = 0; i < spec->set_count; i++) {
    char *key = arena_strndup(&point->arena, spec->sets[i], strcspn(spec->sets[i], "="));
    if (!key)
      return no_memory(diag);
    take_set(point, spec->sets[i], key);
  }
  for (size_t p = 0; p < study->param_count; p++) {
    const char *key = study->keys[p], *value = sweep_value(study, number, p);
    if (!value || sweep_argument(key) || sweep_is_model(key))
      continue;
    char *set = arena_alloc(&point->arena, strlen(key) + strlen(value) + 2, 1);
    if (!set)
      return no_memory(diag);
    stpcpy(stpcpy(stpcpy(set, key), "="), value);
    take_set(point, set, key);
  }
  return VINCI_OK;
}

static enum vinci_status take_workload(const struct sweep_study *study, size_t number,
                                       struct point *point, struct vinci_diag *diag) {
  struct workload workload;
  size_t most = study->spec.set_count + study->param_count + 1;
  if (!sweep_workload(study, number, &point->arena, &workload))
    return no_memory(diag);
  point->algorithms = ARENA_ARRAY(&point->arena, const char *, workload.arg_count + 1);
  point->args = ARENA_ARRAY(&point->arena, const char *, workload.arg_count + 1);
  point->sets = ARENA_ARRAY(&point->arena, const char *, most);
  point->chip_sets = ARENA_ARRAY(&point->arena, const char *, most);
  if (!point->algorithms || !point->args || !point->sets || !point->chip_sets)
    return no_memory(diag);
  for (size_t i = 0; i < workload.arg_count; i++)
    take_argument(point, workload.args[i]);
  point->memory = study->spec.models.memory;
  for (size_t p = 0; p < study->param_count; p++)
    if (strcmp(study->keys[p], "memory") == 0 && sweep_value(study, number, p))
      point->memory = sweep_value(study, number, p);
  return VINCI_OK;
}

/* System and chip with the numbers of the point. Free in any case. */
static enum vinci_status open_point(const struct sweep_study *study, struct chip_cache *chips,
                                    size_t number, struct point *point, struct vinci_diag *diag) {
  *point = (struct point){0};
  enum vinci_status status = take_workload(study, number, point, diag);
  if (status == VINCI_OK)
    status = find_system(study, point, diag);
  if (status == VINCI_OK)
    status = group_host_load(point->system, study->data, &point->group, diag);
  if (status == VINCI_OK)
    status = take_sets(study, number, point, diag);
  for (size_t i = 0; status == VINCI_OK && i < point->set_count; i++)
    status = group_host_set(point->group, point->sets[i], diag);
  if (status != VINCI_OK)
    return status;
  const struct run_spec changes = {.sets = point->chip_sets, .set_count = point->chip_set_count};
  return chip_cache_copy(chips, point->group->chip, &changes, &point->soc, diag);
}

enum vinci_status sweep_job_digest(const struct sweep_study *study, struct chip_cache *chips,
                                   size_t number, uint64_t *out, struct vinci_diag *diag) {
  struct point point;
  enum vinci_status status = open_point(study, chips, number, &point, diag);
  if (status == VINCI_OK)
    status = group_host_fit_chip(point.group, point.soc, 1, diag);
  if (status == VINCI_OK)
    *out = digest_word(group_host_digest(point.group), soc_digest(point.soc));
  if (status == VINCI_OK && point.soc->energy)
    *out = energy_digest(point.soc->energy, *out);
  free_point(&point);
  return status;
}

/* ---- names ------------------------------------------------------------------------------- */

static enum vinci_status refuse(struct vinci_diag *diag, const char *what, const char *hint) {
  (void)diag_error(diag, VINCI_E_USAGE, "%s", what);
  diag_hint(diag, "%s", hint);
  return VINCI_E_USAGE;
}

/* What a job has not: it is of several chips, of which each operator is simulated alone. */
static enum vinci_status check_spec(const struct sweep_study *study, struct vinci_diag *diag) {
  const struct workload_models *models = &study->spec.models;
  bool names_soc = study->spec.soc != NULL,
       names_model = models->network || models->l2 || models->code;
  for (size_t p = 0; p < study->param_count; p++) {
    names_soc = names_soc || strcmp(study->keys[p], "soc") == 0;
    names_model =
        names_model || (sweep_is_model(study->keys[p]) && strcmp(study->keys[p], "memory") != 0);
  }
  if (names_soc)
    return refuse(diag, "a job runs on the chips of its system, not on one that soc names",
                  "job.system varies the system; 'vinci group show' lists them with their chips");
  if (names_model)
    return refuse(diag, "a job takes memory alone, not network, l2 or code",
                  "its operators are simulated one by one, as by 'vinci group run'");
  if (study->spec.max_cycles)
    return diag_error(diag, VINCI_E_USAGE, "a job of several devices has no limit of cycles");
  if (study->spec.workload.model && !study->steps)
    return refuse(diag,
                  "the training step of a model is made by scripts, which the library has "
                  "not",
                  "'vinci sweep' and vinci.sweep of Lua have them; a job of a file needs none");
  return VINCI_OK;
}

static enum vinci_status check_argument(const struct sweep_study *study, const char *key,
                                        struct vinci_diag *diag) {
  if (strcmp(key, system_key) == 0 || strcmp(key, bucket_key) == 0 || strcmp(key, fault_key) == 0 ||
      (is_algorithm(key) && key[sizeof algorithm_prefix - 1]))
    return VINCI_OK;
  if (study->spec.workload.model)
    return study->steps->check(study->steps->context, key, diag);
  (void)diag_error(diag, VINCI_E_USAGE, "a job of a file has no argument '%s'", key);
  diag_hint(diag, "system, bucket, fault, and algorithm.WHICH, such as algorithm.all_reduce=ring; "
                  "splits are arguments of model=MODEL.lua");
  return VINCI_E_USAGE;
}

static enum vinci_status check_arguments(const struct sweep_study *study, struct vinci_diag *diag) {
  const struct workload *workload = &study->spec.workload;
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < workload->arg_count; i++) {
    char key[128];
    snprintf(key, sizeof key, "%.*s", (int)strcspn(workload->args[i], "="), workload->args[i]);
    status = check_argument(study, key, diag);
  }
  for (size_t p = 0; status == VINCI_OK && p < study->param_count; p++) {
    const char *key = study->keys[p], *argument = sweep_argument(key);
    if (!argument)
      continue;
    if (strncmp(key, SWEEP_JOB_PREFIX, strlen(SWEEP_JOB_PREFIX)) != 0)
      return diag_error(diag, VINCI_E_USAGE, "parameter '%s': arguments of a job begin with %s",
                        key, SWEEP_JOB_PREFIX);
    status = check_argument(study, argument, diag);
  }
  return status;
}

static enum vinci_status refuse_key(const struct point *point, const char *key,
                                    struct vinci_diag *diag) {
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

static enum vinci_status check_numbers(const struct sweep_study *study, const struct point *point,
                                       struct vinci_diag *diag) {
  struct vinci_diag ignored = {0};
  for (size_t p = 0; p < study->param_count; p++) {
    const char *key = study->keys[p];
    if (sweep_argument(key) || sweep_is_model(key) || group_host_has(point->group, key))
      continue;
    if (workload_check_key(point->soc, key, &ignored) != VINCI_OK)
      return refuse_key(point, key, diag);
    if (study->spec.workload.model && strncmp(key, "energy", 6) == 0)
      return refuse(diag, "the step of a model has no energy: its text has times of operators",
                    "a job whose work names operators (op=) has an account");
  }
  return VINCI_OK;
}

/* The first point, without its parameters when one of their values is bad: that is the failure of
 * points. */
static enum vinci_status open_first(const struct sweep_study *study, struct chip_cache *chips,
                                    struct point *out, struct vinci_diag *diag) {
  struct vinci_diag problem = {.warn = diag->warn}, ignored = {0};
  struct sweep_study bare = *study;
  enum vinci_status status = open_point(study, chips, 0, out, &problem);
  if (status == VINCI_OK)
    return status;
  free_point(out);
  bare.param_count = 0;
  if (open_point(&bare, chips, 0, out, &ignored) == VINCI_OK)
    return VINCI_OK;
  *diag = problem;
  return status;
}

enum vinci_status sweep_check_job(const struct sweep_study *study, struct chip_cache *chips,
                                  struct vinci_diag *diag) {
  struct point point = {0};
  struct job job;
  enum vinci_status status = check_spec(study, diag);
  if (status == VINCI_OK)
    status = check_arguments(study, diag);
  if (status == VINCI_OK && study->spec.workload.job) { /* its mistakes are told once */
    status = read_job(study, &job, diag);
    if (status == VINCI_OK)
      job_free(&job);
  }
  if (status == VINCI_OK && study->point_count > 0) {
    status = open_first(study, chips, &point, diag);
    if (status == VINCI_OK)
      status = check_numbers(study, &point, diag);
  }
  free_point(&point);
  return status;
}

/* ---- the run ----------------------------------------------------------------------------- */

/* The job of a point; of a model also what a device holds. */
static enum vinci_status make_job(const struct sweep_study *study, const struct point *point,
                                  struct job *job, uint64_t *memory_bytes,
                                  struct vinci_diag *diag) {
  struct sweep_step step = {0};
  const char *model = study->spec.workload.model;
  if (!model)
    return read_job(study, job, diag);
  const struct sweep_step_request request = {.model = model,
                                             .data = study->data,
                                             .soc = point->group->chip,
                                             .sets = point->chip_sets,
                                             .set_count = point->chip_set_count,
                                             .memory = point->memory,
                                             .args = point->args,
                                             .arg_count = point->arg_count};
  enum vinci_status status = study->steps->make(study->steps->context, &request, &step, diag);
  if (status == VINCI_OK)
    status = job_read(model, step.text, step.length, job, diag);
  *memory_bytes = step.memory_bytes;
  free(step.text);
  return status;
}

/* What the point changes of the job. */
static enum vinci_status turn_job(const struct point *point, struct job *job,
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

static void sum_ranks(const struct group_result *found, uint32_t ranks,
                      struct sweep_job_result *out) {
  *out = (struct sweep_job_result){.time_ps = found->end_ps,
                                   .ranks = ranks,
                                   .transfers = found->transfers,
                                   .moved_bytes = found->transfer_bytes};
  for (uint32_t i = 0; i < ranks; i++) {
    const struct group_rank_result *rank = &found->ranks[i];
    out->computing_ps += rank->work_ps;
    out->exposed_ps += rank->exposed_ps;
    out->bubble_ps += rank->bubble_ps;
    out->idle_ps += rank->idle_ps;
    out->overlapped_ps += rank->comm_ps - rank->exposed_ps;
    out->slowed_ps += rank->slowed_ps;
  }
}

static enum vinci_status run_job(struct point *point, struct job *job,
                                 const struct job_kernel_options *timed,
                                 struct sweep_job_result *out, struct vinci_diag *diag) {
  struct group_result found;
  struct job_energy energy;
  struct arena arena = {0};
  enum vinci_status status = group_host_fit_chip(point->group, point->soc, job->job.ranks, diag);
  job->job.system = &point->group->system;
  if (status == VINCI_OK)
    status = turn_job(point, job, diag);
  if (status == VINCI_OK && job->kernels)
    status = job_time(job, timed, diag);
  if (status == VINCI_OK)
    status = group_run(&job->job, NULL, &arena, &found, diag);
  if (status == VINCI_OK)
    sum_ranks(&found, job->job.ranks, out);
  if (status == VINCI_OK && point->soc->energy) {
    if (job_energy_sum(job, timed, &found, &energy)) {
      out->energy = energy.work;
      energy_join(&out->energy, energy.links);
      energy_join(&out->energy, energy.time);
    } else {
      status = no_memory(diag);
    }
  }
  arena_free(&arena);
  return status;
}

enum vinci_status sweep_run_job(const struct sweep_study *study, struct chip_cache *chips,
                                size_t number,
                                bool (*progress)(void *context, size_t done, size_t all),
                                void *context, struct sweep_job_result *out,
                                struct vinci_diag *diag) {
  struct point point;
  struct job job;
  struct vinci_run_options models;
  uint64_t memory_bytes = 0;
  enum vinci_status status = open_point(study, chips, number, &point, diag);
  if (status == VINCI_OK)
    status = sweep_options(study, number, &models, diag);
  if (status == VINCI_OK)
    status = make_job(study, &point, &job, &memory_bytes, diag);
  if (status == VINCI_OK) {
    const struct job_kernel_options timed = {.soc = point.soc,
                                             .memory = models.memory,
                                             .detail = JOB_NO_RANK,
                                             .progress = progress,
                                             .progress_context = context};
    status = run_job(&point, &job, &timed, out, diag);
    out->memory_bytes = memory_bytes;
    out->device_bytes = (uint64_t)point.soc->hbm_bytes;
    job_free(&job);
  }
  free_point(&point);
  return status;
}

/* ---- cells ------------------------------------------------------------------------------- */

/* Names never change their meaning; those of gates (studies/gate/measure_job.c) are among them. */
#define JOB_CELLS(X)                                                                               \
  X("job.time_ps", time_ps)                                                                        \
  X("job.computing_ps", computing_ps)                                                              \
  X("job.exposed_ps", exposed_ps)                                                                  \
  X("job.bubble_ps", bubble_ps)                                                                    \
  X("job.idle_ps", idle_ps)                                                                        \
  X("job.overlapped_ps", overlapped_ps)                                                            \
  X("job.slowed_ps", slowed_ps)                                                                    \
  X("job.ranks", ranks)                                                                            \
  X("job.transfers", transfers)                                                                    \
  X("job.moved_bytes", moved_bytes)                                                                \
  X("job.memory_bytes", memory_bytes)                                                              \
  X("job.device_bytes", device_bytes)

void sweep_job_header(FILE *out) {
#define X(name, member) fputs("," name, out);
  JOB_CELLS(X)
#undef X
}

void sweep_job_cells(const struct sweep_job_result *result, FILE *out) {
  static const struct sweep_job_result none;
  const struct sweep_job_result *from = result ? result : &none;
  const struct {
    uint64_t value;
    bool empty; /* a job of a file does not say what a device holds */
  } cells[] = {
#define X(name, member) {from->member, &from->member == &from->memory_bytes && !from->member},
      JOB_CELLS(X)
#undef X
  };
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
    if (result && !cells[i].empty)
      fprintf(out, ",%" PRIu64, cells[i].value);
    else
      fputc(',', out);
}
