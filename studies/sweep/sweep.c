/* SPDX-License-Identifier: Apache-2.0 */
/* The sweep of the public interface: what is to be run, the run, the table. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "studies/sweep/sweep.h"

/* ---- opening ----------------------------------------------------------------------------- */

/* Points that name a state of L2 of their own have said so. */
static void keep_warning(vinci_sweep *sweep) {
  const struct sweep_study *study = &sweep->study;
  const char *assumed = study->spec.models.l2;
  for (size_t i = 0; i < study->param_count; i++)
    if (strcmp(study->keys[i], "l2") == 0)
      assumed = "by the study";
  (void)workload_l2_warning(study->keys, study->param_count, assumed, sweep->warning,
                            sizeof sweep->warning);
}

enum vinci_status vinci_sweep_open(const char *const *arguments, size_t argument_count,
                                   const struct vinci_sweep_options *options, vinci_sweep **out,
                                   struct vinci_diag *diag) {
  return sweep_open_with(arguments, argument_count, options, NULL, out, diag);
}

enum vinci_status sweep_open_with(const char *const *arguments, size_t argument_count,
                                  const struct vinci_sweep_options *options,
                                  const struct model_steps *steps, vinci_sweep **out,
                                  struct vinci_diag *diag) {
  static const struct vinci_sweep_options defaults = {.struct_size = sizeof defaults};
  const struct vinci_sweep_options *given = options ? options : &defaults;
  *out = NULL;
  if (given->struct_size != sizeof *given)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the sweep options is %zu, not %zu",
                      given->struct_size, sizeof *given);
  vinci_sweep *sweep = calloc(1, sizeof *sweep);
  if (!sweep)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  sweep->study.steps = steps;
  enum vinci_status status =
      sweep_study_open(&sweep->study, arguments, argument_count, given, diag);
  if (status != VINCI_OK) {
    vinci_sweep_free(sweep);
    return status;
  }
  sweep->chips.data = sweep->study.data;
  keep_warning(sweep);
  *out = sweep;
  return VINCI_OK;
}

size_t vinci_sweep_point_count(const vinci_sweep *sweep) { return sweep->study.point_count; }

const char *vinci_sweep_warning(const vinci_sweep *sweep) {
  return sweep->warning[0] ? sweep->warning : NULL;
}

void vinci_sweep_free(vinci_sweep *sweep) {
  if (!sweep)
    return;
  chip_cache_free(&sweep->chips);
  sweep_study_free(&sweep->study);
  free(sweep);
}

/* ---- what is to be run --------------------------------------------------------------------- */

struct shard {
  uint64_t index, count;
  char name[64];
};

static void name_shard(const struct vinci_sweep_run_options *options, struct shard *shard) {
  *shard = (struct shard){.count = 1, .name = "local"};
  if (options->shard_count == 0)
    return;
  shard->index = options->shard_index;
  shard->count = options->shard_count;
  snprintf(shard->name, sizeof shard->name, "shard-%llu-of-%llu", (unsigned long long)shard->index,
           (unsigned long long)shard->count);
}

struct seen_id {
  uint64_t id;
  uint32_t point;
};

static int compare_seen(const void *left, const void *right) {
  const struct seen_id *a = left, *b = right;
  if (a->id != b->id)
    return a->id < b->id ? -1 : 1;
  return a->point < b->point ? -1 : a->point > b->point;
}

static int compare_points(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

/* The points of the shard that no record holds, each identity once, in order. */
static enum vinci_status list_todo(const struct sweep_study *study, const struct shard *shard,
                                   const struct sweep_records *records, uint32_t **out,
                                   size_t *count, struct vinci_diag *diag) {
  struct seen_id *seen = calloc(study->point_count + 1, sizeof *seen);
  uint32_t *todo = calloc(study->point_count + 1, sizeof *todo);
  *count = 0;
  *out = todo;
  if (!seen || !todo) {
    free(seen);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  for (size_t i = 0; i < study->point_count; i++)
    seen[i] = (struct seen_id){study->ids[i], (uint32_t)i};
  qsort(seen, study->point_count, sizeof *seen, compare_seen);
  for (size_t i = 0; i < study->point_count; i++) {
    const struct sweep_record *record = sweep_records_find(records, seen[i].id);
    bool again = i > 0 && seen[i].id == seen[i - 1].id;
    if (!again && (!record || record->crashed) && seen[i].point % shard->count == shard->index)
      todo[(*count)++] = seen[i].point;
  }
  qsort(todo, *count, sizeof *todo, compare_points);
  free(seen);
  return VINCI_OK;
}

/* ---- the run ------------------------------------------------------------------------------- */

static enum vinci_status run_pool(struct sweep_pool *pool, const struct shard *shard,
                                  uint64_t max_points, struct vinci_diag *diag) {
  const struct sweep_study *study = pool->study;
  struct sweep_records records;
  uint32_t *todo = NULL;
  size_t count = 0, open = study->point_count;
  enum vinci_status status = sweep_records_read(pool->folder, &records, diag);
  if (status == VINCI_OK)
    status = list_todo(study, shard, &records, &todo, &count, diag);
  sweep_records_free(&records);
  if (status == VINCI_OK)
    open = count;
  if (max_points && count > max_points)
    count = (size_t)max_points;
  pool->todo = todo;
  pool->todo_count = count;
  pool->reused = shard->count == 1 ? study->point_count - open : 0;
  if (status == VINCI_OK && count > 0)
    status = sweep_pool_run(pool, diag);
  free(todo);
  pool->todo = NULL;
  if (status == VINCI_OK && pool->interrupted)
    status =
        diag_error(diag, VINCI_E_LIMIT,
                   "interrupted; what is done is kept in %s, run it again to go on", pool->folder);
  return status;
}

static enum vinci_status check_options(const struct vinci_sweep_run_options *options,
                                       struct vinci_diag *diag) {
  if (options->struct_size != sizeof *options)
    return diag_error(diag, VINCI_E_USAGE,
                      "struct_size of the run options of a sweep is %zu, not %zu",
                      options->struct_size, sizeof *options);
  if (options->jobs > SWEEP_JOBS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "jobs is at most %d, not %u", SWEEP_JOBS_MAX,
                      options->jobs);
  if (options->shard_index > 0 && options->shard_index >= options->shard_count)
    return diag_error(diag, VINCI_E_USAGE, "shard_index is not below shard_count");
  return VINCI_OK;
}

static void fill_result(const struct sweep_pool *pool, struct vinci_sweep_result *out) {
  *out = (struct vinci_sweep_result){.points = pool->todo_count,
                                     .done = pool->done,
                                     .failed = pool->failed,
                                     .reused = pool->reused,
                                     .jobs = pool->jobs,
                                     .seconds = pool->seconds,
                                     .busy_seconds = pool->busy_seconds,
                                     .waited_seconds = pool->waited_seconds};
}

/* Takes the shard in the folder for this process and says there which points it has. */
static enum vinci_status prepare(vinci_sweep *sweep, const char *folder, const struct shard *shard,
                                 struct journal *lock, struct vinci_diag *diag) {
  enum vinci_status status = sweep_identify(&sweep->study, &sweep->chips, diag);
  if (status == VINCI_OK)
    status = folder_make(folder, diag);
  if (status == VINCI_OK)
    status = sweep_lock(folder, shard->name, lock, diag);
  if (status == VINCI_OK)
    status = sweep_write_manifest(&sweep->study, folder, shard->count > 1, diag);
  if (status == VINCI_OK)
    status = folder_remove_command(folder, diag);
  if (status == VINCI_OK && shard->index == 0)
    status = sweep_write_about(&sweep->study, NULL, folder, diag);
  return status;
}

enum vinci_status vinci_sweep_run(vinci_sweep *sweep, const char *folder,
                                  const struct vinci_sweep_run_options *options,
                                  struct vinci_sweep_result *out, struct vinci_diag *diag) {
  static const struct vinci_sweep_run_options defaults = {.struct_size = sizeof defaults};
  const struct vinci_sweep_run_options *given = options ? options : &defaults;
  struct vinci_sweep_counts counts;
  struct shard shard;
  struct journal lock = {.file = -1};
  *out = (struct vinci_sweep_result){0};
  enum vinci_status status = check_options(given, diag);
  if (status != VINCI_OK)
    return status;
  name_shard(given, &shard);
  struct sweep_pool pool = {
      .study = &sweep->study,
      .chips = &sweep->chips,
      .jobs = workload_jobs(given->jobs, SWEEP_JOBS_MAX),
      .folder = folder,
      .shard = shard.name,
      .progress = given->progress,
      .progress_context = given->progress_context,
  };
  status = prepare(sweep, folder, &shard, &lock, diag);
  if (status == VINCI_OK)
    status = run_pool(&pool, &shard, given->max_points, diag);
  fill_result(&pool, out);
  if (status == VINCI_OK && shard.count == 1) {
    status = vinci_sweep_collect(folder, true, &counts, diag);
    out->points = counts.points;
    out->failed = counts.failed;
  }
  journal_close(&lock, false);
  return status;
}
