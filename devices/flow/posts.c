/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; what is gone closes its gap. core/base/lookup.h does not
 * take items out, and most notifies are taken out at once: a table of all would grow for ever. */
#include "devices/flow/posts.h"

#include <stdlib.h>

#include "core/base/arith.h"

struct post {
  struct post_key key;
  uint32_t count, waiter; /* notifies that have come, or who waits; both 0 and nobody: free */
};

static bool is_free(const struct post *post) {
  return post->count == 0 && post->waiter == POST_NOBODY;
}

static bool equal(const struct post_key *a, const struct post_key *b) {
  return a->instance == b->instance && a->to == b->to && a->from == b->from && a->kind == b->kind;
}

static size_t home_of(const struct posts *posts, const struct post_key *key) {
  uint64_t state = key->instance ^ (uint64_t)key->to << 40 ^ (uint64_t)key->from << 8 ^ key->kind;
  return (size_t)(splitmix64_next(&state) & (posts->capacity - 1));
}

/* The slot of the key, or the free one where it belongs. */
static struct post *slot_of(const struct posts *posts, const struct post_key *key) {
  size_t at = home_of(posts, key);
  while (!is_free(&posts->slots[at]) && !equal(&posts->slots[at].key, key))
    at = (at + 1) & (posts->capacity - 1);
  return &posts->slots[at];
}

static bool grow(struct posts *posts) {
  struct posts larger = {.capacity = posts->capacity ? 2 * posts->capacity : 256};
  larger.slots = malloc(larger.capacity * sizeof *larger.slots);
  if (!larger.slots)
    return false;
  for (size_t i = 0; i < larger.capacity; i++)
    larger.slots[i] = (struct post){.waiter = POST_NOBODY};
  for (size_t i = 0; i < posts->capacity; i++)
    if (!is_free(&posts->slots[i]))
      *slot_of(&larger, &posts->slots[i].key) = posts->slots[i];
  larger.count = posts->count;
  free(posts->slots);
  *posts = larger;
  return true;
}

/* A slot that a new entry fits into, NULL when memory is short. */
static struct post *slot_for(struct posts *posts, const struct post_key *key) {
  if (2 * (posts->count + 1) > posts->capacity && !grow(posts))
    return NULL;
  struct post *post = slot_of(posts, key);
  if (is_free(post)) {
    post->key = *key;
    posts->count++;
  }
  return post;
}

/* Frees a slot; entries behind that would no longer be found move up. */
static void drop(struct posts *posts, struct post *post) {
  size_t mask = posts->capacity - 1, gap = (size_t)(post - posts->slots);
  posts->count--;
  for (size_t at = (gap + 1) & mask; !is_free(&posts->slots[at]); at = (at + 1) & mask) {
    size_t home = home_of(posts, &posts->slots[at].key);
    if (((at - home) & mask) < ((at - gap) & mask))
      continue;
    posts->slots[gap] = posts->slots[at];
    gap = at;
  }
  posts->slots[gap] = (struct post){.waiter = POST_NOBODY};
}

bool posts_come(struct posts *posts, struct post_key key, uint32_t *waiter) {
  struct post *post = slot_for(posts, &key);
  *waiter = POST_NOBODY;
  if (!post)
    return false;
  *waiter = post->waiter;
  if (post->waiter == POST_NOBODY)
    post->count++;
  else
    drop(posts, post);
  return true;
}

bool posts_wait(struct posts *posts, struct post_key key, uint32_t waiter, bool *come) {
  struct post *post = slot_for(posts, &key);
  *come = false;
  if (!post)
    return false;
  *come = post->count > 0;
  if (!*come)
    post->waiter = waiter;
  else if (--post->count == 0)
    drop(posts, post);
  return true;
}

void posts_free(struct posts *posts) { free(posts->slots); }
