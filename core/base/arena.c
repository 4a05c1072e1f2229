/* SPDX-License-Identifier: Apache-2.0 */
/* Arena allocation in growing chunks. */
#include "core/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/diag.h"

struct arena_chunk {
  struct arena_chunk *next;
  size_t size;
  alignas(max_align_t) char bytes[];
};

enum { CHUNK_BYTES_MIN = 16 * 1024, CHUNK_BYTES_MAX = 1024 * 1024 };

/* Test hook, see arena_fail_after(). Not part of any simulation's state. */
static size_t fail_countdown;

void arena_fail_after(size_t chunks) { fail_countdown = chunks; }

static bool chunk_request_fails(void) {
  if (fail_countdown == 0)
    return false;
  return --fail_countdown == 0;
}

/*
 * Zeroed memory. Large chunks come from the system page by page, as they are touched: much
 * of what a chip could use no program does.
 */
static bool is_large(size_t size) { return size >= CHUNK_BYTES_MAX / 4; }

static struct arena_chunk *new_chunk(size_t size) {
  if (!is_large(size))
    return calloc(1, size);
  void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages != MAP_FAILED ? pages : NULL;
}

static void free_chunk(struct arena_chunk *chunk) {
  if (is_large(chunk->size))
    (void)munmap(chunk, chunk->size);
  else
    free(chunk);
}

static void start_chunk(struct arena *arena, struct arena_chunk *chunk) {
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  arena->next = chunk->bytes;
  arena->end = (char *)chunk + chunk->size;
}

/* The next of the chunks from before that is large enough. */
static bool take_spare(struct arena *arena, size_t need) {
  for (struct arena_chunk **at = &arena->spare; *at; at = &(*at)->next) {
    struct arena_chunk *chunk = *at;
    if (chunk->size - sizeof *chunk < need)
      continue;
    *at = chunk->next;
    start_chunk(arena, chunk);
    return true;
  }
  return false;
}

static bool arena_grow(struct arena *arena, size_t need) {
  if (arena->sealed)
    vinci_bug("allocation of %zu bytes from a sealed arena", need);
  arena->used_before = take_spare(arena, need);
  if (arena->used_before)
    return true;
  size_t size = arena->total_bytes;
  if (size < CHUNK_BYTES_MIN)
    size = CHUNK_BYTES_MIN;
  if (size > CHUNK_BYTES_MAX)
    size = CHUNK_BYTES_MAX;
  if (size < need)
    size = need;
  if (size > SIZE_MAX - sizeof(struct arena_chunk) || chunk_request_fails())
    return false;
  struct arena_chunk *chunk = new_chunk(sizeof *chunk + size);
  if (!chunk)
    return false;
  chunk->size = sizeof *chunk + size;
  start_chunk(arena, chunk);
  arena->total_bytes += size;
  return true;
}

static void *refuse(struct arena *arena) {
  arena->short_of_memory = true;
  return NULL;
}

void *arena_alloc_room(struct arena *arena, size_t count, size_t element_bytes) {
  const size_t align = alignof(max_align_t);
  size_t bytes;
  if (__builtin_mul_overflow(count, element_bytes, &bytes) || bytes > SIZE_MAX - align)
    return refuse(arena);
  bytes = (bytes + align - 1) / align * align;
  if (bytes == 0)
    bytes = align;
  if ((size_t)(arena->end - arena->next) < bytes && !arena_grow(arena, bytes))
    return refuse(arena);
  void *result = arena->next;
  arena->next += bytes;
  return result;
}

void *arena_alloc(struct arena *arena, size_t count, size_t element_bytes) {
  void *result = arena_alloc_room(arena, count, element_bytes);
  if (result && arena->used_before)
    memset(result, 0, count * element_bytes);
  return result;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length) {
  char *copy = arena_alloc(arena, length + 1, 1);
  if (copy)
    memcpy(copy, text, length);
  return copy;
}

char *arena_strdup(struct arena *arena, const char *text) {
  return arena_strndup(arena, text, strlen(text));
}

static void free_chunks(struct arena_chunk *chunk) {
  while (chunk) {
    struct arena_chunk *next = chunk->next;
    free_chunk(chunk);
    chunk = next;
  }
}

void arena_free(struct arena *arena) {
  free_chunks(arena->chunks);
  free_chunks(arena->spare);
  *arena = (struct arena){0};
}

/* The first chunk that was taken is the next to be taken: the same requests find the same chunks.
 */
void arena_rewind(struct arena *arena) {
  while (arena->chunks) {
    struct arena_chunk *chunk = arena->chunks;
    arena->chunks = chunk->next;
    chunk->next = arena->spare;
    arena->spare = chunk;
  }
  arena->next = arena->end = NULL;
  arena->sealed = arena->short_of_memory = false;
}
