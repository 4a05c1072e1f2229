/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max-min fair rates by progressive filling: all transfers of a component grow alike until a limit
 * is full or a transfer has its own rate; those are settled, the others go on. A component is what
 * transfers reach through limits that they share, so a change costs what it can change and no more.
 */
#include "devices/flow/flow.h"

#include <stdlib.h>

#include "core/base/arith.h"
#include "core/base/clock.h"

struct flow {
  struct group_path path;
  uint128 left; /* bytes times PS_PER_SECOND */
  uint64_t bytes, rate, since_ps, end_ps;
  uint32_t next[GROUP_PATH_MAX], before[GROUP_PATH_MAX]; /* in the lists of its limits */
  uint32_t heap_place;
  uint32_t mark; /* of the component that was last gathered; next free flow while it is free */
  bool settled;
  void *user;
};

struct limit {
  uint64_t rate, bytes, peak;
  uint64_t speed; /* thousandths of the rate that there are */
  uint64_t left;  /* while rates are found */
  uint32_t open;  /* transfers that are not settled */
  uint32_t first; /* of the list of transfers */
  uint32_t mark;
};

struct flows {
  flow_changed_fn changed;
  void *context;
  struct limit *limits;
  struct flow *flows;
  uint32_t count, capacity, free; /* places; the first that is free */
  uint32_t *heap, *members;       /* flows by end; flows of a component */
  uint32_t *touched;              /* limits of a component */
  uint32_t heap_count, member_count, touched_count, mark;
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
  if (!flows->limits || !flows->touched) {
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
  free(flows->flows);
  free(flows->heap);
  free(flows->members);
  free(flows);
}

/* ---- the next end --------------------------------------------------------------------------- */

static bool ends_before(const struct flows *flows, uint32_t a, uint32_t b) {
  uint64_t end_a = flows->flows[a].end_ps, end_b = flows->flows[b].end_ps;
  return end_a != end_b ? end_a < end_b : a < b;
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
  touched->open = 0;
  flows->touched[flows->touched_count++] = limit;
}

static void join(struct flows *flows, uint32_t number) {
  struct flow *flow = &flows->flows[number];
  if (flow->mark == flows->mark)
    return;
  flow->mark = flows->mark;
  flow->settled = false;
  flows->members[flows->member_count++] = number;
  for (uint32_t i = 0; i < flow->path.limit_count; i++)
    touch(flows, flow->path.limits[i]);
}

static uint32_t slot_of(const struct flow *flow, uint32_t limit) {
  uint32_t slot = 0;
  while (flow->path.limits[slot] != limit)
    slot++;
  return slot;
}

/* All transfers that a change on this path reaches. */
static void gather(struct flows *flows, const struct group_path *path) {
  flows->mark++;
  flows->member_count = flows->touched_count = 0;
  for (uint32_t i = 0; i < path->limit_count; i++)
    touch(flows, path->limits[i]);
  for (uint32_t i = 0; i < flows->touched_count; i++) {
    uint32_t limit = flows->touched[i];
    for (uint32_t at = flows->limits[limit].first; at != FLOW_NONE;) {
      join(flows, at);
      flows->limits[limit].open++;
      at = flows->flows[at].next[slot_of(&flows->flows[at], limit)];
    }
  }
}

/* What a transfer can have at most while all open ones of its limits have the same; 0: it stands.
 */
static uint64_t share_of(const struct flows *flows, const struct flow *flow) {
  uint64_t share = UINT64_MAX, speed = MILLI;
  for (uint32_t i = 0; i < flow->path.limit_count; i++) {
    const struct limit *limit = &flows->limits[flow->path.limits[i]];
    share = min_u64(share, limit->left / limit->open);
    speed = min_u64(speed, limit->speed);
  }
  return speed == 0 ? 0 : max_u64(min_u64(share, part_of(flow->path.rate, speed)), 1);
}

static void settle(struct flows *flows, struct flow *flow, uint64_t now_ps, uint64_t rate) {
  flow->settled = true;
  for (uint32_t i = 0; i < flow->path.limit_count; i++) {
    struct limit *limit = &flows->limits[flow->path.limits[i]];
    limit->left -= min_u64(limit->left, rate);
    limit->open--;
  }
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

/* Finds the rates of all that a change on this path reaches. */
static void share_out(struct flows *flows, const struct group_path *path, uint64_t now_ps) {
  gather(flows, path);
  for (uint32_t open = flows->member_count; open > 0;) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < flows->member_count; i++)
      if (!flows->flows[flows->members[i]].settled)
        least = min_u64(least, share_of(flows, &flows->flows[flows->members[i]]));
    for (uint32_t i = 0; i < flows->member_count; i++) {
      struct flow *flow = &flows->flows[flows->members[i]];
      if (flow->settled || share_of(flows, flow) > least)
        continue;
      settle(flows, flow, now_ps, least);
      open--;
    }
  }
  for (uint32_t i = 0; i < flows->touched_count; i++) {
    struct limit *limit = &flows->limits[flows->touched[i]];
    limit->peak = max_u64(limit->peak, part_of(limit->rate, limit->speed) - limit->left);
  }
}

void flow_set_speed(struct flows *flows, uint64_t now_ps, uint32_t limit, uint32_t milli) {
  struct group_path path = {.limits = {limit}, .limit_count = 1};
  if (flows->limits[limit].speed == milli)
    return;
  flows->limits[limit].speed = milli;
  share_out(flows, &path, now_ps);
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
                        .user = user};
  place(flows, flows->heap_count++, number);
  for (uint32_t i = 0; i < path->limit_count; i++)
    link_in(flows, number, i);
  share_out(flows, path, now_ps);
  return number;
}

void *flow_end(struct flows *flows, uint32_t number) {
  struct flow *flow = &flows->flows[number];
  struct group_path path = flow->path;
  uint64_t now_ps = flow->end_ps;
  void *user = flow->user;
  if (flows->changed)
    flows->changed(flows->context, user, now_ps, flow->rate, 0);
  for (uint32_t i = 0; i < path.limit_count; i++) {
    link_out(flows, flow, i);
    flows->limits[path.limits[i]].bytes += flow->bytes;
  }
  uint32_t at = flow->heap_place, last = flows->heap[--flows->heap_count];
  if (last != number) {
    place(flows, at, last);
    sift(flows, at);
  }
  flow->next[0] = flows->free;
  flows->free = number;
  share_out(flows, &path, now_ps);
  return user;
}

uint64_t flow_rate(const struct flows *flows, uint32_t flow) { return flows->flows[flow].rate; }

uint64_t flow_bytes(const struct flows *flows, uint32_t limit) {
  return flows->limits[limit].bytes;
}

uint64_t flow_peak(const struct flows *flows, uint32_t limit) { return flows->limits[limit].peak; }
