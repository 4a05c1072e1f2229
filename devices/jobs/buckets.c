/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buckets of a step on a system: each sum that a search asks for is simulated alone, once, and each
 * plan is run as a job.
 */
#include "devices/plan/buckets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/file.h"
#include "devices/jobs/job.h"
#include "devices/jobs/kernels.h"
#include "devices/jobs/steps.h"

#define FIXED_BYTES (UINT64_C(25) << 20)
#define EXACT_MOST UINT64_C(1000000) /* sums x ranks: half a minute of a processor */
enum { SAMPLES_MAX = 64 };

/* A table of sums by bytes, open addressing; bytes 0: an empty place. */
struct known_sum {
  uint64_t bytes, ps;
};

struct searching {
  const struct vinci_buckets_options *options;
  const struct group_system *system;
  struct arena *arena;
  struct step_table table;
  struct bucket_step step;
  struct known_sum *known;
  size_t known_room, known_count, sizes;
  struct known_sum sample[SAMPLES_MAX]; /* in the order of bytes */
  size_t sample_count;
  struct vinci_buckets_result *out;
  const char **jobs;
};

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory for buckets");
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* All devices sum at time 0, and do nothing else. */
static enum vinci_status simulate_sum(const struct searching *searching, uint64_t bytes,
                                      uint64_t *out_ps, struct vinci_diag *diag) {
  char text[256];
  struct job job;
  struct group_result result;
  int length = snprintf(text, sizeof text,
                        "job,version=1,ranks=%u\ngroup,name=data,ranks=0-%u\nprogram,ranks=0-%u\n"
                        "collective,op=all_reduce,group=data,bytes=%llu\n",
                        searching->options->ranks, searching->options->ranks - 1,
                        searching->options->ranks - 1, (unsigned long long)bytes);
  enum vinci_status status = job_read("sum", text, (size_t)length, &job, diag);
  if (status != VINCI_OK)
    return status;
  job.job.system = searching->system;
  status = group_run(&job.job, NULL, &job.arena, &result, diag);
  if (status == VINCI_OK)
    *out_ps = result.end_ps;
  job_free(&job);
  return status;
}

static struct known_sum *find_sum(const struct searching *searching, uint64_t bytes) {
  size_t mask = searching->known_room - 1;
  size_t at = (size_t)((bytes * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & mask;
  while (searching->known[at].bytes != 0 && searching->known[at].bytes != bytes)
    at = (at + 1) & mask;
  return &searching->known[at];
}

static enum vinci_status exact_cost(void *context, uint64_t bytes, uint64_t *out_ps,
                                    struct vinci_diag *diag) {
  struct searching *searching = context;
  const struct vinci_buckets_options *options = searching->options;
  struct known_sum *sum = find_sum(searching, bytes);
  enum vinci_status status = VINCI_OK;
  if (sum->bytes == 0) {
    if (options->progress &&
        !options->progress(options->progress_context, searching->known_count, searching->sizes))
      return diag_error(diag, VINCI_E_LIMIT, "interrupted after %zu of %zu sums",
                        searching->known_count, searching->sizes);
    status = simulate_sum(searching, bytes, &sum->ps, diag);
    if (status != VINCI_OK)
      return status;
    sum->bytes = bytes;
    searching->known_count++;
  }
  *out_ps = sum->ps;
  return VINCI_OK;
}

/* A straight line between the two samples around; both ends are samples. */
static enum vinci_status sampled_cost(void *context, uint64_t bytes, uint64_t *out_ps,
                                      struct vinci_diag *diag) {
  const struct searching *searching = context;
  size_t i = 1;
  (void)diag;
  while (i + 1 < searching->sample_count && searching->sample[i].bytes < bytes)
    i++;
  const struct known_sum *low = &searching->sample[i - 1], *high = &searching->sample[i];
  *out_ps = low->ps;
  if (searching->sample_count == 1 || high->bytes == low->bytes)
    return VINCI_OK;
  uint64_t part = bytes - low->bytes, whole = high->bytes - low->bytes;
  bool up = high->ps >= low->ps;
  uint64_t change =
      (uint64_t)((uint128)(up ? high->ps - low->ps : low->ps - high->ps) * part / whole);
  *out_ps = up ? low->ps + change : low->ps - change;
  return VINCI_OK;
}

/* The smallest gradient, each double of that, and all together: what one would measure on a
 * cluster. */
static enum vinci_status take_samples(struct searching *searching, struct vinci_diag *diag) {
  const struct bucket_step *step = &searching->step;
  uint64_t least = UINT64_MAX, most = step->bytes[step->count];
  for (size_t i = 0; i < step->count; i++)
    least = min_u64(least, step->bytes[i + 1] - step->bytes[i]);
  for (uint64_t bytes = least; searching->sample_count + 1 < SAMPLES_MAX; bytes *= 2) {
    struct known_sum *sample = &searching->sample[searching->sample_count++];
    sample->bytes = min_u64(bytes, most);
    enum vinci_status status = exact_cost(searching, sample->bytes, &sample->ps, diag);
    if (status != VINCI_OK || bytes >= most)
      return status;
  }
  return VINCI_OK;
}

/* ---- the step ------------------------------------------------------------------------------- */

static enum vinci_status time_operators(struct searching *searching, const vinci_soc *soc,
                                        struct vinci_diag *diag) {
  struct step_table *table = &searching->table;
  struct job_kernel_options options = {.soc = soc,
                                       .memory = VINCI_MEMORY_FLAT,
                                       .detail = JOB_NO_RANK,
                                       .progress = searching->options->progress,
                                       .progress_context = searching->options->progress_context};
  char *text = NULL;
  size_t length = 0;
  struct job job;
  FILE *file = open_memstream(&text, &length);
  if (!file)
    return no_memory(diag);
  step_write_job(table, 2, NULL, file);
  if (!file_close_text(file, &text)) {
    return no_memory(diag);
  }
  enum vinci_status status = job_read(table->path, text, length, &job, diag);
  free(text);
  if (status != VINCI_OK)
    return status;
  struct vinci_diag own = {0};
  status = job_time(&job, &options, &own);
  if (status != VINCI_OK && own.line > STEP_JOB_HEAD && own.line - STEP_JOB_HEAD <= table->count)
    own.line = table->rows[own.line - STEP_JOB_HEAD - 1].line; /* of the job: of the table */
  if (status != VINCI_OK && diag)
    *diag = own;
  const struct group_stream *work = &job.job.programs[0]->streams[0];
  for (size_t i = 0; status == VINCI_OK && i < table->count && i < work->count; i++)
    table->rows[i].work_ps = work->ops[i].duration_ps;
  job_free(&job);
  return status;
}

static size_t count_sizes(const struct bucket_step *step) {
  return step->count * (step->count + 1) / 2;
}

/* Gradients in their order, with the sums of work and bytes before them. */
static enum vinci_status begin(struct searching *searching, struct vinci_diag *diag) {
  const struct step_table *table = &searching->table;
  size_t count = table->gradients, gradient = 0;
  uint64_t *ready_ps = ARENA_ARRAY(searching->arena, uint64_t, count + 1);
  uint64_t *bytes = ARENA_ARRAY(searching->arena, uint64_t, count + 1), work_ps = 0;
  const char **names = ARENA_ARRAY(searching->arena, const char *, count);
  searching->step = (struct bucket_step){count, ready_ps, bytes};
  searching->sizes = count_sizes(&searching->step);
  searching->known_room = 256;
  while (searching->known_room < 2 * (searching->sizes + SAMPLES_MAX))
    searching->known_room *= 2;
  searching->known = ARENA_ARRAY(searching->arena, struct known_sum, searching->known_room);
  if (!ready_ps || !bytes || !names || !searching->known)
    return no_memory(diag);
  for (size_t i = 0; i < table->count; i++) {
    work_ps += table->rows[i].work_ps;
    if (table->rows[i].bytes == 0)
      continue;
    names[gradient++] = table->rows[i].name;
    ready_ps[gradient] = work_ps;
    bytes[gradient] = bytes[gradient - 1] + table->rows[i].bytes;
  }
  *searching->out = (struct vinci_buckets_result){
      .ranks = searching->options->ranks,
      .gradients = count,
      .names = names,
      .gradient_bytes = bytes[count],
      .work_ps = work_ps,
      .closed_bytes = 2 * (uint64_t)(searching->options->ranks - 1) * bytes[count],
      .sizes = searching->sizes};
  return VINCI_OK;
}

/* ---- plans ---------------------------------------------------------------------------------- */

static enum vinci_status run_plan(struct searching *searching, enum vinci_bucket_plan_id id,
                                  struct vinci_diag *diag) {
  struct vinci_bucket_plan *plan = &searching->out->plans[id];
  struct job job;
  struct group_result result;
  enum vinci_status status =
      job_read(searching->table.path, searching->jobs[id], strlen(searching->jobs[id]), &job, diag);
  if (status != VINCI_OK)
    return status;
  job.job.system = searching->system;
  status = group_run(&job.job, NULL, &job.arena, &result, diag);
  if (status == VINCI_OK) {
    plan->simulated_ps = result.end_ps;
    plan->exposed_ps = result.ranks[0].exposed_ps;
    plan->moved_bytes = result.transfer_bytes;
  }
  job_free(&job);
  return status;
}

static enum vinci_status write_job(struct searching *searching, enum vinci_bucket_plan_id id,
                                   const bool *ends, struct vinci_diag *diag) {
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (!file)
    return no_memory(diag);
  step_write_job(&searching->table, searching->options->ranks, ends, file);
  bool good = file_close_text(file, &text);
  searching->jobs[id] = good ? arena_strndup(searching->arena, text, length) : NULL;
  free(text);
  return searching->jobs[id] ? VINCI_OK : no_memory(diag);
}

/* Where buckets end by a plan. */
static enum vinci_status choose(struct searching *searching, enum vinci_bucket_plan_id id,
                                bool *ends, struct vinci_diag *diag) {
  const struct bucket_step *step = &searching->step;
  uint64_t fixed = searching->options->fixed_bytes, end_ps;
  for (size_t i = 0; i < step->count; i++)
    ends[i] = id == VINCI_BUCKETS_EACH || i + 1 == step->count;
  if (id == VINCI_BUCKETS_FIXED)
    buckets_fixed(step, fixed ? fixed : FIXED_BYTES, ends);
  if (id == VINCI_BUCKETS_TUNED)
    return buckets_best(step, sampled_cost, searching, searching->arena, ends, &end_ps, diag);
  if (id != VINCI_BUCKETS_OPTIMUM)
    return VINCI_OK;
  enum vinci_status status =
      buckets_best(step, exact_cost, searching, searching->arena, ends, &end_ps, diag);
  return status != VINCI_OK
             ? status
             : buckets_fewest(step, exact_cost, searching, max_u64(end_ps, searching->out->work_ps),
                              searching->arena, ends, diag);
}

static enum vinci_status make_plan(struct searching *searching, enum vinci_bucket_plan_id id,
                                   struct vinci_diag *diag) {
  struct vinci_bucket_plan *plan = &searching->out->plans[id];
  size_t count = searching->step.count;
  bool *ends = ARENA_ARRAY(searching->arena, bool, count);
  struct vinci_bucket *buckets = ARENA_ARRAY(searching->arena, struct vinci_bucket, count);
  if (!ends || !buckets)
    return no_memory(diag);
  enum vinci_status status = choose(searching, id, ends, diag);
  if (status == VINCI_OK)
    status =
        buckets_place(&searching->step, ends, exact_cost, searching, buckets, &plan->count, diag);
  if (status == VINCI_OK)
    status = write_job(searching, id, ends, diag);
  if (status != VINCI_OK)
    return status;
  plan->there = true;
  plan->buckets = buckets;
  plan->end_ps = max_u64(searching->out->work_ps, buckets[plan->count - 1].end_ps);
  return run_plan(searching, id, diag);
}

/* Shorter, or as short with fewer sums. */
static bool is_better(const struct vinci_bucket_plan *a, const struct vinci_bucket_plan *b) {
  return a->simulated_ps != b->simulated_ps ? a->simulated_ps < b->simulated_ps
                                            : a->count < b->count;
}

static enum vinci_status make_plans(struct searching *searching, struct vinci_diag *diag) {
  struct vinci_buckets_result *out = searching->out;
  bool exact = searching->options->exact ||
               (uint64_t)searching->sizes * searching->options->ranks <= EXACT_MOST;
  enum vinci_status status = take_samples(searching, diag);
  for (unsigned id = 0; status == VINCI_OK && id < VINCI_BUCKET_PLANS; id++) {
    if (id == VINCI_BUCKETS_OPTIMUM && !exact)
      continue;
    status = make_plan(searching, (enum vinci_bucket_plan_id)id, diag);
    if (status == VINCI_OK && is_better(&out->plans[id], &out->plans[out->best]))
      out->best = (enum vinci_bucket_plan_id)id;
  }
  if (status == VINCI_OK && exact && searching->step.count <= BUCKETS_ENUMERATED_MAX)
    status = buckets_enumerate(&searching->step, exact_cost, searching, &out->enumerated_ps, diag);
  if (out->enumerated_ps > 0)
    out->enumerated_ps = max_u64(out->enumerated_ps, out->work_ps);
  out->simulated = searching->known_count;
  return status;
}

enum vinci_status group_buckets_text(const char *path, const char *text, size_t length,
                                     const struct vinci_buckets_options *options,
                                     group_find_system *find_system, void *context,
                                     struct arena *arena, struct vinci_buckets_result *out,
                                     const char *jobs[VINCI_BUCKET_PLANS],
                                     struct vinci_diag *diag) {
  struct searching searching = {.options = options, .arena = arena, .out = out, .jobs = jobs};
  const vinci_soc *soc = NULL;
  enum vinci_status status = step_read(path, text, length, arena, &searching.table, diag);
  if (status == VINCI_OK)
    status = find_system(context, NULL, options->ranks, &searching.system,
                         searching.table.has_operators ? &soc : NULL, diag);
  if (status == VINCI_OK && searching.table.has_operators)
    status = time_operators(&searching, soc, diag);
  if (status == VINCI_OK)
    status = begin(&searching, diag);
  return status == VINCI_OK ? make_plans(&searching, diag) : status;
}
