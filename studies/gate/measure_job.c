/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a job of several devices, or of the step of a model that is split: the time of the
 * step, what that of all ranks is made of, and the bytes of links. Of more than LINKS_OF_RANKS
 * ranks the links are told level by level, as sum and largest, so that a baseline stays a text that
 * people read. Less is better in each row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/chip/soc.h"
#include "studies/gate/gate.h"
#include "studies/job/point.h"

enum { LINKS_OF_RANKS = 64, NAME_BYTES = 96 };

struct measuring {
  const struct gate_point *point;
  const vinci_soc *simulated; /* the chip on which operators of the job ran; NULL: none did */
  const struct group_description *group;
  struct gate_rows *rows;
  bool failed;
};

/* ---- rows ------------------------------------------------------------------------------- */

static void add(struct measuring *own, const char *metric, const char *value, const char *unit,
                const char *kind) {
  if (!gate_rows_add(own->rows, own->point->name, metric, value, unit, kind))
    own->failed = true;
}

static void add_number(struct measuring *own, const char *metric, uint64_t value,
                       const char *unit) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  add(own, metric, text, unit, "metric");
}

static void add_digest(struct measuring *own, const char *metric, uint64_t digest) {
  char text[24];
  snprintf(text, sizeof text, "%016" PRIx64, digest);
  add(own, metric, text, "fnv1a-64", "digest");
}

/* Of the system: the numbers by key, how many devices there are, and the chip if that was used. */
static uint64_t config_digest(const struct measuring *own) {
  uint64_t digest = group_host_digest(own->group);
  return own->simulated ? digest_word(digest, soc_digest(own->simulated)) : digest;
}

static void add_links(struct measuring *own, const struct group_result *result) {
  const struct group_system *system = &own->group->system;
  uint64_t sums[GROUP_LEVELS_MAX] = {0}, most[GROUP_LEVELS_MAX] = {0};
  char limit[NAME_BYTES / 2], metric[NAME_BYTES];
  for (uint32_t i = 0; i < group_limit_count(system); i++) {
    uint32_t level = 0;
    if (result->limit_bytes[i] == 0)
      continue;
    group_limit_name(system, i, limit, sizeof limit);
    while (strncmp(limit, system->levels[level].name, strcspn(limit, " ")) != 0)
      level++;
    sums[level] += result->limit_bytes[i];
    most[level] = max_u64(most[level], result->limit_bytes[i]);
    for (char *c = limit; *c; c++)
      *c = *c == ' ' ? '.' : *c;
    snprintf(metric, sizeof metric, "job.bytes.%s", limit);
    if (system->devices <= LINKS_OF_RANKS)
      add_number(own, metric, result->limit_bytes[i], "byte");
  }
  for (uint32_t i = 0; i < system->level_count; i++) {
    if (sums[i] == 0)
      continue;
    snprintf(metric, sizeof metric, "job.bytes.%s.sum", system->levels[i].name);
    add_number(own, metric, sums[i], "byte");
    snprintf(metric, sizeof metric, "job.bytes.%s.most", system->levels[i].name);
    add_number(own, metric, most[i], "byte");
  }
}

static uint64_t cycles_of(uint64_t ps, const vinci_soc *soc) {
  return (uint64_t)((uint128)ps * (uint64_t)soc->core_hz / PS_PER_SECOND);
}

/* What the step of the rank that ends last is made of, for the words about a regression; the parts
 * lie one behind the other, so that no cycle is lost. */
static void add_parts(struct measuring *own, const struct group_result *result, uint32_t ranks,
                      const vinci_soc *soc) {
  const struct group_rank_result *last = result->ranks;
  for (uint32_t i = 1; i < ranks; i++)
    last = result->ranks[i].end_ps > last->end_ps ? &result->ranks[i] : last;
  const struct {
    const char *metric;
    uint64_t ps;
  } parts[] = {{"critical.computing.cycles", last->work_ps},
               {"critical.exposed.cycles", last->exposed_ps},
               {"critical.idle.cycles", last->idle_ps}};
  uint64_t ps = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    char text[24];
    uint64_t before = cycles_of(ps, soc);
    ps += parts[i].ps;
    snprintf(text, sizeof text, "%" PRIu64, cycles_of(ps, soc) - before);
    add(own, parts[i].metric, text, "cycle", "detail");
  }
}

static void add_times(struct measuring *own, const struct group_result *result, uint32_t ranks,
                      const vinci_soc *soc) {
  struct group_rank_result sum = {0};
  for (uint32_t i = 0; i < ranks; i++) {
    sum.work_ps += result->ranks[i].work_ps;
    sum.exposed_ps += result->ranks[i].exposed_ps;
    sum.idle_ps += result->ranks[i].idle_ps;
  }
  add_number(own, "total_cycles", cycles_of(result->end_ps, soc), "cycle");
  add_parts(own, result, ranks, soc);
  add_number(own, "job.time_ps", result->end_ps, "ps");
  add_number(own, "job.computing_ps", sum.work_ps, "ps");
  add_number(own, "job.exposed_ps", sum.exposed_ps, "ps");
  add_number(own, "job.idle_ps", sum.idle_ps, "ps");
  add_number(own, "job.transfers", result->transfers, "1");
  add_number(own, "job.moved_bytes", result->transfer_bytes, "byte");
}

/* When each rank was done, and what its time was made of. */
static uint64_t event_digest(const struct group_result *result, uint32_t ranks) {
  uint64_t digest = DIGEST_SEED;
  for (uint32_t i = 0; i < ranks; i++) {
    const struct group_rank_result *rank = &result->ranks[i];
    digest = digest_word(digest_word(digest, rank->end_ps), rank->work_ps);
    digest = digest_word(digest_word(digest, rank->exposed_ps), rank->slowed_ps);
  }
  return digest;
}

/* The text of the file. */
static enum vinci_status file_digest(const struct workload *workload, uint64_t *out,
                                     struct vinci_diag *diag) {
  const struct workload file = {.trace = workload->job ? workload->job : workload->model};
  return workload_digest(&file, out, diag);
}

/* The file, and what the point says of the split, of algorithms and so on; the system belongs to
 * digest.config. */
static uint64_t program_digest(const struct workload *workload, uint64_t file) {
  static const char system_key[] = "system=";
  for (size_t i = 0; i < workload->arg_count; i++)
    if (strncmp(workload->args[i], system_key, sizeof system_key - 1) != 0)
      file = digest_string(file, workload->args[i]);
  return file;
}

static enum vinci_status add_rows(struct measuring *own, const struct job *job,
                                  const vinci_soc *soc, const struct group_result *result,
                                  uint64_t memory_bytes, struct vinci_diag *diag) {
  const struct workload *workload = &own->point->spec.workload;
  uint32_t ranks = job->job.ranks;
  uint64_t file = 0;
  enum vinci_status status = file_digest(workload, &file, diag);
  if (status != VINCI_OK)
    return status;
  /* Which job it is says the name of the file: other rows of a job are what a gate is for. Another
   * model is another question. */
  add_digest(own, "digest.config", config_digest(own));
  add_digest(own, "digest.input", digest_word(workload->model ? file : DIGEST_SEED, ranks));
  add_digest(own, "digest.program", program_digest(workload, file));
  add_digest(own, "digest.events", event_digest(result, ranks));
  add(own, "model.revision", vinci_model_revision(), "1", "digest");
  add_times(own, result, ranks, soc);
  if (workload->model)
    add_number(own, "job.memory_bytes", memory_bytes, "byte");
  add_links(own, result);
  return own->failed ? diag_error(diag, VINCI_E_NOMEM, "out of memory") : VINCI_OK;
}

static enum vinci_status measure(struct measuring *own, struct job_point *point,
                                 const struct model_steps *steps, struct vinci_diag *diag) {
  struct vinci_run_options models = {.struct_size = sizeof models, .memory = VINCI_MEMORY_FLAT};
  struct arena arena = {0};
  struct group_result result;
  struct job job;
  uint64_t memory_bytes;
  enum vinci_status status = job_point_make(point, steps, &job, &memory_bytes, diag);
  if (status != VINCI_OK)
    return status;
  status = workload_choose(&own->point->spec.models, &models, diag);
  const struct job_kernel_options timed = {
      .soc = point->soc, .memory = models.memory, .detail = JOB_NO_RANK};
  if (status == VINCI_OK)
    status = job_point_run(point, &job, &timed, NULL, &arena, &result, diag);
  own->group = point->group;
  own->simulated = point->model || job.kernels ? point->soc : NULL;
  if (status == VINCI_OK)
    status = add_rows(own, &job, point->soc, &result, memory_bytes, diag);
  arena_free(&arena);
  job_free(&job);
  return status;
}

enum vinci_status gate_measure_job(const struct gate_point *point, struct chip_cache *chips,
                                   const struct model_steps *steps, struct gate_rows *rows,
                                   struct vinci_diag *diag) {
  struct measuring own = {.point = point, .rows = rows};
  const struct run_spec *spec = &point->spec;
  struct job_point job;
  enum vinci_status status = job_point_begin(&job, &spec->workload, chips->data)
                                 ? VINCI_OK
                                 : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  job.memory = spec->models.memory;
  if (status == VINCI_OK)
    status = job_point_open(&job, spec->sets, spec->set_count, chips, diag);
  if (status == VINCI_OK)
    status = measure(&own, &job, steps, diag);
  job_point_free(&job);
  return status;
}
