/* SPDX-License-Identifier: Apache-2.0 */
/* A network's run in numbers: what its time is made of, what it moved. */
#ifndef VINCI_NETWORKS_RUN_NET_SUMMARY_H
#define VINCI_NETWORKS_RUN_NET_SUMMARY_H

#include "networks/run/net.h"

/*
 * What the time of a run is made of: id, key, what it is. From the first launch to the end of the
 * last node, each moment belongs to one of these; the time of kernels by what bounds them.
 */
#define NET_PART_LIST(X)                                                                           \
  X(CUBE, "cube", "kernels bound by the cubes")                                                    \
  X(VECTOR, "vector", "kernels bound by the vector units")                                         \
  X(MEMORY, "memory", "kernels bound by memory")                                                   \
  X(LATENCY, "latency", "kernels bound by waits within them")                                      \
  X(SCALAR, "scalar", "kernels bound by the scalar units")                                         \
  X(TASK, "task", "tasks on the AI Cores, and kernels without work")                               \
  X(HOST, "host", "the AI Cores wait for the host")                                                \
  X(GAP, "gap", "from one kernel to the next in the queue")                                        \
  X(WAIT, "wait", "the AI Cores wait for copies, tasks and other streams")                         \
  X(TAIL, "tail", "what runs after the last kernel")
enum net_part {
#define X(id, key, text) NET_PART_##id,
  NET_PART_LIST(X)
#undef X
      NET_PART_COUNT
};
const char *net_part_name(enum net_part part);
const char *net_part_text(enum net_part part);

struct net_summary {
  uint64_t part_ps[NET_PART_COUNT];                /* their sum is the time of the run */
  enum net_part bound;                             /* the largest part */
  size_t kernels, launches;                        /* launches: nodes that the host issues */
  uint64_t input_bytes, output_bytes, found_bytes; /* of kernels: of tensors; in L2 */
  uint64_t hbm_bytes;                              /* of kernels: read and written */
  uint64_t h2d_bytes, d2h_bytes, d2d_bytes;        /* copied */
};

/* Of the last run. */
void net_sum_up(const struct graph *graph, const struct net_result *result,
                struct net_summary *out);
/* summary.json: keys never change their meaning. */
void net_put_summary(const struct graph *graph, const struct vinci_soc *soc,
                     const struct net_result *result, FILE *out);

#endif
