/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as a graph to replay: its rows in their order, on tensors that are matched by the rules
 * of lower/calls/sequence.h. Rows that can be lowered are kernels; the others are tasks of
 * the measured duration, on the unit that the profile names. Nothing is left out.
 */
#ifndef VINCI_NETWORKS_RUN_PROFILE_H
#define VINCI_NETWORKS_RUN_PROFILE_H

#include "core/chip/soc.h"
#include "lower/calls/calls.h"
#include "networks/graph/graph.h"

struct profile_options {
  /* A CSV file with columns type and mean_us: host time before a launch, by type of operator; NULL:
   * as the runner's host has. */
  const char *host_costs;
  /* A gap in the profile of at least as much is a wait of the host (for a value, for data), not of
   * its launches, and becomes a task of unit HOST; 0: none is. */
  uint64_t host_wait_ps;
  /* The device whose rows are taken, of a profile of several; NULL: the profile has one alone. */
  const char *device;
};

struct profile_counts {
  size_t kernels, tasks, host_waits;
  uint64_t measured_core_ps; /* of rows on AI Cores */
  uint64_t measured_span_ps; /* from the start of the first such row to the end of the last */
  uint64_t unknown_cost;     /* rows whose type the table of host costs does not have */
};

/* The caller frees the graph; each node's origin is the type in the profile. */
VINCI_MUST_CHECK enum vinci_status profile_graph(const char *path, const struct vinci_soc *soc,
                                                 const struct profile_options *options,
                                                 struct graph *out, struct profile_counts *counts,
                                                 struct vinci_diag *diag);

#endif
