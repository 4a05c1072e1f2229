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
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"

/* What is looked at for each change of rates stands first. */
struct flow {
  uint32_t limits[GROUP_PATH_MAX], limit_count;
  uint32_t mark; /* of the component that was last gathered */
  uint64_t most; /* that it can have by itself at the speed of its limits; 0: it stands */
  uint64_t rate, since_ps;
  uint32_t heap_place;
  bool settled;
  uint128 left;            /* bytes times PS_PER_SECOND */
  uint64_t end_ps, number; /* number: by the order of starts */
  uint64_t bytes, path_rate;
  uint32_t
      places[GROUP_PATH_MAX]; /* in the lists of its limits; the next free flow while it is free */
  void *user;
};

enum { FEW = 2 }; /* a link of a mesh has one or two */

struct limit {
  uint64_t rate, bytes;
  uint64_t speed;  /* thousandths of the rate that there are */
  uint64_t left;   /* while rates are found */
  uint32_t open;   /* transfers that are not settled */
  uint32_t *flows; /* that pass, `count` of them; `few` as long as these are enough */
  uint32_t count, capacity, few[FEW];
  uint32_t mark;
  bool is_changed; /* rates of its transfers are to be found anew */
};

struct flows {
  flow_changed_fn changed;
  void *context;
  struct limit *limits;
  uint32_t limit_count;
  struct flow *flows;
  uint32_t count, capacity, free; /* places; the first that is free */
  uint32_t *heap, *members;       /* flows by end; flows of a component */
  uint32_t *touched, *changes;    /* limits of a component; those that have changed */
  uint32_t heap_count, member_count, touched_count, change_count, mark;
  uint32_t open;  /* members that are not settled */
  uint64_t least; /* that one of them has by itself, or less */
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
  flows->limit_count = count;
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
    flows->limits[i].flows = flows->limits[i].few;
    flows->limits[i].capacity = FEW;
  }
  return flows;
}

void flows_free(struct flows *flows) {
  if (!flows)
    return;
  for (uint32_t i = 0; flows->limits && i < flows->limit_count; i++)
    if (flows->limits[i].flows != flows->limits[i].few)
      free(flows->limits[i].flows);
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

static void touch(struct flows *flows, uint32_t limit) {
  struct limit *touched = &flows->limits[limit];
  if (touched->mark == flows->mark)
    return;
  touched->mark = flows->mark;
  touched->left = part_of(touched->rate, touched->speed);
  touched->open = touched->count;
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
  for (uint32_t i = 0; i < flow->limit_count; i++) {
    touch(flows, flow->limits[i]);
    speed = min_u64(speed, flows->limits[flow->limits[i]].speed);
  }
  flow->most = speed ? max_u64(part_of(flow->path_rate, speed), 1) : 0;
  flows->least = min_u64(flows->least, flow->most);
}

/* All transfers that a change of this limit reaches. */
static void gather(struct flows *flows, uint32_t seed) {
  flows->member_count = flows->touched_count = 0;
  flows->least = UINT64_MAX;
  touch(flows, seed);
  for (uint32_t i = 0; i < flows->touched_count; i++) {
    const struct limit *limit = &flows->limits[flows->touched[i]];
    for (uint32_t k = 0; k < limit->count; k++)
      join(flows, limit->flows[k]);
  }
  flows->open = flows->member_count;
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
  flows->open--;
  for (uint32_t i = 0; i < flow->limit_count; i++) {
    struct limit *limit = &flows->limits[flow->limits[i]];
    limit->left -= min_u64(limit->left, rate);
    limit->open--;
  }
  set_rate(flows, flow, now_ps, rate);
}

/*
 * The lowest level at which a limit is full, of which each open transfer has the same. Limits that
 * are full at that level come first in *full of those touched; limits without open transfers are
 * taken out.
 */
static uint64_t next_level(struct flows *flows, uint32_t *full) {
  uint64_t level = UINT64_MAX;
  *full = 0;
  for (uint32_t i = 0; i < flows->touched_count; i++) {
    const struct limit *limit = &flows->limits[flows->touched[i]];
    if (limit->open == 0) {
      flows->touched[i--] = flows->touched[--flows->touched_count];
      continue;
    }
    uint64_t share = limit->left / limit->open;
    if (share > level)
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

/* Settles the transfers that have all they can have by themselves at the level, or below. Leaves
 * those that are not settled in the list of members. */
static void settle_least(struct flows *flows, uint64_t now_ps, uint64_t level) {
  uint32_t open = 0;
  flows->least = UINT64_MAX;
  for (uint32_t i = 0; i < flows->member_count; i++) {
    struct flow *flow = &flows->flows[flows->members[i]];
    if (flow->settled)
      continue;
    if (flow->most <= level) {
      settle(flows, flow, now_ps, level);
      continue;
    }
    flows->least = min_u64(flows->least, flow->most);
    flows->members[open++] = flows->members[i];
  }
  flows->member_count = open;
}

/* What open transfers have at most by themselves is looked at where that may count alone. */
static uint64_t least_of(struct flows *flows) {
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < flows->member_count; i++) {
    const struct flow *flow = &flows->flows[flows->members[i]];
    if (!flow->settled)
      least = min_u64(least, flow->most);
  }
  return least;
}

static void fill(struct flows *flows, uint64_t now_ps) {
  while (flows->open > 0) {
    uint32_t full;
    uint64_t level = next_level(flows, &full);
    if (flows->least <= level && flows->open < flows->member_count)
      flows->least = least_of(flows);
    if (flows->least < level) {
      level = flows->least;
      full = 0;
    }
    for (uint32_t i = 0; i < full; i++) {
      const struct limit *limit = &flows->limits[flows->touched[i]];
      for (uint32_t k = 0; k < limit->count; k++) {
        struct flow *flow = &flows->flows[limit->flows[k]];
        if (!flow->settled)
          settle(flows, flow, now_ps, level);
      }
    }
    if (flows->least <= level && flows->open > 0)
      settle_least(flows, now_ps, level);
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
    flows->free = flows->flows[number].places[0];
    return number;
  }
  if (flows->count == flows->capacity && !grow(flows))
    return FLOW_NONE;
  return flows->count++;
}

static bool widen(struct limit *limit) {
  bool owned = limit->flows != limit->few;
  uint32_t capacity = 2 * limit->capacity;
  uint32_t *larger = realloc(owned ? limit->flows : NULL, capacity * sizeof *larger);
  if (!larger)
    return false;
  if (!owned)
    memcpy(larger, limit->few, sizeof limit->few);
  limit->flows = larger;
  limit->capacity = capacity;
  return true;
}

/* False when memory is short. */
static bool link_in(struct flows *flows, uint32_t number, uint32_t slot) {
  struct flow *flow = &flows->flows[number];
  struct limit *limit = &flows->limits[flow->limits[slot]];
  if (limit->count == limit->capacity && !widen(limit))
    return false;
  flow->places[slot] = limit->count;
  limit->flows[limit->count++] = number;
  return true;
}

/* The last of the list takes the place. */
static void link_out(struct flows *flows, const struct flow *flow, uint32_t slot) {
  uint32_t number = flow->limits[slot], place = flow->places[slot], last_slot = 0;
  struct limit *limit = &flows->limits[number];
  struct flow *last = &flows->flows[limit->flows[--limit->count]];
  while (last->limits[last_slot] != number)
    last_slot++;
  last->places[last_slot] = place;
  limit->flows[place] = limit->flows[limit->count];
}

uint32_t flow_start(struct flows *flows, uint64_t now_ps, const struct group_path *path,
                    uint64_t bytes, void *user) {
  uint32_t number = take_place(flows);
  if (number == FLOW_NONE)
    return FLOW_NONE;
  struct flow *flow = &flows->flows[number];
  *flow = (struct flow){.limit_count = path->limit_count,
                        .path_rate = path->rate,
                        .left = (uint128)bytes * PS_PER_SECOND,
                        .bytes = bytes,
                        .since_ps = now_ps,
                        .end_ps = UINT64_MAX,
                        .number = flows->started++,
                        .user = user};
  memcpy(flow->limits, path->limits, sizeof flow->limits);
  place(flows, flows->heap_count++, number);
  for (uint32_t i = 0; i < path->limit_count; i++) {
    if (!link_in(flows, number, i))
      return FLOW_NONE; /* which ends the run */
    change(flows, path->limits[i]);
  }
  return number;
}

void *flow_end(struct flows *flows, uint32_t number) {
  struct flow *flow = &flows->flows[number];
  void *user = flow->user;
  if (flows->changed)
    flows->changed(flows->context, user, flow->end_ps, flow->rate, 0);
  for (uint32_t i = 0; i < flow->limit_count; i++) {
    link_out(flows, flow, i);
    flows->limits[flow->limits[i]].bytes += flow->bytes;
    change(flows, flow->limits[i]);
  }
  uint32_t at = flow->heap_place, last = flows->heap[--flows->heap_count];
  if (last != number) {
    place(flows, at, last);
    sift(flows, at);
  }
  flow->places[0] = flows->free;
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
