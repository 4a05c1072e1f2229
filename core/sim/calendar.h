/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calendars of ports: which of the coming cycles of each are taken. A window of a bit per
 * cycle moves with time, for all ports of a set at once; beyond it everything before
 * `solid_until` is taken. Ports of the network and slices of L2 are reserved with it, ahead
 * of time.
 */
#ifndef VINCI_CORE_SIM_CALENDAR_H
#define VINCI_CORE_SIM_CALENDAR_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/arith.h"

enum { CALENDAR_WORDS = 8, CALENDAR_WORD_BITS = 64 };

struct calendars {
  uint64_t *taken;       /* [port][word of time % CALENDAR_WORDS] */
  uint64_t *solid_until; /* [port]: cycle */
  uint64_t last_solid;   /* latest of them */
  uint64_t first_word;   /* of the window */
  uint32_t ports;
};

/* First and last of the cycles given to a request; one after the other, unless others had taken
 * cycles between. */
struct calendar_span {
  uint64_t first;
  uint64_t last;
};

bool calendars_create(struct calendars *calendars, struct arena *arena, uint32_t ports);
/* Slow ways of the functions below (calendar.c). */
void calendars_slide(struct calendars *calendars, uint64_t word);
struct calendar_span calendars_search(struct calendars *calendars, uint32_t port, uint64_t from,
                                      uint64_t count);

/* Moves the window so that it starts at the word of `now`: no request comes for less. */
static inline void calendars_move(struct calendars *calendars, uint64_t now) {
  if (now / CALENDAR_WORD_BITS > calendars->first_word)
    calendars_slide(calendars, now / CALENDAR_WORD_BITS);
}

/* The word of a port that holds a cycle of the window. */
static inline uint64_t *calendars_in_window(const struct calendars *calendars, uint32_t port,
                                            uint64_t cycle) {
  return &calendars
              ->taken[(size_t)port * CALENDAR_WORDS + cycle / CALENDAR_WORD_BITS % CALENDAR_WORDS];
}

/* Takes `count` cycles from `from` on when all are free and in one word: the usual case. */
static inline bool calendars_take_run(const struct calendars *calendars, uint32_t port,
                                      uint64_t from, uint64_t count) {
  if (from / CALENDAR_WORD_BITS - calendars->first_word >= CALENDAR_WORDS ||
      from % CALENDAR_WORD_BITS + count >= CALENDAR_WORD_BITS)
    return false;
  uint64_t *taken = calendars_in_window(calendars, port, from);
  uint64_t run = ((UINT64_C(1) << count) - 1) << from % CALENDAR_WORD_BITS;
  if (*taken & run)
    return false;
  *taken |= run;
  return true;
}

/* Takes the first free cycle at or after `from` when it lies in the same word: the usual case. */
static inline bool calendars_take_near(const struct calendars *calendars, uint32_t port,
                                       uint64_t from, uint64_t *cycle) {
  if (from / CALENDAR_WORD_BITS - calendars->first_word >= CALENDAR_WORDS)
    return false;
  uint64_t *taken = calendars_in_window(calendars, port, from);
  uint64_t bits = ~*taken >> from % CALENDAR_WORD_BITS;
  if (bits == 0)
    return false;
  from += (uint32_t)__builtin_ctzll(bits);
  *taken |= UINT64_C(1) << from % CALENDAR_WORD_BITS;
  *cycle = from;
  return true;
}

/* The same for that and the first one behind it at or after `last`. */
static inline bool calendars_take_two_near(const struct calendars *calendars, uint32_t port,
                                           uint64_t from, uint64_t last,
                                           struct calendar_span *span) {
  uint64_t ahead = last > from ? last - from : 0;
  if (from / CALENDAR_WORD_BITS - calendars->first_word >= CALENDAR_WORDS ||
      ahead >= CALENDAR_WORD_BITS)
    return false;
  uint64_t *taken = calendars_in_window(calendars, port, from);
  uint64_t bits = ~*taken >> from % CALENDAR_WORD_BITS;
  uint64_t behind = (bits & (bits - 1)) >> ahead << ahead;
  if (behind == 0)
    return false;
  *taken |= ((bits & -bits) | (behind & -behind)) << from % CALENDAR_WORD_BITS;
  span->first = from + (uint32_t)__builtin_ctzll(bits);
  span->last = from + (uint32_t)__builtin_ctzll(behind);
  return true;
}

/* Takes the first free cycle at or after `from`. */
static inline uint64_t calendars_take_one(struct calendars *calendars, uint32_t port,
                                          uint64_t from) {
  uint64_t cycle;
  if (calendars_take_near(calendars, port, from, &cycle))
    return cycle;
  return calendars_search(calendars, port, from, 1).first;
}

/* Takes the first `count` free cycles at or after `from` when they lie in the same word. */
static inline bool calendars_take_few_near(const struct calendars *calendars, uint32_t port,
                                           uint64_t from, uint64_t count,
                                           struct calendar_span *span) {
  if (from / CALENDAR_WORD_BITS - calendars->first_word >= CALENDAR_WORDS)
    return false;
  uint64_t *taken = calendars_in_window(calendars, port, from);
  uint64_t bits = ~*taken >> from % CALENDAR_WORD_BITS, given = 0, last = 0;
  for (; count > 0; count--) {
    last = bits & -bits;
    given |= last;
    bits ^= last;
  }
  if (last == 0)
    return false;
  *taken |= given << from % CALENDAR_WORD_BITS;
  span->first = from + (uint32_t)__builtin_ctzll(given);
  span->last = from + (uint32_t)__builtin_ctzll(last);
  return true;
}

/* Takes the first `count` free cycles at or after `from`. */
static inline struct calendar_span calendars_take(struct calendars *calendars, uint32_t port,
                                                  uint64_t from, uint64_t count) {
  enum { FEW = 8 };
  struct calendar_span span = {from, from + count - 1};
  if (calendars_take_run(calendars, port, from, count) ||
      (count <= FEW && calendars_take_few_near(calendars, port, from, count, &span)))
    return span;
  return calendars_search(calendars, port, from, count);
}

#endif
