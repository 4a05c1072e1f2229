/* SPDX-License-Identifier: Apache-2.0 */
/* L2 tags: which granules of GM are in the cache, and which are dirty. */
#include "memhier/memhier.h"

_Static_assert((int)SOC_L2_BYTES_MIN == (int)L2_FLAT_LINE_BYTES * L2_FLAT_WAYS,
               "a smaller cache would silently be none");

enum { MARKS_PER_WORD = sizeof(uint64_t), MARK_BITS = BITS_PER_BYTE };
#define EACH_BYTE UINT64_C(0x0101010101010101)

bool l2_create(struct l2_tags *l2, struct arena *arena, struct l2_geometry geometry,
               uint64_t gm_bytes) {
  uint64_t ways = geometry.ways;
  uint64_t lines = geometry.capacity_bytes / geometry.line_bytes;
  /* A cache larger than all of GM behaves as one that holds just GM. */
  uint64_t lines_of_gm = (gm_bytes / geometry.line_bytes + 1 + ways) / ways * ways;
  if (lines > lines_of_gm)
    lines = lines_of_gm;
  l2->geometry = geometry;
  l2->set_count = lines / ways;
  if (l2->set_count == 0)
    return true;
  l2->mark_words = (uint32_t)ceil_div(ways, MARKS_PER_WORD);
  l2->tags = ARENA_ARRAY(arena, uint32_t, l2->set_count * ways);
  l2->state = ARENA_ARRAY(arena, struct l2_state, l2->set_count * ways);
  l2->marks = ARENA_ARRAY(arena, uint64_t, l2->set_count * l2->mark_words);
  l2->oldest = ARENA_ARRAY(arena, uint8_t, l2->set_count);
  return l2->tags && l2->state && l2->marks && l2->oldest;
}

/* The way of a set that holds a tag; the number of ways when none does. */
static unsigned find_way(const struct l2_tags *l2, uint64_t set, uint32_t tag, uint64_t mark) {
  unsigned ways = l2->geometry.ways;
  const uint32_t *tags = &l2->tags[set * ways];
  const uint64_t *marks = &l2->marks[set * l2->mark_words];
  for (unsigned word = 0; word < l2->mark_words; word++) {
    /* Bytes that are equal become 0; the top bit of each such byte is set, and rarely another. */
    uint64_t differ = marks[word] ^ mark * EACH_BYTE;
    uint64_t equal = (differ - EACH_BYTE) & ~differ & EACH_BYTE << (MARK_BITS - 1);
    for (; equal != 0; equal &= equal - 1) {
      unsigned way = word * MARKS_PER_WORD + (unsigned)__builtin_ctzll(equal) / MARK_BITS;
      if (way < ways && tags[way] == tag)
        return way;
    }
  }
  return ways;
}

/* Makes room in a set: the oldest line leaves. */
static unsigned replace(struct l2_tags *l2, uint64_t set, uint32_t tag, uint64_t mark,
                        struct l2_outcome *outcome) {
  unsigned ways = l2->geometry.ways, way = l2->oldest[set];
  uint64_t *marks = &l2->marks[set * l2->mark_words + way / MARKS_PER_WORD];
  unsigned shift = way % MARKS_PER_WORD * MARK_BITS;
  l2->oldest[set] = (uint8_t)(way + 1 < ways ? way + 1 : 0);
  outcome->written_back = l2->state[set * ways + way].dirty;
  outcome->victim = (uint64_t)l2->tags[set * ways + way] - 1;
  l2->tags[set * ways + way] = tag;
  l2->state[set * ways + way] = (struct l2_state){0};
  *marks = (*marks & ~(UINT64_C(0xff) << shift)) | mark << shift;
  return way;
}

struct l2_outcome l2_pass(struct l2_tags *l2, uint64_t line, uint32_t granules, bool write) {
  struct l2_outcome outcome = {.misses = granules, .victim = line};
  if (l2->set_count != 0) {
    uint64_t round = line / l2->set_count, set = line - round * l2->set_count;
    unsigned way = find_way(l2, set, (uint32_t)line + 1, round & 0xff);
    if (way != l2->geometry.ways) {
      struct l2_state *state = &l2->state[set * l2->geometry.ways + way];
      outcome.hits = state->valid & granules;
      outcome.misses = granules & ~state->valid;
      if (write)
        state->dirty |= outcome.hits;
    }
  }
  outcome.written_back = write ? outcome.misses : 0; /* what is written goes straight through */
  return outcome;
}

struct l2_outcome l2_look_up(struct l2_tags *l2, uint64_t line, uint32_t granules, bool write) {
  struct l2_outcome outcome = {.misses = granules};
  if (l2->set_count == 0)
    return l2_pass(l2, line, granules, write);
  uint64_t round = line / l2->set_count, set = line - round * l2->set_count;
  uint64_t mark = round & 0xff;
  uint32_t tag = (uint32_t)line + 1;
  unsigned way = find_way(l2, set, tag, mark);
  if (way == l2->geometry.ways)
    way = replace(l2, set, tag, mark, &outcome);
  struct l2_state *state = &l2->state[set * l2->geometry.ways + way];
  outcome.hits = state->valid & granules;
  outcome.misses = granules & ~state->valid;
  state->valid |= granules;
  if (write)
    state->dirty |= granules;
  return outcome;
}

uint32_t l2_granules(uint64_t offset, uint64_t bytes) {
  uint64_t first = offset / L2_GRANULE_BYTES;
  uint64_t last = (offset + bytes - 1) / L2_GRANULE_BYTES;
  return (uint32_t)((UINT64_C(2) << last) - (UINT64_C(1) << first));
}

struct l2_outcome l2_access(struct l2_tags *l2, uint64_t address, uint64_t bytes, bool write,
                            bool passes) {
  uint32_t line_bytes = l2->geometry.line_bytes;
  uint32_t granules = l2_granules(address % line_bytes, bytes);
  struct l2_outcome outcome =
      (passes ? l2_pass : l2_look_up)(l2, address / line_bytes, granules, write);
  l2_count_outcome(&l2->counters, &outcome, write);
  return outcome;
}
