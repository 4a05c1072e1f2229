/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calendar of a port: which of the coming cycles are taken. A window of a bit per
 * cycle moves with time; beyond it everything before `solid_until` is taken. Ports of the
 * network and slices of L2 are reserved with it, ahead of time.
 */
#ifndef VINCI_CORE_CALENDAR_H
#define VINCI_CORE_CALENDAR_H

#include <stdbool.h>

#include "core/arith.h"

enum { CALENDAR_WORDS = 8, CALENDAR_WORD_BITS = 64 };

struct calendar {
  uint64_t taken[CALENDAR_WORDS]; /* word w of time at w % CALENDAR_WORDS */
  uint64_t first_word;            /* of the window */
  uint64_t solid_until;           /* cycle */
};

/* First and last of the cycles given to a request; one after the other, unless others had taken
 * cycles between. */
struct calendar_span {
  uint64_t first;
  uint64_t last;
};

static inline uint64_t calendar_bits_below(uint64_t word, uint64_t cycle) {
  uint64_t start = word * CALENDAR_WORD_BITS;
  if (cycle <= start)
    return 0;
  return cycle - start >= CALENDAR_WORD_BITS ? UINT64_MAX : (UINT64_C(1) << (cycle - start)) - 1;
}

/* Moves the window so that it starts at the word of `now`: no request comes for less. */
static inline void calendar_move(struct calendar *calendar, uint64_t now) {
  uint64_t word = now / CALENDAR_WORD_BITS, old_end = calendar->first_word + CALENDAR_WORDS;
  if (word <= calendar->first_word)
    return;
  uint64_t from = word > old_end ? word : old_end;
  for (uint64_t w = from; w < word + CALENDAR_WORDS; w++)
    calendar->taken[w % CALENDAR_WORDS] = calendar_bits_below(w, calendar->solid_until);
  calendar->first_word = word;
}

/* The lowest `count` of the set bits; count is less than their number. */
static inline uint64_t calendar_lowest(uint64_t bits, uint64_t count) {
  uint64_t run = ((UINT64_C(1) << count) - 1) << __builtin_ctzll(bits);
  if ((bits & run) == run) /* the usual case: side by side */
    return run;
  uint64_t result = 0;
  for (; count > 0; count--) {
    result |= bits & -bits;
    bits &= bits - 1;
  }
  return result;
}

/* Takes `count` cycles from `from` on when all are free and in one word: the usual case. */
static inline bool calendar_take_run(struct calendar *calendar, uint64_t now, uint64_t from,
                                     uint64_t count) {
  calendar_move(calendar, now);
  uint64_t word = from / CALENDAR_WORD_BITS, bit = from % CALENDAR_WORD_BITS;
  if (word - calendar->first_word >= CALENDAR_WORDS || bit + count >= CALENDAR_WORD_BITS)
    return false;
  uint64_t run = ((UINT64_C(1) << count) - 1) << bit;
  uint64_t *taken = &calendar->taken[word % CALENDAR_WORDS];
  if (*taken & run)
    return false;
  *taken |= run;
  return true;
}

/* Takes the first `count` free cycles at or after `from` (not before `now`). */
static inline struct calendar_span calendar_take(struct calendar *calendar, uint64_t now,
                                                 uint64_t from, uint64_t count) {
  struct calendar_span span = {UINT64_MAX, 0};
  calendar_move(calendar, now);
  if (from < calendar->first_word * CALENDAR_WORD_BITS) /* the past has been forgotten */
    from = calendar->first_word * CALENDAR_WORD_BITS;
  uint64_t end = calendar->first_word + CALENDAR_WORDS;
  for (uint64_t w = from / CALENDAR_WORD_BITS; w < end; w++) {
    uint64_t *taken = &calendar->taken[w % CALENDAR_WORDS];
    uint64_t bits = ~*taken & ~calendar_bits_below(w, from);
    if (!bits)
      continue;
    uint64_t free_count = count_bits(bits);
    if (count < free_count)
      bits = calendar_lowest(bits, count);
    *taken |= bits;
    uint64_t base = w * CALENDAR_WORD_BITS;
    if (span.first == UINT64_MAX)
      span.first = base + (uint64_t)__builtin_ctzll(bits);
    span.last = base + 63 - (uint64_t)__builtin_clzll(bits);
    if (count <= free_count)
      return span;
    count -= free_count;
  }
  /* Beyond the window cycles are given one after the other. */
  uint64_t start = end * CALENDAR_WORD_BITS;
  if (start < calendar->solid_until)
    start = calendar->solid_until;
  if (start < from)
    start = from;
  if (span.first == UINT64_MAX)
    span.first = start;
  span.last = start + count - 1;
  calendar->solid_until = span.last + 1;
  return span;
}

#endif
