/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycle memory first. A run that has moved much, and has much before it, waits while flat memory
 * runs the same program to its end. Where the counters of that run say that memory decides less
 * than the bar allows, it is the answer. Else the run in cycle memory goes on, and ends as soon as
 * both paces (core/sim/pace.h) say the duration within that bar, or at its own end, and is exact.
 * So nothing is simulated twice in cycle memory, and runs that end soon cost what they cost there.
 */
#include "core/sim/auto.h"

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/isa/taken.h"
#include "core/sim/pace.h"

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
enum { LEAST_BYTES = 16 << 20, LOOK_BYTES = LEAST_BYTES / PACE_LOOKS };
/* By instructions; behind this the run in cycle memory is over before any estimate. */
enum { LAST_PERMILLE = 500 };
/* With less to move, flat memory takes more than a third of what cycle memory takes, which is what
 * an estimate spares (tests/bench/counts.csv: an instruction with either, a line, a burst). */
enum { BYTES_PER_INSTRUCTION = 64 };

/* A run in cycle memory, and what flat memory says. */
struct automatic {
  struct pace pace;
  struct arena arena; /* of the pace */
  struct device *cycle;
  struct vinci_result *flat; /* NULL: not there yet, or of no use */
  bool asked;                /* the flat run has been tried, or is not to be */
  bool interrupted;          /* by the caller, while the run in cycle memory waited */
  bool given_up; /* the flat run has ended before its end, as no estimate would follow */
  bool ended;    /* the run in cycle memory has ended before its end */
  struct vinci_auto_bar bar; /* of the answer, unless that is the whole run in cycle memory */
};

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

/*
 * Tensors that fill L2 late: nothing is compared before, and behind five eighths of the work no
 * more. Most kernels move each tensor once.
 */
static bool settles_late(const struct vinci_soc *soc, const struct vinci_trace *trace) {
  uint64_t bytes = 0, room = (uint64_t)soc->l2_bytes;
  for (uint32_t i = 0; i < trace->tensor_count; i++)
    bytes = add_up_to(bytes, trace->tensors[i].bytes, UINT64_MAX);
  return bytes + bytes / 8 >= room && bytes / 8 * 5 < room;
}

/* ---- both runs ---- */

/* One of both runs; VINCI_E_LIMIT when an answer or no hope has ended the run. */
static enum vinci_status run_one(struct device *device, const struct vinci_run_options *options,
                                 enum vinci_memory memory, struct vinci_result **out) {
  struct vinci_run_options own = *options;
  own.memory = memory;
  enum vinci_status status = device_open(device, &own);
  if (status != VINCI_OK)
    return status;
  status = engine_run(device->engine, device->diag);
  struct automatic *automatic = device->automatic;
  bool ended = automatic->cycle == device ? automatic->ended : automatic->given_up;
  return device_close(device, ended ? VINCI_E_LIMIT : status, out);
}

/* What the caller is told while the run in cycle memory waits; false ends both runs. */
static bool tell(void *context, uint64_t cycles, unsigned done_permille) {
  const struct device *device = context;
  (void)cycles;
  (void)done_permille;
  struct clock_domain clock;
  clock_init(&clock, (uint64_t)device->soc->core_hz);
  bool goes_on = device->options.progress(device->options.progress_context,
                                          clock_edge_at(&clock, engine_now_ps(device->engine)),
                                          device_done_permille(device));
  device->automatic->interrupted |= !goes_on;
  return goes_on;
}

static void end_cycle(struct automatic *automatic) {
  automatic->ended = true;
  engine_stop(automatic->cycle->engine);
}

/* What the counters of the flat run say. */
static void judge_flat(struct automatic *automatic) {
  const struct vinci_result *flat = automatic->flat;
  struct pace *pace = &automatic->pace;
  pace->flat_ps = flat->total_ps;
  pace->settled_bytes = settled_bytes(flat, pace->flat_bytes);
  automatic->bar = (struct vinci_auto_bar){
      .from = VINCI_AUTO_FLAT,
      .error_bar_ppm = flat_bar_ppm(flat),
      .flat_cycles = flat->total_cycles,
      .simulated_ppm = result_share_ppm(pace->cycle_bytes, pace->flat_bytes),
      .counters_of_flat = true};
  if (automatic->bar.error_bar_ppm <= limit_ppm(&automatic->cycle->options))
    end_cycle(automatic);
}

/* The flat run ends where it has done as much as the run in cycle memory, when both say that the
 * rest will be of no use. */
static void note_flat(struct device *flat, uint32_t core, uint64_t bytes) {
  struct automatic *automatic = flat->automatic;
  struct pace *pace = &automatic->pace;
  bool before = pace->flat_bytes < pace->cycle_bytes;
  pace_note_flat(pace, core, bytes, engine_now_ps(flat->engine));
  if (before && pace->flat_bytes >= pace->cycle_bytes &&
      pace_is_far(pace, limit_ppm(&automatic->cycle->options))) {
    automatic->given_up = true;
    engine_stop(flat->engine);
  }
}

/* A run that fails here, for want of memory or time, is of no use: the other one says why. */
static void ask_flat(struct automatic *automatic) {
  struct device *cycle = automatic->cycle;
  struct vinci_diag diag = {0};
  struct device device = {.soc = cycle->soc,
                          .trace = cycle->trace,
                          .automatic = automatic,
                          .note = note_flat,
                          .diag = &diag};
  struct vinci_run_options own = cycle->options;
  if (own.progress) {
    own.progress = tell;
    own.progress_context = cycle;
  }
  automatic->asked = true;
  if (device_done_permille(cycle) > LAST_PERMILLE ||
      device_issued(cycle) > automatic->pace.cycle_bytes / BYTES_PER_INSTRUCTION)
    return;
  if (run_one(&device, &own, VINCI_MEMORY_FLAT, &automatic->flat) == VINCI_OK) {
    judge_flat(automatic);
  } else {
    vinci_result_free(automatic->flat);
    automatic->flat = NULL;
  }
  if (automatic->interrupted)
    device_interrupt(cycle);
}

static void note_cycle(struct device *cycle, uint32_t core, uint64_t bytes) {
  struct automatic *automatic = cycle->automatic;
  struct pace *pace = &automatic->pace;
  if (!pace_note_cycle(pace, core, bytes, engine_now_ps(cycle->engine)))
    return;
  if (!automatic->asked && pace->cycle_bytes >= LEAST_BYTES)
    ask_flat(automatic);
  if (!automatic->flat || automatic->ended || automatic->interrupted || !pace_estimate(pace) ||
      pace->bar_ppm > limit_ppm(&cycle->options) || pace->estimate_ps > device_limit_ps(cycle))
    return;
  automatic->bar.from = VINCI_AUTO_PREFIX;
  automatic->bar.error_bar_ppm = pace->bar_ppm;
  automatic->bar.simulated_ppm = result_share_ppm(pace->cycle_bytes, pace->flat_bytes);
  end_cycle(automatic);
}

/* The flat run as the answer, with the duration of the estimate if any. */
static struct vinci_result *answer_of_flat(struct automatic *automatic) {
  struct vinci_result *result = automatic->flat;
  struct clock_domain clock;
  clock_init(&clock, (uint64_t)result->soc->core_hz);
  if (automatic->bar.from == VINCI_AUTO_PREFIX) {
    result->total_ps = automatic->pace.estimate_ps;
    result->total_cycles = clock_edge_at(&clock, result->total_ps);
  }
  automatic->flat = NULL;
  return result;
}

static enum vinci_status run_both(struct device *cycle, const struct vinci_run_options *options,
                                  struct vinci_result **out) {
  struct automatic *automatic = cycle->automatic;
  struct vinci_auto_bar bar = {.from = VINCI_AUTO_CYCLE, .simulated_ppm = PPM};
  enum vinci_status status = run_one(cycle, options, VINCI_MEMORY_CYCLE, out);
  if (automatic->flat)
    bar.flat_cycles = automatic->flat->total_cycles;
  if (automatic->ended) {
    struct vinci_result *prefix = *out;
    bar = automatic->bar;
    *out = answer_of_flat(automatic);
    (*out)->cpu_seconds = prefix->cpu_seconds; /* which has those of the flat run */
    vinci_result_free(prefix);
    status = VINCI_OK;
  }
  if (*out) {
    (*out)->automatic = bar;
    (*out)->is_automatic = true;
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

enum vinci_status auto_run(const struct vinci_soc *soc, const struct vinci_trace *trace,
                           const struct vinci_run_options *options, struct vinci_result **out,
                           struct vinci_diag *diag) {
  struct automatic automatic = {0};
  struct device cycle = {
      .soc = soc, .trace = trace, .diag = diag, .automatic = &automatic, .note = note_cycle};
  *out = NULL;
  enum vinci_status status = trace_take(trace, diag);
  if (status != VINCI_OK)
    return status;
  automatic.cycle = &cycle;
  /* Code of a kernel is executed by one run at a time. */
  automatic.asked = trace->source || settles_late(soc, trace);
  if (pace_create(&automatic.pace, &automatic.arena, all_cores(soc), LOOK_BYTES))
    status = run_both(&cycle, options, out);
  else
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the paces of two runs");
  trace_give_back(trace);
  vinci_result_free(automatic.flat);
  arena_free(&automatic.arena);
  return status;
}
