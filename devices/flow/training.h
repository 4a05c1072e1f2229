/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long training whose units (devices or servers) fail at random: how long it takes, and what the
 * time is made of.
 *
 * Units at work fail independently, with exponential times between failures (assumed, as in Young,
 * CACM 17(9), 1974, and Daly, FGCS 22, 2006). A failure stops all units. It is noticed after
 * detect_ns; a spare takes the place of the unit, or the others wait for its repair, or go on as
 * fewer. Then all units restart from the last checkpoint, which may fail as well. What was done
 * since is done again.
 *
 * A checkpoint is taken after each interval of work and at the end. It keeps the units from work
 * for blocking_ns; from writing_ns later on, a restart can use what was written. Units work
 * meanwhile. A checkpoint is written before the next is due.
 *
 * A run is a pure function of settings and its number: its random numbers are those of a generator
 * whose start is made of both. All times are integers, so that runs have the same bits everywhere.
 *
 * Left out: units that fail while no unit works, storage that fails, steps that are cut in parts (a
 * failure may come, and an interval may end, within a step).
 */
#ifndef VINCI_DEVICES_FLOW_TRAINING_H
#define VINCI_DEVICES_FLOW_TRAINING_H

#include "core/base/arena.h"
#include "core/base/diag.h"

/* Numbers of a training, nanoseconds unless said otherwise: X(field, name, minimum, text). */
/* clang-format off */
#define GROUP_TRAINING_TIME_LIST(X)                                                              \
  X(work_ns,     "work",     1, "what all steps take on all units, without failures")             \
  X(interval_ns, "interval", 1, "work between two checkpoints")                                   \
  X(blocking_ns, "blocking", 0, "units stand still for a checkpoint")                             \
  X(writing_ns,  "writing",  0, "after that, until a restart can use the checkpoint")             \
  X(mtbf_ns,     "mtbf",     0, "mean time between failures of a unit; 0: nothing fails")         \
  X(detect_ns,   "detect",   0, "from a failure to its detection")                                \
  X(restart_ns,  "restart",  0, "from there to work")                                             \
  X(repair_ns,   "repair",   0, "from a failure until the unit is back, as a spare")
/* What the time of a run is made of; the sum is the time of the run: X(field, name, text). */
#define GROUP_TRAINING_PART_LIST(X)                                                              \
  X(work_ns,       "work",       "steps, each once, at the speed of all units")                   \
  X(slow_ns,       "slower",     "what these take more with fewer units")                         \
  X(checkpoint_ns, "checkpoint", "units stand still for checkpoints that were kept")              \
  X(lost_ns,       "lost",       "from a checkpoint to a failure")                                \
  X(detect_ns,     "detect",     "from failures to their detection")                              \
  X(wait_ns,       "wait",       "for repairs, without a spare")                                  \
  X(restart_ns,    "restart",    "restarts, those that failed as well")
/* clang-format on */

enum { TRAINING_UNITS_MAX = 1 << 20, TRAINING_RUNS_MAX = 1000000, TRAINING_FAILURES_MAX = 1000000 };
#define TRAINING_NS_MAX (UINT64_C(1) << 60) /* 36 years */

struct group_training {
#define X(field, name, minimum, text) uint64_t field;
  GROUP_TRAINING_TIME_LIST(X)
#undef X
  uint32_t units;  /* at work */
  uint32_t spares; /* that wait, and do not fail meanwhile */
  bool shrinks; /* without a spare, fewer units go on; all again at a checkpoint after a repair */
  uint64_t seed;
};

struct group_training_run {
#define X(field, name, text) uint64_t field;
  GROUP_TRAINING_PART_LIST(X)
#undef X
  uint64_t failures;
};

/* The time of a run. */
uint64_t group_training_time(const struct group_training_run *run);

/*
 * Simulates run `number`. `repairs` has room for units + spares times. Errors: VINCI_E_LIMIT when
 * the training does not end within TRAINING_NS_MAX or TRAINING_FAILURES_MAX failures.
 */
VINCI_MUST_CHECK enum vinci_status group_training_run(const struct group_training *training,
                                                      uint64_t number, uint64_t *repairs,
                                                      struct group_training_run *out,
                                                      struct vinci_diag *diag);

struct group_training_result {
  uint32_t runs;
  struct group_training_run mean; /* each part for itself, rounded down; failures: of all runs */
  uint64_t mean_ns;               /* of the time of a run, rounded down */
  uint64_t half_ns;               /* half of the 95 % confidence interval of the mean */
  uint64_t p5_ns, median_ns, p95_ns;
};

/*
 * Simulates runs 0 to runs - 1. checkpoint: NULL, or a file that holds what has been simulated: a
 * run that was killed goes on from there and gives the same results, and the same file. Errors: of
 * settings (VINCI_E_USAGE), of group_training_run(), of the file (VINCI_E_IO; VINCI_E_INPUT when it
 * belongs to other settings).
 */
VINCI_MUST_CHECK enum vinci_status group_train(const struct group_training *training, uint32_t runs,
                                               const char *checkpoint,
                                               struct group_training_result *out,
                                               struct vinci_diag *diag);

/* Young's interval, sqrt(2 x cost x mean time between failures of all units); 0: nothing fails. */
uint64_t group_training_young_ns(const struct group_training *training);

#endif
