/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event engine. Events are intrusive (the part owns the struct) and ordered
 * by (time, phase, part, sequence): a total order, so no two runs can differ.
 * Nothing ticks: a part without work has no event pending.
 *
 * Cost: a timing wheel of pairing heaps; O(1) to schedule, a few nanoseconds to
 * take the next event while a bucket holds few. The engine allocates nothing
 * after engine_create.
 */
#ifndef VINCI_CORE_SIM_ENGINE_H
#define VINCI_CORE_SIM_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/vinci.h"

/* Phases of one instant, in order. */
enum engine_phase {
  PHASE_DELIVER,   /* completions and messages arrive */
  PHASE_COMPUTE,   /* cores act on what arrived */
  PHASE_ARBITRATE, /* shared resources choose among what the cores asked for */
  PHASE_ACCOUNT,
};

/*
 * Time ends here: 36028.797 s, 10 hours. No event after that fires. The limit lies so low that
 * cycles of the fastest clock, summed over all cores of the largest chip, have room in 64 bits.
 */
#define ENGINE_END_PS (UINT64_C(1) << 55)

#ifdef __cplusplus
extern "C" {
#endif

struct engine_event {
  uint64_t time_ps;
  uint64_t key; /* phase | part | sequence; see event_key() */
  void (*fire)(struct engine_event *event, uint64_t now_ps);
  /* owned by the engine while pending */
  struct engine_event *child;
  struct engine_event *next;
  struct engine_event *previous;
  bool pending;
};

struct engine;

/* part < 2^24, sequence < 2^32: the sequence is a fixed slot of the part, not a counter. */
static inline uint64_t event_key(enum engine_phase phase, uint32_t part, uint32_t sequence) {
  return (uint64_t)phase << 56 | (uint64_t)part << 32 | sequence;
}

struct engine *engine_create(struct arena *arena);
uint64_t engine_now_ps(const struct engine *engine);
uint64_t engine_fired(const struct engine *engine); /* events fired so far */
/* Time of the last event that was not in PHASE_ACCOUNT: when something last happened. */
uint64_t engine_last_ps(const struct engine *engine);

/* event->key and event->fire are set by the owner. time_ps >= now. Must not be pending. */
void engine_schedule(struct engine *engine, struct engine_event *event, uint64_t time_ps);
/* Takes a pending event back; a no-op on one that is not pending. */
void engine_cancel(struct engine *engine, struct engine_event *event);
/* Schedules, or moves a pending event to an earlier time; later times are ignored. */
void engine_schedule_earliest(struct engine *engine, struct engine_event *event, uint64_t time_ps);

/* Whether the run has ended because the next event lies after ENGINE_END_PS. The present is
 * then ENGINE_END_PS. */
bool engine_at_end(const struct engine *engine);
/* Time of the next event, UINT64_MAX when there is none. */
uint64_t engine_next_ps(struct engine *engine);
/* Fires all events at times <= until_ps, in order. Returns when none is left or stop was asked. */
void engine_run_until(struct engine *engine, uint64_t until_ps);
/* Called from a handler: no further event fires. */
void engine_stop(struct engine *engine);

/*
 * Runs the engine to its end, by itself or inside the kernel of SystemC (engine_host.c). There one
 * SystemC process wakes at the next event's time and runs ahead as far as no other SystemC process
 * can act; SystemC's time never goes back, so each run is rebased to the kernel's time at its
 * start. Threads but the first, and runs inside a run or inside a SystemC process, fire the same
 * events without the kernel.
 */
enum vinci_status engine_run(struct engine *engine, struct vinci_diag *diag);
/* Whether the kernel of SystemC can be asked for: the module that hosts the engine there is to be
 * found. */
bool engine_has_systemc(void);
#ifdef __cplusplus
}
#endif

#endif
