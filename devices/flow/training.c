/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a training: from failure to failure. */
#include "devices/flow/training.h"

#include "core/base/arith.h"

/* Bits behind the point of a logarithm, and ln 2 with 62 of these. */
enum { LOG_BITS = 40, LN2_BITS = 62, DRAW_BITS = 63 };
#define YEAR_NS UINT64_C(31556952000000000)
#define LN2 UINT64_C(0x2C5C85FDF473DE6B)

struct state {
  const struct group_training *training;
  struct group_training_run *out;
  uint64_t random, now_ns, done_ns; /* done: work that a restart need not do again */
  uint32_t active, spares;
  uint64_t *repairs; /* a ring of the times at which units are back, the earliest first */
  uint32_t first_repair, repair_count;
  bool restarts; /* before it works again */
};

/* The pieces between two failures: of `count` intervals each takes cycle_ns, the last finish_ns. */
struct segment {
  uint64_t count, work_ns, cycle_ns, last_ns, finish_ns;
};

/* ---- random times --------------------------------------------------------------------------- */

/* The logarithm to base 2 of a number from 1 on, by squares: a bit of the result for each. */
static uint64_t log2_of(uint64_t value) {
  uint32_t whole = 0;
  while (value >> whole > 1)
    whole++;
  uint64_t mantissa = value << (DRAW_BITS - whole), out = whole; /* 1 to 2, with 63 bits */
  for (uint32_t i = 0; i < LOG_BITS; i++) {
    uint128 square = (uint128)mantissa * mantissa;
    uint32_t bit = square >> (2 * DRAW_BITS + 1) ? 1 : 0;
    mantissa = (uint64_t)(square >> (DRAW_BITS + bit));
    out = out << 1 | bit;
  }
  return out;
}

/* An exponential time: -ln(u) times the mean, u uniform in (0, 1]. */
static uint64_t draw(struct state *state, uint64_t mean_ns) {
  uint64_t u = (splitmix64_next(&state->random) >> 1) + 1; /* of 2^63 */
  uint64_t log = ((uint64_t)DRAW_BITS << LOG_BITS) - log2_of(u);
  uint64_t natural = (uint64_t)((uint128)log * LN2 >> LN2_BITS);
  return (uint64_t)((uint128)natural * mean_ns >> LOG_BITS);
}

/* When the next of the active units fails, from now; UINT64_MAX: never. */
static uint64_t next_failure(struct state *state) {
  uint64_t mtbf_ns = state->training->mtbf_ns;
  return mtbf_ns ? draw(state, max_u64(mtbf_ns / state->active, 1)) : UINT64_MAX;
}

/* ---- units ---------------------------------------------------------------------------------- */

static uint64_t earliest_repair(const struct state *state) {
  return state->repair_count ? state->repairs[state->first_repair] : UINT64_MAX;
}

static void unit_is_back(struct state *state) {
  state->first_repair =
      (state->first_repair + 1) % (state->training->units + state->training->spares);
  state->repair_count--;
  if (state->active < state->training->units)
    state->active++;
  else
    state->spares++;
}

static void take_repaired(struct state *state) {
  while (earliest_repair(state) <= state->now_ns)
    unit_is_back(state);
}

static void pass(struct state *state, uint64_t *part, uint64_t ns) {
  *part += ns;
  state->now_ns += ns;
}

/* A unit fails now. Afterwards there are units to restart with. */
static void fail(struct state *state) {
  const struct group_training *training = state->training;
  uint32_t size = training->units + training->spares;
  state->out->failures++;
  state->repairs[(state->first_repair + state->repair_count++) % size] =
      state->now_ns + training->repair_ns;
  state->active--;
  pass(state, &state->out->detect_ns, training->detect_ns);
  take_repaired(state);
  while (state->active < training->units && state->spares > 0) {
    state->active++;
    state->spares--;
  }
  uint32_t least = training->shrinks ? 1 : training->units;
  while (state->active < least) {
    uint64_t back_ns = earliest_repair(state);
    pass(state, &state->out->wait_ns, back_ns - state->now_ns);
    unit_is_back(state);
  }
  state->restarts = true;
}

/* ---- work ----------------------------------------------------------------------------------- */

/* What work takes with the units that there are. */
static uint64_t wall_of(const struct state *state, uint64_t work_ns) {
  return (uint64_t)((uint128)work_ns * state->training->units / state->active);
}

static struct segment plan(const struct state *state) {
  const struct group_training *training = state->training;
  uint64_t left_ns = training->work_ns - state->done_ns;
  struct segment out = {.count = ceil_div(left_ns, training->interval_ns)};
  out.last_ns = left_ns - (out.count - 1) * training->interval_ns;
  out.work_ns = wall_of(state, training->interval_ns);
  out.cycle_ns = out.work_ns + training->blocking_ns;
  out.finish_ns = (out.count - 1) * out.cycle_ns + wall_of(state, out.last_ns) +
                  training->blocking_ns + training->writing_ns;
  return out;
}

/* Intervals that a restart need not do again. */
static void keep(struct state *state, const struct segment *segment, uint64_t count) {
  struct group_training_run *out = state->out;
  uint64_t work_ns = count * state->training->interval_ns;
  pass(state, &out->work_ns, work_ns);
  pass(state, &out->slow_ns, count * segment->work_ns - work_ns);
  pass(state, &out->checkpoint_ns, count * state->training->blocking_ns);
  state->done_ns += work_ns;
}

static void finish(struct state *state, const struct segment *segment) {
  const struct group_training *training = state->training;
  keep(state, segment, segment->count - 1);
  pass(state, &state->out->work_ns, segment->last_ns);
  pass(state, &state->out->slow_ns, wall_of(state, segment->last_ns) - segment->last_ns);
  pass(state, &state->out->checkpoint_ns, training->blocking_ns + training->writing_ns);
  state->done_ns += segment->last_ns;
}

/* Checkpoints that can be used a time after the begin of a segment. */
static uint64_t usable_after(const struct state *state, const struct segment *segment,
                             uint64_t ns) {
  uint64_t writing_ns = state->training->writing_ns;
  return ns < writing_ns ? 0 : min_u64((ns - writing_ns) / segment->cycle_ns, segment->count - 1);
}

/* With fewer units: the checkpoint at which those that are back join; 0: none in this segment. */
static uint64_t joins_at(const struct state *state, const struct segment *segment) {
  uint64_t back_ns = earliest_repair(state), writing_ns = state->training->writing_ns;
  if (state->active == state->training->units || back_ns == UINT64_MAX)
    return 0;
  uint64_t wait_ns = back_ns - min_u64(back_ns, state->now_ns);
  uint64_t after_ns = wait_ns > writing_ns ? wait_ns - writing_ns : 1;
  uint64_t count = ceil_div(after_ns, segment->cycle_ns);
  return count < segment->count ? count : 0;
}

/* Works until a unit fails, units come back, or all is done. */
static void work(struct state *state, uint64_t failure_ns) {
  struct segment segment = plan(state);
  uint64_t writing_ns = state->training->writing_ns, joined = joins_at(state, &segment);
  if (joined && joined * segment.cycle_ns + writing_ns <= failure_ns) {
    keep(state, &segment, joined);
    pass(state, &state->out->checkpoint_ns, writing_ns);
    take_repaired(state);
    state->restarts = true;
  } else if (segment.finish_ns <= failure_ns) {
    finish(state, &segment);
  } else {
    uint64_t kept = usable_after(state, &segment, failure_ns);
    keep(state, &segment, kept);
    pass(state, &state->out->lost_ns, failure_ns - kept * segment.cycle_ns);
    fail(state);
  }
}

static void go_on(struct state *state) {
  uint64_t failure_ns = next_failure(state), restart_ns = state->training->restart_ns;
  if (!state->restarts) {
    work(state, failure_ns);
  } else if (failure_ns < restart_ns) {
    pass(state, &state->out->restart_ns, failure_ns);
    fail(state);
  } else {
    pass(state, &state->out->restart_ns, restart_ns);
    state->restarts = false;
    work(state, failure_ns == UINT64_MAX ? failure_ns : failure_ns - restart_ns);
  }
}

enum vinci_status group_training_run(const struct group_training *training, uint64_t number,
                                     uint64_t *repairs, struct group_training_run *out,
                                     struct vinci_diag *diag) {
  uint64_t of_seed = training->seed, of_run = number;
  struct state state = {.training = training,
                        .out = out,
                        .active = training->units,
                        .spares = training->spares,
                        .repairs = repairs};
  *out = (struct group_training_run){0};
  state.random = splitmix64_next(&of_seed) ^ splitmix64_next(&of_run);
  while (state.done_ns < training->work_ns) {
    if (state.now_ns >= TRAINING_NS_MAX || out->failures >= TRAINING_FAILURES_MAX)
      return diag_error(diag, VINCI_E_LIMIT,
                        "run %llu has not ended after %llu failures and %llu years",
                        (unsigned long long)number, (unsigned long long)out->failures,
                        (unsigned long long)(state.now_ns / YEAR_NS));
    go_on(&state);
  }
  return VINCI_OK;
}

uint64_t group_training_time(const struct group_training_run *run) {
  uint64_t sum = 0;
#define X(field, name, text) sum += run->field;
  GROUP_TRAINING_PART_LIST(X)
#undef X
  return sum;
}
