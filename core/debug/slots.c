/* SPDX-License-Identifier: Apache-2.0 */
#include "core/debug/slots.h"

#include <stdlib.h>

enum { CAPACITY_FIRST = 16 };

static bool grow(struct slots *slots) {
  size_t capacity = slots->capacity ? 2 * slots->capacity : CAPACITY_FIRST;
  struct debug_slot *items = malloc(capacity * sizeof *items);
  if (!items)
    return false;
  for (size_t i = 0; i < slots->count; i++)
    items[i] = *slots_at(slots, i);
  free(slots->items);
  slots->items = items;
  slots->capacity = capacity;
  slots->head = 0;
  return true;
}

struct debug_slot *slots_add(struct slots *slots) {
  if (slots->count == slots->capacity && !grow(slots))
    return NULL;
  return slots_at(slots, slots->count++);
}

void slots_drop_ended(struct slots *slots) {
  while (slots->count > 0 && slots_at(slots, 0)->ended) {
    slots->head = (slots->head + 1) % slots->capacity;
    slots->count--;
    slots->first++;
  }
}
