/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifies that have come and nobody has waited for yet, and those who wait for one that has not
 * come: never both for the same key. A hash table whose order nobody sees.
 */
#ifndef VINCI_DEVICES_FLOW_POSTS_H
#define VINCI_DEVICES_FLOW_POSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum post_kind { POST_READY, POST_DONE };

/* Of one collective: from one rank to another. */
struct post_key {
  uint64_t instance;
  uint32_t to, from;
  enum post_kind kind;
};

struct post;
/* All zero: empty. */
struct posts {
  struct post *slots;
  size_t count, capacity; /* a power of two, or 0 */
};

#define POST_NOBODY UINT32_MAX

void posts_free(struct posts *posts);
/* One has come: *waiter is who waited, or POST_NOBODY: kept. False when memory is short. */
bool posts_come(struct posts *posts, struct post_key key, uint32_t *waiter);
/* True in *come when one had come, which is gone now; otherwise waiter is noted. */
bool posts_wait(struct posts *posts, struct post_key key, uint32_t waiter, bool *come);

#endif
