/* SPDX-License-Identifier: Apache-2.0 */
/* L2 tags: which granules of GM are in the cache, and which are dirty. */
#include "memhier/memhier.h"

_Static_assert((int)SOC_L2_BYTES_MIN == (int)L2_FLAT_LINE_BYTES * L2_FLAT_WAYS,
               "a smaller cache would silently be none");

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
  l2->lines = ARENA_ARRAY(arena, struct l2_line, l2->set_count * ways);
  l2->oldest = ARENA_ARRAY(arena, uint8_t, l2->set_count);
  return l2->lines && l2->oldest;
}

static struct l2_line *find_line(struct l2_line *set, unsigned ways, uint32_t tag) {
  for (unsigned way = 0; way < ways; way++)
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

void l2_count_outcome(struct l2_counters *counters, const struct l2_outcome *outcome, bool write) {
  *(write ? &counters->write_hits : &counters->read_hits) += l2_count(outcome->hits);
  *(write ? &counters->write_misses : &counters->read_misses) += l2_count(outcome->misses);
  counters->writebacks += l2_count(outcome->written_back);
}

/* Makes room in a set: the oldest line leaves. */
static struct l2_line *replace(struct l2_tags *l2, uint64_t set_index, uint32_t tag,
                               struct l2_outcome *outcome) {
  uint32_t ways = l2->geometry.ways;
  struct l2_line *line = &l2->lines[set_index * ways + l2->oldest[set_index]];
  l2->oldest[set_index] = (uint8_t)((l2->oldest[set_index] + 1) % ways);
  outcome->written_back = line->dirty;
  outcome->victim_address = (uint64_t)(line->tag - 1) * l2->geometry.line_bytes;
  *line = (struct l2_line){.tag = tag};
  return line;
}

struct l2_outcome l2_access(struct l2_tags *l2, uint64_t address, uint64_t bytes, bool write) {
  uint32_t line_bytes = l2->geometry.line_bytes;
  uint32_t mask = granule_mask(address % line_bytes, bytes);
  struct l2_outcome outcome = {.misses = mask};
  if (l2->set_count == 0) {
    /* Without a cache what is written goes straight through. */
    outcome.written_back = write ? mask : 0;
    outcome.victim_address = address / line_bytes * line_bytes;
    l2_count_outcome(&l2->counters, &outcome, write);
    return outcome;
  }
  uint64_t number = address / line_bytes;
  uint64_t set_index = number % l2->set_count;
  uint32_t tag = (uint32_t)number + 1;
  struct l2_line *line =
      find_line(&l2->lines[set_index * l2->geometry.ways], l2->geometry.ways, tag);
  if (!line)
    line = replace(l2, set_index, tag, &outcome);
  outcome.hits = line->valid & mask;
  outcome.misses = mask & ~line->valid;
  line->valid |= mask;
  if (write)
    line->dirty |= mask;
  l2_count_outcome(&l2->counters, &outcome, write);
  return outcome;
}
