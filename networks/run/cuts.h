/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts of a network by L2: chains of kernels whose tensors between exceed L2, and into how many
 * parts each is cut, by simulation. Each chain is simulated alone, whole and in parts, again and
 * again as the network runs, with what L2 holds kept from kernel to kernel.
 */
#ifndef VINCI_NETWORKS_RUN_CUTS_H
#define VINCI_NETWORKS_RUN_CUTS_H

#include "networks/passes/passes.h"
#include "networks/run/net.h"

enum { CUT_TRIALS_MAX = 12, CUT_REASON_BYTES = 200 };

/* X(id, name): what becomes of a chain. */
#define CUT_VERDICT_LIST(X)                                                                        \
  X(PAYS, "cut")                                                                                   \
  X(FITS, "fits")     /* all stays in L2 as it is */                                               \
  X(COARSE, "coarse") /* not even the smallest part stays in L2 */                                 \
  X(LOSES, "loses")   /* more launches cost more than L2 saves */                                  \
  X(FAILS, "fails")   /* kernels of the chain cannot run */
enum cut_verdict {
#define X(id, name) CUT_##id,
  CUT_VERDICT_LIST(X)
#undef X
};
const char *cut_verdict_name(enum cut_verdict verdict);

/* What a run took. */
struct cut_figures {
  uint64_t launches, ps, hbm_bytes;
  /* Of that time: between kernels, and while cores have no block or run the start of a kernel. Its
   * growth is what more launches cost. */
  uint64_t launch_ps;
};

/* The chain alone in some parts; parts 1: whole. */
struct cut_trial {
  uint64_t parts, rows; /* rows of a part */
  struct cut_figures figures;
  uint64_t estimate_ps; /* by closed form; UINT64_MAX: none */
};

struct cut {
  const char *first, *last; /* names of kernels */
  const char *axis;         /* what rows are */
  unsigned kernels;
  uint64_t rows;
  uint64_t between_bytes; /* in use at once between two kernels of the whole chain */
  uint64_t held_bytes;    /* that L2 holds of parts */
  /* Bytes of device memory by closed form: each kernel reads and writes all that is its own; and
   * each tensor of others is read once, the result written once. */
  uint64_t whole_bytes, closed_bytes;
  uint64_t parts; /* that are chosen; 1: the chain stays whole */
  enum cut_verdict verdict;
  char reason[CUT_REASON_BYTES];
  struct cut_trial trials[CUT_TRIALS_MAX]; /* in the order in which they ran; the first is whole */
  unsigned trial_count, best;
  bool again; /* an equal chain stands before: that was simulated */
};

struct cuts {
  struct arena arena;
  struct cut *items; /* in the order of the network */
  size_t count;
};

/* Runs of a network whole, with the cuts of pass split, and with those that were found. */
enum cut_run { CUT_RUN_WHOLE, CUT_RUN_ESTIMATE, CUT_RUN_TUNED, CUT_RUNS };
const char *cut_run_name(enum cut_run run);

/*
 * Searches the cuts of a network of layers or kernels. run: how chains are simulated; its progress
 * counts chains. The caller frees the cuts with cuts_free(), after errors too.
 */
VINCI_MUST_CHECK enum vinci_status cuts_search(const struct graph *network,
                                               const struct vinci_soc *soc,
                                               const struct compile_options *options,
                                               const struct net_options *run, struct cuts *out,
                                               struct vinci_diag *diag);
/* The kernels of the network with those cuts; cuts are for TUNED alone. The caller frees
 * the result, after errors too. */
VINCI_MUST_CHECK enum vinci_status cuts_compile(const struct graph *network,
                                                const struct vinci_soc *soc,
                                                const struct compile_options *options,
                                                enum cut_run run, const struct cuts *cuts,
                                                struct compiled *out, struct vinci_diag *diag);
void cuts_free(struct cuts *cuts);

/* A form of a network, and its run. */
struct cut_form {
  struct compiled compiled;
  struct net_result result;
  struct cut_figures figures;
};
/* Makes a form and runs that; cuts as of cuts_compile(). The caller frees the form with
 * cut_form_free(), after errors too. VINCI_E_INPUT: a node has no kernel. */
VINCI_MUST_CHECK enum vinci_status
cut_form_run(const struct graph *network, const struct vinci_soc *soc,
             const struct compile_options *options, const struct net_options *run, enum cut_run id,
             const struct cuts *cuts, struct cut_form *out, struct vinci_diag *diag);
void cut_form_free(struct cut_form *form);

/* ---- for the search ---- */

/* Cuts kernels of a graph; choices NULL: by estimate. */
VINCI_MUST_CHECK enum vinci_status cuts_apply(struct graph *kernels, const struct vinci_soc *soc,
                                              struct estimates *estimates,
                                              const struct split_choices *choices,
                                              struct vinci_diag *diag);
/* Those of the options, or else `own`, which is started and has to be freed in any case. */
struct estimates *cuts_estimates(const struct compile_options *options, struct estimates *own,
                                 const struct vinci_soc *soc);
void cut_sum_up(const struct graph *kernels, const struct net_result *result,
                struct cut_figures *out);

#endif
