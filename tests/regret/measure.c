/* SPDX-License-Identifier: Apache-2.0 */
/* The tilings of an operator: all, those that are simulated, and the best of these. */
#include "tests/regret/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const regret_shape_name[REGRET_SHAPES] = {"typical", "thin", "tiny", "odd"};

static const struct regret_case cases[] = {
#define REGRET(op_, percent_, args_, ...)                                                          \
  {.op = #op_, .percent = (percent_), .args = (args_), .shape = {__VA_ARGS__}},
#include "tests/regret/cases.def"
#undef REGRET
};

size_t regret_case_count(void) { return sizeof cases / sizeof *cases; }
const struct regret_case *regret_case(size_t index) { return &cases[index]; }

/* ---- arguments ---- */

enum { ARGS_MAX = 32 };

struct args {
  char text[1536];
  const char *word[ARGS_MAX];
  size_t count;
};

/* Words of three texts, divided by blanks. */
static void split(struct args *args, const char *first, const char *second, const char *third) {
  snprintf(args->text, sizeof args->text, "%s %s %s", first, second, third);
  args->count = 0;
  char *rest = NULL;
  for (char *word = strtok_r(args->text, " ", &rest); word && args->count < ARGS_MAX;
       word = strtok_r(NULL, " ", &rest))
    args->word[args->count++] = word;
}

/* ---- the space ---- */

struct tiling {
  char *args;
  uint64_t estimate;
  size_t place; /* in the order of the walk */
};

struct space {
  struct tiling *tiling;
  size_t count, room;
};

static bool keep_tiling(void *context, const struct vinci_tiling *found) {
  struct space *space = context;
  if (space->count == space->room) {
    size_t room = space->room ? 2 * space->room : 256;
    struct tiling *larger = realloc(space->tiling, room * sizeof *larger);
    if (!larger)
      return false;
    space->tiling = larger;
    space->room = room;
  }
  char *args = strdup(found->args);
  if (args)
    space->tiling[space->count] =
        (struct tiling){.args = args, .estimate = found->total_cycles, .place = space->count};
  space->count += args != NULL;
  return args != NULL;
}

static int by_args(const void *one, const void *other) {
  const struct tiling *a = one, *b = other;
  int order = strcmp(a->args, b->args);
  return order ? order : (a->place > b->place) - (a->place < b->place);
}

static int by_estimate(const void *one, const void *other) {
  const struct tiling *a = one, *b = other;
  if (a->estimate != b->estimate)
    return a->estimate < b->estimate ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

/* The walk may meet a tiling again. */
static void drop_equal(struct space *space) {
  size_t kept = 0;
  if (space->count == 0)
    return;
  qsort(space->tiling, space->count, sizeof *space->tiling, by_args);
  for (size_t i = 0; i < space->count; i++) {
    if (kept > 0 && strcmp(space->tiling[i].args, space->tiling[kept - 1].args) == 0)
      free(space->tiling[i].args);
    else
      space->tiling[kept++] = space->tiling[i];
  }
  space->count = kept;
  qsort(space->tiling, space->count, sizeof *space->tiling, by_estimate);
}

static void space_free(struct space *space) {
  for (size_t i = 0; i < space->count; i++)
    free(space->tiling[i].args);
  free(space->tiling);
}

/* Which tiling of a space is number `index` of those that are simulated. */
static size_t sampled(const struct space *space, size_t count, size_t index) {
  size_t cheapest = count / 2, others = count - cheapest;
  if (count == space->count || index < cheapest)
    return index;
  return cheapest + (index - cheapest) * (space->count - cheapest) / others;
}

/* ---- the answers ---- */

static void fail(struct regret *out, enum vinci_status status, const char *text) {
  out->status = status;
  snprintf(out->text, sizeof out->text, "%.*s", (int)sizeof out->text - 1, text);
}

/* The chosen tiling is number 0 of the list. */
static void simulate(const vinci_soc *soc, const struct regret_case *row, unsigned shape,
                     const struct space *space, const struct regret_options *options,
                     struct regret *out) {
  struct vinci_diag diag = {0};
  size_t count = space->count < options->most ? space->count : options->most;
  struct vinci_evaluation *list = calloc(count + 1, sizeof *list);
  struct args *args = calloc(count + 1, sizeof *args);
  if (!list || !args)
    fail(out, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0; out->status == VINCI_OK && i <= count; i++) {
    const char *tiling = i == 0 ? out->chosen : space->tiling[sampled(space, count, i - 1)].args;
    split(&args[i], row->args, row->shape[shape], tiling);
    list[i].op = row->op;
    list[i].args = args[i].word;
    list[i].arg_count = args[i].count;
  }
  if (out->status == VINCI_OK &&
      vinci_evaluate(soc, list, count + 1, &options->evaluate, &diag) != VINCI_OK)
    fail(out, VINCI_E_INTERNAL, diag.text);
  if (out->status == VINCI_OK && list[0].status != VINCI_OK)
    fail(out, list[0].status, list[0].text);
  if (out->status == VINCI_OK) {
    out->simulated = count;
    out->best_cycles = out->chosen_cycles = list[0].total_cycles;
    out->best_estimated_cycles = out->estimated_cycles;
    snprintf(out->best, sizeof out->best, "%s", out->chosen);
  }
  for (size_t i = 1; out->status == VINCI_OK && i <= count; i++) {
    const struct tiling *tiling = &space->tiling[sampled(space, count, i - 1)];
    if (list[i].status != VINCI_OK) {
      char text[sizeof out->text * 2];
      snprintf(text, sizeof text, "%s: %s", tiling->args, list[i].text);
      fail(out, VINCI_E_INTERNAL, text);
    } else if (list[i].total_cycles < out->best_cycles) {
      out->best_cycles = list[i].total_cycles;
      out->best_estimated_cycles = tiling->estimate;
      snprintf(out->best, sizeof out->best, "%s", tiling->args);
    }
  }
  free(args);
  free(list);
}

void regret_measure(const vinci_soc *soc, const struct regret_case *row, unsigned shape,
                    const struct regret_options *options, struct regret *out) {
  struct vinci_diag diag = {0};
  struct vinci_tiling chosen;
  struct space space = {0};
  struct args args;
  *out = (struct regret){0};
  split(&args, row->args, row->shape[shape], "");
  out->status = vinci_op_tiling(soc, row->op, args.word, args.count, out->chosen,
                                sizeof out->chosen, &chosen, &diag);
  if (out->status == VINCI_OK) {
    out->estimated_cycles = chosen.total_cycles;
    out->status = vinci_op_tilings(soc, row->op, args.word, args.count, keep_tiling, &space, &diag);
  }
  if (out->status != VINCI_OK) {
    fail(out, out->status, diag.text);
  } else {
    drop_equal(&space);
    out->space = space.count;
    simulate(soc, row, shape, &space, options, out);
  }
  space_free(&space);
}

double regret_percent(const struct regret *regret) {
  return 100.0 * ((double)regret->chosen_cycles / (double)regret->best_cycles - 1);
}
