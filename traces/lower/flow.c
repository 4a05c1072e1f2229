/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores that read device memory at the same time. Bytes are a flow: a core reads at the rate at
 * which the core alone would take its data, as long as the sum of all is below the rate of device
 * memory. Beyond that cores get equal parts, and what a core does not want of its part goes to the
 * others: device memory serves a piece of each reading core in turn (memhier/l2/flat.c).
 *
 * Cores are alike and start one after the other. So those in one phase end that phase in the order
 * in which they began, and what a core that is in the phase all the time would have read tells when.
 */
#include "traces/lower/estimate.h"

#include "core/base/arith.h"
#include "core/base/clock.h"

/* More cores than this are taken as this many groups. */
enum { GROUPS_MAX = 64 };

/* Times are thousandths of a cycle, rates thousandths of a byte in a cycle. */
struct phase {
  uint64_t mbytes;            /* that a group reads, thousandths of a byte */
  uint64_t alone, rate;       /* of a group that has device memory to itself; at present */
  uint64_t read_mbytes;       /* of a group that is in this phase since the start of all */
  uint64_t first, end;        /* groups in this phase: the oldest, and one behind the youngest */
  uint64_t until[GROUPS_MAX]; /* of each group: what read_mbytes is at the end of its phase */
};

static void set_phase(struct phase *phase, uint64_t bytes, uint64_t cycles) {
  phase->mbytes = bytes * MILLI;
  phase->alone = max_u64(phase->mbytes / max_u64(cycles, 1), 1);
  phase->read_mbytes = phase->first = phase->end = 0;
}

static uint64_t groups_in(const struct phase *phase) { return phase->end - phase->first; }

static void enter(struct phase *phase) {
  phase->until[phase->end++] = phase->read_mbytes + phase->mbytes;
}

/* Rates of both phases, so that all groups together get no more than `most`. */
static void share(struct phase *one, struct phase *other, uint64_t most) {
  uint64_t ones = groups_in(one), others = groups_in(other);
  one->rate = one->alone;
  other->rate = other->alone;
  if (ones * one->alone + others * other->alone <= most)
    return;
  uint64_t part = max_u64(most / (ones + others), 1);
  if (one->alone <= part)
    other->rate = max_u64((most - ones * one->alone) / max_u64(others, 1), 1);
  else if (other->alone <= part)
    one->rate = max_u64((most - others * other->alone) / max_u64(ones, 1), 1);
  else
    one->rate = other->rate = part;
}

/* Up to the end of the phase of its oldest group. */
static uint64_t time_left(const struct phase *phase) {
  if (groups_in(phase) == 0)
    return UINT64_MAX;
  uint64_t until = phase->until[phase->first];
  return until > phase->read_mbytes ? ceil_div((until - phase->read_mbytes) * MILLI, phase->rate)
                                    : 0;
}

static void pass(struct phase *phase, uint64_t time) {
  if (groups_in(phase) > 0)
    phase->read_mbytes += phase->rate * time / MILLI;
}

static bool leave(struct phase *phase) {
  bool ends = time_left(phase) == 0;
  phase->first += ends;
  return ends;
}

struct starts {
  const struct vinci_soc *soc;
  const struct estimate_flow *flow;
  uint64_t groups, wide; /* cores of a group */
};

/* When the last core of a group starts, in thousandths of a cycle. */
static uint64_t start_of(const struct starts *starts, uint64_t group) {
  const struct estimate_flow *flow = starts->flow;
  if (group >= starts->groups)
    return UINT64_MAX;
  if (flow->launched == 0)
    return 0;
  uint64_t core = min_u64((group + 1) * starts->wide, flow->cores) - 1;
  return MILLI * launch_block_cycles(starts->soc, flow->kind, flow->launched, core);
}

static uint64_t walk(const struct starts *starts, struct phase *one, struct phase *other,
                     uint64_t most) {
  uint64_t now = 0, entered = 0, next_start = start_of(starts, 0);
  while (other->first < starts->groups) {
    share(one, other, most);
    uint64_t step = min_u64(next_start - now, min_u64(time_left(one), time_left(other)));
    pass(one, step);
    pass(other, step);
    for (now += step; next_start <= now; next_start = start_of(starts, ++entered))
      enter(one);
    while (leave(one))
      enter(other);
    while (leave(other))
      ;
  }
  return now / MILLI;
}

uint64_t estimate_flow(const struct vinci_soc *soc, const struct estimate_flow *flow) {
  struct starts starts = {.soc = soc, .flow = flow};
  starts.wide = ceil_div(flow->cores, GROUPS_MAX);
  starts.groups = ceil_div(flow->cores, max_u64(starts.wide, 1));
  uint64_t most = (uint64_t)((uint128)soc_hbm_stream_bytes_per_second(soc) * MILLI /
                             (uint64_t)soc->core_hz);
  struct phase first, next;
  set_phase(&first, flow->first_bytes * starts.wide, flow->first_cycles);
  set_phase(&next, flow->next_bytes * starts.wide, flow->next_cycles);
  if (flow->cores == 0 || starts.groups * max_u64(first.alone, next.alone) <= most)
    return launch_spread_cycles(soc, flow->kind, flow->launched) + flow->first_cycles +
           flow->next_cycles;
  return walk(&starts, &first, &next, most);
}
