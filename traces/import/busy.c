/* SPDX-License-Identifier: Apache-2.0 */
/* Busy times from the times of instructions: overlaps count once. */
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "traces/format/growing.h"
#include "traces/import/import.h"

struct interval {
  uint32_t core; /* index into cores */
  enum pipe pipe;
  uint64_t start, end;
};

struct busy_core {
  char name[64];
  enum core_kind kind;
  uint64_t first, last;
};

struct busy {
  struct growing intervals;
  struct growing cores;
};

struct busy *busy_new(void) {
  return calloc(1, sizeof(struct busy));
}

void busy_free(struct busy *busy) {
  if (!busy)
    return;
  growing_free(&busy->intervals);
  growing_free(&busy->cores);
  free(busy);
}

static struct busy_core *core_at(const struct busy *busy, size_t index) {
  return (struct busy_core *)busy->cores.data + index;
}

/* The number of a core; SIZE_MAX when memory is short. */
static size_t find_core(struct busy *busy, const char *name, enum core_kind kind) {
  size_t i = busy->cores.count;
  while (i > 0 && strcmp(core_at(busy, i - 1)->name, name) != 0)
    i--;
  if (i > 0)
    return i - 1;
  struct busy_core *core = GROWING_PUSH(&busy->cores, struct busy_core);
  if (!core)
    return SIZE_MAX;
  *core = (struct busy_core){.kind = kind, .first = UINT64_MAX};
  snprintf(core->name, sizeof core->name, "%s", name);
  return busy->cores.count - 1;
}

bool busy_add(struct busy *busy, const char *name, enum pipe pipe, uint64_t start, uint64_t end) {
  enum core_kind kind;
  if (!import_core_kind(name, &kind))
    return true;
  size_t index = find_core(busy, name, kind);
  if (index == SIZE_MAX)
    return false;
  struct busy_core *core = core_at(busy, index);
  core->first = min_u64(core->first, start);
  core->last = max_u64(core->last, end);
  if (import_row_of(kind, pipe) == IMPORT_ROWS)
    return true;
  struct interval *interval = GROWING_PUSH(&busy->intervals, struct interval);
  if (interval)
    *interval = (struct interval){(uint32_t)index, pipe, start, end};
  return interval != NULL;
}

static int by_pipe_and_start(const void *left, const void *right) {
  const struct interval *a = left, *b = right;
  if (a->core != b->core)
    return a->core < b->core ? -1 : 1;
  if (a->pipe != b->pipe)
    return a->pipe < b->pipe ? -1 : 1;
  return a->start != b->start ? (a->start < b->start ? -1 : 1) : 0;
}

static uint64_t to_ps(uint64_t time, uint64_t ps, uint64_t units) {
  return (uint64_t)((uint128)time * ps / units);
}

/* Sums in *sum by kind and pipe. */
static void sum_intervals(struct busy *busy, uint64_t sum[CORE_KIND_COUNT][PIPE_COUNT]) {
  struct interval *intervals = busy->intervals.data;
  size_t count = busy->intervals.count;
  uint64_t reached = 0;
  if (count > 0)
    qsort(intervals, count, sizeof *intervals, by_pipe_and_start);
  for (size_t i = 0; i < count; i++) {
    const struct interval *interval = &intervals[i];
    if (i == 0 || interval->core != intervals[i - 1].core ||
        interval->pipe != intervals[i - 1].pipe)
      reached = 0;
    uint64_t start = max_u64(interval->start, reached);
    if (interval->end <= start)
      continue;
    sum[core_at(busy, interval->core)->kind][interval->pipe] += interval->end - start;
    reached = interval->end;
  }
}

bool busy_total(const struct busy *busy, enum core_kind kind, uint64_t *out) {
  bool any = false;
  *out = 0;
  for (size_t i = 0; i < busy->cores.count; i++)
    if (core_at(busy, i)->kind == kind) {
      any = true;
      *out += core_at(busy, i)->last - core_at(busy, i)->first;
    }
  return any;
}

/* A pipe without instructions was idle; of the scalar unit not every source has instructions. */
void busy_report(struct busy *busy, uint64_t ps, uint64_t units, struct imported *out) {
  uint64_t sum[CORE_KIND_COUNT][PIPE_COUNT] = {{0}}, cores[CORE_KIND_COUNT] = {0};
  sum_intervals(busy, sum);
  for (size_t i = 0; i < busy->cores.count; i++)
    cores[core_at(busy, i)->kind]++;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    uint64_t total;
    if (!busy_total(busy, (enum core_kind)kind, &total))
      continue;
    import_add(&out->cell[kind == CORE_AIV ? IMPORT_AIV_TIME : IMPORT_AIC_TIME],
               to_ps(total, ps, units) / cores[kind]);
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
      enum import_row row = import_row_of((enum core_kind)kind, (enum pipe)pipe);
      bool known = pipe != PIPE_S || sum[kind][pipe] > 0;
      if (known && row < IMPORT_ROWS)
        import_add(&out->cell[row], to_ps(sum[kind][pipe], ps, units) / cores[kind]);
    }
  }
}
