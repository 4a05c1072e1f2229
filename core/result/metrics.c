/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of a result as a flat list. */
#include "core/result/metrics.h"

#include <string.h>

#include "core/base/diag.h"

/* What is known of a network's metric. */
struct network_row {
  const char *name, *unit;
  enum metric_better better;
};

static const struct network_row *find_network_row(const char *name) {
  static const struct network_row rows[] = {
#define NETWORK_METRIC(name, unit, better, member) {name, unit, METRIC_##better},
#include "core/result/network_metrics.def"
#undef NETWORK_METRIC
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].name, name) == 0)
      return &rows[i];
  return NULL;
}

size_t network_metrics(const struct vinci_net_result *result, struct network_metric *out) {
  const struct vinci_net_result none = {0};
  const struct vinci_net_result *from = result ? result : &none;
  const struct network_metric rows[] = {
#define NETWORK_METRIC(name, unit, better, member) {name, unit, from->member},
#include "core/result/network_metrics.def"
#undef NETWORK_METRIC
  };
  _Static_assert(sizeof rows / sizeof *rows <= NETWORK_METRICS_MAX, "more metrics");
  memcpy(out, rows, sizeof rows);
  return sizeof rows / sizeof *rows;
}

enum metric_better metric_better(const char *name) {
  const struct counter *row = counter_find(name);
  const struct network_row *network = row ? NULL : find_network_row(name);
  bool of_job = strncmp(name, "job.", strlen("job.")) == 0; /* times and bytes of several devices */
  static const char energy[] = "energy.";
  if (!row && strncmp(name, energy, sizeof energy - 1) == 0)
    return METRIC_LOWER;
  return row ? row->better : network ? network->better : of_job ? METRIC_LOWER : METRIC_NEUTRAL;
}

const char *metric_unit(const char *name) {
  const struct counter *row = counter_find(name);
  const struct network_row *network = row ? NULL : find_network_row(name);
  return network ? network->unit : counter_unit_name(row ? row->unit : UNIT_COUNT);
}

static const char *const path_words[] = {
#define X(id, from, to, pipe) #id,
    PATH_LIST(X)
#undef X
};

/* What the rows take their values from. */
struct sums {
  const struct vinci_result *result;
  struct core_result cores;                /* all of them */
  struct pipe_counters active[PIPE_COUNT]; /* of the cores that ran a block */
};

static void sum_up(const struct vinci_result *result, struct sums *sums) {
  uint64_t total;
  *sums = (struct sums){.result = result};
  for (uint32_t i = 0; i < result->core_count; i++)
    counters_add_core(&sums->cores, &result->cores[i]);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    result_sum_pipe(result, (enum pipe)pipe, true, &sums->active[pipe], &total);
}

static uint64_t value_of(const struct counter *row, unsigned member, const struct sums *sums) {
  const struct vinci_result *result = sums->result;
  if (row->figure)
    return row->figure(result, member);
  switch (row->group) {
  case GROUP_PIPE:
    return counter_value(row, &sums->active[member]);
  case GROUP_CORE:
    return counter_value(row, &sums->cores);
  case GROUP_PATH: /* an array */
    return counter_value(row, (const uint64_t *)&sums->cores + member);
  case GROUP_L2:
    return counter_value(row, &result->l2);
  case GROUP_HBM:
    return counter_value(row, &result->hbm);
  case GROUP_RUN:
    break;
  }
  return counter_value(row, result);
}

/* The name with the pipe or the path in place of '*'. */
static void fill_name(char *name, const char *pattern, const char *member) {
  int before = (int)strcspn(pattern, "*");
  if (pattern[before])
    snprintf(name, METRIC_NAME_MAX, "%.*s%s%s", before, pattern, member, pattern + before + 1);
  else
    snprintf(name, METRIC_NAME_MAX, "%s", pattern);
}

static struct metric *add(struct metric_list *list, const struct counter *row, const char *member) {
  if (list->count == METRICS_MAX)
    vinci_bug("more than %d metrics", METRICS_MAX);
  struct metric *metric = &list->item[list->count++];
  *metric = (struct metric){.counter = row, .member = member};
  fill_name(metric->name, row->name, member);
  fill_name(metric->printed, row->printed, member);
  return metric;
}

static void add_row(struct metric_list *list, const struct counter *row, const struct sums *sums) {
  bool pipes = row->group == GROUP_PIPE;
  unsigned members = pipes ? PIPE_COUNT : row->group == GROUP_PATH ? PATH_COUNT : 1;
  for (unsigned member = 0; member < members; member++) {
    if (pipes && !counter_is_of(row, (enum pipe)member))
      continue;
    const char *name = pipes         ? pipe_name((enum pipe)member)
                       : members > 1 ? path_words[member]
                                     : NULL;
    struct metric *metric = add(list, row, name);
    if (!sums)
      continue;
    metric->value = value_of(row, member, sums);
    metric->unused = pipes && sums->active[member].instructions == 0;
  }
}

void metrics_collect(const struct vinci_result *result, struct metric_list *list) {
  struct sums sums;
  size_t count;
  const struct counter *rows = counter_rows(&count);
  if (result)
    sum_up(result, &sums);
  list->count = 0;
  for (size_t i = 0; i < count; i++)
    add_row(list, &rows[i], result ? &sums : NULL);
}
