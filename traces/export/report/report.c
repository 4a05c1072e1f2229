/* SPDX-License-Identifier: Apache-2.0 */
/* report.json: what bounds a run, why, what to try, and where the time of each pipe went. */
#include "traces/export/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/result/levers.h"
#include "core/result/metrics.h"
#include "traces/export/report/energy.h"
#include "traces/export/report/expected.h"
#include "traces/export/report/text.h"

static const char *const advice[] = {
#define ADVICE(id, text) [CAUSE_##id] = text,
#include "traces/export/report/advice.def"
};
enum {
#define ADVICE(id, text) ADVICE_##id,
#include "traces/export/report/advice.def"
  ADVICE_COUNT
};
_Static_assert((int)ADVICE_COUNT == (int)CAUSE_COUNT, "each cause has advice");

static const char *const pipe_texts[] = {
#define X(id, lane, text) text,
    PIPE_LIST(X)
#undef X
};

/* ---- words --------------------------------------------------------------------- */

/* The rows that the page explains when it shows their keys. */
static void write_words(struct json_writer *json) {
  json_object(json, "words", false);
  json_object(json, "causes", false);
  for (unsigned i = 0; i < CAUSE_COUNT; i++) {
    json_object(json, cause_row((enum cause)i)->key, true);
    json_text(json, "text", cause_row((enum cause)i)->text);
    json_text(json, "advice", advice[i]);
    json_end(json);
  }
  json_end(json);
  json_object(json, "stalls", false);
  for (unsigned i = 0; i < STALL_COUNT; i++)
    json_text(json, stall_key((enum stall)i), stall_text((enum stall)i));
  json_end(json);
  json_object(json, "pipes", false);
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    json_text(json, pipe_name((enum pipe)i), pipe_texts[i]);
  json_end(json);
  json_end(json);
}

/* ---- head ---------------------------------------------------------------------- */

static void write_kernels(struct json_writer *json, const struct vinci_result *result) {
  json_array(json, "kernels", false);
  for (uint32_t i = 0; i < result->kernel_count; i++) {
    const struct kernel_result *kernel = &result->kernels[i];
    json_object(json, NULL, true);
    json_text(json, "name", kernel->name);
    json_number(json, "blocks", kernel->blocks);
    json_number(json, "places", kernel->places);
    json_number(json, "start_ps", kernel->start_ps);
    json_number(json, "end_ps", kernel->end_ps);
    json_end(json);
  }
  json_end(json);
}

static void write_changed(struct json_writer *json, const struct vinci_soc *soc) {
  char value[64];
  json_object(json, "changed", true);
  for (size_t i = 0; i < soc_param_count(); i++) {
    if (!soc->provenance[i].overridden)
      continue;
    soc_format_value(soc_get(soc, i), soc_param(i)->kind, value, sizeof value);
    json_text(json, soc_param(i)->key, value);
  }
  json_end(json);
}

static void write_expected(struct json_writer *json, const struct vinci_result *result) {
  struct expected_error error =
      expected_error(result->soc, result->op, result->op_dtype, result->total_ps);
  json_object(json, "expected_error", true);
  json_text(json, "class", error.class);
  json_number(json, "rows", error.rows);
  json_number(json, "median_permille", error.median_permille);
  json_number(json, "p90_permille", error.p90_permille);
  json_text(json, "outside", error.outside);
  json_end(json);
}

static void write_head(struct json_writer *json, const struct vinci_result *result) {
  char reason[512];
  enum bound bound = result_bound_explain(result, reason, sizeof reason);
  const char *path = result->trace_path ? result->trace_path : "", *slash = strrchr(path, '/');
  json_number(json, "schema", REPORT_SCHEMA);
  json_text(json, "model_revision", vinci_model_revision());
  json_text(json, "soc", result->soc->name);
  json_hex64(json, "config_digest", result->config_digest);
  json_hex64(json, "input_digest", result->input_digest);
  json_text(json, "trace", slash ? slash + 1 : path);
  json_number(json, "total_cycles", result->total_cycles);
  json_number(json, "total_ps", result->total_ps);
  json_number(json, "core_hz", (uint64_t)result->soc->core_hz);
  json_number(json, "blocks", result_blocks(result));
  json_text(json, "bound", bound_name(bound));
  json_text(json, "bound_reason", reason);
  json_text(json, "l2_start", result_l2_start_name(result));
  json_bool(json, "partial", result->partial);
  json_text(json, "partial_reason", result->partial_reason ? result->partial_reason : "");
  json_bool(json, "waits_left_out", result->waits_left_out);
  export_scalar_accesses(json, result);
  json_bool(json, "noc_past_model", result->noc_past_model);
  json_number(json, "events", result->event_count);
  json_number(json, "events_dropped", result->events_dropped);
  write_changed(json, result->soc);
  write_expected(json, result);
  write_kernels(json, result);
}

/* ---- the critical path ----------------------------------------------------------- */

static void write_signed(struct json_writer *json, const char *key, int64_t value) {
  struct decimal text;
  snprintf(text.text, sizeof text.text, "%" PRId64, value);
  json_decimal(json, key, text);
}

static void write_turn(struct json_writer *json, const char *key,
                       const struct critical_turn *turn) {
  bool copy = cause_row(turn->cause)->unit == CAUSE_OF_COPY && turn->member < PATH_COUNT;
  bool number = turn->param < soc_param_count();
  json_object(json, key, true);
  json_text(json, "cause", cause_row(turn->cause)->key);
  json_text(json, "path", copy ? path_name((enum path)turn->member) : "");
  json_number(json, "cycles", turn->cycles);
  json_text(json, "number", number ? soc_param(turn->param)->key : "");
  json_text(json, "turn", number ? critical_turn_word(turn) : "");
  write_signed(json, "saved_cycles", turn->saved_cycles);
  json_bool(json, "measured", turn->measured);
  json_text(json, "next_pipe", turn->next_permille > 0 ? pipe_name(turn->next_pipe) : "");
  json_number(json, "next_permille", turn->next_permille);
  if (turn->lowered_anew)
    write_signed(json, "anew_saved_cycles", turn->anew_saved_cycles);
  json_end(json);
}

/* What instructions have found; of the critical path, but the waits of the vector unit, which lie
 * beside others. */
static void write_state(struct json_writer *json, const struct vinci_result *result,
                        const struct critical_path *path) {
  const struct critical_state state = critical_state(result, path);
  json_object(json, "state", true);
  json_number(json, "code_cycles", state.code_cycles);
  json_number(json, "cold_l2_cycles", state.cold_cycles);
  json_number(json, "refetch_cycles", state.refetch_cycles);
  json_number(json, "scalar_cycles", state.scalar_cycles);
  json_number(json, "dependent_vector_cycles", state.dependent_cycles);
  json_end(json);
}

static void write_levers(struct json_writer *json, const struct vinci_result *result,
                         const struct critical_path *path) {
  struct lever levers[LEVERS_MAX];
  size_t count = levers_find(result, path, levers);
  json_array(json, "levers", false);
  for (size_t i = 0; i < count; i++) {
    json_object(json, NULL, true);
    json_text(json, "lever", lever_key(levers[i].kind));
    json_text(json, "text", levers[i].text);
    json_number(json, "saved_cycles", levers[i].saved_cycles);
    json_bool(json, "measured", levers[i].measured);
    json_text(json, "origin", levers[i].origin);
    json_text(json, "change", levers[i].change);
    json_number(json, "line", levers[i].line);
    json_end(json);
  }
  json_end(json);
}

static void write_rests(struct json_writer *json, const struct critical_path *path) {
  const struct {
    const char *text;
    uint64_t cycles;
  } rests[] = {
      {"launch of the kernel, dispatch of the block", path->rest[CRITICAL_LAUNCH]},
      {"waits for code", path->code_cycles},
      {"scalar work of the trace", path->scalar_cycles},
      {"behind instructions of the same pipe", path->hidden_cycles},
      {"between instructions: issue, flags, other cores", path->rest[CRITICAL_IDLE]},
      {"from the last instruction to the end", path->rest[CRITICAL_END]},
  };
  json_array(json, "rests", false);
  for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
    json_object(json, NULL, true);
    json_text(json, "text", rests[i].text);
    json_number(json, "cycles", rests[i].cycles);
    json_end(json);
  }
  json_end(json);
}

/* Nothing without recorded instructions. */
static enum vinci_status write_critical(struct json_writer *json, const struct vinci_result *result,
                                        struct vinci_diag *diag) {
  struct text_causes causes;
  uint64_t saved = 0;
  char core[48];
  enum vinci_status status = text_find_causes(result, &causes, diag);
  if (status != VINCI_OK || causes.count == 0)
    return status;
  result_core_name(&result->cores[causes.path.core], core, sizeof core);
  json_object(json, "critical", false);
  json_text(json, "core", core);
  write_turn(json, "best", critical_best(causes.turns, causes.count));
  if (!critical_takes_turns(result, &causes.path, &saved))
    saved = 0;
  json_number(json, "side_by_side_saved_cycles", saved);
  json_bool(json, "side_by_side_measured", result->second_buffer_cycles > 0);
  json_array(json, "turns", false);
  for (size_t i = 0; i < causes.count; i++)
    write_turn(json, NULL, &causes.turns[i]);
  json_end(json);
  write_state(json, result, &causes.path);
  write_levers(json, result, &causes.path);
  write_rests(json, &causes.path);
  json_end(json);
  return VINCI_OK;
}

/* ---- pipes ----------------------------------------------------------------------- */

static void write_pipe(struct json_writer *json, const char *key, const struct pipe_counters *sum,
                       uint64_t total) {
  json_object(json, key, true);
  json_number(json, "total_cycles", total);
  json_number(json, "busy_cycles", sum->busy_cycles);
  json_number(json, "idle_cycles", sum->idle_cycles);
  json_number(json, "instructions", sum->instructions);
  json_object(json, "stalls", true);
  for (unsigned i = 0; i < STALL_COUNT; i++)
    if (sum->stall_cycles[i] > 0)
      json_number(json, stall_key((enum stall)i), sum->stall_cycles[i]);
  json_end(json);
  json_object(json, "causes", true);
  for (unsigned i = 0; i < CAUSE_COUNT; i++)
    if (sum->cause_cycles[i] > 0)
      json_number(json, cause_row((enum cause)i)->key, sum->cause_cycles[i]);
  json_end(json);
  json_end(json);
}

static void write_kind(struct json_writer *json, const struct vinci_result *result,
                       enum core_kind kind) {
  uint64_t present = 0;
  for (uint32_t i = 0; i < result->core_count; i++)
    present += result->cores[i].kind == kind;
  if (present == 0)
    return;
  json_object(json, NULL, false);
  json_text(json, "kind", core_kind_name(kind));
  json_number(json, "present", present);
  json_number(json, "active", result_active_cores(result, kind));
  json_object(json, "pipes", false);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    struct pipe_counters sum;
    uint64_t total;
    if (!core_has_pipe(kind, (enum pipe)pipe))
      continue;
    result_sum_kind(result, kind, (enum pipe)pipe, &sum, &total);
    write_pipe(json, pipe_name((enum pipe)pipe), &sum, total);
  }
  json_end(json);
  json_end(json);
}

static void write_core(struct json_writer *json, const struct core_result *core) {
  char name[48];
  result_core_name(core, name, sizeof name);
  json_object(json, NULL, true);
  json_text(json, "name", name);
  json_number(json, "blocks", core->blocks_run);
  json_number(json, "total_cycles", core->total_cycles);
  json_number(json, "active_cycles", core->active_cycles);
  json_number(json, "bank_group_cycles", core->vector_bankgroup_cycles);
  json_number(json, "bank_cycles", core->vector_bank_cycles);
  json_object(json, "busy", true);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    if (core_has_pipe(core->kind, (enum pipe)pipe))
      json_number(json, pipe_name((enum pipe)pipe), core->pipe[pipe].busy_cycles);
  json_end(json);
  json_end(json);
}

static void write_cores(struct json_writer *json, const struct vinci_result *result) {
  json_array(json, "kinds", false);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    write_kind(json, result, (enum core_kind)kind);
  json_end(json);
  json_array(json, "cores", false);
  for (uint32_t i = 0; i < result->core_count; i++)
    if (result->cores[i].blocks_run > 0)
      write_core(json, &result->cores[i]);
  json_end(json);
}

/* All counters, for comparisons: the value, and which way is better. */
static void write_counters(struct json_writer *json, const struct vinci_result *result) {
  struct metric_list list;
  metrics_collect(result, &list);
  json_array(json, "counters", false);
  for (size_t i = 0; i < list.count; i++) {
    const struct metric *metric = &list.item[i];
    if (!(metric->counter->places & (IN_METRICS | IN_SUMMARY)) || metric->unused ||
        metric->counter->unit == UNIT_WORD)
      continue;
    json_array(json, NULL, true);
    json_text(json, NULL, metric->name);
    json_number(json, NULL, metric->value);
    json_text(json, NULL, counter_unit_name(metric->counter->unit));
    json_text(json, NULL, counter_better_name(metric->counter->better));
    json_end(json);
  }
  json_end(json);
}

enum vinci_status export_report(const struct vinci_result *result,
                                const struct timeline_choice *choice, FILE *out,
                                struct vinci_diag *diag) {
  struct json_writer json;
  json_start(&json, out);
  json_object(&json, NULL, false);
  write_head(&json, result);
  enum vinci_status status = write_critical(&json, result, diag);
  if (status != VINCI_OK)
    return status;
  write_cores(&json, result);
  report_memory(&json, result);
  struct energy_counts energy;
  if (energy_counts_of(result, &energy))
    energy_json(&json, result->soc->energy, &energy, result->total_ps);
  status = report_hotspots(&json, result, choice->source, diag);
  if (status != VINCI_OK)
    return status;
  write_counters(&json, result);
  write_words(&json);
  json_end(&json);
  return export_flush(out, "report.json", diag);
}
