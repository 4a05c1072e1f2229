/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: cuts of networks by L2. Chains of kernels whose tensors between exceed L2 run in parts,
 * all kernels on a part before any on the next, so that what lies between stays in L2.
 *
 *     struct vinci_net_cuts cuts;
 *     if (vinci_net_cuts(soc, "net.csv", text, length, NULL, NULL, NULL, &cuts, NULL, NULL, &diag)
 *         == VINCI_OK)
 *       printf("%" PRIu64 " ps whole, %" PRIu64 " cut\n", cuts.whole.ps, cuts.tuned.ps);
 */
#ifndef VINCI_CUTS_H
#define VINCI_CUTS_H

#include "vinci_net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a run took: launch_ps is the time between kernels, and while cores have no block or run the
 * start of a kernel. */
struct vinci_net_figures {
  uint64_t launches, ps, hbm_bytes, launch_ps;
};

/* A chain of kernels in some parts of its rows, all kernels on a part before any on the next; 1:
 * whole. */
struct vinci_net_trial {
  uint64_t parts, rows; /* rows of a part */
  struct vinci_net_figures figures;
};

/* A chain that can run in parts; the texts live as long as the call of visit. */
struct vinci_net_cut {
  const char *first, *last; /* its kernels */
  const char *axis;         /* what its rows are */
  const char *verdict;      /* cut, fits, coarse, loses, fails (TUNING.md) */
  const char *reason;
  unsigned kernels;
  uint64_t rows, parts;                 /* parts that are chosen; 1: it stays whole */
  uint64_t between_bytes;               /* in use at once between two whole kernels */
  uint64_t held_bytes;                  /* that L2 holds of parts */
  uint64_t whole_bytes, closed_bytes;   /* of device memory by closed form: whole, and in parts */
  const struct vinci_net_trial *trials; /* simulations of the chain alone; the first is whole */
  size_t trial_count;
};

struct vinci_net_cuts {
  struct vinci_net_figures whole;    /* of the network without cuts */
  struct vinci_net_figures estimate; /* with those of pass split */
  struct vinci_net_figures tuned;    /* with those that were found */
};

/*
 * Searches the cuts of a network, given as for vinci_net_run(): chains of kernels whose tensors
 * between exceed L2 run in parts, whose number is found by simulation. options: models, passes, and
 * progress in chains. visit gets the chains in their order, may be NULL, and returns false to stop.
 * graph, unless NULL, gets the kernels with the cuts as text of *graph_length bytes and a zero, for
 * free(). Errors as of vinci_net_run(); VINCI_E_INPUT also for a node that has no kernel.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_net_cuts(const vinci_soc *soc, const char *name, const char *text, size_t length,
               const struct vinci_net_options *options,
               bool (*visit)(void *context, const struct vinci_net_cut *cut), void *context,
               struct vinci_net_cuts *result, char **graph, size_t *graph_length,
               struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
