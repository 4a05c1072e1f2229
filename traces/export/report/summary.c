/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.json: the form scripts rely on. Keys and their order are fixed.
 *
 * Cycles are those of the clock of whoever counts them: in an entry of `cores` of that
 * core's clock_hz, so that busy + stalls + idle of each of its pipes is its own
 * total_cycles; at the top level of the cube cores' clock (clock.core). In `pipes` the
 * cores are summed as they are, and busy + stalls + idle is the sum of their totals.
 */
#include <string.h>

#include "core/base/clock.h"
#include "core/result/levers.h"
#include "core/result/metrics.h"
#include "traces/export/export.h"
#include "traces/export/report/energy.h"
#include "traces/export/report/expected.h"

enum { SUMMARY_SCHEMA = 1, PS_PER_US_DIGITS = 6, PPM_DIGITS = 6, PERMILLE_DIGITS = 3 };

/* All names, joined by "+". */
static void write_kernel_names(struct json_writer *json, const struct vinci_result *result) {
  json_text_begin(json, "kernel");
  for (uint32_t i = 0; i < result->kernel_count; i++) {
    if (i > 0)
      json_text_add(json, "+");
    json_text_add(json, result->kernels[i].name);
  }
  json_text_end(json);
}

/* The object that a counter of a pipe stands in; NULL: none of its own. */
static const char *object_of(const struct counter *row) {
  static const char *const objects[] = {"stall_cycles", "cause_cycles"};
  for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
    if (strstr(row->printed, objects[i]))
      return objects[i];
  return NULL;
}

/* Pipes: the fields, those of stalls and causes in objects of their own. */
static void write_counters(struct json_writer *json, enum pipe pipe,
                           const struct pipe_counters *counters) {
  const struct counter *row = NULL;
  const char *inside = NULL;
  while ((row = counter_next(row, GROUP_PIPE))) {
    if (!(row->places & IN_SUMMARY) || !counter_is_of(row, pipe))
      continue;
    const char *object = object_of(row);
    if (inside && object != inside)
      json_end(json);
    if (object && object != inside)
      json_object(json, object, true);
    inside = object;
    json_counter(json, row, counter_value(row, counters));
  }
  if (inside)
    json_end(json);
}

/* The run's numbers below a name such as "l2."; "": those at the top. */
static void write_run(struct json_writer *json, const struct metric_list *list, const char *below) {
  for (size_t i = 0; i < list->count; i++) {
    const struct metric *metric = &list->item[i];
    if (metric->counter->places & IN_SUMMARY && !metric->member &&
        (*below ? strncmp(metric->printed, below, strlen(below)) == 0
                : !strchr(metric->printed, '.')))
      json_counter(json, metric->counter, metric->value);
  }
}

/* A pipe that the core does not have is idle all the time, so that every core has the
 * same keys and busy + stalls + idle is the core's time for each of them. */
static struct pipe_counters core_counters(const struct core_result *core, enum pipe pipe) {
  if (core_has_pipe(core->kind, pipe))
    return core->pipe[pipe];
  return (struct pipe_counters){.idle_cycles = core->total_cycles};
}

static void write_cores(struct json_writer *json, const struct vinci_result *result) {
  json_array(json, "cores", false);
  for (uint32_t i = 0; i < result->core_count; i++) {
    const struct core_result *core = &result->cores[i];
    char name[48];
    result_core_name(core, name, sizeof name);
    json_object(json, NULL, false);
    json_text(json, "name", name);
    json_number(json, "clock_hz", core->hz);
    json_number(json, "total_cycles", core->total_cycles);
    json_object(json, "pipes", false);
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
      struct pipe_counters counters = core_counters(core, (enum pipe)pipe);
      json_object(json, pipe_name((enum pipe)pipe), true);
      write_counters(json, (enum pipe)pipe, &counters);
      json_end(json);
    }
    json_end(json);
    json_end(json);
  }
  json_end(json);
}

/* The cores' entries summed as they stand; utilization only over cores that had work. */
static void write_pipe_sums(struct json_writer *json, const struct vinci_result *result) {
  json_object(json, "pipes", false);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    struct pipe_counters sum, active;
    uint64_t total, active_total;
    result_sum_pipe(result, (enum pipe)pipe, false, &sum, &total);
    result_sum_pipe(result, (enum pipe)pipe, true, &active, &active_total);
    for (uint32_t i = 0; i < result->core_count; i++) {
      if (core_has_pipe(result->cores[i].kind, (enum pipe)pipe))
        continue;
      sum.idle_cycles += result->cores[i].total_cycles;
      total += result->cores[i].total_cycles;
    }
    json_object(json, pipe_name((enum pipe)pipe), true);
    write_counters(json, (enum pipe)pipe, &sum);
    json_number(json, "total_cycles", total);
    json_decimal(json, "utilization",
                 decimal_exact(result_share_ppm(active.busy_cycles, active_total), PPM_DIGITS));
    json_end(json);
  }
  json_end(json);
}

/* Of the channels and links only those that had something to do. */
static void write_channels(struct json_writer *json, const struct vinci_result *result) {
  json_array(json, "channels", false);
  for (uint32_t i = 0; i < result->channel_count; i++) {
    const struct hbm_totals *channel = &result->channels[i];
    const struct counter *row = NULL;
    if (hbm_bytes(channel) == 0)
      continue;
    json_object(json, NULL, true);
    json_number(json, "index", i);
    while ((row = counter_next(row, GROUP_HBM)))
      json_counter(json, row, counter_value(row, channel));
    json_end(json);
  }
  json_end(json);
}

static void write_links(struct json_writer *json, const struct vinci_result *result) {
  json_array(json, "links", false);
  for (uint32_t i = 0; i < result->link_count; i++) {
    const struct link_load *link = &result->links[i];
    if (link->utilization_ppm == 0)
      continue;
    json_object(json, NULL, true);
    json_text(json, "way", noc_way_name(link->way));
    json_number(json, "from", link->from);
    json_number(json, "to", link->to);
    json_decimal(json, "utilization", decimal_exact(link->utilization_ppm, PPM_DIGITS));
    json_end(json);
  }
  json_end(json);
}

static void write_memories(struct json_writer *json, const struct vinci_result *result,
                           const struct metric_list *list) {
  json_object(json, "bytes", false);
  for (unsigned path = 0; path < PATH_COUNT; path++)
    json_number(json, path_name((enum path)path), result_path_bytes(result, (enum path)path));
  json_end(json);

  json_object(json, "l2", true);
  json_text(json, "start", result_l2_start_name(result));
  json_number(json, "start_owed_bytes", result->l2_start_owed_bytes);
  write_run(json, list, "l2.");
  json_end(json);

  json_object(json, "hbm", false);
  write_run(json, list, "hbm.");
  write_channels(json, result);
  json_end(json);

  json_object(json, "noc", false);
  write_run(json, list, "noc.");
  json_bool(json, "past_model", result->noc_past_model);
  write_links(json, result);
  json_end(json);
}

/* Shares; of a trace that no operator was lowered to, rows is 0 and outside says so. */
static void write_expected(struct json_writer *json, const struct vinci_result *result) {
  struct expected_error error =
      expected_error(result->soc, result->op, result->op_dtype, result->total_ps);
  json_object(json, "expected_error", true);
  json_text(json, "class", error.class);
  json_number(json, "rows", error.rows);
  json_decimal(json, "median", decimal_exact(error.median_permille, PERMILLE_DIGITS));
  json_decimal(json, "p90", decimal_exact(error.p90_permille, PERMILLE_DIGITS));
  json_text(json, "outside", error.outside);
  json_end(json);
}

/* Of a run that chose its model of memory by itself: where the duration is from, how far that of
 * cycle memory may lie away, and the duration that the counters of flat memory add up to. */
static void write_automatic(struct json_writer *json, const struct vinci_result *result) {
  struct vinci_auto_bar bar;
  if (!vinci_result_auto(result, &bar))
    return;
  json_object(json, "memory", true);
  json_text(json, "model", "auto");
  json_text(json, "duration_from", vinci_auto_from_name(bar.from));
  json_number(json, "error_bar_ppm", bar.error_bar_ppm);
  json_text(json, "counters_from", bar.counters_of_flat ? "flat" : "cycle");
  json_number(json, "flat_cycles", bar.flat_cycles);
  json_decimal(json, "simulated_share", decimal_exact(bar.simulated_ppm, PPM_DIGITS));
  json_end(json);
}

/* Measured levers alone: an estimate needs the instructions of the run. */
static void write_levers(struct json_writer *json, const struct vinci_result *result) {
  if (result->lever_count == 0)
    return;
  json_array(json, "levers", false);
  for (uint32_t i = 0; i < result->lever_count; i++) {
    const struct lever *lever = &result->levers[i];
    json_object(json, NULL, true);
    json_text(json, "lever", lever_key(lever->kind));
    json_text(json, "text", lever->text);
    json_text(json, "change", lever->change);
    json_number(json, "line", lever->line);
    json_number(json, "saved_cycles", lever->saved_cycles);
    json_end(json);
  }
  json_end(json);
}

/* The only part that may differ between two runs, or two builds of one model. */
static void write_host(struct json_writer *json, const struct vinci_result *result) {
  double microseconds = result->cpu_seconds * 1e6;
  json_object(json, "host", true);
  json_text(json, "version", vinci_version());
  json_text(json, "commit", vinci_commit());
  json_decimal(json, "cpu_seconds",
               decimal_exact(microseconds > 0 ? (uint64_t)microseconds : 0, PS_PER_US_DIGITS));
  json_number(json, "peak_rss_bytes", result->peak_rss_bytes);
  json_number(json, "executed_instructions", result->executed_instructions);
  json_end(json);
}

void export_scalar_accesses(struct json_writer *json, const struct vinci_result *result) {
  static const char key[] = "scalar_accesses_not_simulated";
  if (result->scalar_uncounted)
    json_null(json, key);
  else if (result->compiled)
    json_number(json, key, result->scalar_accesses);
}

enum vinci_status export_summary(const struct vinci_result *result, const char *trace, FILE *out,
                                 struct vinci_diag *diag) {
  struct json_writer json;
  struct metric_list list;
  metrics_collect(result, &list);
  json_start(&json, out);
  json_object(&json, NULL, false);
  if (trace)
    json_text(&json, "trace", trace);
  json_number(&json, "schema", SUMMARY_SCHEMA);
  json_text(&json, "soc", result->soc->name);
  json_hex64(&json, "config_digest", result->config_digest);
  json_hex64(&json, "input_digest", result->input_digest);
  write_kernel_names(&json, result);
  write_run(&json, &list, "");
  write_expected(&json, result);
  write_automatic(&json, result);
  json_bool(&json, "partial", result->partial);
  json_bool(&json, "waits_left_out", result->waits_left_out);
  export_scalar_accesses(&json, result);
  write_cores(&json, result);
  write_pipe_sums(&json, result);
  write_memories(&json, result, &list);
  struct energy_counts energy;
  if (energy_counts_of(result, &energy))
    energy_json(&json, result->soc->energy, &energy, result->total_ps);
  write_levers(&json, result);
  write_host(&json, result);
  json_end(&json);
  return export_flush(out, "the summary", diag);
}

enum vinci_status vinci_result_write_json(const vinci_result *result, FILE *out,
                                          struct vinci_diag *diag) {
  return export_summary(result, NULL, out, diag);
}
