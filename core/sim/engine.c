/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event queue: a wheel of buckets for the near future, one heap for later events.
 *
 * A bucket covers 2^BUCKET_SHIFT ps, about one core clock cycle, so it rarely
 * holds more than the parts that act in the same cycle; inside it a pairing heap
 * keeps the total order. (M. Fredman et al., "The pairing heap", Algorithmica 1,
 * 1986; timing wheels: G. Varghese and T. Lauck, SOSP 1987.)
 *
 * Invariant: events of `far` lie at least WHEEL_BUCKETS buckets after `cursor`,
 * events of the wheel less. `cursor` is the bucket of the last event fired.
 */
#include "core/sim/engine.h"

#include "core/base/diag.h"

enum {
  BUCKET_SHIFT = 9,
  WHEEL_BITS = 12,
  WHEEL_BUCKETS = 1 << WHEEL_BITS,
  WORD_BITS = 64,
  WORDS = WHEEL_BUCKETS / WORD_BITS,
};

struct engine {
  uint64_t now_ps;
  uint64_t last_ps;
  uint64_t cursor;
  uint64_t fired;
  uint64_t summary;     /* bit w: used[w] is not 0 */
  uint64_t used[WORDS]; /* bit b: bucket b holds events */
  struct engine_event *far;
  struct engine_event *bucket[WHEEL_BUCKETS];
  bool stopped;
  bool at_end;
};

_Static_assert(WORDS == WORD_BITS, "one summary word covers the wheel");

static bool event_before(const struct engine_event *a, const struct engine_event *b) {
  return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->key < b->key;
}

/* Joins two heaps; either may be empty. The roots have no siblings. */
static struct engine_event *heap_merge(struct engine_event *a, struct engine_event *b) {
  if (!a)
    return b;
  if (!b)
    return a;
  if (event_before(b, a)) {
    struct engine_event *other = a;
    a = b;
    b = other;
  }
  b->previous = a;
  b->next = a->child;
  if (b->next)
    b->next->previous = b;
  a->child = b;
  return a;
}

/* Joins a list of siblings in two passes: pairs from the left, then all from the right. */
static struct engine_event *heap_merge_siblings(struct engine_event *first) {
  struct engine_event *pairs = NULL;
  while (first) {
    struct engine_event *a = first;
    struct engine_event *b = a->next;
    first = b ? b->next : NULL;
    a->next = a->previous = NULL;
    if (b)
      b->next = b->previous = NULL;
    a = heap_merge(a, b);
    a->next = pairs;
    pairs = a;
  }
  struct engine_event *root = NULL;
  while (pairs) {
    struct engine_event *rest = pairs->next;
    pairs->next = NULL;
    root = heap_merge(root, pairs);
    pairs = rest;
  }
  return root;
}

static struct engine_event *heap_remove(struct engine_event *root, struct engine_event *event) {
  struct engine_event *children = heap_merge_siblings(event->child);
  event->child = NULL;
  if (event == root)
    return children;
  if (event->previous->child == event)
    event->previous->child = event->next;
  else
    event->previous->next = event->next;
  if (event->next)
    event->next->previous = event->previous;
  event->next = event->previous = NULL;
  return heap_merge(root, children);
}

static uint64_t bucket_of(const struct engine_event *event) {
  return event->time_ps >> BUCKET_SHIFT;
}

static bool is_near(const struct engine *engine, const struct engine_event *event) {
  return bucket_of(event) - engine->cursor < WHEEL_BUCKETS;
}

static void wheel_insert(struct engine *engine, struct engine_event *event) {
  unsigned slot = (unsigned)(bucket_of(event) % WHEEL_BUCKETS);
  engine->bucket[slot] = heap_merge(engine->bucket[slot], event);
  engine->used[slot / WORD_BITS] |= UINT64_C(1) << slot % WORD_BITS;
  engine->summary |= UINT64_C(1) << slot / WORD_BITS;
}

static void wheel_remove(struct engine *engine, struct engine_event *event) {
  unsigned slot = (unsigned)(bucket_of(event) % WHEEL_BUCKETS);
  engine->bucket[slot] = heap_remove(engine->bucket[slot], event);
  if (engine->bucket[slot])
    return;
  engine->used[slot / WORD_BITS] &= ~(UINT64_C(1) << slot % WORD_BITS);
  if (engine->used[slot / WORD_BITS] == 0)
    engine->summary &= ~(UINT64_C(1) << slot / WORD_BITS);
}

/* First non-empty bucket at or after the cursor, going round; NULL when the wheel is empty. */
static struct engine_event *wheel_first(const struct engine *engine) {
  unsigned start = (unsigned)(engine->cursor % WHEEL_BUCKETS);
  unsigned word = start / WORD_BITS;
  uint64_t bits = engine->used[word] & ~UINT64_C(0) << start % WORD_BITS;
  if (bits == 0) {
    if (engine->summary == 0)
      return NULL;
    uint64_t later = word + 1 < WORDS ? engine->summary & ~UINT64_C(0) << (word + 1) : 0;
    word = (unsigned)__builtin_ctzll(later != 0 ? later : engine->summary);
    bits = engine->used[word];
  }
  return engine->bucket[word * WORD_BITS + (unsigned)__builtin_ctzll(bits)];
}

/* Moves the cursor to the bucket of the event about to fire and pulls in what came near. */
static void advance(struct engine *engine, const struct engine_event *event) {
  engine->now_ps = event->time_ps;
  engine->cursor = bucket_of(event);
  while (engine->far && is_near(engine, engine->far)) {
    struct engine_event *near = engine->far;
    engine->far = heap_remove(near, near);
    wheel_insert(engine, near);
  }
}

static struct engine_event *first_event(const struct engine *engine) {
  struct engine_event *event = wheel_first(engine);
  return event ? event : engine->far;
}

struct engine *engine_create(struct arena *arena) {
  return ARENA_NEW(arena, struct engine);
}

uint64_t engine_now_ps(const struct engine *engine) { return engine->now_ps; }

uint64_t engine_fired(const struct engine *engine) { return engine->fired; }

uint64_t engine_last_ps(const struct engine *engine) { return engine->last_ps; }

void engine_schedule(struct engine *engine, struct engine_event *event, uint64_t time_ps) {
  if (event->pending || time_ps < engine->now_ps)
    vinci_bug("event of key %#llx scheduled %s", (unsigned long long)event->key,
              event->pending ? "twice" : "in the past");
  event->time_ps = time_ps;
  event->child = event->next = event->previous = NULL;
  event->pending = true;
  if (is_near(engine, event))
    wheel_insert(engine, event);
  else
    engine->far = heap_merge(engine->far, event);
}

void engine_cancel(struct engine *engine, struct engine_event *event) {
  if (!event->pending)
    return;
  event->pending = false;
  if (is_near(engine, event))
    wheel_remove(engine, event);
  else
    engine->far = heap_remove(engine->far, event);
}

void engine_schedule_earliest(struct engine *engine, struct engine_event *event, uint64_t time_ps) {
  if (event->pending) {
    if (event->time_ps <= time_ps)
      return;
    engine_cancel(engine, event);
  }
  engine_schedule(engine, event, time_ps);
}

bool engine_at_end(const struct engine *engine) { return engine->at_end; }

uint64_t engine_next_ps(struct engine *engine) {
  const struct engine_event *event = engine->stopped ? NULL : first_event(engine);
  return event ? event->time_ps : UINT64_MAX;
}

void engine_run_until(struct engine *engine, uint64_t until_ps) {
  while (!engine->stopped) {
    struct engine_event *event = first_event(engine);
    if (!event || event->time_ps > until_ps)
      return;
    if (event->time_ps > ENGINE_END_PS) {
      engine->now_ps = ENGINE_END_PS;
      engine->at_end = engine->stopped = true;
      return;
    }
    advance(engine, event);
    wheel_remove(engine, event);
    event->pending = false;
    engine->fired++;
    if (event->key < event_key(PHASE_ACCOUNT, 0, 0))
      engine->last_ps = event->time_ps;
    event->fire(event, event->time_ps);
  }
}

void engine_stop(struct engine *engine) { engine->stopped = true; }
