/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Algorithms for servers of several devices. Rank r is number r % inner of server r / inner.
 *
 * A mesh within each server and another algorithm between servers, one after the other: the ranks
 * of the same number in all servers are one group of the outer algorithm. The pipeline has both at
 * once: while a part goes to the next server, the one before is spread within the server.
 */
#include "devices/collective/steps.h"

/* A collective among some of the ranks: the one with number i is rank first + i * stride. */
struct part_call {
  struct collective_call call;
  uint32_t first, stride, rank;
};

static uint32_t number_in(const struct collective_call *call, uint32_t rank) {
  return rank % call->inner;
}

/* Within the server, on all bytes. */
static struct part_call inner_call(const struct collective_call *call, uint32_t rank,
                                   enum collective_op op) {
  struct part_call part = {*call, rank - number_in(call, rank), 1, number_in(call, rank)};
  part.call.op = op;
  part.call.algorithm = &collective_table[COLLECTIVE_BY_mesh];
  part.call.ranks = call->inner;
  part.call.resident = op == COLLECTIVE_ALL_GATHER;
  return part;
}

/* Between servers, on the part that the ranks of this number have. */
static struct part_call outer_call(const struct collective_call *call, uint32_t rank) {
  struct part_call inner = inner_call(call, rank, call->op);
  struct part_call part = {*call, inner.rank, call->inner, rank / call->inner};
  part.call.algorithm = call->algorithm->outer;
  part.call.ranks = call->ranks / call->inner;
  part.call.inner = 1;
  part.call.bytes = collective_part(&inner.call, inner.rank);
  return part;
}

static struct group_step part_step(const struct part_call *part, uint32_t plane, uint32_t index) {
  struct group_step step = part->call.algorithm->step(&part->call, part->rank, plane, index);
  step.to = step.to == STEP_NOBODY ? STEP_NOBODY : part->first + step.to * part->stride;
  step.from = step.from == STEP_NOBODY ? STEP_NOBODY : part->first + step.from * part->stride;
  return step;
}

/* How many steps a plane has; `index` is behind the last. */
static uint32_t length_of(const struct part_call *part, uint32_t plane, uint32_t index) {
  uint32_t low = 0;
  while (low < index) {
    uint32_t middle = low + (index - low) / 2;
    if (part_step(part, plane, middle).kind == STEP_END)
      index = middle;
    else
      low = middle + 1;
  }
  return low;
}

enum { PARTS_MAX = 3 };

struct group_step collective_levels_step(const struct collective_call *call, uint32_t rank,
                                         uint32_t plane, uint32_t index) {
  struct part_call parts[PARTS_MAX];
  unsigned count = 0;
  if (call->op != COLLECTIVE_ALL_GATHER)
    parts[count++] = inner_call(call, rank, COLLECTIVE_REDUCE_SCATTER);
  unsigned outer = count;
  parts[count++] = outer_call(call, rank);
  if (call->op != COLLECTIVE_REDUCE_SCATTER)
    parts[count++] = inner_call(call, rank, COLLECTIVE_ALL_GATHER);
  for (unsigned i = 0; i < count; i++) {
    bool absent = i == outer && plane > 0; /* the outer algorithms have one plane */
    struct group_step step = absent ? step_of(STEP_END) : part_step(&parts[i], plane, index);
    if (step.kind != STEP_END)
      return step;
    index -= absent ? 0 : length_of(&parts[i], plane, index);
    if (i + 1 < count && index-- == 0)
      return step_of(STEP_JOIN);
  }
  return step_of(STEP_END);
}

/* ---- the levels apart ------------------------------------------------------------------------ */

bool collective_has_levels(const struct collective_algorithm *algorithm) {
  return algorithm->step == collective_levels_step;
}

/* The mesh, and behind its last step all planes wait for each other. */
static struct group_step joined_step(const struct collective_call *call, uint32_t rank,
                                     uint32_t plane, uint32_t index) {
  struct group_step step = collective_mesh_step(call, rank, plane, index);
  bool first = step.kind == STEP_END &&
               (index == 0 || collective_mesh_step(call, rank, plane, index - 1).kind != STEP_END);
  return first ? step_of(STEP_JOIN) : step;
}

struct collective_call collective_within(const struct collective_call *call,
                                         enum collective_op op) {
  static const struct collective_algorithm joined = {
      .name = "mesh", .planes = collective_rank_planes, .step = joined_step};
  struct collective_call within = inner_call(call, 0, op).call;
  if (op == COLLECTIVE_REDUCE_SCATTER)
    within.algorithm = &joined;
  return within;
}

struct group_step collective_between(const struct collective_call *call, uint32_t rank,
                                     uint32_t index) {
  struct part_call part = outer_call(call, rank);
  return part_step(&part, 0, index);
}

uint32_t collective_inner_planes(const struct collective_call *call) { return call->inner; }

/* ---- pipeline -------------------------------------------------------------------------------- */

/* The part of the rank with this number in the server that is t before. */
static uint64_t part_before(const struct collective_call *call, uint32_t server, uint64_t t,
                            uint32_t number) {
  uint32_t servers = call->ranks / call->inner;
  return collective_part(call, (server + servers - t % servers) % servers * (uint64_t)call->inner +
                                   number);
}

/* Turn t of the all-gather, or with `reduces` the same backwards. */
static struct group_step pipeline_turn(const struct collective_call *call, uint32_t rank,
                                       uint32_t plane, uint32_t t, bool reduces) {
  uint32_t inner = call->inner, servers = call->ranks / inner;
  uint32_t number = rank % inner, server = rank / inner;
  if (plane > 0) {
    uint32_t peer = (number + plane) % inner;
    return step_exchange(rank - number + peer, rank - number + peer,
                         part_before(call, server, t, reduces ? peer : number), reduces);
  }
  if (t + 1 == servers)
    return step_of(STEP_NOTHING);
  uint32_t next = rank_after(call, rank, inner), before = rank_before(call, rank, inner);
  return reduces
             ? step_exchange(before, next, part_before(call, server, (uint64_t)t + 1, number), true)
             : step_exchange(next, before, part_before(call, server, t, number), false);
}

/* Turns are at even numbers, the planes join at odd ones. First the own part is copied. */
struct group_step collective_pipeline_step(const struct collective_call *call, uint32_t rank,
                                           uint32_t plane, uint32_t index) {
  uint32_t servers = call->ranks / call->inner, turn = index / 2;
  bool reduces = call->op != COLLECTIVE_ALL_GATHER, gathers = call->op != COLLECTIVE_REDUCE_SCATTER;
  uint32_t turns = 1 + servers * (reduces + gathers);
  if (turn >= turns)
    return step_of(STEP_END);
  if (index % 2)
    return step_of(STEP_JOIN);
  if (turn == 0)
    return plane == 0 ? step_local(STEP_COPY, collective_part(call, rank)) : step_of(STEP_NOTHING);
  turn--;
  if (reduces && turn < servers)
    return pipeline_turn(call, rank, plane, servers - 1 - turn, true);
  return pipeline_turn(call, rank, plane, turn - (reduces ? servers : 0), false);
}
