/* SPDX-License-Identifier: Apache-2.0 */
/* Linear probing; a table that is half full grows to twice its slots. */
#include "core/base/lookup.h"

#include <stdlib.h>

#include "core/base/digest.h"

enum { FIRST_SLOTS = 64 };

uintptr_t lookup_next(const struct lookup *table, uint64_t key, size_t *looked) {
  if (table->slot_count == 0)
    return LOOKUP_NONE;
  uint64_t home = digest_word(DIGEST_SEED, key);
  for (;;) {
    const struct lookup_slot *slot = &table->slots[(home + (*looked)++) & (table->slot_count - 1)];
    if (slot->item_after == 0)
      return LOOKUP_NONE;
    if (slot->key == key)
      return slot->item_after - 1;
  }
}

static void put(struct lookup *table, uint64_t key, uintptr_t item_after) {
  uint64_t at = digest_word(DIGEST_SEED, key);
  while (table->slots[at & (table->slot_count - 1)].item_after != 0)
    at++;
  table->slots[at & (table->slot_count - 1)] = (struct lookup_slot){key, item_after};
  table->count++;
}

/* Where a run of slots begins that has no free slot before: items with the same key keep their
 * order when they are put again from there on. */
static size_t start_of_runs(const struct lookup *table) {
  size_t start = 0;
  while (start < table->slot_count && table->slots[start].item_after != 0)
    start++;
  return start;
}

static bool grow(struct lookup *table, struct arena *arena) {
  struct lookup larger = {.slot_count = table->slot_count ? 2 * table->slot_count : FIRST_SLOTS};
  larger.slots = arena ? ARENA_ARRAY(arena, struct lookup_slot, larger.slot_count)
                       : calloc(larger.slot_count, sizeof *larger.slots);
  if (!larger.slots)
    return false;
  size_t start = start_of_runs(table);
  for (size_t i = 0; i < table->slot_count; i++) {
    const struct lookup_slot *slot = &table->slots[(start + i) & (table->slot_count - 1)];
    if (slot->item_after != 0)
      put(&larger, slot->key, slot->item_after);
  }
  if (!arena)
    free(table->slots);
  *table = larger;
  return true;
}

bool lookup_add(struct lookup *table, struct arena *arena, uint64_t key, uintptr_t item) {
  if (2 * (table->count + 1) > table->slot_count && !grow(table, arena))
    return false;
  put(table, key, item + 1);
  return true;
}

void lookup_free(struct lookup *table) {
  free(table->slots);
  *table = (struct lookup){0};
}
