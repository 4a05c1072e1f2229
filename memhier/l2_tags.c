/* SPDX-License-Identifier: Apache-2.0 */
/* Coarse L2: which 128-byte granules of GM are in the cache, and which are dirty. */
#include "memhier/memhier.h"

_Static_assert((int)SOC_L2_BYTES_MIN == (int)L2_LINE_BYTES * L2_WAYS,
               "a smaller cache would silently be none");

bool l2_create(struct l2_tags *l2, struct arena *arena, uint64_t capacity_bytes,
               uint64_t gm_bytes) {
  uint64_t lines = capacity_bytes / L2_LINE_BYTES;
  /* A cache larger than all of GM behaves as one that holds just GM. */
  uint64_t lines_of_gm = (gm_bytes / L2_LINE_BYTES + 1 + L2_WAYS) / L2_WAYS * L2_WAYS;
  if (lines > lines_of_gm)
    lines = lines_of_gm;
  l2->set_count = lines / L2_WAYS;
  if (l2->set_count == 0)
    return true;
  l2->lines = ARENA_ARRAY(arena, struct l2_line, l2->set_count * L2_WAYS);
  l2->oldest = ARENA_ARRAY(arena, uint8_t, l2->set_count);
  return l2->lines && l2->oldest;
}

static struct l2_line *find_line(struct l2_line *set, uint32_t tag) {
  for (unsigned way = 0; way < L2_WAYS; way++)
    if (set[way].tag == tag)
      return &set[way];
  return NULL;
}

/* Bits of the granules that [offset, offset + bytes) of a line touches. */
static uint32_t granule_mask(uint64_t offset, uint64_t bytes) {
  uint64_t first = offset / L2_GRANULE_BYTES;
  uint64_t last = (offset + bytes - 1) / L2_GRANULE_BYTES;
  return (uint32_t)((UINT64_C(2) << last) - (UINT64_C(1) << first));
}

static unsigned count_bits(uint32_t mask) { return (unsigned)__builtin_popcount(mask); }

static void count(struct l2_counters *counters, const struct l2_outcome *outcome, bool write) {
  *(write ? &counters->write_hits : &counters->read_hits) += outcome->hits;
  *(write ? &counters->write_misses : &counters->read_misses) += outcome->misses;
  counters->writebacks += outcome->written_back;
}

struct l2_outcome l2_access(struct l2_tags *l2, uint64_t address, uint64_t bytes, bool write) {
  uint32_t mask = granule_mask(address % L2_LINE_BYTES, bytes);
  struct l2_outcome outcome = {.misses = count_bits(mask)};
  if (l2->set_count == 0) {
    /* Without a cache what is written goes straight through. */
    outcome.written_back = write ? outcome.misses : 0;
    count(&l2->counters, &outcome, write);
    return outcome;
  }
  uint64_t number = address / L2_LINE_BYTES;
  uint64_t set_index = number % l2->set_count;
  struct l2_line *set = &l2->lines[set_index * L2_WAYS];
  struct l2_line *line = find_line(set, (uint32_t)number + 1);
  if (!line) {
    line = &set[l2->oldest[set_index]];
    l2->oldest[set_index] = (uint8_t)((l2->oldest[set_index] + 1) % L2_WAYS);
    outcome.written_back = count_bits(line->dirty);
    *line = (struct l2_line){.tag = (uint32_t)number + 1};
  }
  outcome.hits = count_bits(line->valid & mask);
  outcome.misses -= outcome.hits;
  line->valid |= mask;
  if (write)
    line->dirty |= mask;
  count(&l2->counters, &outcome, write);
  return outcome;
}
