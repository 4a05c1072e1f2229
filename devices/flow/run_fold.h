/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives whose ends are found without a simulation of each step. Internal to devices/flow.
 *
 * A rank that is in one collective at a time, and whose work no transfer slows, meets others in
 * collectives alone: when all ranks have come to one of which each waits for all, the times at
 * which they came decide everything. Such a collective is folded:
 *
 * - What ranks of one server do among each other is simulated by itself, once for all servers and
 * all collectives in which it is the same: the same call, and times that differ by the same for
 * all.
 * - Between servers each rank sends to one and receives from one at a time, over ports that are its
 *   own: these turns follow each other by sums of times.
 *
 * Both give the picosecond that the simulation of all steps gives (tests/devices/test_fold.c). Not
 * folded are jobs with faults or with an observer, ranks with collectives on two streams, and work
 * bound by memory beside collectives.
 */
#ifndef VINCI_DEVICES_FLOW_RUN_FOLD_H
#define VINCI_DEVICES_FLOW_RUN_FOLD_H

#include "devices/flow/run.h"

struct group_sim;
struct instance;
struct folds;

/* False when memory is short. */
bool fold_begin(struct group_sim *sim);
void fold_end(struct group_sim *sim);
/* Whether a collective that a first rank has come to is folded. */
bool fold_takes(struct group_sim *sim, const struct instance *instance);
/* A member has come; behind the last, the ends of all are due. */
void fold_came(struct group_sim *sim, struct instance *instance, uint32_t member);
/* Adds what folded collectives have moved to the counts of the run; returns how many there were. */
uint64_t fold_count(struct group_sim *sim);

/* ---- parts (run_fold_part.c)
 * --------------------------------------------------------------------- */

/*
 * Ranks in a part of a collective: `at_ps` when they begin that, and then when they have ended
 * that; `free_ps` when their device issues the next notify.
 */
struct fold_ranks {
  uint64_t *at_ps, *free_ps;
  uint32_t count;
};

/* The order of planes, of all ranks one after the other. */
struct fold_part {
  const unsigned char *begin; /* NULL: 0, 1 ... */
  unsigned char *ended;       /* NULL: nobody asks */
  uint32_t *ended_counts;     /* by rank */
  uint32_t planes;
};

uint32_t fold_plane_at(const struct fold_part *part, uint32_t member, uint32_t place);
void fold_plane_ended(struct fold_part *part, uint32_t member, uint32_t plane);

struct fold_parts;
struct fold_parts *fold_parts_new(void);
void fold_parts_free(struct fold_parts *parts);
/* Where the ranks of a part are. */
struct fold_where {
  uint32_t level;          /* without devices: each is that far from each other */
  const uint32_t *devices; /* these, which stay where they are in memory as long as the parts do */
  uint32_t stand_ins;      /* as of struct group_sim */
};

/*
 * Simulates a call among ranks. `begin` and `ended` as of struct fold_part; with `ended`, ranks
 * have ended when their plane 0 has, and else when all of their planes have. False when memory is
 * short.
 */
bool fold_part_run(struct fold_parts *parts, const struct group_system *system,
                   const struct fold_where *where, const struct collective_call *call,
                   struct fold_ranks *ranks, const unsigned char *begin, unsigned char *ended);
/* The same of any devices, which is not remembered. */
bool fold_part_run_on(const struct group_system *system, const uint32_t *devices,
                      const struct collective_call *call, struct fold_ranks *ranks);

/* ---- turns (run_fold_turns.c)
 * -------------------------------------------------------------------- */

struct fold_turn {
  enum step_kind kind;
  uint32_t to, from;             /* STEP_NOBODY: none */
  uint64_t latency_ps, takes_ps; /* of a transfer; takes_ps of a copy or sum too */
};

/* Of all ranks, turn by turn. */
struct fold_turns {
  struct fold_turn *turns;
  uint32_t count, ranks;
};

/*
 * The turns of a call whose steps between ranks (of collective_between(), or of its only plane) are
 * such that each transfer is of the same turn on both sides. No turns: they are not, or are too
 * many. False when memory is short.
 */
bool fold_turns_make(const struct group_job *job, const struct group_ranks *group,
                     const struct collective_call *call, struct fold_turns *out);
/*
 * Passes all turns. False when memory is short, and then nothing has changed.
 */
bool fold_turns_run(const struct fold_turns *turns, const struct group_system *system,
                    struct fold_ranks *ranks);

#endif
