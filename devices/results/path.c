/* SPDX-License-Identifier: Apache-2.0 */
/* The walk from the end of a job to its start. */
#include "devices/results/path.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "devices/results/waits.h"

enum { US_DIGITS = 6 };
#define US(ps) decimal_exact(ps, US_DIGITS).text

/* A piece of the path; moment NULL: its rank did nothing. */
struct piece {
  const struct group_moment *moment;
  uint32_t rank;
  uint64_t from_ps, to_ps;
};

struct walk {
  const struct group_moment **of_ranks; /* those that take time, by rank, in the order of ends */
  size_t *first;                        /* of each rank; one more than ranks */
  struct job_waits waits;
  struct piece *pieces; /* from the end */
  size_t count, capacity;
  bool short_of_memory;
};

/* Moments are in the order of their ends, and stay so within each rank. */
static bool sort_by_rank(const struct group_job *job, const struct job_moments *moments,
                         struct walk *walk) {
  walk->of_ranks = calloc(moments->count + 1, sizeof(*walk->of_ranks));
  walk->first = calloc((size_t)job->ranks + 2, sizeof *walk->first);
  if (!walk->of_ranks || !walk->first)
    return false;
  size_t *next = walk->first + 1;
  for (size_t i = 0; i < moments->count; i++)
    if (moments->items[i].end_ps > moments->items[i].start_ps)
      next[moments->items[i].rank + 1]++;
  for (uint32_t rank = 0; rank < job->ranks; rank++)
    next[rank + 1] += next[rank];
  for (size_t i = 0; i < moments->count; i++) {
    const struct group_moment *moment = &moments->items[i];
    if (moment->end_ps > moment->start_ps)
      walk->of_ranks[next[moment->rank]++] = moment;
  }
  return true;
}

/* What ended last on a rank, no later than a time; of those that ended at once what began last. */
static const struct group_moment *before(const struct walk *walk, uint32_t rank, uint64_t at_ps) {
  size_t low = walk->first[rank], high = walk->first[rank + 1], start = low;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (walk->of_ranks[middle]->end_ps <= at_ps)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == start)
    return NULL;
  const struct group_moment *best = walk->of_ranks[low - 1];
  for (size_t i = low - 1; i > start && walk->of_ranks[i - 1]->end_ps == best->end_ps; i--)
    if (walk->of_ranks[i - 1]->start_ps > best->start_ps)
      best = walk->of_ranks[i - 1];
  return best;
}

static void add(struct walk *walk, const struct group_moment *moment, uint32_t rank,
                uint64_t from_ps, uint64_t to_ps) {
  if (walk->count == walk->capacity) {
    size_t capacity = walk->capacity ? 2 * walk->capacity : 1024;
    struct piece *pieces = realloc(walk->pieces, capacity * sizeof *pieces);
    if (!pieces) {
      walk->short_of_memory = true;
      return;
    }
    walk->pieces = pieces;
    walk->capacity = capacity;
  }
  walk->pieces[walk->count++] = (struct piece){moment, rank, from_ps, to_ps};
}

static void go_back(struct walk *walk, const struct job_moments *moments, uint32_t rank,
                    uint64_t at_ps) {
  while (at_ps > 0 && !walk->short_of_memory) {
    const struct group_moment *moment = before(walk, rank, at_ps);
    uint64_t end_ps = moment ? moment->end_ps : 0;
    if (end_ps < at_ps) {
      add(walk, NULL, rank, end_ps, at_ps);
      at_ps = end_ps;
      continue;
    }
    size_t index = (size_t)(moment - moments->items);
    uint64_t from_ps = walk->waits.last_ps[index];
    add(walk, moment, rank, from_ps, at_ps);
    rank = walk->waits.last_rank[index];
    at_ps = from_ps;
  }
}

static void put_piece(const struct piece *piece, FILE *out) {
  static const char *const kinds[] = {
      [GROUP_WORK] = "work", [GROUP_COLLECTIVE] = "collective", [GROUP_HOST] = "host"};
  const struct group_op *op = piece->moment ? piece->moment->op : NULL;
  fprintf(out, "%" PRIu32 ",%s,", piece->rank, op ? kinds[op->kind] : "idle");
  cell_write(out, op ? op->name : "");
  fprintf(out, ",%" PRIu64 ",%s,%s\n",
          op && op->kind == GROUP_COLLECTIVE ? op->call.bytes : UINT64_C(0), US(piece->from_ps),
          US(piece->to_ps - piece->from_ps));
}

bool job_put_path(const struct group_job *job, const struct group_result *result,
                  const struct job_moments *moments, FILE *out) {
  struct walk walk = {0};
  uint32_t last = 0;
  bool found = job_waits_find(moments, &walk.waits);
  bool enough = sort_by_rank(job, moments, &walk) && found;
  for (uint32_t rank = 1; rank < job->ranks; rank++)
    if (result->ranks[rank].end_ps > result->ranks[last].end_ps)
      last = rank;
  if (enough)
    go_back(&walk, moments, last, result->end_ps);
  fputs("rank,kind,name,bytes,start_us,duration_us\n", out);
  for (size_t i = walk.count; i > 0; i--)
    put_piece(&walk.pieces[i - 1], out);
  free(walk.of_ranks);
  free(walk.first);
  free(walk.pieces);
  job_waits_free(&walk.waits);
  return enough && !walk.short_of_memory;
}
