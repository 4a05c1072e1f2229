/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns between ranks that send to one and receive from one at a time: an exchange of run_planes.c
 * as sums of times. A rank is told that the other is ready, takes that, issues its transfer, tells
 * the other that this has ended, and takes what it is told itself.
 *
 * What happens at the same picosecond happens in the order in which it was noted: which of two
 * ranks is first is found by the way back to where their times differ, or to the order of their
 * begin.
 */
#include <stdlib.h>
#include <string.h>

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

/* ---- what is first ----------------------------------------------------------------------------
 */

struct history {
  const struct fold_turns *turns;
  const struct group_system *system;
  struct past *past;     /* turn by turn; NULL: not kept */
  const uint32_t *place; /* of each rank in the order of begins */
  const uint64_t *at_ps; /* behind the last turn */
  bool unknown;          /* a question had no answer */
};

static int by_time(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int unknown(struct history *history) {
  history->unknown = true;
  return 0;
}

static int by_begin(struct history *history, uint32_t turn, uint32_t a, uint32_t b);

/*
 * Which of two ranks has its transfer's end first; these are at the same time. Transfers without
 * bytes end as they start; others end behind all that is due, in the order of their starts. A start
 * follows from taking the notify: noted when that came, or at the begin of the turn when it was
 * there.
 */
static int by_sent(struct history *history, uint32_t turn, uint32_t a, uint32_t b) {
  const struct past *past = &history->past[(size_t)turn * history->turns->ranks];
  const struct fold_turn *turns = &history->turns->turns[(size_t)turn * history->turns->ranks];
  if (turns[a].to == STEP_NOBODY || turns[b].to == STEP_NOBODY)
    return unknown(history);
  if (!turns[a].takes_ps != !turns[b].takes_ps)
    return turns[a].takes_ps ? 1 : -1;
  if (turns[a].takes_ps != turns[b].takes_ps)
    return turns[a].takes_ps > turns[b].takes_ps ? -1 : 1;
  if (turns[a].latency_ps != turns[b].latency_ps)
    return turns[a].latency_ps > turns[b].latency_ps ? -1 : 1;
  bool waited_a = past[a].ready_ps > past[a].begin_ps;
  bool waited_b = past[b].ready_ps > past[b].begin_ps;
  uint64_t noted_a = max_u64(past[a].ready_ps, past[a].begin_ps);
  uint64_t noted_b = max_u64(past[b].ready_ps, past[b].begin_ps);
  if (past[a].ready_ps == past[a].begin_ps || past[b].ready_ps == past[b].begin_ps)
    return unknown(history);
  if (noted_a != noted_b)
    return by_time(noted_a, noted_b);
  if (waited_a != waited_b)
    return unknown(history);
  if (!waited_a)
    return by_begin(history, turn, a, b);
  a = turns[a].to;
  b = turns[b].to;
  return past[a].begin_ps != past[b].begin_ps ? by_time(past[a].begin_ps, past[b].begin_ps)
                                              : by_begin(history, turn, a, b);
}

/* Which of two ranks that begin a turn at the same time begins first. */
static int by_begin(struct history *history, uint32_t turn, uint32_t a, uint32_t b) {
  if (a == b)
    return 0;
  if (turn == 0)
    return history->place[a] < history->place[b] ? -1 : 1;
  const struct past *past = &history->past[(size_t)(turn - 1) * history->turns->ranks];
  const struct fold_turn *turns =
      &history->turns->turns[(size_t)(turn - 1) * history->turns->ranks];
  if (turns[a].kind == turns[b].kind && turns[a].kind != STEP_EXCHANGE &&
      turns[a].takes_ps == turns[b].takes_ps)
    return by_begin(history, turn - 1, a, b);
  if (turns[a].from == STEP_NOBODY || turns[b].from == STEP_NOBODY ||
      (past[a].sent_ps == past[a].done_ps && turns[a].takes_ps == 0) ||
      (past[b].sent_ps == past[b].done_ps && turns[b].takes_ps == 0))
    return unknown(history);
  bool waited_a = past[a].done_ps > past[a].sent_ps, waited_b = past[b].done_ps > past[b].sent_ps;
  uint64_t noted_a = max_u64(past[a].done_ps, past[a].sent_ps);
  uint64_t noted_b = max_u64(past[b].done_ps, past[b].sent_ps);
  if (noted_a != noted_b)
    return by_time(noted_a, noted_b);
  if (waited_a != waited_b) {
    uint32_t waited = waited_a ? a : b, came = waited_a ? b : a;
    uint64_t started_ps =
        past[came].sent_ps - turns[came].latency_ps - history->system->notify_issue_ps;
    uint64_t told_ps = past[turns[waited].from].sent_ps;
    if (turns[came].to == STEP_NOBODY || (turns[came].takes_ps == 0 && started_ps == told_ps))
      return unknown(history);
    bool waited_first = turns[came].takes_ps > 0 || told_ps < started_ps;
    return waited_first == waited_a ? -1 : 1;
  }
  if (!waited_a)
    return by_sent(history, turn - 1, a, b);
  a = turns[a].from;
  b = turns[b].from;
  return past[a].sent_ps != past[b].sent_ps ? by_time(past[a].sent_ps, past[b].sent_ps)
                                            : by_sent(history, turn - 1, a, b);
}

/* Of two ranks of a block; without a history, equal times are a question without an answer. */
static int by_end(struct history *history, uint32_t a, uint32_t b) {
  if (history->at_ps[a] != history->at_ps[b])
    return by_time(history->at_ps[a], history->at_ps[b]);
  return history->past ? by_begin(history, history->turns->count, a, b) : unknown(history);
}

/* A stable sort; `other` has room for as many. */
static void sort(struct history *history, uint32_t *ranks, uint32_t *other, uint32_t count) {
  for (uint32_t width = 1; width < count; width *= 2) {
    for (uint32_t low = 0; low < count; low += 2 * width) {
      uint32_t middle = low + width < count ? low + width : count;
      uint32_t high = middle + width < count ? middle + width : count;
      uint32_t left = low, right = middle;
      for (uint32_t i = low; i < high; i++) {
        bool takes_left =
            right == high || (left < middle && by_end(history, ranks[left], ranks[right]) <= 0);
        other[i] = ranks[takes_left ? left++ : right++];
      }
    }
    memcpy(ranks, other, count * sizeof *ranks);
  }
}

/* Passes the turns from the times of `begin`, with or without a history. */
static bool pass_all(const struct fold_turns *turns, const struct group_system *system,
                     uint32_t block, struct fold_ranks *ranks, struct history *history,
                     struct past *past, uint32_t *other) {
  for (uint32_t turn = 0; turn < turns->count; turn++)
    pass_turn(&turns->turns[(size_t)turn * turns->ranks], system, ranks,
              &past[history->past ? (size_t)turn * turns->ranks : 0]);
  history->unknown = false;
  for (uint32_t first = 0; first < ranks->count; first += block)
    sort(history, &ranks->order[first], other,
         block < ranks->count - first ? block : ranks->count - first);
  return !history->unknown;
}

bool fold_turns_run(const struct fold_turns *turns, const struct group_system *system,
                    uint32_t block, struct fold_ranks *ranks) {
  uint32_t count = ranks->count;
  size_t bytes = count * sizeof(uint64_t);
  uint64_t *kept = malloc(2 * bytes);
  uint32_t *numbers = malloc(3 * (size_t)count * sizeof *numbers);
  struct past *past = calloc(count, sizeof *past), *all = NULL;
  bool told = false;
  if (kept && numbers && past) {
    uint32_t *place = numbers, *order = numbers + count, *other = numbers + 2 * (size_t)count;
    memcpy(kept, ranks->at_ps, bytes);
    memcpy(kept + count, ranks->free_ps, bytes);
    memcpy(order, ranks->order, count * sizeof *order);
    for (uint32_t i = 0; i < count; i++)
      place[ranks->order[i]] = i;
    struct history history = {
        .turns = turns, .system = system, .place = place, .at_ps = ranks->at_ps};
    told = pass_all(turns, system, block, ranks, &history, past, other);
    for (int again = 0; !told && again < 2; again++) { /* with a history, or as before */
      memcpy(ranks->at_ps, kept, bytes);
      memcpy(ranks->free_ps, kept + count, bytes);
      memcpy(ranks->order, order, count * sizeof *order);
      if (again)
        break;
      history.past = all = calloc((size_t)turns->count * count + 1, sizeof *all);
      told = all && pass_all(turns, system, block, ranks, &history, all, other);
    }
  }
  free(kept);
  free(numbers);
  free(past);
  free(all);
  return told;
}
