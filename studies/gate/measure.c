/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one point. Three digests identify the point: digest.config the chip and the models,
 * digest.input what is computed (the operator with its arguments; of a trace its tensors and
 * architecture), digest.program the instructions of the computation. When the input differs the
 * numbers cannot be compared; when only the program differs, they are what the gate is for.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/chip/soc.h"
#include "core/result/explain.h"
#include "core/result/metrics.h"
#include "networks/workload/network.h"
#include "studies/gate/gate.h"

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

enum vinci_status gate_point_open(const struct gate_point *point, struct chip_cache *chips,
                                  vinci_soc **soc, vinci_trace **trace, struct vinci_diag *diag) {
  *trace = NULL;
  enum vinci_status status = chip_cache_copy(chips, point->spec.soc, &point->spec, soc, diag);
  return status == VINCI_OK ? workload_open(&point->spec.workload, *soc, trace, diag) : status;
}

/* ---- digests ---------------------------------------------------------------------------- */

static uint64_t config_digest(const struct gate_point *point, const vinci_soc *soc) {
  char models[WORKLOAD_MODELS_MAX], text[WORKLOAD_MODELS_MAX + 32];
  workload_models_text(&point->options, models, sizeof models);
  snprintf(text, sizeof text, "%016" PRIx64 " %s", soc_digest(soc), models);
  return digest_string(DIGEST_SEED, text);
}

/* What a trace computes on: architecture, types, shapes, directions. */
static uint64_t problem_digest(const struct vinci_trace *trace) {
  uint64_t digest = DIGEST_SEED;
  char text[64];
  for (uint32_t k = 0; k < trace->kernel_count; k++)
    digest = digest_string(digest, arch_name(trace->kernels[k].arch));
  for (uint32_t t = 0; t < trace->tensor_count; t++) {
    const struct program_tensor *tensor = &trace->tensors[t];
    if (tensor->io == TENSOR_WORKSPACE) /* how, not what */
      continue;
    snprintf(text, sizeof text, "%s %d %s", dtype_name(tensor->dtype), (int)tensor->io,
             tensor->format);
    digest = digest_string(digest, text);
    for (unsigned d = 0; d < tensor->rank; d++) {
      snprintf(text, sizeof text, "%" PRIu64, tensor->shape[d]);
      digest = digest_string(digest, text);
    }
  }
  return digest;
}

static enum vinci_status input_digest(const struct gate_point *point,
                                      const struct vinci_trace *trace, uint64_t *out,
                                      struct vinci_diag *diag) {
  if (point->spec.workload.op)
    return workload_digest(&point->spec.workload, out, diag);
  *out = problem_digest(trace);
  return VINCI_OK;
}

static uint64_t event_digest(const struct vinci_result *result) {
  uint64_t digest = DIGEST_SEED;
  for (uint64_t i = 0; i < result->event_count; i++) {
    const struct result_event *event = &result->events[i];
    const uint64_t words[] = {event->core, event->pipe,        event->line,
                              event->op,   event->start_cycle, event->end_cycle};
    digest = digest_bytes(digest, words, sizeof words);
  }
  return digest;
}

/* ---- rows ------------------------------------------------------------------------------- */

struct rows_of {
  struct gate_rows *rows;
  const char *point;
  bool failed;
};

static void add(struct rows_of *to, const char *metric, const char *value, const char *unit,
                const char *kind) {
  if (!gate_rows_add(to->rows, to->point, metric, value, unit, kind))
    to->failed = true;
}

static void add_number(struct rows_of *to, const char *metric, uint64_t value, const char *unit,
                       const char *kind) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  if (value > 0 || strcmp(metric, "total_cycles") == 0)
    add(to, metric, text, unit, kind);
}

static void add_digest(struct rows_of *to, const char *metric, uint64_t digest) {
  char text[24];
  snprintf(text, sizeof text, "%016" PRIx64, digest);
  add(to, metric, text, "fnv1a-64", "digest");
}

enum { TILING_BYTES = 512 };

/* The tiling that the lowering has chosen, as arguments; a trace has none. */
static void add_tiling(struct rows_of *to, const struct workload *workload, const vinci_soc *soc) {
  char text[TILING_BYTES];
  struct vinci_tiling tiling;
  struct vinci_diag ignored = {0};
  if (workload->op &&
      vinci_op_tiling(soc, workload->op, workload->args, workload->arg_count, text, sizeof text,
                      &tiling, &ignored) == VINCI_OK &&
      *tiling.args)
    add(to, gate_tiling_row, tiling.args, "1", "digest");
}

/* Pipes without instructions have nothing to say. */
static void add_metrics(struct rows_of *to, const struct vinci_result *result) {
  struct metric_list list;
  metrics_collect(result, &list);
  for (size_t i = 0; i < list.count; i++) {
    const struct metric *metric = &list.item[i];
    const struct counter *row = metric->counter;
    if (row->places & (IN_GATE | IN_DETAIL) && !metric->unused)
      add_number(to, metric->name, metric->value, counter_unit_name(row->unit),
                 row->places & IN_GATE ? "metric" : "detail");
  }
}

/* "critical.MTE2.copy_gm_to_ubuf.cycles", "critical.idle.cycles", "cause.MTE2.rate.cycles" */
static void add_part(struct rows_of *to, const struct explain_item *item) {
  const char *kind = item->kind == EXPLAIN_CAUSE ? "cause" : "critical";
  const char *dot = *item->name ? "." : "";
  char name[96];
  snprintf(name, sizeof name, "%s.%s%s%s.count", kind, item->group, dot, item->name);
  add_number(to, name, item->count[EXPLAIN_A], "1", "detail");
  snprintf(name, sizeof name, "%s.%s%s%s.cycles", kind, item->group, dot, item->name);
  add_number(to, name, item->cycles[EXPLAIN_A], "cycle", "detail");
}

static enum vinci_status add_critical(struct rows_of *to, const struct vinci_result *result,
                                      struct vinci_diag *diag) {
  struct critical_path path;
  struct explanation parts = {0};
  enum vinci_status status = critical_find(result, &path, diag);
  if (status == VINCI_OK && !explain_path(&parts, EXPLAIN_A, &path))
    status = no_memory(diag);
  for (size_t i = 0; status == VINCI_OK && i < parts.count; i++)
    add_part(to, &parts.items[i]);
  explain_free(&parts);
  add_number(to, "events.dropped", result->events_dropped, "1", "detail");
  return status;
}

/* Kernels and nodes of a network have no instructions: the critical path is what the time of all is
 * made of. */
static void add_network(struct rows_of *to, const struct vinci_net_result *result,
                        const vinci_soc *soc) {
  struct network_metric list[NETWORK_METRICS_MAX];
  struct network_part parts[NETWORK_PARTS];
  size_t count = network_metrics(result, list);
  uint64_t total;
  char name[96];
  network_parts(result, soc, parts, &total);
  add_number(to, "total_cycles", total, "cycle", "metric");
  for (size_t i = 0; i < count; i++)
    add_number(to, list[i].name, list[i].value, list[i].unit, "metric");
  for (size_t i = 0; i < NETWORK_PARTS; i++) {
    snprintf(name, sizeof name, "critical.%s.cycles", parts[i].name);
    add_number(to, name, parts[i].cycles, "cycle", "detail");
  }
}

static enum vinci_status measure_network(const struct gate_point *point, struct chip_cache *chips,
                                         struct gate_rows *rows, struct vinci_diag *diag) {
  struct rows_of to = {.rows = rows, .point = point->name};
  struct vinci_net_result result;
  vinci_soc *soc = NULL;
  uint64_t events = 0, program = 0;
  enum vinci_status status = chip_cache_copy(chips, point->spec.soc, &point->spec, &soc, diag);
  if (status == VINCI_OK)
    status = workload_digest(&point->spec.workload, &program, diag);
  if (status == VINCI_OK)
    status = network_run(&point->spec.workload, soc, &point->options, NULL, &result, &events, diag);
  if (status == VINCI_OK) {
    add_digest(&to, "digest.config", config_digest(point, soc));
    add_digest(&to, "digest.input", result.problem_digest);
    add_digest(&to, "digest.program", program);
    add_digest(&to, "digest.events", events);
    add(&to, "model.revision", vinci_model_revision(), "1", "digest");
    add_network(&to, &result, soc);
  }
  if (status == VINCI_OK && to.failed)
    status = no_memory(diag);
  vinci_soc_free(soc);
  return status;
}

enum vinci_status gate_measure(const struct gate_point *point, struct chip_cache *chips,
                               const struct model_steps *steps, uint64_t seed,
                               struct gate_rows *rows, struct vinci_diag *diag) {
  struct vinci_run_options options = point->options;
  struct rows_of to = {.rows = rows, .point = point->name};
  vinci_soc *soc = NULL;
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  uint64_t input = 0;
  if (point->spec.workload.job || point->spec.workload.model)
    return gate_measure_job(point, chips, steps, rows, diag);
  if (point->spec.workload.net)
    return measure_network(point, chips, rows, diag);
  options.max_events = GATE_EVENTS_MAX;
  options.part_order_seed = seed;
  enum vinci_status status = gate_point_open(point, chips, &soc, &trace, diag);
  if (status == VINCI_OK)
    status = input_digest(point, trace, &input, diag);
  if (status == VINCI_OK)
    status = vinci_run(soc, trace, &options, &result, diag);
  if (status == VINCI_OK && seed == 0) /* neither depends on the order of parts */
    status = gate_prove(point, soc, trace, diag);
  if (status == VINCI_OK) {
    add_digest(&to, "digest.config", config_digest(point, soc));
    add_digest(&to, "digest.input", input);
    add_digest(&to, "digest.program", trace->digest);
    add_digest(&to, "digest.events", event_digest(result));
    add(&to, "model.revision", vinci_model_revision(), "1", "digest");
    add_tiling(&to, &point->spec.workload, soc);
    add_metrics(&to, result);
    status = add_critical(&to, result, diag);
  }
  if (status == VINCI_OK && to.failed)
    status = no_memory(diag);
  vinci_result_free(result);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
  return status;
}
