/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mesh: each rank exchanges with all others at once, a plane for each. Star: the root with all
 * others. Both are stages that the planes of a rank pass together; plane 0 does what stays within
 * the device.
 *
 * The copies within the device and the two phases of the all-reduce are those of the steps that a
 * profile of 8 devices shows (MSI in scripts/group/sources.lua); closed forms: the description of
 * the algorithms in the manual of the vendor's library (hccl, docs/zh/user_guide/coll_algo_intro).
 */
#include "devices/collective/steps.h"

enum stage {
  STAGE_NONE,
  STAGE_IN,      /* the own part goes from the user's buffer to that of the library */
  STAGE_PARTS,   /* each gets its own part from each */
  STAGE_SUM,     /* the own part is added up, or goes to the user's buffer when it is already */
  STAGE_SPREAD,  /* each gives its part to each */
  STAGE_SCATTER, /* the root gives each its part */
  STAGE_COLLECT, /* each gives its part to the root */
  STAGE_WHOLE,   /* the root gives each all */
  STAGE_TO_ROOT, /* each gives all to the root, which adds */
  STAGE_ADD_ALL, /* and here, where transfers do not add */
  STAGES_MAX = 5
};

static const unsigned char mesh_stages[COLLECTIVE_OPS][STAGES_MAX] = {
    [COLLECTIVE_ALL_REDUCE] = {STAGE_IN, STAGE_PARTS, STAGE_SUM, STAGE_SPREAD},
    [COLLECTIVE_REDUCE_SCATTER] = {STAGE_IN, STAGE_PARTS, STAGE_SUM},
    [COLLECTIVE_ALL_GATHER] = {STAGE_IN, STAGE_SPREAD},
    [COLLECTIVE_BROADCAST] = {STAGE_SCATTER, STAGE_SPREAD},
    [COLLECTIVE_REDUCE] = {STAGE_IN, STAGE_PARTS, STAGE_SUM, STAGE_COLLECT},
    [COLLECTIVE_ALL_TO_ALL] = {STAGE_IN, STAGE_PARTS},
    [COLLECTIVE_BARRIER] = {STAGE_PARTS},
};
static const unsigned char star_stages[COLLECTIVE_OPS][STAGES_MAX] = {
    [COLLECTIVE_BROADCAST] = {STAGE_WHOLE},
    [COLLECTIVE_REDUCE] = {STAGE_TO_ROOT, STAGE_ADD_ALL},
    [COLLECTIVE_SCATTER] = {STAGE_SCATTER},
    [COLLECTIVE_GATHER] = {STAGE_COLLECT},
};

uint32_t collective_rank_planes(const struct collective_call *call) { return call->ranks; }

static uint64_t part_to(const struct collective_call *call, uint32_t from, uint32_t to) {
  if (call->counts)
    return call->counts[(uint64_t)from * call->ranks + to];
  return collective_part(call, to);
}

static bool sums(enum collective_op op) {
  return op == COLLECTIVE_ALL_REDUCE || op == COLLECTIVE_REDUCE_SCATTER || op == COLLECTIVE_REDUCE;
}

/* What plane 0 does. */
static struct group_step local_step(const struct collective_call *call, uint32_t rank,
                                    enum stage stage) {
  uint64_t others = call->ranks - 1;
  if (stage == STAGE_IN && !call->resident)
    return step_local(STEP_COPY, part_to(call, rank, rank));
  if (stage == STAGE_SUM && call->adds_inline)
    return (struct group_step){
        .kind = STEP_COPY, .bytes = collective_part(call, rank), .fresh = true};
  if (stage == STAGE_SUM)
    return step_local(STEP_ADD, others * collective_part(call, rank));
  if (stage == STAGE_ADD_ALL && rank == call->root && !call->adds_inline)
    return step_local(STEP_ADD, others * call->bytes);
  return step_of(STEP_NOTHING);
}

/* From or to the root alone. */
static struct group_step rooted(const struct collective_call *call, uint32_t rank, uint32_t peer,
                                bool from_root, uint64_t bytes, bool adds) {
  uint32_t giver = from_root ? call->root : rank == call->root ? peer : rank;
  uint32_t taker = rank == giver ? peer : rank;
  if (rank != call->root && peer != call->root)
    return step_of(STEP_NOTHING);
  return rank == giver ? step_exchange(taker, STEP_NOBODY, bytes, adds)
                       : step_exchange(STEP_NOBODY, giver, 0, false);
}

static struct group_step peer_step(const struct collective_call *call, uint32_t rank, uint32_t peer,
                                   enum stage stage) {
  uint32_t other = rank == call->root ? peer : rank; /* of the two, the one that is not the root */
  switch (stage) {
  case STAGE_PARTS:
    return step_exchange(peer, peer, part_to(call, rank, peer),
                         call->adds_inline && sums(call->op));
  case STAGE_SPREAD:
    return step_exchange(peer, peer, collective_part(call, rank), false);
  case STAGE_SCATTER:
    return rooted(call, rank, peer, true, collective_part(call, other), false);
  case STAGE_COLLECT:
    return rooted(call, rank, peer, false, collective_part(call, other), false);
  case STAGE_WHOLE:
    return rooted(call, rank, peer, true, call->bytes, false);
  case STAGE_TO_ROOT:
    return rooted(call, rank, peer, false, call->bytes, call->adds_inline);
  default:
    return step_of(STEP_NOTHING);
  }
}

/* Stages are at even numbers, the planes join at odd ones. */
static struct group_step stage_step(const struct collective_call *call, const unsigned char *stages,
                                    uint32_t rank, uint32_t plane, uint32_t index) {
  enum stage stage = index / 2 < STAGES_MAX ? stages[index / 2] : STAGE_NONE;
  if (stage == STAGE_NONE)
    return step_of(STEP_END);
  if (index % 2)
    return step_of(STEP_JOIN);
  return plane == 0 ? local_step(call, rank, stage)
                    : peer_step(call, rank, rank_after(call, rank, plane), stage);
}

struct group_step collective_mesh_step(const struct collective_call *call, uint32_t rank,
                                       uint32_t plane, uint32_t index) {
  return stage_step(call, mesh_stages[call->op], rank, plane, index);
}

struct group_step collective_star_step(const struct collective_call *call, uint32_t rank,
                                       uint32_t plane, uint32_t index) {
  return stage_step(call, star_stages[call->op], rank, plane, index);
}
