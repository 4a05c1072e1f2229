/* SPDX-License-Identifier: Apache-2.0 */
/* The record of what passes did (history.h). */
#include "networks/passes/history.h"

#include <string.h>

enum { FIRST_EVENTS = 128 };

const char *history_kind_name(enum history_kind kind) {
  static const char *const names[] = {
#define X(id, key) key,
      HISTORY_KIND_LIST(X)
#undef X
  };
  return names[kind];
}

void history_free(struct history *history) {
  arena_free(&history->arena);
  *history = (struct history){0};
}

bool history_add(struct history *history, const struct history_event *event) {
  if (history->count == history->room) {
    size_t room = history->room ? 2 * history->room : FIRST_EVENTS;
    struct history_event *more = ARENA_ARRAY(&history->arena, struct history_event, room);
    if (!more)
      return false;
    if (history->count > 0)
      memcpy(more, history->events, history->count * sizeof *more);
    history->events = more;
    history->room = room;
  }
  struct history_event *own = &history->events[history->count];
  *own = *event;
  own->now = arena_strdup(&history->arena, event->now ? event->now : "");
  history->count += own->now != NULL;
  return own->now != NULL;
}

const char *history_holder(const struct history *history, const char *name, bool kernels) {
  for (size_t i = 0; i < history->count; i++) {
    const struct history_event *event = &history->events[i];
    if (event->kernels != kernels || event->kind == HISTORY_CHANGED ||
        event->kind == HISTORY_REFUSED || strcmp(event->node.name, name) != 0)
      continue;
    if (event->kind == HISTORY_DROPPED)
      return NULL;
    name = event->into;
  }
  return name;
}
