/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a job's ranks over time (memory.h). */
#include "devices/results/memory.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "devices/results/classes.h"

enum { US_DIGITS = 6 };
#define US(ps) decimal_exact(ps, US_DIGITS).text

void job_keep_level(void *context, const struct group_held *held) {
  struct job_levels *levels = context;
  if (levels->count == levels->capacity) {
    size_t capacity = levels->capacity ? 2 * levels->capacity : 256;
    struct group_held *items = realloc(levels->items, capacity * sizeof *items);
    if (!items) {
      levels->short_of_memory = true;
      return;
    }
    levels->items = items;
    levels->capacity = capacity;
  }
  levels->items[levels->count++] = *held;
}

void job_levels_free(struct job_levels *levels) { free(levels->items); }

/* ---- over time ---------------------------------------------------------------------------------
 */

/* A name changes once at a time. */
static int by_rank_and_time(const void *left, const void *right) {
  const struct group_held *a = left, *b = right;
  if (a->rank != b->rank)
    return a->rank < b->rank ? -1 : 1;
  if (a->time_ps != b->time_ps)
    return a->time_ps < b->time_ps ? -1 : 1;
  return a->memory < b->memory ? -1 : a->memory > b->memory;
}

struct putting {
  const struct group_job *job;
  const struct job_classes *classes;
  uint64_t *held, total; /* of the rank whose rows are written, by name */
  FILE *out;
};

/* The changes of one rank at one time. */
static void put_time(struct putting *putting, const struct group_held *changes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint64_t *held = &putting->held[changes[i].memory];
    putting->total += changes[i].bytes - *held;
    *held = changes[i].bytes;
  }
  for (size_t i = 0; i < count; i++) {
    uint32_t class = putting->classes->of[changes[i].rank];
    fprintf(putting->out, "%" PRIu32 ",", class);
    job_classes_put_ranks(putting->classes, putting->job->ranks, class, putting->out);
    fprintf(putting->out, ",%s,", US(changes[i].time_ps));
    cell_write(putting->out, putting->job->memories[changes[i].memory]);
    fprintf(putting->out, ",%" PRIu64 ",%" PRIu64 "\n", changes[i].bytes, putting->total);
  }
}

static void put_all(struct putting *putting, const struct job_levels *levels) {
  const struct group_held *items = levels->items;
  uint32_t names = putting->job->memory_count;
  for (size_t i = 0, next; i < levels->count; i = next) {
    if (i == 0 || items[i].rank != items[i - 1].rank) {
      putting->total = 0;
      for (uint32_t name = 0; name < names; name++)
        putting->held[name] = 0;
    }
    next = i + 1;
    while (next < levels->count && items[next].rank == items[i].rank &&
           items[next].time_ps == items[i].time_ps)
      next++;
    if (putting->classes->first[putting->classes->of[items[i].rank]] == items[i].rank)
      put_time(putting, &items[i], next - i);
  }
}

bool job_put_levels(const struct group_job *job, const struct group_result *result,
                    struct job_levels *levels, FILE *out) {
  struct job_classes classes;
  struct putting putting = {.job = job,
                            .classes = &classes,
                            .held = calloc(job->memory_count + 1, sizeof *putting.held),
                            .out = out};
  bool enough = job_classes_find(job, result, &classes) && putting.held && !levels->short_of_memory;
  fputs("class,ranks,time_us,name,bytes,all_bytes\n", out);
  if (enough && levels->count > 0) {
    qsort(levels->items, levels->count, sizeof *levels->items, by_rank_and_time);
    put_all(&putting, levels);
  }
  free(putting.held);
  job_classes_free(&classes);
  return enough;
}
