/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max-min fair rates by progressive filling: all transfers of a component grow alike until a limit
 * is full or a transfer has its own rate; those are settled, the others go on. A component is what
 * transfers reach through limits that they share, so a change costs what it can change and no more.
 *
 * Transfers that a full limit ends have the same rate each, rounded down; what is left of the
 * limit, less than a byte a second for each, is nobody's. So equal transfers are equal to the
 * picosecond, and end together: rates are found once for all that starts and ends at the same time.
 */
#include "devices/flow/flow.h"

#include <stdlib.h>

#include "core/base/arith.h"
#include "core/base/clock.h"

struct flow {
  struct group_path path;
  uint128 left; /* bytes times PS_PER_SECOND */
  uint64_t bytes, rate, since_ps, end_ps;
  uint64_t number; /* by the order of starts */
  uint64_t most;   /* that it can have by itself at the speed of its limits; 0: it stands */
  uint32_t next[GROUP_PATH_MAX], before[GROUP_PATH_MAX]; /* in the lists of its limits */
  uint32_t heap_place;
  uint32_t mark; /* of the component that was last gathered; next free flow while it is free */
  bool settled;
  void *user;
};

struct limit {
  uint64_t rate, bytes;
  uint64_t speed; /* thousandths of the rate that there are */
  uint64_t left;  /* while rates are found */
  uint32_t open;  /* transfers that are not settled */
  uint32_t first; /* of the list of transfers */
  uint32_t mark;
  bool is_changed; /* rates of its transfers are to be found anew */
};

struct flows {
  flow_changed_fn changed;
  void *context;
  struct limit *limits;
  struct flow *flows;
  uint32_t count, capacity, free; /* places; the first that is free */
  uint32_t *heap, *members;       /* flows by end; flows of a component */
  uint32_t *touched, *changes;    /* limits of a component; those that have changed */
  uint32_t heap_count, member_count, touched_count, change_count, mark;
  uint64_t started;
};

struct flows *flows_new(const struct group_system *system, flow_changed_fn changed, void *context) {
  struct flows *flows = calloc(1, sizeof *flows);
  uint32_t count = group_limit_count(system);
  if (!flows)
    return NULL;
  flows->changed = changed;
  flows->context = context;
  flows->free = FLOW_NONE;
  flows->limits = calloc(count, sizeof *flows->limits);
  flows->touched = calloc(count, sizeof *flows->touched);
  flows->changes = calloc(count, sizeof *flows->changes);
  if (!flows->limits || !flows->touched || !flows->changes) {
    flows_free(flows);
    return NULL;
  }
  for (uint32_t i = 0; i < count; i++) {
    flows->limits[i].rate = group_limit_rate(system, i);
    flows->limits[i].speed = MILLI;
    flows->limits[i].first = FLOW_NONE;
  }
  return flows;
}

void flows_free(struct flows *flows) {
  if (!flows)
    return;
  free(flows->limits);
  free(flows->touched);
  free(flows->changes);
  free(flows->flows);
  free(flows->heap);
  free(flows->members);
  free(flows);
}

/* ---- the next end --------------------------------------------------------------------------- */

static bool ends_before(const struct flows *flows, uint32_t a, uint32_t b) {
  const struct flow *first = &flows->flows[a], *second = &flows->flows[b];
  return first->end_ps != second->end_ps ? first->end_ps < second->end_ps
                                         : first->number < second->number;
}

static void place(struct flows *flows, uint32_t at, uint32_t flow) {
  flows->heap[at] = flow;
  flows->flows[flow].heap_place = at;
}

/* Moves the transfer at a place of the heap to where its end belongs. */
static void sift(struct flows *flows, uint32_t at) {
  uint32_t flow = flows->heap[at];
  for (; at > 0 && ends_before(flows, flow, flows->heap[(at - 1) / 2]); at = (at - 1) / 2)
    place(flows, at, flows->heap[(at - 1) / 2]);
  for (uint32_t child; (child = 2 * at + 1) < flows->heap_count; at = child) {
    if (child + 1 < flows->heap_count &&
        ends_before(flows, flows->heap[child + 1], flows->heap[child]))
      child++;
    if (!ends_before(flows, flows->heap[child], flow))
      break;
    place(flows, at, flows->heap[child]);
  }
  place(flows, at, flow);
}

uint32_t flow_next(const struct flows *flows, uint64_t *end_ps) {
  if (flows->heap_count == 0 || flows->flows[flows->heap[0]].end_ps == UINT64_MAX)
    return FLOW_NONE;
  *end_ps = flows->flows[flows->heap[0]].end_ps;
  return flows->heap[0];
}

/* ---- rates ---------------------------------------------------------------------------------- */

static uint64_t part_of(uint64_t rate, uint64_t milli) {
  return milli == MILLI ? rate : (uint64_t)((uint128)rate * milli / MILLI);
}

static uint32_t slot_of(const struct flow *flow, uint32_t limit) {
  uint32_t slot = 0;
  while (flow->path.limits[slot] != limit)
    slot++;
  return slot;
}

static void touch(struct flows *flows, uint32_t limit) {
  struct limit *touched = &flows->limits[limit];
  if (touched->mark == flows->mark)
    return;
  touched->mark = flows->mark;
  touched->left = part_of(touched->rate, touched->speed);
  touched->open = 0;
  flows->touched[flows->touched_count++] = limit;
}

/* A transfer of the component, with what it can have at most by itself. */
static void join(struct flows *flows, uint32_t number) {
  struct flow *flow = &flows->flows[number];
  uint64_t speed = MILLI;
  if (flow->mark == flows->mark)
    return;
  flow->mark = flows->mark;
  flow->settled = false;
  flows->members[flows->member_count++] = number;
  for (uint32_t i = 0; i < flow->path.limit_count; i++) {
    touch(flows, flow->path.limits[i]);
    speed = min_u64(speed, flows->limits[flow->path.limits[i]].speed);
  }
  flow->most = speed ? max_u64(part_of(flow->path.rate, speed), 1) : 0;
}

/* All transfers that a change of this limit reaches. */
static void gather(struct flows *flows, uint32_t seed) {
  flows->member_count = flows->touched_count = 0;
  touch(flows, seed);
  for (uint32_t i = 0; i < flows->touched_count; i++) {
    uint32_t limit = flows->touched[i];
    for (uint32_t at = flows->limits[limit].first; at != FLOW_NONE;) {
      join(flows, at);
      flows->limits[limit].open++;
      at = flows->flows[at].next[slot_of(&flows->flows[at], limit)];
    }
  }
}

static void set_rate(struct flows *flows, struct flow *flow, uint64_t now_ps, uint64_t rate) {
  if (rate == flow->rate)
    return;
  /* Ends are rounded up to a picosecond: in that, more than is left would have moved. */
  uint128 moved = (uint128)flow->rate * (now_ps - flow->since_ps);
  flow->left -= moved < flow->left ? moved : flow->left;
  flow->since_ps = now_ps;
  if (flows->changed)
    flows->changed(flows->context, flow->user, now_ps, flow->rate, rate);
  flow->rate = rate;
  flow->end_ps = rate ? time_after(now_ps, (flow->left + rate - 1) / rate) : UINT64_MAX;
  sift(flows, flow->heap_place);
}

static void settle(struct flows *flows, struct flow *flow, uint64_t now_ps, uint64_t level) {
  uint64_t rate = flow->most == 0 ? 0 : max_u64(level, 1);
  flow->settled = true;
  for (uint32_t i = 0; i < flow->path.limit_count; i++) {
    struct limit *limit = &flows->limits[flow->path.limits[i]];
    limit->left -= min_u64(limit->left, rate);
    limit->open--;
  }
  set_rate(flows, flow, now_ps, rate);
}

/*
 * The lowest level at which something ends to grow: a limit that is full, of which each open
 * transfer has the same, or a transfer that has all it can have. Limits that are full at that level
 * come first in *full of those touched.
 */
static uint64_t next_level(struct flows *flows, uint32_t *full) {
  uint64_t level = UINT64_MAX;
  *full = 0;
  for (uint32_t i = 0; i < flows->member_count; i++)
    level = min_u64(level, flows->flows[flows->members[i]].most);
  for (uint32_t i = 0; i < flows->touched_count; i++) {
    const struct limit *limit = &flows->limits[flows->touched[i]];
    uint64_t share = limit->open ? limit->left / limit->open : UINT64_MAX;
    if (share > level || limit->open == 0)
      continue;
    if (share < level)
      *full = 0;
    level = share;
    uint32_t other = flows->touched[*full];
    flows->touched[(*full)++] = flows->touched[i];
    flows->touched[i] = other;
  }
  return level;
}

/* Leaves those that are not settled in the list of members. */
static void fill(struct flows *flows, uint64_t now_ps) {
  while (flows->member_count > 0) {
    uint32_t full, open = 0;
    uint64_t level = next_level(flows, &full);
    for (uint32_t i = 0; i < full; i++) {
      uint32_t limit = flows->touched[i];
      for (uint32_t at = flows->limits[limit].first; at != FLOW_NONE;) {
        struct flow *flow = &flows->flows[at];
        at = flow->next[slot_of(flow, limit)];
        if (!flow->settled)
          settle(flows, flow, now_ps, level);
      }
    }
    for (uint32_t i = 0; i < flows->member_count; i++) {
      struct flow *flow = &flows->flows[flows->members[i]];
      if (!flow->settled && flow->most <= level)
        settle(flows, flow, now_ps, level);
      if (!flow->settled)
        flows->members[open++] = flows->members[i];
    }
    flows->member_count = open;
  }
}

/* Transfers on this limit may have other rates from now on. */
static void change(struct flows *flows, uint32_t limit) {
  if (flows->limits[limit].is_changed)
    return;
  flows->limits[limit].is_changed = true;
  flows->changes[flows->change_count++] = limit;
}

void flow_share(struct flows *flows, uint64_t now_ps) {
  if (flows->change_count == 0)
    return;
  flows->mark++;
  for (uint32_t i = 0; i < flows->change_count; i++) {
    flows->limits[flows->changes[i]].is_changed = false;
    if (flows->limits[flows->changes[i]].mark == flows->mark)
      continue;
    gather(flows, flows->changes[i]);
    fill(flows, now_ps);
  }
  flows->change_count = 0;
}

void flow_set_speed(struct flows *flows, uint64_t now_ps, uint32_t limit, uint32_t milli) {
  if (flows->limits[limit].speed == milli)
    return;
  flows->limits[limit].speed = milli;
  change(flows, limit);
  flow_share(flows, now_ps);
}

/* ---- transfers ------------------------------------------------------------------------------ */

static bool grow(struct flows *flows) {
  uint32_t capacity = flows->capacity ? 2 * flows->capacity : 64;
  struct flow *all = realloc(flows->flows, capacity * sizeof *all);
  flows->flows = all ? all : flows->flows;
  uint32_t *heap = realloc(flows->heap, capacity * sizeof *heap);
  flows->heap = heap ? heap : flows->heap;
  uint32_t *members = realloc(flows->members, capacity * sizeof *members);
  flows->members = members ? members : flows->members;
  if (!all || !heap || !members)
    return false;
  flows->capacity = capacity;
  return true;
}

static uint32_t take_place(struct flows *flows) {
  uint32_t number = flows->free;
  if (number != FLOW_NONE) {
    flows->free = flows->flows[number].next[0];
    return number;
  }
  if (flows->count == flows->capacity && !grow(flows))
    return FLOW_NONE;
  return flows->count++;
}

static void link_in(struct flows *flows, uint32_t number, uint32_t slot) {
  struct flow *flow = &flows->flows[number];
  struct limit *limit = &flows->limits[flow->path.limits[slot]];
  flow->next[slot] = limit->first;
  flow->before[slot] = FLOW_NONE;
  if (limit->first != FLOW_NONE) {
    struct flow *next = &flows->flows[limit->first];
    next->before[slot_of(next, flow->path.limits[slot])] = number;
  }
  limit->first = number;
}

static void link_out(struct flows *flows, const struct flow *flow, uint32_t slot) {
  uint32_t limit = flow->path.limits[slot], next = flow->next[slot], before = flow->before[slot];
  if (next != FLOW_NONE)
    flows->flows[next].before[slot_of(&flows->flows[next], limit)] = before;
  if (before != FLOW_NONE)
    flows->flows[before].next[slot_of(&flows->flows[before], limit)] = next;
  else
    flows->limits[limit].first = next;
}

uint32_t flow_start(struct flows *flows, uint64_t now_ps, const struct group_path *path,
                    uint64_t bytes, void *user) {
  uint32_t number = take_place(flows);
  if (number == FLOW_NONE)
    return FLOW_NONE;
  struct flow *flow = &flows->flows[number];
  *flow = (struct flow){.path = *path,
                        .left = (uint128)bytes * PS_PER_SECOND,
                        .bytes = bytes,
                        .since_ps = now_ps,
                        .end_ps = UINT64_MAX,
                        .number = flows->started++,
                        .user = user};
  place(flows, flows->heap_count++, number);
  for (uint32_t i = 0; i < path->limit_count; i++) {
    link_in(flows, number, i);
    change(flows, path->limits[i]);
  }
  return number;
}

void *flow_end(struct flows *flows, uint32_t number) {
  struct flow *flow = &flows->flows[number];
  struct group_path path = flow->path;
  void *user = flow->user;
  if (flows->changed)
    flows->changed(flows->context, user, flow->end_ps, flow->rate, 0);
  for (uint32_t i = 0; i < path.limit_count; i++) {
    link_out(flows, flow, i);
    flows->limits[path.limits[i]].bytes += flow->bytes;
    change(flows, path.limits[i]);
  }
  uint32_t at = flow->heap_place, last = flows->heap[--flows->heap_count];
  if (last != number) {
    place(flows, at, last);
    sift(flows, at);
  }
  flow->next[0] = flows->free;
  flows->free = number;
  return user;
}

uint64_t flow_rate(const struct flows *flows, uint32_t flow) { return flows->flows[flow].rate; }

uint64_t flow_bytes(const struct flows *flows, uint32_t limit) {
  return flows->limits[limit].bytes;
}

void flow_count(struct flows *flows, uint32_t limit, uint64_t bytes) {
  flows->limits[limit].bytes += bytes;
}
