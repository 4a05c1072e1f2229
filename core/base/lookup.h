/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table: items by key, with open addressing. An item is a number or a pointer; the
 * caller has what the item stands for. A key is a digest (digest.h) of what makes items equal.
 * Items with the same key may differ, so a caller whose key is not the whole truth looks at each.
 * Nothing depends on addresses.
 */
#ifndef VINCI_CORE_BASE_LOOKUP_H
#define VINCI_CORE_BASE_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/arena.h"

#define LOOKUP_NONE UINTPTR_MAX

/* An all-zero table is empty. */
struct lookup {
  struct lookup_slot {
    uint64_t key;
    uintptr_t item_after; /* item + 1; 0: free */
  } * slots;
  size_t slot_count, count; /* slots: a power of two, at least twice the items */
};

/* The next item with a key, in the order of adding; LOOKUP_NONE behind the last. *looked begins
 * with 0. */
uintptr_t lookup_next(const struct lookup *table, uint64_t key, size_t *looked);
/* The first item with a key; LOOKUP_NONE where there is none. */
static inline uintptr_t lookup_find(const struct lookup *table, uint64_t key) {
  size_t looked = 0;
  return lookup_next(table, key, &looked);
}
/* Adds an item. False when memory is short: the table is as before. The slots belong to the arena;
 * without an arena lookup_free() frees the slots. */
bool lookup_add(struct lookup *table, struct arena *arena, uint64_t key, uintptr_t item);
void lookup_free(struct lookup *table);

#endif
