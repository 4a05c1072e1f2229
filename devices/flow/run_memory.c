/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ranks hold of the memory of their devices. The level at a time is what is held when all that
 * happens at that time has happened, so the order of streams at one time decides nothing, and a
 * folded run has the levels of the simulation of all steps. A level counts once its time has
 * passed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "devices/flow/run_state.h"

/* Of one name; rows have less by far, and sums of all names stay within 64 bits. */
#define HELD_MAX (UINT64_C(1) << 56)
enum { US_DIGITS = 6 };

struct level {
  uint64_t total, peak, peak_ps;
  uint64_t changed_ps;
  bool changed; /* at changed_ps, which has not passed */
};

/* By rank; and by rank and name: what is held, was held before changed_ps, is held at the peak of
 * the rank, and at most. Below nothing is a number of two's complement. */
struct memories {
  struct level *ranks;
  uint64_t *held, *before, *at_peak, *most;
};

bool sim_memory_begin(struct group_sim *sim) {
  size_t count = (size_t)sim->job->memory_count * sim->job->ranks;
  if (count == 0)
    return true;
  struct memories *memories = calloc(1, sizeof *memories);
  sim->memories = memories;
  if (!memories)
    return false;
  memories->ranks = calloc(sim->job->ranks, sizeof *memories->ranks);
  memories->held = calloc(4 * count, sizeof *memories->held);
  if (!memories->ranks || !memories->held)
    return false;
  memories->before = memories->held + count;
  memories->at_peak = memories->before + count;
  memories->most = memories->at_peak + count;
  return true;
}

void sim_memory_end(struct group_sim *sim) {
  if (!sim->memories)
    return;
  free(sim->memories->ranks);
  free(sim->memories->held);
  free(sim->memories);
}

/* The last row of a rank so far that has given back memory of a name. */
static const struct group_op *last_free(const struct group_sim *sim, uint32_t rank,
                                        uint32_t memory) {
  const struct rank *of = &sim->ranks[rank];
  for (uint32_t s = of->stream_count; s-- > 0;) {
    const struct stream *stream = &sim->streams[of->first_stream + s];
    for (uint32_t i = stream->index; i-- > 0;)
      if (stream->ops->ops[i].kind == GROUP_FREE && stream->ops->ops[i].memory == memory)
        return &stream->ops->ops[i];
  }
  return NULL;
}

static void refuse(struct group_sim *sim, uint32_t rank, uint32_t memory, uint64_t missing) {
  const struct level *level = &sim->memories->ranks[rank];
  const struct group_op *op = last_free(sim, rank, memory);
  const char *name = sim->job->memories[memory];
  char place[128] = "";
  if (sim->status != VINCI_OK)
    return;
  if (op)
    sim_place_text(op, place, sizeof place);
  sim->status = diag_error(
      sim->diag, VINCI_E_INPUT,
      "rank %u gives back %" PRIu64 " bytes of '%s' more than it holds, at %s us (free %s)", rank,
      missing, name, decimal_exact(level->changed_ps, US_DIGITS).text, place);
  diag_hint(sim->diag,
            "a row allocate,name=%s,bytes=N stands before, in the same stream or in one "
            "that this stream waits for",
            name);
}

/* The time of the last changes of a rank has passed. */
static void settle(struct group_sim *sim, uint32_t rank) {
  const struct group_observer *observer = sim->observer;
  struct memories *memories = sim->memories;
  struct level *level = &memories->ranks[rank];
  uint32_t names = sim->job->memory_count;
  size_t first = (size_t)rank * names;
  for (uint32_t i = 0; i < names; i++) {
    uint64_t held = memories->held[first + i];
    if (held == memories->before[first + i])
      continue;
    if (held > INT64_MAX) {
      refuse(sim, rank, i, 0 - held);
      return;
    }
    memories->before[first + i] = held;
    if (held > memories->most[first + i])
      memories->most[first + i] = held;
    if (observer && observer->memory_held)
      observer->memory_held(observer->context,
                            &(struct group_held){rank, i, level->changed_ps, held});
  }
  if (level->total > level->peak) {
    level->peak = level->total;
    level->peak_ps = level->changed_ps;
    memcpy(&memories->at_peak[first], &memories->held[first], names * sizeof *memories->held);
  }
  level->changed = false;
}

void sim_memory_changes(struct group_sim *sim, uint32_t rank, const struct group_op *op) {
  struct memories *memories = sim->memories;
  struct level *level = &memories->ranks[rank];
  uint64_t *held = &memories->held[(size_t)rank * sim->job->memory_count + op->memory];
  if (level->changed && level->changed_ps != sim->now_ps)
    settle(sim, rank);
  level->changed = true;
  level->changed_ps = sim->now_ps;
  if (op->kind == GROUP_ALLOCATE) {
    *held += op->bytes;
    level->total += op->bytes;
  } else {
    *held -= op->bytes;
    level->total -= op->bytes;
  }
  if ((*held > INT64_MAX ? 0 - *held : *held) > HELD_MAX)
    sim_fail(sim, VINCI_E_LIMIT, "a rank takes or gives back more than 2^56 bytes of one name");
}

/* The result outlives the job. */
static bool keep_names(const struct group_job *job, struct arena *arena, struct group_result *out) {
  const char **names = ARENA_ARRAY(arena, const char *, job->memory_count);
  for (uint32_t i = 0; names && i < job->memory_count; i++)
    if (!(names[i] = arena_strdup(arena, job->memories[i])))
      return false;
  out->memories = names;
  out->memory_count = job->memory_count;
  return names != NULL;
}

bool sim_memory_results(struct group_sim *sim, struct arena *arena, struct group_result *out) {
  struct memories *memories = sim->memories;
  size_t count = (size_t)sim->job->memory_count * sim->job->ranks;
  out->device_bytes = sim->job->system->hbm_bytes;
  if (!memories)
    return true;
  out->peak_held = ARENA_ARRAY(arena, uint64_t, count);
  out->most_held = ARENA_ARRAY(arena, uint64_t, count);
  if (!out->peak_held || !out->most_held || !keep_names(sim->job, arena, out))
    return false;
  for (uint32_t i = 0; i < sim->job->ranks; i++) {
    if (memories->ranks[i].changed)
      settle(sim, i);
    out->ranks[i].peak_bytes = memories->ranks[i].peak;
    out->ranks[i].peak_ps = memories->ranks[i].peak_ps;
  }
  memcpy(out->peak_held, memories->at_peak, count * sizeof *out->peak_held);
  memcpy(out->most_held, memories->most, count * sizeof *out->most_held);
  return true;
}
