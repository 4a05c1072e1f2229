/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded instructions as items of a replay: when each was issued, what it waited for, and how
 * long it lasted. Internal to the replay.
 */
#ifndef VINCI_CORE_RESULT_REPLAY_ITEMS_H
#define VINCI_CORE_RESULT_REPLAY_ITEMS_H

#include "core/result/replay.h"

enum { NONE = -1, CORES_MAX = 8 /* that share a block */ };

struct replay_item {
  const struct result_event *event;
  uint64_t issue; /* by the scalar unit; its own instructions: their start */
  uint64_t gap;   /* scalar time since the item before */
  uint64_t lag;   /* from the end of what it waits for */
  uint64_t rest;  /* after_all: from the end of everything before */
  int32_t lane_next;
  int32_t work_before;  /* of its pipe, flags and barriers left out */
  int32_t room;         /* the item that made room in the queue */
  int32_t gate;         /* the item that it waits for: a flag's set, a signal, a unit flag */
  uint32_t busy_cycles; /* that it brought to its pipe */
  uint32_t distance;    /* from its start to that of the next of a unit */
  uint32_t overlap;     /* with copies before */
  bool after_all;       /* was issued when the core had drained */
  bool issued, done;    /* in the present replay */
  uint64_t issue_at, start_at, end_at, leaves_at;
};

/* Of one core. */
struct replay_side {
  uint32_t core;
  int32_t first, count; /* of the items, in the order of issue */
  int32_t lane_first[PIPE_COUNT];
  int32_t lane_last[PIPE_COUNT];
  /* the present replay: */
  int32_t next;             /* that the scalar unit issues */
  int32_t lane[PIPE_COUNT]; /* that the pipe starts */
  int32_t ended;            /* items that are done */
  uint64_t scalar, last_end;
  uint64_t leaves[PIPE_COUNT], free[PIPE_COUNT], complete[PIPE_COUNT];
  uint64_t busy_saved[PIPE_COUNT];
};

struct replay {
  const struct vinci_result *result;
  uint32_t core;
  struct replay_side side[CORES_MAX];
  unsigned sides;
  struct replay_item *items;
  struct result_event *events; /* of the items */
  uint64_t plain_end;          /* of a replay without a change */
};

/* Fills items, events and sides from the recorded instructions; false without any, or memory. */
bool replay_take_items(struct replay *replay);

#endif
