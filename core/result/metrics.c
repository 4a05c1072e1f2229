/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of a result as a flat list. */
#include "core/result/metrics.h"

#include <stdarg.h>
#include <string.h>

#include "core/base/diag.h"

/*
 * Unit and direction follow from the last word of a name, or from its first. Where a rule
 * names neither, more is not better or worse: it depends on why.
 */
static const struct {
  const char *start, *end;
  const char *unit;
  enum metric_better better;
} rules[] = {
    {"total_cycles", "", "cycle", METRIC_LOWER},   {"duration_ps", "", "ps", METRIC_LOWER},
    {"instructions", "", "1", METRIC_LOWER},       {"pipe.", ".instructions", "1", METRIC_LOWER},
    {"pipe.", ".operations", "1", METRIC_NEUTRAL}, {"pipe.", "_cycles", "cycle", METRIC_NEUTRAL},
    {"vector.", "_cycles", "cycle", METRIC_LOWER}, {"bytes.", "", "byte", METRIC_LOWER},
    {"l2.", "_misses", "1", METRIC_LOWER},         {"l2.", "", "1", METRIC_NEUTRAL},
    {"hbm.", "_bytes", "byte", METRIC_LOWER},      {"noc.", "_ppm", "ppm", METRIC_NEUTRAL},
};
enum { RULE_COUNT = sizeof rules / sizeof *rules };

static size_t find_rule(const char *name) {
  size_t length = strlen(name), i = 0;
  for (; i < RULE_COUNT; i++) {
    size_t end = strlen(rules[i].end);
    if (strncmp(name, rules[i].start, strlen(rules[i].start)) == 0 && length >= end &&
        strcmp(name + length - end, rules[i].end) == 0)
      break;
  }
  return i;
}

enum metric_better metric_better(const char *name) {
  size_t rule = find_rule(name);
  return rule < RULE_COUNT ? rules[rule].better : METRIC_NEUTRAL;
}

const char *metric_unit(const char *name) {
  size_t rule = find_rule(name);
  return rule < RULE_COUNT ? rules[rule].unit : "1";
}

__attribute__((format(printf, 3, 4))) static void add(struct metric_list *list, uint64_t value,
                                                      const char *format, ...) {
  if (list->count == METRICS_MAX)
    vinci_bug("more than %d metrics", METRICS_MAX);
  struct metric *metric = &list->item[list->count++];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(metric->name, sizeof metric->name, format, arguments);
  va_end(arguments);
  metric->value = value;
  metric->unit = metric_unit(metric->name);
  metric->better = metric_better(metric->name);
}

static void add_pipes(const struct vinci_result *result, struct metric_list *list) {
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    const char *name = pipe_name((enum pipe)pipe);
    struct pipe_counters sum;
    uint64_t total;
    result_sum_pipe(result, (enum pipe)pipe, true, &sum, &total);
    add(list, sum.busy_cycles, "pipe.%s.busy_cycles", name);
    for (unsigned stall = 0; stall < STALL_COUNT; stall++)
      add(list, sum.stall_cycles[stall], "pipe.%s.%s_cycles", name, stall_key((enum stall)stall));
    add(list, sum.idle_cycles, "pipe.%s.idle_cycles", name);
    add(list, total, "pipe.%s.total_cycles", name);
    add(list, sum.instructions, "pipe.%s.instructions", name);
    add(list, sum.operations, "pipe.%s.operations", name);
  }
}

static void add_paths(const struct vinci_result *result, struct metric_list *list) {
  for (unsigned path = 0; path < PATH_COUNT; path++)
    add(list, result_path_bytes(result, (enum path)path), "bytes.%s_%s",
        space_name(path_from((enum path)path)), space_name(path_to((enum path)path)));
}

void metrics_collect(const struct vinci_result *result, struct metric_list *list) {
  uint64_t blocks = 0, bank_cycles = 0, bankgroup_cycles = 0;
  for (uint32_t i = 0; i < result->kernel_count; i++)
    blocks += result->kernels[i].blocks;
  for (uint32_t i = 0; i < result->core_count; i++) {
    bank_cycles += result->cores[i].vector_bank_cycles;
    bankgroup_cycles += result->cores[i].vector_bankgroup_cycles;
  }
  list->count = 0;
  add(list, result->total_cycles, "total_cycles");
  add(list, result->total_ps, "duration_ps");
  add(list, result->executed_instructions, "instructions");
  add(list, result->kernel_count, "kernels");
  add(list, blocks, "blocks");
  add_pipes(result, list);
  add(list, bank_cycles, "vector.bank_conflict_cycles");
  add(list, bankgroup_cycles, "vector.bankgroup_conflict_cycles");
  add_paths(result, list);
  add(list, result->l2.read_hits, "l2.read_hits");
  add(list, result->l2.read_misses, "l2.read_misses");
  add(list, result->l2.write_hits, "l2.write_hits");
  add(list, result->l2.write_misses, "l2.write_misses");
  add(list, result->l2.writebacks, "l2.writebacks");
  add(list, result->hbm.read_bytes, "hbm.read_bytes");
  add(list, result->hbm.write_bytes, "hbm.write_bytes");
  add(list, result->hbm.row_hits, "hbm.row_hits");
  add(list, result->hbm.row_misses, "hbm.row_misses");
  add(list, result->noc_max_link_ppm, "noc.max_link_ppm");
}
