/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the cores of a run were at which time: bytes to and from GM that transfers have been
 * started for. The same program does the same work in both models of memory, so the pace of a run
 * with flat memory and that of the first part of a run in cycle memory compare core by core, each
 * at the start of its last transfer. core/sim/auto.c makes one duration of both.
 */
#ifndef VINCI_CORE_SIM_PACE_H
#define VINCI_CORE_SIM_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"

/* Time by work at equal steps of work; two steps become one when their number is used up. */
enum { PACE_MARKS = 128 };
struct pace_curve {
  uint64_t work_bytes; /* so far */
  uint64_t last_ps;    /* of the last work */
  uint64_t step_bytes;
  uint32_t count;
  uint64_t time_ps[PACE_MARKS]; /* when (index + 1) steps were started */
};

/* Where the run in cycle memory is looked at: its work in equal steps, which double when there are
 * too many of them. */
enum { PACE_LOOKS = 128 };
struct pace_core {
  uint64_t bytes, last_ps;
};
struct pace_look {
  uint64_t bytes, time_ps; /* of all cores */
  struct pace_core *cores;
};

/* The paces of a run in cycle memory and of one in flat memory, whose work has to be all there
 * before anything is said. */
struct pace {
  uint32_t core_count;
  struct pace_curve *flat;
  uint64_t flat_bytes, flat_last_ps; /* of all cores */
  uint64_t flat_ps;                  /* end of that run */
  uint64_t settled_bytes;            /* work by which L2 has got full, 0: it does not */
  struct pace_core *cycle;           /* so far */
  uint64_t cycle_bytes;
  struct pace_look *looks; /* the first is the start */
  uint32_t look;           /* the last of them */
  uint64_t look_bytes;     /* from one to the next */
  uint32_t judged;         /* eighths of the work at the last estimate */
  uint64_t estimate_ps, bar_ppm;
};

/* False when memory is short. `look_bytes`: from one look to the next, until there are too many. */
bool pace_create(struct pace *pace, struct arena *arena, uint32_t cores, uint64_t look_bytes);
/* A transfer of the flat run starts. */
void pace_note_flat(struct pace *pace, uint32_t core, uint64_t bytes, uint64_t now_ps);
/* The same of the run in cycle memory; true when that run has come to another look. */
bool pace_note_cycle(struct pace *pace, uint32_t core, uint64_t bytes, uint64_t now_ps);
/*
 * Once the flat run has done as much as the run in cycle memory has: whether no estimate will come
 * within a bar, should the ratio of both stay what it is and its drift become less.
 */
bool pace_is_far(const struct pace *pace, uint64_t limit_ppm);
/*
 * The duration in cycle memory by what both runs have shown up to the last look, and how far the
 * truth may be away, in millionths of it; into estimate_ps and bar_ppm. False: another eighth of
 * the work is not done yet, or the rest is cheaper than an estimate is worth.
 */
bool pace_estimate(struct pace *pace);

#endif
