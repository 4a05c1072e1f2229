/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts: the rows of a run against those of the baseline, under a policy. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/result/metrics.h"
#include "studies/gate/gate.h"

enum { PPM = 1000000, EXIT_NONDETERMINISTIC = 9 };

const char *gate_verdict_name(enum gate_verdict verdict) {
  static const char *const names[] = {
#define X(id, code) #id,
      GATE_VERDICT_LIST(X)
#undef X
  };
  return names[verdict];
}

static int verdict_exit_code(enum gate_verdict verdict) {
  static const int codes[] = {
#define X(id, code) code,
      GATE_VERDICT_LIST(X)
#undef X
  };
  return codes[verdict];
}

struct comparing {
  const struct gate_run *run;
  const struct gate_rows *baseline;
  const struct gate_policy *policy;
  bool strict;
  struct gate_verdicts *out;
  struct vinci_diag *diag;
};

static enum vinci_status no_memory(struct comparing *comparing) {
  return diag_error(comparing->diag, VINCI_E_NOMEM, "out of memory");
}

/* ---- metrics ---------------------------------------------------------------------------- */

static bool matches(const struct gate_rule *rule, const char *point, const char *metric) {
  return fnmatch(rule->point, point, 0) == 0 && fnmatch(rule->metric, metric, 0) == 0;
}

/* The rule that says how far a metric may move; NULL: exact. */
static const struct gate_rule *rule_of(const struct gate_policy *policy, const char *point,
                                       const char *metric) {
  const struct gate_rule *found = NULL;
  for (size_t i = 0; i < policy->count; i++) {
    const struct gate_rule *rule = &policy->rules[i];
    if (rule->kind != GATE_BUDGET && rule->kind != GATE_FLOOR && matches(rule, point, metric))
      found = rule;
  }
  return found;
}

static bool within(const struct gate_rule *rule, uint64_t old_value, uint64_t new_value) {
  uint64_t change = new_value > old_value ? new_value - old_value : old_value - new_value;
  return rule && rule->kind == GATE_REL &&
         (uint128)change * PPM <= (uint128)old_value * rule->value;
}

static struct gate_change *add_change(struct comparing *comparing, struct gate_outcome *outcome,
                                      struct gate_change change) {
  struct gate_change *more =
      ARENA_ARRAY(&comparing->out->arena, struct gate_change, outcome->change_count + 1);
  if (!more)
    return NULL;
  if (outcome->change_count > 0)
    memcpy(more, outcome->changes, outcome->change_count * sizeof *more);
  outcome->changes = more;
  more[outcome->change_count] = change;
  return &more[outcome->change_count++];
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Each block has instructions of its own, for its start and its tiles: with fewer blocks, fewer
 * cores execute fewer instructions, which is no work saved. */
static bool is_of_fewer_blocks(const struct comparing *comparing, const char *point,
                               const struct gate_change *change) {
  uint64_t before = gate_rows_value(comparing->baseline, point, "blocks");
  uint64_t now = gate_rows_value(&comparing->run->rows, point, "blocks");
  return now < before && change->new_value < change->old_value &&
         ends_with(change->metric, "instructions");
}

/* Only what the policy holds to be exact fails when it is neither better nor worse. */
static void judge(const struct comparing *comparing, const char *point,
                  const struct gate_rule *rule, struct gate_change *change) {
  const struct gate_policy *policy = comparing->policy;
  bool said = rule && rule->better >= 0;
  int better = said ? rule->better : (int)metric_better(change->metric);
  bool more = change->new_value > change->old_value;
  if (!said && is_of_fewer_blocks(comparing, point, change)) {
    better = METRIC_NEUTRAL;
    change->note = "fewer blocks";
  }
  bool exact = rule && rule->kind == GATE_EXACT;
  if (better == METRIC_NEUTRAL) {
    change->verdict = GATE_DRIFTED;
    change->fails = exact || comparing->strict;
  } else if (more == (better == METRIC_LOWER)) {
    change->verdict = GATE_REGRESSED;
    change->fails = true;
  } else {
    change->verdict = GATE_IMPROVED;
    change->fails = exact || comparing->strict || policy->improvement == GATE_IMPROVEMENT_FAIL;
  }
}

static bool compare_metric(struct comparing *comparing, struct gate_outcome *outcome,
                           const struct gate_row *row, uint64_t old_value, uint64_t new_value) {
  const struct gate_rule *rule = rule_of(comparing->policy, outcome->point, row->metric);
  if (old_value == new_value || (rule && rule->kind == GATE_IGNORE) ||
      within(rule, old_value, new_value))
    return true;
  struct gate_change change = {
      .metric = row->metric, .unit = row->unit, .old_value = old_value, .new_value = new_value};
  judge(comparing, outcome->point, rule, &change);
  return add_change(comparing, outcome, change) != NULL;
}

/* Both lists are sorted; a metric that one of them lacks is 0 there. What a metric is and counts
 * in, the run says: a baseline that calls a metric a detail does not switch it off. */
static bool compare_metrics(struct comparing *comparing, struct gate_outcome *outcome) {
  size_t old_count, new_count, o = 0, n = 0;
  const struct gate_row *old_rows =
      comparing->baseline->items + gate_rows_of(comparing->baseline, outcome->point, &old_count);
  const struct gate_row *new_rows =
      comparing->run->rows.items + gate_rows_of(&comparing->run->rows, outcome->point, &new_count);
  while (o < old_count || n < new_count) {
    int order = o == old_count   ? 1
                : n == new_count ? -1
                                 : strcmp(old_rows[o].metric, new_rows[n].metric);
    const struct gate_row *row = order >= 0 ? &new_rows[n] : &old_rows[o];
    uint64_t old_value = order <= 0 ? gate_number(&old_rows[o]) : 0;
    uint64_t new_value = order >= 0 ? gate_number(&new_rows[n]) : 0;
    o += order <= 0;
    n += order >= 0;
    if (strcmp(row->kind, "metric") == 0 &&
        !compare_metric(comparing, outcome, row, old_value, new_value))
      return false;
  }
  return true;
}

/* ---- limits ------------------------------------------------------------------------------- */

static const char utilization[] = "utilization.";

/* "utilization.M" in millionths, made of two rows; any other metric as it is. */
static uint64_t limited_value(const struct gate_rows *rows, const char *point, const char *metric) {
  char busy[METRIC_NAME_MAX], total[METRIC_NAME_MAX];
  if (strncmp(metric, utilization, strlen(utilization)) != 0)
    return gate_rows_value(rows, point, metric);
  snprintf(busy, sizeof busy, "pipe.%.20s.busy_cycles", metric + strlen(utilization));
  snprintf(total, sizeof total, "pipe.%.20s.total_cycles", metric + strlen(utilization));
  return result_share_ppm(gate_rows_value(rows, point, busy), gate_rows_value(rows, point, total));
}

static bool check_limit(struct comparing *comparing, struct gate_outcome *outcome,
                        const struct gate_rule *rule, const char *metric) {
  bool budget = rule->kind == GATE_BUDGET;
  uint64_t value = limited_value(&comparing->run->rows, outcome->point, metric);
  if (budget ? value <= rule->value : value >= rule->value)
    return true;
  char note[96];
  snprintf(note, sizeof note, "%s %" PRIu64 ", %s:%lu", budget ? "budget" : "floor", rule->value,
           "policy", rule->line);
  struct gate_change change = {
      .metric = arena_strdup(&comparing->out->arena, metric),
      .unit = metric_unit(metric),
      .old_value = limited_value(comparing->baseline, outcome->point, metric),
      .new_value = value,
      .verdict = GATE_REGRESSED,
      .fails = true,
      .note = arena_strdup(&comparing->out->arena, note),
  };
  return change.metric && change.note && add_change(comparing, outcome, change) != NULL;
}

/* A limit names one metric, or by a glob those that there are. */
static bool check_limits(struct comparing *comparing, struct gate_outcome *outcome) {
  size_t count;
  size_t first = gate_rows_of(&comparing->run->rows, outcome->point, &count);
  for (size_t i = 0; i < comparing->policy->count; i++) {
    const struct gate_rule *rule = &comparing->policy->rules[i];
    if ((rule->kind != GATE_BUDGET && rule->kind != GATE_FLOOR) ||
        fnmatch(rule->point, outcome->point, 0) != 0)
      continue;
    bool glob = strpbrk(rule->metric, "*?[") != NULL;
    if (!glob && !check_limit(comparing, outcome, rule, rule->metric))
      return false;
    for (size_t r = first; glob && r < first + count; r++) {
      const struct gate_row *row = &comparing->run->rows.items[r];
      if (strcmp(row->kind, "metric") == 0 && fnmatch(rule->metric, row->metric, 0) == 0 &&
          !check_limit(comparing, outcome, rule, row->metric))
        return false;
    }
  }
  return true;
}

/* ---- points --------------------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static enum vinci_status settle(struct comparing *comparing,
                                                                      struct gate_outcome *outcome,
                                                                      enum gate_verdict verdict,
                                                                      const char *format, ...) {
  char text[1500];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  outcome->verdict = verdict;
  outcome->exit_code = verdict_exit_code(verdict);
  outcome->fails = outcome->exit_code != 0;
  outcome->text = arena_strdup(&comparing->out->arena, text);
  return outcome->text ? VINCI_OK : no_memory(comparing);
}

static bool same_text(const struct comparing *comparing, const char *point, const char *metric) {
  const char *old_text = gate_rows_text(comparing->baseline, point, metric);
  const char *new_text = gate_rows_text(&comparing->run->rows, point, metric);
  return old_text && new_text && strcmp(old_text, new_text) == 0;
}

/* Nothing differs that could have moved the numbers. */
static bool same_everything(const struct comparing *comparing, const char *point) {
  return same_text(comparing, point, "digest.config") &&
         same_text(comparing, point, "digest.program") &&
         same_text(comparing, point, "model.revision");
}

static enum vinci_status judge_changes(struct comparing *comparing, struct gate_outcome *outcome) {
  if (!compare_metrics(comparing, outcome))
    return no_memory(comparing);
  if (outcome->change_count > 0 && same_everything(comparing, outcome->point))
    return settle(comparing, outcome, GATE_UNEXPLAINED,
                  "numbers moved, but chip, program and model revision are those of the baseline: "
                  "a change of the model without a new revision, or an edited baseline");
  if (!check_limits(comparing, outcome))
    return no_memory(comparing);
  for (size_t i = 0; i < outcome->change_count; i++) {
    const struct gate_change *change = &outcome->changes[i];
    bool silent = change->verdict == GATE_IMPROVED && !change->fails &&
                  comparing->policy->improvement == GATE_IMPROVEMENT_OK;
    if (!silent && change->verdict > outcome->verdict)
      outcome->verdict = change->verdict;
    outcome->fails |= change->fails;
  }
  /* A better total is the better part of the news. */
  if (outcome->verdict == GATE_DRIFTED)
    for (size_t i = 0; i < outcome->change_count; i++)
      if (strcmp(outcome->changes[i].metric, "total_cycles") == 0 &&
          outcome->changes[i].verdict == GATE_IMPROVED)
        outcome->verdict = GATE_IMPROVED;
  outcome->exit_code = outcome->fails ? vinci_status_exit_code(VINCI_E_GATE) : 0;
  return VINCI_OK;
}

static enum vinci_status judge_point(struct comparing *comparing, struct gate_outcome *outcome) {
  const struct gate_rows *rows = &comparing->run->rows;
  const char *point = outcome->point;
  const char *failure = gate_rows_text(rows, point, "failure.text");
  if (failure) {
    int code = (int)gate_rows_value(rows, point, "failure.exit_code");
    enum gate_verdict verdict = code == verdict_exit_code(GATE_WRONG)    ? GATE_WRONG
                                : code == verdict_exit_code(GATE_UNSAFE) ? GATE_UNSAFE
                                                                         : GATE_CRASHED;
    enum vinci_status status = settle(comparing, outcome, verdict, "%s", failure);
    outcome->exit_code = code;
    return status;
  }
  if (comparing->run->differs[outcome->index]) {
    enum vinci_status status = settle(comparing, outcome, GATE_UNEXPLAINED,
                                      "two runs of the point gave different results");
    outcome->exit_code = EXIT_NONDETERMINISTIC;
    return status;
  }
  size_t count;
  (void)gate_rows_of(comparing->baseline, point, &count);
  if (count == 0)
    return settle(comparing, outcome, GATE_NEW, "the baseline does not have the point");
  if (!same_text(comparing, point, "digest.input"))
    return settle(comparing, outcome, GATE_STALE,
                  "its input is not that of the baseline: the numbers cannot be compared");
  return judge_changes(comparing, outcome);
}

static bool is_in_suite(const struct gate_suite *suite, const char *point) {
  for (size_t i = 0; i < suite->count; i++)
    if (strcmp(suite->points[i].name, point) == 0)
      return true;
  return false;
}

static bool is_wanted(const char *only, const char *point) {
  return !only || fnmatch(only, point, 0) == 0;
}

static enum vinci_status judge_missing(struct comparing *comparing, const char *only) {
  size_t count;
  const struct gate_rows *baseline = comparing->baseline;
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < baseline->count; i += count) {
    const char *point = baseline->items[i].point;
    (void)gate_rows_of(baseline, point, &count);
    if (is_in_suite(comparing->run->suite, point) || !is_wanted(only, point))
      continue;
    struct gate_outcome *outcome = &comparing->out->items[comparing->out->count++];
    *outcome = (struct gate_outcome){.point = point, .index = comparing->run->suite->count};
    status = settle(comparing, outcome, GATE_MISSING, "the suite does not have the point");
  }
  return status;
}

/* Crashes first, by the code of the run; then what cannot be trusted, then values that are wrong
 * and programs with findings, then worse, then stale. */
static int worst_exit_code(const struct gate_verdicts *verdicts) {
  int found = 0;
  for (size_t i = 0; i < verdicts->count; i++)
    if (verdicts->items[i].verdict == GATE_CRASHED)
      return verdicts->items[i].exit_code;
  static const int order[] = {3, 1, 5, 4, EXIT_NONDETERMINISTIC};
  for (size_t o = 0; o < sizeof order / sizeof *order; o++)
    for (size_t i = 0; i < verdicts->count; i++)
      if (verdicts->items[i].exit_code == order[o])
        found = order[o];
  return found;
}

/* A rule that is for no number of any point guards nothing: a misspelt name, most likely. */
static enum vinci_status check_rules(struct comparing *comparing) {
  for (size_t i = 0; i < comparing->policy->count; i++) {
    const struct gate_rule *rule = &comparing->policy->rules[i];
    char metric[METRIC_NAME_MAX];
    bool used = false;
    snprintf(metric, sizeof metric, "%s", rule->metric);
    if (strncmp(rule->metric, utilization, strlen(utilization)) == 0)
      snprintf(metric, sizeof metric, "pipe.%.20s.total_cycles",
               rule->metric + strlen(utilization));
    for (size_t r = 0; !used && r < comparing->run->rows.count; r++) {
      const struct gate_row *row = &comparing->run->rows.items[r];
      used = gate_is_number(row) && fnmatch(rule->point, row->point, 0) == 0 &&
             fnmatch(metric, row->metric, 0) == 0;
    }
    if (used)
      continue;
    struct diag_position position = {.path = comparing->policy->path, .line = rule->line};
    (void)diag_error_at(comparing->diag, VINCI_E_USAGE, position,
                        "no point of the suite has a number that the rule is for: %s %s",
                        rule->point, rule->metric);
    diag_hint(comparing->diag, "'vinci gate list SUITE' names the points, a baseline the metrics");
    return VINCI_E_USAGE;
  }
  return VINCI_OK;
}

/* Without a crash or a choice of points, all rules have to be for something. */
static bool has_all_points(const struct gate_run *run, const char *only) {
  for (size_t i = 0; !only && i < run->suite->count; i++)
    if (gate_rows_text(&run->rows, run->suite->points[i].name, "failure.text"))
      return false;
  return !only;
}

enum vinci_status gate_compare(const struct gate_run *run, const struct gate_rows *baseline,
                               const struct gate_policy *policy, bool strict, const char *only,
                               struct gate_verdicts *out, struct vinci_diag *diag) {
  *out = (struct gate_verdicts){0};
  struct comparing comparing = {run, baseline, policy, strict, out, diag};
  out->items = calloc(run->suite->count + baseline->count + 1, sizeof *out->items);
  if (!out->items)
    return no_memory(&comparing);
  enum vinci_status status = has_all_points(run, only) ? check_rules(&comparing) : VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < run->suite->count; i++) {
    struct gate_outcome *outcome = &out->items[out->count++];
    *outcome = (struct gate_outcome){.point = run->suite->points[i].name, .index = i};
    status = judge_point(&comparing, outcome);
  }
  if (status == VINCI_OK)
    status = judge_missing(&comparing, only);
  out->exit_code = worst_exit_code(out);
  return status;
}

void gate_verdicts_free(struct gate_verdicts *verdicts) {
  free(verdicts->items);
  arena_free(&verdicts->arena);
  *verdicts = (struct gate_verdicts){0};
}
