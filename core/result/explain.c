/* SPDX-License-Identifier: Apache-2.0 */
/* Explanations of a change of total_cycles, in parts that sum to the change. */
#include "core/result/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"

static const char code_name[] = "code", scalar_name[] = "scalar", hidden_name[] = "hidden";

static int64_t difference(uint64_t before, uint64_t after) { return (int64_t)(after - before); }

static uint64_t size_of(int64_t change) {
  return change < 0 ? -(uint64_t)change : (uint64_t)change;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static bool same_part(const struct explain_item *a, const struct explain_item *b) {
  return a->kind == b->kind && strcmp(a->group, b->group) == 0 && strcmp(a->name, b->name) == 0;
}

static struct explain_item *find(struct explanation *explanation, const struct explain_item *like) {
  for (size_t i = 0; i < explanation->count; i++)
    if (same_part(&explanation->items[i], like))
      return &explanation->items[i];
  if (explanation->count == explanation->capacity) {
    size_t capacity = explanation->capacity ? 2 * explanation->capacity : 64;
    struct explain_item *more = realloc(explanation->items, capacity * sizeof *more);
    if (!more)
      return NULL;
    explanation->items = more;
    explanation->capacity = capacity;
  }
  struct explain_item *item = &explanation->items[explanation->count++];
  *item = *like;
  memset(item->count, 0, sizeof item->count);
  memset(item->cycles, 0, sizeof item->cycles);
  return item;
}

bool explain_add(struct explanation *explanation, enum explain_side side,
                 const struct explain_item *like, uint64_t count, uint64_t cycles) {
  struct explain_item *item = find(explanation, like);
  if (!item)
    return false;
  item->count[side] += count;
  item->cycles[side] += cycles;
  explanation->has_causes[side] |= like->kind == EXPLAIN_CAUSE;
  return true;
}

static bool add(struct explanation *explanation, enum explain_side side, enum explain_kind kind,
                const char *group, const char *name, uint64_t count, uint64_t cycles) {
  struct explain_item like = {.kind = kind};
  if (count == 0 && cycles == 0)
    return true;
  snprintf(like.group, sizeof like.group, "%s", group);
  snprintf(like.name, sizeof like.name, "%s", name);
  return explain_add(explanation, side, &like, count, cycles);
}

static bool add_pipe(struct explanation *explanation, enum explain_side side,
                     const struct critical_path *path, enum pipe pipe) {
  const char *group = pipe_name(pipe);
  bool added = true;
  for (unsigned op = 0; added && op < OP_COUNT; op++)
    added = add(explanation, side, EXPLAIN_INSTRUCTION, group, isa_row((enum isa_op)op)->name,
                path->part[pipe][op].count, path->part[pipe][op].cycles);
  for (unsigned cause = 0; added && cause < CAUSE_COUNT; cause++)
    added = add(explanation, side, EXPLAIN_CAUSE, group, cause_row((enum cause)cause)->key, 0,
                path->pipe_cause[pipe][cause]);
  return added &&
         add(explanation, side, EXPLAIN_CAUSE, group, hidden_name, 0, path->pipe_hidden[pipe]);
}

bool explain_path(struct explanation *explanation, enum explain_side side,
                  const struct critical_path *path) {
  bool added = true;
  explanation->has_causes[side] = true;
  for (unsigned pipe = 0; added && pipe < PIPE_COUNT; pipe++)
    added = add_pipe(explanation, side, path, (enum pipe)pipe);
  for (unsigned rest = 0; added && rest < CRITICAL_RESTS; rest++)
    added = add(explanation, side, EXPLAIN_REST, critical_rest_name((enum critical_rest)rest), "",
                0, path->rest[rest]);
  const char *scalar = pipe_name(PIPE_S);
  return added && add(explanation, side, EXPLAIN_CAUSE, scalar, code_name, 0, path->code_cycles) &&
         add(explanation, side, EXPLAIN_CAUSE, scalar, scalar_name, 0, path->scalar_cycles);
}

/* ---- sums ------------------------------------------------------------------------------------ */

int64_t explain_change(const struct explain_item *item) {
  return difference(item->cycles[EXPLAIN_A], item->cycles[EXPLAIN_B]);
}

uint64_t explain_group_cycles(const struct explanation *explanation, enum explain_side side,
                              const char *group) {
  uint64_t sum = 0;
  for (size_t i = 0; i < explanation->count; i++)
    if (explanation->items[i].kind != EXPLAIN_CAUSE &&
        strcmp(explanation->items[i].group, group) == 0)
      sum += explanation->items[i].cycles[side];
  return sum;
}

int64_t explain_group_change(const struct explanation *explanation, const char *group) {
  return difference(explain_group_cycles(explanation, EXPLAIN_A, group),
                    explain_group_cycles(explanation, EXPLAIN_B, group));
}

int64_t explain_count_change(const struct explain_item *item) {
  uint64_t before = item->count[EXPLAIN_A], after = item->count[EXPLAIN_B];
  if (before == 0 || after == 0)
    return explain_change(item);
  bool more = after > before;
  uint64_t change = more ? after - before : before - after;
  /* c + c' over a common denominator: no product is above 2^127, as n c is a time of the run */
  uint128 costs =
      (uint128)item->cycles[EXPLAIN_A] * after + (uint128)item->cycles[EXPLAIN_B] * before;
  uint128 both = 2 * (uint128)before * after;
  uint64_t effect = (uint64_t)(costs / both * change + costs % both * change / both);
  return more ? (int64_t)effect : -(int64_t)effect;
}

int64_t explain_unattributed(const struct explanation *explanation) {
  int64_t rest = difference(explanation->total[EXPLAIN_A], explanation->total[EXPLAIN_B]);
  for (size_t i = 0; i < explanation->count; i++)
    if (explanation->items[i].kind != EXPLAIN_CAUSE)
      rest -= explain_change(&explanation->items[i]);
  return rest;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* A part with the change of its group, by which groups come in order. */
struct keyed {
  struct explain_item item;
  uint64_t group_size;
};

static int compare_parts(const void *left, const void *right) {
  const struct keyed *a = left, *b = right;
  uint64_t a_size = size_of(explain_change(&a->item)), b_size = size_of(explain_change(&b->item));
  if (a->group_size != b->group_size)
    return a->group_size > b->group_size ? -1 : 1;
  int order = strcmp(a->item.group, b->item.group);
  if (order != 0)
    return order;
  if (a->item.kind != b->item.kind)
    return a->item.kind < b->item.kind ? -1 : 1;
  if (a_size != b_size)
    return a_size > b_size ? -1 : 1;
  return strcmp(a->item.name, b->item.name);
}

void explain_order(struct explanation *explanation) {
  bool causes = explanation->has_causes[EXPLAIN_A] && explanation->has_causes[EXPLAIN_B];
  size_t kept = 0;
  for (size_t i = 0; i < explanation->count; i++)
    if (causes || explanation->items[i].kind != EXPLAIN_CAUSE)
      explanation->items[kept++] = explanation->items[i];
  explanation->count = kept;
  struct keyed *keyed = calloc(kept + 1, sizeof *keyed);
  if (!keyed) /* the order is for readers alone */
    return;
  for (size_t i = 0; i < kept; i++)
    keyed[i] =
        (struct keyed){explanation->items[i],
                       size_of(explain_group_change(explanation, explanation->items[i].group))};
  qsort(keyed, kept, sizeof *keyed, compare_parts);
  for (size_t i = 0; i < kept; i++)
    explanation->items[i] = keyed[i].item;
  free(keyed);
}

/* ---- texts ----------------------------------------------------------------------------------- */

const char *explain_cause_text(const char *name) {
  static const struct {
    const char *name, *text;
  } others[] = {{code_name, "wait for code"},
                {scalar_name, "are other work of the scalar unit"},
                {hidden_name, "lie behind instructions of the same pipe"}};
  for (unsigned cause = 0; cause < CAUSE_COUNT; cause++)
    if (strcmp(cause_row((enum cause)cause)->key, name) == 0)
      return cause_row((enum cause)cause)->text;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(others[i].name, name) == 0)
      return others[i].text;
  return "";
}

/* "+12 cycles (+3.4 %)", per cent of all cycles of A. */
static void write_change(const struct explanation *explanation, int64_t change, FILE *out) {
  struct decimal percent = decimal_percent(change, explanation->total[EXPLAIN_A]);
  fprintf(out, "%+" PRId64 " cycles", change);
  if (*percent.text)
    fprintf(out, " (%s %%)", percent.text);
}

static void write_item(const struct explanation *explanation, const struct explain_item *item,
                       const char *prefix, FILE *out) {
  int64_t whole = explain_change(item), count = explain_count_change(item);
  if (item->kind == EXPLAIN_REST || (whole == 0 && count == 0))
    return;
  fprintf(out, "%s    %s%s: ", prefix, item->kind == EXPLAIN_CAUSE ? "cause " : "", item->name);
  write_change(explanation, whole, out);
  if (item->kind == EXPLAIN_INSTRUCTION)
    fprintf(out, " = count %" PRIu64 " -> %" PRIu64 ": %+" PRId64 ", cost: %+" PRId64,
            item->count[EXPLAIN_A], item->count[EXPLAIN_B], count, whole - count);
  fputc('\n', out);
}

static bool has_moved(const struct explanation *explanation, const char *group) {
  for (size_t i = 0; i < explanation->count; i++) {
    const struct explain_item *item = &explanation->items[i];
    if (strcmp(item->group, group) == 0 && (item->cycles[EXPLAIN_A] != item->cycles[EXPLAIN_B] ||
                                            item->count[EXPLAIN_A] != item->count[EXPLAIN_B]))
      return true;
  }
  return false;
}

void explain_write(const struct explanation *explanation, const char *prefix, FILE *out) {
  int64_t change = difference(explanation->total[EXPLAIN_A], explanation->total[EXPLAIN_B]);
  int64_t rest = explain_unattributed(explanation);
  struct decimal percent = decimal_percent(change, explanation->total[EXPLAIN_A]);
  fprintf(out, "%schange of total_cycles %+" PRId64 " (%s %%) along the critical path:\n", prefix,
          change, *percent.text ? percent.text : "-");
  for (size_t i = 0; i < explanation->count; i++) {
    const struct explain_item *item = &explanation->items[i];
    bool first = i == 0 || strcmp(item->group, item[-1].group) != 0;
    if (!has_moved(explanation, item->group))
      continue;
    if (first) {
      fprintf(out, "%s  %s: ", prefix, item->group);
      write_change(explanation, explain_group_change(explanation, item->group), out);
      fputc('\n', out);
    }
    write_item(explanation, item, prefix, out);
  }
  if (rest != 0) {
    fprintf(out, "%s  unattributed: ", prefix);
    write_change(explanation, rest, out);
    fputc('\n', out);
  }
}

void explain_free(struct explanation *explanation) {
  free(explanation->items);
  *explanation = (struct explanation){0};
}
