/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a program of a job, found by name in constant time. */
#ifndef VINCI_DEVICES_JOBS_JOB_EVENTS_H
#define VINCI_DEVICES_JOBS_JOB_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"

struct job_event {
  struct job_event *next;   /* made before */
  struct job_event *beside; /* of the same bucket */
  const char *name;
  uint64_t hash;
  uint32_t number; /* in the order in which they were made */
  bool recorded;
  unsigned long waited_line; /* of the first wait; 0: none */
};

/* All zero: no event. The memory is that of the arena. */
struct job_events {
  struct job_event *last; /* made; the list of all */
  struct job_event **buckets;
  uint32_t count, bucket_count;
};

/* The event of a name, made where there is none. NULL: out of memory. */
struct job_event *job_event_of(struct job_events *events, struct arena *arena, const char *name);

#endif
