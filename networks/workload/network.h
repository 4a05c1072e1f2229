/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks as workloads of studies and suites: a graph with arguments plan, host, depth, repeat and
 * batch (of a family).
 */
#ifndef VINCI_NETWORKS_WORKLOAD_NETWORK_H
#define VINCI_NETWORKS_WORKLOAD_NETWORK_H

#include "core/vinci_net.h"
#include "networks/workload/workload.h"

/* Whether a file begins as a graph, or as a job of several devices does; false also when the file
 * cannot be read. */
bool network_is_graph(const char *path);
bool network_is_job(const char *path);
/* Whether networks have an argument of this name; and with an error. */
bool network_has_key(const char *key);
VINCI_MUST_CHECK enum vinci_status network_check_key(const char *key, struct vinci_diag *diag);

/* What a run of a network needs beside chip and workload. */
struct network_watch {
  bool (*progress)(void *context, size_t done, size_t all); /* may be NULL */
  void *context;
  bool (*visit)(void *context,
                const struct vinci_net_node *node); /* of the last run; may be NULL */
};
/*
 * Runs the network of a workload. A kernel that cannot be lowered fails the run. *events is a
 * digest of when each node ran; may be NULL.
 */
VINCI_MUST_CHECK enum vinci_status
network_run(const struct workload *workload, const vinci_soc *soc,
            const struct vinci_run_options *models, const struct network_watch *watch,
            struct vinci_net_result *out, uint64_t *events, struct vinci_diag *diag);

/* What the time is made of, in cycles of the cores, which add up to *total. */
struct network_part {
  const char *name;
  uint64_t cycles;
};
enum { NETWORK_PARTS = 10 };
void network_parts(const struct vinci_net_result *result, const vinci_soc *soc,
                   struct network_part parts[static NETWORK_PARTS], uint64_t *total);

#endif
