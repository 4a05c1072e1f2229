/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded instructions in the order in which a core recorded them: as an array, or packed. Of a
 * loop most fields of an instruction are those of the turn before: a packed one has what differs,
 * about 9 bytes instead of 80. Reports read packed ones; timelines and Lua need the array.
 */
#ifndef VINCI_CORE_RESULT_EVENTS_H
#define VINCI_CORE_RESULT_EVENTS_H

#include "core/result/result.h"

enum { EVENT_PACKED_MAX = 96, EVENT_SLOTS = 64 };

/* What both sides know: the last event of some lines, and the start of the last of all. */
struct event_past {
  struct result_event slot[EVENT_SLOTS];
  uint64_t start_cycle;
};

/* The packed events of a core. */
struct event_log {
  uint8_t *bytes; /* EVENT_PACKED_MAX for each that may come, touched only as far as they fill */
  size_t size;
  uint64_t count;
  uint64_t latest_end;   /* of those that are packed, before the cut */
  uint32_t highest_line; /* of the same */
  struct event_past past;
  struct result_event last; /* is still being written */
  uint64_t cut_cycle;       /* what lies behind is as though it were there */
};

/* A place for one more; the one before is packed. */
struct result_event *event_log_add(struct event_log *log);
/* Packs the last one; none comes behind. */
void event_log_end(struct event_log *log, uint64_t cut_cycle);

/* Events of a result, of one core or, with core_count, of all: {.result = .., .core = ..}. */
struct event_walk {
  const struct vinci_result *result;
  uint32_t core;
  uint64_t index; /* in the array, or of the event in its log */
  uint32_t log;
  size_t at;
  struct event_past past;
  struct result_event event;
};
/* The next one, valid until the next call; NULL at the end. */
const struct result_event *event_walk_next(struct event_walk *walk);
/* Flags, barriers and signals last as long as what they wait for, and do no work. */
bool event_only_waits(const struct result_event *event);
/* How many were recorded; and of one core. */
uint64_t event_total(const struct vinci_result *result);
size_t event_count_of(const struct vinci_result *result, uint32_t core);

#endif
