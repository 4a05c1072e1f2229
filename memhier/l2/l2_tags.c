/* SPDX-License-Identifier: Apache-2.0 */
/* L2 tags: which granules of GM are in the cache, and which are dirty. */
#include <string.h>

#include "core/base/digest.h"
#include "memhier/l2/l2_policies.h"
#include "memhier/memhier.h"

_Static_assert((int)SOC_L2_BYTES_MIN == (int)L2_FLAT_LINE_BYTES * L2_FLAT_WAYS,
               "a smaller cache would silently be none");

enum { MARKS_PER_WORD = sizeof(uint64_t), MARK_BITS = BITS_PER_BYTE, PPM = 1000000 };
enum { LINES_PER_WORD = MARKS_PER_WORD * BITS_PER_BYTE };
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
  if (lines < ways)
    return true;
  l2->set_count = divisor_of(lines / ways);
  l2->mark_words = (uint32_t)ceil_div(ways, MARKS_PER_WORD);
  l2->ways = ARENA_ARRAY(arena, struct l2_way, l2->set_count.value * ways);
  l2->marks = ARENA_ARRAY(arena, uint64_t, l2->set_count.value * l2->mark_words);
  l2->hints = ARENA_ARRAY(arena, uint8_t, l2->set_count.value * L2_HINTS);
  l2->order_bytes = geometry.policy->bytes(geometry.ways);
  l2->orders = ARENA_ARRAY(arena, uint8_t, l2->set_count.value * l2->order_bytes);
  l2->hits_are_plain = !geometry.policy->touch;
  l2->held_lines = lines_of_gm;
  l2->held = ARENA_ARRAY(arena, uint64_t, lines_of_gm / LINES_PER_WORD + 1);
  return l2->ways && l2->marks && l2->hints && l2->orders && l2->held;
}

static uint32_t tag_of(const struct l2_place *place) { return (uint32_t)place->line + 1; }

/* The way that holds a line; NULL when none does. */
static struct l2_way *find_way(const struct l2_tags *l2, const struct l2_place *place) {
  struct l2_way *ways = &l2->ways[(size_t)place->set * l2->geometry.ways];
  const uint64_t *marks = &l2->marks[(size_t)place->set * l2->mark_words];
  uint32_t tag = tag_of(place);
  for (unsigned word = 0; word < l2->mark_words; word++) {
    /* Bytes that are equal become 0; the top bit of each such byte is set, and rarely another. */
    uint64_t differ = marks[word] ^ place->mark * EACH_BYTE;
    uint64_t equal = (differ - EACH_BYTE) & ~differ & EACH_BYTE << (MARK_BITS - 1);
    for (; equal != 0; equal &= equal - 1) {
      unsigned way = word * MARKS_PER_WORD + (unsigned)__builtin_ctzll(equal) / MARK_BITS;
      if (way < l2->geometry.ways && ways[way].tag == tag)
        return &ways[way];
    }
  }
  return NULL;
}

/* A line comes in. An owed line is written back when one is due and no other line has left. */
static void pay(struct l2_tags *l2, struct l2_outcome *outcome) {
  uint64_t count = min_u64(l2->owed_granules, l2->geometry.line_bytes / L2_GRANULE_BYTES);
  if (count == 0)
    return;
  l2->due_ppm += l2->owed_ppm;
  if (outcome->written_back == 0 && l2->due_ppm >= PPM) {
    l2->owed_granules -= count;
    outcome->written_back = (uint32_t)((UINT64_C(1) << count) - 1);
    outcome->victim = l2->owed_line++;
  }
  l2->due_ppm -= outcome->written_back != 0 ? PPM : 0;
}

/* Whether a line that comes in has been here before; notes that it has. */
static bool comes_again(struct l2_tags *l2, uint64_t line) {
  if (line >= l2->held_lines)
    return false;
  uint64_t *word = &l2->held[line / LINES_PER_WORD], bit = UINT64_C(1) << line % LINES_PER_WORD;
  bool again = *word & bit;
  *word |= bit;
  return again;
}

/* What the policy keeps of a set. */
static uint8_t *order_of(const struct l2_tags *l2, const struct l2_place *place) {
  return &l2->orders[(size_t)place->set * l2->order_bytes];
}

static void touch(const struct l2_tags *l2, const struct l2_place *place,
                  const struct l2_way *way) {
  const struct l2_geometry *geometry = &l2->geometry;
  if (geometry->policy->touch)
    geometry->policy->touch(order_of(l2, place), geometry->ways,
                            (unsigned)(way - &l2->ways[(size_t)place->set * geometry->ways]));
}

/* Makes room in a set: the line leaves that the policy names. */
static struct l2_way *replace(struct l2_tags *l2, const struct l2_place *place,
                              struct l2_outcome *outcome) {
  unsigned ways = l2->geometry.ways;
  unsigned number = l2->geometry.policy->victim(order_of(l2, place), ways);
  struct l2_way *way = &l2->ways[(size_t)place->set * ways + number];
  uint64_t *marks = &l2->marks[(size_t)place->set * l2->mark_words + number / MARKS_PER_WORD];
  unsigned shift = number % MARKS_PER_WORD * MARK_BITS;
  *l2_hint(l2, place) = (uint8_t)number;
  outcome->written_back = way->dirty;
  outcome->victim = (uint64_t)way->tag - 1;
  outcome->again = comes_again(l2, place->line);
  pay(l2, outcome);
  *way = (struct l2_way){.tag = tag_of(place)};
  *marks = (*marks & ~(UINT64_C(0xff) << shift)) | (uint64_t)place->mark << shift;
  return way;
}

struct l2_outcome l2_pass(struct l2_tags *l2, const struct l2_place *place, uint32_t granules,
                          bool write) {
  struct l2_outcome outcome = {.misses = granules, .victim = place->line};
  struct l2_way *way = l2->set_count.value != 0 ? find_way(l2, place) : NULL;
  if (way) {
    outcome.hits = way->valid & granules;
    outcome.misses = granules & ~way->valid;
    if (write)
      way->dirty |= outcome.hits;
  }
  outcome.written_back = write ? outcome.misses : 0; /* what is written goes straight through */
  return outcome;
}

struct l2_outcome l2_look_up(struct l2_tags *l2, const struct l2_place *place, uint32_t granules,
                             bool write) {
  struct l2_outcome outcome = {.misses = granules};
  if (l2->set_count.value == 0) {
    outcome = l2_pass(l2, place, granules, write);
    if (!write)
      pay(l2, &outcome);
    return outcome;
  }
  struct l2_way *way = find_way(l2, place);
  if (way)
    *l2_hint(l2, place) = (uint8_t)(way - &l2->ways[(size_t)place->set * l2->geometry.ways]);
  else
    way = replace(l2, place, &outcome);
  touch(l2, place, way);
  outcome.hits = way->valid & granules;
  outcome.misses = granules & ~way->valid;
  way->valid |= granules;
  if (write)
    way->dirty |= granules;
  return outcome;
}

void l2_find(const struct l2_tags *l2, const struct l2_place *place, uint32_t granules,
             uint64_t *valid, uint64_t *dirty) {
  const struct l2_way *way = l2->set_count.value != 0 ? find_way(l2, place) : NULL;
  if (!way)
    return;
  *valid += (uint64_t)l2_count(way->valid & granules) * L2_GRANULE_BYTES;
  *dirty += (uint64_t)l2_count(way->dirty & granules) * L2_GRANULE_BYTES;
}

void l2_copy(struct l2_tags *l2, const struct l2_tags *from) {
  size_t sets = from->set_count.value, ways = from->geometry.ways;
  if (sets == 0)
    return;
  memcpy(l2->ways, from->ways, sets * ways * sizeof *l2->ways);
  memcpy(l2->marks, from->marks, sets * l2->mark_words * sizeof *l2->marks);
  memcpy(l2->hints, from->hints, sets * L2_HINTS);
  memcpy(l2->orders, from->orders, sets * l2->order_bytes);
  memcpy(l2->held, from->held, (from->held_lines / LINES_PER_WORD + 1) * sizeof *l2->held);
}

/* A set whose policy has an order: the lines in that order, in whatever ways. */
static uint64_t digest_set(const struct l2_tags *l2, uint64_t set, uint64_t digest) {
  unsigned ways = l2->geometry.ways;
  const struct l2_way *held = &l2->ways[set * ways];
  const uint8_t *kept = &l2->orders[set * l2->order_bytes];
  uint8_t order[UINT8_MAX];
  if (l2->geometry.policy->order)
    l2->geometry.policy->order(kept, ways, order);
  else
    digest = digest_bytes(digest, kept, l2->order_bytes);
  for (unsigned i = 0; i < ways; i++) {
    const struct l2_way *way = &held[l2->geometry.policy->order ? order[i] : i];
    digest = digest_word(digest, way->tag);
    digest = digest_word(digest, (uint64_t)way->valid << 32 | way->dirty);
  }
  return digest;
}

uint64_t l2_digest(const struct l2_tags *l2, uint64_t seed) {
  uint64_t digest = digest_word(digest_word(seed, l2->owed_granules), l2->owed_line);
  digest = digest_word(digest_word(digest, l2->owed_ppm), (uint64_t)l2->due_ppm);
  if (l2->set_count.value == 0)
    return digest;
  for (uint64_t set = 0; set < l2->set_count.value; set++)
    digest = digest_set(l2, set, digest);
  for (uint64_t i = 0; i <= l2->held_lines / LINES_PER_WORD; i++)
    digest = digest_word(digest, l2->held[i]);
  return digest;
}

void l2_clean(struct l2_tags *l2) {
  for (uint64_t i = 0; i < l2->set_count.value * l2->geometry.ways; i++)
    l2->ways[i].dirty = 0;
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
  struct l2_place place = l2_place_of(l2, address / line_bytes);
  struct l2_outcome outcome = (passes ? l2_pass : l2_look_up)(l2, &place, granules, write);
  l2_count_outcome(&l2->counters, &outcome, write);
  return outcome;
}
