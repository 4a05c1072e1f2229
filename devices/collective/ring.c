/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ring: parts go round, from each rank to the next. A chain for the broadcast. Closed forms, for n
 * ranks, S bytes, and links of latency L and B bytes a second: the reduce-scatter and the
 * all-gather are n - 1 turns of S / n bytes, (n - 1) (L + S / (n B)) each, and the all-reduce is
 * both. The chain passes the whole buffer on n - 1 times, (n - 1) (L + S / B).
 */
#include "devices/collective/steps.h"

/* Turn t of the reduce-scatter; the last turn brings the own part. */
static struct group_step reduce_turn(const struct collective_call *call, uint32_t rank,
                                     uint32_t turn) {
  uint32_t part = rank_before(call, rank, (uint64_t)turn + 1);
  return step_exchange(rank_after(call, rank, 1), rank_before(call, rank, 1),
                       collective_part(call, part), call->adds_inline);
}

static struct group_step gather_turn(const struct collective_call *call, uint32_t rank,
                                     uint32_t turn) {
  return step_exchange(rank_after(call, rank, 1), rank_before(call, rank, 1),
                       collective_part(call, rank_before(call, rank, turn)), false);
}

/* Turn t of the reduce-scatter is one step, or two where a device adds what it has received. */
static struct group_step reduce_step(const struct collective_call *call, uint32_t rank,
                                     uint32_t index) {
  uint32_t each = call->adds_inline ? 1 : 2, turn = index / each;
  if (index % each == 0)
    return reduce_turn(call, rank, turn);
  return step_local(STEP_ADD, collective_part(call, rank_before(call, rank, (uint64_t)turn + 2)));
}

/* The rank at distance d from the root receives, then sends. */
static struct group_step chain_step(const struct collective_call *call, uint32_t rank,
                                    uint32_t index) {
  uint32_t distance = rank_before(call, rank, call->root);
  if (index == 0 && distance > 0)
    return step_exchange(STEP_NOBODY, rank_before(call, rank, 1), 0, false);
  if (index == 1 && distance + 1 < call->ranks)
    return step_exchange(rank_after(call, rank, 1), STEP_NOBODY, call->bytes, false);
  return step_of(index < 2 ? STEP_NOTHING : STEP_END);
}

struct group_step collective_ring_step(const struct collective_call *call, uint32_t rank,
                                       uint32_t plane, uint32_t index) {
  (void)plane;
  uint32_t turns = call->ranks - 1, reduce_steps = turns * (call->adds_inline ? 1 : 2);
  if (call->op == COLLECTIVE_BROADCAST)
    return chain_step(call, rank, index);
  if (call->op != COLLECTIVE_ALL_GATHER) {
    if (index < reduce_steps)
      return reduce_step(call, rank, index);
    index -= reduce_steps;
  }
  if (call->op == COLLECTIVE_REDUCE_SCATTER || index >= turns)
    return step_of(STEP_END);
  return gather_turn(call, rank, index);
}

/* ---- in pairs -------------------------------------------------------------------------------- */

/* Step k: to the k-th rank after, from the k-th before. */
struct group_step collective_pairwise_step(const struct collective_call *call, uint32_t rank,
                                           uint32_t plane, uint32_t index) {
  (void)plane;
  if (index + 1 >= call->ranks)
    return step_of(STEP_END);
  uint32_t to = rank_after(call, rank, (uint64_t)index + 1);
  uint64_t bytes =
      call->counts ? call->counts[(uint64_t)rank * call->ranks + to] : collective_part(call, to);
  return step_exchange(to, rank_before(call, rank, (uint64_t)index + 1), bytes, false);
}

struct group_step collective_direct_step(const struct collective_call *call, uint32_t rank,
                                         uint32_t plane, uint32_t index) {
  (void)plane;
  if (index > 0)
    return step_of(STEP_END);
  struct group_step step = rank == 0 ? step_exchange(1, STEP_NOBODY, call->bytes, false)
                                     : step_exchange(STEP_NOBODY, 0, 0, false);
  step.alone = true;
  return step;
}
