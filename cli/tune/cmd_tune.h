/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of `vinci tune` share: options, the problems to tune, and their report. */
#ifndef VINCI_CLI_TUNE_CMD_TUNE_H
#define VINCI_CLI_TUNE_CMD_TUNE_H

#include "cli/net/net.h"
#include "cli/support/monitor.h"
#include "core/base/arena.h"
#include "core/vinci_tune.h"

struct tune_settings {
  const char *soc, *data, *memory, *network, *l2, *strategy, *repository, *ops;
  const char *passes, *output, *table;
  struct text_list sets, merge;
  struct net_model_settings model;
  uint64_t evaluations, schedules, seed, robust, jobs, seconds;
  bool space, quiet, strategies, values, cuts, json;
};

/* The options of a search as the settings ask; VINCI_E_USAGE for unknown models. */
VINCI_MUST_CHECK enum vinci_status tune_choose(const struct tune_settings *settings,
                                               struct vinci_tune_options *out,
                                               struct vinci_diag *diag);

/* An operator with its arguments, and what was found. */
struct tune_problem {
  const char *op;
  const char *const *args;
  size_t arg_count;
  size_t times; /* in the list or network */
  enum vinci_status status;
  char reason[240]; /* why it was not tuned */
  struct vinci_tuned tuned;
};

struct tune_problems {
  struct arena arena;
  struct tune_problem *item;
  size_t count, room;
  bool network;    /* kernels find in L2 what those before have left */
  size_t left_out; /* rows or nodes without a schedule to choose */
};

/* The operator of the command line, or those of a list or network, equal ones once. The caller
 * frees the problems, also after an error. */
VINCI_MUST_CHECK enum vinci_status
tune_problems_read(struct tune_problems *problems, const struct tune_settings *settings,
                   const vinci_soc *soc, const struct text_list *words, struct vinci_diag *diag);
void tune_problems_free(struct tune_problems *problems);

/* What was found: of one operator also what changed and where the time went; of several a table. */
VINCI_MUST_CHECK enum vinci_status tune_report(const vinci_soc *soc,
                                               const struct tune_settings *settings,
                                               const struct vinci_tune_options *options,
                                               const struct tune_problems *problems,
                                               struct vinci_diag *diag);
/* Prints where the time of the default schedule and of the winner went (explain.c). */
void tune_explain(const struct tune_settings *settings, const struct tune_problem *problem);
/* Cycles that no schedule can save, by the work of the winner, and what they are. */
VINCI_MUST_CHECK enum vinci_status tune_bound(const vinci_soc *soc,
                                              const struct vinci_tune_options *options,
                                              const struct tune_problem *problem,
                                              uint64_t *bound_cycles, const char **what,
                                              struct vinci_diag *diag);

/* VINCI_E_MISMATCH when the winner computes other values than the default. */
VINCI_MUST_CHECK enum vinci_status tune_check_values(const vinci_soc *soc,
                                                     const struct tune_problem *problem,
                                                     struct vinci_diag *diag);

/* Schedules of a space that are shown, in their order there (listing.c). */
struct tune_listing {
  size_t *index; /* in the space; for free() */
  size_t count;
  size_t chosen; /* the place of the default */
};
/* The default and the `most` - 1 others of the lowest estimates; 0: all. */
VINCI_MUST_CHECK enum vinci_status tune_list(const vinci_space *space, uint64_t most,
                                             struct tune_listing *out, struct vinci_diag *diag);

/* The cuts of a network (cuts.c): searches, runs the network whole and cut, prints, writes. */
VINCI_MUST_CHECK enum vinci_status tune_cuts(const struct tune_settings *settings,
                                             const struct text_list *words,
                                             struct vinci_diag *diag);

/* `vinci tune serve`: questions as JSON lines on stdin, answers on stdout. */
extern const struct cli_verb cli_tune_serve;

#endif
