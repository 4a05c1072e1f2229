/* SPDX-License-Identifier: Apache-2.0 */
/* What a file says and no reader knows. */
#include "core/base/unread.h"

#include <string.h>

static const struct {
  const char *what, *why;
} kinds[] = {
#define X(id, what, why) {what, why},
    UNREAD_LIST(X)
#undef X
};

const char *unread_what(enum unread_kind kind) { return kinds[kind].what; }
const char *unread_why(enum unread_kind kind) { return kinds[kind].why; }

/* A name that says what a terminal shall do says nothing else. */
static char clean(char c) { return (unsigned char)c < ' ' || c == 0x7f ? ' ' : c; }

static char *clean_copy(struct arena *arena, const char *name, size_t length) {
  char *copy = arena_strndup(arena, name, length);
  for (size_t i = 0; copy && i < length; i++)
    copy[i] = clean(copy[i]);
  return copy;
}

static bool is_clean_copy(const char *copy, const char *name, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (copy[i] != clean(name[i]))
      return false;
  return copy[length] == '\0';
}

/* Looked for before anything is copied: a cell without a column may come in each row of a list. */
static bool is_kept(const struct unread *unread, const struct unread_found *found) {
  const char *path = found->at.path ? found->at.path : "";
  for (const struct unread_name *kept = unread->first; kept; kept = kept->next)
    if (kept->kind == found->kind && is_clean_copy(kept->name, found->name, found->length) &&
        strcmp(kept->path, path) == 0)
      return true;
  return false;
}

bool unread_add(struct unread *unread, struct arena *arena, const struct unread_found *found) {
  if (is_kept(unread, found))
    return true;
  if (unread->count == UNREAD_NAMES_MAX) {
    unread->more++;
    return true;
  }
  struct unread_name *kept = ARENA_NEW(arena, struct unread_name);
  if (!kept)
    return false;
  *kept =
      (struct unread_name){.kind = found->kind, .line = found->at.line, .column = found->at.column};
  kept->name = clean_copy(arena, found->name, found->length);
  kept->path = arena_strdup(arena, found->at.path ? found->at.path : "");
  kept->meant = found->meant ? arena_strdup(arena, found->meant) : NULL;
  if (!kept->name || !kept->path || (found->meant && !kept->meant))
    return false;
  *(unread->last ? &unread->last->next : &unread->first) = kept;
  unread->last = kept;
  unread->count++;
  return true;
}

void unread_text(const struct unread_name *name, char *text, size_t size) {
  char place[64] = "", meant[128] = "";
  if (name->line > 0 && name->column > 0)
    snprintf(place, sizeof place, ":%lu:%lu", name->line, name->column);
  else if (name->line > 0)
    snprintf(place, sizeof place, ":%lu", name->line);
  if (name->meant)
    snprintf(meant, sizeof meant, "; did you mean \"%.80s\"?", name->meant);
  snprintf(text, size, "%.4000s%s: warning: %s \"%.200s\" %s and has no effect%s", name->path,
           place, unread_what(name->kind), name->name, unread_why(name->kind), meant);
}

void unread_warn(const struct unread *unread, const struct vinci_diag *diag) {
  char text[UNREAD_TEXT_BYTES];
  for (const struct unread_name *name = unread->first; name; name = name->next) {
    unread_text(name, text, sizeof text);
    diag_warn(diag, text);
  }
  snprintf(text, sizeof text, "warning: %zu more names are not known and have no effect",
           unread->more);
  if (unread->more > 0)
    diag_warn(diag, text);
}
