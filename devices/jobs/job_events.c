/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a program: buckets by a digest of the name, never more events than buckets. */
#include "devices/jobs/job_events.h"

#include <string.h>

#include "core/base/digest.h"

enum { BUCKETS_MIN = 64 };

static struct job_event **bucket_of(const struct job_events *events, uint64_t hash) {
  return &events->buckets[hash & (events->bucket_count - 1)];
}

static void put(struct job_events *events, struct job_event *event) {
  struct job_event **bucket = bucket_of(events, event->hash);
  event->beside = *bucket;
  *bucket = event;
}

static bool grow(struct job_events *events, struct arena *arena) {
  uint32_t count = events->bucket_count ? 2 * events->bucket_count : BUCKETS_MIN;
  struct job_event **buckets = ARENA_ARRAY(arena, struct job_event *, count);
  if (!buckets)
    return false;
  events->buckets = buckets;
  events->bucket_count = count;
  for (struct job_event *event = events->last; event; event = event->next)
    put(events, event);
  return true;
}

struct job_event *job_event_of(struct job_events *events, struct arena *arena, const char *name) {
  uint64_t hash = digest_string(DIGEST_SEED, name);
  struct job_event *event = events->bucket_count ? *bucket_of(events, hash) : NULL;
  while (event && (event->hash != hash || strcmp(event->name, name) != 0))
    event = event->beside;
  if (event)
    return event;
  if (events->count == events->bucket_count && !grow(events, arena))
    return NULL;
  const char *kept = arena_strdup(arena, name);
  event = ARENA_NEW(arena, struct job_event);
  if (!event || !kept)
    return NULL;
  *event = (struct job_event){
      .next = events->last, .name = kept, .hash = hash, .number = events->count++};
  events->last = event;
  put(events, event);
  return event;
}
