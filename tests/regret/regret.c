/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regret of the chosen tilings of all operators: usage below. Exit code 1 when a case of
 * Ascend910B4 with flat memory is beyond its limit in cases.def.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/regret/measure.h"

static const char usage[] =
    "usage: regret [--soc=NAME] [--memory=flat|cycle] [--most=N] [--jobs=N] [--only=OP,OP...]\n";

struct settings {
  const char *soc, *only;
  struct regret_options options;
};

/* The value of --name=value, or NULL. */
static const char *value_of(const char *word, const char *name) {
  size_t length = strlen(name);
  return strncmp(word, name, length) == 0 ? word + length : NULL;
}

static bool read_number(const char *text, unsigned long least, unsigned long *out) {
  char *end;
  *out = strtoul(text, &end, 10);
  return *text >= '0' && *text <= '9' && !*end && *out >= least && *out <= 1000000;
}

static bool read_word(const char *word, struct settings *settings) {
  const char *value;
  unsigned long number;
  if ((value = value_of(word, "--soc="))) {
    settings->soc = value;
  } else if ((value = value_of(word, "--only="))) {
    settings->only = value;
  } else if ((value = value_of(word, "--memory="))) {
    bool flat = strcmp(value, "flat") == 0;
    settings->options.evaluate.memory = flat ? VINCI_MEMORY_FLAT : VINCI_MEMORY_CYCLE;
    return flat || strcmp(value, "cycle") == 0;
  } else if ((value = value_of(word, "--most="))) {
    if (!read_number(value, 2, &number))
      return false;
    settings->options.most = number;
  } else if ((value = value_of(word, "--jobs="))) {
    if (!read_number(value, 1, &number))
      return false;
    settings->options.evaluate.jobs = (unsigned)number;
  } else {
    return false;
  }
  return true;
}

/* Whether a name is in a list "a,b,c"; every name is in no list. */
static bool listed(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; at; at = strchr(at, ','), at += at != NULL)
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
      return true;
  return list == NULL;
}

struct total {
  size_t count, beyond;
  double sum, worst;
  char where[64];
};

/* A case that is not within 5 percent of the best. */
static void print_loss(const struct regret_case *row, unsigned shape, const struct regret *found) {
  printf("    %s %s: %.1f %%, of %zu tilings %zu simulated\n", row->op, row->shape[shape],
         regret_percent(found), found->space, found->simulated);
  printf("      chosen %8llu cycles, estimated %8llu: %s\n",
         (unsigned long long)found->chosen_cycles, (unsigned long long)found->estimated_cycles,
         found->chosen);
  printf("      best   %8llu cycles, estimated %8llu: %s\n", (unsigned long long)found->best_cycles,
         (unsigned long long)found->best_estimated_cycles, found->best);
}

static void count_case(struct total *total, const struct regret_case *row, unsigned shape,
                       double percent) {
  total->count++;
  total->sum += percent;
  if (percent > total->worst || total->count == 1) {
    total->worst = percent;
    snprintf(total->where, sizeof total->where, "%s, %s", row->op, regret_shape_name[shape]);
  }
}

static void measure_operator(const vinci_soc *soc, const struct regret_case *row,
                             const struct regret_options *options, struct total *totals) {
  struct regret found[REGRET_SHAPES];
  double worst = 0;
  printf("%-28s", row->op);
  for (unsigned shape = 0; shape < REGRET_SHAPES; shape++) {
    regret_measure(soc, row, shape, options, &found[shape]);
    if (found[shape].status != VINCI_OK) {
      printf(" %8s", "-");
      continue;
    }
    double percent = regret_percent(&found[shape]);
    printf(" %8.1f", percent);
    count_case(&totals[shape], row, shape, percent);
    count_case(&totals[REGRET_SHAPES], row, shape, percent);
    worst = percent > worst ? percent : worst;
  }
  bool beyond = worst > row->percent;
  totals[REGRET_SHAPES].beyond += beyond;
  printf("%s\n", beyond ? "  beyond its limit" : "");
  for (unsigned shape = 0; shape < REGRET_SHAPES; shape++)
    if (found[shape].status != VINCI_OK)
      printf("    %s %s: %s\n", row->op, row->shape[shape], found[shape].text);
    else if (regret_percent(&found[shape]) > 5)
      print_loss(row, shape, &found[shape]);
  fflush(stdout);
}

static void print_totals(const struct total *totals) {
  for (unsigned i = 0; i <= REGRET_SHAPES; i++)
    printf("%-8s %3zu cases, mean %.2f %%, worst %.1f %% (%s)\n",
           i < REGRET_SHAPES ? regret_shape_name[i] : "all", totals[i].count,
           totals[i].count ? totals[i].sum / (double)totals[i].count : 0, totals[i].worst,
           totals[i].where);
}

int main(int argc, char **argv) {
  struct settings settings = {
      .soc = "Ascend910B4",
      .options = {.evaluate = {.struct_size = sizeof settings.options.evaluate,
                               .memory = VINCI_MEMORY_FLAT},
                  .most = 96}};
  struct total totals[REGRET_SHAPES + 1] = {0};
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  for (int i = 1; i < argc; i++)
    if (!read_word(argv[i], &settings)) {
      fputs(usage, stderr);
      return 2;
    }
  if (vinci_soc_load(settings.soc, NULL, &soc, &diag) != VINCI_OK) {
    fprintf(stderr, "error: %s\n", diag.text);
    return 2;
  }
  bool limits = strcmp(settings.soc, "Ascend910B4") == 0 &&
                settings.options.evaluate.memory == VINCI_MEMORY_FLAT;
  printf("%s, %s memory, at most %zu tilings of a space: percent above the best\n", settings.soc,
         settings.options.evaluate.memory == VINCI_MEMORY_FLAT ? "flat" : "cycle",
         settings.options.most);
  printf("%-28s %8s %8s %8s %8s\n", "operator", "typical", "thin", "tiny", "odd");
  for (size_t i = 0; i < regret_case_count(); i++)
    if (listed(settings.only, regret_case(i)->op))
      measure_operator(soc, regret_case(i), &settings.options, totals);
  print_totals(totals);
  vinci_soc_free(soc);
  return limits && totals[REGRET_SHAPES].beyond > 0;
}
