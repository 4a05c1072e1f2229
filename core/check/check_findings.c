/* SPDX-License-Identifier: Apache-2.0 */
/* The store of findings: merged, counted and brought into order. */
#include "core/check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"

enum { FIRST_ROOM = 128, DETAIL_MAX = 1100 };

static const struct {
  unsigned check;
  const char *key;
  const char *text;
} kinds[FINDING_KINDS] = {
#define X(id, check, key, text) [FINDING_##id] = {VINCI_CHECK_##check, key, text},
    FINDING_LIST(X)
#undef X
};

const char *finding_key(enum finding_kind kind) { return kinds[kind].key; }
const char *finding_text(enum finding_kind kind) { return kinds[kind].text; }

static const struct {
  const char *name;
  enum finding_level level;
  unsigned check;
} disputes[DISPUTED_COUNT] = {
#define DISPUTED(id, name, level, check, vendor, boards, vinci, source)                            \
  [DISPUTED_##id] = {name, LEVEL_##level, VINCI_CHECK_##check},
#include "core/check/disputed.def"
#undef DISPUTED
};

const char *disputed_name(enum disputed disputed) { return disputes[disputed].name; }

unsigned finding_check(const struct check_finding *finding) {
  return finding->kind == FINDING_DISPUTED ? disputes[finding->topic].check
                                           : kinds[finding->kind].check;
}

enum finding_level finding_level(const struct check_finding *finding) {
  if (finding->kind == FINDING_DISPUTED)
    return disputes[finding->topic].level;
  bool warns = finding->kind == FINDING_STATE || finding->kind == FINDING_SHARED_LINE ||
               finding->kind == FINDING_PADS || finding->kind == FINDING_STATE_LEFT;
  return warns ? LEVEL_WARNING : LEVEL_ERROR;
}

const char *finding_level_name(enum finding_level level) {
  static const char *const names[] = {"ERROR", "WARNING", "NOTE"};
  return names[level];
}

const char *check_name(unsigned check) {
  switch (check) {
#define X(id, bit, name, text)                                                                     \
  case VINCI_CHECK_##id:                                                                           \
    return name;
    VINCI_CHECK_LIST(X)
#undef X
  default:
    return "?";
  }
}

/* What makes two findings one: kind, place, rows and pipes. */
static bool same_finding(const struct check_finding *a, const struct check_finding *b) {
  if (a->kind != b->kind || a->space != b->space || a->kernel != b->kernel || a->topic != b->topic)
    return false;
  if (a->kind == FINDING_DISPUTED) /* once for a kernel */
    return true;
  for (unsigned i = 0; i < FINDING_EVENTS; i++)
    if (a->event[i].given != b->event[i].given || a->event[i].row != b->event[i].row ||
        a->event[i].pipe != b->event[i].pipe || a->event[i].core_kind != b->event[i].core_kind)
      return false;
  return true;
}

static uint64_t key_of(const struct check_finding *finding) {
  uint64_t key =
      digest_word(DIGEST_SEED, (uint64_t)finding->kind << 40 ^ (uint64_t)finding->space << 32 ^
                                   finding->kernel ^ (uint64_t)finding->topic << 48);
  for (unsigned i = 0; i < FINDING_EVENTS && finding->kind != FINDING_DISPUTED; i++)
    key = digest_word(key, finding->event[i].row ^ (uint64_t)finding->event[i].pipe << 36);
  return key;
}

static bool make_room(struct vinci_findings *findings) {
  if (findings->count < findings->capacity)
    return true;
  size_t capacity = findings->capacity ? 2 * findings->capacity : FIRST_ROOM;
  struct check_finding *grown = realloc(findings->items, capacity * sizeof *grown);
  if (!grown)
    return false;
  findings->items = grown;
  findings->capacity = capacity;
  return true;
}

struct check_finding *findings_add(struct vinci_findings *findings,
                                   const struct check_finding *finding) {
  uint64_t key = key_of(finding);
  size_t looked = 0;
  for (size_t at; (at = lookup_next(&findings->table, key, &looked)) != LOOKUP_NONE;) {
    struct check_finding *known = &findings->items[at];
    if (!same_finding(known, finding))
      continue;
    known->count += known->serial != finding->serial;
    known->serial = finding->serial;
    return NULL;
  }
  if (!make_room(findings) || !lookup_add(&findings->table, NULL, key, findings->count)) {
    findings->failed = true;
    return NULL;
  }
  struct check_finding *added = &findings->items[findings->count++];
  *added = *finding;
  added->count = 1;
  if (!added->detail)
    added->detail = "";
  return added;
}

void findings_recount(struct vinci_findings *findings) {
  for (size_t i = 0; i < findings->count; i++) {
    findings->items[i].counted = findings->items[i].count;
    findings->items[i].count = 0;
  }
}

void findings_keep_counts(struct vinci_findings *findings) {
  for (size_t i = 0; i < findings->count; i++)
    if (findings->items[i].count < findings->items[i].counted)
      findings->items[i].count = findings->items[i].counted;
}

void findings_detail(struct vinci_findings *findings, struct check_finding *finding,
                     const char *format, ...) {
  char text[DETAIL_MAX];
  if (!finding)
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char *copy = arena_strdup(&findings->arena, text);
  if (copy)
    finding->detail = copy;
  else
    findings->failed = true;
}

#define ORDER(a, b)                                                                                \
  if ((a) != (b))                                                                                  \
  return (a) < (b) ? -1 : 1

static int compare(const void *left, const void *right) {
  const struct check_finding *a = left, *b = right;
  ORDER(a->kernel, b->kernel);
  ORDER(a->event[1].row, b->event[1].row);
  ORDER(a->event[0].row, b->event[0].row);
  ORDER(a->kind, b->kind);
  ORDER(a->space, b->space);
  ORDER(a->topic, b->topic);
  ORDER(a->event[1].pipe, b->event[1].pipe);
  ORDER(a->event[0].pipe, b->event[0].pipe);
  ORDER(a->event[1].core_kind, b->event[1].core_kind);
  ORDER(a->event[0].core_kind, b->event[0].core_kind);
  return 0;
}

void findings_sort(struct vinci_findings *findings) {
  if (findings->count > 1)
    qsort(findings->items, findings->count, sizeof *findings->items, compare);
  memset(findings->levels, 0, sizeof findings->levels);
  for (size_t i = 0; i < findings->count; i++)
    findings->levels[finding_level(&findings->items[i])]++;
}

size_t vinci_findings_count(const vinci_findings *findings) {
  return findings->levels[LEVEL_ERROR];
}

size_t vinci_findings_warnings(const vinci_findings *findings) {
  return findings->count - findings->levels[LEVEL_ERROR];
}

void check_names_not_run(unsigned checks, const char *before, char *out, size_t size) {
  size_t used = 0;
  *out = '\0';
  for (unsigned check = 1; check < VINCI_CHECK_ALL && used < size; check <<= 1)
    if (!(checks & check)) {
      used += (size_t)snprintf(out + used, size - used, "%s%s", before, check_name(check));
      before = ", ";
    }
}

void findings_say_unchecked(struct vinci_findings *findings, const char *kernel) {
  char *text = findings->unchecked_text;
  size_t size = sizeof findings->unchecked_text;
  program_scalar_text(&findings->scalar, kernel, text, size);
  size_t length = strlen(text);
  if (findings->waits_in_memory)
    length += (size_t)snprintf(text + length, size - length,
                               "%sorder between cores not checked: kernel %s waits through memory",
                               length > 0 ? "; " : "", kernel);
  check_names_not_run(findings->checks, length > 0 ? "; not run: " : "not run: ", text + length,
                      size - length);
}

const char *vinci_findings_unchecked(const vinci_findings *findings) {
  return findings->unchecked_text;
}

void vinci_findings_free(vinci_findings *findings) {
  if (!findings)
    return;
  struct arena arena = findings->arena;
  free(findings->items);
  lookup_free(&findings->table);
  arena_free(&arena);
}
