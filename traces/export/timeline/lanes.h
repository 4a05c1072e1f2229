/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all timelines are written from: the recorded instructions of a result, lane by lane (a lane
 * is one pipe of one core), as bars that never overlap although instructions of a pipe do, and the
 * arrows between them. Memory: 4 bytes for each recorded instruction, the bars of one lane, and
 * the arrows.
 *
 * A bar runs from the start of its instruction to the end of all that the pipe had in flight by
 * then, cut at the start of the next bar. So the bars of a lane add up to its busy cycles. A wait
 * or barrier is drawn from where the pipe has run dry.
 */
#ifndef VINCI_TRACES_EXPORT_LANES_H
#define VINCI_TRACES_EXPORT_LANES_H

#include "core/result/result.h"
#include "traces/export/timeline/timeline.h"

struct bar {
  uint64_t start; /* as drawn, cycles of the core */
  uint64_t end;
  uint32_t index; /* in result->events */
};

struct lane {
  uint32_t core;
  enum pipe pipe;
  const struct bar *bars; /* by start; owned by the lanes */
  size_t count;
};

struct lanes {
  const struct vinci_result *result;
  const struct timeline_choice *choice;
  uint32_t *order; /* events of the chosen cores by core, then pipe, then order of completion */
  size_t count;
  size_t next; /* in order: the first of the next lane */
  struct bar *bars;
  size_t capacity;
};

/* Flags and barriers: they order instructions and occupy no unit. */
bool lanes_orders(uint16_t op);

/* When an instruction leaves the queue of its pipe: waits and barriers hold their place. */
uint64_t lanes_leave_cycle(const struct result_event *event);

/* Lanes of what the choice lets through. False when memory is short; else for lanes_close(). */
bool lanes_open(struct lanes *lanes, const struct vinci_result *result,
                const struct timeline_choice *choice);
/* The next lane with bars, by core and pipe; false behind the last. Bars last until the next call.
 */
bool lanes_next(struct lanes *lanes, struct lane *lane);
/* Whether the choice lets an event through; the layout is that of the whole lane in any case. */
bool lanes_show(const struct lanes *lanes, uint32_t index);
bool lanes_show_core(const struct lanes *lanes, uint32_t core);
void lanes_rewind(struct lanes *lanes);
void lanes_close(struct lanes *lanes);

/* Time of an edge of a core's clock. */
uint64_t lanes_edge_ps(const struct vinci_result *result, uint32_t core, uint64_t cycle);
/* The place of a core, and of a lane in a core, in the vendor's order. */
uint64_t lanes_core_order(const struct core_result *core);
unsigned lanes_pipe_order(enum pipe pipe);

/* ---- arrows ---------------------------------------------------------------- */

/* What set a flag or gave a signal, and the wait that took the same: indices of events. */
struct arrow {
  uint32_t from, to;
};

struct arrows {
  struct arrow *items; /* by `from`, then `to`; number i + 1 is the name of item i */
  uint32_t *first;     /* of each event: the first item that leaves there; and of the end */
  uint32_t *taken;     /* of each event: the number of the arrow that ends there, 0 for none */
  size_t count;
};

/*
 * The n-th wait of a flag takes what its n-th set gave; a wait for a signal between cores takes
 * what the last of its senders gave. Arrows with an end that is not shown are left out. False when
 * memory is short.
 */
bool arrows_find(struct arrows *arrows, const struct lanes *lanes);
/* Numbers of the arrows that leave an event: from *first on, as many as returned. */
size_t arrows_from(const struct arrows *arrows, uint32_t event, size_t *first);
/* The number of the arrow that ends at an event, 0 for none. */
size_t arrows_to(const struct arrows *arrows, uint32_t event);
void arrows_free(struct arrows *arrows);

#endif
