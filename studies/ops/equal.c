/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a list that ask for the same: only the first of them has to be simulated. */
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "studies/ops/ops.h"

/* What a row is called, and what was measured, has no part in its result. */
static bool is_asked(enum call_column column) {
  switch (column) {
  case CALL_NAME:
  case CALL_DURATION:
  case CALL_START:
  case CALL_MAC_TIME:
  case CALL_VEC_TIME:
  case CALL_SCALAR_TIME:
  case CALL_MTE1_TIME:
  case CALL_MTE2_TIME:
  case CALL_MTE3_TIME:
  case CALL_FIXPIPE_TIME:
  case CALL_CORE_TIME:
  case CALL_CORE_CYCLES:
  case CALL_START_TIME:
  case CALL_STATUS:
  case CALL_LOWERED:
  case CALL_SOURCE:
  case CALL_WEIGHT:
    return false;
  default:
    return true;
  }
}

static uint64_t digest_of(const struct call_row *row) {
  uint64_t digest = DIGEST_SEED;
  for (unsigned column = 0; column < CALL_COLUMN_COUNT; column++)
    if (is_asked((enum call_column)column))
      digest = digest_string(digest, row->cell[column]);
  return digest;
}

static bool asks_the_same(const struct call_row *one, const struct call_row *other) {
  for (unsigned column = 0; column < CALL_COLUMN_COUNT; column++)
    if (is_asked((enum call_column)column) && strcmp(one->cell[column], other->cell[column]) != 0)
      return false;
  return true;
}

/* Rows by digest, in a table of a power of two of places: number + 1, 0 where there is none. */
struct rows_by_digest {
  size_t *row;
  uint64_t *digest;
  size_t mask;
};

/* The first row that asks for the same as a row, maybe the row itself. */
static size_t first_like(struct rows_by_digest *rows, const struct ops_worker *worker, size_t row) {
  const struct call_row *all = worker->list->rows;
  uint64_t digest = digest_of(&all[row]);
  size_t place = digest & rows->mask;
  for (; rows->row[place] != 0; place = (place + 1) & rows->mask) {
    size_t first = rows->row[place] - 1;
    if (rows->digest[place] == digest && asks_the_same(&all[first], &all[row]))
      return first;
  }
  rows->row[place] = row + 1;
  rows->digest[place] = digest;
  return row;
}

static void find(struct rows_by_digest *rows, struct ops_worker *worker, const bool *done,
                 struct ops_equal *equal) {
  const struct call_list *list = worker->list;
  for (size_t i = 0; i < list->count; i++) {
    struct vinci_diag diag = {0}; /* rows of a chip that cannot be loaded fail alone */
    equal[i] = (struct ops_equal){.first = i, .next = OPS_NO_ROW, .last = i};
    if (done[i] ||
        ops_take_soc(worker, ops_soc_of(worker->request, &list->rows[i]), &diag) != VINCI_OK)
      continue;
    struct ops_equal *first = &equal[first_like(rows, worker, i)];
    equal[i].first = (size_t)(first - equal);
    if (equal[i].first != i)
      equal[first->last].next = i;
    first->last = i;
  }
}

bool ops_find_equal(struct ops_worker *worker, const bool *done, struct ops_equal *equal) {
  size_t places = 1;
  while (places < 2 * worker->list->count)
    places *= 2;
  struct rows_by_digest rows = {.row = calloc(places, sizeof *rows.row),
                                .digest = calloc(places, sizeof *rows.digest),
                                .mask = places - 1};
  bool room = rows.row && rows.digest;
  if (room)
    find(&rows, worker, done, equal);
  free(rows.row);
  free(rows.digest);
  return room;
}
