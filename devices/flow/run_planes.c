/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planes of a collective, step by step. An exchange: the rank tells the one it receives from that
 * it is ready, waits until the one it sends to is ready, sends, tells that one, and waits for what
 * comes from the other. So each transfer waits for both sides, as with the notifies of the vendor's
 * library.
 */
#include <stdlib.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "devices/flow/run_state.h"

static void note_plane(struct group_sim *sim, uint32_t plane, uint64_t time_ps) {
  uint32_t device = sim_device(sim->planes[plane].instance, sim->planes[plane].member);
  sim_note(sim, (struct due){.time_ps = time_ps,
                             .kind = MOMENT_PLANE,
                             .whose = due_whose(device, 0),
                             .who = plane});
}

struct collective_call sim_chunk_call(const struct instance *instance, uint64_t chunk) {
  struct collective_call call = instance->call;
  if (instance->chunks == 1)
    return call;
  uint64_t each = ceil_div(call.bytes, instance->chunks), begin = min_u64(chunk * each, call.bytes);
  call.bytes = min_u64(each, call.bytes - begin);
  return call;
}

/* When the device has done one more of what it does one after the other. */
static uint64_t issue(struct group_sim *sim, uint32_t device, uint64_t takes_ps) {
  struct rank *rank = &sim->ranks[device];
  rank->issue_free_ps = max_u64(rank->issue_free_ps, sim->now_ps) + takes_ps;
  return rank->issue_free_ps;
}

/* A notify has been waited for: the plane goes on when the device has taken that. */
static void take_notify(struct group_sim *sim, uint32_t number) {
  const struct plane *plane = &sim->planes[number];
  uint32_t device = sim_device(plane->instance, plane->member);
  note_plane(sim, number, issue(sim, device, sim->job->system->notify_wait_ps));
}

static void notify(struct group_sim *sim, const struct plane *plane, uint32_t to,
                   enum moment_kind kind) {
  const struct instance *instance = plane->instance;
  uint32_t ranks = instance->call.ranks, stand_in = sim_stand_in(sim, to);
  uint32_t distance = plane->member - to + (plane->member < to ? ranks : 0);
  uint64_t issued_ps =
      issue(sim, sim_device(instance, plane->member), sim->job->system->notify_issue_ps);
  sim_note(sim, (struct due){.time_ps = issued_ps + sim->job->system->notify_ps,
                             .kind = kind,
                             .whose = due_whose(sim_device(instance, stand_in), distance),
                             .who = stand_in == to ? plane->member : (stand_in + distance) % ranks,
                             .to = stand_in,
                             .instance = instance->number});
}

static struct post_key key_to(const struct plane *plane, uint32_t from, enum post_kind kind) {
  return (struct post_key){plane->instance->number, plane->member, from, kind};
}

/* Whether a notify has come; otherwise the plane is woken when it does. */
static bool has_come(struct group_sim *sim, uint32_t number, uint32_t from, enum post_kind kind) {
  bool come;
  if (!posts_wait(&sim->posts, key_to(&sim->planes[number], from, kind), number, &come))
    sim_fail(sim, VINCI_E_NOMEM, "out of memory");
  return come;
}

void sim_notify_came(struct group_sim *sim, const struct due *due) {
  uint32_t waiter;
  struct post_key key = {due->instance, due->to, due->who,
                         due->kind == MOMENT_READY ? POST_READY : POST_DONE};
  if (!posts_come(&sim->posts, key, &waiter))
    sim_fail(sim, VINCI_E_NOMEM, "out of memory");
  else if (waiter != POST_NOBODY)
    take_notify(sim, waiter);
}

/* What a plane has moved is told to who listens. */
static void report_moved(struct group_sim *sim, const struct plane *plane) {
  const struct group_observer *observer = sim->observer;
  const struct instance *instance = plane->instance;
  uint32_t to = plane->step.kind == STEP_EXCHANGE ? plane->step.to : plane->member;
  if (observer && observer->transfer_ended)
    observer->transfer_ended(observer->context,
                             &(struct group_transfer){.from = sim_device(instance, plane->member),
                                                      .to = sim_device(instance, to),
                                                      .group = instance->group_number,
                                                      .turn = instance->turn,
                                                      .step = &plane->step,
                                                      .start_ps = plane->start_ps,
                                                      .end_ps = sim->now_ps});
}

/* ---- within the device ---------------------------------------------------------------------- */

static uint64_t local_rate(const struct group_system *system, const struct group_step *step) {
  bool cached = step->fresh && system->local_fresh_rate && step->bytes <= system->l2_bytes;
  return step->kind == STEP_ADD ? system->local_reduce_rate
         : cached               ? system->local_fresh_rate
                                : system->local_copy_rate;
}

uint64_t sim_local_ps(const struct group_system *system, const struct group_step *step) {
  uint64_t rate = local_rate(system, step);
  uint128 ps = system->local_latency_ps;
  if (rate)
    ps += ((uint128)step->bytes * PS_PER_SECOND + rate - 1) / rate;
  return time_after(0, ps);
}

static void begin_local(struct group_sim *sim, uint32_t number) {
  struct plane *plane = &sim->planes[number];
  const struct group_system *system = sim->job->system;
  uint64_t uses = plane->step.kind == STEP_ADD ? 3 : 2; /* of the memory, for a byte */
  plane->local_rate = local_rate(system, &plane->step) * uses;
  sim_memory_taken(sim, sim_device(plane->instance, plane->member), 0, plane->local_rate);
  note_plane(sim, number, time_after(sim->now_ps, sim_local_ps(system, &plane->step)));
}

static void end_local(struct group_sim *sim, struct plane *plane) {
  if (plane->local_rate == 0)
    return;
  sim_memory_taken(sim, sim_device(plane->instance, plane->member), plane->local_rate, 0);
  plane->local_rate = 0;
}

/* ---- exchanges ------------------------------------------------------------------------------ */

static enum group_use use_of(const struct group_step *step) {
  return step->alone ? GROUP_SEND : step->adds ? GROUP_REDUCE : GROUP_COPY;
}

/* With stand-ins, the port of the receiver is that of the one that stands for the receiver. */
static struct group_path path_of(const struct group_sim *sim, const struct plane *plane) {
  const struct group_system *system = sim->job->system;
  uint32_t from = group_device_of(sim->job, sim_device(plane->instance, plane->member));
  uint32_t to = group_device_of(sim->job, sim_device(plane->instance, plane->step.to));
  uint32_t stand_in = sim_stand_in(sim, plane->step.to);
  struct group_path path = group_path_of(system, from, to, use_of(&plane->step));
  if (stand_in != plane->step.to && system->levels[path.level].join == GROUP_SWITCH)
    path.limits[1] += group_device_of(sim->job, sim_device(plane->instance, stand_in)) - to;
  return path;
}

static void begin_exchange(struct group_sim *sim, uint32_t number) {
  struct plane *plane = &sim->planes[number];
  plane->phase = PLANE_READY;
  if (plane->step.from != STEP_NOBODY)
    notify(sim, plane, plane->step.from, MOMENT_READY);
  if (plane->step.to == STEP_NOBODY) {
    plane->phase = PLANE_DONE;
    if (has_come(sim, number, plane->step.from, POST_DONE))
      take_notify(sim, number);
  } else if (has_come(sim, number, plane->step.to, POST_READY)) {
    take_notify(sim, number);
  }
}

static void start_transfer(struct group_sim *sim, uint32_t number) {
  struct plane *plane = &sim->planes[number];
  plane->phase = PLANE_MOVES;
  sim->transfers++;
  sim->transfer_bytes += plane->step.bytes;
  if (plane->step.bytes == 0)
    sim_transfer_ended(sim, number);
  else if (flow_start(sim->flows, sim->now_ps, &plane->path, plane->step.bytes,
                      (void *)(uintptr_t)number) == FLOW_NONE)
    sim_fail(sim, VINCI_E_NOMEM, "out of memory");
}

void sim_transfer_ended(struct group_sim *sim, uint32_t number) {
  struct plane *plane = &sim->planes[number];
  report_moved(sim, plane);
  notify(sim, plane, plane->step.to, MOMENT_DONE);
  plane->phase = PLANE_DONE;
  if (plane->step.from == STEP_NOBODY)
    note_plane(sim, number, sim->now_ps);
  else if (has_come(sim, number, plane->step.from, POST_DONE))
    take_notify(sim, number);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void free_plane(struct group_sim *sim, uint32_t number) {
  sim->planes[number].index = sim->free_plane;
  sim->free_plane = number;
}

/* The planes of the member that wait go on. */
static void release(struct group_sim *sim, struct member *of) {
  for (uint32_t i = of->first_joined; i != UINT32_MAX; i = sim->planes[i].next_joined) {
    sim->planes[i].phase = PLANE_STEP;
    note_plane(sim, i, sim->now_ps);
  }
  of->joined = 0;
  of->first_joined = UINT32_MAX;
}

static void end_plane(struct group_sim *sim, uint32_t number) {
  struct instance *instance = sim->planes[number].instance;
  uint32_t member = sim->planes[number].member;
  struct member *of = &instance->members[member];
  if (sim->part)
    fold_plane_ended(sim->part, member, sim->planes[number].number);
  sim->planes[number].instance = NULL;
  free_plane(sim, number);
  if (--of->planes > 0)
    return;
  if (++of->chunk < instance->chunks)
    sim_planes_begin(sim, instance, member);
  else
    sim_collective_ended(sim, instance, member);
}

static void join(struct group_sim *sim, uint32_t number) {
  struct plane *plane = &sim->planes[number];
  struct member *of = &plane->instance->members[plane->member];
  plane->phase = PLANE_JOIN;
  plane->next_joined = of->first_joined;
  of->first_joined = number;
  if (++of->joined == of->planes)
    release(sim, of);
}

static void next_step(struct group_sim *sim, uint32_t number) {
  struct plane *plane = &sim->planes[number];
  struct instance *instance = plane->instance;
  struct collective_call call = sim_chunk_call(instance, instance->members[plane->member].chunk);
  do
    plane->step = call.algorithm->step(&call, plane->member, plane->number, plane->index++);
  while (plane->step.kind == STEP_NOTHING);
  plane->start_ps = sim->now_ps;
  switch (plane->step.kind) {
  case STEP_END:
    end_plane(sim, number);
    break;
  case STEP_JOIN:
    join(sim, number);
    break;
  case STEP_EXCHANGE:
    begin_exchange(sim, number);
    break;
  default:
    begin_local(sim, number);
  }
}

void sim_plane_goes_on(struct group_sim *sim, uint32_t number) {
  struct plane *plane = &sim->planes[number];
  switch (plane->phase) {
  case PLANE_READY:
    plane->phase = PLANE_START;
    plane->path = path_of(sim, plane);
    plane->start_ps =
        issue(sim, sim_device(plane->instance, plane->member), sim->job->system->notify_issue_ps);
    note_plane(sim, number, plane->start_ps + plane->path.latency_ps);
    break;
  case PLANE_START:
    start_transfer(sim, number);
    break;
  default:
    end_local(sim, plane);
    if (plane->step.kind == STEP_COPY || plane->step.kind == STEP_ADD)
      report_moved(sim, plane);
    plane->phase = PLANE_STEP;
    next_step(sim, number);
  }
}

static uint32_t new_plane(struct group_sim *sim) {
  if (sim->free_plane != UINT32_MAX) {
    uint32_t number = sim->free_plane;
    sim->free_plane = sim->planes[number].index;
    return number;
  }
  if (sim->plane_count == sim->plane_capacity) {
    uint32_t capacity = sim->plane_capacity ? 2 * sim->plane_capacity : 64;
    struct plane *planes = realloc(sim->planes, capacity * sizeof *planes);
    if (!planes) {
      sim_fail(sim, VINCI_E_NOMEM, "out of memory");
      return UINT32_MAX;
    }
    sim->planes = planes;
    sim->plane_capacity = capacity;
  }
  return sim->plane_count++;
}

void sim_planes_begin(struct group_sim *sim, struct instance *instance, uint32_t member) {
  struct collective_call call = sim_chunk_call(instance, instance->members[member].chunk);
  uint32_t planes = call.algorithm->planes(&call);
  instance->members[member].planes = planes;
  instance->members[member].first_joined = UINT32_MAX;
  for (uint32_t i = 0; i < planes; i++) {
    uint32_t number = new_plane(sim);
    if (number == UINT32_MAX)
      return;
    sim->planes[number] =
        (struct plane){.instance = instance,
                       .member = member,
                       .number = sim->part ? fold_plane_at(sim->part, member, i) : i};
    note_plane(sim, number, sim->now_ps);
  }
}
