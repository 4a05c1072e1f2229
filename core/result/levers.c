/* SPDX-License-Identifier: Apache-2.0 */
/* Levers of a kernel, and what they are expected to save. */
#include "core/result/levers.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/base/arith.h"
#include "core/base/decimal.h"
#include "core/result/replay.h"

enum { LEAST_PERCENT = 2, HUNDRED = 100, HALF_PERCENT = 50, PPM = 1000000 };

const char *lever_key(enum lever_kind kind) {
  static const char *const keys[LEVER_KINDS] = {"cores",   "barriers", "flags",  "buffers", "tiles",
                                                "split-K", "layout",   "fusion", "code",    "L2"};
  return keys[kind];
}

/* With an equal share of the work on each core that is there. Device memory takes the time that it
 * takes now, and launch and start of the kernel stay. */
static uint64_t from_cores(const struct vinci_result *result, const struct critical_path *path,
                           char *text) {
  const struct kernel_result *kernel = &result->kernels[0];
  uint64_t fixed = path->rest[CRITICAL_LAUNCH] + path->code_cycles;
  uint64_t total = result->total_cycles, work = total - min_u64(fixed, total);
  if (result->kernel_count != 1 || kernel->places == 0 || kernel->blocks == 0 ||
      kernel->blocks % kernel->places == 0)
    return 0;
  uint64_t rounds = ceil_div(kernel->blocks, kernel->places);
  uint64_t left = fixed + work * kernel->blocks / (kernel->places * rounds);
  left = max_u64(left, (uint64_t)((uint128)total * result_hbm_ppm(result) / PPM));
  if (rounds == 1)
    snprintf(text, LEVER_TEXT_BYTES,
             "%" PRIu32 " of %" PRIu32 " %s %s have work; with an equal share on each",
             kernel->blocks, kernel->places, core_kind_name(kernel->kind),
             kernel->mixed ? "clusters" : "cores");
  else
    snprintf(text, LEVER_TEXT_BYTES,
             "%" PRIu32 " blocks for %" PRIu32 " %s %s take %" PRIu64
             " rounds, the last not full; with an equal share on each",
             kernel->blocks, kernel->places, core_kind_name(kernel->kind),
             kernel->mixed ? "clusters" : "cores", rounds);
  return total - min_u64(left, total);
}

static uint64_t saved_by(struct replay *replay, const struct replay_change *change) {
  struct replay_outcome out;
  if (!replay)
    return 0;
  replay_run(replay, change, &out);
  return out.saved_cycles > 0 ? (uint64_t)out.saved_cycles : 0;
}

/* The pipe that drains longest. */
static uint64_t from_barriers(const struct vinci_result *result, const struct critical_path *path,
                              struct replay *replay, char *text) {
  const struct core_result *core = &result->cores[path->core];
  unsigned most = 0;
  for (unsigned pipe = 1; pipe < PIPE_COUNT; pipe++)
    if (core->pipe[pipe].stall_cycles[STALL_BARRIER] > core->pipe[most].stall_cycles[STALL_BARRIER])
      most = pipe;
  uint64_t waits = core->pipe[most].stall_cycles[STALL_BARRIER];
  if (waits == 0 || core->total_cycles == 0)
    return 0;
  snprintf(text, LEVER_TEXT_BYTES,
           "pipe %s waits at pipe_barrier for %s %% of the run; without barriers, where no "
           "instruction needs the one before",
           pipe_name((enum pipe)most),
           decimal_ratio((uint128)waits * HUNDRED, core->total_cycles, 1).text);
  return saved_by(replay, &(struct replay_change){.no_barriers = true});
}

/* Twice as large tiles pay what an instruction costs besides its length half as often. */
static uint64_t from_tiles(struct replay *replay, char *text) {
  static const enum cause fixed[] = {CAUSE_MAD_STARTUP,  CAUSE_MAD_ISSUE,  CAUSE_VECTOR_STARTUP,
                                     CAUSE_VECTOR_ISSUE, CAUSE_STARTUP,    CAUSE_FOLLOW,
                                     CAUSE_MINIMUM,      CAUSE_ACKNOWLEDGE};
  struct replay_change change = {0};
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    for (unsigned member = 0; member < CAUSE_MEMBERS; member++)
      change.saved[fixed[i]][member] = HALF_PERCENT;
  snprintf(text, LEVER_TEXT_BYTES,
           "start-ups and issue of instructions lie on the critical path; with half as many of "
           "twice the length (larger tiles)");
  return saved_by(replay, &change);
}

static uint64_t from_buffers(const struct vinci_result *result, const struct critical_path *path,
                             char *text) {
  uint64_t saved;
  snprintf(text, LEVER_TEXT_BYTES,
           "the pipes take turns, as with a single buffer for each tile; side by side, with two "
           "buffers");
  return critical_takes_turns(result, path, &saved) ? saved : 0;
}

/* Keeps the order, and the largest when there are too many. */
static size_t insert(struct lever *levers, size_t count, const struct vinci_result *result,
                     const struct lever *lever) {
  size_t at = count;
  if (lever->saved_cycles * HUNDRED < result->total_cycles * LEAST_PERCENT)
    return count;
  for (; at > 0 && levers[at - 1].saved_cycles < lever->saved_cycles; at--)
    if (at < LEVERS_MAX)
      levers[at] = levers[at - 1];
  if (at < LEVERS_MAX)
    levers[at] = *lever;
  return count < LEVERS_MAX ? count + 1 : count;
}

/* 0 where a measurement has said what there is to say, and of levers that are measured alone. */
static uint64_t estimate(const struct vinci_result *result, const struct critical_path *path,
                         struct replay *replay, enum lever_kind kind, char *text) {
  if (result->levers_settled >> kind & 1)
    return 0;
  switch (kind) {
  case LEVER_CORES:
    return from_cores(result, path, text);
  case LEVER_BARRIERS:
    return from_barriers(result, path, replay, text);
  case LEVER_BUFFERS:
    return from_buffers(result, path, text);
  case LEVER_TILES:
    return from_tiles(replay, text);
  default:
    return 0;
  }
}

size_t levers_find(const struct vinci_result *result, const struct critical_path *path,
                   struct lever levers[LEVERS_MAX]) {
  size_t count = 0;
  if (path->core == result->core_count || result->partial || result->kernel_count == 0)
    return 0;
  struct replay *replay = replay_open(result, path->core);
  for (uint32_t i = 0; i < result->lever_count; i++)
    count = insert(levers, count, result, &result->levers[i]);
  for (unsigned kind = 0; kind < LEVER_KINDS; kind++) {
    bool measured = kind == LEVER_BUFFERS && result->second_buffer_cycles > 0;
    struct lever lever = {
        .kind = (enum lever_kind)kind,
        .measured = measured,
        .origin =
            measured ? "measured with second buffers, less what half their size costs" : "estimate",
    };
    lever.saved_cycles = estimate(result, path, replay, lever.kind, lever.text);
    count = insert(levers, count, result, &lever);
  }
  replay_close(replay);
  return count;
}
