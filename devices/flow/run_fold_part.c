/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of collectives by themselves: a job of the ranks of the part, each of which comes to the
 * call at its time. What has been simulated is remembered by the call, the devices, the times less
 * the first, and the orders of planes; that is all that the run depends on.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "devices/flow/run_state.h"

enum { SLOTS_FIRST = 64, HEAD_WORDS = 8, BYTES_MAX = 256 << 20 };

struct known {
  uint64_t hash, *words; /* the question, then times of the answer, then its planes */
  size_t question;
};

struct fold_parts {
  struct known *slots; /* a power of two of them, or none */
  size_t count, capacity, bytes;
  uint64_t *words; /* of the question that is asked */
  size_t room;
};

struct fold_parts *fold_parts_new(void) {
  return calloc(1, sizeof(struct fold_parts));
}

static void forget(struct fold_parts *parts) {
  for (size_t i = 0; i < parts->capacity; i++)
    free(parts->slots[i].words);
  free(parts->slots);
  parts->slots = NULL;
  parts->count = parts->capacity = parts->bytes = 0;
}

void fold_parts_free(struct fold_parts *parts) {
  if (!parts)
    return;
  forget(parts);
  free(parts->words);
  free(parts);
}

/* ---- the run ----------------------------------------------------------------------------------
 */

uint32_t fold_plane_at(const struct fold_part *part, uint32_t member, uint32_t place) {
  return part->begin ? part->begin[(size_t)member * part->planes + place] : place;
}

void fold_plane_ended(struct fold_part *part, uint32_t member, uint32_t plane) {
  if (part->ended)
    part->ended[(size_t)member * part->planes + part->ended_counts[member]++] =
        (unsigned char)plane;
}

/* What a run needs, by rank. */
struct bench {
  struct group_op *ops; /* two for each: until it comes, the call */
  struct group_stream *streams;
  struct group_program *programs;
  const struct group_program **by_rank;
  uint32_t *numbers, *ended_counts;
  uint32_t count;
  uint64_t *at_ps;
};

static void note_end(void *context, const struct group_moment *moment) {
  struct bench *bench = context;
  if (moment->op->kind != GROUP_COLLECTIVE)
    return;
  bench->at_ps[moment->rank] = moment->end_ps;
  bench->count++;
}

static bool take_room(struct bench *bench, uint32_t count) {
  bench->ops = calloc(2 * (size_t)count, sizeof *bench->ops);
  bench->streams = calloc(count, sizeof *bench->streams);
  bench->programs = calloc(count, sizeof *bench->programs);
  bench->by_rank = calloc(count, sizeof *bench->by_rank);
  bench->numbers = calloc(2 * (size_t)count, sizeof *bench->numbers);
  bench->at_ps = calloc(count, sizeof *bench->at_ps);
  if (!bench->ops || !bench->streams || !bench->programs || !bench->by_rank || !bench->numbers ||
      !bench->at_ps)
    return false;
  bench->ended_counts = bench->numbers + count;
  return true;
}

static void leave_room(struct bench *bench) {
  free(bench->ops);
  free(bench->streams);
  free(bench->programs);
  free(bench->by_rank);
  free(bench->numbers);
  free(bench->at_ps);
}

/* Until it comes, and the call; no stream of a rank for which another stands. */
static void set_program(struct bench *bench, uint32_t rank, bool comes, uint64_t wait_ps,
                        const struct collective_call *call) {
  struct group_op *ops = &bench->ops[2 * (size_t)rank];
  ops[0] = (struct group_op){.kind = GROUP_HOST, .name = "", .duration_ps = wait_ps};
  ops[1] = (struct group_op){.kind = GROUP_COLLECTIVE, .name = "", .call = *call};
  bench->streams[rank] = (struct group_stream){ops, 2};
  bench->programs[rank] = (struct group_program){&bench->streams[rank], comes, 0};
  bench->by_rank[rank] = &bench->programs[rank];
  bench->numbers[rank] = rank;
}

static uint64_t first_ps(const struct fold_ranks *ranks) {
  uint64_t first = ranks->at_ps[0];
  for (uint32_t i = 1; i < ranks->count; i++)
    first = min_u64(first, ranks->at_ps[i]);
  return first;
}

/* Ranks that are simulated: they stand for the others, or there are no others. */
static uint32_t simulated(const struct fold_where *where, const struct fold_ranks *ranks) {
  return where->stand_ins ? where->stand_ins : ranks->count;
}

/* Runs the ranks on the devices of `where`. */
static bool simulate(const struct group_system *system, const struct fold_where *where,
                     const struct collective_call *call, struct fold_ranks *ranks,
                     const unsigned char *begin, unsigned char *ended) {
  struct bench bench = {0};
  uint32_t count = ranks->count, stand_ins = simulated(where, ranks);
  uint64_t base_ps = first_ps(ranks);
  bool done = false;
  if (take_room(&bench, count)) {
    struct group_system whole = *system;
    struct group_ranks group = {bench.numbers, count};
    struct group_family family = {"", &group, 1};
    struct group_job job = {.system = &whole,
                            .programs = bench.by_rank,
                            .ranks = count,
                            .families = &family,
                            .family_count = 1,
                            .devices = where->devices};
    struct group_observer observer = {.context = &bench, .op_ended = note_end};
    struct vinci_diag diag = {0};
    struct fold_part part = {.begin = begin,
                             .ended = ended,
                             .ended_counts = bench.ended_counts,
                             .planes = call->algorithm->planes(call)};
    struct group_sim sim = {.job = &job,
                            .observer = &observer,
                            .diag = &diag,
                            .part = &part,
                            .stand_ins = where->stand_ins};
    whole.buffer_bytes = 0; /* the call is one of the chunks */
    for (uint32_t i = 0; i < count; i++)
      set_program(&bench, i, i < stand_ins, ranks->at_ps[i] - base_ps, call);
    sim_begin(&sim);
    for (uint32_t i = 0; sim.status == VINCI_OK && i < stand_ins; i++) {
      sim.ranks[i].issue_free_ps = ranks->free_ps[i] > base_ps ? ranks->free_ps[i] - base_ps : 0;
      sim_note_stream(&sim, i, 0);
    }
    sim_run(&sim);
    done = sim.status == VINCI_OK && bench.count == stand_ins;
    for (uint32_t i = 0; done && i < count; i++) {
      ranks->at_ps[i] = base_ps + bench.at_ps[i % stand_ins];
      ranks->free_ps[i] = base_ps + sim.ranks[i % stand_ins].issue_free_ps;
    }
    sim_end(&sim);
  }
  leave_room(&bench);
  return done;
}

bool fold_part_run_on(const struct group_system *system, const uint32_t *devices,
                      const struct collective_call *call, struct fold_ranks *ranks) {
  return simulate(system, &(struct fold_where){.devices = devices}, call, ranks, NULL, NULL);
}

/* The same devices of each server, or the first of each group of the level below. */
static bool simulate_apart(const struct group_system *system, uint32_t level,
                           const struct collective_call *call, struct fold_ranks *ranks,
                           const unsigned char *begin, unsigned char *ended) {
  struct group_system part = *system;
  uint32_t each = level ? system->levels[level - 1].devices : 1;
  uint32_t *devices = calloc(ranks->count, sizeof *devices);
  if (!devices)
    return false;
  for (uint32_t i = 0; i < ranks->count; i++)
    devices[i] = i * each;
  part.devices = ranks->count * each;
  part.level_count = level + 1; /* none is further apart */
  bool done = simulate(&part, &(struct fold_where){.devices = devices}, call, ranks, begin, ended);
  free(devices);
  return done;
}

/* ---- what is known ----------------------------------------------------------------------------
 */

/* The question in words; 0 when memory is short. */
static size_t ask(struct fold_parts *parts, const struct fold_where *where,
                  const struct collective_call *call, const struct fold_ranks *ranks,
                  const unsigned char *begin, bool ended) {
  uint32_t count = simulated(where, ranks),
           planes = begin ? count * call->algorithm->planes(call) : 0;
  size_t needed = HEAD_WORDS + 2 * (size_t)count + (planes + 7) / 8;
  if (needed > parts->room) {
    uint64_t *words = realloc(parts->words, 2 * needed * sizeof *words);
    if (!words)
      return 0;
    parts->words = words;
    parts->room = 2 * needed;
  }
  uint64_t *word = parts->words, base_ps = first_ps(ranks);
  *word++ = (uint64_t)where->level << 32 | count;
  *word++ = (uintptr_t)where->devices;
  *word++ = call->bytes;
  *word++ = (uintptr_t)call->algorithm;
  *word++ = (uint64_t)call->op << 32 | call->root;
  *word++ = (uint64_t)call->inner << 32 | call->ranks;
  *word++ = (uint64_t)call->resident << 2 | (begin ? 2u : 0u) | ended;
  *word++ = call->slice_bytes;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t at_ps = ranks->at_ps[i], free_ps = ranks->free_ps[i];
    *word++ = at_ps - base_ps;
    *word++ = free_ps > at_ps ? free_ps - at_ps : 0;
  }
  if (planes) {
    parts->words[needed - 1] = 0;
    memcpy(word, begin, planes);
  }
  return needed;
}

static uint64_t hash_of(const uint64_t *words, size_t count) {
  uint64_t hash = count;
  for (size_t i = 0; i < count; i++) {
    hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return hash | 1; /* 0: a free slot */
}

/* The slot of a question, or the free one where that belongs; there is a free slot. */
static struct known *find(const struct fold_parts *parts, uint64_t hash, const uint64_t *words,
                          size_t count) {
  size_t at = hash & (parts->capacity - 1);
  for (; parts->slots[at].hash; at = (at + 1) & (parts->capacity - 1))
    if (parts->slots[at].hash == hash && parts->slots[at].question == count &&
        memcmp(parts->slots[at].words, words, count * sizeof *words) == 0)
      break;
  return &parts->slots[at];
}

/* Half of the slots stay free. */
static bool grow(struct fold_parts *parts) {
  struct fold_parts larger = *parts;
  if (2 * (parts->count + 1) <= parts->capacity)
    return true;
  larger.capacity = parts->capacity ? 2 * parts->capacity : SLOTS_FIRST;
  larger.slots = calloc(larger.capacity, sizeof *larger.slots);
  if (!larger.slots)
    return false;
  for (size_t i = 0; i < parts->capacity; i++) {
    const struct known *known = &parts->slots[i];
    if (known->hash)
      *find(&larger, known->hash, known->words, known->question) = *known;
  }
  free(parts->slots);
  *parts = larger;
  return true;
}

/* The answer stands behind the question: of each rank its end, and when its device issues again;
 * then planes. */
static void recall(const struct known *known, struct fold_ranks *ranks, uint64_t base_ps,
                   unsigned char *ended, size_t planes) {
  const uint64_t *word = known->words + known->question;
  for (uint32_t i = 0; i < ranks->count; i++) {
    ranks->at_ps[i] = base_ps + *word++;
    ranks->free_ps[i] = base_ps + *word++;
  }
  if (ended)
    memcpy(ended, word, planes);
}

static bool keep(struct fold_parts *parts, uint64_t hash, size_t question,
                 const struct fold_ranks *ranks, uint64_t base_ps, const unsigned char *ended,
                 size_t planes) {
  size_t words = question + 2 * (size_t)ranks->count + (planes + 7) / 8;
  if (parts->bytes > BYTES_MAX)
    forget(parts);
  if (!grow(parts))
    return false;
  struct known known = {.hash = hash, .question = question};
  known.words = malloc(words * sizeof *known.words);
  if (!known.words)
    return false;
  memcpy(known.words, parts->words, question * sizeof *known.words);
  uint64_t *word = known.words + question;
  for (uint32_t i = 0; i < ranks->count; i++) {
    *word++ = ranks->at_ps[i] - base_ps;
    *word++ = ranks->free_ps[i] - base_ps;
  }
  if (ended)
    memcpy(word, ended, planes);
  *find(parts, hash, known.words, question) = known;
  parts->count++;
  parts->bytes += words * sizeof *known.words;
  return true;
}

bool fold_part_run(struct fold_parts *parts, const struct group_system *system,
                   const struct fold_where *where, const struct collective_call *call,
                   struct fold_ranks *ranks, const unsigned char *begin, unsigned char *ended) {
  uint64_t base_ps = first_ps(ranks);
  size_t planes = ended ? (size_t)ranks->count * call->algorithm->planes(call) : 0;
  size_t question = ask(parts, where, call, ranks, begin, ended != NULL);
  if (question == 0)
    return false;
  uint64_t hash = hash_of(parts->words, question);
  const struct known *known = parts->count ? find(parts, hash, parts->words, question) : NULL;
  if (known && known->hash) {
    recall(known, ranks, base_ps, ended, planes);
    return true;
  }
  bool done = where->devices ? simulate(system, where, call, ranks, begin, ended)
                             : simulate_apart(system, where->level, call, ranks, begin, ended);
  return done && keep(parts, hash, question, ranks, base_ps, ended, planes);
}
