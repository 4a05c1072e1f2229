/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a change of total_cycles comes from. The rows critical.* of a point sum to its
 * total_cycles, so their differences sum to the change: first by pipe, then by instruction.
 * The change of n instructions of c cycles to n' of c' is split into
 *   count  (n' - n) c     more or fewer of them, at the old cost, rounded towards zero
 *   cost   the rest       each one slower or faster
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/result/critical.h"
#include "scripts/gate/gate.h"

enum { ITEMS_MAX = 512 };

static const char prefix_word[] = "critical.";

/* One instruction on one pipe, or a rest without instructions. */
struct item {
  char pipe[16];
  char op[64]; /* "" for a rest */
  uint64_t old_count, new_count, old_cycles, new_cycles;
};

struct items {
  struct item item[ITEMS_MAX];
  size_t count;
};

static int64_t difference(uint64_t old_value, uint64_t new_value) {
  return (int64_t)(new_value - old_value);
}

/* "critical.MTE2.copy_gm_to_ubuf.cycles", "critical.idle.cycles" */
static bool split_name(const char *metric, struct item *item, bool *is_count) {
  const char *pipe = metric + strlen(prefix_word);
  const char *last = strrchr(metric, '.');
  const char *dot = strchr(pipe, '.');
  if (strncmp(metric, prefix_word, strlen(prefix_word)) != 0 || !dot)
    return false;
  *is_count = strcmp(last, ".count") == 0;
  snprintf(item->pipe, sizeof item->pipe, "%.*s", (int)(dot - pipe), pipe);
  item->op[0] = '\0';
  if (last > dot)
    snprintf(item->op, sizeof item->op, "%.*s", (int)(last - dot - 1), dot + 1);
  return true;
}

static struct item *find_item(struct items *items, const struct item *like) {
  for (size_t i = 0; i < items->count; i++)
    if (strcmp(items->item[i].pipe, like->pipe) == 0 && strcmp(items->item[i].op, like->op) == 0)
      return &items->item[i];
  if (items->count == ITEMS_MAX)
    return NULL;
  struct item *item = &items->item[items->count++];
  *item = *like;
  return item;
}

static void gather(const struct gate_rows *rows, const char *point, bool old, struct items *items) {
  size_t count;
  size_t first = gate_rows_of(rows, point, &count);
  for (size_t i = first; i < first + count; i++) {
    struct item like = {0};
    bool is_count;
    if (!split_name(rows->items[i].metric, &like, &is_count))
      continue;
    struct item *item = find_item(items, &like);
    uint64_t value = gate_number(&rows->items[i]);
    if (!item)
      continue;
    if (is_count)
      *(old ? &item->old_count : &item->new_count) = value;
    else
      *(old ? &item->old_cycles : &item->new_cycles) = value;
  }
}

static int64_t pipe_change(const struct items *items, const char *pipe) {
  int64_t sum = 0;
  for (size_t i = 0; i < items->count; i++)
    if (strcmp(items->item[i].pipe, pipe) == 0)
      sum += difference(items->item[i].old_cycles, items->item[i].new_cycles);
  return sum;
}

/* The part that the number of instructions explains; never outside 64 bits, as n' c is a time. */
static int64_t count_effect(const struct item *item) {
  if (item->old_count == 0)
    return difference(item->old_cycles, item->new_cycles);
  bool more = item->new_count > item->old_count;
  uint64_t change = more ? item->new_count - item->old_count : item->old_count - item->new_count;
  uint64_t effect = (uint64_t)((uint128)change * item->old_cycles / item->old_count);
  return more ? (int64_t)effect : -(int64_t)effect;
}

static void print_item(const struct item *item, const char *prefix, FILE *out) {
  int64_t whole = difference(item->old_cycles, item->new_cycles);
  int64_t count = count_effect(item);
  if (whole == 0 && count == 0)
    return;
  fprintf(out,
          "%s    %s: %+" PRId64 " cycles = count %" PRIu64 " -> %" PRIu64 ": %+" PRId64
          ", cost: %+" PRId64 "\n",
          prefix, item->op, whole, item->old_count, item->new_count, count, whole - count);
}

static void print_pipe(const struct items *items, const char *pipe, const char *prefix, FILE *out) {
  int64_t change = pipe_change(items, pipe);
  bool any = change != 0;
  for (size_t i = 0; i < items->count && !any; i++)
    any = strcmp(items->item[i].pipe, pipe) == 0 &&
          (items->item[i].old_cycles != items->item[i].new_cycles ||
           items->item[i].old_count != items->item[i].new_count);
  if (!any)
    return;
  fprintf(out, "%s  %s: %+" PRId64 " cycles\n", prefix, pipe, change);
  for (size_t i = 0; i < items->count; i++)
    if (strcmp(items->item[i].pipe, pipe) == 0 && items->item[i].op[0])
      print_item(&items->item[i], prefix, out);
}

static void print_change(const struct gate_change *change, const char *prefix, FILE *out) {
  bool plain = strcmp(change->unit, "1") == 0;
  fprintf(out, "%s%-9s %s %" PRIu64 " -> %" PRIu64 "%s%s", prefix,
          gate_verdict_name(change->verdict), change->metric, change->old_value, change->new_value,
          plain ? "" : " ", plain ? "" : change->unit);
  if (change->note)
    fprintf(out, " (%s)", change->note);
  fputc('\n', out);
}

/* The pipes, each at its first item, those that changed most first. */
static void print_pipes(const struct items *items, const char *prefix, FILE *out) {
  bool printed[ITEMS_MAX] = {false};
  for (;;) {
    const struct item *most = NULL;
    for (size_t i = 0; i < items->count; i++) {
      const struct item *item = &items->item[i];
      if (!printed[i] &&
          (!most || llabs(pipe_change(items, item->pipe)) > llabs(pipe_change(items, most->pipe))))
        most = item;
    }
    if (!most)
      return;
    for (size_t i = 0; i < items->count; i++)
      printed[i] |= strcmp(items->item[i].pipe, most->pipe) == 0;
    print_pipe(items, most->pipe, prefix, out);
  }
}

void gate_explain(const struct gate_run *run, const struct gate_rows *baseline,
                  const char *baseline_path, const struct gate_outcome *outcome, const char *prefix,
                  FILE *out) {
  const char *point = outcome->point;
  static const enum gate_verdict order[] = {GATE_REGRESSED, GATE_IMPROVED, GATE_DRIFTED};
  for (size_t o = 0; o < sizeof order / sizeof *order; o++)
    for (size_t i = 0; i < outcome->change_count; i++)
      if (outcome->changes[i].verdict == order[o])
        print_change(&outcome->changes[i], prefix, out);
  const char *old_text = gate_rows_text(baseline, point, "total_cycles");
  if (!old_text || outcome->verdict == GATE_CRASHED || outcome->index == run->suite->count)
    return;
  uint64_t old_total = gate_rows_value(baseline, point, "total_cycles");
  uint64_t new_total = gate_rows_value(&run->rows, point, "total_cycles");
  struct items *items = calloc(1, sizeof *items);
  if (!items)
    return;
  gather(baseline, point, true, items);
  gather(&run->rows, point, false, items);
  int64_t rest = difference(old_total, new_total);
  for (size_t i = 0; i < items->count; i++)
    rest -= difference(items->item[i].old_cycles, items->item[i].new_cycles);
  fprintf(out, "%schange of total_cycles %+" PRId64 " along the critical path:\n", prefix,
          difference(old_total, new_total));
  print_pipes(items, prefix, out);
  if (rest != 0)
    fprintf(out, "%s  unattributed: %+" PRId64 " cycles\n", prefix, rest);
  free(items);
  if (gate_rows_value(baseline, point, "events.dropped") > 0 ||
      gate_rows_value(&run->rows, point, "events.dropped") > 0)
    fprintf(out,
            "%s  too many instructions to follow: what came after the first %d events is told as "
            "end\n",
            prefix, GATE_EVENTS_MAX);
  const char *old_revision = gate_rows_text(baseline, point, "model.revision");
  if (strcmp(old_revision, vinci_model_revision()) != 0)
    fprintf(out, "%smodel revision %s -> %s\n", prefix, old_revision, vinci_model_revision());
  gate_replay(run, baseline, baseline_path, outcome, prefix, out);
}
