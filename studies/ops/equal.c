/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a list that ask for the same: only the first of them has to be simulated. */
#include <string.h>

#include "core/base/digest.h"
#include "core/base/lookup.h"
#include "studies/ops/ops.h"

/* What a row is called, and what was measured, has no part in its result; but the state of code
 * may be told by what was measured. */
static bool is_asked(enum call_column column, bool code_profile) {
  if (column == CALL_AIC_MISSES || column == CALL_AIV_MISSES)
    return code_profile;
  switch (column) {
  case CALL_NAME:
  case CALL_DEVICE:
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

static uint64_t digest_of(const struct call_row *row, bool code_profile) {
  uint64_t digest = DIGEST_SEED;
  for (unsigned column = 0; column < CALL_COLUMN_COUNT; column++)
    if (is_asked((enum call_column)column, code_profile))
      digest = digest_string(digest, row->cell[column]);
  return digest;
}

static bool asks_the_same(const struct call_row *one, const struct call_row *other,
                          bool code_profile) {
  for (unsigned column = 0; column < CALL_COLUMN_COUNT; column++)
    if (is_asked((enum call_column)column, code_profile) &&
        strcmp(one->cell[column], other->cell[column]) != 0)
      return false;
  return true;
}

/* The first row that asks for the same as a row, maybe the row itself. */
static size_t first_like(struct lookup *known, const struct ops_worker *worker, size_t row) {
  const struct call_row *all = worker->list->rows;
  bool code_profile = worker->request->code_profile;
  uint64_t digest = digest_of(&all[row], code_profile);
  size_t looked = 0, first;
  while ((first = lookup_next(known, digest, &looked)) != LOOKUP_NONE)
    if (asks_the_same(&all[first], &all[row], code_profile))
      return first;
  return lookup_add(known, NULL, digest, row) ? row : LOOKUP_NONE;
}

static bool find(struct lookup *known, struct ops_worker *worker, const bool *done,
                 struct ops_equal *equal) {
  const struct call_list *list = worker->list;
  for (size_t i = 0; i < list->count; i++) {
    struct vinci_diag diag = {0}; /* rows of a chip that cannot be loaded fail alone */
    equal[i] = (struct ops_equal){.first = i, .next = OPS_NO_ROW, .last = i};
    if (done[i] ||
        ops_take_soc(worker, ops_soc_of(worker->request, &list->rows[i]), &diag) != VINCI_OK)
      continue;
    size_t first = first_like(known, worker, i);
    if (first == LOOKUP_NONE)
      return false;
    equal[i].first = first;
    if (first != i)
      equal[equal[first].last].next = i;
    equal[first].last = i;
  }
  return true;
}

bool ops_find_equal(struct ops_worker *worker, const bool *done, struct ops_equal *equal) {
  struct lookup known = {0};
  bool room = find(&known, worker, done, equal);
  lookup_free(&known);
  return room;
}
