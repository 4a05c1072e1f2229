/* SPDX-License-Identifier: Apache-2.0 */
/* What a run has counted, for callers of the library (core/vinci_tables.h). */
#include "core/vinci_tables.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/isa/isa.h"
#include "core/result/critical.h"
#include "core/result/hotspots.h"
#include "core/result/levers.h"
#include "core/result/metrics.h"

static struct vinci_counter counter_of(const struct counter *row, const char *name) {
  return (struct vinci_counter){
      .name = name,
      .unit = counter_unit_name(row->unit),
      .better = counter_better_name(row->better),
      .kind = counter_kind_name(row->kind),
      .text = row->text,
  };
}

bool vinci_counter_info(size_t index, struct vinci_counter *out) {
  size_t count;
  const struct counter *rows = counter_rows(&count);
  if (index >= count)
    return false;
  *out = counter_of(&rows[index], rows[index].name);
  return true;
}

void vinci_result_counters(const vinci_result *result,
                           bool (*visit)(void *context, const struct vinci_counter *counter,
                                         uint64_t value),
                           void *context) {
  struct metric_list list;
  metrics_collect(result, &list);
  for (size_t i = 0; i < list.count; i++) {
    const struct metric *metric = &list.item[i];
    if (!(metric->counter->places & IN_METRICS))
      continue;
    const struct vinci_counter counter = counter_of(metric->counter, metric->name);
    if (!visit(context, &counter, metric->value))
      return;
  }
}

/* ---- cores ------------------------------------------------------------------------------- */

size_t vinci_result_core_count(const vinci_result *result) { return result->core_count; }

bool vinci_result_core(const vinci_result *result, size_t index, struct vinci_core *out) {
  if (index >= result->core_count)
    return false;
  const struct core_result *core = &result->cores[index];
  *out = (struct vinci_core){
      .clock_hz = core->hz, .total_cycles = core->total_cycles, .blocks = core->blocks_run};
  result_core_name(core, out->name, sizeof out->name);
  return true;
}

typedef bool visit_field(void *context, const char *pipe, const char *name, uint64_t value);

static bool visit_fields(enum counter_group group, const void *part, const char *pipe,
                         visit_field *visit, void *context) {
  const struct counter *row = NULL;
  while ((row = counter_next(row, group)))
    if (row->places & IN_CORES &&
        !visit(context, pipe, strrchr(row->name, '.') + 1, counter_value(row, part)))
      return false;
  return true;
}

void vinci_result_core_counters(const vinci_result *result, size_t index,
                                bool (*visit)(void *context, const char *pipe, const char *name,
                                              uint64_t value),
                                void *context) {
  if (index >= result->core_count)
    return;
  const struct core_result *core = &result->cores[index];
  bool more = visit_fields(GROUP_CORE, core, NULL, visit, context);
  for (unsigned pipe = 0; more && pipe < PIPE_COUNT; pipe++)
    more = visit_fields(GROUP_PIPE, &core->pipe[pipe], pipe_name((enum pipe)pipe), visit, context);
}

/* ---- kept instructions ------------------------------------------------------------------- */

size_t vinci_result_event_count(const vinci_result *result) { return result->event_count; }

bool vinci_result_event(const vinci_result *result, size_t index, struct vinci_event *out) {
  if (index >= result->event_count)
    return false;
  const struct result_event *event = &result->events[index];
  *out = (struct vinci_event){
      .op = isa_row((enum isa_op)event->op)->name,
      .pipe = pipe_name((enum pipe)event->pipe),
      .core = event->core,
      .line = event->line,
      .start_cycle = event->start_cycle,
      .end_cycle = event->end_cycle,
      .bytes = event->bytes,
  };
  return true;
}

enum vinci_status vinci_result_hotspots(const vinci_result *result,
                                        bool (*visit)(void *context,
                                                      const struct vinci_hotspot *hotspot),
                                        void *context, struct vinci_diag *diag) {
  struct hotspots found;
  const char *stalls[STALL_COUNT];
  for (unsigned stall = 0; stall < STALL_COUNT; stall++)
    stalls[stall] = stall_key((enum stall)stall);
  enum vinci_status status = hotspots_find(result, &found, diag);
  if (status != VINCI_OK)
    return status;
  for (size_t i = 0; i < found.count; i++) {
    const struct hotspot *row = &found.rows[i];
    const struct vinci_hotspot hotspot = {
        .file = result_source_file(result),
        .op = isa_row((enum isa_op)row->op)->name,
        .pipe = pipe_name((enum pipe)row->pipe),
        .line = row->line,
        .count = row->count,
        .critical_cycles = row->critical_cycles,
        .cycles = row->cycles,
        .queued_cycles = row->queued_cycles,
        .held_cycles = row->held_cycles,
        .bank_cycles = row->bank_cycles,
        .bytes = row->bytes,
        .stalls = stalls,
        .stall_cycles = row->stall_cycles,
        .stall_count = STALL_COUNT,
    };
    if (!visit(context, &hotspot))
      break;
  }
  hotspots_free(&found);
  return VINCI_OK;
}

static struct vinci_saving saving_of(const struct critical_turn *turn) {
  struct vinci_saving saving = {.cause = cause_row(turn->cause)->key, .cycles = turn->cycles};
  if (turn->param < soc_param_count()) {
    saving.number = soc_param(turn->param)->key;
    saving.turn = critical_turn_word(turn);
    saving.saved_cycles = turn->saved_cycles;
    saving.measured = turn->measured;
  }
  return saving;
}

/* The critical path, which the caller frees; NULL: none, and the status says why. */
static struct critical_path *path_of(const vinci_result *result, enum vinci_status *status,
                                     struct vinci_diag *diag) {
  struct critical_path *path = calloc(1, sizeof *path);
  *status = path ? critical_find(result, path, diag)
                 : diag_error(diag, VINCI_E_NOMEM, "out of memory for the critical path");
  if (*status == VINCI_OK)
    return path;
  free(path);
  return NULL;
}

enum vinci_status vinci_result_savings(const vinci_result *result,
                                       bool (*visit)(void *context,
                                                     const struct vinci_saving *saving),
                                       void *context, struct vinci_diag *diag) {
  struct critical_turn turns[CRITICAL_TURNS_MAX];
  enum vinci_status status;
  struct critical_path *path = path_of(result, &status, diag);
  size_t count = path ? critical_turns(result, path, turns) : 0;
  free(path);
  for (size_t i = 0; i < count; i++) {
    const struct vinci_saving saving = saving_of(&turns[i]);
    if (!visit(context, &saving))
      break;
  }
  return status;
}

static struct vinci_lever lever_of(const struct lever *lever) {
  return (struct vinci_lever){.lever = lever_key(lever->kind),
                              .text = lever->text,
                              .change = lever->change,
                              .origin = lever->origin,
                              .line = lever->line,
                              .saved_cycles = lever->saved_cycles,
                              .measured = lever->measured};
}

enum vinci_status vinci_result_levers(const vinci_result *result,
                                      bool (*visit)(void *context, const struct vinci_lever *lever),
                                      void *context, struct vinci_diag *diag) {
  struct lever levers[LEVERS_MAX];
  enum vinci_status status;
  struct critical_path *path = path_of(result, &status, diag);
  size_t count = path ? levers_find(result, path, levers) : 0;
  free(path);
  for (size_t i = 0; i < count; i++) {
    const struct vinci_lever lever = lever_of(&levers[i]);
    if (!visit(context, &lever))
      break;
  }
  return status;
}
