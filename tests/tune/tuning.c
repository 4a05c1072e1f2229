/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What searches reach: every schedule of a space is simulated, then each strategy gets a tenth of
 * that for a few seeds. Usage below. Exit code 1 when a genetic search misses 95 % of the best on
 * a space of the cube.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/vinci_tune.h"

static const char usage[] = "usage: tuning [--full] [--most=N] [--seeds=N] [--jobs=N]\n";

enum { WORDS_MAX = 16, TEXT_BYTES = 256, QUICK = 2, TENTH = 10 };
enum { QUICK_MOST = 300, QUICK_SEEDS = 2, FULL_MOST = 2000, FULL_SEEDS = 5 };

struct row {
  const char *op, *args;
  bool cube;
};

static const struct row rows[] = {
#define TUNING_CUBE(op_, args_) {#op_, args_, true},
#define TUNING_VECTOR(op_, args_) {#op_, args_, false},
#include "tests/tune/cases.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *const strategies[] = {"random", "estimate", "genetic", "tree"};
enum { RANDOM, ESTIMATE, GENETIC, TREE, STRATEGIES };

struct settings {
  bool full;
  unsigned long most, seeds, jobs;
};

/* Of one space. */
struct found {
  size_t schedules;
  bool closed;
  uint64_t usual, best;       /* cycles */
  double cycles[STRATEGIES];  /* mean of the seeds */
  uint64_t worst[STRATEGIES]; /* of the seeds */
};

/* Sums over the spaces of the cube or of the vector unit. */
struct total {
  size_t count, room; /* spaces; of these with more than 3 % of room for the default */
  double regret, worst_regret;
  double reached[STRATEGIES]; /* best / found */
  double worst_reached[STRATEGIES];
  double gain[STRATEGIES], most; /* of those with room: default / found, default / best */
};

static void split(char *text, const char **word, size_t *count) {
  char *rest = NULL;
  *count = 0;
  for (char *at = strtok_r(text, " ", &rest); at && *count < WORDS_MAX;
       at = strtok_r(NULL, " ", &rest))
    word[(*count)++] = at;
}

static bool search(const vinci_soc *soc, const struct row *row, struct vinci_tune_options *options,
                   struct vinci_tuned *out) {
  char text[TEXT_BYTES];
  const char *word[WORDS_MAX];
  size_t count;
  struct vinci_diag diag = {0};
  snprintf(text, sizeof text, "%s", row->args);
  split(text, word, &count);
  if (vinci_tune(soc, row->op, word, count, options, out, &diag) == VINCI_OK)
    return true;
  vinci_diag_print(&diag, stderr);
  return false;
}

static bool measure(const vinci_soc *soc, const struct row *row, const struct settings *settings,
                    const char *journal, struct found *found) {
  struct vinci_tune_options options = {.struct_size = sizeof options,
                                       .strategy = "exhaustive",
                                       .schedules = settings->most,
                                       .jobs = (unsigned)settings->jobs,
                                       .memory = VINCI_MEMORY_FLAT,
                                       .journal = journal};
  struct vinci_tuned tuned;
  *found = (struct found){0};
  if (!search(soc, row, &options, &tuned))
    return false;
  found->schedules = tuned.schedules;
  found->closed = tuned.closed;
  found->usual = tuned.default_cycles;
  found->best = tuned.cycles;
  options.evaluations = tuned.schedules / TENTH;
  for (unsigned s = 0; s < STRATEGIES; s++)
    for (unsigned long seed = 0; seed < settings->seeds; seed++) {
      options.strategy = strategies[s];
      options.seed = seed;
      if (!search(soc, row, &options, &tuned))
        return false;
      found->cycles[s] += (double)tuned.cycles / (double)settings->seeds;
      if (tuned.cycles > found->worst[s])
        found->worst[s] = tuned.cycles;
    }
  return true;
}

static void print_row(const struct row *row, const struct found *found) {
  printf("%-22s %-46s %6zu%s %8" PRIu64 " %8" PRIu64 " %6.1f", row->op, row->args, found->schedules,
         found->closed ? " " : "+", found->best, found->usual,
         100.0 * ((double)found->usual / (double)found->best - 1));
  for (unsigned s = 0; s < STRATEGIES; s++)
    printf(" %8.1f", 100.0 * (double)found->best / found->cycles[s]);
  putchar('\n');
  fflush(stdout);
}

static void add(struct total *total, const struct found *found) {
  double regret = (double)found->usual / (double)found->best - 1;
  bool room = regret > 0.03;
  total->regret += regret;
  total->worst_regret = regret > total->worst_regret ? regret : total->worst_regret;
  for (unsigned s = 0; s < STRATEGIES; s++) {
    double worst = (double)found->best / (double)found->worst[s];
    total->reached[s] += (double)found->best / found->cycles[s];
    if (total->count == 0 || worst < total->worst_reached[s])
      total->worst_reached[s] = worst;
    if (room)
      total->gain[s] += (double)found->usual / found->cycles[s];
  }
  if (room)
    total->most += (double)found->usual / (double)found->best;
  total->count++;
  total->room += room;
}

static void print_total(const char *name, const struct total *total) {
  double count = (double)total->count, room = total->room > 0 ? (double)total->room : 1;
  printf("\n%s: %zu spaces, default above the best by %.2f %% on average, %.1f %% at worst\n", name,
         total->count, 100 * total->regret / count, 100 * total->worst_regret);
  printf("  with a tenth of the evaluations  mean, and worst of all seeds, in %% of the best\n");
  for (unsigned s = 0; s < STRATEGIES; s++)
    printf("    %-10s %6.1f %6.1f\n", strategies[s], 100 * total->reached[s] / count,
           100 * total->worst_reached[s]);
  printf("  on the %zu spaces whose default leaves more than 3 %%, default over found:",
         total->room);
  for (unsigned s = 0; s < STRATEGIES; s++)
    printf(" %s %.3f%s", strategies[s], total->gain[s] / room, s + 1 < STRATEGIES ? "," : "\n");
  if (total->room > 0)
    printf("  of at most %.3f\n", total->most / room);
  if (total->room > 0)
    printf("  tree against random there: %+.1f %%\n",
           100 * (total->gain[TREE] / total->gain[RANDOM] - 1));
}

static bool read_number(const char *word, const char *name, unsigned long *out) {
  size_t length = strlen(name);
  char *end;
  if (strncmp(word, name, length) != 0)
    return false;
  *out = strtoul(word + length, &end, 10);
  return !*end && *out > 0 && *out <= 100000;
}

static bool read_words(int argc, char **argv, struct settings *settings) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--full") == 0)
      settings->full = true;
    else if (!read_number(argv[i], "--most=", &settings->most) &&
             !read_number(argv[i], "--seeds=", &settings->seeds) &&
             !read_number(argv[i], "--jobs=", &settings->jobs))
      return false;
  }
  if (settings->most == 0)
    settings->most = settings->full ? FULL_MOST : QUICK_MOST;
  if (settings->seeds == 0)
    settings->seeds = settings->full ? FULL_SEEDS : QUICK_SEEDS;
  return true;
}

int main(int argc, char **argv) {
  struct settings settings = {0};
  struct total totals[2] = {0};
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  size_t of_kind[2] = {0};
  if (!read_words(argc, argv, &settings)) {
    fputs(usage, stderr);
    return 2;
  }
  if (vinci_soc_load("Ascend910B4", NULL, &soc, &diag) != VINCI_OK) {
    vinci_diag_print(&diag, stderr);
    return 2;
  }
  printf("Ascend910B4, flat memory; %% of the best that strategies reach with a tenth of the "
         "evaluations, mean of %lu seeds; +: the cheapest by estimate of a larger space\n",
         settings.seeds);
  printf("%-22s %-46s %6s  %8s %8s %6s", "operator", "", "space", "best", "default", "above");
  for (unsigned s = 0; s < STRATEGIES; s++)
    printf(" %8s", strategies[s]);
  putchar('\n');
  bool failed = false;
  for (size_t i = 0; i < ROWS; i++) {
    char journal[64];
    struct found found;
    if (of_kind[rows[i].cube]++ >= QUICK && !settings.full)
      continue;
    snprintf(journal, sizeof journal, "tuning-%ld.journal", (long)getpid());
    if (measure(soc, &rows[i], &settings, journal, &found)) {
      print_row(&rows[i], &found);
      add(&totals[rows[i].cube], &found);
    } else {
      failed = true;
    }
    unlink(journal);
  }
  print_total("cube", &totals[true]);
  print_total("vector", &totals[false]);
  vinci_soc_free(soc);
  bool genetic = totals[true].worst_reached[GENETIC] >= 0.95;
  printf("\ngenetic on spaces of the cube: at least 95 %% of the best with a tenth: %s\n",
         genetic ? "yes" : "no");
  return failed || !genetic;
}
