/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run would take if some of its cycles fell away: the recorded instructions of one core, and
 * of the cores that work with it on a block, go through their queues again, in order, behind their
 * flags and barriers. So the next limit shows: the pipe that others then wait for. A replay takes
 * a small part of the time of a simulation, and is an estimate: contention with other cores stays
 * as it was.
 */
#ifndef VINCI_CORE_RESULT_REPLAY_H
#define VINCI_CORE_RESULT_REPLAY_H

#include "core/result/result.h"

struct replay;

/* What falls away. */
struct replay_change {
  uint8_t saved[CAUSE_COUNT][CAUSE_MEMBERS]; /* of the cycles of a cause, in per cent */
  bool no_barriers;                          /* pipes do not drain for pipe_barrier */
};

struct replay_outcome {
  int64_t saved_cycles;    /* of the run, in cycles of the core clock */
  enum pipe busiest;       /* of the core, with the change */
  uint64_t busiest_cycles; /* that this pipe is then busy */
};

/* Of the core with this index; NULL without recorded instructions, or memory. */
struct replay *replay_open(const struct vinci_result *result, uint32_t core);
void replay_run(struct replay *replay, const struct replay_change *change,
                struct replay_outcome *out);
void replay_close(struct replay *replay);

#endif
