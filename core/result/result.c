/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of results: sums, names, what limits a run, and the identities every run satisfies. */
#include "core/result/result.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/result/result_counters.h"

static const char *const stall_keys[] = {
#define X(id, key, text, mostly) key,
    STALL_LIST(X)
#undef X
};
static const char *const stall_texts[] = {
#define X(id, key, text, mostly) text,
    STALL_LIST(X)
#undef X
};
static const char *const stall_reasons[] = {
#define X(id, key, text, mostly) "otherwise it mostly " mostly,
    STALL_LIST(X)
#undef X
};

const char *noc_way_name(enum noc_way way) { return way == NOC_REQUESTS ? "requests" : "answers"; }

const char *stall_key(enum stall stall) { return stall_keys[stall]; }
const char *stall_text(enum stall stall) { return stall_texts[stall]; }

const char *bound_name(enum bound bound) {
  switch (bound) {
  case BOUND_COMPUTE:
    return "compute";
  case BOUND_MEMORY:
    return "memory";
  case BOUND_LATENCY:
    return "latency";
  case BOUND_SCALAR:
    return "scalar";
  case BOUND_NONE:
    break;
  }
  return "none";
}

struct vinci_result *result_create(void) {
  return calloc(1, sizeof(struct vinci_result));
}

uint64_t vinci_result_total_cycles(const vinci_result *result) { return result->total_cycles; }

void vinci_result_free(vinci_result *result) {
  if (!result)
    return;
  vinci_soc_free(result->soc);
  free(result->events);
  free(result->logs);
  free(result->log_bytes);
  arena_free(&result->arena);
  free(result);
}

void result_core_name(const struct core_result *core, char *buffer, size_t size) {
  core_name(core->kind, core->cluster, core->member, buffer, size);
}

uint64_t result_pipe_stalls(const struct pipe_counters *counters) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < STALL_COUNT; i++)
    sum += counters->stall_cycles[i];
  return sum;
}

uint64_t result_pipe_causes(const struct pipe_counters *counters) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < CAUSE_COUNT; i++)
    sum += counters->cause_cycles[i];
  return sum;
}

uint64_t result_profiled_cycles(const struct pipe_counters *counters, enum pipe pipe) {
  return counters->busy_cycles + (pipe == PIPE_FIX ? counters->stall_cycles[STALL_UNIT_FLAG] : 0);
}

/* kind CORE_KIND_COUNT: every kind. */
static void sum_pipe(const struct vinci_result *result, enum core_kind kind, enum pipe pipe,
                     bool active_only, struct pipe_counters *sum, uint64_t *total_cycles) {
  *sum = (struct pipe_counters){0};
  *total_cycles = 0;
  for (uint32_t i = 0; i < result->core_count; i++) {
    const struct core_result *core = &result->cores[i];
    if ((kind != CORE_KIND_COUNT && core->kind != kind) || !core_has_pipe(core->kind, pipe) ||
        (active_only && core->blocks_run == 0))
      continue;
    counters_add(GROUP_PIPE, sum, &core->pipe[pipe]);
    *total_cycles += core->total_cycles;
  }
}

void result_sum_pipe(const struct vinci_result *result, enum pipe pipe, bool active_only,
                     struct pipe_counters *sum, uint64_t *total_cycles) {
  sum_pipe(result, CORE_KIND_COUNT, pipe, active_only, sum, total_cycles);
}

void result_sum_kind(const struct vinci_result *result, enum core_kind kind, enum pipe pipe,
                     struct pipe_counters *sum, uint64_t *total_cycles) {
  sum_pipe(result, kind, pipe, true, sum, total_cycles);
}

uint64_t result_blocks(const struct vinci_result *result) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < result->kernel_count; i++)
    sum += result->kernels[i].blocks;
  return sum;
}

uint64_t result_path_bytes(const struct vinci_result *result, enum path path) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < result->core_count; i++)
    sum += result->cores[i].path_bytes[path];
  return sum;
}

unsigned result_active_cores(const struct vinci_result *result, enum core_kind kind) {
  unsigned count = 0;
  for (uint32_t i = 0; i < result->core_count; i++)
    count += result->cores[i].kind == kind && result->cores[i].blocks_run > 0;
  return count;
}

/* ---- what limits a run --------------------------------------------------- */

uint64_t result_share_ppm(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : (uint64_t)(((uint128)part * 1000000 + whole / 2) / whole);
}

/* Share of a bandwidth that `bytes` in the run's time are. */
uint64_t result_bandwidth_ppm(const struct vinci_result *result, uint64_t bytes,
                              uint64_t bytes_per_second) {
  uint128 whole = (uint128)result->total_ps * bytes_per_second;
  return whole == 0 ? 0 : (uint64_t)((uint128)bytes * PS_PER_SECOND * 1000000 / whole);
}

/* What the instructions moved, not the granules they touched: a granule may be touched often. */
uint64_t result_l2_bytes(const struct vinci_result *result) {
  return result->gm_read_bytes + result->gm_write_bytes;
}

uint64_t hbm_bytes(const struct hbm_totals *hbm) { return hbm->read_bytes + hbm->write_bytes; }

uint64_t result_hbm_ppm(const struct vinci_result *result) {
  return result_bandwidth_ppm(result, hbm_bytes(&result->hbm), result->hbm_peak_bytes_per_second);
}

struct hits l2_hits(const struct l2_counters *l2, unsigned accesses) {
  bool reads = accesses & L2_READS, writes = accesses & L2_WRITES;
  return (struct hits){(reads ? l2->read_hits : 0) + (writes ? l2->write_hits : 0),
                       (reads ? l2->read_misses : 0) + (writes ? l2->write_misses : 0)};
}

struct hits hbm_row_hits(const struct hbm_totals *hbm) {
  return (struct hits){hbm->row_hits, hbm->row_misses};
}

/* The busiest resource: a pipe of one kind of core, or a memory (pipe == PIPE_COUNT). */
struct limit {
  enum bound bound;
  uint64_t ppm;
  enum core_kind kind;
  enum pipe pipe;
  const char *memory;
};

static void consider(struct limit *best, struct limit candidate) {
  if (best->bound == BOUND_NONE || candidate.ppm > best->ppm)
    *best = candidate;
}

/*
 * Shares are taken over the cores that had work and the whole run. Ties go to the
 * earlier entry: arithmetic, then transfers, then memories, then the scalar unit.
 */
static struct limit busiest(const struct vinci_result *result) {
  static const struct {
    enum pipe pipe;
    enum bound bound;
  } order[] = {
      {PIPE_M, BOUND_COMPUTE},   {PIPE_V, BOUND_COMPUTE},  {PIPE_MTE2, BOUND_MEMORY},
      {PIPE_MTE3, BOUND_MEMORY}, {PIPE_FIX, BOUND_MEMORY}, {PIPE_MTE1, BOUND_MEMORY},
      {PIPE_S, BOUND_SCALAR},
  };
  struct limit best = {.bound = BOUND_NONE};
  for (unsigned i = 0; i < sizeof order / sizeof *order; i++) {
    if (order[i].pipe == PIPE_S && best.bound != BOUND_NONE) {
      consider(&best, (struct limit){BOUND_MEMORY, result_hbm_ppm(result), CORE_KIND_COUNT,
                                     PIPE_COUNT, "device memory"});
      consider(&best,
               (struct limit){BOUND_MEMORY,
                              result_bandwidth_ppm(result, result_l2_bytes(result),
                                                   (uint64_t)result->soc->l2_bytes_per_second),
                              CORE_KIND_COUNT, PIPE_COUNT, "L2"});
    }
    for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
      struct pipe_counters sum;
      uint64_t total;
      result_sum_kind(result, (enum core_kind)kind, order[i].pipe, &sum, &total);
      if (total > 0)
        consider(&best, (struct limit){order[i].bound, result_share_ppm(sum.busy_cycles, total),
                                       (enum core_kind)kind, order[i].pipe, NULL});
    }
  }
  return best;
}

static void describe_limit(const struct limit *limit, char *buffer, size_t size) {
  unsigned permille = (unsigned)((limit->ppm + 500) / 1000);
  if (limit->pipe == PIPE_COUNT)
    snprintf(buffer, size, "%s works at %u.%u %% of its peak bandwidth", limit->memory,
             permille / 10, permille % 10);
  else
    snprintf(buffer, size, "pipe %s of the %s cores is busy %u.%u %% of the time",
             pipe_name(limit->pipe), core_kind_name(limit->kind), permille / 10, permille % 10);
}

/* What a pipe mostly does when it is not busy, in words. */
static const char *main_reason(const struct vinci_result *result, const struct limit *limit) {
  struct pipe_counters sum;
  uint64_t total, outside = 0;
  if (limit->pipe == PIPE_COUNT)
    return "no single pipe waits for it alone";
  result_sum_kind(result, limit->kind, limit->pipe, &sum, &total);
  for (uint32_t i = 0; i < result->core_count; i++) {
    const struct core_result *core = &result->cores[i];
    if (core->kind == limit->kind && core->blocks_run > 0)
      outside += core->total_cycles - core->active_cycles;
  }
  const char *text = "otherwise it mostly has no instruction to execute";
  uint64_t most = sum.idle_cycles > outside ? sum.idle_cycles - outside : 0;
  for (unsigned i = 0; i < STALL_COUNT; i++) {
    if (sum.stall_cycles[i] > most) {
      most = sum.stall_cycles[i];
      text = stall_reasons[i];
    }
  }
  return outside > most ? "otherwise its core mostly waits for the launch or has no block" : text;
}

/*
 * The rule. Take the busiest of: each pipe, as its busy share over the cores that had
 * work; device memory and L2, as the share of their peak bandwidth. When it is busy at
 * least BOUND_PERMILLE of the run, it is the limit: M and V mean compute, the transfer
 * pipes and the memories mean memory, S means scalar. Otherwise nothing is short of
 * capacity and the run is bound by latency: work waits for other work or for the launch.
 * The threshold is that of the vendor's profiler (msopprof user guide, roofline page:
 * below 80 % of the highest pipe ratio an operator is latency bound).
 */
enum { BOUND_PERMILLE = 800 };

enum bound result_bound_explain(const struct vinci_result *result, char *buffer, size_t size) {
  struct limit limit = busiest(result);
  if (limit.bound == BOUND_NONE || limit.ppm == 0) {
    snprintf(buffer, size, "no core executed anything");
    return BOUND_NONE;
  }
  char what[128];
  describe_limit(&limit, what, sizeof what);
  if (limit.ppm >= BOUND_PERMILLE * 1000) {
    snprintf(buffer, size, "%s", what);
    return limit.bound;
  }
  snprintf(buffer, size, "nothing is busy %d %% of the time; %s, %s", BOUND_PERMILLE / 10, what,
           main_reason(result, &limit));
  return BOUND_LATENCY;
}

uint64_t result_code_miss_ppm(const struct vinci_result *result, enum core_kind kind) {
  uint64_t missing = 0, scalar_cycles = 0;
  for (uint32_t i = 0; i < result->core_count; i++) {
    if (result->cores[i].kind != kind)
      continue;
    missing += result->cores[i].code_missing_lines;
    scalar_cycles += result->cores[i].pipe[PIPE_S].busy_cycles;
  }
  uint64_t access_mcycles = (uint64_t)result->soc->code_access_mcycles;
  uint64_t accesses = access_mcycles > 0 ? scalar_cycles * MILLI / access_mcycles : 0;
  return result_share_ppm(missing, max_u64(accesses, missing));
}

enum bound result_bound(const struct vinci_result *result) {
  char text[512];
  return result_bound_explain(result, text, sizeof text);
}

const char *vinci_auto_from_name(enum vinci_auto_from from) {
  static const char *const names[] = {"flat", "prefix", "cycle"};
  return names[from];
}

bool vinci_result_auto(const struct vinci_result *result, struct vinci_auto_bar *out) {
  *out = result->automatic;
  return result->is_automatic;
}

/* ---- identities ---------------------------------------------------------- */

static bool adds_up(const struct core_result *core, enum pipe pipe) {
  const struct pipe_counters *counters = &core->pipe[pipe];
  uint64_t stalls = result_pipe_stalls(counters);
  if (!core_has_pipe(core->kind, pipe))
    return counters->busy_cycles == 0 && stalls == 0 && counters->instructions == 0;
  return counters->busy_cycles <= core->total_cycles &&
         counters->busy_cycles + stalls + counters->idle_cycles == core->total_cycles &&
         result_pipe_causes(counters) == counters->busy_cycles;
}

/* Says what does not add up. */
static enum vinci_status check_pipe(const struct core_result *core, enum pipe pipe,
                                    struct vinci_diag *diag) {
  const struct pipe_counters *counters = &core->pipe[pipe];
  uint64_t stalls = result_pipe_stalls(counters);
  if (adds_up(core, pipe))
    return VINCI_OK;
  char name[48];
  result_core_name(core, name, sizeof name);
  if (!core_has_pipe(core->kind, pipe))
    return diag_error(diag, VINCI_E_INTERNAL,
                      "%s has no pipe %s, but counted %" PRIu64 " busy and %" PRIu64
                      " stall cycles and %" PRIu64 " instructions",
                      name, pipe_name(pipe), counters->busy_cycles, stalls, counters->instructions);
  if (counters->busy_cycles > core->total_cycles)
    return diag_error(diag, VINCI_E_INTERNAL,
                      "%s pipe %s: busy %" PRIu64 " cycles exceed the %" PRIu64
                      " cycles of the run",
                      name, pipe_name(pipe), counters->busy_cycles, core->total_cycles);
  if (counters->busy_cycles + stalls + counters->idle_cycles != core->total_cycles)
    return diag_error(diag, VINCI_E_INTERNAL,
                      "%s pipe %s: busy %" PRIu64 " + stalls %" PRIu64 " + idle %" PRIu64
                      " = %" PRIu64 " cycles, but the run has %" PRIu64,
                      name, pipe_name(pipe), counters->busy_cycles, stalls, counters->idle_cycles,
                      counters->busy_cycles + stalls + counters->idle_cycles, core->total_cycles);
  return diag_error(diag, VINCI_E_INTERNAL,
                    "%s pipe %s: the causes sum to %" PRIu64
                    " cycles, but the pipe was busy %" PRIu64,
                    name, pipe_name(pipe), result_pipe_causes(counters), counters->busy_cycles);
}

static enum vinci_status check_core(const struct core_result *core, struct vinci_diag *diag) {
  if (core->active_cycles > core->total_cycles) {
    char name[48];
    result_core_name(core, name, sizeof name);
    return diag_error(diag, VINCI_E_INTERNAL,
                      "%s: active %" PRIu64 " cycles exceed the %" PRIu64 " cycles of the run",
                      name, core->active_cycles, core->total_cycles);
  }
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    enum vinci_status status = check_pipe(core, (enum pipe)pipe, diag);
    if (status != VINCI_OK)
      return status;
  }
  return VINCI_OK;
}

const char *result_l2_name(enum vinci_l2 state) {
  static const char *const names[] = {[VINCI_L2_EMPTY] = "empty",
                                      [VINCI_L2_WARM] = "warm",
                                      [VINCI_L2_STREAMING] = "streaming",
                                      [VINCI_L2_USED] = "used",
                                      [VINCI_L2_DIRTY] = "dirty"};
  return names[state];
}

const char *result_l2_start_name(const struct vinci_result *result) {
  return result->repeat > 1 ? "repeat" : result_l2_name(result->l2_start);
}

const char *result_source_file(const struct vinci_result *result) {
  const char *path = result->trace_path ? result->trace_path : "", *slash = strrchr(path, '/');
  return result->compiled ? slash ? slash + 1 : path : NULL;
}

void result_gm_bytes(const struct vinci_result *result, uint64_t *read, uint64_t *write) {
  *read = *write = 0;
  for (unsigned path = 0; path < PATH_COUNT; path++) {
    if (path_from((enum path)path) == SPACE_GM)
      *read += result_path_bytes(result, (enum path)path);
    if (path_to((enum path)path) == SPACE_GM)
      *write += result_path_bytes(result, (enum path)path);
  }
}

static enum vinci_status check_bytes(const char *direction, uint64_t asked, uint64_t moved,
                                     struct vinci_diag *diag) {
  if (asked == moved)
    return VINCI_OK;
  return diag_error(diag, VINCI_E_INTERNAL,
                    "the cores' instructions %s %" PRIu64
                    " bytes of GM, but the memory system moved %" PRIu64,
                    direction, asked, moved);
}

static enum vinci_status check_channels(const struct vinci_result *result,
                                        struct vinci_diag *diag) {
  struct hbm_totals sum = {0};
  for (uint32_t i = 0; i < result->channel_count; i++)
    counters_add(GROUP_HBM, &sum, &result->channels[i]);
  const struct counter *row = NULL;
  while (result->channel_count > 0 && (row = counter_next(row, GROUP_HBM))) {
    uint64_t of_channels = counter_value(row, &sum), of_all = counter_value(row, &result->hbm);
    if (of_channels != of_all)
      return diag_error(diag, VINCI_E_INTERNAL,
                        "the channels of device memory have %s %" PRIu64
                        ", but all of it has %" PRIu64,
                        row->name, of_channels, of_all);
  }
  return VINCI_OK;
}

static enum vinci_status check_links(const struct vinci_result *result, struct vinci_diag *diag) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < result->link_count; i++)
    most = max_u64(most, result->links[i].utilization_ppm);
  if (result->link_count == 0 || most == result->noc_max_link_ppm)
    return VINCI_OK;
  return diag_error(diag, VINCI_E_INTERNAL,
                    "the busiest link is used %" PRIu64 " ppm of the time, but the network says "
                    "%" PRIu64,
                    most, result->noc_max_link_ppm);
}

/* What was counted over time adds up to the counters. */
static enum vinci_status check_traffic(const struct vinci_result *result, struct vinci_diag *diag) {
  struct hits hits = l2_hits(&result->l2, L2_ALL);
  uint64_t counted[TRAFFIC_COUNT] = {
      [TRAFFIC_HBM_READ] = result->hbm.read_bytes,
      [TRAFFIC_HBM_WRITE] = result->hbm.write_bytes,
      [TRAFFIC_L2_HIT] = hits.hits * L2_GRANULE_BYTES,
      [TRAFFIC_L2_MISS] = hits.misses * L2_GRANULE_BYTES,
      [TRAFFIC_NETWORK_READ] = result->gm_read_bytes,
      [TRAFFIC_NETWORK_WRITE] = result->gm_write_bytes,
  };
  for (unsigned kind = 0; kind < TRAFFIC_COUNT; kind++) {
    uint64_t sum = traffic_sum(&result->traffic, (enum traffic_kind)kind);
    if (sum != counted[kind])
      return diag_error(diag, VINCI_E_INTERNAL,
                        "%s: the steps of time have %" PRIu64 " bytes, but the run has %" PRIu64,
                        traffic_name((enum traffic_kind)kind), sum, counted[kind]);
  }
  return VINCI_OK;
}

enum vinci_status result_check(const struct vinci_result *result, struct vinci_diag *diag) {
  for (uint32_t i = 0; i < result->core_count; i++) {
    enum vinci_status status = check_core(&result->cores[i], diag);
    if (status != VINCI_OK)
      return status;
  }
  if (result->partial) /* transfers in flight are counted on one side only */
    return VINCI_OK;
  uint64_t read, write;
  result_gm_bytes(result, &read, &write);
  enum vinci_status status = check_bytes("read", read, result->gm_read_bytes, diag);
  if (status == VINCI_OK)
    status = check_bytes("wrote", write, result->gm_write_bytes, diag);
  if (status == VINCI_OK)
    status = check_channels(result, diag);
  if (status == VINCI_OK)
    status = check_traffic(result, diag);
  return status == VINCI_OK ? check_links(result, diag) : status;
}
