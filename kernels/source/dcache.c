/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a data cache and their exchange with device memory: dcache.h. */
#include "kernels/source/dcache.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 64, HEADS = 1 << 10, LINES_FIRST = 64 };

struct dcache_line {
  uint64_t line;
  uint32_t next; /* of the same head, + 1 */
  bool dirty, aside;
  uint8_t other[LINE_BYTES]; /* what others see while the code runs; else what the core sees */
};

struct source_dcache {
  uint8_t *gm;
  uint64_t gm_bytes;
  struct dcache_line *lines;
  uint32_t count, capacity;
  uint32_t head[HEADS]; /* + 1 */
  bool any_aside;
};

struct source_dcache *source_dcache_new(void) {
  return calloc(1, sizeof(struct source_dcache));
}

void source_dcache_start(struct source_dcache *cache, uint8_t *gm, uint64_t gm_bytes) {
  cache->gm = gm;
  cache->gm_bytes = gm_bytes;
  cache->count = 0; /* a block that has failed may have left lines */
  cache->any_aside = false;
  memset(cache->head, 0, sizeof cache->head);
}

void source_dcache_free(struct source_dcache *cache) {
  if (cache)
    free(cache->lines);
  free(cache);
}

static uint32_t *link_of(struct source_dcache *cache, uint64_t line) {
  uint32_t *link = &cache->head[line * UINT64_C(0x9E3779B97F4A7C15) >> 40 & (HEADS - 1)];
  while (*link != 0 && cache->lines[*link - 1].line != line)
    link = &cache->lines[*link - 1].next;
  return link;
}

/* Device memory and the line change places. */
static void exchange(struct source_dcache *cache, struct dcache_line *line) {
  uint8_t kept[LINE_BYTES], *memory = cache->gm + line->line * LINE_BYTES;
  if (memcmp(memory, line->other, sizeof kept) == 0)
    return;
  memcpy(kept, memory, sizeof kept);
  memcpy(memory, line->other, sizeof kept);
  memcpy(line->other, kept, sizeof kept);
}

static void exchange_all(struct source_dcache *cache) {
  for (uint32_t i = 0; i < cache->count; i++)
    exchange(cache, &cache->lines[i]);
}

/* What an access beside the cache has seen is over. */
static void end_aside(struct source_dcache *cache) {
  for (uint32_t i = 0; cache->any_aside && i < cache->count; i++) {
    if (cache->lines[i].aside)
      exchange(cache, &cache->lines[i]);
    cache->lines[i].aside = false;
  }
  cache->any_aside = false;
}

/* A line that is not there yet; false when memory is short. */
static bool bring(struct source_dcache *cache, uint64_t number, bool dirty) {
  if (cache->count == cache->capacity) {
    uint32_t capacity = cache->capacity ? 2 * cache->capacity : LINES_FIRST;
    struct dcache_line *more = realloc(cache->lines, capacity * sizeof *more);
    if (!more)
      return false;
    cache->lines = more;
    cache->capacity = capacity;
  }
  uint32_t *link = link_of(cache, number);
  struct dcache_line *line = &cache->lines[cache->count];
  *line = (struct dcache_line){.line = number, .dirty = dirty};
  memcpy(line->other, cache->gm + number * LINE_BYTES, sizeof line->other);
  *link = ++cache->count;
  return true;
}

bool source_dcache_access(struct source_dcache *cache, uint64_t address, uint64_t bytes,
                          bool writes, bool passes) {
  end_aside(cache);
  if (bytes == 0 || address >= cache->gm_bytes || bytes > cache->gm_bytes - address)
    return true; /* leaves device memory: others tell */
  uint64_t last = (address + bytes - 1) / LINE_BYTES;
  for (uint64_t number = address / LINE_BYTES; number <= last; number++) {
    uint32_t at = *link_of(cache, number);
    struct dcache_line *line = at ? &cache->lines[at - 1] : NULL;
    if (passes && line) {
      exchange(cache, line);
      line->aside = cache->any_aside = true;
    } else if (line) {
      line->dirty |= writes;
    } else if (!passes && !bring(cache, number, writes)) {
      return false;
    }
  }
  return true;
}

/* Takes a line out of the cache; the last line takes its place. */
static void drop(struct source_dcache *cache, uint32_t *link) {
  uint32_t at = *link - 1, last = cache->count - 1;
  struct dcache_line *line = &cache->lines[at];
  if (!line->dirty)
    exchange(cache, line);
  *link = line->next;
  if (at != last) {
    *link_of(cache, cache->lines[last].line) = at + 1;
    *line = cache->lines[last];
  }
  cache->count--;
}

void source_dcache_clean(struct source_dcache *cache, uint64_t address, bool whole) {
  end_aside(cache);
  uint32_t *link = link_of(cache, address / LINE_BYTES);
  if (!whole && *link != 0)
    drop(cache, link);
  while (whole && cache->count > 0)
    drop(cache, link_of(cache, cache->lines[cache->count - 1].line));
}

void source_dcache_enter(struct source_dcache *cache) {
  if (cache)
    exchange_all(cache);
}

void source_dcache_leave(struct source_dcache *cache) {
  if (!cache)
    return;
  end_aside(cache);
  exchange_all(cache);
}
