/* SPDX-License-Identifier: Apache-2.0 */
/* report.json: arithmetic against its peak, bytes by path, memories, and their use over time. */
#include "traces/export/report/report.h"
#include "traces/export/report/text.h"
#include "traces/export/timeline/lanes.h"
#include "traces/export/timeline/series.h"

/* ---- arithmetic ------------------------------------------------------------------ */

/* A multiply-accumulate counts as 2. */
static void write_compute(struct json_writer *json, const struct vinci_result *result) {
  static const enum pipe units[] = {PIPE_M, PIPE_V};
  json_array(json, "compute", false);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    struct text_unit unit;
    if (!text_find_unit(result, units[i], &unit))
      continue;
    json_object(json, NULL, true);
    json_text(json, "unit", units[i] == PIPE_M ? "cube" : "vector");
    json_text(json, "dtype", dtype_name(unit.type));
    json_number(json, "units", unit.units);
    json_number(json, "operations", unit.operations);
    json_number(json, "peak_per_second", (uint64_t)unit.peak);
    json_end(json);
  }
  json_end(json);
}

/* ---- bytes ----------------------------------------------------------------------- */

static void write_paths(struct json_writer *json, const struct vinci_result *result) {
  json_array(json, "paths", false);
  for (unsigned path = 0; path < PATH_COUNT; path++) {
    uint64_t bytes = result_path_bytes(result, (enum path)path), instructions = 0, users = 0;
    for (uint32_t i = 0; i < result->core_count; i++) {
      instructions += result->cores[i].path_instructions[path];
      users += result->cores[i].path_bytes[path] > 0;
    }
    if (bytes == 0)
      continue;
    json_object(json, NULL, true);
    json_text(json, "name", path_name((enum path)path));
    json_text(json, "from", space_name(path_from((enum path)path)));
    json_text(json, "to", space_name(path_to((enum path)path)));
    json_number(json, "bytes", bytes);
    json_number(json, "instructions", instructions);
    json_number(json, "peak_bytes_per_second", /* of the cores that use the path; 0: not known */
                (uint64_t)result->soc->path[path].peak_bytes_per_second * users);
    json_end(json);
  }
  json_end(json);
}

static void write_memories(struct json_writer *json, const struct vinci_result *result) {
  struct hits reads = l2_hits(&result->l2, L2_READS), writes = l2_hits(&result->l2, L2_WRITES);
  json_object(json, "l2", true);
  json_number(json, "bytes", result_l2_bytes(result));
  json_number(json, "peak_bytes_per_second", (uint64_t)result->soc->l2_bytes_per_second);
  json_number(json, "read_hit_bytes", reads.hits * L2_GRANULE_BYTES);
  json_number(json, "read_miss_bytes", reads.misses * L2_GRANULE_BYTES);
  json_number(json, "refetched_bytes", result->l2.refetches * L2_GRANULE_BYTES);
  json_number(json, "write_hit_bytes", writes.hits * L2_GRANULE_BYTES);
  json_number(json, "write_miss_bytes", writes.misses * L2_GRANULE_BYTES);
  json_end(json);
  json_object(json, "hbm", true);
  json_number(json, "read_bytes", result->hbm.read_bytes);
  json_number(json, "write_bytes", result->hbm.write_bytes);
  json_number(json, "peak_bytes_per_second", result->hbm_peak_bytes_per_second);
  json_number(json, "row_hits", result->hbm.row_hits);
  json_number(json, "row_misses", result->hbm.row_misses);
  json_end(json);
  json_object(json, "noc", true);
  json_number(json, "max_link_ppm", result->noc_max_link_ppm);
  json_end(json);
}

/* ---- over time ------------------------------------------------------------------- */

static void write_amounts(struct json_writer *json, const char *key, const struct series *series) {
  json_array(json, key, true);
  for (size_t i = 0; i < series->steps; i++)
    json_number(json, NULL, series->amount[i]);
  json_end(json);
}

static void write_device_memory(struct json_writer *json, const struct vinci_result *result) {
  const struct memory_traffic *traffic = &result->traffic;
  if (hbm_bytes(&result->hbm) == 0)
    return;
  json_number(json, "hbm_step_ps", traffic_step_ps(traffic));
  for (unsigned kind = TRAFFIC_HBM_READ; kind <= TRAFFIC_HBM_WRITE; kind++) {
    json_array(json, traffic_key((enum traffic_kind)kind), true);
    for (size_t i = 0; i < traffic_steps(traffic, result->total_ps); i++)
      json_number(json, NULL, traffic->bytes[i][kind]);
    json_end(json);
  }
}

/* Bytes of each step: of the recorded transfers on a path, and of device memory. */
static void write_over_time(struct json_writer *json, const struct vinci_result *result) {
  struct series series[PATH_COUNT];
  uint64_t total[PATH_COUNT] = {0};
  for (unsigned path = 0; path < PATH_COUNT; path++)
    series_start_fine(&series[path], result);
  for (uint64_t i = 0; i < result->event_count; i++) {
    const struct result_event *event = &result->events[i];
    if (event->path >= PATH_COUNT || event->bytes == 0)
      continue;
    total[event->path] += event->bytes;
    series_spread(&series[event->path], lanes_edge_ps(result, event->core, event->start_cycle),
                  lanes_edge_ps(result, event->core, event->end_cycle), event->bytes);
  }
  json_object(json, "over_time", false);
  json_number(json, "step_ps", series[0].step_ps);
  json_object(json, "paths", false);
  for (unsigned path = 0; path < PATH_COUNT; path++)
    if (total[path] > 0)
      write_amounts(json, path_name((enum path)path), &series[path]);
  json_end(json);
  write_device_memory(json, result);
  json_end(json);
}

void report_memory(struct json_writer *json, const struct vinci_result *result) {
  write_compute(json, result);
  write_paths(json, result);
  write_memories(json, result);
  write_over_time(json, result);
}
