/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a graph of kernels on one chip: each kernel finds in L2 what those before have left, and the
 * queue says when each starts.
 *
 * A kernel that has met the same context is not simulated again. Its context is the chip, the
 * models, its operator and arguments, and the same of the nodes before it back to 1.5 times L2 in
 * bytes of tensors, with the tensors numbered by their first use in this window: which bytes are
 * reused is in there, where they lie is not. Between two kernels L2 holds what the tensors of the
 * nodes before leave there when they pass side by side; a simulation works on a copy. So the result
 * of a kernel does not depend on which others were simulated, and can be kept for other runs.
 */
#ifndef VINCI_NETWORKS_RUN_NET_H
#define VINCI_NETWORKS_RUN_NET_H

#include "core/result/result.h"
#include "lower/calls/calls.h"
#include "networks/graph/queue.h"
#include "networks/passes/estimate.h"

enum { NET_REASON_BYTES = 240 };

/* How the duration of a node is known. */
#define NET_FROM_LIST(X)                                                                           \
  X(SIMULATED, "simulated")                                                                        \
  X(REMEMBERED, "remembered") /* the same kernel in the same context, of this run */               \
  X(GIVEN, "given")           /* by the graph */                                                   \
  X(COMPUTED, "computed")     /* copies: by bytes and the rate of the link */                      \
  X(NONE, "none")             /* views */                                                          \
  X(OFFLINE, "offline")       /* once, when the network is loaded */                               \
  X(REFUSED, "refused")       /* the layer or kernel could not be lowered: no duration */
enum net_from {
#define X(id, name) NET_##id,
  NET_FROM_LIST(X)
#undef X
      NET_FROM_COUNT
};
const char *net_from_name(enum net_from from);

struct energy_counts;
struct proven_list;

struct net_node {
  enum net_from from;
  struct queue_task task;           /* once it has run, duration_ps holds slowed_ps */
  struct call_times times;          /* of kernels */
  uint64_t read_bytes, found_bytes; /* of its inputs; and what L2 held, when it was simulated */
  uint64_t hbm_bytes;               /* of kernels and copies, read and written in device memory */
  uint64_t workspace_bytes;         /* of kernels */
  char reason[NET_REASON_BYTES];    /* of REFUSED */
  /* What a kernel does, of a chip that keeps an account; else NULL. Lives as long as the result. */
  const struct energy_counts *energy;
};

struct net_options {
  enum vinci_memory memory;
  enum vinci_network network;
  enum graph_plan_policy plan;
  struct queue_options queue;
  unsigned repeat; /* runs one after another, the last is told; at least 1 */
  /* Simulates every kernel, and lets L2 hold what the simulations leave. With results: simulates
   * every kernel as without exact, and compares with those that are kept. */
  bool exact;
  const char *results; /* a folder of results that outlive the run (net_results.h); NULL: none */
  struct estimates *estimates; /* of the chip, as net_compile() has left them; NULL: none */
  /* What a layer takes that has no kernel, on the unit AI_CPU; 0: such a layer is refused. */
  uint64_t unknown_ps;
  /* false ends the run with VINCI_E_LIMIT; may be NULL. */
  bool (*progress)(void *context, size_t done, size_t all);
  void *progress_context;
};

struct net_result {
  struct arena arena;
  struct net_node *nodes; /* of the last run */
  struct graph_plan plan;
  struct queue_result queue, first; /* of the last run and of the first */
  size_t count[NET_FROM_COUNT];     /* nodes of the last run */
  size_t simulated_all, stored_all; /* kernels in all runs; and taken from a folder of results */
  const struct proven_list *levers; /* that were proven, in the arena; NULL: nobody has asked */
};

/* Needs a graph whose shapes are known; layers that are left have no kernels. The caller frees the
 * result's arena, also after an error. VINCI_E_INPUT for what cannot be placed; a kernel that
 * cannot be lowered is no error but REFUSED. */
VINCI_MUST_CHECK enum vinci_status net_run(struct graph *graph, const struct vinci_soc *soc,
                                           const struct net_options *options,
                                           struct net_result *out, struct vinci_diag *diag);

/* ---- tables of a result (net_tables.c) ---- */

/* A row for each node. */
void net_put_nodes(const struct graph *graph, const struct net_result *result, FILE *out);
/* As the vendor's profiler names its columns, kernels and tasks alone. */
void net_put_kernel_details(const struct graph *graph, const struct net_result *result, FILE *out);
/* Computing, communication, free time of the step. */
void net_put_step_trace(const struct net_result *result, FILE *out);
/* Memory that is alive at the start of each node. */
void net_put_memory_record(const struct graph *graph, const struct net_result *result, FILE *out);
/* Chrome's trace format, a row for each stream. */
void net_put_timeline(const struct graph *graph, const struct net_result *result, FILE *out);

#endif
