/* SPDX-License-Identifier: Apache-2.0 */
/* vinci_run(): one simulation from launch to checked result. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/isa/taken.h"
#include "core/result/events.h"
#include "core/sim/auto.h"
#include "core/sim/device.h"
#include "core/sim/kept.h"

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t peak_rss_bytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (uint64_t)usage.ru_maxrss * 1024;
}

/* The scalar unit and the pipes run ahead: what a run that is cut short has recorded may end after
 * the run does. */
static void cut_events(struct aicore *core) {
  uint64_t end_cycle = core->result->total_cycles;
  for (uint64_t i = 0; i < core->event_count; i++) {
    struct result_event *event = &core->events[i];
    event->start_cycle = min_u64(event->start_cycle, end_cycle);
    event->end_cycle = min_u64(event->end_cycle, end_cycle);
  }
}

/* Brings the cores' shares of the event store together, in core order. */
static void gather_events(struct device *device) {
  struct vinci_result *result = device->result;
  for (uint32_t i = 0; i < device->placement.core_count; i++) {
    struct aicore *core = &device->cores[i];
    result->events_dropped += core->events_dropped;
    if (core->log) {
      event_log_end(core->log, result->partial ? result->total_cycles : UINT64_MAX);
      continue;
    }
    if (result->partial)
      cut_events(core);
    if (core->event_count > 0)
      memmove(result->events + result->event_count, core->events,
              core->event_count * sizeof *core->events);
    result->event_count += core->event_count;
  }
}

static void collect(struct device *device) {
  struct vinci_result *result = device->result;
  struct clock_domain clock;
  clock_init(&clock, (uint64_t)device->soc->core_hz);
  result->partial = !device->finished;
  const struct program_source *source = device->trace->source;
  result->waits_left_out = source && source->polls;
  result->scalar_accesses = source ? source->scalar.gm + source->scalar.ub : 0;
  result->scalar_uncounted = source && source->scalar.uncounted;
  result->operands_cut = source ? source->cut_count : 0;
  result->kernel_count = device->kernel + 1;
  struct kernel_result *last = &result->kernels[device->kernel];
  if (device->status == VINCI_E_LIMIT)
    last->end_ps = engine_now_ps(device->engine);
  else if (!device->finished)
    last->end_ps = engine_last_ps(device->engine);
  result->total_ps = last->end_ps;
  result->total_cycles = clock_edge_at(&clock, result->total_ps);
  result->engine_events = engine_fired(device->engine);
  for (uint32_t i = 0; i < device->placement.core_count; i++) {
    aicore_account(&device->cores[i], result->total_ps);
    for (unsigned p = 0; p < PIPE_COUNT; p++)
      result->executed_instructions += result->cores[i].pipe[p].instructions;
  }
  gather_events(device);
  device->memory_ops->report(device->memory, result->total_ps, result);
  traffic_reach(&result->traffic, result->total_ps);
  device->network_ops->report(device->network, result->total_ps, result);
}

static struct vinci_result *new_result(const struct vinci_soc *soc,
                                       const struct vinci_trace *trace) {
  struct vinci_result *result = result_create();
  if (!result)
    return NULL;
  result->soc = soc_copy(soc);
  result->compiled = trace->source != NULL;
  result->trace_path = arena_strdup(&result->arena, trace->path);
  if (!result->soc || !result->trace_path) {
    vinci_result_free(result);
    return NULL;
  }
  result->op = trace->op;
  result->op_dtype = trace->tensor_count > 0 ? trace->tensors[0].dtype : DTYPE_COUNT;
  result->config_digest = trace->soc_digest; /* placement_create() compares the two */
  result->input_digest = trace->digest;
  return result;
}

/* Names outlive the trace: a result keeps no reference to the trace. */
static bool own_names(struct vinci_result *result) {
  for (uint32_t k = 0; k < result->kernel_count; k++) {
    result->kernels[k].name = arena_strdup(&result->arena, result->kernels[k].name);
    if (!result->kernels[k].name)
      return false;
  }
  return true;
}

/* The end of a run whose events have fired. */
static enum vinci_status finish(struct device *device) {
  device_end_of_time(device);
  if (device->status != VINCI_OK && device->status != VINCI_E_LIMIT)
    return device->status;
  collect(device);
  if (!own_names(device->result))
    return diag_error(device->diag, VINCI_E_NOMEM, "out of memory for the result");
  enum vinci_status status = result_check(device->result, device->diag);
  if (status != VINCI_OK)
    return status;
  if (device->status == VINCI_E_LIMIT) {
    (void)diag_error(device->diag, VINCI_E_LIMIT, "%s; results are partial",
                     device->result->partial_reason);
    if (engine_at_end(device->engine))
      diag_hint(device->diag, "no kernel takes hours: look for a loop count or a number of cycles "
                              "that is far too large, or a clock that is far too slow");
    return VINCI_E_LIMIT;
  }
  if (device->finished)
    return VINCI_OK;
  device->result->partial_reason = "the simulated program hangs";
  return device_report_hang(device, device->diag);
}

static enum vinci_status take_options(struct device *device,
                                      const struct vinci_run_options *options) {
  if (!options)
    return VINCI_OK;
  size_t size = options->struct_size;
  if (size == 0 || size > sizeof device->options)
    return diag_error(device->diag, VINCI_E_USAGE, "struct_size of the run options is %zu, not %zu",
                      size, sizeof device->options);
  memcpy(&device->options, options, size);
  if (device->options.memory != VINCI_MEMORY_CYCLE && device->options.memory != VINCI_MEMORY_FLAT)
    return diag_error(device->diag, VINCI_E_USAGE,
                      "memory of the run options is %u: auto needs options of this version, and no "
                      "launches in a row",
                      (unsigned)device->options.memory);
  if ((unsigned)device->options.l2_start > VINCI_L2_DIRTY)
    return diag_error(device->diag, VINCI_E_USAGE, "l2_start of the run options is %u, not 0 to 4",
                      (unsigned)device->options.l2_start);
  return VINCI_OK;
}

static void free_model(struct device *device) {
  if (device->kept) {
    arena_rewind(&device->arena);
    *device->kept->arena = device->arena;
  } else {
    arena_free(&device->arena);
  }
}

enum vinci_status device_open(struct device *device, const struct vinci_run_options *options) {
  device->start_seconds = cpu_seconds();
  enum vinci_status status = take_options(device, options);
  if (status == VINCI_OK)
    status = soc_validate(device->soc, device->diag);
  if (status != VINCI_OK)
    return status;
  device->result = new_result(device->soc, device->trace);
  if (!device->result)
    return diag_error(device->diag, VINCI_E_NOMEM, "out of memory for the result");
  if (device->kept)
    device->arena = *device->kept->arena;
  status = device_create(device);
  if (status != VINCI_OK) {
    free_model(device);
    vinci_result_free(device->result);
    return status;
  }
  arena_seal(&device->arena);
  device_launch(device);
  return VINCI_OK;
}

enum vinci_status device_close(struct device *device, enum vinci_status status,
                               struct vinci_result **out) {
  if (status == VINCI_OK)
    status = finish(device);
  free_model(device);
  if (status != VINCI_OK && status != VINCI_E_LIMIT && status != VINCI_E_DEADLOCK) {
    vinci_result_free(device->result);
    return status;
  }
  device->result->cpu_seconds = cpu_seconds() - device->start_seconds;
  device->result->peak_rss_bytes = peak_rss_bytes();
  *out = device->result;
  return status;
}

enum vinci_status device_run(const struct vinci_soc *soc, const struct vinci_trace *trace,
                             const struct vinci_run_options *options,
                             const struct device_kept *kept, struct vinci_result **out,
                             struct vinci_diag *diag) {
  struct device device = {.soc = soc,
                          .trace = trace,
                          .kept = kept,
                          .addresses = kept ? kept->addresses : NULL,
                          .diag = diag};
  *out = NULL;
  enum vinci_status status = trace_take(trace, diag);
  if (status != VINCI_OK)
    return status;
  status = device_open(&device, options);
  if (status == VINCI_OK)
    status = device_close(&device, engine_run(device.engine, diag), out);
  trace_give_back(trace);
  return status;
}

enum vinci_status vinci_run(const struct vinci_soc *soc, const struct vinci_trace *trace,
                            const struct vinci_run_options *options, struct vinci_result **out,
                            struct vinci_diag *diag) {
  if (options && options->struct_size == sizeof *options && options->repeat > 1)
    return kept_repeat(soc, trace, options, out, diag);
  if (options && options->struct_size == sizeof *options && options->memory == VINCI_MEMORY_AUTO)
    return auto_run(soc, trace, options, out, diag);
  return device_run(soc, trace, options, NULL, out, diag);
}
