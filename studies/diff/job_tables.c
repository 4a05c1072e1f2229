/* SPDX-License-Identifier: Apache-2.0 */
/* Two jobs of several devices: which ranks and collectives of both belong together, and rows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "studies/diff/diff.h"

static const struct {
  const char *name, *text;
} parts[DIFF_JOB_PARTS] = {
    [DIFF_JOB_COMPUTING] = {"computing", "at work"},
    [DIFF_JOB_MOVING] = {"exposed.moving", "in collectives and not at work"},
    [DIFF_JOB_WAITING] = {"exposed.waiting", "in collectives to which other ranks have to come"},
    [DIFF_JOB_HOST] = {"idle.host", "the host is busy"},
    [DIFF_JOB_EVENTS] = {"idle.events", "streams wait for events, or for their times"},
    [DIFF_JOB_ENDED] = {"idle.ended", "done before the last rank"},
};

enum { COUNTER_TRANSFERS, COUNTER_MOVED, COUNTERS };

/* ---- ranks ------------------------------------------------------------------------------- */

static const struct diff_job_class *class_of(const struct diff_side *side, uint32_t rank) {
  return rank < side->job->ranks ? &side->job->classes[side->job->class_of[rank]] : NULL;
}

/* "0-3 8": the ranks of a pair, in the arena. */
static const char *ranks_text(struct arena *arena, const uint32_t *pair_of, uint32_t ranks,
                              uint32_t pair) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  const char *before = "";
  for (uint32_t rank = 0; out && rank < ranks; rank++) {
    uint32_t last = rank;
    if (pair_of[rank] != pair)
      continue;
    while (last + 1 < ranks && pair_of[last + 1] == pair)
      last++;
    fprintf(out, last > rank ? "%s%" PRIu32 "-%" PRIu32 : "%s%" PRIu32, before, rank, last);
    before = " ";
    rank = last;
  }
  if (out)
    fclose(out);
  const char *kept = text ? arena_strndup(arena, text, length) : NULL;
  free(text);
  return kept;
}

static bool match_ranks(struct vinci_diff *diff) {
  const struct diff_side *a = &diff->side[EXPLAIN_A], *b = &diff->side[EXPLAIN_B];
  uint32_t ranks = a->job->ranks > b->job->ranks ? a->job->ranks : b->job->ranks;
  struct diff_job_tables *tables = &diff->job;
  uint32_t *pair_of = calloc(ranks, sizeof *pair_of);
  tables->pairs = ARENA_ARRAY(&diff->arena, struct diff_job_pair, ranks);
  bool enough = pair_of && tables->pairs;
  for (uint32_t rank = 0; enough && rank < ranks; rank++) {
    const struct diff_job_pair pair = {NULL, class_of(a, rank), class_of(b, rank)};
    uint32_t i = 0;
    while (i < tables->pair_count && (tables->pairs[i].a != pair.a || tables->pairs[i].b != pair.b))
      i++;
    if (i == tables->pair_count)
      tables->pairs[tables->pair_count++] = pair;
    pair_of[rank] = i;
  }
  for (uint32_t i = 0; enough && i < tables->pair_count; i++) {
    tables->pairs[i].ranks = ranks_text(&diff->arena, pair_of, ranks, i);
    enough = tables->pairs[i].ranks != NULL;
  }
  free(pair_of);
  return enough;
}

/* ---- collectives ------------------------------------------------------------------------- */

/* Those of both sides that are alike: in all, or in name and operation; the collectives of a class
 * are in that order. */
static void pair_alike(struct diff_job_tables *tables, const struct diff_job_pair *pair,
                       bool exactly) {
  for (size_t i = 0, k = 0; i < pair->a->collective_count && k < pair->b->collective_count;) {
    struct diff_collective *a = &pair->a->collectives[i], *b = &pair->b->collectives[k];
    int order = strcmp(a->name, b->name);
    order = order ? order : strcmp(a->op, b->op);
    if (order == 0 && exactly)
      order = (a->bytes > b->bytes) - (a->bytes < b->bytes);
    if (order == 0 && (a->matched || b->matched)) { /* an exact partner */
      i += a->matched;
      k += b->matched;
      continue;
    }
    if (order == 0) {
      tables->collectives[tables->collective_count++] =
          (struct diff_collective_pair){pair->ranks, a, b};
      a->matched = b->matched = true;
    }
    i += order <= 0;
    k += order >= 0;
  }
}

static void clear(const struct diff_job_class *class) {
  for (size_t i = 0; class && i < class->collective_count; i++)
    class->collectives[i].matched = false;
}

/* Ranks of a class may be in several pairs: what is matched is so for one pair. */
static void match_pair(struct diff_job_tables *tables, const struct diff_job_pair *pair) {
  clear(pair->a);
  clear(pair->b);
  if (pair->a && pair->b) {
    pair_alike(tables, pair, true);
    pair_alike(tables, pair, false);
  }
  for (size_t i = 0; pair->a && i < pair->a->collective_count; i++)
    if (!pair->a->collectives[i].matched)
      tables->collectives[tables->collective_count++] =
          (struct diff_collective_pair){pair->ranks, &pair->a->collectives[i], NULL};
  for (size_t i = 0; pair->b && i < pair->b->collective_count; i++)
    if (!pair->b->collectives[i].matched)
      tables->collectives[tables->collective_count++] =
          (struct diff_collective_pair){pair->ranks, NULL, &pair->b->collectives[i]};
}

static uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

static int compare_pairs(const void *left, const void *right) {
  static const struct diff_collective none = {.name = ""};
  const struct diff_collective_pair *one = left, *two = right;
  const struct diff_collective *a = one->a ? one->a : &none, *b = one->b ? one->b : &none,
                               *c = two->a ? two->a : &none, *d = two->b ? two->b : &none;
  const uint64_t first[] = {distance(a->exposed_ps, b->exposed_ps),
                            distance(a->time_ps, b->time_ps)};
  const uint64_t second[] = {distance(c->exposed_ps, d->exposed_ps),
                             distance(c->time_ps, d->time_ps)};
  for (size_t i = 0; i < sizeof first / sizeof *first; i++)
    if (first[i] != second[i])
      return first[i] > second[i] ? -1 : 1;
  int order = strcmp((one->a ? a : b)->name, (two->a ? c : d)->name);
  if (order == 0)
    order = strcmp(one->ranks, two->ranks);
  uint64_t bytes = (one->a ? a : b)->bytes, others = (two->a ? c : d)->bytes;
  if (order == 0)
    order = (bytes > others) - (bytes < others);
  return order ? order : !one->a - !two->a;
}

enum vinci_status diff_job_match(struct vinci_diff *diff, struct vinci_diag *diag) {
  struct diff_job_tables *tables = &diff->job;
  size_t most = 1;
  if (!match_ranks(diff))
    return diff_no_memory(diag);
  for (size_t i = 0; i < tables->pair_count; i++)
    most += (tables->pairs[i].a ? tables->pairs[i].a->collective_count : 0) +
            (tables->pairs[i].b ? tables->pairs[i].b->collective_count : 0);
  tables->collectives = ARENA_ARRAY(&diff->arena, struct diff_collective_pair, most);
  if (!tables->collectives)
    return diff_no_memory(diag);
  for (size_t i = 0; i < tables->pair_count; i++)
    match_pair(tables, &tables->pairs[i]);
  qsort(tables->collectives, tables->collective_count, sizeof *tables->collectives, compare_pairs);
  return VINCI_OK;
}

/* ---- rows -------------------------------------------------------------------------------- */

size_t diff_job_row_count(const struct vinci_diff *diff, enum vinci_diff_table table) {
  return table == VINCI_DIFF_COUNTERS ? COUNTERS
         : table == VINCI_DIFF_RANKS  ? diff->job.pair_count * DIFF_JOB_PARTS
         : table == VINCI_DIFF_COLLECTIVES || table == VINCI_DIFF_EXPOSED ||
                 table == VINCI_DIFF_BYTES
             ? diff->job.collective_count
             : 0;
}

static void fill_counter(const struct vinci_diff *diff, size_t index, struct vinci_diff_row *out) {
  const struct diff_job *a = diff->side[EXPLAIN_A].job, *b = diff->side[EXPLAIN_B].job;
  bool moved = index == COUNTER_MOVED;
  out->group = "job";
  out->name = moved ? "moved_bytes" : "transfers";
  out->unit = moved ? "byte" : "1";
  out->text = moved ? "bytes that ranks send to each other" : "transfers and copies of collectives";
  out->in_a = out->in_b = true;
  out->a = moved ? a->moved_bytes : a->transfers;
  out->b = moved ? b->moved_bytes : b->transfers;
}

static void fill_part(const struct vinci_diff *diff, size_t index, struct vinci_diff_row *out) {
  const struct diff_job_pair *pair = &diff->job.pairs[index / DIFF_JOB_PARTS];
  size_t part = index % DIFF_JOB_PARTS;
  out->group = pair->ranks;
  out->name = parts[part].name;
  out->text = parts[part].text;
  out->in_a = pair->a != NULL;
  out->in_b = pair->b != NULL;
  out->a = pair->a ? pair->a->part_ps[part] : 0;
  out->b = pair->b ? pair->b->part_ps[part] : 0;
}

static uint64_t value_of(const struct diff_collective *one, enum vinci_diff_table table) {
  return !one                              ? 0
         : table == VINCI_DIFF_COLLECTIVES ? one->time_ps
         : table == VINCI_DIFF_EXPOSED     ? one->exposed_ps
                                           : one->bytes;
}

static void fill_collective(const struct vinci_diff *diff, enum vinci_diff_table table,
                            size_t index, struct vinci_diff_row *out) {
  const struct diff_collective_pair *pair = &diff->job.collectives[index];
  const struct diff_collective *any = pair->a ? pair->a : pair->b;
  out->group = pair->ranks;
  out->name = any->name;
  out->text = any->op;
  out->unit = table == VINCI_DIFF_BYTES ? "byte" : "ps";
  out->in_a = pair->a != NULL;
  out->in_b = pair->b != NULL;
  out->a = value_of(pair->a, table);
  out->b = value_of(pair->b, table);
  out->a_count = pair->a ? pair->a->count : 0;
  out->b_count = pair->b ? pair->b->count : 0;
}

void diff_job_row(const struct vinci_diff *diff, enum vinci_diff_table table, size_t index,
                  struct vinci_diff_row *out) {
  *out = (struct vinci_diff_row){.unit = "ps", .better = "lower"};
  if (table == VINCI_DIFF_COUNTERS)
    fill_counter(diff, index, out);
  else if (table == VINCI_DIFF_RANKS)
    fill_part(diff, index, out);
  else
    fill_collective(diff, table, index, out);
}
