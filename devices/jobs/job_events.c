/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a program, in a table by a digest of the name. */
#include "devices/jobs/job_events.h"

#include <string.h>

#include "core/base/digest.h"

struct job_event *job_event_of(struct job_events *events, struct arena *arena, const char *name) {
  uint64_t hash = digest_string(DIGEST_SEED, name);
  size_t looked = 0;
  for (uintptr_t at; (at = lookup_next(&events->table, hash, &looked)) != LOOKUP_NONE;)
    if (strcmp(((struct job_event *)at)->name, name) == 0)
      return (struct job_event *)at;
  const char *kept = arena_strdup(arena, name);
  struct job_event *event = ARENA_NEW(arena, struct job_event);
  if (!event || !kept || !lookup_add(&events->table, arena, hash, (uintptr_t)event))
    return NULL;
  *event = (struct job_event){.next = events->last, .name = kept, .number = events->count++};
  events->last = event;
  return event;
}
