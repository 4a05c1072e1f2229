/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the nodes of a graph run: streams, units, the host that issues them. Durations are given; L2
 * is not known here.
 *
 * A node starts when the host has issued the node, the node before in its stream and those whose
 * tensors it reads have ended, and its unit is free. The AI Cores are one unit: kernels of several
 * streams take turns, in the order of the graph. Each way of copies is a unit (to the device, to
 * the host, within the device), and so is each unit of tasks; tasks of unit AI_CORE and the like
 * take the AI Cores. A task of unit HOST is the host at work on what it has waited for: it issues
 * nothing meanwhile. A copy to the host is waited for by the host too, unless all nodes wait on
 * the device.
 *
 * Copies take bandwidth of device memory from kernels that are bound by memory (assumed): while
 * copies move r bytes a second, such a kernel advances at (B - r) / B of its speed, B being the
 * bandwidth of device memory. So its time grows by the bytes that are copied meanwhile, over B.
 * Copies are not slowed.
 *
 * From kernel to kernel passes launch.gap of the chip, or
 * launch.mixed_gap when one of the two is a mixed kernel. Views take no time and are not issued.
 */
#ifndef VINCI_NETWORKS_GRAPH_QUEUE_H
#define VINCI_NETWORKS_GRAPH_QUEUE_H

#include "core/chip/soc.h"
#include "networks/graph/graph.h"

#define QUEUE_HOST_LIST(X)                                                                         \
  X(SINK, "sink", "all nodes wait on the device before the first starts")                          \
  X(EAGER, "eager", "a framework launches node by node (host.operator of the chip)")               \
  X(GRAPH, "graph", "one launch call for each node (host.launch_call of the chip)")
enum queue_host {
#define X(id, name, text) QUEUE_##id,
  QUEUE_HOST_LIST(X)
#undef X
      QUEUE_HOST_COUNT
};
const char *queue_host_name(enum queue_host host);
const char *queue_host_text(enum queue_host host);

/* Whether a node is the host at work, which nobody issues. */
bool queue_is_host(const struct graph_node *node);

struct queue_task {
  uint64_t duration_ps; /* in */
  bool mixed;           /* in: a kernel of AIC with AIV */
  bool memory_bound;    /* in: a kernel bound by device memory, which copies slow down */
  uint64_t hbm_bytes;   /* in: of copies, what they read and write in device memory */
  uint64_t start_ps;    /* out */
  uint64_t slowed_ps;   /* out: that a kernel took longer because of copies */
  uint64_t issued_ps;   /* out: when the host had issued the node */
  /* Out: of the time since the unit was last busy, what it waited for. */
  uint64_t host_wait_ps, gap_ps, other_wait_ps;
};

struct queue_options {
  enum queue_host host;
  uint32_t depth; /* nodes that the host may be ahead; 0: any number */
};

struct queue_result {
  uint64_t end_ps;        /* of the last node */
  uint64_t host_ps;       /* until the host had issued the last node */
  uint64_t core_ps;       /* the AI Cores were busy */
  uint64_t slowed_ps;     /* of that, because of copies */
  uint64_t host_bound_ps; /* the AI Cores waited for the host */
  uint64_t gap_ps;        /* and between kernels in the queue */
  uint64_t wait_ps;       /* and for tasks, copies and other streams */
};

/* Fills what is out of tasks, one for each node. */
VINCI_MUST_CHECK enum vinci_status queue_run(const struct graph *graph, const struct vinci_soc *soc,
                                             const struct queue_options *options,
                                             struct queue_task *tasks, struct queue_result *out,
                                             struct vinci_diag *diag);

#endif
