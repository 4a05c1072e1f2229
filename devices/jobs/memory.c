/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a job's ranks over time (memory.h). */
#include "devices/jobs/memory.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/base/sheet.h"
#include "devices/jobs/classes.h"
#include "traces/export/export.h"

#define MIB ((uint64_t)1 << 20)
enum { US_DIGITS = 6, NAMES_SHOWN = 4 };
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

uint32_t job_fullest(const struct group_job *job, const struct group_result *result) {
  uint32_t fullest = 0;
  for (uint32_t i = 1; i < job->ranks; i++)
    fullest = result->ranks[i].peak_bytes > result->ranks[fullest].peak_bytes ? i : fullest;
  return fullest;
}

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

/* ---- the peak ----------------------------------------------------------------------------------
 */

void job_memory_put(const struct group_job *job, const struct group_result *result, FILE *out) {
  uint32_t fullest = job_fullest(job, result), names = result->memory_count;
  const struct group_rank_result *rank = &result->ranks[fullest];
  fprintf(out,
          ",\n  \"memory\": {\"peak_bytes\": %" PRIu64 ", \"peak_rank\": %" PRIu32
          ", \"peak_us\": %s, \"device_bytes\": %" PRIu64 ", \"names\": [",
          rank->peak_bytes, fullest, US(rank->peak_ps), result->device_bytes);
  for (uint32_t i = 0; i < names; i++) {
    size_t at = (size_t)fullest * names + i;
    fprintf(out, "%s\n    {\"name\": ", i ? "," : "");
    json_string(out, result->memories[i]);
    fprintf(out, ", \"peak_bytes\": %" PRIu64 ", \"most_bytes\": %" PRIu64 "}",
            result->peak_held[at], result->most_held[at]);
  }
  fputs("\n  ]}", out);
}

static struct decimal mib(uint64_t bytes) { return decimal_ratio(bytes, MIB, 1); }

/* The largest name that is smaller than the one before, or comes behind one as large; names: none.
 */
static uint32_t next_largest(const uint64_t *held, uint32_t names, uint32_t before) {
  uint32_t found = names;
  for (uint32_t i = 0; i < names; i++) {
    bool behind =
        before == names || held[i] < held[before] || (held[i] == held[before] && i > before);
    if (behind && held[i] > 0 && (found == names || held[i] > held[found]))
      found = i;
  }
  return found;
}

static void put_names(const struct group_result *result, uint32_t rank, char *text, size_t size) {
  uint32_t names = result->memory_count, shown = 0;
  const uint64_t *held = &result->peak_held[(size_t)rank * names];
  uint64_t rest = result->ranks[rank].peak_bytes;
  size_t used = 0;
  for (uint32_t i = next_largest(held, names, names); i < names && shown < NAMES_SHOWN;
       i = next_largest(held, names, i), shown++) {
    used += (size_t)snprintf(text + used, size - used, "%s%.40s %s", shown ? ", " : "",
                             result->memories[i], mib(held[i]).text);
    rest -= held[i];
  }
  if (rest > 0)
    snprintf(text + used, size - used, ", others %s", mib(rest).text);
}

void job_memory_print(const struct group_job *job, const struct group_result *result, FILE *out) {
  char text[512] = "";
  if (result->memory_count == 0)
    return;
  uint32_t fullest = job_fullest(job, result);
  uint64_t peak = result->ranks[fullest].peak_bytes, device = result->device_bytes;
  put_names(result, fullest, text, sizeof text);
  sheet_line(out, "\nMemory: rank %" PRIu32 " holds most, %s MiB at %s ms: %s MiB\n", fullest,
             mib(peak).text,
             decimal_ratio(result->ranks[fullest].peak_ps, UINT64_C(1000000000), 3).text,
             *text ? text : "0");
  if (device > 0 && peak > device)
    sheet_line(out, "That is %s MiB more than the %s MiB of its device: the job does not fit\n",
               mib(peak - device).text, mib(device).text);
}
