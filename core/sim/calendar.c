/* SPDX-License-Identifier: Apache-2.0 */
/* Calendars of ports: moving the window, and requests that find cycles taken. */
#include "core/sim/calendar.h"

bool calendars_create(struct calendars *calendars, struct arena *arena, uint32_t ports) {
  *calendars = (struct calendars){
      .taken = ARENA_ARRAY(arena, uint64_t, (size_t)ports * CALENDAR_WORDS),
      .solid_until = ARENA_ARRAY(arena, uint64_t, ports),
      .ports = ports,
  };
  return calendars->taken && calendars->solid_until;
}

static uint64_t bits_below(uint64_t word, uint64_t cycle) {
  uint64_t start = word * CALENDAR_WORD_BITS;
  if (cycle <= start)
    return 0;
  return cycle - start >= CALENDAR_WORD_BITS ? UINT64_MAX : (UINT64_C(1) << (cycle - start)) - 1;
}

void calendars_slide(struct calendars *calendars, uint64_t word) {
  uint64_t old_end = calendars->first_word + CALENDAR_WORDS;
  for (uint64_t w = word > old_end ? word : old_end; w < word + CALENDAR_WORDS; w++) {
    uint64_t *taken = &calendars->taken[w % CALENDAR_WORDS];
    bool solid = calendars->last_solid > w * CALENDAR_WORD_BITS;
    for (uint32_t port = 0; port < calendars->ports; port++)
      taken[(size_t)port * CALENDAR_WORDS] =
          solid ? bits_below(w, calendars->solid_until[port]) : 0;
  }
  calendars->first_word = word;
}

/* The lowest `count` of the set bits; count is less than their number. */
static uint64_t lowest(uint64_t bits, uint64_t count) {
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

/* Beyond the window cycles are given one after the other. */
static struct calendar_span take_solid(struct calendars *calendars, uint32_t port, uint64_t from,
                                       uint64_t count) {
  uint64_t start = (calendars->first_word + CALENDAR_WORDS) * CALENDAR_WORD_BITS;
  start = max_u64(max_u64(start, calendars->solid_until[port]), from);
  calendars->solid_until[port] = start + count;
  calendars->last_solid = max_u64(calendars->last_solid, start + count);
  return (struct calendar_span){start, start + count - 1};
}

struct calendar_span calendars_search(struct calendars *calendars, uint32_t port, uint64_t from,
                                      uint64_t count) {
  struct calendar_span span = {UINT64_MAX, 0};
  from = max_u64(from, calendars->first_word * CALENDAR_WORD_BITS); /* the past is forgotten */
  uint64_t end = calendars->first_word + CALENDAR_WORDS;
  for (uint64_t w = from / CALENDAR_WORD_BITS; w < end; w++) {
    uint64_t *taken = &calendars->taken[(size_t)port * CALENDAR_WORDS + w % CALENDAR_WORDS];
    uint64_t bits = ~*taken & ~bits_below(w, from);
    if (!bits)
      continue;
    uint64_t free_count = count_bits(bits);
    if (count < free_count)
      bits = lowest(bits, count);
    *taken |= bits;
    uint64_t base = w * CALENDAR_WORD_BITS;
    if (span.first == UINT64_MAX)
      span.first = base + (uint64_t)__builtin_ctzll(bits);
    span.last = base + CALENDAR_WORD_BITS - 1 - (uint64_t)__builtin_clzll(bits);
    if (count <= free_count)
      return span;
    count -= free_count;
  }
  struct calendar_span rest = take_solid(calendars, port, from, count);
  return (struct calendar_span){min_u64(span.first, rest.first), rest.last};
}
