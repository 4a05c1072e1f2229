/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules from a repository of tunings, for verbs with --repository=FILE. */
#ifndef VINCI_CLI_SUPPORT_ADVICE_H
#define VINCI_CLI_SUPPORT_ADVICE_H

#include "cli/support/options.h"
#include "core/vinci_tune.h"
#include "networks/graph/graph.h"

#define ADVICE_OPTION_ROW(type, field)                                                             \
  OPTION_TEXT_ROW("repository", 'r', type, field, "FILE",                                          \
                  "take schedules from this file of 'vinci tune'; a record of an older model, of " \
                  "another program or shape is simulated first, and stderr says so")

/* The words of an operator with those of its schedule: points into text and into what was given. */
struct advised {
  char text[VINCI_TUNE_SCHEDULE_BYTES];
  struct text_list words;
};

/* path NULL: the words as they are. Says on stderr where the schedule is from. The caller frees
 * out->words. */
VINCI_MUST_CHECK enum vinci_status advise_operator(const char *path, const vinci_soc *soc,
                                                   const struct text_list *words,
                                                   const struct vinci_evaluate_options *models,
                                                   struct advised *out, struct vinci_diag *diag);
/* The same; args are the words behind the operator, which live as long as out->words. */
VINCI_MUST_CHECK enum vinci_status advise_args(const char *path, const vinci_soc *soc,
                                               const struct text_list *words,
                                               const struct vinci_evaluate_options *models,
                                               struct advised *out, struct text_list *args,
                                               struct vinci_diag *diag);
/* Adds schedules to the arguments of all kernels of a graph, and says on stderr how many. */
VINCI_MUST_CHECK enum vinci_status advise_graph(const char *path, const vinci_soc *soc,
                                                struct graph *graph,
                                                const struct vinci_evaluate_options *models,
                                                bool quiet, struct vinci_diag *diag);

#endif
