/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: whole networks. A graph of kernels as text (GRAPH.md) runs on one chip: each kernel finds
 * in L2 what those before have left, and the queue says when each starts.
 *
 *     struct vinci_net_options options = {.struct_size = sizeof options, .host = "eager"};
 *     struct vinci_net_result result;
 *     if (vinci_net_run(soc, "net.csv", text, length, &options, NULL, NULL, &result, &diag) ==
 *         VINCI_OK)
 *       printf("%" PRIu64 " ps, %" PRIu64 " of them on AI Cores\n", result.end_ps, result.core_ps);
 */
#ifndef VINCI_NET_H
#define VINCI_NET_H

#include "vinci.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vinci_net_options {
  size_t struct_size; /* sizeof(struct vinci_net_options) */
  enum vinci_memory memory;
  enum vinci_network network;
  const char *plan; /* none, first, best, pack; NULL: pack */
  const char *host; /* sink, eager, graph; NULL: sink */
  unsigned depth;   /* nodes that the host may be ahead; 0: any number */
  unsigned repeat;  /* runs one after another, the last is told; 0: 2 */
  bool exact;       /* simulates also kernels that met the same context before */
};

/* A node of the last run; the texts live as long as the call of visit. */
struct vinci_net_node {
  const char *name, *op, *origin;
  const char *from;   /* simulated, remembered, given, computed, none, refused */
  const char *bound;  /* of kernels, else "" */
  const char *reason; /* why a kernel was refused, else "" */
  unsigned stream, blocks;
  uint64_t start_ps, duration_ps, gap_ps, host_wait_ps, other_wait_ps;
  uint64_t input_bytes, l2_found_bytes; /* of kernels: bytes of inputs, and what L2 had of them */
};

struct vinci_net_result {
  uint64_t end_ps, first_end_ps;                  /* of the last run and of the first */
  uint64_t core_ps;                               /* the AI Cores were busy */
  uint64_t host_bound_ps, gap_ps, wait_ps;        /* and waited for these */
  uint64_t memory_bytes, live_bytes, fixed_bytes; /* of the plan; alive at once; shared by none */
  size_t nodes, refused;
  size_t simulated; /* kernels in all runs that were not remembered */
};

/*
 * Runs a graph; name is for messages. visit gets the nodes in their order and returns false to
 * stop; NULL: none. VINCI_E_INPUT for a text that is no graph, and for tensors that overlap or do
 * not fit; VINCI_E_USAGE for an unknown plan or host. A kernel that cannot be lowered is counted in
 * result->refused, and the others run.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_net_run(const vinci_soc *soc, const char *name, const char *text, size_t length,
              const struct vinci_net_options *options,
              bool (*visit)(void *context, const struct vinci_net_node *node), void *context,
              struct vinci_net_result *result, struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
