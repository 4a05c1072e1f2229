/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flat memory first. Where its own counters say that memory may decide more than the bar allows,
 * the run begins again in cycle memory, and ends as soon as both paces (core/sim/pace.h) say the
 * duration within that bar; else the run goes on to its end, and is exact.
 */
#include "core/sim/auto.h"

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/isa/taken.h"

enum { PPM = 1000000, LIMIT_PPM = 20000 };

static uint64_t limit_ppm(const struct vinci_run_options *options) {
  return options->error_bar_ppm > 0 ? options->error_bar_ppm : LIMIT_PPM;
}

/*
 * How far flat memory may be away where nothing was compared: by the share of the run in which
 * copies to and from GM are at work and nothing hides them, and in which they wait for memory. The
 * numbers are thousandths, chosen as those of core/sim/pace.c.
 */
enum { FLAT_BASE_PPM = 12000, FLAT_OPEN = 150, FLAT_BOUND = 400 };

/* With less traffic a whole run in cycle memory takes some milliseconds, and has no steady part
 * whose pace would say anything of the rest. */
enum { LEAST_BYTES = 16 << 20, SMALL_BYTES = 2 << 20 };

/* ---- what flat memory says ---- */

/* Shares of the time of cores with work in which a pipe is busy, and waits for memory. */
static void pipe_shares(const struct vinci_result *result, enum pipe pipe, uint64_t *busy_ppm,
                        uint64_t *wait_ppm) {
  struct pipe_counters sum;
  uint64_t total, waits = 0;
  result_sum_pipe(result, pipe, true, &sum, &total);
  for (unsigned cause = CAUSE_WINDOW; cause <= CAUSE_DRAM_QUEUE; cause++)
    waits += sum.cause_cycles[cause];
  *busy_ppm = max_u64(*busy_ppm, result_share_ppm(sum.busy_cycles, total));
  *wait_ppm = max_u64(*wait_ppm, result_share_ppm(waits, total));
}

static uint64_t flat_bar_ppm(const struct vinci_result *result) {
  static const enum pipe copying[] = {PIPE_MTE2, PIPE_MTE3, PIPE_FIX};
  static const enum pipe working[] = {PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1};
  uint64_t copies = 0, waits = 0, others = 0, ignored = 0;
  for (unsigned i = 0; i < sizeof copying / sizeof *copying; i++)
    pipe_shares(result, copying[i], &copies, &waits);
  for (unsigned i = 0; i < sizeof working / sizeof *working; i++)
    pipe_shares(result, working[i], &others, &ignored);
  uint64_t open = copies * (PPM - min_u64(others, PPM)) / PPM;
  uint64_t bound = copies * (waits + result_hbm_ppm(result)) / PPM;
  return FLAT_BASE_PPM + (FLAT_OPEN * open + FLAT_BOUND * bound) / MILLI;
}

/* Work by which what comes into L2 has filled it, from when on what leaves has to be written back;
 * 0: it does not get full. */
static uint64_t settled_bytes(const struct vinci_result *result, uint64_t work_bytes) {
  uint64_t came = (result->l2.read_misses + result->l2.write_misses) * L2_GRANULE_BYTES;
  uint64_t room = (uint64_t)result->soc->l2_bytes;
  if (came == 0 || came + came / 8 < room)
    return 0;
  return (uint64_t)((uint128)work_bytes * min_u64(room, came) / came);
}

/* ---- both runs ---- */

/* Small tensors: cycle memory costs hardly more than flat memory does, and is exact. */
static bool is_small(const struct vinci_trace *trace) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < trace->tensor_count; i++)
    bytes = add_up_to(bytes, trace->tensors[i].bytes, UINT64_MAX);
  return bytes < SMALL_BYTES;
}

/* Progress of both as one: a fifth is the flat run's. */
struct told {
  const struct vinci_run_options *options;
  bool second;
};

static bool tell(void *context, uint64_t cycles, unsigned done_permille) {
  const struct told *told = context;
  unsigned done = told->second ? 200 + done_permille * 4 / 5 : done_permille / 5;
  return told->options->progress(told->options->progress_context, cycles, done);
}

/* One of both runs; VINCI_E_LIMIT for one that ended at a look. */
static enum vinci_status run_paced(struct device *device, const struct vinci_run_options *options,
                                   struct vinci_result **out) {
  enum vinci_status status = device_open(device, options);
  if (status != VINCI_OK)
    return status;
  status = engine_run(device->engine, device->diag);
  return device_close(device, device->pace_stopped ? VINCI_E_LIMIT : status, out);
}

static void corrected(struct vinci_result *result, const struct pace *pace) {
  struct clock_domain clock;
  clock_init(&clock, (uint64_t)result->soc->core_hz);
  result->total_ps = pace->estimate_ps;
  result->total_cycles = clock_edge_at(&clock, pace->estimate_ps);
}

static enum vinci_status run_cycle(const struct device *flat,
                                   const struct vinci_run_options *options,
                                   struct vinci_result **out) {
  struct pace *pace = flat->pace;
  struct device device = {.soc = flat->soc,
                          .trace = flat->trace,
                          .diag = flat->diag,
                          .pace = pace,
                          .pace_limit_ppm = limit_ppm(options),
                          .pace_least_bytes = LEAST_BYTES};
  struct vinci_result *result = NULL, *first = *out;
  enum vinci_status status = run_paced(&device, options, &result);
  struct vinci_auto_bar bar = first->automatic;
  double seconds = first->cpu_seconds + (result ? result->cpu_seconds : 0);
  if (device.pace_stopped) {
    bar.from = VINCI_AUTO_PREFIX;
    bar.error_bar_ppm = pace->bar_ppm;
    bar.simulated_ppm = result_share_ppm(pace->cycle_bytes, pace->flat_bytes);
    corrected(first, pace);
    vinci_result_free(result);
    status = VINCI_OK;
  } else {
    bar = (struct vinci_auto_bar){
        .from = VINCI_AUTO_CYCLE, .flat_cycles = bar.flat_cycles, .simulated_ppm = PPM};
    vinci_result_free(first);
    *out = first = result;
  }
  if (first) {
    first->automatic = bar;
    first->is_automatic = true;
    first->cpu_seconds = seconds;
  }
  return status;
}

/* All that the chip has, as no run has more. */
static uint32_t all_cores(const struct vinci_soc *soc) {
  uint64_t cores = 0;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    cores += soc_core_count(soc, (enum core_kind)kind);
  return (uint32_t)cores;
}

/* What the counters of the flat run say; it is the answer unless cycle memory has another. */
static void judge_flat(struct vinci_result *result, struct pace *pace) {
  pace->flat_ps = result->total_ps;
  pace->settled_bytes = settled_bytes(result, pace->flat_bytes);
  result->is_automatic = true;
  result->automatic = (struct vinci_auto_bar){.from = VINCI_AUTO_FLAT,
                                              .error_bar_ppm = flat_bar_ppm(result),
                                              .flat_cycles = result->total_cycles,
                                              .counters_of_flat = true};
}

/* All of it in cycle memory. */
static enum vinci_status run_exact(const struct device *like,
                                   const struct vinci_run_options *options,
                                   struct vinci_result **out) {
  struct device device = {.soc = like->soc, .trace = like->trace, .diag = like->diag};
  struct vinci_run_options own = *options;
  own.memory = VINCI_MEMORY_CYCLE;
  enum vinci_status status = run_paced(&device, &own, out);
  if (*out) {
    (*out)->is_automatic = true;
    (*out)->automatic = (struct vinci_auto_bar){.from = VINCI_AUTO_CYCLE, .simulated_ppm = PPM};
  }
  return status;
}

static enum vinci_status run_both(struct device *flat, const struct vinci_run_options *options,
                                  struct vinci_result **out) {
  struct told told = {.options = options};
  struct vinci_run_options own = *options;
  own.memory = VINCI_MEMORY_FLAT;
  own.progress = options->progress ? tell : NULL;
  own.progress_context = &told;
  enum vinci_status status = run_paced(flat, &own, out);
  if (status != VINCI_OK)
    return status;
  judge_flat(*out, flat->pace);
  if ((*out)->automatic.error_bar_ppm <= limit_ppm(options))
    return VINCI_OK;
  told.second = true;
  own.memory = VINCI_MEMORY_CYCLE;
  return run_cycle(flat, &own, out);
}

enum vinci_status auto_run(const struct vinci_soc *soc, const struct vinci_trace *trace,
                           const struct vinci_run_options *options, struct vinci_result **out,
                           struct vinci_diag *diag) {
  struct arena arena = {0};
  struct pace pace;
  struct device flat = {.soc = soc, .trace = trace, .diag = diag, .pace = &pace, .pace_flat = true};
  *out = NULL;
  enum vinci_status status = trace_take(trace, diag);
  if (status != VINCI_OK)
    return status;
  if (is_small(trace))
    status = run_exact(&flat, options, out);
  else if (pace_create(&pace, &arena, all_cores(soc)))
    status = run_both(&flat, options, out);
  else
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the paces of two runs");
  trace_give_back(trace);
  arena_free(&arena);
  return status;
}
