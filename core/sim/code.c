/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction caches. */
#include "core/sim/code.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/base/digest.h"
#include "core/vinci.h"

enum { PPM = 1000000, NO_CODE_LINES = 1 /* of a kernel that does not say how much code it has */ };

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t lines_of(const struct vinci_soc *soc, enum core_kind kind) {
  int64_t bytes = kind == CORE_AIV ? soc->code_vector_bytes : soc->code_cube_bytes;
  return (uint32_t)(bytes / soc->code_line_bytes);
}

static bool create_caches(struct code_caches *code, struct arena *arena, enum core_kind kind) {
  code->cache[kind] = ARENA_ARRAY(arena, struct code_cache, code->count[kind]);
  if (!code->cache[kind])
    return false;
  for (uint32_t i = 0; i < code->count[kind]; i++) {
    code->cache[kind][i].held = ARENA_ARRAY(arena, struct code_held, code->room);
    if (!code->cache[kind][i].held)
      return false;
  }
  return true;
}

bool code_create(struct code_caches *code, struct arena *arena, const struct vinci_soc *soc,
                 uint64_t kernels) {
  *code = (struct code_caches){0};
  uint32_t most = 0;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    code->count[kind] = soc_core_count(soc, (enum core_kind)kind);
    code->capacity_lines[kind] = lines_of(soc, (enum core_kind)kind);
    most = code->capacity_lines[kind] > most ? code->capacity_lines[kind] : most;
  }
  /* A cache holds a line of each at least, and the kernel that runs besides. */
  code->room = (uint32_t)min_u64(kernels, most) + 1;
  code->seen = ARENA_ARRAY(arena, struct code_seen, code->room);
  if (!code->seen)
    return false;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    if (code->count[kind] > 0 && !create_caches(code, arena, (enum core_kind)kind))
      return false;
  return true;
}

void code_start(struct code_caches *code, uint32_t found_ppm) {
  code->device = found_ppm == VINCI_CODE_DEVICE;
  code->found_ppm = code->device ? 0 : found_ppm;
}

void code_clear(struct code_caches *code) {
  code->seen_count = 0;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    code->first[kind] = code->next[kind] = 0;
    for (uint32_t i = 0; i < code->count[kind]; i++)
      code->cache[kind][i].count = 0;
  }
}

void code_copy(struct code_caches *code, const struct code_caches *from) {
  memcpy(code->seen, from->seen, from->seen_count * sizeof *code->seen);
  code->seen_count = from->seen_count;
  code->launches = from->launches;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    code->first[kind] = from->first[kind];
    code->next[kind] = from->next[kind];
    for (uint32_t i = 0; i < code->count[kind]; i++) {
      struct code_cache *cache = &code->cache[kind][i];
      const struct code_cache *other = &from->cache[kind][i];
      memcpy(cache->held, other->held, other->count * sizeof *cache->held);
      cache->count = other->count;
      cache->unused = other->unused;
      cache->asked = other->asked;
    }
  }
}

static uint64_t digest_cache(const struct code_cache *cache, uint64_t digest) {
  digest = digest_word(digest, cache->count);
  for (uint32_t i = 0; i < cache->count; i++)
    digest = digest_word(digest_word(digest, cache->held[i].kernel), cache->held[i].lines);
  return digest;
}

uint64_t code_digest(const struct code_caches *code, uint64_t seed) {
  uint64_t digest = digest_word(seed, code->seen_count);
  for (uint32_t i = 0; i < code->seen_count; i++)
    digest = digest_word(digest, code->seen[i].kernel);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    for (uint32_t i = 0; i < code->count[kind]; i++)
      digest = digest_cache(&code->cache[kind][(code->next[kind] + i) % code->count[kind]], digest);
  return digest;
}

uint64_t code_kernel(const struct vinci_trace *trace, const struct program_kernel *kernel) {
  uint64_t digest = digest_word(digest_string(DIGEST_SEED, kernel->name), kernel->blocks > 1);
  for (uint32_t i = 0; i < trace->tensor_count; i++)
    digest = digest_word(digest, trace->tensors[i].dtype);
  return digest;
}

void code_launch(struct code_caches *code, const uint32_t cores[CORE_KIND_COUNT]) {
  code->launches++;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    code->first[kind] = code->next[kind];
    if (code->count[kind] > 0)
      code->next[kind] = (code->first[kind] + cores[kind]) % code->count[kind];
  }
}

static struct code_cache *cache_of(struct code_caches *code, enum core_kind kind, uint32_t n) {
  return &code->cache[kind][(code->first[kind] + n) % code->count[kind]];
}

/* The launch in which a kernel came into L2, this one if it never ran. */
static bool comes_from_device(struct code_caches *code, uint64_t kernel) {
  for (uint32_t i = 0; i < code->seen_count; i++)
    if (code->seen[i].kernel == kernel)
      return code->seen[i].launch == code->launches;
  if (code->seen_count == code->room)
    return false;
  code->seen[code->seen_count++] = (struct code_seen){kernel, code->launches};
  return true;
}

static void remove_at(struct code_cache *cache, uint32_t index) {
  cache->count--;
  memmove(cache->held + index, cache->held + index + 1,
          (cache->count - index) * sizeof *cache->held);
}

/* Takes lines of the oldest kernels away until those of all fit; never of the one that runs. */
static void make_room(struct code_cache *cache, uint32_t capacity_lines) {
  uint32_t lines = cache->unused;
  for (uint32_t i = 0; i < cache->count; i++)
    lines += cache->held[i].lines;
  while (lines > capacity_lines && cache->count > 1) {
    uint32_t less = min_u32(cache->held[0].lines, lines - capacity_lines);
    lines -= less;
    cache->held[0].lines -= less;
    if (cache->held[0].lines == 0)
      remove_at(cache, 0);
  }
}

bool code_begin(struct code_caches *code, enum core_kind kind, uint32_t n, uint64_t kernel) {
  struct code_cache *cache = cache_of(code, kind, n);
  uint32_t found = 0, index = 0;
  while (index < cache->count && cache->held[index].kernel != kernel)
    index++;
  if (index < cache->count) {
    found = cache->held[index].lines;
    remove_at(cache, index);
  }
  if (cache->count == code->room)
    remove_at(cache, 0);
  cache->held[cache->count++] = (struct code_held){kernel, NO_CODE_LINES};
  cache->unused = found;
  cache->asked = 0;
  cache->far = code->device && comes_from_device(code, kernel);
  make_room(cache, code->capacity_lines[kind]);
  return found > 0 || code->found_ppm == PPM;
}

uint32_t code_fetch(struct code_caches *code, enum core_kind kind, uint32_t n, uint32_t lines) {
  struct code_cache *cache = cache_of(code, kind, n);
  uint32_t capacity_lines = code->capacity_lines[kind];
  cache->asked = (uint32_t)min_u64((uint64_t)cache->asked + lines, UINT32_MAX);
  uint32_t found = cache->asked <= capacity_lines ? min_u32(lines, cache->unused) : 0;
  uint32_t missing = lines - found;
  cache->unused -= found;
  cache->held[cache->count - 1].lines = min_u32(cache->asked, capacity_lines);
  make_room(cache, capacity_lines);
  if (cache->asked > capacity_lines)
    return missing;
  return missing - (uint32_t)((uint64_t)missing * code->found_ppm / PPM);
}

bool code_is_far(const struct code_caches *code, enum core_kind kind, uint32_t n) {
  return code->cache[kind][(code->first[kind] + n) % code->count[kind]].far;
}

uint64_t code_device_cycles(const struct vinci_soc *soc) {
  return (uint64_t)(soc->l2_miss_cycles * soc->code_line_bytes / soc->l2_line_bytes);
}
