/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy file: one rule a line, words separated by blanks, '#' begins a comment.
 *
 *     POINT METRIC exact [lower|higher|neutral]     any difference fails
 *     POINT METRIC rel 2% [lower|higher|neutral]    worse by more fails
 *     POINT METRIC ignore
 *     POINT METRIC budget 60000                     more fails, whatever the baseline says
 *     POINT METRIC floor 60%                        less fails; N% of a utilization, or a number
 *     improvement warn|fail|ok                      what is better than the baseline
 *
 * POINT and METRIC are globs. Of several rules exact, rel, ignore for a metric the last one
 * holds; budgets and floors hold all.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/result/metrics.h"
#include "studies/gate/gate.h"

enum { WORDS_MAX = 6, PPM_PER_PERCENT = 10000, RULES_MAX = 10000 };

struct reading {
  struct gate_policy *policy;
  unsigned long line;
  struct vinci_diag *diag;
};

static enum vinci_status refuse(const struct reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static enum vinci_status refuse(const struct reading *reading, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  struct diag_position position = {.path = reading->policy->path, .line = reading->line};
  (void)diag_error_at(reading->diag, VINCI_E_USAGE, position, "%s", text);
  diag_hint(reading->diag, "POINT METRIC exact | rel N%% | ignore | budget N | floor N[%%]");
  return VINCI_E_USAGE;
}

/* "2.5%" in millionths, "100" as it is. */
static bool parse_limit(const char *text, bool percent_only, uint64_t *out) {
  char *end;
  bool percent = *text && text[strlen(text) - 1] == '%';
  if (*text < '0' || *text > '9' || (percent_only && !percent))
    return false;
  errno = 0;
  uint64_t whole = strtoull(text, &end, 10);
  if (errno != 0)
    return false;
  if (!percent) {
    *out = whole;
    return *end == '\0';
  }
  uint64_t fraction = 0, scale = PPM_PER_PERCENT;
  if (*end == '.')
    for (end++; *end >= '0' && *end <= '9' && scale > 1; end++) {
      scale /= 10;
      fraction += (uint64_t)(*end - '0') * scale;
    }
  if (strcmp(end, "%") != 0 || __builtin_mul_overflow(whole, PPM_PER_PERCENT, out))
    return false;
  *out += fraction;
  return true;
}

static bool parse_kind(const char *word, enum gate_rule_kind *kind) {
  static const char *const names[] = {"exact", "rel", "ignore", "budget", "floor"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(word, names[i]) == 0) {
      *kind = (enum gate_rule_kind)i;
      return true;
    }
  return false;
}

static bool parse_better(const char *word, int *better) {
  for (int i = METRIC_NEUTRAL; i <= METRIC_HIGHER; i++)
    if (strcmp(word, counter_better_name((enum metric_better)i)) == 0) {
      *better = i;
      return true;
    }
  return false;
}

static enum vinci_status parse_improvement(const struct reading *reading, char **words,
                                           size_t count) {
  static const char *const names[] = {"warn", "fail", "ok"};
  for (unsigned i = 0; count == 2 && i < sizeof names / sizeof *names; i++)
    if (strcmp(words[1], names[i]) == 0) {
      reading->policy->improvement = (enum gate_improvement)i;
      return VINCI_OK;
    }
  return refuse(reading, "improvement is warn, fail or ok");
}

static enum vinci_status parse_rule(const struct reading *reading, char **words, size_t count) {
  struct gate_policy *policy = reading->policy;
  struct gate_rule rule = {.better = -1, .line = reading->line};
  if (count < 3)
    return refuse(reading, "a rule wants POINT, METRIC and what may be");
  if (!parse_kind(words[2], &rule.kind))
    return refuse(reading, "'%s' is not a kind of rule", words[2]);
  bool limited = rule.kind != GATE_EXACT && rule.kind != GATE_IGNORE;
  size_t used = 3 + limited;
  if (limited && (count < 4 || !parse_limit(words[3], rule.kind == GATE_REL, &rule.value)))
    return refuse(reading, "%s wants a limit such as %s", words[2],
                  rule.kind == GATE_REL ? "2%" : "60000");
  if (limited && rule.kind != GATE_REL && strchr(words[3], '%') &&
      strncmp(words[1], "utilization.", 12) != 0)
    return refuse(reading, "a limit in %% is for utilization.PIPE; %s counts otherwise", words[1]);
  bool directed = rule.kind == GATE_EXACT || rule.kind == GATE_REL;
  if (directed && count > used && !parse_better(words[used++], &rule.better))
    return refuse(reading, "'%s' is none of lower, higher, neutral", words[used - 1]);
  if (count > used)
    return refuse(reading, "'%s' is too much", words[used]);
  if (policy->count == RULES_MAX)
    return refuse(reading, "more than %d rules", RULES_MAX);
  rule.point = arena_strdup(&policy->arena, words[0]);
  rule.metric = arena_strdup(&policy->arena, words[1]);
  struct gate_rule *rules = realloc(policy->rules, (policy->count + 1) * sizeof *rules);
  if (rules)
    policy->rules = rules;
  if (!rules || !rule.point || !rule.metric)
    return diag_error(reading->diag, VINCI_E_NOMEM, "out of memory");
  rules[policy->count++] = rule;
  return VINCI_OK;
}

static enum vinci_status parse_line(const struct reading *reading, char *line) {
  char *words[WORDS_MAX + 1], *rest = NULL;
  size_t count = 0;
  line[strcspn(line, "#\r\n")] = '\0';
  for (char *word = strtok_r(line, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
    if (count <= WORDS_MAX)
      words[count++] = word;
  if (count == 0)
    return VINCI_OK;
  if (strcmp(words[0], "improvement") == 0)
    return parse_improvement(reading, words, count);
  return parse_rule(reading, words, count);
}

enum vinci_status gate_policy_open(struct gate_policy *policy, const char *path,
                                   struct vinci_diag *diag) {
  *policy = (struct gate_policy){.path = path};
  if (!path)
    return VINCI_OK;
  FILE *in = fopen(path, "r");
  if (!in)
    return diag_error_at(diag, errno == ENOMEM ? VINCI_E_NOMEM : VINCI_E_USAGE,
                         (struct diag_position){.path = path}, "cannot read the policy: %s",
                         strerror(errno));
  struct reading reading = {.policy = policy, .diag = diag};
  char *line = NULL;
  size_t capacity = 0;
  enum vinci_status status = VINCI_OK;
  while (status == VINCI_OK && getline(&line, &capacity, in) > 0) {
    reading.line++;
    status = parse_line(&reading, line);
  }
  if (status == VINCI_OK && !file_ended(in))
    status = file_error(diag, path, "read");
  free(line);
  fclose(in);
  return status;
}

void gate_policy_free(struct gate_policy *policy) {
  free(policy->rules);
  arena_free(&policy->arena);
  *policy = (struct gate_policy){0};
}
