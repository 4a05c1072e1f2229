/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a change of total_cycles comes from. The rows critical.* of a point sum to its
 * total_cycles, and core/result/explain.h makes the parts of the change of them. The rows cause.*
 * say the same cycles by cause; a baseline of an older program has none.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/result/explain.h"
#include "studies/gate/gate.h"

static const char path_word[] = "critical.", cause_word[] = "cause.";

/* "critical.MTE2.copy_gm_to_ubuf.cycles", "critical.idle.cycles", "cause.MTE2.rate.cycles" */
static bool split_name(const char *metric, struct explain_item *item, bool *is_count) {
  bool cause = strncmp(metric, cause_word, strlen(cause_word)) == 0;
  bool path = strncmp(metric, path_word, strlen(path_word)) == 0;
  const char *group = metric + (cause ? strlen(cause_word) : strlen(path_word));
  const char *dot = cause || path ? strchr(group, '.') : NULL;
  if (!dot)
    return false;
  const char *last = strrchr(metric, '.');
  *is_count = strcmp(last, ".count") == 0;
  *item = (struct explain_item){.kind = cause        ? EXPLAIN_CAUSE
                                        : last > dot ? EXPLAIN_INSTRUCTION
                                                     : EXPLAIN_REST};
  snprintf(item->group, sizeof item->group, "%.*s", (int)(dot - group), group);
  if (last > dot)
    snprintf(item->name, sizeof item->name, "%.*s", (int)(last - dot - 1), dot + 1);
  return true;
}

static bool gather(const struct gate_rows *rows, const char *point, enum explain_side side,
                   struct explanation *out) {
  size_t count;
  size_t first = gate_rows_of(rows, point, &count);
  out->total[side] = gate_rows_value(rows, point, "total_cycles");
  for (size_t i = first; i < first + count; i++) {
    struct explain_item like;
    bool is_count;
    uint64_t value = gate_number(&rows->items[i]);
    if (split_name(rows->items[i].metric, &like, &is_count) &&
        !explain_add(out, side, &like, is_count ? value : 0, is_count ? 0 : value))
      return false;
  }
  return true;
}

static void print_change(const struct gate_change *change, const char *prefix, FILE *out) {
  bool plain = strcmp(change->unit, "1") == 0;
  struct decimal percent =
      decimal_percent((int64_t)(change->new_value - change->old_value), change->old_value);
  fprintf(out, "%s%-9s %s %" PRIu64 " -> %" PRIu64 "%s%s", prefix,
          gate_verdict_name(change->verdict), change->metric, change->old_value, change->new_value,
          plain ? "" : " ", plain ? "" : change->unit);
  if (*percent.text)
    fprintf(out, " (%s %%)", percent.text);
  if (change->note)
    fprintf(out, " (%s)", change->note);
  fputc('\n', out);
}

/* Whether one of two changes is larger, as a share of what was before. */
static bool is_larger(const struct gate_change *a, const struct gate_change *b) {
  uint64_t a_size =
      a->new_value > a->old_value ? a->new_value - a->old_value : a->old_value - a->new_value;
  uint64_t b_size =
      b->new_value > b->old_value ? b->new_value - b->old_value : b->old_value - b->new_value;
  return (uint128)a_size * b->old_value > (uint128)b_size * a->old_value;
}

/* What is neither better nor worse, and fails nothing, in one line with the largest of them. */
static void print_folded(const struct gate_outcome *outcome, size_t count, const char *prefix,
                         FILE *out) {
  const struct gate_change *largest = NULL;
  for (size_t i = 0; i < outcome->change_count; i++) {
    const struct gate_change *change = &outcome->changes[i];
    if (change->verdict == GATE_DRIFTED && !change->fails &&
        (!largest || is_larger(change, largest)))
      largest = change;
  }
  struct decimal percent =
      decimal_percent((int64_t)(largest->new_value - largest->old_value), largest->old_value);
  fprintf(out, "%s%-9s %zu metrics moved, neither better nor worse; most of all %s, %s%s\n", prefix,
          gate_verdict_name(GATE_DRIFTED), count, largest->metric,
          *percent.text ? percent.text : "from 0", *percent.text ? " %" : "");
}

static void print_changes(const struct gate_outcome *outcome, bool verbose, const char *prefix,
                          FILE *out) {
  enum { DRIFTS_SHOWN = 3 };
  static const enum gate_verdict order[] = {GATE_REGRESSED, GATE_IMPROVED, GATE_DRIFTED};
  size_t drifts = 0;
  for (size_t i = 0; i < outcome->change_count; i++)
    drifts += outcome->changes[i].verdict == GATE_DRIFTED && !outcome->changes[i].fails;
  bool folds = !verbose && drifts > DRIFTS_SHOWN;
  for (size_t o = 0; o < sizeof order / sizeof *order; o++)
    for (size_t i = 0; i < outcome->change_count; i++) {
      const struct gate_change *change = &outcome->changes[i];
      if (change->verdict == order[o] &&
          !(folds && change->verdict == GATE_DRIFTED && !change->fails))
        print_change(change, prefix, out);
    }
  if (folds)
    print_folded(outcome, drifts, prefix, out);
}

/* Whether both sides have numbers. */
static bool is_comparable(const struct gate_run *run, const struct gate_rows *baseline,
                          const struct gate_outcome *outcome) {
  return gate_rows_text(baseline, outcome->point, "total_cycles") &&
         outcome->verdict < GATE_UNSAFE && outcome->index < run->suite->count;
}

const char gate_tiling_row[] = "tiling";

/* A program that was tiled anew counts other instructions, whatever else has changed. A baseline of
 * an older program does not have the row. */
static void print_tiling(const struct gate_run *run, const struct gate_rows *baseline,
                         const char *point, const char *prefix, FILE *out) {
  const char *before = gate_rows_text(baseline, point, gate_tiling_row);
  const char *now = gate_rows_text(&run->rows, point, gate_tiling_row);
  if (before && now && strcmp(before, now) != 0)
    fprintf(out, "%sthe program was tiled anew: %s -> %s\n", prefix, before, now);
}

void gate_explain_numbers(const struct gate_run *run, const struct gate_rows *baseline,
                          const struct gate_outcome *outcome, bool verbose, const char *prefix,
                          FILE *out) {
  const char *point = outcome->point;
  struct explanation explanation = {0};
  print_changes(outcome, verbose, prefix, out);
  if (!is_comparable(run, baseline, outcome))
    return;
  print_tiling(run, baseline, point, prefix, out);
  if (gather(baseline, point, EXPLAIN_A, &explanation) &&
      gather(&run->rows, point, EXPLAIN_B, &explanation)) {
    explain_order(&explanation);
    explain_write(&explanation, prefix, out);
  }
  explain_free(&explanation);
  if (gate_rows_value(baseline, point, "events.dropped") > 0 ||
      gate_rows_value(&run->rows, point, "events.dropped") > 0)
    fprintf(out,
            "%s  too many instructions to follow: what came after the first %d events is told as "
            "end\n",
            prefix, GATE_EVENTS_MAX);
  const char *old_revision = gate_rows_text(baseline, point, "model.revision");
  if (strcmp(old_revision, vinci_model_revision()) != 0)
    fprintf(out, "%smodel revision %s -> %s\n", prefix, old_revision, vinci_model_revision());
}

void gate_explain(const struct gate_run *run, const struct gate_rows *baseline,
                  const char *baseline_path, const struct gate_outcome *outcome, bool verbose,
                  const char *prefix, FILE *out) {
  gate_explain_numbers(run, baseline, outcome, verbose, prefix, out);
  if (is_comparable(run, baseline, outcome))
    gate_replay(run, baseline, baseline_path, outcome, prefix, out);
}
