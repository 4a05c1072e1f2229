/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives by group and turn. */
#include "devices/results/waits.h"

#include <stdlib.h>

/* Those of one group and turn stand together. */
static int by_instance(const void *left, const void *right) {
  const struct group_moment *a = *(const struct group_moment *const *)left,
                            *b = *(const struct group_moment *const *)right;
  if (a->group != b->group)
    return a->group < b->group ? -1 : 1;
  return a->turn < b->turn ? -1 : a->turn > b->turn;
}

/* The last to come; of those that came at once, that of the least rank. */
static bool later(const struct group_moment *one, const struct group_moment *than) {
  if (one->start_ps != than->start_ps)
    return one->start_ps > than->start_ps;
  return one->rank < than->rank;
}

static void find(const struct job_moments *moments, const struct group_moment **sorted,
                 struct job_waits *out) {
  size_t count = 0;
  for (size_t i = 0; i < moments->count; i++) {
    out->last_ps[i] = moments->items[i].start_ps;
    out->last_rank[i] = moments->items[i].rank;
    if (moments->items[i].op->kind == GROUP_COLLECTIVE)
      sorted[count++] = &moments->items[i];
  }
  qsort(sorted, count, sizeof(*sorted), by_instance);
  for (size_t from = 0, to; from < count; from = to) {
    const struct group_moment *last = sorted[from];
    for (to = from; to < count && by_instance(&sorted[from], &sorted[to]) == 0; to++)
      last = later(sorted[to], last) ? sorted[to] : last;
    for (size_t i = from; i < to; i++) {
      if (last->start_ps >= sorted[i]->end_ps)
        continue;
      out->last_ps[sorted[i] - moments->items] = last->start_ps;
      out->last_rank[sorted[i] - moments->items] = last->rank;
    }
  }
}

bool job_waits_find(const struct job_moments *moments, struct job_waits *out) {
  const struct group_moment **sorted = calloc(moments->count + 1, sizeof(*sorted));
  out->last_ps = calloc(moments->count + 1, sizeof *out->last_ps);
  out->last_rank = calloc(moments->count + 1, sizeof *out->last_rank);
  bool enough = sorted && out->last_ps && out->last_rank;
  if (enough)
    find(moments, sorted, out);
  free(sorted);
  return enough;
}

void job_waits_free(struct job_waits *waits) {
  free(waits->last_ps);
  free(waits->last_rank);
}
