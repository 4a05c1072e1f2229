/* SPDX-License-Identifier: Apache-2.0 */
/* Which collectives are folded, and their parts one after the other. */
#include "devices/flow/run_fold.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "devices/flow/run_state.h"

enum { FOLD_RANKS_MIN = 4, PART_RANKS_MAX = 64, TURNS_BYTES_MAX = 256 << 20 };

/*
 * BLOCK: all ranks as one part. TURNS: one plane. LEVELS: parts within servers, turns between.
 * ALIKE: ranks that come together stand for others; else a block, or all steps.
 */
enum form_kind { FORM_NONE, FORM_BLOCK, FORM_TURNS, FORM_LEVELS, FORM_ALIKE };

/* Calls of a group that are equal. */
struct form {
  struct form *next;
  const struct group_ranks *group;
  struct collective_call call;
  enum form_kind kind;
  uint32_t level;     /* BLOCK; of ALIKE too, GROUP_LEVELS_MAX where that is no block */
  uint32_t stand_ins; /* ALIKE: as of struct group_sim */
  uint32_t *devices;  /* ALIKE: by member */
  bool has_turns;
  struct fold_turns turns;
  uint64_t uses;
};

struct folds {
  struct form **forms; /* by number of the group */
  bool *simple;        /* by rank */
  struct fold_parts *parts;
  uint64_t *times;       /* of the members of a collective: at, free */
  unsigned char *planes; /* orders of planes, twice */
  uint64_t folded;
  size_t turns_bytes;
};

/* ---- ranks that are in one collective at a time -------------------------------------------------
 */

static bool has_collectives(const struct group_stream *stream) {
  for (uint32_t i = 0; i < stream->count; i++)
    if (stream->ops[i].kind == GROUP_COLLECTIVE)
      return true;
  return false;
}

/* Whether transfers slow no work of the stream, which runs beside collectives. */
static bool is_beside(const struct group_system *system, const struct group_stream *stream) {
  for (uint32_t i = 0; system->hbm_rate && i < stream->count; i++)
    if (stream->ops[i].kind == GROUP_WORK && stream->ops[i].memory_milli > 0)
      return false;
  return true;
}

/* A collective that comes at a given time may come with a notify: what is first is not told. */
static bool is_simple(const struct group_system *system, const struct group_program *program) {
  const struct group_stream *with = NULL;
  for (uint32_t s = 0; s < program->stream_count; s++) {
    const struct group_stream *stream = &program->streams[s];
    if (!has_collectives(stream))
      continue;
    if (with)
      return false;
    with = stream;
    for (uint32_t i = 0; i < stream->count; i++)
      if (stream->ops[i].kind == GROUP_COLLECTIVE && stream->ops[i].earliest_ps > 0)
        return false;
  }
  for (uint32_t s = 0; with && s < program->stream_count; s++)
    if (&program->streams[s] != with && !is_beside(system, &program->streams[s]))
      return false;
  return with != NULL;
}

bool fold_begin(struct group_sim *sim) {
  const struct group_job *job = sim->job;
  struct folds *folds = calloc(1, sizeof *folds);
  sim->folds = folds;
  if (!folds)
    return false;
  folds->forms = calloc(sim->group_count + 1, sizeof(struct form *));
  folds->simple = calloc(job->ranks, sizeof *folds->simple);
  folds->times = calloc(2 * (size_t)job->ranks, sizeof *folds->times);
  folds->planes = calloc(2 * (size_t)job->ranks, PART_RANKS_MAX);
  folds->parts = fold_parts_new();
  if (!folds->forms || !folds->simple || !folds->times || !folds->planes || !folds->parts)
    return false;
  for (uint32_t i = 0; i < job->ranks; i++)
    folds->simple[i] = i > 0 && job->programs[i] == job->programs[i - 1]
                           ? folds->simple[i - 1]
                           : is_simple(job->system, job->programs[i]);
  return true;
}

void fold_end(struct group_sim *sim) {
  struct folds *folds = sim->folds;
  if (!folds)
    return;
  for (uint32_t i = 0; folds->forms && i < sim->group_count; i++)
    for (struct form *next; folds->forms[i]; folds->forms[i] = next) {
      next = folds->forms[i]->next;
      free(folds->forms[i]->turns.turns);
      free(folds->forms[i]->devices);
      free(folds->forms[i]);
    }
  free(folds->forms);
  free(folds->simple);
  free(folds->times);
  free(folds->planes);
  fold_parts_free(folds->parts);
  free(folds);
}

/* ---- forms ------------------------------------------------------------------------------------
 */

/* The level at which all devices of a group are apart; GROUP_LEVELS_MAX: at several. */
static uint32_t level_of(const struct group_job *job, const struct group_ranks *group) {
  uint32_t level = GROUP_LEVELS_MAX;
  for (uint32_t i = 0; i < group->count; i++)
    for (uint32_t k = 0; k < i; k++) {
      uint32_t here = group_level_of(job->system, group_device_of(job, group->ranks[i]),
                                     group_device_of(job, group->ranks[k]));
      if (level != GROUP_LEVELS_MAX && here != level)
        return GROUP_LEVELS_MAX;
      level = here;
    }
  return level;
}

/* No rank ends such a collective before all have come. */
static bool waits_for_all(enum collective_op op) {
  return op == COLLECTIVE_ALL_REDUCE || op == COLLECTIVE_REDUCE_SCATTER ||
         op == COLLECTIVE_ALL_GATHER || op == COLLECTIVE_ALL_TO_ALL || op == COLLECTIVE_BARRIER;
}

/* ---- ranks that do the same
 * ---------------------------------------------------------------------- */

/* Whether a step of a rank is that of its stand-in, `shift` members before: as far away, too. */
static bool is_alike(const struct group_job *job, const struct group_ranks *group,
                     const struct group_step *step, uint32_t rank, const struct group_step *like,
                     uint32_t shift) {
  uint32_t count = group->count;
  if (step->kind != like->kind || step->bytes != like->bytes || step->adds != like->adds ||
      step->alone != like->alone || step->fresh != like->fresh ||
      (step->to == STEP_NOBODY) != (like->to == STEP_NOBODY) ||
      (step->from == STEP_NOBODY) != (like->from == STEP_NOBODY))
    return false;
  if (step->kind != STEP_EXCHANGE)
    return true;
  if ((step->from != STEP_NOBODY && step->from != (like->from + shift) % count) ||
      (step->to != STEP_NOBODY && step->to != (like->to + shift) % count))
    return false;
#define DEVICE(member) group_device_of(job, group->ranks[member])
  return step->to == STEP_NOBODY ||
         group_level_of(job->system, DEVICE(rank), DEVICE(step->to)) ==
             group_level_of(job->system, DEVICE(rank - shift), DEVICE(like->to));
#undef DEVICE
}

static bool can_stand_in(const struct group_job *job, const struct group_ranks *group,
                         const struct collective_call *call, uint32_t stand_ins) {
  uint32_t planes = call->algorithm->planes(call);
  for (uint32_t rank = group->count; rank-- > stand_ins;)
    for (uint32_t plane = 0; plane < planes; plane++) {
      struct group_step step = {.kind = STEP_NOTHING};
      for (uint32_t index = 0; step.kind != STEP_END; index++) {
        uint32_t shift = rank - rank % stand_ins;
        struct group_step like = call->algorithm->step(call, rank - shift, plane, index);
        step = call->algorithm->step(call, rank, plane, index);
        if (!is_alike(job, group, &step, rank, &like, shift))
          return false;
      }
    }
  return true;
}

/* One rank for all, those of one server, or of what a level above joins; 0: none. */
static uint32_t stand_ins_of(const struct group_job *job, const struct group_ranks *group,
                             const struct collective_call *call) {
  for (uint32_t level = 0; level < job->system->level_count; level++) {
    uint32_t stand_ins = level ? job->system->levels[level - 1].devices : 1;
    if (stand_ins < group->count && group->count % stand_ins == 0 &&
        can_stand_in(job, group, call, stand_ins))
      return stand_ins;
  }
  return 0;
}

static enum form_kind kind_of(const struct group_job *job, struct form *form) {
  const struct collective_call *call = &form->call;
  uint32_t planes = call->algorithm->planes(call);
  if (collective_has_levels(call->algorithm) && call->inner > 1 && call->inner <= PART_RANKS_MAX)
    return FORM_LEVELS;
  if (planes == 1)
    return FORM_TURNS;
  form->level =
      form->group->count <= PART_RANKS_MAX ? level_of(job, form->group) : GROUP_LEVELS_MAX;
  form->stand_ins = stand_ins_of(job, form->group, call);
  return form->stand_ins ? FORM_ALIKE : form->level < GROUP_LEVELS_MAX ? FORM_BLOCK : FORM_NONE;
}

static bool equal(const struct collective_call *a, const struct collective_call *b) {
  return a->op == b->op && a->algorithm == b->algorithm && a->bytes == b->bytes &&
         a->root == b->root;
}

static void drop_turns(struct group_sim *sim) {
  for (uint32_t i = 0; i < sim->group_count; i++)
    for (struct form *form = sim->folds->forms[i]; form; form = form->next) {
      free(form->turns.turns);
      form->turns = (struct fold_turns){0};
      form->has_turns = false;
    }
  sim->folds->turns_bytes = 0;
}

/* Turns that are used again are kept, as long as there is room. */
static bool need_turns(struct group_sim *sim, struct form *form) {
  if (form->has_turns)
    return true;
  if (sim->folds->turns_bytes > TURNS_BYTES_MAX)
    drop_turns(sim);
  if (!fold_turns_make(sim->job, form->group, &form->call, &form->turns))
    return false;
  form->has_turns = true;
  sim->folds->turns_bytes +=
      (size_t)form->turns.count * form->turns.ranks * sizeof *form->turns.turns;
  return true;
}

static bool take_devices(const struct group_job *job, struct form *form) {
  form->devices = calloc(form->group->count, sizeof *form->devices);
  for (uint32_t i = 0; form->devices && i < form->group->count; i++)
    form->devices[i] = group_device_of(job, form->group->ranks[i]);
  return form->devices != NULL;
}

/* The form of a call of a group; NULL when memory is short. */
static struct form *form_of(struct group_sim *sim, const struct instance *instance,
                            const struct collective_call *call) {
  struct form **at = &sim->folds->forms[instance->group_number];
  for (; *at; at = &(*at)->next)
    if (equal(&(*at)->call, call))
      return *at;
  struct form *form = calloc(1, sizeof *form);
  if (!form)
    return NULL;
  form->group = instance->group;
  form->call = *call;
  form->kind = kind_of(sim->job, form);
  if (form->kind == FORM_ALIKE && !take_devices(sim->job, form)) {
    free(form);
    return NULL;
  }
  if (form->kind == FORM_TURNS || form->kind == FORM_LEVELS) {
    if (!need_turns(sim, form)) {
      free(form);
      return NULL;
    }
    if (form->turns.count == 0)
      form->kind = FORM_NONE;
  }
  *at = form;
  return form;
}

bool fold_takes(struct group_sim *sim, const struct instance *instance) {
  const struct collective_call *call = &instance->call;
  if (!sim->folds || call->ranks < FOLD_RANKS_MIN || call->counts || !waits_for_all(call->op) ||
      sim->job->system->notify_ps == 0)
    return false;
  for (uint32_t i = 0; i < call->ranks; i++)
    if (!sim->folds->simple[sim_device(instance, i)])
      return false;
  for (uint64_t chunk = 0; chunk < instance->chunks; chunk += max_u64(instance->chunks - 1, 1)) {
    struct collective_call part = sim_chunk_call(instance, chunk);
    const struct form *form = form_of(sim, instance, &part);
    if (!form || form->kind == FORM_NONE)
      return false;
  }
  return true;
}

/* ---- parts one after the other ------------------------------------------------------------------
 */

/* The ranks of each server by themselves. `begin` and `ended`: orders of planes, or NULL. */
static bool run_servers(struct group_sim *sim, const struct collective_call *call,
                        enum collective_op op, struct fold_ranks *ranks, const unsigned char *begin,
                        unsigned char *ended) {
  struct collective_call within = collective_within(call, op);
  struct fold_where where = {0};
  for (uint32_t first = 0; first < ranks->count; first += call->inner) {
    struct fold_ranks server = {&ranks->at_ps[first], &ranks->free_ps[first], call->inner};
    size_t planes = (size_t)first * call->inner;
    if (!fold_part_run(sim->folds->parts, sim->job->system, &where, &within, &server,
                       begin ? begin + planes : NULL, ended ? ended + planes : NULL))
      return false;
  }
  return true;
}

/* Planes that wait for plane 0 go on behind it, the last that has come first (run_planes.c). */
static void turn_planes(const unsigned char *ended, unsigned char *begin, uint32_t ranks,
                        uint32_t planes) {
  for (uint32_t rank = 0; rank < ranks; rank++, begin += planes) {
    uint32_t at = 0;
    begin[at++] = 0;
    for (uint32_t i = planes; i-- > 0;) {
      unsigned char plane = ended ? ended[(size_t)rank * planes + i] : (unsigned char)i;
      if (plane != 0)
        begin[at++] = plane;
    }
  }
}

static bool run_levels(struct group_sim *sim, struct form *form, struct fold_ranks *ranks) {
  const struct collective_call *call = &form->call;
  unsigned char *ended = sim->folds->planes, *begin = ended + (size_t)ranks->count * call->inner;
  bool reduces = call->op != COLLECTIVE_ALL_GATHER, gathers = call->op != COLLECTIVE_REDUCE_SCATTER;
  if (reduces && !run_servers(sim, call, COLLECTIVE_REDUCE_SCATTER, ranks, NULL, ended))
    return false;
  if (!need_turns(sim, form) || !fold_turns_run(&form->turns, sim->job->system, ranks))
    return false;
  turn_planes(reduces ? ended : NULL, begin, ranks->count, call->inner);
  return !gathers || run_servers(sim, call, COLLECTIVE_ALL_GATHER, ranks, begin, NULL);
}

/* Whether ranks come as those that stand for them. */
static bool come_alike(const struct form *form, const struct fold_ranks *ranks) {
  for (uint32_t i = form->stand_ins; i < ranks->count; i++) {
    uint32_t like = i % form->stand_ins;
    if (ranks->at_ps[i] != ranks->at_ps[like] ||
        max_u64(ranks->free_ps[i], ranks->at_ps[i]) !=
            max_u64(ranks->free_ps[like], ranks->at_ps[like]))
      return false;
  }
  return true;
}

/* All steps of this call alone. */
static bool run_steps(struct group_sim *sim, const struct form *form, struct fold_ranks *ranks) {
  uint32_t *devices = calloc(ranks->count, sizeof *devices);
  if (!devices)
    return false;
  for (uint32_t i = 0; i < ranks->count; i++)
    devices[i] = group_device_of(sim->job, form->group->ranks[i]);
  bool done = fold_part_run_on(sim->job->system, devices, &form->call, ranks);
  free(devices);
  return done;
}

static bool run_form(struct group_sim *sim, struct form *form, struct fold_ranks *ranks) {
  form->uses++;
  if (form->kind == FORM_ALIKE && come_alike(form, ranks))
    return fold_part_run(
        sim->folds->parts, sim->job->system,
        &(struct fold_where){.devices = form->devices, .stand_ins = form->stand_ins}, &form->call,
        ranks, NULL, NULL);
  if (form->kind == FORM_ALIKE && form->level == GROUP_LEVELS_MAX)
    return run_steps(sim, form, ranks);
  if (form->kind == FORM_BLOCK || form->kind == FORM_ALIKE)
    return fold_part_run(sim->folds->parts, sim->job->system,
                         &(struct fold_where){.level = form->level}, &form->call, ranks, NULL,
                         NULL);
  if (form->kind == FORM_TURNS)
    return need_turns(sim, form) && fold_turns_run(&form->turns, sim->job->system, ranks);
  return run_levels(sim, form, ranks);
}

/* The ends of a chunk of all members from their begins. */
static bool run_chunk(struct group_sim *sim, struct instance *instance, uint64_t chunk,
                      struct fold_ranks *ranks) {
  struct collective_call call = sim_chunk_call(instance, chunk);
  struct form *form = form_of(sim, instance, &call);
  uint32_t count = ranks->count;
  size_t bytes = count * sizeof *ranks->at_ps;
  uint64_t *kept = malloc(2 * bytes);
  bool done = false;
  if (form && kept) {
    memcpy(kept, ranks->at_ps, bytes);
    memcpy(kept + count, ranks->free_ps, bytes);
    done = run_form(sim, form, ranks);
    if (!done) {
      memcpy(ranks->at_ps, kept, bytes);
      memcpy(ranks->free_ps, kept + count, bytes);
      done = run_steps(sim, form, ranks);
    }
  }
  free(kept);
  return done;
}

static void run_all_chunks(struct group_sim *sim, struct instance *instance) {
  uint32_t count = instance->call.ranks;
  struct fold_ranks ranks = {sim->folds->times, sim->folds->times + count, count};
  for (uint32_t i = 0; i < count; i++) {
    ranks.at_ps[i] = instance->members[i].came_ps;
    ranks.free_ps[i] = sim->ranks[sim_device(instance, i)].issue_free_ps;
  }
  for (uint64_t chunk = 0; chunk < instance->chunks; chunk++)
    if (!run_chunk(sim, instance, chunk, &ranks)) {
      sim_fail(sim, VINCI_E_NOMEM, "out of memory");
      return;
    }
  sim->folds->folded++;
  for (uint32_t i = 0; i < count; i++) {
    sim->ranks[sim_device(instance, i)].issue_free_ps = ranks.free_ps[i];
    sim_note(sim, (struct due){.time_ps = ranks.at_ps[i],
                               .kind = MOMENT_FOLDED,
                               .whose = due_whose(sim_device(instance, i), 0),
                               .who = i,
                               .instance = (uintptr_t)instance});
  }
}

void fold_came(struct group_sim *sim, struct instance *instance, uint32_t member) {
  instance->members[member].came_ps = sim->now_ps;
  if (instance->come == instance->call.ranks)
    run_all_chunks(sim, instance);
}

/* ---- what was moved -----------------------------------------------------------------------------
 */

static void count_step(struct group_sim *sim, const struct form *form, uint32_t rank,
                       const struct group_step *step) {
  const struct group_job *job = sim->job;
  if (step->kind != STEP_EXCHANGE || step->to == STEP_NOBODY)
    return;
  enum group_use use = step->alone ? GROUP_SEND : step->adds ? GROUP_REDUCE : GROUP_COPY;
  struct group_path path =
      group_path_of(job->system, group_device_of(job, form->group->ranks[rank]),
                    group_device_of(job, form->group->ranks[step->to]), use);
  sim->transfers += form->uses;
  sim->transfer_bytes += step->bytes * form->uses;
  for (uint32_t i = 0; i < path.limit_count; i++)
    flow_count(sim->flows, path.limits[i], step->bytes * form->uses);
}

static void count_form(struct group_sim *sim, const struct form *form) {
  const struct collective_call *call = &form->call;
  uint32_t planes = call->algorithm->planes(call);
  for (uint32_t rank = 0; form->uses && rank < call->ranks; rank++)
    for (uint32_t plane = 0; plane < planes; plane++) {
      struct group_step step = call->algorithm->step(call, rank, plane, 0);
      for (uint32_t index = 1; step.kind != STEP_END; index++) {
        count_step(sim, form, rank, &step);
        step = call->algorithm->step(call, rank, plane, index);
      }
    }
}

uint64_t fold_count(struct group_sim *sim) {
  if (!sim->folds)
    return 0;
  for (uint32_t i = 0; i < sim->group_count; i++)
    for (const struct form *form = sim->folds->forms[i]; form; form = form->next)
      count_form(sim, form);
  return sim->folds->folded;
}
