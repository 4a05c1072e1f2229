/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work of a job in the order in which its device does that. The rows of a program follow each other
 * as they stand in the file, whatever their streams, and each finds in L2 and in the instruction
 * caches what those before have left. A collective has L2 write back what is dirty, and changes
 * nothing else (as in studies/ops/sequence.c, where the evidence is named). A network runs on a
 * chip of its own, and what follows finds an empty L2. Programs with the same work share its times.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/base/lookup.h"
#include "devices/jobs/kernels.h"
#include "devices/jobs/timing.h"

/* What a device does, in its order. */
struct doing {
  unsigned long line;
  struct job_use *use; /* NULL: a collective */
};

/* Of a program. */
struct doings {
  struct doing *items;
  size_t count;
  enum job_model model;
};

struct ordering {
  struct job_timing *timing;
  const struct doings *doings; /* those that run */
  size_t first;                /* the first that the engine has been asked for */
};

/* ---- what a program does --------------------------------------------------------------------- */

static int by_line(const void *left, const void *right) {
  const struct doing *a = left, *b = right;
  return (a->line > b->line) - (a->line < b->line);
}

static size_t count_collectives(const struct group_program *program) {
  size_t count = 0;
  for (uint32_t s = 0; s < program->stream_count; s++)
    for (uint32_t i = 0; i < program->streams[s].count; i++)
      count += program->streams[s].ops[i].kind == GROUP_COLLECTIVE;
  return count;
}

/* The uses of one program, sorted by their lines, and the collectives of that. */
static bool add_collectives(struct arena *arena, const struct doing *uses, size_t count,
                            struct doings *out) {
  const struct group_program *program = uses->use->program;
  out->count = count + count_collectives(program);
  out->items = ARENA_ARRAY(arena, struct doing, out->count);
  if (!out->items)
    return false;
  memcpy(out->items, uses, count * sizeof *uses);
  for (uint32_t s = 0; s < program->stream_count; s++)
    for (uint32_t i = 0; i < program->streams[s].count; i++)
      if (program->streams[s].ops[i].kind == GROUP_COLLECTIVE)
        out->items[count++] = (struct doing){program->streams[s].ops[i].line, NULL};
  qsort(out->items, out->count, sizeof *out->items, by_line);
  return true;
}

static bool is_same(const struct doings *one, const struct doings *other) {
  if (one->count != other->count || one->model != other->model)
    return false;
  for (size_t i = 0; i < one->count; i++) {
    const struct job_use *a = one->items[i].use, *b = other->items[i].use;
    if ((a ? a->kernel : NULL) != (b ? b->kernel : NULL))
      return false;
  }
  return true;
}

/* The same of all that are the same. */
static uint64_t digest(const struct doings *doings) {
  uint64_t digest = digest_word(DIGEST_SEED, doings->model);
  for (size_t i = 0; i < doings->count; i++) {
    const struct job_use *use = doings->items[i].use;
    digest = digest_word(digest, use ? use->kernel->line : 0);
  }
  return digest;
}

static const struct doings *find_same(const struct lookup *table, uint64_t key,
                                      const struct doings *known, const struct doings *doings) {
  size_t looked = 0;
  for (uintptr_t i; (i = lookup_next(table, key, &looked)) != LOOKUP_NONE;)
    if (is_same(&known[i], doings))
      return &known[i];
  return NULL;
}

/* ---- its times ------------------------------------------------------------------------------- */

static bool take_answer(void *context, size_t row, const struct order_answer *answer) {
  const struct ordering *ordering = context;
  struct job_timing *timing = ordering->timing;
  struct job_use *use = ordering->doings->items[ordering->first + row].use;
  timing->done++;
  if (answer->status != VINCI_OK) {
    (void)job_fail(timing, use->op->line, answer->status, answer->text, answer->hint);
    return false;
  }
  struct job_kernel_time *took = ARENA_NEW(&timing->job->arena, struct job_kernel_time);
  if (!took || !job_take_result(&timing->job->arena, answer->result, answer->program, took)) {
    (void)diag_error(timing->diag, VINCI_E_NOMEM, "out of memory");
    return false;
  }
  use->took = took;
  return job_goes_on(timing);
}

/* Operators up to the next network, and collectives between them. */
static enum vinci_status run_part(struct ordering *ordering, size_t first, size_t end) {
  const struct job_timing *timing = ordering->timing;
  struct arena arena = {0};
  struct vinci_diag problem = {0};
  struct order_row *rows = ARENA_ARRAY(&arena, struct order_row, end - first + 1);
  bool good = rows != NULL;
  for (size_t i = first; good && i < end; i++) {
    const struct job_use *use = ordering->doings->items[i].use;
    rows[i - first] = (struct order_row){0};
    good = !use || job_order_row(&arena, use->kernel->op, &rows[i - first]);
  }
  struct order order = job_order(timing->options, ordering->doings->model);
  ordering->first = first;
  order.rows = rows;
  order.count = end - first;
  order.answer = take_answer;
  order.context = ordering;
  enum vinci_status status = good ? timing->options->engine(&order, &problem)
                                  : diag_error(&problem, VINCI_E_NOMEM, "out of memory");
  arena_free(&arena);
  if (status == VINCI_OK)
    return VINCI_OK;
  if (timing->diag->status == VINCI_OK) /* not of a row */
    *timing->diag = problem;
  return timing->diag->status;
}

static enum vinci_status run_network(const struct ordering *ordering, struct job_use *use) {
  enum job_model model = ordering->doings->model;
  struct job_kernel_time *time = &use->kernel->time[model];
  uint32_t uses = time->uses;
  enum vinci_status status = VINCI_OK;
  if (time->duration_ps == 0) {
    status = job_time_kernel(ordering->timing, use->kernel, model, time);
    time->uses = uses;
  }
  use->took = time;
  return status;
}

static enum vinci_status run_doings(struct job_timing *timing, const struct doings *doings) {
  struct ordering ordering = {.timing = timing, .doings = doings};
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0, end; status == VINCI_OK && i < doings->count; i = end) {
    end = i;
    while (end < doings->count && !(doings->items[end].use && doings->items[end].use->kernel->net))
      end++;
    if (end > i)
      status = run_part(&ordering, i, end);
    else
      status = run_network(&ordering, doings->items[end++].use);
  }
  return status;
}

static void take_times(const struct doings *doings, const struct doings *from) {
  for (size_t i = 0; i < doings->count; i++)
    if (doings->items[i].use)
      doings->items[i].use->took = from->items[i].use->took;
}

/* ---- all programs ---------------------------------------------------------------------------- */

/* Uses of all programs by their lines; a program has lines of its own. */
static struct doing *sort_uses(const struct job *job, struct arena *arena, size_t *count) {
  *count = 0;
  for (const struct job_use *use = job->uses; use; use = use->next)
    ++*count;
  struct doing *uses = ARENA_ARRAY(arena, struct doing, *count + 1);
  if (!uses)
    return NULL;
  size_t i = 0;
  for (struct job_use *use = job->uses; use; use = use->next)
    uses[i++] = (struct doing){use->op->line, use};
  qsort(uses, *count, sizeof *uses, by_line);
  return uses;
}

/* Sums, and then means, of kernels that each use has a time of its own of. */
static void sum_up(const struct job *job, const struct job_kernel_options *options) {
  for (const struct job_use *use = job->uses; use; use = use->next) {
    struct job_kernel_time *time = &use->kernel->time[job_model_of(job, options, use)];
    const struct job_kernel_time *took = use->took;
    if (took == time)
      continue;
    bool first = time->duration_ps == 0;
    time->shortest_ps = first ? took->duration_ps : min_u64(time->shortest_ps, took->duration_ps);
    time->longest_ps = max_u64(time->longest_ps, took->duration_ps);
    time->duration_ps += took->duration_ps;
    time->hbm_bytes += took->hbm_bytes;
    time->launches = took->launches;
    time->blocks = took->blocks;
    time->bound = took->bound;
    time->program = took->program;
  }
  for (struct job_kernel *kernel = job->kernels; kernel; kernel = kernel->next)
    for (unsigned model = 0; model < JOB_MODELS && kernel->op; model++) {
      struct job_kernel_time *time = &kernel->time[model];
      time->duration_ps /= time->uses ? time->uses : 1;
      time->hbm_bytes /= time->uses ? time->uses : 1;
    }
}

static enum vinci_status run_programs(struct job_timing *timing, const struct doing *uses,
                                      size_t count, struct arena *arena) {
  struct doings *known = ARENA_ARRAY(arena, struct doings, count + 1);
  struct lookup table = {0}; /* of those that are known */
  enum vinci_status status =
      known ? VINCI_OK : diag_error(timing->diag, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0, end; status == VINCI_OK && i < count; i = end) {
    struct doings *doings = &known[table.count];
    for (end = i + 1; end < count && uses[end].use->program == uses[i].use->program;)
      end++;
    doings->model = job_model_of(timing->job, timing->options, uses[i].use);
    if (!add_collectives(arena, &uses[i], end - i, doings))
      return diag_error(timing->diag, VINCI_E_NOMEM, "out of memory");
    uint64_t key = digest(doings);
    const struct doings *same = find_same(&table, key, known, doings);
    if (same)
      take_times(doings, same);
    else if (lookup_add(&table, arena, key, table.count))
      status = run_doings(timing, doings);
    else
      status = diag_error(timing->diag, VINCI_E_NOMEM, "out of memory");
  }
  return status;
}

enum vinci_status job_time_sequence(struct job_timing *timing) {
  struct arena arena = {0};
  size_t count;
  const struct doing *uses = sort_uses(timing->job, &arena, &count);
  timing->all = count;
  enum vinci_status status = uses ? run_programs(timing, uses, count, &arena)
                                  : diag_error(timing->diag, VINCI_E_NOMEM, "out of memory");
  arena_free(&arena);
  if (status == VINCI_OK)
    sum_up(timing->job, timing->options);
  return status;
}
