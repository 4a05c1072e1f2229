/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores that read device memory at the same time. Bytes are a flow: a core reads at the rate at
 * which the core alone would take its data, as long as the sum of all is below the rate of device
 * memory. Beyond that cores get equal parts, and what a core does not want of its part goes to the
 * others: device memory serves a piece of each reading core in turn (memhier/l2/flat.c).
 *
 * Cores are alike and start one after the other. So those in one phase end that phase in the order
 * in which they began, and the time that a core which is always in the phase would have got through
 * tells when.
 */
#include "lower/estimate/estimate.h"

#include "core/base/arith.h"
#include "core/base/clock.h"

/* More cores than this are taken as this many groups. */
enum { GROUPS_MAX = 64 };

/* The first tile comes in; others follow into free buffers; then all that is left. */
enum { FIRST, AHEAD, REST, PHASES };

/* Times are thousandths of a cycle, rates thousandths of a byte in a cycle. */
struct phase {
  uint64_t alone;             /* time of a group that has device memory to itself */
  uint64_t wanted;            /* rate at which the group reads then */
  uint64_t speed;             /* at present, thousandths */
  uint64_t through;           /* what a group has got through that is in this phase all the time */
  uint64_t first, end;        /* groups in this phase: the oldest, and one behind the youngest */
  uint64_t until[GROUPS_MAX]; /* of each group: what `through` is at the end of its phase */
};

struct walk {
  const struct vinci_soc *soc;
  const struct estimate_flow *flow;
  uint64_t groups, wide; /* cores of a group */
  uint64_t most;         /* rate of device memory */
  struct phase phase[PHASES];
};

static void set_phase(struct phase *phase, uint64_t bytes, uint64_t cycles) {
  phase->alone = cycles * MILLI;
  phase->wanted = bytes * MILLI / max_u64(cycles, 1);
  phase->through = phase->first = phase->end = 0;
}

static uint64_t groups_in(const struct phase *phase) { return phase->end - phase->first; }

static void enter(struct phase *phase) {
  phase->until[phase->end++] = phase->through + phase->alone;
}

static uint64_t wanted_by_all(const struct walk *walk) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < PHASES; i++)
    sum += groups_in(&walk->phase[i]) * walk->phase[i].wanted;
  return sum;
}

/* What a group gets at the most, so that all get no more than device memory has. */
static uint64_t part_of(const struct walk *walk) {
  uint64_t part = 0;
  for (unsigned turn = 0; turn < PHASES; turn++) {
    uint64_t content = 0, groups = 0;
    for (unsigned i = 0; i < PHASES; i++)
      if (walk->phase[i].wanted <= part)
        content += groups_in(&walk->phase[i]) * walk->phase[i].wanted;
      else
        groups += groups_in(&walk->phase[i]);
    if (groups == 0)
      break;
    part = (walk->most - min_u64(content, walk->most)) / groups;
  }
  return max_u64(part, 1);
}

/*
 * A turn of a core whose results go out while others keep device memory busy: a piece of a result
 * ends behind the pieces that the reading cores wait for. Cores that store read less for that, so
 * that those count which read their first tiles.
 */
static uint64_t storing_cycles(const struct walk *walk, uint64_t part) {
  const struct estimate_flow *flow = walk->flow;
  uint64_t behind = FLOW_PIECE_BYTES * MILLI * walk->wide / part;
  uint64_t waits = flow->out_pieces * behind, own = min_u64(flow->moving_cycles, flow->out_cycles);
  uint64_t others = groups_in(&walk->phase[FIRST]) + groups_in(&walk->phase[AHEAD]);
  uint64_t readers = max_u64(others + groups_in(&walk->phase[REST]), 1);
  return flow->out_cycles + (waits > own ? (waits - own) * others / readers : 0);
}

/* Where the copies of a core take turns, cores that wait for each other come to read at the same
 * time, and device memory has nothing to do while they go on: the turn of a core then. */
static uint64_t taking_turns_cycles(const struct walk *walk) {
  const struct estimate_flow *flow = walk->flow;
  uint64_t groups = groups_in(&walk->phase[FIRST]) + groups_in(&walk->phase[REST]);
  uint64_t in_cycles = flow->in_bytes * MILLI * walk->wide * groups / walk->most;
  uint64_t own = max_u64(flow->in_cycles, flow->beside_cycles);
  return flow->turn_cycles + (flow->ahead_bytes == 0 && in_cycles > own ? in_cycles - own : 0);
}

static void set_speeds(struct walk *walk) {
  const struct estimate_flow *flow = walk->flow;
  bool busy = wanted_by_all(walk) > walk->most;
  uint64_t part = busy ? part_of(walk) : UINT64_MAX, turn = taking_turns_cycles(walk);
  for (unsigned i = 0; i < PHASES; i++) {
    struct phase *phase = &walk->phase[i];
    phase->speed = phase->wanted <= part ? MILLI : max_u64(part * MILLI / phase->wanted, 1);
  }
  if (busy)
    turn = max_u64(turn, storing_cycles(walk, part));
  if (turn > flow->turn_cycles)
    walk->phase[REST].speed =
        max_u64(min_u64(walk->phase[REST].speed, flow->turn_cycles * MILLI / turn), 1);
}

/* Up to the end of the phase of its oldest group. */
static uint64_t time_left(const struct phase *phase) {
  if (groups_in(phase) == 0)
    return UINT64_MAX;
  uint64_t until = phase->until[phase->first];
  return until > phase->through ? ceil_div((until - phase->through) * MILLI, phase->speed) : 0;
}

static bool leave(struct phase *phase) {
  bool ends = time_left(phase) == 0;
  phase->first += ends;
  return ends;
}

/* When the last core of a group starts. */
static uint64_t start_of(const struct walk *walk, uint64_t group) {
  const struct estimate_flow *flow = walk->flow;
  if (group >= walk->groups)
    return UINT64_MAX;
  uint64_t core = min_u64((group + 1) * walk->wide, flow->cores) - 1;
  return flow->launched ? MILLI * launch_block_cycles(walk->soc, flow->kind, flow->launched, core)
                        : 0;
}

static void change_phases(struct walk *walk) {
  for (unsigned i = FIRST; i < PHASES; i++)
    while (leave(&walk->phase[i]))
      if (i + 1 < PHASES)
        enter(&walk->phase[i + 1]);
}

static uint64_t walk_through(struct walk *walk) {
  struct phase *phase = walk->phase;
  uint64_t now = 0, started = 0, next_start = start_of(walk, 0);
  while (phase[REST].first < walk->groups) {
    set_speeds(walk);
    uint64_t step = next_start - now;
    for (unsigned i = 0; i < PHASES; i++)
      step = min_u64(step, time_left(&phase[i]));
    for (unsigned i = 0; i < PHASES; i++)
      if (groups_in(&phase[i]) > 0)
        phase[i].through += ceil_div(phase[i].speed * step, MILLI);
    for (now += step; next_start <= now; next_start = start_of(walk, ++started))
      enter(&phase[FIRST]);
    change_phases(walk);
  }
  return now / MILLI;
}

uint64_t estimate_flow(const struct vinci_soc *soc, const struct estimate_flow *flow) {
  struct walk walk = {.soc = soc, .flow = flow};
  walk.wide = max_u64(ceil_div(flow->cores, GROUPS_MAX), 1);
  walk.groups = ceil_div(flow->cores, walk.wide);
  walk.most =
      (uint64_t)((uint128)soc_hbm_stream_bytes_per_second(soc) * MILLI / (uint64_t)soc->core_hz);
  uint64_t ahead_bytes = min_u64(flow->ahead_bytes, flow->rest_bytes), wanted = 0;
  uint64_t ahead_cycles = flow->ahead_bytes ? flow->in_cycles : 0;
  set_phase(&walk.phase[FIRST], flow->in_bytes * walk.wide, flow->in_cycles);
  set_phase(&walk.phase[AHEAD], ahead_bytes * walk.wide, ahead_cycles);
  set_phase(&walk.phase[REST], (flow->rest_bytes - ahead_bytes) * walk.wide,
            flow->rest_cycles - min_u64(ahead_cycles, flow->rest_cycles));
  for (unsigned i = 0; i < PHASES; i++)
    wanted = max_u64(wanted, walk.phase[i].wanted);
  if (walk.groups * wanted <= walk.most)
    return launch_spread_cycles(soc, flow->kind, flow->launched) + flow->in_cycles +
           max_u64(flow->rest_cycles, ahead_cycles);
  return walk_through(&walk);
}
