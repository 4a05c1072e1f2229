/* SPDX-License-Identifier: Apache-2.0 */
/* Points that are jobs of several devices (studies/job/point.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/chip/energy.h"
#include "core/chip/soc.h"
#include "devices/results/energy.h"
#include "studies/job/point.h"
#include "studies/sweep/sweep.h"

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

/* ---- what a point is --------------------------------------------------------------------- */

/* Numbers of all points, then those of parameters. */
static const char **list_sets(const struct sweep_study *study, size_t number, struct arena *arena,
                              size_t *count) {
  const struct run_spec *spec = &study->spec;
  const char **sets = ARENA_ARRAY(arena, const char *, spec->set_count + study->param_count + 1);
  *count = 0;
  for (size_t i = 0; sets && i < spec->set_count; i++)
    sets[(*count)++] = spec->sets[i];
  for (size_t p = 0; sets && p < study->param_count; p++) {
    const char *key = study->keys[p], *value = sweep_value(study, number, p);
    if (!value || sweep_argument(key) || sweep_is_model(key))
      continue;
    char *set = arena_alloc(arena, strlen(key) + strlen(value) + 2, 1);
    if (!set)
      return NULL;
    stpcpy(stpcpy(stpcpy(set, key), "="), value);
    sets[(*count)++] = set;
  }
  return sets;
}

/* A point, and the texts that it is made of. */
struct study_point {
  struct job_point point;
  struct arena arena;
};

static void free_point(struct study_point *own) {
  job_point_free(&own->point);
  arena_free(&own->arena);
}

/* System and chip with the numbers of the point. Free in any case. */
static enum vinci_status open_point(const struct sweep_study *study, struct chip_cache *chips,
                                    size_t number, struct study_point *own,
                                    struct vinci_diag *diag) {
  struct workload workload;
  size_t count;
  *own = (struct study_point){0};
  if (!sweep_workload(study, number, &own->arena, &workload) ||
      !job_point_begin(&own->point, &workload, study->data))
    return no_memory(diag);
  own->point.memory = study->spec.models.memory;
  for (size_t p = 0; p < study->param_count; p++)
    if (strcmp(study->keys[p], "memory") == 0 && sweep_value(study, number, p))
      own->point.memory = sweep_value(study, number, p);
  const char **sets = list_sets(study, number, &own->arena, &count);
  return sets ? job_point_open(&own->point, sets, count, chips, diag) : no_memory(diag);
}

enum vinci_status sweep_job_digest(const struct sweep_study *study, struct chip_cache *chips,
                                   size_t number, uint64_t *out, struct vinci_diag *diag) {
  struct study_point own;
  enum vinci_status status = open_point(study, chips, number, &own, diag);
  const struct job_point *point = &own.point;
  if (status == VINCI_OK)
    status = group_host_fit_chip(point->group, point->soc, 1, diag);
  if (status == VINCI_OK)
    *out = digest_word(group_host_digest(point->group), soc_digest(point->soc));
  if (status == VINCI_OK && point->soc->energy)
    *out = energy_digest(point->soc->energy, *out);
  free_point(&own);
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
    return job_point_lacks_steps(diag);
  return VINCI_OK;
}

static enum vinci_status check_argument(const struct sweep_study *study, const char *key,
                                        struct vinci_diag *diag) {
  struct vinci_diag ignored = {0};
  if (!study->spec.workload.model || job_point_check_argument(key, &ignored) == VINCI_OK)
    return study->spec.workload.model ? VINCI_OK : job_point_check_argument(key, diag);
  return study->steps->check(study->steps->context, key, diag);
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

static enum vinci_status check_numbers(const struct sweep_study *study,
                                       const struct job_point *point, struct vinci_diag *diag) {
  for (size_t p = 0; p < study->param_count; p++) {
    const char *key = study->keys[p];
    if (sweep_argument(key) || sweep_is_model(key) || group_host_has(point->group, key))
      continue;
    enum vinci_status status = job_point_check_key(point, key, diag);
    if (status != VINCI_OK)
      return status;
    if (study->spec.workload.model && strncmp(key, "energy", 6) == 0)
      return refuse(diag, "the step of a model has no energy: its text has times of operators",
                    "a job whose work names operators (op=) has an account");
  }
  return VINCI_OK;
}

/* The first point, without its parameters when one of their values is bad: that is the failure of
 * points. */
static enum vinci_status open_first(const struct sweep_study *study, struct chip_cache *chips,
                                    struct study_point *out, struct vinci_diag *diag) {
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
  struct study_point own = {0};
  const struct job_point file = {.job = study->spec.workload.job};
  struct job job;
  enum vinci_status status = check_spec(study, diag);
  if (status == VINCI_OK)
    status = check_arguments(study, diag);
  if (status == VINCI_OK && file.job) { /* its mistakes are told once */
    status = job_point_read(&file, &job, diag);
    if (status == VINCI_OK)
      job_free(&job);
  }
  if (status == VINCI_OK && study->point_count > 0) {
    status = open_first(study, chips, &own, diag);
    if (status == VINCI_OK)
      status = check_numbers(study, &own.point, diag);
  }
  free_point(&own);
  return status;
}

/* ---- the run ----------------------------------------------------------------------------- */

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

static enum vinci_status run_job(struct job_point *point, struct job *job,
                                 const struct job_kernel_options *timed,
                                 struct sweep_job_result *out, struct vinci_diag *diag) {
  struct group_result found;
  struct job_energy energy;
  struct arena arena = {0};
  enum vinci_status status = job_point_run(point, job, timed, NULL, &arena, &found, diag);
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
  struct study_point own;
  struct job job;
  struct vinci_run_options models;
  uint64_t memory_bytes = 0;
  enum vinci_status status = open_point(study, chips, number, &own, diag);
  if (status == VINCI_OK)
    status = sweep_options(study, number, &models, diag);
  if (status == VINCI_OK)
    status = job_point_make(&own.point, study->steps, &job, &memory_bytes, diag);
  if (status == VINCI_OK) {
    const struct job_kernel_options timed = {.soc = own.point.soc,
                                             .memory = models.memory,
                                             .detail = JOB_NO_RANK,
                                             .progress = progress,
                                             .progress_context = context};
    status = run_job(&own.point, &job, &timed, out, diag);
    out->memory_bytes = memory_bytes;
    out->device_bytes = (uint64_t)own.point.soc->hbm_bytes;
    job_free(&job);
  }
  free_point(&own);
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
