/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of `vinci net`, and what they share. */
#ifndef VINCI_CLI_NET_NET_H
#define VINCI_CLI_NET_NET_H

#include "cli/cli.h"
#include "core/graph/graph.h"

extern const struct cli_verb cli_net_run;
extern const struct cli_verb cli_net_plan;

/* Reads a graph from a file, "-" being standard input. The caller frees the graph. */
VINCI_MUST_CHECK enum vinci_status net_load(const char *path, struct graph *out,
                                            struct vinci_diag *diag);
/* The index of a word among count names of what; VINCI_E_USAGE with the nearest. */
VINCI_MUST_CHECK enum vinci_status net_choose(const char *what, const char *word,
                                              const char *(*name_at)(const void *, size_t),
                                              size_t count, unsigned *out, struct vinci_diag *diag);
const char *net_plan_at(const void *context, size_t index);

#endif
