/* SPDX-License-Identifier: Apache-2.0 */
/* The table of counters: rows, sums, and the figures that are computed from counters. */
#include "core/result/result_counters.h"

#include <stddef.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/result/result_energy.h"

/* ---- figures -------------------------------------------------------------- */

static uint64_t blocks(const struct vinci_result *result, unsigned member) {
  (void)member;
  return result_blocks(result);
}

static uint64_t kernels(const struct vinci_result *result, unsigned member) {
  (void)member;
  return result->kernel_count;
}

static uint64_t bound(const struct vinci_result *result, unsigned member) {
  (void)member;
  return result_bound(result);
}

static uint64_t pipe_total_cycles(const struct vinci_result *result, unsigned pipe) {
  struct pipe_counters sum;
  uint64_t total;
  result_sum_pipe(result, (enum pipe)pipe, true, &sum, &total);
  return total;
}

static uint64_t utilization(const struct vinci_result *result, unsigned pipe) {
  struct pipe_counters sum;
  uint64_t total;
  result_sum_pipe(result, (enum pipe)pipe, true, &sum, &total);
  return result_share_ppm(sum.busy_cycles, total);
}

static uint64_t l2_hit_rate(const struct vinci_result *result, unsigned member) {
  (void)member;
  struct hits all = l2_hits(&result->l2, L2_ALL);
  return result_share_ppm(all.hits, all.hits + all.misses);
}

static uint64_t hbm_peak(const struct vinci_result *result, unsigned member) {
  (void)member;
  return result_hbm_ppm(result);
}

static uint64_t energy(const struct vinci_result *result, unsigned member) {
  struct vinci_energy whole;
  (void)member;
  (void)vinci_result_energy(result, &whole);
  return whole.pj;
}

static uint64_t energy_low(const struct vinci_result *result, unsigned member) {
  struct vinci_energy whole;
  (void)member;
  (void)vinci_result_energy(result, &whole);
  return whole.low_pj;
}

static uint64_t energy_high(const struct vinci_result *result, unsigned member) {
  struct vinci_energy whole;
  (void)member;
  (void)vinci_result_energy(result, &whole);
  return whole.high_pj;
}

#define X(id, key, text)                                                                           \
  static uint64_t energy_of_##id(const struct vinci_result *result, unsigned member) {             \
    struct vinci_energy_part part = {0};                                                           \
    (void)member;                                                                                  \
    (void)vinci_result_energy_part(result, ENERGY_PART_##id, &part);                               \
    return part.energy.pj;                                                                         \
  }
ENERGY_PARTS(X)
#undef X

/* ---- rows ----------------------------------------------------------------- */

#define ROW(group, offset, figure, name, printed, unit, better, kind, places, report, text)        \
  {GROUP_##group,   offset,      figure,   name,   printed, UNIT_##unit,                           \
   METRIC_##better, KIND_##kind, (places), report, text},
#define FIELD(group, type, field, ...) ROW(group, offsetof(struct type, field), NULL, __VA_ARGS__)
#define NAMED(group, type, field, name, ...) FIELD(group, type, field, name, name, __VA_ARGS__)
#define STALL(id, key, text, mostly)                                                               \
  FIELD(PIPE, pipe_counters, stall_cycles[STALL_##id], "pipe.*." key "_cycles",                    \
        "pipe.*.stall_cycles." key, CYCLE, NEUTRAL, SUM,                                           \
        IN_SUMMARY | IN_METRICS | IN_GATE | IN_CORES, key, text)

static const struct counter rows[] = {
#define RUN_COUNTER(field, ...) FIELD(RUN, vinci_result, field, __VA_ARGS__)
#define PIPE_COUNTER(field, ...) NAMED(PIPE, pipe_counters, field, "pipe.*." #field, __VA_ARGS__)
#define PIPE_STALLS STALL_LIST(STALL)
#define CORE_COUNTER(field, ...) NAMED(CORE, core_result, field, __VA_ARGS__)
#define PATH_COUNTER(field, ...) NAMED(PATH, core_result, field, __VA_ARGS__)
#define L2_COUNTER(field, ...) NAMED(L2, l2_counters, field, "l2." #field, __VA_ARGS__)
#define HBM_COUNTER(field, ...) NAMED(HBM, hbm_totals, field, "hbm." #field, __VA_ARGS__)
#define RUN_FIGURE(function, ...) ROW(RUN, 0, function, __VA_ARGS__)
#define PIPE_CAUSE(id, key, text)                                                                  \
  FIELD(PIPE, pipe_counters, cause_cycles[CAUSE_##id], "pipe.*.cause." key "_cycles",              \
        "pipe.*.cause_cycles." key, CYCLE, NEUTRAL, SUM, IN_SUMMARY | IN_METRICS | IN_CORES, "",   \
        "of busy, cycles that " text)
#define ENERGY_ROW(id, key, text)                                                                  \
  ROW(RUN, 0, energy_of_##id, "energy." key "_pj", "energy.parts." key ".uj", PJ, LOWER, SUM, 0,   \
      "", "of energy.pj, " text)
#define RUN_ENERGY_PARTS ENERGY_PARTS(ENERGY_ROW)
#define PIPE_FIGURE(function, name, ...) ROW(PIPE, 0, function, name, name, __VA_ARGS__)
#define L2_FIGURE(function, name, ...) ROW(L2, 0, function, name, name, __VA_ARGS__)
#define HBM_FIGURE(function, name, ...) ROW(HBM, 0, function, name, name, __VA_ARGS__)
#include "core/result/counters.def"
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

const struct counter *counter_rows(size_t *count) {
  *count = ROW_COUNT;
  return rows;
}

const struct counter *counter_next(const struct counter *row, enum counter_group group) {
  for (row = row ? row + 1 : rows; row < rows + ROW_COUNT; row++)
    if (row->group == group && !row->figure)
      return row;
  return NULL;
}

bool counter_is_of(const struct counter *row, enum pipe pipe) {
  size_t first = offsetof(struct pipe_counters, cause_cycles);
  if (row->group != GROUP_PIPE || row->figure || row->offset < first)
    return true;
  return cause_is_of((enum cause)((row->offset - first) / sizeof(uint64_t)), pipe);
}

/* '*' of the row's name is one part of the text, up to a dot. */
static bool is_named(const char *pattern, const char *text) {
  size_t before = strcspn(pattern, "*");
  if (!pattern[before])
    return strcmp(pattern, text) == 0;
  if (strncmp(pattern, text, before) != 0)
    return false;
  size_t member = strcspn(text + before, ".");
  return member > 0 && strcmp(pattern + before + 1, text + before + member) == 0;
}

const struct counter *counter_find(const char *name) {
  for (size_t i = 0; i < ROW_COUNT; i++)
    if (is_named(rows[i].name, name))
      return &rows[i];
  return NULL;
}

/* ---- columns -------------------------------------------------------------- */

const char *counter_unit_name(enum counter_unit unit) {
  static const char *const names[] = {"1", "cycle", "ps", "byte", "ppm", "word", "pJ"};
  return names[unit];
}

const char *counter_better_name(enum metric_better better) {
  static const char *const names[] = {"neutral", "lower", "higher"};
  return names[better];
}

const char *counter_kind_name(enum counter_kind kind) {
  static const char *const names[] = {"sum", "maximum", "share"};
  return names[kind];
}

const char *counter_key(const struct counter *row) {
  const char *dot = strrchr(row->printed, '.');
  return dot ? dot + 1 : row->printed;
}

unsigned counter_decimals(enum counter_unit unit) {
  return unit == UNIT_PS || unit == UNIT_PPM || unit == UNIT_PJ ? 6 : 0;
}

struct decimal counter_decimal(const struct counter *row, uint64_t value) {
  if (row->unit != UNIT_WORD)
    return decimal_exact(value, counter_decimals(row->unit));
  struct decimal word;
  snprintf(word.text, sizeof word.text, "%s", bound_name((enum bound)value));
  return word;
}

/* ---- sums ----------------------------------------------------------------- */

uint64_t counter_value(const struct counter *row, const void *part) {
  return *(const uint64_t *)((const char *)part + row->offset);
}

void counter_join(const struct counter *row, void *whole, const void *part) {
  uint64_t *sum = (uint64_t *)((char *)whole + row->offset);
  uint64_t value = counter_value(row, part);
  *sum = row->kind == KIND_MAXIMUM ? max_u64(*sum, value) : *sum + value;
}

void counters_add(enum counter_group group, void *whole, const void *part) {
  const struct counter *row = NULL;
  while ((row = counter_next(row, group)))
    counter_join(row, whole, part);
}

static void add_work(struct work_counters *sum, const struct work_counters *work) {
  for (unsigned type = 0; type < DTYPE_COUNT; type++) {
#define TYPE_COUNTER(field) sum->field[type] += work->field[type];
#include "core/result/counters.def"
  }
}

void counters_add_core(struct core_result *sum, const struct core_result *core) {
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    counters_add(GROUP_PIPE, &sum->pipe[pipe], &core->pipe[pipe]);
  for (unsigned path = 0; path < PATH_COUNT; path++)
    counters_add(GROUP_PATH, (uint64_t *)sum + path, (const uint64_t *)core + path); /* arrays */
  counters_add(GROUP_CORE, sum, core);
  counters_add(GROUP_L2, &sum->l2, &core->l2);
  add_work(&sum->cube, &core->cube);
  add_work(&sum->vector, &core->vector);
}
