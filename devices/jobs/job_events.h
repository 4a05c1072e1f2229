/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a program of a job, found by name in constant time. */
#ifndef VINCI_DEVICES_JOBS_JOB_EVENTS_H
#define VINCI_DEVICES_JOBS_JOB_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/lookup.h"

struct job_event {
  struct job_event *next; /* made before */
  const char *name;
  uint32_t number; /* in the order in which they were made */
  bool recorded;
  unsigned long waited_line; /* of the first wait; 0: none */
};

/* All zero: no event. The memory is that of the arena. */
struct job_events {
  struct job_event *last; /* made; the list of all */
  struct lookup table;
  uint32_t count;
};

/* The event of a name, made where there is none. NULL: out of memory. */
struct job_event *job_event_of(struct job_events *events, struct arena *arena, const char *name);

#endif
