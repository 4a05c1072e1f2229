/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rows of MemSet clear. Profiles give them no tensors. The vendor launches them for kernels
 * that add into their results, right before, and names them after these: in profiles of a training
 * step "aclnnMm_MatMulCommon_MemSet" stands before "aclnnMm_MatMulCommon_MatMulV2". The first
 * result of that kernel is then what is cleared: 622 MB of a table of embeddings took 811 us on a
 * 910B4, which is what the memory needs. Workspaces that are cleared as well are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "lower/calls/calls.h"

static bool is_absent(const char *cell) { return *cell == '\0' || strcmp(cell, "N/A") == 0; }

/* "a_b_MemSet" before "a_b_c", or before "a_b". */
static bool clears_for(const struct call_row *row, const struct call_row *next) {
  static const char ending[] = "MemSet";
  const char *name = row->cell[CALL_NAME], *user = next->cell[CALL_NAME];
  size_t length = strlen(name), tail = sizeof ending - 1;
  if (strcmp(row->cell[CALL_TYPE], ending) != 0 || !is_absent(row->cell[CALL_IN_SHAPES]) ||
      !is_absent(row->cell[CALL_OUT_SHAPES]) || is_absent(next->cell[CALL_OUT_SHAPES]))
    return false;
  if (length < tail + 2 || strcmp(name + length - tail, ending) != 0 ||
      name[length - tail - 1] != '_')
    return false;
  size_t common = length - tail - 1;
  return strncmp(name, user, common) == 0 && (user[common] == '\0' || user[common] == '_');
}

/* The first part of a cell, "a;b" or "\"a;b\"". */
static const char *first_part(struct arena *arena, const char *cell) {
  cell += *cell == '"';
  return arena_strndup(arena, cell, strcspn(cell, ";\""));
}

/* By chip, then by start; rows that begin together as they are listed. */
static int compare_rows(const void *left, const void *right) {
  const struct call_row *a = *(struct call_row *const *)left;
  const struct call_row *b = *(struct call_row *const *)right;
  int chips = strcmp(a->cell[CALL_SOC], b->cell[CALL_SOC]);
  if (chips != 0)
    return chips;
  if (a->start_ns != b->start_ns)
    return a->start_ns < b->start_ns ? -1 : 1;
  return (a > b) - (a < b);
}

/* Rows in the order of their starts, or as they are listed where one has none. NULL without memory.
 */
static struct call_row **in_order(struct call_list *list) {
  struct call_row **rows = ARENA_ARRAY(&list->arena, struct call_row *, list->count + 1);
  bool started = true;
  for (size_t i = 0; rows && i < list->count; i++) {
    rows[i] = &list->rows[i];
    started &= rows[i]->started;
  }
  if (rows && started)
    qsort(rows, list->count, sizeof *rows, compare_rows);
  return rows;
}

bool calls_find_cleared(struct call_list *list) {
  static const enum call_column columns[] = {CALL_OUT_SHAPES, CALL_OUT_TYPES, CALL_OUT_FORMATS};
  struct call_row **rows = in_order(list);
  if (!rows)
    return false;
  for (size_t i = 0; i + 1 < list->count; i++) {
    struct call_row *row = rows[i], *next = rows[i + 1];
    if (!clears_for(row, next))
      continue;
    next->cleared = next == row + 1; /* sequences take rows as they are listed */
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
      if (!(row->cell[columns[c]] = first_part(&list->arena, next->cell[columns[c]])))
        return false;
  }
  return true;
}
