/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a network can be turned: passes on or off, cuts by L2, the host. Each lever is a run of
 * the network with that one thing changed.
 */
#ifndef VINCI_NETWORKS_RUN_LEVERS_H
#define VINCI_NETWORKS_RUN_LEVERS_H

#include "core/result/proven.h"
#include "networks/passes/passes.h"
#include "networks/run/net.h"

/* A run of a network whose levers are wanted. */
struct net_levers_of {
  const struct graph *network; /* of layers or kernels, as read */
  const struct vinci_soc *soc;
  const struct compile_options *compile;
  const struct net_options *run;
  bool cuts; /* those that were found by simulation are made */
  uint64_t end_ps;
};

/* Runs the network once for each lever. A change that the network or the memory limit refuses is
 * left out; one that meets a limit of its own is kept as not measured. The progress of the run gets
 * levers done and all of them; false ends the search, and out says so. Takes as many times the time
 * of a run as there are passes that changed something. */
VINCI_MUST_CHECK enum vinci_status
net_levers_find(const struct net_levers_of *of, struct proven_list *out, struct vinci_diag *diag);
/* The kernels of a network with the cuts that simulation finds. The caller frees both, after errors
 * too; the kernels are to be freed before the cuts. */
VINCI_MUST_CHECK enum vinci_status net_find_cuts(const struct graph *network,
                                                 const struct vinci_soc *soc,
                                                 const struct compile_options *options,
                                                 const struct net_options *run,
                                                 struct compiled *out, struct vinci_diag *diag);

#endif
