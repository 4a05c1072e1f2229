/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena: memory that lives as long as one simulation or one loaded program.
 * Nothing is freed singly. A sealed arena refuses to grow: the run phase seals
 * its arena, so an allocation there is a bug that shows at once.
 */
#ifndef VINCI_CORE_BASE_ARENA_H
#define VINCI_CORE_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
  struct arena_chunk *chunks;
  char *next;
  char *end;
  size_t total_bytes;
  bool sealed;
  struct arena_chunk *spare; /* of before arena_rewind() */
  bool used_before;          /* the present chunk is one of these */
  bool short_of_memory;      /* something that was asked for was not there */
};

/* An all-zero arena is ready for use. */
void arena_free(struct arena *arena);
/* Gives all memory back to the arena itself, for another simulation: pages that the system has
 * handed out once are handed out again. */
void arena_rewind(struct arena *arena);

/* Zeroed memory for count elements, aligned for any type; NULL when memory is short. */
void *arena_alloc(struct arena *arena, size_t count, size_t element_bytes);
/* The same with any contents, for what is large and written before it is read. */
void *arena_alloc_room(struct arena *arena, size_t count, size_t element_bytes);
/* A copy of length bytes of text plus a terminating zero. */
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_strdup(struct arena *arena, const char *text);

static inline void arena_seal(struct arena *arena) { arena->sealed = true; }

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), 1, sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_alloc((arena), (count), sizeof(type)))
#define ARENA_ROOM(arena, type, count) ((type *)arena_alloc_room((arena), (count), sizeof(type)))

/* Test hook: the n-th chunk request from now fails (0 = none). Not for the library's own use. */
void arena_fail_after(size_t chunks);

#endif
