/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns between ranks that send to one and receive from one at a time: an exchange of run_planes.c
 * as sums of times. A rank is told that the other is ready, takes that, issues its transfer, tells
 * the other that this has ended, and takes what it is told itself.
 */
#include <stdlib.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "devices/flow/flow.h"
#include "devices/flow/run_state.h"

enum { TURNS_MAX = 1 << 23 };

/* ---- the turns of a call ----------------------------------------------------------------------
 */

static struct group_step step_at(const struct collective_call *call, uint32_t rank,
                                 uint32_t index) {
  return collective_has_levels(call->algorithm) && call->inner > 1
             ? collective_between(call, rank, index)
             : call->algorithm->step(call, rank, 0, index);
}

/* Alone on its path. */
static void take_transfer(const struct group_job *job, const struct group_ranks *group,
                          uint32_t rank, const struct group_step *step, struct fold_turn *turn) {
  enum group_use use = step->alone ? GROUP_SEND : step->adds ? GROUP_REDUCE : GROUP_COPY;
  struct group_path path = group_path_of(job->system, group_device_of(job, group->ranks[rank]),
                                         group_device_of(job, group->ranks[step->to]), use);
  uint64_t rate = path.rate;
  for (uint32_t i = 0; i < path.limit_count; i++)
    rate = min_u64(rate, group_limit_rate(job->system, path.limits[i]));
  rate = max_u64(rate, 1);
  turn->latency_ps = path.latency_ps;
  turn->takes_ps = time_after(0, ((uint128)step->bytes * PS_PER_SECOND + rate - 1) / rate);
}

/* True when a rank has not come to its end. */
static bool take_turn(const struct group_job *job, const struct group_ranks *group,
                      const struct collective_call *call, uint32_t index, struct fold_turn *turns) {
  bool goes_on = false;
  for (uint32_t rank = 0; rank < call->ranks; rank++) {
    struct group_step step = step_at(call, rank, index);
    bool exchanges = step.kind == STEP_EXCHANGE;
    turns[rank] = (struct fold_turn){.kind = step.kind,
                                     .to = exchanges ? step.to : STEP_NOBODY,
                                     .from = exchanges ? step.from : STEP_NOBODY};
    goes_on = goes_on || step.kind != STEP_END;
    if (step.kind == STEP_COPY || step.kind == STEP_ADD)
      turns[rank].takes_ps = sim_local_ps(job->system, &step);
    else if (turns[rank].to != STEP_NOBODY)
      take_transfer(job, group, rank, &step, &turns[rank]);
  }
  return goes_on;
}

static bool is_matched(const struct fold_turn *turns, uint32_t ranks) {
  for (uint32_t rank = 0; rank < ranks; rank++) {
    const struct fold_turn *turn = &turns[rank];
    if ((turn->to != STEP_NOBODY && turns[turn->to].from != rank) ||
        (turn->from != STEP_NOBODY && turns[turn->from].to != rank))
      return false;
  }
  return true;
}

bool fold_turns_make(const struct group_job *job, const struct group_ranks *group,
                     const struct collective_call *call, struct fold_turns *out) {
  uint32_t room = 0;
  *out = (struct fold_turns){.ranks = call->ranks};
  for (;; out->count++) {
    if (out->count == room) {
      room = room ? 2 * room : 8;
      struct fold_turn *larger =
          realloc(out->turns, (size_t)room * call->ranks * sizeof *out->turns);
      if (!larger)
        break;
      out->turns = larger;
    }
    struct fold_turn *turns = &out->turns[(size_t)out->count * call->ranks];
    bool goes_on = take_turn(job, group, call, out->count, turns);
    if (!goes_on)
      return true;
    if (!is_matched(turns, call->ranks) || (uint64_t)out->count * call->ranks > TURNS_MAX) {
      free(out->turns);
      *out = (struct fold_turns){0};
      return true;
    }
  }
  free(out->turns);
  *out = (struct fold_turns){0};
  return false;
}

/* ---- times ------------------------------------------------------------------------------------
 */

/* Of one turn, by rank: its begin, the notify that the other is ready, the end of what is sent, the
 * notify of what has come. */
struct past {
  uint64_t begin_ps, ready_ps, sent_ps, done_ps;
};

static void pass_turn(const struct fold_turn *turns, const struct group_system *system,
                      const struct fold_ranks *ranks, struct past *past) {
  uint64_t issue_ps = system->notify_issue_ps, wait_ps = system->notify_wait_ps;
  for (uint32_t i = 0; i < ranks->count; i++) {
    past[i].begin_ps = ranks->at_ps[i];
    if (turns[i].from == STEP_NOBODY)
      continue;
    ranks->free_ps[i] = max_u64(ranks->free_ps[i], ranks->at_ps[i]) + issue_ps;
    past[turns[i].from].ready_ps = ranks->free_ps[i] + system->notify_ps;
  }
  for (uint32_t i = 0; i < ranks->count; i++) {
    const struct fold_turn *turn = &turns[i];
    past[i].sent_ps = ranks->at_ps[i];
    if (turn->kind == STEP_COPY || turn->kind == STEP_ADD)
      past[i].sent_ps = ranks->at_ps[i] + turn->takes_ps;
    if (turn->to == STEP_NOBODY)
      continue;
    uint64_t told_ps = max_u64(ranks->at_ps[i], past[i].ready_ps);
    uint64_t starts_ps = max_u64(ranks->free_ps[i], told_ps) + wait_ps + issue_ps;
    past[i].sent_ps = starts_ps + turn->latency_ps + turn->takes_ps;
    ranks->free_ps[i] = max_u64(starts_ps, past[i].sent_ps) + issue_ps;
    past[turn->to].done_ps = ranks->free_ps[i] + system->notify_ps;
  }
  for (uint32_t i = 0; i < ranks->count; i++) {
    ranks->at_ps[i] = past[i].sent_ps;
    if (turns[i].from == STEP_NOBODY)
      continue;
    ranks->free_ps[i] =
        max_u64(ranks->free_ps[i], max_u64(past[i].sent_ps, past[i].done_ps)) + wait_ps;
    ranks->at_ps[i] = ranks->free_ps[i];
  }
}

bool fold_turns_run(const struct fold_turns *turns, const struct group_system *system,
                    struct fold_ranks *ranks) {
  struct past *past = calloc(ranks->count, sizeof *past);
  for (uint32_t turn = 0; past && turn < turns->count; turn++)
    pass_turn(&turns->turns[(size_t)turn * turns->ranks], system, ranks, past);
  free(past);
  return past != NULL;
}
