/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of ranks, operation by operation, and what is due next. */
#include "devices/flow/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "devices/flow/run_state.h"

#define MILLION UINT64_C(1000000)

void sim_fail(struct group_sim *sim, enum vinci_status status, const char *text) {
  if (sim->status == VINCI_OK)
    sim->status = diag_error(sim->diag, status, "%s", text);
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Brings the counters of a rank up to now, before what it does changes. */
static struct rank *account(struct group_sim *sim, uint32_t number) {
  struct rank *rank = &sim->ranks[number];
  uint64_t passed = sim->now_ps - rank->since_ps;
  rank->since_ps = sim->now_ps;
  rank->result.work_ps += rank->working ? passed : 0;
  rank->result.comm_ps += rank->communicating ? passed : 0;
  rank->result.exposed_ps += rank->communicating && !rank->working ? passed : 0;
  rank->result.bubble_ps += rank->receiving && !rank->working ? passed : 0;
  rank->result.idle_ps += !rank->communicating && !rank->working ? passed : 0;
  return rank;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* How fast work goes while transfers take the memory, in millionths; 0 only on a device that is
 * down. The host keeps its speed. */
static uint64_t speed_of(const struct group_sim *sim, const struct rank *rank,
                         const struct group_op *op) {
  uint64_t most = sim->job->system->hbm_rate, device = rank->speed_milli;
  if (op->kind == GROUP_HOST)
    return MILLION;
  if (most == 0 || op->memory_milli == 0 || device == 0)
    return device * (MILLION / MILLI);
  uint64_t taken = min_u64(rank->taken_rate, most);
  uint64_t lost = (uint64_t)((uint128)taken * op->memory_milli * (MILLION / MILLI) / most);
  return max_u64((MILLION - min_u64(lost, MILLION)) * device / MILLI, 1);
}

/* Work goes on at the speed of now. */
static void set_speed(struct group_sim *sim, uint32_t number) {
  struct stream *stream = &sim->streams[number];
  uint128 done = (uint128)stream->speed * (sim->now_ps - stream->since_ps);
  stream->left -= done < stream->left ? done : stream->left;
  stream->since_ps = sim->now_ps;
  stream->speed = speed_of(sim, &sim->ranks[stream->rank], sim_op_of(stream));
  stream->version++;
  if (stream->speed == 0)
    return;
  sim_note(sim, (struct due){.time_ps = time_after(sim->now_ps, (stream->left + stream->speed - 1) /
                                                                    stream->speed),
                             .kind = MOMENT_WORK_ENDS,
                             .whose = due_whose(stream->rank, 0),
                             .who = number,
                             .instance = stream->version});
}

/* Work of the rank that is bound by memory by `least_milli` or more goes on at the speed of now. */
static void set_speeds(struct group_sim *sim, const struct rank *rank, uint32_t least_milli) {
  for (uint32_t i = rank->first_stream; i < rank->first_stream + rank->stream_count; i++) {
    const struct stream *stream = &sim->streams[i];
    if (stream->running && sim_op_of(stream)->kind == GROUP_WORK &&
        sim_op_of(stream)->memory_milli >= least_milli)
      set_speed(sim, i);
  }
}

void sim_work_speed(struct group_sim *sim, uint32_t rank) { set_speeds(sim, &sim->ranks[rank], 0); }

void sim_memory_taken(struct group_sim *sim, uint32_t device, uint64_t old_rate,
                      uint64_t new_rate) {
  struct rank *rank = &sim->ranks[device];
  rank->taken_rate += new_rate - old_rate;
  if (sim->job->system->hbm_rate != 0 && rank->working != 0)
    set_speeds(sim, rank, 1);
}

/* A transfer reads the memory of one device and writes that of another, or adds there. */
static void rate_changed(void *context, void *user, uint64_t now_ps, uint64_t old_rate,
                         uint64_t new_rate) {
  struct group_sim *sim = context;
  const struct plane *plane = &sim->planes[(uintptr_t)user];
  uint64_t uses = plane->step.adds ? 2 : 1;
  sim->now_ps = now_ps;
  sim_memory_taken(sim, sim_device(plane->instance, plane->member), old_rate, new_rate);
  sim_memory_taken(sim, sim_device(plane->instance, plane->step.to), uses * old_rate,
                   uses * new_rate);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/*
 * Ranks of the group that follow each other within a group of the innermost level, when there are
 * as many in each; otherwise 1.
 */
static uint32_t inner_of(const struct group_job *job, const struct group_ranks *group) {
  uint32_t size = job->system->levels[0].devices, inner = 1;
#define SERVER(member) (group_device_of(job, group->ranks[member]) / size)
  while (inner < group->count && SERVER(inner) == SERVER(0))
    inner++;
  for (uint32_t i = 0; i < group->count; i++)
    if (group->count % inner != 0 || SERVER(i) != SERVER(i - i % inner))
      return 1;
#undef SERVER
  return inner;
}

void group_complete_call(const struct group_job *job, const struct group_ranks *group,
                         struct collective_call *call) {
  call->ranks = group->count;
  call->inner = inner_of(job, group);
  if (!call->slice_bytes) /* a part of another call has the slices of that */
    call->slice_bytes = collective_gives_parts(call->op) ? 1 : job->system->slice_bytes;
  call->adds_inline = job->system->inline_reduce;
  if (!call->algorithm)
    call->algorithm = collective_choose(call);
}

static void complete_call(struct group_sim *sim, struct instance *instance) {
  const struct group_system *system = sim->job->system;
  struct collective_call *call = &instance->call;
  group_complete_call(sim->job, instance->group, call);
  bool chunked = system->buffer_bytes && !call->counts && call->bytes > system->buffer_bytes;
  instance->chunks = chunked ? ceil_div(call->bytes, system->buffer_bytes) : 1;
  enum vinci_status status = collective_check(call, sim->diag);
  if (sim->status == VINCI_OK)
    sim->status = status;
}

static struct instance *new_instance(struct group_sim *sim, const struct group_op *op,
                                     const struct place *place, uint32_t rank) {
  uint32_t count = place->group->count;
  struct instance *instance = calloc(1, sizeof *instance + count * sizeof *instance->members);
  if (!instance) {
    sim_fail(sim, VINCI_E_NOMEM, "out of memory");
    return NULL;
  }
  instance->number = sim->instances_made++;
  instance->group = place->group;
  instance->family = op->family;
  instance->group_number = place->group_number;
  instance->turn = place->turns;
  instance->call = op->call;
  instance->first_op = op;
  instance->first_rank = rank;
  complete_call(sim, instance);
  instance->is_folded = sim->status == VINCI_OK && fold_takes(sim, instance);
  struct instance **end = &sim->of_group[place->group_number];
  while (*end)
    end = &(*end)->next;
  *end = instance;
  return instance;
}

void sim_place_text(const struct group_op *op, char *out, size_t size) {
  if (op->line)
    snprintf(out, size, "'%s' in line %lu", op->name, op->line);
  else
    snprintf(out, size, "'%s'", op->name);
}

static void check_match(struct group_sim *sim, const struct instance *instance,
                        const struct group_op *op, uint32_t rank) {
  const struct collective_call *a = &instance->first_op->call, *b = &op->call;
  if (a->op == b->op && a->bytes == b->bytes && a->root == b->root && a->algorithm == b->algorithm)
    return;
  char first[128], second[128];
  sim_place_text(instance->first_op, first, sizeof first);
  sim_place_text(op, second, sizeof second);
  if (sim->status == VINCI_OK)
    sim->status = diag_error(sim->diag, VINCI_E_INPUT,
                             "collective %u of group '%s' differs: rank %u has %s of %" PRIu64
                             " bytes (%s), rank %u has %s of %" PRIu64 " bytes (%s)",
                             instance->turn, sim->job->families[instance->family].name,
                             instance->first_rank, collective_op_name(a->op), a->bytes, first, rank,
                             collective_op_name(b->op), b->bytes, second);
}

static void refuse_rank(struct group_sim *sim, const struct group_op *op, uint32_t rank) {
  char place[128];
  sim_place_text(op, place, sizeof place);
  if (sim->status == VINCI_OK)
    sim->status =
        diag_error(sim->diag, VINCI_E_INPUT, "rank %u is in no group '%s', which %s needs", rank,
                   sim->job->families[op->family].name, place);
}

/* The second member of a group receives. */
static bool is_receive(const struct group_op *op, uint32_t member) {
  return op->call.op == COLLECTIVE_SEND_RECV && member == 1;
}

void sim_collective_begin(struct group_sim *sim, uint32_t number) {
  struct stream *stream = &sim->streams[number];
  const struct group_op *op = sim_op_of(stream);
  struct place *place = sim_place_of(sim, op->family, stream->rank);
  if (!place->group) {
    refuse_rank(sim, op, stream->rank);
    return;
  }
  struct instance *instance = sim_find_instance(sim, place->group_number, place->turns);
  if (!instance)
    instance = new_instance(sim, op, place, stream->rank);
  if (!instance)
    return;
  place->turns++;
  check_match(sim, instance, op, stream->rank);
  instance->come++;
  instance->members[place->member].stream = number;
  sim->ranks[stream->rank].receiving += is_receive(op, place->member);
  if (sim->status == VINCI_OK && instance->is_folded)
    fold_came(sim, instance, place->member);
  else if (sim->status == VINCI_OK)
    sim_planes_begin(sim, instance, place->member);
}

static void end_op(struct group_sim *sim, uint32_t number, const struct instance *instance);

void sim_collective_ended(struct group_sim *sim, struct instance *instance, uint32_t member) {
  uint32_t stream = instance->members[member].stream;
  struct rank *rank = account(sim, sim->streams[stream].rank);
  rank->communicating--;
  rank->receiving -= is_receive(sim_op_of(&sim->streams[stream]), member);
  end_op(sim, stream, instance);
  if (++instance->ended < instance->group->count)
    return;
  struct instance **at = &sim->of_group[instance->group_number];
  while (*at != instance)
    at = &(*at)->next;
  *at = instance->next;
  free(instance);
}

/* ---- streams --------------------------------------------------------------------------------- */

void sim_note_stream(struct group_sim *sim, uint32_t number, uint64_t time_ps) {
  sim_note(sim, (struct due){.time_ps = time_ps,
                             .kind = MOMENT_STREAM,
                             .whose = due_whose(sim->streams[number].rank, 0),
                             .who = number});
}

static void end_op(struct group_sim *sim, uint32_t number, const struct instance *instance) {
  struct stream *stream = &sim->streams[number];
  const struct group_observer *observer = sim->observer;
  struct group_moment moment = {.rank = stream->rank,
                                .stream = stream->number,
                                .op = sim_op_of(stream),
                                .start_ps = stream->start_ps,
                                .end_ps = sim->now_ps};
  if (instance) {
    moment.algorithm = instance->call.algorithm;
    moment.group = instance->group_number;
    moment.turn = instance->turn;
  }
  stream->running = false;
  stream->index++;
  sim->ranks[stream->rank].result.end_ps = sim->now_ps;
  if (observer && observer->op_ended)
    observer->op_ended(observer->context, &moment);
  sim_note_stream(sim, number, sim->now_ps);
}

static void end_work(struct group_sim *sim, uint32_t number) {
  struct stream *stream = &sim->streams[number];
  struct rank *rank = account(sim, stream->rank);
  if (sim_op_of(stream)->kind == GROUP_WORK)
    rank->working--;
  rank->result.slowed_ps += sim->now_ps - stream->start_ps - sim_op_of(stream)->duration_ps;
  end_op(sim, number, NULL);
}

static void begin_work(struct group_sim *sim, uint32_t number) {
  struct stream *stream = &sim->streams[number];
  if (sim_op_of(stream)->kind == GROUP_WORK)
    account(sim, stream->rank)->working++;
  stream->left = (uint128)sim_op_of(stream)->duration_ps * MILLION;
  stream->since_ps = sim->now_ps;
  set_speed(sim, number);
}

/* Streams of the rank that wait for the event go on. */
static void record(struct group_sim *sim, struct rank *rank, uint32_t event) {
  rank->events[event] = true;
  for (uint32_t i = rank->first_stream; i < rank->first_stream + rank->stream_count; i++) {
    struct stream *stream = &sim->streams[i];
    if (!stream->waits || sim_op_of(stream)->event != event)
      continue;
    stream->waits = false;
    sim_note_stream(sim, i, sim->now_ps);
  }
}

static void begin_op(struct group_sim *sim, uint32_t number) {
  struct stream *stream = &sim->streams[number];
  struct rank *rank = &sim->ranks[stream->rank];
  const struct group_op *op = sim_op_of(stream);
  if (op->kind == GROUP_WAIT && !rank->events[op->event]) {
    stream->waits = true;
    return;
  }
  stream->running = true;
  stream->start_ps = sim->now_ps;
  switch (op->kind) {
  case GROUP_WORK:
  case GROUP_HOST:
    begin_work(sim, number);
    break;
  case GROUP_COLLECTIVE:
    account(sim, stream->rank)->communicating++;
    sim_note_timeout(sim, number);
    sim_collective_begin(sim, number);
    break;
  case GROUP_RECORD:
    record(sim, rank, op->event);
    end_op(sim, number, NULL);
    break;
  default:
    end_op(sim, number, NULL);
  }
}

static bool is_memory(const struct group_op *op) {
  return op->kind == GROUP_ALLOCATE || op->kind == GROUP_FREE;
}

static void stream_goes_on(struct group_sim *sim, uint32_t number) {
  struct stream *stream = &sim->streams[number];
  /* At once, and not as something that is due: so no other order of equal times comes about. */
  while (stream->index < stream->ops->count && is_memory(sim_op_of(stream))) {
    sim_memory_changes(sim, stream->rank, sim_op_of(stream));
    stream->index++;
  }
  if (stream->index == stream->ops->count)
    return;
  if (sim_op_of(stream)->earliest_ps > sim->now_ps)
    sim_note_stream(sim, number, sim_op_of(stream)->earliest_ps);
  else
    begin_op(sim, number);
}

/* ---- the run --------------------------------------------------------------------------------- */

static void happen(struct group_sim *sim, const struct due *due) {
  if (sim_is_put_off(sim, due))
    return;
  switch (due->kind) {
  case MOMENT_STREAM:
    stream_goes_on(sim, due->who);
    break;
  case MOMENT_WORK_ENDS:
    if (sim->streams[due->who].version == due->instance)
      end_work(sim, due->who);
    break;
  case MOMENT_PLANE:
    sim_plane_goes_on(sim, due->who);
    break;
  case MOMENT_FAULT:
    sim_fault_changes(sim);
    break;
  case MOMENT_TIMEOUT:
    sim_timeout(sim, due);
    break;
  case MOMENT_FOLDED:
    sim_collective_ended(sim, (struct instance *)(uintptr_t)due->instance, due->who);
    break;
  default:
    sim_notify_came(sim, due);
  }
}

/* The next transfer to end. Rates are found when all that happens now has happened. */
static uint32_t next_flow(struct group_sim *sim, uint64_t *end_ps) {
  uint32_t flow = flow_next(sim->flows, end_ps);
  if (flow != FLOW_NONE && *end_ps == sim->now_ps)
    return flow;
  flow_share(sim->flows, sim->now_ps);
  *end_ps = UINT64_MAX;
  return flow_next(sim->flows, end_ps);
}

void sim_run(struct group_sim *sim) {
  while (sim->status == VINCI_OK) {
    if (sim->due_count > 0 && sim->dues[0].time_ps == sim->now_ps) {
      struct due due = sim_take_due(sim);
      happen(sim, &due);
      continue;
    }
    if (sim->now_first < sim->now_count) {
      struct due due = sim->now_dues[sim->now_first++];
      happen(sim, &due);
      continue;
    }
    uint64_t end_ps = UINT64_MAX;
    uint32_t flow = next_flow(sim, &end_ps);
    uint64_t next_ps = sim->due_count > 0 ? min_u64(sim->dues[0].time_ps, end_ps) : end_ps;
    if (next_ps >= TIME_END_PS && next_ps < UINT64_MAX) /* UINT64_MAX: nothing comes */
      sim_fail(sim, VINCI_E_LIMIT, "the job takes longer than 80 hours");
    else if (sim->due_count > 0 && sim->dues[0].time_ps <= end_ps) {
      struct due due = sim_take_due(sim);
      sim->now_ps = due.time_ps;
      happen(sim, &due);
    } else if (flow != FLOW_NONE) {
      sim->now_ps = end_ps;
      sim_transfer_ended(sim, (uint32_t)(uintptr_t)flow_end(sim->flows, flow));
    } else {
      return;
    }
  }
}

static bool set_up_ranks(struct group_sim *sim) {
  const struct group_job *job = sim->job;
  for (uint32_t i = 0; i < job->ranks; i++)
    sim->stream_count += job->programs[i]->stream_count;
  sim->ranks = calloc(job->ranks, sizeof *sim->ranks);
  sim->streams = calloc(sim->stream_count + 1, sizeof *sim->streams);
  if (!sim->ranks || !sim->streams)
    return false;
  uint32_t next = 0;
  for (uint32_t i = 0; i < job->ranks; i++) {
    const struct group_program *program = job->programs[i];
    struct rank *rank = &sim->ranks[i];
    rank->first_stream = next;
    rank->speed_milli = MILLI;
    rank->stream_count = program->stream_count;
    rank->events = calloc(program->event_count + 1, sizeof *rank->events);
    if (!rank->events)
      return false;
    for (uint32_t s = 0; s < program->stream_count; s++, next++)
      sim->streams[next] = (struct stream){.ops = &program->streams[s], .rank = i, .number = s};
  }
  return true;
}

/* Where each rank is in each family. */
static enum vinci_status set_up_places(struct group_sim *sim) {
  const struct group_job *job = sim->job;
  for (uint32_t f = 0; f < job->family_count; f++) {
    const struct group_family *family = &job->families[f];
    for (uint32_t g = 0; g < family->count; g++, sim->group_count++)
      for (uint32_t m = 0; m < family->groups[g].count; m++) {
        uint32_t rank = family->groups[g].ranks[m];
        struct place *place = rank < job->ranks ? sim_place_of(sim, f, rank) : NULL;
        if (!place || place->group)
          return diag_error(sim->diag, VINCI_E_INPUT, "group '%s': rank %u %s", family->name, rank,
                            place ? "is there twice" : "does not exist");
        *place = (struct place){
            .group = &family->groups[g], .group_number = sim->group_count, .member = m};
      }
  }
  return VINCI_OK;
}

void sim_begin(struct group_sim *sim) {
  const struct group_job *job = sim->job;
  sim->free_plane = UINT32_MAX;
  /* In a part of a collective there is no work that transfers could slow. */
  sim->flows = flows_new(job->system, sim->part ? NULL : rate_changed, sim);
  sim->places = calloc((size_t)job->family_count * job->ranks + 1, sizeof *sim->places);
  if (sim->places)
    sim->status = set_up_places(sim);
  sim->of_group = calloc(sim->group_count + 1, sizeof *sim->of_group);
  if (!sim->flows || !sim->places || !sim->of_group || !set_up_ranks(sim) || !sim_memory_begin(sim))
    sim_fail(sim, VINCI_E_NOMEM, "out of memory");
}

void sim_end(struct group_sim *sim) {
  for (uint32_t i = 0; sim->of_group && i < sim->group_count; i++)
    for (struct instance *next; sim->of_group[i]; sim->of_group[i] = next) {
      next = sim->of_group[i]->next;
      free(sim->of_group[i]);
    }
  for (uint32_t i = 0; sim->ranks && i < sim->job->ranks; i++)
    free(sim->ranks[i].events);
  free(sim->places);
  free(sim->of_group);
  free(sim->ranks);
  free(sim->streams);
  free(sim->planes);
  free(sim->dues);
  free(sim->now_dues);
  free(sim->limit_speeds);
  sim_memory_end(sim);
  posts_free(&sim->posts);
  flows_free(sim->flows);
}

static enum vinci_status results(struct group_sim *sim, struct arena *arena,
                                 struct group_result *out) {
  uint32_t ranks = sim->job->ranks, limits = group_limit_count(sim->job->system);
  out->ranks = ARENA_ARRAY(arena, struct group_rank_result, ranks);
  out->limit_bytes = ARENA_ARRAY(arena, uint64_t, limits);
  if (!out->ranks || !out->limit_bytes)
    return diag_error(sim->diag, VINCI_E_NOMEM, "out of memory");
  for (uint32_t i = 0; i < ranks; i++)
    out->end_ps = max_u64(out->end_ps, sim->ranks[i].result.end_ps);
  sim->now_ps = out->end_ps;
  for (uint32_t i = 0; i < ranks; i++)
    out->ranks[i] = account(sim, i)->result;
  if (!sim_memory_results(sim, arena, out))
    return diag_error(sim->diag, VINCI_E_NOMEM, "out of memory");
  out->folded = fold_count(sim);
  for (uint32_t i = 0; i < limits; i++)
    out->limit_bytes[i] = flow_bytes(sim->flows, i);
  out->transfers = sim->transfers;
  out->transfer_bytes = sim->transfer_bytes;
  return sim->status;
}

static enum vinci_status run_once(const struct group_job *job,
                                  const struct group_observer *observer, bool folded,
                                  struct arena *arena, struct group_result *out,
                                  struct vinci_diag *diag) {
  struct group_sim sim = {.job = job, .observer = observer, .diag = diag};
  sim_begin(&sim);
  if (sim.status == VINCI_OK)
    sim_faults_begin(&sim);
  if (sim.status == VINCI_OK && folded && !fold_begin(&sim))
    sim_fail(&sim, VINCI_E_NOMEM, "out of memory");
  for (uint32_t i = 0; sim.status == VINCI_OK && i < sim.stream_count; i++)
    sim_note_stream(&sim, i, 0);
  sim_run(&sim);
  if (sim.status == VINCI_OK)
    sim_check_ended(&sim);
  if (sim.status == VINCI_OK)
    sim.status = results(&sim, arena, out);
  fold_end(&sim);
  sim_end(&sim);
  return sim.status;
}

enum vinci_status group_run(const struct group_job *job, const struct group_observer *observer,
                            struct arena *arena, struct group_result *out,
                            struct vinci_diag *diag) {
  *out = (struct group_result){0};
  enum vinci_status status = group_system_check(job->system, diag);
  for (uint32_t i = 0; status == VINCI_OK && i < job->ranks; i++)
    if (group_device_of(job, i) >= job->system->devices)
      status = diag_error(diag, VINCI_E_INPUT, "%u ranks, but system '%s' has %u devices",
                          job->ranks, job->system->name, job->system->devices);
  if (status != VINCI_OK)
    return status;
  /* What is wrong with a job is told by the run of all steps. */
  struct vinci_diag unused = {0};
  if (!job->unfolded && !job->faults && !observer &&
      run_once(job, observer, true, arena, out, &unused) == VINCI_OK)
    return VINCI_OK;
  *out = (struct group_result){0};
  return run_once(job, observer, false, arena, out, diag);
}
